"""Bing's version 7 shape: which parameter each option becomes, and the lengths its address is written in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import results
from tests.world import World
from webseam.errors import Outcome

SOME = results("bing", [{"url": "https://example.org/", "title": "Some"}])
PLAIN = {"q": QUERY, "count": "10", "textDecorations": "false"}
WEB = {**PLAIN, "responseFilter": "Webpages"}


def _ago(days: int) -> str:
    return (datetime.now(UTC).date() - timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 30, "page": 2}, {"count": "30", "offset": "30"}, id="count-and-page"),
        pytest.param({"freshness": "day"}, {"freshness": "Day"}, id="freshness"),
        pytest.param({"freshness": "year"}, {"freshness": f"{_ago(366)}..{_ago(0)}"}, id="year"),
        pytest.param({"after": "2026-01-02"}, {"freshness": f"2026-01-02..{_ago(0)}"}, id="open-end"),
        pytest.param({"before": "2026-01-02"}, {"freshness": "1990-01-01..2026-01-02"}, id="open-start"),
        pytest.param({"language": "de", "region": "CH"}, {"mkt": "de-CH"}, id="market"),
        pytest.param({"language": "pt-BR"}, {"mkt": "pt-BR"}, id="market-in-the-language"),
        pytest.param({"language": "pt-BR", "region": "US"}, {"mkt": "pt-US"}, id="region-wins"),
        pytest.param({"language": "de"}, {"setLang": "de"}, id="language-alone"),
        pytest.param({"region": "DE"}, {"cc": "DE"}, id="region-alone"),
        pytest.param({"safe": "moderate"}, {"safeSearch": "Moderate"}, id="safe"),
        pytest.param(
            {"include_domains": ["example.org"]}, {"q": f"{QUERY} site:example.org", "count": "20"}, id="site"
        ),
    ],
)
async def test_each_option_becomes_this_parameter(options: dict[str, Any], parameters: dict[str, str]) -> None:
    request = await sent("bing", options, SOME)
    assert (request.method, request.path, request.headers["ocp-apim-subscription-key"]) == ("GET", "/v7.0/search", KEY)
    assert request.query == {name: [value] for name, value in {**WEB, **parameters}.items()}


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"freshness": "week"}, {"freshness": "Week"}, id="freshness"),
        pytest.param({"freshness": "year"}, {}, id="an-age-it-has-not"),
        pytest.param({"after": _ago(20), "before": _ago(10)}, {"freshness": "Month"}, id="smallest-age-of-a-range"),
    ],
)
async def test_news_have_a_path_of_their_own_and_no_ranges(options: dict[str, Any], parameters: dict[str, str]) -> None:
    request = await sent("bing", {"kind": "news", **options}, SOME)
    assert request.path == "/v7.0/news/search"
    assert request.query == {name: [value] for name, value in {**PLAIN, **parameters}.items()}


@pytest.mark.parametrize(
    "base, path",
    [
        pytest.param("", "/v7.0", id="host"),
        pytest.param("/v7.0", "/v7.0", id="version"),
        pytest.param("/v7.0/search", "/v7.0", id="whole"),
        pytest.param("/v7.0/news/search/", "/v7.0", id="news"),
        pytest.param("/bing", "/bing/v7.0", id="older-host"),
        pytest.param("/bing/v7.0/", "/bing/v7.0", id="older-version"),
        pytest.param("/search", "/search/v7.0", id="a-gateway-called-search"),
    ],
)
@pytest.mark.parametrize("kind, tail", [("web", "/search"), ("news", "/news/search")])
async def test_what_an_address_lacks_is_added_and_no_more(base: str, path: str, kind: str, tail: str) -> None:
    request = await sent("bing", {"kind": kind}, SOME, settings={"base_url": f"{{url}}{base}"})
    assert request.path == path + tail


@pytest.mark.parametrize("name", ["BING_SEARCH_V7_ENDPOINT", "BING_SEARCH_URL", "BING_BASE_URL"])
async def test_without_an_address_it_says_why_there_is_none(name: str) -> None:
    async with World() as world:
        fake = Fake(world, SOME)
        told = await search("bing", fake.url, settings={"base_url": None})
        assert (told.outcome, told.attempt.detail) == (Outcome.UNAVAILABLE, "retired; set a compatible endpoint")
        told = await search("bing", "", settings={"base_url": None}, variables={name: fake.url})
    assert (told.outcome, len(fake.requests)) == (Outcome.OK, 1)
