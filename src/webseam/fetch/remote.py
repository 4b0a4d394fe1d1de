"""Reading a page through a service, where this machine could not and the user allowed it.

A service that reads is told the address of the page, which may be as private as what it says. So none is ever asked
that the user has not named (`fetch.remote_readers`, or the call), the rules that bind searches bind here, and an
address that is not public is refused before anything is sent, whatever `fetch.allow` lets this machine reach. Keys,
egress, pace, budgets and redaction are those of searches; so is health, save for one thing: that a service could not
read one page is the page's doing, and nothing is held against the service.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from webseam import providers
from webseam.config import PROVIDER_COMMON, Settings, unknown
from webseam.errors import EgressDenied, Outcome, ProviderError, RequestError, SettingsError, TransportError
from webseam.fetch.clean import clean_markdown
from webseam.fetch.types import Reading
from webseam.model import Attempt
from webseam.net.policy import EgressPolicy
from webseam.net.redact import redact_url
from webseam.net.url import parse
from webseam.providers.base import Provider, ProviderConfig, ReadPage
from webseam.providers.dates import published_day
from webseam.providers.setup import configure
from webseam.resilience.deadline import Deadline
from webseam.resilience.health import Health
from webseam.search.asked import Asked, failed
from webseam.search.exchange import Exchange, Services
from webseam.search.route import Candidate, check_rules, refusal
from webseam.search.standing import Standings
from webseam.secrets import SavedKeys
from webseam.text import plain

__all__ = ["Judge", "PageUnread", "RemoteReaders", "RemoteReading", "readers"]

Judge = Callable[[str], Awaitable[None]]

LONGEST: Final = 30.0  # seconds for one read where no timeout is set: a service runs a browser and waits for the page
_MOST_NOTES: Final = 5  # of a service's own
_TIMEOUT: Final = next(setting for setting in PROVIDER_COMMON if setting.name == "timeout")

_GONE: Final = (404, 410)
_WALLED: Final = (401, 403, 407, 429, 451, 999)  # the page is kept from the service
_WORDS: Final = (  # of a service, about a page it could not read; the first that is found
    (Outcome.NOT_FOUND, re.compile(r"\b(?:404|410)\b|not[ _]found|no longer exists", re.IGNORECASE)),
    (Outcome.TIMEOUT, re.compile(r"time[ds]?[ _-]?out|deadline", re.IGNORECASE)),
    (
        Outcome.BLOCKED,
        re.compile(r"\b(?:401|403|429)\b|block|forbidden|captcha|denied|robots|anti-?bot", re.IGNORECASE),
    ),
    (Outcome.UNSUPPORTED, re.compile(r"content[ _-]?type|unsupported|not supported|too large", re.IGNORECASE)),
)
_HTML: Final = re.compile(r"\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)
_CHALLENGES: Final = (
    "just a moment...",
    "attention required! | cloudflare",
    "verifying you are human",
    "access denied",
)
_SHORT: Final = 2_000  # characters; a page with more to say than that is no challenge, whatever its title


class PageUnread(ProviderError):
    """A service answered that it could not read this one page; the outcome says what is known of the reason."""


@dataclass(slots=True, kw_only=True)
class RemoteReading(Reading):
    """What a service read, and what it took.

    Attributes:
        final_url: where redirects led the service, by its own word; None when it does not say.
        attempts: each place that was asked, in order. sent_to: ids of those that were told the URL.
    """

    final_url: str | None = None
    attempts: tuple[Attempt, ...] = ()
    sent_to: tuple[str, ...] = ()


def readers(named: Mapping[str, str] = {}) -> list[str]:
    """Return the ids of all providers that can read a page, in the default order of searches."""
    return [provider.id for provider in providers.every(named) if provider.reads]


class RemoteReaders:
    """Reads pages through services. Shared by all fetches of one `AsyncWeb`, as `search.ask.Asker` is by its searches.

    Args:
        judge: looks the host of a URL up and raises EgressDenied unless all of it is public. It must not be lenient
            about what `fetch.allow` names: that is one's own network, whose addresses are nobody else's business.
    """

    def __init__(
        self,
        services: Services,
        health: Health,
        saved_keys: SavedKeys,
        judge: Judge,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._services = services
        self._standings = Standings(health, clock=clock)
        self._saved = saved_keys
        self._judge = judge

    def names(self, settings: Settings) -> list[str]:
        """Return the services that may be asked without being named in the call, in order; by default none.

        Raises:
            SettingsError: `fetch.remote_readers` has an unknown name, or one that cannot read.
        """
        chosen = dict.fromkeys(str(name).lower() for name in settings.get("fetch", "remote_readers") or ())
        try:
            return [_find(name, settings).id for name in chosen]
        except RequestError as error:
            raise SettingsError("fetch.remote_readers", error.detail.split(": ", 1)[1], hint=error.hint) from None

    def configured(self, settings: Settings) -> list[str]:
        """Return those of `names` that could be asked: they are set up, and no rule of the user's forbids them.

        Raises:
            SettingsError: as `names`, and for a malformed setting of one of them.
        """
        return [name for name in self.names(settings) if self._places(_find(name, settings), settings)[0]]

    async def read(
        self, name: str, url: str, settings: Settings, deadline: Deadline, *, pinned: bool = False
    ) -> RemoteReading:
        """Return the page at `url` as the service `name` reads it.

        Args:
            pinned: the caller named the service, so neither a failure of before that the user may have mended since
                (a key, a payment) nor what looks like a secret in the URL keeps it from being asked.

        Raises:
            RequestError: no such service, or it cannot read; proposes the nearest that can.
            EgressDenied: the URL is not a public one. Nothing was sent.
            PageUnread: the service works, but did not read this page.
            ProviderError: it cannot be used, or failed. `.attempts` has every place that was asked.
        """
        provider = _find(name, settings)
        found, refused = self._places(provider, settings)
        if not found:
            raise _cannot_use(provider, refused)
        address = await self._public(url, deadline, provider)
        if not pinned and redact_url(address) != address:
            raise ProviderError(
                f"{provider.id} was not asked: the URL seems to hold a secret",
                outcome=Outcome.UNAVAILABLE,
                provider=provider.id,
                hint="name the reader in the call to show it the URL all the same",
            )
        attempts, told = list(refused), False
        for candidate in found:
            asked, page = await self._ask(candidate, address, deadline, pinned=pinned)
            attempts.append(asked.attempt)
            told = told or asked.sent
            sent_to = (provider.id,) if told else ()
            if page is not None:
                page.attempts, page.sent_to = tuple(attempts), sent_to
                return page
            error = _failure(provider, asked, PageUnread if asked.answered else ProviderError, attempts, sent_to)
            if asked.answered:
                break  # another place of the same service reads the same page
        raise error

    async def _public(self, url: str, deadline: Deadline, provider: Provider) -> str:
        """Return the URL as it is sent: its one canonical form, without what never travels."""
        verdict = EgressPolicy().judge_literally(url)  # by what is written; the addresses are for `judge`
        if not verdict.allowed:
            raise EgressDenied(
                verdict.rule, f"{verdict.detail}; it is not shown to {provider.label}", url=redact_url(url)
            )
        try:
            async with asyncio.timeout(deadline.remaining()):
                await self._judge(url)
        except TimeoutError:
            raise ProviderError(
                "the deadline passed before the page's host was looked up", outcome=Outcome.TIMEOUT
            ) from None
        return parse(url).href

    def _places(self, provider: Provider, settings: Settings) -> tuple[list[Candidate], list[Attempt]]:
        """Return where a service can be asked, and why it cannot at its other places."""
        check_rules(settings)
        found, refused = [], []
        for config in provider.read_routes(self._configured(provider, settings), settings):
            reason = refusal(provider, settings, config) or provider.read_unavailable(config)
            if reason is None:
                found.append(Candidate(provider, config))
            else:
                detail = f"{config.route} route: {reason}" if config.route else reason
                refused.append(Attempt(provider=provider.id, outcome=Outcome.UNAVAILABLE, detail=detail))
        return found, refused

    def _configured(self, provider: Provider, settings: Settings) -> ProviderConfig:
        config = configure(provider, settings, self._saved)
        own, _ = settings.read(providers.section_of(provider.id), _TIMEOUT)
        return config if own is not None else replace(config, timeout=max(config.timeout, LONGEST))

    async def _ask(
        self, candidate: Candidate, url: str, deadline: Deadline, *, pinned: bool
    ) -> tuple[Asked, RemoteReading | None]:
        """Ask one place and keep its standing; raises nothing but cancellation."""
        read: list[RemoteReading] = []

        async def attempt() -> Asked:
            exchange = Exchange(self._services, candidate.provider, candidate.config, deadline)
            asked, page = await _attempt(exchange, url)
            if page is not None:
                read.append(page)
            return asked

        asked = await self._standings.ask(candidate, attempt, pinned=pinned)
        return asked, read[0] if read else None


async def _attempt(exchange: Exchange, url: str) -> tuple[Asked, RemoteReading | None]:
    started = time.monotonic()
    provider, route = exchange.provider, exchange.config.route
    try:
        page = _reading(provider, await exchange.read(url))
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001 - the one mapping point; a third-party provider may raise anything
        unread = _unread(error)
        asked = failed(exchange, unread or error, started)
        if unread is None:
            return asked, None
        attempt = replace(asked.attempt, cost=exchange.cost)
        return replace(asked, attempt=attempt, hint=None, answered=True), None
    page.notes += exchange.notes()
    attempt = Attempt(
        provider=provider.id,
        outcome=Outcome.OK,
        took=round(time.monotonic() - started, 4),
        detail=f"{route} route" if route else None,
        cost=exchange.cost,
    )
    return Asked(attempt, sent=exchange.sent, called=exchange.called), page


def _unread(error: Exception) -> PageUnread | None:
    """Return the error when it is about the page alone, also a page that is larger than an answer may be."""
    if isinstance(error, TransportError) and error.kind == "too_large":
        return PageUnread(error.detail, outcome=Outcome.UNSUPPORTED)
    return error if isinstance(error, PageUnread) else None


def _find(name: str, settings: Settings) -> Provider:
    """Return the provider `name`, which must be one that reads.

    Raises:
        RequestError: it is none; proposes the nearest that is.
    """
    wanted = name.strip().lower()
    try:
        provider = providers.get(wanted, settings.named)
    except SettingsError:
        raise unknown("reader", name, readers(settings.named)) from None
    if not provider.reads:
        able = ", ".join(readers(settings.named))
        raise RequestError("reader", f"{provider.id} searches, it cannot read a page", hint=f"these can: {able}")
    return provider


def _failure(
    provider: Provider, asked: Asked, kind: type[ProviderError], attempts: Sequence[Attempt], sent_to: tuple[str, ...]
) -> ProviderError:
    attempt = asked.attempt
    return kind(
        f"{provider.id}: {attempt.detail}",
        outcome=attempt.outcome,
        provider=provider.id,
        http_status=attempt.http_status,
        retry_after=attempt.retry_after,
        hint=asked.hint,
        attempts=attempts,
        sent_to=sent_to,
    )


def _cannot_use(provider: Provider, refused: Sequence[Attempt]) -> ProviderError:
    reason = "; ".join(attempt.detail or "" for attempt in refused)
    return ProviderError(
        f"{provider.id} cannot be used: {reason}",
        outcome=Outcome.UNAVAILABLE,
        provider=provider.id,
        hint=provider.hint or None,
        attempts=refused,
    )


def _reading(provider: Provider, page: ReadPage) -> RemoteReading:
    """Return what a service gave in our form, cleaned.

    Raises:
        PageUnread: it gave no text, the text of an error page, or not text at all.
    """
    status = page.status if isinstance(page.status, int) and not isinstance(page.status, bool) else None
    failed_there = status is not None and status >= 400
    if page.problem or failed_there:
        outcome = _outcome_of(page, status)
        words = page.problem or f"the page answered {status}"
        raise PageUnread(f"it could not read the page: {words}", outcome=outcome, http_status=status)
    markdown, removed = clean_markdown(page.markdown) if isinstance(page.markdown, str) else ("", {})
    title = _line(page.title)
    if _HTML.match(markdown):
        raise PageUnread("it sent the page's HTML instead of its text", outcome=Outcome.BAD_RESPONSE)
    if (title or "").lower() in _CHALLENGES and len(markdown) < _SHORT:
        raise PageUnread(f"it was shown a challenge instead of the page: {title}", outcome=Outcome.BLOCKED)
    if not markdown.strip():
        raise PageUnread("it found no text on the page", outcome=Outcome.EMPTY)
    return RemoteReading(
        markdown=markdown.strip("\n") + "\n",
        title=title,
        author=_line(page.author),
        published=published_day(page.published) if page.published else None,
        language=_line(page.language),
        reader=provider.id,
        removed=removed,
        notes=[f"read by {provider.label}, which received the URL", *page.notes[:_MOST_NOTES]],
        final_url=_address(page.final_url),
    )


def _outcome_of(page: ReadPage, status: int | None) -> Outcome:
    """Return what it means that a page could not be read: by its server's status, the provider, or the words."""
    if status is not None and status >= 400:
        if status in _GONE:
            return Outcome.NOT_FOUND
        if status in _WALLED:
            return Outcome.BLOCKED
        if status in (408, 504):
            return Outcome.TIMEOUT
        if status >= 500:
            return Outcome.UPSTREAM
    if page.outcome is not None:
        return page.outcome
    return next((outcome for outcome, words in _WORDS if words.search(page.problem)), Outcome.BAD_RESPONSE)


def _line(value: Any) -> str | None:
    return (plain(value) or None) if isinstance(value, str) else None


def _address(value: object) -> str | None:
    """Return where a service says it was led, if that is an address at all."""
    if not isinstance(value, str):
        return None
    try:
        return parse(value).href
    except EgressDenied:
        return None
