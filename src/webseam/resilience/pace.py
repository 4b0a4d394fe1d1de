"""Calls to one place, so many seconds apart, whichever process makes them.

An anonymous limit counts an address, not a process: ten command lines at once are one burst to the other side. So the
last free slot is kept in the store and each caller reserves the next one before it sleeps, which makes the queue fair
and lets a caller whose slot lies beyond its deadline know at once instead of after waiting in vain.

Slots are wall-clock, as other processes must understand them. A row from a clock that has been set back since is
dropped: one gap may come out short, where believing it would freeze everybody for an hour.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from webseam.resilience.deadline import Deadline
from webseam.resilience.store import CLOCK_SLACK, Document, Store

__all__ = ["Pace"]

SPACE = "pace"
LONGEST_QUEUE = 600.0  # seconds; no caller waits longer, so a slot further ahead is the mark of a wrong clock
ROW_TTL = 3600.0  # seconds; far beyond the last slot and any interval


@dataclass(frozen=True, slots=True)
class _Line:
    """The queue of one name: the last slot given away, and when the last call really started (Unix times)."""

    slot: float
    started: float

    @classmethod
    def load(cls, row: Document | None, now: float) -> _Line | None:
        """Return the queue as far as it is believed at `now`; None means that nobody was here."""
        try:
            slot, started, written = (float(row[name]) for name in ("slot", "started", "written")) if row else (0, 0, 0)
        except (KeyError, TypeError, ValueError):
            return None
        if not row or written > now + CLOCK_SLACK or slot > now + LONGEST_QUEUE:
            return None
        return cls(slot, started)

    def row(self, now: float) -> Document:
        return {"slot": self.slot, "started": self.started, "written": now}


@dataclass(frozen=True, slots=True)
class _Ticket:
    """A reserved slot, `delay` seconds away; `before` is the queue as it was, for giving it back."""

    slot: float
    delay: float
    before: _Line | None


class Pace:
    """Start slots by name. `sleep` is for tests that bring a clock of their own."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sleep = sleep

    async def wait(self, name: str, interval: float, *, deadline: Deadline) -> None:
        """Return when a call to `name` may start, at least `interval` seconds after the one before it.

        0 returns at once and leaves no trace. A cancelled waiter gives its slot back if nobody queued behind it.

        Raises:
            TimeoutError: the slot lies beyond `deadline`; at once, and no slot is taken.
        """
        if interval <= 0:
            return
        ticket = self._reserve(name, interval, deadline)
        delay = ticket.delay
        try:
            while delay > 0:
                await self._sleep(delay)
                delay = self._start(name, interval)
                _refuse_beyond(deadline, name, delay)
        except asyncio.CancelledError:
            self._give_back(name, ticket)
            raise

    def _reserve(self, name: str, interval: float, deadline: Deadline) -> _Ticket:
        remaining = deadline.remaining()

        def reserve(row: Document | None) -> tuple[Document | None, _Ticket]:
            now = float(self._clock())
            line = _Line.load(row, now)
            slot = now if line is None else max(now, line.slot + interval)
            ticket = _Ticket(slot, slot - now, line)
            if ticket.delay > remaining:
                return row, ticket
            started = now if line is None or slot == now else line.started
            return _Line(slot, started).row(now), ticket

        ticket = self._store.update(SPACE, name, reserve, ttl=ROW_TTL)
        _refuse_beyond(deadline, name, ticket.delay)
        return ticket

    def _start(self, name: str, interval: float) -> float:
        """Mark a call as started; or return the seconds it must still wait, because the one before it was late."""

        def start(row: Document | None) -> tuple[Document | None, float]:
            now = float(self._clock())
            line = _Line.load(row, now)
            if line is None:
                return _Line(now, now).row(now), 0.0
            early = line.started + interval - now
            if early > 0:
                return row, early
            return _Line(max(line.slot, now), now).row(now), 0.0

        return self._store.update(SPACE, name, start, ttl=ROW_TTL)

    def _give_back(self, name: str, ticket: _Ticket) -> None:
        def give_back(row: Document | None) -> tuple[Document | None, None]:
            now = float(self._clock())
            line = _Line.load(row, now)
            if line is None or line.slot != ticket.slot or ticket.before is None:
                return row, None
            return _Line(ticket.before.slot, line.started).row(now), None

        self._store.update(SPACE, name, give_back, ttl=ROW_TTL)


def _refuse_beyond(deadline: Deadline, name: str, delay: float) -> None:
    remaining = deadline.remaining()
    if delay > remaining:
        raise TimeoutError(f"{name}: the next free slot is {delay:.1f} s away and only {remaining:.1f} s are left")
