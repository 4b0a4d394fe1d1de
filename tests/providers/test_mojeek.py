"""Mojeek: which parameter each option becomes, and what its status says."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import JSON, results
from tests.world import World
from webseam.errors import Outcome

SOME = results("mojeek", [{"url": "https://example.org/", "title": "Some"}])
WEEK = (datetime.now(UTC).date() - timedelta(days=7)).strftime("%Y%m%d")


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 20, "page": 3}, {"t": "20", "s": "41"}, id="count-and-page"),
        pytest.param(
            {"include_domains": ["example.org/docs", "example.net"]},
            {"t": "20", "fi": "example.org,example.net"},
            id="sites",
        ),
        pytest.param({"include_domains": ["edu", "example.net"]}, {"t": "20"}, id="suffix"),
        pytest.param(
            {"exclude_domains": ["example.org", "example.net/docs"]}, {"t": "20", "fe": "example.org"}, id="exclude"
        ),
        pytest.param({"freshness": "month"}, {"since": "month"}, id="freshness"),
        pytest.param({"freshness": "week"}, {"since": WEEK}, id="week"),
        pytest.param(
            {"after": "2025-12-01", "before": "2025-12-31", "freshness": "day"},
            {"since": "20251201", "before": "20260101"},
            id="range",
        ),
        pytest.param({"before": "9999-12-31"}, {}, id="last-day-of-all"),
        pytest.param(
            {"language": "pt-BR", "region": "BR"}, {"lb": "PT", "lbb": "100", "rb": "BR", "rbb": "10"}, id="place"
        ),
        pytest.param({"safe": "moderate"}, {"safe": "1"}, id="moderate"),
        pytest.param({"safe": "off"}, {"safe": "0"}, id="off"),
    ],
)
async def test_each_option_becomes_this_parameter(options: dict[str, Any], parameters: dict[str, str]) -> None:
    request = await sent("mojeek", options, SOME)
    wanted = {"q": QUERY, "fmt": "json", "t": "10", "api_key": KEY, **parameters}
    assert (request.method, request.path) == ("GET", "/search")
    assert request.query == {name: [value] for name, value in wanted.items()}


@pytest.mark.parametrize(
    "status, outcome",
    [
        pytest.param("OK", Outcome.OK, id="ok"),
        pytest.param("ok", Outcome.OK, id="lower-case"),
        pytest.param(None, Outcome.OK, id="none"),
        pytest.param("ERROR: Daily Limit Reached", Outcome.QUOTA, id="limit"),
        pytest.param("ERROR: Monthly Limit Reached", Outcome.QUOTA, id="monthly-limit"),
        pytest.param("ERROR: No API key", Outcome.AUTH, id="key"),
        pytest.param("ERROR: No results", Outcome.EMPTY, id="nothing"),
        pytest.param("ERROR", Outcome.BAD_RESPONSE, id="without-words"),
        pytest.param("Something else", Outcome.BAD_RESPONSE, id="unknown"),
    ],
)
async def test_the_status_decides_before_the_results_do(status: str | None, outcome: Outcome) -> None:
    found = [] if outcome is Outcome.EMPTY else [{"url": "https://example.org/"}]
    body = json.dumps({"response": {"status": status, "results": found}}).encode()
    async with World() as world:
        told = await search("mojeek", Fake(world, (200, JSON, body)).url)
    assert told.outcome == outcome
