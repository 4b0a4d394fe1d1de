"""The names in a tar, packed or not, with as little unpacked as that takes.

A tar has no table of contents: each header stands behind the file before it. What is between is unpacked in small steps
and thrown away, and after `MAX_UNPACKED` bytes no further, so that a file that unpacks to a terabyte costs what one of
64 MiB does. The standard library's reader is not used: it keeps long headers whole and trusts the sizes in them.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from webseam.fetch.zipped import MAX_ENTRIES, Entry, Listing

MAX_UNPACKED: Final = 64 * 1_048_576  # bytes
_STEP: Final = 262_144  # bytes unpacked at once
_INPUT: Final = 16_384  # bytes given to zlib at once; it copies back what it has not used
_LZMA_MEMORY: Final = 70 * 1_048_576  # bytes; what `xz -9` needs, and a hostile header may ask for 4 GiB
_BLOCK: Final = 512
_MAX_WALKED: Final = 100_000  # headers
_MAX_NAME: Final = 65_536  # bytes of a long name or of extended attributes
_FILES: Final = b"0\x007"  # types of entry with contents
_EMPTY: Final = b"123456"  # links, devices and folders: whatever their size says
_BASE_256: Final = 0x80


class Broken(Exception):
    """The packed data is damaged, cut off, or asks for too much."""


class Unpacked:
    """The beginning of what packed bytes unpack to, read forwards."""

    def __init__(self, body: bytes, media_type: str) -> None:
        """Raises: KeyError for a packing that cannot be unpacked here."""
        self._steps = _STEPS[media_type](body)
        self._step = b""
        self._at = 0  # how much of the step has been read
        self._left = MAX_UNPACKED

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end. Raises: Broken."""
        parts: list[bytes] = []
        while size > 0 and (self._at < len(self._step) or self._fill()):
            parts.append(self._step[self._at : self._at + size])
            self._at += len(parts[-1])
            size -= len(parts[-1])
        return b"".join(parts)

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes without moving on, b"" when they are damaged."""
        try:
            part = self.read(size)
        except Broken:
            return b""
        self._step, self._at = part + self._step[self._at :], 0
        return part

    def skip(self, size: int) -> None:
        """Pass over `size` bytes. Raises: Broken."""
        while size > 0 and (self._at < len(self._step) or self._fill()):
            passed = min(size, len(self._step) - self._at)
            self._at += passed
            size -= passed

    def _fill(self) -> bool:
        if self._left <= 0:
            raise Broken("too large")
        try:
            self._step, self._at = next(self._steps, b""), 0
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
            raise Broken("damaged") from error
        self._left -= len(self._step)
        return bool(self._step)


def tar_entries(stream: Unpacked, limit: int = MAX_ENTRIES) -> Listing:
    """List a tar, as far as it can be read; what comes before a damaged place is listed."""
    found: list[Entry] = []
    try:
        for walked, entry in enumerate(_walk(stream)):
            if walked == _MAX_WALKED or len(found) == limit:
                return Listing(entries=tuple(found), more=True)
            if entry is not None:
                found.append(entry)
        return Listing(entries=tuple(found))
    except Broken:
        return Listing(entries=tuple(found), more=True)


def is_tar(block: bytes) -> bool:
    """True for the first 512 bytes of a tar."""
    return len(block) == _BLOCK and _number(block[148:156]) == _checksum(block)


def _walk(stream: Unpacked) -> Iterator[Entry | None]:
    """Yield one entry a header, None for a folder, a link or a header about the next one. Raises: Broken."""
    long_name: str | None = None
    long_size: int | None = None
    while block := stream.read(_BLOCK):
        if not block.strip(b"\x00"):
            return  # the end is marked by blocks of zeros
        size, kind = _number(block[124:136]), block[156:157]
        if not is_tar(block) or size < 0:
            raise Broken("no header")
        padding = -size % _BLOCK
        if kind in (b"L", b"x"):
            text = stream.read(min(size, _MAX_NAME))
            stream.skip(size - len(text) + padding)
            if kind == b"L":
                long_name = _text(text)
            else:
                long_name, long_size = _extended(text, long_name)
            yield None
            continue
        size = size if long_size is None else long_size
        name = long_name if long_name is not None else _short_name(block)
        long_name = long_size = None
        yield Entry(name=name, size=size) if kind in _FILES and not name.endswith("/") else None
        if kind not in _EMPTY:
            stream.skip(size + -size % _BLOCK)
    raise Broken("cut off")


def _short_name(block: bytes) -> str:
    name, prefix = _text(block[:100]), _text(block[345:500])
    return f"{prefix}/{name}" if prefix and block[257:263] == b"ustar\x00" else name


def _extended(text: bytes, name: str | None) -> tuple[str | None, int | None]:
    """Return the name and the size that records such as `22 path=...` give to the next entry."""
    size: int | None = None
    while text:
        length, _, _ = text.partition(b" ")
        if not length.isdigit() or len(length) > 6 or not (end := int(length)):
            break
        key, _, value = text[len(length) + 1 : end].rstrip(b"\n").partition(b"=")
        if key == b"path":
            name = _text(value)
        elif key == b"size" and value.isdigit() and len(value) < 20:
            size = int(value)
        text = text[max(end, len(length) + 1) :]
    return name, size


def _text(raw: bytes) -> str:
    return raw.partition(b"\x00")[0].decode("utf-8", "replace")


def _number(raw: bytes) -> int:
    """Return a number field: octal digits, or base 256 for sizes from 8 GiB on; -1 for what is neither."""
    if raw[0] == _BASE_256:
        return int.from_bytes(raw[1:], "big")
    digits = raw.strip(b" \x00")
    return int(digits, 8) if digits and not digits.strip(b"01234567") else 0 if not digits else -1


def _checksum(block: bytes) -> int:
    return sum(block) - sum(block[148:156]) + 8 * ord(" ")


def _plain(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _STEP):
        yield body[start : start + _STEP]


def _gzip(body: bytes) -> Iterator[bytes]:
    position = 0
    while body[position : position + _INPUT].strip(b"\x00"):  # members follow each other, perhaps padded with zeros
        unpacker = zlib.decompressobj(wbits=31)
        while not unpacker.eof:
            given = unpacker.unconsumed_tail
            if not given:
                given = body[position : position + _INPUT]
                position += len(given)
            part = unpacker.decompress(given, _STEP)
            if part:
                yield part
            elif not given and not unpacker.eof:
                raise EOFError
        position -= len(unpacker.unused_data)


def _streams(unpackers: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor], body: bytes) -> Iterator[bytes]:
    while body:  # streams follow each other, perhaps padded with zeros
        unpacker = unpackers()
        while not unpacker.eof:
            part = unpacker.decompress(body, _STEP)
            body = b""
            if part:
                yield part
            elif unpacker.needs_input and not unpacker.eof:
                raise EOFError
        body = unpacker.unused_data.lstrip(b"\x00")


_STEPS: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "application/x-tar": _plain,
    "application/gzip": _gzip,
    "application/x-bzip2": lambda body: _streams(bz2.BZ2Decompressor, body),
    "application/x-xz": lambda body: _streams(lambda: lzma.LZMADecompressor(memlimit=_LZMA_MEMORY), body),
}
