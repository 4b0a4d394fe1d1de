"""Getting one page's bytes: what is asked for, once more where a challenge asks for a browser, and what a status means.

The client bounds, decodes and judges; what is decided here is only what the answer says about the page.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from webseam.errors import FetchError, Outcome
from webseam.fetch.challenge import asks_for_proof, is_challenge
from webseam.fetch.types import Source
from webseam.net.message import Headers, Request, Response
from webseam.net.redact import Redactor, secret_values
from webseam.resilience.retry import parse_retry_after
from webseam.text import plain
from webseam.version import VERSION

USER_AGENT: Final = f"webseam/{VERSION} (+https://pypi.org/project/webseam/)"
BROWSER_AGENT: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
ACCEPT: Final = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
ACCEPT_TEXT: Final = "text/markdown, text/plain;q=0.9, */*;q=0.1"

MAX_PAGE: Final = 5 * 1024 * 1024  # decoded bytes; 40 times the largest page that reads well
MAX_DOCUMENT: Final = 20 * 1024 * 1024  # of a file that is of no use in part
_WHOLE: Final = ("application/pdf", "application/zip", "application/epub+zip", "application/vnd.", "application/x-tar")
_ABSURD: Final = 256 * 1024 * 1024  # bytes announced from which nobody meant this to be read
_DIGITS: Final = 20
_WORDS_FROM: Final = 4_096  # bytes of an answer that its own words are taken from

Send = Callable[[Request], Awaitable[Response]]


async def download(url: str, send: Send, *, accept: str = ACCEPT, cache: bool = True) -> Response:
    """Return the answer of a page's server, whatever its status.

    Raises:
        EgressDenied, TransportError: as `Client.send`.
    """
    request = Request(
        "GET",
        url,
        headers=(("Accept", accept),),
        secrets=secret_values(url),
        max_bytes=MAX_PAGE,
        limit_of=limit_of,
        overflow="truncate",
        cache="use" if cache else "refresh",
    )
    response = await send(request)
    if asks_for_proof(response):  # once, and only where the server itself says so
        return await send(replace(request, headers=(*request.headers, ("User-Agent", BROWSER_AGENT)), cache="refresh"))
    return response


def limit_of(headers: Headers) -> int:
    """Return how much of an answer is kept: more of what cannot be used in part, nothing of what is absurdly large."""
    if announced(headers) > _ABSURD:
        return 0
    return MAX_DOCUMENT if essence_of(headers).startswith(_WHOLE) else MAX_PAGE


def announced(headers: Headers) -> int:
    """Return the length that an answer says its body has, 0 when it says none."""
    length = (headers.get("content-length") or "").strip()
    return int(length) if length.isascii() and length.isdecimal() and len(length) < _DIGITS else 0


def source_of(response: Response) -> Source:
    """Return what readers are given of an answer."""
    return Source(
        body=response.body,
        url=response.url,
        media_type=essence_of(response.headers),
        charset=charset_of(response.headers),
        truncated=response.truncated,
    )


def essence_of(headers: Headers) -> str:
    """Return the media type without parameters, lower case, "" when nothing is said."""
    # Some servers send the field twice, and something on the way joins the two with a comma.
    return (headers.get("content-type") or "").partition(";")[0].partition(",")[0].strip().lower()


def charset_of(headers: Headers) -> str | None:
    """Return the encoding that a media type names, as it names it."""
    for parameter in (headers.get("content-type") or "").split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.partition(",")[0].strip().strip("\"'") or None
    return None


def received_at(response: Response | None) -> str:
    """Return when an answer's body was received, now when it just was: an ISO 8601 instant in UTC."""
    stored = response.stored_at if response is not None else None
    at = datetime.now(UTC) if stored is None else datetime.fromtimestamp(stored, UTC)
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def failure(response: Response) -> FetchError | None:
    """Return the error that the status of an answer means, None for 2xx."""
    status = response.status
    if 200 <= status < 300:
        return None
    outcome, hint = _meaning(response)
    words = _words(response)
    detail = f"{_host(response.url)} answered {status}" + (f": {words}" if words else "")
    asked = response.headers.get("retry-after") if status in (429, 503) else None
    wait = parse_retry_after(asked, now=time.time())
    return FetchError(detail, outcome=outcome, hint=hint, http_status=status, retry_after=wait)


def _meaning(response: Response) -> tuple[Outcome, str | None]:
    status = response.status
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if is_challenge(response):
        return Outcome.BLOCKED, "it asks for proof of being human; another reader or another source may have the text"
    if status == 403:
        return Outcome.BLOCKED, "it refuses programs, or wants a sign-in; another source may have the text"
    if status == 401:
        return Outcome.AUTH, "the page needs a sign-in, and webseam sends none"
    if status == 402:
        return Outcome.QUOTA, "the page has to be paid for"
    if status == 429:
        return Outcome.RATE_LIMITED, "ask later"
    return (Outcome.UPSTREAM if status >= 500 else Outcome.BAD_RESPONSE), None


_BY_STATUS: Final[dict[int, tuple[Outcome, str | None]]] = {
    404: (Outcome.NOT_FOUND, "--archived looks for a copy in the web archive"),
    410: (Outcome.NOT_FOUND, "it is gone for good; --archived looks for a copy in the web archive"),
    451: (Outcome.BLOCKED, "it is withheld for legal reasons"),
    999: (Outcome.BLOCKED, "it refuses programs"),
}


def _words(response: Response) -> str:
    """Return what an answer says about itself, cleaned and cut."""
    head = response.body[:_WORDS_FROM].decode("utf-8", "replace")
    lowered = head.lower()
    start = lowered.find("<title")
    if start >= 0:
        head = head[head.find(">", start) + 1 : lowered.find("</title", start)]
    elif "<" in head[:200] or "\0" in head:
        return ""
    return Redactor(secret_values(response.url)).quote(plain(head))


def _host(url: str) -> str:
    from webseam.net.exchange import shown
    from webseam.net.url import parse

    return shown(parse(url))
