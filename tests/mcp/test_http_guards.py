"""The key, the body, the places and the connections of the HTTP server, over real sockets."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pydantic_core
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCRequest, jsonrpc_message_adapter

from tests.mcp.http_world import INITIALIZE, KEY, Answer, Served, Tools, call, modern, read, stand_in
from webseam.fronts.mcp import guards, http
from webseam.fronts.mcp.guards import MAX_BODY, BodyGuard, KeyGuard, Places

ASKED = 'Bearer realm="webseam"'
WRONG = f'{ASKED}, error="invalid_token"'


# The key.


@pytest.mark.parametrize(
    ("value", "challenge"),
    [
        pytest.param(None, ASKED, id="missing"),
        pytest.param("Bearer wrong", WRONG, id="wrong"),
        pytest.param(f"Bearer {KEY}x", WRONG, id="longer"),
        pytest.param(f"Bearer {KEY[:-1]}", WRONG, id="shorter"),
        pytest.param(f"Bearer {KEY.upper()}", WRONG, id="upper case"),
        pytest.param("Bearer", WRONG, id="no key"),
        pytest.param("Bearer ", WRONG, id="empty key"),
        pytest.param(f"Basic {KEY}", WRONG, id="other scheme"),
        pytest.param(KEY, WRONG, id="no scheme"),
        pytest.param(f"Bearer: {KEY}", WRONG, id="colon"),
        pytest.param(f"Bearer {KEY}, Bearer {KEY}", WRONG, id="two in one"),
        pytest.param([f"Bearer {KEY}", f"Bearer {KEY}"], WRONG, id="twice"),
        pytest.param([f"Bearer {KEY}", "Bearer wrong"], WRONG, id="twice, the second wrong"),
        pytest.param("Bearer k\u00e9y", WRONG, id="not ASCII"),
    ],
)
async def test_a_request_without_the_one_right_key_is_refused(value: Any, challenge: str) -> None:
    given = [value] if isinstance(value, str) else value or []
    sent, passed = await _through(KeyGuard, [("authorization", one) for one in given], KEY)
    assert (sent[0]["status"], dict(sent[0]["headers"])[b"www-authenticate"]) == (401, challenge.encode())
    assert (b"the bearer key is wrong" if value else b"this server asks for a bearer key") in sent[1]["body"]
    assert passed == []


@pytest.mark.parametrize("value", [f"Bearer {KEY}", f"bearer {KEY}", f"Bearer   {KEY} "])
async def test_the_right_key_is_let_in_and_nothing_behind_the_guard_sees_it(value: str) -> None:
    sent, (passed,) = await _through(KeyGuard, [("host", "localhost"), ("authorization", value)], KEY)
    assert (sent, passed["headers"]) == ([], [(b"host", b"localhost")])


async def _through(guard: Any, headers: list[tuple[str, str]], *options: Any) -> tuple[list[Any], list[Any]]:
    """Return what a guard sent, and the scopes it passed on."""
    sent: list[Any] = []
    passed: list[Any] = []

    async def served(scope: Any, _receive: Any, _send: Any) -> None:
        passed.append(scope)

    async def receive() -> Any:
        raise AssertionError("the guard reads no body")

    async def send(message: Any) -> None:
        sent.append(message)

    coded = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    await guard(served, *options)({"type": "http", "headers": coded}, receive, send)
    return sent, passed


async def test_a_real_server_asks_for_the_key_and_takes_it() -> None:
    async with stand_in(key=KEY) as served:
        refused = await served.ask(body=INITIALIZE)
        answer = await served.ask(headers={"authorization": f"Bearer {KEY}"}, body=INITIALIZE)
    assert (refused.status, refused.headers["www-authenticate"]) == (401, ASKED)
    assert (answer.status, answer.message["result"]["serverInfo"]["name"]) == (200, "stand-in")


async def test_a_key_is_asked_for_by_every_method_before_the_body_is_read() -> None:
    async with stand_in(key=KEY) as served:
        statuses = [(await served.ask(method, body=b"")).status for method in ("GET", "DELETE", "PUT", "OPTIONS")]
        head = served.request(headers={"content-length": "1000", "expect": "100-continue"}, body=b"")
        unread = read(await served.raw(head))
    assert statuses == [401, 401, 401, 401]
    assert unread.status == 401


def test_the_guard_does_not_keep_the_key() -> None:
    assert KEY not in repr(vars(KeyGuard(None, KEY)))  # type: ignore[arg-type]


async def test_a_session_is_of_no_use_without_the_key() -> None:
    async with stand_in(key=KEY) as served:
        session = await served.session({"authorization": f"Bearer {KEY}"})
        stolen = {name: value for name, value in session.items() if name != "authorization"}
        refused = [(await served.ask(method, headers=stolen)).status for method in ("POST", "GET", "DELETE")]
        kept = await served.ask(headers=session)
    assert refused == [401, 401, 401]
    assert (kept.status, kept.message) == (200, {"jsonrpc": "2.0", "id": "ping", "result": {}})


async def test_session_ids_are_random_and_others_are_not_found() -> None:
    async with stand_in() as served:
        sessions = [(await served.session())["mcp-session-id"] for _ in range(4)]
        guessed = f"{int(sessions[-1], 16) + 1:032x}"
        answer = await served.ask(headers={"mcp-session-id": guessed})
    assert {len(session) for session in sessions} == {32}
    assert len({session[:6] for session in sessions}) == 4
    assert answer.status == 404


# Paths.


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        pytest.param("GET", "/healthz", 200, id="health"),
        pytest.param("HEAD", "/healthz", 200, id="health, head only"),
        pytest.param("GET", "/healthz?x=1", 200, id="health with a query"),
        pytest.param("POST", "/healthz", 404, id="health is not posted to"),
        pytest.param("GET", "/", 404, id="root"),
        pytest.param("GET", "/mcp/", 404, id="slash at the end"),
        pytest.param("GET", "/MCP", 404, id="upper case"),
        pytest.param("GET", "//mcp", 404, id="two slashes"),
        pytest.param("GET", "/x/../mcp", 404, id="dots"),
        pytest.param("GET", "http://127.0.0.1/mcp", 404, id="whole URL"),
        pytest.param("GET", "/.well-known/oauth-protected-resource", 404, id="OAuth"),
        pytest.param("GET", "/docs", 404, id="documentation"),
        pytest.param("GET", "/mcp", 401, id="MCP"),
        pytest.param("GET", "/%6dcp", 401, id="MCP, quoted"),
    ],
)
async def test_nothing_but_the_health_check_is_open_without_a_key(method: str, path: str, status: int) -> None:
    async with stand_in(key=KEY) as served:
        answer = await served.ask(method, path, body=b"")
    assert answer.status == status


async def test_paths_are_those_below_the_place_where_it_is_mounted() -> None:
    sent: list[Any] = []

    async def nothing(*_asgi: Any) -> None:
        raise AssertionError("not MCP")

    async def send(message: Any) -> None:
        sent.append(message.get("status"))

    for path, root in (("/agents/healthz", "/agents"), ("/healthz", "/agents"), ("/agents/healthz", "")):
        await guards.Paths(nothing)({"method": "GET", "path": path, "root_path": root}, nothing, send)
    assert sent[::2] == [200, 200, 404]


async def test_the_health_check_says_nothing_but_ok() -> None:
    async with stand_in(key=KEY) as served:
        answer = await served.ask("GET", "/healthz")
    assert answer.body == b"ok"
    assert sorted(answer.headers) == ["connection", "content-length", "content-type", "date"]


# The body.


OPEN = {"connection": "keep-alive"}


def _chunked(served: Served, body: bytes, size: int = 65536) -> bytes:
    head = served.request(headers={**OPEN, "content-length": None, "transfer-encoding": "chunked"}, body=b"")
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def _padded(size: int) -> bytes:
    body = json.dumps({**INITIALIZE, "padding": ""}).encode()
    return body[:-2] + b"x" * (size - len(body)) + body[-2:]


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "chunked"])
async def test_a_body_may_have_a_mebibyte_and_no_more(chunked: bool) -> None:
    async with stand_in() as served:
        whole, over = (
            _chunked(served, body) if chunked else served.request(headers=OPEN, body=body)
            for body in (_padded(MAX_BODY), _padded(MAX_BODY + 1))
        )
        reader, writer = await served.connect()
        writer.write(whole)
        status = (await reader.readline()).split()[1]
        writer.close()
        refused = await served.exchange(over)
    assert status == b"200"
    assert (refused.status, refused.problem) == (413, "a request may have 1048576 bytes")


@pytest.mark.parametrize("length", ["1048577", "9" * 15, "0" * 10 + "1048577"])
async def test_a_length_that_is_too_much_is_refused_before_the_body_comes(length: str) -> None:
    async with stand_in() as served:
        answer = await served.exchange(served.request(headers={**OPEN, "content-length": length}, body=b""))
    assert (answer.status, answer.problem) == (413, "a request may have 1048576 bytes")


async def test_a_body_that_goes_on_after_the_refusal_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "HEAD_TIMEOUT", 0.05)
    async with stand_in(key=KEY) as served:
        _, writer = await served.connect()
        writer.write(served.request(headers={**OPEN, "content-length": "1000000"}, body=b""))
        with pytest.raises(ConnectionError):
            await _dribble(writer)
        writer.transport.abort()  # type: ignore[attr-defined]


async def _dribble(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.001)


async def test_a_body_that_does_not_come_ends_the_request() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def served(*_asgi: Any) -> None:
        raise AssertionError("there is no body to read")

    await BodyGuard(served, timeout=0.01)({"type": "http", "headers": []}, receive, send)
    assert (sent[0]["status"], (b"connection", b"close") in sent[0]["headers"]) == (408, True)


async def test_a_client_that_leaves_in_the_middle_of_a_body_is_not_answered() -> None:
    messages: list[Any] = [{"type": "http.disconnect"}, {"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> Any:
        return messages.pop()

    async def unasked(*_asgi: Any) -> None:
        raise AssertionError("nobody is there")

    await BodyGuard(unasked)({"type": "http", "headers": []}, receive, unasked)
    assert messages == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"\xff{}", id="not UTF-8"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'{"id": ' + b"1" * 5000 + b', "method": "tools/call"}', id="number that Python will not read"),
    ],
)
async def test_what_is_not_json_is_refused_before_the_sdk_reads_it(body: bytes) -> None:
    async with stand_in() as served:
        session = await served.session()
        answer = await served.ask(headers=session, body=body)
    assert (answer.status, json.loads(answer.body)["error"]["code"]) == (400, -32700)


HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        pytest.param(HEAD + b"X: " + b"x" * 20_000 + b"\r\n\r\n", 431, id="long header"),
        pytest.param(HEAD + b"X: " + b"x" * 20_000, 400, id="long header without an end"),
        pytest.param(HEAD + b"X: x\r\n" * 9_000 + b"\r\n", 431, id="many headers"),
        pytest.param(b"GET /" + b"x" * 20_000, 400, id="long path without an end"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200, 400, id="TLS"),
        pytest.param(HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400, id="two lengths"),
    ],
)
async def test_what_is_no_request_or_has_too_long_a_head_is_refused(data: bytes, status: int) -> None:
    async with stand_in() as served:
        reader, writer = await served.connect()
        writer.write(data)
        answer = read(await _rest(reader))
        writer.close()
    assert answer.status == status


async def _rest(reader: asyncio.StreamReader) -> bytes:
    """Return what comes until the end. A server that refuses before it has read all resets the connection."""
    data = b""
    try:
        while part := await reader.read(65536):
            data += part
    except ConnectionError:
        pass
    return data


async def test_a_websocket_is_not_opened_and_the_request_is_the_one_it_would_be_without() -> None:
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "eA==",
    }
    async with stand_in() as served:
        reader, writer = await served.connect()
        writer.write(served.request("GET", headers={**upgrade, "accept": "text/plain"}))
        status = (await reader.readline()).split()[1]
        writer.close()
    assert status == b"406"


async def test_a_websocket_of_another_server_is_closed_unopened() -> None:
    sent: list[Any] = []

    async def unasked(*_asgi: Any) -> Any:
        raise AssertionError("nothing is served over it")

    async def send(message: Any) -> None:
        sent.append(message)

    await guards.App(unasked, unasked)({"type": "websocket", "path": "/mcp", "headers": []}, unasked, send)
    assert sent == [{"type": "websocket.close"}]


# The places.


def _requests(served: Served, session: dict[str, str], count: int, *, era: str) -> list[bytes]:
    messages = [call("web_fetch", number, url=f"u{number}") for number in range(1, count + 1)]
    if era == "legacy":
        return [served.request(headers=session, body=message) for message in messages]
    return [served.request(headers=head, body=message) for head, message in map(modern, messages)]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_calls_over_the_limit_wait_and_are_then_run(era: str) -> None:
    tools = Tools()
    async with stand_in(tools, concurrency=2) as served:
        session = await served.session()
        asked = [asyncio.ensure_future(served.raw(one)) for one in _requests(served, session, 5, era=era)]
        for _ in range(2):
            await tools.started.get()
        listed = await served.ask(headers=session, body={"jsonrpc": "2.0", "id": 90, "method": "tools/list"})
        tools.release.set()
        answers = [read(data) for data in await asyncio.gather(*asked)]
    assert [answer.message["result"]["content"][0]["text"] for answer in answers] == [f"read u{n}" for n in range(1, 6)]
    assert tools.most == 2
    assert [tool["name"] for tool in listed.message["result"]["tools"]] == ["web_search", "web_fetch"]


async def test_a_call_that_finds_the_queue_full_is_told_when_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "QUEUE", 0)
    tools = Tools()
    async with stand_in(tools, concurrency=1) as served:
        session = await served.session()
        first = asyncio.ensure_future(served.ask(headers=session, body=call("web_fetch", 1, url="u")))
        await tools.started.get()
        refused = await served.ask(headers=session, body=call("web_search", 2, query="q"))
        odd = [
            await served.ask(headers=session, body=call("web_search", number, query="q")) for number in ("\ud800", 1.5)
        ]
        others = [
            await served.ask(headers=session),
            await served.ask(headers=session, body={"jsonrpc": "2.0", "method": "notifications/cancelled",
                                                    "params": {"requestId": 1}}),
        ]  # fmt: skip
        await first
        freed = await served.ask(headers=session, body=call("web_search", 3, query="q"))
    message = "webseam is busy: 1 calls run and others wait. Try again in some seconds."
    assert (refused.status, refused.headers["retry-after"]) == (503, "5")
    assert refused.message == {"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": message}}
    assert [(answer.status, answer.message["id"]) for answer in odd] == [(503, "\ud800"), (503, None)]
    assert [answer.status for answer in others] == [200, 202]
    assert await tools.ended.get() == "cancelled u"
    assert freed.message["result"]["content"][0]["text"] == "found q"


async def test_event_streams_take_no_places() -> None:
    async with stand_in(concurrency=1) as served:
        streams = []
        for _ in range(3):
            session = await served.session()
            reader, writer = await served.connect()
            writer.write(served.request("GET", headers=session))
            assert (await reader.readline()).split()[1] == b"200"
            streams.append(writer)
        answer = await served.ask(headers=session, body=call("web_search", query="q"))
        for writer in streams:
            writer.close()
    assert answer.message["result"]["content"][0]["text"] == "found q"


async def test_a_caller_who_leaves_the_queue_is_not_run_and_keeps_no_place() -> None:
    tools = Tools()
    async with stand_in(tools, concurrency=1) as served:
        session = await served.session()
        first = asyncio.ensure_future(served.ask(headers=session, body=call("web_fetch", 1, url="first")))
        await tools.started.get()
        _, leaver = await served.connect()
        leaver.write(served.request(headers=session, body=call("web_fetch", 2, url="left")))
        third = asyncio.ensure_future(served.ask(headers=session, body=call("web_fetch", 3, url="third")))
        await served.ask(headers=session)  # answered after those before it were read
        leaver.close()
        await leaver.wait_closed()
        await served.ask(headers=session)
        tools.release.set()
        answers = await asyncio.gather(first, third)
    assert [answer.message["result"]["content"][0]["text"] for answer in answers] == ["read first", "read third"]
    assert [tools.ended.get_nowait() for _ in range(tools.ended.qsize())] == ["done first", "done third"]


async def test_places_are_given_in_the_order_of_asking_and_time_runs_out() -> None:
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    places = Places(1, queue=3, wait=60)
    assert await places.take(never)
    order: list[str] = []

    async def asks(name: str, leaves: asyncio.Future[None]) -> bool:
        found = await places.take(leaves)
        order.append(name)
        return found

    first = asyncio.ensure_future(asks("first", never))
    leaver = asyncio.ensure_future(asks("leaver", gone))
    cancelled = asyncio.ensure_future(asks("cancelled", never))
    await asyncio.sleep(0)
    assert not await places.take(never)  # three wait
    gone.set_result(None)
    cancelled.cancel()
    assert not await leaver
    places.give_back()
    assert await first
    places.give_back()
    assert order == ["leaver", "first"]
    impatient = Places(1, queue=1, wait=0)
    assert [await impatient.take(never), await impatient.take(never)] == [True, False]
    impatient.give_back()
    assert await impatient.take(never)


async def test_a_place_given_to_a_caller_who_leaves_at_that_moment_is_free_again() -> None:
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    places = Places(1, queue=1, wait=60)
    await places.take(never)
    leaver = asyncio.ensure_future(places.take(gone))
    await asyncio.sleep(0)
    places.give_back()
    gone.set_result(None)
    assert not await leaver
    assert await places.take(never)


async def test_a_place_given_to_a_caller_who_is_cancelled_at_that_moment_goes_to_the_next() -> None:
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    places = Places(1, queue=2, wait=60)
    await places.take(never)
    both = [asyncio.ensure_future(places.take(never)) for _ in range(2)]
    await asyncio.sleep(0)
    places.give_back()
    both[0].cancel()
    assert await both[1]


_WORDS = st.sampled_from(["method", "id", "jsonrpc", "params", "2.0", "tools/call", "ping", "x", 1, None, "\ud800"])
_VALUES = st.recursive(_WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))
_FIXED = [("jsonrpc", "2.0"), ("id", 1), ("method", "tools/call")]
_PAIRS = st.lists(st.tuples(st.sampled_from(["method", "id", "jsonrpc", "params", "x"]), _VALUES), max_size=4)


@given(_PAIRS.flatmap(lambda pairs: st.permutations([*_FIXED, *pairs])), st.sampled_from(["", " ", "\ufeff", "\x00"]))
def test_whatever_the_sdk_reads_as_a_call_takes_a_place(pairs: list[tuple[str, Any]], edge: str) -> None:
    members = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in pairs)  # names may come twice
    body = f"{edge}{{{members}}}{edge}".encode()
    for parse in (pydantic_core.from_json, json.loads):  # as the two eras read it
        try:
            read_by_sdk = jsonrpc_message_adapter.validate_python(parse(body), by_name=False)
        except ValueError:
            continue
        if isinstance(read_by_sdk, JSONRPCRequest) and read_by_sdk.method == "tools/call":
            assert guards.is_call(json.loads(body))


# Sessions and connections.


async def test_sessions_are_few_and_end_when_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 1)
    monkeypatch.setattr(http, "SESSION_IDLE", 0.5)
    async with stand_in() as served:
        session = await served.session()
        refused = await served.ask(body=INITIALIZE)
        answer = Answer(200)
        while answer.status == 200:  # each request starts the countdown anew
            await asyncio.sleep(0.6)
            answer = await served.ask(headers=session)
        again = await served.ask(body=INITIALIZE)
    assert (refused.status, answer.status, again.status) == (503, 404, 200)


async def test_more_connections_than_the_limit_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 3)
    async with stand_in() as served:
        kept = [(await served.connect())[1] for _ in range(2)]
        statuses = [(await served.ask("GET", "/healthz")).status]
        while statuses[-1] == 200:  # until both have been accepted
            statuses.append((await served.ask("GET", "/healthz")).status)
        for writer in kept:
            writer.close()
    assert statuses[-1] == 503


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", id="half a head"),
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea", id="half a second head"),
    ],
)
async def test_a_head_that_does_not_come_to_its_end_ends_the_connection(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "HEAD_TIMEOUT", 0.3)
    monkeypatch.setattr(http, "KEEP_ALIVE", 60)
    async with stand_in() as served:
        reader, writer = await served.connect()
        writer.write(sent)
        data = await _rest(reader)
        writer.close()
    assert data.count(b"HTTP/1.1 200") == sent.count(b"/healthz")


async def test_a_long_call_outlives_the_time_for_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "HEAD_TIMEOUT", 0.5)
    tools = Tools()
    async with stand_in(tools) as served:
        session = await served.session()
        asked = asyncio.ensure_future(served.ask(headers=session, body=call("web_fetch", url="u")))
        await tools.started.get()
        await asyncio.sleep(0.6)
        tools.release.set()
        answer = await asked
    assert answer.message["result"]["content"][0]["text"] == "read u"


async def test_a_client_that_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "READ_TIMEOUT", 0.05)
    async with stand_in() as served:
        headers = {**await served.session(), **OPEN}
        _, writer = await served.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(20):  # until the buffers of both sides are full
            writer.write(served.request(headers=headers, body=call("web_search", query="q" * 1_000_000)))
        with pytest.raises(ConnectionError):
            await _dribble(writer)
        writer.transport.abort()  # type: ignore[attr-defined]


async def test_a_client_that_reads_late_gets_all_of_a_long_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "HEAD_TIMEOUT", 0.3)
    monkeypatch.setattr(http, "KEEP_ALIVE", 60)
    size = 16_000_000  # more than the system keeps between the two

    def build(tools: Tools) -> Any:
        server = tools.server()
        server.add_tool(lambda: "x" * size, name="long")
        return server

    async with stand_in(build=build) as served:
        headers, message = modern(call("long"))
        reader, writer = await served.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(served.request(headers={**headers, **OPEN}, body=message))
        (connection,) = served.server.server_state.connections
        while not (connection.cycle and connection.cycle.response_complete):  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.6)
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        head = read(await reader.readuntil(b"\r\n\r\n"))
        body = await reader.readexactly(int(head.headers["content-length"]))
        writer.close()
    assert len(json.loads(body)["result"]["content"][0]["text"]) == size
