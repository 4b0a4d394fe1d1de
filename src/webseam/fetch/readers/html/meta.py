"""What a page says about itself: title, author, date, language, the base of its links.

Read before anything is removed, because it stands in scripts and in the head. The page's own words or nothing: a date
that only looks like one in the text is not taken. JSON-LD first, since it is written for machines to be right.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from webseam.fetch.readers.html.stated import stated_text
from webseam.fetch.readers.moments import moment
from webseam.text import clean, clip, squeeze

if TYPE_CHECKING:
    from turbohtml import Document, Element

_MAX_JSON: Final = 500_000  # characters of one block of JSON-LD
_MAX_BLOCKS: Final = 20
_MAX_ITEMS: Final = 200  # objects of JSON-LD looked at
_TITLE_LIMIT: Final = 300  # characters
_NAME_LIMIT: Final = 100
_MAX_HEADINGS: Final = 5
_MAX_AUTHORS: Final = 5

_ARTICLE = re.compile(r"(?:\w*Article|BlogPosting|LiveBlogPosting|Report|Review)$")
_PAGE = re.compile(r"(?:\w*Article|\w*Posting|Report|Review|WebPage|\w*Page|Question|HowTo|Recipe|SoftwareSourceCode)$")
_DISCUSSIONS: Final = frozenset(("DiscussionForumPosting", "QAPage", "Question"))
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
_SEPARATED = re.compile(r"\s+[|–—·•»‹:-]\s+")
_BY = re.compile(r"^(?:by|von|par|por|di|door)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What a page says about itself; None where it says nothing.

    Attributes:
        published: an ISO day or instant.
        base: the absolute address that its links are relative to.
        is_article: it calls itself an article, in JSON-LD, OpenGraph or microdata.
        stated: the text of its article or product that it states in JSON-LD.
    """

    title: str | None
    author: str | None
    published: str | None
    language: str | None
    base: str
    is_article: bool
    stated: str | None = None


def read_meta(document: Document, url: str) -> Meta:
    """Read the metadata of a page that came from `url`."""
    items = list(_items(document))
    named = _named(document)
    return Meta(
        title=_title(document, items, named),
        author=_author(document, items, named),
        published=_published(document, items, named),
        language=_language(document, named),
        base=_base(document, url),
        is_article=_is_article(document, items, named),
        stated=stated_text(items),
    )


def _items(document: Document) -> Iterator[dict[str, Any]]:
    """Yield the objects of the page's JSON-LD, outer ones first."""
    waiting: list[Any] = []
    for script in document.select('script[type="application/ld+json"]')[:_MAX_BLOCKS]:
        text = script.text
        if len(text) > _MAX_JSON:
            continue
        try:
            waiting.append(json.loads(text, strict=False))
        except (ValueError, RecursionError):  # what is nested too deep says nothing about the page
            continue
    seen = 0
    while waiting and seen < _MAX_ITEMS:
        value = waiting.pop(0)
        seen += 1
        if isinstance(value, list):
            waiting.extend(value[:_MAX_ITEMS])
        elif isinstance(value, dict):
            yield value
            waiting.extend(value[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in value)


def _types(item: dict[str, Any]) -> list[str]:
    kinds = item.get("@type")
    return [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]


def _pages(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the objects that are the page and not its publisher or its breadcrumbs; articles first."""
    found = [item for item in items if any(_PAGE.match(kind) for kind in _types(item))]
    return sorted(found, key=lambda item: not any(_ARTICLE.match(kind) for kind in _types(item)))


def _named(document: Document) -> dict[str, list[str]]:
    """Return what the `meta` elements say: name or property, in lower case -> contents in order."""
    named: dict[str, list[str]] = {}
    for element in document.select("meta[content]"):
        name = element.attr("property") or element.attr("name") or element.attr("itemprop")
        content = element.attr("content")
        if name and content and content.strip():
            named.setdefault(name.strip().lower(), []).append(content)
    return named


def _words(text: object, limit: int) -> str | None:
    """Return text of a page on one clean line, None when nothing is left."""
    if not isinstance(text, str):
        return None
    return clip(squeeze(clean(html.unescape(text) if "&" in text else text)), limit) or None


def _title(document: Document, items: list[dict[str, Any]], named: dict[str, list[str]]) -> str | None:
    headings = [words for found in document.select("h1")[:_MAX_HEADINGS] if (words := _heading(found.text))]
    whole = _words(_title_element(document), _TITLE_LIMIT)
    for part in _SEPARATED.split(whole or ""):
        if part in headings:
            return part  # what a page and its tab agree on; the other parts are names of the site
    for item in _pages(items):
        if stated := _words(item.get("headline"), _TITLE_LIMIT):
            return stated
    shared = next((_words(named[key][0], _TITLE_LIMIT) for key in ("og:title", "twitter:title") if key in named), None)
    return shared or whole or (headings[0] if headings else None)


def _heading(text: str) -> str | None:
    """Return the words of a heading without the mark of its permalink."""
    words = _words(text, _TITLE_LIMIT)
    return words.rstrip("¶#\uf0c1\u200b ") or None if words else None


def _title_element(document: Document) -> str | None:
    from turbohtml import Namespace

    found = document.select("title")[:_MAX_HEADINGS]
    return next(
        (element.text for element in found if element.namespace is Namespace.HTML), None
    )  # pictures have titles


def _author(document: Document, items: list[dict[str, Any]], named: dict[str, list[str]]) -> str | None:
    for item in _pages(items):
        if names := _names(item.get("author")):
            return ", ".join(names[:_MAX_AUTHORS])
    for key in (
        "author",
        "article:author",
        "dc.creator",
        "dcterms.creator",
        "citation_author",
        "parsely-author",
        "byl",
    ):
        if names := _names(named.get(key, [])):
            return ", ".join(names[:_MAX_AUTHORS])
    if document.select_one('[itemprop="author"], a[rel~="author"], .byline') is None:  # one look in place of four
        return None
    for selector in (
        '[itemprop="author"] [itemprop="name"]',
        '[itemprop="author"]',
        'a[rel~="author"]',
        ".byline .author",
    ):
        found = document.select(selector)
        if 0 < len(found) <= _MAX_AUTHORS and (names := _names([element.text for element in found])):
            return ", ".join(names)
    return None


def _names(value: Any) -> list[str]:
    """Return the names in a JSON-LD author, or in a list of texts; addresses are no names."""
    names: list[str] = []
    for one in value if isinstance(value, list) else [value]:
        text = _words(one.get("name") if isinstance(one, dict) else one, _NAME_LIMIT)
        text = _BY.sub("", text) if text else None
        if text and "://" not in text and "@" not in text and text not in names:
            names.append(text)
    return names


_DATES: Final = (
    "article:published_time og:article:published_time datepublished dc.date.issued dcterms.issued dc.date "
    "dcterms.created "
    "citation_publication_date parsely-pub-date sailthru.date pubdate publishdate publish-date publish_date date"
).split()


def _published(document: Document, items: list[dict[str, Any]], named: dict[str, list[str]]) -> str | None:
    for item in _pages(items):
        if found := moment(item.get("datePublished") or item.get("dateCreated") or item.get("uploadDate")):
            return found
    for key in _DATES:
        for text in named.get(key, ()):
            if found := moment(text):
                return found
    for selector in ('[itemprop="datePublished"]', "time[pubdate]", "article time[datetime]", "header time[datetime]"):
        element = document.select_one(selector)
        if element is not None and (found := moment(element.attr("datetime") or element.attr("content"))):
            return found
    times = document.select("main time[datetime]")
    return moment(times[0].attr("datetime")) if len(times) == 1 else None


def _language(document: Document, named: dict[str, list[str]]) -> str | None:
    root = document.root
    stated = [root.attr("lang") or root.attr("xml:lang")] if root is not None else []
    for key in ("content-language", "dc.language", "og:locale"):
        stated.extend(named.get(key, ())[:1])
    equivalent = document.select_one('meta[http-equiv="content-language" i]')
    stated.append(equivalent.attr("content") if equivalent is not None else None)
    for text in stated:
        found = _LANGUAGE.fullmatch((text or "").strip().replace("_", "-"))
        if found:
            return found[0]
    return None


def _base(document: Document, url: str) -> str:
    """Return what relative links are relative to. A `<base>` that leads to no web address does not count."""
    element: Element | None = document.select_one("base[href]")
    href = (element.attr("href") or "").strip() if element is not None else ""
    if not href:
        return url
    try:
        joined = urljoin(url, href)
        return joined if urlsplit(joined).scheme in ("http", "https") else url
    except ValueError:
        return url


def _is_article(document: Document, items: list[dict[str, Any]], named: dict[str, list[str]]) -> bool:
    if any(kind in _DISCUSSIONS for item in items for kind in _types(item)):
        return False
    if "article:published_time" in named or "article" in (text.strip().lower() for text in named.get("og:type", ())):
        return True
    if any(_ARTICLE.match(kind) for item in items for kind in _types(item)):
        return True
    return (
        document.select_one('[itemtype*="schema.org/"][itemtype$="Article"], [itemtype$="schema.org/BlogPosting"]')
        is not None
    )
