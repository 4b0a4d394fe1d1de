"""Servers that send strange headers: rows 20 to 31."""

from __future__ import annotations

import pytest

from tests.world import World, reply
from webseam.errors import Outcome, TransportError

LINE = b"HTTP/1.1 200 OK\r\n"
END = b"Content-Length: 2\r\n\r\nok"


@pytest.mark.parametrize(
    "answer, kind",
    [
        pytest.param(LINE + b"X: " + b"x" * (12 * 2**20), "headers_too_large", id="row-20-12-MiB-line"),
        pytest.param(LINE + b"X: y\r\n" * 200_000 + END, "headers_too_large", id="row-21-200,000-headers"),
        pytest.param(LINE + b"X: y\r\n" * 9_000 + END, "headers_too_large", id="row-22-9,000-headers"),
        pytest.param(LINE + b"X: y\r\n" * 256 + END, "headers_too_large", id="row-22-one-too-many"),
        pytest.param(LINE + b"Set-Cookie: a=b\r\n" * 1_500 + END, "headers_too_large", id="row-23-1,500-cookies"),
        pytest.param(LINE + b"X: a\x00b\r\n" + END, "malformed", id="row-24-NUL"),
        pytest.param(LINE + b"no colon here\r\n" + END, "malformed", id="row-24-no-colon"),
        pytest.param(b"HTTP/1.1 abc OK\r\n" + END, "malformed", id="row-26-status-abc"),
        pytest.param(b"HTTP/1.1 099 OK\r\n" + END, "malformed", id="row-26-status-099"),
        pytest.param(b"HTTP/9.9.9 200 OK\r\n" + END, "malformed", id="version"),
        pytest.param(LINE + b"Content-Length: 3\r\n" + END, "framing", id="row-28-two-lengths"),
        pytest.param(LINE + b"Content-Length: -1\r\n\r\n", "framing", id="row-28-negative"),
        pytest.param(LINE + b"Content-Length: two\r\n\r\n", "framing", id="row-28-no-number"),
        pytest.param(LINE + b"Transfer-Encoding: gzip\r\n\r\nok", "framing", id="unknown-transfer-encoding"),
        pytest.param(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", "protocol_switch", id="row-30-101"
        ),
    ],
)
async def test_headers_that_cannot_be_used_are_a_bad_response(answer: bytes, kind: str) -> None:
    async with World() as world:
        client = world.client()
        error = await world.fail("GET", world.serve(reply(answer)) + "/", client=client)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, kind, "first_byte")
        assert error.detail.startswith("127.0.0.1:")
        assert client.open_connections == 0


async def test_row_22_as_many_headers_as_are_allowed_are_read() -> None:
    async with World() as world:
        response = await world.send("GET", world.serve(reply(LINE + b"X: y\r\n" * 255 + END)) + "/")
        assert (response.body, response.headers.get_all("x")) == (b"ok", ["y"] * 255)


async def test_row_23_cookies_are_ignored() -> None:
    async with World() as world:
        answer = LINE + b"Set-Cookie: a=b\r\n" * 200 + END
        response = await world.send("GET", world.serve(reply(answer)) + "/")
        assert response.body == b"ok"


@pytest.mark.parametrize(
    "field, value",
    [
        pytest.param(b"X: one\r\n two\r\n", "one two", id="row-25-folded"),
        pytest.param(b"X: one\n", "one", id="row-25-bare-LF"),
        pytest.param("X: café\r\n".encode(), "café", id="row-25-UTF-8"),
        pytest.param(b"X: caf\xe9\r\n", "café", id="row-25-Latin-1"),
        pytest.param(b"X: a\x1b[2Jb\r\n", "ab", id="row-31-clear-screen"),
        pytest.param(b"X: \x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\\r\n", "link", id="row-31-OSC-8"),
        pytest.param("X: a\u202eb\r\n".encode(), "ab", id="direction-mark"),
    ],
)
async def test_odd_values_are_read_and_cleaned(field: bytes, value: str) -> None:
    async with World() as world:
        response = await world.send("GET", world.serve(reply(LINE + field + END)) + "/")
        assert (response.body, response.headers.get("X")) == (b"ok", value)


async def test_row_25_lines_that_end_in_bare_lf_alone_are_read() -> None:
    async with World() as world:
        response = await world.send("GET", world.serve(reply(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok")) + "/")
        assert response.body == b"ok"


@pytest.mark.parametrize("status", [418, 451, 599, 999, 404, 500])
async def test_row_27_any_status_of_three_digits_is_handed_on(status: int) -> None:
    async with World() as world:
        response = await world.send("GET", world.serve(reply(b"HTTP/1.1 %d Odd\r\n" % status + END)) + "/")
        assert (response.status, response.body) == (status, b"ok")


async def test_row_29_a_length_beside_chunks_is_ignored_and_the_connection_not_used_again() -> None:
    async with World() as world:
        answer = LINE + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        url = world.serve(reply(answer, then="hold"))
        client = world.client()
        response = await world.send("GET", url + "/", client=client)
        assert (response.body, client.open_connections) == (b"ok", 0)


async def test_row_31_a_control_sequence_in_a_broken_header_does_not_reach_the_error() -> None:
    async with World() as world:
        error = await world.fail("GET", world.serve(reply(LINE + b"\x1b[2Jno colon\r\n\r\n")) + "/")
        assert isinstance(error, TransportError)
        assert error.kind == "malformed"
        assert error.detail.isprintable()
