"""From a reading to the page a caller gets.

Small pages are cut here. Large ones are cut where they were read, in a process that can be killed: what a page is made
of decides how long finding its blocks takes, and the deadline is the caller's.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from webseam.errors import Outcome, RequestError
from webseam.fetch.part import Part, Wanted, part_of
from webseam.fetch.reading import MAX_MEMORY, RAW
from webseam.fetch.request import FetchRequest
from webseam.fetch.said import text_of, text_or_none
from webseam.fetch.types import Reading, Source, Unreadable
from webseam.fetch.worker import make_in_worker
from webseam.model import Heading, Link, Page, Passage
from webseam.text import clean, squeeze

_CUT_HERE: Final = 32_768  # characters of a page that is cut in this process: milliseconds, half a second at worst
_CUT_IN_PART: Final = 400_000  # characters that are cut of a page that as a whole takes too much memory
_CUT_AT_ONCE: Final = 2_048  # of one that is cut in the event loop; others of this process in a thread beside it


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


async def present(found: Found, request: FetchRequest, *, expires_at: float, max_tokens: int | None = None) -> Page:
    """Return the page, or the part of it that `request` asks for.

    Args:
        expires_at: an instant of `time.monotonic`.
        max_tokens: the bound when the request has none; None or 0 = the whole page.

    Raises:
        RequestError: the cursor belongs to another page, or the page has changed.
        Unreadable: `timeout`, it could not be cut by then; otherwise as `run_in_worker`.
    """
    reading = found.reading
    wanted = Wanted(
        url=request.url,
        fragment=request.fragment,
        cursor=request.cursor,
        focus=request.focus,
        outline=request.outline,
        limit=request.max_tokens or max_tokens or None,
        anchors=reading.anchors if request.fragment in reading.anchors else {},
        is_markdown=reading.reader != RAW,
    )
    part = await _part(reading.markdown, wanted, expires_at)
    removed = part.removed
    for kind, count in reading.removed.items():
        if count:
            removed[kind] = removed.get(kind, 0) + count
    page = Page(
        url=request.url,
        final_url=found.final_url,
        status=found.status,
        media_type=found.media_type,
        title=_line(reading.title),
        markdown=part.markdown,
        author=_line(reading.author),
        published=reading.published,
        language=reading.language,
        reader=reading.reader.partition(" (")[0] or None,  # what stands in brackets is for those who tune readers
        site=found.site,
        links=tuple(Link(text=_line(link.text) or "", url=clean(link.url)) for link in reading.links),
        tokens=part.tokens,
        truncated=reading.truncated or part.truncated,
        next_cursor=part.next_cursor,
        passages=part.passages,
        outline=part.outline,
        removed=dict(sorted(removed.items())),
        fetched_at=found.fetched_at,
        cached=found.cached,
        notes=tuple(dict.fromkeys(squeeze(clean(note)) for note in (*found.notes, *reading.notes, *part.notes))),
    )
    if not part.markdown:
        return replace(page, outcome=Outcome.EMPTY, detail="there is nothing to read on it")
    return page


async def _part(text: str, wanted: Wanted, expires_at: float) -> Part:
    if len(text) <= _CUT_AT_ONCE:
        return part_of(text, wanted)
    if len(text) <= _CUT_HERE:
        try:
            async with asyncio.timeout(None if math.isinf(expires_at) else expires_at - time.monotonic()):
                return await asyncio.to_thread(part_of, text, wanted)
        except TimeoutError:
            raise Unreadable("the page was not cut at the deadline", outcome=Outcome.TIMEOUT) from None
    try:
        return await _cut_in_worker(text, wanted, expires_at)
    except Unreadable as error:
        if error.outcome is not Outcome.BAD_RESPONSE or len(text) <= _CUT_IN_PART:
            raise
        problem = error.detail
    # What it takes to cut a page is not known before; a part of a page is better than none.
    beginning = text[: text.rfind("\n", _CUT_IN_PART // 2, _CUT_IN_PART) + 1 or _CUT_IN_PART]
    part = await _cut_in_worker(beginning, wanted, expires_at)
    part.truncated = True
    part.notes.append(f"{problem}; this is about its first {len(beginning):,} of {len(text):,} characters")
    return part


async def _cut_in_worker(text: str, wanted: Wanted, expires_at: float) -> Part:
    source = Source(body=text.encode("utf-8", "surrogatepass"), url=wanted.url)
    made = await make_in_worker("parting", source, expires_at=expires_at, max_memory=MAX_MEMORY, options=asdict(wanted))
    if "invalid" in made:
        raise _invalid(made["invalid"])
    try:
        return _checked(made)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Unreadable("the page could not be cut", outcome=Outcome.BAD_RESPONSE) from None


def _invalid(said: Any) -> RequestError | Unreadable:
    try:
        name, problem, hint = said
        return RequestError(text_of(name), text_of(problem), hint=text_or_none(hint))
    except (TypeError, ValueError):
        return Unreadable("the page could not be cut", outcome=Outcome.BAD_RESPONSE)


def _checked(made: Mapping[str, Any]) -> Part:
    """Return a part that a child made, each value of the kind it must be."""
    return Part(
        markdown=text_of(made["markdown"]),
        tokens=int(made["tokens"]),
        truncated=bool(made["truncated"]),
        next_cursor=text_or_none(made["next_cursor"]),
        passages=tuple(
            Passage(
                int(one["start"]),
                int(one["end"]),
                text_of(one["text"]),
                tuple(map(text_of, one["heading_path"])),
                float(one["score"]),
            )
            for one in made["passages"]
        ),
        outline=tuple(
            Heading(
                int(one["level"]), text_of(one["text"]), text_of(one["anchor"]), int(one["offset"]), int(one["tokens"])
            )
            for one in made["outline"]
        ),
        removed={text_of(kind): int(count) for kind, count in made["removed"].items()},
        notes=[text_of(note) for note in made["notes"]],
    )


def _line(text: str | None) -> str | None:
    return (squeeze(clean(text)) or None) if text else None
