"""SearXNG: which parameter each option becomes, how its address is found, and what its pages add up to."""

from __future__ import annotations

import base64
import os
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent, told
from tests.wire.write import JSON, results
from tests.world import Recorded, World
from webseam.errors import Outcome
from webseam.web import AsyncWeb

NOTHING = results("searxng", [])
PLAIN = {"q": QUERY, "format": "json", "pageno": "1", "categories": "general"}


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param(
            {"include_domains": ["example.org", "example.net"], "exclude_domains": ["docs.example.org"]},
            {"q": f"{QUERY} (site:example.org OR site:example.net) -site:docs.example.org"},
            id="sites",
        ),
        pytest.param({"freshness": "month"}, {"time_range": "month"}, id="freshness"),
        pytest.param({"language": "de"}, {"language": "de"}, id="language"),
        pytest.param({"language": "de", "region": "at"}, {"language": "de-AT"}, id="language-and-region"),
        pytest.param({"language": "en-GB", "region": "us"}, {"language": "en-GB"}, id="language-with-its-own-region"),
        pytest.param({"safe": "off"}, {"safesearch": "0"}, id="safe-off"),
        pytest.param({"safe": "strict"}, {"safesearch": "2"}, id="safe-strict"),
        pytest.param({"kind": "news"}, {"categories": "news"}, id="news"),
        pytest.param({"kind": "code"}, {"categories": "it"}, id="code"),
        pytest.param({"kind": "paper"}, {"categories": "science"}, id="paper"),
        pytest.param({"page": 4}, {"pageno": "4"}, id="page"),
    ],
)
async def test_each_option_becomes_this_parameter(options: dict[str, Any], parameters: dict[str, str]) -> None:
    request = await sent("searxng", options, NOTHING)
    assert (request.method, request.path, request.body) == ("GET", "/search", b"")
    assert request.query == {name: [value] for name, value in {**PLAIN, **parameters}.items()}


@pytest.mark.parametrize(
    "settings, parameters",
    [
        pytest.param({"categories": "it"}, {"categories": "it"}, id="categories"),
        # Named beside engines, a category would add all of its engines to the chosen ones.
        pytest.param({"engines": "one,two"}, {"engines": "one,two", "categories": None}, id="engines"),
        pytest.param({"engines": "one", "categories": "it"}, {"engines": "one", "categories": "it"}, id="both"),
        pytest.param({"language": "fr", "safesearch": "1"}, {"language": "fr", "safesearch": "1"}, id="others"),
    ],
)
async def test_the_settings_stand_in_for_what_the_search_leaves_open(
    settings: dict[str, Any], parameters: dict[str, str | None]
) -> None:
    request = await sent("searxng", {}, NOTHING, settings=settings)
    assert request.query == {name: [value] for name, value in {**PLAIN, **parameters}.items() if value is not None}


@pytest.mark.parametrize("settings", [{"engines": "one"}, {"categories": "general"}], ids=["engines", "categories"])
async def test_a_kind_of_source_that_the_settings_override_is_said(settings: dict[str, Any]) -> None:
    async with World() as world:
        fake = Fake(world, results("searxng", [{"url": "https://example.org/"}]))
        result = await search("searxng", fake.url, {"kind": "news", "count": 1}, settings=settings)
    note = "SearXNG was asked as its settings say (searxng.engines or categories), not for news alone"
    assert (result.outcome, result.notes) == (Outcome.OK, (note,))


async def test_post_sends_the_same_as_a_form() -> None:
    request = await sent("searxng", {"language": "de", "page": 2}, NOTHING, settings={"method": "POST"})
    assert (request.method, request.target) == ("POST", "/search")
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert parse_qs(request.body.decode()) == {
        name: [value] for name, value in {**PLAIN, "language": "de", "pageno": "2"}.items()
    }


@pytest.mark.parametrize(
    "settings, header",
    [
        pytest.param({"api_key": None}, None, id="none"),
        pytest.param({}, f"Bearer {KEY}", id="token"),
        pytest.param(
            {"username": "me", "password": "pä:ss"},
            "Basic " + base64.b64encode("me:pä:ss".encode()).decode(),
            id="basic-wins",
        ),
    ],
)
async def test_a_password_wins_over_a_token(settings: dict[str, Any], header: str | None) -> None:
    request = await sent("searxng", {}, NOTHING, settings=settings)
    assert request.headers.get("authorization") == header


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({"SEARXNG_URL": "{}"}, id="url"),
        pytest.param({"SEARXNG_BASE_URL": "{}/"}, id="base-url"),
        pytest.param({"SEARXNG_ENDPOINT": "{}/search"}, id="endpoint"),
        pytest.param({"SEARXNG_API_BASE": "{}"}, id="api-base"),
        pytest.param({"SEARX_HOST": "{}"}, id="old-name"),
        pytest.param({"SEARXNG_QUERY_URL": "{}/search?q=<query>"}, id="query-template"),
        pytest.param({"WEB_PROVIDER": "searxng", "WEB_SEARCH_API": "{}"}, id="chosen-provider"),
    ],
)
async def test_each_of_these_variables_gives_the_address(variables: dict[str, str]) -> None:
    async with World() as world:
        fake = Fake(world, results("searxng", [{"url": "https://example.org/"}]))
        given = {name: value.format(fake.url) for name, value in variables.items()}
        async with AsyncWeb(environment={**os.environ, **given}) as web:
            result = await told(web, "searxng", {"count": 1})
    assert (result.outcome, fake.requests[0].path) == (Outcome.OK, "/search")


async def test_another_provider_s_address_is_not_taken() -> None:
    variables = {**os.environ, "WEB_PROVIDER": "other", "WEB_SEARCH_API": "http://127.0.0.1:9/"}
    async with AsyncWeb(environment=variables) as web:
        result = await told(web, "searxng", {})
    assert (result.outcome, result.attempt.detail) == (Outcome.UNAVAILABLE, "no address (SEARXNG_URL)")


def _numbered(request: Recorded) -> tuple[int, dict[str, str], bytes]:
    """Ten results a page, four pages in all."""
    fields = request.query or parse_qs(request.body.decode())
    page = int(fields["pageno"][0])
    first = 10 * (page - 1)
    rows = [{"url": f"https://example.org/{number}"} for number in range(first, first + 10)] if page <= 4 else []
    return results("searxng", rows)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "options, asked, first, found",
    [
        pytest.param({"count": 10}, ["1"], 0, 10, id="one-page"),
        pytest.param({"count": 25}, ["1", "2", "3"], 0, 25, id="three-pages"),
        pytest.param({"count": 50}, ["1", "2", "3", "4", "5"], 0, 40, id="until-nothing-comes"),
        pytest.param({"count": 10, "page": 3}, ["3"], 20, 10, id="a-later-page"),
    ],
)
async def test_pages_are_read_until_there_are_enough_hits(
    method: str, options: dict[str, Any], asked: list[str], first: int, found: int
) -> None:
    async with World() as world:
        fake = Fake(world, _numbered)
        result = await search("searxng", fake.url, options, settings={"method": method})
    pages = [(request.query or parse_qs(request.body.decode()))["pageno"][0] for request in fake.requests]
    assert pages == asked
    assert [hit.url for hit in result.hits] == [f"https://example.org/{first + number}" for number in range(found)]


async def test_a_server_that_repeats_its_page_is_not_asked_for_ever() -> None:
    async with World() as world:
        fake = Fake(world, results("searxng", [{"url": "https://example.org/"}]))
        result = await search("searxng", fake.url, {"count": 50})
    assert (len(result.hits), len(fake.requests)) == (1, 2)


async def test_a_later_page_that_fails_leaves_what_came_before() -> None:
    async with World() as world:
        pages = iter([results("searxng", [{"url": "https://example.org/"}]), (429, JSON, b"{}")])
        fake = Fake(world, lambda _: next(pages))
        result = await search("searxng", fake.url, {"count": 10})
    assert (result.outcome, len(result.hits)) == (Outcome.OK, 1)
    assert result.notes == ("SearXNG: page 2 failed (rate_limited)",)


async def test_engines_that_lack_time_ranges_are_asked_again_without_one() -> None:
    async with World() as world:
        fake = Fake(
            world,
            lambda request: (
                NOTHING if "time_range" in request.query else results("searxng", [{"url": "https://example.org/"}])
            ),
        )
        result = await search("searxng", fake.url, {"freshness": "week", "count": 1})
    assert (result.outcome, len(result.hits)) == (Outcome.OK, 1)
    assert result.notes == ("SearXNG found nothing within the dates; these hits are without the date limit",)


async def test_a_bang_that_leads_to_another_site_is_not_followed() -> None:
    async with World() as world:
        elsewhere = Fake(world, NOTHING)
        fake = Fake(world, (302, {"Location": elsewhere.url + "/"}, b""))
        result = await search("searxng", fake.url, {"query": "!!w example"})
    assert (result.outcome, elsewhere.requests) == (Outcome.BAD_RESPONSE, [])
    assert "redirect refused" in str(result.attempt.detail)
