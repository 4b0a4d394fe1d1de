"""The file of the index: its tables, and opening it when it is missing, damaged, newer or cannot be written.

Two word lists: `titles` (stems of names, places, first sentences) is small and keeps what ranking needs; `texts` has
every word of an entry and only knows which entries have it. One list for both was twice the size and ten times as slow
to rank. The index can always be made again, so nothing here repairs: a file that is not right is replaced, and the
caller is told.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

VERSION = 2  # of the tables and of `rows.searched`; another one means that the file is made again
MAPPED = 256 << 20  # bytes of the file read through memory; a search touches a few hundred pages of it
BUSY = 10.0  # seconds another process may hold the write lock: one commit takes well under one

_TABLES = """
CREATE TABLE lease (one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT NOT NULL, until REAL NOT NULL);
CREATE TABLE sources (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL,
    tier REAL NOT NULL, fingerprint TEXT, idle_since REAL
);
CREATE TABLE parts (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, key TEXT NOT NULL, stamp TEXT NOT NULL, entries INTEGER NOT NULL,
    skipped INTEGER NOT NULL, UNIQUE (source, key)
);
CREATE TABLE files (id INTEGER PRIMARY KEY, part INTEGER NOT NULL, path TEXT NOT NULL);
CREATE INDEX files_of_part ON files (part);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, part INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, split INTEGER NOT NULL,
    place TEXT NOT NULL, file INTEGER, line INTEGER NOT NULL, signature TEXT NOT NULL, summary TEXT NOT NULL,
    doc BLOB NOT NULL, aliases TEXT NOT NULL, weight REAL NOT NULL
);
CREATE INDEX entries_of_part ON entries (part);
CREATE TABLE names (
    key TEXT NOT NULL, rank INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (key, rank, entry)
) WITHOUT ROWID;
CREATE TABLE uses (part INTEGER NOT NULL, name TEXT NOT NULL, files INTEGER NOT NULL);
CREATE INDEX uses_of_part ON uses (part);
CREATE TABLE fame (entry INTEGER PRIMARY KEY, share REAL NOT NULL);
CREATE TABLE stems (id INTEGER PRIMARY KEY, name TEXT NOT NULL, path TEXT NOT NULL, head TEXT NOT NULL);
CREATE VIRTUAL TABLE titles USING fts5(
    name, path, head, content='stems', content_rowid='id', tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('titles', 'row');
CREATE TABLE counts (stem TEXT PRIMARY KEY, entries INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE known USING fts5(
    name, path, head, content='', tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE VIRTUAL TABLE texts USING fts5(
    text, content='', detail=none, columnsize=0, tokenize="porter unicode61 remove_diacritics 2 tokenchars '_'"
);
"""


class Unusable(Exception):
    """The file cannot serve as an index. `replaceable` says whether making it again would help."""

    def __init__(self, why: str, *, replaceable: bool) -> None:
        super().__init__(why)
        self.replaceable = replaceable


def connect(path: Path | None, *, write: bool) -> sqlite3.Connection:
    """Open the index, creating it when `write`; None is an index in memory.

    Raises:
        Unusable: it is missing, damaged, of another version, or the disk does not let us.
    """
    if path is None:
        connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        connection.executescript(_TABLES)
        return connection
    if write:
        with contextlib.suppress(OSError):  # the attempt to open it says why in better words
            path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.is_file():
        raise Unusable("there is no index yet", replaceable=True)
    try:
        return _open(path, "rwc" if write else "rw")
    except sqlite3.OperationalError as error:
        if write or is_damage(error):
            raise Unusable(str(error), replaceable=is_damage(error)) from None
    try:  # a read-only disk refuses the shared-memory file that readers of a log need
        return _open(path, "ro&immutable=1")
    except sqlite3.OperationalError as error:
        raise Unusable(str(error), replaceable=is_damage(error)) from None


def _open(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=BUSY, check_same_thread=False, isolation_level=None
    )
    try:
        _prepare(connection, create=mode == "rwc")
    except sqlite3.OperationalError:
        connection.close()
        raise
    except sqlite3.DatabaseError as error:  # not a database at all, or torn
        connection.close()
        raise Unusable(f"the index is damaged ({error})", replaceable=True) from None
    except Unusable:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, *, create: bool) -> None:
    connection.execute(f"PRAGMA mmap_size = {MAPPED}")
    connection.execute("PRAGMA synchronous = NORMAL")  # with a log safe from damage; a lost last second is read again
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version == VERSION:
        return
    if version > VERSION:
        raise Unusable(
            f"the index was made by a newer webseam (version {version}, this one knows {VERSION})", replaceable=True
        )
    empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
    if not create or not empty:
        raise Unusable("the index was made by an older webseam", replaceable=True)
    connection.execute("PRAGMA journal_mode = WAL")  # searches go on while another process writes
    connection.execute("BEGIN IMMEDIATE")
    if int(connection.execute("PRAGMA user_version").fetchone()[0]) != VERSION:  # unless another process was first
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def is_damage(error: sqlite3.Error) -> bool:
    """True when the file is at fault (torn, or with other tables), not the disk, another process or an interruption."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such " in str(error)


def remove(path: Path) -> None:
    """Delete the index and the files SQLite keeps beside it.

    Raises:
        OSError: the disk does not let us.
    """
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
