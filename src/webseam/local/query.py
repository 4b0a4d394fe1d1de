"""Ranked answers out of an open index.

Three steps: definitions whose very name was asked for; candidates from the word lists, those with all words of the
question first and with all but some when there are too few; then one order over both. SQLite's bm25 alone is not that
order: it counts words, and does not know that `parse_qs` is the answer when its name and first sentence say so.
"""

from __future__ import annotations

import math
import re
import sqlite3
from dataclasses import dataclass

from webseam.local.rows import CODE, unpack
from webseam.local.tokens import SYNONYMS, WEAK, ask, identifier, parts, pieces, stem

TITLED = 60  # entries that bm25 may propose at each step; the order among them is ours
WORDED = 120  # entries that may come from the texts, where nothing says which is better
ENOUGH = 40  # candidates from which fewer words are not tried
FEW = 10  # candidates up to which texts with fewer words are tried
CLOSE = 40  # candidates whose whole text is looked at
LOOKED_AT = 1_500  # characters of such a text
NAMED = 200  # definitions looked at for one name
MAX_WORDS = 12  # of a question; more is a pasted text, whose first words say what it is about
SHORT_ROOT = 3  # letters that may stand inside unrelated words
COUNT_LIMIT = 2_000  # rows counted to judge how common a word is; beyond, it is simply common

# What a word of the question counts where it stands, at most once.
_IN_NAME, _IN_HEAD, _IN_PATH, _IN_BODY = 1.0, 0.75, 0.7, 0.4


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
    score: float = 0.0
    doc: str = ""


@dataclass(slots=True)
class Term:
    """One word of the question: what may stand for it, the stems of those, and how much it tells."""

    word: str
    forms: tuple[str, ...]
    roots: frozenset[str]
    weight: float = 1.0

    def stands_in(self, text: str) -> bool:
        """True when running text in lower case has it. Short stems must begin a word, long ones may stand anywhere."""
        return any(
            root in text if len(root) > SHORT_ROOT else re.search(rf"(?<![^\W_]){re.escape(root)}", text) is not None
            for root in self.roots
        )


_SELECT = (
    "SELECT e.id, e.kind, e.name, e.split, e.place, e.signature, e.summary, e.weight, f.path, e.line, s.name, s.version, s.tier"
    " FROM entries e JOIN parts p ON p.id = e.part JOIN sources s ON s.id = p.source LEFT JOIN files f ON f.id = e.file WHERE e.id IN "
)


def rank(db: sqlite3.Connection, query: str, *, count: int, package: str | None = None) -> tuple[list[Found], list[Term]]:
    """Return the best `count` entries and the words they were judged by.

    Raises:
        sqlite3.Error: the file failed, or the query was interrupted.
    """
    total = int(db.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()[0]) or 1
    terms = [_term(db, word, total) for word in ask(query)[:MAX_WORDS]]
    found = _named(db, query, package)
    named = {entry.id for entry in found}
    others = [entry for entry in _candidates(db, terms, package) if entry.id not in named]
    _judge(db, others, terms)
    found += others
    found.sort(key=lambda entry: (-entry.score, len(entry.name), entry.name))
    best = _distinct(found)[:count]
    _load_texts(db, [entry for entry in best if not entry.doc])
    return best, terms


def _distinct(found: list[Found]) -> list[Found]:
    """One hit for one thing: a second one of the same name and package would only be its older copy."""
    seen: set[tuple[str, str, str, int]] = set()
    kept = []
    for entry in found:
        key = (entry.kind in CODE and "code" or entry.kind, entry.name, entry.package, 0 if entry.kind in CODE else entry.line)
        if key not in seen:
            seen.add(key)
            kept.append(entry)
    return kept


# --- by name -------------------------------------------------------------------------------------------------------------


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
    aliases = dict(db.execute(f"SELECT id, aliases FROM entries WHERE aliases != '' AND id IN ({_marks(ids)})", ids).fetchall())
    for entry in _fetch(db, ids, package):
        names = [entry.name, *aliases.get(entry.id, "").split()]
        if not any(f".{name}".lower().endswith(f".{asked}") for name in names) and entry.kind != "man":
            continue
        exact = 0.3 if asked in (name.lower() for name in names) else 0.0
        same_case = 0.1 if dotted.rpartition(".")[2] == entry.name.rpartition(".")[2] else 0.0
        entry.score = bonus + exact + same_case + entry.weight * entry.tier
        found.append(entry)
    return sorted(found, key=lambda entry: -entry.score)


def _marks(ids: list[int]) -> str:
    return ", ".join("?" * len(ids))


def _fetch(db: sqlite3.Connection, ids: list[int], package: str | None) -> list[Found]:
    rows = db.execute(f"{_SELECT} ({_marks(ids)})", ids).fetchall()
    found = [Found(*row) for row in rows]
    if package is not None:
        wanted = package.lower().replace("_", "-")
        found = [entry for entry in found if entry.package.lower() == wanted]
    return found


# --- by words --------------------------------------------------------------------------------------------------------------


def _term(db: sqlite3.Connection, word: str, total: int) -> Term:
    forms = tuple(SYNONYMS.get(word, (word,)))
    term = Term(word, forms, frozenset(map(stem, forms)))
    (seen,) = db.execute(
        "SELECT count(*) FROM (SELECT 1 FROM titles WHERE titles MATCH ? LIMIT ?)", (_any_of(term, "titles"), COUNT_LIMIT)
    ).fetchone()
    term.weight = math.log(1 + total / (seen + 1)) * (0.3 if word in WEAK else 1.0)
    return term


def _any_of(term: Term, table: str) -> str:
    """Return an expression for one word; `parse_qs` is also found where only its parts stand."""
    shapes = []
    for form in term.forms:
        split = parts(form) or pieces(form)
        for shape in ((form,), split) if split else ((form,),):
            words = [f'"{stem(word) if table == "titles" else word}"' for word in shape]
            shapes.append(words[0] if len(words) == 1 else f"({' AND '.join(words)})")
    return "(" + " OR ".join(shapes) + ")"


def _candidates(db: sqlite3.Connection, terms: list[Term], package: str | None) -> list[Found]:
    """Entries with all words first; then all but one, two … in titles; in texts only when that gives next to nothing."""
    asked = [term for term in terms if term.word not in WEAK] or terms
    asked.sort(key=lambda term: -term.weight)
    found: dict[int, None] = {}
    if len(asked) > 1:
        found.update(_matching(db, "texts", asked, len(asked), package))
    for wanted in range(len(asked), (len(asked) - 1) // 2, -1):
        titled = _matching(db, "titles", asked, wanted, package)
        found.update(titled)
        if len(titled) >= ENOUGH:
            break
    for wanted in range(len(asked) - 1, 0, -1) if len(asked) > 1 else (1,):
        if len(found) >= FEW:
            break
        found.update(_matching(db, "texts", asked, wanted, package))
    return _fetch(db, list(found), None)


def _matching(db: sqlite3.Connection, table: str, terms: list[Term], wanted: int, package: str | None) -> dict[int, None]:
    sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"
    values: list[object] = [_at_least([_any_of(term, table) for term in terms], wanted)]
    if package is not None:
        sql += " AND rowid IN (SELECT e.id FROM entries e JOIN parts p ON p.id = e.part JOIN sources s ON s.id = p.source"
        sql += " WHERE lower(s.name) = ?)"
        values.append(package.lower().replace("_", "-"))
    if table == "titles":
        sql += " ORDER BY bm25(titles, 4.0, 2.0, 1.0)"
    return dict.fromkeys(row[0] for row in db.execute(f"{sql} LIMIT ?", (*values, TITLED if table == "titles" else WORDED)))


def _at_least(terms: list[str], wanted: int) -> str:
    """Return an expression for at least `wanted` of the terms, by halving: shorter than listing every choice."""
    if wanted == len(terms):
        return "(" + " AND ".join(terms) + ")"
    if wanted == 1:
        return "(" + " OR ".join(terms) + ")"
    left, right = terms[: len(terms) // 2], terms[len(terms) // 2 :]
    choices = []
    for of_left in range(max(0, wanted - len(right)), min(wanted, len(left)) + 1):
        both = [_at_least(half, of) for half, of in ((left, of_left), (right, wanted - of_left)) if of]
        choices.append(both[0] if len(both) == 1 else f"({both[0]} AND {both[1]})")
    return choices[0] if len(choices) == 1 else "(" + " OR ".join(choices) + ")"


# --- the order -------------------------------------------------------------------------------------------------------------


def _judge(db: sqlite3.Connection, entries: list[Found], terms: list[Term]) -> None:
    """Judge entries by how much of the question their name, place, first sentence and text hold, and how known they are.

    Gives 0 to about 1.5. Texts are read only for the entries that their titles put in front.
    """
    total = sum(term.weight for term in terms) or 1.0
    missing: dict[int, list[Term]] = {}
    titles = _titles(db, [entry.id for entry in entries])
    for entry in entries:
        name, path, head = titles[entry.id]
        gained, used = 0.0, 0
        absent = missing[entry.id] = []
        for term in terms:
            if not term.roots.isdisjoint(name):
                gained += term.weight * _IN_NAME
                used += 1
            elif not term.roots.isdisjoint(head):
                gained += term.weight * _IN_HEAD
            elif not term.roots.isdisjoint(path):
                gained += term.weight * _IN_PATH
            else:
                absent.append(term)
        precise = used / max(1, len(name))
        entry.score = gained / total + 0.15 * precise + 0.3 * entry.weight * entry.tier
    entries.sort(key=lambda entry: -entry.score)
    close = [entry for entry in entries[:CLOSE] if missing[entry.id]]
    _load_texts(db, close)
    for entry in close:
        text = f"{entry.signature} {entry.doc[:LOOKED_AT]}".lower()
        entry.score += sum(_IN_BODY * term.weight for term in missing[entry.id] if term.stands_in(text)) / total


def _titles(db: sqlite3.Connection, ids: list[int]) -> dict[int, tuple[list[str], list[str], list[str]]]:
    """The stems of the names, places and first sentences of some entries."""
    rows = db.execute(f"SELECT rowid, name, path, head FROM titles WHERE rowid IN ({_marks(ids)})", ids)
    return {number: (name.split(), path.split(), head.split()) for number, name, path, head in rows}


def _load_texts(db: sqlite3.Connection, entries: list[Found]) -> None:
    ids = [entry.id for entry in entries]
    texts = dict(db.execute(f"SELECT id, doc FROM entries WHERE id IN ({_marks(ids)})", ids).fetchall())
    for entry in entries:
        entry.doc = unpack(texts[entry.id])
