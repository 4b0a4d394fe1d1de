"""TOML changed as text: every byte outside our table stays, whatever it is."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import assume, given
from hypothesis import strategies as st

from webseam.setup import toml_text
from webseam.setup.editors import EDITORS, with_entry, without_entry
from webseam.setup.malformed import Malformed, Unfit

ENTRY = {"command": "/w", "args": ["mcp"]}
PATH = ("mcp_servers", "webseam")
TOML = EDITORS["toml"]
BLOCK = '[mcp_servers.webseam]\ncommand = "/w"\nargs = ["mcp"]'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", f"{BLOCK}\n", id="empty file"),
        pytest.param("# mine\n", f"# mine\n\n{BLOCK}\n", id="only a comment"),
        pytest.param('model = "x"', f'model = "x"\n\n{BLOCK}', id="no line end at the end"),
        pytest.param(
            "[mcp_servers.a]\ncommand = 'a'  # a\n\n\n[tui]\nx = 1_000\n",
            f"[mcp_servers.a]\ncommand = 'a'  # a\n\n\n[tui]\nx = 1_000\n\n{BLOCK}\n",
            id="behind other tables",
        ),
        pytest.param(
            'x = """\n[mcp_servers.webseam]\n"""\n', f'x = """\n[mcp_servers.webseam]\n"""\n\n{BLOCK}\n', id="in a text"
        ),
        pytest.param(
            "mcp_servers = {a = {command = 'a'}}\n",
            'mcp_servers = {a = {command = \'a\'},webseam = {command = "/w",args = ["mcp"]}}\n',
            id="a section on one line",
        ),
    ],
)
def test_a_table_is_written_behind_everything_else(before: str, after: str) -> None:
    assert with_entry(TOML, before, PATH, ENTRY, {}) == after
    assert with_entry(TOML, after, PATH, ENTRY, {}) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            f"a = 1\n\n{BLOCK}\n\n[mcp_servers.webseam.env]\nK = 'v'\n\n# next\n[tui]\nx = 1\n",
            "a = 1\n\n# next\n[tui]\nx = 1\n",
            id="between, with a table below it",
        ),
        pytest.param(
            '[mcp_servers."webseam"]\nx = """\n[tui]\n"""\n\n[tui]\nx = 1\n', "\n[tui]\nx = 1\n", id="first, in quotes"
        ),
        pytest.param(
            "[mcp_servers]\nwebseam = {command = 'a'}\nb = {command = 'b'}\n",
            "[mcp_servers]\nb = {command = 'b'}\n",
            id="on one line",
        ),
        pytest.param(
            "mcp_servers.webseam.command = 'a'\nmcp_servers.b.command = 'b'\n",
            "mcp_servers.b.command = 'b'\n",
            id="with dots",
        ),
    ],
)
def test_a_table_is_taken_out_however_it_is_written(before: str, after: str) -> None:
    assert without_entry(TOML, before, PATH, prune=False) == after


def test_an_entry_that_is_there_keeps_what_is_not_ours() -> None:
    before = (
        "[mcp_servers.webseam] # mine\ncommand = 'old' # was\nstartup_timeout_sec = 5\nargs = ['x']\n\n[a]\nb = 0x1F\n"
    )
    after = with_entry(TOML, before, PATH, ENTRY, {"url": "http://h/"}, ["command", "args"])
    assert after == '[mcp_servers.webseam] # mine\nstartup_timeout_sec = 5\nurl = "http://h/"\n\n[a]\nb = 0x1F\n'


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        pytest.param("a = 1\nb = \n", 2, "invalid value", id="no value"),
        pytest.param("a = 1\na = 2\n", 2, "cannot overwrite a value", id="twice"),
        pytest.param('a = """\n', 2, "", id="no end"),
        pytest.param("[a\n", 1, "expected ']'", id="a header"),
        pytest.param("a = " + "1" * 5_000, 0, "a number that is too large", id="a number"),
    ],
)
def test_a_file_that_is_not_toml_is_refused_with_the_place(text: str, line: int, problem: str) -> None:
    with pytest.raises(Malformed) as refused:
        toml_text.load(text)
    assert refused.value.line == line
    assert problem in refused.value.problem


@pytest.mark.parametrize("text", ["mcp_servers = 1\n", "mcp_servers = []\n", "[mcp_servers]\nwebseam = 'x'\n"])
def test_a_section_that_is_no_table_is_not_overwritten(text: str) -> None:
    with pytest.raises(Unfit):
        with_entry(TOML, text, PATH, ENTRY, {})


# any file


NAMES = st.sampled_from(["a", "b-c", "mcp_servers", "webseam", "x y", "[z]", "é", "#"])
PLAIN = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(alphabet="ab [x]\n\"'#=é\\", max_size=12)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
NOISE = st.sampled_from(["", "\n", "# [mcp_servers.webseam]\n", "  \n", "\t# '''\n"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """Write values as tomlkit does, with comments and blank lines wherever a statement can begin."""
    value = draw(st.dictionaries(NAMES, VALUES, max_size=4))
    servers = value.get("mcp_servers", {})
    assume(isinstance(servers, dict) and isinstance(servers.get("webseam", {}), dict))
    text = tomlkit.dumps(value)
    written = "".join(draw(NOISE) + text[begin:stop] for begin, stop in toml_text._statements(text)) + draw(NOISE)
    return written.removesuffix("\n") if draw(st.booleans()) else written


def told(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


@given(files())
def test_any_file_says_afterwards_what_it_said_and_our_table(text: str) -> None:
    value = told(text)
    servers = value.get("mcp_servers", {})
    after = told(with_entry(TOML, text, PATH, ENTRY, {"command": "/w"}))
    wanted = {**servers["webseam"], "command": "/w"} if "webseam" in servers else ENTRY
    assert after == {**value, "mcp_servers": {**servers, "webseam": wanted}}


@given(files())
def test_any_file_is_the_same_bytes_after_the_table_was_put_in_and_taken_out(text: str) -> None:
    value = told(text)
    assume("webseam" not in value.get("mcp_servers", {}))
    after = with_entry(TOML, text, PATH, ENTRY, {})
    assume(BLOCK in after)  # a section on one line is left to tomlkit
    assert without_entry(TOML, after, PATH, prune="mcp_servers" not in value) == text
