"""Blocks of an office document as HTML: paragraphs, lists by level, lines of code put together, tables with spans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Final, NamedTuple

_MAX_SPAN: Final = 100  # columns that one cell may take


class Look(NamedTuple):
    """How letters look, as far as Markdown can show it."""

    href: str | None = None
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    place: str = ""  # "sup", "sub"


PLAIN: Final = Look()
Run = tuple[Look | None, str]  # text and its look; None for HTML


def inline(runs: Iterable[Run]) -> str:
    """Return runs as HTML; those of one look that follow each other become one."""
    merged: list[tuple[Look | None, list[str]]] = []
    for look, text in runs:
        if merged and look is not None and merged[-1][0] == look:
            merged[-1][1].append(text)
        else:
            merged.append((look, [text]))
    return "".join("".join(texts) if look is None else _marked("".join(texts), look) for look, texts in merged)


def _marked(text: str, look: Look) -> str:
    html = escape(text, quote=False).replace("\n", "<br>")
    if look == PLAIN or not text.strip():
        return html
    tags = {"code": look.code, "s": look.strike, "em": look.italic, "strong": look.bold, look.place: bool(look.place)}
    for tag, wanted in tags.items():
        if wanted:
            html = f"<{tag}>{html}</{tag}>"
    return f'<a href="{escape(look.href)}">{html}</a>' if look.href else html


def words_of(runs: Iterable[Run]) -> str:
    """Return the text of runs."""
    return "".join(text for look, text in runs if look is not None)


@dataclass(slots=True)
class Flow:
    """Blocks under each other, with the lists and the code that are still open."""

    written: list[str] = field(default_factory=list)
    size: int = 0
    lists: list[tuple[int, str]] = field(default_factory=list)  # level and tag
    code: list[str] = field(default_factory=list)

    @property
    def is_between(self) -> bool:
        """True where nothing is open that the next block could belong to."""
        return not self.lists and not self.code

    def block(self, html: str) -> None:
        """Write a block that belongs to no list."""
        self.close()
        self._write(html)

    def code_line(self, text: str) -> None:
        """Write a line of code; those that follow each other are one block."""
        if self.lists:
            self.close()
        self.code.append(text)

    def item(self, html: str, level: int, count: int | None) -> None:
        """Write a list item; `count` is its number, None for a bullet."""
        self._end_code()
        tag = "ul" if count is None else "ol"
        while self.lists and self.lists[-1][0] > level:
            self._write(f"</li></{self.lists.pop()[1]}>")
        if self.lists and self.lists[-1] == (level, tag):
            self._write("</li>")
        else:
            if self.lists and self.lists[-1][0] == level:
                self._write(f"</li></{self.lists.pop()[1]}>")
            self.lists.append((level, tag))
            self._write(f"<{tag}>")
        self._write(f"<li>{html}" if count is None else f'<li value="{max(count, 0)}">{html}')

    def close(self) -> None:
        """End lists and code."""
        self._end_code()
        while self.lists:
            self._write(f"</li></{self.lists.pop()[1]}>")

    def take(self) -> str:
        """Return what was written since the last time, all of it closed."""
        self.close()
        html = "".join(self.written)
        self.written.clear()
        self.size = 0
        return html

    def _end_code(self) -> None:
        if self.code:
            code = "\n".join(self.code)
            self.code.clear()
            if code.strip():
                self._write(f"<pre><code>{escape(code, quote=False)}</code></pre>")

    def _write(self, html: str) -> None:
        self.written.append(html)
        self.size += len(html)


@dataclass(slots=True)
class Cell:
    """One cell. `down`: "" alone, "first" of a cell over several rows, "more" for the rest of it."""

    html: str = ""
    across: int = 1
    down: str = ""
    rows: int = 1


@dataclass(slots=True)
class Table:
    """The rows of a table. `has_head`: the first row names the columns."""

    rows: list[list[Cell]] = field(default_factory=list)
    has_head: bool = False

    def html(self) -> str:
        """Return the table as HTML, "" when there is nothing in it."""
        wide = any(len(row) > 1 for row in self.rows)
        lines = []
        self._join_rows()
        for place, row in enumerate(self.rows):
            tag = "th" if place == 0 and self.has_head and wide and len(self.rows) > 1 else "td"
            cells = "".join(_cell(cell, tag) for cell in row if cell.down != "more")
            lines.append(f"<tr>{cells}</tr>")
        return f"<table>{''.join(lines)}</table>" if lines else ""

    def _join_rows(self) -> None:
        """Count for each cell over several rows how many they are."""
        open_cells: dict[int, Cell] = {}
        for row in self.rows:
            column = 0
            for cell in row:
                if cell.down == "more" and column in open_cells:
                    open_cells[column].rows += 1
                elif cell.down == "more":
                    cell.down = ""
                if cell.down == "first":
                    open_cells[column] = cell
                elif not cell.down:
                    open_cells.pop(column, None)
                column += cell.across


def _cell(cell: Cell, tag: str) -> str:
    across = f' colspan="{min(cell.across, _MAX_SPAN)}"' if cell.across > 1 else ""
    down = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    return f"<{tag}{across}{down}>{cell.html}</{tag}>"
