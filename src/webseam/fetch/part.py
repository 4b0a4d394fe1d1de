"""The part of a page that was asked for: cleaned, and cut at a cursor, a fragment, a budget or a question.

Everything a cursor or a fragment counts is counted on the cleaned text of the whole page, so that two calls agree.
Pure, and from plain values to plain values: a large page is cut in a process that can be killed, as it was read in one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from webseam.fetch import budget
from webseam.fetch.clean import clean_markdown
from webseam.fetch.focus import focus
from webseam.fetch.frame import without_images
from webseam.model import Heading, Passage
from webseam.net.redact import redact_url
from webseam.text import quote

FOCUS_TOKENS: Final = 2_000  # of passages, when the caller names no bound
_GAP: Final = "[…]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which part of a page.

    Attributes:
        url: what cursors are bound to. fragment: where to start; "" = at the top. anchors: those the reader found, as
            offsets into the text before cleaning.
        limit: most tokens, None = all. is_markdown: False leaves images and raw HTML as they are.
    """

    url: str
    fragment: str = ""
    cursor: str | None = None
    focus: str | None = None
    outline: bool = False
    limit: int | None = None
    anchors: dict[str, int] = field(default_factory=dict)
    is_markdown: bool = True


@dataclass(slots=True, kw_only=True)
class Part:
    """What a page has of that; the fields are those of `Page`."""

    markdown: str = ""
    tokens: int = 0
    truncated: bool = False
    next_cursor: str | None = None
    passages: tuple[Passage, ...] = ()
    outline: tuple[Heading, ...] = ()
    removed: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def part_of(text: str, wanted: Wanted) -> Part:
    """Return the part of a page that is wanted; `text` is what a reader made of the whole page.

    Raises:
        RequestError: the cursor belongs to another page, or the page has changed.
    """
    markdown, removed = clean_markdown(text)
    if wanted.is_markdown:
        markdown = without_images(markdown)
    part = Part(tokens=budget.tokens(markdown), removed=removed)
    if not markdown.strip():
        return part
    if wanted.outline:
        _outline(part, markdown)
    elif wanted.focus is not None:
        _focus(part, markdown, wanted)
    else:
        _cut(part, markdown, wanted, _start(part, text, markdown, wanted))
    return part


def _start(part: Part, text: str, markdown: str, wanted: Wanted) -> int:
    """Return the offset from which the page is wanted."""
    if wanted.cursor is not None:
        return budget.decode_cursor(wanted.cursor.strip(), wanted.url, markdown)
    fragment = wanted.fragment
    if not fragment or fragment.startswith((":~:", "!", "/")):  # a text to highlight, a route of an application
        return 0
    offset = wanted.anchors.get(fragment)
    if offset is not None:
        before = clean_markdown(text[:offset])[0]
        start: int | None = min(len(without_images(before)), len(markdown))
    else:
        start = budget.start_of(markdown, fragment)
    named = quote(redact_url(f"#{fragment}"))  # services pass tokens in fragments
    if start is None:
        part.notes.append(f"nothing on the page is called {named}; this is the page from its start")
        return 0
    if start:
        skipped = budget.tokens(markdown[:start])
        part.notes.append(f"this starts at {named}; {skipped:,} tokens stand before it")
    return start


def _cut(part: Part, markdown: str, wanted: Wanted, start: int) -> None:
    if wanted.limit is None and start == 0:
        part.markdown = markdown
        return
    piece = budget.cut(markdown, wanted.limit or part.tokens + 1, start)
    part.markdown, part.truncated = piece.text, piece.truncated
    if not piece.truncated:
        return
    if left := budget.left_out(markdown, piece.end):
        part.notes.append(f"{left}; go on with the cursor, or ask for passages with a focus")
    part.next_cursor = budget.encode_cursor(wanted.url, markdown, piece.end)


def _focus(part: Part, markdown: str, wanted: Wanted) -> None:
    limit = wanted.limit or FOCUS_TOKENS
    if part.tokens <= limit:
        part.markdown = markdown
        part.passages = (Passage(0, len(markdown), markdown, (), 1.0),)
        return
    room = limit * budget.CHARACTERS_A_TOKEN
    passages, text = _passages(markdown, wanted.focus or "", limit, room)
    if not passages:
        part.notes.append("no word of the focus is on the page; this is its start")
        _cut(part, markdown, replace(wanted, limit=limit), 0)
        return
    part.passages, part.truncated, part.markdown = tuple(passages), True, text
    count = f"{len(passages)} passage{'s' if len(passages) > 1 else ''}"
    part.notes.append(f"{count} of a page of {part.tokens:,} tokens; without the focus the whole page is read")
    end = passages[-1].end
    end += len(markdown[end:]) - len(markdown[end:].lstrip("\n"))  # blank lines alone are no piece to go on with
    part.next_cursor = budget.encode_cursor(wanted.url, markdown, end) if markdown[end:].strip() else None


def _passages(markdown: str, question: str, limit: int, room: int) -> tuple[list[Passage], str]:
    """Return the passages that matter, and their text within `room` characters, marks of fences and gaps included."""
    tried = limit
    while True:
        passages = focus(markdown, question, tried)
        text = _joined(passages, markdown, room)
        over = budget.tokens(text) - limit
        if over <= 0 or tried == 1:
            return passages, text
        tried = max(1, tried - over)


def _joined(passages: list[Passage], markdown: str, room: int) -> str:
    """Return passages one after the other; where there is room, each behind a line that says where it stands."""
    texts = [passage.text.strip("\n") for passage in passages]
    free = room - sum(map(len, texts)) - 2 * len(texts)
    parts: list[str] = []
    at = 0
    for passage, text in zip(passages, texts, strict=True):
        path = passage.heading_path[:-1] if text.startswith("#") else passage.heading_path  # a heading says itself
        mark = f"{_GAP} {' › '.join(path)}".strip()
        if markdown[at : passage.start].strip() and len(mark) + 2 <= free:
            parts.append(mark)
            free -= len(mark) + 2
        parts.append(text)
        at = passage.end
    return "\n\n".join(parts) + "\n" if parts else ""


def _outline(part: Part, markdown: str) -> None:
    part.outline, part.truncated = tuple(budget.outline(markdown)), True
    lines = [_outline_line(heading) for heading in part.outline]
    part.markdown = "\n".join(lines) + "\n" if lines else "The page has no headings.\n"


def _outline_line(heading: Heading) -> str:
    anchor = f" #{heading.anchor}" if heading.anchor else ""
    return f"{'  ' * (heading.level - 1)}- {heading.text}{anchor} (about {heading.tokens:,} tokens)"
