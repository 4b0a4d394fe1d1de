"""Where the text of a page may also be found, when the page itself is an empty shell.

Three customs, in the order of how much they promise: the page's own `<link rel="alternate" type="text/markdown">`, a
twin of the page with `.md` behind its name, and the site's `llms.txt`, which lists such twins. Asked for only where
the page gave nothing, so that a good page never costs its server a second request.

Source: https://llmstxt.org
"""

from __future__ import annotations

import re
from html import unescape
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

MAX_REQUESTS: Final = 4  # for one page
_HEAD: Final = 262_144  # bytes in which a page declares its alternates
_LINK = re.compile(r"<link\s([^<>]{1,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([a-z-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_LISTED = re.compile(r"\]\(\s*<?([^\s()<>]{1,2000})>?[^()]{0,200}\)")
_TEXTUAL: Final = ("text/markdown", "text/x-markdown", "text/plain")
_PAGE_EXTENSION = re.compile(r"\.(?:html?|xhtml|php|aspx?)$", re.IGNORECASE)


def declared(body: bytes, url: str) -> list[str]:
    """Return the addresses of the page's own text forms, Markdown before plain text."""
    found: list[tuple[int, str]] = []
    for link in _LINK.finditer(body[:_HEAD].decode("utf-8", "replace")):
        attributes = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(link[1])}
        kind = attributes.get("type", "").partition(";")[0].strip().lower()
        if "alternate" in attributes.get("rel", "").lower().split() and kind in _TEXTUAL and attributes.get("href"):
            found.append((_TEXTUAL.index(kind), _joined(url, unescape(attributes["href"]))))
    return list(dict.fromkeys(target for _, target in sorted(found, key=lambda one: one[0]) if target))


def twins(url: str) -> list[str]:
    """Return the addresses at which the Markdown of a page is by custom: `page.md`, or `index.md` of a folder."""
    parts = urlsplit(url)
    path = parts.path or "/"
    if path.endswith("/"):
        names = [f"{path}index.md"] if path == "/" else [f"{path[:-1]}.md", f"{path}index.md"]
    elif _PAGE_EXTENSION.search(path):
        names = [f"{path}.md", _PAGE_EXTENSION.sub(".md", path)]
    elif "." in path.rpartition("/")[2]:
        return []  # a file of another form
    else:
        names = [f"{path}.md"]
    return [urlunsplit((parts.scheme, parts.netloc, name, parts.query, "")) for name in names]


def index_of(url: str) -> str:
    """Return the address of the site's `llms.txt`."""
    return urljoin(url, "/llms.txt")


def listed(index: str, index_url: str, url: str) -> list[str]:
    """Return the addresses of a page's text among those that an `llms.txt` lists, at most two."""
    wanted = _name_of(url)
    targets = [_joined(index_url, found) for found in _LISTED.findall(index)]
    return list(dict.fromkeys(target for target in targets if target and _name_of(target) == wanted))[:2]


def _name_of(url: str) -> str:
    """Return what two addresses of one text have in common: host and path without their forms' endings."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    for ending in (".md", ".txt"):
        path = path.removesuffix(ending)
    path = _PAGE_EXTENSION.sub("", path).removesuffix("/index").rstrip("/")
    return f"{(parts.hostname or '').removeprefix('www.')}{path}"


def _joined(base: str, reference: str) -> str:
    try:
        target = urljoin(base, reference.strip())
    except ValueError:
        return ""
    return target if target.startswith(("http://", "https://")) else ""
