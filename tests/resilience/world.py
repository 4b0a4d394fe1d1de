"""What these tests share: a clock in the hand, a store that counts, and real other processes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import webseam
from webseam.resilience.sqlite import SqliteStore
from webseam.resilience.store import MemoryStore

Open = Callable[..., SqliteStore]

SOURCE = Path(webseam.__file__).parents[1]
NOON = 1_800_000_000.0  # a Unix time to start from


class Clock:
    """A wall clock that moves when told to."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class CountingStore(MemoryStore):
    """A store that counts what is done to it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock=clock)
        self.reads = 0
        self.writes = 0

    def get(self, space: str, key: str, *, ahead: bool = False) -> dict[str, Any] | None:
        self.reads += 1
        return super().get(space, key, ahead=ahead)

    def update(self, space: str, key: str, change: Callable[[Any], Any], *, ttl: float, ahead: bool = False) -> Any:
        self.writes += 1
        return super().update(space, key, change, ttl=ttl, ahead=ahead)


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python program in a process of its own, talking over pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )


def finish(process: subprocess.Popen[str], said: str = "") -> str:
    """Return what the program printed; fail with its traceback if it did not end well."""
    out, errors = process.communicate(said, timeout=20)
    assert process.returncode == 0, errors
    return out


def together(program: str, *arguments: object, processes: int) -> list[str]:
    """Return what each of several processes printed that were let go at one moment.

    The program prints "ready", then waits for a line on stdin.
    """
    started = [start(program, *arguments) for _ in range(processes)]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [finish(process) for process in started]


def works(store: SqliteStore) -> bool:
    """True when everything a store offers still does its work."""
    store.set("check", "a", {"n": 1}, ttl=60)
    store.put_later("check", "b", lambda: {"n": 2}, ttl=60)
    store.update("check", "c", lambda _: ({"n": 3}, None), ttl=60)
    seen = [store.get("check", key) for key in "abc"]
    store.delete("check", "a")
    return seen == [{"n": 1}, {"n": 2}, {"n": 3}] and store.get("check", "a") is None and store.clear("check") == 2


def raw(path: Path) -> closing[sqlite3.Connection]:
    """Return a connection that knows nothing of stores."""
    return closing(sqlite3.connect(path, isolation_level=None))
