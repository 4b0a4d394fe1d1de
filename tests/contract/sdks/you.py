"""youdotcom, You.com's own client: request; URLs, titles, dates, extracts."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from tests.contract.pair import Pair, Read, Reader, three
from tests.wire import QUERY
from tests.wire.fake import KEY

_WEB = three("you", "results", list_name="web")
_UNDATED = three("you", "results", list_name="web", dates={"page_age": ""})  # a day grows too old for an age


def _youdotcom(**options: Any) -> Reader:
    async def read(url: str) -> list[Read]:
        from youdotcom import You

        with You(KEY) as client:
            # It switches on what costs more unless it is told not to.
            search = partial(client.search, query=QUERY, extraction=None, knowledge=None, server_url=url, **options)
            found = await asyncio.to_thread(search)
        return [
            Read(one.url, one.title, one.page_age.isoformat() if one.page_age else None, tuple(one.snippets))
            for one in found.results.web
        ]

    return read


PAIRS = [
    pytest.param(
        Pair(
            "you",
            _youdotcom(
                count=10,
                offset=2,
                country="US",
                language="PT-BR",
                safesearch="strict",
                freshness="2026-01-01to2026-06-30",
                include_domains=["example.org"],
            ),
            _WEB,
            {
                "count": 10,
                "page": 3,
                "region": "US",
                "language": "pt-br",
                "safe": "strict",
                "after": "2026-01-01",
                "before": "2026-06-30",
                "include_domains": ["example.org"],
            },
            least=8,
        ),
        id="youdotcom",
    ),
    pytest.param(
        Pair(
            "you",
            _youdotcom(count=10, freshness="year", exclude_domains=["example.net"]),
            _UNDATED,
            {"count": 5, "freshness": "year", "exclude_domains": ["example.net"]},
        ),
        id="youdotcom-age",
    ),
]
