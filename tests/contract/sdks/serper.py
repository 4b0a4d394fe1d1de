"""Serper has no client of its own, and its users' frameworks are large. anysearch-sdk: request; URLs, titles, dates,
extracts; web and news.
"""

from __future__ import annotations

import json

import pytest

from tests.contract.pair import Pair
from tests.contract.sdks.serpapi import ROWS, google_like
from tests.wire import QUERY, Answer
from tests.wire.write import JSON


def _answer(section: str) -> Answer:
    document = {"searchParameters": {"q": QUERY, "type": "search"}, section: ROWS, "credits": 1}
    return 200, JSON, json.dumps(document).encode()


PAIRS = [
    pytest.param(
        Pair(
            "serper",
            google_like("serper", country="de", language="de"),
            _answer("organic"),
            {"region": "DE", "language": "de"},
        ),
        id="anysearch-serper",
    ),
    pytest.param(
        Pair("serper", google_like("serper", search_type="news"), _answer("news"), {"kind": "news"}, least=2),
        id="anysearch-serper-news",
    ),
]
