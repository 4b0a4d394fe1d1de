"""Equal calls at the same time, done once.

Agents ask the same thing several times at once, and each call may cost money. The one piece of work belongs to nobody:
it runs in a task of its own, so the caller who came first may leave without taking the answer from the others, and
each caller keeps its own deadline. When all have left, the work is cancelled. Nothing is kept after the work is done:
an error is for those who wait now, and the next call tries anew.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from webseam.errors import Outcome, WebSeamError
from webseam.resilience.deadline import NEVER, Deadline

__all__ = ["Coalescer"]

T = TypeVar("T")

Make = Callable[[], Awaitable[Any]]

NEARLY = 0.05  # seconds around a deadline: work may give up this much before it, and its own error is awaited as long
UNWIND = 1.0  # seconds the last caller to leave waits for cancelled work to let go; work that resists must not hold it


class _Waiter:
    """One caller: where its answer arrives, and how it would do the work itself.

    `due` is when it stops waiting. Work with no more time than the caller is about to end by itself, with an error that
    says what was tried, and gets a moment for that; other work goes on without this caller, on the dot.
    """

    __slots__ = ("deadline", "due", "flight", "future", "make")

    def __init__(self, flight: _Flight, make: Make, deadline: Deadline, future: asyncio.Future[Any]) -> None:
        self.flight = flight
        self.make = make
        self.deadline = deadline
        self.due = deadline.at + (NEARLY if flight.deadline.at <= deadline.at else 0.0)
        self.future = future


class _Flight:
    """One piece of work under way, and those who wait for it."""

    __slots__ = ("deadline", "task", "waiters")

    task: asyncio.Task[None]  # set right after, since the task is given its flight

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline
        self.waiters: set[_Waiter] = set()

    def deliver(self, answer: Any) -> None:
        for waiter in self.waiters:
            if not waiter.future.done():  # else it is leaving already
                waiter.future.set_result(answer)

    def fail(self, error: BaseException) -> None:
        for waiter in self.waiters:
            if waiter.future.done():
                continue
            if isinstance(error, asyncio.CancelledError):  # from inside the work, or because the loop shuts down
                waiter.future.cancel()
            else:
                waiter.future.set_exception(error)

    def patient(self, error: BaseException) -> list[_Waiter]:
        """Return those with more time than the work had, if time was all that it lacked; the most patient first."""
        timed_out = isinstance(error, TimeoutError) or (isinstance(error, WebSeamError) and _timed_out(error))
        if not timed_out or self.deadline.remaining() > NEARLY:
            return []
        later = [waiter for waiter in self.waiters if waiter.deadline > self.deadline and not waiter.future.done()]
        return sorted(later, key=lambda waiter: waiter.deadline, reverse=True)


class Coalescer:
    """Calls under way, by key. Used from several event loops, it shares within each."""

    def __init__(self) -> None:
        self._boards: WeakKeyDictionary[asyncio.AbstractEventLoop, _Board] = WeakKeyDictionary()

    async def run(self, key: Hashable, make: Callable[[], Awaitable[T]], *, deadline: Deadline | None) -> T:
        """Return what `make` returns, for all calls with an equal `key` made while it runs.

        Of the equal calls only the first one's `make` runs, in a task of its own. It should keep that caller's deadline
        by itself; when it fails because of it (TimeoutError or outcome timeout), a caller with more time runs its own.

        Raises:
            TimeoutError: this caller's `deadline` passed; the work goes on if others wait for it.
            BaseException: whatever `make` raised, for each caller.
        """
        until = NEVER if deadline is None else deadline
        if until.expired:
            raise TimeoutError("the deadline had passed before the work began")
        loop = asyncio.get_running_loop()
        board = self._boards.get(loop)
        if board is None:
            board = self._boards[loop] = _Board()
        waiter = board.join(key, make, until)
        try:
            answer: T = await waiter.future
            return answer
        finally:
            if abandoned := board.leave(key, waiter):
                await asyncio.wait([abandoned], timeout=UNWIND)


class _Board:
    """What is under way in one event loop. It holds no reference to the loop between calls, so the loop can go."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight] = {}
        self._alarm_at = math.inf

    def join(self, key: Hashable, make: Make, deadline: Deadline) -> _Waiter:
        """Wait for the work under way for `key`, started now if there is none."""
        flight = self._flights.get(key) or self._launch(key, make, deadline)
        waiter = _Waiter(flight, make, deadline, asyncio.get_running_loop().create_future())
        flight.waiters.add(waiter)
        if waiter.due < self._alarm_at:
            self._set_alarm(waiter.due)
        return waiter

    def leave(self, key: Hashable, waiter: _Waiter) -> asyncio.Task[None] | None:
        """Take a waiter off; return the task it leaves behind, cancelled, if it was the last one of it."""
        flight = waiter.flight
        flight.waiters.remove(waiter)
        if flight.waiters or flight.task.done():
            return None
        self._remove(key, flight)  # nobody must join work that is being cancelled
        flight.task.cancel()
        return flight.task

    def _launch(self, key: Hashable, make: Make, deadline: Deadline) -> _Flight:
        flight = self._flights[key] = _Flight(deadline)
        flight.task = asyncio.get_running_loop().create_task(self._work(key, flight, make))
        return flight

    async def _work(self, key: Hashable, flight: _Flight, make: Make) -> None:
        """Do the work and hand out what became of it: here, as a callback of the task would cost a turn of the loop.

        An error ends up with the waiters and not in the task, where asyncio would report it as never retrieved.
        """
        try:
            answer = await make()
        except BaseException as error:
            self._remove(key, flight)
            self._hand_over(key, flight, error)
            flight.fail(error)
            if not isinstance(error, Exception):  # cancelled, or the process is to end: not ours to keep
                raise
        else:
            self._remove(key, flight)
            flight.deliver(answer)

    def _hand_over(self, key: Hashable, flight: _Flight, error: BaseException) -> None:
        """Have the work done again for those with more time, if that is what it needs; led by the one with the most."""
        if patient := flight.patient(error):
            successor = self._launch(key, patient[0].make, patient[0].deadline)
            for waiter in patient:
                flight.waiters.remove(waiter)
                successor.waiters.add(waiter)
                waiter.flight = successor

    def _remove(self, key: Hashable, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    def _set_alarm(self, due: float) -> None:
        """Look at all waiters when `due` comes.

        One alarm for all, never taken back: a timer for each call, cancelled a moment later, would cost as much as
        all the rest. An alarm that comes when everybody has left does nothing.
        """
        self._alarm_at = due
        asyncio.get_running_loop().call_later(max(0.0, due - time.monotonic()), self._alarm)

    def _alarm(self) -> None:
        now, upcoming = time.monotonic(), math.inf
        for flight in self._flights.values():
            for waiter in flight.waiters:
                if waiter.due > now:
                    upcoming = min(upcoming, waiter.due)
                elif not waiter.future.done():
                    waiter.future.set_exception(TimeoutError("the deadline passed before the shared work was done"))
        self._alarm_at = math.inf
        if upcoming < math.inf:
            self._set_alarm(upcoming)


def _timed_out(error: WebSeamError) -> bool:
    return error.outcome is Outcome.TIMEOUT or any(attempt.outcome is Outcome.TIMEOUT for attempt in error.attempts)
