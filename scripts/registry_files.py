"""What registries and desktop clients read about the MCP server, made from the code: server.json, and the bundle.

Usage: python scripts/registry_files.py [--check] [--bundle FOLDER]

Writes server.json (for the MCP registry) and bundle/manifest.json with bundle/pyproject.toml (for desktop clients).
With --check it only says whether they are current (exit 1 when one is not). With --bundle it also packs the bundle, as
FOLDER/webseam-VERSION.mcpb: a zip file with the same bytes for the same version.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from webseam import providers
from webseam.fronts.mcp.words import PROMPT, SERVER_NAME, TITLE
from webseam.tools.definitions import TOOLS
from webseam.version import VERSION

ROOT = Path(__file__).resolve().parents[1]
BUNDLE = ROOT / "bundle"
REGISTRY_NAME = (
    "io.github.webseam/webseam"  # the README says it too: that is how the registry knows the package is ours
)
DESCRIPTION = "Search the web with fallback over many providers and read any page safely; works without a key"
MAX_DESCRIPTION = 100  # characters that the registry takes
HOME = "https://pypi.org/project/webseam/"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the date of every file in the bundle, so that packing twice gives the same bytes


def server_json() -> dict[str, Any]:
    """Return the entry of the MCP registry."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": REGISTRY_NAME,
        "title": SERVER_NAME,
        "description": DESCRIPTION,
        "version": VERSION,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": "webseam",
                "version": VERSION,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
                "environmentVariables": [
                    {"name": name, "description": f"Key of {label}; optional", "isRequired": False, "isSecret": True}
                    for name, label in keys()
                ],
            }
        ],
    }


def keys() -> list[tuple[str, str]]:
    """Return the variable and the label of every provider that takes a key, those of one variable once."""
    found: dict[str, str] = {}
    for one in providers.every():
        for name in one.key_env[:1]:
            found.setdefault(name, one.label)
    return list(found.items())


def manifest() -> dict[str, Any]:
    """Return the manifest of the bundle."""
    return {
        "manifest_version": "0.4",
        "name": SERVER_NAME,
        "display_name": TITLE,
        "version": VERSION,
        "description": DESCRIPTION,
        "author": {"name": "The webseam authors", "url": HOME},
        "homepage": HOME,
        "license": "Apache-2.0",
        "keywords": ["search", "web", "fetch", "documentation"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {"command": "uv", "args": ["run", "--directory", "${__dirname}", "server.py"], "env": {}},
        },
        "tools": [{"name": tool.name, "description": tool.description} for tool in TOOLS],
        "prompts": [
            {
                "name": "research",
                "description": PROMPT[1],
                "arguments": ["question"],
                "text": PROMPT[2].replace("{question}", "${arguments.question}"),
            }
        ],
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": ">=3.11"}},
    }


def project() -> str:
    """Return the project file of the bundle, by which `uv` installs the package."""
    return (
        f'[project]\nname = "webseam-bundle"\nversion = "{VERSION}"\nrequires-python = ">=3.11"\n'
        f'dependencies = ["webseam=={VERSION}"]\n\n[tool.uv]\npackage = false\n'
    )


def files() -> dict[Path, str]:
    """Return every file that is made, with its text."""
    return {
        ROOT / "server.json": _json(server_json()),
        BUNDLE / "manifest.json": _json(manifest()),
        BUNDLE / "pyproject.toml": project(),
    }


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def pack(folder: Path) -> Path:
    """Write the bundle into `folder` and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"webseam-{VERSION}.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("manifest.json", "pyproject.toml", "server.py"):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (BUNDLE / name).read_bytes())
    return path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is not current")
    parser.add_argument("--bundle", type=Path, metavar="FOLDER", help="pack the bundle into this folder too")
    chosen = parser.parse_args()
    stale = [path for path, text in files().items() if not path.is_file() or path.read_text("utf-8") != text]
    if chosen.check:
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        print(f"stale: {names}; run scripts/registry_files.py" if stale else "the registry files are current")
        return int(bool(stale))
    for path in stale:
        path.write_text(files()[path], "utf-8")
    if chosen.bundle:
        print(pack(chosen.bundle))
    return 0


if __name__ == "__main__":
    sys.exit(main())
