"""The table of docs/agents.md, printed by `scripts/test-agents --table`: what reached the model of each client."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.agents.clients import CLIENTS
from tests.agents.expected import is_whole, said
from tests.agents.play import TRANSPORTS, Played, play

FIRST = "widgets.html"
_HEADINGS = ("client", "version", "transport", "model API", "`web_search` is called", "what reached the model")


def arrived(played: Played, expected: Sequence[str]) -> str:
    """Return in words what reached the model of a search and a page."""
    if len(played.model.results) != len(expected):
        return f"{len(played.model.results)} of {len(expected)} results: {played.ran}"
    words = []
    for what, result, text in zip(("hits", "page"), played.model.results, expected, strict=True):
        whole = is_whole(played.client, result.text, text)
        words.append(f"{what}: our Markdown, {'whole' if whole else 'but not as it was sent'}")
    return "; ".join(words)


def cells(played: Played, expected: Sequence[str]) -> tuple[str, ...]:
    """Return the cells of one row."""
    client = played.client
    called = " in ".join(f"`{part}`" for part in reversed(client.calls_it.split(".")))
    words = arrived(played, expected)
    if client.puts:
        words += f" ({client.puts})"
    return client.label, client.version(), played.transport, client.wire, called, words


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = (_HEADINGS, ("---",) * len(_HEADINGS), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    """Run everything that the table tells and print it."""
    expected = said(FIRST)
    rows = []
    for client in CLIENTS:
        for transport in TRANSPORTS:
            print(f"{client.label} over {transport}", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
                rows.append(cells(play(client, transport, Path(home), first=FIRST), expected))
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
