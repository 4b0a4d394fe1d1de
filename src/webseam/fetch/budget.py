"""A page within a budget: where to cut, how to go on exactly there, and what there is besides.

Cuts fall between blocks. Only a block larger than a whole budget is cut inside, and then both halves are made valid
again: a code fence is closed and reopened, a table gets its head again. Those additions are told apart from the page's
own text, so that the pieces of a page always add up to the page.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from webseam.errors import RequestError
from webseam.fetch.blocks import Block, Leaf, closes, leaves, split
from webseam.fetch.clean import inline_text
from webseam.links import canonical
from webseam.model import Heading

CHARACTERS_A_TOKEN: Final = 4  # an estimate for English and code; no tokenizer is loaded for it
_FULL: Final = 0.5  # share of a budget below which a piece is worth a cut inside the giant block that follows
_LARGEST_HEAD: Final = 0.25  # share of a budget that the repeated head of a table may take
_NAMED_SECTIONS: Final = 8  # headings named of what was left out
_CURSOR_VERSION: Final = 1
_HASH: Final = 6  # bytes of each hash in a cursor: it has to tell pages apart, not to withstand a forger
_CHECK: Final = 3  # bytes over the rest: a model that copies a cursor wrongly should hear so
_EXCERPT_HEAD: Final = 400  # characters of a table's head that an excerpt may repeat however short it is
_SPELLED: Final = str.maketrans({"ß": "sz", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l"})  # as docutils does
_JOINING: Final = "\u200d\ufe0f"

_EXPLICIT = re.compile(r"\{#([^{}\s]{1,200})\}\s*$|<a\s[^<>]{0,200}?(?:id|name)=[\"']([^\"'<>]{1,200})[\"']")
_PERMALINK = re.compile(r"\[(?:¶|#|🔗|§|Permalink)\]\([^()\s#]{0,2000}#([^()\s]{1,500})(?:[ \t]+\"[^\"\n]{0,500}\")?\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A piece of a page.

    Attributes:
        text: `prefix + markdown[start:end] + suffix`.
        prefix, suffix: what makes a piece valid that begins or ends inside a code block or a table; else "".
        truncated: the page goes on behind `end`.
        left: tokens behind `end`, estimated.
    """

    text: str
    start: int
    end: int
    prefix: str = ""
    suffix: str = ""
    truncated: bool = False
    left: int = 0


def tokens(text: str) -> int:
    """Return about how many tokens a model counts in `text`."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def cut(markdown: str, max_tokens: int, start: int = 0) -> Cut:
    """Return the piece of `markdown` from the offset `start` that fits into `max_tokens`.

    The next piece starts at the `end` of this one. A piece is never empty unless nothing is left: with a budget of a
    few characters it is longer than that by the marks that keep it valid and one character.

    Raises:
        RequestError: a budget below one token, an offset outside the page.
    """
    if max_tokens < 1:
        raise RequestError("max_tokens", f"{max_tokens} is below one token")
    if not 0 <= start <= len(markdown):
        raise RequestError("start", f"{start} is outside the page, which has {len(markdown)} characters")
    page = _Page(markdown)
    limit = max_tokens * CHARACTERS_A_TOKEN
    prefix = page.prefix(start, int(limit * _LARGEST_HEAD))
    room = max(1, limit - len(prefix))
    end = len(markdown) if len(markdown) - start <= room else page.border(start, room, limit)
    if not markdown[end:].strip():
        end = len(markdown)
    suffix = page.suffix(start, end)
    return Cut(
        text=prefix + markdown[start:end] + suffix,
        start=start,
        end=end,
        prefix=prefix,
        suffix=suffix,
        truncated=end < len(markdown),
        left=tokens(markdown[end:]),
    )


def excerpts(markdown: str, ranges: Sequence[tuple[int, int]]) -> list[str]:
    """Return the pieces of `markdown` at these offsets, made valid as `cut` does where one cuts a block."""
    page = _Page(markdown)
    return [
        page.prefix(start, max(_EXCERPT_HEAD, (end - start) // 2)) + markdown[start:end] + page.suffix(start, end)
        for start, end in ranges
    ]


def left_out(markdown: str, end: int) -> str:
    """Return what a page has behind the offset `end`, as a sentence without its stop; "" when nothing is left."""
    rest = markdown[end:]
    if not rest.strip():
        return ""
    names = [heading.text for heading in outline(markdown) if heading.offset >= end and heading.text]
    more = f" and {len(names) - _NAMED_SECTIONS} more" if len(names) > _NAMED_SECTIONS else ""
    sections = f", with the sections {'; '.join(names[:_NAMED_SECTIONS])}{more}" if names else ""
    return f"about {tokens(rest):,} of {tokens(markdown):,} tokens are left out{sections}"


class _Page:
    """A page and its blocks, asked where it may be cut."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown
        self.blocks = split(markdown)
        self._starts = [block.start for block in self.blocks]
        self._ends = [block.end for block in self.blocks]

    def border(self, start: int, room: int, limit: int) -> int:
        """Return the best end of a piece from `start` with at most `room` characters, when not all of it fits."""
        last = bisect_right(self._ends, start + room)  # the first block that does not fit
        if last == len(self.blocks):
            return len(self.markdown)
        straddling = self.blocks[last]
        index = last
        while index > 0 and self.blocks[index - 1].kind == "heading" and self.blocks[index - 1].start >= start:
            index -= 1  # a heading goes with what it is the heading of
        end = min(self.blocks[index].start, start + room)
        is_giant = straddling.end - straddling.start > limit
        if end > start and (index < last or not is_giant or (end - start) / room >= _FULL):
            return end
        if straddling.start > start and not is_giant:
            return min(straddling.start, start + room)  # after headings alone: better than half a code block
        return self._inner_border(straddling, start, room, limit)

    def _inner_border(self, block: Block, start: int, room: int, limit: int) -> int:
        """Return where to cut inside a block that is larger than any piece, or that the last piece was cut in."""
        parts = leaves(self.markdown, block)
        here = next((leaf for leaf in parts if leaf.end > start + room), parts[-1])
        end = here.start if start < here.start <= start + room else 0
        if end and (here.end - here.start <= limit or (end - start) / room >= _FULL):
            return end
        return self._line_border(here, start, room)

    def _line_border(self, leaf: Leaf, start: int, room: int) -> int:
        """Return a line's end within a leaf, or a word's where one line is longer than the room."""
        markdown = self.markdown
        closing = _closing(leaf)
        room = max(1, room - len(closing))
        border = markdown.rfind("\n", start, start + room) + 1
        if border > max(start, leaf.start, _head_end(markdown, leaf)):
            is_mark = leaf.end - border <= len(closing) and closes(markdown[border : leaf.end], closing.strip(" >\t\n"))
            return leaf.end if is_mark else border  # the closing line alone would make an empty block of the next piece
        if leaf.start > start:
            return min(leaf.start, start + room)
        end = start + max(1, room - 1)
        space = markdown.rfind(" ", start + room // 2, end) + 1
        if space > start:
            return space
        while end < len(markdown) and (markdown[end] in _JOINING or unicodedata.combining(markdown[end])):
            end += 1  # a letter is not cut from its accent
        return end

    def _leaf_at(self, offset: int) -> Leaf | None:
        """Return the leaf that the offset is inside of, None at a border."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or not self._starts[index] < offset < self.blocks[index].end:
            return None
        parts = leaves(self.markdown, self.blocks[index])
        return next((leaf for leaf in parts if leaf.start < offset < leaf.end), None)

    def prefix(self, start: int, largest: int) -> str:
        """Return what reopens the code block or table that the offset is inside of, in about `largest` characters."""
        leaf = self._leaf_at(start)
        if leaf is None or start < _head_end(self.markdown, leaf):
            return ""
        if leaf.opening:
            opening = leaf.opening if len(leaf.opening) <= largest else _fence(leaf.opening)
            return f"{_container(leaf.prefix)}{opening}\n"
        if leaf.kind == "table":
            head = self.markdown[leaf.start + len(leaf.prefix) : _head_end(self.markdown, leaf)]
            head = _container(leaf.prefix) + head
            return head if len(head) <= largest else ""
        return ""

    def suffix(self, start: int, end: int) -> str:
        """Return what closes the code block that the offset `end` is inside of."""
        leaf = self._leaf_at(end)
        if leaf is None or not leaf.opening or end < _head_end(self.markdown, leaf) or end == start:
            return ""
        return _closing(leaf) if self.markdown[end - 1] == "\n" else "\n" + _closing(leaf)


def _fence(opening: str) -> str:
    return opening[: len(opening) - len(opening.lstrip(opening[0]))]


def _head_end(markdown: str, leaf: Leaf) -> int:
    """Return where the lines end that a leaf cannot do without: the opening of a fence, the head of a table."""
    lines = 1 if leaf.opening else 2 if leaf.kind == "table" else 0
    end = leaf.start
    for _ in range(lines):
        end = markdown.find("\n", end, leaf.end) + 1 or leaf.end
    return end


def _closing(leaf: Leaf) -> str:
    """Return the line that closes a fence in its containers; "" for other leaves."""
    if not leaf.opening:
        return ""
    quoted = "".join(character if character in "> \t" else " " for character in leaf.prefix)
    return f"{quoted}{_fence(leaf.opening)}\n"


def _container(prefix: str) -> str:
    """Return marks that put what follows where `prefix` had it, without what the list items had said before.

    Four columns of indentation would make code of it, so deeper places become list items again.
    """
    quoted = "".join(character if character in "> \t" else " " for character in prefix).expandtabs(4)
    width = len(quoted)
    if ">" in quoted or width < 4:
        return quoted
    return "- " * (width // 2 - width % 2) + "-  " * (width % 2)


def outline(markdown: str) -> list[Heading]:
    """Return the headings of a page. `tokens` counts a section with its subsections.

    The anchor is the page's own where it says one, else the one GitHub would give it.
    """
    headings = [block for block in split(markdown) if block.kind == "heading"]
    seen: Counter[str] = Counter()
    found = []
    ends: list[int] = [len(markdown)] * len(headings)
    open_sections: list[int] = []
    for index, block in enumerate(headings):
        while open_sections and headings[open_sections[-1]].level >= block.level:
            ends[open_sections.pop()] = block.start
        open_sections.append(index)
    for block, end in zip(headings, ends, strict=True):
        words = block.heading_path[-1]
        anchor = _own_anchor(markdown, block)
        if not anchor:
            slug = _github_slug(words)
            anchor = f"{slug}-{seen[slug]}" if seen[slug] else slug
            seen[slug] += 1
        size = tokens(markdown[block.start : end])
        found.append(Heading(block.level, words, anchor, block.start, size))
    return found


def _own_anchor(markdown: str, block: Block) -> str:
    line = markdown[block.start : block.end].split("\n", 1)[0][:4_000]
    if found := _EXPLICIT.search(line):
        return found[1] or found[2]
    found = _PERMALINK.search(line)
    return unquote(found[1]) if found else ""


def _github_slug(words: str) -> str:
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def _sphinx_slug(words: str) -> str:
    spelled = words.translate(_SPELLED)
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode().lower()
    return re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", plain))


def _mkdocs_slug(words: str) -> str:
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def start_of(markdown: str, fragment: str) -> int | None:
    """Return the offset at which a URL's fragment begins on a page, None when nothing of it is found.

    Known: the page's own anchors; headings by the names GitHub, Sphinx and MkDocs give them, numbered when repeated;
    names of functions, classes and modules (`json.dumps`, `module-json`).
    """
    wanted = unquote(fragment).removeprefix("#").removeprefix("user-content-")
    if not wanted:
        return None
    headings = outline(markdown)
    for heading in headings:
        if heading.anchor == wanted:
            return heading.offset
    seen: Counter[str] = Counter()
    lowered = wanted.lower()
    for heading in headings:
        names = set()
        for slug in {_github_slug(heading.text), _sphinx_slug(heading.text), _mkdocs_slug(heading.text)} - {""}:
            names |= {f"{slug}-{seen[slug]}", f"{slug}_{seen[slug]}"} if seen[slug] else {slug}
            seen[slug] += 1
        if lowered in names:
            return heading.offset
    return _named(markdown, wanted.removeprefix("module-"))


def _named(markdown: str, name: str) -> int | None:
    """Return where the block starts that an anchor stands in, or that begins with the name of a function or class."""
    own = (f"¶](#{name})", f"¶](#{name} ", f'id="{name}"', f'name="{name}"', f"{{#{name}}}")
    begins = re.compile(rf"(?:[a-z]+ ){{0,3}}{re.escape(name)}(?![\w.])", re.IGNORECASE)
    for block in split(markdown):
        for leaf in leaves(markdown, block):
            line = markdown[leaf.start + len(leaf.prefix) : leaf.end].split("\n", 1)[0][:4_000]
            if leaf.kind in ("code", "table"):
                continue
            if any(anchor in line for anchor in own) or begins.match(inline_text(line.lstrip("#:*+- "))):
                return leaf.start
    return None


def encode_cursor(url: str, markdown: str, offset: int) -> str:
    """Return a short text, safe in URLs, that stands for going on at `offset` of this page as it is now."""
    body = bytes([_CURSOR_VERSION]) + _bound(url, markdown) + offset.to_bytes(max(1, (offset.bit_length() + 7) // 8))
    return base64.urlsafe_b64encode(_digest(body, _CHECK) + body).rstrip(b"=").decode()


def decode_cursor(cursor: str, url: str, markdown: str) -> int:
    """Return the offset a cursor stands for.

    Raises:
        RequestError: it is none of ours, of another page, or of an earlier state of this one.
    """
    again = "fetch the page again without a cursor"
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    check, body = raw[:_CHECK], raw[_CHECK:]
    if len(body) < 2 + 2 * _HASH or check != _digest(body, _CHECK):
        raise RequestError("cursor", "this is not one of ours, or not all of it", hint="pass next_cursor unchanged")
    if body[0] != _CURSOR_VERSION:
        raise RequestError("cursor", "this is from another version of webseam", hint=again)
    page, content, offset = body[1 : 1 + _HASH], body[1 + _HASH : 1 + 2 * _HASH], body[1 + 2 * _HASH :]
    bound = _bound(url, markdown)
    if page != bound[:_HASH]:
        raise RequestError("cursor", "this belongs to another page", hint="pass it with the URL it came with")
    if content != bound[_HASH:]:
        raise RequestError("cursor", "the page has changed since", hint=again)
    return min(int.from_bytes(offset), len(markdown))


def _bound(url: str, markdown: str) -> bytes:
    """Return what ties a cursor to a page and to its content."""
    return _digest(canonical(url).encode("utf-8", "replace"), _HASH) + _digest(
        markdown.encode("utf-8", "replace"), _HASH
    )


def _digest(data: bytes, size: int) -> bytes:
    return hashlib.blake2s(data, digest_size=size).digest()
