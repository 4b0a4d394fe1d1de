"""Which names a request may use for this server, and which pages may send it one: against DNS rebinding.

The SDK has such a check. It is not used: it compares the first of several headers as text, takes a loopback Origin of
any port, which is every other server on this machine, and writes what it refuses into the log.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

from webseam.errors import SettingsError
from webseam.fronts.mcp.guards import ASGIApp, Receive, Scope, Send, refuse, values
from webseam.text import quote

_Read = TypeVar("_Read")

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# No trailing dot, no zone of an IPv6 address, no empty port: no client sends one, and two spellings of a name are one
# too many. Used on lower case.
_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::([0-9]{1,5}))?")
_ORIGIN: Final = re.compile(r"([a-z][a-z0-9+.-]*)://(.+)")


class Authority(NamedTuple):
    """A host in lower case (IPv6 without brackets, shortest form) and a port, None when it was not written."""

    host: str
    port: int | None


class Origin(NamedTuple):
    """Where a page came from, as browsers send it. The port is that of the scheme when it was not written."""

    scheme: str
    host: str
    port: int | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        shown = "" if self.port == _DEFAULT_PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{host}{shown}"


def read_authority(text: str) -> Authority | None:
    """Return what a Host value names, None when it is not one."""
    match = _AUTHORITY.fullmatch(text.lower()) if text.isascii() else None
    if match is None:
        return None
    host, port = match[1], int(match[2]) if match[2] else None
    if port is not None and not 0 < port < 65536:
        return None
    if host.startswith("["):
        try:
            host = ipaddress.IPv6Address(host[1:-1]).compressed
        except ValueError:
            return None
    return Authority(host, port)


def read_origin(text: str) -> Origin | None:
    """Return what an Origin value names, None when it is not one; `null` is none: any sandboxed page sends it."""
    match = _ORIGIN.fullmatch(text.lower())
    place = read_authority(match[2]) if match else None
    if match is None or place is None:
        return None
    return Origin(match[1], place.host, place.port or _DEFAULT_PORTS.get(match[1]))


def read_hosts(entries: Iterable[str]) -> frozenset[Authority]:
    """Return the entries of `mcp.hosts`.

    Raises:
        SettingsError: one is not a host.
    """
    return frozenset(_read(read_authority, "mcp.hosts", entry, "name or name:port") for entry in entries)


def read_origins(entries: Iterable[str]) -> frozenset[Origin]:
    """Return the entries of `mcp.origins`.

    Raises:
        SettingsError: one is not an origin.
    """
    return frozenset(_read(read_origin, "mcp.origins", entry, "https://name or http://name:port") for entry in entries)


def _read(read: Callable[[str], _Read | None], setting: str, entry: str, form: str) -> _Read:
    found = read(entry)
    if found is None:
        raise SettingsError(setting, f"{quote(entry)!r} cannot be read", hint=f"write {form}, IPv6 in brackets")
    return found


class NameGuard:
    """Serves only requests that name this server, and of those with an Origin only ours: against DNS rebinding.

    A page that rebinds its own name to this machine still sends that name as Host, so the name is what counts. Any
    port goes with a loopback name, because forwarding (ssh, containers) changes it and no page can gain by that. An IP
    address is served where it is the very address that the connection reached: an address cannot be rebound. In an
    Origin the port does count, for it is what tells us from other servers on this machine.
    """

    def __init__(
        self, app: ASGIApp, *, port: int, hosts: Iterable[Authority] = (), origins: Iterable[Origin] = ()
    ) -> None:
        self._app = app
        self._hosts = frozenset([*(Authority(name, None) for name in _LOOPBACK), *hosts])
        self._origins = frozenset([*(Origin("http", name, port) for name in _LOOPBACK), *origins])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hosts, origins = values(scope, b"host"), values(scope, b"origin")
        asked = read_authority(hosts[0]) if len(hosts) == 1 else None
        if asked is None:
            await refuse(send, 400, "a request needs one Host header with a host in it")
        elif not self._serves(asked, scope):
            await refuse(send, 421, "this server is not known by that Host; its operator can add it to mcp.hosts")
        elif origins and not (len(origins) == 1 and self._trusts(origins[0], asked)):
            await refuse(
                send, 403, "this server is not for pages of that Origin; its operator can add it to mcp.origins"
            )
        else:
            await self._app(scope, receive, send)

    def _serves(self, asked: Authority, scope: Scope) -> bool:
        return asked in self._hosts or Authority(asked.host, None) in self._hosts or asked.host == _reached(scope)

    def _trusts(self, value: str, asked: Authority) -> bool:
        origin = read_origin(value)
        if origin is None:
            return False
        standard = _DEFAULT_PORTS.get(origin.scheme)
        same = standard is not None and (origin.host, origin.port) == (asked.host, asked.port or standard)
        return same or origin in self._origins


def _reached(scope: Scope) -> str | None:
    """Return the address of this machine at which the request came in."""
    try:
        address = ipaddress.ip_address((scope.get("server") or ("",))[0])
    except ValueError:  # a Unix socket, or a server that does not say
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).compressed
