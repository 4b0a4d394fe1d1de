"""RSS 0.9x to 2.0, Atom and JSON Feed as one shape.

Feeds are often broken: prefixes are taken as they are usually meant, and what stands before a mistake is read.
Wires: the RSS 2.0 and 1.0 specifications with the content, dc, media and itunes modules, RFC 4287, JSON Feed 1.1.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urljoin

from webseam.errors import Outcome
from webseam.fetch.readers import tree
from webseam.fetch.readers.moments import moment
from webseam.fetch.readers.tree import Element
from webseam.fetch.readers.writing import MAX_CONTAINERS, as_title, is_crowded
from webseam.fetch.types import Source, Unreadable
from webseam.links import tidy
from webseam.text import quote

_ATOM: Final = "http://www.w3.org/2005/Atom"
_PREFIXES: Final = {  # the usual prefix of the namespaces that matter; "" where the name alone tells
    "http://purl.org/rss/1.0/": "",
    "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://purl.org/dc/elements/1.1/": "dc:",
    "http://search.yahoo.com/mrss/": "media:",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
    "http://www.w3.org/1999/xhtml": "",
    _ATOM: "atom:",
}
_LINK_KINDS: Final = ("alternate", "", "related", "via")  # `rel` of the link that is the entry's page, the best first
_DATES: Final = "pubDate published issued dc:date updated atom:updated lastBuildDate modified created date".split()
_AUTHORS: Final = ("dc:creator", "author", "atom:author", "itunes:author", "managingEditor")
_TEXTS: Final = "content:encoded content description summary media:description itunes:summary".split()
_ABOUT: Final = ("description", "subtitle", "tagline", "itunes:summary")
_NAMED_MAIL: Final = re.compile(r"\S+@\S+\s*\(([^()]{1,200})\)")
_MAX_FRAGMENT: Final = 200_000  # characters of XHTML of one entry; what is longer is read as text
_INLINE_TAG: Final = re.compile(
    r"</?(?:a|b|i|u|s|em|strong|code|tt|sub|sup|span|font|small|big|p|br|wbr|img)(?:\s[^<>]{0,500})?/?>", re.IGNORECASE
)


@dataclass(slots=True, kw_only=True)
class Entry:
    """One entry as it came: texts may be HTML where `is_html` says so."""

    title: str | None = None
    url: str | None = None
    published: str | None = None
    author: str | None = None
    text: str = ""
    is_html: bool = True
    base: str = ""
    files: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Feed:
    """A feed as it came."""

    title: str | None = None
    text: str = ""
    author: str | None = None
    published: str | None = None
    language: str | None = None
    entries: list[Entry] = field(default_factory=list)


def parse(text: str, source: Source) -> tuple[Feed, str | None]:
    """Return a feed, and what is wrong with it when it could not be read to its end.

    Raises:
        Unreadable: bad_response when this is no feed, unsupported for XML with dangerous entities.
    """
    return _of_json(text, source) if text.lstrip()[:1] == "{" else _of_xml(text, source)


def _no_feed(what: str, source: Source) -> Unreadable:
    detail = f"not a feed but {what} ({len(source.body):,} bytes)"
    return Unreadable(detail, outcome=Outcome.BAD_RESPONSE)


def _of_xml(text: str, source: Source) -> tuple[Feed, str | None]:
    """Return an RSS or Atom feed as far as it is well-formed, and what is wrong with it."""
    found = tree.parse(text, repair=True)
    root = found.root
    if root is None:
        raise _no_feed(f"not XML: {found.error}", source)
    _rename(root)
    if root.name not in ("rss", "rdf:RDF", "RDF", "feed", "entry", "channel"):
        raise _no_feed(f"XML with <{quote(root.name)}> on top", source)
    channel = next(iter(_named(root, "channel")), root)
    entries = channel.elements() if root.name != "entry" else [root]
    if channel is not root:  # RSS 1.0 has the items beside the channel
        entries += root.elements()
    base = _base(channel, source.url)
    home = _address(_link(channel) or "", base)
    is_atom = root.name in ("feed", "entry")
    feed = Feed(
        title=_title(channel, is_atom),
        text=_first(channel, _ABOUT),
        author=_author(channel),
        published=_date(channel),
        language=as_title(_first(channel, ("language",)) or root.attributes.get("xml:lang")),
        entries=[
            _entry(one, base if is_atom else home or base, is_atom) for one in entries if one.name in ("item", "entry")
        ],
    )
    return feed, found.error or (f"{found.left_out:,} elements are too many or too deep" if found.left_out else None)


def _rename(root: Element) -> None:
    """Give all elements their usual prefixes, and none to those of the feed itself."""
    prefixes = {
        name[6:]: _PREFIXES[uri.strip()]
        for name, uri in root.attributes.items()
        if name.startswith("xmlns:") and uri.strip() in _PREFIXES
    }
    own, colon, local = root.name.partition(":")
    if colon and local in ("feed", "entry"):
        prefixes[own] = ""
    elif root.name in ("feed", "entry"):
        prefixes["atom"] = ""
    waiting = [root]
    while waiting:
        one = waiting.pop()
        prefix, colon, local = one.name.partition(":")
        if colon and prefix in prefixes:
            one.name = prefixes[prefix] + local
        waiting.extend(one.elements())


def _named(element: Element, *names: str) -> list[Element]:
    """Return the elements right inside that have one of the names, by the order of the names."""
    inner = element.elements()
    return [one for name in names for one in inner if one.name == name]


def _first(element: Element, names: Iterable[str]) -> str:
    """Return the text of the first element inside, by the order of the names, that has any."""
    return next(filter(None, (one.text() for one in _named(element, *names))), "")


def _entry(element: Element, base: str, is_atom: bool) -> Entry:
    """Return an item of RSS or an entry of Atom."""
    base = _base(element, base)
    media = next(iter(_named(element, "media:group")), element)
    bodies = [*_named(element, *_TEXTS), *_named(media, "media:description")]
    text, is_html = next((found for one in bodies if (found := _typed(one, is_atom))[0]), ("", False))
    return Entry(
        title=_title(element, is_atom) or _title(media, is_atom),
        url=_address(_link(element) or "", base),
        published=_date(element),
        author=_author(element),
        text=text,
        is_html=is_html,
        base=base,
        files=list(filter(None, (_file(one, base) for one in _named(element, "enclosure", "link")))),
    )


def _typed(element: Element, is_atom: bool) -> tuple[str, bool]:
    """Return the text of an entry and whether it is HTML: RSS always may be, Atom says so."""
    kind = element.attributes.get("type", "text" if is_atom else "html").lower()
    if kind in ("xhtml", "application/xhtml+xml"):
        parts = [tree.markup(one, _MAX_FRAGMENT, as_html=True) for one in element.elements()]
        if None not in parts:
            return "".join(filter(None, parts)), True
        return element.text(), False
    if kind in ("text", "html") or kind.startswith("text/"):
        return element.text(), kind.endswith("html")
    return "", False  # a file inside the feed


def _title(element: Element, is_atom: bool) -> str | None:
    """Return a title on one line. Titles of RSS are not meant to be HTML and often are."""
    for one in _named(element, "title", "dc:title", "media:title"):
        words = one.text()
        if "html" in one.attributes.get("type", "text" if is_atom else "html"):
            words = html.unescape(_INLINE_TAG.sub("", words))
        if title := as_title(words):
            return title
    return None


def _date(element: Element) -> str | None:
    return next(filter(None, (moment(one.text()) for one in _named(element, *_DATES))), None)


def _author(element: Element) -> str | None:
    """Return who wrote it; of "mail (name)" the name."""
    for one in _named(element, *_AUTHORS):
        words = _first(one, ("name", "atom:name")) or one.text()
        mail = _NAMED_MAIL.fullmatch(words)
        if author := as_title(mail[1] if mail else words):
            return author
    return None


def _link(element: Element) -> str | None:
    """Return the address of the page that an item, an entry or a feed is about."""
    links = _named(element, "link", "atom:link")
    for kind in _LINK_KINDS:
        for one in links:
            address = one.attributes.get("href") or ("" if one.name == "atom:link" else one.text())
            if address and one.attributes.get("rel", "") == kind:
                return address
    permanent = (one for one in _named(element, "guid") if one.attributes.get("isPermaLink", "true") != "false")
    named = [*permanent, *_named(element, "id")]
    return next((one.text() for one in named if one.text().startswith(("http://", "https://"))), None)


def _base(element: Element, outer: str) -> str:
    return _joined(outer, element.attributes.get("xml:base", ""))


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address.strip())
    except ValueError:  # a bracket that opens no address
        return base


def _address(address: object, base: str) -> str | None:
    """Return an absolute http(s) URL fit to stand between angle brackets, or None."""
    if not isinstance(address, str) or not address.strip():
        return None
    url = tidy(_joined(base, address))
    return url.replace("<", "%3C").replace(">", "%3E") if url else None


def _file(element: Element, base: str) -> str | None:
    """Return a line for a file that comes with an entry: an enclosure of RSS or Atom."""
    if element.name == "link" and element.attributes.get("rel") != "enclosure":
        return None
    attributes = element.attributes
    return _file_line(
        attributes.get("url") or attributes.get("href"), attributes.get("type"), attributes.get("length"), base
    )


def _file_line(address: object, media_type: object, size: object, base: str) -> str | None:
    url = _address(address, base)
    length = f"{int(str(size)):,} bytes" if re.fullmatch(r"[1-9][0-9]{0,14}", str(size)) else None
    facts = ", ".join(filter(None, (as_title(media_type), length)))
    return f"Enclosure: <{url}>" + (f" ({facts})" if facts else "") if url else None


def _of_json(text: str, source: Source) -> tuple[Feed, str | None]:
    """Return a JSON Feed."""
    if is_crowded(text, MAX_CONTAINERS // 2):
        raise _no_feed("JSON of too many parts", source)
    try:
        top = json.loads(text)
    except (ValueError, RecursionError):
        raise _no_feed("JSON that cannot be parsed", source) from None
    if not isinstance(top.get("items"), list):
        raise _no_feed("JSON without items", source)
    base = _address(top.get("home_page_url"), source.url) or source.url
    entries = [_json_entry(one, base) for one in top["items"] if isinstance(one, dict)]
    about = top.get("description")
    return Feed(
        title=as_title(top.get("title")),
        text=about if isinstance(about, str) else "",
        author=_json_author(top),
        language=as_title(top.get("language")),
        entries=entries,
    ), None


def _json_entry(item: dict[str, Any], base: str) -> Entry:
    texts = [item.get(name) for name in ("content_html", "content_text", "summary")]
    place, text = next(((place, one) for place, one in enumerate(texts) if isinstance(one, str) and one), (1, ""))
    files = item.get("attachments")
    lines = [
        _file_line(one.get("url"), one.get("mime_type"), one.get("size_in_bytes"), base)
        for one in (files if isinstance(files, list) else [])
        if isinstance(one, dict)
    ]
    return Entry(
        title=as_title(item.get("title")),
        url=_address(item.get("url") or item.get("external_url"), base),
        published=moment(item.get("date_published")) or moment(item.get("date_modified")),
        author=_json_author(item),
        text=text,
        is_html=place == 0,
        base=base,
        files=list(filter(None, lines)),
    )


def _json_author(thing: dict[str, Any]) -> str | None:
    """Return the names of the authors, of version 1.1 or 1.0."""
    authors = thing.get("authors")
    people = authors if isinstance(authors, list) else [thing.get("author")]
    return as_title(
        ", ".join(one["name"] for one in people if isinstance(one, dict) and isinstance(one.get("name"), str))
    )
