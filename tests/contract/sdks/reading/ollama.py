"""ollama, whose address is fixed in its code: request; text and title."""

from __future__ import annotations

import pytest

from tests.contract.elsewhere import elsewhere
from tests.contract.pair import PagePair, Text
from tests.wire import PAGE_URL

_SCRIPT = f"""
import json, sys
from ollama import Client
with Client(headers={{"Authorization": f"Bearer {{sys.argv[2]}}"}}) as client:
    page = client.web_fetch({PAGE_URL!r})
print(json.dumps([page.content, page.title]))
"""


async def _ollama(url: str) -> Text:
    return Text(*await elsewhere(url, "ollama.com", _SCRIPT))


PAIRS = [pytest.param(PagePair("ollama", _ollama), id="ollama")]
