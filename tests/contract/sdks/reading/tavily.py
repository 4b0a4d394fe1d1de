"""tavily-python: request; text and URL."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.pair import PagePair, Text
from tests.wire import PAGE_URL
from tests.wire.fake import KEY


async def _tavily_python(url: str) -> Text:
    from tavily import TavilyClient

    with TavilyClient(KEY, api_base_url=url) as client:
        found = await asyncio.to_thread(
            client.extract,
            [PAGE_URL],
            include_images=False,
            extract_depth="advanced",
            format="markdown",
            timeout=15,
            include_usage=True,
        )
    (one,) = found["results"]
    return Text(one["raw_content"], one["title"], final_url=one["url"])


PAIRS = [pytest.param(PagePair("tavily", _tavily_python, least=6), id="tavily-python")]
