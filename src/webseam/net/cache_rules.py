"""What HTTP says about keeping an answer: whether, how long, for which requests, and how to ask whether it still holds.

Pure functions over headers, apart from the file and the client, so that every directive can be tried without a server
or a clock. Where a server contradicts itself, the reading that serves less from memory is taken: an answer fetched once
too often costs some milliseconds, one that is out of date costs trust.

Sources: RFC 9111 (caching), RFC 9110 sections 8.8 and 13 (validators and conditions), 5.6.7 (dates).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from webseam.net.message import Headers, RawHeaders

DAY = 86_400.0  # seconds
HEURISTIC_SHARE = 0.1  # of the time since the last change: RFC 9111, 4.2.2
MAX_HEURISTIC = DAY  # what nobody promised is asked for again after a day
MAX_LIFETIME = 365 * DAY  # seconds; longer promises are kept no longer
MAX_CONTROL = 4096  # characters of Cache-Control; the longest that sites send have some hundred
MAX_VALIDATOR = 1024  # bytes of an ETag that are sent back
CLOCK_SLACK = 2.0  # seconds by which a clock may be set back before what it dated counts as stale

# Kept without the server's saying so (RFC 9110, 15.1), but for 405, 414 and 501, which no page has.
BY_DEFAULT = frozenset({200, 203, 204, 300, 301, 308, 404, 410})
# Kept when the server says how long. Others with a lifetime are refusals and faults: a challenge page kept for an hour
# would hide the page for an hour.
WHEN_TOLD = BY_DEFAULT | {302, 303, 307}

# A request with a field of such a name is somebody's, and what it brings may be too. Matched anywhere in the name:
# services invent their own.
_PERSONAL = re.compile(r"auth|cookie|token|key|secret|passw|session|signature|credential", re.IGNORECASE)
# The caller asks for a part, or makes conditions of its own, whose answers are only the caller's to read.
_PARTIAL = frozenset({"range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"})

# Of one connection, or of no use later. A cookie that nobody sends back would only be a secret on a disk.
_NOT_KEPT = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authentication-info proxy-authorization proxy-connection te"
    b" trailer transfer-encoding upgrade set-cookie set-cookie2".split()
)
# They describe the body that is kept, which was decoded by them: RFC 9111, 3.2.
_OF_THE_BODY = frozenset({b"content-length", b"content-encoding", b"content-range", b"content-type"})

_DIRECTIVE = re.compile(r"""([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*=[ \t]*(?:"((?:\\.|[^"\\])*)"|([^,\s]*)))?""")
_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_DATE = re.compile(
    r"(?:[A-Za-z]{3,9},?[ ]+)?(?P<day>\d{1,2})[ -](?P<month>[A-Za-z]{3})[ -](?P<year>\d{2}|\d{4})"
    r"[ ]+(?P<time>\d\d:\d\d:\d\d)[ ]+(?:GMT|UTC|[+-]0000)",
    re.IGNORECASE | re.ASCII,
)
_ASCTIME = re.compile(
    r"[A-Za-z]{3}[ ]+(?P<month>[A-Za-z]{3})[ ]+(?P<day>\d{1,2})[ ]+(?P<time>\d\d:\d\d:\d\d)[ ]+(?P<year>\d{4})",
    re.IGNORECASE | re.ASCII,
)

Directives = Mapping[str, list[str]]  # by name in lower case; "" where a directive has no value
Varied = tuple[tuple[str, str], ...]  # the fields of a request that chose its answer, sorted by name


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer that was kept. Times are seconds since the epoch.

    Attributes:
        url: where it came from, without a fragment.
        varied: the fields of the request that chose it; empty when the server names none.
        headers: without those of the connection and without cookies.
        body: decoded; empty for a redirect that was followed.
        asked_at, heard_at: when the server last spoke about it, with the answer itself or with a 304: the request was
            written, and the headers were there.
        body_at: when the body was received.
        number: of its row in the file; 0 when it has none yet.
    """

    url: str
    varied: Varied
    status: int
    headers: Headers
    asked_at: float
    heard_at: float
    body_at: float
    body: bytes = field(default=b"", repr=False)
    number: int = 0


def directives(lines: Iterable[str]) -> Directives:
    """Return what Cache-Control says, all its lines taken together. What is too long to be meant keeps nothing."""
    found: dict[str, list[str]] = {}
    text = ", ".join(lines)
    if len(text) > MAX_CONTROL:
        return {"no-store": [""], "no-cache": [""]}
    for match in _DIRECTIVE.finditer(text):
        name, quoted, bare = match.groups()
        value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else bare or ""
        found.setdefault(name.lower(), []).append(value)
    return found


def http_date(text: str) -> float | None:
    """Return a date as seconds since the epoch; None when it is none. All three forms that HTTP has known are read."""
    found = _DATE.fullmatch(text.strip()) or _ASCTIME.fullmatch(text.strip())
    month = _MONTHS.get(found["month"].lower()) if found else None
    if found is None or month is None:
        return None
    year = int(found["year"])
    if len(found["year"]) == 2:
        year += 1900 if year >= 70 else 2000
    hour, minute, second = (int(part) for part in found["time"].replace(":60", ":59").split(":"))  # a leap second
    try:
        moment = datetime.datetime(year, month, int(found["day"]), hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        return None
    return moment.timestamp()


def is_private(headers: Iterable[tuple[str, str]]) -> bool:
    """Return whether a request carries something that makes its answer one person's."""
    return any(_PERSONAL.search(name) for name, _ in headers)


def is_partial(headers: Iterable[tuple[str, str]]) -> bool:
    """Return whether a request asks for a part, or under conditions of the caller's."""
    return any(name.lower() in _PARTIAL for name, _ in headers)


def asked(headers: Iterable[tuple[str, str]]) -> Directives:
    """Return what a request says in Cache-Control, or in Pragma, which older clients used for one directive of it."""
    fields = [(name.lower(), value) for name, value in headers]
    control = directives(value for name, value in fields if name == "cache-control")
    if not control and any(name == "pragma" and "no-cache" in value.lower() for name, value in fields):
        return {"no-cache": [""]}
    return control


def may_store(status: int, headers: Headers, received: float) -> bool:
    """Return whether an answer to a GET may be kept, and whether keeping it can ever be of use."""
    control = directives(headers.get_all("cache-control"))
    if status not in WHEN_TOLD or "no-store" in control or "*" in vary(headers):
        return False
    told = "max-age" in control or "expires" in headers or "public" in control or "private" in control
    if status not in BY_DEFAULT and not told:
        return False
    return lifetime(status, headers, received) > 0 or bool(conditions(headers))


def lifetime(status: int, headers: Headers, received: float) -> float:
    """Return for how many seconds an answer is fresh, counted from when its origin made it."""
    control = directives(headers.get_all("cache-control"))
    if "max-age" in control:
        return min(MAX_LIFETIME, *(_seconds(value) or 0.0 for value in control["max-age"]))
    made = _date(headers, "date")
    made = received if made is None else made
    if "expires" in headers:
        ends = [http_date(value) for value in headers.get_all("expires")]
        known = [end for end in ends if end is not None]
        return max(0.0, min(MAX_LIFETIME, min(known) - made)) if len(known) == len(ends) else 0.0
    changed = _date(headers, "last-modified")
    if changed is None or (status not in BY_DEFAULT and "public" not in control):
        return 0.0
    return max(0.0, min(MAX_HEURISTIC, (made - changed) * HEURISTIC_SHARE))


def age(stored: Stored, now: float) -> float:
    """Return how many seconds ago the origin made an answer or said that it holds: RFC 9111, 4.2.3."""
    made = _date(stored.headers, "date")
    apparent = max(0.0, stored.heard_at - made) if made is not None else 0.0
    told = max((_seconds(value) or 0.0 for value in stored.headers.get_all("age")), default=0.0)
    on_its_way = max(0.0, stored.heard_at - stored.asked_at)
    return max(apparent, told + on_its_way) + max(0.0, now - stored.heard_at)


def is_fresh(stored: Stored, now: float, wanted: Directives) -> bool:
    """Return whether an answer may be given without asking the server. `wanted` is what the request itself says."""
    control = directives(stored.headers.get_all("cache-control"))
    if "no-cache" in control or "no-cache" in wanted:
        return False
    if not control and "no-cache" in (stored.headers.get("pragma") or "").lower():
        return False
    if now < stored.heard_at - CLOCK_SLACK:  # the clock was set back, and no age can be told any more
        return False
    old = age(stored, now)
    limit = min((_seconds(value) or 0.0 for value in wanted.get("max-age", ())), default=MAX_LIFETIME)
    reserve = max((_seconds(value) or 0.0 for value in wanted.get("min-fresh", ())), default=0.0)
    return old < lifetime(stored.status, stored.headers, stored.heard_at) - reserve and old <= limit


def conditions(headers: Headers) -> RawHeaders:
    """Return the fields that ask whether an answer still holds; none when it has nothing to tell it by."""
    found: RawHeaders = []
    tags = headers.raw(b"etag")
    if len(tags) == 1 and 0 < len(tags[0]) <= MAX_VALIDATOR and tags[0].isascii() and tags[0].decode().isprintable():
        found.append((b"If-None-Match", tags[0]))
    dates = headers.raw(b"last-modified")
    if len(dates) == 1 and _date(headers, "last-modified") is not None:
        found.append((b"If-Modified-Since", dates[0]))
    return found


def vary(headers: Headers) -> frozenset[str]:
    """Return the names in lower case of the request's fields that chose an answer; "*" stands for what nobody sees."""
    return frozenset(
        name.strip().lower() for line in headers.get_all("vary") for name in line.split(",") if name.strip()
    )


def variation(names: Iterable[str], sent: RawHeaders) -> Varied:
    """Return the values that a request has for the fields `names`. One that is not sent differs from an empty one."""
    values: dict[str, list[str]] = {}
    for name, value in sent:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())
    return tuple((name, ", ".join(values[name])) for name in sorted(set(names)) if name in values)


def answers(stored: Stored, sent: RawHeaders) -> bool:
    """Return whether an answer was chosen by the same fields as this request has."""
    return variation(vary(stored.headers), sent) == stored.varied


def kept_headers(headers: Headers) -> Headers:
    """Return the headers of an answer that may be kept: RFC 9111, 3.1."""
    named = {name.strip().lower() for line in headers.raw(b"connection") for name in line.split(b",")}
    return Headers((name, value) for name, value in headers.pairs() if name not in _NOT_KEPT and name not in named)


def confirms(stored: Stored, headers: Headers) -> bool:
    """Return whether a 304 speaks of this answer. One with another tag is about something that is not kept here."""
    ours, theirs = stored.headers.get("etag"), headers.get("etag")
    return theirs is None or ours is None or theirs.removeprefix("W/") == ours.removeprefix("W/")


def refreshed(stored: Stored, headers: Headers, *, asked_at: float, heard_at: float) -> Stored:
    """Return an answer after a 304: its body, with what the server now says around it."""
    new = [(name, value) for name, value in kept_headers(headers).pairs() if name not in _OF_THE_BODY]
    replaced = {name for name, _ in new} | {b"age", b"date"}  # these two belong to the message that told them
    old = [(name, value) for name, value in stored.headers.pairs() if name not in replaced]
    return replace(stored, headers=Headers([*old, *new]), asked_at=asked_at, heard_at=heard_at)


def with_age(headers: Headers, seconds: float) -> Headers:
    """Return headers that tell how old the answer is, as those of one from memory must: RFC 9111, 5.1."""
    others = [(name, value) for name, value in headers.pairs() if name != b"age"]
    return Headers([*others, (b"age", b"%d" % max(0, int(seconds)))])


def _date(headers: Headers, name: str) -> float | None:
    values = headers.get_all(name)
    return http_date(values[0]) if len(values) == 1 else None


def _seconds(text: str) -> float | None:
    """Return a number of seconds; None when it is none. Longer than any lifetime is as good as for ever."""
    text = text.strip()
    if not (text.isascii() and text.isdigit()):
        return None
    return float(int(text)) if len(text) <= 10 else MAX_LIFETIME
