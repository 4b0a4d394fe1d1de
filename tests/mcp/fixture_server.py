"""Serve what the conformance suite asks for: `python -m tests.mcp.fixture_server [--port 0] [--server NAME]`.

`webseam` is our server behind our guards, as `webseam mcp --http` serves it, with the suite's fixtures added. `sdk` is
a bare server of the official SDK with the same fixtures, served the SDK's own way: what it fails, the SDK fails, and
nothing else may fail on ours. `sdk-one` has one tool only.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer

from tests.mcp.fixtures import furnish

SERVERS = ("webseam", "sdk", "sdk-one")


def main() -> None:
    """Listen on loopback, print the URL, and serve until a signal comes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--server", choices=SERVERS, default="webseam")
    given = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", given.port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    asyncio.run(_serve_ours(listener) if given.server == "webseam" else _serve_sdk(listener, given.server))


async def _serve_ours(listener: socket.socket) -> None:
    from webseam.fronts.mcp.http import HttpServer, make_app
    from webseam.fronts.mcp.server import make_server
    from webseam.web import AsyncWeb

    async with AsyncWeb() as web:
        server = make_server(web, shared=True)
        furnish(server)
        await HttpServer(make_app(server, port=listener.getsockname()[1])).serve(sockets=[listener])


async def _serve_sdk(listener: socket.socket, kind: str) -> None:
    server: MCPServer[Any] = MCPServer("bare", version="1.0.0", log_level="ERROR")
    if kind == "sdk":
        furnish(server)
    else:

        @server.tool(structured_output=False)
        def test_simple_text() -> str:
            """Return text."""
            return "This is a simple text response for testing."

    config = uvicorn.Config(server.streamable_http_app(), log_level="error", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    sys.exit(main())
