"""`webseam mcp --http` as a process: what it prints, what it refuses to start with, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cli.world import environment_of, start, webseam_command
from tests.mcp.http_world import INITIALIZE, KEY, LEGACY, Served, call, listener, modern
from tests.world import Connection, World
from webseam.errors import Outcome, WebSeamError
from webseam.fronts.mcp.http import serve_http

QUIET = {"WEBSEAM_FETCH_ALLOW": "127.0.0.0/8", "WEBSEAM_FETCH_BROWSER": "off"}


class Started:
    """A server in a process of its own; `said` is its first line."""

    def __init__(self, process: Any, said: str) -> None:
        self.process = process
        self.said = said
        self.port = int(said.rpartition(":")[2].partition("/")[0])

    async def end(self, number: int) -> tuple[int, str, str]:
        """Send a signal; return the exit code and all it printed."""
        self.process.send_signal(number)
        out, err = await self.process.communicate()
        return self.process.returncode, out.decode(), self.said + err.decode()


@asynccontextmanager
async def _started(*arguments: str, **env: str) -> AsyncIterator[Started]:
    process = await start("mcp", "--http", *(arguments or ("--port", "0")), env={**QUIET, **env})
    try:
        line = (await process.stderr.readline()).decode()
        assert line.startswith("webseam: MCP at "), line + (await process.stderr.read()).decode()
        yield Started(process, line)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def _served(one: Started) -> Served:
    return Served(None, one.port)  # type: ignore[arg-type]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=["Ctrl-C", "SIGTERM"])
async def test_a_signal_ends_it_with_calls_and_streams_open(number: int, code: int) -> None:
    reached, gone = asyncio.Event(), asyncio.Event()

    async def hold(connection: Connection) -> None:
        await connection.request()
        reached.set()
        await connection.until_gone()
        gone.set()

    async with World() as world, _started() as one:
        served = _served(one)
        session = await served.session()
        asked = asyncio.ensure_future(served.ask(headers=session, body=call("web_fetch", url=world.serve(hold))))
        stream = asyncio.ensure_future(served.ask("GET", headers=session))
        await reached.wait()
        ended, out, err = await one.end(number)
        await gone.wait()
        statuses = [(await asked).status, (await stream).status]
    assert (ended, out, err) == (code, "", f"webseam: MCP at http://127.0.0.1:{one.port}/mcp\n")
    assert statuses == [200, 200]


# A tool in a thread, which nothing can cancel.
_HANGS = """
import sys, time
from mcp.server.mcpserver import MCPServer
from webseam.fronts.mcp import http, server

def make_server(*_arguments, **_options):
    made = MCPServer("hangs")
    @made.tool()
    def web_fetch(url: str) -> str:
        print("hangs", flush=True)
        time.sleep(60)
    return made

server.make_server = make_server
http.LAST_RESORT = 0.5
sys.exit(http.serve_http(port=0))
"""


async def test_what_hangs_is_not_waited_for() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _HANGS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment_of()
    )
    one = Started(process, (await process.stderr.readline()).decode())  # type: ignore[union-attr]
    served = _served(one)
    session = await served.session()
    asked = asyncio.ensure_future(served.ask(headers=session, body=call("web_fetch", url="u")))
    assert await process.stdout.readline() == b"hangs\n"  # type: ignore[union-attr]
    code, _, _ = await one.end(signal.SIGTERM)
    await asked
    assert code == 128 + signal.SIGTERM


async def test_neither_keys_nor_queries_nor_sessions_are_printed() -> None:
    async with _started(WEBSEAM_MCP_API_KEY=KEY) as one:
        served = _served(one)
        right = {"authorization": f"Bearer {KEY}"}
        session = await served.session(right)
        for path, headers, body in (
            ("/mcp?token=query-word", right, INITIALIZE),
            ("/mcp", {"authorization": "Bearer wrong-key"}, INITIALIZE),
            ("/mcp", {**right, "mcp-session-id": "no-such-session"}, INITIALIZE),
            ("/mcp", {**session, "mcp-protocol-version": "1999-01-01"}, INITIALIZE),
            ("/mcp", session, b"not json"),
            ("/mcp", session, {"jsonrpc": "2.0", "id": 1, "method": "no/such"}),
            ("/mcp", session, call("web_fetch", url="http://127.0.0.1:1/?query-word")),
            ("/mcp", session, call("no_such_tool", word="query-word")),
        ):
            assert (await served.ask(path=path, headers=headers, body=body)).status >= 200
        await served.raw(b"GET /mcp?query-word\r\n\r\n")
        _, out, err = await one.end(signal.SIGTERM)
    assert (out, err) == ("", f"webseam: MCP at http://127.0.0.1:{one.port}/mcp\n")


async def test_it_listens_on_other_addresses_with_a_key() -> None:
    async with _started("--host", "0.0.0.0", "--port", "0", WEBSEAM_MCP_API_KEY=KEY) as one:
        served = _served(one)
        refused = await served.ask(body=INITIALIZE)
        let_in = await served.ask(headers={"authorization": f"Bearer {KEY}"}, body=INITIALIZE)
    assert one.said == f"webseam: MCP at http://0.0.0.0:{one.port}/mcp\n"
    assert (refused.status, let_in.status) == (401, 200)
    assert let_in.message["result"]["protocolVersion"] == LEGACY


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_it_never_reads_itself(host: str) -> None:
    async with _started("--host", host, "--port", "0", WEBSEAM_MCP_API_KEY=KEY) as one:
        headers, message = modern(call("web_fetch", url=f"http://127.0.0.1:{one.port}/healthz"))
        answer = await _served(one).ask(headers={**headers, "authorization": f"Bearer {KEY}"}, body=message)
    result = answer.message["result"]
    assert result["isError"]
    assert "address.self" in result["content"][0]["text"]


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
async def test_it_listens_on_ipv6() -> None:
    async with _started("--host", "[::1]", "--port", "0") as one:
        reader, writer = await asyncio.open_connection("::1", one.port)
        writer.write(f"GET /healthz HTTP/1.1\r\nHost: [::1]:{one.port}\r\nConnection: close\r\n\r\n".encode())
        data = await reader.read()
        writer.close()
    assert one.said == f"webseam: MCP at http://[::1]:{one.port}/mcp\n"
    assert data.startswith(b"HTTP/1.1 200")


async def test_an_address_without_a_key_ends_the_command_with_2_and_says_what_to_set() -> None:
    run = await webseam_command("mcp", "--http", "--host", "0.0.0.0", "--port", "0")
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "webseam: mcp.api_key: is not set, and 0.0.0.0 can be reached from other machines\n"
        "  set WEBSEAM_MCP_API_KEY to a long random word, or listen on 127.0.0.1\n"
    )


async def test_a_port_that_is_taken_ends_the_command_with_6() -> None:
    with listener() as taken:
        taken.listen()
        port = taken.getsockname()[1]
        run = await webseam_command("mcp", "--http", "--port", str(port))
    assert (run.code, run.out) == (6, "")
    assert run.err == (
        f"webseam: cannot listen on 127.0.0.1:{port}: Address already in use\n"
        "  another server has it; choose another with --port, or 0 for any free one\n"
    )


@pytest.mark.parametrize(
    ("options", "settings", "outcome", "detail"),
    [
        pytest.param({"host": "192.0.2.1"}, {}, Outcome.INVALID, "mcp.api_key: is not set", id="other address, no key"),
        pytest.param({"host": "::"}, {}, Outcome.INVALID, "mcp.api_key: is not set", id="every address, no key"),
        pytest.param({"host": "::ffff:127.0.0.1"}, {}, Outcome.INVALID, "mcp.api_key: is not set", id="mapped, no key"),
        pytest.param({"host": ""}, {}, Outcome.INVALID, "host: '' is not an IP address", id="no host"),
        pytest.param({"host": "a.example"}, {}, Outcome.INVALID, "host: 'a.example' is not an IP address", id="name"),
        pytest.param({"port": 65536}, {}, Outcome.INVALID, "port: 65536 is not from 0 to 65535", id="port"),
        pytest.param(
            {}, {"mcp.hosts": ["http://x"]}, Outcome.INVALID, "mcp.hosts: 'http://x' cannot be read", id="hosts"
        ),
        pytest.param({}, {"mcp.origins": ["x"]}, Outcome.INVALID, "mcp.origins: 'x' cannot be read", id="origins"),
        pytest.param(
            {}, {"mcp.api_key": "two words"}, Outcome.INVALID, "mcp.api_key: has spaces or characters", id="key"
        ),
        pytest.param({}, {"mcp.keys": "x"}, Outcome.INVALID, "mcp.keys: 'keys' is not known", id="unknown setting"),
        pytest.param(
            {"host": "192.0.2.1", "port": 0},
            {"mcp.api_key": KEY},
            Outcome.INVALID,
            "host: cannot listen on",
            id="not here",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(
    options: dict[str, Any], settings: dict[str, Any], outcome: Outcome, detail: str
) -> None:
    with pytest.raises(WebSeamError) as raised:
        serve_http(**options, settings=settings)
    assert (raised.value.outcome, raised.value.detail[: len(detail)]) == (outcome, detail)
    assert "two words" not in str(raised.value)


def test_nothing_listens_before_the_settings_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def bound(*_arguments: Any) -> Any:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("webseam.fronts.mcp.http._bind", bound)
    with pytest.raises(WebSeamError, match=r"mcp\.api_key"):
        serve_http(host="0.0.0.0", port=0)


def test_a_key_of_the_settings_is_in_no_repr() -> None:
    from webseam.fronts.mcp.http import _rules

    assert KEY not in repr(_rules("127.0.0.1", 0, {"mcp.api_key": KEY}))
    assert os.environ.get("WEBSEAM_MCP_API_KEY") is None
