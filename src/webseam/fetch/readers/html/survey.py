"""A page as a row of blocks, each with what tells text from what stands around it: sizes, links, names, neighbours.

One pass over the tree and one over its blocks, with numbers alone left at the end, so that `likelihood` can judge a
page of a thousand blocks in a few milliseconds. A block is a run of words between two borders of paragraphs; a box is
an element that makes such borders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from turbohtml import Element, Text

INLINE: Final = frozenset(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math nobr picture q rp rt "
    "ruby s samp small source span strike strong sub sup time tt u var wbr".split()
)
_SILENT: Final = frozenset("script style noscript template svg iframe option select canvas head".split())
_KNOWN_TAGS: Final = (
    "h1 h2 h3 h4 h5 h6 p li td th dt dd pre blockquote figure figcaption form header footer aside section article a ul "
    "table details main"
).split()
TAG_BITS: Final = {tag: 1 << at for at, tag in enumerate(_KNOWN_TAGS)}
_LETTERS_A_WORD: Final = 9  # where words are not written apart
_PROSE: Final = 15  # words from which a block that is not links is prose

_NAMES: Final = {  # what the names of classes and ids hint at
    "title": r"title|head(?:line|ing)",
    "byline": r"author|byline|meta|date|posted|publish|tags?\b|categor|breadcrumb|kicker|reading",
    "share": r"shar(?:e|ing)|social|follow|print|email",
    "related": r"relat|recommend|more|also|next|prev|popular|trending|teaser|promo|latest|recirc|suggest|read-",
    "card": r"card|tile|grid|carousel|slide|swiper|listing|item|thumb|feed",
    "comment": r"comment|repl(?:y|ies)|discuss|disqus|respon[ds]",
    "review": r"review|rating|star|testimonial|q-?and-?a|questions?\b",
    "offer": r"newsletter|subscri|sign-?up|cta|banner|advert|sponsor|\bads?\b|paywall|donat|popup|modal|drawer|cart",
    "price": r"price|buy|stock|shipping|quantity|wishlist|compare|variant|swatch",
    "control": r"btn|button|filter|sort|tool|tab\b|tabs|pag(?:er|ing|ination)|nav|menu|search|option|form|toggle",
    "footer": r"foot|bottom|copyright|legal|disclaimer|credits?\b",
    "text": r"content|body|text|article|story|entry|prose|post|rich|rte|markdown|descr|detail|summary|paragraph",
    "picture": r"caption|gallery|image|photo|media|video|player|figure|credit",
    "notice": r"alert|notice|message|error|cookie|consent|skip|hidden|tooltip|announce",
    "side": r"side|aside|widget|rail|module|panel|box",
}
NAME_BITS: Final = {name: 1 << at for at, name in enumerate(_NAMES)}
_PATTERNS: Final = [(NAME_BITS[name], re.compile(pattern)) for name, pattern in _NAMES.items()]
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SENTENCE = re.compile(r"[.,;:!?…。，](?:\s|$)")


@dataclass(slots=True)
class Box:
    """An element with borders, and what is inside in words.

    Attributes:
        names: bits of `NAME_BITS` of its own class and id; `within_names` adds those of what it is in.
        tags: bits of `TAG_BITS` of itself and what it is in.
        look: what siblings of the same kind share.
    """

    element: Element
    parent: Box | None
    tag: str
    names: int
    within_names: int
    tags: int
    look: tuple[str, str | None]
    words: int = 0
    linked: int = 0
    blocks: int = 0
    prose: int = 0  # words of prose
    start: int = 0  # blocks of the page before it


@dataclass(slots=True)
class Block:
    """A run of words: where it stands, how many words and characters, how many of the words are links."""

    box: Box
    words: int = 0
    linked: int = 0
    chars: int = 0
    stops: int = 0  # marks at which a reader takes breath
    nodes: list[Text] = field(default_factory=list)
    text: str = ""

    @property
    def is_prose(self) -> bool:
        return self.words >= _PROSE and self.linked < self.words * 0.4


@dataclass(slots=True)
class Survey:
    """The blocks of an element in order, and its boxes, the outermost first."""

    boxes: list[Box]
    blocks: list[Block]
    repeats: Counter[tuple[int, tuple[str, str | None]]]  # (parent, look) -> how many siblings share it


def survey(root: Element) -> Survey:
    """Measure what is below `root`. Linear in its size; the element is not changed."""
    from turbohtml import Element, Text

    top = _box(root, None, root.tag)
    boxes, blocks = [top], []
    repeats: dict[tuple[int, tuple[str, str | None]], int] = {}
    current: Block | None = None
    stack: list[tuple[Iterator[Any], Box, bool, bool]] = []
    children: Iterator[Any] = iter(root.children)
    box, in_link, is_border = top, False, True
    while True:
        for child in children:
            if type(child) is Text:
                text = child.data
                words = len(text.split())
                if words:  # most texts are layout
                    if not text.isascii():
                        words = max(words, len(text) // _LETTERS_A_WORD)
                    if current is None or current.box is not box:
                        current = Block(box)
                        blocks.append(current)
                    current.words += words
                    if in_link:
                        current.linked += words
                    current.nodes.append(child)
                continue
            if type(child) is not Element:
                continue
            tag = child.tag
            if tag in INLINE:
                stack.append((children, box, in_link, is_border))
                children, in_link, is_border = iter(child.children), in_link or tag == "a", False
                break
            if tag in _SILENT:
                continue
            inner = _box(child, box, tag)
            inner.start = len(blocks)
            boxes.append(inner)
            alike = (id(box), inner.look)
            repeats[alike] = repeats.get(alike, 0) + 1
            current = None
            stack.append((children, box, in_link, is_border))
            children, box, is_border = iter(child.children), inner, True
            break
        else:
            if is_border:
                current = None
            if not stack:
                break
            children, box, in_link, is_border = stack.pop()
    _add_up(boxes, blocks)
    return Survey(boxes, blocks, Counter(repeats))


def _box(element: Element, parent: Box | None, tag: str) -> Box:
    name, own_id = element.attr("class"), element.attr("id")
    names = (names_of(name) if name else 0) | (names_of(own_id) if own_id else 0)
    bit = TAG_BITS.get(tag, 0)
    look = (tag, name)
    if parent is None:
        return Box(element, None, tag, names, names, bit, look)
    return Box(element, parent, tag, names, names | parent.within_names, bit | parent.tags, look)


@lru_cache(maxsize=8_192)
def names_of(name: str) -> int:
    """Return the bits of what a class or an id hints at."""
    bits = 0
    for word in name.split():  # the same words come in ever new combinations
        bits |= _names_of_word(word)
    return bits


@lru_cache(maxsize=8_192)
def _names_of_word(word: str) -> int:
    spread = _CAMEL.sub("-", word).lower()
    return sum([bit for bit, pattern in _PATTERNS if pattern.search(spread)])


def _add_up(boxes: list[Box], blocks: list[Block]) -> None:
    for block in blocks:
        words = block.words
        block.text = text = " ".join([node.data for node in block.nodes])
        block.chars = len(text)
        block.stops = len(_SENTENCE.findall(text))
        box = block.box
        box.words += words
        box.linked += block.linked
        box.blocks += 1
        box.prose += words if block.is_prose else 0
    for box in reversed(boxes):  # inner ones come after their parents
        parent = box.parent
        if parent is not None and box.blocks:
            parent.words += box.words
            parent.linked += box.linked
            parent.blocks += box.blocks
            parent.prose += box.prose
