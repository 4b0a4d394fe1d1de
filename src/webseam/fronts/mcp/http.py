"""MCP over HTTP: one address that many clients share, on the official SDK's streamable HTTP in both protocol eras.

This is the only module that listens. It puts the guards before the SDK's application, binds the address before anything
else is made (so that what fetches pages knows the port it must never dial), and ends everything within seconds of a
signal. uvicorn bounds a head that comes in pieces and closes connections between requests; what it does not bound, a
head that never ends and a client that never reads, is bounded here.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from starlette.middleware.cors import CORSMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from webseam.config import Settings, SettingsSource, call_settings
from webseam.errors import Outcome, RequestError, SettingsError, WebSeamError
from webseam.fetch.sections import schema_of, sections
from webseam.fronts.mcp.guards import MAX_BODY, MAX_HEAD, PATH, App, ASGIApp, BodyGuard, CallGuard, KeyGuard, Paths
from webseam.fronts.mcp.names import NameGuard, read_hosts, read_origins
from webseam.fronts.mcp.words import DEFAULT_HOST, DEFAULT_PORT
from webseam.secrets import check_key
from webseam.text import quote

if TYPE_CHECKING:
    from types import FrameType

    from mcp.server.mcpserver import MCPServer

MAX_CONNECTIONS: Final = 256  # a client keeps two or three; each may hold a body of MAX_BODY
MAX_SESSIONS: Final = 256
SESSION_IDLE: Final = 30 * 60.0  # seconds without a request or an open event stream after which a session ends
HEAD_TIMEOUT: Final = 10.0  # seconds for the head of a request to arrive, from connecting or from the last answer
BACKLOG: Final = 128  # connections that wait to be accepted
KEEP_ALIVE: Final = 5  # seconds an idle connection is kept
READ_TIMEOUT: Final = 30.0  # seconds a client may leave what we send unread
STOPPING: Final = 3  # seconds for requests to end after a signal
CLOSING: Final = 1.5  # seconds for connections to close after that
LAST_RESORT: Final = 5.0  # seconds after a signal until the process is ended whatever hangs, such as a thread


def make_app(
    server: MCPServer,
    *,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    key: str | None = None,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    concurrency: int = 16,
) -> App:
    """Return the ASGI application that serves `server` behind every guard. It needs its lifespan run.

    Args:
        host, port: where it listens; port is that of the Origin headers it takes for its own.
        key: the bearer key clients must send; None asks for none.
        hosts, origins: further Host and Origin values, as in `mcp.hosts` and `mcp.origins`. Pages of these origins are
            answered as browsers want it (CORS).
        concurrency: tool calls that run at once.

    Raises:
        SettingsError: an entry of `hosts` or `origins` cannot be read.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    sdk: Any = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY,
        session_idle_timeout=SESSION_IDLE,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # NameGuard's work
        host=host,
    )
    inner: ASGIApp = BodyGuard(CallGuard(sdk, concurrency=concurrency))
    served: Any = Paths(KeyGuard(inner, key) if key else inner)
    trusted = read_origins(origins)
    if trusted:
        served = CORSMiddleware(
            served,
            allow_origins=[str(origin) for origin in trusted],
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            allow_private_network=True,
            expose_headers=["mcp-session-id", "mcp-protocol-version", "retry-after", "www-authenticate"],
        )
    return App(NameGuard(served, port=port, hosts=read_hosts(hosts), origins=trusted), sdk)


class _Connection(H11Protocol):
    """A connection that may neither dribble a request's head nor leave our answer unread for ever."""

    _head: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before and not self.cycle.response_complete:
            _cancel(self._head)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():  # else a pipelined request is under way
            self._expect_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_TIMEOUT, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._unread)

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._head)
        _cancel(self._unread)
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        _cancel(self._head)
        self._head = self.loop.call_later(HEAD_TIMEOUT, self._late)

    def _late(self) -> None:
        if self.transport.get_write_buffer_size():  # a slow client still has the end of our answer to read
            self._head = self.loop.call_later(READ_TIMEOUT, self.transport.abort)
        else:
            self.transport.abort()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class HttpServer(uvicorn.Server):
    """uvicorn, quiet and bounded, that stops the application before it waits for its requests.

    `signal` is the one that ended it, None when `should_exit` was set. `url`, if given, is printed once it serves.
    """

    def __init__(self, app: App, *, url: str | None = None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=_Connection,
                ws="none",
                lifespan="on",
                interface="asgi3",
                log_config=None,
                log_level="error",  # its warnings are about what clients send, which any of them could repeat
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=STOPPING,
                h11_max_incomplete_event_size=MAX_HEAD,  # of a head that comes in pieces; App judges all
            )
        )
        self.signal: int | None = None
        self.last_resort: threading.Timer | None = None
        self._application = app
        self._url = url

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Note signals while serving, and do not raise them again at the end: that would cut off what closes then."""
        try:
            before = {number: signal.signal(number, self.handle_exit) for number in _signals()}
        except ValueError:  # not the main thread: the program that serves here has its own
            before = {}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit  # asked a second time
        self.should_exit = True
        if self.signal is None:
            self.signal = sig
            self.last_resort = threading.Timer(LAST_RESORT, os._exit, (128 + sig,))
            self.last_resort.daemon = True
            self.last_resort.start()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._url is not None:
            _say(f"MCP at {self._url}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.stop()
        await super().shutdown(sockets)


def _signals() -> list[signal.Signals]:
    return [number for name in ("SIGINT", "SIGTERM", "SIGBREAK") if (number := getattr(signal, name, None)) is not None]


def serve_http(*, host: str = DEFAULT_HOST, port: int = DEFAULT_PORT, settings: Mapping[str, Any] | None = None) -> int:
    """Serve MCP at `http://host:port/mcp` until a signal comes; return the exit code.

    That is 130 after Ctrl-C, and 0 after SIGTERM: whoever sent it asked for an orderly end and got it, and supervisors
    would start a server again that ended with anything else.

    Args:
        host: an IP address of this machine, or localhost.
        port: 0 = any free one; the address is printed on standard error.
        settings: as for `AsyncWeb`.

    Raises:
        SettingsError: a setting is wrong, or the address can be reached from other machines and `mcp.api_key` is not
            set. RequestError: `host` or `port` is none. WebSeamError: unavailable, the port is taken. Nothing listens
            then.
    """
    rules = _rules(host, port, settings)
    logging.basicConfig(level=logging.WARNING, format="webseam: %(message)s", stream=sys.stderr)
    listener = _bind(rules.address, port)
    try:
        with asyncio.Runner() as runner:
            server = runner.run(_serve(listener, rules, settings))
    finally:
        listener.close()
    if server.last_resort is not None:
        server.last_resort.cancel()
    return Outcome.CANCELLED.exit_code if server.signal == signal.SIGINT else 0


async def _serve(listener: socket.socket, rules: _Rules, settings: Mapping[str, Any] | None) -> HttpServer:
    from webseam.fronts.mcp.server import make_server
    from webseam.web import AsyncWeb

    port = listener.getsockname()[1]
    place = _place(rules.address, port)
    web = AsyncWeb(settings, own=(place,), warn=_say)
    try:
        app = make_app(
            make_server(web, structured=rules.structured, shared=True),
            host=rules.address,
            port=port,
            key=rules.key,
            hosts=rules.hosts,
            origins=rules.origins,
            concurrency=rules.concurrency,
        )
        server = HttpServer(app, url=f"http://{place}{PATH}")
        await server.serve(sockets=[listener])
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING):
                await web.aclose()
    return server


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """What the settings say of the server, read once: like its address, they hold until it is started anew."""

    address: str
    key: str | None = field(repr=False)
    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    concurrency: int
    structured: bool


def _rules(host: str, port: int, settings: Mapping[str, Any] | None) -> _Rules:
    """Return what to serve by, with every reason not to found before a socket is opened."""
    address = _address(host)
    if not 0 <= port <= 65535:
        raise RequestError("port", f"{port} is not from 0 to 65535")
    read = _settings(settings or {})
    key = read.get("mcp", "api_key")
    if key:
        try:
            key = check_key(key)
        except SettingsError as error:  # it speaks of "the key"; here is which
            raise SettingsError("mcp.api_key", error.detail.partition(": ")[2], hint=error.hint) from None
    elif not ipaddress.ip_address(address).is_loopback:
        raise SettingsError(
            "mcp.api_key",
            f"is not set, and {address} can be reached from other machines",
            hint="set WEBSEAM_MCP_API_KEY to a long random word, or listen on 127.0.0.1",
        )
    hosts, origins = read.get("mcp", "hosts") or (), read.get("mcp", "origins") or ()
    read_hosts(hosts)
    read_origins(origins)
    return _Rules(
        address=address,
        key=key or None,
        hosts=hosts,
        origins=origins,
        concurrency=read.get("mcp", "concurrency"),
        structured=read.get("mcp", "structured"),
    )


def _settings(given: Mapping[str, Any]) -> Settings:
    source = SettingsSource(schema_of, sections=sections, trusted=given.get("trust.folders", ()))
    current = source.current()
    return current.override(*call_settings(given, schema_of, sections, named=current.named))


def _address(host: str) -> str:
    """Return the address to listen on. Names are not looked up: what they lead to could change after the check."""
    if host.lower() == "localhost":
        return DEFAULT_HOST
    try:
        if "%" in host:  # a zone is no part of an address, and no client could write it into a Host header
            raise ValueError
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).compressed
    except ValueError:
        hint = "write an address of this machine, such as 127.0.0.1, ::1 or 0.0.0.0"
        raise RequestError("host", f"{quote(host)!r} is not an IP address", hint=hint) from None


def _bind(address: str, port: int) -> socket.socket:
    """Return a socket that listens there, made before what must know its port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with contextlib.ExitStack() as undo:
            listener = undo.enter_context(socket.socket(family, socket.SOCK_STREAM))
            if os.name == "posix":  # else a server that is started anew waits a minute for its own old connections
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
            listener.listen(BACKLOG)
            undo.pop_all()
            return listener
    except OSError as error:
        raise _cannot_listen(_place(address, port), error) from None


def _place(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _cannot_listen(place: str, error: OSError) -> WebSeamError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.EADDRINUSE:
        hint = "another server has it; choose another with --port, or 0 for any free one"
        return WebSeamError(f"cannot listen on {place}: {reason}", outcome=Outcome.UNAVAILABLE, hint=hint)
    return RequestError("host", f"cannot listen on {place}: {reason}", hint="choose another with --host and --port")


def _say(notice: str) -> None:
    print(f"webseam: {notice}", file=sys.stderr, flush=True)
