"""Kimi's search: what is sent, where to, and which keys are its own."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import results
from tests.world import World
from webseam.errors import Outcome

NOTHING = results("kimi", [])


@pytest.mark.parametrize(
    "options, settings, fields",
    [
        pytest.param({}, {}, {}, id="plain"),
        pytest.param({"count": 50}, {}, {"limit": 20}, id="count"),
        pytest.param({"include_domains": ["example.org"]}, {}, {"limit": 20}, id="more-for-the-filters"),
        pytest.param({}, {"timeout": 7.9}, {"timeout_seconds": 7}, id="whole-seconds"),
        pytest.param({}, {"timeout": 0.5}, {"timeout_seconds": 1}, id="at-least-one"),
        pytest.param({}, {"timeout": 60}, {"timeout_seconds": 30}, id="at-most-thirty"),
    ],
)
async def test_this_is_sent(options: dict[str, Any], settings: dict[str, Any], fields: dict[str, Any]) -> None:
    request = await sent("kimi", options, NOTHING, settings=settings)
    assert request.json() == {
        "text_query": QUERY,
        "limit": 10,
        "enable_page_crawling": False,
        "timeout_seconds": 15,
        **fields,
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert UUID(request.headers["x-msh-tool-call-id"]).version == 4


@pytest.mark.parametrize(
    "variable, path",
    [
        pytest.param("MOONSHOT_SEARCH_BASE_URL", "/coding/v1/search", id="the-endpoint"),
        pytest.param("KIMI_SEARCH_BASE_URL", "/coding/v1/search", id="the-endpoint-under-its-newer-name"),
        pytest.param("KIMI_CODE_BASE_URL", "/coding/v1", id="the-base-of-all-endpoints"),
        pytest.param("KIMI_CODE_BASE_URL", "/coding/v1/search/", id="the-base-with-the-endpoint"),
        pytest.param("WEBSEAM_KIMI_BASE_URL", "/coding/v1", id="our-own-variable"),
    ],
)
async def test_the_endpoint_and_the_base_of_all_endpoints_lead_to_the_same_place(variable: str, path: str) -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        await search("kimi", fake.url, settings={"base_url": None}, variables={variable: fake.url + path})
    assert [request.path for request in fake.requests] == ["/coding/v1/search"]


@pytest.mark.parametrize("variable", ["MOONSHOT_SEARCH_BASE_URL", "KIMI_SEARCH_BASE_URL"])
async def test_nothing_is_appended_to_a_whole_endpoint(variable: str) -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        endpoint = f"{fake.url}/proxy/find/?team=docs"
        await search("kimi", fake.url, settings={"base_url": None}, variables={variable: endpoint})
    assert [request.target for request in fake.requests] == ["/proxy/find/?team=docs"]


async def test_it_is_not_told_to_take_longer_than_the_caller_waits() -> None:
    request = await sent("kimi", {"timeout": 5}, NOTHING)
    assert 1 <= request.json()["timeout_seconds"] <= 5


async def test_a_key_of_the_open_platform_is_not_taken_for_one() -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        told = await search("kimi", fake.url, settings={"api_key": None}, variables={"MOONSHOT_API_KEY": KEY})
    assert (told.outcome, fake.requests) == (Outcome.UNAVAILABLE, [])
