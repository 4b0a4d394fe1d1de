"""google-api-python-client, Google's own client, from the description of the API that it ships: request; URLs, titles,
dates, extracts.
"""

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
        "pagemap": {"metatags": [{"article:published_time": f"{day}T10:00:00Z"}]},
    }
    for day in DAYS
]
_DATED = 200, JSON, json.dumps({**_EXAMPLE, "items": _ITEMS}).encode()
_ENGINE = "EXAMPLE-CX"


def _official(**parameters: Any) -> Reader:
    def search(url: str) -> Any:
        from googleapiclient.discovery import build

        options = {"api_endpoint": url}
        with build("customsearch", "v1", developerKey=KEY, client_options=options, static_discovery=True) as service:
            return service.cse().list(q=QUERY, cx=_ENGINE, **parameters).execute()

    async def read(url: str) -> list[Read]:
        found = await asyncio.to_thread(search, url)
        return [
            Read(
                one["link"],
                one["title"],
                one["pagemap"]["metatags"][0]["article:published_time"],
                (one["snippet"],),
            )
            for one in found["items"]
        ]

    return read


PAIRS = [
    pytest.param(
        Pair(
            "google",
            _official(
                num=10,
                start=21,
                siteSearch="example.org",
                siteSearchFilter="i",
                sort="date:r:20260101:20260630",
                gl="us",
                hl="en",
                lr="lang_en",
                safe="active",
            ),
            _DATED,
            {
                "count": 10,
                "page": 3,
                "include_domains": ["example.org"],
                "after": "2026-01-01",
                "before": "2026-06-30",
                "region": "US",
                "language": "en",
                "safe": "strict",
            },
            least=13,
        ),
        id="google-api-python-client",
    ),
]
