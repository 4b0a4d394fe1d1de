"""TLS, the certificates that are trusted, and the dialling itself."""

from __future__ import annotations

import asyncio
import errno
import ssl
import sys
from pathlib import Path

import pytest
from httpcore2 import AsyncNetworkStream

from tests.world import Connection, World, answer_bytes, reply, soon
from webseam.errors import Outcome, TransportError
from webseam.net import stream as stream_module
from webseam.net import transport as module
from webseam.net.client import Client, Request
from webseam.net.exchange import CURRENT, Exchange
from webseam.net.policy import EgressPolicy
from webseam.net.stream import HIGH_WATER, Stream
from webseam.net.transport import Backend, make_context, not_connected
from webseam.net.url import parse

OK = answer_bytes(200, {}, "ok")


async def test_the_name_is_what_tls_asks_for_and_what_the_certificate_must_say() -> None:
    async with World() as world:
        asked: list[str | None] = []
        context = world.certificate("tls.example.com")
        context.sni_callback = lambda _, name, __: asked.append(name)
        url = world.serve(reply(OK), host="tls.example.com", tls=context)
        response = await world.send("GET", url + "/")
        assert (response.body, asked, response.peer) == (b"ok", ["tls.example.com"], "127.0.0.1")
        assert 0 < response.timings["tls"] < response.timings["total"]


async def test_a_certificate_may_be_for_an_address() -> None:
    async with World() as world:
        url = world.serve(reply(OK), tls=True)
        assert (await world.send("GET", url + "/")).body == b"ok"


async def test_a_tls_connection_is_used_again() -> None:
    async with World() as world:
        site = world.site(host="tls.example.com", tls=True)
        url = site.route("POST", "/", lambda request: (200, {}, request.body))
        for body in (b"a", b"b" * 1_000_000):
            assert (await world.send("POST", url, body=body)).body == body
        assert len(world.connections) == 1


async def test_plain_http_on_a_tls_port_is_a_tls_failure_with_its_reason() -> None:
    async with World() as world:

        async def play(connection: Connection) -> None:
            await connection.reader.read(10)
            await connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        error = await world.fail("GET", world.serve(play).replace("http:", "https:") + "/")
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.NETWORK, "tls", "tls")
        assert "wrong version number" in error.detail or "record layer failure" in error.detail


@pytest.mark.parametrize("ending", ["close", "reset"])
async def test_a_connection_that_ends_in_the_handshake_is_a_tls_failure(ending: str) -> None:
    async with World() as world:

        async def play(connection: Connection) -> None:
            await connection.reader.read(10)
            if ending == "reset":
                connection.reset()

        client = world.client()
        error = await world.fail("GET", world.serve(play).replace("http:", "https:") + "/", client=client)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.NETWORK, "tls", "tls")
        assert error.detail.endswith("broke the connection off during the TLS handshake")
        assert client.open_connections == 0


async def test_an_authority_the_system_does_not_know_is_refused_without_a_bundle() -> None:
    async with World() as world:
        url = world.serve(reply(OK), host="tls.example.com", tls=True)
        client = world.client(ca_bundle=None)
        error = await world.fail("GET", url + "/", client=client)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind) == (Outcome.NETWORK, "tls")
        assert error.hint is not None
        assert "net.ca_bundle" in error.hint


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_bundle_that_cannot_be_read_is_named_and_read_again_the_next_time(
    content: str | None, tmp_path: Path
) -> None:
    async with World() as world:
        bundle = tmp_path / "bundle.pem"
        if content is not None:
            bundle.write_text(content)
        url = world.serve(reply(OK), host="tls.example.com", tls=True)
        client = world.client(ca_bundle=str(bundle))
        error = await world.fail("GET", url + "/", client=client)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.NETWORK, "ca_bundle", "tls")
        assert "net.ca_bundle" in error.detail
        world.authority.cert_pem.write_to_path(bundle)
        assert (await world.send("GET", url + "/", client=client)).body == b"ok"


async def test_no_certificates_are_read_for_http(tmp_path: Path) -> None:
    async with World() as world:
        client = world.client(ca_bundle=str(tmp_path / "absent.pem"))
        assert (await world.send("GET", world.serve(reply(OK)) + "/", client=client)).body == b"ok"


def test_the_systems_store_is_trusted_and_certificates_are_checked() -> None:
    context = make_context(None)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_where_the_store_is_no_file_the_system_is_asked(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import truststore

    monkeypatch.setattr(sys, "platform", platform)
    assert type(make_context(None)) is truststore.SSLContext


def test_where_openssl_looks_in_a_folder_that_is_not_there_the_usual_bundles_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import trustme

    with trustme.CA().cert_pem.tempfile() as bundle:
        nowhere = ssl.get_default_verify_paths()._replace(cafile=None, capath=None)
        monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nowhere)
        monkeypatch.setattr(module, "_BUNDLES", ("/nowhere.pem", bundle))
        assert len(make_context(None).get_ca_certs()) == 1


async def test_a_body_larger_than_the_buffer_is_read_without_filling_memory() -> None:
    async with World() as world:
        body = bytes(range(256)) * 16_000
        url = world.route("GET", "/", (200, {}, body))
        assert (await world.send("GET", url)).body == body
        assert len(body) > 4 * HIGH_WATER


async def test_at_most_a_few_addresses_of_a_name_are_dialled() -> None:
    async with World() as world:
        url = world.serve(reply(OK), host="many.example.com")
        world.names.set("many.example.com", [f"127.0.0.{number}" for number in range(2, 8)] + ["127.0.0.1"])
        error = await world.fail("GET", url + "/")
        assert isinstance(error, TransportError)
        assert (error.kind, world.connections) == ("refused", [])


class Held(Backend):
    """Dials for real, and gives every connection out at the same moment."""

    def __init__(self, world: World) -> None:
        policy = EgressPolicy(allow=("127.0.0.0/8",))
        super().__init__(policy, world.names, proxy=None, ca_bundle=None, connect_timeout=5.0)
        self.release = asyncio.Event()
        self.dialled = asyncio.Semaphore(0)

    async def _dial(self, address: str, port: int) -> Stream | OSError:
        stream = await super()._dial(address, port)
        self.dialled.release()
        await self.release.wait()
        return stream


async def race(world: World) -> tuple[Held, asyncio.Task[AsyncNetworkStream]]:
    """Start dialling two addresses; return once both have been connected to and neither has been given out."""
    url = world.serve(reply(then="hold"), host="127.0.0.2")
    port = int(url.rpartition(":")[2])
    world.serve(reply(then="hold"), host="127.0.0.3", port=port)
    world.names.set("both.example.com", ["127.0.0.2", "127.0.0.3"])
    backend = Held(world)
    exchange = Exchange(soon())
    exchange.begin(parse(f"http://both.example.com:{port}/"))
    CURRENT.set(exchange)
    dialling = asyncio.create_task(backend.connect_tcp("both.example.com", port))
    for _ in range(2):
        await backend.dialled.acquire()
    return backend, dialling


async def test_of_two_connections_made_in_the_same_moment_one_is_closed() -> None:
    async with World() as world:
        backend, dialling = await race(world)
        assert len(backend.opened) == 2
        backend.release.set()
        stream = await dialling
        assert backend.opened == {stream}
        await stream.aclose()


async def test_connections_made_in_the_moment_of_a_cancellation_are_closed() -> None:
    async with World() as world:
        backend, dialling = await race(world)
        backend.release.set()
        await asyncio.sleep(0)
        dialling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dialling
        await asyncio.sleep(0)
        assert backend.opened == set()


@pytest.mark.parametrize(
    "problems, outcome, kind, words",
    [
        pytest.param([TimeoutError()], Outcome.TIMEOUT, "connect", "did not accept a connection in time", id="silent"),
        pytest.param(
            [TimeoutError(), ConnectionRefusedError(errno.ECONNREFUSED, "no")],
            Outcome.NETWORK,
            "refused",
            "a.example refused the connection",
            id="silent-and-refused",
        ),
        pytest.param(
            [OSError(errno.ENETUNREACH, "no")],
            Outcome.NETWORK,
            "unreachable",
            "there is no route to a.example",
            id="route",
        ),
        pytest.param(
            [OSError(errno.EADDRNOTAVAIL, "Cannot assign")], Outcome.NETWORK, "connect", "Cannot assign", id="other"
        ),
        pytest.param(
            [OSError("odd")], Outcome.NETWORK, "connect", "no connection to a.example: OSError", id="no-number"
        ),
    ],
)
def test_a_connection_that_was_not_made_says_why(
    problems: list[OSError], outcome: Outcome, kind: str, words: str
) -> None:
    exchange = Exchange(soon())
    exchange.begin(parse("https://a.example/"))
    error = not_connected(problems, exchange)
    assert (error.outcome, error.kind, error.host, error.phase) == (outcome, kind, "a.example", "connect")
    assert words in error.detail


async def test_closing_the_client_closes_a_connection_that_is_still_in_its_handshake() -> None:
    async with World() as world:
        reached = asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.reader.read(10)
            reached.set()
            await connection.until_gone()

        url = world.serve(play).replace("http:", "https:")
        client = world.client()
        sending = asyncio.create_task(client.send(Request("GET", url + "/"), expires_at=soon()))
        await reached.wait()
        await client.aclose()
        assert client.open_connections == 0
        with pytest.raises(TransportError) as raised:
            await sending
        assert (raised.value.kind, raised.value.phase) == ("tls", "tls")


async def test_connections_that_are_idle_too_long_or_too_many_are_closed() -> None:
    async with World() as world:
        sites = [world.site() for _ in range(25)]
        client = world.client()
        for site in sites:
            await world.send("GET", site.route("GET", "/", (200, {}, "ok")), client=client)
        assert client.open_connections == 10


async def test_a_client_on_ipv6_works() -> None:
    import socket

    async with World() as world:
        listener = socket.socket(socket.AF_INET6)
        listener.bind(("::1", 0))
        listener.listen()
        listener.setblocking(False)
        world._start(listener, reply(OK), None)
        url = f"http://[::1]:{listener.getsockname()[1]}/"
        response = await world.send("GET", url)
        assert (response.body, response.peer) == (b"ok", "::1")


async def test_where_there_is_no_poll_select_tells_whether_a_socket_is_readable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(stream_module.select, "poll", raising=False)
    async with World() as world:
        url = world.serve(reply(OK))
        client = world.client()
        for _ in range(2):
            assert (await world.send("GET", url + "/", client=client)).body == b"ok"
        site = world.site()
        for _ in range(2):
            await world.send("GET", site.route("GET", "/", (200, {}, "ok")), client=client)
        assert len(world.connections) == 3


async def test_requests_of_several_tasks_do_not_mix_their_deadlines_or_names() -> None:
    async with World() as world:
        quick = world.route("GET", "/", (200, {}, "ok"))
        silent = world.serve(reply(then="hold"), host="silent.example.com")
        async with Client(EgressPolicy(allow=("127.0.0.0/8",)), resolver=world.names) as client:
            late = asyncio.create_task(client.send(Request("GET", silent + "/"), expires_at=soon(0.3)))
            responses = await asyncio.gather(
                *(client.send(Request("GET", quick), expires_at=soon()) for _ in range(20))
            )
            with pytest.raises(TransportError) as raised:
                await late
        assert {response.body for response in responses} == {b"ok"}
        assert (raised.value.host, raised.value.phase) == ("silent.example.com", "first_byte")
