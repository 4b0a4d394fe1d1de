"""azure-cognitiveservices-search-websearch, Azure's client for the service that ended: request; URLs, titles, extracts.

Of dates it knows the day of the crawl alone, which is none of publication, so there are none to compare.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.contract.pair import Pair, Read, three
from tests.wire import QUERY
from tests.wire.fake import KEY


def _search(url: str) -> Any:
    from azure.cognitiveservices.search.websearch import WebSearchClient
    from msrest.authentication import CognitiveServicesCredentials

    client = WebSearchClient(endpoint=url, credentials=CognitiveServicesCredentials(KEY))
    with client:
        return client.web.search(
            query=QUERY,
            count=10,
            offset=20,
            market="de-CH",
            freshness="Month",
            safe_search="Strict",
            response_filter=["Webpages"],
            text_decorations=False,
        )


async def _azure(url: str) -> list[Read]:
    found = await asyncio.to_thread(_search, url)
    return [Read(one.url, one.name, None, (one.snippet,)) for one in found.web_pages.value]


PAIRS = [
    pytest.param(
        Pair(
            "bing",
            _azure,
            three("bing", "webPages", list_name="value"),
            {"page": 3, "freshness": "month", "region": "CH", "language": "de", "safe": "strict"},
            settings={"base_url": "{url}/bing"},
            least=8,
        ),
        id="azure-cognitiveservices-search-websearch",
    ),
]
