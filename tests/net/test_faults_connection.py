"""Servers that fail before they answer: rows 1 to 14 and 56 of the table of misbehaviours."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading

import pytest
import trustme

from tests.world import NEVER, Connection, Play, World, answer_bytes, reply, soon
from webseam.errors import EgressDenied, Outcome, TransportError
from webseam.net.client import Client, Request
from webseam.net.policy import EgressPolicy
from webseam.net.transport import Contexts

OK = answer_bytes(200, {}, "ok")


def facts(error: TransportError | EgressDenied) -> tuple[Outcome, str, str]:
    assert isinstance(error, TransportError)
    assert error.detail
    return error.outcome, error.kind, error.phase


async def test_row_1_a_closed_port_is_a_network_failure_that_names_the_host() -> None:
    async with World() as world:
        url = world.closed_port()
        error = await world.fail("GET", url + "/")
        assert facts(error) == (Outcome.NETWORK, "refused", "connect")
        assert str(error) == f"network: {url.removeprefix('http://')} refused the connection"


async def test_row_1_the_next_judged_address_is_dialled_when_the_first_refuses() -> None:
    async with World() as world:
        url = world.serve(reply(OK), host="two.example.com")
        world.names.set("two.example.com", ["127.0.0.7", "127.0.0.1"])
        response = await world.send("GET", url + "/")
        assert (response.body, response.peer, world.names.lookups) == (b"ok", "127.0.0.1", ["two.example.com"])


async def test_row_1_all_addresses_refusing_is_one_failure() -> None:
    async with World() as world:
        port = world.closed_port().rpartition(":")[2]
        world.names.set("down.example.com", ["127.0.0.7", "127.0.0.8", "127.0.0.1"])
        error = await world.fail("GET", f"http://down.example.com:{port}/")
        assert facts(error) == (Outcome.NETWORK, "refused", "connect")


async def test_row_2_a_blackhole_times_out_in_the_connect_phase_within_the_deadline() -> None:
    async with World() as world:
        error = await world.fail("GET", world.blackhole() + "/", within=0.3)
        assert facts(error) == (Outcome.TIMEOUT, "deadline", "connect")


async def test_row_2_one_address_gets_less_than_the_whole_of_a_long_deadline() -> None:
    async with World() as world:
        client = world.client(connect_timeout=0.2)
        error = await world.fail("GET", world.blackhole() + "/", client=client, within=60)
        assert facts(error) == (Outcome.TIMEOUT, "connect", "connect")


async def test_row_3_silence_after_accept_times_out_waiting_for_the_first_byte() -> None:
    async with World() as world:
        error = await world.fail("GET", world.serve(reply(then="hold")) + "/", within=0.3)
        assert facts(error) == (Outcome.TIMEOUT, "deadline", "first_byte")


async def test_row_3_a_server_that_does_not_read_times_out_in_the_request_phase() -> None:
    async with World() as world:
        stop = asyncio.Event()

        async def play(connection: Connection) -> None:
            connection.reader._transport.pause_reading()  # type: ignore[attr-defined]
            await stop.wait()

        error = await world.fail("POST", world.serve(play) + "/", body=bytes(30_000_000), within=0.5)
        stop.set()
        assert facts(error) == (Outcome.TIMEOUT, "deadline", "request")


async def test_row_4_closing_right_after_accept_is_an_empty_response_and_is_not_retried_here() -> None:
    async def play(connection: Connection) -> None:
        await connection.close()

    async with World() as world:
        url = world.serve(play)
        error = await world.fail("GET", url + "/")
        assert facts(error) in (
            (Outcome.BAD_RESPONSE, "empty", "first_byte"),
            (Outcome.NETWORK, "reset", "first_byte"),  # the request reached a socket that was closed already
        )
        assert len(world.connections) == 1


async def test_row_4_closing_after_the_request_is_an_empty_response() -> None:
    async with World() as world:
        url = world.serve(reply())
        error = await world.fail("GET", url + "/")
        assert facts(error) == (Outcome.BAD_RESPONSE, "empty", "first_byte")
        assert error.detail == f"{url.removeprefix('http://')} closed the connection before answering"
        assert len(world.connections) == 1


async def test_row_5_a_reset_after_the_request_names_host_and_phase() -> None:
    async with World() as world:
        url = world.serve(reply(then="reset"))
        error = await world.fail("GET", url + "/")
        assert facts(error) == (Outcome.NETWORK, "reset", "first_byte")
        assert error.detail == f"{url.removeprefix('http://')} reset the connection before answering"


@pytest.mark.parametrize("overflow", ["refuse", "truncate"])
async def test_row_6_a_reset_in_the_body_is_never_returned_as_a_page(overflow: str) -> None:
    async with World() as world:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
        error = await world.fail("GET", world.serve(reply(head, then="reset")) + "/", overflow=overflow)
        assert facts(error)[:2] in ((Outcome.BAD_RESPONSE, "truncated"), (Outcome.NETWORK, "reset"))


async def test_row_6_a_reset_after_the_body_began_is_a_truncated_response() -> None:
    async with World() as world:
        begun = asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.request()
            await connection.send(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100\r\n\r\ndata: 1\n\n"
            )
            await begun.wait()
            connection.reset()

        def stop_at(data: str) -> bool:
            begun.set()
            return False

        error = await world.fail("GET", world.serve(play) + "/", stop_at=stop_at)
        assert facts(error) == (Outcome.BAD_RESPONSE, "truncated", "body")


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_row_7_an_idle_connection_closed_by_the_server_is_replaced_in_silence(method: str) -> None:
    async with World() as world:
        url = world.serve(reply(OK))
        client = world.client()
        assert (await world.send(method, url + "/", client=client)).body == b"ok"
        assert (await world.send(method, url + "/", client=client)).body == b"ok"
        assert len(world.connections) == 2


@pytest.mark.parametrize("ending", ["close", "reset"])
async def test_row_7_a_connection_that_ends_as_it_is_used_again_is_replaced_once(ending: str) -> None:
    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(OK)
        await connection.request()  # the client believes that the connection is alive
        if len(world.connections) > 1:
            await connection.send(OK)
        elif ending == "reset":
            connection.reset()

    async with World() as world:
        url = world.serve(play)
        client = world.client()
        await world.send("GET", url + "/", client=client)
        assert (await world.send("GET", url + "/", client=client)).body == b"ok"
        assert len(world.connections) == 2


async def test_row_7_the_replacement_is_a_new_connection_and_not_another_old_one() -> None:
    together = asyncio.Barrier(2)

    async def play(connection: Connection) -> None:
        await connection.request()
        if len(world.connections) <= 2:
            await together.wait()
        await connection.send(OK)
        await connection.request()  # closed only now: until then it looks alive

    async with World() as world:
        url = world.serve(play) + "/"
        client = world.client()
        await asyncio.gather(*(world.send("GET", url, client=client) for _ in range(2)))
        assert (await world.send("GET", url, client=client)).body == b"ok"
        assert len(world.connections) == 3


async def test_row_7_the_replacement_is_not_replaced_again() -> None:
    async def play(connection: Connection) -> None:
        await connection.request()
        if len(world.connections) == 1:
            await connection.send(OK)
            await connection.request()

    async with World() as world:
        url = world.serve(play)
        client = world.client()
        await world.send("GET", url + "/", client=client)
        error = await world.fail("GET", url + "/", client=client)
        assert facts(error) == (Outcome.BAD_RESPONSE, "empty", "first_byte")
        assert len(world.connections) == 2


async def test_row_8_a_name_server_that_never_answers_times_out_in_the_dns_phase() -> None:
    async with World() as world:
        world.names.set("never.example.com", NEVER)
        error = await world.fail("GET", "https://never.example.com/", within=0.3)
        assert facts(error) == (Outcome.TIMEOUT, "deadline", "dns")


@pytest.mark.parametrize(
    "addresses, rule",
    [
        pytest.param(["127.0.0.1", "10.0.0.1"], "dns.mixed_answers", id="row-9-mixed"),
        pytest.param(["10.0.0.1"], "address.private", id="private-only"),
        pytest.param(["169.254.169.254", "127.0.0.1"], "dns.mixed_answers", id="metadata"),
    ],
)
async def test_row_9_one_bad_address_among_good_ones_refuses_the_name_and_dials_nothing(
    addresses: list[str], rule: str
) -> None:
    async with World() as world:
        url = world.serve(reply(OK), host="mixed.example.com")
        world.names.set("mixed.example.com", addresses)
        error = await world.fail("GET", url + "/")
        assert isinstance(error, EgressDenied)
        assert (error.outcome, error.rule, world.connections) == (Outcome.UNSAFE, rule, [])
        assert error.url == url + "/"


@pytest.mark.parametrize("dead", ["127.0.0.2", "::1"])
async def test_row_10_a_dead_first_address_does_not_keep_the_second_from_being_dialled(dead: str) -> None:
    async with World() as world:
        url = world.serve(reply(OK), host="dual.example.com")
        if dead == "127.0.0.2":  # silent, not refusing
            world.blackhole(address=dead, port=int(url.rpartition(":")[2]))
        world.names.set("dual.example.com", [dead, "127.0.0.1"])
        response = await world.send("GET", url + "/", within=4.0)
        assert (response.body, response.peer) == (b"ok", "127.0.0.1")


async def test_row_10_addresses_that_are_all_silent_time_out_together() -> None:
    async with World() as world:
        url = world.blackhole()
        port = int(url.rpartition(":")[2])
        world.blackhole(address="127.0.0.2", port=port)
        world.names.set("silent.example.com", ["127.0.0.1", "127.0.0.2"])
        client = world.client(connect_timeout=0.3)
        error = await world.fail("GET", f"http://silent.example.com:{port}/", client=client)
        assert facts(error) == (Outcome.TIMEOUT, "connect", "connect")
        assert client.open_connections == 0


@pytest.mark.parametrize(
    "fault, reason",
    [
        pytest.param("self-signed", "self-signed certificate", id="row-11-self-signed"),
        pytest.param("stranger", "unable to get local issuer", id="row-11-unknown-authority"),
        pytest.param("expired", "certificate has expired", id="row-11-expired"),
        pytest.param("name", "Hostname mismatch", id="row-11-wrong-name"),
    ],
)
async def test_row_11_a_certificate_that_is_not_right_is_never_accepted_nor_retried(fault: str, reason: str) -> None:
    async with World() as world:
        context = {
            "self-signed": world.self_signed,
            "stranger": lambda: world.certificate("tls.example.com", authority=trustme.CA()),
            "expired": lambda: world.certificate("tls.example.com", expired=True),
            "name": lambda: world.certificate("other.example.com"),
        }[fault]()
        url = world.serve(reply(OK), host="tls.example.com", tls=context)
        client = world.client(ca_bundle=world.ca_bundle)
        error = await world.fail("GET", url + "/", client=client)
        assert facts(error) == (Outcome.NETWORK, "tls", "tls")
        assert reason.lower() in error.detail.lower()
        assert (world.connections, client.open_connections) == ([], 0)


async def test_row_12_a_tls_handshake_that_stalls_times_out_in_the_tls_phase() -> None:
    async with World() as world:
        url = world.serve(reply(then="hold")).replace("http:", "https:")
        error = await world.fail("GET", url + "/", within=0.4)
        assert facts(error) == (Outcome.TIMEOUT, "deadline", "tls")


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", (Outcome.BAD_RESPONSE, "not_http", "tls"), id="speaks first"),
        pytest.param(b"", (Outcome.NETWORK, "tls", "tls"), id="closes first"),
    ],
)
async def test_what_a_server_does_before_the_handshake_is_not_lost_while_the_authorities_are_read(
    spoken: bytes, expected: tuple[Outcome, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    make = Contexts._make

    def make_late(contexts: Contexts) -> ssl.SSLContext | OSError:
        assert done.wait(10)
        return make(contexts)

    async def play(connection: Connection) -> None:
        if spoken:
            await connection.send(spoken)
        connection.writer.close()
        done.set()

    monkeypatch.setattr(Contexts, "_make", make_late)
    async with World() as world:
        error = await world.fail("GET", world.serve(play).replace("http:", "https:") + "/")
    assert facts(error) == expected


@pytest.mark.parametrize(
    "spoken",
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", id="row-13-ssh"),
        pytest.param(b"<html><body>hello</body></html>", id="row-13-html"),
        pytest.param(b"220 mail.example.com ESMTP\r\n", id="row-13-smtp"),
        pytest.param(b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", id="row-13-blank-lines-first"),
        pytest.param(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", id="row-14-http2-settings"),
        pytest.param(b"\x00\x00\x08\x07\x00\x00\x00\x00\x00" + bytes(8), id="row-14-http2-goaway"),
    ],
)
async def test_rows_13_and_14_a_server_that_speaks_something_else_is_told_at_once(spoken: bytes) -> None:
    async with World() as world:
        error = await world.fail("GET", world.serve(reply(spoken, then="hold")) + "/")
        assert facts(error) == (Outcome.BAD_RESPONSE, "not_http", "first_byte")
        assert "does not speak HTTP/1.1" in error.detail


async def test_row_14_http2_is_never_offered_and_a_server_that_speaks_it_anyway_is_a_bad_response() -> None:
    async with World() as world:
        offers: list[str | None] = []

        async def play(connection: Connection) -> None:
            offers.append(connection.writer.get_extra_info("ssl_object").selected_alpn_protocol())
            await connection.send(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
            await connection.until_gone()

        context = world.certificate("h2.example.com", alpn=["h2"])
        error = await world.fail("GET", world.serve(play, host="h2.example.com", tls=context) + "/")
        assert facts(error) == (Outcome.BAD_RESPONSE, "not_http", "first_byte")
        assert offers == [None]


@pytest.mark.parametrize(
    "play, kind",
    [
        pytest.param(reply(b"HTTP/1.1 200 O"), "truncated", id="close"),
        pytest.param(reply(b"HTT"), "truncated", id="close-in-the-protocol"),
    ],
)
async def test_a_connection_closed_inside_the_headers_is_truncated(play: Play, kind: str) -> None:
    async with World() as world:
        error = await world.fail("GET", world.serve(play) + "/")
        assert facts(error) == (Outcome.BAD_RESPONSE, kind, "first_byte")


@pytest.mark.parametrize(
    "answer, words",
    [
        pytest.param(socket.gaierror(socket.EAI_NONAME, "no"), "has no address", id="no-such-name"),
        pytest.param(socket.gaierror(socket.EAI_AGAIN, "later"), "no name server answered", id="no-server"),
        pytest.param(OSError(5, "Input/output error"), "could not be resolved (Input/output error)", id="other"),
        pytest.param([], "has no address", id="empty"),
    ],
)
async def test_a_name_that_does_not_resolve_is_a_network_failure(answer: list[str] | OSError, words: str) -> None:
    async with World() as world:
        world.names.set("gone.example.com", answer)
        error = await world.fail("GET", "https://gone.example.com/")
        assert facts(error) == (Outcome.NETWORK, "dns", "dns")
        assert words in error.detail
        assert "gone.example.com" in error.detail


async def test_a_name_without_an_address_says_which_proxy_of_the_environment_is_ignored() -> None:
    async with World() as world:
        client = world.client(EgressPolicy(ambient_proxy="HTTPS_PROXY"))
        error = await world.fail("GET", "https://gone.example.com/", client=client)
        assert facts(error) == (Outcome.NETWORK, "dns", "dns")
        assert "HTTPS_PROXY is not used" in error.detail


async def test_a_network_without_a_route_says_so() -> None:
    async with World() as world:
        world.names.set("far.example.com", ["255.255.255.255"])
        client = world.client(EgressPolicy(allow=("far.example.com",)))
        error = await world.fail("GET", "http://far.example.com/", client=client)
        assert facts(error)[0] is Outcome.NETWORK
        assert facts(error)[2] == "connect"


async def test_an_address_literal_is_dialled_without_a_look_up() -> None:
    async with Client(EgressPolicy(allow=("127.0.0.0/8",))) as client, World() as world:
        url = world.route("GET", "/", (200, {}, "ok"))
        response = await client.send(Request("GET", url), expires_at=soon())
        assert (response.body, response.timings["dns"], world.names.lookups) == (b"ok", 0.0, [])
