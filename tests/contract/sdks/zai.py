"""zai-sdk, Z.AI's own client: request; URLs, titles, dates, extracts."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.pair import Pair, Read, Reader, three
from tests.wire import QUERY, Answer
from tests.wire.fake import KEY


def _zai_sdk(**filters: str) -> Reader:
    async def read(url: str) -> list[Read]:
        from zai import ZaiClient

        client = ZaiClient(api_key=KEY, base_url=f"{url}/api/paas/v4")
        try:
            found = await asyncio.to_thread(
                client.web_search.web_search,
                search_engine="search-prime",
                search_query=QUERY,
                count=10,
                content_size="medium",
                **filters,
            )
        finally:
            client.close()
        return [Read(one.link, one.title, one.publish_date or None, (one.content,)) for one in found.search_result]

    return read


def _three(date: str) -> Answer:
    return three("zai", list_name="search_result", dates={"publish_date": date})


PAIRS = [
    pytest.param(
        Pair(
            "zai",
            _zai_sdk(search_domain_filter="example.org"),
            _three("{}"),
            {"count": 5, "include_domains": ["example.org"]},  # a domain filter fetches twice as much
            settings={"base_url": "{url}/api/paas/v4"},
            least=5,
        ),
        id="zai-sdk",
    ),
    pytest.param(
        Pair(
            "zai",
            _zai_sdk(search_recency_filter="oneYear"),
            _three(""),  # hits with a day grow too old for an age
            {"freshness": "year"},
            least=5,
        ),
        id="zai-sdk-recent",
    ),
]
