"""The words of a question: what counts as seen, where they stand, and how many of them an expression wants."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest

from tests.local.trees import install, site_of
from webseam.local import LocalIndex
from webseam.local.fame import COUNTED
from webseam.local.schema import connect
from webseam.local.terms import Term, at_least, terms_of


def test_counts_made_while_building_are_those_a_search_would_make(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    code = "".join(f"def pick_{number}():\n    'Chooses the directory.'\n" for number in range(COUNTED))
    install(site, "many", "1.0", {"many.py": code + "def rarely():\n    'A folder.'\n"})
    index = LocalIndex(tmp_path / "index.sqlite3", environments=[site])
    index.refresh()
    words = ["directory", "pick", "rarely", "nowhere", "parse_qs"]
    with closing(connect(index.path, write=False)) as db:
        kept = dict(db.execute("SELECT stem, entries FROM counts").fetchall())
        seen = [term.seen for term in terms_of(db, words)]
        db.execute("DELETE FROM counts")
        counted = [term.seen for term in terms_of(db, words)]
    index.close()
    assert (kept["directory"], kept["pick"], kept.get("rare")) == (COUNTED, COUNTED, None)
    assert seen == counted == [COUNTED + 1, COUNTED, 1, 0, 0]


@pytest.mark.parametrize(
    ("word", "text", "places"),
    [
        pytest.param("parsing", "to parse, unparsed", [3, 12], id="long-stems-anywhere"),
        pytest.param("url", "curl, url; url_of and my_url", [6, 11, 25], id="short-stems-begin-a-word"),
        pytest.param("folder", "a directory of folders", [15, 2, 2], id="synonyms-too"),
        pytest.param("url", "curl", [], id="only-inside-another-word"),
        pytest.param("url", "", [], id="nothing"),
    ],
)
def test_a_word_stands_in_a_text(word: str, text: str, places: list[int]) -> None:
    (term,) = _terms(word)
    assert (list(term.places(text)), term.stands_in(text)) == (places, bool(places))


def _terms(word: str) -> list[Term]:
    with closing(connect(None, write=True)) as db:
        return terms_of(db, [word])


@pytest.mark.parametrize("wanted", [1, 2, 3, 4, 5])
def test_an_expression_wants_just_so_many_of_its_words(wanted: int) -> None:
    words = ["one", "two", "three", "four", "five"]
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE some USING fts5(text)")
        chosen = [" ".join(some) for size in range(1, 6) for some in combinations(words, size)]
        db.executemany("INSERT INTO some VALUES (?)", [(text,) for text in chosen])
        expression = at_least([f'"{word}"' for word in words], wanted)
        found = [row[0] for row in db.execute("SELECT text FROM some WHERE some MATCH ? ORDER BY rowid", (expression,))]
    assert found == [text for text in chosen if len(text.split()) >= wanted]
