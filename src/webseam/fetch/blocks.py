"""Markdown as whole blocks, each with its place in the text.

Budgets, passages and the frame need to know where a text may be cut and what is code, never how it would look: so
this finds the block structure of CommonMark with GFM tables and leaves the inside of paragraphs alone. Each line is
looked at a bounded number of times, whatever a page sends. A list is one block an item: it may be longer than a budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from webseam.fetch.clean import inline_text

Kind = Literal["heading", "paragraph", "list", "quote", "code", "table", "html", "rule"]

_MAX_DEPTH: Final = 24  # containers inside containers; deeper ones are one paragraph, as only an attack has them
_CODE_INDENT: Final = 4  # columns; the text of a footnote or admonition continues by as many

_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_ATX = re.compile(r"(#{1,6})(?:[ \t]|$)")
_RULE = re.compile(r"(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}")
_UNDERLINE = re.compile(r"(=+|-+)[ \t]*")
_ITEM = re.compile(r"([-+*]|(\d{1,9})[.)])(?=[ \t]|$)([ \t]*)")
_NOTE = re.compile(r"\[\^[^\]\s]{1,100}\]:|(?:!!!|\?\?\?\+?)[ \t]")
_DEFINITION = re.compile(r":[ \t]{1,4}(?=\S)")
_PREFIXES = re.compile(r"\A(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*")
_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_RAW: Final = "(?:script|pre|style|textarea)"
_HTML_UNTIL: Final = (  # how the block starts, what ends it
    (re.compile(rf"(?i)<{_RAW}(?:[ \t>]|$)"), re.compile(rf"(?i)</{_RAW}>")),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
)
_HTML_NAME = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl"
    r"|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main"
    r"|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|track|ul)(?:[ \t>]|/>|$)",
    re.I,
)
_HTML_ALONE = re.compile(r"(?:<[A-Za-z][A-Za-z0-9-]*(?:[ \t][^<>]*)?>|</[A-Za-z][A-Za-z0-9-]*[ \t]*>)[ \t]*")


@dataclass(frozen=True, slots=True)
class Block:
    """One block: `markdown[start:end]` is whole lines, blank lines around it left out.

    Attributes:
        heading_path: the headings it stands under, outermost first; a heading's own words come last.
        level: 1 to 6 for a heading, else 0.
    """

    start: int
    end: int
    kind: Kind
    heading_path: tuple[str, ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True)
class Leaf:
    """A block that holds no other blocks, however deep in lists and quotes it stands.

    Attributes:
        prefix: what stands before it on its first line: list marks, quote marks, indentation.
        opening: the line that opens a code fence, without the prefix; "" for everything else.
    """

    start: int
    end: int
    kind: Kind
    prefix: str = ""
    opening: str = ""


class _Line(NamedTuple):
    """A line: where it begins, where its text begins behind the marks of its containers, where the next begins."""

    start: int
    at: int
    end: int
    text: str


class _Node(NamedTuple):
    kind: Kind
    end: int  # index of the line behind it
    level: int = 0
    content: int = 0  # columns by which the text of a list item is indented


def split(markdown: str) -> list[Block]:
    """Return the blocks of `markdown` in order. What no block covers is blank lines."""
    return list(_split(markdown))


@lru_cache(maxsize=2)  # cutting a page, naming what is left and choosing passages ask for the same blocks
def _split(markdown: str) -> tuple[Block, ...]:
    lines = _lines(markdown, 0, len(markdown))
    path: list[tuple[int, str]] = []
    headings: tuple[str, ...] = ()
    blocks = []
    for first, node in _parse(lines):
        if node.kind == "heading":
            while path and path[-1][0] >= node.level:
                path.pop()
            path.append((node.level, _words(lines[first : node.end])))
            headings = tuple(words for _, words in path)
        blocks.append(Block(lines[first].start, lines[node.end - 1].end, node.kind, headings, node.level))
    return tuple(blocks)


def leaves(markdown: str, block: Block) -> list[Leaf]:
    """Return the leaves of one block of `markdown`, in order; of a block without containers, the block itself."""
    return list(_leaves(markdown, _lines(markdown, block.start, block.end), 0))


def _lines(markdown: str, start: int, end: int) -> list[_Line]:
    lines = []
    while start < end:
        stop = markdown.find("\n", start, end)
        after = end if stop < 0 else stop + 1
        lines.append(_Line(start, start, after, markdown[start : end if stop < 0 else stop]))
        start = after
    return lines


def _words(lines: list[_Line]) -> str:
    """Return the words of a heading of either form."""
    first = lines[0].text.strip()
    if len(lines) == 1 and (mark := _ATX.match(first)):
        first = first[mark.end() :].strip()
        closed = first.rstrip("#")
        text = closed if not closed or closed[-1] in " \t" else first
    else:
        text = " ".join(line.text.strip() for line in lines[:-1])
    text = re.sub(r"[ \t]*\{#[^{}\s]{1,200}\}[ \t]*$", "", text[:2_000])
    return inline_text(text).rstrip("¶# ").strip()


def _parse(lines: list[_Line]) -> Iterator[tuple[int, _Node]]:
    at = 0
    while at < len(lines):
        if lines[at].text.strip():
            node = _block_at(lines, at)
            yield at, node
            at = node.end
        else:
            at += 1


def _leaves(markdown: str, lines: list[_Line], depth: int) -> Iterator[Leaf]:
    for first, node in _parse(lines):
        here = lines[first : node.end]
        line, kind = here[0], node.kind
        if kind in ("list", "quote") and depth < _MAX_DEPTH:
            inner = _inside_quote(here) if kind == "quote" else _inside_item(here, node.content)
            found = list(_leaves(markdown, inner, depth + 1))
            if not found or found[0].start > line.start:  # a mark alone on its line
                yield Leaf(line.start, found[0].start if found else here[-1].end, "paragraph")
            yield from found
        else:
            opening = line.text.lstrip() if kind == "code" and _columns(line.text) < _CODE_INDENT else ""
            prefix = markdown[line.start : line.at + len(line.text) - len(line.text.lstrip())]
            yield Leaf(line.start, here[-1].end, "paragraph" if kind in ("list", "quote") else kind, prefix, opening)


def _inside_quote(lines: list[_Line]) -> list[_Line]:
    inner = []
    for line in lines:
        body = line.text.lstrip(" ")
        if body.startswith(">"):  # others continue a paragraph without the mark
            body = body[2:] if body[1:2] in (" ", "\t") else body[1:]
        inner.append(line._replace(at=line.at + len(line.text) - len(body), text=body))
    return inner


def _inside_item(lines: list[_Line], content: int) -> list[_Line]:
    inner = []
    for number, line in enumerate(lines):
        body = line.text
        if number == 0 and (mark := _mark(body)):
            body = body[mark.width :]
        elif _columns(body) >= content:
            body = _dedent(body, content)
        inner.append(line._replace(at=line.at + len(line.text) - len(body), text=body))
    return inner


def _columns(text: str) -> int:
    """Return by how many columns `text` is indented; a tab goes to the next multiple of four."""
    columns = 0
    for character in text[: len(text) - len(text.lstrip(" \t"))]:
        columns += 1 if character == " " else 4 - columns % 4
    return columns


def _dedent(text: str, columns: int) -> str:
    at = passed = 0
    while passed < columns and at < len(text):
        passed += 4 - passed % 4 if text[at] == "\t" else 1
        at += 1
    return text[at:]


class _Mark(NamedTuple):
    """The mark of a list item, footnote or admonition."""

    width: int  # characters of the line before its own text
    content: int  # columns by which what follows must be indented to belong to it
    interrupts: bool  # may end a paragraph


def _mark(text: str) -> _Mark | None:
    indent = _columns(text)
    body = text.lstrip(" \t")
    lead = len(text) - len(body)
    if indent >= _CODE_INDENT or not body:
        return None
    first = body[0]
    if (first in "-+*" or first.isdecimal()) and (found := _ITEM.match(body)):
        rest = body[found.end() :]
        gap = _columns(found[3])
        if not rest or gap > _CODE_INDENT:  # an empty item, or one that starts with indented code
            gap = 1
        width = lead + len(found[1]) + min(gap, len(found[3]))
        return _Mark(width, indent + len(found[1]) + gap, bool(rest) and found[2] in (None, "1"))
    if first in "[!?" and (found := _NOTE.match(body)):
        return _Mark(lead + found.end(), indent + _CODE_INDENT, False)
    if first == ":" and (found := _DEFINITION.match(body)):
        return _Mark(lead + found.end(), indent + min(found.end(), _CODE_INDENT), False)
    return None


def _block_at(lines: list[_Line], at: int) -> _Node:
    text = lines[at].text
    if _columns(text) >= _CODE_INDENT:
        return _Node("code", _indented_end(lines, at))
    body = text.lstrip()
    if body[0] in "`~" and (fence := _FENCE.match(body)):
        return _Node("code", _fence_end(lines, at, fence[1] or fence[2]))
    if body[0] == "#" and (mark := _ATX.match(body)):
        return _Node("heading", at + 1, len(mark[1]))
    if body[0] in "-*_" and _RULE.fullmatch(body):
        return _Node("rule", at + 1)
    if body[0] == ">":
        return _Node("quote", _quote_end(lines, at))
    if body[0] == "<" and (end := _html_end(lines, at, body)):
        return _Node("html", end)
    if item := _mark(text):
        return _Node("list", _item_end(lines, at, item), content=item.content)
    if _is_table(lines, at):
        return _Node("table", _table_end(lines, at))
    return _paragraph(lines, at)


def _paragraph(lines: list[_Line], at: int) -> _Node:
    for index in range(at + 1, len(lines)):
        text = lines[index].text
        body = text.strip()
        if not body:
            return _Node("paragraph", index)
        if body[0] in "=-" and _columns(text) < _CODE_INDENT and (line := _UNDERLINE.fullmatch(body)):
            return _Node("heading", index + 1, 1 if line[1][0] == "=" else 2)
        if body[0] == ":" and (item := _mark(text)):  # a term and its definition
            return _Node("list", _item_end(lines, index, item), content=item.content)
        if _interrupts(text) or _is_table(lines, index):
            return _Node("paragraph", index)
    return _Node("paragraph", len(lines))


def _interrupts(text: str) -> bool:
    """True when this line ends a paragraph without a blank line between them."""
    if _columns(text) >= _CODE_INDENT:
        return False
    body = text.lstrip()
    first = body[0]
    if first in "`~":
        return bool(_FENCE.match(body))
    if first == "#":
        return bool(_ATX.match(body))
    if first == ">":
        return True
    if first == "<":
        return bool(_HTML_NAME.match(body)) or any(start.match(body) for start, _ in _HTML_UNTIL)
    if first in "-*_" and _RULE.fullmatch(body.rstrip()):
        return True
    mark = _mark(text)
    return mark is not None and mark.interrupts


def _fence_end(lines: list[_Line], at: int, fence: str) -> int:
    ends = (index + 1 for index in range(at + 1, len(lines)) if closes(lines[index].text, fence))
    return next(ends, len(lines))


def closes(line: str, fence: str) -> bool:
    """True when `line` ends the code block that `fence`, the run of its opening marks, began."""
    body = line.strip()
    return len(body) >= len(fence) and not body.strip(fence[0]) and _columns(line) < _CODE_INDENT


def _indented_end(lines: list[_Line], at: int) -> int:
    end = at + 1
    for index in range(at + 1, len(lines)):
        text = lines[index].text
        if text.strip():
            if _columns(text) < _CODE_INDENT:
                break
            end = index + 1
    return end


def _quote_end(lines: list[_Line], at: int) -> int:
    prose = _Prose(lines[at].text)
    for index in range(at + 1, len(lines)):
        text = lines[index].text
        if not text.strip():
            return index
        marked = _columns(text) < _CODE_INDENT and text.lstrip().startswith(">")
        if not marked and (not prose.open or _interrupts(text) or _mark(text)):
            return index
        prose.feed(text)
    return len(lines)


def _item_end(lines: list[_Line], at: int, item: _Mark) -> int:
    prose = _Prose(lines[at].text[item.width :])
    end = at + 1
    blank = False
    for index in range(at + 1, len(lines)):
        text = lines[index].text
        if not text.strip():
            blank = True
            continue
        if _columns(text) < item.content and (blank or not prose.open or _interrupts(text) or _mark(text)):
            break
        prose.feed(text)
        blank, end = False, index + 1
    return end


class _Prose:
    """Knows whether a line without marks would continue the paragraph that the last line of a container belongs to."""

    def __init__(self, text: str) -> None:
        self.open = False
        self._fence = ""
        self.feed(text)

    def feed(self, text: str) -> None:
        body = _PREFIXES.sub("", text, count=1)
        if self._fence:
            if closes(body, self._fence):
                self._fence = ""
            self.open = False
        elif found := _FENCE.match(body):
            self._fence, self.open = found[1] or found[2], False
        else:
            self.open = bool(body) and not _ATX.match(body)


def _html_end(lines: list[_Line], at: int, body: str) -> int:
    """Return the index behind an HTML block that begins here, 0 when none does."""
    for start, stop in _HTML_UNTIL:
        if start.match(body):
            ends = (index + 1 for index in range(at, len(lines)) if stop.search(lines[index].text))
            return next(ends, len(lines))
    if _HTML_NAME.match(body) or _HTML_ALONE.fullmatch(body):
        blank = (index for index in range(at + 1, len(lines)) if not lines[index].text.strip())
        return next(blank, len(lines))
    return 0


def _is_table(lines: list[_Line], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at].text:
        return False
    below = lines[at + 1].text.strip()
    if "-" not in below or not _DELIMITERS.fullmatch(below):
        return False
    return _cells(lines[at].text) == _cells(below)


def _cells(row: str) -> int:
    row = row.strip().removeprefix("|")
    pipes = len(_PIPE.findall(row))
    return pipes + 1 - (row.endswith("|") and not row.endswith("\\|"))


def _table_end(lines: list[_Line], at: int) -> int:
    texts = ((index, lines[index].text) for index in range(at + 2, len(lines)))
    ends = (index for index, text in texts if not text.strip() or _columns(text) >= _CODE_INDENT or _interrupts(text))
    return next(ends, len(lines))
