"""exa-py: requests (method, path, auth, common fields); URLs, titles, dates, extracts. anysearch-sdk: no fields."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.pair import Pair, Read, anysearch, three
from tests.wire import QUERY
from tests.wire.fake import KEY


async def _exa_py(url: str) -> list[Read]:
    from exa_py import Exa

    client = Exa(KEY, base_url=url)
    found = await asyncio.to_thread(
        client.search,
        QUERY,
        type="auto",
        contents={"highlights": True},
        num_results=10,
        include_domains=["example.org"],
        start_published_date="2026-01-01T00:00:00.000Z",
        end_published_date="2026-06-30T23:59:59.999Z",
        category="news",
        moderation=True,
        user_location="US",
    )
    return [Read(one.url, one.title, one.published_date, tuple(one.highlights or ())) for one in found.results]


_THREE = three("exa")
PAIRS = [
    pytest.param(
        Pair(
            "exa",
            _exa_py,
            _THREE,
            {
                "count": 5,  # with a domain filter twice as much is fetched, as services let other domains through
                "include_domains": ["example.org"],
                "kind": "news",
                "safe": "strict",
                "region": "US",
                "after": "2026-01-01",
                "before": "2026-06-30",
            },
        ),
        id="exa-py",
    ),
    pytest.param(Pair("exa", anysearch("exa", highlights=True), _THREE, fields=False), id="anysearch-exa"),
]
