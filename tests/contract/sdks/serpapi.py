"""serpapi, SerpApi's own client (not the older google-search-results, which is imported by the same name): request;
URLs, titles, dates, extracts; web and news.

anysearch-sdk: the same.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.contract.pair import DAYS, Pair, Read, Reader
from tests.wire import QUERY, captured
from tests.wire.fake import KEY
from tests.wire.write import JSON

WRITTEN = dict(zip(("Feb 3, 2026", "Mar 4, 2026", "Apr 5, 2026"), DAYS, strict=True))  # as Google writes a day
ROWS = [
    {
        "position": place,
        "title": f"Guide of {day}",
        "link": f"https://example.org/{day}",
        "snippet": "A short excerpt.",
        "date": written,
        "source": "Example",
    }
    for place, (written, day) in enumerate(WRITTEN.items(), 1)
]
_EXAMPLE = captured("serpapi")["response_example"]
_WEB = 200, JSON, json.dumps({**_EXAMPLE, "organic_results": ROWS}).encode()
_NEWS = 200, JSON, json.dumps({"search_metadata": _EXAMPLE["search_metadata"], "news_results": ROWS}).encode()


def _serpapi(section: str, **parameters: Any) -> Reader:
    async def read(url: str) -> list[Read]:
        import serpapi

        client = serpapi.Client(api_key=KEY)
        client.BASE_DOMAIN = url
        try:
            found = await asyncio.to_thread(client.search, engine="google", q=QUERY, **parameters)
        finally:
            client.session.close()
        return [Read(one["link"], one["title"], WRITTEN[one["date"]], (one["snippet"],)) for one in found[section]]

    return read


def google_like(provider: str, **options: Any) -> Reader:
    """Return a reader for the community client that speaks to many services, with days as Google writes them."""

    async def read(url: str) -> list[Read]:
        from anysearch import AnySearch

        client = AnySearch(provider=provider, api_key=KEY, base_url=url, env={}, on_unsupported="error")
        found = await asyncio.to_thread(lambda: client.search(QUERY, **options))
        return [Read(str(one.url), one.title, WRITTEN[one.published_date], (one.snippet,)) for one in found]

    return read


PAIRS = [
    pytest.param(
        Pair(
            "serpapi",
            _serpapi(
                "organic_results",
                num=10,
                start=20,
                gl="us",
                hl="en",
                lr="lang_en",
                safe="active",
                tbs="cdr:1,cd_min:1/1/2026,cd_max:6/30/2026",
            ),
            _WEB,
            {
                "page": 3,
                "region": "US",
                "language": "en",
                "safe": "strict",
                "after": "2026-01-01",
                "before": "2026-06-30",
            },
            least=10,
        ),
        id="serpapi",
    ),
    pytest.param(
        Pair("serpapi", _serpapi("news_results", num=10, tbm="nws"), _NEWS, {"kind": "news"}, least=5),
        id="serpapi-news",
    ),
    pytest.param(
        Pair(
            "serpapi",
            google_like("serpapi", country="de", language="de", safe_search="strict"),
            _WEB,
            {"region": "DE", "language": "de", "safe": "strict"},
            least=7,
        ),
        id="anysearch-serpapi",
    ),
]
