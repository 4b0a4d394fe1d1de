"""Budgets under any sequence of calls, ends, clock steps and flushes of several processes, against a model.

The model knows every call with its day and what it came to, and asks before each one whether all limits leave room.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.resilience.world import Clock
from webseam.errors import Outcome, ProviderError
from webseam.resilience.ledger import NO_LIMITS, Ledger, Limits, Spent, Ticket
from webseam.resilience.store import MemoryStore

DAY = 86_400.0
PROVIDERS = ("exa", "brave", "serper")
PROCESSES = 3
EVENING = datetime(2026, 11, 29, 20, tzinfo=UTC).timestamp()  # two midnights from here a month begins
PRICES = {"exa": 5_000_000, "brave": 0, "serper": None}  # billionths of a dollar
CALLS = st.sampled_from([None, None, 0, 1, 3, 8])
DOLLARS = st.sampled_from([None, None, 0.0, 0.005, 0.012, 0.03])
LIMITS = st.one_of(
    st.just(NO_LIMITS),
    st.builds(Limits, calls_day=CALLS, calls_month=CALLS, dollars_day=DOLLARS, dollars_month=DOLLARS),
)


@dataclass(eq=False)
class Call:
    """One call that was made: by whom, when, and what it came to so far. `cost` None = nobody knows."""

    process: int
    provider: str
    day: str
    cost: int | None
    ticket: Ticket
    over: bool = False  # it has ended, or its process has
    told: bool = False  # how it ended was told
    gone: bool = False  # it was given back


class World(RuleBasedStateMachine):
    """Three processes, one store, one wall clock; the limits stay what they are."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock(EVENING)
        self.latest = EVENING
        self.store = MemoryStore(clock=self.clock)
        self.ledgers = [Ledger(self.store, clock=self.clock) for _ in range(PROCESSES)]
        self.calls: list[Call] = []
        self.own: dict[str, Limits] = {}
        self.total = NO_LIMITS

    @initialize(own=st.fixed_dictionaries(dict.fromkeys(PROVIDERS, LIMITS)), total=LIMITS)
    def limits_are_set(self, own: dict[str, Limits], total: Limits) -> None:
        self.own, self.total = own, total

    @property
    def today(self) -> str:
        return datetime.fromtimestamp(self.clock.now, UTC).strftime("%Y-%m-%d")

    @rule(process=st.integers(0, PROCESSES - 1), provider=st.sampled_from(PROVIDERS))
    def call(self, process: int, provider: str) -> None:
        price, own = PRICES[provider], self.own[provider]
        allowed = self.leaves(provider, price, own) and self.leaves(None, price, self.total)
        dollars = None if price is None else price / 1e9
        if not allowed:
            with pytest.raises(ProviderError) as caught:
                self.ledgers[process].reserve(provider, dollars, own, self.total)
            assert caught.value.outcome is Outcome.QUOTA
            assert 0 < (caught.value.retry_after or 0) <= 31 * 86_400
            return
        ticket = self.ledgers[process].reserve(provider, dollars, own, self.total)
        self.calls.append(Call(process, provider, self.today, price, ticket))

    @precondition(lambda self: any(not call.over for call in self.calls))
    @rule(data=st.data(), end=st.sampled_from(["settle", "cheaper", "dearer", "refund", "unbilled"]))
    def a_call_ends(self, data: st.DataObject, end: str) -> None:
        call = data.draw(st.sampled_from([call for call in self.calls if not call.over]))
        call.over = call.told = True
        costs = {"cheaper": 1_000_000, "dearer": 7_000_000}
        if end in costs:
            call.ticket.settle(costs[end] / 1e9)
            call.cost = costs[end]
        elif end == "settle":
            call.ticket.settle(None)
        elif end == "refund":
            call.ticket.refund()
            call.gone = True
        else:
            call.ticket.unbilled()
            call.cost = 0

    @precondition(lambda self: any(call.told for call in self.calls))
    @rule(data=st.data())
    def an_end_is_told_again(self, data: st.DataObject) -> None:
        call = data.draw(st.sampled_from([call for call in self.calls if call.told]))
        call.ticket.refund()
        call.ticket.settle(1.0)

    @rule(seconds=st.sampled_from([0.1, 1.0, 60.0, 3600.0, 6 * 3600.0, 86_400.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds
        self.latest = max(self.latest, self.clock.now)

    @rule(seconds=st.sampled_from([0.5, 3.0, 3600.0]))
    def the_clock_steps_back(self, seconds: float) -> None:
        self.clock.now = max(self.clock.now - seconds, self.latest - DAY)  # what is older than two days is not kept

    @rule(process=st.integers(0, PROCESSES - 1))
    def a_process_ends_and_another_begins(self, process: int) -> None:
        self.ledgers[process].flush()
        self.ledgers[process] = Ledger(self.store, clock=self.clock)
        for call in self.calls:
            if call.process == process:
                call.over = True

    @rule()
    def everything_that_was_counted_is_told(self) -> None:
        for ledger in self.ledgers[1:]:
            ledger.flush()
        usage = self.ledgers[0].usage()
        day, month = self.today, self.today[:7]
        assert {name: usage.today.get(name) for name in PROVIDERS} == {
            name: self.spent(call for call in self.calls if (call.provider, call.day) == (name, day))
            for name in PROVIDERS
        }
        months = {month: usage.this_month, **usage.earlier}
        for known in {call.day[:7] for call in self.calls}:
            if known > month:  # the clock went back over the end of a month
                continue
            found = {name: months.get(known, {}).get(name) for name in PROVIDERS}
            assert found == {
                name: self.spent(c for c in self.calls if (c.provider, c.day[:7]) == (name, known))
                for name in PROVIDERS
            }

    def teardown(self) -> None:
        self.everything_that_was_counted_is_told()

    def spent(self, calls: Iterable[Call]) -> Spent | None:
        made = [call for call in calls if not call.gone]
        if not made:
            return None
        unknown = sum(call.cost is None for call in made)
        return Spent(len(made), sum(call.cost or 0 for call in made) / 1_000_000_000, unknown)

    def leaves(self, provider: str | None, price: int | None, limits: Limits) -> bool:
        mine = [call for call in self.calls if not call.gone and provider in (None, call.provider)]
        for length, calls, dollars in (
            (10, limits.calls_day, limits.dollars_day),
            (7, limits.calls_month, limits.dollars_month),
        ):
            now = [call for call in mine if call.day[:length] == self.today[:length]]
            spent = sum(call.cost or 0 for call in now)
            if calls is not None and len(now) >= calls:
                return False
            if dollars is not None and price != 0:
                most = round(dollars * 1_000_000_000)
                if spent >= most if price is None else spent + price > most:
                    return False
        return True


World.TestCase.settings = settings(max_examples=100, stateful_step_count=40)
test_every_sequence_of_events_agrees_with_the_model = World.TestCase
