"""firecrawl-py: request; text, title, date, author, URL."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from tests.contract.pair import PagePair, Text
from tests.wire import PAGE_URL
from tests.wire.fake import KEY


async def _firecrawl_py(url: str) -> Text:
    from firecrawl import Firecrawl

    client = Firecrawl(api_key=KEY, api_url=url)
    scrape = partial(client.scrape, PAGE_URL, formats=["markdown"], timeout=15_000, store_in_cache=False)
    page = await asyncio.to_thread(scrape)
    about = page.metadata_typed
    return Text(page.markdown, about.title, about.published_time, about.author, about.url)


PAIRS = [
    pytest.param(PagePair("firecrawl", _firecrawl_py, ours_differs={"origin": "webseam"}, least=8), id="firecrawl-py")
]
