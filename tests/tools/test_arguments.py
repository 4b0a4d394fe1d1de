"""What a model may send as arguments, to the letter: taken where it can mean one thing, else refused with the fix."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import RequestError
from webseam.tools.arguments import read_arguments
from webseam.tools.definitions import BY_NAME, TOOLS

SEARCH, FETCH = BY_NAME["web_search"], BY_NAME["web_fetch"]


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        pytest.param({"query": "q"}, {"query": "q"}, id="plain"),
        pytest.param('{"query": "q", "count": 3}', {"query": "q", "count": 3}, id="JSON text"),
        pytest.param({"query": "q", "count": None, "sites": None}, {"query": "q"}, id="null is absent"),
        pytest.param({"query": "q", "freshness": "", "provider": ""}, {"query": "q"}, id="empty text is absent"),
        pytest.param({"query": "q", "count": "7"}, {"query": "q", "count": 7}, id="number as text"),
        pytest.param({"query": "q", "count": 7.0}, {"query": "q", "count": 7}, id="whole number as a decimal"),
        pytest.param({"query": 404}, {"query": "404"}, id="number as a query"),
        pytest.param({"query": "q", "freshness": "Week"}, {"query": "q", "freshness": "week"}, id="letter case"),
        pytest.param({"query": "q", "timeout": "12.5"}, {"query": "q", "timeout": 12.5}, id="seconds as text"),
        pytest.param({"query": "q", "sites": "a.org"}, {"query": "q", "sites": ["a.org"]}, id="one for a list"),
        pytest.param({"query": "q", "sites": "a.org, b.org"}, {"query": "q", "sites": ["a.org", "b.org"]}, id="commas"),
        pytest.param(
            {"query": "q", "sites": '["a.org", "b.org"]'}, {"query": "q", "sites": ["a.org", "b.org"]}, id="JSON list"
        ),
        pytest.param({"query": "q", "sites": []}, {"query": "q", "sites": []}, id="empty list"),
    ],
)
def test_what_can_mean_one_thing_is_taken_as_that(sent: Any, read: dict[str, Any]) -> None:
    assert read_arguments(SEARCH, sent) == (read, ())


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        pytest.param({"url": "u", "raw": "true"}, {"url": "u", "raw": True}, id="true as text"),
        pytest.param({"url": "u", "outline": False}, {"url": "u", "outline": False}, id="false"),
        pytest.param(
            {"urls": "https://a.org/x,y https://b.org/"},
            {"urls": ["https://a.org/x,y", "https://b.org/"]},
            id="URLs as one text keep their commas",
        ),
        pytest.param({}, {}, id="nothing"),
        pytest.param(None, {}, id="null"),
        pytest.param("", {}, id="empty text"),
    ],
)
def test_switches_and_lists_of_urls_are_taken_too(sent: Any, read: dict[str, Any]) -> None:
    assert read_arguments(FETCH, sent) == (read, ())


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        pytest.param({}, "invalid: query: is missing (call web_search again with query)", id="missing"),
        pytest.param({"query": None}, "invalid: query: is missing (call web_search again with query)", id="null"),
        pytest.param(
            {"query": "q", "fresh": "day"},
            "invalid: fresh: is no argument of web_search (did you mean freshness?)",
            id="nearly right name",
        ),
        pytest.param({"query": ["q"]}, "invalid: query: must be text, not a list", id="list for text"),
        pytest.param({"query": "q", "count": 0}, "invalid: count: must be from 1 to 50, not 0", id="too small"),
        pytest.param({"query": "q", "count": 2.5}, "invalid: count: must be a whole number, not 2.5", id="half"),
        pytest.param({"query": "q", "count": "many"}, "invalid: count: must be a number, not 'many'", id="word"),
        pytest.param({"query": "q", "count": True}, "invalid: count: must be a number, not True", id="true"),
        pytest.param({"query": "q", "count": "nan"}, "invalid: count: must be a number, not 'nan'", id="nan"),
        pytest.param({"query": "q", "timeout": 0}, "invalid: timeout: must be more than 0", id="no time"),
        pytest.param({"query": "q", "timeout": 90}, "invalid: timeout: must be at most 55, not 90", id="too long"),
        pytest.param(
            {"query": "q", "kind": "video"},
            "invalid: kind: 'video' is not one of web, news, code, paper",
            id="not a choice",
        ),
        pytest.param({"query": "q", "sites": 7}, "invalid: sites: must be a list of texts, not a number", id="number"),
        pytest.param(
            {"query": "q", "sites": [1]}, "invalid: sites: must be a list of texts, not a list", id="list of numbers"
        ),
        pytest.param("not JSON", "invalid: arguments: are not JSON", id="no JSON"),
        pytest.param([1], "invalid: arguments: must be a JSON object, not a list", id="list"),
        pytest.param("[1]", "invalid: arguments: must be a JSON object, not a list", id="JSON list"),
    ],
)
def test_what_is_wrong_is_named_with_the_fix(sent: Any, said: str) -> None:
    with pytest.raises(RequestError) as raised:
        read_arguments(SEARCH, sent)
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("sent", "ignored"),
    [
        pytest.param({"query": "q", "wait_for_previous": True}, (), id="what a client adds to every tool"),
        pytest.param({"query": "q", "zzz": 1, "language": "de"}, ("zzz", "language"), id="what is like nothing"),
        pytest.param({"query": "q", "y" * 300: 1}, ("y" * 199 + "…",), id="a name of any length"),
    ],
)
def test_what_is_like_no_argument_is_left_out_and_told(sent: Any, ignored: tuple[str, ...]) -> None:
    assert read_arguments(SEARCH, sent) == ({"query": "q"}, ignored)


def test_too_many_urls_are_refused() -> None:
    with pytest.raises(RequestError) as raised:
        read_arguments(FETCH, {"urls": [f"https://example.org/{n}" for n in range(11)]})
    assert str(raised.value) == ("invalid: urls: has 11 entries, at most 10 are allowed (call again for the rest)")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@given(
    tool=st.sampled_from(TOOLS),
    sent=values
    | st.dictionaries(st.sampled_from(["query", "count", "sites", "url", "urls", "timeout", "raw"]), values),
)
def test_anything_else_is_read_or_refused_and_what_is_read_has_the_type_of_the_schema(tool: Any, sent: Any) -> None:
    try:
        read, _ = read_arguments(tool, sent)
    except RequestError:
        return
    kinds = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}
    properties = tool.parameters["properties"]
    assert {name: type(value) for name, value in read.items()} == {
        name: kinds[properties[name]["type"]] for name in read
    }
    json.dumps(read)
