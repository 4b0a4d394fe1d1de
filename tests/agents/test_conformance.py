"""The conformance suite of the protocol's authors against our HTTP server, for both eras of the protocol.

The suite asks for tools and resources that no product has, so it runs against our server with its fixtures added
(tests/mcp/fixture_server.py), and against a bare server of the official SDK with the same: what ours may not do is fail
where that one passes. Without fixtures it runs against `webseam mcp --http` itself, beside a bare server with one tool.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.agents.clients import MODULES, ROOT, node

PACKAGE = MODULES / "@modelcontextprotocol" / "conformance"
VERSIONS = ("2025-11-25", "2026-07-28")
EXPECTED = yaml.safe_load((Path(__file__).parent / "conformance_expected.yml").read_text("utf-8"))
FIXTURES = ("-m", "tests.mcp.fixture_server", "--server")
WITHIN = 120  # seconds for a run of the suite, which takes three
STARTING = 60.0  # seconds for a server to start, on a busy machine
ENDED = -signal.SIGTERM  # how a bare uvicorn ends when it is asked to
# Scenarios of what webseam is for. No failure in these can be an expected one.
CORE = re.compile(
    r"(server-(initialize|session-lifecycle|stateless)|ping|tools-|resources-|prompts-|sep-2164-|caching).*"
)
# How many scenarios each version has: a suite that ran nothing has failed nothing either.
SCENARIOS = {"2025-11-25": 33, "2026-07-28": 40}


@dataclass(frozen=True)
class Checked:
    """One check of a scenario; `status` is SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    scenario: str
    check: str
    status: str
    message: str

    @property
    def name(self) -> str:
        return f"{self.scenario}:{self.check}"


def suite(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the suite's program."""
    script = PACKAGE / "dist" / "index.js"
    assert script.is_file(), f"{script} is not there: run this with scripts/test-agents, which installs it"
    return subprocess.run(
        [node(), str(script), *arguments],
        capture_output=True, text=True, encoding="utf-8", timeout=WITHIN, check=False,
    )  # fmt: skip


def run_suite(url: str, version: str, folder: Path) -> list[Checked]:
    """Run every scenario of a version of the specification against a server; return all checks."""
    ran = suite("server", "--url", url, "--suite", "all", "--spec-version", version, "--output-dir", str(folder))
    results = sorted(folder.glob("server-*/checks.json"))
    assert results, f"the suite ended with {ran.returncode}:\n{ran.stdout[-4000:]}\n{ran.stderr[-4000:]}"
    checks = []
    for path in results:
        found = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT[\d-]+Z", path.parent.name)
        assert found, path.parent.name
        for check in json.loads(path.read_text("utf-8")):
            checks.append(Checked(found[1], check["id"], check["status"], check.get("errorMessage") or ""))
    said = re.search(r"^Total: (\d+) passed, (\d+) failed$", ran.stdout, re.MULTILINE)
    assert said, ran.stdout[-4000:]
    counts = Counter(check.status for check in checks)
    assert (counts["SUCCESS"], counts["FAILURE"]) == (int(said[1]), int(said[2])), "the suite counts otherwise"
    return checks


@contextmanager
def served(*arguments: str, folder: Path, code: int = 0) -> Iterator[str]:
    """Start a server in a process of its own and yield its URL, the last word of what it says first.

    It must end with `code` when it is asked to, and what it says meanwhile must hold no traceback, if it is ours.
    """
    log = folder / f"{arguments[-1]}.log"  # no pipe: one that nobody reads stops a server that says much
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        until = time.monotonic() + STARTING
        while b"\n" not in log.read_bytes():
            assert process.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.02)
        yield log.read_text("utf-8").splitlines()[0].split()[-1]
    finally:
        process.terminate()
        process.wait(timeout=20)
    assert process.returncode == code, log.read_text("utf-8")
    assert code or "Traceback" not in log.read_text("utf-8"), log.read_text("utf-8")


def names(checks: Sequence[Checked], status: str) -> dict[str, str]:
    """Return the checks of one status, with what the suite said of each."""
    return {check.name: check.message for check in checks if check.status == status}


def scenarios(checks: Sequence[Checked]) -> set[str]:
    return {check.scenario for check in checks}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conformance")


def test_every_scenario_passes_but_those_with_a_reason(folders: Path) -> None:
    with served(*FIXTURES, "webseam", folder=folders) as url:
        ours = {version: run_suite(url, version, folders / f"ours-{version}") for version in VERSIONS}
    with served(*FIXTURES, "sdk", folder=folders, code=ENDED) as url:
        bare = {version: run_suite(url, version, folders / f"sdk-{version}") for version in VERSIONS}
    assert {version: len(scenarios(checks)) for version, checks in ours.items()} == SCENARIOS
    for version, checks in ours.items():
        assert names(checks, "FAILURE").keys() == EXPECTED["failures"][version].keys(), names(checks, "FAILURE")
        assert names(checks, "WARNING").keys() == EXPECTED["warnings"][version].keys(), names(checks, "WARNING")
        assert names(checks, "SKIPPED") == {}
        assert names(checks, "FAILURE").keys() <= names(bare[version], "FAILURE").keys()
        assert scenarios(checks) == scenarios(bare[version])


def test_no_failure_is_expected_of_lifecycle_tools_resources_or_prompts() -> None:
    entries = {
        name: why for kind in ("failures", "warnings") for of in EXPECTED[kind].values() for name, why in of.items()
    }
    assert [name for name in entries if CORE.fullmatch(name)] == []
    assert [name for name, why in {**entries, **EXPECTED["extensions"]}.items() if len(why) < 40] == []


def test_the_only_scenarios_that_are_not_run_are_those_of_extensions() -> None:
    listed: dict[str, str] = dict(re.findall(r"^  - (\S+) \[(.+)\]$", suite("list", "--server").stdout, re.MULTILINE))
    assert {name for name, where in listed.items() if where == "extension"} == EXPECTED["extensions"].keys()
    ran = {version: {name for name, where in listed.items() if version in where} for version in VERSIONS}
    assert {version: len(found) for version, found in ran.items()} == SCENARIOS
    assert set().union(*ran.values()) | EXPECTED["extensions"].keys() == listed.keys()


# What a server needs no fixtures for.
ALONE = {
    "2025-11-25": {
        "server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list", "prompts-list",
        "server-sse-multiple-streams", "dns-rebinding-protection",
    },
    "2026-07-28": {
        "tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "caching",
        "http-header-validation", "server-sse-multiple-streams", "dns-rebinding-protection",
    },
}  # fmt: skip


def test_the_server_itself_fails_nothing_that_a_server_with_one_tool_passes(folders: Path) -> None:
    with served("-m", "webseam", "mcp", "--http", "--port=0", folder=folders) as url:
        ours = {version: run_suite(url, version, folders / f"itself-{version}") for version in VERSIONS}
    with served(*FIXTURES, "sdk-one", folder=folders, code=ENDED) as url:
        bare = {version: run_suite(url, version, folders / f"one-{version}") for version in VERSIONS}
    for version, checks in ours.items():
        assert names(checks, "FAILURE").keys() - names(bare[version], "FAILURE").keys() == set()
        failed = {check.scenario for check in checks if check.status not in ("SUCCESS", "INFO")}
        assert ALONE[version] <= scenarios(checks)
        assert ALONE[version] & failed == set()
