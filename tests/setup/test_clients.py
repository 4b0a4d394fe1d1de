"""The table of clients: where each keeps its servers on each system, when it counts as installed, and its entries."""

from __future__ import annotations

import pytest

from tests.setup.world import HTTP, HTTP_WITH_KEY, STDIO, machine
from webseam.errors import Outcome, RequestError, WebSeamError
from webseam.setup.clients import BY_ID, CLIENTS
from webseam.setup.entry import KEY_VARIABLE, Server, entry_for, server_at
from webseam.setup.machine import Platform
from webseam.setup.plan import snippet

WINDOWS = {"APPDATA": "C:\\Users\\ann\\AppData\\Roaming", "LOCALAPPDATA": "C:\\Users\\ann\\AppData\\Local"}
ROAMING = WINDOWS["APPDATA"]
STORE = WINDOWS["LOCALAPPDATA"] + "\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude"
LIBRARY = "/Users/ann/Library/Application Support"


@pytest.mark.parametrize(
    ("client", "linux", "darwin", "win32"),
    [
        ("claude-code", "~/.claude.json", "~/.claude.json", "~\\.claude.json"),
        (
            "claude-desktop",
            "~/.config/Claude/claude_desktop_config.json",
            f"{LIBRARY}/Claude/claude_desktop_config.json",
            f"{ROAMING}\\Claude\\claude_desktop_config.json",
        ),
        ("codex", "~/.codex/config.toml", "~/.codex/config.toml", "~\\.codex\\config.toml"),
        ("gemini", "~/.gemini/settings.json", "~/.gemini/settings.json", "~\\.gemini\\settings.json"),
        (
            "opencode",
            "~/.config/opencode/opencode.jsonc",
            "~/.config/opencode/opencode.jsonc",
            "~\\.config\\opencode\\opencode.jsonc",
        ),
        ("copilot", "~/.copilot/mcp-config.json", "~/.copilot/mcp-config.json", "~\\.copilot\\mcp-config.json"),
        ("cursor", "~/.cursor/mcp.json", "~/.cursor/mcp.json", "~\\.cursor\\mcp.json"),
        ("vscode", "~/.config/Code/User/mcp.json", f"{LIBRARY}/Code/User/mcp.json", f"{ROAMING}\\Code\\User\\mcp.json"),
        (
            "windsurf",
            "~/.codeium/windsurf/mcp_config.json",
            "~/.codeium/windsurf/mcp_config.json",
            "~\\.codeium\\windsurf\\mcp_config.json",
        ),
        ("zed", "~/.config/zed/settings.json", "~/.config/zed/settings.json", f"{ROAMING}\\Zed\\settings.json"),
        (
            "cline",
            "~/.cline/data/settings/cline_mcp_settings.json",
            "~/.cline/data/settings/cline_mcp_settings.json",
            "~\\.cline\\data\\settings\\cline_mcp_settings.json",
        ),
        (
            "goose",
            "~/.config/goose/config.yaml",
            "~/.config/goose/config.yaml",
            f"{ROAMING}\\Block\\goose\\config\\config.yaml",
        ),
    ],
)
def test_a_client_keeps_its_servers_in_one_file_on_each_system(
    client: str, linux: str, darwin: str, win32: str
) -> None:
    on: dict[Platform, str] = {"linux": linux, "darwin": darwin, "win32": win32}
    env = {"win32": WINDOWS}
    found = {name: BY_ID[client].file(machine(name, env=env.get(name))) for name in on}
    homes = {"linux": "/home/ann", "darwin": "/Users/ann", "win32": "C:\\Users\\ann"}
    assert found == {name: path.replace("~", homes[name]) for name, path in on.items()}


def test_every_client_has_a_row_in_that_table_and_no_id_twice() -> None:
    assert sorted(BY_ID) == sorted(
        "claude-code claude-desktop codex gemini opencode copilot cursor vscode windsurf zed cline goose".split()
    )
    assert len(BY_ID) == len(CLIENTS)


@pytest.mark.parametrize(
    ("client", "env", "path"),
    [
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("cline", {"CLINE_MCP_SETTINGS_PATH": "relative.json"}, "relative.json"),
        ("codex", {"CODEX_HOME": "/c"}, "/c/config.toml"),
        ("gemini", {"GEMINI_CLI_HOME": "/c"}, "/c/.gemini/settings.json"),
        ("opencode", {"XDG_CONFIG_HOME": "/c"}, "/c/opencode/opencode.jsonc"),
        ("copilot", {"COPILOT_HOME": "/c"}, "/c/mcp-config.json"),
        ("copilot", {"XDG_CONFIG_HOME": "/c"}, "/home/ann/.copilot/mcp-config.json"),
        ("vscode", {"VSCODE_PORTABLE": "/c"}, "/c/user-data/User/mcp.json"),
        ("vscode", {"VSCODE_APPDATA": "/c"}, "/c/Code/User/mcp.json"),
        ("vscode", {"XDG_CONFIG_HOME": "/c"}, "/c/Code/User/mcp.json"),
        ("zed", {"XDG_CONFIG_HOME": "/c"}, "/c/zed/settings.json"),
        ("zed", {"XDG_CONFIG_HOME": "/c", "FLATPAK_XDG_CONFIG_HOME": "/f"}, "/f/zed/settings.json"),
        ("cline", {"CLINE_DIR": "/c"}, "/c/data/settings/cline_mcp_settings.json"),
        ("cline", {"CLINE_DIR": "/c", "CLINE_DATA_DIR": "/d"}, "/d/settings/cline_mcp_settings.json"),
        ("cline", {"CLINE_DATA_DIR": "/d", "CLINE_MCP_SETTINGS_PATH": "/e/servers.json"}, "/e/servers.json"),
        ("goose", {"XDG_CONFIG_HOME": "/c"}, "/c/goose/config.yaml"),
        ("goose", {"XDG_CONFIG_HOME": "/c", "GOOSE_PATH_ROOT": "/g"}, "/g/config/config.yaml"),
        ("goose", {"GOOSE_PATH_ROOT": "  "}, "/home/ann/.config/goose/config.yaml"),
    ],
)
def test_the_variables_of_a_client_move_its_file(client: str, env: dict[str, str], path: str) -> None:
    assert BY_ID[client].file(machine(env=env)) == path


@pytest.mark.parametrize(
    ("client", "platform", "has", "path"),
    [
        ("opencode", "linux", ["~/.config/opencode/opencode.json"], "~/.config/opencode/opencode.json"),
        ("opencode", "linux", ["~/.config/opencode/config.json"], "~/.config/opencode/config.json"),
        (
            "opencode",
            "linux",
            ["~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"],
            "~/.config/opencode/opencode.jsonc",
        ),
        (
            "vscode",
            "linux",
            ["~/.config/Code - Insiders/User"],
            "~/.config/Code - Insiders/User/mcp.json",
        ),
        (
            "vscode",
            "linux",
            ["~/.config/Code - Insiders/User", "~/.config/Code/User"],
            "~/.config/Code/User/mcp.json",
        ),
        ("claude-desktop", "win32", [STORE], f"{STORE}\\claude_desktop_config.json"),
        ("claude-code", "linux", ["~/.claude.json", "~/.claude/.config.json"], "~/.claude/.config.json"),
    ],
)
def test_what_is_there_decides_between_several_places(
    client: str, platform: Platform, has: list[str], path: str
) -> None:
    home = "/home/ann"
    there = [one.replace("~", home) for one in has]
    env = WINDOWS if platform == "win32" else {}
    assert BY_ID[client].file(machine(platform, env=env, has=there)) == path.replace("~", home)


@pytest.mark.parametrize(
    ("client", "platform", "has", "programs"),
    [
        ("claude-code", "linux", [], ["claude"]),
        ("claude-code", "linux", ["/home/ann/.claude.json"], []),
        ("claude-desktop", "darwin", ["/Applications/Claude.app"], []),
        ("codex", "linux", ["/home/ann/.codex"], []),
        ("gemini", "linux", [], ["gemini"]),
        ("opencode", "linux", [], ["opencode"]),
        ("copilot", "linux", ["/home/ann/.copilot"], []),
        ("cursor", "darwin", ["/Applications/Cursor.app"], []),
        ("cursor", "linux", [], ["cursor-agent"]),
        ("vscode", "linux", ["/home/ann/.config/Code - Insiders"], []),
        ("windsurf", "win32", ["C:\\Users\\ann\\.codeium\\windsurf"], []),
        ("zed", "linux", [], ["zeditor"]),
        ("cline", "linux", ["/home/ann/.config/Code/User/globalStorage/saoudrizwan.claude-dev"], []),
        ("goose", "win32", ["C:\\Users\\ann\\AppData\\Roaming\\Block\\goose"], []),
    ],
)
def test_a_client_is_found_by_a_program_a_folder_or_an_application(
    client: str, platform: Platform, has: list[str], programs: list[str]
) -> None:
    here = machine(platform, has=has, programs=programs)
    found = [one.id for one in CLIENTS if one.is_installed(here)]
    assert client in found
    assert [one.id for one in CLIENTS if one.is_installed(machine(platform))] == []


JSON = '{{\n  "{section}": {{\n    "webseam": {{\n{entry}\n    }}\n  }}\n}}\n'


def in_json(section: str, *lines: str) -> str:
    return JSON.format(section=section, entry=",\n".join(f"      {line}" for line in lines))


COMMAND = ('"command": "/opt/webseam/bin/webseam"', '"args": ["mcp"]')
HEADER = '"headers": {{\n        "Authorization": "{}"\n      }}'
URL = '"url": "https://search.example.org/mcp"'
GOOSE = """\
extensions:
  webseam:
    type: {type}
    name: webseam
{lines}
    enabled: true
    description: Search and read the web
    timeout: 300
"""


@pytest.mark.parametrize(
    ("client", "stdio", "http"),
    [
        (
            "claude-code",
            in_json("mcpServers", '"type": "stdio"', *COMMAND),
            in_json("mcpServers", '"type": "http"', URL, HEADER.format("Bearer ${WEBSEAM_MCP_API_KEY}")),
        ),
        ("claude-desktop", in_json("mcpServers", *COMMAND), None),
        (
            "codex",
            '[mcp_servers.webseam]\ncommand = "/opt/webseam/bin/webseam"\nargs = ["mcp"]\n',
            '[mcp_servers.webseam]\nurl = "https://search.example.org/mcp"\n'
            'bearer_token_env_var = "WEBSEAM_MCP_API_KEY"\n',
        ),
        (
            "gemini",
            in_json("mcpServers", *COMMAND),
            in_json("mcpServers", URL, '"type": "http"', HEADER.format("Bearer ${WEBSEAM_MCP_API_KEY}")),
        ),
        (
            "opencode",
            in_json("mcp", '"type": "local"', '"command": ["/opt/webseam/bin/webseam", "mcp"]', '"enabled": true'),
            in_json(
                "mcp", '"type": "remote"', URL, HEADER.format("Bearer {env:WEBSEAM_MCP_API_KEY}"), '"enabled": true'
            ),
        ),
        (
            "copilot",
            in_json("mcpServers", '"type": "local"', *COMMAND, '"tools": ["*"]'),
            in_json(
                "mcpServers", '"type": "http"', URL, HEADER.format("Bearer ${WEBSEAM_MCP_API_KEY}"), '"tools": ["*"]'
            ),
        ),
        (
            "cursor",
            in_json("mcpServers", '"type": "stdio"', *COMMAND),
            in_json("mcpServers", URL, HEADER.format("Bearer ${env:WEBSEAM_MCP_API_KEY}")),
        ),
        (
            "vscode",
            in_json("servers", '"type": "stdio"', *COMMAND),
            in_json("servers", '"type": "http"', URL, HEADER.format("Bearer ${env:WEBSEAM_MCP_API_KEY}")),
        ),
        (
            "windsurf",
            in_json("mcpServers", *COMMAND),
            in_json(
                "mcpServers",
                '"serverUrl": "https://search.example.org/mcp"',
                HEADER.format("Bearer ${env:WEBSEAM_MCP_API_KEY}"),
            ),
        ),
        ("zed", in_json("context_servers", *COMMAND, '"env": {}'), in_json("context_servers", URL)),
        (
            "cline",
            in_json("mcpServers", '"type": "stdio"', *COMMAND),
            in_json("mcpServers", '"type": "streamableHttp"', URL),
        ),
        (
            "goose",
            GOOSE.format(type="stdio", lines="    cmd: /opt/webseam/bin/webseam\n    args:\n    - mcp"),
            GOOSE.format(
                type="streamable_http",
                lines='    uri: "https://search.example.org/mcp"\n    headers:\n'
                '      Authorization: "Bearer ${WEBSEAM_MCP_API_KEY}"\n    env_keys:\n    - WEBSEAM_MCP_API_KEY',
            ),
        ),
    ],
)
def test_a_new_file_holds_the_entry_in_the_shape_of_its_client(client: str, stdio: str, http: str | None) -> None:
    one = BY_ID[client]
    assert snippet(one, entry_for(one, STDIO)) == stdio
    if http is None:
        with pytest.raises(WebSeamError) as refused:
            entry_for(one, HTTP_WITH_KEY)
        assert (refused.value.outcome, refused.value.detail) == (
            Outcome.UNSUPPORTED,
            f"{one.label} calls no URL from its file",
        )
    else:
        assert snippet(one, entry_for(one, HTTP_WITH_KEY)) == http


@pytest.mark.parametrize("client", [one.id for one in CLIENTS if one.http is not None])
def test_a_server_without_a_key_is_called_without_a_word_about_one(client: str) -> None:
    one = BY_ID[client]
    text = snippet(one, entry_for(one, HTTP))
    assert "http://127.0.0.1:8377/mcp" in text
    assert [word for word in ("KEY", "Bearer", "headers", "env_keys") if word in text] == []


def test_a_client_that_cannot_name_a_variable_is_told_about() -> None:
    notes = {one.id: entry_for(one, HTTP_WITH_KEY).note for one in CLIENTS if one.http is not None}
    assert sorted(name for name, note in notes.items() if note) == ["cline", "zed"]
    assert notes["zed"] == "Zed takes no key from the environment; sign in to the server in its own settings"


@pytest.mark.parametrize(
    ("url", "key_name", "server"),
    [
        pytest.param("http://127.0.0.1:8377/mcp", None, HTTP, id="loopback"),
        pytest.param("http://[::1]:1/mcp", None, Server(url="http://[::1]:1/mcp"), id="loopback of version 6"),
        pytest.param("http://localhost/mcp", "K", Server(url="http://localhost/mcp", key_name="K"), id="asked for"),
        pytest.param("https://search.example.org/mcp", None, HTTP_WITH_KEY, id="elsewhere"),
    ],
)
def test_a_server_elsewhere_has_a_key_and_one_on_this_machine_has_none_unless_that_is_said(
    url: str, key_name: str | None, server: Server
) -> None:
    assert server_at(url, key_name) == server
    assert HTTP_WITH_KEY.key_name == KEY_VARIABLE


@pytest.mark.parametrize(
    ("url", "key_name", "says"),
    [
        pytest.param("example.org/mcp", None, "http: is no URL of a server", id="no scheme"),
        pytest.param("ftp://example.org/", None, "http: is no URL of a server", id="another scheme"),
        pytest.param("http:///mcp", None, "http: is no URL of a server", id="no host"),
        pytest.param("http://example.org:99999/", None, "http: is no URL of a server", id="no port"),
        pytest.param("http://example.org/a b", None, "http: is no URL of a server", id="a space"),
        pytest.param("http://me:secret@example.org/", None, "http: must hold no user, query", id="a password"),
        pytest.param("http://example.org/?key=secret", None, "http: must hold no user, query", id="a query"),
        pytest.param("http://example.org/", "sk-secret-1", "key-env: is no name of an environment", id="a key"),
    ],
)
def test_no_key_comes_into_a_file_by_the_way_of_the_url(url: str, key_name: str | None, says: str) -> None:
    with pytest.raises(RequestError) as refused:
        server_at(url, key_name)
    assert refused.value.detail.startswith(says)
    assert "secret" not in str(refused.value)
