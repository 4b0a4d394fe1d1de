"""parallel-web, Parallel's own client: request; URLs, titles, dates, extracts."""

from __future__ import annotations

import pytest

from tests.contract.pair import Pair, Read, three
from tests.wire import QUERY
from tests.wire.fake import KEY


async def _parallel_web(url: str) -> list[Read]:
    from parallel import AsyncParallel

    async with AsyncParallel(api_key=KEY, base_url=url) as client:
        found = await client.search(
            search_queries=[QUERY],
            objective=QUERY,
            mode="basic",
            max_chars_total=20_000,
            advanced_settings={
                "max_results": 10,
                "location": "us",
                "source_policy": {"include_domains": ["example.org", ".edu"], "after_date": "2026-01-01"},
                "excerpt_settings": {"max_chars_per_result": 2000},
            },
        )
    return [Read(one.url, one.title, one.publish_date, tuple(one.excerpts)) for one in found.results]


PAIRS = [
    pytest.param(
        Pair(
            "parallel",
            _parallel_web,
            three("parallel", dates={"publish_date": "{}"}),
            {
                "count": 5,  # a domain filter fetches twice as much
                "include_domains": ["example.org", "edu"],
                "after": "2026-01-01",
                "region": "US",
            },
            least=5,
        ),
        id="parallel-web",
    )
]
