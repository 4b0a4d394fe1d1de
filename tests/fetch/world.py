"""What tests of whole fetches share: a web that may dial loopback, and pages long enough to be read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tests.world import World
from webseam.model import Page
from webseam.web import AsyncWeb

PARAGRAPH = (
    "A widget is frobnicated by turning its handle to the left until it clicks, and then once more to the right, so"
    " that the spring inside is under tension and the lid can be taken off without any further tool."
)


def html(*body: str, title: str = "Widgets", head: str = "") -> str:
    """Return a page with these paragraphs (or pieces of HTML) in its main part."""
    pieces = "".join(piece if piece.startswith("<") else f"<p>{piece}</p>" for piece in body)
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body><main>{pieces}</main></body></html>"


PAGE = (200, {"Content-Type": "text/html; charset=utf-8"}, html("<h1>Widgets</h1>", PARAGRAPH))
SHELL = (
    "<!doctype html><html><head><title>App</title>{head}</head>"
    '<body><div id="root"></div><script src="/app.js"></script></body></html>'
)


def web(world: World, *, environment: Mapping[str, str] | None = None, **settings: Any) -> AsyncWeb:
    """Return a web whose pages may come from loopback; settings as `fetch__robots="obey"`."""
    given = {name.replace("__", "."): value for name, value in settings.items()}
    given.setdefault("fetch.allow", ["127.0.0.0/8"])
    given.setdefault("fetch.browser", False)
    return AsyncWeb(given, environment={**os.environ, **(environment or {})}, resolver=world.names)


def tried(page: Page) -> list[tuple[str, str]]:
    """Return the ways of reading that were tried, with their outcomes."""
    return [(attempt.provider, attempt.outcome.value) for attempt in page.attempts]
