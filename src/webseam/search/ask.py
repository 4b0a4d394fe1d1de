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
from webseam.resilience.health import Health
from webseam.search.asked import Asked, failed, found, outcome_of
from webseam.search.exchange import Exchange, Services
from webseam.search.filters import count_dropped, has_dates, passing, without_dates
from webseam.search.prepare import Prepared, prepare
from webseam.search.route import Candidate
from webseam.search.standing import Standings

if TYPE_CHECKING:
    from webseam.net.message import Request
    from webseam.search.library import Library

MAX_PAGES: Final = 5  # calls for one search of one provider


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
        self._standings = Standings(health, clock=clock)
        self._library = library

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

        async def attempt() -> Asked:
            exchange = Exchange(self._services, provider, config, deadline)
            watch(exchange)
            return await self._attempt(exchange, search, terms, started)

        return await self._standings.ask(candidate, attempt, pinned=terms.pinned)

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
