"""Tavily's API: which field each option becomes, and what only Tavily does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import JSON, results
from tests.world import World
from webseam import providers
from webseam.config import Settings
from webseam.errors import Outcome
from webseam.providers.base import ProviderConfig

NOTHING = results("tavily", [])
PLAIN = {
    "query": QUERY,
    "search_depth": "basic",
    "topic": "general",
    "max_results": 10,
    "include_answer": False,
    "include_raw_content": False,
    "include_usage": True,
}


@pytest.mark.parametrize(
    "options, fields",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 50}, {"max_results": 20}, id="count"),
        pytest.param(
            {"include_domains": ["example.org/docs"], "exclude_domains": ["example.net", "example.com/a"]},
            {"include_domains": ["example.org"], "exclude_domains": ["example.net"], "max_results": 20},
            id="domains",
        ),
        pytest.param({"freshness": "month"}, {"time_range": "month"}, id="freshness"),
        pytest.param(
            {"after": "2026-01-01", "before": "2026-06-30", "freshness": "day"},
            {"start_date": "2026-01-01", "end_date": "2026-06-30"},
            id="days-win",
        ),
        pytest.param({"language": "de"}, {"language": "de", "filter_by_language": True}, id="language"),
        pytest.param({"region": "gb"}, {"country": "united kingdom"}, id="region"),
        pytest.param({"kind": "news"}, {"topic": "news"}, id="news"),
        pytest.param({"kind": "news", "freshness": "day"}, {"topic": "news", "time_range": "day"}, id="fresh-news"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], fields: dict[str, Any]) -> None:
    request = await sent("tavily", options, NOTHING)
    assert (request.method, request.path) == ("POST", "/search")
    assert request.json() == {**PLAIN, **fields}


async def test_it_says_who_is_calling_and_on_whose_account() -> None:
    request = await sent("tavily", {}, NOTHING, settings={"project": "p1", "organization": "o1"})
    assert {
        name: request.headers.get(name)
        for name in ("authorization", "x-client-source", "x-project-id", "x-tavily-orgid", "x-tavily-access-mode")
    } == {
        "authorization": f"Bearer {KEY}",
        "x-client-source": "webseam",
        "x-project-id": "p1",
        "x-tavily-orgid": "o1",
        "x-tavily-access-mode": None,
    }


async def test_anonymous_access_is_used_only_when_it_is_switched_on() -> None:
    request = await sent("tavily", {}, NOTHING, settings={"keyless": "on", "api_key": None})
    assert (request.headers.get("authorization"), request.headers["x-tavily-access-mode"]) == (None, "keyless")
    async with World() as world:
        fake = Fake(world, NOTHING)
        result = await search("tavily", fake.url, settings={"api_key": None})
    assert (result.outcome, fake.requests) == (Outcome.UNAVAILABLE, [])


@pytest.mark.parametrize(
    "key, values, set_price, price",
    [
        pytest.param(KEY, {"search_depth": "basic"}, None, 0.008, id="basic"),
        pytest.param(KEY, {"search_depth": "fast"}, None, 0.008, id="fast"),
        pytest.param(KEY, {"search_depth": "advanced"}, None, 0.016, id="advanced"),
        pytest.param(KEY, {"search_depth": "advanced"}, 0.001, 0.001, id="a-price-of-one-s-own"),
        pytest.param("", {"search_depth": "advanced", "keyless": True}, None, 0.0, id="without-a-key"),
        pytest.param(KEY, {"search_depth": "basic", "keyless": True}, None, 0.008, id="a-key-that-is-used"),
    ],
)
def test_a_search_is_priced_as_it_will_be_paid(
    key: str, values: dict[str, Any], set_price: float | None, price: float
) -> None:
    tavily = providers.get("tavily")
    declared = tavily.price if set_price is None else set_price
    config = ProviderConfig(provider="tavily", key=key, price=declared, values={"keyless": False, **values})
    assert [one.price for one in tavily.routes(config, Settings())] == [price]


@pytest.mark.parametrize(
    "options, note",
    [
        pytest.param(
            {"region": "AQ"}, "Tavily cannot prefer results of the region AQ; that was not applied", id="unknown"
        ),
        pytest.param(
            {"region": "DE", "kind": "news"},
            "Tavily cannot prefer news of the region DE; that was not applied",
            id="news",
        ),
    ],
)
async def test_a_region_it_cannot_prefer_is_not_sent_and_that_is_said(options: dict[str, Any], note: str) -> None:
    async with World() as world:
        fake = Fake(world, results("tavily", [{"url": "https://example.org/"}]))
        result = await search("tavily", fake.url, options)
    assert (result.outcome, result.notes, "country" in fake.requests[0].json()) == (Outcome.OK, (note,), False)


@pytest.mark.parametrize(
    "body, outcome",
    [
        pytest.param({"query": "q", "request_id": "r"}, Outcome.EMPTY, id="results-absent"),
        pytest.param({"query": "q", "results": None}, Outcome.EMPTY, id="results-null"),
        pytest.param({}, Outcome.BAD_RESPONSE, id="another-service"),
        pytest.param({"detail": {"error": "Usage limit exceeded."}}, Outcome.QUOTA, id="error"),
        pytest.param([], Outcome.BAD_RESPONSE, id="a-list"),
    ],
)
async def test_an_answer_without_results_is_empty_only_if_it_is_tavily_s(body: Any, outcome: Outcome) -> None:
    async with World() as world:
        fake = Fake(world, (200, JSON, json.dumps(body).encode()))
        result = await search("tavily", fake.url)
    assert result.outcome == outcome


async def test_zero_hits_within_dates_are_asked_for_once_more_without_them_and_that_is_said() -> None:
    async with World() as world:
        answers = iter([NOTHING, results("tavily", [{"url": "https://example.org/", "published": "2020-01-01"}])])
        fake = Fake(world, lambda _: next(answers))
        result = await search("tavily", fake.url, {"freshness": "day"})
    assert [hit.url for hit in result.hits] == ["https://example.org/"]
    assert [request.json().get("time_range") for request in fake.requests] == ["day", None]
    assert result.notes == ("Tavily found nothing within the dates; these hits are without the date limit",)
