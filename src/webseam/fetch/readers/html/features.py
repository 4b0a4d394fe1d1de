"""What is known about each block, as numbers between about 0 and 1: the words that `likelihood` puts weights on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from math import log1p
from typing import Final

from webseam.fetch.readers.html.survey import NAME_BITS, TAG_BITS, Block, Box, Survey

_HEADINGS: Final = TAG_BITS["h2"] | TAG_BITS["h3"] | TAG_BITS["h4"] | TAG_BITS["h5"] | TAG_BITS["h6"]
_CELLS: Final = TAG_BITS["td"] | TAG_BITS["th"] | TAG_BITS["dt"] | TAG_BITS["dd"]
_OWN_TAGS: Final = {
    "h1": TAG_BITS["h1"],
    "heading": _HEADINGS,
    "paragraph": TAG_BITS["p"],
    "item": TAG_BITS["li"],
    "cell": _CELLS,
    "code": TAG_BITS["pre"],
    "quote": TAG_BITS["blockquote"],
    "figure": TAG_BITS["figure"] | TAG_BITS["figcaption"],
    "form": TAG_BITS["form"],
    "header": TAG_BITS["header"],
    "footer": TAG_BITS["footer"],
    "aside": TAG_BITS["aside"],
    "details": TAG_BITS["details"],
    "article": TAG_BITS["article"],
    "in a link": TAG_BITS["a"],
}
_SECTION: Final = 80  # words from which a box is a part of the page
_TEASER: Final = 120  # words
_HALF: Final = 0.4  # share of the words
_REPEATED: Final = 3  # siblings alike from which they are a list of cards
_LEVELS: Final = 6  # above a block in which such a list is looked for
_LABEL: Final = 60  # characters by which a text is known again
_SIDES: Final = 2  # blocks before and after that count as its neighbours
NAMES: Final = (
    "bias",
    "long",
    "1 to 3 words",
    "4 to 8 words",
    "20 words and more",
    "40 words and more",
    "linked",
    "linked and short",
    "all linked",
    "stops",
    "ends like a sentence",
    "characters a word",
    *_OWN_TAGS,
    *(f"near {name}" for name in NAME_BITS),
    *(f"within {name}" for name in NAME_BITS),
    "prose before",
    "prose after",
    "no prose before",
    "no prose after",
    "long neighbours",
    "linked neighbours",
    "before h1",
    "far after prose",
    "far before prose",
    "box linked",
    "box short",
    "box prose",
    "box prose of the most",
    "in a teaser",
    "outer prose",
    "outer linked",
    "outermost prose",
    "place",
    "half share",
    "half linked",
    "half short",
    "figure text",
    "section share",
    "section linked",
    "section short",
    "among cards",
    "cards linked",
    "again",
    "page long",
    "page prose",
    "page linked",
)


def features_of(surveyed: Survey) -> list[list[float]]:
    """Return the numbers of each block, in the order of `NAMES`."""
    page = _Page.of(surveyed)
    return [
        [
            1.0,
            *_own(block, page.lengths[at], page.links[at]),
            *_hints(block.box),
            *_place(page, at),
            *_around(page, block.box, at),
            *_repetition(page, block),
            *page.shape,
        ]
        for at, block in enumerate(surveyed.blocks)
    ]


@dataclass(slots=True)
class _Page:
    """What the features of all blocks of a page share; lists are by block."""

    surveyed: Survey
    total: int  # words
    all_prose: int
    before: list[int]  # words of prose before each block, and one more at the end
    lengths: list[float]
    links: list[float]
    last_prose: list[float]
    next_prose: list[float]
    h1: int
    beside: Counter[int]  # box -> prose right in it
    most_beside: int
    teasers: set[int]
    shape: list[float]
    seen: Counter[str] = field(default_factory=Counter)
    cards: dict[int, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, surveyed: Survey) -> _Page:
        blocks, top = surveyed.blocks, surveyed.boxes[0]
        total = top.words or 1
        prose = [block.words if block.is_prose else 0 for block in blocks]
        beside: Counter[int] = Counter()
        for block, words in zip(blocks, prose, strict=True):
            beside[id(block.box.parent or block.box)] += words
        return cls(
            surveyed=surveyed,
            total=total,
            all_prose=sum(prose) or 1,
            before=[0, *accumulate(prose)],
            lengths=[min(log1p(block.words) / 4, 1.2) for block in blocks],
            links=[block.linked / block.words for block in blocks],
            last_prose=_distances(prose),
            next_prose=_distances(prose[::-1])[::-1],
            h1=next((at for at, block in enumerate(blocks) if block.box.tags & TAG_BITS["h1"]), -1),
            beside=beside,
            most_beside=max(beside.values(), default=0) or 1,
            teasers=_teasers(blocks),
            shape=[log1p(total) / 8, sum(prose) / total, top.linked / total],
        )


def _own(block: Block, length: float, linked: float) -> tuple[float, ...]:
    words = block.words
    return (
        length,
        float(words <= 3),
        float(3 < words <= 8),
        float(words >= 20),
        float(words >= 40),
        linked,
        linked if words < 12 else 0.0,
        float(linked > 0.9),
        min(1.0, 5 * block.stops / words),
        float(block.text.rstrip()[-1:] in '.!?:…”"'),
        min(block.chars / words / 10, 1.5),
    )


def _hints(box: Box) -> list[float]:
    """Return what the tags and names of a box hint at; pages have few of these, many times."""
    names = box.names | (box.parent.names if box.parent is not None else 0)
    return _bits(box.tags, names, box.within_names)


@lru_cache(maxsize=8_192)
def _bits(tags: int, near: int, within: int) -> list[float]:
    return [
        *[1.0 if tags & bit else 0.0 for bit in _OWN_TAGS.values()],
        *[1.0 if near & bit else 0.0 for bit in NAME_BITS.values()],
        *[1.0 if within & bit else 0.0 for bit in NAME_BITS.values()],
    ]


def _place(page: _Page, at: int) -> tuple[float, ...]:
    before, after = page.before[at], page.before[-1] - page.before[at + 1]
    low, high = max(0, at - _SIDES), at + _SIDES + 1
    near = page.lengths[low:high]
    return (
        before / page.all_prose,
        after / page.all_prose,
        float(before == 0),
        float(after == 0),
        sum(near) / len(near),
        sum(page.links[low:high]) / len(near),
        float(at < page.h1),
        page.last_prose[at],
        page.next_prose[at],
    )


def _around(page: _Page, box: Box, at: int) -> tuple[float, ...]:
    parent = box.parent or box
    outer = parent.parent or parent
    half = _half(box, page.total)
    section = _section(box)
    names = box.names | (box.parent.names if box.parent is not None else 0)
    return (
        *_density(parent),
        parent.prose / page.all_prose,
        page.beside[id(parent)] / page.most_beside,
        float(id(box) in page.teasers or id(parent) in page.teasers or id(outer) in page.teasers),
        outer.prose / page.all_prose,
        outer.linked / (outer.words or 1),
        (outer.parent or outer).prose / page.all_prose,
        at / len(page.links),
        half.words / page.total,
        *_density(half),
        float(bool(names & NAME_BITS["picture"]) and not box.tags & TAG_BITS["p"]),
        section.words / page.total,
        *_density(section),
    )


def _density(box: Box) -> tuple[float, float]:
    """Return the share of links in a box, and how short its blocks are."""
    words = box.words or 1
    return box.linked / words, min(1.0, 5 * box.blocks / words)


def _repetition(page: _Page, block: Block) -> tuple[float, float, float]:
    repeated, linked = _cards(block.box, page.surveyed.repeats, page.cards)
    label = block.text.strip().lower()[:_LABEL]
    again = page.seen[label]
    page.seen[label] += 1
    return repeated, linked, min(again, 4) / 4


def _distances(prose: list[int]) -> list[float]:
    """Return for each block how far behind the last prose it stands: 0 for prose, 1 for ten blocks and more."""
    found: list[float] = []
    away = 10
    for words in prose:
        away = 0 if words else min(away + 1, 10)
        found.append(away / 10)
    return found


def _section(box: Box) -> Box:
    while box.parent is not None and box.words < _SECTION:
        box = box.parent
    return box


def _teasers(blocks: list[Block]) -> set[int]:
    """Return the boxes that a heading which is a link stands in: what follows it leads to another page."""
    found: set[int] = set()
    for block in blocks:
        box = block.box
        if not box.tags & _HEADINGS or block.linked < block.words * 0.8 or box.parent is None:
            continue
        inner: Box | None = box.parent
        while inner is not None and inner.words < _TEASER:
            found.add(id(inner))
            inner = inner.parent
    return found


def _half(box: Box, total: int) -> Box:
    """Return the outermost box around a block that is not most of the page."""
    while box.parent is not None and box.parent.words < total * _HALF:
        box = box.parent
    return box


def _cards(
    box: Box, repeats: Counter[tuple[int, tuple[str, str | None]]], known: dict[int, tuple[float, float]]
) -> tuple[float, float]:
    """Return how many boxes like the one around a block stand in a row, and how much of theirs is links."""
    found = known.get(id(box))
    if found is not None:
        return found
    most, linked = 0, 0.0
    inner: Box | None = box
    for _ in range(_LEVELS):
        if inner is None or inner.parent is None:
            break
        count = repeats[id(inner.parent), inner.look]
        if count >= _REPEATED and count > most and inner.tag not in _TEXT_TAGS:
            most, linked = count, inner.linked / (inner.words or 1)
        inner = inner.parent
    result = (min(most, 10) / 10, linked)
    known[id(box)] = result
    return result


_TEXT_TAGS: Final = frozenset("p td th tr dt dd h2 h3 h4 h5 h6 pre blockquote".split())
