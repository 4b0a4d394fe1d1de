"""The Wayback Machine's copy of a page that is gone.

Two requests: whether there is a copy (the availability API), and its bytes as the page's own server once sent them
(`id_` after the timestamp: without it the archive writes its own links and scripts into the page). Where those bytes
are is worked out here from the timestamp alone; the address in the API's answer is never followed. The archive is told
the page's address, so one that is not public is refused first.

Source: https://archive.org/help/wayback_api.php
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote_plus

from webseam.errors import (
    EgressDenied,
    FetchError,
    Outcome,
    RequestError,
    SettingsError,
    TransportError,
    WebSeamError,
)
from webseam.net.message import Response
from webseam.net.policy import EgressPolicy
from webseam.net.redact import redact_url
from webseam.net.url import parse
from webseam.providers.answers import Reply, decode_json
from webseam.providers.verdicts import failure
from webseam.text import quote

__all__ = ["ARCHIVE", "Copy", "archived_copy", "check_shown", "is_gone"]

ARCHIVE: Final = "https://archive.org"
_COPIES: Final = "https://web.archive.org"  # where the public archive keeps them; another archive has one address
_GONE_PHASES: Final = ("dns", "connect", "tls")
_TIMESTAMP: Final = re.compile(r"[0-9]{14}")
_NEAR: Final = re.compile(r"[0-9]{4}(?:-?[0-9]{2}(?:-?[0-9]{2})?)?")

Get = Callable[[str], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of a page.

    Attributes:
        url: the page, as asked for. archived_at: when the copy was made, an ISO 8601 instant in UTC.
        response: the page's bytes and, where the archive kept it, its media type, as its own server sent them.
        view_url: the copy as people look at it.
    """

    url: str
    archived_at: str
    view_url: str
    response: Response = field(repr=False)

    @property
    def note(self) -> str:
        """What a reader of the copy must know."""
        place = redact_url(self.view_url)
        return f"the page is gone; this is the web archive's copy of {self.archived_at[:10]} ({place})"


def is_gone(error: WebSeamError) -> bool:
    """True for a failure that says that the page, or its server, is no more."""
    dead = isinstance(error, TransportError) and error.phase in _GONE_PHASES
    return error.outcome is Outcome.NOT_FOUND or dead


async def check_shown(url: str, check_public: Callable[[str], Awaitable[None]], *, named: bool) -> None:
    """Return when the archive may be told an address.

    Args:
        check_public: raises EgressDenied for one that is not public.
        named: the call itself asks for the archive, and so shows it even what looks like a secret in the URL.

    Raises:
        FetchError: unavailable, it may not: the page stays as gone as it is. Whatever else `check_public` raises.
    """
    try:
        await check_public(url)
    except EgressDenied as denied:
        if denied.rule != "dns.no_answers":  # what is gone may have no address any more
            detail = f"{denied.detail}; it is not shown to the web archive"
            raise FetchError(detail, outcome=Outcome.UNAVAILABLE) from None
    if redact_url(url) != url and not named:
        detail = "the web archive was not asked: the URL seems to hold a secret"
        raise FetchError(detail, outcome=Outcome.UNAVAILABLE, hint="archived in the call shows it all the same")


async def archived_copy(url: str, *, base_url: str = ARCHIVE, get: Get, near: str | None = None) -> Copy | None:
    """Return the latest copy of `url`, or None when there is none.

    Args:
        near: an ISO year, month or day; the copy nearest to it is taken instead.
        base_url: of the archive; `/wayback/available` and `/web/` stand below it.
        get: sends a GET, follows redirects and returns the answer of any status, or raises.

    Raises:
        RequestError: `near` is no day. SettingsError: `base_url` is no URL. Nothing was sent.
        EgressDenied: the URL is not a public one. Nothing was sent.
        FetchError: bad_response, the archive's answer is not what it documents; or what its refusal means.
        Whatever `get` raises.
    """
    verdict = EgressPolicy().judge_literally(url)
    if not verdict.allowed:
        raise EgressDenied(verdict.rule, f"{verdict.detail}; it is not shown to the web archive", url=redact_url(url))
    page, base = parse(url).href, _base(base_url)
    asked = f"{base}/wayback/available?url={quote_plus(page)}"
    if near is not None:
        if not _NEAR.fullmatch(near):
            raise RequestError("near", f"{near!r:.20} is not a year, month or day")
        asked += f"&timestamp={near.replace('-', '')}"
    timestamp = _closest(_document(await get(asked)))
    if timestamp is None:
        return None
    copies = _COPIES if base == ARCHIVE else base
    response = await get(f"{copies}/web/{timestamp}id_/{page}")
    if response.status in (404, 410):
        return None  # listed, but kept back or lost
    if not 200 <= response.status < 300:
        raise _refused(response)
    timestamp = _led_to(response.url, copies) or timestamp  # a nearer copy than the list knew
    return Copy(
        url=page,
        archived_at=_instant(timestamp),
        view_url=f"{copies}/web/{timestamp}/{page}",
        response=response,
    )


def _base(base_url: str) -> str:
    try:
        return parse(base_url).href.rstrip("/")
    except EgressDenied:
        raise SettingsError("fetch.archive_url", "is not an http or https URL") from None


def _document(response: Response) -> Any:
    if not 200 <= response.status < 300:
        raise _refused(response)
    try:
        return decode_json(response.body)
    except ValueError as error:
        raise _odd(f"is not JSON: {error}") from None


def _refused(response: Response) -> FetchError:
    error = failure(Reply(response))
    outcome = Outcome.BLOCKED if error.outcome is Outcome.AUTH else error.outcome  # there is no key it could mean
    return FetchError(
        f"the web archive: {error.detail}",
        outcome=outcome,
        http_status=response.status,
        retry_after=error.retry_after,
    )


def _closest(document: Any) -> str | None:
    """Return the timestamp of the one copy an answer names; None when it says that there is none.

    Raises:
        FetchError: it says neither.
    """
    snapshots = document.get("archived_snapshots") if isinstance(document, dict) else None
    if not isinstance(snapshots, dict):
        raise _odd("has no archived_snapshots")
    closest = snapshots.get("closest")
    if closest is None:
        return None
    if not isinstance(closest, dict):
        raise _odd("has a copy that is no object")
    if closest.get("available") is not True or str(closest.get("status", "200"))[:1] not in "23":
        return None  # kept back, or a copy of the error the page answered with
    timestamp = closest.get("timestamp")
    if not isinstance(timestamp, str) or not _TIMESTAMP.fullmatch(timestamp):
        raise _odd("has a copy without its time")
    _instant(timestamp)
    return timestamp


def _instant(timestamp: str) -> str:
    try:
        made = datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        raise _odd(f"has a copy of no day there is: {timestamp}") from None
    return made.strftime("%Y-%m-%dT%H:%M:%SZ")


def _led_to(url: str, copies: str) -> str | None:
    """Return the timestamp in the address that the copy came from.

    Raises:
        FetchError: that is no place of the archive: what came is somebody else's page.
    """
    start = f"{copies}/web/".partition("://")[2]  # a redirect to https is no other place
    place = url.partition("://")[2]
    if not place.startswith(start):
        raise FetchError(f"the web archive sent us elsewhere: {quote(url)}", outcome=Outcome.BAD_RESPONSE)
    found = _TIMESTAMP.match(place, len(start))
    return found[0] if found else None


def _odd(problem: str) -> FetchError:
    return FetchError(f"the web archive's answer {problem}", outcome=Outcome.BAD_RESPONSE)
