"""Reading an answer off its connection: where its body ends, and whether the connection can be used again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from webseam.errors import Outcome, TransportError
from webseam.net.body import Body
from webseam.net.exchange import Exchange
from webseam.net.message import Headers, Request, Response
from webseam.net.sse import EventParser

if TYPE_CHECKING:
    from httpcore2 import Response as Answer

    from webseam.net.cache_rules import Stored
    from webseam.net.stream import Stream

_NO_BODY = frozenset({204, 304})


def stream_of(answer: Answer) -> Stream:
    """Return the connection an answer came over."""
    return cast("Stream", answer.extensions["network_stream"])


def chunks(answer: Answer) -> AsyncGenerator[bytes]:
    """Return the body of an answer as it comes in. To be closed, or the pool waits for the garbage collector."""
    return cast("AsyncGenerator[bytes]", answer.stream.__aiter__())  # type: ignore[union-attr]


async def receive(answer: Answer, headers: Headers, length: int | None, body: Body) -> None:
    """Read an answer's body into `body`, as far as it wants it.

    Raises:
        BodyError: it cannot be decoded, or did not come whole. EventTooLarge: see `Body.watch`.
    """
    async with aclosing(chunks(answer)) as pieces:
        async for data in pieces:
            if not body.feed(data):
                return
    body.finish()
    retire_if_out_of_step(answer, headers, length)


async def drain(answer: Answer, length: int | None) -> None:
    """Read the body of a redirect if it is here already: then its connection can be used for the next request."""
    if length is not None and stream_of(answer).answer.after_head == length:
        async with aclosing(chunks(answer)) as pieces:
            async for _ in pieces:
                pass


def retire_if_out_of_step(answer: Answer, headers: Headers, length: int | None) -> None:
    """Keep a connection from being used again when it is not certain where its answer ended."""
    two_lengths = "transfer-encoding" in headers and "content-length" in headers
    if two_lengths or stream_of(answer).answer.has_more_than(length):
        stream_of(answer).retire()


def body_length(headers: Headers, method: str, status: int) -> int | None:
    """Return the length of a body that was announced; None when it ends with a last chunk or with the connection."""
    if method == "HEAD" or status in _NO_BODY:
        return 0
    lengths = headers.raw(b"content-length")
    return int(lengths[0]) if lengths and "transfer-encoding" not in headers else None


def asked_for_part(request: Request) -> bool:
    """Return whether a part of the content is what was wanted."""
    return any(name.lower() == "range" for name, _ in request.headers)


def limit(request: Request, headers: Headers) -> int:
    """Return the most decoded bytes of an answer's body that are kept."""
    return request.max_bytes if request.limit_of is None else request.limit_of(headers)


def too_large(what: str, most: int, exchange: Exchange) -> TransportError:
    """Return the error for a body of more than `most` bytes."""
    detail = f"{{host}} {what}; at most {most:,} bytes are read"
    return exchange.failed(Outcome.UNSUPPORTED, "too_large", detail)


def give(stored: Stored, request: Request, exchange: Exchange, *, peer: str | None) -> Response:
    """Return an answer from the cache as if it had just come.

    Raises:
        TransportError: it is longer than this request reads.
    """
    most = limit(request, stored.headers)
    truncated = len(stored.body) > most
    exchange.phase = "body"
    if truncated and request.overflow == "refuse":
        raise too_large("sent more", most, exchange)
    return Response(
        status=stored.status,
        headers=stored.headers,
        url=stored.url,
        body=stored.body[:most],
        truncated=truncated,
        timings=exchange.timings(),
        peer=peer,
        cached=True,
        stored_at=stored.body_at,
    )


def watch_events(request: Request, headers: Headers) -> Callable[[bytes], int | None] | None:
    """Return what ends the reading of an event stream once the last event that is needed has come."""
    stop_at = request.stop_at
    if stop_at is None or not (headers.get("content-type") or "").lower().startswith("text/event-stream"):
        return None
    parser = EventParser()

    def watch(piece: bytes) -> int | None:
        for event in parser.feed(piece):
            if stop_at(event.data):
                return event.end
        return None

    return watch
