"""Our session client against servers of the official MCP SDK, which check protocol, session and content types."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from tests.wire import QUERY
from tests.wire.fake import Told, search
from webseam.errors import Outcome

# Prints its port when it listens, then for every message the session it came in ("-" for none).
_SERVER = """
import json, sys
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

port, form, sessions = sys.argv[1:]
server = MCPServer("search")


@server.tool()
def web_search(objective: str, search_queries: list[str], session_id: str) -> str:
    if objective == "fail":
        raise ToolError("Rate limit exceeded")
    row = {"url": "https://example.org/", "title": objective, "publish_date": "2026-02-03", "excerpts": search_queries}
    return json.dumps({"search_id": "search_1", "session_id": session_id, "results": [row], "warnings": None})


app = server.streamable_http_app(json_response=form == "json", stateless_http=sessions == "none")


async def noting(scope, receive, send):
    if scope["type"] == "http":
        print(dict(scope["headers"]).get(b"mcp-session-id", b"-").decode(), flush=True)
    await app(scope, receive, send)


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)


Server(uvicorn.Config(noting, host="127.0.0.1", port=int(port), log_level="warning")).run()
"""


class Running:
    """A server: its address, and the sessions of the messages that came since it was last asked for them."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._process = process

    async def sessions(self, count: int) -> list[str]:
        return [await _line(self._process) for _ in range(count)]


@asynccontextmanager
async def _server(*, port: int = 0, form: str = "stream", sessions: str = "kept") -> AsyncIterator[Running]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, str(port), form, sessions,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Running(process, int(await _line(process)))
    finally:
        process.kill()
        await process.communicate()


async def _line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    line = await process.stdout.readline()
    assert line, "the server has ended"
    return line.decode().strip()


async def _search(url: str, query: str = QUERY) -> Told:
    return await search("parallel-free", url, {"query": query}, variables={"WEBSEAM_STATE_ENABLED": "on"})


@pytest.mark.parametrize("form", ["stream", "json"])
async def test_a_session_is_opened_once_and_kept_for_the_next_search(form: str) -> None:
    async with _server(form=form) as server:
        told = [await _search(server.url) for _ in range(2)]
        first, *later = await server.sessions(4)
    assert first == "-"
    assert len(set(later)) == 1
    assert later[0] != "-"
    for one in told:
        (hit,) = one.hits
        assert (hit.url, hit.title, hit.published) == ("https://example.org/", QUERY, "2026-02-03")
        assert hit.passages == (QUERY,)


async def test_a_server_without_sessions_is_called_without_one() -> None:
    async with _server(sessions="none") as server:
        told = [await _search(server.url) for _ in range(2)]
        assert await server.sessions(4) == ["-"] * 4
    assert [one.outcome for one in told] == [Outcome.OK, Outcome.OK]


async def test_a_server_that_was_started_anew_has_forgotten_the_session_and_gives_another() -> None:
    async with _server() as server:
        await _search(server.url)
        _, _, old = await server.sessions(3)
        port = urlsplit(server.url).port
    assert port is not None
    async with _server(port=port) as server:
        told = await _search(server.url)
        forgotten, hello, *new = await server.sessions(4)
    assert (told.outcome, len(told.attempts)) == (Outcome.OK, 1)
    assert (forgotten, hello) == (old, "-")
    assert new[0] == new[1] != old


async def test_searches_at_the_same_time_share_a_session_and_get_their_own_answers() -> None:
    async with _server() as server:
        await _search(server.url)
        words = [f"words {number}" for number in range(4)]
        told = await asyncio.gather(*(_search(server.url, one) for one in words))
        sessions = await server.sessions(7)
    assert [one.hits[0].title for one in told] == words
    assert len(set(sessions[1:])) == 1


async def test_a_tool_that_fails_says_why() -> None:
    async with _server() as server:
        told = await _search(server.url, "fail")
    assert told.outcome == Outcome.RATE_LIMITED
    assert str(told.attempt.detail).endswith("Rate limit exceeded")
