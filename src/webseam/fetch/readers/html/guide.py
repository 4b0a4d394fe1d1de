"""A second opinion on where an article begins and ends, from trafilatura.

Only its choice of text is used, to tell which blocks of our own tree are the article; what it makes of code, tables and
lists is thrown away. It parses with lxml, which loses text below 256 levels and takes minutes over 200,000
attributes: pages beyond the limits here go without. Its time is in lxml passes over the tree, one per rule, so it is
given the smallest tree that can hold the text, and its fast mode: the slow one only adds fallbacks that we have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from webseam.fetch.readers.html.measure import depth_of

if TYPE_CHECKING:
    from collections import Counter

    from turbohtml import Element

_MAX_MARKUP: Final = 1_500_000  # characters; above, seconds
_MAX_ELEMENTS: Final = 15_000
_MAX_DEPTH: Final = 120  # levels; lxml's limit is 256, and it counts its own
_MAX_ATTRIBUTES: Final = 2_000  # of one element: lxml compares each with all others
_CODE: Final = 2  # blocks of code from which a page that does not call itself an article is left alone
_ALIGNED: Final = 0.6  # share of its text that must be found again in our blocks
_FEW: Final = 600  # letters: a text shorter than this is not believed when more prose than it stands around it
_SENTENCE: Final = 40  # letters
_SHORT: Final = 24  # letters of a block that could be anywhere: a date, a name, "Share"
_NEAR: Final = 200  # letters that may lie between a short block and the one before
_LONG: Final = 80  # letters of a block whose beginning and end are looked for instead of all of it

_BLOCKS: Final = (
    "p li h1 h2 h3 h4 h5 h6 pre blockquote td th dt dd figcaption summary address div section article caption center"
).split()
_KEPT: Final = frozenset("pre td th dt dd h1".split())
_LOST: Final = "pre, table, dl, figure, aside, details, .admonition, .callout"  # it takes them for decoration
_LETTERS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Trust:
    """When to believe it: shares of the letters of what it found.

    Attributes:
        prose: so much of it must be sentences; less, and the page is a list of things.
        inside: no more than this was passed over in the middle; more, and it took the wrong parts.
        outside: no more prose than this stands around it; more, and it took the wrong part.
    """

    prose: float
    inside: float
    outside: float


_ARTICLE: Final = _Trust(0.4, 0.8, 6.0)  # pages that call themselves articles; whole other articles may follow
_OTHER: Final = _Trust(0.7, 0.15, 1.0)


def prune_by_guide(root: Element, removed: Counter[str], *, is_article: bool) -> bool:
    """Remove the blocks of `root` that are around the article. Returns False, and changes nothing, when unsure."""
    has_code = len(root.select("pre")) >= _CODE
    if has_code and not is_article:
        return False
    trust = _ARTICLE if is_article and not has_code else _OTHER
    if not _is_fit(root):
        return False
    article = _article_of(root)
    if not article:
        return False
    blocks = [(block, _letters(_own_text(block))) for block in root.iter_elements(_BLOCKS)]
    blocks = [(block, letters) for block, letters in blocks if letters]
    known = _align([letters for _, letters in blocks], article)
    found = _Found.of(blocks, known)
    if found is None or found.held < len(article) * _ALIGNED or not found.is_believed(trust):
        return False
    first, last = found.first, found.last
    keep = {block for at, (block, _) in enumerate(blocks) if known[at] or _is_kept(block, first < at < last)}
    _prune(root, keep, blocks[first][0], blocks[last][0], removed)
    return True


@dataclass(frozen=True, slots=True)
class _Found:
    """What trafilatura found among the blocks of a page, in letters; prose is long blocks that are not links."""

    first: int  # the block where it begins
    last: int
    held: int
    held_prose: int
    missed_inside: int
    missed_prose: int  # before and after

    @classmethod
    def of(cls, blocks: list[tuple[Element, str]], known: list[bool]) -> _Found | None:
        anchors = [at for at, (_, letters) in enumerate(blocks) if known[at] and len(letters) > _SHORT]
        if not anchors:
            return None
        first, last = anchors[0], anchors[-1]
        held = held_prose = missed_inside = missed_prose = 0
        for at, (block, letters) in enumerate(blocks):
            if known[at]:
                held += len(letters)
                held_prose += len(letters) if len(letters) > _SENTENCE else 0
            elif first < at < last:
                missed_inside += len(letters)
            elif len(letters) > _LONG and not _is_linked(block, letters):
                missed_prose += len(letters)
        return cls(first, last, held, held_prose, missed_inside, missed_prose)

    def is_believed(self, trust: _Trust) -> bool:
        """Tell whether this is the article, and not a few sentences of a page that is something else."""
        if self.missed_prose > self.held and self.held < _FEW:
            return False
        return (
            self.held_prose >= self.held * trust.prose
            and self.missed_inside <= self.held * trust.inside
            and self.missed_prose <= self.held * trust.outside
        )


def _is_kept(block: Element, inside: bool) -> bool:
    """Tell whether a block that trafilatura left out stays: what it is known to lose, between what it found."""
    return inside and (block.tag in _KEPT or block.closest(_LOST) is not None)


def _prune(root: Element, keep: set[Element], first: Element, last: Element, removed: Counter[str]) -> None:
    """Remove every element that holds nothing to keep. Pictures stay between the first block and the last."""
    from turbohtml import Element, Text

    holding = set(keep)
    for block in keep:
        for above in block.ancestors:
            if above in holding or not isinstance(above, Element):
                break
            holding.add(above)
    place = -1  # before, in or after the article
    stack: list[Element] = [root]
    while stack:
        element = stack.pop()
        if element not in holding and element != root:
            if place == 0 and (element.tag in _SILENT or not element.text.strip()):
                continue
            removed["around"] += bool(element.text.strip())
            element.extract()
            continue
        if element == first:
            place = 0
        if element in keep and element.tag not in _CONTAINERS_ONLY:
            if element == last:
                place = 1
            continue
        inner: list[Element] = []
        for child in list(element.children):
            if isinstance(child, Element):
                if child in holding or child.tag in _BLOCK_TAGS or child.select_one(_BLOCK_SELECTOR) is not None:
                    inner.append(child)
                elif element not in keep:
                    child.extract()
            elif isinstance(child, Text) and element not in keep and child.data.strip():
                child.extract()
        if element == last:
            place = 1
        stack.extend(reversed(inner))


_BLOCK_SELECTOR: Final = ", ".join(_BLOCKS) + ", ul, ol, table"
_SILENT: Final = frozenset("img picture figure hr br video audio math".split())
_CONTAINERS_ONLY: Final = frozenset("div section article li td th dd blockquote address center".split())
_BLOCK_TAGS: Final = frozenset(
    [*_BLOCKS, "ul", "ol", "table", "tbody", "thead", "tfoot", "tr", "dl", "figure", "main", "img", "picture", "hr"]
)


def _own_text(block: Element) -> str:
    """Return the text of `block` that is in no block inside."""
    from turbohtml import Element, Text

    parts: list[str] = []
    for child in block.children:
        if isinstance(child, Text):
            parts.append(child.data)
        elif (
            isinstance(child, Element)
            and child.tag not in _CONTAINERS
            and (child.tag in _PHRASES or child.select_one(_BLOCK_SELECTOR) is None)
        ):
            parts.append(child.text)
    return " ".join(parts)


_CONTAINERS: Final = frozenset([*_BLOCKS, "ul", "ol", "table", "tbody", "tr", "dl", "figure", "main"])
_PHRASES: Final = frozenset("a em strong b i code br img sup sub small".split())


def _letters(text: str) -> str:
    return "".join(_LETTERS.findall(text)).lower()


def _align(blocks: list[str], article: str) -> list[bool]:
    """Tell for each block whether it is in the article. Short ones must be where the ones before them end."""
    known: list[bool] = []
    at = 0
    for letters in blocks:
        if len(letters) > _LONG:
            found = article.find(letters[:_LONG])
            if found < 0:
                found = article.find(letters[-_LONG:])
        elif len(letters) > _SHORT:
            found = article.find(letters)
        else:
            found = article.find(letters, at, at + len(letters) + _NEAR)
        known.append(found >= 0)
        if found >= at:
            at = found + len(letters)
    return known


def _is_linked(block: Element, letters: str) -> bool:
    """Tell whether most of a block is links, as in teasers of other pages."""
    linked = sum(len(_letters(link.text)) for link in block.iter_elements("a"))
    return linked > len(letters) / 2 or block.closest("a") is not None


def _article_of(root: Element) -> str:
    """Return the letters of what trafilatura takes for the article."""
    import logging

    import trafilatura

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it reports pages without text as errors
    markup = root.html
    if len(markup) > _MAX_MARKUP:
        return ""
    page = f"<html><body>{markup}</body></html>"
    text = trafilatura.extract(page, fast=True, include_comments=False, output_format="txt")
    return _letters(text or "")


def _is_fit(root: Element) -> bool:
    """Tell whether lxml can be trusted with this part of the page."""
    for elements, element in enumerate(root.iter_elements()):
        if elements >= _MAX_ELEMENTS or len(element.attrs) > _MAX_ATTRIBUTES:
            return False
    return depth_of(root, _MAX_DEPTH) <= _MAX_DEPTH
