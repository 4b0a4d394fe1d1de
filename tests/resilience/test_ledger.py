"""Budgets: counted before sending, never overstepped, corrected after; by provider and in all, by UTC day and month."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.resilience.world import Clock, CountingStore, Open, finish, start, together
from webseam.errors import Outcome, ProviderError
from webseam.resilience import ledger as module
from webseam.resilience.ledger import NO_LIMITS, Ledger, Limits, Spent

HOUR, DAY = 3600.0, 86_400.0
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC).timestamp()  # a Sunday, the last day but one of its month
TEN = Limits(calls_day=10)


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def store(clock: Clock) -> CountingStore:
    return CountingStore(clock)


@pytest.fixture
def ledger(store: CountingStore, clock: Clock) -> Ledger:
    return Ledger(store, clock=clock)


def refused(ledger: Ledger, provider: str = "exa", price: float | None = 0.0, **limits: Any) -> ProviderError:
    """Return the error of a call that must not be made; the limits are the provider's own."""
    return refused_with(lambda: ledger.reserve(provider, price, Limits(**limits), NO_LIMITS))


def refused_with(reserve: Callable[[], object]) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        reserve()
    assert (caught.value.outcome, caught.value.retry_after is not None) == (Outcome.QUOTA, True)
    return caught.value


def counted(ledger: Ledger, provider: str = "exa") -> tuple[Spent | None, Spent | None]:
    """Return what is counted of a provider today and this month."""
    usage = ledger.usage()
    return usage.today.get(provider), usage.this_month.get(provider)


# Limits


@pytest.mark.parametrize(
    ("own", "total", "price", "detail", "hint", "hours"),
    [
        pytest.param(
            Limits(calls_day=2), NO_LIMITS, 0.0,
            "the budget of 2 calls a day for exa is used up; it starts again 2026-11-30 00:00 UTC",
            "max_calls_day in the settings of exa sets it", 12, id="calls a day",
        ),
        pytest.param(
            Limits(calls_month=2), NO_LIMITS, None,
            "the budget of 2 calls a month for exa is used up; it starts again 2026-12-01 00:00 UTC",
            "max_calls_month in the settings of exa sets it", 36, id="calls a month",
        ),
        pytest.param(
            Limits(dollars_day=0.01), NO_LIMITS, 0.005,
            "the budget of $0.01 a day for exa is used up; it starts again 2026-11-30 00:00 UTC",
            "max_dollars_day in the settings of exa sets it", 12, id="money a day",
        ),
        pytest.param(
            NO_LIMITS, Limits(dollars_month=2.5), 1.25,
            "the budget of $2.50 a month for all providers is used up; it starts again 2026-12-01 00:00 UTC",
            "max_dollars_month in [budget] sets it", 36, id="money a month, of all",
        ),
        pytest.param(
            NO_LIMITS, Limits(calls_day=2), None,
            "the budget of 2 calls a day for all providers is used up; it starts again 2026-11-30 00:00 UTC",
            "max_calls_day in [budget] sets it", 12, id="calls a day, of all",
        ),
        pytest.param(
            Limits(dollars_month=0.0105), NO_LIMITS, 0.005,
            "the budget of $0.0105 a month for exa has $0.0005 left and a call costs $0.005;"
            " it starts again 2026-12-01 00:00 UTC",
            "max_dollars_month in the settings of exa sets it", 36, id="a call that costs more than is left",
        ),
        pytest.param(
            Limits(calls_day=2, calls_month=2), Limits(calls_day=2, calls_month=2), None,
            "the budget of 2 calls a month for exa is used up; it starts again 2026-12-01 00:00 UTC",
            "max_calls_month in the settings of exa sets it", 36, id="of several the one that lasts longest",
        ),
    ],
)  # fmt: skip
def test_two_calls_within_a_limit_are_made_and_the_third_is_refused_before_it_is_sent(
    ledger: Ledger, own: Limits, total: Limits, price: float | None, detail: str, hint: str, hours: int
) -> None:
    for _ in range(2):
        ledger.reserve("exa", price, own, total).settle(None)
    error = refused_with(lambda: ledger.reserve("exa", price, own, total))
    assert (error.detail, error.hint, error.provider) == (detail, hint, "exa")
    assert error.retry_after == hours * HOUR
    assert counted(ledger)[0] == Spent(2, 2 * (price or 0.0), 2 if price is None else 0)


def test_one_call_is_spelled_as_one(ledger: Ledger) -> None:
    ledger.reserve("exa", 0.0, Limits(calls_day=1), NO_LIMITS)
    assert refused(ledger, calls_day=1).detail.startswith("the budget of 1 call a day for exa is used up")


def test_a_budget_of_nothing_lets_nothing_through(ledger: Ledger) -> None:
    refused(ledger, calls_day=0)
    refused(ledger, price=0.001, dollars_day=0.0)
    refused(ledger, price=None, dollars_day=0.0)
    assert ledger.usage().this_month == {}


def test_a_call_that_is_free_is_within_a_money_budget_that_is_used_up(ledger: Ledger) -> None:
    spent = Limits(dollars_day=0.01)
    ledger.reserve("exa", 0.01, NO_LIMITS, spent).settle(0.015)  # it cost more than it was said to
    ledger.reserve("duckduckgo", 0.0, NO_LIMITS, spent)
    refused_with(lambda: ledger.reserve("exa", 0.001, NO_LIMITS, spent))


def test_a_call_of_unknown_price_is_made_while_money_is_left(ledger: Ledger) -> None:
    limit = Limits(dollars_day=0.01)
    ledger.reserve("serper", None, limit, NO_LIMITS)
    ledger.reserve("serper", None, limit, NO_LIMITS).settle(0.01)
    refused(ledger, "serper", None, dollars_day=0.01)
    assert counted(ledger, "serper")[0] == Spent(2, 0.01, 1)


def test_sums_of_money_are_exact(ledger: Ledger) -> None:
    limit = Limits(dollars_day=2.3)
    for _ in range(23):
        ledger.reserve("exa", 0.1, limit, NO_LIMITS)
    assert counted(ledger)[0] == Spent(23, 2.3, 0)
    refused(ledger, price=0.000000001, dollars_day=2.3)


def test_the_calls_of_one_provider_do_not_use_up_the_budget_of_another(ledger: Ledger) -> None:
    ledger.reserve("exa", 0.0, Limits(calls_day=1), Limits(calls_day=3))
    ledger.reserve("brave", 0.0, Limits(calls_day=1), Limits(calls_day=3))
    refused(ledger, "brave", calls_day=1)
    ledger.reserve("kagi", 0.0, NO_LIMITS, Limits(calls_day=3))
    error = refused_with(lambda: ledger.reserve("you", 0.0, NO_LIMITS, Limits(calls_day=3)))
    assert error.detail.startswith("the budget of 3 calls a day for all providers is used up")


def test_a_limit_that_is_lowered_or_raised_holds_from_the_next_call_on(ledger: Ledger) -> None:
    for _ in range(4):
        ledger.reserve("exa", 0.0, TEN, NO_LIMITS)
    refused(ledger, calls_day=3)
    ledger.reserve("exa", 0.0, Limits(calls_day=5), NO_LIMITS)


# How a call ends


@pytest.mark.parametrize(
    ("price", "end", "left"),
    [
        pytest.param(0.005, lambda ticket: None, Spent(1, 0.005, 0), id="never told"),
        pytest.param(0.005, lambda ticket: ticket.settle(None), Spent(1, 0.005, 0), id="the declared price stands"),
        pytest.param(0.005, lambda ticket: ticket.settle(0.002), Spent(1, 0.002, 0), id="cheaper"),
        pytest.param(0.005, lambda ticket: ticket.settle(0.05), Spent(1, 0.05, 0), id="dearer"),
        pytest.param(0.005, lambda ticket: ticket.settle(0.0), Spent(1, 0.0, 0), id="free this time"),
        pytest.param(None, lambda ticket: None, Spent(1, 0.0, 1), id="unknown, never told"),
        pytest.param(None, lambda ticket: ticket.settle(None), Spent(1, 0.0, 1), id="unknown, and stays so"),
        pytest.param(None, lambda ticket: ticket.settle(0.002), Spent(1, 0.002, 0), id="unknown until reported"),
        pytest.param(0.005, lambda ticket: ticket.unbilled(), Spent(1, 0.0, 0), id="not billed"),
        pytest.param(None, lambda ticket: ticket.unbilled(), Spent(1, 0.0, 0), id="unknown, not billed"),
        pytest.param(0.005, lambda ticket: ticket.refund(), None, id="never left"),
        pytest.param(None, lambda ticket: ticket.refund(), None, id="unknown, never left"),
        pytest.param(0.005, lambda ticket: ticket.settle(-1.0), Spent(1, 0.005, 0), id="a negative cost"),
        pytest.param(0.005, lambda ticket: ticket.settle(float("nan")), Spent(1, 0.005, 0), id="a cost that is none"),
        pytest.param(0.005, lambda ticket: ticket.settle(float("inf")), Spent(1, 0.005, 0), id="an endless cost"),
        pytest.param(0.005, lambda ticket: ticket.settle(1e300), Spent(1, 0.005, 0), id="a cost nobody charges"),
        pytest.param(-3.0, lambda ticket: None, Spent(1, 0.0, 1), id="a negative price"),
    ],
)
@pytest.mark.parametrize("own", [pytest.param(NO_LIMITS, id="no limit"), pytest.param(TEN, id="limit")])
def test_how_a_call_ends_corrects_what_was_counted_for_it(
    ledger: Ledger, own: Limits, price: float | None, end: Callable[[Any], None], left: Spent | None
) -> None:
    end(ledger.reserve("exa", price, own, NO_LIMITS))
    assert counted(ledger) == (left, left)


def test_only_the_first_end_of_a_call_counts(ledger: Ledger) -> None:
    ticket = ledger.reserve("exa", 0.005, TEN, NO_LIMITS)
    ticket.settle(0.001)
    ticket.settle(0.002)
    ticket.unbilled()
    ticket.refund()
    assert counted(ledger)[0] == Spent(1, 0.001, 0)
    other = ledger.reserve("exa", 0.005, TEN, NO_LIMITS)
    other.refund()
    other.refund()
    assert counted(ledger)[0] == Spent(1, 0.001, 0)


def test_what_is_given_back_can_be_used_again(ledger: Ledger) -> None:
    ledger.reserve("exa", 0.01, Limits(calls_day=1, dollars_day=0.01), NO_LIMITS).refund()
    ledger.reserve("exa", 0.01, Limits(calls_day=2, dollars_day=0.01), NO_LIMITS).unbilled()
    ledger.reserve("exa", 0.01, Limits(calls_day=2, dollars_day=0.01), NO_LIMITS)
    refused(ledger, price=0.0, calls_day=2)


def test_a_call_that_ends_after_midnight_belongs_to_the_day_and_month_it_began_in(ledger: Ledger, clock: Clock) -> None:
    clock.now = NOON + 1.5 * DAY - 1  # a second before December
    one, other = (ledger.reserve("exa", 0.005, TEN, NO_LIMITS) for _ in range(2))
    clock.now += 2
    one.settle(0.02)
    other.refund()
    usage = ledger.usage()
    assert (usage.day, usage.month, usage.today, usage.this_month) == ("2026-12-01", "2026-12", {}, {})
    assert usage.earlier == {"2026-11": {"exa": Spent(1, 0.02, 0)}}


# Days and months


def test_a_day_starts_again_at_midnight_and_a_month_with_its_first_day(ledger: Ledger, clock: Clock) -> None:
    limits = Limits(calls_day=1, calls_month=2)
    ledger.reserve("exa", 0.0, limits, NO_LIMITS)
    clock.now = NOON + DAY / 2 - 1
    assert refused_with(lambda: ledger.reserve("exa", 0.0, limits, NO_LIMITS)).retry_after == 1
    clock.now += 1
    ledger.reserve("exa", 0.0, limits, NO_LIMITS)
    assert refused_with(lambda: ledger.reserve("exa", 0.0, limits, NO_LIMITS)).retry_after == DAY
    clock.now += DAY
    ledger.reserve("exa", 0.0, limits, NO_LIMITS)
    assert counted(ledger) == (Spent(1, 0.0, 0), Spent(1, 0.0, 0))


def test_a_year_ends_like_any_month(ledger: Ledger, clock: Clock) -> None:
    clock.now = datetime(2027, 12, 31, 23, 59, tzinfo=UTC).timestamp()
    ledger.reserve("exa", 0.0, Limits(calls_month=1), NO_LIMITS)
    error = refused(ledger, calls_month=1)
    assert (error.retry_after, error.detail.endswith("2028-01-01 00:00 UTC")) == (60.0, True)
    clock.now += 60
    ledger.reserve("exa", 0.0, Limits(calls_month=1), NO_LIMITS)


def test_the_zone_of_this_machine_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
import sys, time
from webseam.resilience.ledger import Ledger
from webseam.resilience.store import MemoryStore
time.tzset()
clock = lambda: float(sys.argv[1])
usage = Ledger(MemoryStore(clock=clock), clock=clock).usage()
print(usage.day, usage.day_starts_again, usage.month_starts_again)
"""
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    said = finish(start(program, NOON))
    assert said == f"2026-11-29 {NOON + DAY / 2} {NOON + 1.5 * DAY}\n"


def test_months_are_kept_for_a_year_and_the_oldest_disappear(ledger: Ledger, clock: Clock) -> None:
    first = datetime(2026, 1, 15, tzinfo=UTC)
    months = [first.replace(year=2026 + month // 12, month=month % 12 + 1) for month in range(15)]
    for month in months:
        clock.now = month.timestamp()
        ledger.reserve("exa", 0.5, TEN, NO_LIMITS)
    kept = [month.strftime("%Y-%m") for month in reversed(months[:-1])][:12]
    assert ledger.usage().earlier == {month: {"exa": Spent(1, 0.5, 0)} for month in kept}
    clock.now += 401 * DAY
    assert ledger.usage().earlier == {}


def test_a_clock_that_steps_back_over_midnight_goes_on_with_the_day_before(ledger: Ledger, clock: Clock) -> None:
    clock.now = NOON + DAY / 2 - 0.5
    for _ in range(10):
        ledger.reserve("exa", 0.0, TEN, NO_LIMITS)
    clock.now += 1
    ledger.reserve("exa", 0.0, TEN, NO_LIMITS)
    clock.now -= 1
    refused(ledger, calls_day=10)
    clock.now += 1
    assert counted(ledger) == (Spent(1, 0.0, 0), Spent(11, 0.0, 0))


def test_a_clock_that_was_hours_ahead_lifts_no_budget_when_it_is_set_right(
    opened: Open, clock: Clock, store: CountingStore
) -> None:
    for shared in (store, opened(clock=clock)):
        ahead = Ledger(shared, clock=clock)
        for _ in range(10):
            ahead.reserve("exa", 0.0, TEN, NO_LIMITS)
        clock.now -= 5 * HOUR
        refused(Ledger(shared, clock=clock), calls_day=10)
        assert [one.used for one in Ledger(shared, clock=clock).budgets("exa", TEN)] == [10]
        clock.now = NOON


# Without limits


def test_calls_without_a_limit_wait_for_company_and_are_written_together(ledger: Ledger, store: CountingStore) -> None:
    for _ in range(40):
        ledger.reserve("exa", 0.005, NO_LIMITS, NO_LIMITS).settle(0.004)
    assert (store.reads, store.writes) == (0, 0)
    ledger.flush()
    assert store.writes == 1
    ledger.flush()
    assert store.writes == 1
    assert counted(ledger) == (Spent(40, 0.16, 0), Spent(40, 0.16, 0))


def test_counts_are_written_when_many_wait_or_the_first_has_waited_long(
    ledger: Ledger, store: CountingStore, clock: Clock
) -> None:
    for _ in range(module.GATHER_CALLS):
        ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    assert store.writes == 1
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    clock.now += module.GATHER - 0.1
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    assert store.writes == 1
    clock.now += 0.1
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    assert store.writes == 2
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    clock.now -= HOUR
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    assert store.writes == 3


def test_a_limit_counts_the_calls_that_still_wait_here(ledger: Ledger, store: CountingStore) -> None:
    for _ in range(9):
        ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    assert [one.used for one in ledger.budgets("exa", TEN)] == [9]
    assert ledger.notes("exa", TEN, NO_LIMITS) != []
    ledger.reserve("exa", 0.0, TEN, NO_LIMITS)
    refused(ledger, calls_day=10)
    assert counted(ledger)[0] == Spent(10, 0.0, 0)


def test_calls_that_wait_over_the_end_of_a_month_are_written_to_their_own(ledger: Ledger, clock: Clock) -> None:
    clock.now = NOON + 1.5 * DAY - 0.5
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    clock.now += 1
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    ledger.reserve("exa", 0.0, TEN, NO_LIMITS)
    usage = ledger.usage()
    assert (usage.this_month, usage.earlier) == ({"exa": Spent(2, 0.0, 0)}, {"2026-11": {"exa": Spent(1, 0.0, 0)}})


def test_without_limits_nothing_is_looked_up_for_notes(ledger: Ledger, store: CountingStore) -> None:
    assert ledger.notes("exa", NO_LIMITS, NO_LIMITS) == []
    assert store.reads == 0


# What is said


@pytest.mark.parametrize(
    ("calls", "notes"),
    [
        pytest.param(7, [], id="70"),
        pytest.param(8, ["exa: 8 of 10 calls of today's budget are used (80 %)"], id="80"),
        pytest.param(
            9, ["exa: today's budget is nearly used up: 9 of 10 calls (90 %); it starts again 2026-11-30 00:00 UTC"],
            id="90",
        ),
        pytest.param(
            10, ["exa: today's budget is used up: 10 of 10 calls (100 %); it starts again 2026-11-30 00:00 UTC"],
            id="100",
        ),
    ],
)  # fmt: skip
def test_a_budget_of_which_three_quarters_are_used_is_noted(ledger: Ledger, calls: int, notes: list[str]) -> None:
    for _ in range(calls):
        ledger.reserve("exa", 0.0, TEN, NO_LIMITS)
    assert ledger.notes("exa", TEN, NO_LIMITS) == notes


def test_notes_tell_of_money_and_of_what_all_providers_share(ledger: Ledger) -> None:
    own, total = Limits(dollars_month=5, calls_day=1000), Limits(dollars_day=8, dollars_month=4)
    ledger.reserve("exa", 4.1, NO_LIMITS, NO_LIMITS)
    ledger.reserve("kagi", 2.0, NO_LIMITS, NO_LIMITS)
    assert ledger.notes("exa", own, total) == [
        "exa: $4.10 of $5.00 of this month's budget are spent (82 %)",
        "all providers: this month's budget is used up: $6.10 of $4.00 (152 %); it starts again 2026-12-01 00:00 UTC",
        "all providers: $6.10 of $8.00 of today's budget are spent (76 %)",
    ]


def test_a_limit_that_allows_nothing_is_not_noted_each_time(ledger: Ledger) -> None:
    assert ledger.notes("exa", Limits(dollars_day=0.0), NO_LIMITS) == []


def test_budgets_are_told_as_plain_numbers(ledger: Ledger) -> None:
    ledger.reserve("exa", 0.5, NO_LIMITS, NO_LIMITS)
    own, total = Limits(calls_day=4), Limits(dollars_month=2)
    assert [one.as_object() for one in ledger.budgets("exa", own, total)] == [
        {"provider": None, "setting": "max_dollars_month", "limit": 2.0, "used": 0.5, "percent": 25,
         "starts_again": NOON + 1.5 * DAY},
        {"provider": "exa", "setting": "max_calls_day", "limit": 4, "used": 1, "percent": 25,
         "starts_again": NOON + DAY / 2},
    ]  # fmt: skip
    assert ledger.budgets(None, own, total) == ledger.budgets("exa", NO_LIMITS, total)


def test_usage_lists_providers_by_name_with_calls_money_and_what_has_no_price(ledger: Ledger, clock: Clock) -> None:
    ledger.reserve("tavily", 0.008, NO_LIMITS, NO_LIMITS)
    clock.now += DAY
    ledger.reserve("serper", None, NO_LIMITS, NO_LIMITS)
    ledger.reserve("exa", 0.005, TEN, NO_LIMITS)
    usage = ledger.usage()
    assert (usage.day, usage.month, usage.complete) == ("2026-11-30", "2026-11", True)
    assert (usage.day_starts_again, usage.month_starts_again) == (NOON + 1.5 * DAY, NOON + 1.5 * DAY)
    assert list(usage.today.items()) == [("exa", Spent(1, 0.005, 0)), ("serper", Spent(1, 0.0, 1))]
    assert list(usage.this_month.items()) == [*usage.today.items(), ("tavily", Spent(1, 0.008, 0))]


# Somebody else's bytes


GOOD = {"exa": [3, 15_000_000, 0], "brave": [2, 0, 0]}


@pytest.mark.parametrize(
    ("document", "exa", "complete"),
    [
        pytest.param({"month": GOOD, "days": {"2026-11-29": GOOD}}, 3, True, id="sound"),
        pytest.param({}, 0, False, id="empty"),
        pytest.param({"month": [], "days": {"2026-11-29": GOOD}}, 3, False, id="no months"),
        pytest.param({"month": GOOD}, 3, False, id="no days"),
        pytest.param({"month": GOOD, "days": "x"}, 3, False, id="days that are text"),
        pytest.param({"month": GOOD, "days": {"2026-11-29": 5}}, 3, False, id="a day that is a number"),
        pytest.param({"month": {"exa": None}, "days": {"2026-11-29": GOOD}}, 3, True, id="a null"),
        pytest.param({"month": {"exa": [-9, 0, 0]}, "days": {"2026-11-29": GOOD}}, 3, False, id="less than nothing"),
        pytest.param({"month": {"exa": [1, 0]}, "days": {"2026-11-29": GOOD}}, 3, False, id="too short"),
        pytest.param({"month": {"exa": [True, 0, 0]}, "days": {"2026-11-29": GOOD}}, 3, False, id="a truth"),
        pytest.param({"month": {"exa": [2.5, 0, 0]}, "days": {"2026-11-29": GOOD}}, 3, False, id="half a call"),
        pytest.param({"month": {"exa": ["3", 0, 0]}, "days": {"2026-11-29": GOOD}}, 3, False, id="words"),
        pytest.param({"month": {"exa": [10**300, 0, 0]}, "days": {"2026-11-29": GOOD}}, 3, False, id="too many"),
        pytest.param({"month": {"exa": [1, 0, 0]}, "days": {"2026-11-29": GOOD}}, 3, True, id="less than its days"),
        pytest.param({"month": GOOD, "days": {"2026-10-29": GOOD}}, 3, False, id="a day of another month"),
        pytest.param({"month": GOOD, "days": {"2026-11-99": GOOD}}, 3, False, id="a day that is none"),
        pytest.param({"month": GOOD, "days": {"": GOOD, "x" * 5000: {}}}, 3, False, id="days that are words"),
        pytest.param({"month": GOOD, "days": {"2026-11-29": GOOD}, "more": 1}, 3, True, id="from a newer version"),
    ],
)
def test_an_odd_document_never_crashes_and_keeps_the_limits_that_can_be_read(
    ledger: Ledger, store: CountingStore, clock: Clock, document: dict[str, Any], exa: int, complete: bool
) -> None:
    store.set("ledger", "2026-11", document, ttl=HOUR)
    limit = Limits(calls_month=4)
    for _ in range(4 - exa):
        ledger.reserve("exa", 0.0, limit, NO_LIMITS)
    refused(ledger, calls_month=4)
    known = ledger.usage()
    assert (known.this_month["exa"].calls, known.complete) == (4, complete)
    clock.now += DAY  # what could not be read is still missing when the rest has been written anew
    ledger.reserve("brave", 0.0, limit, NO_LIMITS)
    assert ledger.usage().complete is complete
    missing = "exa: part of this month's counts cannot be read, so budgets may be overstepped"
    assert (missing in ledger.notes("exa", limit, NO_LIMITS)) is not complete


def test_a_month_that_rests_on_its_days_keeps_their_counts_when_they_go(
    ledger: Ledger, store: CountingStore, clock: Clock
) -> None:
    store.set("ledger", "2026-11", {"month": {}, "days": {"2026-11-27": GOOD, "2026-11-28": GOOD}}, ttl=DAY)
    ledger.reserve("exa", 0.0, TEN, NO_LIMITS)
    clock.now += 1
    ledger.reserve("exa", 0.0, TEN, NO_LIMITS)
    assert counted(ledger) == (Spent(2, 0.0, 0), Spent(8, 0.03, 0))
    assert counted(ledger, "brave") == (None, Spent(4, 0.0, 0))
    assert list((store.get("ledger", "2026-11") or {})["days"]) == ["2026-11-28", "2026-11-29"]


def test_a_day_that_is_counted_on_is_kept_before_days_that_a_wrong_clock_wrote(
    ledger: Ledger, store: CountingStore, clock: Clock
) -> None:
    clock.now = NOON - DAY
    store.set("ledger", "2026-11", {"month": GOOD, "days": {"2026-11-29": GOOD, "2026-11-30": GOOD}}, ttl=HOUR)
    for _ in range(2):
        ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
        ledger.flush()
    assert sorted((store.get("ledger", "2026-11") or {})["days"]) == ["2026-11-28", "2026-11-30"]
    assert counted(ledger)[0] == Spent(2, 0.0, 0)


def test_a_correction_of_an_old_call_does_not_push_out_a_newer_day(
    ledger: Ledger, store: CountingStore, clock: Clock
) -> None:
    clock.now = NOON - DAY
    old = ledger.reserve("exa", 0.005, TEN, NO_LIMITS)
    for _ in range(2):
        clock.now += DAY
        ledger.reserve("exa", 0.005, TEN, NO_LIMITS)
    old.settle(0.001)
    assert sorted((store.get("ledger", "2026-11") or {})["days"]) == ["2026-11-29", "2026-11-30"]
    assert counted(ledger) == (Spent(1, 0.005, 0), Spent(3, 0.011, 0))


def test_a_call_given_back_after_the_counts_were_lost_leaves_nothing_below_nothing(
    ledger: Ledger, store: CountingStore
) -> None:
    ticket = ledger.reserve("exa", 0.005, TEN, NO_LIMITS)
    store.clear("ledger")
    ticket.refund()
    ledger.reserve("exa", 0.005, TEN, NO_LIMITS)
    assert counted(ledger) == (Spent(1, 0.005, 0), Spent(1, 0.005, 0))
    assert ledger.usage().complete


# Threads and processes


def test_threads_sharing_a_budget_make_exactly_its_calls(opened: Open, clock: Clock) -> None:
    ledger = Ledger(opened(clock=clock), clock=clock)
    made: list[str] = []

    def work(name: str) -> None:
        for _ in range(20):
            ledger.reserve("brave", 0.0, NO_LIMITS, NO_LIMITS).settle(0.001)
            try:
                ledger.reserve("exa", 0.0, Limits(calls_day=30), NO_LIMITS).settle(0.001)
            except ProviderError:
                continue
            made.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 30
    assert ledger.usage().today == {"brave": Spent(80, 0.08, 0), "exa": Spent(30, 0.03, 0)}


SHARING = """
import pathlib, sys
from webseam.errors import ProviderError
from webseam.resilience.ledger import Ledger, Limits, NO_LIMITS
from webseam.resilience.sqlite import SqliteStore
def warn(message): raise SystemExit(message)
clock = lambda: float(sys.argv[2])
store = SqliteStore(pathlib.Path(sys.argv[1]), warn=warn, clock=clock)
ledger = Ledger(store, clock=clock)
limits = {"calls": Limits(calls_day=10), "dollars": Limits(dollars_month=0.05)}[sys.argv[3]]
own, total = {"own": (limits, NO_LIMITS), "all": (NO_LIMITS, limits)}[sys.argv[4]]
store.get("a", "b")
print("ready", flush=True)
sys.stdin.readline()
for number in range(40):
    try:
        ticket = ledger.reserve("exa", 0.005, own, total)
    except ProviderError:
        continue
    if number % 3 == 0:
        ticket.refund()
        continue
    ticket.settle(0.005)
    print("made")
ledger.flush()
store.close()
"""


@pytest.mark.parametrize("scope", ["own", "all"])
@pytest.mark.parametrize("unit", ["calls", "dollars"])
def test_two_processes_sharing_a_budget_of_ten_calls_make_ten_together(
    opened: Open, path: Path, clock: Clock, unit: str, scope: str
) -> None:
    said = together(SHARING, path, NOON, unit, scope, processes=2)
    assert sum(text.count("made") for text in said) == 10
    ledger = Ledger(opened(clock=clock), clock=clock)
    assert counted(ledger)[0] == Spent(10, 0.05, 0)


def test_what_one_ledger_counts_within_a_limit_the_other_sees_at_once(opened: Open, clock: Clock) -> None:
    one, other = (Ledger(opened(clock=clock), clock=clock) for _ in range(2))
    tickets = [one.reserve("exa", 0.01, TEN, NO_LIMITS) for _ in range(10)]
    refused(other, calls_day=10)
    tickets[0].refund()
    tickets[1].settle(0.5)
    refused(other, price=0.01, dollars_day=0.58)
    other.reserve("exa", 0.0, TEN, NO_LIMITS)


FORKING = """
import os, pathlib, sys
from webseam.resilience.ledger import Ledger, NO_LIMITS
from webseam.resilience.sqlite import SqliteStore
def warn(message): raise SystemExit(message)
store = SqliteStore(pathlib.Path(sys.argv[1]), warn=warn)
ledger = Ledger(store)
ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
with ledger._guard:
    child = os.fork()
if child == 0:
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    ledger.flush()
    store.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
ledger.flush()
print(ledger.usage().this_month["exa"].calls)
store.close()
"""


def test_a_forked_child_neither_waits_for_its_parent_nor_writes_its_counts_twice(path: Path) -> None:
    assert finish(start(FORKING, path)) == "2\n"
