"""Proxies as a network may have them: HTTP with CONNECT and with whole URLs, and SOCKS 5."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from urllib.parse import urlsplit

from tests.world.server import Connection


async def _join(connection: Connection, host: str, port: int, first: bytes = b"") -> None:
    """Carry bytes both ways until one side ends."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(first)

    async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
        target.close()

    try:
        await asyncio.gather(carry(connection.reader, writer), carry(reader, connection.writer))
    finally:
        writer.transport.abort()


class HttpProxy:
    """An HTTP proxy that carries everything to `port` of loopback, whatever the name.

    Attributes:
        asked: the request line's method and target of each request.
        fields: the headers of each request.
    """

    def __init__(self, port: int, *, account: str = "", answer: bytes | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.fields: list[dict[str, str]] = []
        self._port = port
        self._expected = f"Basic {base64.b64encode(account.encode()).decode()}" if account else None
        self._answer = answer

    async def __call__(self, connection: Connection) -> None:
        request = await connection.request()
        if request is None:
            return
        self.asked.append((request.method, request.target))
        self.fields.append(request.headers)
        if self._answer is not None:
            await connection.send(self._answer)
        elif request.headers.get("proxy-authorization") != self._expected:
            await connection.send(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif request.method == "CONNECT":
            await connection.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _join(connection, "127.0.0.1", self._port)
        else:
            path = urlsplit(request.target).path
            fields = "".join(f"{name}: {value}\r\n" for name, value in request.fields if not name.startswith("Proxy"))
            head = f"{request.method} {path} HTTP/1.1\r\n{fields}\r\n".encode()
            await _join(connection, "127.0.0.1", self._port, head + request.body)


class SocksProxy:
    """A SOCKS 5 proxy that carries everything to `port` of loopback, whatever the name.

    Attributes:
        asked: the kind of address (1 IPv4, 3 name, 4 IPv6), the address and the port of each request.
        accounts: every user name and password that was given.
    """

    def __init__(self, port: int, *, method: int = 0, accepts: bool = True, reply: int = 0, kind: int = 1) -> None:
        self.asked: list[tuple[int, bytes, int]] = []
        self.accounts: list[tuple[str, str]] = []
        self._port = port
        self._method = method
        self._accepts = accepts
        self._reply = reply
        self._kind = kind

    async def __call__(self, connection: Connection) -> None:
        read = connection.reader.readexactly
        await read((await read(2))[1])
        await connection.send(bytes([5, self._method]))
        if self._method == 2:
            user = (await read((await read(2))[1])).decode()
            password = (await read((await read(1))[0])).decode()
            self.accounts.append((user, password))
            await connection.send(bytes([1, 0 if self._accepts else 1]))
        with contextlib.suppress(asyncio.IncompleteReadError):  # a client that was refused has left
            kind = (await read(4))[3]
            address = await read({1: 4, 4: 16}.get(kind) or (await read(1))[0])
            self.asked.append((kind, address, int.from_bytes(await read(2), "big")))
            bound = {1: bytes(4), 4: bytes(16), 3: b"\x04here"}[self._kind]
            for byte in bytes([5, self._reply, 0, self._kind]) + bound + bytes(2):
                await connection.send(bytes([byte]))
            if self._reply == 0:
                await _join(connection, "127.0.0.1", self._port)
