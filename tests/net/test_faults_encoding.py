"""Servers whose content codings are bombs, cut, or not what they say: rows 41 to 47."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zlib
from collections.abc import Callable

import brotli
import pytest

from tests.world import World
from webseam.errors import Outcome, TransportError

TEXT = json.dumps([{"title": f"hit {number}", "snippet": "some words " * number} for number in range(60)]).encode()


def zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as library
    else:
        from backports import zstd as library
    return library.compress(data)


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw-deflate": ("Deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd),
}
every_coding = pytest.mark.parametrize("name, pack", CODINGS.values(), ids=CODINGS)


@every_coding
async def test_each_coding_that_is_offered_is_undone(name: str, pack: Callable[[bytes], bytes]) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {"Content-Encoding": name}, pack(TEXT)))
        response = await world.send("GET", url)
        assert response.body == TEXT
        assert name.lower().removeprefix("x-") in world.requests[0].headers["accept-encoding"]


@every_coding
async def test_row_45_a_body_cut_anywhere_is_truncated_and_not_returned(
    name: str, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(TEXT)
    async with World() as world:
        for cut in (1, len(packed) // 2, len(packed) - 1):
            url = world.route("GET", "/", (200, {"Content-Encoding": name}, packed[:cut]))
            for overflow in ("refuse", "truncate"):
                error = await world.fail("GET", url, overflow=overflow)
                assert isinstance(error, TransportError)
                assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, "truncated", "body")


CORRUPT = bytearray(gzip.compress(TEXT))
CORRUPT[-6] ^= 0xFF


@pytest.mark.parametrize(
    "coding, body",
    [
        pytest.param(", ".join(["gzip"] * 6), b"", id="row-43-six-layers"),
        pytest.param("gzip", b"plain text", id="row-44-plain-text"),
        pytest.param("gzip", bytes(CORRUPT), id="row-44-checksum"),
        pytest.param("br", b"plain text, and not so short", id="br-plain-text"),
        pytest.param("zstd", b"plain text", id="zstd-plain-text"),
        pytest.param("deflate", b"plain text", id="deflate-plain-text"),
        pytest.param("gzip", gzip.compress(TEXT) + b"junk", id="junk-after-gzip"),
        pytest.param("deflate", zlib.compress(TEXT) + b"junk", id="junk-after-deflate"),
        pytest.param("br", brotli.compress(TEXT) + b"junk", id="junk-after-br"),
        pytest.param("zstd", zstd(TEXT) + b"junk", id="junk-after-zstd"),
        pytest.param("lzma", TEXT, id="row-47-unknown"),
        pytest.param("gzip, secret", TEXT, id="row-47-unknown-second"),
    ],
)
async def test_a_coding_that_cannot_be_undone_is_a_bad_response(coding: str, body: bytes) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {"Content-Encoding": coding}, body))
        error = await world.fail("GET", url)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, "encoding", "body")


@pytest.mark.parametrize(
    "coding, body",
    [
        pytest.param("gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]), id="row-46-two-members"),
        pytest.param("gzip", gzip.compress(TEXT) + bytes(512), id="zero-padding"),
        pytest.param("zstd", zstd(TEXT[:100]) + zstd(TEXT[100:]), id="two-frames"),
        pytest.param("gzip, br", brotli.compress(gzip.compress(TEXT)), id="two-layers"),
        pytest.param("identity", TEXT, id="identity"),
        pytest.param(" , ", TEXT, id="empty"),
    ],
)
async def test_a_body_of_several_parts_or_layers_is_read_whole(coding: str, body: bytes) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {"Content-Encoding": coding}, body))
        assert (await world.send("GET", url)).body == TEXT


async def test_an_empty_body_needs_no_trailer() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {"Content-Encoding": "gzip"}, b""))
        assert (await world.send("GET", url)).body == b""


MEGABYTES_ALLOWED = 64  # of growth, by the contract; the parent measures nothing, so only the client is counted

# The bomb is served from the same process, packed beforehand: what grows afterwards is the client's.
MEASURE = """
import asyncio, gzip, resource, sys
sys.path[:0] = {paths!r}
from tests.world import World, repeat, reply
from webseam.errors import TransportError

def peak():
    try:
        with open("/proc/self/status") as status:
            fields = dict(line.split(":", 1) for line in status)
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**20
    return int(fields["VmHWM"].split()[0]) // 2**10  # getrusage counts what the parent had before exec

async def main():
    async with World() as world:
        head = b"HTTP/1.1 200 OK\\r\\n"
        def coded(name, bomb):
            fields = b"Content-Encoding: %b\\r\\nContent-Length: %d\\r\\n\\r\\n" % (name, len(bomb))
            return reply(head + fields + bomb)
        name, play = sys.argv[1], None
        if name == "gzip":
            import zlib
            packer, parts = zlib.compressobj(9, zlib.DEFLATED, 31), []
            for _ in range(256):
                parts.append(packer.compress(bytes(2**20)))
            play = coded(b"gzip", b"".join(parts) + packer.flush())
        elif name == "br":
            import brotli
            packer, parts = brotli.Compressor(quality=5, lgwin=24), []
            for _ in range(256):
                parts.append(packer.process(bytes(2**20)))
            play = coded(b"br", b"".join(parts) + packer.finish())
        elif name == "small-chunks":
            chunk = b"80\\r\\n" + bytes(128) + b"\\r\\n"
            play = repeat(head + b"Transfer-Encoding: chunked\\r\\n\\r\\n", chunk * 500)
        elif name == "header-line":
            play = repeat(head + b"X: ", b"x" * 2**16)
        elif name == "chunk-extension":
            play = repeat(head + b"Transfer-Encoding: chunked\\r\\n\\r\\n1;", b"x" * 2**16)
        elif name == "empty-members":
            play = repeat(head + b"Content-Encoding: gzip\\r\\n\\r\\n", gzip.compress(b"") * 1000)
        elif name == "endless":
            play = repeat(head + b"\\r\\n", b"x" * 2**16)
        warm = world.route("GET", "/", (200, {{}}, "x"))
        await world.send("GET", warm)
        url = world.serve(play) + "/"
        before = peak()
        try:
            response = await world.send("GET", url, overflow="truncate", within=15)
            outcome = "truncated" if response.truncated else "whole"
        except TransportError as error:
            outcome = error.kind
        print(outcome, peak() - before)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "bomb, outcome",
    [
        pytest.param("gzip", "truncated", id="row-41-gzip"),
        pytest.param("br", "truncated", id="row-42-br"),
        pytest.param("small-chunks", "truncated", id="row-33-small-chunks"),
        pytest.param("header-line", "headers_too_large", id="row-20-header-line"),
        pytest.param("chunk-extension", "headers_too_large", id="row-38-chunk-extension"),
        pytest.param("empty-members", "truncated", id="gzip-of-nothing"),
        pytest.param("endless", "truncated", id="row-32-endless"),
    ],
)
def test_memory_stays_flat_whatever_a_body_unpacks_to(bomb: str, outcome: str) -> None:
    script = MEASURE.format(paths=sys.path)
    done = subprocess.run([sys.executable, "-c", script, bomb], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    seen, grown = done.stdout.split()
    assert (seen, int(grown) < MEGABYTES_ALLOWED) == (outcome, True), f"{seen}: {grown} MiB"
