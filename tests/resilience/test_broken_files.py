"""Files that cannot be used, now or later: one warning, and the work goes on (row 82 of the fault table)."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.resilience.world import Clock, Open, finish, raw, start, works
from webseam.resilience import sqlite as module
from webseam.resilience.sqlite import SqliteStore


def newer(path: Path) -> None:
    with raw(path) as db:
        db.execute("PRAGMA user_version = 2")


def foreign(path: Path) -> None:
    with raw(path) as db:
        db.execute("CREATE TABLE theirs(x)")


def without_tables(path: Path) -> None:
    with raw(path) as db:
        db.execute("PRAGMA user_version = 1")


def text(path: Path) -> None:
    path.write_text("This is a diary, and not a database.\n" * 100, encoding="utf-8")


def damaged(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.set("a", "b", {"n": 1}, ttl=60)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        pytest.param(newer, "it has schema 2, this webseam knows 1", id="from a newer version"),
        pytest.param(foreign, "it belongs to another program", id="another program's"),
        pytest.param(without_tables, "no such table: entries", id="without tables"),
        pytest.param(text, "file is not a database", id="not a database"),
        pytest.param(damaged, "malformed", id="damaged"),
        pytest.param(Path.mkdir, "unable to open database file", id="a folder"),
    ],
)
def test_a_file_that_cannot_be_used_costs_one_warning_and_is_left_alone(
    path: Path,
    opened: Open,
    warnings: list[str],
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], None],
    cause: str,
) -> None:
    monkeypatch.setattr(module, "BUSY_REST", 0.0)  # nothing of this repairs itself, so it is not tried again
    path.parent.mkdir()
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    store = opened()
    assert store.get("a", "b") is None
    assert works(store)
    assert works(store)
    store.close()
    assert len(warnings) == 1
    assert cause in warnings[0]
    assert str(path) in warnings[0]
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_folder_that_cannot_be_made_costs_one_warning(tmp_path: Path, opened: Open, warnings: list[str]) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert works(opened(tmp_path / "file" / "state" / "store.sqlite"))
    assert len(warnings) == 1


@pytest.fixture
def as_ordinary_user() -> Iterator[None]:
    """Drop the rights of root, who may write everywhere, for one test."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder every user can reach: that of pytest is its owner's alone."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("exists", [False, True], ids=["no file yet", "a file of old"])
def test_a_read_only_folder_costs_one_warning_and_what_it_held_is_still_known(
    open_folder: Path, opened: Open, warnings: list[str], exists: bool, request: pytest.FixtureRequest
) -> None:
    path = open_folder / "store.sqlite"
    if exists:
        with closing(SqliteStore(path, clock=Clock())) as before:
            before.set("health", "exa", {"n": 1}, ttl=60)
        path.chmod(0o444)
    open_folder.chmod(0o555)
    request.getfixturevalue("as_ordinary_user")
    store = opened(path)
    assert works(store)
    assert len(warnings) == 1


def test_a_file_that_becomes_read_only_while_open_keeps_what_was_known(opened: Open, warnings: list[str]) -> None:
    store = opened()
    store.set("health", "exa", {"n": 1}, ttl=60)
    assert store._db is not None
    store._db.execute("PRAGMA query_only = ON")  # what SQLite then says is what it says of a read-only file
    store.set("health", "brave", {"n": 2}, ttl=60)
    assert (store.get("health", "exa"), store.get("health", "brave")) == ({"n": 1}, {"n": 2})
    assert works(store)
    assert warnings == [
        f"the state file {store._path} cannot be used (attempt to write a readonly database); going on without it, so "
        "other processes will not see what this one learns. Make it and its folder writable."
    ]


def test_a_file_that_may_not_grow_keeps_what_was_known(opened: Open, warnings: list[str]) -> None:
    store = opened()
    store.set("health", "exa", {"n": 1}, ttl=60)
    assert store._db is not None
    store._db.execute("PRAGMA max_page_count = 1")
    for number in range(100):
        store.set("filler", str(number), {"text": "x" * 1_000}, ttl=60)
    assert store.get("health", "exa") == {"n": 1}
    assert store.get("filler", "99") == {"text": "x" * 1_000}
    assert len(warnings) == 1
    assert warnings[0].endswith("Free some space on its disk.")


FULL = """
import pathlib, resource, sys
from webseam.resilience.sqlite import SqliteStore
warnings = []
store = SqliteStore(pathlib.Path(sys.argv[1]), warn=warnings.append)
if sys.argv[2] == "later":
    store.set("health", "exa", {"n": 1}, ttl=60)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
if sys.argv[2] == "now":
    store.set("health", "exa", {"n": 1}, ttl=60)
for number in range(60):
    store.set("filler", str(number), {"text": "x" * 1000}, ttl=60)
    store.put_later("responses", str(number), lambda: {"text": "x" * 10_000}, ttl=60)
seen = store.get("health", "exa"), len(store.get("filler", "59")["text"]), len(store.get("responses", "59")["text"])
store.close()
print(*seen, len(warnings))
"""


@pytest.mark.parametrize("limit", [0, 5_000, 40_000, 100_000])
@pytest.mark.parametrize("when", ["now", "later"])
def test_a_full_disk_costs_one_warning(path: Path, when: str, limit: int) -> None:
    assert finish(start(FULL, path, when, limit)) == "{'n': 1} 1000 10000 1\n"


def test_a_full_disk_met_in_the_background_costs_one_warning(opened: Open, warnings: list[str]) -> None:
    store = opened()
    store.set("health", "exa", {"n": 1}, ttl=60)
    with raw(store._path) as db:
        db.execute("DROP INDEX by_age")
        db.execute("ALTER TABLE entries RENAME TO gone")  # any error of the file will do, on that thread
        store.put_later("responses", "q", lambda: {"n": 2}, ttl=60)
        store.clear("nothing")
    assert store.get("responses", "q") == {"n": 2}
    assert works(store)
    assert len(warnings) == 1


def test_a_stuck_process_costs_one_short_wait_and_then_a_rest(
    path: Path, opened: Open, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY", 0.01)
    monkeypatch.setattr(module, "BUSY_BACKGROUND", 0.01)
    store = opened()
    store.set("health", "exa", {"n": 1}, ttl=60)
    with raw(path) as stuck:
        stuck.execute("BEGIN EXCLUSIVE")
        store.put_later("responses", "lost", lambda: {"n": 1}, ttl=60)
        store._later.flush()
        assert warnings == []  # nobody waits for a cache
        store.set("health", "brave", {"n": 2}, ttl=60)
        assert (store.get("health", "exa"), store.get("health", "brave")) == ({"n": 1}, {"n": 2})
        assert works(store)
    assert len(warnings) == 1
    assert warnings[0].endswith("Another process holds it; trying again from time to time.")
    store._back_at = 0.0  # the rest is over
    assert store.get("health", "exa") == {"n": 1}
    assert works(store)
    assert opened().get("responses", "lost") is None
    with raw(path) as stuck:
        stuck.execute("BEGIN EXCLUSIVE")
        assert works(store)
    assert len(warnings) == 1


def test_creating_the_file_waits_for_others_who_do_and_gives_up_in_the_end(
    path: Path, opened: Open, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY", 0.0)
    monkeypatch.setattr("webseam.shared_file.CREATE_PATIENCE", 0.05)
    path.parent.mkdir()
    with raw(path) as other:
        other.execute("BEGIN IMMEDIATE")
        assert works(opened())
    assert len(warnings) == 1
    assert works(opened())
    assert len(warnings) == 1
