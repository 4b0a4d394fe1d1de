"""What registries and desktop clients read: current with the code, within their bounds, and a bundle that runs."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from webseam.tools.definitions import TOOLS
from webseam.version import VERSION

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "registry_files.py"


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("registry_files", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_current_with_the_code() -> None:
    run = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "the registry files are current\n", "")


def test_a_file_that_is_not_current_is_found(
    made: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(made, "VERSION", "9.9.9")
    monkeypatch.setattr(sys, "argv", ["registry_files.py", "--check"])
    assert made.main() == 1
    assert capsys.readouterr().out == (
        "stale: server.json, bundle/manifest.json, bundle/pyproject.toml; run scripts/registry_files.py\n"
    )


def test_the_readme_carries_the_mark_by_which_the_registry_knows_the_package() -> None:
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    assert re.findall(r"<!-- mcp-name: (\S+) -->", (ROOT / "README.md").read_text("utf-8")) == [entry["name"]]


def test_the_entry_of_the_registry_keeps_its_bounds(made: ModuleType) -> None:
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    assert len(entry["description"]) <= made.MAX_DESCRIPTION
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert (entry["version"], entry["packages"][0]["version"]) == (VERSION, VERSION)
    assert all(variable["isSecret"] for variable in entry["packages"][0]["environmentVariables"])


def test_the_manifest_names_the_tools_that_there_are() -> None:
    manifest = json.loads((ROOT / "bundle" / "manifest.json").read_text("utf-8"))
    assert [(tool["name"], tool["description"]) for tool in manifest["tools"]] == [
        (tool.name, tool.description) for tool in TOOLS
    ]
    assert "${arguments.question}" in manifest["prompts"][0]["text"]


def test_the_bundle_is_the_same_each_time_and_its_program_serves_the_tools(made: ModuleType, tmp_path: Path) -> None:
    first, second = made.pack(tmp_path / "a"), made.pack(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as bundle:
        assert sorted(bundle.namelist()) == ["manifest.json", "pyproject.toml", "server.py"]
        bundle.extractall(tmp_path / "installed")
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "a desktop client", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    run = subprocess.run(
        [sys.executable, str(tmp_path / "installed" / "server.py")],
        input="".join(json.dumps(message) + "\n" for message in asked),
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    listed = json.loads(run.stdout.splitlines()[-1])
    assert [tool["name"] for tool in listed["result"]["tools"]] == [tool.name for tool in TOOLS]
