"""Which Host and Origin values are served: the rows a rebinding page, a proxy or a careless client would send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mcp.http_world import stand_in
from webseam.errors import SettingsError
from webseam.fronts.mcp.names import Authority, NameGuard, Origin, read_authority, read_hosts, read_origin, read_origins

PORT = 8377


async def _status(
    host: list[str] | str | None,
    origin: list[str] | str | None = None,
    *,
    hosts: tuple[str, ...] = (),
    origins: tuple[str, ...] = (),
    reached: tuple[str, int] | None = ("127.0.0.1", PORT),
) -> int:
    """Return what the guard answers with, 200 for a request it lets through."""
    sent: list[Any] = []

    async def served(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        raise AssertionError("the guard reads no body")

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [
        (name, value.encode("latin-1"))
        for name, given in ((b"host", host), (b"origin", origin))
        for value in ([given] if isinstance(given, str) else given or [])
    ]
    guard = NameGuard(served, port=PORT, hosts=read_hosts(hosts), origins=read_origins(origins))
    await guard({"type": "http", "headers": headers, "server": reached}, receive, send)
    return int(sent[0]["status"])


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param("127.0.0.1:8377", 200, id="address"),
        pytest.param("localhost:8377", 200, id="name"),
        pytest.param("[::1]:8377", 200, id="IPv6"),
        pytest.param("[0:0:0:0:0:0:0:1]:8377", 200, id="IPv6 in full"),
        pytest.param("LocalHost:8377", 200, id="upper case"),
        pytest.param("localhost", 200, id="no port"),
        pytest.param("localhost:9000", 200, id="port of a forwarder"),
        pytest.param(None, 400, id="missing"),
        pytest.param("", 400, id="empty"),
        pytest.param(["localhost:8377", "localhost:8377"], 400, id="twice"),
        pytest.param(["localhost:8377", "evil.example"], 400, id="twice, the second foreign"),
        pytest.param("localhost:8377, evil.example", 400, id="two in one"),
        pytest.param("evil.example:8377", 421, id="foreign"),
        pytest.param("localhost.evil.example:8377", 421, id="foreign, begins like ours"),
        pytest.param("evil-localhost:8377", 421, id="foreign, ends like ours"),
        pytest.param("127.0.0.1.nip.io:8377", 421, id="name that resolves to loopback"),
        pytest.param("localhost.:8377", 400, id="trailing dot"),
        pytest.param("127.0.0.1.:8377", 400, id="trailing dot of an address"),
        pytest.param("localhost:", 400, id="empty port"),
        pytest.param("localhost:0", 400, id="port 0"),
        pytest.param("localhost:65536", 400, id="port too high"),
        pytest.param("localhost:8377:8377", 400, id="two ports"),
        pytest.param("localhost:evil", 400, id="port is a word"),
        pytest.param("localhost:8377@evil.example", 400, id="our name as user and password"),
        pytest.param("evil.example@localhost:8377", 400, id="user"),
        pytest.param("localhost:8377/mcp", 400, id="with a path"),
        pytest.param("http://localhost:8377", 400, id="URL"),
        pytest.param("localhost\t:8377", 400, id="tab"),
        pytest.param("l\u00f6calhost:8377", 400, id="not ASCII"),
        pytest.param("2130706433:8377", 421, id="address as one number"),
        pytest.param("0x7f.1:8377", 421, id="address in hexadecimal"),
        pytest.param("127.1:8377", 421, id="address cut short"),
        pytest.param("127.0.0.2:8377", 421, id="other loopback address"),
        pytest.param("0.0.0.0:8377", 421, id="unspecified address"),
        pytest.param("192.168.1.5:8377", 421, id="address not reached"),
        pytest.param("::1:8377", 400, id="IPv6 without brackets"),
        pytest.param("[::1:8377", 400, id="bracket not closed"),
        pytest.param("[::1]8377", 400, id="no colon after the bracket"),
        pytest.param("[::1%25lo]:8377", 400, id="IPv6 with a zone"),
        pytest.param("[::ffff:127.0.0.1]:8377", 421, id="IPv4 in IPv6"),
        pytest.param("[localhost]:8377", 400, id="name in brackets"),
    ],
)
async def test_only_names_of_this_machine_are_served(host: list[str] | str | None, status: int) -> None:
    assert await _status(host) == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        pytest.param(None, 200, id="none: not a page"),
        pytest.param("http://localhost:8377", 200, id="same origin"),
        pytest.param("http://127.0.0.1:8377", 200, id="our address"),
        pytest.param("http://[::1]:8377", 200, id="our IPv6 address"),
        pytest.param("HTTP://LOCALHOST:8377", 200, id="upper case"),
        pytest.param("https://localhost:8377", 200, id="same authority, TLS before us"),
        pytest.param("http://localhost", 403, id="no port is port 80"),
        pytest.param("http://localhost:3000", 403, id="another server on this machine"),
        pytest.param("http://localhost:83770", 403, id="port that begins like ours"),
        pytest.param("https://evil.example", 403, id="foreign"),
        pytest.param("https://evil.example:8377", 403, id="foreign on our port"),
        pytest.param("http://localhost:8377.evil.example", 403, id="begins like ours"),
        pytest.param("http://localhost:8377@evil.example", 403, id="our name as user and password"),
        pytest.param("http://evil.example@localhost:8377", 403, id="user"),
        pytest.param("http://localhost.:8377", 403, id="trailing dot"),
        pytest.param("http://localhost:8377/", 403, id="with a path"),
        pytest.param("null", 403, id="null"),
        pytest.param("", 403, id="empty"),
        pytest.param("*", 403, id="star"),
        pytest.param("file://", 403, id="file"),
        pytest.param("localhost:8377", 403, id="no scheme"),
        pytest.param("chrome-extension://abcdefgh", 403, id="extension"),
        pytest.param(["http://localhost:8377", "http://localhost:8377"], 403, id="twice"),
        pytest.param(["http://localhost:8377", "https://evil.example"], 403, id="twice, the second foreign"),
        pytest.param("http://localhost:8377 https://evil.example", 403, id="two in one"),
    ],
)
async def test_only_our_own_origin_is_trusted(origin: list[str] | str | None, status: int) -> None:
    assert await _status("localhost:8377", origin) == status


@pytest.mark.parametrize(
    ("host", "hosts", "status"),
    [
        pytest.param("mcp.example.org", ("mcp.example.org",), 200, id="name"),
        pytest.param("mcp.example.org:9000", ("mcp.example.org",), 200, id="name without a port stands for any"),
        pytest.param("mcp.example.org:443", ("MCP.example.org:443",), 200, id="name and port"),
        pytest.param("mcp.example.org:444", ("mcp.example.org:443",), 421, id="other port"),
        pytest.param("mcp.example.org", ("mcp.example.org:443",), 421, id="port missing"),
        pytest.param("a.mcp.example.org", ("mcp.example.org",), 421, id="below it"),
        pytest.param("[fd00::5]:8377", ("[FD00:0::5]",), 200, id="IPv6"),
        pytest.param("localhost:8377", ("mcp.example.org",), 200, id="loopback names stay"),
    ],
)
async def test_further_hosts_are_served_when_the_operator_names_them(
    host: str, hosts: tuple[str, ...], status: int
) -> None:
    assert await _status(host, hosts=hosts) == status


@pytest.mark.parametrize(
    ("origin", "origins", "status"),
    [
        pytest.param("https://app.example", ("https://app.example",), 200, id="origin"),
        pytest.param("https://app.example:443", ("https://APP.example",), 200, id="port of the scheme"),
        pytest.param("http://app.example", ("https://app.example",), 403, id="other scheme"),
        pytest.param("https://app.example:444", ("https://app.example",), 403, id="other port"),
        pytest.param("https://a.app.example", ("https://app.example",), 403, id="below it"),
        pytest.param("vscode-webview://1a2b", ("vscode-webview://1a2b",), 200, id="scheme of a program"),
        pytest.param("http://localhost:6274", ("http://localhost:6274",), 200, id="page of this machine"),
    ],
)
async def test_further_origins_are_trusted_when_the_operator_names_them(
    origin: str, origins: tuple[str, ...], status: int
) -> None:
    assert await _status("localhost:8377", origin, origins=origins) == status


@pytest.mark.parametrize(
    ("host", "reached", "status"),
    [
        pytest.param("192.168.1.5:8377", ("192.168.1.5", 8377), 200, id="address"),
        pytest.param("192.168.1.5:8377", ("::ffff:192.168.1.5", 8377), 200, id="IPv4 at an IPv6 socket"),
        pytest.param("[fd00::5]:8377", ("fd00::5", 8377), 200, id="IPv6"),
        pytest.param("192.168.1.6:8377", ("192.168.1.5", 8377), 421, id="another address"),
        pytest.param("host.example:8377", ("192.168.1.5", 8377), 421, id="name"),
        pytest.param("192.168.1.5:8377", ("/run/webseam.sock", None), 421, id="Unix socket"),
        pytest.param("192.168.1.5:8377", None, 421, id="server that does not say"),
    ],
)
async def test_the_address_that_a_connection_reached_is_served(host: str, reached: Any, status: int) -> None:
    assert await _status(host, reached=reached) == status


HOST_FORM = "write name or name:port, IPv6 in brackets"
ORIGIN_FORM = "write https://name or http://name:port, IPv6 in brackets"


@pytest.mark.parametrize(
    ("read", "entry", "hint"),
    [
        pytest.param(read_hosts, "https://mcp.example", HOST_FORM, id="URL as a host"),
        pytest.param(read_hosts, "*", HOST_FORM, id="any host"),
        pytest.param(read_hosts, "::1", HOST_FORM, id="IPv6 without brackets"),
        pytest.param(read_hosts, "\u212aelvin.example", HOST_FORM, id="letter that is k in lower case"),
        pytest.param(read_origins, "app.example", ORIGIN_FORM, id="host as an origin"),
        pytest.param(read_origins, "null", ORIGIN_FORM, id="null"),
        pytest.param(read_origins, "*", ORIGIN_FORM, id="any origin"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named(read: Any, entry: str, hint: str) -> None:
    name = "mcp.hosts" if read is read_hosts else "mcp.origins"
    with pytest.raises(SettingsError) as raised:
        read([entry])
    assert (raised.value.detail, raised.value.hint) == (f"{name}: '{entry}' cannot be read", hint)


@given(st.text(max_size=40) | st.from_regex(r"(https?://)?[\[\]a-z0-9.:@-]{0,20}", fullmatch=True))
def test_whatever_is_sent_is_read_as_one_name_or_as_none(text: str) -> None:
    place, origin = read_authority(text), read_origin(text)
    if place is not None:
        shown = f"[{place.host}]" if ":" in place.host else place.host
        assert read_authority(shown if place.port is None else f"{shown}:{place.port}") == place
        assert not set(place.host) & set("@/ \\?#[]%")
    if origin is not None:
        assert read_origin(str(origin)) == origin
    assert place is None or isinstance(place, Authority)
    assert origin is None or isinstance(origin, Origin)


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        pytest.param("/mcp", {"host": "evil.example"}, 421, id="host"),
        pytest.param("/healthz", {"host": "evil.example"}, 421, id="host, of the health check"),
        pytest.param("/mcp", {"host": ["localhost", "localhost"]}, 400, id="two hosts"),
        pytest.param("/mcp", {"host": None}, 400, id="no host"),
        pytest.param("/mcp", {"origin": "http://localhost:3000"}, 403, id="origin"),
        pytest.param("/mcp", {"origin": "null"}, 403, id="null"),
    ],
)
async def test_a_real_server_refuses_by_name_before_it_asks_for_the_key(
    path: str, headers: dict[str, Any], status: int
) -> None:
    async with stand_in(key="k") as served:
        answer = await served.ask(path=path, headers=headers)
    assert answer.status == status


async def test_a_host_is_not_repeated_in_the_refusal() -> None:
    async with stand_in() as served:
        answer = await served.ask(headers={"host": "evil.example"})
    assert json.loads(answer.body) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {
            "code": -32600,
            "message": "this server is not known by that Host; its operator can add it to mcp.hosts",
        },
    }


async def test_a_page_of_a_trusted_origin_is_answered_as_browsers_want_it() -> None:
    origin = "https://app.example"
    async with stand_in(key="k", origins=("HTTPS://app.example:443",)) as served:
        preflight = {
            "origin": origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization,content-type,mcp-method",
            "access-control-request-private-network": "true",
        }
        asked = await served.ask("OPTIONS", headers=preflight, body=b"")
        foreign = await served.ask("OPTIONS", headers={**preflight, "origin": "https://evil.example"}, body=b"")
        sent = await served.ask(headers={"origin": origin, "authorization": "Bearer k"})
    allowed = {name: value for name, value in asked.headers.items() if name.startswith("access-control-allow")}
    assert asked.status == 200
    assert allowed == {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers": "authorization,content-type,mcp-method",
        "access-control-allow-private-network": "true",
    }
    assert (foreign.status, "access-control-allow-origin" in foreign.headers) == (403, False)
    assert sent.headers["access-control-allow-origin"] == origin
