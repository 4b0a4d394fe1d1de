"""Reading what search programs print: JSON in three forms, and the text of ddgs as ddgs itself writes it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from webseam.providers.command_output import Unreadable, rows_in

GUIDE = {"title": "Guide", "url": "https://example.org/guide", "snippet": "About it"}
THEIRS = {"title": "Guide", "href": "https://example.org/guide", "body": "About it"}
LINE = json.dumps(THEIRS)

# Runs the command of the installed ddgs, arguments and output its own; only the search itself is replaced by rows.
_DDGS = """
import json, sys
import ddgs.cli
found = json.loads(sys.stdin.read())
def text(self, **options):
    if isinstance(found, str):
        raise ddgs.exceptions.DDGSException(found)
    return found
ddgs.cli.DDGS.text = text
sys.argv = ["ddgs", "text", "-q", "words", "-m", "9", "-nc"]
ddgs.cli.safe_entry_point()
"""


def ddgs_prints(found: list[dict[str, Any]] | str) -> str:
    """Return what ddgs prints for these rows, or for an error."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _DDGS],
        input=json.dumps(found),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    "output, rows",
    [
        pytest.param("[]", [], id="empty array"),
        pytest.param(f" \n[{LINE}, {LINE}]\n", [GUIDE, GUIDE], id="array"),
        pytest.param(json.dumps([THEIRS], indent=4), [GUIDE], id="array over lines"),
        pytest.param(f'[3, {LINE}, null, ["x"], "y"]', [GUIDE], id="array with other things"),
        pytest.param(f'{{"count": 1, "results": [{LINE}]}}', [GUIDE], id="results"),
        pytest.param(f'{{"data": [{LINE}]}}', [GUIDE], id="data"),
        pytest.param(f'{{"items": [{LINE}]}}', [GUIDE], id="items"),
        pytest.param(f'{{"hits": [{LINE}]}}', [GUIDE], id="hits"),
        pytest.param(f'{{"hits": [], "results": [{LINE}]}}', [GUIDE], id="the first in order, not as printed"),
        pytest.param('{"results": [], "hits": [{"url": "https://a.example"}]}', [], id="an empty one counts"),
        pytest.param(json.dumps({"results": []}, indent=1), [], id="wrapped empty array"),
        pytest.param(f'{{"results": [{LINE}], "error": "one engine was slow"}}', [GUIDE], id="results and a remark"),
        pytest.param(LINE, [GUIDE], id="one JSON line"),
        pytest.param(f"{LINE}\n\n{LINE}\r\n{LINE}", [GUIDE, GUIDE, GUIDE], id="JSON lines"),
        pytest.param(
            '{"title": "no address"}\n{"title": "none either"}',
            [{"title": "no address"}, {"title": "none either"}],
            id="JSON lines without addresses",
        ),
    ],
)
def test_each_form_of_json_is_read(output: str, rows: list[dict[str, Any]]) -> None:
    assert rows_in(output) == rows


@pytest.mark.parametrize(
    "row, fields",
    [
        pytest.param(
            {"HREF": "u", "Heading": "t", "Description": "s", "Published": "p"},
            {"url": "u", "title": "t", "snippet": "s", "published": "p"},
            id="any case",
        ),
        pytest.param({"url": "b", "href": "a", "link": "c"}, {"url": "a"}, id="the first address"),
        pytest.param({"link": "c", "name": "n"}, {"url": "c", "title": "n"}, id="others"),
        pytest.param({"title": " ", "heading": None, "name": "n"}, {"title": "n"}, id="blank is absent"),
        pytest.param({"excerpt": "e", "content": "c", "abstract": "a"}, {"snippet": "a"}, id="the first extract"),
        pytest.param({"date": 1767225600, "published": "x"}, {"published": 1767225600}, id="a date as a number"),
        pytest.param({"site": "x", "score": 1, "titles": "y"}, {}, id="nothing we know"),
        pytest.param({}, {}, id="nothing"),
    ],
)
def test_fields_go_by_many_names(row: dict[str, Any], fields: dict[str, Any]) -> None:
    assert rows_in(json.dumps([row])) == [fields]


@pytest.mark.parametrize(
    "output, problem, stated",
    [
        pytest.param("", "no output", "", id="nothing"),
        pytest.param(" \n\t", "no output", "", id="white space"),
        pytest.param("[1, 2]", "the array holds no objects", "", id="numbers"),
        pytest.param(
            '[{"url": "https://a.example"}',
            "its output is not JSON: Expecting ',' delimiter: line 1 column 30 (char 29)",
            "",
            id="cut array",
        ),
        pytest.param(
            "[INFO] no mirror", "its output is not JSON: Expecting value: line 1 column 2 (char 1)", "", id="a log"
        ),
        pytest.param('{"results": {"a": 1}}', "results is not an array", "", id="no array"),
        pytest.param('{"results": null, "hits": []}', "results is not an array", "", id="null"),
        pytest.param('{"results": ["a"]}', "results holds no objects", "", id="wrapped words"),
        pytest.param(
            '{"b": 1, "a": {}}', "no results, data, items, hits in its object (it has: a, b)", "", id="another object"
        ),
        pytest.param("{}", "no results, data, items, hits in its object (it has: nothing)", "", id="an empty object"),
        pytest.param(
            '{"error": {"message": "Too many requests"}}',
            "no results, data, items, hits in its object (it has: error)",
            "Too many requests",
            id="an error",
        ),
        pytest.param(
            '{"results": [], "error": "quota exceeded"}',
            "it states an error",
            "quota exceeded",
            id="an error beside nothing",
        ),
        pytest.param(
            f"{LINE}\nTraceback",
            "its output is not JSON, as a whole or in line 2: Expecting value: line 1 column 1 (char 0)",
            "",
            id="a line that is none",
        ),
        pytest.param(f"{LINE}\n[]", "line 2 is not an object", "", id="a line that is an array"),
        pytest.param("Usage: search WORDS", "no results in its output", "Usage: search WORDS", id="words"),
        pytest.param("<html>captcha</html>", "no results in its output", "", id="a page"),
        pytest.param(
            "title       Guide\nhref        https://a.example",
            "no results in its output",
            "title       Guide\nhref        https://a.example",
            id="fields without a record",
        ),
        pytest.param("1.\n\n2.\n", "no results in its output", "1.\n\n2.", id="numbers without fields"),
    ],
)
def test_what_is_no_list_of_results_says_why(output: str, problem: str, stated: str) -> None:
    with pytest.raises(Unreadable) as caught:
        rows_in(output)
    assert (str(caught.value), caught.value.stated) == (problem, stated)


def test_what_ddgs_prints_is_read_back() -> None:
    long = (
        "A title about state-of-the-art parsers that is a good deal wider than the seventy-eight columns ddgs-wraps at"
    )
    address = "https://example.org/" + "a-very-long-path/" * 40 + "?q=1&page=2"
    body = "The first paragraph of a text, long enough that it has to be wrapped more than once. " * 3
    found: list[dict[str, Any]] = [
        {"title": "Plain", "href": "https://example.org/plain", "body": "Short."},
        {"title": long, "href": address, "body": body},
        {"title": "日本語の題名 — grüße", "href": "https://example.net/ü?x=%20", "body": "100 % — “quoted”"},
    ]
    assert rows_in(ddgs_prints(found)) == [
        {"title": row["title"], "url": row["href"], "snippet": row["body"].strip()} for row in found
    ]


def test_what_a_service_does_not_know_stays_unknown_in_what_ddgs_prints() -> None:
    found: list[dict[str, Any]] = [
        {"title": "", "href": "https://example.org/1", "body": ""},
        {"title": None, "href": "https://example.org/2", "body": None, "date": None},
        {"title": "No address", "href": "", "body": "x"},
        {"title": "Last", "href": "https://example.org/4", "body": ""},
    ]
    assert rows_in(ddgs_prints(found)) == [
        {"url": "https://example.org/1"},
        {"url": "https://example.org/2"},
        {"title": "No address", "snippet": "x"},
        {"title": "Last", "url": "https://example.org/4"},
    ]


def test_other_searches_of_ddgs_are_read_too() -> None:
    found: list[dict[str, Any]] = [
        {
            "date": "2026-02-03T04:05:06+00:00",
            "title": "News",
            "body": "It happened.",
            "url": "https://example.org/news",
            "image": "https://example.org/picture.png",
            "source": "Example",
        }
    ]
    assert rows_in(ddgs_prints(found)) == [
        {
            "title": "News",
            "url": "https://example.org/news",
            "snippet": "It happened.",
            "published": "2026-02-03T04:05:06+00:00",
        }
    ]


@pytest.mark.parametrize(
    "paragraphs",
    [
        pytest.param(["One.", "Two follows."], id="two"),
        pytest.param(["Steps:", "1.", "title", "href", "2.", "done"], id="that look like records"),
        pytest.param(["Terms:", "Price  is two spaces away", "title       is aligned"], id="that look like fields"),
    ],
)
def test_a_later_paragraph_of_a_text_is_neither_a_field_nor_a_record(paragraphs: list[str]) -> None:
    found: list[dict[str, Any]] = [
        {"title": "Guide", "href": "https://example.org/", "body": "\n\n".join(paragraphs)},
        {"title": "Next", "href": "https://example.org/next", "body": "x"},
    ]
    first, second = rows_in(ddgs_prints(found))
    assert first == {"title": "Guide", "url": "https://example.org/", "snippet": " ".join(paragraphs)}
    assert second == {"title": "Next", "url": "https://example.org/next", "snippet": "x"}


def test_the_error_that_ddgs_prints_where_results_belong_is_no_result() -> None:
    with pytest.raises(Unreadable) as caught:
        rows_in(ddgs_prints("No results found."))
    assert caught.value.stated == "DDGSException: DDGSException('No results found.')"


@pytest.mark.parametrize(
    "output, rows",
    [
        pytest.param(
            "1.\ntitle  Guide\nhref  https://example.org/guide\nbody  About\n  it\n", [GUIDE], id="two spaces"
        ),
        pytest.param("1.\ntitle\tGuide\nhref\thttps://example.org/guide\nbody\tAbout it\n", [GUIDE], id="tabs"),
        pytest.param(
            f"1.\t    {'=' * 78}\ntitle       Guide\nhref        https://example.org/guide\nbody        About it\n",
            [GUIDE],
            id="as on a terminal",
        ),
        pytest.param(
            "Searching 3 engines\n\n1.\ntitle       Guide\nhref        https://example.org/guide\nbody        About it",
            [GUIDE],
            id="words before",
        ),
        pytest.param(
            "7.\nTitle       Guide\nURL         https://example.org/guide\nDescription About it\n8.\nlink        https://example.org/8",
            [GUIDE, {"url": "https://example.org/8"}],
            id="other names and numbers",
        ),
        pytest.param(
            "1.\ntitle       Guide\nengine      one\n            more of that\nhref        https://example.org/guide\n"
            "body        About\n\n            it\nrating      good",
            [GUIDE],
            id="unknown fields end the one before",
        ),
    ],
)
def test_programs_that_print_like_ddgs_are_read(output: str, rows: list[dict[str, Any]]) -> None:
    assert rows_in(output) == rows
