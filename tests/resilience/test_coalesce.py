"""Equal calls share one piece of work (rows 78 and 79 of the fault table)."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from tests.resilience.world import Clock
from webseam.errors import AllProvidersFailed, Outcome, WebSeamError
from webseam.model import Attempt
from webseam.resilience import coalesce
from webseam.resilience import deadline as deadlines
from webseam.resilience.coalesce import Coalescer
from webseam.resilience.deadline import NEVER, Deadline


class Work:
    """Work that ends when told to, and knows how often it ran and was cancelled."""

    def __init__(self) -> None:
        self.runs = 0
        self.cancelled = 0
        self.started = asyncio.Event()
        self.outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def __call__(self) -> str:
        self.runs += 1
        self.started.set()
        try:
            return await asyncio.shield(self.outcome)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


async def settled() -> None:
    """Let everything that can go on without the outside do so."""
    for _ in range(20):
        await asyncio.sleep(0)


def call(coalescer: Coalescer, work: Callable[[], Awaitable[str]], deadline: Deadline | None = None) -> Any:
    return asyncio.create_task(coalescer.run("query", work, deadline=deadline))


def under_way(coalescer: Coalescer) -> int:
    return sum(len(board._flights) for board in coalescer._boards.values())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of deadlines, in the test's hand; the alarms of the event loop keep to the real one and do not ring."""
    clock = Clock()
    for module in (coalesce, deadlines):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=clock))
    return clock


@pytest.fixture(autouse=True)
def _nothing_is_reported_as_lost(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """asyncio logs exceptions that nobody looked at when their future is collected."""
    yield
    gc.collect()
    assert [record.getMessage() for record in caplog.records] == []


async def test_a_hundred_equal_calls_do_the_work_once() -> None:
    coalescer, work = Coalescer(), Work()
    calls = [call(coalescer, work) for _ in range(100)]
    await work.started.wait()
    work.outcome.set_result("hits")
    assert await asyncio.gather(*calls) == ["hits"] * 100
    assert (work.runs, under_way(coalescer)) == (1, 0)


async def test_different_calls_do_not_share_and_a_later_call_works_anew() -> None:
    coalescer, runs = Coalescer(), []

    async def work() -> int:
        runs.append(1)
        return len(runs)

    assert await asyncio.gather(*(coalescer.run(key, work, deadline=NEVER) for key in ("a", "b"))) == [1, 2]
    assert await coalescer.run("a", work, deadline=None) == 3


@pytest.mark.parametrize("error", [WebSeamError("no"), TimeoutError("too slow"), ValueError("a bug")])
async def test_an_error_reaches_all_who_wait_and_is_not_kept(error: Exception) -> None:
    coalescer, work = Coalescer(), Work()
    calls = [call(coalescer, work, Deadline.after(100)) for _ in range(3)]
    await work.started.wait()
    work.outcome.set_exception(error)
    assert await asyncio.gather(*calls, return_exceptions=True) == [error] * 3
    again = Work()
    again.outcome.set_result("hits")
    assert await call(coalescer, again) == "hits"
    assert work.runs == 1


async def test_work_that_fails_before_its_first_pause_is_an_error_like_any_other() -> None:
    def work() -> Awaitable[str]:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        await Coalescer().run("query", work, deadline=None)


# Cancelling


async def test_when_the_first_is_cancelled_the_work_goes_on_for_the_others() -> None:
    coalescer, work = Coalescer(), Work()
    first, second, third = (call(coalescer, work) for _ in range(3))
    await work.started.wait()
    first.cancel()
    second.cancel()
    await settled()
    assert (first.cancelled(), second.cancelled(), work.cancelled) == (True, True, 0)
    work.outcome.set_result("hits")
    assert await third == "hits"
    assert work.runs == 1


async def test_when_all_are_cancelled_the_work_is_too_and_has_ended_when_they_have() -> None:
    coalescer, steps = Coalescer(), []
    started = asyncio.Event()

    async def work() -> str:
        try:
            started.set()
            return await asyncio.get_running_loop().create_future()
        finally:
            await asyncio.sleep(0)  # e.g. closing a connection
            steps.append("closed")

    calls = [call(coalescer, work) for _ in range(2)]
    await started.wait()
    for one in calls:
        one.cancel()
    await asyncio.wait(calls)
    assert (steps, [one.cancelled() for one in calls], under_way(coalescer)) == (["closed"], [True, True], 0)


async def test_nobody_joins_work_that_is_being_cancelled() -> None:
    coalescer, fresh = Coalescer(), Work()
    ending, may_end = asyncio.Event(), asyncio.Event()

    async def work() -> str:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            ending.set()
            await may_end.wait()

    old = call(coalescer, work)
    await settled()
    old.cancel()
    await ending.wait()
    new = call(coalescer, fresh)
    await fresh.started.wait()
    may_end.set()
    fresh.outcome.set_result("hits")
    assert await new == "hits"
    with pytest.raises(asyncio.CancelledError):
        await old


async def test_work_that_resists_being_cancelled_does_not_hold_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalesce, "UNWIND", 0.0)
    may_end = asyncio.Event()

    async def stubborn() -> str:
        while not may_end.is_set():
            with suppress(asyncio.CancelledError):
                await may_end.wait()
        return "too late"

    one = call(Coalescer(), stubborn)
    await settled()
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    may_end.set()


async def test_an_error_that_comes_together_with_a_cancel_is_not_lost_noisily() -> None:
    coalescer, work = Coalescer(), Work()
    one = call(coalescer, work)
    await work.started.wait()
    work.outcome.set_exception(WebSeamError("no"))
    for _ in range(20):
        if not under_way(coalescer):
            break
        await asyncio.sleep(0)
    one.cancel()  # its answer is there, and it has not had its turn
    with pytest.raises(asyncio.CancelledError):
        await one


async def test_one_that_is_leaving_is_passed_over_when_the_answer_comes() -> None:
    coalescer, work = Coalescer(), Work()
    leaving, staying = call(coalescer, work), call(coalescer, work)
    await work.started.wait()
    work.outcome.set_result("hits")
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == "hits"
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_one_that_is_leaving_is_passed_over_when_an_error_comes() -> None:
    coalescer, work = Coalescer(), Work()
    leaving, staying = call(coalescer, work), call(coalescer, work)
    await work.started.wait()
    work.outcome.set_exception(WebSeamError("no"))
    await asyncio.sleep(0)
    leaving.cancel()
    assert [str(error) for error in await asyncio.gather(staying, return_exceptions=True)] == ["bad_response: no"]
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_work_that_is_cancelled_from_inside_cancels_those_who_wait() -> None:
    coalescer, work = Coalescer(), Work()
    calls = [call(coalescer, work) for _ in range(2)]
    await work.started.wait()
    work.outcome.cancel()
    for one in calls:
        with pytest.raises(asyncio.CancelledError):
            await one
    assert under_way(coalescer) == 0


# Deadlines


async def test_a_deadline_that_has_passed_starts_nothing() -> None:
    work = Work()
    with pytest.raises(TimeoutError):
        await Coalescer().run("query", work, deadline=Deadline(0.0))
    assert work.runs == 0


async def test_each_caller_has_its_own_deadline() -> None:
    coalescer, work = Coalescer(), Work()
    patient = call(coalescer, work, Deadline.after(1_000))
    hasty = call(coalescer, work, Deadline.after(0.02))
    hastier = call(coalescer, work, Deadline.after(0.01))
    for one in (hastier, hasty):
        with pytest.raises(TimeoutError, match="the deadline passed before the shared work was done"):
            await one
    assert (patient.done(), work.cancelled) == (False, 0)
    work.outcome.set_result("hits")
    assert await patient == "hits"


async def test_the_last_to_run_out_of_time_takes_the_work_along() -> None:
    coalescer, work = Coalescer(), Work()
    one = call(coalescer, work, Deadline.after(0.01))
    with pytest.raises(TimeoutError):
        await one
    assert (work.cancelled, under_way(coalescer)) == (1, 0)


def out_of_time(kind: str) -> Exception:
    if kind == "TimeoutError":
        return TimeoutError("the deadline passed")
    if kind == "outcome":
        return WebSeamError("the deadline passed", outcome=Outcome.TIMEOUT)
    attempts = [Attempt(provider="a", outcome=Outcome.NETWORK), Attempt(provider="b", outcome=Outcome.TIMEOUT)]
    return AllProvidersFailed("nobody answered", attempts=attempts)


@pytest.mark.parametrize("kind", ["TimeoutError", "outcome", "attempt"])
async def test_when_only_the_time_was_short_the_most_patient_runs_its_own_for_all_with_more(
    kind: str, clock: Clock
) -> None:
    coalescer, first, second, third = Coalescer(), Work(), Work(), Work()
    error = out_of_time(kind)
    short = Deadline.after(10)
    calls = [
        call(coalescer, first, short),
        call(coalescer, first, short),
        call(coalescer, second, Deadline.after(500)),
        call(coalescer, third, Deadline.after(1_000)),
    ]
    await first.started.wait()
    gone = call(coalescer, second, Deadline.after(2_000))
    await settled()
    clock.now += 10
    first.outcome.set_exception(error)
    await asyncio.sleep(0)
    gone.cancel()
    await third.started.wait()
    third.outcome.set_result("hits")
    assert await asyncio.gather(*calls, return_exceptions=True) == [error, error, "hits", "hits"]
    assert (first.runs, second.runs, third.runs, under_way(coalescer)) == (1, 0, 1, 0)


async def test_an_error_that_time_would_not_mend_is_for_the_patient_too(clock: Clock) -> None:
    coalescer, first, second = Coalescer(), Work(), Work()
    short = Deadline.after(10)
    calls = [call(coalescer, first, short), call(coalescer, second, Deadline.after(100))]
    await first.started.wait()
    clock.now += 10
    error = WebSeamError("no", outcome=Outcome.UPSTREAM)
    first.outcome.set_exception(error)
    assert await asyncio.gather(*calls, return_exceptions=True) == [error, error]
    assert second.runs == 0


async def test_works_own_error_comes_before_our_word_that_time_is_up() -> None:
    """The work keeps the same deadline and ends at it, with an error that lists what was tried."""
    deadline = Deadline.after(0.01)

    async def work() -> str:
        await asyncio.sleep(deadline.remaining())
        raise AllProvidersFailed("nobody answered in time", outcome=Outcome.TIMEOUT)

    with pytest.raises(AllProvidersFailed):
        await Coalescer().run("query", work, deadline=deadline)


async def test_an_alarm_set_by_one_who_has_left_still_serves_those_who_came_after() -> None:
    coalescer, quick, slow = Coalescer(), Work(), Work()
    quick.outcome.set_result("hits")
    assert await call(coalescer, quick, Deadline.after(0.01)) == "hits"
    with pytest.raises(TimeoutError):
        await call(coalescer, slow, Deadline.after(0.1))


def test_event_loops_do_not_share_work() -> None:
    coalescer = Coalescer()

    async def work() -> str:
        return "hits"

    async def search() -> str:
        return await coalescer.run("query", work, deadline=Deadline.after(100))

    assert [asyncio.run(search()) for _ in range(2)] == ["hits", "hits"]
    gc.collect()
    assert len(coalescer._boards) == 0


async def test_two_hundred_callers_one_in_ten_cancelled_leave_no_task_behind() -> None:
    coalescer, work = Coalescer(), Work()
    calls = [asyncio.create_task(coalescer.run(number % 40, work, deadline=NEVER)) for number in range(200)]
    await settled()
    for one in calls[::10]:
        one.cancel()
    work.outcome.set_result("hits")
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert [one == "hits" for one in ended] == [number % 10 != 0 for number in range(200)]
    assert (work.runs, under_way(coalescer)) == (40, 0)
