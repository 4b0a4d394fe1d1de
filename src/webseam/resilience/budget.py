"""What a budget is: limits of calls and money a day and a month, how far they are used, and when they start again.

Days and months are those of UTC, which is what services bill by and what processes in different zones agree on. Money
is counted in whole billionths of a dollar: their sums are exact, and what is given back is what was taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from math import floor, isfinite
from typing import Any, Final, Literal

__all__ = ["NO_LIMITS", "Budget", "Limits", "Span", "Unit", "day_of", "money", "parts_of", "starts_again"]

DAY: Final = 86_400  # seconds; Unix time knows no leap second
NANO: Final = 1_000_000_000  # parts of a dollar
MOST: Final = 10**18  # parts or calls that are told apart
MOST_COST: Final = 10_000.0  # dollars for one call; more is not a cost but a mistake of the service
NOTED, PRESSING, SPENT = 75, 90, 100  # per cent of a budget

Span = Literal["month", "day"]
Unit = Literal["calls", "dollars"]
SPANS: Final[tuple[Span, ...]] = ("month", "day")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most calls and US dollars a day and a month, for one provider or for all together; None = no limit."""

    calls_day: int | None = None
    calls_month: int | None = None
    dollars_day: float | None = None
    dollars_month: float | None = None

    @property
    def none(self) -> bool:
        return self.calls_day is self.calls_month is self.dollars_day is self.dollars_month is None

    def of(self, span: Span) -> list[tuple[Unit, int]]:
        """Return the limits of a day or a month that are set, in calls and in parts of a dollar."""
        calls = self.calls_month if span == "month" else self.calls_day
        dollars = self.dollars_month if span == "month" else self.dollars_day
        found: list[tuple[Unit, int]] = [] if calls is None else [("calls", int(_bounded(calls)))]
        return found if dollars is None else [*found, ("dollars", round(_bounded(dollars) * NANO))]


NO_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Budget:
    """One limit and how far it is used, in calls or in billionths of a dollar.

    Attributes:
        provider: whose calls count; None = everybody's.
        starts_again: Unix time from which counting begins anew.
    """

    provider: str | None
    span: Span
    unit: Unit
    limit: int
    used: int
    starts_again: float

    @property
    def setting(self) -> str:
        """The key that sets it, in the section of the provider or in [budget]."""
        return f"max_{self.unit}_{self.span}"

    @property
    def percent(self) -> int:
        """How much of it is used, rounded down: 100 means that nothing is left."""
        return 100 * self.used // self.limit if self.limit else SPENT

    @property
    def who(self) -> str:
        return self.provider or "all providers"

    @property
    def reset(self) -> str:
        return datetime.fromtimestamp(self.starts_again, UTC).strftime("%Y-%m-%d %H:%M UTC")

    def shown(self, amount: int) -> str:
        """Return an amount of its unit, e.g. "1 call" or "$0.25"."""
        return money(amount) if self.unit == "dollars" else f"{amount} call{'s' * (amount != 1)}"

    @property
    def fill(self) -> str:
        """How far it is used, e.g. "8 of 10 calls"."""
        used = money(self.used) if self.unit == "dollars" else str(self.used)
        return f"{used} of {self.shown(self.limit)}"

    def leaves(self, price: int | None) -> bool:
        """True when one more call is within it. One that is free is within every money budget."""
        if self.unit == "calls" or price is None:
            return self.used < self.limit
        return price == 0 or self.used + price <= self.limit

    def problem(self, price: int | None) -> str:
        """Return why one more call, which costs `price`, is not within it."""
        name = f"the budget of {self.shown(self.limit)} a {self.span} for {self.who}"
        if self.unit == "dollars" and price is not None and self.used < self.limit:
            return f"{name} has {money(self.limit - self.used)} left and a call costs {money(price)}"
        return f"{name} is used up"

    def note(self) -> str:
        """Return one sentence about it for people."""
        which = "today's budget" if self.span == "day" else "this month's budget"
        if self.percent < PRESSING:
            done = "used" if self.unit == "calls" else "spent"
            return f"{self.who}: {self.fill} of {which} are {done} ({self.percent} %)"
        state = "used up" if self.percent >= SPENT else "nearly used up"
        return f"{self.who}: {which} is {state}: {self.fill} ({self.percent} %); it starts again {self.reset}"

    def as_object(self) -> dict[str, Any]:
        """Return it as plain JSON types, money in dollars."""
        in_dollars = self.unit == "dollars"
        return {
            "provider": self.provider,
            "setting": self.setting,
            "limit": self.limit / NANO if in_dollars else self.limit,
            "used": self.used / NANO if in_dollars else self.used,
            "percent": self.percent,
            "starts_again": self.starts_again,
        }


def _bounded(limit: float) -> float:
    return min(max(limit, 0), MOST // NANO)


def parts_of(dollars: float | None) -> int | None:
    """Return dollars in whole parts; None for what is unknown or cannot be the price of a call."""
    if dollars is None or not isfinite(dollars) or not 0 <= dollars <= MOST_COST:
        return None
    return round(dollars * NANO)


def money(parts: int) -> str:
    """Return parts of a dollar as people write dollars: "$0.25", "$0.0005"."""
    cents, rest = f"{parts % NANO:09d}"[:2], f"{parts % NANO:09d}"[2:].rstrip("0")
    return f"${parts // NANO}.{cents}{rest}"


def day_of(now: float) -> str:
    """Return the day of a Unix time, e.g. "2026-11-30"; its month is the first seven characters."""
    return _day(floor(now / DAY))


@lru_cache(maxsize=8)
def _day(number: int) -> str:
    return datetime.fromtimestamp(number * DAY, UTC).strftime("%Y-%m-%d")


def starts_again(span: Span, now: float) -> float:
    """Return the Unix time at which the next day or month begins."""
    if span == "day":
        return (floor(now / DAY) + 1.0) * DAY
    today = datetime.fromtimestamp(now, UTC)
    return datetime(today.year + today.month // 12, today.month % 12 + 1, 1, tzinfo=UTC).timestamp()
