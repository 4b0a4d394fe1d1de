"""The proxy from the settings: how it is written, and the SOCKS handshake.

A proxy in the environment is never used: on a developer's machine it often belongs to something else, and it would see
every query. HTTP proxies are the pool's work; the SOCKS handshake is here because the pool's leaves a socket behind
when the caller goes away in the middle of it.

Sources: RFC 1928 (SOCKS 5), RFC 1929 (its user name and password).
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from webseam.errors import Outcome, RequestError, TransportError
from webseam.net.exchange import Exchange

if TYPE_CHECKING:
    from webseam.net.stream import Stream

_PORTS = {"http": 80, "https": 443, "socks5h": 1080}
_LONGEST = 255  # octets of a name, a user name and a password in SOCKS 5

_REPLIES = {
    1: "general failure",
    2: "not allowed by its rules",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "time to live expired",
    7: "command not supported",
    8: "address type not supported",
}


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, dialled as configured: the egress policy does not judge it."""

    scheme: str
    host: str
    port: int
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_proxy(text: str) -> Proxy:
    """Return the proxy that a setting names.

    Raises:
        RequestError: it is none. The text is not repeated: it may hold a password.
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
        if parts.scheme not in _PORTS or not host or parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError
        host.encode("ascii")
        username, password = unquote(parts.username or ""), unquote(parts.password or "")
        if max(len(username.encode()), len(password.encode())) > _LONGEST:
            raise ValueError
    except ValueError:
        hint = "write http://, https:// or socks5h://, then [user:password@]host:port"
        raise RequestError("proxy", "is not the address of a proxy", hint=hint) from None
    return Proxy(parts.scheme, host, port or _PORTS[parts.scheme], username, password)


async def greet(stream: Stream, proxy: Proxy, host: str, port: int, exchange: Exchange) -> None:
    """Ask a SOCKS 5 proxy for a connection to `host`, which the proxy resolves.

    Raises:
        TransportError: it refused, or is no SOCKS proxy.
    """
    try:
        await _authenticate(stream, proxy, exchange)
        reply = await stream.exchange_bytes(b"\x05\x01\x00" + _address(host) + port.to_bytes(2, "big"), 4)
        if reply[0] != 5:
            raise _refused(exchange, "it does not speak SOCKS 5")
        if reply[1] != 0:
            raise _refused(exchange, _REPLIES.get(reply[1], f"reply {reply[1]}"))
        length = {1: 4, 4: 16}.get(reply[3])
        if length is None:
            length = (await stream.exchange_bytes(b"", 1))[0]
        await stream.exchange_bytes(b"", length + 2)  # the address it dialled from; of no use here
    except EOFError:
        raise _refused(exchange, "it closed the connection") from None


async def _authenticate(stream: Stream, proxy: Proxy, exchange: Exchange) -> None:
    methods = b"\x00\x02" if proxy.username else b"\x00"
    version, method = await stream.exchange_bytes(b"\x05" + bytes([len(methods)]) + methods, 2)
    if version != 5:
        raise _refused(exchange, "it does not speak SOCKS 5")
    if method == 2 and proxy.username:
        user, password = proxy.username.encode(), proxy.password.encode()
        sent = b"\x01" + bytes([len(user)]) + user + bytes([len(password)]) + password
        if (await stream.exchange_bytes(sent, 2))[1] != 0:
            raise _refused(exchange, "user name or password is wrong")
    elif method != 0:
        raise _refused(exchange, "it wants a way of signing in that is not known here")


def _address(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return b"\x03" + bytes([len(host)]) + host.encode("ascii")
    return (b"\x01" if address.version == 4 else b"\x04") + address.packed


def _refused(exchange: Exchange, why: str) -> TransportError:
    hint = "check net.proxy"
    return exchange.failed(Outcome.NETWORK, "proxy", f"no connection to {{host}}: {why}", hint=hint)
