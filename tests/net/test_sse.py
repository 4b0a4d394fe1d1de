"""Event streams, by the rules of the HTML standard and however they are cut."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.world import Connection, World
from webseam.errors import Outcome, TransportError
from webseam.net.sse import MAX_EVENT, Event, EventParser, EventTooLarge, events


@pytest.mark.parametrize(
    "stream, expected",
    [
        pytest.param(b"data: one\n\ndata: two\n\n", [("message", "one"), ("message", "two")], id="LF"),
        pytest.param(b"data: one\r\n\r\ndata: two\r\n\r\n", [("message", "one"), ("message", "two")], id="CRLF"),
        pytest.param(b"data: one\r\rdata: two\r\r", [("message", "one"), ("message", "two")], id="CR"),
        pytest.param(b"data: a\rdata: b\r\ndata: c\n\r\n", [("message", "a\nb\nc")], id="mixed-line-ends"),
        pytest.param(b"event: add\ndata: 1\n\ndata: 2\n\n", [("add", "1"), ("message", "2")], id="event-name"),
        pytest.param(b"data:  two spaces\n\n", [("message", " two spaces")], id="one-space-is-dropped"),
        pytest.param(b"data:none\n\n", [("message", "none")], id="no-space"),
        pytest.param(b"data\n\n", [("message", "")], id="field-without-colon"),
        pytest.param(b"data\ndata\n\n", [("message", "\n")], id="two-empty-lines"),
        pytest.param(b": ping\n\n:\n\ndata: x\n\n", [("message", "x")], id="comments"),
        pytest.param(b"event: only\n\ndata: x\n\n", [("message", "x")], id="event-without-data"),
        pytest.param(b"retry: 5\nfoo: bar\ndata: x\n\n", [("message", "x")], id="other-fields"),
        pytest.param(b"\xef\xbb\xbfdata: x\n\n", [("message", "x")], id="byte-order-mark"),
        pytest.param("data: grün 🌍\n\n".encode(), [("message", "grün 🌍")], id="UTF-8"),
        pytest.param(b"data: \xff\n\n", [("message", "\ufffd")], id="not-UTF-8"),
        pytest.param(b"data: x\n", [], id="cut-before-the-blank-line"),
        pytest.param(b"data: x\n\ndata: y", [("message", "x")], id="cut-in-a-line"),
        pytest.param(b"", [], id="empty"),
        pytest.param(
            "data: a\u2028b\u0085c\n\n".encode(), [("message", "a\u2028b\u0085c")], id="other-line-separators"
        ),
    ],
)
def test_a_stream_is_read_by_the_standard(stream: bytes, expected: list[tuple[str, str]]) -> None:
    assert [(event.event, event.data) for event in events(stream)] == expected


def test_the_id_stays_until_it_is_set_again() -> None:
    found = events(b"id: 1\ndata: a\n\ndata: b\n\nid: no\0id\ndata: c\n\nid\ndata: d\n\n")
    assert [(event.id, event.data) for event in found] == [("1", "a"), ("1", "b"), ("1", "c"), ("", "d")]


def test_an_event_knows_where_it_ends() -> None:
    stream = b"data: a\n\ndata: b\r\n\r\n"
    assert events(stream) == [Event("a", end=9), Event("b", end=len(stream) - 1)]


pieces = st.lists(
    st.one_of(
        st.sampled_from(
            [b"\n", b"\r", b"\r\n", b"data", b":", b" ", b"event: x\n", b"id: 7\n", b"\n\n", b"\xef\xbb\xbf", b"\0"]
        ),
        st.binary(max_size=6),
        st.text(max_size=4).map(lambda text: text.encode("utf-8", "replace")),
    ),
    max_size=40,
).map(b"".join)


@given(stream=pieces, cuts=st.lists(st.integers(0, 200), max_size=12))
def test_cutting_a_stream_anywhere_changes_nothing(stream: bytes, cuts: list[int]) -> None:
    parser, found = EventParser(), []
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for start, end in itertools.pairwise(edges):
        found += list(parser.feed(stream[start:end]))
    assert found == events(stream)


@given(stream=pieces)
def test_one_byte_at_a_time_changes_nothing(stream: bytes) -> None:
    parser = EventParser()
    assert [event for byte in stream for event in parser.feed(bytes([byte]))] == events(stream)


@given(stream=pieces)
def test_a_stream_cut_at_the_end_of_an_event_still_has_it(stream: bytes) -> None:
    found = events(stream)
    for number, event in enumerate(found):
        assert events(stream[: event.end]) == found[: number + 1]


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(b"data: " + b"x" * 200, id="one-line"),
        pytest.param(b"data: xxxxxxxxx\n" * 20, id="many-lines"),
        pytest.param(b": " + b"x" * 200, id="comment"),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 1000])
def test_an_event_that_is_too_long_is_refused_after_those_before_it(stream: bytes, step: int) -> None:
    parser, found = EventParser(max_event=100), []
    whole = b"data: fine\n\n" + stream

    def read() -> None:
        for start in range(0, len(whole), step):
            for event in parser.feed(whole[start : start + step]):
                found.append(event.data)

    with pytest.raises(EventTooLarge):
        read()
    assert found == ["fine"]


def test_many_events_and_comments_together_may_be_longer_than_one() -> None:
    parser = EventParser(max_event=100)
    assert len(list(parser.feed(b": ping ping ping\ndata: xxxxxxxxxxxx\n\n" * 50))) == 50


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n\r\n"


async def test_reading_stops_at_the_event_that_is_enough_and_closes_the_connection() -> None:
    closed = asyncio.Event()

    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(STREAM + b": hello\n\ndata: first\n\ndata: last\n\ndata: never wanted\n\n")
        await connection.until_gone()
        closed.set()

    async with World() as world:
        client = world.client()
        response = await world.send("GET", world.serve(play) + "/", client=client, stop_at=lambda data: data == "last")
        assert response.body == b": hello\n\ndata: first\n\ndata: last\n\n"
        assert (response.truncated, client.open_connections) == (False, 0)
        await closed.wait()


async def test_a_stream_that_never_has_the_wanted_event_is_read_to_its_end() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {"Content-Type": "text/event-stream"}, "data: 1\n\n"))
        response = await world.send("GET", url, stop_at=lambda data: False)
        assert response.body == b"data: 1\n\n"


async def test_an_answer_that_is_no_event_stream_is_read_whole() -> None:
    async with World() as world:
        for kind in ({"Content-Type": "text/plain"}, {}):
            url = world.route("GET", "/", (200, kind, "data: 1\n\ndata: 2\n\n"))
            response = await world.send("GET", url, stop_at=lambda data: True)
            assert response.body == b"data: 1\n\ndata: 2\n\n"


async def test_an_event_beyond_the_cap_is_a_bad_response() -> None:
    async with World() as world:
        body = b"data: 1\n\ndata: " + b"x" * MAX_EVENT
        url = world.route("GET", "/", (200, {"Content-Type": "text/event-stream"}, body))
        error = await world.fail("GET", url, stop_at=lambda data: False)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, "event_too_large", "body")


async def test_a_stream_may_be_compressed() -> None:
    import gzip

    async with World() as world:
        body = gzip.compress(b"data: 1\n\ndata: 2\n\n")
        url = world.route("GET", "/", (200, {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}, body))
        response = await world.send("GET", url, stop_at=lambda data: data == "1")
        assert response.body == b"data: 1\n\n"
