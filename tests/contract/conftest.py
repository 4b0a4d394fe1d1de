"""What running other people's clients must not do to the tests after them."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _set_aside() -> Iterator[None]:
    """Keep what a client's import made out of the collection that ends each later test: that costs 100 ms a test."""
    yield
    gc.freeze()
