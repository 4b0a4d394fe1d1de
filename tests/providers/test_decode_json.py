import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import Outcome, ProviderError
from webseam.net.message import Headers, Response
from webseam.providers.base import Reply, decode_json


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth > 1 else []


@pytest.mark.parametrize(
    "body, value",
    [
        pytest.param(b'{"a": [1, -2.5, "x", true, null]}', {"a": [1, -2.5, "x", True, None]}, id="every kind"),
        pytest.param(b" \r\n[] ", [], id="white space"),
        pytest.param(b"\xef\xbb\xbf{}", {}, id="BOM"),
        pytest.param('"字é"'.encode(), "字é", id="UTF-8"),
        pytest.param(b'"\\ud83d\\ude00 \\uD83D\\uDE00"', "😀 😀", id="both halves of a pair"),
        pytest.param(b'"\\\\ud800"', "\\ud800", id="a backslash before the letters"),
        pytest.param(b'{"a": {"a": 1}, "b": {"a": 1}}', {"a": {"a": 1}, "b": {"a": 1}}, id="one key in two objects"),
        pytest.param(b"[" * 100 + b"]" * 100, nested(100), id="nested as deep as answers are"),
    ],
)
def test_json_is_decoded(body: bytes, value: Any) -> None:
    assert decode_json(body) == value


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b" \n", id="white space"),
        pytest.param(b"<html>", id="HTML"),
        pytest.param(b'{"a": 1', id="cut short"),
        pytest.param(b'{"a": 1} {"b": 2}', id="two documents"),
        pytest.param(b"[1,]", id="trailing comma"),
        pytest.param(b"{'a': 1}", id="single quotes"),
        pytest.param(b'"\x01"', id="control character"),
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b'{"score": NaN}', id="NaN inside"),
        pytest.param(b"[Infinity, -Infinity]", id="infinity"),
        pytest.param(b'{"a": 1, "a": 2}', id="the same key twice"),
        pytest.param(b'{"a": 1, "\\u0061": 2}', id="the same key twice, escaped"),
        pytest.param(b'[{"b": {"a": 1, "a": 1}}]', id="the same key twice, deep inside"),
        pytest.param(b'{"a" : 1, "a": 2}', id="the same key twice, once before a space"),
        pytest.param(b'{"a"\n:1,"a":2}', id="the same key twice, once before a line end"),
        pytest.param(b'{"a": "\\":", "a": 2}', id="the same key twice, beside a text like the end of a key"),
        pytest.param(b'"\\ud800"', id="first half of a pair"),
        pytest.param(b'"\\uDC00x"', id="second half of a pair"),
        pytest.param(b'{"\\ud83dx": 1}', id="half of a pair in a key"),
        pytest.param(b'["\\ude00\\ud83d"]', id="halves the wrong way round"),
        pytest.param(b"\xed\xa0\x80", id="surrogate in UTF-8"),
        pytest.param(b'"\xff"', id="invalid UTF-8"),
        pytest.param(b'"caf\xe9"', id="Latin-1"),
        pytest.param('{"a": 1}'.encode("utf-16"), id="UTF-16"),
        pytest.param(b"\xef\xbb\xbf\xef\xbb\xbf{}", id="two BOMs"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="nested 100,000 deep"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="objects nested 100,000 deep"),
        pytest.param(b"[" * 5_000_000, id="5 MB of one bracket"),
        pytest.param(b"1" * 5_000, id="a number of 5,000 digits"),
    ],
)
def test_anything_else_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_json(body)


@pytest.mark.parametrize(
    "body, headers, outcome, detail",
    [
        pytest.param(b'{"a": NaN}', [], Outcome.BAD_RESPONSE, "its answer is not JSON: NaN is not JSON", id="NaN"),
        pytest.param(
            b"[" * 100_000, [], Outcome.BAD_RESPONSE, "its answer is not JSON: nested too deeply", id="nested"
        ),
        pytest.param(
            b"\xff", [], Outcome.BAD_RESPONSE, "its answer is not JSON: text that is not valid Unicode", id="bytes"
        ),
        pytest.param(
            b"\xef\xbb\xbf \n<html><title>Down &amp; out</title>",
            [],
            Outcome.BAD_RESPONSE,
            "it answered with a web page instead of JSON: Down & out",
            id="web page with a BOM",
        ),
        pytest.param(
            b"Down for\x1b[2J now",
            [(b"Content-Type", b"text/html; charset=utf-8")],
            Outcome.BAD_RESPONSE,
            "it answered with a web page instead of JSON: Down for now",
            id="called a web page",
        ),
        pytest.param(
            b"<form id='challenge-form'>",
            [],
            Outcome.BLOCKED,
            "it answered with a challenge page instead of results",
            id="challenge page",
        ),
    ],
)
def test_a_reply_that_is_not_json_says_what_came_instead(
    body: bytes, headers: list[tuple[bytes, bytes]], outcome: Outcome, detail: str
) -> None:
    reply = Reply(Response(200, Headers(headers), "https://api.example/", body))
    with pytest.raises(ProviderError) as caught:
        reply.json()
    assert (caught.value.outcome, caught.value.detail, caught.value.http_status) == (outcome, detail, 200)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4))
)
PIECES = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b":",
    b",",
    b"1",
    b"e9",
    b"-",
    b"NaN",
    b"true",
    b"\\u",
    b"d800",
    b"dc00",
    b"\\",
    b" ",
]


@given(DOCUMENTS, st.booleans())
def test_every_document_comes_back_as_it_was_written(document: Any, escaped: bool) -> None:
    try:
        body = json.dumps(document, ensure_ascii=escaped).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, written out
        return
    try:
        assert decode_json(body) == document
    except ValueError:  # half of a surrogate pair, escaped
        with pytest.raises(UnicodeEncodeError):
            json.dumps(document, ensure_ascii=False).encode()


@given(st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join)))
def test_every_body_is_json_or_a_value_error(body: bytes) -> None:
    try:
        value = decode_json(body)
    except ValueError:
        return
    json.dumps(value, ensure_ascii=False).encode()


def _strictly(body: bytes) -> Any:
    """Decode with a hook for every object, which cannot miss a key that is there twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError
        return dict(pairs)

    return json.loads(body, object_pairs_hook=unique)


KEYS = st.sampled_from(["a", "b", '":', " ", "a:", '"'])
VALUES = st.recursive(
    st.one_of(st.integers(0, 9), KEYS), lambda inner: st.lists(st.tuples(KEYS, inner), max_size=3), max_leaves=12
)
COLONS = st.lists(st.sampled_from([":", ": ", " :", "\n:"]), min_size=1, max_size=4)


@given(VALUES, COLONS)
def test_a_key_that_is_there_twice_is_found_however_it_is_written(document: Any, colons: list[str]) -> None:
    written = itertools.cycle(colons)

    def write(value: Any) -> str:
        if not isinstance(value, list):
            return json.dumps(value)
        return "{" + ",".join(json.dumps(key) + next(written) + write(item) for key, item in value) + "}"

    body = write(document).encode()
    try:
        expected = _strictly(body)
    except ValueError:
        with pytest.raises(ValueError, match="same key twice"):
            decode_json(body)
    else:
        assert decode_json(body) == expected
