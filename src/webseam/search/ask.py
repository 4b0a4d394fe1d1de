"""Asking one provider once: health, pace, the call, its pages, its meaning, the filters, and what to remember of it.

This is the only place where a failure is turned into an `Attempt`, so every strategy (one, chain, hedged, fused) sees
the same outcomes. Cancellation passes through untouched and counts nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from webseam.errors import EgressDenied, Outcome, ProviderError, TransportError, WebSeamError
from webseam.model import Attempt, SearchHit, SearchRequest
from webseam.net.redact import Redactor
from webseam.providers.base import NATIVE, Parsed, Provider, ProviderConfig, Reply
from webseam.providers.verdicts import failure
from webseam.resilience.deadline import Deadline
from webseam.resilience.health import Health, Standing
from webseam.resilience.pace import Pace
from webseam.resilience.retry import RetryBudget, retrying
from webseam.search.filters import count_dropped, has_dates, page_of, passing, without_dates
from webseam.search.prepare import Prepared, prepare
from webseam.search.route import Candidate
from webseam.secrets import fingerprint
from webseam.text import clean, clip, quote

if TYPE_CHECKING:
    from webseam.net.client import Client
    from webseam.net.message import Request, Response
    from webseam.search.library import Library

MAX_PAGES: Final = 5  # calls for one search of one provider
RETRY_AFTER_BOUND: Final = 0.5  # seconds before the one retry
_RETRIED_STATUS: Final = (502, 503)
_BEFORE_SENDING: Final = ("dns", "connect", "tls")  # phases of the transport
_RETRIED_KIND: Final = ("reset", "empty", "refused")  # the connection broke before an answer began
# A pinned call goes out despite these: the user may just have paid or pasted a new key, and asking harms nobody.
_PINNED_TRIES: Final = (Outcome.AUTH, Outcome.QUOTA)


@dataclass(frozen=True, slots=True)
class Asked:
    """One attempt and what it brought.

    `called` is True when the provider was tried, so that the outcome says something about it; `sent` when the query
    left for it: a name that was not resolved, a port that was closed or a refused certificate received nothing.
    """

    attempt: Attempt
    hits: tuple[SearchHit, ...] = ()
    answer: str | None = None
    notes: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)
    sent: bool = False
    called: bool = False
    hint: str | None = None

    @property
    def outcome(self) -> Outcome:
        return self.attempt.outcome


@dataclass(frozen=True, slots=True)
class Terms:
    """How a search is to be carried out, beside what it asks for."""

    pinned: bool = False
    strict: bool = False
    patient: bool = False  # building the local index is set-up and not counted


class Asker:
    """Asks providers. Shared by all searches of one `AsyncWeb`, so that connections, health and pace are too."""

    def __init__(
        self,
        *,
        client_for: Callable[[ProviderConfig], Client],
        health: Health,
        pace: Pace,
        library: Library,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client_for = client_for
        self._health = health
        self._pace = pace
        self._library = library
        self._clock = clock  # that of health, whose rows tell what began when
        self._budgets: dict[str, RetryBudget] = {}

    async def ask(self, candidate: Candidate, search: SearchRequest, deadline: Deadline, terms: Terms) -> Asked:
        """Ask one provider and return what came of it; raises nothing but cancellation."""
        started = time.monotonic()
        provider, config = candidate.provider, candidate.config
        if provider.local:
            return await self._library.ask(provider, search, deadline, started, patient=terms.patient)
        identity = place_of(provider, config)
        standing = self._health.check(provider.id, identity)
        if not standing.usable and not (terms.pinned and _tries_anyway(standing)):
            return _skipped(provider, standing)
        began = float(self._clock())
        try:
            asked = await self._attempt(provider, config, search, deadline, terms, started)
        except BaseException:
            if standing.probe:  # cancelled: the probe's place is for the next caller
                self._health.release(provider.id, identity)
            raise
        attempt = asked.attempt
        if asked.called and not (standing.unknown and attempt.outcome.answered):
            self._health.record(
                provider.id,
                identity,
                attempt.outcome,
                keyless=not config.key,
                retry_after=attempt.retry_after,
                detail=attempt.detail,
                began=began,
            )
        elif standing.probe:
            self._health.release(provider.id, identity)
        return asked

    async def _attempt(
        self,
        provider: Provider,
        config: ProviderConfig,
        search: SearchRequest,
        deadline: Deadline,
        terms: Terms,
        started: float,
    ) -> Asked:
        redact = Redactor(config.secrets)
        called = False
        try:
            prepared = prepare(provider, search, strict=terms.strict)
            deadline = deadline.sooner(config.timeout)
            await self._pace.wait(f"{provider.id}:{config.key_identity}", provider.interval, deadline=deadline)
            if deadline.expired:
                raise TimeoutError
            called = True
            parsed, relaxed = await self._collect(provider, config, prepared, deadline, redact, terms)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the one mapping point; a third-party provider may raise anything
            return _failed(provider, error, started, redact, called=called)
        return _found(provider, search, prepared, parsed, relaxed, terms, started)

    async def _collect(
        self,
        provider: Provider,
        config: ProviderConfig,
        prepared: Prepared,
        deadline: Deadline,
        redact: Redactor,
        terms: Terms,
    ) -> tuple[Parsed, bool]:
        """Return everything the provider sent for this search, and whether the date limit had to be lifted."""
        search = prepared.search
        parsed = await self._pages(provider, config, search, deadline, redact)
        may_relax = has_dates(search) and not terms.strict and _dates_are_native(provider, search)
        if parsed.hits or parsed.dropped or not may_relax or deadline.expired:
            return parsed, False
        try:
            relaxed = await self._pages(provider, config, without_dates(search), deadline, redact)
        except (WebSeamError, TimeoutError) as error:  # the first answer stands: it was honest, only empty
            parsed.notes = [*parsed.notes, f"{provider.label}: asking without the dates failed ({_outcome(error)})"]
            return parsed, False
        return (relaxed, True) if relaxed.hits else (parsed, False)

    async def _pages(
        self, provider: Provider, config: ProviderConfig, search: SearchRequest, deadline: Deadline, redact: Redactor
    ) -> Parsed:
        """Return the hits of as many pages as it takes to have `search.count`, where the service pages."""
        request: Request | None = provider.request(search, config)
        total = Parsed()
        for page in range(MAX_PAGES):
            if request is None:
                break
            try:
                parsed = await self._exchange(provider, config, search, request, deadline, redact)
            except (WebSeamError, TimeoutError) as error:
                if not page:
                    raise
                total.notes = [*total.notes, f"{provider.label}: page {page + 1} failed ({_outcome(error)})"]
                break  # what came before is kept
            known = {hit.url for hit in total.hits}
            fresh = [hit for hit in parsed.hits if hit.url not in known] if page else parsed.hits
            total = _joined(total, parsed, fresh)
            if len(total.hits) >= search.count or (page and not fresh):
                break
            request = parsed.more
            if request is not None:
                await self._pace.wait(f"{provider.id}:{config.key_identity}", provider.interval, deadline=deadline)
        return total

    async def _exchange(
        self,
        provider: Provider,
        config: ProviderConfig,
        search: SearchRequest,
        request: Request,
        deadline: Deadline,
        redact: Redactor,
    ) -> Parsed:
        """Send one request and read its answer; a provider may name another request to send in its place, once."""
        client = self._client_for(config)
        for may_replace in (True, False):
            response = await self._send(provider.id, client, request, deadline)
            reply = Reply(response, redact, request)
            if 200 <= reply.status < 300:
                return provider.parse(reply, search, config)
            judged = provider.failure(reply, search, config)
            if judged is None or isinstance(judged, ProviderError):
                raise judged or failure(reply)
            if not may_replace:
                raise failure(reply)
            request = judged
        raise AssertionError("unreachable")

    async def _send(self, name: str, client: Client, request: Request, deadline: Deadline) -> Response:
        budget = self._budgets.get(name)
        if budget is None:
            budget = self._budgets[name] = RetryBudget()

        async def once() -> Response:
            response = await client.send(request, expires_at=deadline.at)
            if response.status in _RETRIED_STATUS and response.headers.get("retry-after") is None:
                raise _Passing(response)
            return response

        try:
            return await retrying(once, deadline=deadline, budget=budget, delay=RETRY_AFTER_BOUND, worth=_worth)
        except _Passing as passing_failure:
            return passing_failure.response


class _Passing(WebSeamError):
    """A status that is worth one retry; the response stands when the retry brings no other."""

    outcome = Outcome.UPSTREAM

    def __init__(self, response: Response) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


def _worth(error: WebSeamError) -> bool:
    return isinstance(error, _Passing) or (
        isinstance(error, TransportError) and error.kind in _RETRIED_KIND and error.phase != "body"
    )


def place_of(provider: Provider, config: ProviderConfig) -> str:
    """Return what stands for a provider's key, or its address without one, in the shared state.

    Another key is another account, and another address is another service: neither inherits a cool-down.
    """
    if config.key_identity or config.base_url == provider.base_url:
        return config.key_identity
    return fingerprint(config.base_url)


def _dates_are_native(provider: Provider, search: SearchRequest) -> bool:
    return provider.support("date_range" if search.after or search.before else "freshness") is NATIVE


def _joined(total: Parsed, parsed: Parsed, fresh: list[SearchHit] | tuple[SearchHit, ...] | object) -> Parsed:
    costs = [cost for cost in (total.cost, parsed.cost) if cost is not None]
    return Parsed(
        hits=[*total.hits, *fresh],  # type: ignore[misc]
        dropped=count_dropped(total.dropped, parsed.dropped),
        answer=total.answer or parsed.answer,
        notes=list(dict.fromkeys([*total.notes, *parsed.notes])),
        cost=sum(costs) if costs else None,
    )


def _tries_anyway(standing: Standing) -> bool:
    """True for an open breaker and for what only the user can mend; a block or a rate limit holds for everybody."""
    return standing.outcome in _PINNED_TRIES or standing.outcome not in (Outcome.BLOCKED, Outcome.RATE_LIMITED)


def _skipped(provider: Provider, standing: Standing) -> Asked:
    until = f" until {_clock(standing.until)}" if standing.until else ""
    attempt = Attempt(provider=provider.id, outcome=Outcome.UNAVAILABLE, detail=f"{standing.reason}{until}")
    return Asked(attempt, hint=provider.hint or None)


def _clock(instant: float) -> str:
    """Return a Unix time as people read it: the local time, with the day when it is not today."""
    then, now = time.localtime(instant), time.localtime()
    return time.strftime("%H:%M:%S" if then[:3] == now[:3] else "%Y-%m-%d %H:%M", then)


def _found(
    provider: Provider,
    search: SearchRequest,
    prepared: Prepared,
    parsed: Parsed,
    relaxed: bool,
    terms: Terms,
    started: float,
) -> Asked:
    filtered = passing(parsed.hits, search, dates=not relaxed, strict=terms.strict)
    hits = page_of(filtered.hits, search, skip=prepared.skip)
    if hits:
        outcome = Outcome.OK
    elif filtered.hits:  # all of them stand on earlier pages
        outcome = Outcome.EMPTY
    else:
        outcome = Outcome.FILTERED if filtered.dropped or parsed.dropped else Outcome.EMPTY
    attempt = Attempt(
        provider=provider.id,
        outcome=outcome,
        took=round(time.monotonic() - started, 4),
        cost=parsed.cost if parsed.cost is not None else provider.price,
        hits=len(parsed.hits),
    )
    return Asked(
        attempt,
        hits,
        answer=quote_answer(parsed.answer),
        notes=(*prepared.notes, *parsed.notes, *_date_notes(provider, search, hits, relaxed)),
        dropped=count_dropped(parsed.dropped, filtered.dropped),
        sent=True,
        called=True,
    )


def _date_notes(provider: Provider, search: SearchRequest, hits: Sequence[SearchHit], relaxed: bool) -> list[str]:
    if relaxed:
        return [f"{provider.label} found nothing within the dates; these hits are without the date limit"]
    undated = sum(hit.published is None for hit in hits) if has_dates(search) else 0
    return [f"{undated} of the hits carry no date; they were not checked against the dates"] if undated else []


MAX_ANSWER: Final = 4_000  # characters of a provider's own short answer


def quote_answer(answer: str | None) -> str | None:
    """Return a provider's answer cleaned and bounded, paragraphs kept."""
    return clip(clean(answer).strip(), MAX_ANSWER) or None if answer else None


def _failed(provider: Provider, error: Exception, started: float, redact: Redactor, *, called: bool) -> Asked:
    outcome = _outcome(error)
    status = error.http_status if isinstance(error, ProviderError) else None
    if isinstance(error, (ProviderError, TransportError, EgressDenied)):
        detail = error.detail
    elif isinstance(error, TimeoutError):
        detail = "the deadline passed" if called else "no time was left for it, or to wait for its next free slot"
    else:
        detail = unreadable(error, redact).detail
    attempt = Attempt(
        provider=provider.id,
        outcome=outcome,
        took=round(time.monotonic() - started, 4),
        detail=redact(detail),
        http_status=status,
        retry_after=error.retry_after if isinstance(error, ProviderError) else None,
    )
    hint = error.hint if isinstance(error, WebSeamError) else None
    return Asked(attempt, sent=called and not _never_left(error), called=called, hint=hint or provider.hint or None)


def _never_left(error: Exception) -> bool:
    """True when the query cannot have reached anybody: there was no connection to send it over."""
    return isinstance(error, EgressDenied) or (isinstance(error, TransportError) and error.phase in _BEFORE_SENDING)


def unreadable(error: Exception, redact: Redactor) -> ProviderError:
    """Return the error for a provider's code that failed over an answer: other people's code may raise anything."""
    words = f"its answer could not be read ({type(error).__name__}: {quote(redact(str(error)))})"
    return ProviderError(words, outcome=Outcome.BAD_RESPONSE)


def _outcome(error: Exception) -> Outcome:
    if isinstance(error, TransportError) and error.kind == "too_large":
        return Outcome.BAD_RESPONSE  # a page may be too large to read; an API that sends so much is broken
    if isinstance(error, WebSeamError):
        return error.outcome
    return Outcome.TIMEOUT if isinstance(error, TimeoutError) else Outcome.BAD_RESPONSE


def cancelled(asked_for: Candidate, took: float, detail: str) -> Asked:
    """Return the record of an attempt that was given up because another one answered first."""
    return Asked(Attempt(provider=asked_for.id, outcome=Outcome.CANCELLED, took=took, detail=detail), sent=True)
