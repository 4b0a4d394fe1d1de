"""Markdown of the blocks of a PDF: joined lines, divided words, code in its columns, page marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from webseam.fetch.fences import fenced
from webseam.fetch.readers.pdf_layout import BULLET, LEADERS, NUMBER, Block, Line, Measures, Word, lay_out

_HYPHENATED = re.compile(r"([^\W\d_]+)[-\u2010]$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_LOUD = re.compile(r"[*`\\]|<(?=[A-Za-z/!?])|(?<![^\W_])_|_(?![^\W_])|(?<=\])\(|&(?=#?\w{1,32};)")
_AT_START = re.compile(r"(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|={2,}$|-{2,}$|~{3,})|(\d{1,9})([.)])(?=\s|$)")

MAX_COLUMN: Final = 300  # a word further to the right is set as if it were here; sane code ends at 200


class Composed(NamedTuple):
    """What became of the pages.

    Attributes:
        title: the first of the largest headings on the first page.
        running: heads and feet left out.
    """

    markdown: str
    title: str | None
    running: int


def compose(pages: Sequence[tuple[int, list[Line]]]) -> Composed:
    """Return the Markdown of `pages`, each a number and its lines in reading order.

    A line `[page 2]` stands before the first block that begins on a page; paragraphs and code that run over the edge of
    a page stay whole.
    """
    blocks, measures, running = lay_out(pages)
    if not blocks:
        return Composed("", None, running)
    level = min((block.level for block in blocks if block.kind == "heading"), default=0)
    first = blocks[0].lines[0].page
    titles = (b for b in blocks if b.kind == "heading" and b.level == level and b.lines[0].page == first)
    title = next((" ".join(line.text for line in block.lines) for block in titles), None)
    return Composed(_rendered(blocks, measures, [number for number, _ in pages]), title, running)


def _rendered(blocks: Sequence[Block], measures: Measures, marks: Sequence[int]) -> str:
    parts: list[str] = []
    waiting = list(reversed(marks))
    previous: Block | None = None
    indents: list[float] = []
    for block in blocks:
        while waiting and waiting[-1] <= block.lines[0].page:
            parts.append(f"\n[page {waiting.pop()}]\n")
            previous = None
        if block.kind == "item":
            left = block.lines[0].left
            indents = [edge for edge in indents if edge < left - 2] if previous and previous.kind == "item" else []
            text = _item(block, measures, len(indents))
            indents.append(left)
        else:
            text = _render(block, measures)
        loose = previous is None or previous.kind != "item" or block.kind != "item"
        parts.append(("\n" if loose else "") + text + "\n")
        previous = block
    parts += [f"\n[page {number}]\n" for number in reversed(waiting)]
    return "".join(parts).strip("\n") + "\n"


def _render(block: Block, measures: Measures) -> str:
    if block.kind == "code":
        return fenced(_code(block))
    if block.kind == "table":
        header, *rows = [[escape(cell).replace("|", "\\|") for cell in row] for row in block.rows]
        return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows])
    text = _flow(block.lines, measures)
    if block.kind == "heading":
        return "#" * block.level + " " + text
    mark = _AT_START.match(text)
    return f"{mark[2] or ''}\\{mark[1] or mark[3]}{text[mark.end() :]}" if mark else text


def _item(block: Block, measures: Measures, depth: int) -> str:
    """Return an item of a list under `depth` others. A letter is no marker in Markdown, so it goes into the text."""
    text = _flow(block.lines, measures).removeprefix("\\")
    found = BULLET.match(text) or NUMBER.match(text)
    if found is None:  # a line of contents, or a marker that is set as code
        return "   " * depth + f"- {text}"
    mark = f"{found[1]}." if found[1].isdigit() else f"- {found[1]})" if found[1].isalpha() else "-"
    return "   " * depth + f"{mark} {text[found.end() :]}"


def _flow(lines: Sequence[Line], measures: Measures) -> str:
    """Return the lines as one, words that were divided at a line's end put together again."""
    text = ""
    for line in lines:
        marked = _marked(line.words)
        text = _with_next(text, marked, measures) if text else marked
    return text.replace("\u00ad", "-") if text.endswith("\u00ad") else text.replace("\u00ad", "")


def _with_next(text: str, marked: str, measures: Measures) -> str:
    """Return `text` with the next line after it.

    A hyphen at the end goes when a lower-case word follows, unless the document writes the same word with it elsewhere,
    or the word has another one: cross-platform, state-of-the-art.
    """
    text = f"{text[:-1]}-" if text.endswith("\u00ad") else text
    divided, following = _HYPHENATED.search(text), _FIRST_WORD.match(marked)
    if divided and following and following[0].islower():
        whole = f"{divided[1]}{following[0]}".lower() in measures.words
        hyphenated = f"{divided[1]}-{following[0]}".lower() in measures.words
        compound = text[: divided.start()].endswith(("-", "\u2010"))
        return (text if compound or (hyphenated and not whole) else text[:-1]) + marked
    tight = text[-1] in "-/\u2010\u2013\u2014" and not text[-2:-1].isspace() and marked[0] not in "-–"
    return text + ("" if tight and len(text) > 1 else " ") + marked


def _marked(words: Sequence[Word]) -> str:
    """Return words as Markdown of one line: escaped, runs in a monospaced font as code."""
    parts: list[str] = []
    run: list[Word] = []
    for word in [*words, None]:
        if run and (word is None or word.style.mono != run[0].style.mono):
            text = "".join(part.text if part.glued and number else f" {part.text}" for number, part in enumerate(run))
            lead = "" if run[0].glued else " "
            parts.append(lead + (_inline_code(text.strip()) if run[0].style.mono else escape(text.strip())))
            run = []
        if word is not None:
            run.append(word)
    text = "".join(parts).strip()
    return LEADERS.sub(" … ", text).strip() if LEADERS.search(text) else text


def _inline_code(text: str) -> str:
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if "`" in (text[0], text[-1]) else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def escape(text: str) -> str:
    """Return text with a backslash before what Markdown would take for a mark."""
    return _LOUD.sub(lambda found: "\\" + found[0], text)


def _code(block: Block) -> str:
    """Set the lines of a block of code in their columns, with blank lines where the gaps are."""
    margin = min(line.left for line in block.lines)
    steps = [above.base - below.base for above, below in pairwise(block.lines)]
    pitch = min((step for step in steps if step > 0.8 * block.lines[0].size), default=block.lines[0].size * 1.2)
    out: list[str] = []
    before: Line | None = None
    for line in block.lines:
        if before is not None and before.page == line.page:
            out += [""] * (round((before.base - line.base) / pitch) - 1)
        out.append(_columns(line, margin))
        before = line
    return "\n".join(out)


def _columns(line: Line, margin: float) -> str:
    """Return the words of a line at the columns where they stand."""
    text = ""
    for word in line.words:
        column = round((word.left - margin) / (word.style.advance or line.size * 0.6))
        if not (word.glued and text):
            column = min(max(column, len(text) + bool(text)), MAX_COLUMN)
            text += " " * (column - len(text))
        text += word.text
    return text
