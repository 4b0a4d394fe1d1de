"""Putting a part of a source into the tables of the index, and taking it out; within the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from webseam.local.rows import Row, searched


def write_part(
    db: sqlite3.Connection, source_row: int, key: str, stamp: str, skipped: int, rows: list[Any], uses: dict[str, int]
) -> None:
    old = db.execute("SELECT id FROM parts WHERE source = ? AND key = ?", (source_row, key)).fetchone()
    if old is not None:
        remove_part(db, old[0])
    part = db.execute(
        "INSERT INTO parts (source, key, stamp, entries, skipped) VALUES (?, ?, ?, ?, ?)",
        (source_row, key, stamp, len(rows), skipped),
    ).lastrowid
    db.executemany("INSERT INTO uses VALUES (?, ?, ?)", [(part, name, files) for name, files in uses.items()])
    files: dict[str, int | None] = {"": None}
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()
    entries, titles, texts, names = [], [], [], []
    for number, (values, (name, path, head, text)) in enumerate(rows, last + 1):
        row = Row(*values)
        if row.file not in files:
            files[row.file] = db.execute("INSERT INTO files (part, path) VALUES (?, ?)", (part, row.file)).lastrowid
        shown = (number, part, row.kind, row.name, row.split, row.where, files[row.file], row.line)
        entries.append((*shown, row.signature, row.summary, row.doc, " ".join(row.aliases), row.weight))
        titles.append((number, name, path, head))
        texts.append((number, text))
        names += [(key, _rank(row.weight), number) for key in names_of(row.kind, row.name, row.aliases)]
    db.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entries)
    db.executemany("INSERT INTO stems VALUES (?, ?, ?, ?)", titles)
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


def remove_part(db: sqlite3.Connection, part: int) -> None:
    """Take a part's entries out; the list of texts wants the very texts that were put in."""
    (package,) = db.execute(
        "SELECT CASE kind WHEN 'distribution' THEN name WHEN 'stdlib' THEN 'python' ELSE '' END FROM sources"
        " WHERE id = (SELECT source FROM parts WHERE id = ?)",
        (part,),
    ).fetchone()
    rows = db.execute(
        "SELECT id, kind, name, split, place, signature, summary, doc, aliases, weight FROM entries WHERE part = ?",
        (part,),
    ).fetchall()
    texts, names = [], []
    for number, kind, name, split, place, signature, summary, doc, aliases, weight in rows:
        row = Row(kind, name, split, place, "", 0, signature, summary, doc, tuple(aliases.split()), weight)
        texts.append((number, searched(package, row)[-1]))
        names += [(key, _rank(weight), number) for key in names_of(kind, name, row.aliases)]
    db.execute(
        "INSERT INTO titles (titles, rowid, name, path, head) SELECT 'delete', id, name, path, head FROM stems"
        " WHERE id IN (SELECT id FROM entries WHERE part = ?)",
        (part,),
    )
    db.execute("DELETE FROM stems WHERE id IN (SELECT id FROM entries WHERE part = ?)", (part,))
    db.executemany("INSERT INTO texts (texts, rowid, text) VALUES ('delete', ?, ?)", texts)
    db.executemany("DELETE FROM names WHERE key = ? AND rank = ? AND entry = ?", names)
    db.execute("DELETE FROM entries WHERE part = ?", (part,))
    db.execute("DELETE FROM files WHERE part = ?", (part,))
    db.execute("DELETE FROM uses WHERE part = ?", (part,))
    db.execute("DELETE FROM parts WHERE id = ?", (part,))
