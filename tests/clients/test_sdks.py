"""The official clients that are too large to be installed for every test run; see tests/contract."""

from __future__ import annotations

import pytest

from tests.contract.pair import Pair, compare, pairs


@pytest.mark.parametrize("pair", pairs("tests.clients.sdks"))
async def test_a_client_and_we_send_the_same_and_read_the_same(pair: Pair) -> None:
    assert (await compare(pair)).read == ("URLs", "titles", "dates", "extracts")
