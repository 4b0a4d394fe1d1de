"""pymojeek, a community client whose address is fixed in its code: request; URLs, titles, dates, extracts."""

from __future__ import annotations

import json

import pytest

from tests.contract.elsewhere import elsewhere
from tests.contract.pair import DAYS, Pair, Read
from tests.wire import captured
from tests.wire.write import JSON

_EXAMPLE = captured("mojeek")["response_example"]["response"]
_RESULTS = [
    {**_EXAMPLE["results"][0], "url": f"https://example.org/{day}", "title": f"Guide of {day}", "pdate": seconds}
    for day, seconds in zip(DAYS, (1770076800, 1772582400, 1775347200), strict=True)
]
_ANSWER = 200, JSON, json.dumps({"response": {**_EXAMPLE, "results": _RESULTS}}).encode()
_SCRIPT = """
import json, sys
from pymojeek import Search
query, key = sys.argv[1:]
client = Search(api_key=key, safe_search=True)
found = client.search(query, start=21, count=10, include_domains=["example.org"], exclude_domains=["example.net"])
print(json.dumps([[one.url, one.title, one.published_at.date().isoformat(), one.description] for one in found]))
"""


async def _pymojeek(url: str) -> list[Read]:
    found = await elsewhere(url, "www.mojeek.com", _SCRIPT, TZ="UTC")  # it makes local times of what it is given
    return [Read(address, title, day, (words,)) for address, title, day, words in found]


PAIRS = [
    pytest.param(
        Pair(
            "mojeek",
            _pymojeek,
            _ANSWER,
            {
                "count": 10,
                "page": 3,
                "include_domains": ["example.org"],
                "exclude_domains": ["example.net"],
                "safe": "strict",
            },
            least=8,
        ),
        id="pymojeek",
    ),
]
