"""ollama, Ollama's own client, whose address is fixed in its code: request; URLs, titles, extracts."""

from __future__ import annotations

import pytest

from tests.contract.elsewhere import elsewhere
from tests.contract.pair import Pair, Read, three

_SCRIPT = """
import json, sys
from ollama import Client
query, key = sys.argv[1:]
with Client(headers={"Authorization": f"Bearer {key}"}) as client:
    found = client.web_search(query, max_results=10)
print(json.dumps([[one.url, one.title, one.content] for one in found.results]))
"""


async def _ollama(url: str) -> list[Read]:
    found = await elsewhere(url, "ollama.com", _SCRIPT)
    return [Read(address, title, None, (content,)) for address, title, content in found]


PAIRS = [pytest.param(Pair("ollama", _ollama, three("ollama"), least=2), id="ollama")]
