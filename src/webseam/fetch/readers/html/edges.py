"""Where an article begins and ends among the blocks of its page, and what inside is not part of it.

Each block is judged by `likelihood`; the article is the run of blocks with the greatest sum of what speaks for it, the
maximum subsequence of Pasternack and Roth (WWW 2009): one teaser that reads like prose does not stretch it, one short
line in the middle does not cut it. It is believed only when what it leaves out is little of the page's prose.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from webseam.fetch.readers.html.features import features_of
from webseam.fetch.readers.html.likelihood import likelihoods
from webseam.fetch.readers.html.survey import TAG_BITS, Block, Survey

if TYPE_CHECKING:
    from collections import Counter

_CODE: Final = 2  # blocks of code from which a page that does not call itself an article is left alone
_FEW: Final = 60  # words: an article shorter than this is not believed
_NEUTRAL: Final = 0.45  # likelihood from which a block speaks for being inside
_LEAST: Final = 0.15  # likelihood below which a block inside is left out
_KEPT: Final = (
    TAG_BITS["pre"] | TAG_BITS["td"] | TAG_BITS["th"] | TAG_BITS["dt"] | TAG_BITS["dd"] | TAG_BITS["h1"]
)  # inside an article these are its own: prices in a table look like those in a menu
_HEADINGS: Final = TAG_BITS["h2"] | TAG_BITS["h3"] | TAG_BITS["h4"] | TAG_BITS["h5"] | TAG_BITS["h6"]
_CELL: Final = 0.5  # the least that one of these speaks for: a table at the end belongs to what it follows
_PROSE_HELD: Final = 0.5  # share of the page's prose that an article must hold
_OTHER_PROSE: Final = 0.7  # the same where a page does not call itself one: then it must be nearly all of it,
_OTHER_HELD: Final = 0.5  # hold so much of its words,
_OTHER_SENTENCES: Final = 0.7  # be made of sentences,
_OTHER_INSIDE: Final = 0.15  # and have next to nothing left out in its middle


def remove_around(surveyed: Survey, removed: Counter[str], *, is_article: bool) -> bool:
    """Remove what stands around the article. Returns False, and changes nothing, when unsure where it is."""
    if not is_article and sum(box.tag == "pre" for box in surveyed.boxes) >= _CODE:
        return False
    blocks = surveyed.blocks
    words, prose = surveyed.boxes[0].words, surveyed.boxes[0].prose
    if len(blocks) < 2 or (not is_article and prose < words * _OTHER_HELD * _OTHER_SENTENCES):
        return False  # nothing below could believe it
    likely = likelihoods(features_of(surveyed))
    first, last = _run(likely, blocks)
    keep = [
        first <= at <= last and (likely[at] > _LEAST or bool(block.box.tags & _KEPT)) for at, block in enumerate(blocks)
    ]
    for at in range(last - 1, first - 1, -1):  # what follows a heading is lost without it
        if blocks[at].box.tags & _HEADINGS and keep[at + 1]:
            keep[at] = True
    if not _is_believed(blocks, keep, first, last, is_article=is_article):
        return False
    heading = max((at for at in range(first) if blocks[at].box.tags & TAG_BITS["h1"]), default=None)
    if heading is not None:
        keep[heading] = True  # what the article is called, whatever stands between
    _remove(surveyed, keep, first, last, removed)
    return True


def _run(likely: list[float], blocks: list[Block]) -> tuple[int, int]:
    """Return the first and the last block of the run whose sum of words, for or against, is greatest."""
    first = last = start = 0
    best, held = 0.0, 0.0
    for at, (chance, block) in enumerate(zip(likely, blocks, strict=True)):
        if held <= 0:
            held, start = 0.0, at
        speaks = max(chance, _CELL) if block.box.tags & _KEPT else chance
        held += (speaks - _NEUTRAL) * block.words
        if held > best:
            best, first, last = held, start, at
    return first, last


def _is_believed(blocks: list[Block], keep: list[bool], first: int, last: int, *, is_article: bool) -> bool:
    held = prose = all_prose = inside = 0
    for at, block in enumerate(blocks):
        words = block.words if block.is_prose else 0
        all_prose += words
        if keep[at]:
            held += block.words
            prose += words
        elif first <= at <= last:
            inside += block.words
    if held < _FEW:
        return False
    if is_article:
        return prose >= all_prose * _PROSE_HELD
    return (
        held >= sum(block.words for block in blocks) * _OTHER_HELD
        and prose >= all_prose * _OTHER_PROSE
        and prose >= held * _OTHER_SENTENCES
        and inside <= held * _OTHER_INSIDE
    )


def _remove(surveyed: Survey, keep: list[bool], first: int, last: int, removed: Counter[str]) -> None:
    """Take out the boxes with nothing to keep, and the words of the others. Pictures stay inside the article."""
    kept_before = [0, *accumulate(keep)]
    gone_until = -1  # blocks that went with a box around them
    for box in surveyed.boxes[1:]:
        end = box.start + box.blocks
        if kept_before[end] > kept_before[box.start] or (box.start < gone_until and end <= gone_until and box.blocks):
            continue
        if box.blocks == 0 and first < box.start <= last:
            continue
        if box.blocks:
            removed["around"] += 1
            gone_until = end
        box.element.extract()
    for at, block in enumerate(surveyed.blocks):
        box = block.box
        if not keep[at] and kept_before[box.start + box.blocks] > kept_before[box.start]:
            for node in block.nodes:  # those of boxes that went stay in them: a fragment may lead there
                node.extract()
