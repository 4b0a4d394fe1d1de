"""Row 78: cancelling reaches the socket at once, in every phase, and nothing is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.world import NEVER, Connection, World, answer_bytes, soon
from webseam.net.client import Request

Cancellable = Callable[[World, asyncio.Event], Awaitable[tuple[str, dict[str, object]]]]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def held(
    connected: asyncio.Event, answer: bytes, *, after_request: bool = True
) -> Callable[[Connection], Awaitable[None]]:
    async def play(connection: Connection) -> None:
        if after_request:
            await connection.request()
        await connection.send(answer)
        connected.set()
        await connection.until_gone()

    return play


async def in_dns(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    world.names.set("never.example.com", NEVER)
    asyncio.get_running_loop().call_soon(reached.set)
    return "http://never.example.com/", {}


async def in_connect(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    asyncio.get_running_loop().call_later(0.05, reached.set)
    return world.blackhole() + "/", {}


async def in_a_race_of_connects(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    url = world.blackhole()
    world.blackhole(address="127.0.0.2", port=int(url.rpartition(":")[2]))
    world.names.set("two.example.com", ["127.0.0.1", "127.0.0.2"])
    asyncio.get_running_loop().call_later(0.4, reached.set)  # both are being dialled by then
    return url.replace("127.0.0.1", "two.example.com") + "/", {}


async def in_tls(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    url = world.serve(held(reached, b"", after_request=False))
    return url.replace("http:", "https:") + "/", {}


async def in_the_request(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    async def play(connection: Connection) -> None:
        await connection.reader.readexactly(10)
        reached.set()
        await connection.until_gone()

    return world.serve(play) + "/", {"body": bytes(50_000_000)}


async def in_first_byte(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    return world.serve(held(reached, b"")) + "/", {}


async def in_headers(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    return world.serve(held(reached, HEAD)) + "/", {}


async def in_body(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    return world.serve(held(reached, HEAD + b"Content-Length: 99\r\n\r\nbegun")) + "/", {}


async def in_an_event_stream(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    def stop_at(data: str) -> bool:
        reached.set()
        return False

    seen = asyncio.Event()
    return world.serve(held(seen, HEAD + b"\r\ndata: 1\n\n")) + "/", {"stop_at": stop_at}


async def in_a_redirect(world: World, reached: asyncio.Event) -> tuple[str, dict[str, object]]:
    second = world.serve(held(reached, b""))
    return world.route("GET", "/", (302, {"Location": second + "/"}, "moved")), {}


PHASES = [
    in_dns,
    in_connect,
    in_a_race_of_connects,
    in_tls,
    in_the_request,
    in_first_byte,
    in_headers,
    in_body,
    in_an_event_stream,
    in_a_redirect,
]


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: f"row-78-{phase.__name__}")
async def test_cancelling_closes_the_socket_and_raises_cancelled_error(phase: Cancellable) -> None:
    async with World() as world:
        client = world.client()
        reached = asyncio.Event()
        url, options = await phase(world, reached)
        sending = asyncio.create_task(client.send(Request("GET", url, **options), expires_at=soon()))  # type: ignore[arg-type]
        await reached.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        open_now = client.open_connections
        for connection in world.connections[-1:]:  # the server sees the end without waiting for anything else
            await connection.gone.wait()
        # Only a connection that has done its work and is idle may be left, and here none is but after a redirect.
        assert open_now == (1 if phase is in_a_redirect else 0)


async def test_two_hundred_requests_of_which_some_are_cancelled_leave_nothing_behind() -> None:
    async with World() as world:
        release = asyncio.Event()
        arrived = asyncio.Semaphore(0)

        async def play(connection: Connection) -> None:
            while await connection.request():
                arrived.release()
                await release.wait()
                await connection.send(answer_bytes(200, {}, "ok"))

        url = world.serve(play)
        client = world.client()
        requests = [asyncio.create_task(client.send(Request("GET", url + "/"), expires_at=soon())) for _ in range(200)]
        for _ in range(100):
            await arrived.acquire()
        for request in requests[::10]:  # some of them have a connection, the others wait for one
            request.cancel()
        release.set()
        results = await asyncio.gather(*requests, return_exceptions=True)
        cancelled = [isinstance(result, asyncio.CancelledError) for result in results]
        assert cancelled == [number % 10 == 0 for number in range(200)]
        assert client.open_connections <= 20
        await client.aclose()
        assert client.open_connections == 0


async def test_a_cancelled_request_does_not_take_a_place_from_later_ones() -> None:
    async with World() as world:
        arrived = asyncio.Semaphore(0)

        async def play(connection: Connection) -> None:
            if await connection.request():
                arrived.release()
                await connection.until_gone()

        held_url = world.serve(play)
        free = world.route("GET", "/", (200, {}, "ok"))
        client = world.client()
        requests = [
            asyncio.create_task(client.send(Request("GET", held_url + "/"), expires_at=soon())) for _ in range(100)
        ]
        for _ in requests:
            await arrived.acquire()
        waiting = asyncio.create_task(client.send(Request("GET", free), expires_at=soon()))
        await asyncio.sleep(0)
        for request in requests:
            request.cancel()
        assert (await waiting).body == b"ok"
        await asyncio.gather(*requests, return_exceptions=True)
        assert client.open_connections == 1


async def test_a_cancelled_first_caller_does_not_spoil_the_certificates_for_the_next() -> None:
    async with World() as world:
        accepted = asyncio.Event()

        async def play(connection: Connection) -> None:
            accepted.set()
            await connection.until_gone()

        plain = world.serve(play).replace("http:", "https:")
        site = world.site(host="tls.example.com", tls=True)
        site.route("GET", "/", (200, {}, "ok"))
        client = world.client()
        first = asyncio.create_task(client.send(Request("GET", plain + "/"), expires_at=soon()))
        await accepted.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await world.send("GET", site.url + "/", client=client)).body == b"ok"
