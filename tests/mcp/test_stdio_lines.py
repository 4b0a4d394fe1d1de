"""Cutting what a client sends into lines, however it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.fronts.mcp.wire import Lines


def cut(chunks: list[bytes], most: int) -> list[bytes | None]:
    lines = Lines(most)
    return [*(line for chunk in chunks for line in lines.feed(chunk)), *lines.rest()]


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        pytest.param([b"one\ntwo\n"], [b"one", b"two"], id="two at once"),
        pytest.param([b"o", b"n", b"e\nt", b"wo", b"\n"], [b"one", b"two"], id="in pieces"),
        pytest.param([b"one\r\n\r\n \t\n\ntwo\n"], [b"one", b"two"], id="other ends and empty lines"),
        pytest.param([b"one\nha", b"lf"], [b"one", b"half"], id="half a line at the end"),
        pytest.param([b"12345678\n"], [b"12345678"], id="as long as allowed"),
        pytest.param([b"123456789\nnext\n"], [None, b"next"], id="one byte longer"),
        pytest.param([b"12345", b"6789", b"0" * 100, b"\n", b"next\n"], [None, b"next"], id="longer, in pieces"),
        pytest.param([b"123456789"], [None], id="longer, and no end"),
        pytest.param([b"one", b"\n\xff\n"], [b"one", b"\xff"], id="any bytes"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_lines_come_out_whole_and_in_order(chunks: list[bytes], lines: list[bytes | None]) -> None:
    assert cut(chunks, 8) == lines


@given(st.lists(st.binary(max_size=12) | st.sampled_from([b"\n", b"ab\ncd", b"\r\n"]), max_size=12), st.integers(1, 12))
def test_it_does_not_matter_where_the_pieces_end(chunks: list[bytes], most: int) -> None:
    whole = b"".join(chunks)
    stripped = [line if len(line) > most else line.strip(b" \t\r") for line in whole.split(b"\n")]
    assert cut(chunks, most) == [None if len(line) > most else line for line in stripped if line]
