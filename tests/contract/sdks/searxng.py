"""There is no official client. anysearch-sdk: method, path, auth; URLs, titles, dates."""

from __future__ import annotations

import pytest

from tests.contract.pair import Pair, anysearch, three

PAIRS = [
    pytest.param(
        Pair("searxng", anysearch("searxng"), three("searxng"), {"count": 3}, fields=False), id="anysearch-searxng"
    ),
]
