"""Writes results down as the page of the HTML form has them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from tests.wire import Answer


def write(rows: Sequence[dict[str, Any]]) -> Answer:
    """Return the page of a search that found `rows`."""
    results = "\n".join(_result(row) for row in rows) or '<div class="no-results">No results.</div>'
    page = f'<!DOCTYPE html><html><body><div id="links">{results}</div></body></html>'
    return 200, {"Content-Type": "text/html; charset=UTF-8"}, page.encode()


def _result(row: dict[str, Any]) -> str:
    href = f' href="{html.escape(row["url"])}"' if row.get("url") else ""
    title = html.escape(row.get("title") or "")
    snippet = f'<a class="result__snippet">{html.escape(row["snippet"])}</a>' if row.get("snippet") else ""
    date = f"<span>{row['published']}T00:00:00.0000000</span>" if row.get("published") else ""
    return (
        f'<div class="result results_links web-result"><h2><a class="result__a"{href}>{title}</a></h2>'
        f'<div class="result__extras">{date}</div>{snippet}</div>'
    )
