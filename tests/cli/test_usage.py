"""`webseam usage`: calls and money by provider, today and this month, budgets and when they start again."""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.world import webseam_command
from tests.resilience.world import Clock, together
from tests.search.world import BAD_KEY, fakes
from tests.world import World
from webseam.fronts.cli.usage import shown
from webseam.resilience.ledger import NO_LIMITS, Ledger, Limits
from webseam.resilience.sqlite import SqliteStore
from webseam.resilience.store import MemoryStore

DAY = 86_400
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC).timestamp()


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def ledger(clock: Clock) -> Ledger:
    return Ledger(MemoryStore(clock=clock), clock=clock)


def test_calls_and_money_are_listed_by_provider_with_what_has_no_price(ledger: Ledger, clock: Clock) -> None:
    clock.now = NOON - 30 * DAY
    ledger.reserve("exa", 1.25, NO_LIMITS, NO_LIMITS)
    clock.now = NOON - DAY
    ledger.reserve("exa", 0.005, NO_LIMITS, NO_LIMITS)
    ledger.reserve("tavily", None, NO_LIMITS, NO_LIMITS).settle(0.5)
    clock.now = NOON
    ledger.reserve("exa", 0.0075, NO_LIMITS, NO_LIMITS)
    for _ in range(2):
        ledger.reserve("tavily", None, NO_LIMITS, NO_LIMITS)
    assert list(shown(ledger.usage(), [])) == [
        "provider  2026-11-29  cost                             2026-11  cost\n"
        "exa       1 call      $0.0075                          2 calls  $0.0125\n"
        "tavily    2 calls     unknown price: 2 calls           3 calls  $0.50, unknown price: 2 calls\n"
        "all       3 calls     $0.0075, unknown price: 2 calls  5 calls  $0.5125, unknown price: 2 calls",
        "",
        "earlier  calls   cost\n"
        "2026-10  1 call  $1.25",
    ]  # fmt: skip


def test_one_provider_needs_no_sum_and_nothing_at_all_needs_no_table(ledger: Ledger) -> None:
    assert list(shown(ledger.usage(), [])) == ["no calls in 2026-11 (UTC)"]
    ledger.reserve("exa", 0.0, NO_LIMITS, NO_LIMITS)
    assert list(shown(ledger.usage(), [])) == [
        "provider  2026-11-29  cost   2026-11  cost\n"
        "exa       1 call      $0.00  1 call   $0.00",
    ]  # fmt: skip


def test_budgets_are_listed_with_how_far_they_are_used_when_they_start_again_and_what_sets_them(ledger: Ledger) -> None:
    own, total = Limits(calls_day=4, dollars_month=2), Limits(calls_month=100)
    ledger.reserve("exa", 0.5, own, total)
    budgets = [*ledger.budgets("exa", own), *ledger.budgets(None, NO_LIMITS, total)]
    assert list(shown(ledger.usage(), budgets))[1:] == [
        "",
        "budget of      used                          starts again          set by\n"
        "exa            $0.50 of $2.00 a month  25 %  2026-12-01 00:00 UTC  exa.max_dollars_month\n"
        "exa            1 of 4 calls a day      25 %  2026-11-30 00:00 UTC  exa.max_calls_day\n"
        "all providers  1 of 100 calls a month  1 %   2026-12-01 00:00 UTC  budget.max_calls_month",
    ]


async def test_searches_are_counted_over_processes_with_declared_and_unbilled_costs() -> None:
    async with World() as world:
        services = fakes(world, exa=BAD_KEY)
        environment = {**services.environment("exa", "tavily"), "WEBSEAM_TAVILY_PRICE": "0.25"}
        for words in ("one", "two"):
            assert (await webseam_command("search", words, env=environment)).code == 0
        cached = await webseam_command("search", "two", env=environment)
        told = (await webseam_command("usage", "--json", env=environment)).json()
        plain = await webseam_command("usage", env=environment)
    assert cached.code == 0
    assert services.asked == ["exa", "tavily", "tavily"]
    assert told["this_month"] == {
        "exa": {"calls": 1, "dollars": 0.0, "unpriced": 0},
        "tavily": {"calls": 2, "dollars": 0.5, "unpriced": 0},
    }
    assert (list(told["earlier"]), told["complete"], told["budgets"]) == ([], True, [])
    assert told["day"].startswith(told["month"])
    assert (plain.code, plain.err) == (0, "")
    assert plain.out.splitlines()[-1].split()[0] == "all"
    assert plain.out.splitlines()[-1].endswith("3 calls  $0.50")


SEARCHING = """
import asyncio, sys
from webseam import AsyncWeb
from webseam.errors import Outcome, ProviderError
async def main():
    async with AsyncWeb({"search.provider": "tavily"}) as web:
        web.plan()
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(8):
            try:
                await web.search(f"question {number}", cache=False)
            except ProviderError as error:
                assert error.outcome is Outcome.QUOTA
            else:
                print("made")
asyncio.run(main())
"""


async def test_two_processes_sharing_a_budget_of_ten_calls_make_ten_searches_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**services.environment("tavily"), "WEBSEAM_BUDGET_MAX_CALLS_MONTH": "10"}
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        said = await asyncio.to_thread(together, SEARCHING, processes=2)
        another = await webseam_command("search", "eleven", "-p", "tavily", env=environment)
    assert sum(text.count("made") for text in said) == len(services.asked) == 10
    assert another.code == 5
    assert "the budget of 10 calls a month for all providers is used up; it starts again " in another.err
    assert "max_calls_month in [budget] sets it" in another.err


async def test_budgets_of_the_settings_are_told_as_objects() -> None:
    async with World() as world:
        environment = fakes(world).environment("tavily")
        environment |= {"WEBSEAM_TAVILY_MAX_CALLS_MONTH": "8", "WEBSEAM_BUDGET_MAX_DOLLARS_MONTH": "4"}
        environment |= {"WEBSEAM_TAVILY_PRICE": "0.5"}
        for words in ("one", "two"):
            await webseam_command("search", words, env=environment)
        told = (await webseam_command("usage", "--json", env=environment)).json()
    again = told["month_starts_again"]
    assert told["budgets"] == [
        {"provider": "tavily", "setting": "max_calls_month", "limit": 8, "used": 2, "percent": 25,
         "starts_again": again},
        {"provider": None, "setting": "max_dollars_month", "limit": 4.0, "used": 1.0, "percent": 25,
         "starts_again": again},
    ]  # fmt: skip


async def test_counts_that_cannot_be_read_are_said_to_be_missing() -> None:
    with closing(SqliteStore(Path(os.environ["WEBSEAM_STATE_DIR"]) / "state.sqlite3")) as store:
        month = Ledger(store).usage().month
        store.set("ledger", month, {"month": {"exa": "much", "tavily": [1, 0, 0]}, "days": {}}, ttl=DAY)
    run = await webseam_command("usage")
    assert run.code == 0
    assert run.err == "webseam: part of this month's counts could not be read; they may be too low\n"
    assert [line.split()[0] for line in run.out.splitlines()] == ["provider", "tavily"]


async def test_without_the_shared_state_each_process_is_said_to_count_for_itself() -> None:
    run = await webseam_command("usage", env={"WEBSEAM_STATE_ENABLED": "off"})
    assert run.out.startswith("no calls in ")
    assert run.err == "webseam: state.enabled is off, so each process counts for itself and forgets it\n"
