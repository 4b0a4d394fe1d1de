"""Tables of data as GFM; tables that arrange a page are unwrapped."""

from __future__ import annotations

import pytest
import turbohtml

from webseam.fetch.readers.html.convert import to_markdown


def convert(html: str) -> str:
    return to_markdown(turbohtml.parse(html), "https://docs.example/").markdown


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        pytest.param(
            "<table><caption>Cap</caption><thead><tr><th>A<th><b>B|c</b></thead><tr><td>x<td>1<br>2<tr><td>y<td><ul><li>p<li>q</ul></table>",
            ["Cap", "", "| A | B\\|c |", "| --- | --- |", "| x | 1<br>2 |", "| y | - p<br>- q |"],
            id="pipes, breaks, lists",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td><p>one</p><p>two</p><td><code>a|b</code> <a href=/x>l</a></table>",
            ["| A | B |", "| --- | --- |", "| one<br>two | `a\\|b` [l](https://docs.example/x) |"],
            id="first row of headers",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td rowspan=2>x<td>1<tr><td>2<tr><td colspan=2>wide</table>",
            ["| A | B |", "| --- | --- |", "| x | 1 |", "| x | 2 |", "| wide |  |"],
            id="spans",
        ),
        pytest.param(
            "<table><thead><tr><th rowspan=2>N<th colspan=2>G<tr><th>x<th>y</thead><tr><td>1<td>2<td>3</table>",
            ["| N | G x | G y |", "| --- | --- | --- |", "| 1 | 2 | 3 |"],
            id="two header rows",
        ),
        pytest.param(
            "<table><tr><th>k<td>v<tr><th>k2<td>v2</table>",
            ["|  |  |", "| --- | --- |", "| k | v |", "| k2 | v2 |"],
            id="headers at the side",
        ),
        pytest.param(
            "<table><tr><td><b>A</b><td><b>B</b><tr><td>1<td>2<tr><td>3</table>",
            ["| A | B |", "| --- | --- |", "| 1 | 2 |", "| 3 |  |"],
            id="bold first row, short row",
        ),
        pytest.param(
            "<table><thead><tr><th>A<th><th>C</thead><tr><td>1<td><td>3<tr><td></table>",
            ["| A | C |", "| --- | --- |", "| 1 | 3 |"],
            id="empty column and row",
        ),
        pytest.param(
            "<table><thead><tr><th>A</thead><tr><td><pre>x = 1</pre></table>",
            ["| A |", "| --- |", "| `x = 1` |"],
            id="code of one line",
        ),
        pytest.param("<table><tr><td>only</table>", ["only"], id="one cell"),
        pytest.param(
            "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>",
            ["a", "", "b", "", "c", "", "d"],
            id="says it is layout",
        ),
        pytest.param(
            "<table><tr><td>side<td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>",
            ["side", "", "|  |  |", "| --- | --- |", "| a | b |", "| c | d |"],
            id="a table inside",
        ),
        pytest.param(
            "<table><thead><tr><th>A<th>B</thead><tr><td>x<td><pre>a\nb</pre></table>",
            ["**A**", "", "x", "", "**B**", "", "```", "a", "b", "```"],
            id="code of several lines",
        ),
        pytest.param(
            "<table><tr><td><h2>Nav</h2><td><pre>a\nb</pre></table>",
            ["## Nav", "", "```", "a", "b", "```"],
            id="code beside a column of the page",
        ),
        pytest.param(
            "<table><tr><th>A<th>B<tr><td colspan=2><pre>a\nb</pre></table>",
            ["A", "", "B", "", "```", "a", "b", "```"],
            id="code across columns",
        ),
        pytest.param(
            f"<table><tr><th>k<td>v<tr><th>k2<td>{'long ' * 200}</table>",
            ["|  |  |", "| --- | --- |", "| k | v |", f"| k2 | {('long ' * 200).strip()} |"],
            id="headers at the side of a long text",
        ),
        pytest.param(
            "<ul><li>i<table><tr><th>A<th>B<tr><td>1<td>2</table></ul>",
            ["- i", "", "  | A | B |", "  | --- | --- |", "  | 1 | 2 |"],
            id="in a list",
        ),
        pytest.param("<table></table>x", ["x"], id="empty"),
    ],
)
def test_a_table_becomes_markdown(html: str, lines: list[str]) -> None:
    assert convert(html) == "\n".join(lines) + "\n"


def test_a_long_text_is_not_repeated_in_every_row_it_spans() -> None:
    text = "long " * 20
    html = f"<table><tr><th>A<th>B<tr><td rowspan=2>{text}<td>1<tr><td>2</table>"
    assert convert(html).splitlines()[-1] == "|  | 2 |"


def test_spans_of_a_hostile_size_stay_small() -> None:
    html = "<table><tr><th>a<th>b" + "<tr><td rowspan=65534 colspan=1000>a<td rowspan=9999>b" * 5_000
    assert len(convert(html)) < 2_000_000
