"""The store in a file: shared by processes and threads, safe across forks, written in the background, bounded."""

import os
import stat
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.resilience.world import Clock, Open, finish, raw, start, together, works
from webseam.resilience import later
from webseam.resilience import sqlite as module
from webseam.resilience.sqlite import SqliteStore
from webseam.resilience.store import Entry, Late

# Sharing


def test_what_one_store_writes_the_other_sees(opened: Open) -> None:
    one, other = opened(), opened()
    one.set("a", "b", {"n": 1}, ttl=60)
    assert other.get("a", "b") == {"n": 1}
    other.update("a", "b", lambda document: ({"n": (document or {})["n"] + 1}, None), ttl=60)
    assert one.get("a", "b") == {"n": 2}


COUNT = """
import sys, pathlib
from webseam.resilience.sqlite import SqliteStore
def warn(message): raise SystemExit(message)
store = SqliteStore(pathlib.Path(sys.argv[1]), warn=warn)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(100):
    store.update("a", "b", lambda document: ({"n": (document or {"n": 0})["n"] + 1}, None), ttl=60)
store.put_later("later", str(id(store)) + sys.argv[1], lambda: {"n": 1}, ttl=60)
store.close()
"""


def test_processes_that_create_the_file_together_lose_no_update(path: Path) -> None:
    together(COUNT, path, processes=4)
    with closing(SqliteStore(path)) as store:
        assert store.get("a", "b") == {"n": 400}


def test_threads_share_one_store(opened: Open) -> None:
    store = opened()

    def count() -> None:
        for number in range(50):
            store.update("a", "b", lambda document: ({"n": (document or {"n": 0})["n"] + 1}, None), ttl=60)
            store.put_later("later", str(number), lambda number=number: {"n": number}, ttl=60)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get("a", "b") == {"n": 200}
    assert store.clear("later") == 50


FORK = """
import os, pathlib, sys
from webseam.resilience.sqlite import SqliteStore
def warn(message): raise SystemExit(message)
store = SqliteStore(pathlib.Path(sys.argv[1]), warn=warn)
store.set("a", "parent", {"n": 1}, ttl=60)
store.put_later("a", "later", lambda: {"n": 2}, ttl=60)
child = os.fork()
if child == 0:
    assert store.get("a", "parent") == {"n": 1}
    store.set("a", "child", {"n": 3}, ttl=60)
    store.put_later("a", "child later", lambda: {"n": 4}, ttl=60)
    store.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print(store.get("a", "child"), store.get("a", "child later"), store.get("a", "later"))
store.close()
"""


def test_a_forked_child_and_its_parent_both_go_on(path: Path) -> None:
    assert finish(start(FORK, path)) == "{'n': 3} {'n': 4} {'n': 2}\n"
    with raw(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_fork_between_two_calls_leaves_the_parent_as_it_was(opened: Open) -> None:
    store = opened()
    store.set("a", "b", {"n": 1}, ttl=60)
    module._before_fork()
    assert store._db is None  # nothing is open that a child could inherit
    module._after_fork_in_parent()
    assert store.get("a", "b") == {"n": 1}
    module._before_fork()
    module._after_fork_in_child()
    assert works(store)


# The file


def test_the_file_and_its_folder_are_for_their_owner_alone_whatever_the_umask(path: Path, opened: Open) -> None:
    before = os.umask(0)
    try:
        store = opened()
        store.set("a", "b", {"n": 1}, ttl=60)
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (path.parent, *path.parent.iterdir())}
    assert modes == {"state": 0o700, "store.sqlite": 0o600, "store.sqlite-wal": 0o600, "store.sqlite-shm": 0o600}


def test_a_file_that_is_deleted_while_open_is_made_anew(
    path: Path, opened: Open, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.0)
    store = opened()
    store.set("a", "b", {"n": 1}, ttl=60)
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()
    assert store.get("a", "b") is None
    assert works(store)
    store.set("a", "b", {"n": 2}, ttl=60)
    assert opened().get("a", "b") == {"n": 2}
    assert warnings == []


def test_rows_past_their_time_are_deleted_now_and_then(path: Path, opened: Open) -> None:
    clock = Clock()
    store = opened(clock=clock)
    for number in range(20):
        store.set("a", str(number), {"n": number}, ttl=10)
    clock.now += 20
    opened(clock=clock).set("a", "new", {"n": 1}, ttl=10)  # the first write of a process looks
    with raw(path) as db:
        assert db.execute("SELECT key FROM entries").fetchall() == [("new",)]


# Writing later


def test_what_was_put_later_is_in_the_file_after_close(path: Path, opened: Open) -> None:
    store = opened()
    for number in range(100):
        store.put_later("responses", str(number), lambda number=number: {"page": "x" * 10_000, "n": number}, ttl=900)
    store.close()
    other = opened()
    assert [(other.get("responses", str(number)) or {}).get("n") for number in range(100)] == list(range(100))


def test_a_thread_writes_in_the_background_and_ends_when_idle(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later, "IDLE", 0.0)
    store = opened()
    store.put_later("responses", "q", lambda: {"n": 1}, ttl=900)
    thread = store._later._thread
    if thread is not None:  # else it has done its work already
        thread.join(20)
    assert store._later._thread is None
    assert opened().get("responses", "q") == {"n": 1}
    store.put_later("responses", "r", lambda: {"n": 2}, ttl=900)
    store.close()
    assert opened().get("responses", "r") == {"n": 2}


@pytest.mark.parametrize(
    ("most", "most_bytes", "kept"),
    [
        pytest.param(10, 10**9, 10, id="by count"),
        pytest.param(10**9, 10_000, 9, id="by size"),
    ],
)
def test_the_oldest_documents_go_when_they_are_many_and_small_state_stays(
    path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch, most: int, most_bytes: int, kept: int
) -> None:
    monkeypatch.setattr(module, "MAX_LATER", most)
    monkeypatch.setattr(module, "MAX_LATER_SIZE", most_bytes)
    clock = Clock()
    store = opened(clock=clock)
    store.set("health", "exa", {"n": 1}, ttl=10_000)
    for number in range(40):
        clock.now += 1
        store.put_later("responses", str(number), lambda: {"page": "x" * 1_000}, ttl=900)
        store.clear("nothing")  # has it written now
    newest = [number for number in range(40) if store.get("responses", str(number))]
    assert newest == list(range(40 - len(newest), 40))
    assert kept - 2 <= len(newest) <= kept
    assert store.get("health", "exa") == {"n": 1}


def test_a_disk_that_cannot_keep_up_costs_the_oldest_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later, "MAX_WAITING", 3)
    started, go_on = threading.Event(), threading.Event()
    written: dict[str, str] = {}

    def write(batch: Mapping[tuple[str, str], Entry]) -> None:
        started.set()
        assert go_on.wait(20)
        written.update({name[1]: entry.text for name, entry in batch.items()})

    def late(word: str) -> Late:
        return Late(lambda: {word: 1}, now=0.0, ttl=60.0)

    behind = later.WriteBehind(write)
    behind.put(("a", "0"), late("first"))
    assert started.wait(20)
    for number in range(1, 6):
        behind.put(("a", str(number)), late("later"))
    behind.put(("a", "5"), late("last"))
    go_on.set()
    behind.close()
    assert written == {"0": '{"first":1}', "3": '{"later":1}', "4": '{"later":1}', "5": '{"last":1}'}


def test_a_store_shows_its_place_and_nothing_else(path: Path, opened: Open) -> None:
    assert repr(opened()) == f"SqliteStore({str(path)!r})"
