"""kagi-client (v1) and kagiapi (v0), Kagi's own clients: request; URLs, titles, dates, extracts.

The address of the second is fixed in its code. anysearch-sdk speaks v0 too: request; URLs, titles, dates.
"""

from __future__ import annotations

import asyncio
import json
from datetime import date

import pytest

from tests.contract.elsewhere import elsewhere
from tests.contract.pair import Pair, Read, anysearch, three
from tests.wire import QUERY
from tests.wire.fake import KEY
from tests.wire.write import JSON

_V1 = three("kagi", "data", list_name="search", dates={"time": "{}T00:00:00Z"})
_V0_ROWS = [
    {
        "t": 0,
        "rank": place,
        "url": f"https://example.org/{day}",
        "title": f"Guide of {day}",
        "snippet": "A short excerpt.",
        "published": f"{day}T00:00:00Z",
    }
    for place, day in enumerate(("2026-02-03", "2026-03-04", "2026-04-05"), 1)
]
_V0_DOCUMENT = {"meta": {"id": "1", "node": "n", "ms": 120}, "data": [*_V0_ROWS, {"t": 1, "list": ["related query"]}]}
_V0 = 200, JSON, json.dumps(_V0_DOCUMENT).encode()
_KAGIAPI = """
import json, sys
from kagiapi import KagiClient
query, key = sys.argv[1:]
print(json.dumps(KagiClient(key).search(query, limit=10)))
"""


async def _kagi_client(url: str) -> list[Read]:
    import openapi_client as kagi
    from openapi_client.models.search_request_filters import SearchRequestFilters
    from openapi_client.models.search_request_lens import SearchRequestLens

    request = kagi.SearchRequest(
        query=QUERY,
        workflow="search",
        format="json",
        limit=10,
        page=2,
        safe_search=False,
        filters=SearchRequestFilters(region="de", after=date(2026, 1, 1), before=date(2026, 6, 30)),
        lens=SearchRequestLens(sites_included=["example.org"], sites_excluded=["example.net"]),
    )
    with kagi.ApiClient(kagi.Configuration(host=f"{url}/api/v1", access_token=KEY)) as client:
        found = await asyncio.to_thread(kagi.SearchApi(client).search, request)
        client.rest_client.pool_manager.clear()  # closing is left to chance by the client
    return [Read(one.url, one.title, one.time, (one.snippet,)) for one in found.data.search]


async def _kagiapi(url: str) -> list[Read]:
    found = await elsewhere(url, "kagi.com", _KAGIAPI)
    return [
        Read(one["url"], one["title"], one["published"], (one["snippet"],)) for one in found["data"] if one["t"] == 0
    ]


PAIRS = [
    pytest.param(
        Pair(
            "kagi",
            _kagi_client,
            _V1,
            {
                "count": 10,
                "page": 2,
                "safe": "off",
                "region": "DE",
                "after": "2026-01-01",
                "before": "2026-06-30",
                "include_domains": ["example.org"],
                "exclude_domains": ["example.net"],
            },
            least=8,
        ),
        id="kagi-client",
    ),
    pytest.param(Pair("kagi", _kagiapi, _V0, settings={"api": "v0"}, least=2), id="kagiapi"),
    pytest.param(Pair("kagi", anysearch("kagi"), _V0, settings={"api": "v0"}, least=2), id="anysearch-kagi"),
]
