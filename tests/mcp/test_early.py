"""What is said before the SDK is loaded: the very answers of the SDK, and nothing that is unusual in any way."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp.types.version as sdk
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.server.stdio import stdio_server

from tests.cli.world import environment_of
from tests.mcp.peer import ENVELOPE, HANDSHAKE, INITIALIZED, MODERN, Message, initialize, modern, request, wire
from webseam.fronts.mcp import early
from webseam.fronts.mcp.early import Early
from webseam.fronts.mcp.server import make_server
from webseam.web import AsyncWeb

REAL_CLIENTS: dict[str, Message] = {
    "nothing": {},
    "roots": {"roots": {"listChanged": True}},
    "much": {
        "experimental": {"x": {"y": [1, None]}},
        "sampling": {"context": {}, "tools": {}},
        "elicitation": {"form": {"applyDefaults": True}, "url": {}},
        "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}},
        "tasks": {
            "list": {},
            "cancel": {},
            "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
        },
    },
    "nulls": {
        "experimental": None,
        "roots": {"listChanged": None},
        "sampling": None,
        "elicitation": {"form": None, "url": None},
        "extensions": None,
        "tasks": {"list": None, "cancel": None, "requests": {"sampling": {"createMessage": None}, "elicitation": None}},
    },
}
NAMED = {
    "name": "peer",
    "version": "1",
    "title": "A peer",
    "description": "It asks",
    "websiteUrl": "https://example.org",
    "icons": [
        {"src": "https://example.org/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"},
        {"src": "https://example.org/i.svg", "mimeType": None, "sizes": None, "theme": None},
    ],
}


class Sdk:
    """The SDK's own server on pipes that are made of queues."""

    def __init__(self) -> None:
        self.answers: dict[Any, Any] = {}
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._changed = asyncio.Event()

    def __aiter__(self) -> Sdk:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return line

    async def write(self, text: str) -> None:
        message = json.loads(text)
        self.answers[message["id"]] = message
        self._changed.set()

    async def flush(self) -> None:
        return

    def send(self, line: bytes | None) -> None:
        self._lines.put_nowait(None if line is None else line.decode("utf-8", "replace"))

    async def answer(self, number: Any) -> Any:
        """Wait for the answer to request `number`."""
        while number not in self.answers:
            self._changed.clear()
            await self._changed.wait()
        return self.answers.pop(number)


@asynccontextmanager
async def serving(web: AsyncWeb, *, structured: bool = False) -> AsyncIterator[Sdk]:
    pipes: Any = Sdk()
    low = make_server(web, structured=structured)._lowlevel_server

    async def run() -> None:
        async with stdio_server(pipes, pipes) as (incoming, outgoing):
            await low.run(incoming, outgoing, low.create_initialization_options())

    task = asyncio.create_task(run())
    yield pipes
    pipes.send(None)
    await task


async def both(*lines: bytes, structured: bool = False) -> list[tuple[Any, Any]]:
    """Return what is answered early, and what the SDK says to the same; where nothing is, nothing is compared."""
    first, told = Early(), []
    async with AsyncWeb() as web, serving(web, structured=structured) as server:
        for line in lines:
            server.send(line)
            answer = first.take(line.strip(b"\n"))
            if answer:
                ours = json.loads(answer)
                told.append((ours, await server.answer(ours["id"])))
    return told


def test_the_versions_are_those_of_the_sdk() -> None:
    assert early.HANDSHAKE_VERSIONS == set(sdk.HANDSHAKE_PROTOCOL_VERSIONS) == set(HANDSHAKE)
    assert (early.MODERN_VERSION,) == sdk.MODERN_PROTOCOL_VERSIONS == (MODERN,)


@pytest.mark.parametrize("capabilities", [pytest.param(value, id=name) for name, value in REAL_CLIENTS.items()])
@pytest.mark.parametrize("version", HANDSHAKE)
async def test_every_answer_of_a_handshake_is_the_answer_of_the_sdk(version: str, capabilities: Message) -> None:
    first = initialize(version)
    first["params"] |= {"capabilities": capabilities, "clientInfo": NAMED, "_meta": {"progressToken": 1}}
    told = await both(
        wire(first),
        wire(INITIALIZED),
        wire(request("list", "tools/list")),
        wire({**request(2, "tools/list"), "params": {}}),
        wire(request(3, "tools/list", _meta={"progressToken": "t", "example.org/x": 1})),
        wire({**request(4, "ping"), "params": None}),
        wire(request(5, "tools/list", cursor=None, _meta=None)),
    )
    assert [ours["id"] for ours, _ in told] == [0, "list", 2, 3, 4, 5]
    assert [ours for ours, _ in told] == [theirs for _, theirs in told]
    assert told[0][0]["result"]["protocolVersion"] == version
    assert [tool["name"] for tool in told[1][0]["result"]["tools"]] == ["web_search", "web_fetch", "docs_search"]


@pytest.mark.parametrize("capabilities", [pytest.param(value, id=name) for name, value in REAL_CLIENTS.items()])
@pytest.mark.parametrize("first", ["server/discover", "tools/list"])
async def test_every_answer_without_a_handshake_is_the_answer_of_the_sdk(first: str, capabilities: Message) -> None:
    meta = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": capabilities, "progressToken": 5}
    told = await both(
        wire(request(0, first, _meta=meta)),
        wire(modern("list", "tools/list")),
        wire(modern(2, "server/discover")),
        wire(request(3, "tools/list", _meta={**meta, "io.modelcontextprotocol/logLevel": "info"})),
    )
    assert [ours["id"] for ours, _ in told] == [0, "list", 2, 3]
    assert [ours for ours, _ in told] == [theirs for _, theirs in told]


async def test_the_list_is_the_same_when_results_are_structured() -> None:
    told = await both(wire(modern(0, "tools/list")), wire(modern(1, "server/discover")), structured=True)
    assert len(told) == 2
    assert [ours for ours, _ in told] == [theirs for _, theirs in told]


def after(*lines: bytes) -> Early:
    first = Early()
    for line in lines:
        assert first.take(line.strip()) is not None
    return first


@pytest.mark.parametrize(
    ("before", "line"),
    [
        pytest.param((), b"", id="nothing"),
        pytest.param((), b"garbage", id="garbage"),
        pytest.param((), b"[" * 50_000, id="nested"),
        pytest.param((), b"\xff" + wire(initialize()), id="not UTF-8"),
        pytest.param((), b"\xef\xbb\xbf" + wire(initialize()), id="byte order mark"),
        pytest.param((), b"[" + wire(initialize()).strip() + b"]", id="batch"),
        pytest.param((), wire(initialize("2023-01-01")), id="unknown version"),
        pytest.param((), wire(initialize(MODERN)), id="handshake for a version without one"),
        pytest.param((), wire(initialize(number=None)), id="id null"),  # type: ignore[arg-type]
        pytest.param((), wire(initialize(number=True)), id="id true"),
        pytest.param((), wire(initialize(number=1.0)), id="id with a fraction"),  # type: ignore[arg-type]
        pytest.param((), wire(initialize(number=2**64)), id="id too large"),
        pytest.param((), wire(initialize(number="\ud800")), id="half a character"),
        pytest.param((), wire(initialize(further=1)), id="further parameter"),
        pytest.param((), wire({**initialize(), "further": 1}), id="further member"),
        pytest.param((), wire({**initialize(), "jsonrpc": "1.0"}), id="another JSON-RPC"),
        pytest.param((), wire(initialize())[:-3] + b',"id":1}}', id="same key twice"),
        pytest.param((), wire(initialize(_meta=ENVELOPE)), id="handshake with an envelope"),
        pytest.param((), wire(initialize(_meta={"progressToken": 1.5})), id="token with a fraction"),
        pytest.param((), wire(initialize())[:-1] + b" " * early.MAX_EARLY, id="long"),
        pytest.param((), wire(INITIALIZED), id="initialized before initialize"),
        pytest.param((), wire(request(1, "tools/list")), id="list before initialize"),
        pytest.param((), wire(request(1, "ping")), id="ping before initialize"),
        pytest.param((), wire(request(1, "server/discover")), id="discover without envelope"),
        pytest.param((initialize(),), wire(initialize()), id="initialize again"),
        pytest.param((initialize(),), wire(modern(1, "tools/list")), id="envelope after a handshake"),
        pytest.param((initialize(),), wire(request(1, "tools/list", cursor="2")), id="cursor"),
        pytest.param((initialize(),), wire(request(1, "server/discover")), id="discover after a handshake"),
        pytest.param((initialize(),), wire(request(1, "prompts/list")), id="another method"),
        pytest.param((initialize(),), wire({"jsonrpc": "2.0", "id": 1, "result": {}}), id="answer"),
        pytest.param((modern(1, "tools/list"),), wire(initialize()), id="handshake after an envelope"),
        pytest.param((modern(1, "tools/list"),), wire(request(2, "tools/list")), id="no envelope after an envelope"),
        pytest.param((modern(1, "tools/list"),), wire(modern(2, "ping")), id="ping with an envelope"),
    ],
)
def test_what_is_unusual_is_left_to_the_sdk(before: tuple[Message, ...], line: bytes) -> None:
    first = after(*map(wire, before))
    known = list(first.replay)
    assert first.take(line.strip(b"\n")) is None
    assert first.replay == known == list(before)


def test_the_sdk_hears_again_of_what_makes_the_session() -> None:
    first = after(*map(wire, (initialize(), INITIALIZED, request(1, "tools/list"), request(2, "ping"))))
    assert (first.replay, first.listed) == ([initialize(), INITIALIZED], True)
    first = after(*map(wire, (modern(0, "server/discover"), modern(1, "tools/list"))))
    assert (first.replay, first.listed) == ([modern(0, "server/discover")], True)


def test_a_list_may_be_answered_before_what_waits_for_the_sdk_but_a_notification_keeps_its_place() -> None:
    first = after(wire(initialize()))
    assert first.take(wire(request(1, "prompts/list"))) is None
    assert first.take(wire(INITIALIZED)) is None
    assert first.take(wire(request(2, "tools/list"))) is not None
    assert first.take(wire(request(3, "ping"))) is not None
    assert first.replay == [initialize()]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"garbage", id="who knows what"),
        pytest.param(wire(initialize("2025-03-26")), id="another handshake"),
    ],
)
def test_nothing_is_answered_after_what_might_change_the_answer(line: bytes) -> None:
    first = after(wire(initialize()))
    assert first.take(line) is None
    assert first.take(wire(request(2, "tools/list"))) is None


def test_nothing_heavy_is_loaded_for_it() -> None:
    code = "import sys, webseam.fronts.mcp.stdio; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], env=environment_of(), capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "webseam.fronts.mcp.early" in loaded
    assert loaded & {"mcp", "mcp_types", "pydantic", "asyncio", "httpcore2", "ssl", "sqlite3", "webseam.web"} == set()


# Values that are right, nearly right and wrong, in every place of a message.
JSON = st.recursive(
    st.none() | st.none() | st.booleans() | st.integers(-3, 2**60) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    "experimental extensions roots sampling elicitation tasks listChanged context tools form url list cancel requests"
    " createMessage create name version title icons src sizes theme progressToken cursor further".split()
)
TREES = st.recursive(
    JSON | st.builds(dict), lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=3), max_leaves=8
)


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    number = draw(st.integers(10, 10_000))  # of its own, as the answers are told apart by it
    message: Any = json.loads(
        wire(
            draw(
                st.sampled_from(
                    [
                        initialize(),
                        modern(1, "tools/list"),
                        modern(2, "server/discover"),
                        request(3, "tools/list", _meta={}),
                        request(4, "ping"),
                        INITIALIZED,
                    ]
                )
            )
        )
    )
    if "id" in message:
        message["id"] = number
    for _ in range(draw(st.integers(0, 2))):  # replace, remove or add something somewhere
        place = message
        while True:
            inner = [value for value in place.values() if isinstance(value, dict)]
            if not inner or draw(st.booleans()):
                break
            place = draw(st.sampled_from(inner))
        key = draw(st.sampled_from([*place]) | KEYS) if place else draw(KEYS)
        if draw(st.booleans()):
            place[key] = draw(TREES)
        else:
            place.pop(key, None)
    line = wire(message).strip()
    if draw(st.integers(0, 9)) == 0:  # or a byte
        at = draw(st.integers(0, len(line) - 1))
        line = line[:at] + draw(st.binary(max_size=2)).replace(b"\n", b"") + line[at + 1 :]
    return line


def id_in(line: bytes) -> str:
    try:
        return str(json.loads(line)["id"])
    except (ValueError, KeyError, TypeError):
        return repr(line)


@given(
    st.sampled_from([[], [wire(initialize()).strip()]]),
    st.lists(messages(), min_size=1, max_size=4, unique_by=id_in).filter(lambda lines: "0" not in map(id_in, lines)),
)
@example([wire(initialize()).strip()], [b'{"jsonrpc":"2.0","id":-0,"method":"ping"}'])
@example([wire(initialize()).strip()], [b'{"jsonrpc":"2.0","id":"\\u0000","method":"tools/list"}'])
def test_whatever_comes_nothing_is_said_that_the_sdk_would_not_say(opening: list[bytes], further: list[bytes]) -> None:
    lines = opening + further

    async def compare() -> list[tuple[Any, Any]]:
        async with asyncio.timeout(5):
            return await both(*(line + b"\n" for line in lines))

    for ours, theirs in asyncio.run(compare()):
        assert ours == theirs
