"""Synthetic's search: it takes the query alone, so all else is done here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, sent
from tests.wire.write import results


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="plain"),
        pytest.param({"count": 3}, id="count"),
        pytest.param({"include_domains": ["example.org"], "exclude_domains": ["example.net"]}, id="domains"),
        pytest.param({"after": "2026-01-01"}, id="dates"),
        pytest.param({"language": "de", "region": "DE", "safe": "strict", "kind": "news"}, id="what-it-cannot-do"),
    ],
)
async def test_nothing_but_the_query_is_sent(options: dict[str, Any]) -> None:
    request = await sent("synthetic", options, results("synthetic", []))
    assert (request.method, request.path, request.headers["authorization"]) == ("POST", "/v2/search", f"Bearer {KEY}")
    assert request.json() == {"query": QUERY}
