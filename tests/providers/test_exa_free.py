"""Exa's free tier: the bare MCP call, the stream it comes in, and manners between the processes of one user."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire import QUERY, read
from tests.wire.fake import Answer, Fake, environment, search, sent, told
from tests.wire.write import HTML, JSON, results
from tests.world import Connection, Recorded, World
from webseam import providers
from webseam.config import Settings
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Headers, Response
from webseam.providers.base import Parsed, ProviderConfig, Reply
from webseam.providers.options import today
from webseam.providers.setup import configure
from webseam.secrets import SavedKeys
from webseam.web import AsyncWeb

NOTHING = results("exa-free", [])
FOUND = results("exa-free", [{"url": "https://example.org/", "title": "Home"}])


def _ago(days: int) -> str:
    return (today() - timedelta(days=days)).isoformat()


def _call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.mark.parametrize(
    "options, query, count",
    [
        pytest.param({}, QUERY, 10, id="plain"),
        pytest.param({"count": 100}, QUERY, 50, id="count"),
        pytest.param({"include_domains": ["example.org"]}, f"{QUERY} site:example.org", 20, id="site"),
        pytest.param(
            {"include_domains": ["example.org", "example.net/docs"], "exclude_domains": ["example.com"]},
            f"{QUERY} site:example.org OR site:example.net",
            20,
            id="sites",
        ),
        pytest.param({"freshness": "day"}, QUERY, 20, id="freshness"),
        pytest.param({"kind": "news"}, f"{QUERY} category:news", 10, id="news"),
        pytest.param({"kind": "paper"}, f"{QUERY} category:publication", 10, id="paper"),
        pytest.param({"page": 3, "count": 5}, QUERY, 15, id="page"),
    ],
)
async def test_each_option_becomes_words_or_a_number(options: dict[str, Any], query: str, count: int) -> None:
    request = await sent("exa-free", options, NOTHING)
    assert (request.method, request.target) == ("POST", "/mcp")
    assert request.json() == _call("web_search_exa", {"query": query, "numResults": count})


@pytest.mark.parametrize(
    "options, arguments",
    [
        pytest.param({"count": 100}, {"numResults": 100}, id="count"),
        pytest.param(
            {"include_domains": ["example.org"], "exclude_domains": ["docs.example.org"], "count": 5},
            {"includeDomains": ["example.org"]},
            id="include",
        ),
        pytest.param(
            {"exclude_domains": ["example.org"], "count": 5}, {"excludeDomains": ["example.org"]}, id="exclude"
        ),
        pytest.param({"freshness": "week"}, {"startPublishedDate": f"{_ago(7)}T00:00:00.000Z"}, id="freshness"),
        pytest.param(
            {"after": "2026-01-01", "before": "2026-06-30"},
            {"startPublishedDate": "2026-01-01T00:00:00.000Z", "endPublishedDate": "2026-06-30T23:59:59.999Z"},
            id="both-days-whole",
        ),
        pytest.param({"region": "us"}, {"userLocation": "US"}, id="region"),
        pytest.param({"safe": "strict"}, {"moderation": True}, id="safe"),
        pytest.param({"kind": "news"}, {"category": "news"}, id="news"),
        pytest.param({"kind": "paper"}, {"category": "publication"}, id="paper"),
        pytest.param({"kind": "code"}, {}, id="a-kind-it-does-not-declare"),
        pytest.param({"page": 20, "count": 5}, {"numResults": 100}, id="page"),
    ],
)
async def test_the_advanced_tool_takes_the_options_themselves(
    options: dict[str, Any], arguments: dict[str, Any]
) -> None:
    request = await sent("exa-free", options, NOTHING, settings={"advanced": "on"})
    assert request.target == "/mcp?tools=web_search_advanced_exa"
    assert request.json() == _call("web_search_advanced_exa", {"query": QUERY, "numResults": 10, **arguments})


@pytest.mark.parametrize(
    "advanced, notes",
    [
        pytest.param("on", ["cannot search code sources alone; it searched everything"], id="advanced"),
        pytest.param(
            "off",
            [
                "cannot filter by region; that was not applied",
                "cannot filter by safe; that was not applied",
                "cannot search code sources alone; it searched everything",
            ],
            id="plain",
        ),
    ],
)
async def test_what_the_tool_that_is_called_cannot_do_is_said(advanced: str, notes: list[str]) -> None:
    options = {"region": "US", "safe": "strict", "kind": "code"}
    async with World() as world:
        result = await search("exa-free", Fake(world, FOUND).url, options, settings={"advanced": advanced})
    assert result.notes == tuple(f"Exa, free tier {note}" for note in notes)


async def test_no_key_is_sent_even_if_there_is_one() -> None:
    keys = {"EXA_API_KEY": "SECRET-1", "WEBSEAM_EXA_FREE_API_KEY": "SECRET-2"}
    request = await sent("exa-free", {}, NOTHING, variables=keys)
    assert "SECRET" not in f"{request.fields} {request.target} {request.body!r}"
    assert request.headers["x-exa-source"] == "webseam"
    assert request.headers["accept"] == "application/json, text/event-stream"


@pytest.mark.parametrize("value", ["0", "false", "no", "off"])
async def test_the_free_tier_can_be_switched_off(value: str) -> None:
    async with World() as world:
        fake = Fake(world, FOUND)
        free = await search("exa-free", fake.url, variables={"EXA_FREE_TIER": value})
        keyless = await search("exa-free", fake.url, {"provider": "exa"}, variables={"EXA_FREE_TIER": value})
    assert (free.outcome, free.attempt.detail) == (Outcome.UNAVAILABLE, "switched off (EXA_FREE_TIER)")
    assert keyless.outcome == Outcome.UNAVAILABLE
    assert fake.requests == []


@pytest.mark.parametrize("value", ["", "1", "true", "on"])
async def test_the_free_tier_is_on_unless_it_is_switched_off(value: str) -> None:
    async with World() as world:
        fake = Fake(world, FOUND)
        result = await search("exa-free", fake.url, variables={"EXA_FREE_TIER": value})
    assert (result.outcome, len(fake.requests)) == (Outcome.OK, 1)


async def test_reading_stops_at_the_answer_though_the_stream_stays_open() -> None:
    message = json.dumps(read("exa-free", "captured")["response_example"]).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    gone = asyncio.Event()

    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(head + b": welcome\n\n" + b"event: message\ndata: " + message + b"\n\n")
        await connection.until_gone()
        gone.set()

    async with World() as world:
        result = await search("exa-free", world.serve(play))
        await gone.wait()
    assert [hit.title for hit in result.hits] == ["Guide", None]


_ADVICE = "To go on, pass your own key in the URL: https://mcp.exa.ai/mcp?exaApiKey=YOUR_KEY"


def _error(words: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": words}}).encode()


@pytest.mark.parametrize("words", ["Rate limit hit.", "Out of credits!", "Unauthorized."])
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda words: _text(words, failed=True), id="tool"),
        pytest.param(lambda words: (200, JSON, _error(words)), id="json-rpc"),
        pytest.param(lambda words: (401, JSON, _error(words)), id="http-401"),
        pytest.param(lambda words: (429, JSON, _error(words)), id="http-429"),
        pytest.param(lambda words: (429, {}, words.encode()), id="http-429-text"),
    ],
)
async def test_only_a_refusal_is_told_not_the_advice_to_put_a_key_into_a_url(
    answer: Callable[[str], Answer], words: str
) -> None:
    async with World() as world:
        result = await search("exa-free", Fake(world, answer(f"{words} {_ADVICE}")).url)
    assert result.outcome in (Outcome.RATE_LIMITED, Outcome.QUOTA, Outcome.AUTH)
    assert str(result.attempt.detail).endswith(f": {words}")
    assert result.hint == "wait, or get a key of your own: webseam key set exa"


async def test_an_address_in_the_first_sentence_of_a_refusal_is_not_told_either() -> None:
    async with World() as world:
        fake = Fake(world, (429, JSON, _error("Rate limit hit, see https://mcp.exa.ai/mcp?exaApiKey=YOUR_KEY")))
        assert (await search("exa-free", fake.url)).attempt.detail == "HTTP 429: Rate limit hit, see"


def _text(text: str, *, failed: bool = False) -> Answer:
    """The text as the one block of a tool's result."""
    result = {"content": [{"type": "text", "text": text}], "isError": failed}
    message = {"jsonrpc": "2.0", "id": 1, "result": result}
    return 200, JSON, json.dumps(message).encode()


@pytest.mark.parametrize(
    "page, outcome",
    [
        pytest.param("<html><body>Hello</body></html>", Outcome.BAD_RESPONSE, id="page"),
        pytest.param('<html><form id="challenge-form"></form></html>', Outcome.BLOCKED, id="challenge"),
    ],
)
@pytest.mark.parametrize("wrapped", [True, False], ids=["as-text", "bare"])
async def test_a_page_instead_of_text_is_what_it_is(page: str, outcome: Outcome, wrapped: bool) -> None:
    async with World() as world:
        fake = Fake(world, _text(page) if wrapped else (200, HTML, page.encode()))
        assert (await search("exa-free", fake.url)).outcome == outcome


async def test_an_empty_list_whose_query_speaks_of_limits_is_empty() -> None:
    listed = json.dumps({"query": "rate limit exceeded", "results": []})
    async with World() as world:
        fake = Fake(world, _text(listed))
        assert (await search("exa-free", fake.url)).outcome == Outcome.EMPTY


# Two processes of one user.

_CALLS = 3  # of each process
_SEARCHES = f"""
import asyncio, sys
from webseam.web import AsyncWeb

async def main():
    async with AsyncWeb() as web:
        await asyncio.gather(*(web.search(sys.argv[1] + str(n), provider="exa-free") for n in range({_CALLS})))

asyncio.run(main())
"""


async def test_calls_of_two_processes_arrive_half_a_second_apart() -> None:
    arrivals: list[float] = []

    async with World() as world:

        def answer(_request: Recorded) -> Answer:
            arrivals.append(time.monotonic())
            return FOUND

        variables = environment("exa-free", Fake(world, answer).url)
        running = [
            await asyncio.create_subprocess_exec(sys.executable, "-c", _SEARCHES, name, env=variables)
            for name in ("one", "two")
        ]
        assert [await process.wait() for process in running] == [0, 0]
    interval = providers.get("exa-free").interval
    gaps = [later - earlier for earlier, later in pairwise(arrivals)]
    assert (interval, len(arrivals)) == (0.5, 2 * _CALLS)
    # A call starts when its turn comes and arrives a little later, not always equally much. Each process pacing itself
    # alone would bring them in pairs, and all of them in two intervals instead of five.
    assert min(gaps) >= interval / 2, gaps
    assert arrivals[-1] - arrivals[0] >= 4 * interval, gaps


async def _webseam(*arguments: str, variables: dict[str, str]) -> tuple[int | None, dict[str, Any]]:
    """Run the command in a process of its own; return its exit status and the JSON it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "webseam",
        *arguments,
        "--json",
        env=variables,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    return process.returncode, json.loads(printed)


@pytest.mark.parametrize(
    "answer, seconds",
    [
        pytest.param((429, {}, b""), 300.0, id="its-own-five-minutes"),
        pytest.param((429, {"Retry-After": "1200"}, b""), 1200.0, id="as-long-as-the-service-says"),
    ],
)
async def test_a_cool_down_is_seen_by_the_next_process_which_sends_nothing_and_says_until_when(
    answer: Any, seconds: float
) -> None:
    async with World() as world:
        fake = Fake(world, answer)
        variables = environment("exa-free", fake.url)
        before = time.time()
        first_status, first = await _webseam("search", "one", "-p", "exa-free", variables=variables)
        after = time.time()
        second_status, second = await _webseam("search", "two", "-p", "exa-free", variables=variables)
        async with AsyncWeb(environment=variables) as web:
            until = next(state.until for state in web.provider_states() if state.id == "exa-free")
            third = await told(web, "exa", {})
    assert (first_status, first["outcome"]) == (5, "rate_limited")
    assert (second_status, second["outcome"], second["hits"]) == (6, "unavailable", [])
    assert until is not None
    assert before + seconds <= until <= after + seconds
    (attempt,) = second["attempts"]
    assert re.fullmatch(r"cooling down after rate_limited: HTTP 429 until [0-9: -]+", attempt["detail"])
    assert attempt["detail"].endswith(time.strftime("%H:%M:%S", time.localtime(until)))
    assert (third.outcome, third.attempt.provider) == (Outcome.UNAVAILABLE, "exa-free")
    assert len(fake.requests) == 1


# Whatever comes.

_SEARCH = SearchRequest(query=QUERY)


def _config() -> ProviderConfig:
    return configure(providers.get("exa-free"), Settings(), SavedKeys(dict(os.environ)))


def _parse(body: bytes) -> Parsed | ProviderError:
    headers = Headers([(b"content-type", b"text/event-stream")])
    response = Response(status=200, headers=headers, url="https://mcp.example.org/mcp", body=body)
    try:
        return providers.get("exa-free").parse(Reply(response), _SEARCH, _config())
    except ProviderError as error:
        return error


_LINES = st.sampled_from(
    [
        "Title: One",
        "Title:",
        "Title: N/A",
        "URL: https://example.org/",
        "URL: ftp://example.org/",
        "URL: http://[::1",
        "URL:",
        "Published: 2026-02-03",
        "Published Date: N/A",
        "Author: N/A",
        "Highlights:",
        "Text: words",
        "Summary:",
        "---",
        "",
        "\r",
        "rate limit",
        "\x1b[2J\u202e",
    ]
)
_TEXT = st.one_of(st.text(), st.lists(_LINES, max_size=20).map("\n".join))
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _TEXT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["results", "url", "title", "highlights", "text", "type", "_meta", "costDollars", "total", "notices"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
_RESULT = st.dictionaries(
    st.sampled_from(["content", "structuredContent", "data", "isError", "_meta"]),
    st.one_of(_VALUES, st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": _TEXT}), max_size=3)),
    max_size=4,
)
_MESSAGES = st.one_of(
    _VALUES,
    st.fixed_dictionaries({"id": st.just(1)}, optional={"result": st.one_of(_RESULT, _VALUES), "error": _VALUES}),
)


@given(st.binary(max_size=400))
def test_any_bytes_are_hits_or_an_error_of_the_provider(body: bytes) -> None:
    _is_sound(_parse(body))


@given(_MESSAGES, st.booleans())
def test_any_message_is_hits_or_an_error_of_the_provider(message: Any, streamed: bool) -> None:
    body = json.dumps(message).encode()
    _is_sound(_parse(b"data: " + body + b"\n\n" if streamed else body))


@given(_TEXT)
def test_any_text_is_hits_or_an_error_of_the_provider(text: str) -> None:
    _is_sound(_parse(_text(text)[2]))


def _is_sound(parsed: Parsed | ProviderError) -> None:
    if isinstance(parsed, ProviderError):
        assert not parsed.outcome.answered or parsed.outcome == Outcome.EMPTY
        assert len(parsed.detail) <= 300
        return
    assert all(re.match(r"https?://", hit.url, re.IGNORECASE) for hit in parsed.hits)
    assert all(hit.providers == ("exa-free",) for hit in parsed.hits)
