"""anysearch-sdk: request; URLs, titles, extracts. Google's own client is large: it is in tests/clients/sdks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.contract.pair import DAYS, Pair, Read, Reader
from tests.wire import QUERY, captured
from tests.wire.fake import KEY
from tests.wire.write import JSON

_EXAMPLE = captured("google")["response_example"]
_ITEMS = [
    {
        **_EXAMPLE["items"][0],
        "title": f"Guide of {day}",
        "link": f"https://example.org/{day}",
        "pagemap": {},
    }
    for day in DAYS
]
_UNDATED = 200, JSON, json.dumps({**_EXAMPLE, "items": _ITEMS}).encode()
_ENGINE = "EXAMPLE-CX"


def _anysearch(**options: Any) -> Reader:
    async def read(url: str) -> list[Read]:
        from anysearch import AnySearch

        client = AnySearch(
            provider="google", api_key=KEY, base_url=url, env={"GOOGLE_PSE_CX": _ENGINE}, on_unsupported="error"
        )
        found = await asyncio.to_thread(lambda: client.search(QUERY, **options))
        return [Read(str(one.url), one.title, None, (one.snippet,)) for one in found]

    return read


PAIRS = [
    pytest.param(
        Pair(
            "google",
            _anysearch(country="de", language="de", safe_search="off", exclude_domains=["example.net"]),
            _UNDATED,
            {"count": 10, "exclude_domains": ["example.net"], "region": "DE", "language": "de", "safe": "off"},
            least=10,
        ),
        id="anysearch-google",
    ),
]
