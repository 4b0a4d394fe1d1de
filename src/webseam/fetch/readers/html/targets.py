"""Addresses of links and images: absolute against the page, of schemes that lead somewhere, safe inside Markdown."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import quote, urldefrag, urljoin, urlsplit

MAX_TARGET: Final = 2_000  # characters; a longer one is data that travels as an address
_SCHEMES: Final = ("http://", "https://", "mailto:", "ftp://")
_SAFE: Final = re.compile(
    r"(?:https?://|mailto:)[!#-')+-;=?-\[\]^_a-{}~]+"
)  # nothing to encode, nothing that ends a link
_PLAIN: Final = re.compile(  # a path without `.`, `..` and empty parts, a query and a fragment that are not empty
    r"(?:[\w-][\w.~%-]*+/)*+(?:[\w-][\w.~%-]*+)?+(?:(?<!^)\?[\w=&.%+-]++)?+(?:(?<!^)#[\w.%+-]++)?+", re.ASCII
)
_CUT_OUT: Final = re.compile(r"[\t\r\n]+")  # as browsers do
_SOURCES: Final = ("src", "data-src", "data-original", "data-lazy-src")


class Targets:
    """Resolves the addresses of one page."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url
        self._page = urldefrag(base_url).url
        self._origin = _origin(base_url)
        self._folder = _folder(base_url)
        self._known: dict[str, str | None] = {}

    def fragment(self, href: str) -> str | None:
        """Return the fragment of an address inside this page, None for every other address."""
        href = href.strip()
        if href.startswith("#"):
            return href[1:]
        head, mark, fragment = href.partition("#")
        return fragment if mark and head == self._page else None

    def absolute(self, href: str) -> str | None:
        """Return the address a link leads to, None when it is a script, data or malformed."""
        if href not in self._known:  # pages repeat their links
            self._known[href] = self._resolved(href)
        return self._known[href]

    def _resolved(self, href: str) -> str | None:
        href = _CUT_OUT.sub("", href.strip())
        if not href or len(href) > MAX_TARGET:
            return None
        try:
            if "[" in href:  # as malformed hosts have it
                urlsplit(href)
            if href.startswith("/") and not href.startswith("//") and "." not in href:
                url = self._origin + href
            elif self._folder and _PLAIN.fullmatch(href):
                url = self._folder + href  # as most links of documentation; `urljoin` takes ten times as long
            else:
                url = href if href.startswith(("https://", "http://")) else urljoin(self._base, href)
        except ValueError:
            return None
        if not url.lower().startswith(_SCHEMES):
            return None
        if not _SAFE.fullmatch(url):
            url = "".join(mark if _is_safe(mark) else quote(mark, errors="replace") for mark in url)
        if url.count("(") != url.count(")"):
            url = url.replace("(", "%28").replace(")", "%29")
        return url if len(url) <= 2 * MAX_TARGET else None

    def image(self, node: Any) -> str | None:
        """Return the address of an image, of its lazy one where the plain one is a placeholder."""
        for name in _SOURCES:
            source = node.attr(name)
            url = self.absolute(source) if source else None
            if url:
                return url
        source = (node.attr("srcset") or node.attr("data-srcset") or "").strip().partition(" ")[0]
        return (self.absolute(source) or None) if source else None


def _folder(url: str) -> str:
    """Return what a relative address without dots is put behind, "" where it is not that simple."""
    try:
        joined = urljoin(url, "x")
    except ValueError:
        return ""
    return joined[:-1] if joined.startswith(("https://", "http://")) else ""


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}"


def _is_safe(mark: str) -> bool:
    return mark not in ' <>\\`|*"' and mark.isprintable()
