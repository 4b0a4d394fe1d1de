"""Bringing the index up to date: what changed is read again, what is gone goes away, everything else stays.

Several processes may try at once. One holds a lease in the database and renews it with every commit; the others wait
for it and then find nothing left to do. A holder that was stopped for too long finds its lease taken at its next
commit, which is then rolled back: a part is written whole by one process or not at all.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from webseam.local.current import is_current
from webseam.local.fame import settle
from webseam.local.pool import Pool
from webseam.local.sources import TIER_ENVIRONMENT, Source, parts_of
from webseam.local.tables import remove_part, write_part
from webseam.local.worker import Answer, Job

LEASE = 15.0  # seconds a holder may be silent; the slowest single job takes about 8
COMMIT_EVERY = 1.0  # seconds; more often costs the searches of a partial index, less often loses more when killed
WAIT = 0.1  # seconds between looks at somebody else's lease
FILES_PER_JOB = 150
TOPS_PER_JOB = 8  # of the standard library
KEPT_ASIDE = 30 * 86_400.0  # seconds a source may be there and not asked for, as those of another environment are
LARGE = 50  # jobs after which the word lists are joined: a second now, a third of the time of every search
MANY_MANUALS = 3_000  # pages of one section from which each is read only in part


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a build is: `done` of `total` steps, `name` of what was read last."""

    done: int
    total: int
    name: str


@dataclass(slots=True)
class _Task:
    source: Source
    row: int  # of the source's table row
    job: Job
    stamps: dict[str, str]


class LeaseLost(Exception):
    """Another process took over while this one was stopped."""


class Builder:
    """One attempt to bring an open index up to date with `wanted`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        wanted: Sequence[Source],
        *,
        stopped: threading.Event,
        expires_at: float | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._db = connection
        self._wanted = {source.key: source for source in wanted}
        self._stopped = stopped
        self._expires_at = expires_at
        self._progress = progress
        self._owner = f"{os.getpid()}-{uuid.uuid4().hex}"
        self.sources_read = 0
        self.removed = 0

    def run(self) -> bool:
        """Do what there is to do. Returns whether the index is now whole.

        Raises:
            sqlite3.Error: the file or the disk failed.
        """
        while not is_current(self._db, self._wanted.values()):
            if self._out_of_time():
                return False
            if self._take_lease():
                try:
                    self._build()
                except LeaseLost:
                    continue
                finally:
                    self._drop_lease()
                return is_current(self._db, self._wanted.values())
            self._stopped.wait(WAIT)
        return True

    def _out_of_time(self) -> bool:
        return self._stopped.is_set() or (self._expires_at is not None and time.monotonic() >= self._expires_at)

    def _take_lease(self) -> bool:
        now = time.time()
        with _transaction(self._db):
            self._db.execute("DELETE FROM lease WHERE until < ? OR until > ?", (now, now + 10 * LEASE))
            taken = self._db.execute("INSERT OR IGNORE INTO lease VALUES (1, ?, ?)", (self._owner, now + LEASE))
        return taken.rowcount == 1

    def _renew_lease(self) -> None:
        """Must be the first write of each transaction: it is what keeps two writers apart."""
        until = time.time() + LEASE
        if self._db.execute("UPDATE lease SET until = ? WHERE owner = ?", (until, self._owner)).rowcount != 1:
            raise LeaseLost

    def _drop_lease(self) -> None:
        with _transaction(self._db):
            self._db.execute("DELETE FROM lease WHERE owner = ?", (self._owner,))

    def _build(self) -> None:
        changed = self._let_go()
        tasks = list(self._plan())
        self._report(0, len(tasks), "")
        with Pool([task.job for task in tasks], stopped=self._stopped) as pool:
            self._write(tasks, pool)
        if self._stopped.is_set() or not (tasks or changed):
            return
        with _transaction(self._db):
            self._renew_lease()
            settle(self._db)
        if len(tasks) > LARGE and not self._out_of_time():
            with _transaction(self._db):
                self._renew_lease()
                self._db.execute("INSERT INTO titles (titles) VALUES ('optimize')")
                self._db.execute("INSERT INTO texts (texts) VALUES ('optimize')")

    def _let_go(self) -> bool:
        """Take out what is gone. What is still there but not asked for is kept aside: another environment is active."""
        known = self._db.execute("SELECT id, key, kind, idle_since FROM sources").fetchall()
        now = time.time()
        changed = False
        for row, key, kind, idle_since in known:
            if key in self._wanted or self._stopped.is_set():
                continue
            place = Path(key.partition(":")[2])
            keep = kind != "folder" and place.exists() and now - (idle_since or now) < KEPT_ASIDE
            if keep and idle_since is not None:
                continue
            with _transaction(self._db):
                self._renew_lease()
                if keep:
                    self._db.execute("UPDATE sources SET idle_since = ? WHERE id = ?", (now, row))
                    continue
                for (part,) in self._db.execute("SELECT id FROM parts WHERE source = ?", (row,)).fetchall():
                    remove_part(self._db, part)
                self._db.execute("DELETE FROM sources WHERE id = ?", (row,))
            self.removed += 1
            changed = True
        return changed

    def _plan(self) -> Iterator[_Task]:
        known = {key: rest for key, *rest in self._db.execute("SELECT key, fingerprint, tier, idle_since FROM sources")}
        for key, source in self._wanted.items():
            if self._out_of_time():
                return
            if known.get(key) == [source.fingerprint, source.tier, None]:
                continue
            if key in known and known[key][0] == source.fingerprint:
                with _transaction(self._db):
                    self._renew_lease()
                    self._db.execute("UPDATE sources SET idle_since = NULL, tier = ? WHERE key = ?", (source.tier, key))
            else:
                yield from self._plan_source(source)

    def _plan_source(self, source: Source) -> Iterator[_Task]:
        stamps = parts_of(source)
        with _transaction(self._db):
            self._renew_lease()
            self._db.execute(
                "INSERT INTO sources (key, kind, name, version, tier) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET name = excluded.name, version = excluded.version,"
                " tier = excluded.tier, fingerprint = NULL, idle_since = NULL",
                (source.key, source.kind, source.name, source.version, source.tier),
            )
            (row,) = self._db.execute("SELECT id FROM sources WHERE key = ?", (source.key,)).fetchone()
            known = self._db.execute("SELECT key, id, stamp FROM parts WHERE source = ?", (row,)).fetchall()
            for key, part, _ in known:
                if key not in stamps:
                    remove_part(self._db, part)
            changed = stamps.items() - {(key, stamp) for key, _, stamp in known}
            if not changed:
                self._finish_source(row, source)
        if changed:
            self.sources_read += 1
        for job, keys in _jobs(source, [key for key in stamps if (key, stamps[key]) in changed], len(stamps)):
            yield _Task(source, row, job, {key: stamps[key] for key in keys})

    def _write(self, tasks: list[_Task], pool: Pool) -> None:
        left = Counter(task.source.key for task in tasks)
        done = 0
        writing = _Batch(self._db, self._renew_lease)
        try:
            for item in pool.answers(self._expires_at):
                if item is None:
                    writing.rest()
                    continue
                number, answer = item
                task = tasks[number]
                writing.begin()
                self._write_task(task, answer)
                left[task.source.key] -= 1
                if not left[task.source.key]:
                    self._finish_source(task.row, task.source)
                writing.commit_when_due()
                done += 1
                self._report(done, len(tasks), task.source.name)
            writing.commit()
        finally:
            writing.abandon()

    def _write_task(self, task: _Task, answer: Answer | None) -> None:
        found = {key: rest for key, *rest in answer or ()}
        for key, stamp in task.stamps.items():
            # What failed as a whole is counted, and not tried again until it changes.
            write_part(self._db, task.row, key, stamp, *found.get(key, (1, [], {})))

    def _finish_source(self, row: int, source: Source) -> None:
        self._db.execute("UPDATE sources SET fingerprint = ? WHERE id = ?", (source.fingerprint, row))

    def _report(self, done: int, total: int, name: str) -> None:
        if self._progress is not None:
            self._progress(Progress(done=done, total=total, name=name))


def _jobs(source: Source, keys: list[str], total: int) -> Iterator[tuple[Job, list[str]]]:
    if source.kind == "distribution":
        if keys:
            yield ("distribution", source.root, source.name, source.info, source.tier < TIER_ENVIRONMENT), keys
        return
    size = TOPS_PER_JOB if source.kind == "stdlib" else FILES_PER_JOB
    for start in range(0, len(keys), size):
        some = keys[start : start + size]
        if source.kind == "stdlib":
            yield ("stdlib", source.root, some), some
        elif source.kind == "manual":
            yield ("manual", some, total > MANY_MANUALS), some
        else:
            yield ("folder", some), some


class _Batch:
    """A transaction that takes in several answers and is committed about every second, lease first."""

    def __init__(self, connection: sqlite3.Connection, renew: Callable[[], None]) -> None:
        self._db = connection
        self._renew = renew
        self._since = time.monotonic()

    def begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
            self._renew()
            self._since = time.monotonic()

    def rest(self) -> None:
        """Nothing to write now: let others write, and keep the lease through the long jobs."""
        self.commit()
        if time.monotonic() - self._since >= LEASE / 3:
            self.begin()
            self.commit()

    def commit_when_due(self) -> None:
        if time.monotonic() - self._since >= COMMIT_EVERY:
            self.commit()

    def commit(self) -> None:
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def abandon(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")


class _transaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        if self._db.in_transaction:
            self._db.execute("COMMIT" if kind is None else "ROLLBACK")
