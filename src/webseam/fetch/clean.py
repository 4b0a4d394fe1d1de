"""What a page's Markdown loses before anyone reads it: characters that only a machine sees, and those that steer.

`webseam.text` decides which characters those are and where a joiner is part of a letter; this adds the count by kind
that a page reports, because a page with a thousand tag characters is one to distrust. Code is treated as the rest:
whatever has a picture stays, spaces at the ends of lines and tabs too.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from webseam import text as cleaning

# Sequences a terminal acts on. Strings (OSC and its kin) end on their own line here: taking everything up to a far
# BEL away would let a page hide its own text from the reader. One-byte forms are mis-decoded letters far more often.
_ESCAPE = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HIDDEN = re.compile(f"[{cleaning.HIDDEN}]+")

_KINDS: Final = (  # first row that has the character
    ("tag", 0xE0000, 0xE007F),
    ("variation", 0xE0100, 0xE01EF),
    ("variation", 0xFE00, 0xFE0F),
    ("variation", 0x180B, 0x180F),
    ("direction", 0x200E, 0x200F),
    ("direction", 0x202A, 0x202E),
    ("direction", 0x2066, 0x2069),
    ("direction", 0x061C, 0x061C),
    ("zero_width", 0x200B, 0x200D),
    ("zero_width", 0x2060, 0x2060),
    ("zero_width", 0xFEFF, 0xFEFF),
    ("soft_hyphen", 0x00AD, 0x00AD),
    ("filler", 0x3164, 0x3164),
    ("filler", 0x115F, 0x1160),
    ("filler", 0xFFA0, 0xFFA0),
)
_OTHER: Final = "invisible"

_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:[ \t]+\"[^\"]{0,500}\")?\)|\[[^\[\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_STYLE = re.compile(r"\\([!-/:-@\[-`{-~])|`+|\*+|~~|(?<!\w)_+|_+(?!\w)")  # an escaped mark is none


def clean_markdown(text: str) -> tuple[str, dict[str, int]]:
    """Return `text` without invisible, direction and control characters, and how many went, by kind.

    Kinds: tag, variation, direction, zero_width, soft_hyphen, filler, invisible (any other), escape (whole terminal
    sequences), control, surrogate (each made U+FFFD). Joiners and emoji selectors stay where the letters around them
    need them and are not counted. Line ends become LF.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    removed: Counter[str] = Counter()
    if not text.isascii():
        text, surrogates = _SURROGATE.subn("\ufffd", text)
        removed["surrogate"] = surrogates

        def keep_needed(found: re.Match[str]) -> str:
            kept = _needed(found)
            removed.update(_kind(character) for character in found[0])
            removed.subtract(_kind(character) for character in kept)
            return kept

        text = _HIDDEN.sub(keep_needed, text)
    # After the hidden ones: a zero-width space inside a sequence must not keep it from being recognised.
    if "\x1b" in text:
        text, removed["escape"] = _ESCAPE.subn("", text)
    if _CONTROL.search(text):
        text, removed["control"] = _CONTROL.subn("", text)
    return text, {kind: count for kind, count in sorted(removed.items()) if count}


def _needed(found: re.Match[str]) -> str:
    """Return what `webseam.text.clean` keeps of a run of hidden characters between its two neighbours."""
    run = found[0]
    if len(run) > 2:  # what it would answer, without asking: runs are how bytes are smuggled
        return ""
    start, end = found.span()
    before, after = found.string[start - 1 : start], found.string[end : end + 1]
    if not before.isprintable() or not after.isprintable():
        return ""  # beside a line end or a control character nothing joins
    kept = cleaning.clean(before + run + after)
    return kept[len(before) : len(kept) - len(after)]


def _kind(character: str) -> str:
    point = ord(character)
    return next((kind for kind, low, high in _KINDS if low <= point <= high), _OTHER)


def inline_text(markdown: str) -> str:
    """Return the words of a piece of inline Markdown on one line: marks, tags and link targets left out."""
    text = _TAG.sub("", markdown) if "<" in markdown else markdown
    for _ in range(2 if "](" in text or "][" in text else 0):  # an image inside a link
        text = _LINK.sub(r"\1", text)
    return " ".join(_STYLE.sub(r"\1", text).split())
