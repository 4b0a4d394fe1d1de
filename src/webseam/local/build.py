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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from webseam.local.current import is_current
from webseam.local.pool import Pool
from webseam.local.rows import Row, searched
from webseam.local.sources import TIER_ENVIRONMENT, Source, parts_of
from webseam.local.worker import Answer, Job

LEASE = 15.0  # seconds a holder may be silent; the slowest single job takes about 8
COMMIT_EVERY = 1.0  # seconds; more often costs the searches of a partial index, less often loses more when killed
WAIT = 0.1  # seconds between looks at somebody else's lease
FILES_PER_JOB = 150
TOPS_PER_JOB = 8  # of the standard library
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
        self._remove_gone()
        tasks = list(self._plan())
        names = dict.fromkeys(task.source.key for task in tasks)
        left = {key: sum(task.source.key == key for task in tasks) for key in names}
        self._report(0, len(tasks), "")
        with Pool([task.job for task in tasks], stopped=self._stopped) as pool:
            self._write(tasks, left, pool.answers(self._expires_at, time.monotonic))
        if len(tasks) > FILES_PER_JOB and not self._out_of_time():
            with _transaction(self._db):
                self._renew_lease()
                for table in ("titles", "texts"):
                    self._db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")

    def _remove_gone(self) -> None:
        known = self._db.execute("SELECT id, key FROM sources").fetchall()
        for row, key in known:
            if key not in self._wanted and not self._stopped.is_set():
                with _transaction(self._db):
                    self._renew_lease()
                    for (part,) in self._db.execute("SELECT id FROM parts WHERE source = ?", (row,)).fetchall():
                        _remove_part(self._db, part)
                    self._db.execute("DELETE FROM sources WHERE id = ?", (row,))
                self.removed += 1

    def _plan(self) -> Iterator[_Task]:
        known = dict(self._db.execute("SELECT key, fingerprint FROM sources").fetchall())
        for key, source in self._wanted.items():
            if self._out_of_time():
                return
            if known.get(key) != source.fingerprint:
                yield from self._plan_source(source)

    def _plan_source(self, source: Source) -> Iterator[_Task]:
        stamps = parts_of(source)
        with _transaction(self._db):
            self._renew_lease()
            self._db.execute(
                "INSERT INTO sources (key, kind, name, version, tier) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE"
                " SET name = excluded.name, version = excluded.version, tier = excluded.tier, fingerprint = NULL",
                (source.key, source.kind, source.name, source.version, source.tier),
            )
            (row,) = self._db.execute("SELECT id FROM sources WHERE key = ?", (source.key,)).fetchone()
            known = self._db.execute("SELECT key, id, stamp FROM parts WHERE source = ?", (row,)).fetchall()
            for key, part, _ in known:
                if key not in stamps:
                    _remove_part(self._db, part)
            changed = stamps.items() - {(key, stamp) for key, _, stamp in known}
            if not changed:
                self._finish_source(row, source)
        if changed:
            self.sources_read += 1
        for job, keys in _jobs(source, [key for key in stamps if (key, stamps[key]) in changed], len(stamps)):
            yield _Task(source, row, job, {key: stamps[key] for key in keys})

    def _write(self, tasks: list[_Task], left: dict[str, int], answers: Iterator[tuple[int, Answer | None]]) -> None:
        done = 0
        writing = _Batch(self._db, self._renew_lease)
        try:
            for number, answer in answers:
                task = tasks[number]
                writing.begin()
                found = {key: (skipped, rows) for key, skipped, rows in answer or ()}
                for key, stamp in task.stamps.items():
                    skipped, rows = found.get(key, (1, []))  # it failed as a whole: counted, not tried again until it changes
                    _write_part(self._db, task.row, key, stamp, skipped, rows)
                left[task.source.key] -= 1
                if not left[task.source.key]:
                    self._finish_source(task.row, task.source)
                writing.commit_when_due()
                done += 1
                self._report(done, len(tasks), task.source.name)
            writing.commit()
        finally:
            writing.abandon()

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
        self._since = 0.0

    def begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
            self._renew()
            self._since = time.monotonic()

    def commit_when_due(self) -> None:
        if time.monotonic() - self._since >= COMMIT_EVERY:
            self.commit()

    def commit(self) -> None:
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def abandon(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")


class _transaction:  # noqa: N801 - reads as a statement: `with _transaction(db):`
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        if self._db.in_transaction:
            self._db.execute("COMMIT" if kind is None else "ROLLBACK")


def _write_part(db: sqlite3.Connection, source_row: int, key: str, stamp: str, skipped: int, rows: list[Any]) -> None:
    old = db.execute("SELECT id FROM parts WHERE source = ? AND key = ?", (source_row, key)).fetchone()
    if old is not None:
        _remove_part(db, old[0])
    part = db.execute(
        "INSERT INTO parts (source, key, stamp, entries, skipped) VALUES (?, ?, ?, ?, ?)",
        (source_row, key, stamp, len(rows), skipped),
    ).lastrowid
    files: dict[str, int | None] = {"": None}
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()
    entries, titles, texts, names = [], [], [], []
    for number, (values, (name, path, head, text)) in enumerate(rows, last + 1):
        row = Row(*values)
        if row.file not in files:
            files[row.file] = db.execute("INSERT INTO files (part, path) VALUES (?, ?)", (part, row.file)).lastrowid
        entries.append(
            (number, part, row.kind, row.name, row.split, row.where, files[row.file], row.line, row.signature, row.summary, row.doc)
            + (" ".join(row.aliases), row.weight)
        )
        titles.append((number, name, path, head))
        texts.append((number, text))
        names += [(key, _rank(row.weight), number) for key in names_of(row.kind, row.name, row.aliases)]
    db.executemany(f"INSERT INTO entries VALUES ({', '.join('?' * 13)})", entries)
    db.executemany("INSERT INTO titles (rowid, name, path, head) VALUES (?, ?, ?, ?)", titles)
    db.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", texts)
    db.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", names)


def names_of(kind: str, name: str, aliases: Sequence[str]) -> set[str]:
    """Return the keys an entry is found under by name: the last component, and the last two."""
    if kind in ("readme", "page"):
        return set()
    if kind == "man":
        return {name.lower(), name.partition("(")[0].lower()} if name.endswith(")") else set()
    keys = set()
    for dotted in (name, *aliases):
        components = dotted.lower().rsplit(".", 2)
        keys.add(components[-1])
        keys.add(".".join(components[-2:]))
    return keys


def _rank(weight: float) -> int:
    return round(1000 * (1 - weight))


def _remove_part(db: sqlite3.Connection, part: int) -> None:
    """Take a part's entries out; the list of texts wants the very texts that were put in."""
    (package,) = db.execute(
        "SELECT CASE kind WHEN 'distribution' THEN name WHEN 'stdlib' THEN 'python' ELSE '' END FROM sources"
        " WHERE id = (SELECT source FROM parts WHERE id = ?)",
        (part,),
    ).fetchone()
    rows = db.execute(
        "SELECT id, kind, name, split, place, signature, summary, doc, aliases, weight FROM entries WHERE part = ?", (part,)
    ).fetchall()
    texts, names = [], []
    for number, kind, name, split, place, signature, summary, doc, aliases, weight in rows:
        row = Row(kind, name, split, place, "", 0, signature, summary, doc, tuple(aliases.split()), weight)
        texts.append((number, searched(package, row)[-1]))
        names += [(key, _rank(weight), number) for key in names_of(kind, name, row.aliases)]
    db.execute("DELETE FROM titles WHERE rowid IN (SELECT id FROM entries WHERE part = ?)", (part,))
    db.executemany("INSERT INTO texts (texts, rowid, text) VALUES ('delete', ?, ?)", texts)
    db.executemany("DELETE FROM names WHERE key = ? AND rank = ? AND entry = ?", names)
    for table in ("entries", "files"):
        db.execute(f"DELETE FROM {table} WHERE part = ?", (part,))
    db.execute("DELETE FROM parts WHERE id = ?", (part,))
