"""Which part of a page is its text: what a reader came for, without what is around it.

In this order: a discussion, the place where known software puts its text, the page's own marks (`main`, `article`,
schema.org) when they hold most of the prose, else the whole body without its boilerplate. Where a page reads like an
article its edges are looked for (`edges`); where it is a list, what all its cards say is left out (`repeats`). Every
step works on the one tree, so that code, tables and lists arrive at the converter as they were.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from webseam.fetch.readers.html.boilerplate import remove_boilerplate
from webseam.fetch.readers.html.edges import remove_around
from webseam.fetch.readers.html.measure import is_in_code, is_ordinary, names_in, prose_of
from webseam.fetch.readers.html.platforms import find_platform
from webseam.fetch.readers.html.repeats import remove_repeated
from webseam.fetch.readers.html.survey import survey
from webseam.fetch.readers.html.threads import find_thread

if TYPE_CHECKING:
    from turbohtml import Document, Element

_MARKED: Final = (  # the page's own words for "this is the text", the surest first
    '[itemprop="articleBody"]',
    "main article",
    "main, [role=main]",
    "article",
    "#main-content, #maincontent, #content, #main, .main-content, .entry-content, .post-content, .article-body",
)
_ENOUGH: Final = 500  # characters of prose from which they count, and not all of the text
_NEARLY_ALL: Final = 0.9  # the same for one without the page's heading
_MOST: Final = 0.7  # share of the prose that a marked element must hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The element with the text, what was removed by kind, and how it was found: `platform:sphinx`, `main`, `body`."""

    node: Element
    how: str
    removed: Counter[str] = field(default_factory=Counter)


def select(document: Document, *, is_article: bool = False) -> Selection:
    """Choose the main content of `document`, from which hidden elements are already gone. Changes the document.

    `is_article`: the page calls itself one; what stands around the text is then cut off more boldly.
    """
    from turbohtml import Element

    body = document.select_one("body") or document.root or Element("body")
    if not is_ordinary(body):
        return Selection(node=body, how="body")
    names = names_in(document)
    thread = find_thread(document, names)
    if thread is not None:
        return Selection(node=thread[1], how=f"thread:{thread[0]}")
    found = find_platform(document, names)
    if found is not None:
        platform, node = found
        removed: Counter[str] = Counter()
        for clutter in node.select(f"{platform.clutter}, nav" if platform.clutter else "nav"):
            if not is_in_code(clutter):  # `code` knows what stands beside lines
                removed["navigation"] += 1
                clutter.extract()
        return Selection(node=node, how=f"platform:{platform.name}", removed=removed)
    removed = remove_boilerplate(body, is_article=is_article)
    node, how = marked_part(body)
    surveyed = survey(node)
    if remove_around(surveyed, removed, is_article=is_article):
        how += "+edges"
    elif not is_article:
        remove_repeated(surveyed, removed)
    return Selection(node=node, how=how, removed=removed)


def marked_part(body: Element) -> tuple[Element, str]:
    """Return the smallest element, by the page's own marks, that holds most of what there is to read."""
    prose, size = prose_of(body), len(body.text)
    headings = body.select("h1")
    for selector in _MARKED:
        found = body.select(selector)
        if len(found) != 1:  # many articles are a list of them
            continue
        held = prose_of(found[0]) / prose if prose > _ENOUGH else len(found[0].text) / (size or 1)
        if held >= (_MOST if not headings or found[0].select_one("h1") is not None else _NEARLY_ALL):
            return found[0], selector.split(",")[0]
    return body, "body"
