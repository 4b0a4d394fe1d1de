"""Writes results down as Exa's hosted MCP server does: one block of text, a record after the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.wire import Answer

_NOTHING = "No search results found. Please try a different query."


def write(rows: Sequence[dict[str, Any]]) -> Answer:
    """Return the answer of the server to a call that found `rows`."""
    text = "\n\n---\n\n".join(_record(row) for row in rows) or _NOTHING
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}
    return 200, {"Content-Type": "application/json"}, json.dumps(message).encode()


def _record(row: dict[str, Any]) -> str:
    lines = (
        f"Title: {row.get('title') or 'N/A'}",
        f"URL: {row.get('url') or ''}",
        f"Published: {row.get('published') or 'N/A'}",
        "Author: N/A",
        "Highlights:",
        row.get("snippet") or "",
    )
    return "\n".join(lines)
