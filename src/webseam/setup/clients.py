"""The agents that can be given the tools: how each is found, where it keeps its servers, and what an entry looks like.

One row a client and nothing else anywhere: a new client is one more row. What is written here was read off the files
that the clients themselves write (`claude mcp add`, `codex mcp add`, `gemini mcp add`, `opencode mcp add`,
`copilot mcp add`) or, where a client has no such command, from its source and its documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from webseam.setup.machine import Machine, Platform

Style = Literal["json", "jsonc", "toml", "yaml"]
Paths = Mapping[Platform, tuple[str, ...]]

# What stands for a value in a shape, and is left out with its key when there is none.
COMMAND: Final = "$command"  # the program
ARGUMENTS: Final = "$arguments"  # a list
LINE: Final = "$line"  # program and arguments in one list
URL: Final = "$url"
HEADERS: Final = "$headers"  # an object with the header that carries the key
KEY_NAME: Final = "$key_name"  # name of the environment variable that holds the key
KEY_NAMES: Final = "$key_names"  # the same in a list


@dataclass(frozen=True, slots=True)
class Shape:
    """What an entry looks like.

    Attributes:
        fixed: what webseam sets, and sets again when it differs.
        initial: what a new entry starts with; what a user made of it later is left alone.
    """

    fixed: Mapping[str, Any]
    initial: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One agent.

    Attributes:
        id: the name on the command line. label: the name people know.
        programs: names on the search path that mean it is installed. signs: paths that mean it.
        folders: where its file is; the first that counts. One that ends in .json is the file itself.
        names: of the file in its folder; the first that is there, else the first.
        override: an environment variable of the client that names the file itself.
        style: how the file is written; "jsonc" may have comments. section: under which names its servers stand.
        stdio: an entry that starts a program. http: one that calls a URL, None where the file knows no such thing.
        bearer: how a header says `Bearer KEY` with a key from the environment; None where it has no way to.
        skills: the folder it reads skills from, None where it reads none that is known.
        reload: what makes it read the file again.
    """

    id: str
    label: str
    programs: tuple[str, ...]
    signs: Paths
    folders: Paths
    names: tuple[str, ...]
    override: str | None = None
    style: Style
    section: tuple[str, ...]
    stdio: Shape
    http: Shape | None
    bearer: str | None = None
    skills: tuple[str, ...] | None = None
    reload: str

    def is_installed(self, machine: Machine) -> bool:
        """True when there is a program or a folder of it."""
        if any(machine.which(name) for name in self.programs):
            return True
        signs = map(machine.expand, self.signs[machine.platform])
        return any(path is not None and machine.exists(path) for path in signs)

    def file(self, machine: Machine) -> str:
        """Return the path of the file that holds its servers, whether it is there or not."""
        named = machine.env.get(self.override, "").strip() if self.override else ""
        if named:
            return str(machine.path(named))
        folder = machine.first(self.folders[machine.platform]) or machine.home
        if folder.endswith(".json"):
            return folder
        paths = [str(machine.path(folder) / name) for name in self.names]
        return next((path for path in paths if machine.exists(path)), paths[0])


def _everywhere(*templates: str) -> Paths:
    return {"linux": templates, "darwin": templates, "win32": templates}


def _on(linux: tuple[str, ...], darwin: tuple[str, ...], win32: tuple[str, ...]) -> Paths:
    return {"linux": linux, "darwin": darwin, "win32": win32}


def _application(folder: str) -> Paths:
    """Return where an application of this name keeps its settings."""
    return _on(
        (f"$XDG_CONFIG_HOME/{folder}", f"~/.config/{folder}"),
        (f"~/Library/Application Support/{folder}",),
        (f"$APPDATA/{folder}", f"~/AppData/Roaming/{folder}"),
    )


_SERVERS: Final = ("mcpServers",)
_PROGRAM: Final = Shape({"command": COMMAND, "args": ARGUMENTS})
_TYPED_PROGRAM: Final = Shape({"type": "stdio", "command": COMMAND, "args": ARGUMENTS})
_TYPED_URL: Final = Shape({"type": "http", "url": URL, "headers": HEADERS})
_CLAUDE_STORE: Final = "?$LOCALAPPDATA/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"  # of the Windows store
_CODE: Final = _application("Code")
_INSIDERS: Final = _application("Code - Insiders")
_COMMON_SKILLS: Final = ("~/.agents/skills",)  # read by Codex, Gemini CLI, opencode and Copilot CLI

_CLAUDE: Final = _application("Claude")
_TIMEOUT: Final = 300  # seconds that Goose waits for an answer; its own default for servers it adds

CLIENTS: Final = (
    Client(
        id="claude-code",
        label="Claude Code",
        programs=("claude",),
        signs=_everywhere("$CLAUDE_CONFIG_DIR/.claude.json", "~/.claude.json", "~/.claude"),
        folders=_everywhere(
            "?$CLAUDE_CONFIG_DIR/.config.json",  # of its first versions; where it is, nothing else is read
            "$CLAUDE_CONFIG_DIR",
            "?~/.claude/.config.json",
            "~",
        ),
        names=(".claude.json",),
        style="json",
        section=_SERVERS,
        stdio=_TYPED_PROGRAM,
        http=_TYPED_URL,
        bearer="Bearer ${NAME}",
        skills=("$CLAUDE_CONFIG_DIR/skills", "~/.claude/skills"),
        reload="start a new session of Claude Code",
    ),
    Client(
        id="claude-desktop",
        label="Claude Desktop",
        programs=(),
        signs=_on(
            _CLAUDE["linux"],
            ("/Applications/Claude.app", *_CLAUDE["darwin"]),
            (_CLAUDE_STORE, *_CLAUDE["win32"]),
        ),
        folders=_on(_CLAUDE["linux"], _CLAUDE["darwin"], (_CLAUDE_STORE, *_CLAUDE["win32"])),
        names=("claude_desktop_config.json",),
        style="json",
        section=_SERVERS,
        stdio=_PROGRAM,
        http=None,
        reload="restart Claude Desktop",
    ),
    Client(
        id="codex",
        label="Codex",
        programs=("codex",),
        signs=_everywhere("$CODEX_HOME", "~/.codex"),
        folders=_everywhere("$CODEX_HOME", "~/.codex"),
        names=("config.toml",),
        style="toml",
        section=("mcp_servers",),
        stdio=_PROGRAM,
        http=Shape({"url": URL, "bearer_token_env_var": KEY_NAME}),
        skills=_COMMON_SKILLS,
        reload="start a new session of Codex",
    ),
    Client(
        id="gemini",
        label="Gemini CLI",
        programs=("gemini",),
        signs=_everywhere("$GEMINI_CLI_HOME/.gemini", "~/.gemini"),
        folders=_everywhere("$GEMINI_CLI_HOME/.gemini", "~/.gemini"),
        names=("settings.json",),
        style="jsonc",
        section=_SERVERS,
        stdio=_PROGRAM,
        http=Shape({"url": URL, "type": "http", "headers": HEADERS}),
        bearer="Bearer ${NAME}",
        skills=_COMMON_SKILLS,
        reload="start a new session of Gemini CLI",
    ),
    Client(
        id="opencode",
        label="opencode",
        programs=("opencode",),
        signs=_everywhere("$XDG_CONFIG_HOME/opencode", "~/.config/opencode", "~/.opencode"),
        folders=_everywhere("$XDG_CONFIG_HOME/opencode", "~/.config/opencode"),
        names=("opencode.jsonc", "opencode.json", "config.json"),
        style="jsonc",
        section=("mcp",),
        stdio=Shape({"type": "local", "command": LINE}, {"enabled": True}),
        http=Shape({"type": "remote", "url": URL, "headers": HEADERS}, {"enabled": True}),
        bearer="Bearer {env:NAME}",
        skills=_COMMON_SKILLS,
        reload="start a new session of opencode",
    ),
    Client(
        id="copilot",
        label="Copilot CLI",
        programs=("copilot",),
        signs=_everywhere("$COPILOT_HOME", "~/.copilot"),
        folders=_everywhere("$COPILOT_HOME", "~/.copilot"),
        names=("mcp-config.json",),
        style="jsonc",
        section=_SERVERS,
        stdio=Shape({"type": "local", "command": COMMAND, "args": ARGUMENTS}, {"tools": ["*"]}),
        http=Shape({"type": "http", "url": URL, "headers": HEADERS}, {"tools": ["*"]}),
        bearer="Bearer ${NAME}",
        skills=_COMMON_SKILLS,
        reload="start a new session of Copilot CLI",
    ),
    Client(
        id="cursor",
        label="Cursor",
        programs=("cursor", "cursor-agent"),
        signs=_on(("~/.cursor",), ("~/.cursor", "/Applications/Cursor.app"), ("~/.cursor",)),
        folders=_everywhere("~/.cursor"),
        names=("mcp.json",),
        style="jsonc",
        section=_SERVERS,
        stdio=_TYPED_PROGRAM,
        http=Shape({"url": URL, "headers": HEADERS}),
        bearer="Bearer ${env:NAME}",
        reload="restart Cursor",
    ),
    Client(
        id="vscode",
        label="VS Code",
        programs=("code", "code-insiders"),
        signs=_on(
            (*_CODE["linux"], *_INSIDERS["linux"]),
            ("/Applications/Visual Studio Code.app", *_CODE["darwin"], *_INSIDERS["darwin"]),
            (*_CODE["win32"], *_INSIDERS["win32"]),
        ),
        folders={
            platform: (
                "$VSCODE_PORTABLE/user-data/User",
                "$VSCODE_APPDATA/Code/User",
                *(f"?{one}/User" for one in (*_CODE[platform], *_INSIDERS[platform])),
                *(f"{one}/User" for one in _CODE[platform]),
            )
            for platform in _CODE
        },
        names=("mcp.json",),
        style="jsonc",
        section=("servers",),
        stdio=_TYPED_PROGRAM,
        http=_TYPED_URL,
        bearer="Bearer ${env:NAME}",
        reload="start it in VS Code with `MCP: List Servers`",
    ),
    Client(
        id="windsurf",
        label="Windsurf",
        programs=("windsurf",),
        signs=_on(
            ("~/.codeium/windsurf",),
            ("~/.codeium/windsurf", "/Applications/Windsurf.app"),
            ("~/.codeium/windsurf",),
        ),
        folders=_everywhere("~/.codeium/windsurf"),
        names=("mcp_config.json",),
        style="jsonc",
        section=_SERVERS,
        stdio=_PROGRAM,
        http=Shape({"serverUrl": URL, "headers": HEADERS}),
        bearer="Bearer ${env:NAME}",
        reload="refresh the MCP servers of Windsurf",
    ),
    Client(
        id="zed",
        label="Zed",
        programs=("zed", "zeditor"),
        signs=_on(
            ("$FLATPAK_XDG_CONFIG_HOME/zed", "$XDG_CONFIG_HOME/zed", "~/.config/zed"),
            ("~/.config/zed", "/Applications/Zed.app"),
            ("$APPDATA/Zed", "~/AppData/Roaming/Zed"),
        ),
        folders=_on(
            ("$FLATPAK_XDG_CONFIG_HOME/zed", "$XDG_CONFIG_HOME/zed", "~/.config/zed"),
            ("~/.config/zed",),
            ("$APPDATA/Zed", "~/AppData/Roaming/Zed"),
        ),
        names=("settings.json",),
        style="jsonc",
        section=("context_servers",),
        stdio=Shape({"command": COMMAND, "args": ARGUMENTS}, {"env": {}}),
        http=Shape({"url": URL}),
        reload="Zed reads it at once",
    ),
    Client(
        id="cline",
        label="Cline",
        programs=("cline",),
        signs={
            platform: (
                "$CLINE_DIR",
                "~/.cline",
                *(f"{one}/User/globalStorage/saoudrizwan.claude-dev" for one in _CODE[platform]),
            )
            for platform in _CODE
        },
        folders=_everywhere("$CLINE_DATA_DIR/settings", "$CLINE_DIR/data/settings", "~/.cline/data/settings"),
        names=("cline_mcp_settings.json",),
        override="CLINE_MCP_SETTINGS_PATH",
        style="jsonc",
        section=_SERVERS,
        stdio=_TYPED_PROGRAM,
        http=Shape({"type": "streamableHttp", "url": URL}),
        reload="Cline reads it at once",
    ),
    Client(
        id="goose",
        label="Goose",
        programs=("goose",),
        signs=_on(
            ("$GOOSE_PATH_ROOT/config", "$XDG_CONFIG_HOME/goose", "~/.config/goose"),
            ("$GOOSE_PATH_ROOT/config", "$XDG_CONFIG_HOME/goose", "~/.config/goose", "/Applications/Goose.app"),
            ("$GOOSE_PATH_ROOT/config", "$APPDATA/Block/goose", "~/AppData/Roaming/Block/goose"),
        ),
        folders=_on(
            ("$GOOSE_PATH_ROOT/config", "$XDG_CONFIG_HOME/goose", "~/.config/goose"),
            ("$GOOSE_PATH_ROOT/config", "$XDG_CONFIG_HOME/goose", "~/.config/goose"),
            ("$GOOSE_PATH_ROOT/config", "$APPDATA/Block/goose/config", "~/AppData/Roaming/Block/goose/config"),
        ),
        names=("config.yaml",),
        style="yaml",
        section=("extensions",),
        stdio=Shape(
            {"type": "stdio", "name": "webseam", "cmd": COMMAND, "args": ARGUMENTS},
            {"enabled": True, "description": "Search and read the web", "timeout": _TIMEOUT},
        ),
        http=Shape(
            {"type": "streamable_http", "name": "webseam", "uri": URL, "headers": HEADERS, "env_keys": KEY_NAMES},
            {"enabled": True, "description": "Search and read the web", "timeout": _TIMEOUT},
        ),
        bearer="Bearer ${NAME}",
        reload="start a new session of Goose",
    ),
)
BY_ID: Final = {client.id: client for client in CLIENTS}
