"""The reader of spreadsheets: each sheet that a person sees as a heading and a table, with its dates as dates.

Straight from the XML, in one pass that stops where there is room for no more rows. The fast readers of spreadsheets
make a grid of all cells from the first to the last, so that 5 KB with two cells far apart take a gigabyte (measured).
Formulas are shown as what they came to; nothing is computed, and macros are not looked at.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.readers import table
from webseam.fetch.readers.package import Package
from webseam.fetch.readers.parts import Handler, Properties, Relations, main_part, walk
from webseam.fetch.readers.writing import ROOM, as_title, file_name, literal
from webseam.fetch.readers.xlsx_sheet import Rows, Sheet, Texts
from webseam.fetch.readers.xlsx_values import Forms
from webseam.fetch.types import Reading, Source, Unreadable
from webseam.text import clean

READER: Final = "xlsx"
SHARE: Final = 0.8  # of the given time after which no more is taken apart
_MAX_SHEETS: Final = 100
_LEAST_ROOM: Final = 2_000  # characters that each sheet may take, however many there are
_TITLE_ROWS: Final = 5  # rows of one cell before a table that are a title of it


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    part: str


def read(source: Source, *, seconds: float | None = None) -> Reading:
    """Return a workbook as Markdown of some `ROOM` characters; `notes` say what was left out of which sheet.

    Args:
        seconds: time there is; a workbook that takes longer is cut, and says so.

    Raises:
        Unreadable: `unsupported` when it is encrypted, too large, binary or without values; `bad_response` when it is
            damaged.
    """
    until = None if seconds is None else time.monotonic() + seconds * SHARE
    package = Package(source, "spreadsheet")
    main = main_part(package, "xl/workbook.xml")
    if main.lower().endswith(".bin"):
        detail = f"this {package.kind} of {package.size} is in the binary format of Excel, which is not read"
        raise Unreadable(detail, outcome=Outcome.UNSUPPORTED)
    relations = Relations(package, main)
    book = _Workbook(relations)
    walk(package, main, book)
    forms = Forms(package, next(relations.of_kind("styles"), None))
    taken: list[tuple[str, Rows]] = []
    room, in_time = ROOM, True
    for place, sheet in enumerate(book.sheets):
        share = max(room // (len(book.sheets) - place), _LEAST_ROOM)
        handler = Sheet(forms, share, from_1904=book.from_1904)
        if sheet.part in package:
            in_time = walk(package, sheet.part, handler, until=until) and in_time
        handler.found.cut |= not in_time
        room -= sum(4 + sum(3 + len(str(value)) for value in row.values()) for row in handler.found.rows)
        taken.append((sheet.name, handler.found))
    wanted = {value for _, found in taken for row in found.rows for value in row.values() if isinstance(value, int)}
    texts = Texts(wanted)
    in_time = texts.read(package, next(relations.of_kind("sharedStrings"), None), until) and in_time
    return _reading(source, package, book, taken, texts.found, in_time)


class _Workbook(Handler):
    """The sheets of a workbook that a person sees, in their order."""

    def __init__(self, relations: Relations) -> None:
        self._relations = relations
        self.sheets: list[_Named] = []
        self.hidden = self.more = 0
        self.from_1904 = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "x:workbookPr":
            self.from_1904 = attributes.get("date1904") in ("1", "true", "on")
        elif name == "x:sheet":
            part = self._relations.target(attributes.get("r:id"))
            if attributes.get("state", "visible") != "visible":
                self.hidden += 1
            elif len(self.sheets) >= _MAX_SHEETS:
                self.more += 1
            elif part and "chartsheet" not in part.lower():
                self.sheets.append(_Named(as_title(attributes.get("name")) or f"Sheet {len(self.sheets) + 1}", part))


def _reading(
    source: Source,
    package: Package,
    book: _Workbook,
    taken: list[tuple[str, Rows]],
    texts: dict[int, str],
    in_time: bool,
) -> Reading:
    blocks: list[str] = []
    notes: list[str] = []
    room = ROOM + _LEAST_ROOM * len(taken)
    for name, found in taken:
        rows = [_texts(row, texts) for row in found.rows]
        text, columns = _sheet(rows, room)
        room -= len(text)
        if text:
            blocks.append(f"## {literal(name)}\n\n{text}")
        if missing := _missing(found, columns):
            notes.append(f"Sheet {name}: {missing}.")
    if not blocks:
        raise package.wordless("values", is_whole=not any(found.cut for _, found in taken), in_time=in_time)
    if book.more:
        notes.append(f"Left out: {book.more:,} more sheets.")
    if not in_time:
        notes.append("Only the beginning was read: time was short.")
    about = Properties(package)
    hidden = book.hidden + sum(found.hidden + len(found.hidden_columns) for _, found in taken)
    removed = {"hidden": hidden, "script": int(any(part.endswith("vbaproject.bin") for part in package.names()))}
    return Reading(
        markdown=clean("\n".join(blocks)),
        title=about.title or file_name(source.url),
        author=about.author,
        published=about.published,
        language=about.language,
        reader=READER,
        removed={kind: count for kind, count in removed.items() if count},
        notes=notes,
        truncated=bool(book.more) or not in_time or any(found.cut or found.left_out for _, found in taken),
    )


def _texts(row: dict[int, str | int], texts: dict[int, str]) -> dict[int, str]:
    """Return the cells of a row as text, without those that are blank."""
    said = {column: texts.get(value, "") if isinstance(value, int) else value for column, value in row.items()}
    return {column: text for column, text in said.items() if text.strip()}


def _sheet(rows: list[dict[int, str]], room: int) -> tuple[str, int]:
    """Return the rows of a sheet as Markdown of at most some `room` characters, and how many columns they have."""
    rows = [row for row in rows if row]
    titles: list[str] = []
    while rows and len(rows[0]) == 1 and len(titles) < _TITLE_ROWS and any(len(row) > 1 for row in rows):
        titles.append(literal(next(iter(rows.pop(0).values()))))
    used = sorted({column for row in rows for column in row})[: table.MAX_COLUMNS]
    lines: list[list[str]] = []
    for row in rows:
        room -= 4 + sum(min(len(text), table.MAX_CELL) + 3 for text in row.values())
        if room < 0 and lines:
            break
        lines.append([row.get(column, "") for column in used])
    parts = [f"{title}\n" for title in titles]
    if lines and len(used) == 1 and len(lines) == 1:
        parts.append(f"{literal(lines[0][0])}\n")
    elif lines:
        parts.append(table.render(lines, len(used)))
    return "\n".join(parts), len(used)


def _missing(found: Rows, columns: int) -> str:
    """Return what is not shown of a sheet, as words; "" when all of it is."""
    words = []
    if found.cut:
        total = f" of {found.claimed[0]:,}" if found.claimed[0] > found.last else ""
        words.append(f"rows after row {max(found.last - 1, 1):,}{total} are left out")
    if found.left_out:
        words.append(f"{found.left_out:,} cells right of the first {columns:,} columns are left out")
    return ", ".join(words)
