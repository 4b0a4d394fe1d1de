"""Linkup's API: which field each option becomes, and the two ways its address is given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import results
from tests.world import World

NOTHING = results("linkup", [])
PLAIN = {"q": QUERY, "depth": "standard", "outputType": "searchResults", "includeImages": False, "maxResults": 10}
WEEK_AGO = (datetime.now(UTC).date() - timedelta(days=7)).isoformat()
MANY = [f"{number}.example.org" for number in range(101)]


@pytest.mark.parametrize(
    "options, fields",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 80}, {"maxResults": 50}, id="count"),
        pytest.param(
            {"include_domains": ["example.org/docs"], "exclude_domains": ["example.net", "example.com/a"]},
            {"includeDomains": ["example.org"], "excludeDomains": ["example.net"], "maxResults": 20},
            id="domains",
        ),
        pytest.param({"include_domains": ["example.org", "edu"]}, {"maxResults": 20}, id="a-suffix-among-them"),
        pytest.param({"include_domains": MANY}, {"maxResults": 20}, id="more-domains-than-it-takes"),
        pytest.param({"freshness": "week"}, {"fromDate": WEEK_AGO}, id="freshness"),
        pytest.param({"before": "2026-06-30", "freshness": "week"}, {"toDate": "2026-06-30"}, id="days-win"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], fields: dict[str, Any]) -> None:
    request = await sent("linkup", options, NOTHING)
    assert (request.method, request.path, request.headers["authorization"]) == ("POST", "/v1/search", f"Bearer {KEY}")
    assert request.json() == {**PLAIN, **fields}


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/", "/v1/search"])
async def test_its_address_may_be_given_with_the_version_or_without(base: str) -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        await search("linkup", fake.url + base)
    assert [request.path for request in fake.requests] == ["/v1/search"]
