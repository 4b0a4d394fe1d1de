"""The words of a question: what may stand for each, how much it tells, and the expressions that look for them."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field

from webseam.local.tokens import SYNONYMS, WEAK, parts, pieces, stem

COMMON = 100  # entries added to those a word is in: rare words of a question must not drown the telling ones
COUNT_LIMIT = 2_000  # entries from which a word is simply common
SHORT_ROOT = 3  # letters that may stand inside unrelated words
ACTION = 1.3  # weight of the first word: "parse …", "copy …", what is to be done, which names a function
IN_PATH = 0.7  # what a word counts that stands in the name of the module only
_ACTION_IN_PATH = 0.5  # `urllib.parse` says that of its functions some parse, not that this one does
_WEAKER = 0.3  # weight of words that a hit may lack

_COUNTED = "SELECT stem, entries FROM counts WHERE stem IN "
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM titles WHERE titles MATCH ? LIMIT ?)"


@dataclass(slots=True)
class Term:
    """One word of the question: what may stand for it, the stems of those, and how much it tells."""

    word: str
    forms: tuple[str, ...]
    weight: float = 1.0
    seen: int = 0
    in_path: float = IN_PATH
    roots: tuple[str, ...] = field(init=False)
    spaced: tuple[str, ...] = field(init=False)  # to be found in stems that have a space on both sides of each

    def __post_init__(self) -> None:
        self.roots = tuple(dict.fromkeys(map(stem, self.forms)))
        self.spaced = tuple(f" {root} " for root in self.roots)

    def shapes(self) -> list[tuple[str, ...]]:
        """What may stand for it, each as the words that are all needed: for `parse_qs` its parts are enough."""
        found: list[tuple[str, ...]] = []
        for form in self.forms:
            found.append((form,))
            if split := parts(form) or pieces(form):
                found.append(split)
        return found

    def stands_in(self, text: str) -> bool:
        """True when running text in lower case has it. Short stems must begin a word, long ones may stand anywhere."""
        for root in self.roots:
            at = text.find(root)
            if at >= 0 and (len(root) > SHORT_ROOT or next(_begun(text, root, at), -1) >= 0):
                return True
        return False

    def places(self, text: str) -> Iterator[int]:
        """Every place in running text in lower case where it stands."""
        for root in self.roots:
            at = text.find(root)
            if at < 0:
                continue
            if len(root) <= SHORT_ROOT:
                yield from _begun(text, root, at)
                continue
            while at >= 0:
                yield at
                at = text.find(root, at + 1)


def _begun(text: str, root: str, at: int) -> Iterator[int]:
    while at >= 0:
        if at == 0 or not text[at - 1].isalnum():
            yield at
        at = text.find(root, at + 1)


def terms_of(db: sqlite3.Connection, words: list[str]) -> list[Term]:
    """Return the words of a question in their order, weighed by how rare each is in the titles.

    Raises:
        sqlite3.Error: the file failed, or the query was interrupted.
    """
    terms = [Term(word, tuple(SYNONYMS.get(word, (word,)))) for word in words]
    total = int(db.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()[0]) or 1
    roots = list({root for term in terms for root in term.roots})
    counted = dict(db.execute(f"{_COUNTED} ({', '.join('?' * len(roots))})", roots).fetchall())
    for term in terms:
        term.seen = _seen(db, term, counted)
        term.weight = math.log(1 + total / (term.seen + COMMON)) * (_WEAKER if term.word in WEAK else 1.0)
    if len(terms) > 1:
        terms[0].weight *= ACTION
        terms[0].in_path = _ACTION_IN_PATH
    return terms


def _seen(db: sqlite3.Connection, term: Term, counted: dict[str, int]) -> int:
    """In how many titles it is. Common words are counted when the index is built: to count them takes long."""
    known = sum(counted.get(root, 0) for root in term.roots)
    if known >= COUNT_LIMIT or all(len(shape) == 1 and stem(shape[0]) in counted for shape in term.shapes()):
        return min(known, COUNT_LIMIT)
    return int(db.execute(_COUNT, (any_of(term, "titles"), COUNT_LIMIT)).fetchone()[0])


def any_of(term: Term, table: str) -> str:
    """Return an expression for one word, in whatever shape it stands."""
    choices = []
    for shape in term.shapes():
        words = [f'"{word if table == "texts" else stem(word)}"' for word in shape]
        choices.append(words[0] if len(words) == 1 else f"({' AND '.join(words)})")
    return "(" + " OR ".join(choices) + ")"


def at_least(terms: list[str], wanted: int) -> str:
    """Return an expression for at least `wanted` of the terms, by halving: shorter than listing every choice."""
    if wanted == len(terms):
        return "(" + " AND ".join(terms) + ")"
    if wanted == 1:
        return "(" + " OR ".join(terms) + ")"
    left, right = terms[: len(terms) // 2], terms[len(terms) // 2 :]
    choices = []
    for of_left in range(max(0, wanted - len(right)), min(wanted, len(left)) + 1):
        both = [at_least(half, of) for half, of in ((left, of_left), (right, wanted - of_left)) if of]
        choices.append(both[0] if len(both) == 1 else f"({both[0]} AND {both[1]})")
    return choices[0] if len(choices) == 1 else "(" + " OR ".join(choices) + ")"
