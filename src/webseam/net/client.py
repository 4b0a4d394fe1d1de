"""The client: one request, one deadline, one answer or one error.

It stands directly on the connection pool. The library's own client loses the end of a cut gzip stream in silence,
follows redirects nobody judged, joins two Location headers into one, keeps cookies and reads proxies from the
environment; each of those would have to be undone for every request.

A `Client` belongs to one event loop. It never retries, except once where a kept connection turns out to be closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from webseam.errors import EgressDenied, Outcome, TransportError
from webseam.net.answer import (
    asked_for_part,
    body_length,
    drain,
    give,
    limit,
    receive,
    stream_of,
    too_large,
    watch_events,
)
from webseam.net.body import Body, BodyError, decoders, offered
from webseam.net.exchange import CURRENT, Exchange
from webseam.net.message import HeaderProblem, Headers, Overflow, RawHeaders, Request, Response, encode_headers
from webseam.net.policy import EgressPolicy
from webseam.net.proxy import parse_proxy
from webseam.net.redact import Redactor, redact_url
from webseam.net.redirect import FOLLOWED, LEADS_ON, Unresolved, next_request, read_location, unresolved
from webseam.net.resolve import Resolver, SystemResolver
from webseam.net.sse import EventTooLarge
from webseam.net.url import join, parse
from webseam.version import VERSION

if TYPE_CHECKING:  # 150 ms of imports that only a request needs
    from httpcore2 import Response as Answer

    from webseam.net.cache import Memory, ResponseCache
    from webseam.net.cache_rules import Stored
    from webseam.net.lane import Lane, Target

__all__ = ["Client", "Headers", "Overflow", "Request", "Response"]

USER_AGENT = f"webseam/{VERSION}"
CONNECT_TIMEOUT = 5.0  # seconds for one address: a SYN is sent again after 1 and 3 s
MAX_HEADERS = 256  # fields of an answer
_REMEMBERED = 256  # URLs, and sets of headers, whose encoded form is kept

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})  # RFC 9110, 9.2.1: what does not change what is at a URL
_SENDS_BODY = frozenset({"POST", "PUT", "PATCH"})

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Failure = TypeVar("_Failure", bound=TransportError | EgressDenied)


class Client:
    """Sends requests that `policy` allows.

    Args:
        resolver: names to addresses; the system's by default.
        proxy: `http://`, `https://` or `socks5h://`, the only proxy ever used. It resolves the names; with a policy of
            `local_dns` they are resolved and judged here as well.
        ca_bundle: a file of certificate authorities instead of the operating system's.
        connect_timeout: seconds for one address, within the deadline of the request.
        cache: keeps answers for requests that ask for it. The policy judges each hop that it answers, too.

    Raises:
        RequestError: the proxy cannot be read.
    """

    def __init__(
        self,
        policy: EgressPolicy,
        *,
        resolver: Resolver | None = None,
        proxy: str | None = None,
        ca_bundle: str | None = None,
        user_agent: str = USER_AGENT,
        connect_timeout: float = CONNECT_TIMEOUT,
        cache: ResponseCache | None = None,
    ) -> None:
        self._proxy = parse_proxy(proxy) if proxy else None
        self._through = f" (through the proxy {self._proxy})" if self._proxy else ""
        self._policy = replace(policy, proxy=True) if self._proxy else policy
        self._resolver = resolver or SystemResolver()
        self._ca_bundle = ca_bundle
        self._connect_timeout = connect_timeout
        self._user_agent = user_agent
        self._cache = cache
        self._lane: Lane | None = None
        self._targets: dict[str, Target] = {}
        self._encoded: dict[tuple[tuple[str, str], ...], RawHeaders] = {}

    @property
    def open_connections(self) -> int:
        """How many sockets are open, idle ones included."""
        return len(self._lane.backend.opened) if self._lane else 0

    def prepare(self) -> None:
        """Load what a request needs, and open nothing. Otherwise the first request does."""
        self._open_lane()

    async def aclose(self) -> None:
        """Close every connection. Requests that are under way fail."""
        if self._lane:
            await self._lane.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def send(self, request: Request, *, expires_at: float) -> Response:
        """Send one request and return the whole answer.

        `expires_at` is an instant of `time.monotonic()`. It bounds look-up, connection, TLS, headers, body, decoding
        and all redirects together.

        Raises:
            EgressDenied: the policy refuses the URL, an address of its host, or where a redirect leads.
            TransportError: everything else, with the phase it happened in.
        """
        from webseam.net.lane import FAILURES, explain

        exchange = Exchange(expires_at, through=self._through)
        clock = asyncio.timeout(exchange.remaining())
        token = CURRENT.set(exchange)
        try:
            target = self._target(request.url)
            exchange.begin(target.url)
            if exchange.remaining() <= 0:
                raise exchange.timed_out()
            async with clock:
                return await self._follow(request, target, exchange)
        except FAILURES as error:
            late = isinstance(error, TimeoutError) and clock.expired()
            raise _redacted(exchange.timed_out() if late else explain(error, exchange), request) from None
        except (TransportError, EgressDenied) as error:
            raise _redacted(error, request) from None
        finally:
            CURRENT.reset(token)

    async def _follow(self, request: Request, target: Target, exchange: Exchange) -> Response:
        """Send the request, and those its redirects lead to."""
        seen = [target.url.href]
        lane = self._open_lane()
        while True:
            if self._proxy and self._policy.local_dns:  # nothing is dialled here that would be judged on the way
                exchange.answers = await lane.backend.judged_addresses(target.url, exchange)
            headers = self._headers(request, exchange)
            memory = self._memory(request, target, headers)
            came = await self._recall(memory, request, target, exchange) if memory else None
            if came is None:
                came = await self._ask(memory, request, target, headers, exchange)
            if isinstance(came, Response):
                return came
            following = await self._next_target(target, came, seen, exchange)
            request = next_request(request, target.url, following.url)
            target = following
            seen.append(target.url.href)

    async def _ask(
        self, memory: Memory | None, request: Request, target: Target, headers: RawHeaders, exchange: Exchange
    ) -> Response | str:
        """Return the answer of the server, or where it redirects to."""
        conditions = memory.conditions if memory else []
        answer = await self._open_lane().ask(request.method, target, [*headers, *conditions], request.body, exchange)
        try:
            fields = self._read_head(answer, request, exchange)
            if memory and conditions and answer.status == 304:
                await drain(answer, 0)
                stored = await memory.confirmed(fields)
                if stored is not None:
                    return self._give(stored, request, exchange, peer=stream_of(answer).peer)
            elif not self._leads_on(request, answer.status, exchange):
                return await self._read_answer(answer, fields, request, target, exchange, memory)
            else:
                location = read_location(fields, exchange)
                await drain(answer, body_length(fields, request.method, answer.status))
                if memory:
                    memory.learn(answer.status, fields, b"", whole=True)
                return location
        finally:
            await answer.aclose()
        exchange.begin(target.url, exchange.answers)
        return await self._ask(memory, request, target, headers, exchange)  # without conditions this time

    # What is kept.

    def _memory(self, request: Request, target: Target, headers: RawHeaders) -> Memory | None:
        """Return what the cache is to a request."""
        if self._cache is None:
            return None
        if request.method not in _SAFE:
            self._cache.forget_url(target.url.href)  # before it is sent: whether it failed is not always known
        if request.cache == "off":
            return None
        from webseam.net.cache import memory_of

        return memory_of(self._cache, request, target.url.href, headers)

    async def _recall(
        self, memory: Memory, request: Request, target: Target, exchange: Exchange
    ) -> Response | str | None:
        """Return the answer that is kept and fresh, or where it redirects to, if it might be fetched today as well."""
        stored = await memory.fresh()
        if stored is None:
            return None
        if not self._proxy or self._policy.local_dns:
            await self._open_lane().backend.judged_addresses(target.url, exchange)
        return self._give(stored, request, exchange, peer=None)

    def _give(self, stored: Stored, request: Request, exchange: Exchange, *, peer: str | None) -> Response | str:
        """Return what is kept, or where it redirects to."""
        if self._leads_on(request, stored.status, exchange):
            return read_location(stored.headers, exchange)
        return give(stored, request, exchange, peer=peer)

    def _open_lane(self) -> Lane:
        if self._lane is None:
            from webseam.net.lane import Lane, load_late_parts

            load_late_parts()
            offered()
            self._lane = Lane(
                self._policy,
                self._resolver,
                proxy=self._proxy,
                ca_bundle=self._ca_bundle,
                connect_timeout=self._connect_timeout,
            )
        return self._lane

    def _headers(self, request: Request, exchange: Exchange) -> RawHeaders:
        """Return the headers to send, but for Host."""
        encoded = self._encoded.get(request.headers)
        if encoded is None:
            try:
                defaults = (("User-Agent", self._user_agent), ("Accept-Encoding", offered()))
                encoded = encode_headers(request.headers, defaults)
            except HeaderProblem as problem:
                exchange.phase = "request"
                hint = "look for stray characters in the key" if "Latin-1" in str(problem) else None
                raise exchange.failed(Outcome.INVALID, "header", str(problem), hint=hint) from None
            _remember(self._encoded, request.headers, encoded)
        if request.body or request.method in _SENDS_BODY:
            return [*encoded, (b"Content-Length", b"%d" % len(request.body))]
        return encoded

    # Where a request may go.

    def _target(self, text: str) -> Target:
        """Return a URL that passes the literal rules. Whether its addresses pass is judged when one is dialled."""
        target = self._targets.get(text)
        if target is None:
            from webseam.net.lane import target_of

            url = parse(text)
            verdict = self._policy.judge_literally(url.href)
            if not verdict.allowed:
                raise EgressDenied(verdict.rule, verdict.detail, url=redact_url(url.href))
            target = target_of(url)
            _remember(self._targets, text, target)
        return target

    def _leads_on(self, request: Request, status: int, exchange: Exchange) -> bool:
        """Return whether a redirect is to be followed.

        Raises:
            TransportError: it is one that never is.
        """
        if not 300 <= status < 400 or status == 304:
            return False
        exchange.phase = "parse"
        if self._policy.origin is not None:
            detail = f"redirect refused: {{host}} answered {status}, and a configured service must answer itself"
            hint = "set its base URL to where it redirects to, if that is right"
            raise exchange.failed(Outcome.BAD_RESPONSE, "redirect", detail, hint=hint)
        if status in LEADS_ON and request.method not in FOLLOWED:
            detail = f"redirect refused: {{host}} answered {status}, and a {request.method} is not sent on"
            raise exchange.failed(Outcome.BAD_RESPONSE, "redirect", detail)
        return status in LEADS_ON

    async def _next_target(self, current: Target, location: str, seen: Sequence[str], exchange: Exchange) -> Target:
        """Return where a redirect leads.

        Raises:
            EgressDenied: to somewhere that may not be dialled.
            TransportError: in a circle, on and on, or to a name without an address.
        """
        judge = partial(self._policy.judge_redirect, current.url.href, location, seen=seen)
        answers: Sequence[str] | None = None
        try:
            verdict, following = judge(resolve=unresolved)
        except Unresolved:
            url = join(current.url, location)
            exchange.begin(url)
            answers = await self._open_lane().backend.look_up(url.host, url.port, exchange)
            if not answers:
                raise exchange.failed(Outcome.NETWORK, "dns", "{host} has no address; a redirect led there") from None
            verdict, following = judge(resolve=lambda _: answers or ())
        if verdict.rule in ("redirect.loop", "redirect.too_many"):
            raise exchange.failed(Outcome.BAD_RESPONSE, "redirects", f"{{host}} redirects on and on: {verdict.detail}")
        if not verdict.allowed:
            raise EgressDenied(verdict.rule, verdict.detail, url=redact_url(following or current.url.href))
        target = self._target(following)
        exchange.begin(target.url, answers)
        return target

    # What came back.

    def _read_head(self, answer: Answer, request: Request, exchange: Exchange) -> Headers:
        """Return the headers of an answer.

        Raises:
            TransportError: they alone show that the answer cannot be used.
        """
        if len(answer.headers) > MAX_HEADERS:
            detail = f"{{host}} sent {len(answer.headers):,} headers, at most {MAX_HEADERS} are read"
            raise exchange.failed(Outcome.BAD_RESPONSE, "headers_too_large", detail)
        headers = Headers(answer.headers)
        if request.overflow == "refuse":
            if answer.status == 206 and not asked_for_part(request):
                detail = "{host} sent a part of the content, and the whole was asked for"
                raise exchange.failed(Outcome.BAD_RESPONSE, "truncated", detail)
            length = body_length(headers, request.method, answer.status)
            most = limit(request, headers)
            if length is not None and length > most:
                raise too_large(f"announces {length:,} bytes", most, exchange)
        return headers

    async def _read_answer(
        self,
        answer: Answer,
        headers: Headers,
        request: Request,
        target: Target,
        exchange: Exchange,
        memory: Memory | None,
    ) -> Response:
        exchange.phase = "body"
        peer, most = stream_of(answer).peer, limit(request, headers)
        length = body_length(headers, request.method, answer.status)
        try:
            coders = decoders(headers.get_all("content-encoding"))
            body = Body(coders, limit=most, watch=watch_events(request, headers))
            if most <= 0 < (length or 0):
                body.truncated = True  # of what is not wanted not even the first byte is waited for
            else:
                await receive(answer, headers, length, body)
        except BodyError as error:
            detail = f"{{host}} sent a body that cannot be read: {error}"
            raise exchange.failed(Outcome.BAD_RESPONSE, error.kind, detail) from None
        except EventTooLarge as error:
            detail = f"{{host}} streams too much: {error}"
            raise exchange.failed(Outcome.BAD_RESPONSE, "event_too_large", detail) from None
        if body.truncated and request.overflow == "refuse":
            raise too_large("sent more", most, exchange)
        if memory:
            memory.learn(answer.status, headers, body.content(), whole=not body.truncated)
        return Response(
            status=answer.status,
            headers=headers,
            url=target.url.href,
            body=body.content(),
            truncated=body.truncated or (answer.status == 206 and not asked_for_part(request)),
            timings=exchange.timings(),
            peer=peer,
        )


def _remember(memory: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    if len(memory) >= _REMEMBERED:  # forgetting all costs one encoding each; a model can name any number of URLs
        memory.clear()
    memory[key] = value


def _redacted(error: _Failure, request: Request) -> _Failure:
    """Take secrets out of an error: the other side may have sent back what it was given."""
    redact = Redactor(request.secrets)
    error.detail = redact(error.detail)
    error.args = (error.detail,)
    if isinstance(error, EgressDenied):
        error.url = redact(error.url)
    return error
