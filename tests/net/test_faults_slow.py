"""Servers that are never quite silent: rows 15 to 18. A timeout between two reads would not end any of them."""

from __future__ import annotations

import asyncio

import pytest

from tests.world import Connection, Play, World, repeat
from webseam.errors import Outcome, TransportError

PAUSE = 0.02  # seconds; far below the deadline, which is what the rows are about


def drip(data: bytes) -> Play:
    """Return a handler that answers with one byte after the other, and holds the connection after the last."""

    async def play(connection: Connection) -> None:
        await connection.request()
        for position in range(len(data)):
            await connection.send(data[position : position + 1])
            await asyncio.sleep(PAUSE)
        await connection.until_gone()

    return play


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize(
    "play, phase",
    [
        pytest.param(drip(b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 10_000), "first_byte", id="row-15-header-bytes"),
        pytest.param(repeat(b"HTTP/1.1 200 OK\r\n\r\n", b"x", pause=PAUSE), "body", id="row-16-body-bytes"),
        pytest.param(
            repeat(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", pause=0.1), "first_byte", id="row-17-slow-early-hints"
        ),
        pytest.param(repeat(HEAD, b": ping\n\n", pause=PAUSE), "body", id="row-18-event-stream-pings"),
    ],
)
@pytest.mark.parametrize("overflow", ["refuse", "truncate"])
async def test_the_deadline_ends_a_server_that_trickles(play: Play, phase: str, overflow: str) -> None:
    async with World() as world:
        client = world.client()
        url = world.serve(play) + "/"
        error = await world.fail("GET", url, client=client, within=0.4, overflow=overflow, stop_at=lambda data: False)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.TIMEOUT, "deadline", phase)
        assert client.open_connections == 0


async def test_row_17_more_than_twenty_interim_answers_are_a_bad_response() -> None:
    async with World() as world:
        error = await world.fail(
            "GET", world.serve(repeat(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")) + "/"
        )
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, "interim", "first_byte")


async def test_row_17_a_few_interim_answers_are_passed_over() -> None:
    async def play(connection: Connection) -> None:
        await connection.request()
        data = (
            b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 20 + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        )
        for start in range(0, len(data), 37):  # cut at places that have nothing to do with lines
            await connection.send(data[start : start + 37])
            await asyncio.sleep(0)

    async with World() as world:
        assert (await world.send("GET", world.serve(play) + "/")).body == b"ok"


@pytest.mark.parametrize(
    "first", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]
)
async def test_a_server_faster_than_the_reader_does_not_hold_up_the_deadline_nor_other_tasks(first: bytes) -> None:
    async with World() as world:
        url = world.serve(repeat(first, (b"1\r\nx\r\n" if b"chunked" in first else b"x") * 20_000))
        error = await world.fail("GET", url + "/", within=0.5, max_bytes=10**12)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.phase) == (Outcome.TIMEOUT, "body")
