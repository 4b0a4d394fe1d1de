"""One connection as the pool sees it, and a look at each answer before the HTTP parser reads it.

The pool's own backend starts a cancel scope and a poll for every read. Here one deadline stands over the whole exchange
(`Client.send`), so a read is a future at most and a request one `send` call.

What the parser cannot tell us is seen on the way to it: an endless row of interim answers, a server that does not speak
HTTP at all (the parser would wait for its headers until the deadline), and bytes after the end of an answer, which
would otherwise be taken for the answer to the next request on this connection.
"""

from __future__ import annotations

import asyncio
import re
import select
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from httpcore2 import AsyncNetworkStream

from webseam.errors import Outcome
from webseam.net.exchange import CURRENT, Exchange

if TYPE_CHECKING:
    from webseam.net.transport import Contexts

MAX_INTERIM = 20  # answers of status 1xx before the real one; real servers send one or two
LOOK_AGAIN = 0.2  # seconds between two questions to the socket of an idle connection
HIGH_WATER = 256 * 1024  # bytes received and not yet read, after which the socket is left alone

_BLANK_LINE = re.compile(rb"\n\r?\n")  # as h11 finds the end of headers
_PROTOCOL = b"HTTP/"
_LAST_CHUNK = b"\r\n0\r\n\r\n"


class Answer:
    """What has come in since a request was written.

    Attributes:
        reads: how often something came; 0 when an answer is there means that it was there before the question.
        after_head: bytes that came after the final headers.
    """

    __slots__ = ("_head", "_interim", "_searched", "_tail", "after_head", "complete_head", "reads")

    def __init__(self) -> None:
        self.reads = 0
        self.after_head = 0
        self.complete_head = False
        self._head = bytearray()
        self._searched = 0
        self._interim = 0
        self._tail = b""

    def take(self, data: bytes, exchange: Exchange) -> None:
        """Note what came in.

        Raises:
            TransportError: it is no HTTP, an answer nobody asked for, or one interim answer too many.
        """
        self.reads += 1
        if self.complete_head:
            self.after_head += len(data)
            self._tail = (self._tail + data[-len(_LAST_CHUNK) :])[-len(_LAST_CHUNK) :]
            return
        self._head += data
        while self._head:
            if not (self._head.startswith(_PROTOCOL) or _PROTOCOL.startswith(self._head)):
                raise exchange.failed(Outcome.BAD_RESPONSE, "not_http", "{host} does not speak HTTP/1.1 on this port")
            found = _BLANK_LINE.search(self._head, self._searched)
            if found is None:
                self._searched = max(0, len(self._head) - 2)
                return
            if self._head[9:10] != b"1":
                self.complete_head = True
                self.after_head = len(self._head) - found.end()
                self._tail = bytes(self._head[-len(_LAST_CHUNK) :])
                self._head.clear()
                return
            self._pass_interim(found.end(), exchange)

    def _pass_interim(self, end: int, exchange: Exchange) -> None:
        if self._head[9:12] == b"101":
            raise exchange.failed(
                Outcome.BAD_RESPONSE, "protocol_switch", "{host} switched to another protocol, which nobody asked for"
            )
        self._interim += 1
        if self._interim > MAX_INTERIM:
            detail = f"{{host}} sent more than {MAX_INTERIM} interim answers and no final one"
            raise exchange.failed(Outcome.BAD_RESPONSE, "interim", detail)
        del self._head[:end]
        self._searched = 0

    def has_more_than(self, body_length: int | None) -> bool:
        """True when bytes came after the end of the answer. None: the body was chunked, its length on the wire unknown.

        Then only what the bytes end in can be looked at, so bytes that end in a last chunk of their own pass. They hold
        a blank line, though, and with it whole headers: the parser gives those out for the next request before it has
        read anything, which `reads` shows.
        """
        if body_length is None:
            return self._tail != _LAST_CHUNK
        return self.after_head != body_length


class Stream(AsyncNetworkStream, asyncio.Protocol):
    """A TCP connection, with TLS once `start_tls` has been called. `peer` is the address that was dialled."""

    def __init__(self, contexts: Contexts, opened: set[Stream]) -> None:
        self.peer: str | None = None
        self.answer = Answer()
        self._contexts = contexts
        self._opened = opened
        self._transport: asyncio.Transport
        self._loop: asyncio.AbstractEventLoop
        self._readable: Callable[[], bool]
        self._chunks: deque[bytes] = deque()
        self._buffered = 0
        self._outgoing: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._error: Exception | None = None
        self._retired = False
        self._cut_short = False
        self._look_at = 0.0

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a Transport: it was made by create_connection
        self._loop = asyncio.get_running_loop()
        self._readable = watcher(transport.get_extra_info("socket").fileno())
        self._opened.add(self)

    def data_received(self, data: bytes) -> None:
        self._chunks.append(data)
        self._buffered += len(data)
        if self._buffered > HIGH_WATER:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._ended = True
        self._error = error
        self._opened.discard(self)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the pool calls. Its timeouts are ignored: one deadline stands over all of it.

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        if not self._outgoing:
            self.answer = Answer()
            exchange = CURRENT.get()
            exchange.phase = "request"
            exchange.heard = False
            exchange.stream = self
        self._outgoing.append(buffer)  # sent with the next read: headers and body in one packet

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        exchange = CURRENT.get()
        if self._outgoing:
            self._flush()
            exchange.phase = "first_byte"
            exchange.written_at = time.monotonic()
        data = await self._next(max_bytes)
        if data:
            if not exchange.heard:
                exchange.heard = True
                exchange.first_byte_time += time.monotonic() - exchange.written_at
            self.answer.take(data, exchange)
        elif not self.answer.complete_head:
            raise self._broken_off(exchange)
        return data

    def _broken_off(self, exchange: Exchange) -> Exception:
        if exchange.heard:
            detail = "{host} closed the connection in the middle of its headers"
            return exchange.failed(Outcome.BAD_RESPONSE, "truncated", detail)
        return exchange.failed(Outcome.BAD_RESPONSE, "empty", "{host} closed the connection before answering")

    async def _next(self, max_bytes: int) -> bytes:
        if self._chunks:
            # A sender faster than we read would never let the event loop run, and so no deadline fire.
            await asyncio.sleep(0)
        elif not self._ended:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if not self._chunks:
            if self._error is not None:
                raise self._error
            return b""
        data = self._chunks.popleft()
        if len(data) > max_bytes:
            self._chunks.appendleft(data[max_bytes:])
            data = data[:max_bytes]
        self._buffered -= len(data)
        if self._buffered <= HIGH_WATER:
            self._transport.resume_reading()
        return data

    def _flush(self) -> None:
        outgoing = self._outgoing
        self._transport.write(outgoing[0] if len(outgoing) == 1 else b"".join(outgoing))
        outgoing.clear()

    async def exchange_bytes(self, data: bytes, count: int) -> bytes:
        """Write `data` if there is any and return exactly `count` bytes: for the greeting of a SOCKS proxy.

        Raises:
            EOFError: the other side closed the connection before.
        """
        if data:
            self._transport.write(data)
        received = b""
        while len(received) < count:
            piece = await self._next(count - len(received))
            if not piece:
                raise EOFError
            received += piece
        return received

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        """Begin TLS with `server_hostname` as SNI. The context given is a stand-in: see `Contexts`."""
        exchange = CURRENT.get()
        exchange.phase = "tls"
        started = time.monotonic()
        try:
            context = await self._contexts.get(exchange)
            # Looked at last: what came while the context was loading would never reach the handshake, which would hang.
            if self._chunks:  # an answer to nothing, or bytes meant to be taken for the far side's
                raise exchange.failed(Outcome.BAD_RESPONSE, "not_http", "{host} sent data before the TLS handshake")
            if self._ended:
                raise ConnectionResetError
            secured = await self._loop.start_tls(
                self._transport, self, context, server_hostname=(server_hostname or "").strip("[]")
            )
            if secured is None:  # closed while the handshake ended
                raise ConnectionResetError
            self._transport = secured
        except BaseException as error:
            self.abort()
            if isinstance(error, OSError):  # SSLError is one
                raise tls_failure(error, exchange) from None
            raise
        exchange.tls_time += time.monotonic() - started
        return self

    async def aclose(self) -> None:
        self.abort()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # the pool asks about idle connections: then it means closed, or out of step
            return self._retired or self._ended or bool(self._chunks) or self._is_readable_now()
        return None

    def _is_readable_now(self) -> bool:
        """Ask the socket what the event loop may not have told us yet, though not again and again.

        The pool asks each of its idle connections twice a request; with twenty of them that is forty system calls. What
        is missed in between is a connection that just closed, and the lane replaces that one by itself.
        """
        now = self._loop.time()
        if now < self._look_at:
            return False
        self._look_at = now + LOOK_AGAIN
        return self._readable()

    # What the client calls.

    def abort(self) -> None:
        """Close the socket now, without waiting for anything: a cancelled caller is not kept for a farewell."""
        self._opened.discard(self)
        self._cut_short = self._cut_short or self.is_sending()
        self._transport.abort()

    def retire(self) -> None:
        """Keep the pool from using this connection again."""
        self._retired = True

    def is_sending(self) -> bool:
        """True while a part of the request has not left this machine, or when it never will."""
        return self._cut_short or self._transport.get_write_buffer_size() > 0


def watcher(descriptor: int) -> Callable[[], bool]:
    """Return a function that tells whether a socket has something to read, or has been closed."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return lambda: bool(poll.poll(0))
    return lambda: bool(select.select([descriptor], [], [], 0)[0])  # Windows: no poll, and no limit on descriptors


def tls_failure(error: OSError, exchange: Exchange) -> Exception:
    """Return the error for a handshake that failed, with OpenSSL's reason."""
    hint = None
    if isinstance(error, ssl.SSLCertVerificationError):
        detail = f"the certificate of {{host}} was refused: {error.verify_message}"
        hint = "if this network inspects TLS, set net.ca_bundle to its certificate authority"
    elif isinstance(error, ssl.SSLError):
        reason = (error.reason or "no reason given").replace("_", " ").lower()
        detail = f"the TLS handshake with {{host}} failed: {reason}"
    else:
        detail = "{host} broke the connection off during the TLS handshake"
    return exchange.failed(Outcome.NETWORK, "tls", detail, hint=hint)
