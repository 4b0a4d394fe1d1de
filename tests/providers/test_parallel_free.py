"""Parallel's free tier: one session for all processes of a user, and a name for the day that says nothing of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import Answer, Fake, Told, search
from tests.wire.write import JSON
from tests.world import Recorded, World
from webseam.errors import Outcome

REMEMBERING = {"WEBSEAM_STATE_ENABLED": "on"}
ROW = {"url": "https://example.org/", "title": "Home", "publish_date": "2026-02-03", "excerpts": ["Words."]}


def found(request: Recorded) -> Answer:
    """What the service answers to this very call."""
    text = json.dumps({"search_id": "search_1", "results": [ROW], "warnings": None})
    result = {"content": [{"type": "text", "text": text}]}
    return 200, JSON, json.dumps({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}).encode()


def arguments(request: Recorded) -> dict[str, Any]:
    parameters = request.json()["params"]
    assert parameters["name"] == "web_search"
    return dict(parameters["arguments"])


async def _search(fake: Fake, options: dict[str, Any] | None = None, **variables: str) -> Told:
    return await search("parallel-free", fake.url, options, variables={**REMEMBERING, **variables})


async def test_a_search_is_a_handshake_and_one_call_without_any_key() -> None:
    async with World() as world:
        fake = Fake(world, found)
        told = await _search(fake, PARALLEL_API_KEY="SECRET-1", WEBSEAM_PARALLEL_FREE_API_KEY="SECRET-2")
    assert ([hit.url for hit in told.hits], told.attempt.cost) == (["https://example.org/"], 0.0)
    (request,) = fake.requests
    assert [one.json()["method"] for one in fake.handshakes] == ["initialize", "notifications/initialized"]
    assert {one.path for one in (*fake.handshakes, request)} == {"/mcp"}
    assert request.headers["mcp-session-id"] == "session-1"
    asked = arguments(request)
    assert re.fullmatch(r"[0-9a-f]{32}", asked.pop("session_id"))
    assert asked == {"objective": QUERY, "search_queries": [QUERY]}
    sent = "".join(f"{one.fields} {one.target} {one.body!r}" for one in (*fake.handshakes, request))
    assert "SECRET" not in sent
    assert "authorization" not in sent.lower()


async def test_a_long_query_is_whole_as_the_objective_and_cut_at_a_word_as_keywords() -> None:
    query = "word " * 60 + "end"
    async with World() as world:
        fake = Fake(world, found)
        await _search(fake, {"query": query})
    asked = arguments(fake.requests[0])
    assert (asked["objective"], asked["search_queries"]) == (query, [("word " * 40).strip()])


async def test_a_model_is_named_only_when_it_is_set() -> None:
    async with World() as world:
        fake = Fake(world, found)
        await _search(fake, WEBSEAM_PARALLEL_FREE_MODEL_NAME="some-model")
    assert arguments(fake.requests[0])["model_name"] == "some-model"


async def test_other_processes_of_the_user_speak_in_the_same_session_under_the_same_name() -> None:
    async with World() as world:
        fake = Fake(world, found)
        told = [await _search(fake) for _ in range(2)]
    assert [one.outcome for one in told] == [Outcome.OK, Outcome.OK]
    assert (len(fake.handshakes), len(fake.requests)) == (2, 2)
    assert len({request.headers["mcp-session-id"] for request in fake.requests}) == 1
    assert len({arguments(request)["session_id"] for request in fake.requests}) == 1


async def test_another_installation_has_another_name(tmp_path: Path) -> None:
    async with World() as world:
        fake = Fake(world, found)
        await _search(fake)
        await _search(fake, WEBSEAM_STATE_DIR=str(tmp_path / "other"))
    first, second = (arguments(request)["session_id"] for request in fake.requests)
    assert first != second


def _forgetting(answer: Answer) -> Callable[[Recorded], Answer]:
    """A server that has forgotten its first session."""
    return lambda request: answer if request.headers["mcp-session-id"] == "session-1" else found(request)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((404, JSON, b'{"error": {"message": "Session not found"}}'), id="404"),
        pytest.param((400, JSON, b'{"error": {"message": "Invalid session"}}'), id="words"),
    ],
)
async def test_a_forgotten_session_is_opened_again_within_the_search(answer: Answer) -> None:
    async with World() as world:
        fake = Fake(world, _forgetting(answer))
        fresh = await _search(fake)
        told = await _search(fake)
    assert fresh.outcome in (Outcome.BAD_RESPONSE, Outcome.UNSUPPORTED)  # a session just opened is not opened again
    assert (told.outcome, len(told.attempts)) == (Outcome.OK, 1)
    assert [request.headers["mcp-session-id"] for request in fake.requests] == ["session-1", "session-1", "session-2"]


async def test_without_a_key_it_takes_the_place_of_the_keyed_search_and_says_so() -> None:
    async with World() as world:
        fake = Fake(world, found)
        told = await _search(fake, {"provider": "parallel"})
    assert (told.outcome, len(fake.requests)) == (Outcome.OK, 1)
    assert told.notes == (
        "parallel has no key, so parallel-free was asked (Parallel (search.parallel.ai) receives the query)",
    )


@pytest.mark.parametrize(
    "text, outcome, detail",
    [
        pytest.param("", Outcome.BAD_RESPONSE, "its answer holds no results: it is empty", id="nothing"),
        pytest.param("[]", Outcome.BAD_RESPONSE, "its answer holds no results: []", id="list"),
        pytest.param(
            "Too many requests", Outcome.RATE_LIMITED, "its answer holds no results: Too many requests", id="rate"
        ),
        pytest.param(
            '{"type": "error", "error": {"message": "Invalid API key"}}',
            Outcome.AUTH,
            "it answered 200 with an error: Invalid API key",
            id="error",
        ),
    ],
)
async def test_an_answer_without_results_says_what_it_is(text: str, outcome: Outcome, detail: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}
    async with World() as world:
        fake = Fake(world, (200, JSON, json.dumps(message).encode()))
        told = await search("parallel-free", fake.url)
    assert (told.outcome, told.attempt.detail) == (outcome, detail)
