"""The gate: what a browser behind it can reach, and that nothing else on this machine gets through it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from collections.abc import AsyncIterator, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.world import Connection, World, repeat, reply, soon
from tests.world.proxies import HttpProxy, SocksProxy
from webseam.errors import EgressDenied, RequestError, TransportError
from webseam.net.gate import MARK, MAX_CONNECTIONS, MAX_HEAD, Gate
from webseam.net.gate_head import BadHead, read_answer, read_request, target_of, write_request
from webseam.net.policy import EgressPolicy
from webseam.net.url import UrlRefused

LOOPBACK = EgressPolicy(allow=("127.0.0.0/8",))
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@contextlib.asynccontextmanager
async def opened(world: World, policy: EgressPolicy = LOOPBACK, **options: object) -> AsyncIterator[Gate]:
    settings: dict[str, object] = {"expires_at": soon(), "resolver": world.names, **options}
    async with Gate(policy, **settings) as gate:  # type: ignore[arg-type]
        yield gate


async def connected(gate: Gate) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = gate.address.partition(":")
    return await asyncio.open_connection(host, int(port))


def signed(gate: Gate, line: str, *fields: str, account: str | None = None) -> bytes:
    """Return a request head with the gate's credential."""
    basic = base64.b64encode((account or f"{gate.username}:{gate.password}").encode()).decode()
    return "\r\n".join([f"{line} HTTP/1.1", f"Proxy-Authorization: Basic {basic}", *fields, "", ""]).encode()


async def answer(gate: Gate, sent: bytes) -> bytes:
    """Send bytes to the gate and return all it says until it closes the connection."""
    reader, writer = await connected(gate)
    try:
        writer.write(sent)
        return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def ask(gate: Gate, line: str, *fields: str, body: bytes = b"") -> tuple[int, str]:
    """Return status and text of the answer to one request."""
    said = await answer(gate, signed(gate, line, *fields) + body)
    return status_of(said), said.partition(b"\r\n\r\n")[2].decode()


def status_of(said: bytes) -> int:
    return int(said.split(None, 2)[1])


async def test_a_plain_request_reaches_its_server_without_what_is_the_proxys() -> None:
    async with World() as world, opened(world) as gate:
        site = world.site(host="shop.example.com")
        url = site.route("POST", "/a b", lambda request: (200, {"Connection": "keep-alive"}, request.body))
        said = await answer(
            gate,
            signed(
                gate,
                f"POST {url.replace(' ', '%20')}?q=1",
                "Host: elsewhere.example",
                "Cookie: a=b",
                "Proxy-Connection: keep-alive",
                "Connection: keep-alive, X-Hop",
                "X-Hop: 1",
                "Upgrade: h2c",
                "Content-Length: 3",
            )
            + b"abc",
        )
        assert said == (
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\nProxy-Connection: close\r\n\r\nabc"
        )
        [request] = site.requests
        assert (request.method, request.target, request.body) == ("POST", "/a%20b?q=1", b"abc")
        assert request.fields == (
            ("Host", site.url.removeprefix("http://")),
            ("Cookie", "a=b"),
            ("Content-Length", "3"),
            ("Connection", "close"),
        )
        assert (dict(gate.refused), gate.problem_of(url)) == ({}, None)


REFUSED = [
    pytest.param("GET http://10.1.2.3/", "address.private", id="private"),
    pytest.param("GET http://127.0.0.1:8080/", "address.loopback", id="loopback"),
    pytest.param("GET http://[::1]:8080/", "address.loopback", id="loopback-6"),
    pytest.param("GET http://[::ffff:127.0.0.1]/", "address.loopback", id="mapped"),
    pytest.param("GET http://169.254.169.254/latest/", "address.metadata", id="metadata"),
    pytest.param("GET http://metadata.goog/", "address.metadata", id="metadata-name"),
    pytest.param("GET http://public.example.com:22/", "port.denied", id="port"),
    pytest.param("GET http://localhost/", "host.special_use", id="localhost"),
    pytest.param("GET http://intranet/", "host.single_label", id="single-label"),
    pytest.param("GET http://0x7f.1/", "host.ambiguous_ipv4", id="short-IPv4"),
    pytest.param("GET http://user:pass@public.example.com/", "url.userinfo", id="userinfo"),
    pytest.param("GET http://public.example.com\\@10.0.0.1/", "url.backslash", id="backslash"),
    pytest.param("GET ftp://public.example.com/", "url.scheme", id="scheme"),
    pytest.param("GET /latest/meta-data", "url.not_absolute", id="path-alone"),
    pytest.param("GET http://private.example.com/", "address.private", id="name-of-a-private-address"),
    pytest.param("GET http://mixed.example.com/", "dns.mixed_answers", id="mixed-answers"),
    pytest.param("CONNECT 10.1.2.3:443", "address.private", id="tunnel-private"),
    pytest.param("CONNECT 169.254.169.254:80", "address.metadata", id="tunnel-metadata"),
    pytest.param("CONNECT private.example.com:443", "address.private", id="tunnel-name"),
    pytest.param("CONNECT public.example.com:22", "port.denied", id="tunnel-port"),
    pytest.param("CONNECT public.example.com:25", "port.denied", id="tunnel-mail"),
    pytest.param("CONNECT public.example.com", "url.not_absolute", id="tunnel-without-port"),
    pytest.param("CONNECT public.example.com:443/@10.0.0.1:80", "url.not_absolute", id="tunnel-with-path"),
    pytest.param("CONNECT u@public.example.com:443", "url.not_absolute", id="tunnel-userinfo"),
    pytest.param("CONNECT https://public.example.com:443", "url.not_absolute", id="tunnel-with-scheme"),
]


@pytest.mark.parametrize("line, rule", REFUSED)
async def test_what_the_policy_refuses_is_answered_403_and_never_dialled(line: str, rule: str) -> None:
    async with World() as world, opened(world, EgressPolicy()) as gate:
        world.serve(reply(OK))
        world.names.set("private.example.com", ["10.0.0.1"])
        world.names.set("mixed.example.com", ["93.184.215.14", "192.168.0.1"])
        said = await answer(gate, signed(gate, line))
        assert status_of(said) == 403
        assert f"\r\n{MARK}: {gate.mark}\r\n".encode() in said
        assert b"refused by the egress policy: " in said
        assert (dict(gate.refused), world.connections) == ({rule: 1}, [])


@pytest.mark.parametrize("line", ["GET http://{}/", "CONNECT {}"])
async def test_the_gate_itself_cannot_be_reached_through_it(line: str) -> None:
    async with World() as world, opened(world) as gate:
        status, _ = await ask(gate, line.format(gate.address))
        assert (status, dict(gate.refused)) == (403, {"address.self": 1})


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param([], id="missing"),
        pytest.param(["Proxy-Authorization: Basic d2Vic2VhbTpndWVzcw=="], id="wrong"),
        pytest.param(["Proxy-Authorization: Basic é"], id="not-ASCII"),
        pytest.param(["Authorization: Basic {}"], id="in-another-header"),
    ],
)
@pytest.mark.parametrize("line", ["GET {}/", "CONNECT {}"])
async def test_without_the_credential_nothing_is_dialled(fields: list[str], line: str) -> None:
    async with World() as world, opened(world) as gate:
        origin = world.serve(reply(OK))
        account = base64.b64encode(f"{gate.username}:{gate.password}".encode()).decode()
        target = origin if line.startswith("GET") else origin.removeprefix("http://")
        head = [f"{line.format(target)} HTTP/1.1", *(field.format(account) for field in fields), "", ""]
        said = await answer(gate, "\r\n".join(head).encode("latin-1"))
        assert status_of(said) == 407
        assert b'\r\nProxy-Authenticate: Basic realm="webseam"\r\n' in said
        assert (world.connections, dict(gate.refused)) == ([], {})


def test_each_gate_has_a_credential_of_its_own() -> None:
    gates = [Gate(LOOPBACK, expires_at=0) for _ in range(2)]
    assert len({gate.password for gate in gates} | {gate.mark for gate in gates}) == 4
    assert gates[0].password not in repr(gates[0])


async def test_a_name_is_looked_up_and_judged_anew_for_each_connection() -> None:
    async with World() as world, opened(world) as gate:
        url = world.serve(reply(OK), host="turns.example.com")
        world.names.set("turns.example.com", ["127.0.0.1"], ["169.254.169.254"])
        assert await ask(gate, f"GET {url}/") == (200, "hi")
        status, _ = await ask(gate, f"GET {url}/")
        assert (status, dict(gate.refused)) == (403, {"address.metadata": 1})
        assert (world.names.lookups, len(world.connections)) == (["turns.example.com"] * 2, 1)
        problem = gate.problem_of(url)
        assert isinstance(problem, EgressDenied)
        assert problem.rule == "address.metadata"


async def test_the_address_that_was_judged_is_the_one_that_is_dialled() -> None:
    async with World() as world, opened(world) as gate:
        url = world.serve(reply(OK), host="127.0.0.2")
        name = url.replace("127.0.0.2", "turns.example.com")
        world.names.set("turns.example.com", ["127.0.0.2"], ["127.0.0.3"])  # a second look-up would go astray
        assert await ask(gate, f"GET {name}/") == (200, "hi")
        assert world.names.lookups == ["turns.example.com"]
        dialled = world.connections[0].writer.get_extra_info("sockname")[0]
        assert dialled == "127.0.0.2"


async def test_a_redirect_is_the_browsers_to_follow_and_judged_when_it_does() -> None:
    async with World() as world, opened(world) as gate:
        url = world.route("GET", "/", (302, {"Location": "http://169.254.169.254/latest/"}, ""))
        said = await answer(gate, signed(gate, f"GET {url}"))
        assert b"\r\nLocation: http://169.254.169.254/latest/\r\n" in said
        assert (await ask(gate, "GET http://169.254.169.254/latest/"))[0] == 403
        assert (dict(gate.refused), len(world.connections)) == ({"address.metadata": 1}, 1)


async def test_a_second_request_on_a_connection_goes_nowhere() -> None:
    async with World() as world, opened(world) as gate:
        seen = bytearray()

        async def play(connection: Connection) -> None:
            while data := await connection.reader.read(65_536):
                seen.extend(data)

        first = world.serve(play)
        second = signed(gate, "GET http://10.0.0.1/")
        assert await answer(gate, signed(gate, f"GET {first}/", "Content-Length: 1") + b"x" + second) == b""
        host = first.removeprefix("http://")
        await world.connections[0].reader.read()
        assert bytes(seen) == (
            f"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx".encode()
        )


async def test_our_client_reads_a_tls_site_through_a_tunnel() -> None:
    async with World() as world:
        site = world.site(host="shop.example.com", tls=True)
        url = site.route("GET", "/x", (200, {}, "through" * 100_000))
        async with opened(world) as gate:
            proxy = f"http://{gate.username}:{gate.password}@{gate.address}"
            client = world.client(EgressPolicy(allow=("shop.example.com",)), proxy=proxy)
            for _ in range(2):
                assert (await world.send("GET", url, client=client)).body == b"through" * 100_000
            assert (len(world.connections), gate.open_connections) == (1, 1)
            assert gate.carried > 1_400_000
            await client.aclose()


async def tunnel(gate: Gate, origin: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await connected(gate)
    writer.write(signed(gate, f"CONNECT {origin.removeprefix('http://')}"))
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
    return reader, writer


async def test_a_tunnel_carries_bytes_and_the_end_of_each_way() -> None:
    async with World() as world, opened(world) as gate:

        async def play(connection: Connection) -> None:
            await connection.send(b"first ")
            assert await connection.reader.read() == b"\x00\xffquestion"
            await connection.send(b"answer")

        reader, writer = await tunnel(gate, world.serve(play))
        writer.write(b"\x00\xffquestion")
        writer.write_eof()
        assert await reader.read() == b"first answer"
        writer.close()
        await writer.wait_closed()


async def test_a_tunnel_whose_server_resets_it_is_closed_towards_the_browser() -> None:
    async with World() as world, opened(world) as gate:
        reader, writer = await tunnel(gate, world.serve(reply(b"some", then="reset")))
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            await reader.read()
        writer.close()
        with contextlib.suppress(ConnectionResetError):
            await writer.wait_closed()


async def test_a_browser_that_leaves_takes_its_connection_to_the_server_along() -> None:
    async with World() as world, opened(world) as gate:
        heard = asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.request()
            heard.set()
            await connection.until_gone()

        _, writer = await connected(gate)
        writer.write(signed(gate, f"GET {world.serve(play)}/"))
        await heard.wait()
        writer.close()
        await world.connections[0].gone.wait()


@pytest.mark.parametrize("how", ["closed", "deadline"])
async def test_everything_is_closed_with_the_gate(how: str) -> None:
    async with World() as world:
        expires_at = soon(0.3 if how == "deadline" else 10.0)
        async with opened(world, expires_at=expires_at) as gate:
            origin = world.serve(Connection.until_gone)
            reader, writer = await tunnel(gate, origin)
            idle_reader, idle_writer = await connected(gate)
            if how == "closed":
                await gate.aclose()
            for side in (reader, idle_reader):
                with contextlib.suppress(ConnectionResetError):
                    assert await side.read() == b""
            await world.connections[0].gone.wait()
            assert gate.open_connections == 0
            for end in (writer, idle_writer):
                end.close()
                with contextlib.suppress(ConnectionResetError):
                    await end.wait_closed()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", int(gate.address.rpartition(":")[2]))


async def test_cancelling_its_owner_closes_it_too() -> None:
    async with World() as world:
        origin = world.serve(Connection.until_gone)
        standing = asyncio.Event()
        sides: list[asyncio.StreamWriter] = []

        async def own() -> None:
            async with opened(world) as gate:
                sides.append((await tunnel(gate, origin))[1])
                standing.set()
                await asyncio.Event().wait()

        owner = asyncio.create_task(own())
        await standing.wait()
        owner.cancel()
        with pytest.raises(asyncio.CancelledError):
            await owner
        await world.connections[0].gone.wait()
        for side in sides:
            side.close()
            with contextlib.suppress(ConnectionResetError):
                await side.wait_closed()


async def test_closing_while_a_name_server_is_silent_leaves_nothing() -> None:
    asked = asyncio.Event()

    async def silent(host: str, port: int) -> list[str]:
        asked.set()
        await asyncio.Event().wait()
        return []

    async with World() as world, opened(world, resolver=silent) as gate:
        _, writer = await connected(gate)
        writer.write(signed(gate, "CONNECT silent.example.com:443"))
        async with asyncio.timeout(5):
            await asked.wait()
        await gate.aclose()
        assert gate.open_connections == 0
        writer.close()
        with contextlib.suppress(ConnectionResetError):
            await writer.wait_closed()


@pytest.mark.parametrize(
    "sent, status",
    [
        pytest.param(b"\r\n\r\n", 400, id="nothing"),
        pytest.param(b"GET http://a.example/\r\n\r\n", 400, id="HTTP/0.9"),
        pytest.param(b"GET http://a.example/ HTTP/2\r\n\r\n", 400, id="HTTP/2"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, id="HTTP/2-preface"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, id="TLS"),
        pytest.param(b"GET http://a.example/ b HTTP/1.1\r\n\r\n", 400, id="three-words"),
        pytest.param(b"GET http://a.example/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400, id="folded"),
        pytest.param(b"GET http://a.example/ HTTP/1.1\r\nA : b\r\n\r\n", 400, id="space-before-colon"),
        pytest.param(b"GET http://a.example/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n", 400, id="bare-LF"),
        pytest.param(b"GET http://a.example/ HTTP/1.1\r\nA: b\rC: d\r\n\r\n", 400, id="bare-CR"),
        pytest.param(b"GET http://a.example/ HTTP/1.1\r\nA: \x00\r\n\r\n", 400, id="NUL"),
        pytest.param(b"GET http://\xc3\xa9.example/ HTTP/1.1\r\n\r\n", 400, id="not-ASCII"),
        pytest.param(b"POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411, id="chunked"),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, id="two-lengths"),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400, id="length-list"),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400, id="negative-length"),
        pytest.param(b"GET / HTTP/1.1\r\nA: " + b"a" * MAX_HEAD + b"\r\n\r\n", 431, id="huge"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"A: a\r\n" * 20_000, 431, id="huge-without-end"),
    ],
)
async def test_a_head_that_cannot_be_read_in_one_way_is_refused(sent: bytes, status: int) -> None:
    async with World() as world, opened(world) as gate:
        said = await answer(gate, sent)
        assert (status_of(said), world.names.lookups) == (status, [])


async def test_a_plain_request_for_https_is_told_to_use_a_tunnel() -> None:
    async with World() as world, opened(world) as gate:
        assert await ask(gate, "GET https://a.example.com/") == (400, "https goes through a tunnel\n")


@pytest.mark.parametrize(
    "sent, status",
    [pytest.param(b"", 408, id="nothing"), pytest.param(b"GET http://a.example/ HT", 408, id="half-a-line")],
)
async def test_a_head_that_does_not_come_is_not_waited_for(sent: bytes, status: int) -> None:
    async with World() as world, opened(world, idle=0.05) as gate:
        assert status_of(await answer(gate, sent)) == status


async def test_a_browser_that_closes_in_the_middle_of_a_head_is_let_go() -> None:
    async with World() as world, opened(world) as gate:
        for sent in (b"", b"GET http"):
            _, writer = await connected(gate)
            writer.write(sent)
            writer.close()
            await writer.wait_closed()
        assert (await ask(gate, "GET http://10.0.0.1/"))[0] == 403


async def test_a_silent_connection_is_closed_and_a_lively_one_is_not() -> None:
    async with World() as world, opened(world, idle=0.2) as gate:
        silent, silent_writer = await tunnel(gate, world.serve(Connection.until_gone))

        async def drip(connection: Connection) -> None:
            for _ in range(12):  # six times the idle time, all of it one way
                await connection.send(b".")
                await asyncio.sleep(0.1)

        lively, lively_writer = await tunnel(gate, world.serve(drip))
        assert await silent.read() == b""
        assert await lively.read() == b"." * 12
        for writer in (silent_writer, lively_writer):
            writer.close()
            await writer.wait_closed()


async def test_no_more_is_carried_than_was_allowed() -> None:
    async with World() as world, opened(world, max_bytes=500_000) as gate:
        endless = world.serve(repeat(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 60_000))
        with contextlib.suppress(ConnectionResetError):
            assert len(await answer(gate, signed(gate, f"GET {endless}/"))) <= 500_000
        assert gate.exhausted
        assert await ask(gate, f"GET {endless}/") == (503, "this page has used up its 500,000 bytes\n")
        assert len(world.connections) == 1


async def test_no_more_connections_are_served_than_a_browser_needs() -> None:
    async with World() as world, opened(world) as gate:
        origin = world.serve(Connection.until_gone)
        held = [await tunnel(gate, origin) for _ in range(MAX_CONNECTIONS)]
        with contextlib.suppress(ConnectionResetError):
            assert await answer(gate, signed(gate, f"GET {world.url}/")) == b""
        held.pop()[1].close()
        while gate.open_connections == MAX_CONNECTIONS:  # noqa: ASYNC110 - a gate tells nobody when one has ended
            await asyncio.sleep(0)
        assert (await ask(gate, f"GET {world.url}/"))[0] == 404
        for _, writer in held:
            writer.close()
            await writer.wait_closed()


@pytest.mark.parametrize(
    "said, status",
    [
        pytest.param(b"SSH-2.0-OpenSSH_9\r\n\r\n", 502, id="no-HTTP"),
        pytest.param(b"", 502, id="nothing"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: b\r\n", 502, id="half-a-head"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA: " + b"b" * MAX_HEAD + b"\r\n\r\n", 502, id="huge-head"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA\r\n\r\n", 502, id="no-field"),
        pytest.param(b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n', 502, id="asks-for-credentials"),
        pytest.param(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", 502, id="switches"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", 204, id="no-content"),
        pytest.param(b"HTTP/1.0 200\r\n\r\n", 200, id="no-phrase"),
    ],
)
async def test_an_answer_is_read_before_it_is_passed_on(said: bytes, status: int) -> None:
    async with World() as world, opened(world) as gate:
        origin = world.serve(reply(said))
        assert (await ask(gate, f"GET {origin}/"))[0] == status
        assert isinstance(gate.problem_of(origin), TransportError) == (status == 502)


async def test_interim_answers_come_before_the_real_one_and_not_for_ever() -> None:
    async with World() as world, opened(world) as gate:
        hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
        said = await answer(gate, signed(gate, f"GET {world.serve(reply(hint, OK))}/"))
        assert said.startswith(hint + b"HTTP/1.1 200 OK\r\n")
        endless = await answer(gate, signed(gate, f"GET {world.serve(repeat(hint, hint))}/"))
        assert b" 200 " not in endless


async def test_what_cannot_be_reached_is_answered_502_with_the_reason() -> None:
    async with World() as world, opened(world) as gate:
        down = world.closed_port()
        status, words = await ask(gate, f"GET {down}/")
        assert (status, words) == (502, f"{down.removeprefix('http://')} refused the connection\n")
        status, words = await ask(gate, "CONNECT lost.example.com:443")
        assert (status, words) == (502, "lost.example.com has no address\n")
        problem = gate.problem_of("https://lost.example.com/any?thing")
        assert isinstance(problem, TransportError)
        assert (problem.kind, dict(gate.refused)) == ("dns", {})


async def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):  # asyncio's own debug line names the selector
        async with World() as world, opened(world) as gate:
            url = world.route("GET", "/", (200, {}, "x"))
            await ask(gate, f"GET {url}?key=s3cret")
            await ask(gate, "GET http://10.0.0.1/?key=s3cret")
            await answer(gate, b"nonsense\r\n\r\n")
    assert caplog.records == []


# Through the proxy of the settings.


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_an_http_proxy_of_the_settings_is_asked_by_the_gate(scheme: str) -> None:
    async with World() as world:
        site = world.site(host="api.example.com")
        site.route("GET", "/x", (200, {}, "through"))
        port = int(site.url.rpartition(":")[2])
        proxy = HttpProxy(port, account="user:p@ss")
        host = "proxy.example.net" if scheme == "https" else "127.0.0.1"
        address = world.serve(proxy, host=host, tls=scheme == "https").replace("://", "://user:p%40ss@")
        world.names.set("api.example.com", ["10.0.0.1"])  # what this machine believes must not matter
        ca_bundle = world.ca_bundle if scheme == "https" else None
        async with opened(world, EgressPolicy(), proxy=address, ca_bundle=ca_bundle) as gate:
            assert await ask(gate, "GET http://api.example.com/x") == (200, "through")
            reader, writer = await connected(gate)
            writer.write(signed(gate, "CONNECT api.example.com:8080"))
            assert status_of(await reader.readuntil(b"\r\n\r\n")) == 200
            writer.write(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
            assert (await reader.readuntil(b"through")).startswith(b"HTTP/1.1 200 OK\r\n")
            writer.close()
            await writer.wait_closed()
            assert (await ask(gate, "GET http://10.0.0.1/"))[0] == 403
        assert proxy.asked == [("GET", "http://api.example.com/x"), ("CONNECT", "api.example.com:8080")]
        assert world.names.lookups == (["proxy.example.net"] * 2 if scheme == "https" else [])
        assert [request.target for request in site.requests] == ["/x", "/x"]
        assert "proxy-authorization" not in site.requests[0].headers


@pytest.mark.parametrize("line", ["GET http://api.example.com/x", "CONNECT api.example.com:80"])
async def test_a_socks_proxy_of_the_settings_resolves_the_name(line: str) -> None:
    async with World() as world:
        site = world.site(host="api.example.com")
        site.route("GET", "/x", (200, {}, "through"))
        proxy = SocksProxy(int(site.url.rpartition(":")[2]))
        address = world.serve(proxy).replace("http:", "socks5h:")
        async with opened(world, EgressPolicy(), proxy=address) as gate:
            sent = signed(gate, line) + (b"GET /x HTTP/1.1\r\n\r\n" if line.startswith("CONNECT") else b"")
            reader, writer = await connected(gate)
            writer.write(sent)
            assert (await reader.readuntil(b"through")).startswith(b"HTTP/1.1 200 ")
            writer.close()
            await writer.wait_closed()
        assert (proxy.asked, world.names.lookups) == ([(3, b"api.example.com", 80)], [])


Play = Callable[[Connection], object]


@pytest.mark.parametrize(
    "proxy, words",
    [
        pytest.param(HttpProxy(1, account="user:right"), "it answered 407", id="wrong-account"),
        pytest.param(HttpProxy(1, answer=b"nonsense\r\n\r\n"), "did not answer as an HTTP proxy does", id="nonsense"),
        pytest.param(HttpProxy(1, answer=b""), "did not answer as an HTTP proxy does", id="closes"),
    ],
)
async def test_a_proxy_that_refuses_is_named_without_its_password(proxy: HttpProxy, words: str) -> None:
    async with World() as world:
        address = world.serve(proxy).replace("://", "://user:s3cret@")
        async with opened(world, EgressPolicy(), proxy=address) as gate:
            status, said = await ask(gate, "CONNECT api.example.com:443")
            assert status == 502
            assert words in said
            assert "s3cret" not in said


async def test_with_local_dns_addresses_are_judged_here_although_a_proxy_dials() -> None:
    async with World() as world:
        proxy = HttpProxy(1)
        world.names.set("api.example.com", ["10.0.0.1"])
        async with opened(world, EgressPolicy(local_dns=True), proxy=world.serve(proxy)) as gate:
            assert (await ask(gate, "CONNECT api.example.com:443"))[0] == 403
        assert (proxy.asked, world.connections) == ([], [])


def test_a_proxy_that_cannot_be_read_is_refused_at_once() -> None:
    with pytest.raises(RequestError, match="is not the address of a proxy"):
        Gate(EgressPolicy(), expires_at=0, proxy="nonsense")


# Heads, whatever comes.

HEADS = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(
            b"GET |CONNECT |http://a.example/|a.example:443| HTTP/1.1|\r\n|Content-Length: 1|Host: a|Connection: host"
            b"|Transfer-Encoding: chunked|:|\x00|\r|\n| |X-A: b|HTTP/1.1 200 OK|Connection: X-A, close".split(b"|")
        ),
        max_size=20,
    ).map(b"".join),
)


@given(HEADS)
def test_a_head_written_anew_is_one_head_of_whole_lines(head: bytes) -> None:
    try:
        request = read_request(head + b"\r\n\r\n")
        url = target_of(request)
    except (BadHead, UrlRefused):
        return
    written = write_request(request, url, whole_url=False)
    assert written.index(b"\r\n\r\n") == len(written) - 4
    assert written.count(b"\n") == written.count(b"\r\n") == written.count(b"\r")
    assert (url.scheme == "https") == (request.method == "CONNECT")


@given(HEADS)
def test_an_answer_head_written_anew_is_one_head_of_whole_lines(head: bytes) -> None:
    try:
        written = read_answer(head + b"\r\n\r\n", "GET").written
    except BadHead:
        return
    assert written.index(b"\r\n\r\n") == len(written) - 4
    assert written.count(b"\n") == written.count(b"\r") == written.count(b"\r\n")
