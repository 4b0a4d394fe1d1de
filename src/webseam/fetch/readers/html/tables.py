"""Tables: which ones hold data, their grid with spans laid out, and the GFM table it makes.

A table that only arranges a page, or holds what a cell of Markdown cannot (code of several lines, other tables), is
left to the caller, who writes its cells one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from webseam.fetch.readers.html.tabs import bold_paragraph

_UNFIT: Final = ("table", "pre", "h1", "h2", "h3", "h4", "hr", "textarea", "article", "section", "blockquote")
_OUTER: Final = ("table", "article", "section")  # what only a table that arranges a page has inside
_SECTIONS: Final = frozenset({"thead", "tbody", "tfoot"})
_MAX_COLUMNS: Final = 100
_MAX_GRID: Final = 200_000  # cells that spans may fill; hostile spans are cheap to write
_LONG_CELL: Final = 600  # characters; in a table without a header such a cell is a column of the page
_REPEATED: Final = 60  # characters; a longer text is not said again in every row it spans

Convert = Callable[[Any, bool], str]  # a cell, whether it is a header: its Markdown


@dataclass(slots=True)
class Table:
    """Rows of a data table as they stand in the page; the first `headers` of them name the columns."""

    rows: list[list[Any]] = field(default_factory=list)
    headers: int = 0
    caption: Any = None


def read_table(node: Any) -> Table | None:
    """Return the rows of a table that holds data, None when it only arranges its cells."""
    if node.attr("role") in ("presentation", "none") or _is_unfit(node):
        return None
    table = _rows(node)
    width = max((len(row) for row in table.rows), default=0)
    if table.headers or (width > 1 and _has_header_cell(table)):
        return table
    if width < 2 or len(table.rows) < 2 or any(len(cell.text) > _LONG_CELL for row in table.rows for cell in row):
        return None
    return table


def name_cells(node: Any) -> None:
    """Put the name of its column at the start of every cell, for a table whose code no cell of Markdown can hold.

    Its cells are then written one after the other and still say what they are. Changes the tree; without one row of
    names, or where cells span, nothing.
    """
    if node.attr("role") in ("presentation", "none") or next(node.iter_elements(_OUTER), None) is not None:
        return
    table = _rows(node)
    names = [" ".join(cell.text.split()) for cell in table.rows[0]] if table.headers == 1 else []
    if len(names) < 2 or any(len(name) > _REPEATED for name in names):
        return
    body = table.rows[1:]
    if any(len(row) != len(names) for row in body) or next(iter(node.select("[rowspan], [colspan]")), None) is not None:
        return
    for row in body:
        for name, cell in zip(names, row, strict=True):
            if name and cell.text.strip():
                cell.insert(0, bold_paragraph(name))
    for cell in table.rows[0]:
        cell.extract()


def render(table: Table, convert: Convert) -> str:
    """Return a table as GFM; "" when nothing is in it."""
    head = [_Row(row, is_heading=True) for row in table.rows[: table.headers]]
    body = [_Row(row) for row in table.rows[table.headers :]]
    grid = _Grid(convert, repeat=table.headers > 1)
    top = grid.fill(head)
    grid.repeat = False
    rows = [row for row in grid.fill(body) if any(row)]
    width = max((len(row) for row in (*top, *rows)), default=0)
    names = [_name([row[column] for row in top if column < len(row)]) for column in range(width)]
    used = {column for row in (names, *rows) for column, text in enumerate(row) if text}
    kept = [column for column in range(width) if column in used]
    if not kept:
        return ""
    if len(kept) * len(rows) > _MAX_GRID:  # GFM fills short rows itself
        rows = [row[: max(column for column, text in enumerate(row) if text) + 1] for row in rows]
    else:
        rows = [row + [""] * (width - len(row)) for row in rows]
    lines = [_line([names[column] for column in kept]), _line(["---"] * len(kept))]
    lines += [_line([row[column] for column in kept if column < len(row)]) for row in rows]
    return "\n".join(lines)


def _is_unfit(node: Any) -> bool:
    """True when something inside cannot stand in a cell; stops at a nested table, so nesting costs no square."""
    for found in node.iter_elements(_UNFIT):
        if found.tag != "pre":
            return True
        if "\n" in found.text.strip():
            return True
    return False


def _rows(node: Any) -> Table:
    table = Table()
    for child in node.children:
        tag = getattr(child, "tag", None)
        if tag == "caption":
            table.caption = child
        elif tag == "tr":
            _add(table, child)
        elif tag in _SECTIONS:
            for row in child.children:
                if getattr(row, "tag", None) == "tr":
                    _add(table, row)
                    if tag == "thead" and table.headers == len(table.rows) - 1:
                        table.headers = len(table.rows)
    if not table.headers and len(table.rows) > 1 and all(_is_heading(cell) for cell in table.rows[0]):
        table.headers = 1
    return table


def _add(table: Table, row: Any) -> None:
    cells = [cell for cell in row.children if getattr(cell, "tag", None) in ("td", "th")]
    if cells:
        table.rows.append(cells)


def _is_heading(cell: Any) -> bool:
    """True for a `th`, and for a cell that is bold as a whole."""
    if cell.tag == "th":
        return True
    parts = [part for part in cell.children if getattr(part, "tag", None) is not None or part.text.strip()]
    return len(parts) == 1 and getattr(parts[0], "tag", None) in ("b", "strong")


def _has_header_cell(table: Table) -> bool:
    return any(cell.tag == "th" for row in table.rows for cell in row)


def _name(texts: list[str]) -> str:
    """Return the name of a column under one or several header rows."""
    return " ".join(text for position, text in enumerate(texts) if text and text not in texts[:position])


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


class _Row:
    def __init__(self, cells: list[Any], *, is_heading: bool = False) -> None:
        self.cells = cells
        self.is_heading = is_heading


class _Grid:
    """Lays out cells with their spans; a text that spans rows is repeated where it is short."""

    def __init__(self, convert: Convert, *, repeat: bool) -> None:
        self.repeat = repeat  # across columns too, so that every column below can be named
        self._convert = convert
        self._left = _MAX_GRID

    def fill(self, rows: list[_Row]) -> list[list[str]]:
        held: dict[int, tuple[int, str]] = {}  # column -> rows it still reaches down, its text
        filled = []
        for row in rows:
            line: list[str] = []
            for cell in row.cells:
                self._take_held(line, held)
                text = self._convert(cell, row.is_heading)
                across, down = self._span(cell, "colspan", _MAX_COLUMNS), self._span(cell, "rowspan", len(rows))
                across = max(1, min(across, _MAX_COLUMNS - len(line)))
                below = text if len(text) <= _REPEATED else ""
                for position in range(across):
                    if down > 1:
                        held[len(line)] = (down - 1, below if self.repeat or not position else "")
                    line.append(text if self.repeat or not position else "")
            self._take_held(line, held)
            filled.append(line)
        return filled

    def _take_held(self, line: list[str], held: dict[int, tuple[int, str]]) -> None:
        while len(line) in held:
            column = len(line)
            down, text = held.pop(column)
            if down > 1:
                held[column] = (down - 1, text)
            line.append(text)
            self._left -= 1
            if self._left < 0:
                held.clear()

    def _span(self, cell: Any, name: str, most: int) -> int:
        value = cell.attr(name)
        if value is None or self._left < 0:
            return 1
        value = value.strip()
        number = int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 1
        if number == 0 and name == "rowspan":  # to the end of the table
            number = most
        self._left -= min(number, most) if name == "colspan" else 0
        return max(1, min(number, most))
