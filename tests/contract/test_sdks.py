"""Official clients, unmodified, and our providers against the same fake: both must send the same and read the same.

A fake that an official client accepts is a fair one, and what that client reads out of it is what users of that service
know. Each provider's clients are in a file of `sdks/`; this table finds them, and `python -m tests.contract` prints it.
"""

from __future__ import annotations

import pytest

from tests.contract.pair import Pair, compare, pairs


@pytest.mark.parametrize("pair", pairs("tests.contract.sdks"))
async def test_a_client_and_we_send_the_same_and_read_the_same(pair: Pair) -> None:
    assert (await compare(pair)).read[:2] == ("URLs", "titles")
