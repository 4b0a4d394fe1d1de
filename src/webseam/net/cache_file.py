"""The file that answers are kept in: SQLite, shared by every process of this user.

What the rest sees are rows found by URL; how long one may be used is not decided here. Bodies stand in a table of their
own: SQLite writes a whole row anew when one column changes, and noting that an answer was used must not cost 5 MB.

A connection serves one thread at a time. Any `sqlite3.Error` that leaves this module means that the file is of no use
for now; a row that was damaged is only missing.
"""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

from webseam import shared_file
from webseam.net.cache_rules import Stored, Varied
from webseam.net.message import Headers, RawHeaders
from webseam.shared_file import transaction

SCHEMA = 1  # PRAGMA user_version; a file with a higher one belongs to a newer webseam and is left alone
PAGE = 4096  # bytes; an entry fills whole pages, so it is counted in them
PACK_FROM = 512  # bytes; below, packing saves less than a page has to spare
PACK_LEVEL = 1  # 370 pages: 7 ms per MB to 19 % of it; level 6 takes 25 ms to come to 15 %
WORTH = 0.9  # of the size; what packs no better (images, archives, PDF) is not unpacked each time for a tenth
MAX_VARIANTS = 8  # answers of one URL that are looked at; a server may vary them by anything
EVICT_STEP = 32  # entries looked at in one go when room is made

_TABLES = """
CREATE TABLE answers(
    number INTEGER PRIMARY KEY, url TEXT NOT NULL, varied TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL,
    asked REAL NOT NULL, heard REAL NOT NULL, received REAL NOT NULL, used REAL NOT NULL, length INTEGER NOT NULL,
    packed INTEGER NOT NULL, size INTEGER NOT NULL, UNIQUE(url, varied));
CREATE INDEX by_use ON answers(used, size);
CREATE TABLE bodies(number INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE weight(total INTEGER NOT NULL);
INSERT INTO weight VALUES(0);
CREATE TRIGGER added AFTER INSERT ON answers BEGIN UPDATE weight SET total = total + new.size; END;
CREATE TRIGGER removed AFTER DELETE ON answers BEGIN
    UPDATE weight SET total = total - old.size; DELETE FROM bodies WHERE number = old.number; END;
"""
_FIND = """
SELECT number, varied, status, headers, asked, heard, received, used, size FROM answers WHERE url = ?
ORDER BY heard DESC LIMIT ?
"""
_BODY = "SELECT answers.length, packed, body FROM answers JOIN bodies USING(number) WHERE number = ?"
_ADD = """
INSERT INTO answers(url, varied, status, headers, asked, heard, received, used, length, packed, size)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_RENEW = "UPDATE answers SET headers = ?, asked = ?, heard = ?, used = ? WHERE number = ? AND url = ?"


class Row:
    """What stands in the file about an answer, without its body."""

    __slots__ = ("size", "stored", "used")

    def __init__(self, stored: Stored, used: float, size: int) -> None:
        self.stored = stored
        self.used = used  # seconds since the epoch
        self.size = size  # bytes in the file


def connect(path: Path, *, busy: float) -> sqlite3.Connection:
    """Open the file, created 0600 in a folder created 0700. `busy` is how many seconds to wait for a lock.

    Raises:
        sqlite3.Error: it cannot be used.
    """
    return shared_file.connect(path, busy=busy, tables=_TABLES, schema=SCHEMA)


def find(db: sqlite3.Connection, url: str) -> list[Row]:
    """Return what is kept of a URL, without the bodies, the newest first."""
    rows = []
    for number, varied, status, headers, asked, heard, received, used, size in db.execute(_FIND, (url, MAX_VARIANTS)):
        try:
            stored = Stored(
                url=url,
                varied=_read_varied(varied),
                status=int(status),
                headers=Headers(_read_pairs(headers)),
                asked_at=float(asked),
                heard_at=float(heard),
                body_at=float(received),
                number=number,
            )
            if math.isfinite(stored.asked_at + stored.heard_at + stored.body_at):
                rows.append(Row(stored, float(used), int(size)))
        except (ValueError, TypeError, RecursionError):  # a damaged row, which goes when it is the least used
            continue
    return rows


def read_body(db: sqlite3.Connection, number: int, *, most: int) -> bytes | None:
    """Return the body of a row, of one that is longer than `most` the first `most + 1` bytes; None if it is damaged."""
    row = db.execute(_BODY, (number,)).fetchone()
    if row is None:
        return None
    length, packed, body = row
    if not isinstance(length, int) or not isinstance(body, bytes) or length < 0:
        return None
    expected = min(length, most + 1)  # also bounds what is unpacked: a file that somebody else wrote could hold a bomb
    try:
        plain = zlib.decompressobj().decompress(body, expected + 1)[:expected] if packed else body[:expected]
    except zlib.error:
        return None
    return plain if len(plain) == expected else None


def add(db: sqlite3.Connection, stored: Stored, *, used: float, limit: int) -> None:
    """Keep an answer in the place of the one before, and let go of the least used until all fit into `limit` bytes."""
    body, packed = _pack(stored.body)
    headers = _write_pairs(stored.headers.pairs())
    size = _pages(len(body)) + _pages(len(headers) + len(stored.url) * 2)  # the URL stands in an index too
    if size > limit:
        remove(db, stored)
        return
    varied = json.dumps(stored.varied)
    times = (stored.asked_at, stored.heard_at, stored.body_at, used)
    row = (stored.url, varied, stored.status, headers, *times, len(stored.body), packed, size)
    with transaction(db):
        # Not REPLACE: it runs no trigger for what it removes unless a pragma of the connection says so.
        db.execute("DELETE FROM answers WHERE url = ? AND varied = ?", (stored.url, varied))
        number = db.execute(_ADD, row).lastrowid
        db.execute("REPLACE INTO bodies(number, body) VALUES(?, ?)", (number, body))
        _make_room(db, limit, spare=number or 0)


def renew(db: sqlite3.Connection, stored: Stored, *, used: float) -> None:
    """Write down what a 304 said about an answer that is kept."""
    headers = _write_pairs(stored.headers.pairs())
    db.execute(_RENEW, (headers, stored.asked_at, stored.heard_at, used, stored.number, stored.url))


def touch(db: sqlite3.Connection, number: int, used: float) -> None:
    """Note that an answer was used."""
    db.execute("UPDATE answers SET used = ? WHERE number = ?", (used, number))


def remove(db: sqlite3.Connection, stored: Stored) -> None:
    """Let go of an answer."""
    db.execute("DELETE FROM answers WHERE url = ? AND varied = ?", (stored.url, json.dumps(stored.varied)))


def remove_url(db: sqlite3.Connection, url: str) -> None:
    """Let go of all answers of a URL."""
    db.execute("DELETE FROM answers WHERE url = ?", (url,))


def clear(db: sqlite3.Connection) -> int:
    """Let go of everything, give the space back and return how many answers there were."""
    count = db.execute("DELETE FROM answers").rowcount
    db.execute("VACUUM")
    return count


def total(db: sqlite3.Connection) -> int:
    """Return the bytes that all answers take up."""
    return int(db.execute("SELECT total(total) FROM weight").fetchone()[0])


def _make_room(db: sqlite3.Connection, limit: int, *, spare: int) -> None:
    excess = total(db) - limit
    while excess > 0:
        oldest = db.execute(
            "SELECT number, size FROM answers WHERE number != ? ORDER BY used LIMIT ?", (spare, EVICT_STEP)
        ).fetchall()
        if not oldest:
            return
        for number, size in oldest:
            if excess <= 0:
                return
            db.execute("DELETE FROM answers WHERE number = ?", (number,))
            excess -= size


def _pack(body: bytes) -> tuple[bytes, bool]:
    if len(body) < PACK_FROM:
        return body, False
    packed = zlib.compress(body, PACK_LEVEL)
    return (packed, True) if len(packed) <= len(body) * WORTH else (body, False)


def _pages(size: int) -> int:
    return (size // PAGE + 1) * PAGE


def _write_pairs(pairs: Iterator[tuple[bytes, bytes]]) -> str:
    return json.dumps([[name.decode("latin-1"), value.decode("latin-1")] for name, value in pairs])


def _read_pairs(text: str) -> RawHeaders:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in _read_varied(text)]


def _read_varied(text: str) -> Varied:
    pairs = json.loads(text)
    if not isinstance(pairs, list):
        raise ValueError("not a list")
    return tuple((str(name), str(value)) for name, value in pairs)
