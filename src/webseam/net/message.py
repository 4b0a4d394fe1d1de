"""Requests and responses as values.

Providers build a `Request` and read a `Response` in pure functions, so these types must not import the HTTP library,
`ssl` or `socket`: describing a provider would then cost 150 ms of imports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from webseam.text import clean

Overflow = Literal["refuse", "truncate"]
CacheUse = Literal["use", "refresh", "off"]
RawHeaders = list[tuple[bytes, bytes]]

MAX_BODY = 5 * 1024 * 1024  # decoded bytes; the largest search answers seen are under 2 MiB

# Fields by which an answer is matched to its question; a caller who sets them could make two servers disagree.
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "expect", "te", "trailer"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """One HTTP request, exactly as it is to be sent.

    Attributes:
        headers: sent as given. The client adds Host, Content-Length, and User-Agent and Accept-Encoding if missing.
        secrets: texts that must never show in an error about this request.
        max_bytes: the most decoded bytes of body that are kept.
        limit_of: tells that from the headers of the answer, in place of `max_bytes`.
        overflow: what a longer body means: "refuse" raises, "truncate" returns the first `max_bytes`.
        stop_at: for event streams: given the data of each event, True means that nothing after it is wanted.
        cache: for a client that has one: "use" takes an answer that is kept and fresh, "refresh" asks the server every
            time and keeps what it says, "off" neither takes nor keeps. Only GETs without secrets, without fields that
            name somebody and without `stop_at` are kept, whatever this says.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    max_bytes: int = MAX_BODY
    limit_of: Callable[[Headers], int] | None = field(default=None, repr=False)
    overflow: Overflow = "refuse"
    stop_at: Callable[[str], bool] | None = field(default=None, repr=False)
    cache: CacheUse = "off"

    def __repr__(self) -> str:  # a key may stand in the query
        from webseam.net.redact import Redactor, redact_url

        return f"Request({self.method!r}, {redact_url(Redactor(self.secrets)(self.url))!r})"


class Headers:
    """Response headers: names compare without case, values are decoded and cleaned when they are read."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Iterable[tuple[bytes, bytes]] = ()) -> None:
        values: dict[bytes, list[bytes]] = {}
        for name, value in fields:
            values.setdefault(name.lower(), []).append(value)
        self._fields = values

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return the first value of a field, or `default`."""
        values = self._fields.get(name.lower().encode("latin-1", "replace"))
        return _text(values[0]) if values else default

    def get_all(self, name: str) -> list[str]:
        """Return every value of a field, one for each line the server sent."""
        return [_text(value) for value in self._fields.get(name.lower().encode("latin-1", "replace"), ())]

    def raw(self, name: bytes) -> list[bytes]:
        """Return the values of a field (its name in lower case) as bytes, before cleaning could hide what was sent."""
        return self._fields.get(name, [])

    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every (name in lower case, value) as bytes, as they were sent."""
        for name, values in self._fields.items():
            for value in values:
                yield name, value

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield every (name in lower case, value)."""
        for name, values in self._fields.items():
            for value in values:
                yield _text(name), _text(value)

    def __contains__(self, name: str) -> bool:
        return name.lower().encode("latin-1", "replace") in self._fields

    def __repr__(self) -> str:  # values may hold session cookies
        return f"<Headers {', '.join(_text(name) for name in self._fields)}>"


def _text(value: bytes) -> str:
    """Decode a field. UTF-8 is what servers mean when they step outside ASCII; Latin-1 is what the old RFC said."""
    try:
        return clean(value.decode("utf-8"))
    except UnicodeDecodeError:
        return clean(value.decode("latin-1"))


class HeaderProblem(ValueError):
    """A request cannot be written as given. The message never holds a value: it may be a key."""


def encode_headers(headers: Iterable[tuple[str, str]], defaults: Iterable[tuple[str, str]]) -> RawHeaders:
    """Return `headers` as bytes, and those of `defaults` that are not among them before.

    Raises:
        HeaderProblem: a name or a value is not one, or it is the client's own business.
    """
    encoded: RawHeaders = []
    names = set()
    for name, value in headers:
        lowered = name.lower()
        if not _TOKEN.fullmatch(name):
            raise HeaderProblem("a header name has characters that HTTP does not allow there")
        if lowered in _OURS:
            raise HeaderProblem(f"the header {name} is set by the client itself")
        value = value.strip(" \t")
        if not _VALUE.fullmatch(value):
            raise HeaderProblem(f"the header {name} has a line break or a character outside Latin-1")
        names.add(lowered)
        encoded.append((name.encode("ascii"), value.encode("latin-1")))
    missing = [(name.encode(), value.encode()) for name, value in defaults if name.lower() not in names]
    return missing + encoded


@dataclass(frozen=True, slots=True, repr=False)
class Response:
    """What a server answered.

    Attributes:
        url: where the body came from, after redirects.
        body: decoded; never more than the request's `max_bytes`.
        truncated: the body is only the beginning, or only a part, of what the server has.
        timings: seconds: "dns", "connect", "tls" (0.0 on a kept connection), "first_byte" (since the request was
            written), "total". Sums over redirects.
        peer: the address that was dialled; None behind a proxy, and when nothing was.
        cached: the body was kept from an earlier request; it was fresh, or the server has just said that it holds.
        stored_at: when a cached body was received, in seconds since the epoch.
    """

    status: int
    headers: Headers
    url: str
    body: bytes = field(default=b"", repr=False)
    truncated: bool = False
    timings: dict[str, float] = field(default_factory=dict)
    peer: str | None = None
    cached: bool = False
    stored_at: float | None = None

    def __repr__(self) -> str:  # a key may stand in the query
        from webseam.net.redact import redact_url

        return f"Response({self.status!r}, {self.headers!r}, {redact_url(self.url)!r})"
