"""jina-cli, whose address is fixed in its code: request; text, title, date, URL."""

from __future__ import annotations

import pytest

from tests.contract.elsewhere import elsewhere
from tests.contract.pair import PagePair, Text
from tests.wire import PAGE_URL

_SCRIPT = f"""
import json, sys
from jina_cli.api import read_url
print(json.dumps(read_url({PAGE_URL!r}, sys.argv[2], as_json=True)))
"""


async def _jina_cli(url: str) -> Text:
    page = (await elsewhere(url, "r.jina.ai", _SCRIPT))["data"]
    return Text(page["content"], page["title"], page["publishedTime"], final_url=page["url"])


PAIRS = [pytest.param(PagePair("jina", _jina_cli), id="jina-cli")]
