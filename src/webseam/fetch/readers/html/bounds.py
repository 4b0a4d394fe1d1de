"""How much of a page is given to the parser, and how much of its text to what comes after.

A tree takes up to forty times the memory of its markup, so five megabytes of `<` would take a quarter of a gigabyte
before anything here could count. What counts is cheap to count before: every tag begins with the same character.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from turbohtml import Element

_MAX_TAGS: Final = 120_000  # takes up to 85 MiB; the largest pages that people wrote have 50,000
_MAX_SMALL_TAGS: Final = 210_000  # of a page whose tags are so small that they take no more memory than that
_SMALL: Final = 1_300_000  # characters of markup
_STEP: Final = 65_536  # characters looked at at a time
_MAX_TEXT: Final = 1_000_000  # characters: ten times what any model reads at once
_DATA: Final = ("script", "style", "SCRIPT", "STYLE", "!--")
_MAX_RUNS: Final = 100_000  # pieces that text is in: each costs as much as a thousand characters


def bound_markup(markup: str) -> str:
    """Return `markup`, cut before the tag that would be one too many, or in text longer than what is read.

    Linear, and without a copy when nothing is cut.
    """
    tags = markup.count("<")
    if tags > _MAX_TAGS and (tags > _MAX_SMALL_TAGS or len(markup) > _SMALL):
        markup = _cut_tags(markup)
    return _cut_endless(markup) if len(markup) > _MAX_TEXT else markup


def _cut_tags(markup: str) -> str:
    left = _MAX_TAGS
    at = 0
    while left >= (here := markup.count("<", at, at + _STEP)):
        left -= here
        at += _STEP
    for _ in range(left):
        at = markup.index("<", at) + 1
    return markup[: markup.index("<", at)]


def _cut_endless(markup: str) -> str:
    """Cut where text goes on and on without a tag; scripts may, because they are never read."""
    at = 0
    while len(markup) - at > _MAX_TEXT:
        end = markup.find("<", at)
        end = len(markup) if end < 0 else end
        if end - at > _MAX_TEXT and not markup.startswith(_DATA, at, at + 8):
            text = markup.find(">", at, end) + 1  # a tag may be as long as the picture in it
            if end - text > _MAX_TEXT:
                return markup[: text + _MAX_TEXT]
        at = end + 1
    return markup


def bound_text(root: Element) -> bool:
    """Remove the text of `root` beyond what is read. Returns whether there was any."""
    from turbohtml import Text

    left, runs, is_cut = _MAX_TEXT, 0, False
    for node in list(root.descendants) if _may_exceed(root) else ():
        if not isinstance(node, Text):
            continue
        runs += 1
        size = len(node.data)
        if left <= 0 or runs > _MAX_RUNS:
            node.extract()
            is_cut = True
        elif size > left:
            node.data = node.data[:left]
            is_cut = True
        left -= size
    return is_cut


def _may_exceed(root: Element) -> bool:
    """Tell whether there is so much text that it must be counted."""
    return len(root.text) > _MAX_RUNS
