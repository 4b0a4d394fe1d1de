"""The whole server over HTTP: the official client in both eras, real pages read, and what must stop when it should."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.fetch.world import PAGE, PARAGRAPH
from tests.mcp.http_world import ERAS, KEY, Served, Tools, call, listener, modern, running, stand_in
from tests.world import Connection, World
from webseam.fronts.mcp import guards
from webseam.fronts.mcp.http import make_app
from webseam.fronts.mcp.server import make_server
from webseam.web import AsyncWeb


@asynccontextmanager
async def _client(served: Served, era: str, key: str | None = None) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=10) as carrier,
        Client(streamable_http_client(served.url, http_client=carrier), mode=era) as client,
    ):
        yield client


@asynccontextmanager
async def _real(world: World, *allow: str, **options: Any) -> AsyncIterator[Served]:
    """Run what `webseam mcp --http` runs; it may read pages from loopback."""
    at = listener()
    port = at.getsockname()[1]
    settings = {"fetch.allow": ["127.0.0.0/8", *allow], "fetch.browser": False, "fetch.cache": False}
    environment = dict(os.environ)
    async with (
        AsyncWeb(settings, environment=environment, resolver=world.names, own=(f"127.0.0.1:{port}",)) as web,
        running(make_app(make_server(web, shared=True), port=port, **options), at) as served,
    ):
        yield served


def _text(result: Any) -> str:
    return str(result.content[0].text)


@pytest.mark.parametrize("era", [*ERAS, "auto"])
async def test_the_official_client_lists_the_tools_and_reads_a_page(era: str) -> None:
    async with World() as world:
        url = world.route("GET", "/widgets", lambda _request: PAGE)
        async with _real(world, key=KEY) as served, _client(served, era, KEY) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("web_fetch", {"url": url})
    assert tools == ["web_search", "web_fetch", "docs_search"]
    assert (result.is_error, PARAGRAPH in _text(result)) == (False, True)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("key", "problem"),
    [(None, "this server asks for a bearer key"), ("wrong", "the bearer key is wrong")],
    ids=["no key", "wrong key"],
)
async def test_the_official_client_shows_why_it_was_refused(era: str, key: str | None, problem: str) -> None:
    async with stand_in(key=KEY) as served:
        with pytest.raises((MCPError, ExceptionGroup)) as raised:
            async with _client(served, era, key) as client:
                await client.list_tools()
    found: BaseException = raised.value
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert str(found) == problem


# What it must never read.


@pytest.mark.parametrize(
    ("host", "rule"),
    [
        pytest.param("127.0.0.1", "address.self", id="address"),
        pytest.param("localhost", "address.self", id="localhost"),
        pytest.param("LOCALHOST.", "address.self", id="upper case and dot"),
        pytest.param("here.example", "address.self", id="name that leads here"),
        pytest.param("[::ffff:127.0.0.1]", "address.self", id="IPv4 in IPv6"),
        pytest.param("[::ffff:7f00:1]", "address.self", id="IPv4 in IPv6, hexadecimal"),
        pytest.param("2130706433", "host.ambiguous_ipv4", id="one number"),
        pytest.param("0x7f.1", "host.ambiguous_ipv4", id="hexadecimal"),
        pytest.param("0177.0.0.1", "host.ambiguous_ipv4", id="octal"),
        pytest.param("127.1", "host.ambiguous_ipv4", id="cut short"),
        pytest.param("\uff11\uff12\uff17.0.0.1", "url.idna", id="wide digits"),
        pytest.param("0.0.0.0", "address.unspecified", id="unspecified"),
    ],
)
async def test_the_server_does_not_read_itself_even_where_everything_here_is_allowed(host: str, rule: str) -> None:
    async with World() as world:
        for name in ("localhost", "here.example"):
            world.names.set(name, ["127.0.0.1"])
        async with _real(world, "localhost", "here.example", "::ffff:0:0/96", "0.0.0.0") as served:
            text = await _read(served, f"http://{host}:{served.port}/healthz")
    assert text.split(": ")[0] == "unsafe"
    assert rule in text.split(": ")


async def _read(served: Served, url: str) -> str:
    headers, message = modern(call("web_fetch", url=url))
    return str((await served.ask(headers=headers, body=message)).message["result"]["content"][0]["text"])


async def test_no_redirect_leads_to_the_server() -> None:
    async with World() as world, _real(world) as served:
        there = {"Location": f"http://127.0.0.1:{served.port}/healthz"}
        text = await _read(served, world.route("GET", "/leads", lambda _request: (302, there, "")))
    assert text.split(": ")[0] == "unsafe"
    assert "address.self" in text.split(": ")


# What must stop.


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_goes_away_stops_the_call_to_the_other_side(era: str) -> None:
    reached, gone = asyncio.Event(), asyncio.Event()

    async def hold(connection: Connection) -> None:
        await connection.request()
        reached.set()
        await connection.until_gone()
        gone.set()

    async with World() as world:
        url = world.serve(hold)
        page = world.route("GET", "/widgets", lambda _request: PAGE)
        async with _real(world, concurrency=1) as served:
            session = await served.session()
            head, message = (
                (session, call("web_fetch", url=url)) if era == "legacy" else modern(call("web_fetch", url=url))
            )
            _, writer = await served.connect()
            writer.write(served.request(headers=head, body=message))
            await reached.wait()
            writer.close()
            await gone.wait()
            next_one = await served.ask(headers=session, body=call("web_fetch", url=page))  # there is one place
    assert PARAGRAPH in next_one.message["result"]["content"][0]["text"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_the_client_cancels_is_stopped_and_its_connection_goes_on(era: str) -> None:
    tools = Tools()
    async with stand_in(tools, concurrency=1) as served, _client(served, era) as client:
        asked = asyncio.ensure_future(client.call_tool("web_fetch", {"url": "u"}))
        await tools.started.get()
        asked.cancel()
        assert await tools.ended.get() == "cancelled u"
        result = await client.call_tool("web_search", {"query": "q"})
    assert _text(result) == "found q"


@pytest.mark.parametrize("era", ERAS)
async def test_of_fifty_calls_a_third_is_cancelled_and_the_rest_is_right(era: str) -> None:
    tools = Tools()
    async with stand_in(tools, concurrency=50) as served, _client(served, era) as client:
        calls = [asyncio.ensure_future(client.call_tool("web_fetch", {"url": f"u{n}"})) for n in range(50)]
        for _ in calls:
            await tools.started.get()
        for dropped in calls[::3]:
            dropped.cancel()
        cancelled = {await tools.ended.get() for _ in calls[::3]}
        tools.release.set()
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert tools.running == 0
        after = await asyncio.gather(*(client.call_tool("web_fetch", {"url": f"v{n}"}) for n in range(50)))
    assert cancelled == {f"cancelled u{n}" for n in range(0, 50, 3)}
    assert [_text(result) for n, result in enumerate(results) if n % 3] == [f"read u{n}" for n in range(50) if n % 3]
    assert all(isinstance(result, asyncio.CancelledError) for result in results[::3])
    assert [_text(result) for result in after] == [f"read v{n}" for n in range(50)]


@pytest.mark.parametrize("era", ERAS)
async def test_stopping_cancels_calls_and_ends_streams_without_waiting_for_them(era: str) -> None:
    tools = Tools()
    async with stand_in(tools) as served:
        session = await served.session()
        headers, message = (
            (session, call("web_fetch", url="u")) if era == "legacy" else modern(call("web_fetch", url="u"))
        )
        asked = asyncio.ensure_future(served.ask(headers=headers, body=message))
        stream = asyncio.ensure_future(served.ask("GET", headers=session))
        await tools.started.get()
        served.server.should_exit = True
        answer, events = await asked, await stream
    assert tools.ended.get_nowait() == "cancelled u"
    assert (events.status, events.body) == (200, b"")
    if era == "legacy":  # the events had begun
        assert (answer.status, answer.body) == (200, b"")
    else:
        assert (answer.status, answer.problem) == (503, "webseam is being stopped")


async def test_ending_a_session_stops_its_calls() -> None:
    tools = Tools()
    async with stand_in(tools) as served:
        session = await served.session()
        asked = asyncio.ensure_future(served.ask(headers=session, body=call("web_fetch", url="u")))
        await tools.started.get()
        ended = await served.ask("DELETE", headers=session, body=b"")
        assert await tools.ended.get() == "cancelled u"
        await asked
        later = await served.ask(headers=session)
    assert (ended.status, later.status) == (200, 404)


@pytest.mark.parametrize("begun", [False, True], ids=["silent", "begun"])
async def test_a_call_that_is_never_answered_gives_its_place_back(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "LONGEST_CALL", 0.01)
    sent: list[Any] = []
    given: list[Any] = []

    async def stuck(scope: Any, receive: Any, send: Any) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        given.append((await receive())["body"])
        assert (await receive())["type"] == "http.disconnect"

    body: list[Any] = []

    async def receive() -> Any:
        return body.pop() if body else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    guard = guards.CallGuard(stuck, concurrency=1, queue=0)
    for _ in range(2):
        body[:] = [
            {"type": "http.request", "body": json.dumps(call("web_fetch", url="u")).encode(), "more_body": False}
        ]
        await guard({"type": "http", "method": "POST", "headers": []}, receive, send)
    assert [message.get("status") for message in sent] == [200 if begun else 504, None] * 2
    assert (len(given), sent[1]["more_body"], b"within 0.01 s" in sent[1]["body"]) == (2, False, not begun)
