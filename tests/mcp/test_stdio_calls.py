"""Many calls of one session at once, and calls that the client takes back."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from typing import Any

import pytest

from tests.mcp.peer import LISTED, Message, Peer, call, modern, ready, served, text_of
from tests.search.world import found
from tests.world import Connection, World
from tests.world.site import answer_bytes

# The server, which on a signal says on standard error what it holds: tasks, connections, child processes, pipes.
WATCHED = """
import asyncio, gc, json, signal, sys, threading
import psutil

def report(number, frame):
    from webseam.web import AsyncWeb
    (web,) = [one for one in gc.get_objects() if isinstance(one, AsyncWeb)]
    holds = {
        "tasks": len(asyncio.all_tasks(asyncio.get_running_loop())),
        "connections": web.open_connections,
        "children": len(psutil.Process().children(recursive=True)),
        "pipes": psutil.Process().num_fds() - len(psutil.Process().open_files()) - web.open_connections,
    }
    print(json.dumps(holds), file=sys.stderr, flush=True)

signal.signal(signal.SIGUSR1, report)
from webseam.fronts.cli import main
sys.argv = ["webseam", "mcp"]
sys.exit(main())
"""


class Service:
    """A search service that answers each query when it is told to.

    Attributes:
        at: the connection each query came over.
        left: queries whose connection the client closed before the answer.
    """

    def __init__(self) -> None:
        self.at: dict[str, Connection] = {}
        self.left: set[str] = set()
        self.open = asyncio.Event()
        self._changed = asyncio.Condition()

    async def __call__(self, connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            query = request.query["q"][0]
            self.at[query] = connection
            await self._tell()
            leaving = asyncio.ensure_future(connection.reader.read(1))
            opening = asyncio.ensure_future(self.open.wait())
            await asyncio.wait([leaving, opening], return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                opening.cancel()
                self.left.add(query)
                connection.gone.set()
                await self._tell()
                return
            leaving.cancel()
            await asyncio.wait([leaving])
            await connection.send(answer_bytes(*found(query)))

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def until(self, *, arrived: int = 0, left: int = 0) -> None:
        """Wait until so many queries have come, and so many have been given up."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.at) >= arrived and len(self.left) >= left)


def searched_at(url: str) -> dict[str, str]:
    return {"SEARXNG_URL": url, "WEBSEAM_SEARCH_PROVIDER": "searxng"}


def cancelled(number: int | str) -> Message:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "enough"}}


def search(number: int | str, era: str = "handshake") -> Message:
    arguments = {"query": f"q{number}", "count": 1}
    if era == "modern":
        return modern(number, "tools/call", name="web_search", arguments=arguments)
    return call(number, "web_search", **arguments)


async def held(peer: Peer) -> Any:
    """Return what the server says that it holds."""
    peer.process.send_signal(signal.SIGUSR1)
    return json.loads(await peer.said())


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_call_that_is_taken_back_stops_upstream_and_is_not_answered(era: str) -> None:
    service = Service()
    async with World() as world, served(env=searched_at(world.serve(service))) as peer:
        if era == "handshake":
            await ready(peer)
        await peer.send(search("long", era))
        await service.until(arrived=1)
        await peer.send(cancelled("long"))
        await service.until(left=1)
        service.open.set()
        assert "https://example.org/qnext" in text_of(await peer.ask(search("next", era)))
        assert (await peer.leave(), peer.err) == (0, "")
    assert [one for one in peer.messages if one["id"] == "long"] == []


async def test_a_call_that_is_taken_back_before_the_server_is_loaded_is_not_answered() -> None:
    service = Service()
    async with World() as world, served(env=searched_at(world.serve(service))) as peer:
        service.open.set()
        await peer.send(*LISTED, search("early"), cancelled("early"), search("next"))
        assert "https://example.org/qnext" in text_of(await peer.answer("next"))
        assert (await peer.leave(), peer.err) == (0, "")
    assert [one for one in peer.messages if one["id"] == "early"] == []


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_of_fifty_calls_at_once_a_third_is_taken_back_and_the_rest_is_right(era: str) -> None:
    numbers = range(100, 150)
    taken_back = [number for number in numbers if number % 3 == 0]
    kept = [number for number in numbers if number % 3]
    service = Service()
    async with World() as world:
        command = [sys.executable, "-c", WATCHED]
        async with served(env=searched_at(world.serve(service)), command=command) as peer:
            if era == "handshake":
                await ready(peer)
            service.open.set()
            await peer.ask(search("first", era))  # from here on everything is loaded
            before = await held(peer)
            service.open.clear()

            await peer.send(*(search(number, era) for number in numbers))
            await service.until(arrived=1 + len(numbers))
            during = await held(peer)
            await peer.send(*map(cancelled, taken_back))
            await service.until(left=len(taken_back))
            service.open.set()
            answers = {number: text_of(await peer.answer(number)) for number in kept}

            await peer.ask(search("last", era))
            after = await held(peer)
            assert await peer.leave() == 0
            assert len(peer.err.splitlines()) == 3  # what it held, three times
        for connection in world.connections:
            await connection.gone.wait()
    assert service.left == {f"q{number}" for number in taken_back}
    assert {number: f"https://example.org/q{number}\n" in text for number, text in answers.items()} == dict.fromkeys(
        kept, True
    )
    assert [one["id"] for one in peer.messages if one.get("id") in taken_back] == []
    assert during["connections"] >= len(numbers)
    assert during["tasks"] > before["tasks"]
    assert {**after, "connections": 0} == {**before, "connections": 0}
    assert after["connections"] <= len(kept)
