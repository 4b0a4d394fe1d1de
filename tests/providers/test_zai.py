"""Z.AI: two routes that are paid differently and never take each other's place, and a tool whose names have changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Answer, Fake, Told, search
from tests.wire.write import JSON, results
from tests.world import Recorded, World
from webseam import providers
from webseam.config import Settings
from webseam.errors import Outcome
from webseam.providers.setup import places
from webseam.secrets import SavedKeys

ROW = {"title": "Home", "link": "https://example.org/", "content": "Words.", "publish_date": "2026-02-03"}
NO_BALANCE = (429, JSON, b'{"error": {"code": "1113", "message": "Insufficient balance"}}')
REMEMBERING = {"WEBSEAM_STATE_ENABLED": "on"}


def tool(result: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Callable[[Recorded], Answer]:
    """A server whose tool answers by its name and its arguments."""

    def answer(request: Recorded) -> Answer:
        message = request.json()
        stated = result(message["params"]["name"], message["params"]["arguments"])
        return 200, JSON, json.dumps({"jsonrpc": "2.0", "id": message["id"], **stated}).encode()

    return answer


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": words}], **more}}


def found(_name: str, _arguments: dict[str, Any]) -> dict[str, Any]:
    return text(json.dumps([ROW]))


async def by_tool(answers: Callable[[Recorded], Answer], *options: dict[str, Any], **settings: Any) -> tuple[Any, Fake]:
    """Search by the MCP route, once for each of the options, in processes of one user."""
    async with World() as world:
        fake = Fake(world, answers)
        told = [
            await search("zai", fake.url, one, settings={"route": "mcp", **settings}, variables=REMEMBERING)
            for one in options or ({},)
        ]
    return told, fake


def calls(fake: Fake) -> list[tuple[str, dict[str, Any]]]:
    parameters = [request.json()["params"] for request in fake.requests]
    return [(one["name"], one["arguments"]) for one in parameters]


async def test_the_tool_is_called_in_a_session_with_the_key_on_every_message() -> None:
    (told,), fake = await by_tool(tool(found))
    assert [(hit.url, hit.published) for hit in told.hits] == [("https://example.org/", "2026-02-03")]
    assert calls(fake) == [("web_search_prime", {"search_query": QUERY, "count": 10})]
    messages = [*fake.handshakes, *fake.requests]
    assert [one.json()["method"] for one in messages] == ["initialize", "notifications/initialized", "tools/call"]
    assert {one.path for one in messages} == {"/api/mcp/web_search_prime/mcp"}
    assert {one.headers["authorization"] for one in messages} == {f"Bearer {KEY}"}
    assert messages[0].json()["params"]["protocolVersion"] == "2025-03-26"
    assert {one.headers["mcp-protocol-version"] for one in messages[1:]} == {"2025-03-26"}


async def test_the_tool_takes_the_same_filters_as_the_api() -> None:
    options = {"count": 5, "include_domains": ["example.org"], "freshness": "week"}
    _, fake = await by_tool(tool(found), options, content_size="high")
    asked = {"count": 10, "search_domain_filter": "example.org", "search_recency_filter": "oneWeek"}
    assert calls(fake)[0] == ("web_search_prime", {"search_query": QUERY, **asked, "content_size": "high"})


async def test_several_domains_are_left_to_the_filter_here() -> None:
    _, fake = await by_tool(tool(found), {"include_domains": ["example.org", "example.net"]})
    assert "search_domain_filter" not in calls(fake)[0][1]


# Names that changed.

INVALID = {"error": {"code": -32602, "message": "Invalid arguments for tool web_search_prime: query is required"}}


def _wants_query(_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return text(json.dumps([ROW])) if "query" in arguments else INVALID


def _wants_query_by_text(_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    words = "MCP error -400: parameter query must not be empty"
    return text(json.dumps([ROW])) if "query" in arguments else text(words, isError=True)


def _has_the_older_name(name: str, _arguments: dict[str, Any]) -> dict[str, Any]:
    unknown = {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}
    return text(json.dumps([ROW])) if name == "webSearchPrime" else unknown


@pytest.mark.parametrize(
    "behaviour, first, then",
    [
        pytest.param(_wants_query, ("web_search_prime", "search_query"), ("web_search_prime", "query"), id="argument"),
        pytest.param(
            _wants_query_by_text, ("web_search_prime", "search_query"), ("web_search_prime", "query"), id="in-its-words"
        ),
        pytest.param(
            _has_the_older_name, ("web_search_prime", "search_query"), ("webSearchPrime", "search_query"), id="tool"
        ),
    ],
)
async def test_a_name_that_is_refused_is_changed_within_the_session_and_the_right_one_is_remembered(
    behaviour: Callable[[str, dict[str, Any]], dict[str, Any]], first: tuple[str, str], then: tuple[str, str]
) -> None:
    told, fake = await by_tool(tool(behaviour), {}, {})
    assert [one.outcome for one in told] == [Outcome.OK, Outcome.OK]
    assert [(name, next(iter(asked))) for name, asked in calls(fake)] == [first, then, then]
    assert len(fake.handshakes) == 2
    assert {request.headers["mcp-session-id"] for request in fake.requests} == {"session-1"}


async def test_a_server_that_refuses_every_name_is_asked_no_more_than_there_are_names() -> None:
    (told,), fake = await by_tool(tool(lambda *_: INVALID))
    assert (told.outcome, len(fake.requests)) == (Outcome.BAD_RESPONSE, 2)
    assert told.attempt.detail == "its tool failed: Invalid arguments for tool web_search_prime: query is required"


@pytest.mark.parametrize(
    "words, outcome",
    [
        pytest.param("MCP error -401: required parameter: a valid account", Outcome.AUTH, id="auth"),
        pytest.param("MCP error -429: too many requests, a parameter of your plan", Outcome.RATE_LIMITED, id="rate"),
        pytest.param("MCP error -500: it broke", Outcome.UPSTREAM, id="upstream"),
    ],
)
async def test_a_refusal_for_another_reason_is_final(words: str, outcome: Outcome) -> None:
    (told,), fake = await by_tool(tool(lambda *_: text(words, isError=True)))
    assert (told.outcome, len(fake.requests)) == (outcome, 1)


# Two accounts.


async def _rest_then_mcp(answers: Callable[[Recorded], Answer]) -> tuple[list[Told], Fake]:
    async with World() as world:
        fake = Fake(world, answers)
        told = [
            await search("zai", fake.url, {"provider": "zai,zai"}, settings={"route": route}, variables=REMEMBERING)
            for route in ("rest", "mcp")
        ]
    return told, fake


async def test_spent_money_neither_switches_the_route_nor_stops_the_other_one() -> None:
    def answers(request: Recorded) -> Answer:
        return NO_BALANCE if request.path == "/api/paas/v4/web_search" else tool(found)(request)

    (rest, mcp), fake = await _rest_then_mcp(answers)
    assert (rest.outcome, mcp.outcome) == (Outcome.QUOTA, Outcome.OK)
    assert [request.path for request in fake.requests] == ["/api/paas/v4/web_search", "/api/mcp/web_search_prime/mcp"]


@pytest.mark.parametrize(
    "variables, price",
    [
        pytest.param({}, 0.01, id="usual"),
        pytest.param({"WEBSEAM_ZAI_SEARCH_ENGINE": "search_std"}, 0.0015, id="another-engine"),
        pytest.param({"WEBSEAM_ZAI_SEARCH_ENGINE": "search_new"}, None, id="unknown-engine"),
        pytest.param({"WEBSEAM_ZAI_ROUTE": "mcp"}, 0.0, id="plan"),
        pytest.param({"WEBSEAM_ZAI_ROUTE": "mcp", "WEBSEAM_ZAI_PRICE": "0.02"}, 0.02, id="price-of-the-user"),
    ],
)
def test_a_call_has_the_price_of_its_route_and_engine(variables: dict[str, str], price: float | None) -> None:
    saved = SavedKeys({"WEBSEAM_CONFIG_DIR": "/nonexistent"})
    (place,) = places(providers.get("zai"), Settings({"ZAI_API_KEY": KEY, **variables}), saved)
    assert place.price == price


def test_a_project_file_may_not_decide_who_pays() -> None:
    guarded = {setting.name for setting in providers.get("zai").settings if setting.guarded}
    assert guarded == {"route", "search_engine"}


@pytest.mark.parametrize(
    "base, rest, mcp",
    [
        pytest.param("", "/api/paas/v4/web_search", "/api/mcp/web_search_prime/mcp", id="origin"),
        pytest.param("/api/paas/v4/", "/api/paas/v4/web_search", "/api/mcp/web_search_prime/mcp", id="as-the-sdk"),
        pytest.param(
            "/api/coding/paas/v4", "/api/coding/paas/v4/web_search", "/api/mcp/web_search_prime/mcp", id="coding"
        ),
        pytest.param(
            "/api/paas/v4/web_search/",
            "/api/paas/v4/web_search",
            "/api/mcp/web_search_prime/mcp",
            id="with-the-endpoint",
        ),
        pytest.param(
            "/gateway", "/gateway/api/paas/v4/web_search", "/gateway/api/mcp/web_search_prime/mcp", id="gateway"
        ),
    ],
)
async def test_both_routes_start_from_one_address(base: str, rest: str, mcp: str) -> None:
    paths = []
    for route in ("rest", "mcp"):
        async with World() as world:
            fake = Fake(world, results("zai", []))
            await search("zai", fake.url + base, settings={"route": route})
            paths.append(fake.requests[0].path)
    assert paths == [rest, mcp]
