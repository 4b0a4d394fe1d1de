"""Prints the table of clients that vouch for our providers: `python -m tests.contract [PACKAGE]`.

Runs every comparison of the tests and says what it covered; a client that is not installed, or a difference, ends it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from importlib.metadata import version

from tests.contract.pair import compare, pairs

CLIENTS = {"anysearch": "anysearch-sdk"}  # ids that begin otherwise than the name of the package


def client_of(name: str) -> str:
    """Return the package that a row is about, with its version: the longest beginning of its id that is installed."""
    words = name.split("-")
    if words[0] in CLIENTS:
        words = CLIENTS[words[0]].split("-")
    for length in range(len(words), 0, -1):
        package = "-".join(words[:length])
        try:
            return f"{package} {version(package)}"
        except ImportError:
            continue
    raise SystemExit(f"no package is installed for {name}")


async def main(package: str) -> None:
    print("| provider | client | request: method, path, authentication and | read |\n| --- | --- | --- | --- |")
    for row in pairs(package):
        (pair,) = row.values
        covered = await compare(pair)
        sent = f"`{covered.method} {covered.path}`, {len(covered.fields)} common fields"
        fields = f": {', '.join(covered.fields)}" if covered.fields else ""
        print(f"| {pair.provider} | {client_of(row.id)} | {sent}{fields} | {', '.join(covered.read)} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:  # nothing of the user's: neither keys nor settings nor state
        for name in ("CONFIG", "STATE", "CACHE"):
            os.environ[f"WEBSEAM_{name}_DIR"] = f"{folder}/{name}"
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "tests.contract.sdks"))
