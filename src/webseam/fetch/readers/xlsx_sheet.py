"""One sheet of a workbook, row by row as the parser meets them, until there is no more room for rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from webseam.fetch.readers.package import Package
from webseam.fetch.readers.parts import Done, Handler, number, walk
from webseam.fetch.readers.table import MAX_CELL, MAX_COLUMNS
from webseam.fetch.readers.xlsx_values import Forms, shown

_LAST_COLUMN: Final = 16_384
_MAX_RANGES: Final = 200  # of columns that are hidden
_MAX_BLANK: Final = 500_000  # cells without a value, which are there to be coloured
_MAX_VALUE: Final = 4_000  # characters of a cell that are taken; the table shows fewer
_CELL = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_RANGE = re.compile(r"(?:[A-Z]{1,3}\d{1,7}:)?([A-Z]{1,3})(\d{1,7})")
_FLAGS: Final = ("1", "true", "on")


@dataclass(slots=True)
class Rows:
    """What was taken of a sheet.

    Attributes:
        rows: column from 0 -> text, of rows that have any; a text that stands in the table of texts is its number.
        claimed: rows and columns that the sheet says it has; 0 when it does not say.
        left_out: cells in columns that are not shown.
        cut: there are rows after those taken, or there may be.
        hidden: rows that a person does not see.
        hidden_columns: those with values in them.
    """

    rows: list[dict[int, str | int]] = field(default_factory=list)
    claimed: tuple[int, int] = (0, 0)
    last: int = 0
    left_out: int = 0
    hidden: int = 0
    hidden_columns: set[int] = field(default_factory=set)
    cut: bool = False


def column_of(letters: str) -> int:
    """Return the place of a column from 0: "A" is 0, "AA" 26."""
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


class Sheet(Handler):
    """Takes a sheet's cells until `room` characters of them were taken."""

    def __init__(self, forms: Forms, room: int, *, from_1904: bool) -> None:
        self.found = Rows()
        self._forms, self._room, self._from_1904 = forms, room, from_1904
        self._unseen: list[range] = []
        self._blank = 0
        self._row: dict[int, str | int] = {}
        self._hidden = False
        self._column = -1
        self._first: int | None = None  # column of the first value: what stands left of it is empty so far
        self._kind = self._style = ""
        self._value: list[str] = []
        self._formula = ""
        self._takes = ""
        self._skip = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "x:c":
            self._start_cell(attributes)
        elif name in ("x:v", "x:t", "x:f"):
            self._takes = name
        elif name == "x:row":
            self._row = {}
            self._column = -1
            self.found.last = number(attributes.get("r"), self.found.last + 1)
            self._hidden = attributes.get("hidden") in _FLAGS
        elif name == "x:rPh":
            self._skip += 1
        elif name == "x:dimension" and (found := _RANGE.fullmatch(attributes.get("ref", ""))):
            self.found.claimed = int(found[2]), column_of(found[1]) + 1
        elif name == "x:col" and attributes.get("hidden") in _FLAGS:
            first, last = number(attributes.get("min"), 1), number(attributes.get("max"), 1)
            if len(self._unseen) < _MAX_RANGES:
                self._unseen.append(range(max(first, 1) - 1, min(last, _LAST_COLUMN)))

    def _start_cell(self, attributes: dict[str, str]) -> None:
        found = _CELL.fullmatch(attributes.get("r", ""))
        self._column = column_of(found[1]) if found else self._column + 1
        self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
        self._value.clear()
        self._formula = ""

    def text(self, words: str) -> None:
        if not self._takes or self._skip:
            return
        if self._takes == "x:f":
            self._formula = (self._formula + words)[:MAX_CELL]
        elif len(self._value) < _MAX_VALUE:
            self._value.append(words[:_MAX_VALUE])

    def end(self, name: str) -> None:
        if name == "x:c":
            self._end_cell()
        elif name == "x:row":
            self._end_row()
        elif name == "x:rPh":
            self._skip -= 1
        elif name == "x:sheetData":
            raise Done
        elif name == self._takes:
            self._takes = ""

    def _end_cell(self) -> None:
        value = self._read("".join(self._value)[:_MAX_VALUE])
        if value == "":
            self._blank += 1
            if self._blank > _MAX_BLANK:
                self.found.cut = True
                raise Done
            return
        if self._first is None:
            self._first = self._column
        if self._column >= self._first + MAX_COLUMNS + len(self.found.hidden_columns):
            self.found.left_out += not self._hidden
        elif any(self._column in columns for columns in self._unseen):
            self.found.hidden_columns.add(self._column)
        else:
            self._row[self._column] = value

    def _read(self, value: str) -> str | int:
        if not value:
            return f"={self._formula}" if self._formula else ""
        if self._kind == "s":
            return number(value, -1)
        if self._kind == "b":
            return "TRUE" if value.strip() in _FLAGS else "FALSE"
        if self._kind != "n":  # text, an error such as #N/A, or a date that is written out
            return value
        try:
            return shown(float(value), self._forms.of(self._style), from_1904=self._from_1904)
        except ValueError:
            return value

    def _end_row(self) -> None:
        row, self._row = self._row, {}
        if not row:
            return
        if self._hidden:
            self.found.hidden += 1
            return
        self._room -= 4 + sum(3 + (len(value) if isinstance(value, str) else 8) for value in row.values())
        if self._room < 0 and self.found.rows:
            self.found.cut = True
            raise Done
        self.found.rows.append(row)


class Texts(Handler):
    """The texts that cells refer to by number: those that are `wanted`, and no others."""

    def __init__(self, wanted: set[int]) -> None:
        self.found: dict[int, str] = {}
        self._wanted = wanted
        self._last = max(wanted, default=-1)
        self._place = -1
        self._text: list[str] = []
        self._takes = self._is_wanted = False
        self._skip = 0

    def read(self, package: Package, part: str | None, until: float | None) -> bool:
        """Read the table of texts; False when time was short."""
        return walk(package, part, self, until=until) if self._wanted and part and part in package else True

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "x:si":
            self._place += 1
            self._is_wanted = self._place in self._wanted
            self._text = []
        elif name == "x:t":
            self._takes = self._is_wanted and not self._skip
        elif name == "x:rPh":  # how Japanese words are spoken
            self._skip += 1

    def text(self, words: str) -> None:
        if self._takes and len(self._text) < _MAX_VALUE:
            self._text.append(words[:_MAX_VALUE])

    def end(self, name: str) -> None:
        if name == "x:t":
            self._takes = False
        elif name == "x:rPh":
            self._skip -= 1
        elif name == "x:si":
            if self._is_wanted:
                self.found[self._place] = "".join(self._text)[:_MAX_VALUE]
            if self._place >= self._last:
                raise Done
