"""The two things a raw server is made of: a connection to play on, and a request that came in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote


@dataclass(frozen=True)
class Recorded:
    """A request as a server received it. Header names are in lower case; of a repeated one the last value counts."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    fields: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def path(self) -> str:
        """The path, percent-decoded."""
        return unquote(self.target.partition("?")[0])

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters of the query."""
        return parse_qs(self.target.partition("?")[2], keep_blank_values=True)

    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


Play = Callable[["Connection"], Awaitable[None]]


class Connection:
    """One accepted connection.

    Attributes:
        gone: set once the client has closed its side, or broken the connection off.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.gone = asyncio.Event()

    async def request(self) -> Recorded | None:
        """Read one request, body included; None when the client has closed the connection instead."""
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone.set()
            return None
        line, *rest = head.split("\r\n")
        method, target, _ = line.split(" ")
        fields = tuple((name, value.strip()) for name, _, value in (text.partition(":") for text in rest if text))
        headers = {name.lower(): value for name, value in fields}
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return Recorded(method, target, headers, body, fields)

    async def send(self, data: bytes) -> None:
        """Write bytes as they are; raises ConnectionError when the client has gone."""
        self.writer.write(data)
        await self.writer.drain()

    async def until_gone(self) -> None:
        """Say nothing until the client closes the connection."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(65_536):
                pass
        self.gone.set()

    def reset(self) -> None:
        """Break the connection off with RST instead of FIN."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def close(self) -> None:
        """Close the connection after what was sent."""
        self.writer.close()
        with contextlib.suppress(OSError):  # the client was faster, or less polite
            await self.writer.wait_closed()


def reply(*pieces: bytes, then: str = "close") -> Play:
    """Return a handler that reads one request, sends `pieces` one by one, and then ends: "close", "reset" or "hold"."""

    async def play(connection: Connection) -> None:
        await connection.request()
        for piece in pieces:
            await connection.send(piece)
        if then == "reset":
            connection.reset()
        elif then == "hold":
            await connection.until_gone()

    return play


def repeat(first: bytes, piece: bytes, *, pause: float = 0.0) -> Play:
    """Return a handler that reads one request, sends `first`, and then `piece` again and again for ever."""

    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(first)
        while True:
            await connection.send(piece)
            await asyncio.sleep(pause)

    return play
