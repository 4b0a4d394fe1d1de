"""linkup-sdk, Linkup's own client: request; URLs, titles, extracts. The service gives no dates."""

from __future__ import annotations

import pytest

from tests.contract.pair import Pair, Read, three
from tests.wire import QUERY
from tests.wire.fake import KEY


async def _linkup_sdk(url: str) -> list[Read]:
    from linkup import LinkupClient

    client = LinkupClient(api_key=KEY, base_url=f"{url}/v1")
    found = await client.async_search(
        QUERY,
        depth="standard",
        output_type="searchResults",
        include_images=False,
        max_results=10,
        include_domains=["example.org"],
        exclude_domains=["example.net"],
        from_date="2026-01-01",
        to_date="2026-06-30",
    )
    return [Read(one.url, one.name, None, (one.content,)) for one in found.results if one.type == "text"]


PAIRS = [
    pytest.param(
        Pair(
            "linkup",
            _linkup_sdk,
            three("linkup"),
            {
                "count": 5,  # a domain filter fetches twice as much
                "include_domains": ["example.org"],
                "exclude_domains": ["example.net"],
                "after": "2026-01-01",
                "before": "2026-06-30",
            },
            least=9,
        ),
        id="linkup-sdk",
    )
]
