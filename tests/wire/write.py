"""Writes results down the way each service does, so that one table of odd results goes through all providers.

A row is a dict with `url`, `title`, `snippet` and `published`: an absent entry is left out of the answer, None is
written as null. Forms that have no null (text, HTML) leave it out.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.wire.fake import Answer

Row = dict[str, Any]
JSON = {"Content-Type": "application/json"}
HTML = {"Content-Type": "text/html; charset=UTF-8"}


def results(provider: str, rows: Sequence[Row]) -> Answer:
    """Return the answer of a service that found `rows`.

    Raises:
        KeyError: a new provider; add how its service writes results to `WRITERS`.
    """
    return WRITERS[provider](rows)


def _named(row: Row, **names: str) -> dict[str, Any]:
    return {theirs: row[ours] for ours, theirs in names.items() if ours in row}


def _exa_object(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "requestId": "req-1",
        "results": [
            {
                **_named(row, url="url", title="title", published="publishedDate"),
                **({"highlights": row["snippet"] and [row["snippet"]]} if "snippet" in row else {}),
            }
            for row in rows
        ],
    }


def _exa(rows: Sequence[Row]) -> Answer:
    return 200, JSON, json.dumps(_exa_object(rows)).encode()


def _tavily(rows: Sequence[Row]) -> Answer:
    found = [_named(row, url="url", title="title", snippet="content", published="published_date") for row in rows]
    return 200, JSON, json.dumps({"query": "q", "results": found, "request_id": "req-1"}).encode()


def _brave(rows: Sequence[Row]) -> Answer:
    found = [_named(row, url="url", title="title", snippet="description", published="page_age") for row in rows]
    # The news endpoint has its results at the top; a fake that ignores what was asked can serve both.
    return 200, JSON, json.dumps({"type": "search", "web": {"results": found}, "results": found}).encode()


def _searxng(rows: Sequence[Row]) -> Answer:
    found = [_named(row, url="url", title="title", snippet="content", published="publishedDate") for row in rows]
    return 200, JSON, json.dumps({"query": "q", "results": found, "unresponsive_engines": []}).encode()


def _exa_free(rows: Sequence[Row]) -> Answer:
    records = [
        "\n".join(
            (
                f"Title: {row.get('title') or 'N/A'}",
                f"URL: {row.get('url') or ''}",
                f"Published: {row.get('published') or 'N/A'}",
                "Author: N/A",
                "Highlights:",
                row.get("snippet") or "",
            )
        )
        for row in rows
    ]
    text = "\n\n---\n\n".join(records) or "No search results found. Please try a different query."
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}
    return 200, JSON, json.dumps(message).encode()


def _duckduckgo(rows: Sequence[Row]) -> Answer:
    results_ = "\n".join(_duckduckgo_result(row) for row in rows) or '<div class="no-results">No results.</div>'
    return 200, HTML, f'<!DOCTYPE html><html><body><div id="links">{results_}</div></body></html>'.encode()


def _duckduckgo_result(row: Row) -> str:
    href = f' href="{html.escape(row["url"])}"' if row.get("url") else ""
    title = html.escape(row.get("title") or "")
    snippet = f'<a class="result__snippet">{html.escape(row["snippet"])}</a>' if row.get("snippet") else ""
    date = f"<span>{row['published']}T00:00:00.0000000</span>" if row.get("published") else ""
    return (
        f'<div class="result results_links web-result"><h2><a class="result__a"{href}>{title}</a></h2>'
        f'<div class="result__extras">{date}</div>{snippet}</div>'
    )


WRITERS: dict[str, Callable[[Sequence[Row]], Answer]] = {
    "brave": _brave,
    "duckduckgo": _duckduckgo,
    "exa": _exa,
    "exa-free": _exa_free,
    "searxng": _searxng,
    "tavily": _tavily,
}
