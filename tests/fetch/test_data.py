"""Data is laid out for reading, summarised with counts when there is too much, and shown as it came when broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.errors import Outcome
from webseam.fetch.readers import data
from webseam.fetch.readers.writing import ROOM
from webseam.fetch.types import Reading, Source, Unreadable


def read(body: str | bytes, name: str = "x.json", media_type: str = "", *, truncated: bool = False) -> Reading:
    body = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    return data.read(Source(body=body, url=f"https://example.com/{name}", media_type=media_type, truncated=truncated))


@pytest.mark.parametrize(
    ("body", "laid_out"),
    [
        pytest.param(
            '{"a":[1,2],"b":{"c":null}}', '{\n  "a": [1, 2],\n  "b": {"c": null}\n}', id="small parts together"
        ),
        pytest.param("[[1,2],[3,4]]", "[\n  [1, 2],\n  [3, 4]\n]", id="rows of numbers"),
        pytest.param(
            "[1.10, -0, 1e400, 12345678901234567890]", "[1.10, -0, 1e400, 12345678901234567890]", id="numbers as spelt"
        ),
        pytest.param("[NaN, -Infinity]", "[NaN, -Infinity]", id="not a number"),
        pytest.param(f"[{'1' * 5000}]", f"[\n  {'1' * 5000}\n]", id="five thousand digits"),
        pytest.param(r'["\ud800", "\ud83d\ude00", "\u00e9"]', '["\\ud800", "😀", "é"]', id="half a surrogate pair"),
        pytest.param('{"": {}, "x": []}', '{"": {}, "x": []}', id="empty name, empty parts"),
        pytest.param(")]}'\n[true]", "[true]", id="guard against scripts"),
        pytest.param('"one ``` string"', '"one ``` string"', id="a string alone, with a fence inside"),
        pytest.param("\ufeff{}", "{}", id="byte order mark"),
    ],
)
def test_json_is_laid_out(body: str, laid_out: str) -> None:
    fence = "````" if "```" in laid_out else "```"
    assert read(body) == Reading(markdown=f"{fence}json\n{laid_out}\n{fence}\n", title="x.json", reader="data")


def test_a_member_that_stands_twice_is_shown_twice() -> None:
    reading = read('{"a": 1, "a": 2}')
    assert reading.markdown == '```json\n{"a": 1, "a": 2}\n```\n'
    assert reading.notes == ["Members that repeat a name of their object, all shown: 1."]


@pytest.mark.parametrize(
    ("body", "title"),
    [
        pytest.param('{"openapi": "3.1.0", "info": {"title": "The API"}, "title": "no"}', "The API", id="of an API"),
        pytest.param('{"name": "left-pad", "version": "1"}', "left-pad", id="of a package"),
        pytest.param('{"title": ["no text"]}', "x.json", id="file name"),
    ],
)
def test_the_title_comes_from_the_content_or_the_name(body: str, title: str) -> None:
    assert read(body).title == title


def test_of_a_huge_array_the_beginning_is_shown_and_the_rest_counted() -> None:
    items = [{"id": place, "text": "word " * 40, "tags": ["a", "b"]} for place in range(10_000)]
    reading = read(json.dumps(items))
    assert 20_000 < len(reading.markdown) < ROOM + 100
    assert reading.markdown.endswith("  },\n  … 9,880 more items\n]\n```\n")
    assert (reading.notes, reading.truncated) == (["Left out: 9,880 items of arrays."], True)


def test_of_a_long_string_the_beginning_is_shown_and_the_rest_counted() -> None:
    reading = read(json.dumps({"a": "x" * 100_000, "b": 1}))
    assert reading.markdown == f'```json\n{{\n  "a": "{"x" * 8_000}… (92,000 more characters)",\n  "b": 1\n}}\n```\n'
    assert reading.notes == ["Left out: 92,000 characters of long texts."]


def test_of_a_deep_tree_the_lower_levels_are_counted() -> None:
    reading = read('{"a":[1,' * 150 + "0" + "]}" * 150)
    assert "{… 1 more}" in reading.markdown
    assert (reading.notes, reading.truncated) == (["Left out: 1 values nested too deeply."], True)


def test_of_an_object_with_too_many_large_members_the_first_are_shown() -> None:
    reading = read(json.dumps({f"key{place}": list(range(100)) for place in range(3_000)}))
    assert "more members" in reading.markdown
    assert reading.truncated


@pytest.mark.parametrize(
    ("body", "note"),
    [
        pytest.param(
            "[" * 100_000, "Nested too deeply to lay out, shown as it came.", id="100,000 arrays, never closed"
        ),
        pytest.param(
            "[" * 100_000 + "]" * 100_000, "Nested too deeply to lay out, shown as it came.", id="100,000 arrays deep"
        ),
        pytest.param('{"a":' * 100_000, "Nested too deeply to lay out, shown as it came.", id="100,000 objects deep"),
        pytest.param(
            "[" + "[],\n" * 300_001,
            "More than 300,000 arrays and objects, shown as it came.",
            id="too many to take apart",
        ),
    ],
)
def test_json_that_cannot_be_laid_out_is_shown_as_it_came(body: str, note: str) -> None:
    reading = read(body)
    assert reading.markdown == f"```json\n{body[:ROOM]}\n```\n"
    assert reading.notes == [note, f"Left out: {len(body) - ROOM:,} of {len(body):,} characters."]
    assert reading.truncated


def test_broken_json_is_shown_as_it_came_with_the_place_of_the_mistake() -> None:
    reading = read('{"a": 1,\n "b": tru')
    assert reading.markdown == '```json\n{"a": 1,\n "b": tru\n```\n'
    assert reading.notes == ["Not valid JSON, shown as it came: Expecting value in line 2, column 7."]


def test_json_with_comments_is_shown_as_it_came() -> None:
    reading = read('{"a": 1, // why\n}', "tsconfig.jsonc")
    assert (reading.markdown, reading.notes) == ('```jsonc\n{"a": 1, // why\n}\n```\n', [])


@pytest.mark.parametrize("name", [pytest.param("x.ndjson", id="by name"), pytest.param("x.json", id="by content")])
def test_records_one_a_line_are_counted_with_their_fields(name: str) -> None:
    reading = read('{"id":1,"a":2}\n\n{"id":2}\n', name)
    assert reading.markdown == '2 records. Fields: id, a (in 1).\n\n```jsonl\n{"id":1,"a":2}\n{"id":2}\n```\n'
    assert reading.notes == []


def test_records_that_are_broken_or_too_many_are_counted() -> None:
    reading = read('{"id":1}\nnope\n' + '{"id":"' + "x" * 100 + '"}\n' + "[1]\n" * 20_000, "x.jsonl")
    assert reading.markdown.startswith("20,003 records. Fields: id (in 2).\n\n```jsonl\n")
    assert reading.notes[0] == "Of the first 10,000 records 1 are not valid JSON."
    assert reading.notes[1].startswith("Left out: 5,031 records.")
    assert reading.truncated


@pytest.mark.parametrize(
    ("body", "name", "table"),
    [
        pytest.param("a,b\n1,2\n", "x.csv", "| a | b |\n| --- | --- |\n| 1 | 2 |\n", id="commas"),
        pytest.param("a;b\n1,5;2,5\n", "x.csv", "| a | b |\n| --- | --- |\n| 1,5 | 2,5 |\n", id="semicolons"),
        pytest.param("a\tb,c\n1\t2\n", "x.tsv", "| a | b,c |\n| --- | --- |\n| 1 | 2 |\n", id="tabs"),
        pytest.param("sep=|\na|b\n", "x.csv", "| a | b |\n| --- | --- |\n", id="said in the first line"),
        pytest.param('a,b\n"x\ny","p|q"\n', "x.csv", "| a | b |\n| --- | --- |\n| x<br>y | p\\|q |\n", id="quoted"),
        pytest.param("1,2\n3,4\n", "x.csv", "| 1 | 2 |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n", id="no header"),
        pytest.param(
            "a,b\n1\n1,2,3\n", "x.csv", "| a | b | |\n| --- | --- | --- |\n| 1 | | |\n| 1 | 2 | 3 |\n", id="ragged"
        ),
        pytest.param("a\nx\n", "x.csv", "| a |\n| --- |\n| x |\n", id="one column"),
        pytest.param(
            "a,b\n![x](http://e/?q),<img src=x>\n",
            "x.csv",
            "| a | b |\n| --- | --- |\n| \\![x]\\(http://e/?q) | \\<img src=x> |\n",
            id="a cell is no Markdown",
        ),
    ],
)
def test_separated_values_are_a_table(body: str, name: str, table: str) -> None:
    assert read(body, name) == Reading(markdown=table, title=name, reader="data")


def test_rows_columns_and_cells_without_room_are_counted() -> None:
    reading = read("\n".join(",".join(["x" * 500] * 70) for _ in range(100)), "x.csv")
    assert len(reading.markdown) < ROOM
    assert reading.notes == ["Left out: 98 rows, 10 columns, 120 ends of long cells (of 100 rows and 70 columns)."]
    assert reading.truncated


def test_a_quote_that_is_never_closed_swallows_nothing() -> None:
    reading = read('a,b\n"x,1\ny,2\n', "x.csv")
    assert reading.markdown == '| a | b |\n| --- | --- |\n| "x | 1 |\n| y | 2 |\n'
    assert reading.notes == ["A quote is never closed: quotes are shown as they came."]


@pytest.mark.parametrize(
    ("body", "laid_out"),
    [
        pytest.param("<a/>", "<a/>", id="empty"),
        pytest.param(
            '<a x="1&amp;2"><!-- c --><b>t &lt; u</b><c/></a>',
            '<a x="1&amp;2"><!-- c --><b><![CDATA[t < u]]></b><c/></a>',
            id="small parts together",
        ),
        pytest.param(
            f"<a><b>{'x' * 120}</b><p>some <i>bold</i> text</p></a>",
            f"<a>\n  <b>{'x' * 120}</b>\n  <p>some <i>bold</i> text</p>\n</a>",
            id="one a line when long, prose together",
        ),
        pytest.param(
            '<!DOCTYPE a PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://example.com/x.dtd"><a>x&eacute;y</a>',
            "<a>xéy</a>",
            id="an entity of HTML under definitions that are not loaded",
        ),
        pytest.param('\n<?xml version="1.0" encoding="utf-16"?><a>é</a>', "<a>é</a>", id="late and wrong declaration"),
    ],
)
def test_xml_is_laid_out(body: str, laid_out: str) -> None:
    assert read(body, "x.xml") == Reading(markdown=f"```xml\n{laid_out}\n```\n", title="x.xml", reader="data")


def test_the_title_of_xml_comes_from_its_content() -> None:
    assert read('<m:project xmlns:m="u"><m:name> The \n one</m:name></m:project>', "pom.xml").title == "The one"


def test_elements_without_room_are_counted() -> None:
    reading = read("<urlset>" + "<url><loc>https://example.com/a</loc></url>" * 3_000 + "</urlset>", "x.xml")
    assert reading.markdown.endswith("  <!-- 2,000 more -->\n</urlset>\n```\n")
    assert (reading.notes, reading.truncated) == (["Left out: 2,000 elements."], True)


@pytest.mark.parametrize(
    "declaration",
    [
        pytest.param('<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">', id="billion laughs"),
        pytest.param('<!ENTITY a SYSTEM "file:///etc/passwd">', id="a file"),
        pytest.param('<!ENTITY a PUBLIC "x" "http://169.254.169.254/">', id="an address"),
        pytest.param('<!ENTITY % a "x">', id="a parameter"),
        pytest.param('<!ENTITY a SYSTEM "x.gif" NDATA gif>', id="not parsed"),
    ],
)
def test_entities_that_reach_further_are_refused(declaration: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read(f"<!DOCTYPE x [{declaration}]><x>&a;</x>", "x.xml")
    assert raised.value.outcome is Outcome.UNSUPPORTED
    assert raised.value.detail.startswith("XML with entities that refer to others or to files is not read (")


def test_an_entity_of_its_own_letters_is_not_expanded() -> None:
    body = '<!DOCTYPE x [<!ENTITY a "ha">]><x>&a;</x>'
    reading = read(body, "x.svg", "image/svg+xml")
    assert reading.markdown == f"```xml\n{body}\n```\n"
    assert reading.notes == ["XML shown as it came: it declares entities, which are not expanded."]


@pytest.mark.parametrize(
    ("body", "note"),
    [
        pytest.param("<a><b></a>", "XML shown as it came: mismatched tag in line 1, column 9.", id="mismatched"),
        pytest.param(
            "<" * 100, "XML shown as it came: not well-formed (invalid token) in line 1, column 2.", id="signs"
        ),
        pytest.param("<a>&nbsp;</a>", "XML shown as it came: undefined entity in line 1, column 4.", id="entity"),
    ],
)
def test_broken_xml_is_shown_as_it_came(body: str, note: str) -> None:
    reading = read(body, "x.xml")
    assert (reading.markdown, reading.notes) == (f"```xml\n{body}\n```\n", [note])


def test_of_xml_cut_at_the_size_limit_what_came_is_laid_out() -> None:
    reading = read("<a><b>1</b><b>2", "x.xml", truncated=True)
    assert (reading.markdown, reading.truncated) == ("```xml\n<a><b>1</b><b>2</b></a>\n```\n", True)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<a>" * 99_000 + "</a>" * 99_000, id="99,000 levels"),
        pytest.param("<a>" * 200_000, id="200,000 levels"),
        pytest.param("<a " + " ".join(f'b{place}="1"' for place in range(200_000)) + "/>", id="200,000 attributes"),
        pytest.param(f"<a><{'b' * 70_000}/></a>", id="a name longer than a sheet"),
        pytest.param("<a>" + "<b/>" * 200_000 + "</a>", id="200,000 elements"),
    ],
)
def test_xml_of_any_shape_stays_within_bounds(body: str) -> None:
    reading = read(body, "x.xml")
    assert len(reading.markdown) < ROOM + 100
    assert reading.truncated
    assert len(reading.notes) >= 1


@pytest.mark.parametrize(
    ("media_type", "name", "body", "start"),
    [
        pytest.param("application/problem+json", "x", "[]", "```json", id="a type built on JSON"),
        pytest.param("application/x-ndjson", "x", "[]", "1 record.", id="lines"),
        pytest.param("application/atom+xml", "x", "<a/>", "```xml", id="a type built on XML"),
        pytest.param("text/csv", "x.json", "a,b", "| a | b |", id="the type before the name"),
        pytest.param("text/plain", "x.xml", "<a/>", "```xml", id="the name when the type is general"),
        pytest.param("", "x", " <a/>", "```xml", id="XML by content"),
        pytest.param("", "x", ' {"a":1}', "```json", id="JSON by content"),
        pytest.param("", "x", "a,b\n1,2", "| a | b |", id="a table by content"),
    ],
)
def test_the_kind_is_told_by_type_name_or_content(media_type: str, name: str, body: str, start: str) -> None:
    assert read(body, name, media_type).markdown.startswith(start)


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.csv", "x.xml", "x"])
def test_nothing_to_read_is_no_text(name: str) -> None:
    assert read(" \n ", name).markdown == ""


_PIECES = st.lists(
    st.sampled_from(
        ['"', "[", "]", "{", "}", ":", ",", "<a>", "</a>", "<!--", "&amp;", "\n", "1", "é", "|", "\\", "\x00", "x"]
    )
)


@settings(max_examples=60)
@given(
    body=st.one_of(st.binary(max_size=200), _PIECES.map(lambda pieces: "".join(pieces).encode())),
    name=st.sampled_from(["x.json", "x.jsonl", "x.csv", "x.tsv", "x.xml", "x", "[", ""]),
)
def test_any_bytes_give_a_reading_or_unreadable(body: bytes, name: str) -> None:
    try:
        reading = read(body, name)
    except Unreadable:
        return
    assert reading.markdown == "" or reading.markdown.endswith("\n")
    assert "\r" not in reading.markdown
    reading.markdown.encode()


@settings(max_examples=40)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
        max_leaves=20,
    )
)
def test_what_is_laid_out_whole_is_the_same_json(value: object) -> None:
    text = read(json.dumps(value)).markdown
    assert json.loads(text[text.index("\n") : text.rindex("\n`")]) == value
