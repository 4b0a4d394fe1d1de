"""A client at the other end of a server's pipes that speaks plain JSON-RPC, so that every byte there can be judged."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

from tests.cli.world import environment_of
from tests.search.world import fakes, found
from tests.world import World

Message = dict[str, Any]

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
ENVELOPE: Message = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
}
INITIALIZED: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SERVER = [sys.executable, "-W", "error", "-m", "webseam", "mcp"]


def request(number: int | str, method: str, **params: Any) -> Message:
    """Return a request; without parameters it has none at all."""
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}


def modern(number: int | str, method: str, **params: Any) -> Message:
    """Return a request of the protocol that knows no handshake."""
    return request(number, method, **params, _meta=ENVELOPE)


def initialize(version: str = HANDSHAKE[-1], number: int | str = 0, **more: Any) -> Message:
    """Return the first message of a handshake."""
    who = {"name": "peer", "version": "1"}
    return request(number, "initialize", protocolVersion=version, capabilities={}, clientInfo=who, **more)


def call(number: int | str, tool: str, **arguments: Any) -> Message:
    """Return a tool call."""
    return request(number, "tools/call", name=tool, arguments=arguments)


def wire(*messages: Message) -> bytes:
    """Return messages as they go over a pipe."""
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def text_of(answer: Message) -> str:
    """Return the text of a tool's result."""
    (content,) = answer["result"]["content"]
    return str(content["text"])


class Peer:
    """One server in a process of its own, and the client's ends of its pipes.

    Attributes:
        lines: everything that came out of its standard output, line by line.
        messages: the same, read as JSON.
        err: what it has printed on standard error so far.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        self.process = process
        self.lines: list[bytes] = []
        self.messages: list[Message] = []
        self.err = ""
        self._stdin = process.stdin
        self._changed = asyncio.Condition()
        self._said: asyncio.Queue[str] = asyncio.Queue()
        self._out = asyncio.ensure_future(self._read())
        self._reading = asyncio.gather(self._out, self._listen())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.lines.append(line)
            with contextlib.suppress(ValueError):  # judged by `ended`
                self.messages.append(json.loads(line))
            async with self._changed:
                self._changed.notify_all()

    async def _listen(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.err += line.decode()
            self._said.put_nowait(line.decode())

    async def send(self, *messages: Message | bytes) -> None:
        """Send messages, or bytes as they are, in a single write."""
        self._stdin.write(b"".join(one if isinstance(one, bytes) else wire(one) for one in messages))
        await self._stdin.drain()

    async def changed(self) -> None:
        """Wait until one more line has come."""
        async with self._changed:
            await self._changed.wait()

    async def answer(self, number: int | str | None) -> Message:
        """Wait for the answer to request `number`."""
        async with self._changed:
            await self._changed.wait_for(lambda: any(self.is_answer(one, number) for one in self.messages))
        (found,) = [one for one in self.messages if self.is_answer(one, number)]
        return found

    @staticmethod
    def is_answer(message: Message, number: int | str | None) -> bool:
        return "method" not in message and message.get("id") == number

    async def said(self) -> str:
        """Return the next line of its standard error."""
        return await self._said.get()

    async def ask(self, message: Message) -> Message:
        """Send one request and return its answer."""
        await self.send(message)
        return await self.answer(message["id"])

    async def stop_reading(self) -> None:
        """Close this end of the server's standard output, and no other."""
        transport: Any = self.process._transport  # type: ignore[attr-defined]
        transport.get_pipe_transport(1).close()
        await self._out

    async def leave(self) -> int:
        """Close the pipe to the server, as a client does that is done, and return the server's exit code."""
        self._stdin.close()
        with contextlib.suppress(ConnectionError):
            await self._stdin.wait_closed()
        return await self.ended()

    async def ended(self) -> int:
        """Wait for the server's end and return its exit code. Every line it ever wrote must be JSON-RPC."""
        await self._reading
        code = await self.process.wait()
        assert [json.loads(line)["jsonrpc"] for line in self.lines] == ["2.0"] * len(self.lines)
        return code


@contextlib.asynccontextmanager
async def served(*, env: Mapping[str, str] | None = None, command: list[str] | None = None) -> AsyncIterator[Peer]:
    """Start a server; kill what is left of it afterwards."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(command or SERVER), stdin=pipe, stdout=pipe, stderr=pipe, env=environment_of(env), limit=64 * 1024 * 1024
    )
    peer = Peer(process)
    try:
        yield peer
    finally:
        if process.returncode is None:
            process.kill()
        try:
            await asyncio.gather(peer._reading, return_exceptions=True)
            await process.wait()
        finally:
            process._transport.close()  # type: ignore[attr-defined]


LISTED = (initialize(), INITIALIZED, request(1, "tools/list"))  # after which the SDK is being loaded


async def ready(peer: Peer) -> None:
    """Bring a session to where the SDK serves it."""
    await peer.send(*LISTED)
    assert (await peer.ask(request("ready", "prompts/list")))["result"]["prompts"][0]["name"] == "research"


def searching(world: World, answer: Any = None) -> dict[str, str]:
    """Return the environment of a server whose searches are answered by `world`."""
    services = fakes(world, searxng=answer or found("one"))
    return {**services.environment("searxng"), "WEBSEAM_SEARCH_PROVIDER": "searxng"}
