"""tinyfish, TinyFish's own client: request, once with days and once with an age; URLs, titles, dates, extracts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.pair import Pair, Read, Reader, three
from tests.wire import QUERY
from tests.wire.fake import KEY


def _tinyfish(**options: Any) -> Reader:
    async def read(url: str) -> list[Read]:
        from tinyfish import AsyncTinyFish

        async with AsyncTinyFish(api_key=KEY, base_url=url) as client:
            found = await client.search.query(QUERY, page=0, **options)
        return [Read(one.url, one.title, one.date, (one.snippet,)) for one in found.results]

    return read


_THREE = three("tinyfish", dates={"date": "{}"})
PAIRS = [
    pytest.param(
        Pair(
            "tinyfish",
            _tinyfish(
                location="US",
                language="en",
                include_domains="example.org,docs.example.com",
                exclude_domains="example.net",
                after_date="2026-01-01",
                before_date="2026-06-30",
                domain_type="news",
            ),
            _THREE,
            {
                "count": 5,  # a domain filter wants twice as much, which one page holds
                "kind": "news",
                "include_domains": ["example.org", "docs.example.com"],
                "exclude_domains": ["example.net"],
                "after": "2026-01-01",
                "before": "2026-06-30",
                "language": "en",
                "region": "US",
            },
            least=9,
        ),
        id="tinyfish",
    ),
    pytest.param(
        Pair(
            "tinyfish",
            _tinyfish(recency_minutes=525_600, domain_type="research_paper"),
            _THREE,
            {"freshness": "year", "kind": "paper"},
        ),
        id="tinyfish-age",
    ),
]
