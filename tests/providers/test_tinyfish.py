"""TinyFish's API: which parameter each option becomes, where it answers, and counts made of pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.wire import QUERY, Answer
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import results
from tests.world import Recorded, World
from webseam import providers
from webseam.errors import Outcome
from webseam.model import SearchRequest
from webseam.providers.base import ProviderConfig

ONE = results("tinyfish", [{"url": "https://example.org/"}])  # nothing at all would be asked for again without dates


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"freshness": "week"}, {"recency_minutes": "10080"}, id="freshness"),
        pytest.param(
            {"after": "2026-01-01", "freshness": "day"}, {"after_date": "2026-01-01"}, id="days-win-over-freshness"
        ),
        pytest.param({"language": "pt-BR", "region": "br"}, {"language": "pt-BR", "location": "BR"}, id="place"),
        pytest.param({"kind": "paper"}, {"domain_type": "research_paper"}, id="paper"),
        pytest.param(
            {"include_domains": ["example.org/docs", "example.com"], "exclude_domains": ["example.net", "edu"]},
            {"include_domains": "example.org,example.com", "exclude_domains": "example.net"},
            id="domains",
        ),
        pytest.param({"page": 3}, {"page": "2"}, id="page"),
    ],
)
async def test_each_option_becomes_this_parameter(options: dict[str, Any], parameters: dict[str, str]) -> None:
    request = await sent("tinyfish", options, ONE)
    assert (request.method, request.path, request.headers["x-api-key"]) == ("GET", "/v1/search", KEY)
    asked = {name: values[0] for name, values in request.query.items()}
    assert asked == {"query": QUERY, "page": "0", **parameters}


@pytest.mark.parametrize("base", ["https://api.search.tinyfish.ai", "https://api.search.tinyfish.ai/"])
def test_on_its_own_host_a_search_is_the_root(base: str) -> None:
    config = ProviderConfig(provider="tinyfish", base_url=base, key=KEY)
    request = providers.get("tinyfish").request(SearchRequest(query="words"), config)
    address = urlsplit(request.url)
    assert (address.netloc, address.path) == ("api.search.tinyfish.ai", "/")


def _pages(size: int) -> Callable[[Recorded], Answer]:
    """A service whose pages hold `size` results each."""

    def answer(request: Recorded) -> Answer:
        page = int(request.query["page"][0])
        return results("tinyfish", [{"url": f"https://example.org/{page}/{number}"} for number in range(size)])

    return answer


@pytest.mark.parametrize(
    "size, options, asked, hits",
    [
        pytest.param(10, {"count": 10}, ["0"], 10, id="one-page-is-enough"),
        pytest.param(9, {"count": 10}, ["0"], 9, id="one-that-lacks-a-few-is-enough-too"),
        pytest.param(10, {"count": 15}, ["0", "1"], 15, id="two-pages"),
        pytest.param(10, {"count": 20, "page": 2}, ["2", "3"], 20, id="the-second-page-of-twenty"),
        pytest.param(10, {"count": 20, "page": 6}, ["10"], 10, id="no-further-than-its-last-page"),
        pytest.param(0, {"count": 20}, ["0"], 0, id="nothing-has-no-second-page"),
    ],
)
async def test_a_count_is_filled_from_as_many_pages_as_hold_it(
    size: int, options: dict[str, Any], asked: list[str], hits: int
) -> None:
    async with World() as world:
        fake = Fake(world, _pages(size))
        told = await search("tinyfish", fake.url, options)
    assert ([request.query["page"][0] for request in fake.requests], len(told.hits)) == (asked, hits)


async def test_a_page_beyond_its_last_is_refused_before_anything_is_sent() -> None:
    async with World() as world:
        fake = Fake(world, results("tinyfish", []))
        told = await search("tinyfish", fake.url, {"page": 12})
    assert (told.outcome, told.attempt.detail, fake.requests) == (
        Outcome.UNSUPPORTED,
        "TinyFish has no page 12 of 10 hits",
        [],
    )
