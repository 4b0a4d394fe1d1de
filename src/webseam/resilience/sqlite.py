"""The store in one SQLite file, shared by every process of this user.

All knowledge of SQLite is in this module. Three facts shape it, measured on one core: a read of one row takes 6 to
9 µs, the same as asking `PRAGMA data_version` whether a copy in memory still holds, so there is no such copy and
nothing to go stale; a small write takes 40 µs in WAL mode, where readers never wait for a writer; opening takes
0.3 ms, so it happens at the first use.

A store must never be the reason that a search fails: any error of the file, at any moment, is told once and the
process goes on in memory, with what could still be read from the file.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from webseam.resilience.later import Name, WriteBehind
from webseam.resilience.store import Document, Entry, Late, MemoryStore
from webseam.shared_file import connect, is_busy, transaction

__all__ = ["SqliteStore"]

T = TypeVar("T")

_log = logging.getLogger("webseam")

SCHEMA = 1  # PRAGMA user_version; a file with a higher one belongs to a newer webseam and is left alone
BUSY = 0.2  # seconds a call waits for another process's write; writes take microseconds, so longer means it is stuck
BUSY_BACKGROUND = 2.0  # seconds, in the thread nobody waits for
BUSY_REST = 30.0  # seconds in memory after a wait in vain, so that a stuck process costs BUSY this often at most
LOOK_EVERY = 1.0  # seconds between two looks whether the file is still the one we opened
PRUNE_EVERY = 256  # writes between two deletions of rows past their time; the first write of a process does one too
PRUNE_MOST = 200  # rows that one deletion takes, so that it stays well under a millisecond
MAX_LATER = 4_000  # documents of put_later that stay in the file
MAX_LATER_SIZE = 24 * 2**20  # bytes of them; the file stays below about twice that

_TABLES = """
CREATE TABLE entries(
    space TEXT NOT NULL, key TEXT NOT NULL, written REAL NOT NULL, expires REAL NOT NULL, size INTEGER NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY(space, key));
CREATE INDEX by_expiry ON entries(expires);
CREATE INDEX by_age ON entries(written, size) WHERE size > 0;
"""
# The casts make numbers of whatever stands in a damaged file.
_ROWS = """
SELECT space, key, value, CAST(written AS REAL), CAST(expires AS REAL), CAST(size AS INTEGER) FROM entries
"""
_GET = _ROWS + "WHERE space = ? AND key = ?"
_SMALL = _ROWS + "WHERE size = 0 LIMIT 1000"
_PUT = "REPLACE INTO entries(space, key, value, written, expires, size) VALUES(?, ?, ?, ?, ?, ?)"
_DELETE = "DELETE FROM entries WHERE space = ? AND key = ?"
_PRUNE = "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries WHERE expires <= ? LIMIT ?)"
_WEIGHT = "SELECT count(*), total(size) FROM entries WHERE size > 0"
_EVICT = "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries WHERE size > 0 ORDER BY written LIMIT ?)"


class SqliteStore:
    """A `Store` in the file `path`, created 0600 in a folder created 0700. `warn` is called at most once."""

    def __init__(
        self,
        path: Path,
        *,
        warn: Callable[[str], None] = _log.warning,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._warn = warn
        self._clock = clock
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self._look_at = 0.0
        self._memory: MemoryStore | None = None  # serves while the file cannot
        self._back_at = math.inf
        self._warned = False
        self._writes = 0
        self._later = WriteBehind(self._write_batch)
        _stores.add(self)

    def __repr__(self) -> str:
        return f"SqliteStore({str(self._path)!r})"

    def get(self, space: str, key: str, *, ahead: bool = False) -> Document | None:
        name = (space, key)
        entry = self._later.find(name) or self._do(lambda db: _select(db, name), lambda memory: memory.find(name))
        return entry.read(self._clock(), ahead=ahead) if entry else None

    def set(self, space: str, key: str, value: Document, *, ttl: float) -> None:
        name = (space, key)
        entry = Entry.of(value, now=self._clock(), ttl=ttl)
        self._later.drop(name)
        self._do(lambda db: self._put(db, name, entry), lambda memory: memory.keep(name, entry))

    def put_later(self, space: str, key: str, make: Callable[[], Document], *, ttl: float) -> None:
        self._later.put((space, key), Late(make, now=self._clock(), ttl=ttl))

    def delete(self, space: str, key: str) -> None:
        name = (space, key)
        self._later.drop(name)
        self._do(lambda db: _run(db, _DELETE, name), lambda memory: memory.delete(space, key))

    def clear(self, space: str) -> int:
        self._later.flush()
        return self._do(
            lambda db: _run(db, "DELETE FROM entries WHERE space = ?", (space,)), lambda memory: memory.clear(space)
        )

    def update(
        self,
        space: str,
        key: str,
        change: Callable[[Document | None], tuple[Document | None, T]],
        *,
        ttl: float,
        ahead: bool = False,
    ) -> T:
        name = (space, key)
        self._later.drop(name)

        def work(db: sqlite3.Connection) -> T:
            with transaction(db):
                entry = _select(db, name)
                now = self._clock()
                new, answer = change(entry.read(now, ahead=ahead) if entry else None)
                if new is not None:
                    self._put(db, name, Entry.of(new, now=now, ttl=ttl))
                elif entry is not None:
                    _run(db, _DELETE, name)
                return answer

        return self._do(work, lambda memory: memory.update(space, key, change, ttl=ttl, ahead=ahead))

    def close(self) -> None:
        self._later.close()
        with self._lock:
            self._disconnect()
            self._memory = self._memory or MemoryStore(clock=self._clock)
            self._back_at = math.inf

    def _do(self, work: Callable[[sqlite3.Connection], T], instead: Callable[[MemoryStore], T]) -> T:
        """Run `work` on the file, or `instead` in memory when the file cannot be used."""
        with self._lock:
            if self._memory is not None and time.monotonic() >= self._back_at:
                self._memory = None
            if self._memory is None:
                try:
                    return work(self._connected())
                except sqlite3.Error as error:
                    self._memory = self._degrade(error)
            return instead(self._memory)

    def _connected(self) -> sqlite3.Connection:
        now = time.monotonic()
        if self._db is not None and now >= self._look_at:
            self._look_at = now + LOOK_EVERY
            if _identity(self._path) != self._identity:  # deleted or replaced: we would write where nobody reads
                self._disconnect()
        if self._db is None:
            self._db = _open(self._path, busy=BUSY)
            self._identity = _identity(self._path)
            self._look_at = now + LOOK_EVERY
        return self._db

    def _disconnect(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None

    def _degrade(self, error: Exception) -> MemoryStore:
        """Return the memory that stands in for the file, holding what can still be read from it."""
        memory = MemoryStore(clock=self._clock)
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                if self._db.in_transaction:
                    self._db.rollback()
                for space, key, *columns in self._db.execute(_SMALL):
                    memory.keep((space, key), Entry(*columns))
        self._disconnect()
        # Another process that holds the lock too long will end some day; nothing else repairs itself.
        self._back_at = time.monotonic() + BUSY_REST if is_busy(error) else math.inf
        if not self._warned:
            self._warned = True
            self._warn(
                f"the state file {self._path} cannot be used ({error}); going on without it, so other processes will "
                f"not see what this one learns. {_remedy(error)}"
            )
        return memory

    def _put(self, db: sqlite3.Connection, name: Name, entry: Entry) -> None:
        _run(db, _PUT, _row(name, entry))
        if self._writes % PRUNE_EVERY == 0:
            _run(db, _PRUNE, (self._clock(), PRUNE_MOST))
        self._writes += 1

    def _write_batch(self, batch: Mapping[Name, Entry]) -> None:
        """Write what `put_later` gathered, on a connection of its own: the other one is the event loop's."""
        memory = self._memory
        if memory is None:
            try:
                self._write_to_file(batch)
                return
            except sqlite3.Error as error:
                if is_busy(error):
                    return  # it is only a cache, and the next batch may fare better
                with self._lock:
                    memory = self._memory = self._memory or self._degrade(error)
        for name, entry in batch.items():
            memory.keep(name, entry)

    def _write_to_file(self, batch: Mapping[Name, Entry]) -> None:
        with contextlib.closing(_open(self._path, busy=BUSY_BACKGROUND)) as db, transaction(db):
            db.executemany(_PUT, [_row(name, entry) for name, entry in batch.items()])
            _run(db, _PRUNE, (self._clock(), PRUNE_MOST))
            count, size = db.execute(_WEIGHT).fetchone()
            while count > MAX_LATER or size > MAX_LATER_SIZE:
                _run(db, _EVICT, (count // 8 + 1,))  # an eighth at a time, so that this is not needed for every batch
                count, size = db.execute(_WEIGHT).fetchone()

    def before_fork(self) -> None:
        """Let go of the file: a connection copied into a child can ruin it, even by being closed there."""
        self._later.hold()
        self._lock.acquire()
        self._disconnect()

    def after_fork_in_parent(self) -> None:
        self._lock.release()
        self._later.let_go()

    def after_fork_in_child(self) -> None:
        self._lock = threading.Lock()
        self._later.reset()


def _open(path: Path, *, busy: float) -> sqlite3.Connection:
    return connect(path, busy=busy, tables=_TABLES, schema=SCHEMA)


def _run(db: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> int:
    return db.execute(statement, values).rowcount


def _select(db: sqlite3.Connection, name: Name) -> Entry | None:
    row = db.execute(_GET, name).fetchone()
    return Entry(*row[2:]) if row else None


def _row(name: Name, entry: Entry) -> tuple[object, ...]:
    return (*name, entry.text, entry.written, entry.expires, entry.size)


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


_REMEDIES = {
    sqlite3.SQLITE_FULL: "Free some space on its disk.",
    sqlite3.SQLITE_READONLY: "Make it and its folder writable.",
    sqlite3.SQLITE_CANTOPEN: "Make it and its folder writable.",
    sqlite3.SQLITE_BUSY: "Another process holds it; trying again from time to time.",
    sqlite3.SQLITE_CORRUPT: "Delete it to start anew; nothing but cool-downs and cached responses is lost.",
    sqlite3.SQLITE_NOTADB: "Delete it to start anew; nothing but cool-downs and cached responses is lost.",
}


def _remedy(error: Exception) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return _REMEDIES.get(code, "Point the state folder to a place of its own.")


# Every open store, so that a fork finds none of them in the middle of something.
_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
_held: list[SqliteStore] = []


def _before_fork() -> None:
    _held[:] = _stores
    for store in _held:
        store.before_fork()


def _after_fork_in_parent() -> None:
    while _held:
        _held.pop().after_fork_in_parent()


def _after_fork_in_child() -> None:
    while _held:
        _held.pop().after_fork_in_child()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
