"""Official clients, unmodified, and our remote readers against the same fake: both must send and read the same.

As `test_sdks` for searches; `python -m tests.contract tests.contract.sdks.reading` prints the table.
"""

from __future__ import annotations

import pytest

from tests.contract.pair import PagePair, compare, pairs
from tests.wire import READING

_PAIRS = pairs("tests.contract.sdks.reading")


@pytest.mark.parametrize("pair", _PAIRS)
async def test_a_client_and_we_ask_for_a_page_in_the_same_way_and_read_the_same(pair: PagePair) -> None:
    assert (await compare(pair)).read[0] == "text"


def test_every_provider_that_reads_has_a_client_that_vouches_for_it() -> None:
    assert sorted(row.values[0].provider for row in _PAIRS) == sorted(READING)
