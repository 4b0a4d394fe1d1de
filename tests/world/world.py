"""The world itself: it starts servers, signs their certificates and takes everything down at the end."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import socket
import ssl
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import trustme

from tests.world.names import Names
from tests.world.server import Connection, Play, Recorded
from tests.world.site import Handler, Site
from webseam.errors import EgressDenied, TransportError
from webseam.net.client import Client, Request, Response
from webseam.net.policy import EgressPolicy

LOOPBACK = ("127.0.0.0/8", "::1")


def soon(seconds: float = 10.0) -> float:
    """Return a deadline, as `Client.send` takes it."""
    return time.monotonic() + seconds


class World:
    """Servers, names and certificates of one test.

    Attributes:
        names: the scripted resolver of every client of this world.
        connections: every connection accepted, by any server, in order.
    """

    def __init__(self) -> None:
        self.names = Names()
        self.connections: list[Connection] = []
        self._closing = contextlib.AsyncExitStack()
        self._authority: trustme.CA | None = None
        self._ca_bundle: Path | None = None
        self._playing: set[asyncio.Task[None]] = set()
        self._problems: list[Exception] = []
        self._site: Site | None = None
        self._client: Client | None = None
        self._held: list[socket.socket] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self._closing.aclose()
        for task in self._playing:
            task.cancel()
        await asyncio.gather(*self._playing, return_exceptions=True)
        for held in self._held:
            held.close()
        if error is None and self._problems:
            raise self._problems[0]

    # Servers.

    def serve(self, play: Play, *, host: str = "127.0.0.1", tls: bool | ssl.SSLContext = False, port: int = 0) -> str:
        """Start a server that calls `play(connection)` for each connection and closes it after; return its origin.

        `host` may be a name: it then resolves to 127.0.0.1 here. `tls` gives it a certificate for that host.
        """
        listener = self._listen(host if host.startswith("127.") else "127.0.0.1", port)
        context = self.certificate(host) if tls is True else tls or None
        self._start(listener, play, context)
        if not host.startswith("127."):
            self.names.set(host, ["127.0.0.1"])
        return f"{'https' if context else 'http'}://{host}:{listener.getsockname()[1]}"

    def site(self, *, host: str = "127.0.0.1", tls: bool | ssl.SSLContext = False) -> Site:
        """Start a well-behaved HTTP site of its own."""
        site = Site()
        site.url = self.serve(site, host=host, tls=tls)
        return site

    def route(self, method: str, path: str, handler: Handler) -> str:
        """Add a route to the world's own site; return its URL."""
        return self._own_site().route(method, path, handler)

    @property
    def url(self) -> str:
        """The origin of the world's own site."""
        return self._own_site().url

    @property
    def requests(self) -> list[Recorded]:
        """What came in at the world's own site."""
        return self._own_site().requests

    def closed_port(self) -> str:
        """Return an origin where nobody listens. The port stays taken, so that nobody else will."""
        held = socket.socket()
        held.bind(("127.0.0.1", 0))
        self._held.append(held)
        return f"http://127.0.0.1:{held.getsockname()[1]}"

    def blackhole(self, *, address: str = "127.0.0.1", port: int = 0) -> str:
        """Return an origin that swallows every SYN: a listener whose queue is full and that accepts nobody."""
        listener = self._listen(address, port, backlog=0)
        self._held.append(listener)
        for _ in range(3):  # the queue holds one more than its length; the rest makes sure
            filler = socket.socket()
            filler.setblocking(False)
            self._held.append(filler)
            filler.connect_ex(listener.getsockname())
        return f"http://{address}:{listener.getsockname()[1]}"

    def _listen(self, address: str, port: int, *, backlog: int = 100) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(backlog)
        listener.setblocking(False)
        return listener

    def _start(self, listener: socket.socket, play: Play, context: ssl.SSLContext | None) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = Connection(reader, writer)
            self.connections.append(connection)
            task = asyncio.current_task()
            assert task is not None
            self._playing.add(task)
            try:
                with contextlib.suppress(ConnectionError):  # the client went away, which is its right
                    await play(connection)
                await connection.close()
            except asyncio.CancelledError:
                connection.writer.transport.abort()
            except Exception as error:  # noqa: BLE001 - raised again when the world ends
                self._problems.append(error)
            finally:
                self._playing.discard(task)

        starting = asyncio.ensure_future(asyncio.start_server(accept, sock=listener, ssl=context))

        async def stop() -> None:
            (await starting).close()

        self._closing.push_async_callback(stop)

    def _own_site(self) -> Site:
        if self._site is None:
            self._site = self.site()
        return self._site

    # Certificates.

    @property
    def authority(self) -> trustme.CA:
        """The certificate authority that clients of this world trust."""
        if self._authority is None:
            self._authority = trustme.CA()
        return self._authority

    @property
    def ca_bundle(self) -> str:
        """The file with that authority."""
        if self._ca_bundle is None:
            folder = self._closing.enter_context(tempfile.TemporaryDirectory())
            self._ca_bundle = Path(folder) / "authority.pem"
            self.authority.cert_pem.write_to_path(self._ca_bundle)
        return str(self._ca_bundle)

    def certificate(
        self, *hosts: str, expired: bool = False, authority: trustme.CA | None = None, alpn: list[str] | None = None
    ) -> ssl.SSLContext:
        """Return a server's TLS context with a certificate for `hosts`."""
        ended = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
        begun = ended - datetime.timedelta(days=1)
        dates: dict[str, Any] = {"not_before": begun, "not_after": ended} if expired else {}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        (authority or self.authority).issue_cert(*hosts, **dates).configure_cert(context)
        if alpn:
            context.set_alpn_protocols(alpn)
        return context

    def self_signed(self) -> ssl.SSLContext:
        """Return a server's TLS context with a certificate that nobody else has signed."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        stranger = trustme.CA()
        with stranger.cert_pem.tempfile() as certificate, stranger.private_key_pem.tempfile() as key:
            context.load_cert_chain(certificate, key)
        return context

    # Clients.

    def client(self, policy: EgressPolicy | None = None, **options: Any) -> Client:
        """Return a client of this world, closed with it. By default it may dial loopback and nothing else private."""
        options.setdefault("resolver", self.names)
        if self._authority is not None:
            options.setdefault("ca_bundle", self.ca_bundle)
        client = Client(policy or EgressPolicy(allow=LOOPBACK), **options)
        self._closing.push_async_callback(client.aclose)
        return client

    async def send(
        self, method: str, url: str, *, client: Client | None = None, within: float = 10.0, **request: Any
    ) -> Response:
        """Send a request with `client`, by default one that all calls share, and return the answer."""
        if client is None:
            if self._client is None:
                self._client = self.client()
            client = self._client
        return await client.send(Request(method, url, **request), expires_at=soon(within))

    async def fail(self, method: str, url: str, **options: Any) -> TransportError | EgressDenied:
        """Send a request that must fail and return its error. Takes what `send` takes."""
        try:
            response = await self.send(method, url, **options)
        except (TransportError, EgressDenied) as error:
            return error
        raise AssertionError(f"{method} {url} was answered: {response!r}")
