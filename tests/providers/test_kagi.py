"""Kagi's two APIs: which field each option becomes in each, and the pages they have."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import results
from tests.world import World
from webseam.errors import Outcome
from webseam.providers.options import today

NOTHING = results("kagi", [])
PLAIN = {"query": QUERY, "workflow": "search", "format": "json", "limit": 10, "page": 1}


@pytest.mark.parametrize(
    "options, fields",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"page": 10}, {"page": 10}, id="page"),
        pytest.param(
            {"include_domains": ["example.org/docs"], "exclude_domains": ["example.net", "edu"]},
            {"lens": {"sites_included": ["example.org"], "sites_excluded": ["example.net"]}, "limit": 20},
            id="domains",
        ),
        pytest.param({"include_domains": ["edu"]}, {"limit": 20}, id="a-suffix-is-no-domain"),
        pytest.param(
            {"freshness": "day"}, {"filters": {"after": (today() - timedelta(days=1)).isoformat()}}, id="freshness"
        ),
        pytest.param(
            {"before": "2026-06-30", "region": "gb"},
            {"filters": {"region": "gb", "before": "2026-06-30"}},
            id="filters",
        ),
        pytest.param({"safe": "moderate"}, {"safe_search": True}, id="safe"),
        pytest.param({"safe": "off"}, {"safe_search": False}, id="unsafe"),
        pytest.param({"kind": "news"}, {"workflow": "news"}, id="news"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], fields: dict[str, Any]) -> None:
    request = await sent("kagi", options, NOTHING)
    assert (request.method, request.path, request.headers["authorization"]) == (
        "POST",
        "/api/v1/search",
        f"Bearer {KEY}",
    )
    assert request.json() == {**PLAIN, **fields}


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param(
            {"region": "DE", "safe": "off", "freshness": "day", "kind": "news"}, {"limit": "20"}, id="words-alone"
        ),
        pytest.param(
            {"include_domains": ["example.org"], "exclude_domains": ["example.net"]},
            {"q": f"{QUERY} site:example.org -site:example.net", "limit": "20"},
            id="domains",
        ),
    ],
)
async def test_the_first_api_gets_words_and_a_count(options: dict[str, Any], parameters: dict[str, str]) -> None:
    request = await sent("kagi", options, NOTHING, settings={"api": "v0"})
    assert (request.method, request.path, request.headers["authorization"]) == ("GET", "/api/v0/search", f"Bot {KEY}")
    assert {name: values[0] for name, values in request.query.items()} == {"q": QUERY, "limit": "10", **parameters}


@pytest.mark.parametrize(
    "api, page, detail",
    [
        pytest.param("v1", 11, "Kagi has no page 11", id="v1"),
        pytest.param("v0", 2, "Kagi (v0) has no page 2 of 10 hits", id="v0"),
    ],
)
async def test_a_page_it_does_not_have_is_refused_before_anything_is_sent(api: str, page: int, detail: str) -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        told = await search("kagi", fake.url, {"page": page}, settings={"api": api})
    assert (told.outcome, told.attempt.detail, fake.requests) == (Outcome.UNSUPPORTED, detail, [])
