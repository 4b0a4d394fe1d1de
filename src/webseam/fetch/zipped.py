"""The table of contents of a zip file, read without unpacking anything.

The standard library's reader makes an object of every entry before it returns, so that a few megabytes made for it take
hundreds. This one reads at most as many entries as are wanted, and makes do with the first part of a file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

MAX_ENTRIES: Final = 1_000  # what a listing shows; longer ones help nobody
_MAX_NAME: Final = 1_024  # bytes of a name that are kept
_MAX_COMMENT: Final = 65_535
_MAX_WALKED: Final = 100_000  # headers that are looked at, those of folders included

_END = struct.Struct("<4s4H2LH")  # end of central directory
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64 = struct.Struct("<4sLQL")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_ENCRYPTED: Final = 0x1
_STREAMED: Final = 0x8  # the sizes follow the data
_UTF8: Final = 0x800
_UNKNOWN32: Final = 0xFFFF_FFFF  # the size is in an extra field
_ZIP64: Final = 0x1  # id of that field
_MIMETYPE_OFFSET: Final = 30 + len("mimetype")
_STORED: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of an archive. `size` is in bytes, as the archive declares it, unpacked; None when it does not say."""

    name: str
    size: int | None
    encrypted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(Entry):
    """One entry of the table of contents: where its own header lies, in bytes, and how it is packed."""

    offset: int
    packed: int
    method: int
    checksum: int

    def data(self, body: bytes) -> memoryview | None:
        """Return the packed bytes, without copying them; None when they are not where the table says."""
        if not 0 <= self.offset <= len(body) - _LOCAL.size or not body.startswith(b"PK\x03\x04", self.offset):
            return None
        *_, name, extra = _LOCAL.unpack_from(body, self.offset)
        start = self.offset + _LOCAL.size + name + extra
        if start > len(body) or (self.packed != _UNKNOWN32 and start + self.packed > len(body)):
            return None
        return memoryview(body)[start : len(body) if self.packed == _UNKNOWN32 else start + self.packed]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Files of an archive, without its folders.

    Attributes:
        more: there are files that are not in `entries`.
        mimetype: the media type in a first entry of that name, which EPUB and OpenDocument begin with.
    """

    entries: tuple[Entry, ...]
    more: bool = False
    mimetype: str = ""


def zip_entries(body: bytes, limit: int = MAX_ENTRIES) -> Listing:
    """List a zip file from its central directory, or from its files' own headers when its end is missing."""
    central = _central(body)
    more = central is None
    found: list[Entry] = []
    for entry in islice(_local(body) if central is None else central, _MAX_WALKED):
        if entry is None or (len(found) == limit and not entry.name.endswith("/")):
            more = True
            break
        if not entry.name.endswith("/"):
            found.append(Entry(name=entry.name, size=entry.size, encrypted=entry.encrypted))
    return Listing(entries=tuple(found), more=more, mimetype=_mimetype(body))


def _mimetype(body: bytes) -> str:
    if len(body) < _LOCAL.size or body[30:_MIMETYPE_OFFSET] != b"mimetype":
        return ""
    _, _, _, method, _, _, _, size, _, name, extra = _LOCAL.unpack_from(body)
    if method != _STORED or name != len("mimetype") or size > 100:
        return ""
    start = _MIMETYPE_OFFSET + extra
    return body[start : start + size].decode("ascii", "replace").strip()


def zip_members(body: bytes, limit: int) -> dict[str, Member] | None:
    """Return where the first `limit` entries of a zip file lie, by name; None when its table of contents is missing.

    A name that stands twice is the later entry. Nothing here is checked: what reads a member bounds what comes out.
    """
    central = _central(body)
    if central is None:
        return None
    found: dict[str, Member] = {}
    for member in islice(central, limit):
        if member is None:
            break
        found[member.name] = member
    return found


def _central(body: bytes) -> Iterator[Member | None] | None:
    """Return the entries of the central directory, or None when there is none; a None among them says it is broken."""
    at = body.rfind(b"PK\x05\x06", max(0, len(body) - _MAX_COMMENT - _END.size))
    if at < 0 or at + _END.size > len(body):
        return None
    _, _, _, _, count, size, offset, _ = _END.unpack_from(body, at)
    end = at
    locator = at - _LOCATOR64.size
    if locator >= 0 and body.startswith(b"PK\x06\x07", locator):
        place = _LOCATOR64.unpack_from(body, locator)[2]
        if place + _END64.size <= len(body) and body.startswith(b"PK\x06\x06", place):
            *_, count, size, offset = _END64.unpack_from(body, place)
            end = place
    start = end - size  # not `offset`: a program may stand before the archive, and then all offsets are short by it
    if not 0 <= start <= len(body) or (count and not body.startswith(b"PK\x01\x02", start)):
        start = offset
    if count and not body.startswith(b"PK\x01\x02", start):
        return None
    return _walk_central(body, start, count, start - offset)


def _walk_central(body: bytes, start: int, count: int, shift: int) -> Iterator[Member | None]:
    for _ in range(count):
        if start + _CENTRAL.size > len(body) or not body.startswith(b"PK\x01\x02", start):
            yield None
            return
        found = _CENTRAL.unpack_from(body, start)
        flags, method, checksum, packed, size, name, extra, comment = (*found[3:5], *found[7:13])
        named = start + _CENTRAL.size
        known: int | None = size
        if size == _UNKNOWN32:
            known = _long_size(body[named + name : named + name + extra])
        yield Member(
            name=_name(body[named : named + name], flags),
            size=known,
            encrypted=bool(flags & _ENCRYPTED),
            offset=found[16] + shift,
            packed=packed,
            method=method,
            checksum=checksum,
        )
        start = named + name + extra + comment


def _local(body: bytes) -> Iterator[Entry | None]:
    """Walk from one file's header to the next; where a file does not say how long it is, look for the next header."""
    start = 0
    while start + _LOCAL.size <= len(body) and body.startswith(b"PK\x03\x04", start):
        _, _, flags, _, _, _, _, packed, size, name, extra = _LOCAL.unpack_from(body, start)
        named = start + _LOCAL.size
        known = not flags & _STREAMED and packed != _UNKNOWN32
        yield Entry(
            name=_name(body[named : named + name], flags),
            size=size if known else None,
            encrypted=bool(flags & _ENCRYPTED),
        )
        start = named + name + extra
        start = start + packed if known else body.find(b"PK\x03\x04", start)
        if start < 0:
            return


def _long_size(extra: bytes) -> int | None:
    """Return the unpacked size from the extra field that archives over 4 GiB have."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == _ZIP64 and length >= 8 and at + 12 <= len(extra):
            return int.from_bytes(extra[at + 4 : at + 12], "little")
        at += 4 + length
    return None


def _name(raw: bytes, flags: int) -> str:
    """Decode a name: UTF-8 when it says or is so, else the code page that zip files began with."""
    kept = raw[:_MAX_NAME]
    try:
        return kept.decode("utf-8")
    except UnicodeDecodeError:
        return kept.decode("utf-8", "replace") if flags & _UTF8 else kept.decode("cp437")
