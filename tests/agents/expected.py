"""What our tools say in the world of these tests, and what of it has to reach a model."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Mapping
from typing import Any

from tests.agents.clients import Client
from tests.agents.model import QUERY
from tests.agents.web import SITE, Web
from webseam.tools import Toolbox
from webseam.web import AsyncWeb

_NONCE = re.compile(r"(UNTRUSTED WEB CONTENT) [0-9a-f]+")
_CURSOR = re.compile(r"(?m)^(Next cursor): \S+$")


def said(first: str, **adds: Any) -> list[str]:
    """Return the texts of a search and of the page that it finds first, with no client in between.

    `adds` are further arguments of the call of web_fetch.
    """
    return asyncio.run(_said(first, adds))


async def _said(first: str, adds: Mapping[str, Any]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder, Web(first=first) as web:
        own = {f"WEBSEAM_{kind}_DIR": f"{folder}/{kind}" for kind in ("CONFIG", "STATE", "CACHE")}
        settings = {
            "search.provider": "searxng", "searxng.base_url": web.origin, "net.proxy": web.origin,
            "fetch.browser": False,
        }  # fmt: skip
        async with AsyncWeb(settings, environment=own) as reaching:
            tools = Toolbox(reaching)
            search = await tools.call("web_search", {"query": QUERY})
            page = await tools.call("web_fetch", {"url": f"{SITE}/{first}", **adds})
    assert not search.is_error, search.text
    return [plain(search.text), plain(page.text)]


def plain(text: str) -> str:
    """Return a result without what is made anew each time: the mark in the frame around a page, and a cursor."""
    return _CURSOR.sub(r"\1: -", _NONCE.sub(r"\1 -", text))


def is_whole(client: Client, arrived: str, text: str) -> bool:
    """Return whether all of a text arrived, unchanged, with only that around it which this client puts there."""
    before, after = client.around.split("{}")
    return re.fullmatch(before + re.escape(text) + r"\s*" + after, plain(arrived)) is not None
