"""brave-search-python-client: requests; URLs, titles, dates, extracts; web and news. anysearch-sdk: without fields."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.pair import Pair, Read, anysearch, three
from tests.wire import QUERY, Answer, captured
from tests.wire.fake import KEY
from tests.wire.write import JSON
from webseam.text import plain


def _client(url: str) -> Any:
    from brave_search_python_client import BraveSearch

    client = BraveSearch(api_key=KEY)
    client._base_url = f"{url}/res/v1/"
    return client


async def web(url: str) -> list[Read]:
    from brave_search_python_client import WebSearchRequest

    request = WebSearchRequest(
        q=QUERY,
        count=10,
        offset=2,
        country="US",
        search_lang="en",
        safesearch="strict",
        freshness="2026-01-01to2026-06-30",
        text_decorations=False,
        extra_snippets=True,
        result_filter="web",
    )
    found = await _client(url).web(request)
    return [Read(one.url, plain(one.title), one.page_age, tuple(one.extra_snippets or ())) for one in found.web.results]


async def news(url: str) -> list[Read]:
    from brave_search_python_client import NewsSearchRequest

    request = NewsSearchRequest(q=QUERY, count=10, country="US", search_lang="en", extra_snippets=True)
    found = await _client(url).news(request)
    return [Read(str(one.url), one.title, one.page_age) for one in found.results]


def _three_news() -> Answer:
    results = [
        {
            "type": "news_result",
            "url": f"https://example.org/{day}",
            "title": f"News of {day}",
            "description": "It happened.",
            "age": "a while ago",
            "page_age": f"{day}T10:00:00",
            "meta_url": {**captured("brave")["response_example"]["web"]["results"][0]["meta_url"], "path": f"› {day}"},
        }
        for day in ("2026-02-03", "2026-03-04")
    ]
    query = {"original": QUERY, "spellcheck_off": True, "show_strict_warning": False}
    document = {"type": "news", "query": query, "results": results}
    return 200, JSON, json.dumps(document).encode()


_WEB = three("brave", "web")
_ASKED: dict[str, Any] = {
    "page": 3,
    "region": "US",
    "language": "en",
    "safe": "strict",
    "after": "2026-01-01",
    "before": "2026-06-30",
}
PAIRS = [
    pytest.param(Pair("brave", web, _WEB, _ASKED), id="brave-search-python-client"),
    pytest.param(
        Pair(
            "brave",
            news,
            _three_news(),
            {"kind": "news", "region": "US", "language": "en"},
            ours_differs={"spellcheck": "false"},  # the caller's words are never rewritten
        ),
        id="brave-search-python-client-news",
    ),
    pytest.param(Pair("brave", anysearch("brave"), _WEB, fields=False), id="anysearch-brave"),
    pytest.param(
        Pair("brave", anysearch("brave", search_type="news"), _three_news(), {"kind": "news"}, fields=False),
        id="anysearch-brave-news",
    ),
]
