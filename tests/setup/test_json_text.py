"""JSON and JSON with comments, changed as text: every byte outside our entry stays, whatever it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webseam.setup import json_text
from webseam.setup.editors import EDITORS, with_entry, without_entry
from webseam.setup.malformed import Malformed, Unfit

ENTRY = {"command": "/w", "args": ["mcp"]}
PATH = ("mcpServers", "webseam")
JSONC = EDITORS["jsonc"]


def added(text: str) -> str:
    return with_entry(JSONC, text, PATH, ENTRY, {})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "",
            '{\n  "mcpServers": {\n    "webseam": {\n      "command": "/w",\n      "args": ["mcp"]\n    }\n  }\n}\n',
            id="empty file",
        ),
        pytest.param(
            "{}",
            '{\n  "mcpServers": {\n    "webseam": {\n      "command": "/w",\n      "args": ["mcp"]\n    }\n  }\n}',
            id="empty object",
        ),
        pytest.param('{"a":1}', '{"a":1,"mcpServers":{"webseam":{"command":"/w","args":["mcp"]}}}', id="on one line"),
        pytest.param(
            '{"a": 1}',
            '{"a": 1, "mcpServers": {"webseam": {"command": "/w", "args": ["mcp"]}}}',
            id="on one line with spaces",
        ),
        pytest.param(
            '{\n    "mcpServers": {\n        "x": {}\n    }\n}\n',
            '{\n    "mcpServers": {\n        "x": {},\n        "webseam": {\n            "command": "/w",\n'
            '            "args": ["mcp"]\n        }\n    }\n}\n',
            id="four spaces",
        ),
        pytest.param(
            '{\n\t"mcpServers": {},\n\t"z": 1.0e0\n}',
            '{\n\t"mcpServers": {\n\t\t"webseam": {\n\t\t\t"command": "/w",\n\t\t\t"args": ["mcp"]\n\t\t}\n\t},\n'
            '\t"z": 1.0e0\n}',
            id="tabs and an empty section",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "x": {"a": 1}, // the first\n  },\n}\n',
            '{\n  "mcpServers": {\n    "x": {"a": 1}, // the first\n    "webseam": {\n      "command": "/w",\n'
            '      "args": ["mcp"]\n    },\n  },\n}\n',
            id="trailing commas and a comment",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "x": {"a": 1} // the only one\n  }\n}\n',
            '{\n  "mcpServers": {\n    "x": {"a": 1}, // the only one\n    "webseam": {\n      "command": "/w",\n'
            '      "args": ["mcp"]\n    }\n  }\n}\n',
            id="a comment behind the last value",
        ),
        pytest.param(
            '// mine\n{\n  // "mcpServers": {"webseam": {}}\n  "a": "// no, /* no */ {",\n  /* ,} */ "b": "\\"//"\n}\n',
            '// mine\n{\n  // "mcpServers": {"webseam": {}}\n  "a": "// no, /* no */ {",\n  /* ,} */ "b": "\\"//",\n'
            '  "mcpServers": {\n    "webseam": {\n      "command": "/w",\n      "args": ["mcp"]\n    }\n  }\n}\n',
            id="what looks like comments",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    // none yet\n  }\n}\n',
            '{\n  "mcpServers": {\n    // none yet\n    "webseam": {\n      "command": "/w",\n'
            '      "args": ["mcp"]\n    }\n  }\n}\n',
            id="a section with a comment alone",
        ),
        pytest.param(
            '{\n  "mcpServers": {"x": {"command": "y"}}\n}\n',
            '{\n  "mcpServers": {"x": {"command": "y"}, "webseam": {"command": "/w", "args": ["mcp"]}}\n}\n',
            id="a section on one line",
        ),
        pytest.param(
            '{\n  "mcp\\u0053ervers": {\n    "x": 1\n  }\n}\n',
            '{\n  "mcp\\u0053ervers": {\n    "x": 1,\n    "webseam": {\n      "command": "/w",\n'
            '      "args": ["mcp"]\n    }\n  }\n}\n',
            id="a name with escapes",
        ),
        pytest.param(
            '{\n  "mcpServers": {"old": 1},\n  "mcpServers": {}\n}\n',
            '{\n  "mcpServers": {"old": 1},\n  "mcpServers": {\n    "webseam": {\n      "command": "/w",\n'
            '      "args": ["mcp"]\n    }\n  }\n}\n',
            id="a section twice, where the last one counts",
        ),
        pytest.param(
            "// only a comment",
            '// only a comment\n{\n  "mcpServers": {\n    "webseam": {\n      "command": "/w",\n'
            '      "args": ["mcp"]\n    }\n  }\n}\n',
            id="only a comment",
        ),
    ],
)
def test_an_entry_is_the_last_of_its_section_and_nothing_else_is_touched(before: str, after: str) -> None:
    assert added(before) == after
    assert added(after) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param('{"mcpServers": {"webseam": 1, "b": 2}}', '{"mcpServers": {"b": 2}}', id="first of a line"),
        pytest.param(
            '{"mcpServers": {"a": 1, "webseam": 1, "b": 2}}', '{"mcpServers": {"a": 1, "b": 2}}', id="between"
        ),
        pytest.param('{"mcpServers":{"a":1,"webseam":1,"b":2}}', '{"mcpServers":{"a":1,"b":2}}', id="between, tight"),
        pytest.param('{"mcpServers":{"a":1,"webseam":1}}', '{"mcpServers":{"a":1}}', id="last, tight"),
        pytest.param(
            '{\n  "mcpServers": {\n    // ours\n    "webseam": {\n      "x": 1\n    },\n    "b": 2\n  }\n}',
            '{\n  "mcpServers": {\n    // ours\n    "b": 2\n  }\n}',
            id="first of several lines",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "a": 1, // a\n    "webseam": {} // w\n  }\n}',
            '{\n  "mcpServers": {\n    "a": 1 // a\n // w\n  }\n}',
            id="last with comments",
        ),
        pytest.param('{"mcpServers": {"webseam": 1, "b": 2, "webseam": 3}}', '{"mcpServers": {"b": 2}}', id="twice"),
        pytest.param('{"mcpServers": {"webseam": 1}, "z": 1}', '{"mcpServers": {}, "z": 1}', id="the only one"),
        pytest.param('{"mcpServers":{"a":1,"webseam":1, }}', '{"mcpServers":{"a":1, }}', id="last, with a comma"),
        pytest.param('{"z": 1}', '{"z": 1}', id="not there"),
        pytest.param(
            '{"mcpServers": {"a": 1, // a\n"webseam": 1}}', '{"mcpServers": {"a": 1 // a\n}}', id="behind a comment"
        ),
        pytest.param(
            '{"mcpServers": { // none\n"webseam": 1, "b": 2}}',
            '{"mcpServers": { // none\n "b": 2}}',
            id="between a comment and another",
        ),
        pytest.param('{"mcpServers": { // c\n"webseam": 1}}', '{"mcpServers": { // c\n}}', id="alone with a comment"),
    ],
)
def test_an_entry_is_taken_out_wherever_it_stands(before: str, after: str) -> None:
    assert json_text.remove(before, PATH, prune=False) == after


def test_a_section_made_for_the_entry_goes_with_it() -> None:
    assert json_text.remove('{"a": 1, "mcpServers": {"webseam": 1}}', PATH, prune=True) == '{"a": 1}'
    kept = '{"mcpServers": {"webseam": 1 /* mine */}}'
    assert json_text.remove(kept, PATH, prune=True) == '{"mcpServers": { /* mine */}}'


@pytest.mark.parametrize(
    ("before", "changed", "dropped", "after"),
    [
        pytest.param(
            '{"mcpServers": {"webseam": {"command": "old", "env": {"K": "v"}, "timeout": 5}}}',
            {"command": "/w", "args": ["mcp"]},
            [],
            '{"mcpServers": {"webseam": {"command": "/w", "env": {"K": "v"}, "timeout": 5, "args": ["mcp"]}}}',
            id="on one line",
        ),
        pytest.param(
            '{\n  "mcpServers": {\n    "webseam": {\n      // mine\n      "command": "old", // was\n'
            '      "args": [\n        "x"\n      ],\n      "disabled": true\n    }\n  }\n}\n',
            {"url": "http://h/", "headers": {"A": "b"}},
            ["command", "args"],
            '{\n  "mcpServers": {\n    "webseam": {\n      // mine\n // was\n      "disabled": true,\n'
            '      "url": "http://h/",\n      "headers": {\n        "A": "b"\n      }\n    }\n  }\n}\n',
            id="from a program to a URL",
        ),
    ],
)
def test_an_entry_that_is_there_keeps_what_is_not_ours(
    before: str, changed: Mapping[str, Any], dropped: list[str], after: str
) -> None:
    assert with_entry(JSONC, before, PATH, ENTRY, changed, dropped) == after


@pytest.mark.parametrize(
    ("text", "strict", "line", "column", "problem"),
    [
        pytest.param('{"a": 1', False, 1, 8, "expecting ',' delimiter", id="cut off"),
        pytest.param('{\n  "a": 1\n  "b": 2\n}', False, 3, 3, "expecting ',' delimiter", id="a comma too few"),
        pytest.param('{"a": [,]}', False, 1, 8, "expecting value", id="a comma alone"),
        pytest.param('{"a": 1,, }', False, 1, 9, "", id="two commas"),
        pytest.param("[1]", False, 1, 1, "is no object", id="a list"),
        pytest.param('"x"', False, 1, 1, "is no object", id="text"),
        pytest.param("{} {}", False, 1, 4, "extra data", id="more behind it"),
        pytest.param('{"a": NaN}', False, 0, 0, "holds a number that is too large", id="no number of JSON"),
        pytest.param("[" * 100_000, False, 0, 0, "holds a number that is too large, or is nested too", id="deep"),
        pytest.param('{"a": 1,}', True, 1, 8, "has a comment or a comma too many", id="strict: a comma"),
        pytest.param("{ // a\n}", True, 1, 3, "has a comment or a comma too many", id="strict: a comment"),
        pytest.param("{'a': 1}", True, 1, 2, "expecting property name", id="strict: other quotes"),
        pytest.param('{"a": "x\ny"}', False, 1, 9, "invalid control character", id="a line end in a text"),
        pytest.param("/* no end", False, 1, 1, "expecting value", id="a comment without an end"),
    ],
)
def test_a_file_that_is_not_json_is_refused_with_the_place(
    text: str, strict: bool, line: int, column: int, problem: str
) -> None:
    with pytest.raises(Malformed) as refused:
        json_text.load(text, strict=strict)
    assert (refused.value.line, refused.value.column) == (line, column)
    assert problem in refused.value.problem


@pytest.mark.parametrize("text", ['{"mcpServers": []}', '{"mcpServers": null}', '{"mcpServers": {"webseam": "x"}}'])
def test_a_section_that_is_no_object_is_not_overwritten(text: str) -> None:
    with pytest.raises(Unfit):
        added(text)


# any file


NAMES = st.sampled_from(["a", "mcpServers", "webseam", "b c", "//", "/*", '"', "\\", "é", "{", ","]) | st.text(
    max_size=4
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4))
SPACES = st.sampled_from(["", "", " ", "\n", "\n  ", "\t", " // c\n", "/* ,} */", " /* { */ ", '// "x\n', "\r\n"])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """Write a value as JSON with comments: white space, comments and commas too many wherever they may be."""
    space = lambda: draw(SPACES)  # noqa: E731
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else [(None, one) for one in value]
        parts = []
        for key, one in items:
            name = "" if key is None else json.dumps(key, ensure_ascii=draw(st.booleans())) + space() + ":"
            parts.append(space() + name + space() + draw(written(one)) + space())
        comma = draw(st.sampled_from(["", ","])) + space() if parts else space()
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + ",".join(parts) + comma + closing
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def files(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    value = draw(st.dictionaries(NAMES, VALUES, max_size=4))
    servers = value.get("mcpServers", {})
    assume(isinstance(servers, dict) and isinstance(servers.get("webseam", {}), dict))
    spread = draw(st.sampled_from([None, 2, "\t"]))
    if draw(st.booleans()):
        return value, json.dumps(value, indent=spread)
    return value, draw(SPACES) + draw(written(value)) + draw(SPACES)


@given(files())
def test_any_file_says_afterwards_what_it_said_and_our_entry(case: tuple[dict[str, Any], str]) -> None:
    value, text = case
    servers = value.get("mcpServers", {})
    after = with_entry(JSONC, text, PATH, ENTRY, {"command": "/w"})
    wanted = {**servers["webseam"], "command": "/w"} if "webseam" in servers else ENTRY
    assert json_text.load(after) == {**value, "mcpServers": {**servers, "webseam": wanted}}


@given(files())
def test_any_file_is_the_same_bytes_after_the_entry_was_put_in_and_taken_out(
    case: tuple[dict[str, Any], str],
) -> None:
    value, text = case
    assume("webseam" not in value.get("mcpServers", {}))
    after = with_entry(JSONC, text, PATH, ENTRY, {})
    back = without_entry(JSONC, after, PATH, prune="mcpServers" not in value)
    # An object that held nothing but white space is the one thing that cannot be told from one that held nothing.
    opened = value.get("mcpServers", value) == {}
    assert "".join(back.split()) == "".join(text.split()) if opened else back == text


@given(files(), st.booleans())
def test_any_file_says_afterwards_what_it_said_without_our_entry(case: tuple[dict[str, Any], str], prune: bool) -> None:
    value, text = case
    after = json_text.load(json_text.remove(text, PATH, prune=prune))
    servers = {name: one for name, one in value.get("mcpServers", {}).items() if name != "webseam"}
    rest = {name: one for name, one in value.items() if name != "mcpServers"}
    assert after in ([{**rest, "mcpServers": servers}, rest] if not servers else [{**rest, "mcpServers": servers}])


@given(st.text(alphabet='{}[]":,/*\\\n ab1', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = json_text.load(text)
    except Malformed:
        return
    try:
        after = with_entry(JSONC, text, PATH, ENTRY, {})
    except Unfit:
        return
    assert json_text.load(after)["mcpServers"]["webseam"] == ENTRY
    assert {**json_text.load(after), "mcpServers": 0} == {**value, "mcpServers": 0}
