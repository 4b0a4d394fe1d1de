"""Parallel's API: which field each option becomes, and how a long query is put."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, sent
from tests.wire.write import results

NOTHING = results("parallel", [])
MANY = [f"{number}.example.org" for number in range(201)]


@pytest.mark.parametrize(
    "options, advanced",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 50}, {"max_results": 20}, id="count"),
        pytest.param({"region": "de"}, {"location": "de"}, id="region"),
        pytest.param(
            {"include_domains": ["example.org/docs", "edu"], "exclude_domains": ["example.net"]},
            {"max_results": 20, "source_policy": {"include_domains": ["example.org/docs", ".edu"]}},
            id="include-with-path-and-suffix",
        ),
        pytest.param(
            {"exclude_domains": ["example.net/a", "edu", "edu/x"]},
            {"max_results": 20, "source_policy": {"exclude_domains": ["example.net/a", ".edu"]}},
            id="exclude",
        ),
        pytest.param({"include_domains": MANY}, {"max_results": 20}, id="more-domains-than-it-takes"),
        pytest.param(
            {"after": "2026-01-01", "before": "2026-06-30", "freshness": "day"},
            {"max_results": 20, "source_policy": {"after_date": "2026-01-01"}},
            id="only-the-first-day",
        ),
        pytest.param({"before": "2026-06-30"}, {"max_results": 20}, id="a-last-day-alone"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], advanced: dict[str, Any]) -> None:
    request = await sent("parallel", options, NOTHING)
    wanted = {"max_results": 10, "excerpt_settings": {"max_chars_per_result": 2000}, **advanced}
    assert (request.method, request.path, request.headers["x-api-key"]) == ("POST", "/v1/search", KEY)
    assert request.json() == {
        "search_queries": [QUERY],
        "objective": QUERY,
        "mode": "basic",
        "max_chars_total": 2000 * wanted["max_results"],
        "advanced_settings": wanted,
    }


async def test_mode_and_length_of_excerpts_are_settings() -> None:
    request = await sent("parallel", {"count": 3}, NOTHING, settings={"mode": "turbo", "chars_per_result": 500})
    told = request.json()
    assert (told["mode"], told["max_chars_total"]) == ("turbo", 1500)
    assert told["advanced_settings"] == {"max_results": 3, "excerpt_settings": {"max_chars_per_result": 500}}


@pytest.mark.parametrize(
    "query, keywords",
    [
        pytest.param("x" * 200, "x" * 200, id="as-long-as-it-may-be"),
        pytest.param("a" * 199 + " bc", "a" * 199, id="cut-at-a-word"),
        pytest.param("a" * 200 + " b", "a" * 200, id="cut-behind-a-whole-word"),
        pytest.param("y" * 300, "y" * 200, id="one-endless-word"),
    ],
)
async def test_a_long_query_is_the_objective_whole_and_its_beginning_the_keywords(query: str, keywords: str) -> None:
    told = (await sent("parallel", {"query": query}, NOTHING)).json()
    assert (told["objective"], told["search_queries"]) == (query, [keywords])
