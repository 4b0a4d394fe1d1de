"""What set-up plans for the file of a client: there and back again, and nothing shown that is not ours to show."""

from __future__ import annotations

import json

import pytest

from tests.setup.world import HTTP, HTTP_WITH_KEY, PROGRAM, SECRET, STDIO, planned, removed, there_and_back
from webseam.errors import SettingsError
from webseam.setup.clients import BY_ID, CLIENTS
from webseam.setup.entry import Server

ENTRY = '"command": "/opt/webseam/bin/webseam",\n      "args": ["mcp"]'
OTHERS = {  # a file of each style as people and clients write them
    "json": (
        b'{\n  "numStartups": 12,\n  "userID": "caf\\u00e9",\n  "mcpServers": {\n    "git": {\n      "type": "stdio",\n'
        b'      "command": "uvx",\n      "args": [\n        "mcp-server-git"\n      ],\n      "env": {}\n    }\n  },\n'
        b'  "projects": {\n    "/home/ann": {\n      "mcpServers": {}\n    }\n  },\n  "z": 1.0\n}'
    ),
    "jsonc": (
        b'// settings of mine, see https://example.org/\n{\n\t/* a theme */\n\t"theme": "One // Dark",\n'
        b'\t"numbers": [1.50, 2e3,],\n\t"section": {"mcpServers": {}},\n}\n'
    ),
    "toml": (
        b'model = "x"  # mine\n\n[projects."/home/ann"]\ntrust_level = "trusted"\n\n'
        b"[mcp_servers.git]\ncommand = 'uvx'\nargs = [\n  'mcp-server-git',  # a comment\n]\n\n[tui]\nx = 1_000\n"
    ),
    "yaml": (
        b"# mine\nGOOSE_MODEL: x\nextensions:\n  developer:\n    bundled: true\n    enabled: true\n"
        b"    name: developer\n"
        b"    timeout: 300\n    type: builtin\n\n# below\nGOOSE_MODE: 'auto'\n"
    ),
}
EVERY = [(one.id, one.style) for one in CLIENTS]
WAYS = {
    "as it is": lambda text: text,
    "Windows line ends": lambda text: text.replace(b"\n", b"\r\n"),
    "a mark in front": lambda text: b"\xef\xbb\xbf" + text,
    "both": lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"),
    "no line end at the end": lambda text: text.rstrip(b"\n"),
    "several at the end": lambda text: text + b"\n\n\n",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("client", "style"), EVERY)
@pytest.mark.parametrize("server", [STDIO, HTTP_WITH_KEY], ids=["stdio", "http"])
def test_a_file_of_any_client_gets_the_entry_and_is_then_given_back_byte_for_byte(
    client: str, style: str, way: str, server: Server
) -> None:
    if server is HTTP_WITH_KEY and BY_ID[client].http is None:
        return
    before = WAYS[way](OTHERS[style])
    after, back = there_and_back(client, before, server=server)
    assert back == before
    assert after is not None
    lines = after.splitlines(keepends=True)
    kept = before.splitlines(keepends=True)
    ours = [line for line in lines if line not in kept]
    assert (PROGRAM if server is STDIO else "https://search.example.org/mcp").encode() in b"".join(ours)
    assert SECRET.encode() not in after
    assert (b"\r\n" in after, b"\n" in after.replace(b"\r\n", b"")) == (b"\r\n" in before, b"\r\n" not in before)


@pytest.mark.parametrize("client", BY_ID)
@pytest.mark.parametrize("before", [None, b"", b"\n", b"\xef\xbb\xbf"], ids=["no file", "empty", "a line", "a mark"])
def test_a_file_with_nothing_in_it_comes_back_as_it_was(client: str, before: bytes | None) -> None:
    after, back = there_and_back(client, before)
    assert back == before
    assert after is not None
    assert PROGRAM.encode() in after


@pytest.mark.parametrize(
    "before", [b"{}", b"{ }", b"{\n}\n", b'{"mcpServers": {\n\n}}', b"// a\n{} // b\n", b"{/* a */}"]
)
def test_an_object_with_nothing_in_it_comes_back_as_it_was(before: bytes) -> None:
    assert there_and_back("gemini", before)[1] == before


def test_an_entry_of_the_users_own_is_changed_where_it_differs_and_comes_back() -> None:
    before = (
        b'{\n  "mcpServers": {\n    "webseam": {\n      "command": "webseam", // mine\n      "args": ["mcp"],\n'
        b'      "env": {"TAVILY_API_KEY": "%s"},\n      "disabled": true\n    },\n    "b": {}\n  }\n}\n'
        % SECRET.encode()
    )
    change = planned("gemini", before)
    assert (change.kind, change.backs_up) == ("update", True)
    assert change.after == before.replace(b'"command": "webseam"', b'"command": "/opt/webseam/bin/webseam"')
    assert change.diff.splitlines()[3:] == [
        " {",
        '   "mcpServers": {',
        '     "webseam": {',
        '-      "command": "webseam", // …',
        '+      "command": "/opt/webseam/bin/webseam", // …',
        '       "args": ["mcp"],',
        '       "env": {"TAVILY_API_KEY": "…"},',
        '       "disabled": true',
    ]
    back = removed("gemini", change.after, change.before)
    assert (back.kind, back.after) == ("restore", before)


def test_from_a_program_to_a_url_and_back_again_is_the_file_of_before() -> None:
    before = OTHERS["json"]
    first = planned("claude-code", before)
    second = planned("claude-code", first.after, server=HTTP_WITH_KEY, backup=before)
    assert second.after is not None
    assert json.loads(second.after)["mcpServers"]["webseam"] == {
        "type": "http",
        "url": "https://search.example.org/mcp",
        "headers": {"Authorization": "Bearer ${WEBSEAM_MCP_API_KEY}"},
    }
    assert (second.kind, second.backs_up) == ("update", False)
    assert removed("claude-code", second.after, before).after == before
    third = planned("claude-code", second.after, backup=before)
    assert third.after == first.after


def test_headers_of_the_users_own_stay_beside_ours() -> None:
    before = b'{"mcpServers": {"webseam": {"url": "http://127.0.0.1:8377/mcp", "headers": {"X-Team": "a"}}}}'
    assert planned("cursor", before, server=HTTP).kind == "nothing"
    after = planned("cursor", before, server=HTTP_WITH_KEY).after
    assert after is not None
    assert json.loads(after)["mcpServers"]["webseam"]["headers"] == {
        "X-Team": "a",
        "Authorization": "Bearer ${env:WEBSEAM_MCP_API_KEY}",
    }


@pytest.mark.parametrize(("client", "style"), EVERY)
def test_what_others_changed_meanwhile_stays_when_the_entry_goes(client: str, style: str) -> None:
    before = OTHERS[style]
    made = planned(client, before).after
    assert made is not None
    note = b"# and more\n" if style in ("toml", "yaml") else b"\n "
    change = removed(client, made + note if style != "json" else made.replace(b"12", b"13"), before)
    assert change.kind == "remove"
    assert change.after == (before + note if style != "json" else before.replace(b"12", b"13"))


def test_a_file_that_webseam_made_and_a_client_added_to_keeps_what_was_added() -> None:
    made = planned("claude-code", None).after
    assert made is not None
    grown = made.replace(b"{\n", b'{\n  "numStartups": 1,\n', 1)
    change = removed("claude-code", grown, None)
    assert (change.kind, change.after) == ("remove", b'{\n  "numStartups": 1\n}\n')


def test_taking_out_what_is_not_there_is_nothing_to_do() -> None:
    assert removed("gemini", None, None).kind == "nothing"
    assert removed("gemini", b"{}", b"{}").kind == "nothing"


@pytest.mark.parametrize(
    ("client", "contents", "says", "hint"),
    [
        pytest.param(
            "claude-code",
            b'{\n  "a": 1,\n}',
            "/file:2:9: cannot be read as JSON: has a comment or a comma too many, which its client does not read;"
            " nothing was changed",
            "mend it, or let Claude Code do so, and run webseam setup claude-code again",
            id="strict JSON",
        ),
        pytest.param(
            "zed",
            b'{"a": }',
            "/file:1:7: cannot be read as JSON: expecting value; nothing was changed",
            None,
            id="JSON",
        ),
        pytest.param(
            "codex", b"a = 1\nb\n", "/file:2:2: cannot be read as TOML: expected '=' after a key", None, id="TOML"
        ),
        pytest.param("goose", b"a: [\n", "/file:2:1: cannot be read as YAML:", None, id="YAML"),
        pytest.param("zed", b'{}\n"\xff"', "/file:2: cannot be read as JSON: is not UTF-8", None, id="not UTF-8"),
        pytest.param("zed", b"\xff\xfe{\x00}\x00", "/file:1: cannot be read as JSON: is not UTF-8", None, id="UTF-16"),
        pytest.param(
            "goose",
            b"extensions: {a: {b: c}}\n",
            "/file: is written on one line, in braces; nothing was changed",
            "webseam setup --print goose shows what to write by hand",
            id="another way",
        ),
        pytest.param(
            "cursor",
            b'{"mcpServers": []}',
            "/file: has something else than an object at mcpServers;",
            None,
            id="a list",
        ),
    ],
)
def test_a_file_that_cannot_be_changed_is_refused_with_the_place(
    client: str, contents: bytes, says: str, hint: str | None
) -> None:
    acts = [lambda: planned(client, contents), lambda: removed(client, contents, None)]
    for act in acts[: 1 if "on one line" in says else 2]:  # with nothing of ours in it, there is nothing to take out
        with pytest.raises(SettingsError) as refused:
            act()
        assert f"{refused.value.field}: {says.partition(': ')[2]}" in str(refused.value)
        assert str(refused.value).removeprefix("invalid: ").startswith(says)
        if hint is not None:
            assert refused.value.hint == hint


SECRETS = {
    "json": (
        b'{\n  "oauth": "%(s)s",\n  "long": 123456789012,\n  "mcpServers": {\n'
        b'    "a": {"command": "%(s)s", "args": ["--key=%(s)s"],'
        b' "env": {"K": "%(s)s"}},\n    "webseam": {\n      "command": "/old/%(s)s",\n'
        b'      "env": {"K": "%(s)s"}\n    }\n  }\n}'
    ),
    "jsonc": (
        b'{\n  // key %(s)s\n  /* or\n     %(s)s */ "mcpServers": {"b": {"url": "https://x/?k=%(s)s"}},\n'
        b'  "mcp": {\n    "webseam": {"headers": {"A": "Bearer %(s)s"}}\n  },\n  "z": "\\"%(s)s"\n}\n'
    ),
    "toml": (
        b'a = "%(s)s"\nb = \'%(s)s\'\nc = """\n%(s)s\n"""\nd = [\n  ["%(s)s"],\n  "%(s)s"\n]\n# %(s)s\n\n'
        b"[mcp_servers.webseam]\n"
        b'command = "old %(s)s"\nenv = { K = "%(s)s" }\nn = 1234567890\n'
    ),
    "yaml": (
        b"a: %(s)s\nb: '%(s)s'\nc: |\n  %(s)s\n  %(s)s\nd: [\"%(s)s\", %(s)s]\n# %(s)s\n"
        b"extensions:\n  webseam:\n    cmd: %(s)s # %(s)s\n"
        b"    envs:\n      K: %(s)s\n      L: !!str %(s)s\n"
    ),
}


@pytest.mark.parametrize(("client", "style"), EVERY)
def test_a_diff_shows_names_and_our_own_values_and_nothing_else(client: str, style: str) -> None:
    before = SECRETS[style] % {b"s": SECRET.encode()}
    change = planned(client, before)
    assert change.after is not None
    taken = removed(client, change.after, None)
    assert SECRET.encode() in change.after
    assert PROGRAM in change.diff
    for diff in (change.diff, taken.diff, removed(client, before, before).diff):
        assert [word for word in (SECRET, "canary", "123456789") if word in diff] == []


def test_a_diff_of_a_terminal_trick_is_harmless() -> None:
    change = planned("zed", b'{\n  "\xc2\x9b2J\\u001b": 1,\n  "a\xe2\x80\xae": 2\n}\n')
    assert "\x9b" not in change.diff
    assert "\u202e" not in change.diff


def test_every_client_is_in_these_tables() -> None:
    assert {style for _, style in EVERY} == set(OTHERS) == set(SECRETS)
