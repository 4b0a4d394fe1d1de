"""Connections to the file of the index that stay open between searches.

Opening, reading the schema and closing again took a third of a search, and the last one to close also removes the log
that the next one then makes again. What is kept is checked each time: another process may have replaced the file.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from webseam.local import schema

IDLE = 2  # connections kept; more threads than that search at once too rarely to hold files open for them

_of_parents: list[sqlite3.Connection] = []  # even dropping one in a forked child would take the locks of its parent


@dataclass(frozen=True, slots=True)
class _Kept:
    connection: sqlite3.Connection
    stamp: tuple[int, ...]
    process: int

    def serves(self, stamp: tuple[int, ...]) -> bool:
        if self.stamp != stamp or self.process != os.getpid():
            return False
        try:
            return bool(self.connection.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION)
        except sqlite3.Error:
            return False

    def let_go(self) -> None:
        if self.process == os.getpid():
            self.connection.close()
        else:
            _of_parents.append(self.connection)


class Connections:
    """The readers of one file. Each is used by one thread at a time; close them before the file is removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[_Kept] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _let_go_all, self._idle)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection. One that failed or was interrupted is closed, not kept.

        Raises:
            Unusable: there is no index, or not one that can be read.
        """
        kept = self._take()
        try:
            yield kept.connection
        except BaseException:
            kept.let_go()
            raise
        with self._lock:
            self._idle.append(kept)
            surplus = self._idle.pop(0) if len(self._idle) > IDLE else None
        if surplus is not None:
            surplus.let_go()

    def close(self) -> None:
        """Close what nobody uses now."""
        with self._lock:
            _let_go_all(self._idle)

    def _take(self) -> _Kept:
        stamp = _stamp(self._path)
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            if kept is None:
                return _Kept(schema.connect(self._path, write=False), stamp, os.getpid())
            if kept.serves(stamp):
                return kept
            kept.let_go()


def _let_go_all(idle: list[_Kept]) -> None:
    while idle:
        idle.pop().let_go()


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when the file is replaced, or written to where it is read without a log."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
