"""perplexityai, Perplexity's own client: request; URLs, titles, dates, extracts."""

from __future__ import annotations

import pytest

from tests.contract.pair import Pair, Read, three
from tests.wire import QUERY
from tests.wire.fake import KEY


async def _perplexityai(url: str) -> list[Read]:
    from perplexity import AsyncPerplexity

    async with AsyncPerplexity(api_key=KEY, base_url=url) as client:
        found = await client.search.create(
            query=QUERY,
            max_results=10,
            search_context_size="low",
            search_mode="academic",
            search_domain_filter=["example.org"],
            search_after_date_filter="01/01/2026",
            search_before_date_filter="06/30/2026",
            search_language_filter=["en"],
            country="US",
        )
    return [Read(one.url, one.title, one.date, (one.snippet,)) for one in found.results]


PAIRS = [
    pytest.param(
        Pair(
            "perplexity",
            _perplexityai,
            three("perplexity", dates={"date": "{}"}),
            {
                "count": 5,  # a domain filter fetches twice as much
                "kind": "paper",
                "include_domains": ["example.org"],
                "after": "2026-01-01",
                "before": "2026-06-30",
                "language": "en",
                "region": "US",
            },
            least=9,
        ),
        id="perplexityai",
    )
]
