"""How widely a name is used by what is installed here, and a small word list of the names that are.

Most questions are about a few thousand names that everybody uses. Looking at those first, with few of the question's
words required, finds `os.getenv` for "read an environment variable" among a hundred thousand entries that share more
words with it, and takes a fraction of a millisecond.
"""

from __future__ import annotations

import math
import sqlite3

MOST_USES = 20  # files of one part that count; a name must not be famous for being one library's favourite
KNOWN_FILES = 2  # files that use a name from which it is in the list
CLASS_FILES = 25  # files that use a class from which its methods are, too
LIBRARY_WEIGHT = 0.94  # of an entry of the standard library from which it is: not its methods, errors and inner modules
LIBRARY_SHARE = 0.1  # how well known those are at least
COUNTED = 64  # entries from which a word is counted here; rarer ones are counted by each search, which is as quick
FAMOUS_FILES = 500  # files from which a name cannot be better known


def settle(db: sqlite3.Connection) -> None:
    """Count anew, after parts have come or gone."""
    used = db.execute(
        "SELECT name, sum(min(files, ?)) AS total FROM uses GROUP BY name HAVING total >= ?", (MOST_USES, KNOWN_FILES)
    ).fetchall()
    shares: dict[int, float] = {}
    for name, files in used:
        for entry, part, kind in _entries_of(db, name):
            shares[entry] = max(shares.get(entry, 0.0), _share(files))
            if kind == "class" and files >= CLASS_FILES:  # its methods are known at least half as well
                inside = (part, f"{name}.", f"{name}/")  # "/" is the character after "."
                for (method,) in db.execute("SELECT id FROM entries WHERE part = ? AND name > ? AND name < ?", inside):
                    shares[method] = max(shares.get(method, 0.0), _share(files) / 2)
    for (entry,) in db.execute(
        "SELECT e.id FROM entries e JOIN parts p ON p.id = e.part JOIN sources s ON s.id = p.source"
        " WHERE s.kind = 'stdlib' AND e.weight >= ?",
        (LIBRARY_WEIGHT,),
    ):
        shares.setdefault(entry, LIBRARY_SHARE)
    db.execute("DELETE FROM fame")
    db.executemany("INSERT INTO fame VALUES (?, ?)", sorted(shares.items()))
    db.execute("DELETE FROM counts")
    db.execute("INSERT INTO counts SELECT term, doc FROM vocabulary WHERE doc >= ?", (COUNTED,))
    db.execute("INSERT INTO known (known) VALUES ('delete-all')")
    db.execute(
        "INSERT INTO known (rowid, name, path, head) SELECT id, name, path, head FROM stems"
        " WHERE id IN (SELECT entry FROM fame)"
    )


def _entries_of(db: sqlite3.Connection, name: str) -> list[tuple[int, int, str]]:
    key = ".".join(name.lower().rsplit(".", 2)[-2:])
    return db.execute(
        "SELECT e.id, e.part, e.kind FROM names n JOIN entries e ON e.id = n.entry WHERE n.key = ? AND e.name = ?",
        (key, name),
    ).fetchall()


def _share(files: int) -> float:
    """How well known a name is that so many files use, from 0 to 1."""
    return round(min(1.0, math.log1p(files) / math.log1p(FAMOUS_FILES)), 3)
