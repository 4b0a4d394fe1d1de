"""Markdown that a stranger wrote, made fit to stand among other people's words.

It is passed on as its author wrote it, but as a guest: it ends where it ends, so that an open code block or open raw
HTML does not swallow whoever speaks next; its headings stay below the one it stands under, so that it cannot pass for
an answer of somebody else; comments that a renderer would hide are removed and counted; nothing of it loads by itself;
and relative addresses become absolute. Code is found by the rules of CommonMark: a guess at where a block ends would
treat what follows by the wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final
from urllib.parse import urljoin

from webseam.fetch.blocks import Block, closes, leaves, split
from webseam.text import clean, squeeze

MAX_RELATIVE: Final = 10_000  # addresses of one text that are made absolute
MAX_ROUNDS: Final = 4  # of closing what closing has opened; raw HTML is gone after the first
DEEPEST: Final = 6  # level of a heading

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r"[ ]{0,3}#{1,6}(?=[ \t]|$)")
# Raw HTML whose end CommonMark looks for beyond blank lines; without it, everything below is part of it.
_OPEN_RAW = re.compile(r"<(?=(?:script|pre|style|textarea)\b|[?!])", re.IGNORECASE)
_BADGE = re.compile(r"\[!\[([^\[\]]{0,300})\]\([^()\s]{1,2000}(?:\s+\"[^\"]{0,300}\")?\)\]\(([^()\s]{1,2000})\)")
_IMAGE = re.compile(r"!\[([^\[\]]{0,300})\](?=[(\[])")
_TAG_IMAGE = re.compile(r"<img\b[^<>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b(alt|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_RELATIVE = re.compile(  # `](path` and `[name]: path`
    r"(\]\(|^\[[^\[\]]{1,300}\]:[ \t]+)(?![a-z][a-z0-9+.-]*:|//|#|<)([^()\s]{1,2000})", re.MULTILINE | re.IGNORECASE
)
_CODE_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)[^`\n]{1,2000}?(?<!`)\1(?!`)")
_BLOCK_MARK = re.compile(r"[ \t]*(#{1,6}(?=[ \t]|$)|`{3,}|~{3,}|=+[ \t]*$|-+[ \t]*$|\[[^\[\]]{1,300}\]:)")


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of a guest's Markdown: `pieces` are `(is code, text)` in order, `hidden` the comments removed."""

    pieces: tuple[tuple[bool, str], ...]
    hidden: int

    @property
    def markdown(self) -> str:
        return "".join(text for _, text in self.pieces).strip("\n")


def admit(text: str, *, base: str = "", below: int = 0) -> Admitted:
    """Return Markdown as a guest's.

    Args:
        base: what relative addresses start from; "" leaves them.
        below: the level of the heading it stands under; its own become deeper ones, 0 leaves them.
    """
    text = text.replace("\r\n", "\n")
    hidden = 0
    if "<" in text or "![" in text:  # first: what goes or changes may be what kept a line from being a heading
        kept = []
        for is_code, piece in pieces(text):
            if not is_code:
                piece, comments = _without_comments(piece)
                hidden += comments
                piece = without_images(piece)
            kept.append(piece)
        text = "".join(kept)
    absolute = partial(_absolute, base=base)
    left = MAX_RELATIVE if base else 0
    done: list[tuple[bool, str]] = []
    text, blocks = _lowered(*_closed(text), below)
    for is_code, piece in pieces(text, blocks):
        if is_code:
            done.append((True, piece))
            continue
        shown = []
        for in_span, part in _spans(piece):
            if not in_span and left > 0:
                part, changed = _RELATIVE.subn(absolute, part, left)
                left -= changed
            shown.append(part)
        done.append((False, trimmed("".join(shown))))
    return Admitted(tuple(done), hidden)


def plain(text: str) -> str:
    """Return text that is no Markdown so that it reads the same as Markdown: nothing of it is a heading or a fence."""
    lines = [_BLOCK_MARK.sub(lambda mark: f"\\{mark[1]}", line.strip(" \t")) for line in text.split("\n")]
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\<", "\n".join(lines))


def pieces(markdown: str, blocks: Sequence[Block] | None = None) -> Iterator[tuple[bool, str]]:
    """Yield all of the text in pieces, `(is a code block, piece)`; `blocks` are its own, when they are known."""
    at = 0
    for block in split(markdown) if blocks is None else blocks:
        inside = leaves(markdown, block) if block.kind in ("list", "quote") else (block,)
        for leaf in inside:
            if leaf.kind == "code":
                if leaf.start > at:
                    yield False, markdown[at : leaf.start]
                yield True, markdown[leaf.start : leaf.end]
                at = leaf.end
    if at < len(markdown):
        yield False, markdown[at:]


def trimmed(text: str) -> str:
    """Return text without white space at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.split("\n"))


def closed(text: str) -> str:
    """Return Markdown whose last block does not go on into what follows: its code and its raw HTML end with it."""
    return _closed(text.replace("\r\n", "\n"))[0]


def _closed(text: str) -> tuple[str, list[Block]]:
    """Return closed text and its blocks: finding them is nearly all of the work here."""
    blocks: list[Block] = []
    for _ in range(MAX_ROUNDS):
        blocks = split(text)
        body = text[blocks[-1].start : blocks[-1].end] if blocks else ""
        if not body or blocks[-1].kind not in ("html", "code"):
            break
        if blocks[-1].kind == "html" and len(split(f"{body.rstrip()}\n\nnext\n")) == 1:
            text = text[: blocks[-1].start] + _OPEN_RAW.sub("&lt;", body)
            continue  # what it held may be open code
        fence = _FENCE.match(body) if blocks[-1].kind == "code" else None
        lines = body.rstrip("\n").split("\n")
        if fence and (len(lines) == 1 or not closes(lines[-1], fence[1])):
            text = text.rstrip("\n") + f"\n{fence[1]}\n"
            blocks[-1] = replace(blocks[-1], end=len(text))
        break
    return text, blocks


def _lowered(text: str, blocks: list[Block], below: int) -> tuple[str, list[Block] | None]:
    """Return text whose headings are deeper than `below`, and its blocks while they are known."""
    headings = [block for block in blocks if block.kind == "heading"] if below else []
    deeper = max(0, below + 1 - min((block.level for block in headings), default=DEEPEST))
    if not deeper:
        return text, blocks
    kept, at = [], 0
    for block in headings:
        line = text[block.start : block.end].strip("\n")
        mark = _ATX.match(line)
        # The other form, a line below the words, has two levels only.
        words = line[mark.end() :].strip() if mark else " ".join(part.strip() for part in line.split("\n")[:-1])
        kept += [text[at : block.start], f"{'#' * min(block.level + deeper, DEEPEST)} {words}\n"]
        at = block.end
    return "".join([*kept, text[at:]]), None


def _without_comments(text: str) -> tuple[str, int]:
    """Return text without HTML comments, and how many there were; one without its end is made visible."""
    kept, at, hidden = [], 0, 0
    while (start := text.find("<!--", at)) >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            break
        kept.append(text[at:start])
        at, hidden = end + 3, hidden + 1
    kept.append(text[at:])
    return "".join(kept).replace("<!--", "&lt;!--"), hidden  # what is left may be made of two pieces of others


def _spans(text: str) -> Iterator[tuple[bool, str]]:
    """Yield a paragraph in pieces, `(is code inside a line, piece)`."""
    at = 0
    for found in _CODE_SPAN.finditer(text):
        yield False, text[at : found.start()]
        yield True, found[0]
        at = found.end()
    yield False, text[at:]


def _absolute(found: re.Match[str], base: str) -> str:
    try:
        return f"{found[1]}{urljoin(base, found[2])}"
    except ValueError:  # brackets that look like a broken IPv6 host
        return found[0]


def without_images(text: str) -> str:
    """Return text in which nothing loads by itself: an image is a link that says it is one."""
    if "![" not in text and "<" not in text:
        return text
    shown = []
    for in_span, part in _spans(text):
        if not in_span:
            part = _TAG_IMAGE.sub(_tag_image, part)
            part = _BADGE.sub(lambda badge: f"[{badge[1] or 'image'}]({badge[2]})", part)
            part = _IMAGE.sub(lambda image: f"[Image: {image[1]}]" if image[1] else "[Image]", part)
        shown.append(part)
    return "".join(shown)


def _tag_image(found: re.Match[str]) -> str:
    values = {name.lower(): double or single for name, double, single in _ATTRIBUTE.findall(found[0])}
    alt, address = squeeze(clean(values.get("alt", ""))).strip("[]"), values.get("src", "")
    label = f"Image: {alt}" if alt else "Image"
    return f"[{label}]({address})" if re.fullmatch(r"https?://[^()\s<>]{1,2000}", address) else f"[{label}]"
