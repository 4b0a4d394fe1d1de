"""What every store does, whatever it is made of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.resilience.world import Clock
from webseam.resilience import store as module
from webseam.resilience.sqlite import SqliteStore
from webseam.resilience.store import Document, Entry, MemoryStore, Store, open_store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    def warn(message: str) -> None:
        raise AssertionError(message)

    file = tmp_path / "state" / "store.sqlite"
    made: Store = MemoryStore(clock=clock) if request.param == "memory" else SqliteStore(file, warn=warn, clock=clock)
    yield made
    made.close()


def test_a_document_is_returned_until_its_time_is_over(store: Store, clock: Clock) -> None:
    store.set("colours", "sky", {"is": "blue", "parts": [1, 2.5, None]}, ttl=60)
    clock.now += 59.9
    assert store.get("colours", "sky") == {"is": "blue", "parts": [1, 2.5, None]}
    clock.now += 0.1
    assert store.get("colours", "sky") is None


def test_spaces_and_keys_do_not_mix(store: Store) -> None:
    store.set("a", "b", {"n": 1}, ttl=60)
    assert store.get("a", "c") is None
    assert store.get("b", "b") is None


def test_changing_what_was_put_in_or_got_out_changes_nothing_in_the_store(store: Store) -> None:
    document: Document = {"list": [1]}
    store.set("a", "b", document, ttl=60)
    document["list"].append(2)
    got = store.get("a", "b")
    assert got is not None
    got["list"].append(3)
    assert store.get("a", "b") == {"list": [1]}


def test_a_document_from_a_clock_that_was_an_hour_ahead_is_not_believed(store: Store, clock: Clock) -> None:
    store.set("a", "b", {"n": 1}, ttl=7200)
    clock.now -= 3600
    assert store.get("a", "b") is None
    assert store.update("a", "b", lambda document: (document, document), ttl=60) is None


def test_a_clock_corrected_by_a_second_loses_nothing(store: Store, clock: Clock) -> None:
    store.set("a", "b", {"n": 1}, ttl=60)
    clock.now -= 1
    assert store.get("a", "b") == {"n": 1}


def test_delete_forgets_one_document(store: Store) -> None:
    store.set("a", "b", {"n": 1}, ttl=60)
    store.set("a", "c", {"n": 2}, ttl=60)
    store.delete("a", "b")
    store.delete("a", "never there")
    assert (store.get("a", "b"), store.get("a", "c")) == (None, {"n": 2})


def test_clear_forgets_a_space_and_says_how_much(store: Store) -> None:
    store.set("a", "b", {"n": 1}, ttl=60)
    store.put_later("a", "c", lambda: {"n": 2}, ttl=60)
    store.set("b", "b", {"n": 3}, ttl=60)
    assert store.clear("a") == 2
    assert store.clear("a") == 0
    assert (store.get("a", "b"), store.get("a", "c"), store.get("b", "b")) == (None, None, {"n": 3})


def test_update_reads_changes_writes_and_answers(store: Store) -> None:
    def count(document: Document | None) -> tuple[Document, str]:
        number = (document or {"n": 0})["n"] + 1
        return {"n": number}, f"number {number}"

    assert [store.update("a", "b", count, ttl=60) for _ in range(3)] == ["number 1", "number 2", "number 3"]
    assert store.get("a", "b") == {"n": 3}


def test_update_to_none_forgets_the_document(store: Store) -> None:
    store.set("a", "b", {"n": 1}, ttl=60)
    assert store.update("a", "b", lambda _: (None, "gone"), ttl=60) == "gone"
    assert store.update("a", "b", lambda document: (None, document), ttl=60) is None
    assert store.get("a", "b") is None


@pytest.mark.parametrize("error", [ValueError, TimeoutError, KeyboardInterrupt])
def test_a_change_that_raises_changes_nothing_and_the_store_goes_on(store: Store, error: type[BaseException]) -> None:
    def fail(_: Document | None) -> tuple[None, None]:
        raise error("no")

    store.set("a", "b", {"n": 1}, ttl=60)
    with pytest.raises(error, match="no"):
        store.update("a", "b", fail, ttl=60)
    assert store.get("a", "b") == {"n": 1}
    store.set("a", "b", {"n": 2}, ttl=60)
    assert store.get("a", "b") == {"n": 2}


def test_what_is_put_later_can_be_read_at_once_and_the_last_one_wins(store: Store) -> None:
    store.put_later("responses", "q", lambda: {"page": "x" * 10_000}, ttl=900)
    store.put_later("responses", "q", lambda: {"page": "y" * 10_000}, ttl=900)
    assert store.get("responses", "q") == {"page": "y" * 10_000}


def test_a_later_write_does_not_undo_what_was_done_after_it(store: Store) -> None:
    for key in ("deleted", "set", "updated"):
        store.put_later("a", key, lambda: {"n": 1}, ttl=60)
    store.delete("a", "deleted")
    store.set("a", "set", {"n": 2}, ttl=60)
    store.update("a", "updated", lambda _: ({"n": 3}, None), ttl=60)
    store.put_later("a", "other", lambda: {"n": 4}, ttl=60)
    store.clear("nothing")  # has everything written that waits
    assert [store.get("a", key) for key in ("deleted", "set", "updated")] == [None, {"n": 2}, {"n": 3}]


def test_a_closed_store_answers_and_takes_part_in_nothing(store: Store) -> None:
    store.close()
    store.set("a", "b", {"n": 1}, ttl=60)
    store.put_later("a", "c", lambda: {"n": 1}, ttl=60)
    assert store.get("a", "b") == {"n": 1}
    store.close()


def test_text_of_any_kind_survives(store: Store) -> None:
    document = {"t": "\x00 \ud800 é 漢 \U0001f600 \u2028"}
    store.set("a", "ключ ' \" %", document, ttl=60)
    assert store.get("a", "ключ ' \" %") == document


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "[" * 100_000], ids=["empty", "cut", "list", "null", "deep"])
def test_a_row_that_is_no_document_counts_as_none(text: str) -> None:
    assert Entry(text, 0.0, 10.0).read(5.0) is None


def test_no_path_means_memory_and_nothing_is_opened_before_its_use(tmp_path: Path) -> None:
    assert isinstance(open_store(None, warn=print), MemoryStore)
    store = open_store(tmp_path / "deep" / "state.sqlite", warn=print)
    assert list(tmp_path.iterdir()) == []
    assert store.get("a", "b") is None
    assert (tmp_path / "deep" / "state.sqlite").exists()
    store.close()


def test_memory_drops_what_is_past_its_time_and_the_oldest_of_the_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PRUNE_EVERY", 10)
    monkeypatch.setattr(module, "MEMORY_LATER", 3)
    clock = Clock()
    store = MemoryStore(clock=clock)
    kept: dict[str, Any] = {"n": 0}
    store.set("health", "exa", kept, ttl=10_000)
    store.set("health", "old", kept, ttl=1)
    clock.now += 2
    for number in range(8):
        store.put_later("responses", str(number), lambda number=number: {"n": number}, ttl=900)
    names = [
        key for space in ("health", "responses") for key in ("exa", "old", *"01234567") if store.find((space, key))
    ]
    assert names == ["exa", "5", "6", "7"]
