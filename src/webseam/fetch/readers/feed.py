"""The reader of feeds: one heading an entry, with its link, date, author and text.

How HTML inside entries becomes Markdown is the caller's, because that is another reader's work and this one must not
import it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from webseam.fetch.readers.syndication import Entry, Feed, parse
from webseam.fetch.readers.writing import ROOM, decoded, file_name, lines_of, literal
from webseam.fetch.types import Link, Reading, Source
from webseam.text import clip, plain

Converter = Callable[[str, str], str]
"""Turns a fragment of HTML into Markdown: `converter(html, base_url)`."""

READER: Final = "feed"
_MAX_ENTRIES: Final = 200
_TEXT_STEPS: Final = (20_000, 5_000, 2_000, 1_000, 500, 250)  # characters of one entry's text, until all entries fit
_MAX_FRAGMENT: Final = 200_000  # characters of HTML of one entry; what is longer is cut before it is converted
_HEADING: Final = re.compile(r"^#{1,6}(?= )")


def plain_text(fragment: str, base_url: str) -> str:
    """Return HTML as one paragraph of text: the converter when none is given."""
    return literal(plain(fragment))


def read(source: Source, convert: Converter = plain_text) -> Reading:
    """Return a feed as Markdown: its description, then a heading for each entry with what is known about it.

    Args:
        convert: turns the HTML of an entry into Markdown; gets the HTML and the address that its links are relative to.

    Raises:
        Unreadable: bad_response when this is no feed, unsupported for XML with dangerous entities.
    """
    text, notes = decoded(source, xml=True)
    feed, problem = parse(text, source)
    if problem:
        notes.append(f"The feed is broken, entries may be missing: {problem}.")
    entries = [one for one in feed.entries if one.title or one.url or one.text or one.files]
    shown = entries[:_MAX_ENTRIES]
    markdown, missing, shortened = _page(feed, shown, source.url, convert)
    counts = {"entries": len(entries) - len(shown) + missing, "ends of long entries": shortened}
    left_out = [f"{count:,} {kind}" for kind, count in counts.items() if count]
    if left_out:
        notes.append(f"Left out: {', '.join(left_out)} (of {len(entries):,} entries).")
    return Reading(
        markdown=markdown,
        title=feed.title or file_name(source.url),
        author=feed.author,
        published=feed.published or max((entry.published for entry in shown if entry.published), default=None),
        language=feed.language,
        links=tuple(Link(text=one.title or "", url=one.url) for one in shown[: len(shown) - missing] if one.url),
        reader=READER,
        notes=notes,
        truncated=source.truncated or bool(left_out or problem),
    )


def _page(feed: Feed, entries: list[Entry], url: str, convert: Converter) -> tuple[str, int, int]:
    """Return the Markdown of a feed, how many of `entries` found no room, and how many texts were shortened."""
    about = f"{literal(plain(feed.text))}\n\n" if feed.text else ""
    heads = [_head(entry, place) for place, entry in enumerate(entries, 1)]
    texts = [_body(entry, url, convert) for entry in entries]
    room = ROOM - len(about) - sum(map(len, heads))
    for limit in _TEXT_STEPS:
        if sum(min(len(text), limit) for text in texts) <= room:
            break
    cut = [_clipped(text, limit) for text in texts]
    parts = [about]
    used = len(about)
    for head, text in zip(heads, cut, strict=True):
        part = f"{head}\n\n{text}\n\n" if text else f"{head}\n\n"
        used += len(part)
        if used > ROOM and len(parts) > 1:
            break
        parts.append(part)
    shown = len(parts) - 1
    shortened = sum(len(text) > limit for text in texts[:shown])
    return "".join(parts).rstrip() + "\n" if any(parts) else "", len(entries) - shown, shortened


def _head(entry: Entry, place: int) -> str:
    """Return an entry's heading and the line with its address, date and author."""
    title = literal(entry.title or f"Entry {place}")
    facts = [f"<{entry.url}>" if entry.url else "", entry.published or "", literal(entry.author or "")]
    line = " · ".join(filter(None, facts))
    return "\n\n".join(filter(None, [f"## {title}", line, *entry.files]))


def _body(entry: Entry, url: str, convert: Converter) -> str:
    """Return an entry's text as Markdown with its headings below that of the entry."""
    text = entry.text[:_MAX_FRAGMENT].strip()
    if entry.is_html and ("<" in text or "&" in text):
        text = convert(text, entry.base or entry.url or url)
    else:
        text = "\n".join(map(literal, text.split("\n")))
    lines = [line if is_code else _HEADING.sub(_deeper, line, count=1) for line, is_code in lines_of(text)]
    return "\n".join(lines).strip()


def _deeper(mark: re.Match[str]) -> str:
    return "#" * min(len(mark[0]) + 2, 6)


def _clipped(markdown: str, limit: int) -> str:
    """Return Markdown cut after a whole block, or inside the first when that is text and too long."""
    if len(markdown) <= limit:
        return markdown
    end = offset = 0
    in_code = has_code = False
    for line, is_code in lines_of(markdown[:limit]):
        if not line.strip() if not is_code else not in_code:  # between blocks: a blank line, or where code begins
            end = offset
        in_code, has_code = is_code, has_code or is_code
        offset += len(line) + 1
    if end:
        return f"{markdown[:end].rstrip()}\n\n…"
    return "…" if has_code else clip(markdown, limit)
