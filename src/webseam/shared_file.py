"""SQLite files that all processes of one user share: created so that nobody else can read them, opened so that a power
cut leaves them whole, and left alone when they belong to somebody else.

The state and the page cache are two such files in two layers, neither of which may import the other.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

CREATE_PATIENCE = 0.5  # seconds for processes that create the same file together; later calls never wait this long
CREATE_PAUSE = 0.005  # seconds between two tries to do so
WAL_LIMIT = 4 * 2**20  # bytes the write-ahead log keeps on disk after a checkpoint


class ForeignFile(sqlite3.DatabaseError):
    """The file is not one this version may write to."""


def connect(path: Path, *, busy: float, tables: str, schema: int) -> sqlite3.Connection:
    """Open the file, created 0600 in a folder created 0700.

    Args:
        busy: seconds to wait for a lock.
        tables: the script that makes them. schema: its number; a file with another belongs to another webseam.

    Raises:
        sqlite3.Error: it cannot be used.
    """
    try:
        _create_file(path)
    except OSError as error:
        raise sqlite3.OperationalError(str(error)) from error
    db = sqlite3.connect(path, timeout=busy, isolation_level=None, check_same_thread=False)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            _create_tables(db, tables, schema)
        elif version != schema:
            raise ForeignFile(f"it has schema {version}, this webseam knows {schema}")
        # In WAL mode NORMAL syncs only when the log is copied back, every thousand pages. OFF would save that and
        # could leave a corrupt file after a power cut; FULL would sync every write for facts that are worth minutes.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT}")
    except BaseException:
        db.close()
        raise
    return db


def _create_file(path: Path) -> None:
    """Create the file 0600 before SQLite does with the umask of the day; its companions take over the mode.

    An existing file is not opened here: closing it again would drop this process's SQLite locks on it (POSIX).
    """
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _create_tables(db: sqlite3.Connection, tables: str, schema: int) -> None:
    if _has_tables(db) and db.execute("PRAGMA user_version").fetchone()[0] == 0:
        raise ForeignFile("it belongs to another program")
    _use_log(db)
    with transaction(db):
        if not _has_tables(db):  # another process may have been faster
            for statement in _statements(tables):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {schema}")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; `executescript` would end the transaction they are to stand in."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _use_log(db: sqlite3.Connection) -> None:
    """Switch to WAL mode. The busy timeout does not cover this switch, so several processes at once need patience."""
    give_up = time.monotonic() + CREATE_PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= give_up:
                raise
        time.sleep(CREATE_PAUSE)


def _has_tables(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Hold the file for writing; what was written is taken back when the block raises."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def is_busy(error: Exception) -> bool:
    """Return whether another process only held the file too long."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
