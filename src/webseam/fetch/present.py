"""From a reading to the page a caller gets: cleaned, and cut to the part that was asked for.

Everything a cursor or a fragment counts is counted on the cleaned text of the whole page, so that two calls agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from webseam.errors import Outcome
from webseam.fetch import budget
from webseam.fetch.clean import clean_markdown
from webseam.fetch.focus import focus
from webseam.fetch.frame import without_images
from webseam.fetch.reading import RAW
from webseam.fetch.request import FetchRequest
from webseam.fetch.types import Reading
from webseam.model import Heading, Link, Page, Passage
from webseam.text import clean, squeeze

FOCUS_TOKENS: Final = 2_000  # of passages, when the caller names no bound
_SHARE_OF_MARKS: Final = 0.9  # of a budget goes to passages; the rest to the lines that say where they are from
_GAP: Final = "[…]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A reading and where it came from."""

    reading: Reading
    final_url: str
    status: int | None = None
    media_type: str | None = None
    site: str | None = None
    fetched_at: str | None = None
    cached: bool = False
    notes: list[str] = field(default_factory=list)


def present(found: Found, request: FetchRequest, *, max_tokens: int | None = None) -> Page:
    """Return the page, or the part of it that `request` asks for.

    Args:
        max_tokens: the bound when the request has none; None = the whole page.

    Raises:
        RequestError: the cursor belongs to another page, or the page has changed.
    """
    reading = found.reading
    markdown, removed = clean_markdown(reading.markdown)
    if reading.reader != RAW:
        markdown = without_images(markdown)
    for kind, count in reading.removed.items():
        if count:
            removed[kind] = removed.get(kind, 0) + count
    notes = [*found.notes, *reading.notes]
    page = Page(
        url=request.url,
        final_url=found.final_url,
        status=found.status,
        media_type=found.media_type,
        title=_line(reading.title),
        author=_line(reading.author),
        published=reading.published,
        language=reading.language,
        reader=reading.reader.partition(" (")[0] or None,  # what stands in brackets is for those who tune readers
        site=found.site,
        links=tuple(Link(text=_line(link.text) or "", url=clean(link.url)) for link in reading.links),
        tokens=budget.tokens(markdown),
        truncated=reading.truncated,
        removed=dict(sorted(removed.items())),
        fetched_at=found.fetched_at,
        cached=found.cached,
    )
    if not markdown.strip():
        detail = "there is nothing to read on it"
        return replace(page, outcome=Outcome.EMPTY, detail=detail, notes=_lines(notes))
    limit = request.max_tokens or max_tokens or None
    if request.outline:
        part = _outlined(page, markdown)
    elif request.focus is not None:
        part = _focused(page, markdown, request, limit, notes)
    else:
        part = _cut(page, markdown, request, limit, _start(reading, markdown, request, notes), notes)
    return replace(part, notes=_lines(notes))


def _start(reading: Reading, markdown: str, request: FetchRequest, notes: list[str]) -> int:
    """Return the offset from which the page is wanted."""
    if request.cursor is not None:
        return budget.decode_cursor(request.cursor.strip(), request.url, markdown)
    fragment = request.fragment
    if not fragment or fragment.startswith((":~:", "!", "/")):  # a text to highlight, a route of an application
        return 0
    offset = reading.anchors.get(fragment)
    if offset is not None:
        before = clean_markdown(reading.markdown[:offset])[0]
        start: int | None = min(len(without_images(before)), len(markdown))
    else:
        start = budget.start_of(markdown, fragment)
    if start is None:
        notes.append(f"nothing on the page is called #{fragment}; this is the page from its start")
        return 0
    if start:
        notes.append(f"this starts at #{fragment}; {budget.tokens(markdown[:start]):,} tokens stand before it")
    return start


def _cut(page: Page, markdown: str, request: FetchRequest, limit: int | None, start: int, notes: list[str]) -> Page:
    if limit is None and start == 0:
        return replace(page, markdown=markdown)
    piece = budget.cut(markdown, limit or budget.tokens(markdown) + 1, start)
    if not piece.truncated:
        return replace(page, markdown=piece.text)
    if left := budget.left_out(markdown, piece.end):
        notes.append(f"{left}; go on with the cursor, or ask for passages with a focus")
    cursor = budget.encode_cursor(request.url, markdown, piece.end)
    return replace(page, markdown=piece.text, truncated=True, next_cursor=cursor)


def _focused(page: Page, markdown: str, request: FetchRequest, limit: int | None, notes: list[str]) -> Page:
    limit = limit or FOCUS_TOKENS
    if page.tokens <= limit:
        return replace(page, markdown=markdown, passages=(Passage(0, len(markdown), markdown, (), 1.0),))
    passages = focus(markdown, request.focus or "", max(1, int(limit * _SHARE_OF_MARKS)))
    if not passages:
        notes.append("no word of the focus is on the page; this is its start")
        return _cut(page, markdown, request, limit, 0, notes)
    text = _joined(passages, markdown, limit * budget.CHARACTERS_A_TOKEN)
    notes.append(
        f"{len(passages)} passage{'s' if len(passages) > 1 else ''} of a page of {page.tokens:,} tokens; without the focus"
        " the whole page is read"
    )
    end = passages[-1].end
    cursor = budget.encode_cursor(request.url, markdown, end) if markdown[end:].strip() else None
    return replace(page, markdown=text, passages=tuple(passages), truncated=True, next_cursor=cursor)


def _joined(passages: list[Passage], markdown: str, room: int) -> str:
    """Return passages one after the other, each behind a line that says where on the page it stands."""
    parts: list[str] = []
    used = sum(len(passage.text.strip("\n")) for passage in passages)
    at = 0
    for passage in passages:
        gap = markdown[at : passage.start].strip() != ""
        path = " › ".join(passage.heading_path)
        if passage.text.lstrip().startswith("#"):  # it says itself
            path = " › ".join(passage.heading_path[:-1])
        mark = f"{_GAP} {path}".strip() if gap else ""
        if mark and used + len(mark) + len(parts) * 4 <= room:
            parts.append(mark)
            used += len(mark)
        parts.append(passage.text.strip("\n"))
        at = passage.end
    return "\n\n".join(parts) + "\n"


def _outlined(page: Page, markdown: str) -> Page:
    headings = tuple(budget.outline(markdown))
    lines = [_outline_line(heading) for heading in headings]
    text = "\n".join(lines) + "\n" if lines else "The page has no headings.\n"
    return replace(page, markdown=text, outline=headings, truncated=True)


def _outline_line(heading: Heading) -> str:
    anchor = f" #{heading.anchor}" if heading.anchor else ""
    return f"{'  ' * (heading.level - 1)}- {heading.text}{anchor} (about {heading.tokens:,} tokens)"


def _line(text: str | None) -> str | None:
    return (squeeze(clean(text)) or None) if text else None


def _lines(notes: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(squeeze(clean(note)) for note in notes))
