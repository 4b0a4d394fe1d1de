"""What the numbers in a spreadsheet mean: dates, times, percentages or plain numbers, by the format of their cell."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from typing import Final, Literal

from webseam.fetch.readers.package import Package
from webseam.fetch.readers.parts import Handler, number, walk

Form = Literal["", "day", "time", "instant", "span", "percent"]
"""How a number is shown: as it is, as a date, a time of day, both, hours that go on counting, or in hundredths."""

_MAX_FORMATS: Final = 100_000
_MAX_CODE: Final = 500  # characters of a format
_LAST_DAY: Final = 2_958_466  # the last of the year 9999
_LEAP: Final = 60  # 29 February 1900, which never was, but which spreadsheets count
_BUILT_IN: Final[dict[int, Form]] = {
    9: "percent",
    10: "percent",
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), 36, *range(50, 59)), "day"),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 34, 35, 45, 47), "time"),
    22: "instant",
    46: "span",
}
_SILENT = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)  # shown as they are
_FRACTION = re.compile(r"(?<=s)[.,]0+")
_DIGIT = re.compile(r"[0#?]")
_SPAN = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)


def form_of(code: str) -> Form:
    """Return the form that a format such as `yyyy-mm-dd` gives."""
    code = _SILENT.sub("", code[:_MAX_CODE].split(";")[0]).lower()
    if _SPAN.search(code):
        return "span"
    if "general" in code:
        return ""
    code = _FRACTION.sub("", code)
    clock = "h" in code or "s" in code
    day = "y" in code or "d" in code or ("m" in code and not clock)
    if (day or clock) and not _DIGIT.search(code):
        return "instant" if day and clock else "day" if day else "time"
    return "percent" if "%" in code else ""


def shown(value: float, form: Form, *, from_1904: bool) -> str:
    """Return a number as its cell shows it; a date that there is none of stays a number."""
    if not math.isfinite(value):
        return str(value)
    if form == "percent":
        return f"{_plain(value * 100)}%"
    if form == "span":
        seconds = round(value * 86_400)
        sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
        return f"{sign}{seconds // 3_600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if form and 0 <= value < _LAST_DAY:
        return _moment(value, form, from_1904=from_1904)
    return _plain(value)


def _moment(value: float, form: Form, *, from_1904: bool) -> str:
    seconds = round(value * 86_400)
    first = datetime(1899, 12, 31) if value < _LEAP else datetime(1899, 12, 30)
    start = datetime(1904, 1, 1) if from_1904 else first
    if form == "time" or (form == "instant" and value < 1):
        return f"{seconds // 3_600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    try:
        moment = start + timedelta(seconds=seconds)
    except OverflowError:
        return _plain(value)
    if form == "day" or not seconds % 86_400:
        return moment.date().isoformat()
    return moment.isoformat(sep=" ")


def _plain(value: float) -> str:
    """Return a number with the fifteen digits that spreadsheets keep, so that 0.1 + 0.2 is 0.3."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"


class Forms(Handler):
    """The forms of a workbook's cells, by the number of their style."""

    def __init__(self, package: Package, part: str | None) -> None:
        self._codes: dict[int, Form] = {}
        self._cells: list[Form] = []
        self._in_cells = False
        if part and part in package:
            walk(package, part, self)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "x:numFmt" and len(self._codes) < _MAX_FORMATS:
            self._codes[number(attributes.get("numFmtId"))] = form_of(attributes.get("formatCode", ""))
        elif name == "x:cellXfs":
            self._in_cells = True
        elif name == "x:xf" and self._in_cells and len(self._cells) < _MAX_FORMATS:
            key = number(attributes.get("numFmtId"))
            self._cells.append(self._codes.get(key, _BUILT_IN.get(key, "")))

    def end(self, name: str) -> None:
        if name == "x:cellXfs":
            self._in_cells = False

    def of(self, style: str | None) -> Form:
        place = number(style)
        return self._cells[place] if 0 <= place < len(self._cells) else ""
