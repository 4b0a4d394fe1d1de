"""The servers that `mcp_servers.py` measures, how each is started, and how each is pointed at `mcp_world.py`.

All but one live in the environment of the benchmarks. free-search-mcp asks for mcp before 2.3 where we and
mcp-server-fetch ask for 2.3 or newer, so it gets an environment of its own below `build/`, with exact versions and
hashes; one that ignored what it asks for would not be what its users run.
Licences: mcp-server-fetch, ddgs, free-search-mcp and agent-web-search-mcp are MIT. free-search-mcp installs EbookLib,
which is AGPL-3.0: it stays in that environment, and we start its program only.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp_world import HIT, SENTENCE

ROOT = Path(__file__).resolve().parents[1]
PINS = Path(__file__).with_name("mcp_free_search.txt")
FREE_SEARCH = "0.16.0"

BARE = """\
from mcp.server.mcpserver import MCPServer

server = MCPServer("bare")


@server.tool()
def echo(text: str) -> str:
    "Return the text."
    return text


server.run()
"""

QUERY = "the words that were asked for, {number}"


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call; `{number}` in its arguments becomes one that was not used before, so that no cache answers."""

    tool: str
    arguments: Mapping[str, Any]
    shows: str  # what an answer must hold to be one

    def parameters(self, number: int) -> dict[str, Any]:
        filled = {
            key: value.format(number=number) if isinstance(value, str) else value
            for key, value in self.arguments.items()
        }
        return {"name": self.tool, "arguments": filled}


@dataclass(frozen=True, kw_only=True)
class Server:
    name: str
    release: str
    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    search: Call | None = None
    fetch: Call | None = None
    note: str = ""


Make = Callable[[Path, str], Server]  # (a folder for files of this run, the world's base URL) -> Server


def bare(folder: Path, base: str) -> Server:
    script = folder / "bare.py"
    script.write_text(BARE)
    call = Call(tool="echo", arguments={"text": QUERY}, shows="the words that were asked for")
    return Server(
        name="bare SDK server",
        release=f"mcp {version('mcp')}",
        command=[sys.executable, str(script)],
        search=call,
        fetch=call,
        note="both of its calls are an echo: what the SDK and the pipe cost alone",
    )


def webseam(folder: Path, base: str) -> Server:
    return Server(
        name="webseam",
        release=version("webseam"),
        command=[program("webseam"), "mcp"],
        environment={
            **{f"WEBSEAM_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "STATE", "CACHE")},
            "WEBSEAM_SEARCH_PROVIDER": "tavily",
            "WEBSEAM_TAVILY_BASE_URL": base,
            "TAVILY_API_KEY": "tvly-0123456789abcdef0123456789abcdef",
            "WEBSEAM_FETCH_ALLOW": "127.0.0.1",
            "WEBSEAM_FETCH_PER_HOST": "32",
        },
        search=Call(tool="web_search", arguments={"query": QUERY}, shows=HIT),
        fetch=Call(tool="web_fetch", arguments={"url": f"{base}/page/{{number}}"}, shows=SENTENCE),
        note="allowed to ask one host for 32 pages at a time instead of 4, since none of the others waits",
    )


def fetch_server(folder: Path, base: str) -> Server:
    return Server(
        name="mcp-server-fetch",
        release=version("mcp-server-fetch"),
        command=[program("mcp-server-fetch"), "--allow-private-ips"],
        fetch=Call(tool="fetch", arguments={"url": f"{base}/page/{{number}}"}, shows=SENTENCE),
        note="fetches only, robots.txt first; without Node on its path, which its reader would start for every page",
    )


def ddgs(folder: Path, base: str) -> Server:
    return Server(
        name="ddgs mcp",
        release=version("ddgs"),
        command=[program("ddgs"), "mcp"],
        environment={"DDGS_PROXY": base, "PRIMP_CA_BUNDLE": str(folder / "ca.pem")},
        search=Call(tool="search_text", arguments={"query": QUERY, "backend": "duckduckgo"}, shows=HIT),
        fetch=Call(tool="extract_content", arguments={"url": f"{base}/page/{{number}}"}, shows=SENTENCE),
        note="searches one backend over TLS, through a proxy: its hosts are written into it",
    )


def agent_web_search(folder: Path, base: str) -> Server:
    return Server(
        name="agent-web-search-mcp",
        release=version("agent-web-search-mcp"),
        command=[program("agent-web-search-mcp")],
        environment={"EXA_MCP_URL": f"{base}/exa"},
        search=Call(tool="web_search", arguments={"query": QUERY, "providers": ["exa"]}, shows=HIT),
        note="searches only; asked for one of its three usual providers",
    )


def free_search(folder: Path, base: str) -> Server:
    return Server(
        name="free-search-mcp",
        release=FREE_SEARCH,
        command=[str(own_environment() / "bin" / "free-search-mcp")],
        environment={
            "SEARCH_MCP_CACHE_DIR": str(folder / "free-search"),
            "SEARCH_MCP_SEARX_INSTANCES": f"{base}/searx",
            "SEARCH_MCP_ALLOW_PRIVATE_HOSTS": "true",
            "SEARCH_MCP_RATE_LIMIT_PER_MINUTE": "100000",
            "SEARCH_MCP_FETCH_RATE_LIMIT_PER_MINUTE": "100000",
        },
        search=Call(tool="search", arguments={"query": QUERY, "engines": ["searx"]}, shows=HIT),
        fetch=Call(tool="fetch", arguments={"url": f"{base}/page/{{number}}"}, shows=SENTENCE),
        note="in an environment of its own (needs mcp<2.3); its limits of calls a minute are lifted",
    )


SERVERS: dict[str, Make] = {
    "bare": bare,
    "webseam": webseam,
    "mcp-server-fetch": fetch_server,
    "ddgs": ddgs,
    "agent-web-search-mcp": agent_web_search,
    "free-search-mcp": free_search,
}


def program(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def own_environment() -> Path:
    """Return the environment of free-search-mcp, made when it is not there or its pins have changed."""
    folder = ROOT / "build" / "bench" / "free-search-mcp"
    stamp = f"{hashlib.sha256(PINS.read_bytes()).hexdigest()} {folder} {sys.version}"
    ready = folder / "ready"
    if ready.exists() and ready.read_text() == stamp:
        return folder
    print(f"making {folder.relative_to(ROOT)} for free-search-mcp, about 420 MB", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    install = ["install", "--quiet", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    for words in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", *install, "--requirement", str(PINS)],
    ):
        if subprocess.run(words, check=False, stdout=sys.stderr).returncode:
            raise SystemExit(
                "free-search-mcp could not be installed (see above); --without free-search-mcp leaves it out"
            )
    ready.write_text(stamp)
    return folder
