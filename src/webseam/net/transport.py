"""The network backend below the pool: the only code that dials.

The pool asks for a host and a port. The name is resolved once, every address is judged, and only those are dialled: a
client that resolves a second time when it connects can be given another address than the one that was judged. TLS gets
the name, not the address, as SNI and as what the certificate must say.

Source for dialling several addresses: RFC 8305 (Happy Eyeballs), without its sorting.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream

from webseam.errors import EgressDenied, Outcome, TransportError
from webseam.net.address import number
from webseam.net.exchange import CURRENT, Exchange
from webseam.net.policy import EgressPolicy, Verdict
from webseam.net.proxy import Proxy, greet
from webseam.net.redact import redact_url
from webseam.net.resolve import Resolver
from webseam.net.stream import Stream
from webseam.net.url import URL

HEAD_START = 0.25  # seconds until the next address is tried beside a silent one, as RFC 8305 recommends
MAX_DIALLED = 6  # addresses of one name; a CDN may give a dozen, and they fail together

# Where distributions keep their bundle, for Pythons whose OpenSSL looks in a folder that is not there.
_BUNDLES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)


class Contexts:
    """Makes the TLS context when the first https connection is dialled: reading the authorities takes 50 ms.

    It is made in a thread beside the look-up and the connection, so that the wait is not seen at all. The pool wants a
    context before it knows whether one is needed and sets the protocols it offers; it is given this object instead.
    """

    def __init__(self, ca_bundle: str | None) -> None:
        self._ca_bundle = ca_bundle
        self._made: asyncio.Future[ssl.SSLContext | OSError] | None = None

    def prepare(self) -> None:
        """Begin to make the context, if nobody has."""
        if self._made is None:
            self._made = asyncio.get_running_loop().run_in_executor(None, self._make)

    async def get(self, exchange: Exchange) -> ssl.SSLContext:
        """Return the context.

        Raises:
            TransportError: the bundle in the settings cannot be read.
        """
        self.prepare()
        assert self._made is not None  # noqa: S101 - prepare() made it
        made = await asyncio.shield(self._made)  # one caller's cancellation is not the others'
        if isinstance(made, OSError):
            self._made = None  # the file may be there the next time
            detail = f"the certificates of net.ca_bundle cannot be read ({made.strerror or made})"
            raise exchange.failed(Outcome.NETWORK, "ca_bundle", detail)
        return made

    def set_alpn_protocols(self, protocols: list[str]) -> None:
        """Ignore what the pool would offer: see `_make`."""

    def _make(self) -> ssl.SSLContext | OSError:
        try:
            context = make_context(self._ca_bundle)
        except OSError as error:  # SSLError is one
            return error
        context.set_alpn_protocols(["http/1.1"])  # HTTP/2 is never offered
        return context


def make_context(ca_bundle: str | None) -> ssl.SSLContext:
    """Return a context that trusts `ca_bundle`, or what the operating system trusts.

    Raises:
        OSError: the bundle cannot be read.
    """
    if ca_bundle is not None:
        return ssl.create_default_context(cafile=str(Path(ca_bundle).expanduser()))
    if sys.platform in ("darwin", "win32"):
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # The system's store is the file OpenSSL reads. truststore would read it again for every connection: 50 ms each.
    paths = ssl.get_default_verify_paths()
    found = next((bundle for bundle in _BUNDLES if Path(bundle).is_file()), None)
    return ssl.create_default_context(cafile=None if paths.cafile or paths.capath else found)


class Backend(AsyncNetworkBackend):
    """Dials for one pool. `opened` are its sockets that are not closed."""

    def __init__(
        self,
        policy: EgressPolicy,
        resolver: Resolver,
        *,
        proxy: Proxy | None,
        ca_bundle: str | None,
        connect_timeout: float,
    ) -> None:
        self.opened: set[Stream] = set()
        self.contexts = Contexts(ca_bundle)
        self._policy = policy
        self._resolver = resolver
        self._proxy = proxy
        self._connect_timeout = connect_timeout

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        """Return a connection to `host` for the exchange that is under way; `timeout` is the exchange's own.

        Raises:
            EgressDenied: an address is not allowed.
            TransportError: there is no address, or none accepted.
        """
        exchange = CURRENT.get()
        exchange.dialled = True
        url = exchange.url
        assert url is not None  # noqa: S101 - the client sets it before it asks the pool
        if url.scheme == "https":
            self.contexts.prepare()
        if self._proxy is not None:
            return await self._dial_proxy(self._proxy, exchange)
        addresses = await self.judged_addresses(url, exchange)
        return await self._dial_first(addresses[:MAX_DIALLED], port, exchange)

    async def judged_addresses(self, url: URL, exchange: Exchange) -> Sequence[str]:
        """Return the addresses of a URL's host, looked up once and all allowed.

        Raises:
            EgressDenied: one of them is not.
            TransportError: there is none, or no name server answered.
        """
        answers = exchange.answers  # already there when a redirect has been judged
        if answers is None:
            answers = () if url.address else await self.look_up(url.host, url.port, exchange)
        verdict = self._policy.judge(url.href, lambda _: answers)
        if not verdict.allowed:
            raise refusal(verdict, exchange)
        return verdict.addresses

    async def _dial_proxy(self, proxy: Proxy, exchange: Exchange) -> Stream:
        literal = number(proxy.host) is not None
        answers = (proxy.host,) if literal else await self.look_up(proxy.host, proxy.port, exchange)
        if not answers:
            raise exchange.failed(Outcome.NETWORK, "proxy", "the proxy's name has no address", hint="check net.proxy")
        stream = await self._dial_first(tuple(answers)[:MAX_DIALLED], proxy.port, exchange)
        stream.peer = None  # the proxy's own address says nothing about who answered
        if proxy.scheme == "socks5h":
            assert exchange.url is not None  # noqa: S101 - as above
            try:
                await greet(stream, proxy, exchange.url.host, exchange.url.port, exchange)
            except BaseException:
                stream.abort()
                raise
        return stream

    async def look_up(self, host: str, port: int, exchange: Exchange) -> Sequence[str]:
        """Return the addresses of a host, none when there is no such name.

        Raises:
            TransportError: no name server answered.
        """
        import socket

        exchange.phase = "dns"
        started = time.monotonic()
        try:
            return await self._resolver(host, port)
        except socket.gaierror as error:
            if error.errno in (socket.EAI_AGAIN, socket.EAI_FAIL):
                detail = f"no name server answered for {host}"
                hint = "check the network connection"
                raise exchange.failed(Outcome.NETWORK, "dns", detail, hint=hint) from None
            return ()
        except OSError as error:
            detail = f"{host} could not be resolved ({error.strerror or type(error).__name__})"
            raise exchange.failed(Outcome.NETWORK, "dns", detail) from None
        finally:
            exchange.dns_time += time.monotonic() - started

    async def _dial_first(self, addresses: Sequence[str], port: int, exchange: Exchange) -> Stream:
        """Return a connection to the first address that accepts one."""
        exchange.phase = "connect"
        started = time.monotonic()
        if len(addresses) == 1:  # no task for what is nearly every connection
            stream = await self._dial(addresses[0], port)
            problems = [stream] if isinstance(stream, OSError) else []
        else:
            stream, problems = await self._race(addresses, port)
        exchange.connect_time += time.monotonic() - started
        if isinstance(stream, OSError):
            raise not_connected(problems, exchange)
        return stream

    async def _race(self, addresses: Sequence[str], port: int) -> tuple[Stream | OSError, list[OSError]]:
        """Dial one address after the other, the next as soon as one fails or stays silent for `HEAD_START`."""
        waiting = list(addresses)
        running: set[asyncio.Task[Stream | OSError]] = set()
        problems: list[OSError] = []
        try:
            while waiting or running:
                if waiting:
                    running.add(asyncio.create_task(self._dial(waiting.pop(0), port)))
                done, running = await asyncio.wait(
                    running, timeout=HEAD_START if waiting else None, return_when=asyncio.FIRST_COMPLETED
                )
                results = [task.result() for task in done]
                streams = [result for result in results if isinstance(result, Stream)]
                problems += [result for result in results if isinstance(result, OSError)]
                if streams:
                    for other in streams[1:]:
                        other.abort()
                    return streams[0], problems
            return problems[-1], problems
        finally:
            for task in running:
                task.add_done_callback(_close_unwanted)
                task.cancel()

    def _new_stream(self) -> Stream:
        """Return what a connection is read and written through."""
        return Stream(self.contexts, self.opened)

    async def _dial(self, address: str, port: int) -> Stream | OSError:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_timeout):
                _, stream = await loop.create_connection(self._new_stream, address, port)
        except OSError as error:  # TimeoutError is one
            return error
        stream.peer = address
        return stream


def _close_unwanted(task: asyncio.Task[Stream | OSError]) -> None:
    if not task.cancelled() and isinstance(stream := task.result(), Stream):
        stream.abort()


def refusal(verdict: Verdict, exchange: Exchange) -> EgressDenied | TransportError:
    """Return the error for a verdict. A name without an address is a failure of the network, not a danger."""
    if verdict.rule in ("dns.no_answers", "proxy.env_ignored"):
        exchange.phase = "dns"
        return exchange.failed(Outcome.NETWORK, "dns", verdict.detail, hint="check the name and the network connection")
    url = redact_url(exchange.url.href) if exchange.url is not None else ""
    return EgressDenied(verdict.rule, verdict.detail, url=url)


def not_connected(problems: Sequence[OSError], exchange: Exchange) -> TransportError:
    """Return the error for addresses of which none accepted a connection."""
    if all(isinstance(problem, TimeoutError) for problem in problems):
        return exchange.failed(Outcome.TIMEOUT, "connect", "{host} did not accept a connection in time")
    problem = next(problem for problem in problems if not isinstance(problem, TimeoutError))
    if problem.errno == errno.ECONNREFUSED:
        return exchange.failed(Outcome.NETWORK, "refused", "{host} refused the connection")
    if problem.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
        detail = "there is no route to {host} from here"
        return exchange.failed(Outcome.NETWORK, "unreachable", detail, hint="check the network connection")
    reason = problem.strerror or type(problem).__name__
    return exchange.failed(Outcome.NETWORK, "connect", f"no connection to {{host}}: {reason}")
