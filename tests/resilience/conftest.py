"""A store in a file of the test's own, opened as often as needed and closed at the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.resilience.world import Clock, Open
from webseam.resilience.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "store.sqlite"


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def opened(path: Path, warnings: list[str]) -> Iterator[Open]:
    stores: list[SqliteStore] = []

    def open_one(at: Path = path, clock: Clock | None = None) -> SqliteStore:
        stores.append(SqliteStore(at, warn=warnings.append, clock=clock or Clock()))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()
