"""What a well-behaved exchange looks like: what is sent, what comes back, and what a request may not hold."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.world import NEVER, Connection, World, answer_bytes, reply, soon
from webseam.errors import EgressDenied, Outcome, RequestError, TransportError
from webseam.net.body import offered
from webseam.net.client import USER_AGENT, Client, Headers, Request
from webseam.net.policy import EgressPolicy


async def test_a_request_goes_out_exactly_as_given_with_only_its_framing_added() -> None:
    async with World() as world:
        url = world.route("POST", "/search", (200, {}, {"results": []}))
        headers = (("Content-Type", "application/json"), ("X-Api-Key", "abc"), ("X-Api-Key", "def"))
        await world.send("POST", url + "?q=a%20b&q=c", headers=headers, body=b'{"q": 1}')
        request = world.requests[0]
        assert (request.method, request.target, request.json()) == ("POST", "/search?q=a%20b&q=c", {"q": 1})
        assert request.fields == (
            ("Host", world.url.removeprefix("http://")),
            ("User-Agent", USER_AGENT),
            ("Accept-Encoding", offered()),
            *headers,
            ("Content-Length", "8"),
        )


async def test_headers_of_the_caller_replace_the_default_ones() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {}, ""))
        await world.send("GET", url, headers=(("user-agent", "me"), ("accept-encoding", "identity")))
        assert world.requests[0].fields[1:] == (("user-agent", "me"), ("accept-encoding", "identity"))


async def test_a_response_carries_status_headers_body_timings_and_peer() -> None:
    async with World() as world:
        url = world.route(
            "GET", "/page", (203, [("X-A", "one"), ("x-a", "two"), ("X-B", "ü".encode().decode("latin-1"))], "hello")
        )
        response = await world.send("GET", url)
        assert (response.status, response.url, response.body, response.truncated, response.peer) == (
            203,
            url,
            b"hello",
            False,
            "127.0.0.1",
        )
        assert response.headers.get_all("X-A") == ["one", "two"]
        assert response.headers.get("x-b") == "ü"
        assert list(response.timings) == ["dns", "connect", "tls", "first_byte", "total"]
        assert 0 < response.timings["first_byte"] < response.timings["total"]
        assert 0 < response.timings["connect"] < response.timings["total"]
        assert response.timings["tls"] == 0.0


async def test_a_second_request_uses_the_connection_of_the_first() -> None:
    async with World() as world:
        url = world.route("POST", "/", (200, {}, "ok"))
        for _ in range(3):
            await world.send("POST", url, body=b"x")
        assert (len(world.connections), len(world.requests)) == (1, 3)
        assert world.requests[2].headers["content-length"] == "1"


async def test_two_hundred_requests_at_once_share_at_most_a_hundred_connections() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {}, "ok"))
        client = world.client()
        responses = await asyncio.gather(*(world.send("GET", url, client=client) for _ in range(200)))
        assert {response.body for response in responses} == {b"ok"}
        assert len(world.connections) <= 100
        assert client.open_connections <= 20
        await client.aclose()
        assert client.open_connections == 0


async def test_a_name_is_looked_up_once_and_its_name_goes_into_host() -> None:
    async with World() as world:
        site = world.site(host="api.example.com")
        url = site.route("GET", "/", (200, {}, "ok"))
        response = await world.send("GET", url)
        await world.send("GET", url)
        assert world.names.lookups == ["api.example.com"]
        assert site.requests[0].headers["host"] == site.url.removeprefix("http://")
        assert response.peer == "127.0.0.1"


async def test_a_head_request_has_no_body_whatever_its_length_says() -> None:
    async with World() as world:
        url = world.serve(reply(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", then="hold"))
        response = await world.send("HEAD", url + "/")
        assert (response.status, response.body) == (200, b"")


async def test_a_post_without_a_body_says_so() -> None:
    async with World() as world:
        url = world.route("POST", "/", (200, {}, "ok"))
        await world.send("POST", url)
        assert world.requests[0].headers["content-length"] == "0"


async def test_a_large_request_body_arrives_whole() -> None:
    async with World() as world:
        body = bytes(range(256)) * 20_000
        url = world.route("POST", "/", lambda request: (200, {}, str(len(request.body))))
        response = await world.send("POST", url, body=body)
        assert (response.body, world.requests[0].body == body) == (str(len(body)).encode(), True)


async def test_a_cookie_that_was_set_is_not_sent_back() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {"Set-Cookie": "session=1; Path=/"}, "ok"))
        await world.send("GET", url)
        await world.send("GET", url)
        assert "cookie" not in world.requests[1].headers


async def test_a_proxy_in_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {}, "direct"))
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, world.closed_port())
        assert (await world.send("GET", url, client=world.client())).body == b"direct"


async def test_a_deadline_that_has_passed_sends_nothing() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {}, "ok"))
        error = await world.fail("GET", url, within=-1.0)
        assert (error.outcome, getattr(error, "kind", ""), len(world.connections)) == (Outcome.TIMEOUT, "deadline", 0)


@pytest.mark.parametrize(
    "headers, words",
    [
        pytest.param(
            (("Authorization", "Bearer s3cret\n"),), "the header Authorization has a line break", id="newline"
        ),
        pytest.param((("X-Api-Key", "s3cret\u2013"),), "the header X-Api-Key has a line break or", id="not-latin-1"),
        pytest.param((("X Y", "s3cret"),), "a header name has characters", id="name"),
        pytest.param((("Host", "s3cret"),), "the header Host is set by the client", id="host"),
        pytest.param((("Transfer-Encoding", "s3cret"),), "the header Transfer-Encoding is set by", id="framing"),
    ],
)
async def test_a_header_that_cannot_be_sent_is_invalid_and_its_value_is_not_shown(
    headers: tuple[tuple[str, str], ...], words: str
) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {}, "ok"))
        error = await world.fail("GET", url, headers=headers)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.INVALID, "header", "request")
        assert words in error.detail
        assert "s3cret" not in str(error)
        assert world.connections == []


async def test_a_method_that_is_none_is_invalid() -> None:
    async with World() as world:
        error = await world.fail("GET /x", world.url + "/")
        assert (error.outcome, getattr(error, "kind", "")) == (Outcome.INVALID, "request")
        assert world.requests == []


@pytest.mark.parametrize(
    "url, rule",
    [
        pytest.param("http://10.0.0.1/", "address.private", id="private"),
        pytest.param("ftp://example.com/", "url.scheme", id="scheme"),
        pytest.param("http://user:s3cret@example.com/", "url.userinfo", id="userinfo"),
        pytest.param("http://example.com:22/", "port.denied", id="port"),
    ],
)
async def test_a_url_the_policy_refuses_is_neither_looked_up_nor_dialled(url: str, rule: str) -> None:
    async with World() as world:
        error = await world.fail("GET", url, client=world.client(EgressPolicy()))
        assert isinstance(error, EgressDenied)
        assert (error.outcome, error.rule, world.names.lookups) == (Outcome.UNSAFE, rule, [])
        assert "s3cret" not in str(error) + error.url


async def test_what_a_server_repeats_of_a_secret_is_not_in_the_error() -> None:
    async with World() as world:
        url = world.serve(reply(b"HTTP/1.1 200 OK\r\nkey-abcdef-123456\r\n\r\n"))
        error = await world.fail("GET", url + "/", secrets=("key-abcdef-123456",))
        assert (error.outcome, getattr(error, "kind", "")) == (Outcome.BAD_RESPONSE, "malformed")
        assert "abcdef" not in str(error) + repr(error) + repr(error.args)


def test_requests_and_headers_do_not_show_what_may_be_secret() -> None:
    request = Request("POST", "https://api.example.com/", (("X-Api-Key", "s3cret"),), b"s3cret", ("s3cret",))
    assert "s3cret" not in repr(request)
    assert repr(Headers([(b"Set-Cookie", b"s3cret")])) == "<Headers set-cookie>"


def test_headers_compare_names_without_case_and_clean_values() -> None:
    headers = Headers([(b"X-A", b"one\x1b[2J"), (b"x-a", b"two"), (b"Caf\xe9", b"l\xe9")])
    assert (headers.get("x-A"), headers.get_all("X-a"), headers.get("none"), headers.get("none", "d")) == (
        "one",
        ["one", "two"],
        None,
        "d",
    )
    assert ("X-A" in headers, "none" in headers) == (True, False)
    assert list(headers.items()) == [("x-a", "one"), ("x-a", "two"), ("café", "lé")]


async def test_the_clock_of_one_request_covers_every_phase_together() -> None:
    async with World() as world:
        world.names.set("slow.example.com", NEVER)
        error = await world.fail("GET", "http://slow.example.com/", within=0.2)
        assert str(error) == "timeout: the name slow.example.com was not resolved in time"


async def test_more_urls_and_headers_than_are_remembered_still_work() -> None:
    async with World() as world:
        client = world.client()
        for number in range(300):
            url = world.route("GET", f"/{number}", (200, {}, str(number)))
            response = await world.send("GET", url, client=client, headers=(("X-N", str(number)),))
            assert response.body == str(number).encode()
        assert world.requests[299].headers["x-n"] == "299"


async def test_a_client_that_never_sent_anything_can_be_closed() -> None:
    async with Client(EgressPolicy()) as client:
        assert client.open_connections == 0


async def test_closing_the_client_ends_a_request_that_is_under_way() -> None:
    async with World() as world:
        arrived = asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.request()
            arrived.set()
            await connection.until_gone()

        url = world.serve(play)
        client = world.client()
        sending = asyncio.create_task(client.send(Request("GET", url + "/"), expires_at=soon()))
        await arrived.wait()
        await client.aclose()
        with pytest.raises(TransportError):
            await sending
        assert client.open_connections == 0


async def test_an_operator_client_reaches_its_own_origin_only() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {}, "ok"))
        other = world.serve(reply(answer_bytes(200, {}, "no")))
        client = world.client(EgressPolicy.operator(world.url))
        assert (await world.send("GET", url, client=client)).body == b"ok"
        error = await world.fail("GET", other + "/", client=client)
        assert getattr(error, "rule", "") == "origin.other"


def test_a_proxy_that_is_none_is_refused_without_repeating_it() -> None:
    with pytest.raises(RequestError) as raised:
        Client(EgressPolicy(), proxy="socks4://user:s3cret@host")
    assert raised.value.field == "proxy"
    assert "s3cret" not in str(raised.value)


async def test_the_deadline_is_an_instant_of_the_monotonic_clock() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {}, "ok"))
        response = await world.client().send(Request("GET", url), expires_at=time.monotonic() + 10)
        assert response.status == 200
