"""The connection pool behind a client, and what its failures mean.

Everything that imports the HTTP library is here, in `transport` and in `stream`, so that a client that never sends
anything costs nothing.
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, cast

import anyio
import httpcore2

from webseam.errors import Outcome, TransportError
from webseam.net.exchange import Exchange
from webseam.net.policy import EgressPolicy
from webseam.net.proxy import Proxy
from webseam.net.resolve import Resolver
from webseam.net.stream import Stream
from webseam.net.transport import Backend
from webseam.net.url import URL
from webseam.text import quote

MAX_CONNECTIONS = 100
MAX_IDLE = 10  # kept connections; the pool looks at each of them twice a request, so twice as many cost twice that
IDLE_SECONDS = 15.0  # shorter than servers wait (nginx 75 s, AWS 60 s), so that few kept connections are dead ones

FAILURES = (OSError, httpcore2.ProtocolError, httpcore2.ProxyError)  # what `explain` explains


# The pool can log every header it reads, and a service may repeat a key in one. What is done for us is left out there;
# other users of the same library in this process keep their logs.
_OURS: Final[ContextVar[bool]] = ContextVar("webseam_request", default=False)
_POOL_LOGGERS: Final = ("connection", "http11", "proxy", "socks")


def _not_ours(_record: logging.LogRecord) -> bool:
    return not _OURS.get()


for _name in _POOL_LOGGERS:
    logging.getLogger(f"httpcore2.{_name}").addFilter(_not_ours)


class Target(NamedTuple):
    """A URL in the form the pool wants it."""

    url: URL
    core: httpcore2.URL
    host_header: bytes


def target_of(url: URL) -> Target:
    """Return what the pool needs to know about a URL. IPv6 keeps its brackets: the pool writes hosts into URLs."""
    authority, slash, rest = url.href.partition("://")[2].partition("/")
    host = f"[{url.host}]" if ":" in url.host else url.host
    core = httpcore2.URL(scheme=url.scheme, host=host, port=url.port, target=slash + rest)
    return Target(url, core, authority.encode("ascii"))


class Lane:
    """A pool of connections for one event loop."""

    def __init__(
        self,
        policy: EgressPolicy,
        resolver: Resolver,
        *,
        proxy: Proxy | None,
        ca_bundle: str | None,
        connect_timeout: float,
    ) -> None:
        self.backend = Backend(policy, resolver, proxy=proxy, ca_bundle=ca_bundle, connect_timeout=connect_timeout)
        contexts = cast(Any, self.backend.contexts)  # stands in for a context until one is needed
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=contexts,
            proxy=_pool_proxy(proxy, contexts),
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_IDLE,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=self.backend,
        )

    async def ask(
        self, method: str, target: Target, headers: list[tuple[bytes, bytes]], body: bytes, exchange: Exchange
    ) -> httpcore2.Response:
        """Send a request and return the answer once its headers are there.

        A kept connection that the server has closed meanwhile is replaced by a new one, once. That is safe for a POST
        too: nothing of an answer had come, and a server closes idle connections without reading what arrives after.
        """
        fields = [(b"Host", target.host_header), *headers]
        message = httpcore2.Request(method, target.core, headers=fields, content=body)
        try:
            answer = await self._handle(message)
        except (OSError, TransportError):
            if exchange.dialled or exchange.heard:
                raise
        else:
            if stream_of(answer).answer.reads:
                return answer
            # An answer without a question: bytes left over from the last exchange. Nothing has been sent yet.
            stream_of(answer).retire()
            await answer.aclose()
        await self._close_idle(target)
        return await self._handle(message)

    async def _handle(self, message: httpcore2.Request) -> httpcore2.Response:
        before = _OURS.set(True)
        try:
            return await self._pool.handle_async_request(message)
        finally:
            _OURS.reset(before)

    async def _close_idle(self, target: Target) -> None:
        """Close the idle connections to a host: the second attempt has to be on a new one."""
        for connection in self._pool.connections:
            if connection.is_idle() and connection.can_handle_request(target.core.origin):
                await connection.aclose()

    async def aclose(self) -> None:
        """Close every connection, idle or not."""
        await self._pool.aclose()
        for stream in tuple(self.backend.opened):
            stream.abort()
        await asyncio.sleep(0)  # the event loop closes the sockets in its next round


def load_late_parts() -> None:
    """Have the pool's locks load what they load when the first is made: 15 ms that must not follow a call's turn."""
    anyio.Event()


def stream_of(answer: httpcore2.Response) -> Stream:
    """Return the connection an answer came over."""
    return cast(Stream, answer.extensions["network_stream"])


def _pool_proxy(proxy: Proxy | None, contexts: Any) -> httpcore2.Proxy | None:
    """Return an HTTP proxy in the form the pool wants it; SOCKS is spoken below the pool."""
    if proxy is None or proxy.scheme == "socks5h":
        return None
    host = f"[{proxy.host}]" if ":" in proxy.host else proxy.host
    return httpcore2.Proxy(
        httpcore2.URL(scheme=proxy.scheme, host=host, port=proxy.port, target=b"/"),
        auth=(proxy.username.encode(), proxy.password.encode()) if proxy.username else None,
        ssl_context=contexts if proxy.scheme == "https" else None,
    )


def explain(error: Exception, exchange: Exchange) -> TransportError:
    """Return what one of `FAILURES` means in the phase it happened in. h11 tells its reasons only in words."""
    if isinstance(error, httpcore2.ProxyError):
        detail = f"the proxy refused a connection to {{host}}: {quote(str(error))}"
        return exchange.failed(Outcome.NETWORK, "proxy", detail, hint="check net.proxy")
    if isinstance(error, httpcore2.LocalProtocolError):
        return exchange.failed(Outcome.INVALID, "request", "the request cannot be written as HTTP/1.1")
    words = str(error)
    if "Receive buffer too long" in words:
        detail = "{host} sent headers, or a line between chunks, of more than 100 KiB"
        return exchange.failed(Outcome.BAD_RESPONSE, "headers_too_large", detail)
    if exchange.phase == "body":
        return exchange.failed(Outcome.BAD_RESPONSE, "truncated", "{host} broke off in the middle of its answer")
    if isinstance(error, OSError):
        detail = "{host} reset the connection before answering"
        return exchange.failed(Outcome.NETWORK, "reset", detail)
    if "Content-Length" in words or "Transfer-Encoding" in words:
        detail = "{host} contradicts itself about the length of its answer"
        return exchange.failed(Outcome.BAD_RESPONSE, "framing", detail)
    detail = f"{{host}} sent headers that are not HTTP/1.1: {quote(words)}"
    return exchange.failed(Outcome.BAD_RESPONSE, "malformed", detail)
