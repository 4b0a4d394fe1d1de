"""firecrawl-py, Firecrawl's own client: request; URLs, titles, extracts, and the dates that news have.

anysearch-sdk: the same, without extracts.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import pytest

from tests.contract.pair import Pair, Read, Reader, anysearch, three
from tests.wire import QUERY
from tests.wire.fake import KEY
from tests.wire.write import JSON

_WEB = three("firecrawl", "data", list_name="web")
_NEWS_ROWS = [
    {
        "url": f"https://news.example.org/{day}",
        "title": f"News of {day}",
        "snippet": "It happened.",
        "date": day,
        "position": place,
    }
    for place, day in enumerate(("2026-02-03", "2026-03-04", "2026-04-05"), 1)
]
_NEWS = 200, JSON, json.dumps({"success": True, "data": {"news": _NEWS_ROWS}, "creditsUsed": 2}).encode()
_OURS = {"origin": "webseam"}


def _firecrawl(section: str, **options: Any) -> Reader:
    async def read(url: str) -> list[Read]:
        from firecrawl import Firecrawl

        client = Firecrawl(api_key=KEY, api_url=url)
        # The same time as a provider of ours has unless it is set.
        search = partial(client.search, QUERY, limit=10, timeout=15_000, ignore_invalid_urls=True, **options)
        found = await asyncio.to_thread(search)
        if section == "news":
            return [Read(one.url, one.title, one.date, (one.snippet,)) for one in found.news]
        return [Read(one.url, one.title, None, (one.description,)) for one in found.web]

    return read


PAIRS = [
    pytest.param(
        Pair(
            "firecrawl",
            _firecrawl("web", sources=["web"], categories=["github"], tbs="qdr:m", include_domains=["example.org"]),
            _WEB,
            # A domain filter fetches twice as much.
            {"count": 5, "kind": "code", "freshness": "month", "include_domains": ["example.org"]},
            ours_differs=_OURS,
            least=9,
        ),
        id="firecrawl-py",
    ),
    pytest.param(
        Pair(
            "firecrawl",
            _firecrawl(
                "news",
                sources=["news"],
                exclude_domains=["example.net"],
                tbs="cdr:1,cd_min:01/01/2026,cd_max:06/30/2026",
            ),
            _NEWS,
            {
                "count": 5,
                "kind": "news",
                "exclude_domains": ["example.net"],
                "after": "2026-01-01",
                "before": "2026-06-30",
            },
            ours_differs=_OURS,
            least=8,
        ),
        id="firecrawl-py-news",
    ),
    pytest.param(
        Pair("firecrawl", anysearch("firecrawl", country="de"), _WEB, {"region": "DE"}), id="anysearch-firecrawl"
    ),
    pytest.param(
        Pair("firecrawl", anysearch("firecrawl", search_type="news"), _NEWS, {"kind": "news"}, least=3),
        id="anysearch-firecrawl-news",
    ),
]
