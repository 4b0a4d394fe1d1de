"""Dials for the gate what the policy allows, at the addresses it judged, and gives the bytes out unread.

The backend under our own client reads answers on their way (`stream.Answer`); in a tunnel there is nothing to read. So
this one hands the socket over as a plain pair of streams once it stands, and everything before that is the same code.
"""

from __future__ import annotations

import asyncio
import base64
import re
from dataclasses import dataclass

from webseam.errors import Outcome
from webseam.net.exchange import CURRENT, Exchange
from webseam.net.policy import EgressPolicy
from webseam.net.proxy import Proxy
from webseam.net.resolve import Resolver
from webseam.net.stream import Stream
from webseam.net.transport import MAX_DIALLED, Backend, refusal
from webseam.net.url import URL

__all__ = ["Dialler", "Pair"]

_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})[ \r]")


@dataclass(frozen=True, slots=True)
class Pair:
    """Both ends of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class _Carried(Stream):
    """A connection that is handed over as it stands."""

    def hand_over(self, limit: int) -> Pair:
        """Return the connection as streams whose lines and heads are at most `limit` bytes long."""
        reader = asyncio.StreamReader(limit=limit, loop=self._loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=self._loop)
        self._opened.discard(self)
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        for chunk in self._chunks:
            reader.feed_data(chunk)
        if self._ended:
            reader.feed_eof()
        elif not self._transport.is_closing():
            self._transport.resume_reading()  # this stream may have paused it
        return Pair(reader, asyncio.StreamWriter(self._transport, protocol, reader, self._loop))


class Dialler(Backend):
    """Opens connections for one gate. `proxy` is the one in the settings, if any; everything then goes through it."""

    def __init__(
        self,
        policy: EgressPolicy,
        resolver: Resolver,
        *,
        proxy: Proxy | None,
        ca_bundle: str | None,
        connect_timeout: float,
        limit: int,
    ) -> None:
        super().__init__(policy, resolver, proxy=proxy, ca_bundle=ca_bundle, connect_timeout=connect_timeout)
        self._limit = limit

    @property
    def wants_whole_url(self) -> bool:
        """True when plain requests go to an HTTP proxy, which takes the whole URL instead of the path."""
        return self._proxy is not None and self._proxy.scheme != "socks5h"

    def credentials(self) -> list[tuple[bytes, bytes]]:
        """Return the header that signs us in at an HTTP proxy, if it has an account for us."""
        if self._proxy is None or not self._proxy.username or not self.wants_whole_url:
            return []
        account = f"{self._proxy.username}:{self._proxy.password}".encode()
        return [(b"Proxy-Authorization", b"Basic " + base64.b64encode(account))]

    async def dial(self, url: URL, exchange: Exchange, *, tunnel: bool) -> Pair:
        """Return a connection over which the server of `url` answers, or the proxy that speaks for it.

        Raises:
            EgressDenied: the policy refuses the URL, or an address of its host.
            TransportError: there is no such host, nobody accepts, or the proxy refuses.
        """
        CURRENT.set(exchange)  # every connection of the gate has a task, and so a context, of its own
        verdict = self._policy.judge_literally(url.href)
        if not verdict.allowed:
            raise refusal(verdict, exchange)
        if self._proxy is None:
            addresses = await self.judged_addresses(url, exchange)
            return self._handed(await self._dial_first(addresses[:MAX_DIALLED], url.port, exchange))
        if self._policy.local_dns:
            await self.judged_addresses(url, exchange)
        stream = await self._dial_proxy(self._proxy, exchange)
        try:
            if self._proxy.scheme == "https":
                await stream.start_tls(await self.contexts.get(exchange), server_hostname=self._proxy.host)
        except BaseException:
            stream.abort()
            raise
        pair = self._handed(stream)
        if tunnel and self.wants_whole_url:
            try:
                await self._ask_for_tunnel(pair, url, exchange)
            except BaseException:
                pair.writer.transport.abort()
                raise
        return pair

    async def _ask_for_tunnel(self, pair: Pair, url: URL, exchange: Exchange) -> None:
        authority = url.origin.partition("://")[2]
        fields = [(b"Host", authority.encode("ascii")), *self.credentials()]
        written = b"".join(name + b": " + value + b"\r\n" for name, value in fields)
        pair.writer.write(f"CONNECT {authority} HTTP/1.1\r\n".encode("ascii") + written + b"\r\n")
        try:
            head = await pair.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            head = b""
        found = _STATUS.match(head)
        if found is None or found[1][:1] != b"2":
            said = f"it answered {found[1].decode('ascii')}" if found else "it did not answer as an HTTP proxy does"
            detail = f"the proxy refused a connection to {{host}}: {said}"
            raise exchange.failed(Outcome.NETWORK, "proxy", detail, hint="check net.proxy")

    def _new_stream(self) -> Stream:
        return _Carried(self.contexts, self.opened)

    def _handed(self, stream: Stream) -> Pair:
        assert isinstance(stream, _Carried)  # noqa: S101 - `_new_stream` made it
        return stream.hand_over(self._limit)
