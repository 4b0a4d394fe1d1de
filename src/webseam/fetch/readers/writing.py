"""What the readers of text write with: decoded text with its note, code fences, names, and a sheet with limited room.

Data can be far larger than anyone reads. `fit` lays a document out whole when it fits and otherwise tighter and tighter
until it does, counting what was left out, so that a model gets the shape of all of it instead of the first megabyte.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from webseam.fetch import fences
from webseam.fetch.types import Reading, Source
from webseam.text import clean, clip, squeeze

ROOM: Final = 60_000  # characters that data may take: 15,000 tokens, below what one answer to a model may hold
MAX_CONTAINERS: Final = 300_000  # arrays and objects; each takes 60 to 150 bytes as a list and 300 as a dict, 2 as text
_MAX_TITLE: Final = 200  # characters; a longer one is text, not a title
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_NOT_IN_LABEL = re.compile(r"[^\w+#.-]")
_MARKUP = re.compile(r"!(?=\[)|(?<=\])\(|<(?=[A-Za-z/!?])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much of a document is laid out.

    Attributes:
        siblings: items of one array, members of one object or children of one element.
        text: characters of one string.
        depth: levels of nesting.
    """

    siblings: int
    text: int
    depth: int


# From everything to an outline. The deepest is below what a recursive writer may use of the interpreter's stack.
_STEPS: Final = tuple(
    Bounds(siblings=siblings, text=text, depth=depth)
    for siblings, text, depth in (
        (ROOM, ROOM, 100),
        (5_000, 8_000, 60),
        (2_000, 4_000, 40),
        (1_000, 2_000, 30),
        (500, 1_000, 20),
        (250, 1_000, 20),
        (120, 800, 16),
        (60, 600, 12),
        (30, 400, 12),
        (15, 400, 10),
        (8, 200, 8),
        (4, 100, 6),
    )
)


class Full(Exception):
    """A sheet has no room left."""


@dataclass(slots=True)
class Sheet:
    """Lines of a document laid out within `bounds`, and what was left out of it, by kind."""

    bounds: Bounds
    lines: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    room: int = ROOM
    cut: bool = False

    def write(self, line: str) -> None:
        """Add a line.

        Raises:
            Full: it does not fit; nothing was added.
        """
        self.room -= len(line) + 1
        if self.room < 0:
            raise Full
        self.lines.append(line)

    def shorten(self, text: str) -> str:
        """Return `text` within the bound of one string; the rest is counted."""
        if len(text) <= self.bounds.text:
            return text
        rest = len(text) - self.bounds.text
        self.left_out["characters of long texts"] += rest
        return f"{text[: self.bounds.text]}… ({rest:,} more characters)"

    def notes(self, total: int) -> list[str]:
        """Return one sentence about what is missing of a document of `total` characters, or nothing."""
        if self.cut:
            return [f"Too large to lay out whole: the first part of {total:,} characters is shown."]
        if not self.left_out:
            return []
        return ["Left out: " + ", ".join(f"{count:,} {kind}" for kind, count in self.left_out.items()) + "."]


def fit(write: Callable[[Sheet], None]) -> Sheet:
    """Return the fullest sheet on which `write` finds room; one cut at its end when there is none."""
    for bounds in _STEPS:
        sheet = Sheet(bounds)
        try:
            write(sheet)
        except Full:
            continue
        return sheet
    sheet.cut = True
    return sheet


def decoded(source: Source, *, xml: bool = False) -> tuple[str, list[str]]:
    """Return the text of a source with LF line ends, and a note when some of its bytes were no text."""
    from webseam.fetch.decode import decode

    found = decode(source.body, source.charset, xml=xml)
    text = found.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not found.replaced:
        return text, []
    return text, [f"{found.replaced:,} characters could not be decoded and are shown as \ufffd."]


def is_crowded(text: str, limit: int = MAX_CONTAINERS) -> bool:
    """True when JSON may hold so many arrays and objects that taking it apart would take a hundred times its size."""
    return text.count("{") + text.count("[") > limit


def fenced(code: str, label: str = "") -> str:
    """Return `code` verbatim as a fenced block, with a fence longer than any inside. "" when there is nothing in it."""
    if not code.strip():
        return ""
    return fences.fenced(code.rstrip("\n"), _NOT_IN_LABEL.sub("", label)) + "\n"


def lines_of(markdown: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of Markdown, each with whether it belongs to a fenced block."""
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        yield line, bool(fence or mark)
        if not fence:
            fence = mark[1] if mark else ""
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""


def literal(text: str) -> str:
    """Return text that is no Markdown on one line, such that it neither loads an image nor becomes a link or a tag."""
    return _MARKUP.sub(r"\\\g<0>", squeeze(text))


def as_title(text: object) -> str | None:
    """Return somebody's title on one line, cleaned; None when it is no text or empty."""
    if not isinstance(text, str):
        return None
    return clip(squeeze(clean(text[: 10 * _MAX_TITLE])), _MAX_TITLE) or None


def file_name(url: str) -> str | None:
    """Return the last segment of a URL's path as a person would write it, or None."""
    try:
        path = urlsplit(url).path
    except ValueError:  # a bracket that opens no address
        return None
    return as_title(unquote(path.rstrip("/").rpartition("/")[2]))


def extension(url: str) -> str:
    """Return the last extension of a URL's file name in lower case and without its dot, or ""."""
    _, dot, last = (file_name(url) or "").lower().rpartition(".")
    return last if dot else ""


def raw(text: str, source: Source, label: str, *, reader: str, notes: list[str]) -> Reading:
    """Return the text of a source as it came, in a fence, up to `ROOM` characters."""
    rest = len(text) - ROOM
    if rest > 0:
        notes = [*notes, f"Left out: {rest:,} of {len(text):,} characters."]
    return Reading(
        markdown=fenced(text[:ROOM], label),
        title=file_name(source.url),
        reader=reader,
        notes=notes,
        truncated=source.truncated or rest > 0,
    )
