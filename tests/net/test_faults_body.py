"""Servers whose bodies do not end where they say: rows 32 to 40."""

from __future__ import annotations

import pytest

from tests.world import Connection, Play, World, answer_bytes, repeat, reply
from webseam.errors import Outcome, TransportError

LINE = b"HTTP/1.1 200 OK\r\n"
CHUNKED = LINE + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = [
    pytest.param(repeat(LINE + b"\r\n", b"x" * 50_000), id="row-32-no-length"),
    pytest.param(repeat(CHUNKED, b"3e8\r\n" + b"x" * 1000 + b"\r\n"), id="row-33-chunks"),
]


@pytest.mark.parametrize("play", ENDLESS)
async def test_an_endless_body_is_cut_at_the_cap_where_that_is_allowed(play: Play) -> None:
    async with World() as world:
        client = world.client()
        url = world.serve(play) + "/"
        response = await world.send("GET", url, client=client, overflow="truncate", max_bytes=123_456)
        assert (response.body == b"x" * 123_456, response.truncated) == (True, True)
        assert client.open_connections == 0


@pytest.mark.parametrize("play", ENDLESS)
async def test_an_endless_body_is_refused_otherwise(play: Play) -> None:
    async with World() as world:
        error = await world.fail("GET", world.serve(play) + "/", max_bytes=123_456)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.UNSUPPORTED, "too_large", "body")
        assert "at most 123,456 bytes" in error.detail


async def test_row_34_an_absurd_length_is_refused_from_the_headers_alone() -> None:
    async with World() as world:
        url = world.serve(reply(LINE + b"Content-Length: 99999999999999\r\n\r\n", then="hold"))
        error = await world.fail("GET", url + "/")
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.UNSUPPORTED, "too_large", "first_byte")
        assert "99,999,999,999,999 bytes" in error.detail


async def test_a_body_of_exactly_the_cap_is_whole() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {}, "x" * 100))
        for overflow in ("refuse", "truncate"):
            response = await world.send("GET", url, max_bytes=100, overflow=overflow)
            assert (len(response.body), response.truncated) == (100, False)


@pytest.mark.parametrize(
    "answer, kind",
    [
        pytest.param(LINE + b"Content-Length: 10\r\n\r\nshort", "truncated", id="row-35-short"),
        pytest.param(CHUNKED + b"zz\r\nok\r\n0\r\n\r\n", "truncated", id="row-37-bad-chunk-size"),
        pytest.param(CHUNKED + b"2\r\nok\r\n", "truncated", id="row-37-no-last-chunk"),
        pytest.param(CHUNKED + b"2\r\nokX\r\n0\r\n\r\n", "truncated", id="row-37-chunk-longer-than-it-says"),
        pytest.param(CHUNKED + b"2;" + b"x" * (12 * 2**20), "headers_too_large", id="row-38-12-MiB-extension"),
        pytest.param(
            CHUNKED + b"2\r\nok\r\n0\r\n" + b"X: y\r\n" * 100_000 + b"\r\n", "headers_too_large", id="row-38-trailers"
        ),
    ],
)
@pytest.mark.parametrize("overflow", ["refuse", "truncate"])
async def test_a_body_that_does_not_arrive_whole_is_never_returned(answer: bytes, kind: str, overflow: str) -> None:
    async with World() as world:
        client = world.client()
        error = await world.fail("GET", world.serve(reply(answer)) + "/", client=client, overflow=overflow)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, kind, "body")
        assert client.open_connections == 0


FORGED = answer_bytes(200, {}, "forged")


@pytest.mark.parametrize(
    "answer, body",
    [
        pytest.param(LINE + b"Content-Length: 2\r\n\r\nok" + FORGED, b"ok", id="row-36-longer-than-its-length"),
        pytest.param(LINE + b"Content-Length: 2\r\n\r\nokX", b"ok", id="row-36-one-byte"),
        pytest.param(CHUNKED + b"2\r\nok\r\n0\r\n\r\n" + FORGED, b"ok", id="row-36-behind-the-last-chunk"),
        pytest.param(CHUNKED + b"2\r\nok\r\n0\r\n\r\nHTTP/1.1 200", b"ok", id="row-36-half-an-answer"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\nbody", b"", id="row-39-204"),
        pytest.param(b"HTTP/1.1 304 Not Modified\r\n\r\n" + FORGED, b"", id="row-39-304"),
        pytest.param(b"HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n", b"", id="204-with-a-coding"),
    ],
)
async def test_bytes_after_the_end_are_dropped_and_never_taken_for_the_next_answer(answer: bytes, body: bytes) -> None:
    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(answer if len(world.connections) == 1 else answer_bytes(200, {}, "genuine"))
        await connection.until_gone()

    async with World() as world:
        client = world.client()
        url = world.serve(play) + "/"
        assert (await world.send("GET", url, client=client)).body == body
        if "gzip" not in answer.decode("latin-1"):
            assert (await world.send("GET", url, client=client)).body == b"genuine"


async def test_row_36_an_answer_that_was_there_before_the_question_is_not_taken() -> None:
    chunked = CHUNKED + b"6\r\nforged\r\n0\r\n\r\n"

    async def play(connection: Connection) -> None:
        await connection.request()
        if len(world.connections) == 1:
            await connection.send(CHUNKED + b"2\r\nok\r\n0\r\n\r\n" + chunked)  # ends as a whole answer does
        else:
            await connection.send(answer_bytes(200, {}, "genuine"))
        await connection.until_gone()

    async with World() as world:
        client = world.client()
        url = world.serve(play) + "/"
        bodies = [(await world.send("POST", url, client=client)).body for _ in range(2)]
        assert (bodies, len(world.connections)) == ([b"ok", b"genuine"], 2)


async def test_a_chunked_answer_leaves_its_connection_for_the_next() -> None:
    async def play(connection: Connection) -> None:
        while await connection.request():
            for piece in (CHUNKED, b"2\r\nok\r\n", b"0\r\n", b"\r\n"):
                await connection.send(piece)

    async with World() as world:
        client = world.client()
        url = world.serve(play) + "/"
        bodies = [(await world.send("GET", url, client=client)).body for _ in range(3)]
        assert (bodies, len(world.connections)) == ([b"ok"] * 3, 1)


PART = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nok"


async def test_row_40_a_part_nobody_asked_for_is_a_bad_response_or_marked_as_truncated() -> None:
    async with World() as world:
        url = world.serve(reply(PART)) + "/"
        error = await world.fail("GET", url)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, "truncated", "first_byte")
        response = await world.send("GET", url, overflow="truncate")
        assert (response.status, response.body, response.truncated) == (206, b"ok", True)


async def test_row_40_a_part_that_was_asked_for_is_whole() -> None:
    async with World() as world:
        url = world.serve(reply(PART)) + "/"
        response = await world.send("GET", url, headers=(("Range", "bytes=0-1"),))
        assert (response.status, response.body, response.truncated) == (206, b"ok", False)
