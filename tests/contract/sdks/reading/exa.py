"""exa-py: request; text, title, date, author, URL."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.pair import PagePair, Text
from tests.wire import PAGE_URL
from tests.wire.fake import KEY


async def _exa_py(url: str) -> Text:
    from exa_py import Exa

    found = await asyncio.to_thread(Exa(KEY, base_url=url).get_contents, [PAGE_URL], text=True)
    (one,) = found.results
    return Text(one.text, one.title, one.published_date, one.author, one.url)


PAIRS = [pytest.param(PagePair("exa", _exa_py, least=2), id="exa-py")]
