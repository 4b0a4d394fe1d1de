"""Health and pace under any sequence of calls, ends, cancels and clock jumps, against a model of a few lines.

Each call goes the way a search goes: may the provider be asked, wait for a slot, run, report; cancelled anywhere.
"""

import asyncio
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.resilience.test_pace import sleep
from tests.resilience.world import Clock
from webseam.errors import Outcome
from webseam.resilience.deadline import NEVER
from webseam.resilience.health import Health
from webseam.resilience.pace import Pace
from webseam.resilience.store import MemoryStore

SLACK = 2.0  # seconds the clock may step back unnoticed
INTERVAL = 0.5
LENGTHS = {Outcome.BLOCKED: 3600.0, Outcome.RATE_LIMITED: 300.0, Outcome.QUOTA: 21_600.0, Outcome.AUTH: 300.0}
FAILED = (Outcome.NETWORK, Outcome.TIMEOUT, Outcome.UPSTREAM, Outcome.BAD_RESPONSE)
ANSWERED = (Outcome.OK, Outcome.EMPTY, Outcome.FILTERED)
SILENT = (Outcome.CANCELLED, Outcome.INVALID, Outcome.UNSUPPORTED, Outcome.UNSAFE)
PROCESSES = 3


@dataclass
class Known:
    """What the model knows of the provider. A fact that began in the future is void."""

    cooling: tuple[Outcome, float, float] | None = None  # outcome, since, until
    failures: tuple[float, ...] = ()  # the times of the last three
    probe: tuple[int, float] | None = None  # whose, since
    written: float = 0.0

    def at(self, now: float) -> "Known":
        if self.written > now + SLACK:
            return Known(written=now)
        cooling = self.cooling if self.cooling and self.cooling[1] - SLACK <= now < self.cooling[2] else None
        recent = bool(self.failures) and self.failures[-1] - SLACK <= now < self.failures[-1] + 3600
        probing = recent and self.probe is not None and self.probe[1] - SLACK <= now < self.probe[1] + 60
        return Known(cooling, self.failures if recent else (), self.probe if probing else None, now)

    def standing(self, now: float) -> tuple[bool, bool, float | None]:
        """Return usable, probe and until."""
        if self.cooling:
            return False, False, self.cooling[2]
        if len(self.failures) < 3:
            return True, False, None
        if now < self.failures[-1] + 300:
            return False, False, self.failures[-1] + 300
        return (False, False, self.probe[1] + 60) if self.probe else (True, True, None)


@dataclass
class Call:
    """One search under way in a process: waiting for its slot until `wakes` (monotonic), or running."""

    process: int
    waiting: Any
    wakes: float | None = None


class World(RuleBasedStateMachine):
    """Three processes, one store, one wall clock that jumps and one monotonic clock that does not."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.monotonic = 0.0
        store = MemoryStore(clock=self.clock)
        self.healths = [Health(store, clock=self.clock) for _ in range(PROCESSES)]
        self.pace = Pace(store, clock=self.clock, sleep=sleep)
        self.known = Known()
        self.probing: set[int] = set()  # processes that believe they hold the probe
        self.calls: list[Call] = []
        self.made = 0
        self.starts: list[float] = []  # since the clock was set back

    @rule(seconds=st.sampled_from([0.0, 0.1, 0.5, 1.0, 30.0, 60.0, 299.0, 300.0, 3600.0, 100_000.0]))
    def time_passes(self, seconds: float) -> None:
        end = self.monotonic + seconds
        while due := [call for call in self.calls if call.wakes is not None and call.wakes <= end]:
            call = min(due, key=lambda one: one.wakes or 0.0)
            self.move_to(max(self.monotonic, call.wakes or 0.0))
            self.go_on(call)
        self.move_to(end)

    @rule(seconds=st.sampled_from([0.2, 0.7, 5.0]))
    def the_event_loop_is_stuck(self, seconds: float) -> None:
        """Nobody wakes meanwhile, so that they will be late."""
        self.move_to(self.monotonic + seconds)

    @rule(seconds=st.sampled_from([1.0, 3.0, 400.0, 3600.0]))
    def the_clock_is_set_back(self, seconds: float) -> None:
        self.clock.now -= seconds
        self.starts.clear()

    @rule(process=st.integers(0, PROCESSES - 1))
    def call(self, process: int) -> None:
        now = self.clock.now
        known = self.known.at(now)
        usable, probe, until = known.standing(now)
        standing = self.healths[process].check("exa", "")
        assert (standing.usable, standing.probe, standing.until) == (usable, probe, until)
        if probe:
            self.probing.add(process)
            known.probe = (process, now)
            self.known = known
        if usable:
            self.made += 1
            call = Call(process, self.pace.wait("exa", INTERVAL, deadline=NEVER))
            self.calls.append(call)
            self.go_on(call)
            assert call.wakes is None or call.wakes - self.monotonic <= self.made * INTERVAL + SLACK, "frozen"

    @precondition(lambda self: any(call.wakes is None for call in self.calls))
    @rule(data=st.data(), outcome=st.sampled_from([*LENGTHS, *FAILED, *FAILED, *ANSWERED, *SILENT]))
    def a_running_call_ends(self, data: st.DataObject, outcome: Outcome) -> None:
        call = data.draw(st.sampled_from([call for call in self.calls if call.wakes is None]))
        self.calls.remove(call)
        self.healths[call.process].record("exa", "", outcome, keyless=True)
        now = self.clock.now
        if outcome in SILENT:
            self.gives_back(call.process)
            return
        self.probing.discard(call.process)
        known = self.known.at(now)
        if outcome in ANSWERED:
            known = Known()
        elif outcome in LENGTHS:
            known.failures, known.probe = (), None
            if known.cooling is None or now + LENGTHS[outcome] >= known.cooling[2]:
                known.cooling = (outcome, now, now + LENGTHS[outcome])
        elif len(known.failures) < 3 or now >= known.failures[-1] + 300:
            known.failures, known.probe = (*known.failures, now)[-3:], None
        self.known = known

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def a_call_is_cancelled(self, data: st.DataObject) -> None:
        call = data.draw(st.sampled_from(self.calls))
        self.calls.remove(call)
        if call.wakes is not None:
            try:
                call.waiting.throw(asyncio.CancelledError())
            except asyncio.CancelledError:
                pass
            else:
                raise AssertionError("the cancel was swallowed")
        self.healths[call.process].release("exa", "")
        self.gives_back(call.process)

    @rule()
    def all_is_forgotten(self) -> None:
        self.healths[0].forget("exa")
        self.probing.discard(0)
        self.known = Known()

    @invariant()
    def looking_agrees_and_changes_nothing(self) -> None:
        now = self.clock.now
        for health in self.healths:
            standing = health.look("exa", "")
            assert (standing.usable, standing.probe, standing.until) == self.known.at(now).standing(now)

    @invariant()
    def calls_start_apart(self) -> None:
        assert all(later - earlier >= INTERVAL - 1e-6 for earlier, later in pairwise(self.starts))

    def teardown(self) -> None:
        for call in self.calls:
            call.waiting.close()

    def move_to(self, monotonic: float) -> None:
        self.clock.now += monotonic - self.monotonic
        self.monotonic = monotonic

    def go_on(self, call: Call) -> None:
        try:
            call.wakes = self.monotonic + call.waiting.send(None)
        except StopIteration:
            call.wakes = None
            self.starts.append(self.clock.now)

    def gives_back(self, process: int) -> None:
        if process not in self.probing:
            return
        self.probing.discard(process)
        known = self.known.at(self.clock.now)
        if known.probe and known.probe[0] == process:
            known.probe = None
        self.known = known


World.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
test_every_sequence_of_events_agrees_with_the_model = World.TestCase
