"""The counts of one month as one document: what each provider was asked for, in the month and on its last days.

A call is counted under its day and in its month, so a month whose own count is broken has at least that of the days
that are kept. What somebody else broke counts as nothing and is remembered as missing. Rows are looked at when they
are needed: most calls need those of one provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from webseam.resilience.budget import MOST
from webseam.resilience.store import Document

__all__ = ["NOTHING", "Count", "Counts", "Place", "total_of"]

DAYS: Final = 2  # kept: today, and that of calls that end after midnight or of a clock that is set back

Place = tuple[str, str]  # day and provider
Count = tuple[int, int, int]  # calls, parts of a dollar, calls whose price is unknown
NOTHING: Final[Count] = (0, 0, 0)
_DAYS: Final = frozenset(f"{day:02d}" for day in range(1, 32))


class Counts:
    """The document of a month, e.g. "2026-11". It is changed in place.

    Attributes:
        complete: False when something in it could not be read, now or earlier: the counts may be too low.
    """

    def __init__(self, document: Document | None, month: str) -> None:
        source = {"month": {}, "days": {}} if document is None else document
        self.complete = "lost" not in source
        self._name = month
        self._month = self._object(source.get("month"))
        self._days = {day: self._object(table) for day, table in self._object(source.get("days")).items()}
        for day in [day for day in self._days if day[:8] != f"{month}-" or day[8:] not in _DAYS]:
            self.complete = False
            del self._days[day]  # it would never be the oldest, and keep its place for ever
        self._counted: set[str] = set()

    def _object(self, value: object) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        self.complete = False
        return {}

    def _row(self, table: Mapping[str, Any], provider: str) -> Count:
        row = table.get(provider)
        if type(row) is list and len(row) == 3:
            calls, parts, unknown = row
            if type(calls) is type(parts) is type(unknown) is int and min(row) >= 0 and max(row) <= MOST:
                return (calls, parts, unknown)
        if row is not None:
            self.complete = False
        return NOTHING

    def add(self, counts: Mapping[Place, Count]) -> None:
        """Count what belongs to this month."""
        for (day, provider), count in counts.items():
            if day[:7] == self._name:
                if count[0] > 0:  # a correction does not keep its day from going
                    self._counted.add(day)
                table = self._days.setdefault(day, {})
                month = self.of_month(provider)
                table[provider] = _raised(self._row(table, provider), count)
                self._month[provider] = _raised(month, count)

    def of_day(self, day: str, provider: str) -> Count:
        """Return what is counted of a provider on a day."""
        return self._row(self._days.get(day, {}), provider)

    def of_month(self, provider: str) -> Count:
        """Return what is counted of a provider in the month."""
        month, days = self._row(self._month, provider), NOTHING
        for table in self._days.values():
            days = _sum(days, self._row(table, provider))
        return (max(month[0], days[0]), max(month[1], days[1]), max(month[2], days[2]))

    def day_by_provider(self, day: str) -> dict[str, Count]:
        """Return what is counted on a day."""
        return {provider: self.of_day(day, provider) for provider in self._days.get(day, {})}

    def month_by_provider(self) -> dict[str, Count]:
        """Return what is counted in the month."""
        providers = set(self._month).union(*self._days.values())
        return {provider: self.of_month(provider) for provider in providers}

    def document(self) -> Document:
        """Return what to keep: the month, and the newest days, in any case those that were counted on just now."""
        oldest = sorted(self._days, key=lambda day: (day in self._counted, day))[:-DAYS]
        if oldest:
            self._month = {provider: list(count) for provider, count in self.month_by_provider().items()}
        for day in oldest:
            del self._days[day]
        kept: Document = {"month": self._month, "days": self._days}
        return kept if self.complete else {**kept, "lost": True}


def _sum(one: Count, other: Count) -> Count:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def _raised(count: Count, change: Count) -> list[int]:
    """Return a row for the document, never less than nothing: what is given back may have been lost meanwhile."""
    return [max(0, old + new) for old, new in zip(count, change, strict=True)]


def total_of(counts: Iterable[Count]) -> Count:
    """Return the sum of counts."""
    total = NOTHING
    for count in counts:
        total = _sum(total, count)
    return total
