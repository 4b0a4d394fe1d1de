"""Asking one provider once: its health, its pages, their meaning, the filters, and what to remember of it.

Cancellation passes through untouched and counts nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from webseam.errors import Outcome, ProviderError, WebSeamError
from webseam.model import SearchHit, SearchRequest
from webseam.providers.base import NATIVE, Parsed, Provider
from webseam.providers.options import bucket
from webseam.resilience.deadline import Deadline
from webseam.resilience.health import Health, Standing
from webseam.search.asked import Asked, failed, found, outcome_of, skipped
from webseam.search.exchange import Exchange, Services, place_of
from webseam.search.filters import count_dropped, has_dates, passing, without_dates
from webseam.search.prepare import Prepared, prepare
from webseam.search.route import Candidate

if TYPE_CHECKING:
    from webseam.net.message import Request
    from webseam.search.library import Library

MAX_PAGES: Final = 5  # calls for one search of one provider
_FAIR_TIME: Final = 2.0  # seconds; a provider that was given less and did not answer is not to blame
# A pinned call goes out despite these: the user may just have paid or pasted a new key, and asking harms nobody.
_PINNED_TRIES: Final = (Outcome.AUTH, Outcome.QUOTA)


@dataclass(frozen=True, slots=True)
class Terms:
    """How a search is to be carried out, beside what it asks for."""

    pinned: bool = False
    strict: bool = False
    patient: bool = False  # building the local index is set-up and not counted


def _nobody(_exchange: Exchange) -> None:
    return


class Asker:
    """Asks providers. Shared by all searches of one `AsyncWeb`, so that connections, health and pace are too."""

    def __init__(
        self,
        services: Services,
        *,
        health: Health,
        library: Library,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._services = services
        self._health = health
        self._library = library
        self._clock = clock  # that of health, whose rows tell what began when

    async def ask(
        self,
        candidate: Candidate,
        search: SearchRequest,
        deadline: Deadline,
        terms: Terms,
        watch: Callable[[Exchange], None] = _nobody,
    ) -> Asked:
        """Ask one provider and return what came of it; raises nothing but cancellation.

        `watch` is given the exchange before it begins, for whoever may have to cancel it and say how far it had come.
        """
        started = time.monotonic()
        provider, config = candidate.provider, candidate.config
        if provider.local:
            return await self._library.ask(
                provider, search, deadline, started, strict=terms.strict, patient=terms.patient
            )
        identity = place_of(provider, config)
        standing = self._health.check(provider.id, identity)
        if not standing.usable and not (terms.pinned and tries_anyway(standing)):
            return skipped(provider, standing, route=config.route)
        began = float(self._clock())
        try:
            exchange = Exchange(self._services, provider, config, deadline)
            watch(exchange)
            asked = await self._attempt(exchange, search, terms, started)
        except BaseException:
            if standing.probe:  # cancelled: the probe's place is for the next caller
                self._health.release(provider.id, identity)
            raise
        attempt = asked.attempt
        hurried = attempt.outcome is Outcome.TIMEOUT and attempt.took < min(_FAIR_TIME, config.timeout)
        if asked.called and not hurried and not (standing.unknown and attempt.outcome.answered):
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

    async def _attempt(self, exchange: Exchange, search: SearchRequest, terms: Terms, started: float) -> Asked:
        try:
            prepared = prepare(exchange.provider, search, strict=terms.strict)
            wanted = _Wanted(search, prepared, terms.strict)
            parsed, relaxed = await _collect(exchange, wanted)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the one mapping point; a third-party provider may raise anything
            return failed(exchange, error, started)
        parsed.cost = exchange.cost
        parsed.notes = [*parsed.notes, *exchange.notes()]
        return found(exchange, search, prepared, parsed, started, relaxed=relaxed, strict=terms.strict)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the caller asked for, and what the provider is sent for it."""

    search: SearchRequest
    prepared: Prepared
    strict: bool

    def suffices(self, hits: Sequence[SearchHit], *, dates: bool) -> bool:
        """True when enough hits are left after the filters: more was asked for only in case they take some away."""
        sent = self.prepared.search
        if len(hits) >= sent.count:
            return True
        wanted = self.search.count + self.prepared.skip
        return wanted <= len(hits) and wanted <= len(passing(hits, self.search, dates=dates, strict=self.strict).hits)


async def _collect(exchange: Exchange, wanted: _Wanted) -> tuple[Parsed, bool]:
    """Return everything the provider sent for this search, and whether the date limit had to be lifted."""
    provider, search = exchange.provider, wanted.prepared.search
    may_relax = has_dates(search) and not wanted.strict and _dates_are_native(provider, search)
    nothing: ProviderError | None = None  # some services state "nothing found" as an error
    try:
        parsed = await _pages(exchange, search, wanted)
    except ProviderError as error:
        if error.outcome is not Outcome.EMPTY or not may_relax:
            raise
        parsed, nothing = Parsed(), error
    if parsed.hits or parsed.dropped or not may_relax or exchange.deadline.expired:
        return parsed, False
    try:
        relaxed = await _pages(exchange, without_dates(search), wanted, dates=False)
    except (WebSeamError, TimeoutError) as error:  # the first answer stands: it was honest, only empty
        if outcome_of(error) is not Outcome.EMPTY:
            note = f"{provider.label}: asking without the dates failed ({outcome_of(error)})"
            parsed.notes = [*parsed.notes, note]
        relaxed = Parsed()
    if relaxed.hits:
        return relaxed, True
    if nothing is not None and not parsed.notes:
        raise nothing
    return parsed, False


async def _pages(exchange: Exchange, search: SearchRequest, wanted: _Wanted, *, dates: bool = True) -> Parsed:
    """Return the hits of as many pages as it takes to have `search.count`, where the service pages."""
    more: Request | None = None
    total = Parsed()
    for page in range(MAX_PAGES):
        try:
            parsed = await exchange.page(search, more)
        except Exception as error:  # as in `_attempt`, where the first page's ends
            if not page:
                raise
            total.notes = [*total.notes, f"{exchange.provider.label}: page {page + 1} failed ({outcome_of(error)})"]
            break  # what came before is kept
        known = {hit.url for hit in total.hits}
        fresh = [hit for hit in parsed.hits if hit.url not in known] if page else parsed.hits
        total = _joined(total, parsed, fresh)
        more = parsed.more
        if more is None or (page and not fresh) or wanted.suffices(total.hits, dates=dates):
            break
    else:
        total.notes = [*total.notes, f"{exchange.provider.label}: no more than {MAX_PAGES} of its pages are asked for"]
    return total


def _dates_are_native(provider: Provider, search: SearchRequest) -> bool:
    """True when a date filter of the service's own was on the wire, be it only a bucket that holds the wanted days."""
    if (search.after or search.before) and provider.support("date_range") is not NATIVE:
        return provider.support("freshness") is NATIVE and bucket(search) is not None
    return provider.support("date_range" if search.after or search.before else "freshness") is NATIVE


def _joined(total: Parsed, parsed: Parsed, fresh: Sequence[SearchHit]) -> Parsed:
    return Parsed(
        hits=[*total.hits, *fresh],
        dropped=count_dropped(total.dropped, parsed.dropped),
        answer=total.answer or parsed.answer,
        notes=list(dict.fromkeys([*total.notes, *parsed.notes])),
    )


def tries_anyway(standing: Standing) -> bool:
    """True for an open breaker and for what only the user can mend; a block or a rate limit holds for everybody."""
    return standing.outcome in _PINNED_TRIES or standing.outcome not in (Outcome.BLOCKED, Outcome.RATE_LIMITED)
