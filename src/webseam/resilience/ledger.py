"""How many calls were made and what they cost, and budgets that no process oversteps.

One document a month holds the counts of every provider, so that a call is checked against all of its limits and counted
in one transaction before it is sent. Counting afterwards would let calls under way at the same time, here or in another
process, all see the last free place. What comes after a call only corrects: the cost that the service reported, or the
money for a call it did not bill.

Without any limit nothing has to be known at once. Counts then gather in memory and a later call, `usage` or `flush`
writes them together: a crash loses `GATHER` seconds of statistics, and an event loop is spared a transaction a call.

Counts stand under the day they belong to, so a clock that is set back goes on counting where it was on that day.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final

from webseam.errors import Outcome, ProviderError
from webseam.resilience.budget import (
    DAY,
    NANO,
    NO_LIMITS,
    NOTED,
    SPANS,
    Budget,
    Limits,
    Span,
    day_of,
    money,
    parts_of,
    starts_again,
)
from webseam.resilience.counts import NOTHING, Count, Counts, Place, total_of
from webseam.resilience.store import Document, Store

__all__ = ["NO_LIMITS", "Budget", "Ledger", "Limits", "Spent", "Ticket", "Usage"]

SPACE: Final = "ledger"
KEPT: Final = 400.0 * DAY  # thirteen months, so that a month can be held against the same one a year ago
MONTHS: Final = 13  # looked for, this one included
GATHER: Final = 2.0  # seconds that counts without a limit may wait for company
GATHER_CALLS: Final = 100  # of them that may wait


@dataclass(frozen=True, slots=True)
class Spent:
    """What one provider was used for. `unpriced` of the calls are not in `dollars`: nobody says what they cost."""

    calls: int
    dollars: float
    unpriced: int

    @property
    def cost(self) -> str:
        """What it cost, for people: "$0.25", "unknown price: 2 calls", or both."""
        known = money(round(self.dollars * NANO))
        unknown = f"unknown price: {self.unpriced} call{'s' * (self.unpriced != 1)}"
        if not self.unpriced:
            return known
        return f"{known}, {unknown}" if self.dollars else unknown


@dataclass(frozen=True, slots=True)
class Usage:
    """What was counted, by provider.

    Attributes:
        day, month: today and this month in UTC, e.g. "2026-11-30" and "2026-11".
        earlier: the months before that something is known of, the newest first.
        complete: False when part of this month's counts could not be read: they may be too low.
    """

    day: str
    month: str
    today: Mapping[str, Spent]
    this_month: Mapping[str, Spent]
    earlier: Mapping[str, Mapping[str, Spent]]
    day_starts_again: float
    month_starts_again: float
    complete: bool = True


class Ticket:
    """One counted call. How it ends is told once, by one of three; what is told later changes nothing."""

    __slots__ = ("_ledger", "at_once", "day", "open", "price", "provider")

    def __init__(self, ledger: Ledger, day: str, provider: str, price: int | None, *, at_once: bool) -> None:
        self._ledger = ledger
        self.day = day
        self.provider = provider
        self.price = price  # parts of a dollar that were counted for it
        self.at_once = at_once  # others decide by its count, so a correction must not wait
        self.open = True

    def settle(self, cost: float | None) -> None:
        """The call was answered and cost `cost` dollars; None or what cannot be a cost = the declared price stands."""
        actual = parts_of(cost)
        self._ledger.end(self, 0, self.price if actual is None else actual)

    def refund(self) -> None:
        """The call never left this machine: it is as if it had not been made."""
        self._ledger.end(self, -1, 0)

    def unbilled(self) -> None:
        """The service answered with an error, which costs nothing; the call itself counts."""
        self._ledger.end(self, 0, 0)


class Ledger:
    """The counts of all providers, shared by all processes that use the same store. Thread-safe."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._waiting: dict[Place, Count] = {}
        self._waiting_calls = 0
        self._waiting_since = 0.0

    @property
    def _guard(self) -> threading.Lock:
        """What is held across a transaction: a count must be in the store or wait here, never be on its way.

        In a forked child it is a new one, and nothing waits: that is the parent's to write.
        """
        if self._process != os.getpid():
            self._begin()
        return self._lock

    def reserve(self, provider: str, price: float | None, own: Limits, total: Limits) -> Ticket:
        """Count one call that is about to be sent, if its provider's and everybody's limits leave room for it.

        Args:
            price: dollars that it costs as far as is known; 0 = free, None = unknown, which a money budget refuses
                only when nothing is left of it.

        Raises:
            ProviderError: quota; nothing was counted. `retry_after` is when the budget starts again.
        """
        parts, limited = parts_of(price), not (own.none and total.none)
        with self._guard:
            now = float(self._clock())
            day = day_of(now)
            if limited:
                self._count_within(provider, parts, own, total, now)
            else:
                self._gather((day, provider), _counted(parts), now)
        return Ticket(self, day, provider, parts, at_once=limited)

    def end(self, ticket: Ticket, calls: int, price: int | None) -> None:
        """Put `price` in the place of what was counted for a call, and correct how many there were. For tickets."""
        _, before, unknown_before = _counted(ticket.price)
        _, after, unknown_after = _counted(price)
        change = (calls, after - before, unknown_after - unknown_before)
        with self._guard:
            if not ticket.open:
                return
            ticket.open = False
            if change != NOTHING:
                self._gather((ticket.day, ticket.provider), change, float(self._clock()))
                if ticket.at_once:
                    self._write()

    def notes(self, provider: str, own: Limits, total: Limits) -> list[str]:
        """Return a sentence for each limit of which at least `NOTED` per cent are used."""
        if own.none and total.none:
            return []
        found, complete = self._standing(provider, own, total)
        notes = [budget.note() for budget in found if budget.limit and budget.percent >= NOTED]
        if not complete:
            notes.append(f"{provider}: part of this month's counts cannot be read, so budgets may be overstepped")
        return notes

    def budgets(self, provider: str | None, own: Limits, total: Limits = NO_LIMITS) -> list[Budget]:
        """Return the limits set for a provider and for all as they stand now; provider None = only those for all."""
        return self._standing(provider, own, total)[0]

    def usage(self) -> Usage:
        """Return everything that was counted, by this and other processes."""
        with self._guard:
            self._write()
            now = float(self._clock())
            day = day_of(now)
            counts = self._counts(day[:7])
            earlier = {month: self._counts(month).month_by_provider() for month in _months_before(day)}
        return Usage(
            day=day,
            month=day[:7],
            today=_spent(counts.day_by_provider(day)),
            this_month=_spent(counts.month_by_provider()),
            earlier={month: _spent(counts) for month, counts in earlier.items() if counts},
            day_starts_again=starts_again("day", now),
            month_starts_again=starts_again("month", now),
            complete=counts.complete,
        )

    def flush(self) -> None:
        """Write what waits in memory. To be called before the store is closed."""
        with self._guard:
            self._write()

    def _gather(self, place: Place, count: Count, now: float) -> None:
        """Keep a count in memory for now; write when many wait, or the first of them has waited long enough."""
        if not self._waiting:
            self._waiting_since = now
        self._waiting[place] = total_of((self._waiting.get(place, NOTHING), count))
        self._waiting_calls += 1
        if self._waiting_calls >= GATHER_CALLS or not 0 <= now - self._waiting_since < GATHER:
            self._write()

    def _write(self) -> None:
        for month in sorted({day[:7] for day, _ in self._waiting}):
            self._store.update(SPACE, month, self._adding(month), ttl=KEPT, ahead=True)
        self._forget_waiting()

    def _adding(self, month: str) -> Callable[[Document | None], tuple[Document, None]]:
        def add(document: Document | None) -> tuple[Document, None]:
            counts = Counts(document, month)
            counts.add(self._waiting)
            return counts.document(), None

        return add

    def _forget_waiting(self) -> None:
        self._waiting.clear()
        self._waiting_calls = 0

    def _count_within(self, provider: str, price: int | None, own: Limits, total: Limits, now: float) -> None:
        """Count a call in one transaction, together with what waits here, unless a limit is in the way."""
        day = day_of(now)
        if any(other[:7] != day[:7] for other, _ in self._waiting):  # a month has just begun
            self._write()

        def count(document: Document | None) -> tuple[Document, Budget | None]:
            counts = Counts(document, day[:7])
            counts.add(self._waiting)
            budgets = _budgets(counts, now, provider, own, total)
            refusing = next((budget for budget in budgets if not budget.leaves(price)), None)
            if refusing is None:
                counts.add({(day, provider): _counted(price)})
            return counts.document(), refusing

        refusing = self._store.update(SPACE, day[:7], count, ttl=KEPT, ahead=True)
        self._forget_waiting()
        if refusing is not None:
            raise _refusal(provider, price, refusing, now)

    def _standing(self, provider: str | None, own: Limits, total: Limits) -> tuple[list[Budget], bool]:
        """Return the limits as they stand, and whether all counts behind them could be read."""
        with self._guard:
            now = float(self._clock())
            counts = self._counts(day_of(now)[:7])
        return _budgets(counts, now, provider, own, total), counts.complete

    def _counts(self, month: str) -> Counts:
        counts = Counts(self._store.get(SPACE, month, ahead=True), month)
        counts.add(self._waiting)
        return counts


def _budgets(counts: Counts, now: float, provider: str | None, own: Limits, total: Limits) -> list[Budget]:
    """Return the limits that are set and how far each is used: first those of the month, which are the longest to last.

    Of two alike a provider's own comes before that of all. A refusal names the first that is in the way.
    """
    scopes = ((provider, own), (None, total)) if provider else ((None, total),)
    day, found = day_of(now), []
    for span in SPANS:
        for who, limits in scopes:
            rules = limits.of(span)
            if rules:
                used, again = _used(counts, span, day, who), starts_again(span, now)
                found += [Budget(who, span, unit, limit, used[unit == "dollars"], again) for unit, limit in rules]
    return found


def _used(counts: Counts, span: Span, day: str, provider: str | None) -> Count:
    if provider is None:
        return total_of((counts.month_by_provider() if span == "month" else counts.day_by_provider(day)).values())
    return counts.of_month(provider) if span == "month" else counts.of_day(day, provider)


def _refusal(provider: str, price: int | None, budget: Budget, now: float) -> ProviderError:
    place = f"the settings of {provider}" if budget.provider else "[budget]"
    return ProviderError(
        f"{budget.problem(price)}; it starts again {budget.reset}",
        outcome=Outcome.QUOTA,
        provider=provider,
        retry_after=float(ceil(budget.starts_again - now)),
        hint=f"{budget.setting} in {place} sets it",
    )


def _counted(price: int | None) -> Count:
    return (1, 0, 1) if price is None else (1, price, 0)


def _spent(counts: Mapping[str, Count]) -> dict[str, Spent]:
    """Return counts for people, without providers whose calls were all taken back."""
    return {name: Spent(row[0], row[1] / NANO, row[2]) for name, row in sorted(counts.items()) if row != NOTHING}


def _months_before(day: str) -> list[str]:
    """Return the months before that of `day` that something may be kept of, the newest first."""
    last = 12 * int(day[:4]) + int(day[5:7]) - 1
    return [f"{month // 12:04d}-{month % 12 + 1:02d}" for month in range(last - 1, last - MONTHS, -1)]
