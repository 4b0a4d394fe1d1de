"""parallel-web: request; text, title, date, URL."""

from __future__ import annotations

import pytest

from tests.contract.pair import PagePair, Text
from tests.wire import PAGE_URL
from tests.wire.fake import KEY


async def _parallel_web(url: str) -> Text:
    from parallel import AsyncParallel

    async with AsyncParallel(api_key=KEY, base_url=url) as client:
        found = await client.extract(urls=[PAGE_URL], advanced_settings={"full_content": True})
    (one,) = found.results
    return Text(one.full_content, one.title, one.publish_date, final_url=one.url)


PAIRS = [pytest.param(PagePair("parallel", _parallel_web, least=2), id="parallel-web")]
