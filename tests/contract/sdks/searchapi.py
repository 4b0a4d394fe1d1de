"""SearchApi has no client of its own, and its users' frameworks are large. anysearch-sdk: request; URLs, titles, dates,
extracts; web and news.
"""

from __future__ import annotations

import json

import pytest

from tests.contract.pair import Pair
from tests.contract.sdks.serpapi import ROWS, google_like
from tests.wire.write import JSON

_ANSWER = 200, JSON, json.dumps({"search_metadata": {"status": "Success"}, "organic_results": ROWS}).encode()
_AT = {"base_url": "{url}/api/v1"}  # that client's address ends before the path

PAIRS = [
    pytest.param(
        Pair(
            "searchapi",
            google_like("searchapi", country="de", language="de"),
            _ANSWER,
            {"region": "DE", "language": "de"},
            settings=_AT,
        ),
        id="anysearch-searchapi",
    ),
    pytest.param(
        Pair(
            "searchapi",
            google_like("searchapi", search_type="news"),
            _ANSWER,
            {"kind": "news"},
            settings=_AT,
            least=2,
        ),
        id="anysearch-searchapi-news",
    ),
]
