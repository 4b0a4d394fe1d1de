"""Serper: which field each option becomes, and what its credits cost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import JSON, results
from tests.world import World
from webseam.model import SearchRequest
from webseam.providers.base import ProviderConfig
from webseam.providers.serper import Serper

SOME = results("serper", [{"url": "https://example.org/", "title": "Some"}])
TODAY = datetime.now(UTC).strftime("%m/%d/%Y")


@pytest.mark.parametrize(
    "options, path, fields",
    [
        pytest.param({}, "/search", {}, id="plain"),
        pytest.param({"count": 30, "page": 2}, "/search", {"num": 30, "page": 2}, id="count-and-page"),
        pytest.param({"kind": "news"}, "/news", {}, id="news"),
        pytest.param({"kind": "paper"}, "/scholar", {}, id="papers"),
        pytest.param(
            {"include_domains": ["example.org", "example.net"], "exclude_domains": ["a.example.org"]},
            "/search",
            {"num": 20, "q": f"{QUERY} (site:example.org OR site:example.net) -site:a.example.org"},
            id="sites",
        ),
        pytest.param({"freshness": "year"}, "/search", {"tbs": "qdr:y"}, id="freshness"),
        pytest.param(
            {"after": "2026-01-02", "before": "2026-06-30"},
            "/search",
            {"tbs": "cdr:1,cd_min:01/02/2026,cd_max:06/30/2026"},
            id="range",
        ),
        pytest.param(
            {"after": "2026-01-02"}, "/search", {"tbs": f"cdr:1,cd_min:01/02/2026,cd_max:{TODAY}"}, id="open-end"
        ),
        pytest.param({"language": "es-419", "region": "MX"}, "/search", {"hl": "es-419", "gl": "mx"}, id="place"),
        pytest.param({"language": "nb"}, "/search", {"hl": "no"}, id="norwegian"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], path: str, fields: dict[str, Any]) -> None:
    request = await sent("serper", options, SOME)
    assert (request.method, request.path, request.headers["x-api-key"]) == ("POST", path, KEY)
    assert request.json() == {"q": QUERY, "num": 10, **fields}


@pytest.mark.parametrize(
    "base, kind, path",
    [
        pytest.param("/search", "web", "/search", id="endpoint"),
        pytest.param("/search", "news", "/news", id="endpoint-of-the-web-for-news"),
        pytest.param("/gateway/news/", "web", "/gateway/search", id="endpoint-of-news-for-the-web"),
        pytest.param("/scholar", "news", "/news", id="endpoint-of-papers-for-news"),
        pytest.param("/research", "web", "/research/search", id="another-word"),
    ],
)
async def test_a_base_url_with_an_endpoint_means_the_service(base: str, kind: str, path: str) -> None:
    async with World() as world:
        fake = Fake(world, SOME)
        await search("serper", fake.url + base, {"kind": kind})
    assert [request.path for request in fake.requests] == [path]


def test_a_host_called_search_is_no_endpoint() -> None:
    request = Serper().request(SearchRequest(query=QUERY), ProviderConfig(provider="serper", base_url="http://news"))
    assert request.url == "http://news/search"


async def test_a_language_is_said_to_be_no_filter() -> None:
    async with World() as world:
        told = await search("serper", Fake(world, SOME).url, {"language": "de"})
    assert told.notes == ("Serper prefers the language de; it cannot filter by it",)


@pytest.mark.parametrize(
    "credits_used, settings, cost",
    [
        pytest.param(1, {}, 0.001, id="one"),
        pytest.param(2, {}, 0.002, id="two"),
        pytest.param(2, {"price": "0.0003"}, 0.0006, id="a-price-of-ones-own"),
        pytest.param("2", {}, 0.001, id="no-number"),
        pytest.param(None, {}, 0.001, id="not-named"),
    ],
)
async def test_credits_are_counted_at_the_price_of_a_search(
    credits_used: object, settings: dict[str, str], cost: float
) -> None:
    body = json.dumps({"organic": [{"link": "https://example.org/"}], "credits": credits_used}).encode()
    async with World() as world:
        told = await search("serper", Fake(world, (200, JSON, body)).url, settings=settings)
    assert told.attempt.cost == pytest.approx(cost)
