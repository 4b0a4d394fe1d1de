"""tavily-python: requests and URLs, titles, dates, extracts. anysearch-sdk: without fields."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.pair import Pair, Read, anysearch, three
from tests.wire import QUERY
from tests.wire.fake import KEY


async def _tavily_python(url: str) -> list[Read]:
    from tavily import TavilyClient

    client = TavilyClient(KEY, api_base_url=url)
    try:
        found = await asyncio.to_thread(
            client.search,
            QUERY,
            search_depth="basic",
            topic="general",
            max_results=10,
            include_domains=["example.org"],
            exclude_domains=["example.net"],
            start_date="2026-01-01",
            end_date="2026-06-30",
            country="united states",
            language="en",
            filter_by_language=True,
            include_answer=False,
            include_raw_content=False,
            include_usage=True,
        )
    finally:
        client.close()
    return [Read(one["url"], one["title"], one["published_date"], (one["content"],)) for one in found["results"]]


_THREE = three("tavily")
PAIRS = [
    pytest.param(
        Pair(
            "tavily",
            _tavily_python,
            _THREE,
            {
                "count": 5,
                "include_domains": ["example.org"],
                "exclude_domains": ["example.net"],
                "region": "US",
                "language": "en",
                "after": "2026-01-01",
                "before": "2026-06-30",
            },
        ),
        id="tavily-python",
    ),
    pytest.param(Pair("tavily", anysearch("tavily"), _THREE, fields=False), id="anysearch-tavily"),
]
