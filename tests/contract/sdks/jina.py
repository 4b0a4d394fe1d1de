"""jina-cli, Jina's own client, whose address is fixed in its code: request; URLs, titles, dates, extracts.

anysearch-sdk speaks to the older address: method, path, auth, the query; URLs, titles, dates.
"""

from __future__ import annotations

import pytest

from tests.contract.elsewhere import elsewhere
from tests.contract.pair import Pair, Read, Reader, anysearch, three

_THREE = three("jina", list_name="data", dates={"date": "{}"})
_UNDATED = three("jina", list_name="data", dates={"date": ""})  # hits with a day grow too old for an age
_SCRIPT = """
import json, sys
from jina_cli.api import search_arxiv, search_web
query, key = sys.argv[1:]
print(json.dumps({call}))
"""


def _jina_cli(call: str) -> Reader:
    async def read(url: str) -> list[Read]:
        found = await elsewhere(url, "svip.jina.ai", _SCRIPT.format(call=call))
        return [Read(one["url"], one["title"], one["date"] or None, (one["description"],)) for one in found["data"]]

    return read


PAIRS = [
    pytest.param(
        Pair(
            "jina",
            _jina_cli("search_web(query, key, num=10, gl='us', hl='en', as_json=True)"),
            _THREE,
            {"region": "US", "language": "en"},
        ),
        id="jina-cli",
    ),
    pytest.param(
        Pair(
            "jina",
            _jina_cli("search_arxiv(query, key, num=10, tbs='qdr:y', as_json=True)"),
            _UNDATED,
            {"freshness": "year", "kind": "paper"},
        ),
        id="jina-cli-arxiv",
    ),
    pytest.param(
        Pair("jina", anysearch("jina"), _THREE, settings={"endpoint": "s"}, least=1),
        id="anysearch-jina",
    ),
]
