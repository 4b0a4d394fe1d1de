"""Connections that stay open between searches: kept while they are right, closed when they are not."""

from __future__ import annotations

import gc
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.local.trees import install, site_of
from webseam.local import LocalIndex
from webseam.local.connections import IDLE, Connections, _Kept
from webseam.local.schema import VERSION, Unusable, connect, remove


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "index.sqlite3"
    connect(path, write=True).close()
    return path


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def lent(connections: Connections) -> sqlite3.Connection:
    with connections.reading() as connection:
        return connection


def test_a_connection_is_lent_again_and_closed_at_the_end(path: Path) -> None:
    connections = Connections(path)
    first = lent(connections)
    assert lent(connections) is first
    connections.close()
    assert not is_open(first)
    assert is_open(lent(connections))
    connections.close()


def test_those_who_read_at_once_have_one_each_and_a_few_are_kept(path: Path) -> None:
    connections = Connections(path)
    users = [connections.reading() for _ in range(IDLE + 2)]
    used = [user.__enter__() for user in users]
    assert len(set(map(id, used))) == IDLE + 2
    for user in users:
        user.__exit__(None, None, None)
    assert sum(map(is_open, used)) == IDLE
    connections.close()


def test_one_that_failed_is_not_lent_again(path: Path) -> None:
    connections = Connections(path)
    with pytest.raises(sqlite3.OperationalError), connections.reading() as failed:
        failed.execute("SELECT * FROM nowhere")
    assert not is_open(failed)


def test_what_is_no_longer_used_by_anyone_is_closed(path: Path) -> None:
    connections = Connections(path)
    connection = lent(connections)
    del connections
    gc.collect()
    assert not is_open(connection)


def test_a_file_that_is_gone_is_noticed(path: Path) -> None:
    connections = Connections(path)
    connection = lent(connections)
    path.unlink()
    with pytest.raises(Unusable):
        lent(connections)
    assert not is_open(connection)


def test_a_file_that_a_newer_version_took_over_is_noticed(path: Path) -> None:
    connections = Connections(path)
    connection = lent(connections)
    with closing(connect(path, write=True)) as other:
        other.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(Unusable, match="newer"):
        lent(connections)
    assert not is_open(connection)


def test_a_forked_child_leaves_alone_what_its_parent_opened(path: Path) -> None:
    of_parent = _Kept(connect(path, write=False), (), os.getpid() + 1)
    assert not of_parent.serves(())
    of_parent.let_go()
    assert is_open(of_parent.connection)
    of_parent.connection.close()


def test_an_index_that_another_process_replaced_is_read_anew(tmp_path: Path) -> None:
    indexes = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        site = site_of(tmp_path / name)
        install(site, name, "1.0", {f"{name}.py": f"def {name}_found():\n    'Found.'\n"})
        indexes.append(LocalIndex(tmp_path / "index.sqlite3", environments=[site]))
    first, second = indexes
    first.refresh()
    assert [hit.title for hit in first.search("found")] == ["first.first_found"]
    remove(first.path)  # still open in `first`
    second.refresh()
    assert [hit.title for hit in first.search("found")] == ["second.second_found"]
    first.close()
    second.close()
