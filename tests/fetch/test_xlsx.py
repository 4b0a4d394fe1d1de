"""Spreadsheets, made of the XML that each test is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.packages import OLE, office, properties, xlsx
from webseam.errors import Outcome
from webseam.fetch.readers.writing import ROOM
from webseam.fetch.readers.xlsx import read
from webseam.fetch.readers.xlsx_values import form_of, shown
from webseam.fetch.types import Reading, Source, Unreadable


def row(*cells: str, number: int = 1, more: str = "") -> str:
    return f'<row r="{number}" {more}>{"".join(cells)}</row>'


def cell(value: object, place: str = "", kind: str = "n", style: int = 0) -> str:
    where = f'r="{place}"' if place else ""
    return f'<c {where} t="{kind}" s="{style}"><v>{value}</v></c>'


def text(words: str, place: str = "") -> str:
    where = f'r="{place}"' if place else ""
    return f'<c {where} t="inlineStr"><is><t>{words}</t></is></c>'


def data(*rows: str, before: str = "") -> str:
    return f"{before}<sheetData>{''.join(rows)}</sheetData>"


def reading(body: bytes, url: str = "https://example.org/files/a.xlsx") -> Reading:
    return read(Source(body=body, url=url))


def test_a_whole_reading() -> None:
    body = xlsx(
        {
            "Sales": data(
                row(text("Sales of 2026")),
                row(text("Item", "A3"), text("When", "B3"), text("Share", "D3"), number=3),
                row(cell(0, "A4", "s"), cell(46024.5, "B4", style=1), cell(0.125, "D4", style=2), number=4),
                row(cell(1, "A5", "s"), cell(46024, "B5", style=1), cell("#N/A", "D5", "e"), number=5),
                row('<c r="Z9" s="1"/>', number=9),
            ),
            "Secret": data(row(text("x"))),
            "More": data(row(cell(1), cell(0, kind="b")), row(cell(2.5), cell(1, kind="b"))),
        },
        texts="<si><t>Apple</t></si><si><r><t>Pe</t></r><r><t>ar</t></r><rPh><t>ignored</t></rPh></si>",
        formats={"yyyy-mm-dd hh:mm": "1", "0.0%": "2"},
        states={"Secret": "hidden"},
        parts={
            "docProps/core.xml": properties(dc_title="T", dc_creator="A", dcterms_modified="2026-01-02T03:04:05Z"),
            "xl/vbaProject.bin": b"\x00",
        },
    )
    assert reading(body) == Reading(
        markdown="## Sales\n\nSales of 2026\n\n| Item | When | Share |\n| --- | --- | --- |\n"
        "| Apple | 2026-01-02 12:00:00 | 12.5% |\n| Pear | 2026-01-02 | #N/A |\n\n"
        "## More\n\n| 1 | FALSE |\n| --- | --- |\n| 2.5 | TRUE |\n",
        title="T",
        author="A",
        published="2026-01-02T03:04:05Z",
        reader="xlsx",
        removed={"hidden": 1, "script": 1},
    )


SHEETS = {
    "columns that nobody filled are dropped": (
        data(row(text("a", "B1"), text("b", "D1")), row(text("c", "B2"), text("", "F2"))),
        "| a | b |\n| --- | --- |\n| c | |\n",
    ),
    "a formula that was never computed is shown": (
        data(row(text("a"), '<c r="B1"><f>SUM(A1:A9)</f></c>')),
        "| a | =SUM(A1:A9) |\n| --- | --- |\n",
    ),
    "a formula is what it came to": (
        data(row(text("a"), '<c r="B1"><f>1+1</f><v>2</v></c>')),
        "| a | 2 |\n| --- | --- |\n",
    ),
    "a single cell": (data(row(text("a *b*"))), "a *b*\n"),
    "cells without places follow each other": (data(row(text("a"), text("b"))), "| a | b |\n| --- | --- |\n"),
    "pipes and line ends stay in their cell": (
        data(row(text("a|b"), text("c\nd"))),
        "| a\\|b | c<br>d |\n| --- | --- |\n",
    ),
    "numbers alone are no names of columns": (
        data(row(cell(1), cell(2)), row(cell(3), cell(4))),
        "| 1 | 2 |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n",
    ),
}


@pytest.mark.parametrize(("sheet", "expected"), SHEETS.values(), ids=SHEETS.keys())
def test_a_sheet_is_read_as(sheet: str, expected: str) -> None:
    assert reading(xlsx({"S": sheet})).markdown == f"## S\n\n{expected}"


def test_hidden_rows_and_columns_are_left_out_and_counted() -> None:
    sheet = data(
        row(text("a", "A1"), text("x", "B1"), text("b", "C1")),
        row(text("y", "A2"), number=2, more='hidden="1"'),
        before='<cols><col min="2" max="2" hidden="1"/></cols>',
    )
    found = reading(xlsx({"S": sheet}))
    assert (found.markdown, found.removed) == ("## S\n\n| a | b |\n| --- | --- |\n", {"hidden": 2})


def test_rows_that_do_not_fit_are_counted_as_the_sheet_counts_them() -> None:
    rows = [row(cell(place), text("some words"), number=place) for place in range(1, 10_001)]
    found = reading(xlsx({"S": data(*rows, before='<dimension ref="A1:B10000"/>')}))
    last = found.markdown.count("\n") - 3
    assert found.notes == [f"Sheet S: rows after row {last:,} of 10,000 are left out."]
    assert found.truncated
    assert ROOM * 0.6 < len(found.markdown) < ROOM


def test_columns_that_do_not_fit_are_counted() -> None:
    found = reading(xlsx({"S": data(row(*(text("a") for _ in range(100))))}))
    assert found.notes == ["Sheet S: 40 cells right of the first 60 columns are left out."]
    assert (found.truncated, found.markdown.count("| a")) == (True, 60)


def test_every_sheet_gets_its_share_of_the_room() -> None:
    rows = data(*(row(text("some words"), text("and more"), number=place) for place in range(1, 5_001)))
    found = reading(xlsx({"A": rows, "B": rows, "C": data(row(text("short")))}))
    assert [block.split("\n")[0] for block in found.markdown.split("## ")] == ["", "A", "B", "C"]
    parts = [len(block) for block in found.markdown.split("## ")]
    assert abs(parts[1] - parts[2]) < ROOM / 5


def test_two_cells_far_apart_cost_nothing_in_between() -> None:
    found = reading(xlsx({"S": data(row(text("a", "A1")), row(text("z", "XFD1048576"), number=1_048_576))}))
    assert found.markdown == "## S\n\na\n"
    assert found.notes == ["Sheet S: 1 cells right of the first 1 columns are left out."]


FORMATS = {
    "General": "",
    "0.00": "",
    "#,##0.00 &quot;days&quot;": "",
    "[Red]0.00": "",
    "0.00E+00": "",
    "@": "",
    "yyyy-mm-dd": "day",
    "[$-409]d-mmm-yy;@": "day",
    "mmmm": "day",
    "h:mm:ss AM/PM": "time",
    "mm:ss.0": "time",
    "dd.mm.yyyy hh:mm": "instant",
    "yyyy-mm-dd hh:mm:ss.000": "instant",
    "[h]:mm": "span",
    "0.0%": "percent",
}


@pytest.mark.parametrize(("code", "form"), FORMATS.items())
def test_a_format_tells_what_a_number_is(code: str, form: str) -> None:
    assert form_of(code.replace("&quot;", '"')) == form


VALUES = [
    (0.1 + 0.2, "", False, "0.3"),
    (12345678901234.0, "", False, "12345678901234"),
    (1e300, "", False, "1e+300"),
    (float("inf"), "", False, "inf"),
    (46024.0, "day", False, "2026-01-02"),
    (44562.0, "day", True, "2026-01-02"),
    (1.0, "day", False, "1900-01-01"),
    (59.0, "day", False, "1900-02-28"),
    (61.0, "day", False, "1900-03-01"),
    (46024.573, "instant", False, "2026-01-02 13:45:07"),
    (0.5, "time", False, "12:00:00"),
    (1.1, "span", False, "26:24:00"),
    (-0.5, "span", False, "-12:00:00"),
    (-5.0, "day", False, "-5"),
    (1e12, "day", False, "1000000000000"),
    (0.125, "percent", False, "12.5%"),
]


@pytest.mark.parametrize(("value", "form", "from_1904", "expected"), VALUES)
def test_a_number_is_shown_as(value: float, form: str, from_1904: bool, expected: str) -> None:
    assert shown(value, form, from_1904=from_1904) == expected  # type: ignore[arg-type]


@given(st.text(max_size=100), st.floats())
def test_any_format_shows_any_number(code: str, value: float) -> None:
    assert shown(value, form_of(code), from_1904=False)


BINARY = office("xl/workbook.bin", {"xl/workbook.bin": b"\x00"})
REFUSED = {
    "encrypted": (OLE + "EncryptedPackage".encode("utf-16-le"), "this spreadsheet of 640 bytes is encrypted"),
    "binary": (
        BINARY,
        f"this spreadsheet of {len(BINARY)} bytes is in the binary format of Excel, which is not read",
    ),
    "empty": (xlsx({"S": data()}), f"this spreadsheet of {len(xlsx({'S': data()})):,} bytes holds no values"),
}


@pytest.mark.parametrize(("body", "detail"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_is_refused_with_the_reason(body: bytes, detail: str) -> None:
    with pytest.raises(Unreadable) as refused:
        reading(body)
    assert (refused.value.detail, refused.value.outcome) == (detail, Outcome.UNSUPPORTED)


NAMES = "sheetData row c v t f is rPh cols col dimension".split()
VALUES_OF = (
    "",
    "r='A1'",
    "r='XFD1048576'",
    "t='s'",
    "t='inlineStr'",
    "t='b'",
    "s='99'",
    "r='-5'",
    "min='0' max='99999999'",
)


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES_OF)), max_size=30))
def test_elements_in_any_order_are_read(elements: list[tuple[str, str]]) -> None:
    names = [name for name, _ in elements]
    sheet = "".join(f"<{name} {more}>7" for name, more in elements) + "".join(f"</{name}>" for name in reversed(names))
    try:
        found = reading(xlsx({"S": sheet}, texts="<si><t>a</t></si>")).markdown
    except Unreadable as error:
        found = error.detail
    assert found.endswith(("\n", "holds no values", "holds no values in as much of it as is read"))
