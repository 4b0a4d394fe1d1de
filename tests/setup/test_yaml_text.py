"""YAML changed as text: every byte outside our entry stays, and what cannot be changed like that is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.setup import yaml_text
from webseam.setup.editors import EDITORS, with_entry, without_entry
from webseam.setup.malformed import Malformed, Unfit

ENTRY = {"cmd": "/w", "args": ["mcp"], "enabled": True, "timeout": 300}
PATH = ("extensions", "webseam")
YAML = EDITORS["yaml"]


def block(indent: str) -> str:
    inner = indent * 2 if indent else "  "
    lines = ("cmd: /w", "args:", "- mcp", "enabled: true", "timeout: 300")
    return f"{indent}webseam:\n" + "".join(f"{inner}{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", f"extensions:\n{block('  ')}", id="empty file"),
        pytest.param("{}\n", f"extensions:\n{block('  ')}", id="an empty mapping"),
        pytest.param("# mine\n", f"# mine\nextensions:\n{block('  ')}", id="only a comment"),
        pytest.param("A: 1", f"A: 1\nextensions:\n{block('  ')}".removesuffix("\n"), id="no line end at the end"),
        pytest.param("A: 1\n\n\n", f"A: 1\nextensions:\n{block('  ')}\n\n", id="blank lines at the end"),
        pytest.param("extensions:\nZ: 1\n", f"extensions:\n{block('  ')}Z: 1\n", id="a section without anything"),
        pytest.param(
            "extensions: {} # none\nZ: 1\n", f"extensions: # none\n{block('  ')}Z: 1\n", id="an empty section"
        ),
        pytest.param(
            "extensions:\n  a: # first\n    cmd: x # y\n\n# next\nZ: 'it''s: # fine'\n",
            f"extensions:\n  a: # first\n    cmd: x # y\n{block('  ')}\n# next\nZ: 'it''s: # fine'\n",
            id="in the middle, with comments",
        ),
        pytest.param(
            "extensions:\n    a:\n        text: |\n            extensions:\n              webseam: no\n\nZ: 1\n",
            "extensions:\n    a:\n        text: |\n            extensions:\n              webseam: no\n"
            "\n    webseam:\n      cmd: /w\n      args:\n      - mcp\n      enabled: true\n      timeout: 300\nZ: 1\n",
            id="behind a text in lines, four spaces",
        ),
        pytest.param(
            'A: "x\n  extensions: y"\nextensions:\n  a: {b: c}\n',
            f'A: "x\n  extensions: y"\nextensions:\n  a: {{b: c}}\n{block("  ")}',
            id="a text over two lines",
        ),
        pytest.param(
            "extensions:\n  a:\n    args:\n    - x\n    - - y\n",
            f"extensions:\n  a:\n    args:\n    - x\n    - - y\n{block('  ')}",
            id="behind a list",
        ),
        pytest.param("extensions:\n  a:\n", f"extensions:\n  a:\n{block('  ')}", id="behind a name without a value"),
    ],
)
def test_an_entry_is_the_last_of_its_section_and_nothing_else_is_touched(before: str, after: str) -> None:
    made = with_entry(YAML, before, PATH, ENTRY, {})
    assert made == after
    assert yaml.safe_load(made)["extensions"]["webseam"] == ENTRY
    assert with_entry(YAML, after, PATH, ENTRY, {}) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "extensions:\n  webseam:\n    cmd: x\n  b: 1 # b\nZ: 1\n", "extensions:\n  b: 1 # b\nZ: 1\n", id="first"
        ),
        pytest.param("extensions:\n  b: 1\n  webseam: {a: b} # w\n", "extensions:\n  b: 1\n", id="last, on one line"),
        pytest.param(
            "extensions: # e\n  webseam:\n    cmd: x\nZ: 1\n", "extensions: {} # e\nZ: 1\n", id="the only one"
        ),
        pytest.param("extensions:\n  b: 1\n", "extensions:\n  b: 1\n", id="not there"),
    ],
)
def test_an_entry_is_taken_out_wherever_it_stands(before: str, after: str) -> None:
    assert without_entry(YAML, before, PATH, prune=False) == after


def test_an_entry_that_is_there_keeps_what_is_not_ours() -> None:
    before = (
        "extensions:\n  webseam:\n    # mine\n    cmd: old # was\n    args:\n      - x\n      - y\n"
        "    envs:\n      K: v # secret\n    enabled: false\nZ: 1\n"
    )
    after = with_entry(YAML, before, PATH, ENTRY, {"cmd": "/w", "uri": "http://h/"}, ["args"])
    assert after == (
        "extensions:\n  webseam:\n    # mine\n    cmd: /w\n"
        '    envs:\n      K: v # secret\n    enabled: false\n    uri: "http://h/"\nZ: 1\n'
    )


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        pytest.param("a: [1\n", 2, 1, "expected ',' or ']'", id="no end"),
        pytest.param("a: 1\n b: 2\n", 2, 3, "mapping values are not allowed here", id="indentation"),
        pytest.param("a: 1\n\tb: 2\n", 2, 1, "found character '\\t'", id="a tab"),
        pytest.param("- a\n", 1, 1, "is no mapping", id="a list"),
        pytest.param("a: 1\n---\nb: 2\n", 2, 1, "but found another document", id="two documents"),
        pytest.param("a: 1\nb: \x01\n", 2, 0, "a character that YAML does not allow", id="a control character"),
    ],
)
def test_a_file_that_is_not_yaml_is_refused_with_the_place(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(Malformed) as refused:
        yaml_text.load(text)
    assert (refused.value.line, refused.value.column) == (line, column)
    assert problem in refused.value.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("{A: 1}\n", "is written on one line, in braces", id="the file on one line"),
        pytest.param("extensions: {a: {b: c}}\n", "is written on one line, in braces", id="the section on one line"),
        pytest.param("a: &x 1\nb: *x\n", "has aliases", id="aliases"),
        pytest.param("extensions: 1\n", "has something else than an object at extensions", id="a number"),
        pytest.param("extensions:\n  webseam: x\n", "something else than an object at extensions.webseam", id="text"),
        pytest.param("A: 1\n...\n", "is written in a way that cannot be changed", id="an end of the document"),
        pytest.param("A: |\n  x", "is written in a way that cannot be changed", id="a text whose end would change"),
    ],
)
def test_what_cannot_be_changed_by_whole_lines_is_refused(text: str, problem: str) -> None:
    with pytest.raises(Unfit) as refused:
        with_entry(YAML, text, PATH, ENTRY, {})
    assert problem in str(refused.value)


# any file


NAMES = st.sampled_from(["a", "b c", "- x", "k: v", "#", "é", "true", "1"])
PLAIN = st.none() | st.booleans() | st.integers() | st.text(alphabet="ab :#-'\"[]{}\n|>&*é", max_size=12)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
SECTIONS = st.dictionaries(NAMES, VALUES, max_size=3)


@st.composite
def files(draw: st.DrawFn, *, entry: bool = False) -> tuple[dict[str, Any], str, bool]:
    """Write values in one of the styles a file may have; say whether it is one that must not be refused."""
    value = draw(SECTIONS)
    if entry or draw(st.booleans()):
        value["extensions"] = draw(SECTIONS)
    if entry:
        value["extensions"]["webseam"] = draw(st.dictionaries(NAMES, VALUES, min_size=1, max_size=3))
    value.update(draw(st.dictionaries(st.sampled_from(["y", "z"]), VALUES, max_size=2)))
    style, flow = draw(st.sampled_from([None, '"', "'", "|", ">"])), draw(st.sampled_from([False, False, None]))
    text = yaml.safe_dump(
        value, default_flow_style=flow, default_style=style, sort_keys=False, indent=draw(st.sampled_from([2, 4])),
        allow_unicode=draw(st.booleans()), width=draw(st.sampled_from([20, 80])),
    )  # fmt: skip
    ordinary = flow is False and style not in ("|", ">") and not text.endswith("+\n")
    value = yaml.safe_load(text) or {}  # what was written: its writer and its reader do not always agree
    if draw(st.booleans()):
        return value, text.removesuffix("\n"), ordinary
    return value, draw(st.sampled_from(["", "# top\n", "\n"])) + text, ordinary


@settings(max_examples=50)  # its parser is written in Python
@given(files())
def test_any_file_takes_our_entry_and_gives_it_back(case: tuple[dict[str, Any], str, bool]) -> None:
    value, text, ordinary = case
    try:
        after = with_entry(YAML, text, PATH, ENTRY, {})
    except Unfit:
        assert not ordinary
        return
    sections = value.get("extensions", {})
    assert yaml.safe_load(after) == {**value, "extensions": {**sections, "webseam": ENTRY}}
    if value:
        assert without_entry(YAML, after, PATH, prune="extensions" not in value) == text


@settings(max_examples=50)  # its parser is written in Python
@given(files(entry=True))
def test_any_entry_that_is_there_is_changed_or_goes_and_nothing_else(case: tuple[dict[str, Any], str, bool]) -> None:
    value, text, ordinary = case
    sections = value["extensions"]
    try:
        changed = with_entry(YAML, text, PATH, ENTRY, {"cmd": "/w", "args": ["mcp"]})
        gone = without_entry(YAML, text, PATH, prune=True)
    except Unfit:
        assert not ordinary
        return
    wanted = {**sections["webseam"], "cmd": "/w", "args": ["mcp"]}
    assert yaml.safe_load(changed) == {**value, "extensions": {**sections, "webseam": wanted}}
    rest = {name: one for name, one in sections.items() if name != "webseam"}
    others = {name: one for name, one in value.items() if name != "extensions"}
    assert (yaml.safe_load(gone) or {}) == ({**value, "extensions": rest} if rest else others)
