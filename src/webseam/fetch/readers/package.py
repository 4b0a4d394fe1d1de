"""A document that is a zip file of parts: office documents and EPUB. Parts are unpacked in steps that are counted.

The sizes that a zip file declares are not believed, and the standard library's reader is not used: it makes an object
of each of 100,000 entries first. However small the file, no more than `MAX_UNPACKED` bytes come out of it, and
never more than a step of them at a time.
"""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

from webseam.errors import Outcome
from webseam.fetch.types import Source, Unreadable
from webseam.fetch.zipped import Member, zip_members
from webseam.text import quote

MAX_PART: Final = 64 * 1_048_576  # bytes of one part; text of a thousand pages with all its formatting takes 20 MiB
MAX_UNPACKED: Final = 192 * 1_048_576  # bytes of all parts together: a second or two of work
_MAX_MEMBERS: Final = 20_000  # entries looked at; a large book has 2,000
_STEP: Final = 65_536  # bytes
_STORED: Final = 0
_DEFLATED: Final = 8
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how files of old Office begin, and encrypted ones of the new
_ENCRYPTED_STREAM: Final = "EncryptedPackage".encode("utf-16-le")


class Package:
    """The parts of one document.

    Attributes:
        kind: what to call it in errors: "Word document".
        size: of the packed document, in words.
    """

    def __init__(self, source: Source, kind: str) -> None:
        """Raises: Unreadable: `unsupported` for one that is encrypted or was cut; `bad_response` when it is no zip."""
        self.kind = kind
        self.size = f"{len(source.body):,} bytes"
        self._body = source.body
        self._left = MAX_UNPACKED
        if source.body.startswith(_OLE):
            raise self._of_old_kind()
        if source.truncated:
            detail = f"this {kind} is too large: its first {self.size} cannot be read alone"
            raise Unreadable(detail, outcome=Outcome.UNSUPPORTED)
        members = zip_members(source.body, _MAX_MEMBERS)
        if members is None:
            why = "it ends too early" if source.body.startswith(b"PK") else "it is no zip file"
            raise self.damaged(why)
        self._members = {_key(name): member for name, member in members.items()}

    def _of_old_kind(self) -> Unreadable:
        if _ENCRYPTED_STREAM in self._body:
            return self.encrypted()
        detail = f"this {self.kind} of {self.size} is in the format of Office before 2007, which is not read"
        return Unreadable(detail, outcome=Outcome.UNSUPPORTED)

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._members

    def names(self) -> Iterator[str]:
        """Yield the names of the parts, in lower case."""
        yield from self._members

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a part in steps.

        Raises:
            Unreadable: it is missing, damaged or encrypted (once its end is reached, too), or more than `MAX_PART`.
        """
        member = self._members.get(_key(name))
        if member is None:
            raise self.damaged(f"the part {quote(name)} is missing")
        if member.encrypted:
            raise self.encrypted()
        data = member.data(self._body)
        if data is None:
            raise self.damaged(f"the part {quote(name)} is cut off")
        unpack = _UNPACKERS.get(member.method)
        if unpack is None:
            detail = f"this {self.kind} of {self.size} is packed in a way that is not read (method {member.method})"
            raise Unreadable(detail, outcome=Outcome.UNSUPPORTED)
        return self._counted(name, member, unpack(data))

    def _counted(self, name: str, member: Member, steps: Iterator[bytes]) -> Iterator[bytes]:
        length = checksum = 0
        try:
            for step in steps:
                length += len(step)
                self._left -= len(step)
                if length > MAX_PART or self._left < 0:
                    raise self.too_large(name)
                checksum = zlib.crc32(step, checksum)
                yield step
        except (zlib.error, EOFError):
            raise self.damaged(f"the part {quote(name)} cannot be unpacked") from None
        if checksum != member.checksum:
            raise self.damaged(f"the part {quote(name)} is not what was packed")

    def damaged(self, why: str) -> Unreadable:
        """Return the error for a document that is not as its format demands."""
        return Unreadable(f"this {self.kind} of {self.size} is damaged: {why}", outcome=Outcome.BAD_RESPONSE)

    def encrypted(self) -> Unreadable:
        return Unreadable(f"this {self.kind} of {self.size} is encrypted", outcome=Outcome.UNSUPPORTED)

    def wordless(self, what: str = "text", *, is_whole: bool = True, in_time: bool = True) -> Unreadable:
        """Return the error for a document in which nothing to read was found, as far as it was looked at."""
        if not in_time:
            detail = f"this {self.kind} of {self.size} could not be read in the time there was"
            return Unreadable(detail, outcome=Outcome.TIMEOUT)
        where = "" if is_whole else " in as much of it as is read"
        return Unreadable(f"this {self.kind} of {self.size} holds no {what}{where}", outcome=Outcome.UNSUPPORTED)

    def too_large(self, name: str) -> Unreadable:
        detail = f"this {self.kind} of {self.size} unpacks to more than is read (part {quote(name)})"
        return Unreadable(detail, outcome=Outcome.UNSUPPORTED)


def resolved(base: str, target: str) -> str:
    """Return the name of the part that `target`, as it stands in the part `base`, refers to."""
    path = unquote(re.split(r"[?#]", target.replace("\\", "/"), maxsplit=1)[0])
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(base), path)).lstrip("/")


def _key(name: str) -> str:
    """Parts are named without regard to case, and some programs write the slashes of Windows."""
    return name.replace("\\", "/").lstrip("/").lower()


def _stored(data: memoryview) -> Iterator[bytes]:
    for start in range(0, len(data), _STEP):
        yield bytes(data[start : start + _STEP])


def _inflated(data: memoryview) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=-15)
    position = 0
    while not unpacker.eof:
        given: bytes | memoryview = unpacker.unconsumed_tail
        if not given:
            given = data[position : position + _STEP]
            position += len(given)
        step = unpacker.decompress(given, _STEP)
        if step:
            yield step
        elif not len(given) and not unpacker.eof:
            raise EOFError


_UNPACKERS: Final[dict[int, Callable[[memoryview], Iterator[bytes]]]] = {_STORED: _stored, _DEFLATED: _inflated}
