"""SerpApi: which parameter each option becomes, and how it pages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import JSON, results
from tests.world import World

SOME = results("serpapi", [{"url": "https://example.org/", "title": "Some"}])
PLAIN = {"engine": "google", "q": QUERY, "num": "10", "output": "json", "api_key": KEY}


@pytest.mark.parametrize(
    "options, settings, parameters",
    [
        pytest.param({}, {}, {}, id="plain"),
        pytest.param({}, {"engine": "google_light"}, {"engine": "google_light"}, id="engine"),
        pytest.param({"kind": "news"}, {"engine": "google_light"}, {"tbm": "nws"}, id="news"),
        pytest.param({"kind": "paper"}, {"engine": "google_light"}, {"engine": "google_scholar"}, id="papers"),
        pytest.param(
            {"kind": "paper", "count": 50, "after": "2024-05-01", "before": "2026-01-31", "region": "DE"},
            {},
            {"engine": "google_scholar", "num": "20", "as_ylo": "2024", "as_yhi": "2026"},
            id="papers-of-years",
        ),
        pytest.param({"count": 30, "page": 2}, {}, {"num": "30", "start": "30"}, id="count-and-page"),
        pytest.param({"freshness": "month"}, {}, {"tbs": "qdr:m"}, id="freshness"),
        pytest.param({"before": "2026-01-02"}, {}, {"tbs": "cdr:1,cd_min:1/1/1990,cd_max:1/2/2026"}, id="open-start"),
        pytest.param({"language": "fr-CA", "region": "CA"}, {}, {"hl": "fr", "lr": "lang_fr", "gl": "ca"}, id="place"),
        pytest.param({"safe": "moderate"}, {}, {"safe": "active"}, id="safe"),
        pytest.param(
            {"exclude_domains": ["example.org"]}, {}, {"q": f"{QUERY} -site:example.org", "num": "20"}, id="exclude"
        ),
    ],
)
async def test_each_option_becomes_this_parameter(
    options: dict[str, Any], settings: dict[str, str], parameters: dict[str, str]
) -> None:
    request = await sent("serpapi", options, SOME, settings=settings)
    assert (request.method, request.path) == ("GET", "/search")
    assert request.query == {name: [value] for name, value in {**PLAIN, **parameters}.items()}


@pytest.mark.parametrize(
    "count, found, following, starts",
    [
        pytest.param(10, 9, "10", [None], id="one-hit-short-of-a-page"),
        pytest.param(15, 9, "10", [None, ["10"]], id="a-second-page"),
        pytest.param(15, 15, "15", [None], id="all-at-once"),
        pytest.param(15, 9, None, [None], id="no-further-page"),
        pytest.param(15, 9, "ten", [None], id="nonsense"),
        pytest.param(15, 9, "9999999999", [None], id="out-of-reach"),
    ],
)
async def test_a_further_page_is_paid_for_only_when_a_whole_one_is_missing(
    count: int, found: int, following: str | None, starts: list[Any]
) -> None:
    rows = [{"link": f"https://example.org/{number}"} for number in range(found)]
    link = f"https://serpapi.com/search.json?q=x&start={following}"
    pagination = {"current": 1, **({"next": link} if following else {})}
    body = json.dumps({"organic_results": rows, "serpapi_pagination": pagination}).encode()
    async with World() as world:
        fake = Fake(world, (200, JSON, body))
        await search("serpapi", fake.url, {"count": count})
    assert [request.query.get("start") for request in fake.requests] == starts
