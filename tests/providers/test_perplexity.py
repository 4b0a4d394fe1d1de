"""Perplexity's Search API: which field each option becomes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, sent
from tests.wire.write import results

PLAIN = {"query": QUERY, "max_results": 10, "search_context_size": "low", "search_mode": "web"}
MANY = [f"{number}.example.org" for number in range(21)]


@pytest.mark.parametrize(
    "options, settings, fields",
    [
        pytest.param({}, {}, {}, id="plain"),
        pytest.param({"count": 50}, {}, {"max_results": 20}, id="count"),
        pytest.param({"kind": "paper"}, {}, {"search_mode": "academic"}, id="paper"),
        pytest.param({"freshness": "month"}, {}, {"search_recency_filter": "month"}, id="freshness"),
        pytest.param(
            {"after": "2026-01-31", "freshness": "day"},
            {},
            {"search_after_date_filter": "01/31/2026"},
            id="days-win-in-american-order",
        ),
        pytest.param({"language": "pt-BR"}, {}, {"search_language_filter": ["pt"]}, id="language"),
        pytest.param({"region": "gb"}, {}, {"country": "GB"}, id="region"),
        pytest.param(
            {"include_domains": ["example.org/docs"], "exclude_domains": ["example.net"]},
            {},
            {"search_domain_filter": ["example.org"], "max_results": 20},
            id="one-list-of-the-two",
        ),
        pytest.param(
            {"exclude_domains": ["example.net", "example.com/a", "edu"]},
            {},
            {"search_domain_filter": ["-example.net"], "max_results": 20},
            id="exclude",
        ),
        pytest.param(
            {"include_domains": ["edu"], "exclude_domains": ["example.net"]},
            {},
            {"search_domain_filter": ["-example.net"], "max_results": 20},
            id="a-suffix-is-left-to-the-filter-here",
        ),
        pytest.param({"include_domains": MANY}, {}, {"max_results": 20}, id="more-domains-than-it-takes"),
        pytest.param({}, {"context_size": "high"}, {"search_context_size": "high"}, id="context-size"),
        pytest.param(
            {},
            {"max_tokens_per_page": 512},
            {"max_tokens_per_page": 512, "search_context_size": None},
            id="tokens-instead-of-a-size",
        ),
    ],
)
async def test_each_option_becomes_this_field(
    options: dict[str, Any], settings: dict[str, Any], fields: dict[str, Any]
) -> None:
    request = await sent("perplexity", options, results("perplexity", []), settings=settings)
    assert (request.method, request.path, request.headers["authorization"]) == ("POST", "/search", f"Bearer {KEY}")
    assert request.json() == {name: value for name, value in {**PLAIN, **fields}.items() if value is not None}
