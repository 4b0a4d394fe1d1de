"""How much memory a hostile page takes: rows 32, 33, 41, 42, 74 and 75 of the table of faults.

Each is fetched by a process of its own (see `memory`), whose growth is measured beside that of the processes that read
for it. Linux says how high they came; elsewhere nothing does, so there only the outcome is looked at.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
import pytest

from tests.cli.world import environment_of
from tests.fetch.test_pdf import assemble, make
from tests.fetch.world import PAGE
from tests.world import Connection, Play, World, answer_bytes, repeat, reply

MEBIBYTE = 2**20
ALLOWED = 100  # MiB over idle, for each process
SECONDS = 18.0  # for one fetch; a test may take 20
LINE = b"HTTP/1.1 200 OK\r\n"


def typed(media_type: str, body: bytes) -> Play:
    """Return a server of one document."""
    return reply(answer_bytes(200, {"Content-Type": media_type}, body))


def endless(media_type: str, piece: bytes, *, first: bytes = b"") -> Play:
    """Return a server whose document does not end."""
    return repeat(LINE + b"Content-Type: %b\r\n\r\n" % media_type.encode() + first, piece)


def gzipped(piece: bytes, times: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(piece) for _ in range(times)) + packer.flush()


def brotlied(piece: bytes, times: int) -> bytes:
    packer = brotli.Compressor(quality=5, lgwin=24)
    return b"".join(packer.process(piece) for _ in range(times)) + bytes(packer.finish())


def coded(coding: str, media_type: str, body: bytes) -> Play:
    return reply(answer_bytes(200, {"Content-Type": media_type, "Content-Encoding": coding}, body))


def pdf_of_many_pages() -> bytes:
    kids = " ".join(f"{number + 7} 0 R" for number in range(50_000))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>"
    pages = f"<</Type/Pages/Count 50000/Kids[{kids}]>>".encode()
    return assemble([b"<</Type/Catalog/Pages 2 0 R>>", pages, b"<<>>", b"<<>>", b"<<>>", b"<<>>", *[page] * 50_000])


def pdf_bomb() -> bytes:
    packer = zlib.compressobj(9)
    piece = b"(A) Tj " * 150_000
    return make(b"".join(packer.compress(piece) for _ in range(256)) + packer.flush())


def entities() -> bytes:
    declared = '<!ENTITY a "lol">' + "".join(
        f'<!ENTITY a{number} "{f"&a{number - 1 or str()};" * 10}">' for number in range(1, 10)
    )
    return f'<?xml version="1.0"?><!DOCTYPE l [{declared}]><l>&a9;</l>'.encode()


OK, UNSUPPORTED, BAD = {"ok"}, {"unsupported"}, {"bad_response"}
CUT_OR_REFUSED = {"ok", "unsupported", "bad_response"}


def page_of(body: bytes) -> Callable[[], Play]:
    return lambda: typed("text/html", body)


ATTRIBUTES = b" ".join(b"a%d=1" % number for number in range(200_000))
CHUNKS = LINE + b"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
PICTURE = LINE + b"Content-Type: image/svg+xml\r\nContent-Length: 209715200\r\n\r\n<svg>"
PARAGRAPHS = "".join(f"<p>Sentence {number} of a page that goes on.</p>\n" for number in range(3_000)).encode()
BOMBS: dict[str, tuple[Callable[[], Play], set[str], bool | None]] = {  # outcomes, truncated (None: either)
    "row 32-text without an end": (lambda: endless("text/plain", b"words\n" * 10_000), OK, True),
    "row 32-bytes without an end": (lambda: endless("application/x", b"\xfe\0\1" * 9_000), UNSUPPORTED, False),
    "row 32-a page without an end": (lambda: endless("text/html", PARAGRAPHS, first=b"<main>"), OK, True),
    "row 33-chunks without an end": (lambda: repeat(CHUNKS, (b"80\r\n" + b"x" * 127 + b"\n\r\n") * 500), OK, True),
    "row 41-gzip of zeros": (lambda: coded("gzip", "text/html", gzipped(bytes(MEBIBYTE), 256)), UNSUPPORTED, False),
    "row 41-gzip of text": (lambda: coded("gzip", "text/plain", gzipped(b"word " * 200_000, 256)), OK, True),
    "row 42-brotli of text": (lambda: coded("br", "text/plain", brotlied(b"words \n" * 150_000, 256)), OK, True),
    "row 74-5 MB on one line": (page_of(b"<main><p>" + b"word " * MEBIBYTE), CUT_OR_REFUSED, None),
    "row 74-5 MB of plain text on one line": (lambda: typed("text/plain", b"word " * 1_000_000), OK, False),
    "row 74-5 MB of <": (page_of(b"<" * (5 * MEBIBYTE - 1)), CUT_OR_REFUSED, None),
    "row 74-200,000 nested divs": (page_of(b"<div>" * 200_000 + b"text"), CUT_OR_REFUSED, None),
    "row 74-a million nested divs": (page_of(b"<div>" * 1_000_000 + b"text"), CUT_OR_REFUSED, None),
    "row 74-200,000 attributes": (page_of(b"<p " + ATTRIBUTES + b">" + b"words " * 99), CUT_OR_REFUSED, None),
    "row 74-tables 10,000 deep": (page_of(b"<table><tr><td>" * 10_000 + b"text"), CUT_OR_REFUSED, None),
    "row 74-entities": (lambda: typed("application/xml", entities()), UNSUPPORTED, False),
    "row 74-a picture of 200 MB": (lambda: repeat(PICTURE, b"<g/>" * 16_384), UNSUPPORTED, False),
    "row 74-lists a million deep": (lambda: typed("application/json", b"[" * 1_000_000), OK, True),
    "row 74-5 MB of numbers": (lambda: typed("application/json", b"[" + b"1," * 2_500_000 + b"1]"), OK, True),
    "row 75-a stream that unpacks to 256 MB": (lambda: typed("application/pdf", pdf_bomb()), BAD | UNSUPPORTED, False),
    "row 75-50,000 pages": (lambda: typed("application/pdf", pdf_of_many_pages()), UNSUPPORTED, False),
}


def behind_a_page(play: Play) -> Play:
    """Return a server that answers the first connection with an ordinary page, and plays on every other."""
    connections: list[Connection] = []

    async def first(connection: Connection) -> None:
        connections.append(connection)
        if len(connections) > 1:
            await play(connection)
        elif await connection.request() is not None:
            await connection.send(answer_bytes(PAGE[0], {**PAGE[1], "Connection": "close"}, PAGE[2]))

    return first


async def measured(play: Play) -> dict[str, Any]:
    async with World() as world:
        url = world.serve(behind_a_page(play)) + "/bomb"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.memory", url, str(SECONDS),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=with_tests(),
        )  # fmt: skip
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    result: dict[str, Any] = json.loads(out)
    return result


def with_tests() -> dict[str, str]:
    environment = environment_of()
    environment["PYTHONPATH"] += os.pathsep + str(Path(__file__).parents[2])
    return environment


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_is_cut_or_refused_within_the_deadline_and_the_memory_allowed(name: str) -> None:
    make_bomb, outcomes, truncated = BOMBS[name]
    seen = await measured(make_bomb())
    assert seen["outcome"] in outcomes, seen
    assert truncated in (None, seen["truncated"]), seen
    grown = {process: seen[process] // MEBIBYTE for process in ("own", "reader")}
    assert max(grown.values()) < ALLOWED, (grown, seen)
