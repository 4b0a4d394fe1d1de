"""The proxy from the settings: the only one used, trusted to dial, and quiet about its password."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.world import Connection, Site, World, reply, soon
from tests.world.proxies import HttpProxy, SocksProxy
from webseam.errors import EgressDenied, Outcome, RequestError, TransportError
from webseam.net.client import Request
from webseam.net.policy import EgressPolicy
from webseam.net.proxy import Proxy, parse_proxy

OPEN = EgressPolicy()


def served(world: World, *, tls: bool) -> tuple[Site, int]:
    """Return a site that only a proxy can reach under its name, and its real port."""
    site = world.site(host="api.example.com", tls=tls)
    site.route("GET", "/x", (200, {}, "through"))
    site.route("POST", "/x", lambda request: (200, {}, request.body))
    world.names.set("api.example.com", ["10.0.0.1"])  # what this machine believes must not matter
    return site, int(site.url.rpartition(":")[2])


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_an_http_proxy_is_asked_for_the_whole_url(scheme: str) -> None:
    async with World() as world:
        site, port = served(world, tls=False)
        proxy = HttpProxy(port, account="user:p@ss")
        address = world.serve(
            proxy, host="proxy.example.net" if scheme == "https" else "127.0.0.1", tls=scheme == "https"
        )
        client = world.client(OPEN, proxy=address.replace("://", "://user:p%40ss@"), ca_bundle=world.ca_bundle)
        response = await world.send("POST", "http://api.example.com/x", client=client, body=b"abc")
        assert (response.body, response.peer) == (b"abc", None)
        assert proxy.asked == [("POST", "http://api.example.com:80/x")]
        assert "proxy-authorization" not in site.requests[0].headers
        assert world.names.lookups == (["proxy.example.net"] if scheme == "https" else [])


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_an_http_proxy_opens_a_tunnel_for_https(scheme: str) -> None:
    async with World() as world:
        site, port = served(world, tls=True)
        proxy = HttpProxy(port)
        address = world.serve(proxy, host="proxy.example.net", tls=scheme == "https")
        client = world.client(OPEN, proxy=address, ca_bundle=world.ca_bundle)
        for _ in range(2):
            assert (await world.send("GET", "https://api.example.com/x", client=client)).body == b"through"
        assert (proxy.asked, len(site.requests)) == ([("CONNECT", "api.example.com:443")], 2)
        assert "authorization" not in str(proxy.fields)


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("kind", [1, 3, 4])
async def test_a_socks_proxy_resolves_the_name_itself(tls: bool, kind: int) -> None:
    async with World() as world:
        _, port = served(world, tls=tls)
        proxy = SocksProxy(port, kind=kind)
        address = world.serve(proxy).replace("http:", "socks5h:")
        client = world.client(OPEN, proxy=address, ca_bundle=world.ca_bundle)
        response = await world.send("GET", f"http{'s' * tls}://api.example.com/x", client=client)
        assert (response.body, response.peer) == (b"through", None)
        assert proxy.asked == [(3, b"api.example.com", 443 if tls else 80)]
        assert world.names.lookups == []


@pytest.mark.parametrize(
    "host, asked",
    [
        pytest.param("93.184.215.14", (1, bytes([93, 184, 215, 14]), 80), id="IPv4"),
        pytest.param("[2606:4700::1]", (4, bytes.fromhex("26064700") + bytes(11) + b"\x01", 80), id="IPv6"),
    ],
)
async def test_a_socks_proxy_is_given_addresses_as_addresses(host: str, asked: tuple[int, bytes, int]) -> None:
    async with World() as world:
        _, port = served(world, tls=False)
        proxy = SocksProxy(port, method=2)
        address = world.serve(proxy).replace("http://", "socks5h://user:pass@")
        assert (
            await world.send("GET", f"http://{host}/x", client=world.client(OPEN, proxy=address))
        ).body == b"through"
        assert (proxy.asked, proxy.accounts) == ([asked], [("user", "pass")])


async def test_an_http_proxy_is_given_ipv6_addresses_in_brackets() -> None:
    async with World() as world:
        _, port = served(world, tls=False)
        proxy = HttpProxy(port)
        client = world.client(OPEN, proxy=world.serve(proxy))
        await world.send("GET", "http://[2606:4700::1]/x", client=client)
        assert proxy.asked == [("GET", "http://[2606:4700::1]:80/x")]


Play = Callable[[Connection], object]


@pytest.mark.parametrize(
    "play, account, words",
    [
        pytest.param(SocksProxy(0, reply=1), "", "general failure", id="general"),
        pytest.param(SocksProxy(0, reply=5), "", "connection refused", id="refused"),
        pytest.param(SocksProxy(0, reply=99), "", "reply 99", id="unknown-reply"),
        pytest.param(SocksProxy(0, method=255), "", "a way of signing in that is not known", id="no-method"),
        pytest.param(SocksProxy(0, method=2), "", "a way of signing in that is not known", id="account-wanted"),
        pytest.param(SocksProxy(0, method=2, accepts=False), "u:s3cret@", "user name or password", id="wrong-password"),
        pytest.param(reply(b""), "", "it closed the connection", id="closes"),
        pytest.param(reply(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "", "does not speak SOCKS 5", id="an-HTTP-server"),
    ],
)
async def test_a_socks_proxy_that_refuses_is_named_without_its_password(play: Play, account: str, words: str) -> None:
    async with World() as world:

        async def answer(connection: Connection) -> None:
            if isinstance(play, SocksProxy):
                await play(connection)
                return
            await connection.reader.read(3)
            await connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n" if "SOCKS" in words else b"")

        address = world.serve(answer)
        client = world.client(OPEN, proxy=address.replace("http://", f"socks5h://{account}"))
        error = await world.fail("GET", "http://api.example.com/x", client=client)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.host) == (Outcome.NETWORK, "proxy", "api.example.com")
        assert words in error.detail
        assert address.removeprefix("http://") in error.detail
        assert "s3cret" not in str(error)
        assert client.open_connections == 0


async def test_a_socks_proxy_that_answers_in_another_version_is_refused() -> None:
    async def play(connection: Connection) -> None:
        await connection.reader.readexactly(3)
        await connection.send(b"\x05\x00")
        await connection.reader.read(100)
        await connection.send(b"\x04\x00\x00\x01")

    async with World() as world:
        client = world.client(OPEN, proxy=world.serve(play).replace("http:", "socks5h:"))
        error = await world.fail("GET", "http://api.example.com/x", client=client)
        assert "does not speak SOCKS 5" in error.detail


async def test_an_http_proxy_that_wants_an_account_says_so() -> None:
    async with World() as world:
        proxy = HttpProxy(1, account="user:right")
        client = world.client(OPEN, proxy=world.serve(proxy).replace("://", "://user:s3cret@"))
        error = await world.fail("GET", "https://api.example.com/x", client=client)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind) == (Outcome.NETWORK, "proxy")
        assert "407 Proxy Authentication Required" in error.detail
        assert "s3cret" not in str(error)
        assert client.open_connections == 0


async def test_bytes_a_proxy_slips_in_before_tls_are_not_taken_for_the_hosts() -> None:
    async with World() as world:
        slipped = b"HTTP/1.1 200 OK\r\n\r\n"
        reads = asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.request()
            connection.writer.write(slipped + b"x" * 70_000)  # more than one read of the parser
            reads.set()
            await connection.until_gone()

        client = world.client(OPEN, proxy=world.serve(play))
        error = await world.fail("GET", "https://api.example.com/x", client=client)
        assert isinstance(error, TransportError)
        assert error.phase == "tls"
        assert error.outcome in (Outcome.BAD_RESPONSE, Outcome.NETWORK)
        assert client.open_connections == 0


async def test_a_proxy_that_is_down_or_has_no_address_is_named() -> None:
    async with World() as world:
        down = world.closed_port()
        error = await world.fail("GET", "http://api.example.com/", client=world.client(OPEN, proxy=down))
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind) == (Outcome.NETWORK, "refused")
        assert f"(through the proxy {down})" in error.detail
        lost = world.client(OPEN, proxy="http://user:s3cret@nowhere.example.net:3128")
        error = await world.fail("GET", "http://api.example.com/", client=lost)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.NETWORK, "proxy", "dns")
        assert "http://nowhere.example.net:3128" in error.detail
        assert "s3cret" not in str(error)


@pytest.mark.parametrize(
    "url, rule",
    [
        pytest.param("http://10.0.0.1/", "address.private", id="literal"),
        pytest.param("http://metadata.google.internal/", "host.special_use", id="metadata-name"),
        pytest.param("http://api.example.com:22/", "port.denied", id="port"),
    ],
)
async def test_literal_rules_hold_with_a_proxy_too(url: str, rule: str) -> None:
    async with World() as world:
        proxy = HttpProxy(1)
        error = await world.fail("GET", url, client=world.client(OPEN, proxy=world.serve(proxy)))
        assert isinstance(error, EgressDenied)
        assert (error.rule, proxy.asked) == (rule, [])


async def test_with_local_dns_the_addresses_are_judged_here_before_the_proxy_is_asked() -> None:
    async with World() as world:
        _, port = served(world, tls=False)
        proxy = HttpProxy(port)
        client = world.client(EgressPolicy(local_dns=True), proxy=world.serve(proxy))
        error = await world.fail("GET", "http://api.example.com/x", client=client)
        assert isinstance(error, EgressDenied)
        assert (error.rule, proxy.asked) == ("address.private", [])
        world.names.set("api.example.com", ["93.184.215.14"])
        assert (await world.send("GET", "http://api.example.com/x", client=client)).body == b"through"
        assert proxy.asked == [("GET", "http://api.example.com:80/x")]


async def test_cancelling_in_the_greeting_of_a_socks_proxy_closes_the_socket() -> None:
    async with World() as world:
        reached = asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.reader.readexactly(3)
            reached.set()
            await connection.until_gone()

        client = world.client(OPEN, proxy=world.serve(play).replace("http:", "socks5h:"))
        sending = asyncio.create_task(client.send(Request("GET", "http://api.example.com/"), expires_at=soon()))
        await reached.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert client.open_connections == 0
        await world.connections[0].gone.wait()


@pytest.mark.parametrize(
    "text, proxy",
    [
        pytest.param("http://proxy", Proxy("http", "proxy", 80), id="http"),
        pytest.param("https://proxy/", Proxy("https", "proxy", 443), id="https"),
        pytest.param(" socks5h://proxy ", Proxy("socks5h", "proxy", 1080), id="socks5h"),
        pytest.param("http://u%40:p%3A@10.0.0.1:3128", Proxy("http", "10.0.0.1", 3128, "u@", "p:"), id="account"),
        pytest.param("http://[::1]:8080", Proxy("http", "::1", 8080), id="IPv6"),
    ],
)
def test_a_proxy_is_read(text: str, proxy: Proxy) -> None:
    assert parse_proxy(text) == proxy


@pytest.mark.parametrize(
    "text",
    [
        "socks5://s3cret@proxy",
        "proxy:3128",
        "http://",
        "http://s3cret:s3cret@proxy:port",
        "http://proxy/s3cret",
        "http://proxy?s3cret",
        "http://pr\u00f6xy",
        "http://u:" + "s3cret" * 50 + "@proxy",
    ],
)
def test_what_is_no_proxy_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(RequestError) as raised:
        parse_proxy(text)
    assert "s3cret" not in str(raised.value)


def test_a_proxy_never_shows_its_account() -> None:
    proxy = parse_proxy("http://user:s3cret@[::1]:8080")
    assert (str(proxy), "s3cret" in repr(proxy), "user" in repr(proxy)) == ("http://[::1]:8080", False, False)
