"""There is no official client. anysearch-sdk: method, path; URLs, titles."""

from __future__ import annotations

import pytest

from tests.contract.pair import Pair, anysearch
from tests.wire import FOLDER
from tests.wire.write import HTML

_PAGE = (FOLDER / "duckduckgo" / "page1.html").read_bytes()
PAIRS = [
    pytest.param(
        Pair("duckduckgo", anysearch("duckduckgo"), (200, HTML, _PAGE), fields=False, keyed=False),
        id="anysearch-duckduckgo",
    ),
]
