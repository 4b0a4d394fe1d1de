"""The gate: a proxy on loopback through which a browser reaches the network, so that our policy holds for it too.

A browser resolves names, follows redirects and opens sockets by itself, for whatever a page tells it to. No hook inside
of it sees all of that (workers, prefetches, WebSockets), and one that judged URLs would judge a name which is then
looked up a second time. Behind a proxy it only names hosts: they are looked up here, judged here and dialled here, each
connection anew, at the addresses that were judged.

A random credential keeps other programs of this machine from using the gate as a way out. Everything about it is
bounded, and nothing is logged: a URL may carry a key.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from webseam.errors import EgressDenied, Outcome, TransportError
from webseam.net.exchange import Exchange
from webseam.net.gate_dial import Dialler, Pair
from webseam.net.gate_head import BadHead, RequestHead, read_answer, read_request, target_of, write_request
from webseam.net.proxy import parse_proxy
from webseam.net.resolve import Resolver, SystemResolver
from webseam.net.url import URL, UrlRefused, parse
from webseam.tasks import end

if TYPE_CHECKING:
    from webseam.net.policy import EgressPolicy

__all__ = ["Gate"]

MAX_CONNECTIONS: Final = 64  # at a time; browsers open 32 to one proxy
MAX_HEAD: Final = 64 * 1024  # bytes of a request's head, and of an answer's
MAX_BYTES: Final = 64 * 1024 * 1024  # carried both ways by one gate: a page with all its scripts is a tenth of it
HEAD_SECONDS: Final = 10.0  # for a whole request head; browsers connect ahead and may then send nothing
IDLE_SECONDS: Final = 30.0  # without a byte either way; a WebSocket that says less is none a page's text waits for
CONNECT_SECONDS: Final = 5.0  # for one address, as in the client
MAX_INTERIM: Final = 20  # answers of status 1xx before the real one
MAX_LEFT_OVER: Final = 1024 * 1024  # bytes read away after an answer of ours, and the seconds that takes
LINGER_SECONDS: Final = 1.0
MAX_REMEMBERED: Final = 256  # origins whose last failure is kept
MARK: Final = "Webseam-Gate"  # the header that tells our own answers from a server's

_CHUNK: Final = 64 * 1024
_HOST: Final = "127.0.0.1"
_USER: Final = "webseam"
_Result = TypeVar("_Result")


class _Ended(Exception):
    """A connection is over: idle for too long, or the gate has carried all it may."""


class Gate:
    """A proxy for one browser and one page, open between `async with` and its end.

    Args:
        policy: judges every target; the gate's own port is added to its `own`.
        expires_at: an instant of `time.monotonic`; everything is closed then.
        resolver: names to addresses; the system's by default.
        proxy: the proxy in the settings, through which the gate itself dials, as `Client` takes it.
        ca_bundle: trusted for an `https://` proxy only: what goes through a tunnel is the browser's to check.
        max_bytes: carried both ways before everything is closed.
        idle: seconds without a byte after which a connection is closed.

    Attributes:
        address: `address:port` where it listens, once it does.
        username, password: what a browser signs in with.
        refused: how often each rule of the policy refused a request.
        mark: the value of the header `MARK` in answers that the gate gave itself.
        carried: bytes so far.
        exhausted: True once `max_bytes` was reached.

    Raises:
        RequestError: the proxy cannot be read.
    """

    def __init__(
        self,
        policy: EgressPolicy,
        *,
        expires_at: float,
        resolver: Resolver | None = None,
        proxy: str | None = None,
        ca_bundle: str | None = None,
        max_bytes: int = MAX_BYTES,
        idle: float = IDLE_SECONDS,
    ) -> None:
        self.refused: Counter[str] = Counter()
        self.mark = secrets.token_hex(16)
        self.carried = 0
        self.exhausted = False
        self.address = ""
        self.username = _USER
        self.password = secrets.token_urlsafe(32)
        self._policy = policy
        self._expires_at = expires_at
        self._resolver = resolver or SystemResolver()
        self._proxy = parse_proxy(proxy) if proxy else None
        self._ca_bundle = ca_bundle
        self._max_bytes = max_bytes
        self._idle = idle
        account = base64.b64encode(f"{self.username}:{self.password}".encode()).decode("ascii")
        self._expected = f"Basic {account}"
        self._problems: dict[str, EgressDenied | TransportError] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._dialler: Dialler
        self._clock: asyncio.TimerHandle | None = None

    @property
    def open_connections(self) -> int:
        """How many connections to the gate are open."""
        return len(self._serving)

    def problem_of(self, url: str) -> EgressDenied | TransportError | None:
        """Return why the last request to the origin of `url` came to nothing, None when none did."""
        try:
            return self._problems.get(parse(url).origin)
        except UrlRefused as refused:
            return refused

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, _HOST, 0, limit=MAX_HEAD)
        self.address = f"{_HOST}:{self._server.sockets[0].getsockname()[1]}"
        policy = replace(self._policy, own=(*self._policy.own, self.address), proxy=self._proxy is not None)
        self._dialler = Dialler(
            policy,
            self._resolver,
            proxy=self._proxy,
            ca_bundle=self._ca_bundle,
            connect_timeout=CONNECT_SECONDS,
            limit=MAX_HEAD,
        )
        remaining = max(0.0, self._expires_at - time.monotonic())
        self._clock = asyncio.get_running_loop().call_later(remaining, self._stop)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the gate and every connection through it, and wait until they are closed."""
        self._stop()
        if self._serving:
            await asyncio.wait(self._serving)
        await asyncio.sleep(0)  # the event loop closes the sockets in its next round

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        if self._server is not None and self._server.is_serving():
            self._server.close()
        for task in self._serving:
            task.cancel()

    # One connection.

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - the server runs this in one
        self._serving.add(task)
        try:
            await self._serve(Pair(reader, writer))
            writer.close()
            async with asyncio.timeout(self._idle):
                await writer.wait_closed()
        except (OSError, _Ended):  # one side went away, or was sent away
            pass
        except asyncio.CancelledError:  # by `_stop`. Raised on, it would reach the event loop's handler and nobody else
            pass
        finally:
            self._serving.discard(task)
            writer.transport.abort()

    async def _serve(self, browser: Pair) -> None:
        if len(self._serving) > MAX_CONNECTIONS:  # not even an answer: whoever opens so many would wait for those too
            raise _Ended
        try:
            request = await self._request(browser)
            if request is None:
                return None
            if not secrets.compare_digest(request.authorization.encode(), self._expected.encode()):
                return await self._say(browser, 407, "this is the way out of one program, which knows how to sign in")
            url = target_of(request)
        except BadHead as bad:
            return await self._say(browser, bad.status, str(bad))
        except UrlRefused as refused:
            return await self._turn_away(browser, refused, None)
        if self.exhausted:
            return await self._say(browser, 503, f"this page has used up its {self._max_bytes:,} bytes")
        return await self._forward(browser, request, url)

    async def _request(self, browser: Pair) -> RequestHead | None:
        """Return the request that came in, None when the browser closed the connection without one."""
        try:
            async with asyncio.timeout(min(HEAD_SECONDS, self._idle)):
                return read_request(await browser.reader.readuntil(b"\r\n\r\n"))
        except TimeoutError:
            raise BadHead(408, "no request came in time") from None
        except asyncio.LimitOverrunError:
            raise BadHead(431, f"a request head of more than {MAX_HEAD:,} bytes") from None
        except asyncio.IncompleteReadError as cut:
            if cut.partial:
                raise BadHead(400, "the request head has no end") from None
            return None

    async def _forward(self, browser: Pair, request: RequestHead, url: URL) -> None:
        """Dial what was asked for, if the policy allows it, and carry."""
        tunnel = request.method == "CONNECT"
        exchange = Exchange(self._expires_at)
        exchange.begin(url)
        try:
            server = await self._dialler.dial(url, exchange, tunnel=tunnel)
        except (EgressDenied, TransportError) as problem:
            return await self._turn_away(browser, problem, url)
        except OSError:  # what the steps of a direct connection raise has been explained by now
            detail = "the proxy broke off while it was asked for {host}"
            broken = exchange.failed(Outcome.NETWORK, "proxy", detail, hint="check net.proxy")
            return await self._turn_away(browser, broken, url)
        self._problems.pop(url.origin, None)
        flow = _Flow()
        try:
            if tunnel:
                browser.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                ways = (
                    self._carry(flow, browser.reader, server.writer),
                    self._carry(flow, server.reader, browser.writer),
                )
                await _together(*ways, until=asyncio.FIRST_EXCEPTION)
                return None
            whole, account = self._dialler.wants_whole_url, self._dialler.credentials()
            server.writer.write(write_request(request, url, whole_url=whole, extra=account))
            # Whichever ends first ends the other: the answer, or a browser that leaves or says more than was judged.
            asking = self._carry_body(flow, browser.reader, server.writer, request.length)
            answering = self._answer(flow, browser, server, request.method, exchange)
            await _together(asking, answering, until=asyncio.FIRST_COMPLETED)
        except TransportError as problem:  # nothing of an answer has been passed on yet
            return await self._turn_away(browser, problem, url)
        finally:
            server.writer.transport.abort()

    async def _turn_away(self, browser: Pair, problem: EgressDenied | TransportError, url: URL | None) -> None:
        if url is not None and (url.origin in self._problems or len(self._problems) < MAX_REMEMBERED):
            self._problems[url.origin] = problem
        if isinstance(problem, EgressDenied):
            self.refused[problem.rule] += 1
            await self._say(browser, 403, f"refused by the egress policy: {problem.detail}")
        else:
            await self._say(browser, 504 if problem.outcome is Outcome.TIMEOUT else 502, problem.detail)

    async def _say(self, browser: Pair, status: int, words: str) -> None:
        """Answer without having asked anybody."""
        body = (words + "\n").encode()
        fields = [
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(body)}",
            "Cache-Control: no-store",
            "Connection: close",
            f"{MARK}: {self.mark}",
            *(['Proxy-Authenticate: Basic realm="webseam"'] if status == 407 else []),
        ]
        head = "\r\n".join([f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *fields, "", ""])
        browser.writer.write(head.encode() + body)
        browser.writer.write_eof()
        # Closed with bytes unread, the socket would be reset, and the answer lost with it.
        async with asyncio.timeout(LINGER_SECONDS):
            left = MAX_LEFT_OVER
            while left > 0 and (data := await browser.reader.read(_CHUNK)):
                left -= len(data)

    # What is carried.

    async def _answer(self, flow: _Flow, browser: Pair, server: Pair, method: str, exchange: Exchange) -> None:
        for _ in range(MAX_INTERIM + 1):
            try:
                said = await self._within_idle(flow, partial(server.reader.readuntil, b"\r\n\r\n"))
                head = read_answer(said, method)
            except (BadHead, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as bad:
                words = str(bad) if isinstance(bad, BadHead) else "the head of its answer has no end"
                detail = f"{{host}} cannot be understood: {words}"
                raise exchange.failed(Outcome.BAD_RESPONSE, "not_http", detail) from None
            await self._pass_on(flow, head.written, browser.writer)
            if not head.interim and head.length is None:
                return await self._carry(flow, server.reader, browser.writer)
            if not head.interim:  # counted, so that a server which keeps its connection does not keep ours
                return await self._carry_length(flow, server.reader, browser.writer, head.length or 0)
        raise _Ended

    async def _carry_body(
        self, flow: _Flow, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int
    ) -> None:
        await self._carry_length(flow, reader, writer, length)
        await self._within_idle(flow, partial(reader.read, 1))

    async def _carry_length(
        self, flow: _Flow, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int
    ) -> None:
        while length and (data := await self._within_idle(flow, partial(reader.read, min(_CHUNK, length)))):
            length -= len(data)
            await self._pass_on(flow, data, writer)

    async def _carry(self, flow: _Flow, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry bytes one way until their end, and pass that on too."""
        while data := await self._within_idle(flow, partial(reader.read, _CHUNK)):
            await self._pass_on(flow, data, writer)
        if not writer.can_write_eof():  # TLS to a proxy: its end is the end of both ways
            raise _Ended
        writer.write_eof()

    async def _pass_on(self, flow: _Flow, data: bytes, writer: asyncio.StreamWriter) -> None:
        self.carried += len(data)
        self.exhausted = self.exhausted or self.carried > self._max_bytes
        if self.exhausted:
            raise _Ended
        writer.write(data)
        await self._within_idle(flow, writer.drain)

    async def _within_idle(self, flow: _Flow, step: Callable[[], Awaitable[_Result]]) -> _Result:
        """Take one step; give up once neither way has moved for the idle time."""
        while True:
            try:
                async with asyncio.timeout(self._idle) as clock:
                    result = await step()
            except TimeoutError:
                if not clock.expired() or time.monotonic() - flow.moved >= self._idle:
                    raise _Ended from None
            else:
                flow.moved = time.monotonic()
                return result


class _Flow:
    """When something last moved on a connection, either way."""

    def __init__(self) -> None:
        self.moved = time.monotonic()


async def _together(*ways: Coroutine[Any, Any, None], until: str) -> None:
    """Run both, end what is left when `until` has come, and raise the first failure."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=until)
    finally:
        await end(tasks)
    for task in done:
        task.result()
