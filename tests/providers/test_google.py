"""Google's Programmable Search: which parameter each option becomes, and what makes it usable."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import results
from tests.world import World
from webseam.errors import Outcome

SOME = results("google", [{"url": "https://example.org/", "title": "Some"}])
TODAY = datetime.now(UTC).strftime("%Y%m%d")
PLAIN = {"q": QUERY, "num": "10", "cx": "EXAMPLE-CX", "key": KEY, "alt": "json"}
NO_KEY = {"api_key": None}


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 3}, {"num": "3"}, id="count"),
        pytest.param({"count": 30}, {}, id="more-than-a-call-gives"),
        pytest.param({"page": 3}, {"start": "21"}, id="page"),
        pytest.param({"page": 10}, {"start": "91"}, id="last-page"),
        pytest.param(
            {"include_domains": ["example.org/docs"]}, {"siteSearch": "example.org", "siteSearchFilter": "i"}, id="site"
        ),
        pytest.param(
            {"include_domains": ["example.org"], "exclude_domains": ["a.example.org"]},
            {"q": f"{QUERY} -site:a.example.org", "siteSearch": "example.org", "siteSearchFilter": "i"},
            id="site-without-a-part",
        ),
        pytest.param(
            {"include_domains": ["example.org", "example.net"]},
            {"q": f"{QUERY} (site:example.org OR site:example.net)"},
            id="sites",
        ),
        pytest.param({"include_domains": ["edu"]}, {"q": f"{QUERY} site:edu"}, id="suffix"),
        pytest.param(
            {"exclude_domains": ["example.org"]}, {"siteSearch": "example.org", "siteSearchFilter": "e"}, id="exclude"
        ),
        pytest.param({"exclude_domains": ["example.org/docs"]}, {}, id="exclude-a-path"),
        pytest.param(
            {"exclude_domains": ["example.org", "example.net"]},
            {"q": f"{QUERY} -site:example.org -site:example.net"},
            id="exclude-several",
        ),
        pytest.param({"freshness": "week"}, {"dateRestrict": "w1"}, id="freshness"),
        pytest.param({"after": "2026-01-31"}, {"sort": f"date:r:20260131:{TODAY}"}, id="open-end"),
        pytest.param({"before": "2026-01-31"}, {"sort": "date:r:19900101:20260131"}, id="open-start"),
        pytest.param({"language": "pt-BR"}, {"hl": "pt-BR", "lr": "lang_pt"}, id="brazilian"),
        pytest.param({"language": "zh-Hant-HK"}, {"hl": "zh-TW", "lr": "lang_zh-TW"}, id="traditional"),
        pytest.param({"language": "zh"}, {"hl": "zh-CN", "lr": "lang_zh-CN"}, id="chinese"),
        pytest.param({"language": "he"}, {"hl": "iw", "lr": "lang_iw"}, id="hebrew"),
        pytest.param({"language": "de-CH"}, {"hl": "de", "lr": "lang_de"}, id="swiss-german"),
        pytest.param({"language": "eu"}, {"hl": "eu"}, id="no-restriction"),
        pytest.param({"region": "GB"}, {"gl": "gb"}, id="region"),
        pytest.param({"safe": "moderate"}, {"safe": "active"}, id="moderate"),
        pytest.param({"safe": "off"}, {"safe": "off"}, id="off"),
    ],
)
async def test_each_option_becomes_this_parameter(options: dict[str, Any], parameters: dict[str, str]) -> None:
    request = await sent("google", options, SOME)
    assert (request.method, request.path) == ("GET", "/customsearch/v1")
    assert request.query == {name: [value] for name, value in {**PLAIN, **parameters}.items()}


async def test_a_language_that_cannot_be_filtered_by_is_said() -> None:
    async with World() as world:
        told = await search("google", Fake(world, SOME).url, {"language": "eu"})
    assert told.notes == ("Google Programmable Search prefers the language eu; it cannot filter by it",)


async def test_a_page_beyond_a_hundred_results_is_refused_before_anything_is_sent() -> None:
    async with World() as world:
        fake = Fake(world, SOME)
        told = await search("google", fake.url, {"page": 11})
    assert (told.outcome, told.attempt.detail, fake.requests) == (
        Outcome.UNSUPPORTED,
        "Google Programmable Search has no page 11 of 10 hits",
        [],
    )


@pytest.mark.parametrize(
    "settings, variables, key, detail",
    [
        pytest.param({}, {"GOOGLE_PSE_API_KEY": "one"}, "one", None, id="own-key"),
        pytest.param(
            {}, {"GOOGLE_CSE_API_KEY": "two", "GOOGLE_SEARCH_API_KEY": "three"}, "two", None, id="first-name-wins"
        ),
        pytest.param({}, {"GOOGLE_API_KEY": "shared"}, "shared", None, id="shared-key"),
        pytest.param(
            {"engine_id": None},
            {"GOOGLE_API_KEY": "shared", "GOOGLE_SEARCH_CX": "EXAMPLE-CX"},
            "shared",
            None,
            id="shared-key-and-engine-variable",
        ),
        pytest.param(
            {"engine_id": None},
            {"GOOGLE_API_KEY": "shared"},
            None,
            "no key (GOOGLE_PSE_API_KEY)",
            id="shared-key-alone",
        ),
        pytest.param(
            {"engine_id": None}, {"GOOGLE_PSE_API_KEY": "one"}, None, "no engine id (GOOGLE_CSE_ID)", id="own-key-alone"
        ),
        pytest.param({}, {}, None, "no key (GOOGLE_PSE_API_KEY)", id="engine-alone"),
    ],
)
async def test_it_takes_a_key_and_an_engine_and_the_shared_key_counts_only_with_one(
    settings: dict[str, Any], variables: dict[str, str], key: str | None, detail: str | None
) -> None:
    async with World() as world:
        fake = Fake(world, SOME)
        told = await search("google", fake.url, settings={**NO_KEY, **settings}, variables=variables)
    assert [request.query["key"] for request in fake.requests] == ([[key]] if key else [])
    assert [request.query["cx"] for request in fake.requests] == ([["EXAMPLE-CX"]] if key else [])
    assert (told.outcome, told.attempt.detail) == ((Outcome.OK, None) if key else (Outcome.UNAVAILABLE, detail))
