"""Ranked answers out of an open index.

Three steps: definitions whose very name was asked for; candidates from the word lists, those with all words of the
question first and with all but some when there are too few; then one order over both. SQLite's bm25 alone is not that
order: it counts words, and does not know that `parse_qs` is the answer when its name and first sentence say so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from webseam.local.rows import CODE, unpack
from webseam.local.terms import Term, any_of, at_least, terms_of
from webseam.local.tokens import WEAK, ask, identifier

TITLED = 50  # entries that bm25 may propose at each step; the order among them is ours
WORDED = 40  # entries that may come from the texts, where nothing says which is better
ENOUGH = 20  # candidates from which fewer words are not tried
FEW = 10  # candidates up to which texts with fewer words are tried
WIDE = 800  # entries that are ranked for one word each; beyond, the common words only reorder what others found
JUDGED = 50  # candidates that are judged by more than their titles
CLOSE = 25  # candidates whose whole text is looked at
LOOKED_AT = 1_500  # characters of such a text
NAMED = 200  # definitions looked at for one name
CONCISE = 5  # words, parts and meanings counted, up to which a name says exactly what it says
MAX_WORDS = 12  # of a question; more is a pasted text, whose first words say what it is about

# What a word of the question counts where it stands, at most once.
_IN_NAME, _IN_HEAD, _IN_BODY = 1.0, 0.75, 0.4


@dataclass(slots=True)
class Found:
    """One candidate, as the index has it, with its place in the order in `score`."""

    id: int
    kind: str
    name: str
    split: int
    place: str
    signature: str
    summary: str
    weight: float
    file: str | None
    line: int
    package: str
    version: str
    tier: float
    fame: float
    score: float = 0.0
    doc: str = ""


_SELECT = (
    "SELECT e.id, e.kind, e.name, e.split, e.place, e.signature, e.summary, e.weight, f.path, e.line, s.name,"
    " s.version, s.tier, coalesce(k.share, 0.0)"
    " FROM entries e JOIN parts p ON p.id = e.part JOIN sources s ON s.id = p.source LEFT JOIN files f ON f.id = e.file"
    " LEFT JOIN fame k ON k.entry = e.id WHERE s.idle_since IS NULL AND e.id IN "
)


def rank(
    db: sqlite3.Connection, query: str, *, count: int, package: str | None = None
) -> tuple[list[Found], list[Term]]:
    """Return the best `count` entries and the words they were judged by.

    Raises:
        sqlite3.Error: the file failed, or the query was interrupted.
    """
    terms = terms_of(db, ask(query)[:MAX_WORDS])
    found = _named(db, query, package)
    named = {entry.id for entry in found}
    numbers = _candidates(db, terms, package, named=bool(found) and identifier(query) is not None)
    found += _judged(db, [number for number in numbers if number not in named], terms)
    found.sort(key=lambda entry: (-entry.score, len(entry.name), entry.name))
    best = _distinct(found)[:count]
    _load_texts(db, [entry for entry in best if not entry.doc])
    return best, terms


def _distinct(found: list[Found]) -> list[Found]:
    """One hit for one thing: a second one of the same name and package would only be its older copy."""
    seen: set[tuple[str, str, str, int]] = set()
    kept = []
    for entry in found:
        key = (
            (entry.kind in CODE and "code") or entry.kind,
            entry.name,
            entry.package,
            0 if entry.kind in CODE else entry.line,
        )
        if key not in seen:
            seen.add(key)
            kept.append(entry)
    return kept


def _named(db: sqlite3.Connection, query: str, package: str | None) -> list[Found]:
    """Definitions the query names: all of it (`Path.cwd`, `json`), or one of its words that can only be a name."""
    whole = identifier(query)
    if whole is not None:
        return _defined(db, whole, package, bonus=2.0)
    found: list[Found] = []
    for word in query.split()[:MAX_WORDS]:
        name = identifier(word.strip("?!,;:'\"`"))
        if name is not None and ("_" in name.strip("_") or "." in name or word.endswith("()")):
            found += _defined(db, name, package, bonus=0.6)[:5]
    return found


def _defined(db: sqlite3.Connection, dotted: str, package: str | None, *, bonus: float) -> list[Found]:
    asked = dotted.lower()
    components = asked.split(".")
    key = ".".join(components[-2:])
    ids = [row[0] for row in db.execute("SELECT entry FROM names WHERE key = ? ORDER BY rank LIMIT ?", (key, NAMED))]
    found = []
    sql = f"SELECT id, aliases FROM entries WHERE aliases != '' AND id IN ({_marks(ids)})"  # noqa: S608 - question marks are all that is put in
    aliases = dict(db.execute(sql, ids).fetchall())
    for entry in _fetch(db, ids, package):
        names = [entry.name, *aliases.get(entry.id, "").split()]
        if not any(f".{name}".lower().endswith(f".{asked}") for name in names) and entry.kind != "man":
            continue
        exact = 0.3 if asked in (name.lower() for name in names) else 0.0
        same_case = 0.1 if dotted.rpartition(".")[2] == entry.name.rpartition(".")[2] else 0.0
        entry.score = bonus + exact + same_case + entry.weight * entry.tier + 0.5 * entry.fame
        found.append(entry)
    return sorted(found, key=lambda entry: -entry.score)


def _marks(ids: Collection[object]) -> str:
    return ", ".join("?" * len(ids))


def _fetch(db: sqlite3.Connection, ids: list[int], package: str | None) -> list[Found]:
    rows = db.execute(f"{_SELECT} ({_marks(ids)})", ids).fetchall()
    found = [Found(*row) for row in rows]
    if package is not None:
        wanted = package.lower().replace("_", "-")
        found = [entry for entry in found if entry.package.lower() == wanted]
    return found


def _candidates(db: sqlite3.Connection, terms: list[Term], package: str | None, *, named: bool) -> list[int]:
    """Entries with all words first; then all but one, two … in titles; in texts only when that gives next to nothing.

    `named` says that the question was a name and is answered: what merely shares some of its parts is then not wanted.
    """
    asked = [term for term in terms if term.word not in WEAK] or terms
    asked.sort(key=lambda term: -term.weight)
    if not asked:  # a query of punctuation
        return []
    found = _matching(db, "known", asked, max(1, len(asked) // 2), package)
    if len(asked) > 1:
        found.update(_matching(db, "texts", asked, len(asked), package))
    found.update(_titled(db, asked, package, named=named))
    rarest = min(asked, key=lambda term: term.seen)
    if len(asked) > 1 and 0 < rarest.seen <= TITLED:  # few enough to look at each, whatever else it lacks
        found.update(_matching(db, "titles", [rarest], 1, package))
    for wanted in range(len(asked) - 1, 0, -1) if len(asked) > 1 else (1,):
        if named or len(found) >= FEW:
            break
        found.update(_matching(db, "texts", asked, wanted, package))
    return list(found)


def _titled(db: sqlite3.Connection, terms: list[Term], package: str | None, *, named: bool) -> dict[int, None]:
    """Of three words or more one may be missing from the start: bm25 puts titles with all of them in front anyway."""
    found: dict[int, None] = {}
    wanted = len(terms) - 1 if len(terms) > 2 and not named else len(terms)
    while True:
        found.update(_matching(db, "titles", terms if wanted > 1 else _telling(terms), wanted, package))
        wanted = min(wanted - 1, (len(terms) + 1) // 2)
        if len(found) >= ENOUGH or named or wanted < max(1, len(terms) // 2):
            return found


def _telling(terms: list[Term]) -> list[Term]:
    """The rarest of some terms (they come with those first), as many as are in few enough entries to rank them all."""
    kept, entries = terms[:1], terms[0].seen
    for term in terms[1:]:
        entries += term.seen
        if entries <= WIDE:
            kept.append(term)
    return kept


def _matching(
    db: sqlite3.Connection, table: str, terms: list[Term], wanted: int, package: str | None
) -> dict[int, None]:
    """Entries with so many of the words, at most `TITLED` or `WORDED`: from titles the best by bm25, else any."""
    sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"  # noqa: S608 - one of three tables named in this module
    values: list[object] = [at_least([any_of(term, table) for term in terms], wanted)]
    if package is not None:
        sql += (
            " AND rowid IN (SELECT e.id FROM entries e JOIN parts p ON p.id = e.part JOIN sources s ON s.id = p.source"
        )
        sql += " WHERE lower(s.name) = ?)"
        values.append(package.lower().replace("_", "-"))
    if table == "texts":
        return dict.fromkeys(row[0] for row in db.execute(f"{sql} LIMIT ?", (*values, WORDED)))
    # What bm25 needs to know of each word costs more than finding the entries; few of them need no order.
    found = db.execute(f"{sql} LIMIT ?", (*values, TITLED + 1)).fetchall()
    if len(found) > TITLED:
        found = db.execute(f"{sql} ORDER BY bm25({table}, 4.0, 2.0, 1.0) LIMIT ?", (*values, TITLED)).fetchall()
    return dict.fromkeys(row[0] for row in found)


def _judged(db: sqlite3.Connection, numbers: list[int], terms: list[Term]) -> list[Found]:
    """Return entries judged by how much of the question their titles and texts hold, and by how known they are.

    Gives 0 to about 1.6. What costs more is done for fewer: all titles, the rows of `JUDGED`, the texts of `CLOSE`.
    """
    total = sum(term.weight for term in terms) or 1.0
    gains = {number: _gain(terms, *titles) for number, titles in _titles(db, numbers).items()}
    front = sorted(gains, key=lambda number: -gains[number][0])[:JUDGED]
    entries = _fetch(db, front, None)
    for entry in entries:
        gained, precise, _ = gains[entry.id]
        entry.score = gained / total + 0.1 * precise + 0.25 * entry.weight * entry.tier + 0.25 * entry.fame
    entries.sort(key=lambda entry: -entry.score)
    close = [entry for entry in entries[:CLOSE] if gains[entry.id][2]]
    _load_texts(db, close)
    for entry in close:
        text = f"{entry.signature} {entry.doc[:LOOKED_AT]}".lower()
        entry.score += sum(_IN_BODY * term.weight for term in gains[entry.id][2] if term.stands_in(text)) / total
    return entries


def _gain(terms: list[Term], name: str, path: str, head: str) -> tuple[float, float, list[Term]]:
    """Return what the titles gain, which share of the name was asked for, and the words that are in none of them."""
    gained, used = 0.0, 0
    absent: list[Term] = []
    size = name.count(" ") - 1 or 1
    in_name = _IN_HEAD + (_IN_NAME - _IN_HEAD) * min(1.0, CONCISE / size)
    for term in terms:
        gain = 0.0
        for spaced in term.spaced:
            if spaced in name:
                gain = in_name
                used += 1
                break
            if spaced in head:
                gain = _IN_HEAD
            elif not gain and spaced in path:
                gain = term.in_path
        gained += term.weight * gain
        if not gain:
            absent.append(term)
    return gained, used / size, absent


def _titles(db: sqlite3.Connection, ids: list[int]) -> dict[int, tuple[str, str, str]]:
    """The stems of the names, places and first sentences of some entries, each with a space on both sides."""
    sql = f"SELECT id, name, path, head FROM stems WHERE id IN ({_marks(ids)})"  # noqa: S608 - question marks are all that is put in
    rows = db.execute(sql, ids)
    return {number: (f" {name} ", f" {path} ", f" {head} ") for number, name, path, head in rows}


def _load_texts(db: sqlite3.Connection, entries: list[Found]) -> None:
    ids = [entry.id for entry in entries]
    sql = f"SELECT id, doc FROM entries WHERE id IN ({_marks(ids)})"  # noqa: S608 - question marks are all that is put in
    texts = dict(db.execute(sql, ids).fetchall())
    for entry in entries:
        entry.doc = unpack(texts[entry.id])
