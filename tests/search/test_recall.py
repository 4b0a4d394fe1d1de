"""Answering again what was answered a moment ago: only what was found, and always saying so."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.resilience.world import Clock
from webseam.errors import Outcome
from webseam.model import Attempt, SearchHit, SearchRequest, SearchResponse
from webseam.resilience.sqlite import SqliteStore
from webseam.resilience.store import MemoryStore
from webseam.search.recall import SPACE, Recall, identity_of, key_of, words_of
from webseam.search.route import Plan

ANSWER = SearchResponse(
    query="q",
    hits=(SearchHit(url="https://example.org/", title="T", providers=("a",), passages=("p",), score=0.5),),
    attempts=(Attempt(provider="a", outcome=Outcome.OK, took=0.1, hits=1),),
    answer="an answer",
    notes=("a note",),
    dropped={"duplicate": 1},
    sent_to=("a",),
    took=0.2,
)
NOBODY = Plan("chain", ())


def identity(query: str = "q", *, plan: Plan = NOBODY, strict: bool = False, **options: Any) -> tuple[Any, ...]:
    return identity_of(plan, SearchRequest(query=query, **options), strict=strict)


def words(query: str, **options: Any) -> tuple[Any, ...]:
    return words_of(identity(query, **options), SearchRequest(query=query, **options))


def without_note(response: SearchResponse) -> tuple[Any, ...]:
    return response.hits, response.attempts, response.answer, response.dropped, response.took, response.outcome


def test_what_was_kept_comes_back_whole_and_says_that_it_is_from_the_cache() -> None:
    recall = Recall(MemoryStore())
    recall.keep("key", "words", ANSWER, ttl=60, window=0)
    again = recall.stored("key", ttl=60)
    assert again is not None
    assert without_note(again) == without_note(ANSWER)
    assert (again.cached, again.sent_to, again.notes) == (True, (), ("a note", "from the cache, 0 s old"))
    assert recall.stored("other", ttl=60) is None


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.OK])
def test_nothing_but_ok_is_kept(outcome: Outcome) -> None:
    recall = Recall(MemoryStore())
    recall.keep("key", "words", SearchResponse(query="q", outcome=outcome), ttl=60, window=60)
    assert (recall.stored("key", ttl=60), recall.repeated("words", window=60)) == (None, None)


def test_a_time_to_live_of_0_turns_it_off() -> None:
    recall = Recall(MemoryStore())
    recall.keep("key", "words", ANSWER, ttl=0, window=60)
    assert (recall.stored("key", ttl=60), recall.repeated("words", window=60)) == (None, None)
    recall.keep("key", "words", ANSWER, ttl=60, window=60)
    assert recall.stored("key", ttl=0) is None


def test_what_is_older_than_its_time_is_not_found() -> None:
    clock = Clock(time.time())
    store = MemoryStore(clock=clock)
    recall = Recall(store)
    recall.keep("key", "words", ANSWER, ttl=60, window=0)
    clock.now += 61
    assert recall.stored("key", ttl=60) is None


def test_a_shorter_time_to_live_now_counts_for_what_was_kept_before() -> None:
    store = MemoryStore()
    recall = Recall(store)
    recall.keep("key", "words", ANSWER, ttl=900, window=0)
    document = store.get(SPACE, "key")
    assert document is not None
    store.set(SPACE, "key", {**document, "at": document["at"] - 100}, ttl=900)
    assert recall.stored("key", ttl=60) is None
    assert recall.stored("key", ttl=900) is not None


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({}, id="empty"),
        pytest.param({"at": 0.0}, id="no response"),
        pytest.param({"at": "now", "response": []}, id="no time"),
        pytest.param({"at": 0.0, "response": ["too", "short"]}, id="another shape"),
        pytest.param({"at": 0.0, "response": {"query": "q"}}, id="an object"),
        pytest.param({"at": 0.0, "response": None}, id="null"),
        pytest.param({"at": 0.0, "response": ["q", 1, "ok", 2, None, None, None, 0, None, 0, None, None]}, id="types"),
    ],
)
def test_an_entry_of_another_version_is_ignored(document: dict[str, Any]) -> None:
    store = MemoryStore()
    store.set(SPACE, "key", {**document, **({"at": time.time()} if document.get("at") == 0.0 else {})}, ttl=60)
    assert Recall(store).stored("key", ttl=60) is None


def test_the_guard_says_that_the_words_were_searched_before() -> None:
    recall = Recall(MemoryStore())
    recall.keep("key", "words", ANSWER, ttl=60, window=60)
    again = recall.repeated("words", window=60)
    assert again is not None
    assert (again.cached, again.sent_to, again.hits) == (True, (), ANSWER.hits)
    assert again.notes[-1] == (
        "the same words were searched 0 s ago; this is that answer, change the words to search anew"
    )


def test_the_guard_is_of_this_process_alone_and_the_cache_of_all(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    first, second = (SqliteStore(path, warn=pytest.fail) for _ in range(2))
    recall = Recall(first)
    recall.keep("key", "words", ANSWER, ttl=60, window=60)
    first.close()
    other = Recall(second)
    assert other.repeated("words", window=60) is None
    stored = other.stored("key", ttl=60)
    assert stored is not None
    assert stored.hits == ANSWER.hits
    second.close()


def test_the_guard_forgets_the_oldest_of_many() -> None:
    recall = Recall(MemoryStore())
    for number in range(200):
        recall.keep(str(number), number, ANSWER, ttl=60, window=60)
    remembered = [number for number in range(200) if recall.repeated(number, window=60)]
    assert remembered == list(range(72, 200))


def test_case_space_and_order_of_words_do_not_count_to_the_guard_but_do_to_the_cache() -> None:
    assert words("Parse  a\tURL") == words("url A parse") == words("parse a url")
    assert words("parse a url") != words("parse an url")
    assert words("parse a url") != words("parse a url", count=5)
    assert len({key_of(identity(query)) for query in ("parse a url", "url a parse", "Parse a URL")}) == 3


def test_every_option_makes_another_search() -> None:
    different = [
        identity(),
        identity("other"),
        identity(strict=True),
        identity(plan=Plan("fuse", ())),
        identity(count=5),
        identity(include_domains=("example.org",)),
        identity(exclude_domains=("example.org",)),
        identity(freshness="day"),
        identity(after="2024-01-01"),
        identity(before="2024-01-01"),
        identity(language="en"),
        identity(region="GB"),
        identity(safe="off"),
        identity(kind="news"),
        identity(page=2),
    ]
    assert len({key_of(each) for each in different}) == len(different)
    assert key_of(identity()) == key_of(identity("  q "))
