"""From words with places to blocks: what a PDF leaves out and a reader of it needs.

A PDF has no paragraphs, headings or tables, only glyphs at coordinates. Sizes say what a heading is, and gaps what a
paragraph or a cell is. Pure functions over plain values: nothing here knows the library that found the words, or the
Markdown that comes of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

HEADING_RATIO: Final = 1.12  # a line this much larger than the body is a heading
MAX_HEADING: Final = 200  # characters; what is larger and longer is a paragraph in large type
MAX_LEVEL: Final = 6
PARAGRAPH_GAP: Final = 1.3  # line pitches from which a gap separates paragraphs
CODE_GAP: Final = 4.5  # line pitches from which a gap separates two blocks of code
CELL_GAP: Final = 1.2  # ems between two words from which they stand in different cells
MONO_SHARE: Final = 0.9  # of a line's characters, for it to be code
ALL_MONO: Final = 0.85  # of a document's characters, for it to be a typed text whose layout is kept as it is
MAX_ROWS: Final = 200  # of a table on one page
MAX_OTHERS: Final = 4  # lines under a table that have gaps too, and are none of its rows
RUNNING_PAGES: Final = 3  # with the same line at the same place, for it to be a running head or foot


class Style(NamedTuple):
    """How a word is set.

    Attributes:
        size: points, as it appears.
        advance: points from one character to the next, when the font is monospaced and this is known.
        turn: quarter turns of the text, of which its place is already freed.
        inked: False for text that is set without being painted.
    """

    size: float
    mono: bool = False
    bold: bool = False
    advance: float = 0.0
    turn: int = 0
    inked: bool = True


class Word(NamedTuple):
    """A word at its place: points from the left, baseline in points from the bottom; `glued` if no space precedes."""

    text: str
    left: float
    right: float
    base: float
    style: Style
    glued: bool = False


@dataclass(slots=True)
class Line:
    """Words on one baseline, in reading order, with what the layout asks of them."""

    words: list[Word]
    page: int
    text: str = field(init=False)
    size: float = field(init=False)
    mono: bool = field(init=False)
    bold: bool = field(init=False)
    left: float = field(init=False)
    right: float = field(init=False)
    base: float = field(init=False)
    turn: int = field(init=False)

    def __post_init__(self) -> None:
        sizes: Counter[float] = Counter()
        mono = bold = count = 0
        for word in self.words:
            sizes[word.style.size] += len(word.text)
            count += len(word.text)
            mono += len(word.text) * word.style.mono
            bold += len(word.text) * word.style.bold
        self.size = sizes.most_common(1)[0][0]
        self.mono = mono >= MONO_SHARE * count
        self.bold = bold == count
        self.text = plain_text(self.words)
        self.left, self.right = self.words[0].left, self.words[-1].right
        self.base = next(word.base for word in self.words if word.style.size == self.size)
        self.turn = self.words[0].style.turn


@dataclass(slots=True)
class Block:
    """Lines that belong together. `kind` is heading, paragraph, item, code or table."""

    kind: str
    lines: list[Line]
    level: int = 0
    rows: list[list[str]] = field(default_factory=list)
    gap: bool = False  # a gap or an indentation came before it


@dataclass(frozen=True, slots=True)
class Measures:
    """What is usual in a document: size of the body in points, line pitch in sizes, level of each heading size."""

    body: float
    pitch: float
    levels: dict[float, int]
    all_mono: bool
    words: frozenset[str]


class LaidOut(NamedTuple):
    blocks: list[Block]
    measures: Measures
    running: int  # heads and feet left out


LEADERS = re.compile(r"(?:\s*[.·]){5,}\s*")
_IN_CONTENTS = re.compile(r" … \S{1,8}$")
BULLET = re.compile(r"([•‣◦▪▫●○■□–⁃∙·\uf0b7*-])\s+(?=\S)")
NUMBER = re.compile(r"(\d{1,3}|[a-z])[.)]\s+(?=\S)")
_PAGE_NUMBER = re.compile(r"^(?:\d+|[ivxlc]+)\b|\b(?:\d+|[ivxlc]+)$|\d+(?= (?:of|/) \d+$)", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_ENDS_SENTENCE = re.compile(r"[.!?:;…][\"'”’)\]]*$")
_WORD = re.compile(r"[^\W_]+(?:[-\u2010][^\W_]+)*")


def plain_text(words: Sequence[Word]) -> str:
    """Return words as one line of text, dot leaders made an ellipsis."""
    text = "".join(word.text if word.glued else f" {word.text}" for word in words).strip()
    return LEADERS.sub(" … ", text).rstrip() if LEADERS.search(text) else text


def lay_out(pages: Sequence[tuple[int, list[Line]]]) -> LaidOut:
    """Return the blocks of `pages`, each a number and its lines in reading order.

    Paragraphs, code and tables that run over the edge of a page are one block.
    """
    measures = measure([line for _, page in pages for line in page])
    kept, running = _without_running(pages, measures)
    return LaidOut(_joined([block for page in kept for block in _blocks(page, measures)]), measures, running)


def _without_running(pages: Sequence[tuple[int, list[Line]]], measures: Measures) -> tuple[list[list[Line]], int]:
    """Leave out heads and feet: first and last lines that return at the same height, whatever page number they bear."""

    def key(line: Line) -> tuple[str, int]:
        return _PAGE_NUMBER.sub("#", line.text), round(line.base / 4)

    def edges(page: list[Line]) -> list[Line]:
        by_height = sorted(page, key=lambda line: line.base)
        return [
            line
            for line in [*by_height[:2], *by_height[2:][-2:]]
            if line.size not in measures.levels and (not line.mono or measures.all_mono)  # a lone brace is no foot
        ]

    keys = [{key(line) for line in edges(page)} for _, page in pages]
    seen = Counter(found for page_keys in keys for found in page_keys)
    kept: list[list[Line]] = []
    removed = 0
    for position, (_, page) in enumerate(pages):
        near = keys[max(0, position - 2) : position] + keys[position + 1 : position + 3]  # left and right may differ
        drop = {
            id(line)
            for line in edges(page)
            if seen[key(line)] >= RUNNING_PAGES and any(key(line) in other for other in near)
        }
        removed += len(drop)
        kept.append([line for line in page if id(line) not in drop])
    return kept, removed


def measure(lines: Sequence[Line]) -> Measures:
    """Find out what is usual in `lines`."""
    prose: Counter[float] = Counter()
    mono = count = 0
    pitches: Counter[float] = Counter()
    before: Line | None = None
    for line in lines:
        count += len(line.text)
        mono += len(line.text) * line.mono
        prose[line.size] += 0 if line.mono else len(line.text)
        if before is not None and before.size == line.size and before.page == line.page and not line.mono:
            pitch = (before.base - line.base) / line.size
            if 0.9 < pitch < 2.2:
                pitches[round(pitch, 1)] += 1
        before = line
    if not lines:
        return Measures(body=0.0, pitch=1.2, levels={}, all_mono=False, words=frozenset())
    body = prose.most_common(1)[0][0] if mono < ALL_MONO * count else lines[0].size
    sizes = {line.size for line in lines if line.size >= body * HEADING_RATIO and _may_head(line)}
    levels: dict[float, int] = {}
    for size in sorted(sizes, reverse=True):
        above = min(levels, default=None)
        same = above is not None and size > above * 0.97  # what nobody sees a difference in
        levels[size] = levels[above] if same and above else min(len(set(levels.values())) + 1, MAX_LEVEL)
    pitch = pitches.most_common(1)[0][0] if pitches else 1.2
    words = frozenset(word.lower() for line in lines for word in _WORD.findall(line.text[:-1]))
    return Measures(body=body, pitch=pitch, levels=levels, all_mono=mono >= ALL_MONO * count, words=words)


def _may_head(line: Line) -> bool:
    return len(line.text) <= MAX_HEADING and bool(_LETTER.search(line.text)) and not _IN_CONTENTS.search(line.text)


def _blocks(lines: list[Line], measures: Measures) -> Iterator[Block]:
    """Group the lines of one page."""
    block: Block | None = None
    edges: dict[int, float] = {}  # right edge of the column that begins at a left edge
    for line in lines:
        edges[round(line.left)] = max(edges.get(round(line.left), 0.0), line.right)
    position = 0
    while position < len(lines):
        line = lines[position]
        rows = 0 if line.mono else _table_rows(lines, position, measures)
        if rows:
            if block:
                yield block
            block = None
            table = lines[position : position + rows]
            yield Block("table", table, rows=_cells_of(table))
            position += rows
            continue
        position += 1
        following = lines[position] if position < len(lines) else None
        level = _level(block, line, following, measures)
        kind = "code" if line.mono and not level else "heading" if level else "item" if _marker(line) else "paragraph"
        right = max(edges[round(line.left)], edges[round(block.lines[0].left)]) if block else 0.0
        if block is not None and _continues(block, line, kind, level, measures, right):
            block.lines.append(line)
            continue
        gap = block is None or _gap(block.lines[-1], line, measures) or line.left > block.lines[-1].left + line.size
        if kind == "item" and not (gap or (block and block.kind == "item") or _is_bullet(line)):
            kind = "paragraph"
        if block:
            yield block
        block = Block(kind, [line], level=level, gap=gap)
    if block:
        yield block


def _level(block: Block | None, line: Line, following: Line | None, measures: Measures) -> int:
    """Return the heading level of a line, 0 when it is none."""
    if not _may_head(line) or measures.all_mono:
        return 0
    if line.size in measures.levels:
        return measures.levels[line.size]
    if not line.bold or len(line.text) > MAX_HEADING / 2 or line.size < measures.body * 0.97:
        return 0
    apart = block is None or block.kind == "heading" or _gap(block.lines[-1], line, measures)
    alone = following is None or not following.bold or _gap(line, following, measures)
    if apart and alone and line.text[-1] not in ".,;" and not _marker(line):
        return min(max(measures.levels.values(), default=0) + 1, MAX_LEVEL)
    return 0


def _gap(before: Line, line: Line, measures: Measures) -> bool:
    """Tell whether more than the usual pitch lies between two lines, or one is not below the other."""
    distance = before.base - line.base
    size = max(before.size, line.size)
    return before.turn != line.turn or distance <= 0 or distance > measures.pitch * size * PARAGRAPH_GAP


def _continues(block: Block, line: Line, kind: str, level: int, measures: Measures, right: float) -> bool:
    last = block.lines[-1]
    if block.kind == "code" or kind == "code":
        pitch = max(block.lines[0].size * 1.0, measures.pitch * line.size)
        return block.kind == kind and 0 < last.base - line.base < CODE_GAP * pitch and last.turn == line.turn
    if block.kind == "heading" or kind == "heading":
        near = 0 < last.base - line.base < 1.7 * line.size
        return block.kind == kind and near and last.size == line.size and level == block.level and len(block.lines) < 4
    if abs(last.size - line.size) > 0.15 * line.size or _gap(last, line, measures):
        return False
    if kind == "item" and (_is_bullet(line) or (block.kind == "item" and line.left <= block.lines[0].left + 1)):
        return False
    if _IN_CONTENTS.search(last.text):
        return False
    ended = bool(_ENDS_SENTENCE.search(last.text))
    if block.kind == "item":
        return line.left >= block.lines[0].left - 1 and not (ended and line.left <= block.lines[0].left + 1)
    short = last.right < right - 0.2 * (right - last.left)
    indented = line.left > last.left + 0.8 * line.size and (len(block.lines) > 1 or ended)
    return not (short and ended) and not indented


def _marker(line: Line) -> re.Match[str] | None:
    return BULLET.match(line.text) or NUMBER.match(line.text) or _IN_CONTENTS.search(line.text)


def _is_bullet(line: Line) -> bool:
    """Tell whether a line begins an item even without a gap: a bullet that is no dash, or a line of contents."""
    bullet = BULLET.match(line.text)
    return bool(bullet and bullet[1] not in "*-–·") or bool(_IN_CONTENTS.search(line.text))


def split(line: Line) -> list[list[Word]]:
    """Split a line where its gaps are too wide for a space."""
    cells = [[line.words[0]]]
    for before, word in pairwise(line.words):
        if word.left - before.right > CELL_GAP * line.size and set(word.text) != {"."} and set(before.text) != {"."}:
            cells.append([])
        cells[-1].append(word)
    return cells


def _table_rows(lines: list[Line], start: int, measures: Measures) -> int:
    """Return how many lines from `start` are rows of one table: cells under one another in at least two columns."""
    end = start
    while end < min(len(lines), start + MAX_ROWS) and not lines[end].mono and lines[end].size not in measures.levels:
        cells = split(lines[end])
        near = end == start or 0 < lines[end - 1].base - lines[end].base < 2.5 * measures.pitch * lines[end].size
        if len(cells) < 2 or not near or (_marker(lines[end]) and len(cells) < 3):
            break
        end += 1
    for rows in range(end - start, max(1, end - start - MAX_OTHERS), -1):
        if len(_columns(lines[start : start + rows])) >= 2:
            return rows
    return 0


def _columns(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Return left and right of each column; [] when the cells of some line do not keep to them."""
    spans = sorted((cell[0].left, cell[-1].right) for line in lines for cell in split(line))
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left < columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    full = sum(len(split(line)) == len(columns) for line in lines)
    clean = all(len({_column(columns, cell) for cell in split(line)}) == len(split(line)) for line in lines)
    return columns if clean and full >= len(lines) / 2 else []


def _column(columns: Sequence[tuple[float, float]], cell: Sequence[Word]) -> int:
    return next(
        number for number, (_, right) in enumerate(columns) if cell[0].left < right or number == len(columns) - 1
    )


def _cells_of(lines: Sequence[Line]) -> list[list[str]]:
    columns = _columns(lines)
    rows = []
    for line in lines:
        row = [""] * len(columns)
        for cell in split(line):
            row[_column(columns, cell)] = plain_text(cell)
        rows.append(row)
    return rows


def _joined(blocks: list[Block]) -> list[Block]:
    """Join what the edge of a page or a column tore apart."""
    joined: list[Block] = []
    for block in blocks:
        before = joined[-1] if joined else None
        if before is not None and before.kind in ("paragraph", "item") and block.kind == "paragraph":
            last, line = before.lines[-1], block.lines[0]
            torn = last.page != line.page or last.base < line.base
            open_end = not _ENDS_SENTENCE.search(last.text) and line.text[:1].islower()
            if torn and open_end and abs(last.size - line.size) < 0.15 * line.size:
                before.lines += block.lines
                continue
        if before is not None and before.kind == block.kind == "code" and before.lines[-1].page != block.lines[0].page:
            before.lines += block.lines
            continue
        if before is not None and block.kind == "table" and _is_torn_table(before, block):
            rows = before.rows or [[plain_text(cell) for cell in split(before.lines[0])]]
            block.rows = rows + (block.rows[1:] if block.rows[0] == rows[0] else block.rows)
            block.lines = before.lines + block.lines
            joined[-1] = block
            continue
        joined.append(block)
    return joined


def _is_torn_table(before: Block, table: Block) -> bool:
    """Tell whether `before` holds the first rows, perhaps only the header, of a table that goes on on the next page."""
    if before.lines[-1].page + 1 != table.lines[0].page or (before.kind != "table" and len(before.lines) > 1):
        return False
    theirs, ours = split(before.lines[0]), split(table.lines[0])
    return len(theirs) == len(ours) == len(table.rows[0]) > 1 and all(
        abs(a[0].left - b[0].left) < 0.5 * table.lines[0].size for a, b in zip(theirs, ours, strict=True)
    )
