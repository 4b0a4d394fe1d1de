"""Where connections are really opened to: every dial is recorded, and lands on a server of the test.

The event loop's own `create_connection` is the last Python function that still knows the address; what it is called
with is what would be dialled. Beside it every `socket.connect` of the process is kept, so that a connection which took
another way would be seen, too.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.world import Connection, Recorded, Site, World, answer_bytes


class Dialled:
    """A web in which all addresses lead to servers of this test.

    Attributes:
        addresses: each address and port that was dialled, in order.
        strays: the targets of sockets that were connected by any other way.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, play: Callable[[Connection], Any]) -> None:
        self.addresses: list[tuple[str, int]] = []
        self.strays: list[Any] = []
        self._play = play
        self._monkeypatch = monkeypatch
        self._landing: dict[bool, int] = {}
        self._tls_ports = {443}

    def open(self, world: World, *hosts: str, tls: bool = True) -> None:
        """Begin to record, in the event loop that runs; `hosts` get certificates, and without `tls` 443 is plain."""
        self._landing[False] = _port_of(world.serve(self._play))
        if tls and hosts:
            named = [host.replace("_", "-") for host in hosts]  # no certificate can be made for the other
            self._landing[True] = _port_of(world.serve(self._play, tls=world.certificate(*named)))
        loop = asyncio.get_running_loop()
        create_connection, connect = loop.create_connection, socket.socket.connect

        async def land(factory: Any, host: str, port: int) -> Any:
            self.addresses.append((host, port))
            over_tls = port in self._tls_ports and True in self._landing
            return await create_connection(factory, "127.0.0.1", self._landing[over_tls])

        def watched(one: socket.socket, target: Any) -> None:
            if target not in [("127.0.0.1", port) for port in self._landing.values()]:
                self.strays.append(target)
            connect(one, target)

        self._monkeypatch.setattr(loop, "create_connection", land)
        self._monkeypatch.setattr(socket.socket, "connect", watched)


def _port_of(url: str) -> int:
    return urlsplit(url).port or 0


def page_behind(hops: list[str], answer: tuple[int, dict[str, str], str]) -> Callable[[Connection], Any]:
    """Return a handler that redirects once for each of `hops`, whatever was asked for, and then gives `answer`."""
    waiting = list(hops)

    async def play(connection: Connection) -> None:
        while await connection.request() is not None:
            if waiting:
                location = waiting.pop(0).encode().decode("latin-1")
                await connection.send(answer_bytes(302, {"Location": location}, ""))
            else:
                await connection.send(answer_bytes(*answer))

    return play


def by_path(routes: dict[str, Any], asked: list[Recorded]) -> Callable[[Connection], Any]:
    """Return a handler that answers by path, whatever the host, and keeps what was asked for."""
    site = Site()
    for path, answer in routes.items():
        site.route("GET", path, answer)
    site.requests = asked
    return site
