"""linkup-sdk: request; text. The service gives nothing else of a page."""

from __future__ import annotations

import pytest

from tests.contract.pair import PagePair, Text
from tests.wire import PAGE_URL
from tests.wire.fake import KEY


async def _linkup_sdk(url: str) -> Text:
    from linkup import LinkupClient

    client = LinkupClient(api_key=KEY, base_url=f"{url}/v1")
    page = await client.async_fetch(PAGE_URL, render_js=True, extract_images=False)
    return Text(page.markdown)


PAIRS = [pytest.param(PagePair("linkup", _linkup_sdk, least=3), id="linkup-sdk")]
