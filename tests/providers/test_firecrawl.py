"""Firecrawl's API: which field each option becomes, servers of one's own, and anonymous access."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import results
from tests.world import World
from webseam import providers
from webseam.errors import Outcome
from webseam.model import SearchRequest
from webseam.providers.base import ProviderConfig

NOTHING = results("firecrawl", [])
PLAIN = {
    "query": QUERY,
    "limit": 10,
    "sources": [{"type": "web"}],
    "timeout": 15_000,
    "ignoreInvalidURLs": True,
    "origin": "webseam",
}


@pytest.mark.parametrize(
    "options, fields",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 10, "page": 3}, {"limit": 30}, id="page"),
        pytest.param(
            {"include_domains": ["example.org/docs"], "exclude_domains": ["example.net"]},
            {"includeDomains": ["example.org"], "limit": 20},
            id="one-of-the-two-lists",
        ),
        pytest.param(
            {"include_domains": ["org"], "exclude_domains": ["example.net", "example.com/a"]},
            {"excludeDomains": ["example.net"], "limit": 20},
            id="a-suffix-is-no-domain",
        ),
        pytest.param({"freshness": "week"}, {"tbs": "qdr:w"}, id="freshness"),
        pytest.param(
            {"after": "2026-01-31", "before": "2026-06-30", "freshness": "day"},
            {"tbs": "cdr:1,cd_min:01/31/2026,cd_max:06/30/2026"},
            id="days-win",
        ),
        pytest.param({"before": "2026-06-30"}, {"tbs": "cdr:1,cd_max:06/30/2026"}, id="open-start"),
        pytest.param({"region": "de"}, {"country": "DE"}, id="region"),
        pytest.param({"kind": "news"}, {"sources": [{"type": "news"}]}, id="news"),
        pytest.param({"kind": "paper"}, {"categories": [{"type": "research"}]}, id="paper"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], fields: dict[str, Any]) -> None:
    request = await sent("firecrawl", options, NOTHING)
    assert (request.method, request.path, request.headers["authorization"]) == ("POST", "/v2/search", f"Bearer {KEY}")
    assert request.json() == {**PLAIN, **fields}


@pytest.mark.parametrize("path", ["/v1", "/v2", "/v2/", "/v2/search"])
async def test_the_version_in_an_address_of_other_tools_is_not_doubled(path: str) -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        await search("firecrawl", fake.url, settings={"base_url": f"{{url}}{path}"})
    assert [request.path for request in fake.requests] == ["/v2/search"]


async def test_a_server_of_one_s_own_needs_no_key() -> None:
    request = await sent("firecrawl", {}, NOTHING, settings={"api_key": None})
    assert request.headers.get("authorization") is None


@pytest.mark.parametrize("base", ["https://api.firecrawl.dev", "https://api.firecrawl.dev/v1/"])
async def test_firecrawl_itself_is_asked_without_a_key_only_when_that_is_switched_on(base: str) -> None:
    told = await search("firecrawl", "", settings={"api_key": None, "base_url": base})
    assert (told.outcome, told.attempt.detail, told.sent_to) == (Outcome.UNAVAILABLE, "no key (FIRECRAWL_API_KEY)", ())
    provider = providers.get("firecrawl")
    config = ProviderConfig(provider="firecrawl", base_url=base, values={"keyless": True})
    assert provider.unavailable(config) is None
    request = provider.request(SearchRequest(query=QUERY), config)
    assert request.url == "https://api.firecrawl.dev/v2/search"
    assert "Authorization" not in dict(request.headers)
