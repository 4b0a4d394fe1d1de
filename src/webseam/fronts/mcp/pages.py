"""Pages that were read, kept for a while so that a client can have them again as resources without asking the web.

An id is random: over HTTP several users may share a server, and knowing the URL of a page must not be enough to have
what somebody else was given of it.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Final

from webseam.model import Page

SCHEME: Final = "webseam://page/"
MAX_PAGES: Final = 64
MAX_CHARACTERS: Final = 8_000_000  # of all pages together
_ID_BYTES: Final = 9


class Pages:
    """The last pages read, by id; the oldest go first."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, Page] = OrderedDict()

    def keep(self, page: Page) -> str:
        """Keep a page and return its id."""
        name = secrets.token_urlsafe(_ID_BYTES)
        self._pages[name] = page
        while len(self._pages) > 1 and (
            len(self._pages) > MAX_PAGES or sum(len(one.markdown) for one in self._pages.values()) > MAX_CHARACTERS
        ):
            self._pages.popitem(last=False)
        return name

    def get(self, name: str) -> Page | None:
        """Return a page, or None when it is not kept (any more)."""
        return self._pages.get(name)

    def items(self) -> list[tuple[str, Page]]:
        """Return ids and pages, the newest first."""
        return list(reversed(self._pages.items()))
