"""Separated values as GFM tables. The dialect comes from the content, since names and headers lie about it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from webseam.fetch.readers.writing import ROOM, extension, file_name, literal, raw
from webseam.fetch.types import Reading, Source
from webseam.text import clip

_SEPARATORS: Final = ",\t;|"  # in the order in which a draw is decided
_SAMPLE: Final = 64 * 1024  # characters that the dialect is told by
_ROWS: Final = 100
MAX_COLUMNS: Final = 60
MAX_CELL: Final = 400  # characters
_LEAST: Final = 0.5  # share of the rows that must have the same number of columns to believe a separator
_ENOUGH: Final = 0.9  # share at which tabs that the type or the name promised are not compared with others


def read(text: str, source: Source, notes: list[str]) -> Reading:
    """Return separated values as a table of at most `ROOM` characters; `notes` count the rows and cells left out."""
    if not text.strip():
        return Reading(markdown="", title=file_name(source.url), reader="data", notes=notes)
    text, separator = _dialect(text.lstrip("\n"), source)
    rows, total, problem = _rows(text, separator)
    notes = notes + ([problem] if problem else [])
    if not rows and problem:
        return raw(text, source, "", reader="data", notes=notes)
    columns = max((len(row) for row in rows), default=0)
    left_out = {
        "rows": total - len(rows),
        "columns": max(columns - MAX_COLUMNS, 0),
        "ends of long cells": sum(len(cell) > MAX_CELL for row in rows for cell in row[:MAX_COLUMNS]),
    }
    counts = [f"{count:,} {kind}" for kind, count in left_out.items() if count]
    if counts:
        notes = [*notes, f"Left out: {', '.join(counts)} (of {total:,} rows and {columns:,} columns)."]
    return Reading(
        markdown=render(rows, min(columns, MAX_COLUMNS)),
        title=file_name(source.url),
        reader="data",
        notes=notes,
        truncated=source.truncated or bool(counts),
    )


def _dialect(text: str, source: Source) -> tuple[str, str]:
    """Return the values and what separates them: as the content says, else as the type or the name does."""
    first, _, rest = text.partition("\n")
    if len(first) == 5 and first.lower().startswith("sep="):  # a line that spreadsheet programs write
        return rest, first[4]
    likely = "\t" if "tab-sep" in source.media_type or extension(source.url) in ("tsv", "tab") else ","
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE and "\n" in sample:
        sample = sample[: sample.rindex("\n")]
    agreed = {separator: _agreement(sample, separator) for separator in _SEPARATORS}
    if likely == "\t" and agreed[likely][0] > _ENOUGH:
        return text, likely
    best = max(agreed, key=lambda separator: agreed[separator])
    return text, best if agreed[best][0] > _LEAST else likely


def _agreement(sample: str, separator: str) -> tuple[float, int]:
    """Return the share of the first rows that have the commonest number of columns, and that number, when above one."""
    try:
        widths = Counter(map(len, islice(csv.reader(io.StringIO(sample, newline=""), delimiter=separator), _ROWS)))
    except csv.Error:
        return 0.0, 0
    width, agreeing = max(widths.items(), key=lambda item: item[1], default=(0, 0))
    return (agreeing / widths.total(), width) if width > 1 else (0.0, 0)


def _rows(text: str, separator: str) -> tuple[list[list[str]], int, str | None]:
    """Return the rows there is room for, how many there are in all, and what is wrong with the quotes."""
    attempts: list[dict[str, Any]] = [{"strict": True}, {"strict": False}, {"quoting": csv.QUOTE_NONE}]
    while attempts:
        options = attempts.pop(0)
        try:
            rows, total = _keep(csv.reader(io.StringIO(text, newline=""), delimiter=separator, **options))
        except csv.Error as error:
            if "end of data" in str(error):  # without `strict` the rest of the file would be one cell
                attempts = attempts[-1:]
            continue
        return rows, total, None if attempts else "A quote is never closed: quotes are shown as they came."
    return [], 0, "Not a table, shown as it came."


def _keep(rows: Iterable[list[str]]) -> tuple[list[list[str]], int]:
    """Return the first rows up to `ROOM` characters, and how many rows there are."""
    kept: list[list[str]] = []
    total, room = 0, ROOM
    for row in rows:
        if not row:
            continue
        total += 1
        if room > 0:
            room -= 4 + sum(min(len(cell), MAX_CELL) + 3 for cell in row[:MAX_COLUMNS])
            if room > 0 or not kept:
                kept.append(row)
    return kept, total


def render(rows: list[list[str]], columns: int) -> str:
    """Return rows as a GFM table; numbers as a first row are no header, so the columns get numbers of their own."""
    if not rows:
        return ""
    named = not all(_is_number(cell) for cell in rows[0] if cell.strip())
    head = rows.pop(0) if named else [str(place) for place in range(1, columns + 1)]
    lines = [_line(head, columns), "|" + " --- |" * columns, *(_line(row, columns) for row in rows)]
    return "\n".join(lines) + "\n"


def _line(row: list[str], columns: int) -> str:
    cells = [_cell(cell) for cell in row[:columns]] + [""] * (columns - len(row))
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _cell(text: str) -> str:
    """Return a cell's text on one line, with what would end the cell escaped."""
    lines = [literal(line) for line in clip(text.strip(), MAX_CELL).split("\n")]
    return "<br>".join(lines).replace("|", "\\|")


def _is_number(text: str) -> bool:
    try:
        float(text.strip().rstrip("%").replace(",", "."))
    except ValueError:
        return False
    return True
