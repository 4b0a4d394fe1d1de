"""A real uvicorn on loopback in the test's own loop, a server whose tools do as the test says, and raw requests."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.server.mcpserver import MCPServer

from webseam.fronts.mcp.http import App, HttpServer, make_app

KEY = "k3y-of-a-test-that-nobody-uses"
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
ERAS = ["legacy", MODERN]

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


class Tools:
    """What the two tools of the stand-in do: `web_search` answers, `web_fetch` runs until it is released or cancelled.

    Attributes:
        running, most: calls of `web_fetch` at this moment, and at most so far.
        headers: of each request that a tool was called by.
    """

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.started: asyncio.Queue[str] = asyncio.Queue()
        self.ended: asyncio.Queue[str] = asyncio.Queue()
        self.running = self.most = 0

    def server(self) -> MCPServer[Any]:
        server: MCPServer[Any] = MCPServer("stand-in", log_level="WARNING")

        @server.tool()
        async def web_search(query: str) -> str:
            return f"found {query}"

        @server.tool()
        async def web_fetch(url: str) -> str:
            self.running += 1
            self.most = max(self.most, self.running)
            self.started.put_nowait(url)
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.ended.put_nowait(f"cancelled {url}")
                raise
            finally:
                self.running -= 1
            self.ended.put_nowait(f"done {url}")
            return f"read {url}"

        return server


@dataclass
class Answer:
    """An answer as it came: status 0 when the connection was closed without one."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def problem(self) -> str:
        """What the JSON-RPC error in the body says."""
        return str(json.loads(self.body)["error"]["message"])

    @property
    def message(self) -> Any:
        """The JSON-RPC message, of the last event if it came as events."""
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            return json.loads([line for line in self.body.splitlines() if line.startswith(b"data:")][-1][5:])
        return json.loads(self.body)


class Served:
    """A running server."""

    def __init__(self, server: HttpServer, port: int) -> None:
        self.server = server
        self.port = port
        self.url = f"http://127.0.0.1:{port}/mcp"

    async def raw(self, data: bytes) -> bytes:
        """Send bytes as they are; return all that comes back until the server closes the connection."""
        reader, writer = await self.connect()
        try:
            writer.write(data)
            return await reader.read()
        finally:
            writer.close()

    async def exchange(self, data: bytes) -> Answer:
        """Send bytes as they are; return one answer of known length, whatever becomes of the connection."""
        reader, writer = await self.connect()
        try:
            writer.write(data)
            head = await reader.readuntil(b"\r\n\r\n")
            return read(head + await reader.readexactly(int(read(head).headers["content-length"])))
        finally:
            writer.transport.abort()  # type: ignore[attr-defined]

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(
        self,
        method: str = "POST",
        path: str = "/mcp",
        *,
        headers: Mapping[str, str | Iterable[str] | None] | None = None,
        body: object = PING,
    ) -> Answer:
        """Send one request on a connection of its own; a header may have several values, None leaves it out."""
        return read(await self.raw(self.request(method, path, headers=headers, body=body)))

    def request(
        self,
        method: str = "POST",
        path: str = "/mcp",
        *,
        headers: Mapping[str, str | Iterable[str] | None] | None = None,
        body: object = PING,
    ) -> bytes:
        sent = b"" if method == "GET" else body if isinstance(body, bytes) else json.dumps(body).encode()
        named: dict[str, Any] = {"host": f"127.0.0.1:{self.port}", "connection": "close", **JSON}
        if method != "GET":
            named["content-length"] = str(len(sent))
        named.update(headers or {})
        lines = [f"{method} {path} HTTP/1.1"]
        for name, value in named.items():
            each = [] if value is None else [value] if isinstance(value, str) else list(value)
            lines += [f"{name}: {one}" for one in each]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + sent

    async def session(self, headers: Mapping[str, str] | None = None) -> dict[str, str]:
        """Open a session as the protocol until 2025-11-25 has it; return the headers of its requests."""
        opened = await self.ask(headers=headers, body=INITIALIZE)
        assert opened.status == 200
        session = {
            **(headers or {}),
            "mcp-session-id": opened.headers["mcp-session-id"],
            "mcp-protocol-version": LEGACY,
        }
        started = await self.ask(headers=session, body={"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert started.status == 202
        return session


def read(data: bytes) -> Answer:
    """Return one answer, from all that a connection carried."""
    if not data:
        return Answer(0)
    head, _, body = data.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = _unchunked(body)
    return Answer(int(status.split()[1]), headers, body)


def _unchunked(data: bytes) -> bytes:
    whole = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            break
        whole, data = whole + data[:length], data[length + 2 :]
    return whole


def call(tool: str, number: int | float | str = 7, **arguments: str) -> dict[str, Any]:
    """Return a call as the protocol until 2025-11-25 has it."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def modern(message: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the headers and the message of a request in the protocol of 2026-07-28."""
    prefix = "io.modelcontextprotocol/"
    meta = {
        prefix + "protocolVersion": MODERN,
        prefix + "clientCapabilities": {},
        prefix + "clientInfo": {"name": "test", "version": "1"},
    }
    headers = {"mcp-protocol-version": MODERN, "mcp-method": message["method"]}
    if "name" in message.get("params", {}):
        headers["mcp-name"] = message["params"]["name"]
    return headers, {**message, "params": {**message.get("params", {}), "_meta": meta}}


def listener(host: str = "127.0.0.1") -> socket.socket:
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    found.bind((host, 0))
    return found


@asynccontextmanager
async def running(app: App, at: socket.socket) -> AsyncIterator[Served]:
    """Run the application on a bound socket until the end of the block."""
    server = HttpServer(app)
    task = asyncio.ensure_future(server.serve(sockets=[at]))
    try:
        while not server.started:
            assert not task.done(), "the server has ended"
            await asyncio.sleep(0.001)
        yield Served(server, at.getsockname()[1])
    finally:
        server.should_exit = True
        await task
        _end_watchers()


@asynccontextmanager
async def stand_in(
    tools: Tools | None = None, *, build: Callable[[Tools], Any] = Tools.server, **options: Any
) -> AsyncIterator[Served]:
    """Run the stand-in with these options of `make_app`."""
    at = listener()
    app = make_app(build(tools or Tools()), port=at.getsockname()[1], **options)
    async with running(app, at) as served:
        yield served


def _end_watchers() -> None:
    """End the task by which sse-starlette looks for signals: one a thread, and it never ends by itself."""
    for task in asyncio.all_tasks():
        if getattr(task.get_coro(), "__qualname__", "") == "_shutdown_watcher":
            task.cancel()
