"""Start slots: so far apart, in order, within the deadline, across processes (rows 79, 82 and 83; "waiting counts")."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace, coroutine
from typing import Any

import pytest

from tests.resilience.world import NOON, Clock, CountingStore, together
from webseam.resilience import deadline
from webseam.resilience.deadline import NEVER, Deadline
from webseam.resilience.pace import Pace

HOUR = 3600.0


@coroutine
def sleep(seconds: float) -> Generator[float, None, None]:
    """Hand the length of the sleep to whoever drives the coroutine."""
    yield seconds


class Caller:
    """One call of `wait`, driven by hand: `wakes` is when its sleep is over, None once it may start."""

    def __init__(self, pace: Pace, clock: Clock, interval: float = 0.5, deadline: Deadline = NEVER) -> None:
        self.clock = clock
        self.waiting: Any = pace.wait("exa", interval, deadline=deadline)
        self.wakes: float | None = None
        self._step(lambda: self.waiting.send(None))

    def wake(self, late: float = 0.0) -> bool:
        """Let the sleep end, `late` seconds after its time; True when the call may start."""
        assert self.wakes is not None
        self.clock.now = max(self.clock.now, self.wakes + late)
        self._step(lambda: self.waiting.send(None))
        return self.wakes is None

    def cancel(self) -> None:
        with pytest.raises(asyncio.CancelledError):
            self.waiting.throw(asyncio.CancelledError())

    def _step(self, go: Callable[[], float]) -> None:
        try:
            self.wakes = self.clock.now + go()
        except StopIteration:
            self.wakes = None


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> CountingStore:
    return CountingStore(clock)


@pytest.fixture
def pace(store: CountingStore, clock: Clock) -> Pace:
    return Pace(store, clock=clock, sleep=sleep)


def test_the_first_starts_at_once_and_the_others_in_order_so_far_apart(pace: Pace, clock: Clock) -> None:
    callers = [Caller(pace, clock) for _ in range(4)]
    assert [caller.wakes for caller in callers] == [None, NOON + 0.5, NOON + 1.0, NOON + 1.5]
    assert all(caller.wake() for caller in callers[1:])
    clock.now += 0.2
    assert Caller(pace, clock).wakes == pytest.approx(NOON + 2.0)


def test_a_newcomer_queues_behind_all_who_wait_when_one_of_them_has_just_started(pace: Pace, clock: Clock) -> None:
    Caller(pace, clock)
    second, third = Caller(pace, clock), Caller(pace, clock)
    assert second.wake()
    assert Caller(pace, clock).wakes == NOON + 1.5
    assert third.wakes == NOON + 1.0


def test_after_a_pause_nobody_waits(pace: Pace, clock: Clock) -> None:
    Caller(pace, clock)
    clock.now += 0.5
    assert Caller(pace, clock).wakes is None


def test_names_do_not_wait_for_each_other(store: CountingStore, clock: Clock) -> None:
    pace = Pace(store, clock=clock, sleep=sleep)
    Caller(pace, clock)
    with pytest.raises(StopIteration):
        pace.wait("brave", 0.5, deadline=NEVER).__await__().send(None)


def test_no_interval_means_no_wait_and_no_trace(store: CountingStore, clock: Clock) -> None:
    pace = Pace(store, clock=clock, sleep=sleep)
    assert Caller(pace, clock, interval=0).wakes is None
    assert Caller(pace, clock, interval=0, deadline=Deadline(0.0)).wakes is None
    assert store.writes == 0


def test_a_slot_beyond_the_deadline_is_refused_at_once_and_not_taken(pace: Pace, clock: Clock) -> None:
    Caller(pace, clock, interval=60)
    with pytest.raises(TimeoutError, match=r"exa: the next free slot is 60\.0 s away and only \d+\.\d s are left"):
        Caller(pace, clock, interval=60, deadline=Deadline.after(30))
    assert Caller(pace, clock, interval=60).wakes == NOON + 60


def test_one_who_starts_late_keeps_those_behind_at_their_distance(pace: Pace, clock: Clock) -> None:
    Caller(pace, clock)
    second, third = Caller(pace, clock), Caller(pace, clock)
    assert second.wake(late=0.3)
    assert not third.wake()
    assert third.wakes == pytest.approx(NOON + 1.3)
    assert third.wake()
    assert Caller(pace, clock).wakes == pytest.approx(NOON + 1.8)


def test_one_held_up_beyond_its_deadline_by_a_late_one_is_refused(
    pace: Pace, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=clock))
    Caller(pace, clock, interval=60)
    second = Caller(pace, clock, interval=60)
    third = Caller(pace, clock, interval=60, deadline=Deadline.after(125))
    assert second.wake(late=50)
    with pytest.raises(TimeoutError, match=r"the next free slot is 50\.0 s away and only 5\.0 s are left"):
        third.wake()


def test_the_last_in_the_queue_gives_its_slot_back_when_cancelled(pace: Pace, clock: Clock) -> None:
    Caller(pace, clock)
    second, third = Caller(pace, clock), Caller(pace, clock)
    third.cancel()
    second.cancel()
    assert Caller(pace, clock).wakes == NOON + 0.5


def test_one_in_the_middle_of_the_queue_cannot_give_its_slot_back(pace: Pace, clock: Clock) -> None:
    Caller(pace, clock)
    second, third = Caller(pace, clock), Caller(pace, clock)
    second.cancel()
    assert third.wakes == NOON + 1.0
    assert Caller(pace, clock).wakes == NOON + 1.5


def test_a_clock_set_back_an_hour_freezes_nobody(pace: Pace, clock: Clock) -> None:
    Caller(pace, clock)
    second, third = Caller(pace, clock), Caller(pace, clock)
    clock.now -= HOUR
    assert Caller(pace, clock).wakes is None
    clock.now = NOON - HOUR + 1
    second.wakes = third.wakes = clock.now  # their sleeps are on the monotonic clock
    assert second.wake()
    assert not third.wake()
    assert third.wakes == clock.now + 0.5
    clock.now -= HOUR
    third.wakes = clock.now
    assert third.wake()


def test_a_waiter_cancelled_after_the_clock_was_set_back_leaves_the_new_queue_alone(pace: Pace, clock: Clock) -> None:
    Caller(pace, clock)
    second = Caller(pace, clock)
    clock.now -= HOUR
    Caller(pace, clock)
    second.cancel()
    assert Caller(pace, clock).wakes == NOON - HOUR + 0.5


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"slot": NOON + HOUR, "started": NOON, "written": NOON}, id="a slot no honest queue reaches"),
        pytest.param({"slot": NOON, "started": NOON, "written": NOON + HOUR}, id="written in the future"),
        pytest.param({"slot": NOON}, id="a part is missing"),
        pytest.param({"slot": "x", "started": NOON, "written": NOON}, id="a word"),
        pytest.param({"slot": None, "started": NOON, "written": NOON}, id="null"),
    ],
)
def test_a_row_that_cannot_be_true_holds_nobody_up(
    pace: Pace, clock: Clock, store: CountingStore, row: dict[str, Any]
) -> None:
    store.set("pace", "exa", row, ttl=HOUR)
    assert Caller(pace, clock).wakes is None
    assert Caller(pace, clock).wakes == NOON + 0.5


async def test_a_waiting_task_that_is_cancelled_ends_at_once_and_gives_its_slot_back(
    store: CountingStore, clock: Clock
) -> None:
    asleep = asyncio.Event()

    def forever(_: float) -> Awaitable[None]:
        asleep.set()
        return asyncio.get_running_loop().create_future()

    pace = Pace(store, clock=clock, sleep=forever)
    await pace.wait("exa", 0.5, deadline=NEVER)
    before = store.get("pace", "exa")
    task = asyncio.create_task(pace.wait("exa", 0.5, deadline=NEVER))
    await asleep.wait()
    assert store.get("pace", "exa") != before
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert store.get("pace", "exa") == before


PACED = """
import asyncio, pathlib, sys, time
from webseam.resilience.deadline import Deadline
from webseam.resilience.pace import Pace
from webseam.resilience.store import open_store
def warn(message): raise SystemExit(message)
class Clock:
    def __call__(self):
        self.read = time.time()
        return self.read
clock = Clock()
store = open_store(pathlib.Path(sys.argv[1]), warn=warn)
pace = Pace(store, clock=clock)
async def main():
    for _ in range(4):
        await pace.wait("exa-free", 0.1, deadline=Deadline.after(15))
        print(clock.read)
store.get("a", "b")
print("ready", flush=True)
sys.stdin.readline()
asyncio.run(main())
store.close()
"""


def test_two_processes_keep_their_calls_apart_together(tmp_path: Path) -> None:
    said = together(PACED, tmp_path / "store.sqlite", processes=2)
    starts = sorted(float(line) for text in said for line in text.split())
    assert len(starts) == 8
    assert all(later - earlier >= 0.1 - 1e-6 for earlier, later in pairwise(starts))
