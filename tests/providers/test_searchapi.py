"""SearchApi: which parameter each option becomes, and how its pages make ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import JSON, results
from tests.world import World

SOME = results("searchapi", [{"url": "https://example.org/", "title": "Some"}])


@pytest.mark.parametrize(
    "options, settings, parameters",
    [
        pytest.param({}, {}, {}, id="plain"),
        pytest.param({}, {"engine": "google_light"}, {"engine": "google_light"}, id="engine"),
        pytest.param({"kind": "news"}, {"engine": "google_light"}, {"engine": "google_news"}, id="news"),
        pytest.param(
            {"kind": "paper", "after": "2024-05-01", "region": "DE"},
            {},
            {"engine": "google_scholar", "as_ylo": "2024"},
            id="papers",
        ),
        pytest.param({"freshness": "week"}, {}, {"time_period": "last_week"}, id="freshness"),
        pytest.param(
            {"after": "2026-01-02", "before": "2026-06-30"},
            {},
            {"time_period_min": "01/02/2026", "time_period_max": "06/30/2026"},
            id="range",
        ),
        pytest.param({"page": 2}, {}, {"page": "2"}, id="page"),
        pytest.param({"count": 5, "page": 2}, {}, {"page": "2"}, id="short-page"),
        pytest.param({"count": 25, "page": 2}, {}, {"page": "4"}, id="long-page"),
        pytest.param({"language": "de", "region": "AT"}, {}, {"hl": "de", "lr": "lang_de", "gl": "at"}, id="place"),
        pytest.param({"safe": "off"}, {}, {"safe": "off"}, id="safe"),
        pytest.param({"include_domains": ["example.org"]}, {}, {"q": f"{QUERY} site:example.org"}, id="site"),
    ],
)
async def test_each_option_becomes_this_parameter(
    options: dict[str, Any], settings: dict[str, str], parameters: dict[str, str]
) -> None:
    request = await sent("searchapi", options, SOME, settings=settings)
    assert (request.method, request.path, request.headers["authorization"]) == ("GET", "/search", f"Bearer {KEY}")
    wanted = {"engine": "google", "q": QUERY, **parameters}
    assert request.query == {name: [value] for name, value in wanted.items()}


@pytest.mark.parametrize(
    "options, further, pages",
    [
        pytest.param({"count": 10}, True, [None], id="one-hit-short-of-a-page"),
        pytest.param({"count": 20}, True, [None, ["2"]], id="two-pages"),
        pytest.param({"count": 20}, False, [None], id="no-further-page"),
        pytest.param({"count": 15, "page": 2}, True, [["3"], ["4"]], id="a-later-page-of-two"),
    ],
)
async def test_a_further_page_is_paid_for_only_when_a_whole_one_is_missing(
    options: dict[str, Any], further: bool, pages: list[Any]
) -> None:
    def answer(request: Any) -> Any:
        page = request.query.get("page", ["1"])[0]
        rows = [{"link": f"https://example.org/{page}/{number}"} for number in range(9)]
        pagination = {"next": "https://www.google.com/search?start=10"} if further else {}
        return 200, JSON, json.dumps({"organic_results": rows, "pagination": pagination}).encode()

    async with World() as world:
        fake = Fake(world, answer)
        await search("searchapi", fake.url, options)
    assert [request.query.get("page") for request in fake.requests] == pages
