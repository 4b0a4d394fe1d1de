"""Response bodies: content codings undone in bounded steps, nothing lost in silence.

A few hundred bytes can unpack to gigabytes, so a decoder here never gives more than `STEP` at a time and the collector
stops asking at the cap. And a stream that was cut is an error: common clients return what came of a gzip stream without
its trailer, and only the first of several members, as if it were the whole.

Sources: RFC 9110 section 8.4, RFC 1950 to 1952, RFC 7932, RFC 8878, RFC 9659 (the window of zstd on the web).
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Any, Protocol

STEP = 64 * 1024  # bytes of one decoding step (brotli gives half as much again); with the cap it bounds a bomb
MAX_CODINGS = 2  # nobody needs more than one; a proxy that compresses again makes two
ZSTD_WINDOW_LOG = 23  # 8 MiB, the largest window RFC 9659 allows on the web
_OVERHEAD = 64 * 1024  # bytes by which a small compressed body may be longer than what it holds


class BodyError(Exception):
    """A body that cannot be given. `kind` is the word of `TransportError.kind`: "truncated" or "encoding"."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class Decoder(Protocol):
    """Undoes one content coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` unpacks to, at most about `STEP` bytes at a time.

        Raises:
            BodyError: the bytes are not of this coding.
        """
        ...

    def finish(self) -> None:
        """Check that the stream is whole.

        Raises:
            BodyError: it was cut.
        """
        ...


class _Zlib:
    """gzip (any number of members) and deflate (in its zlib wrapping, or bare as old servers send it)."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._engine: Any = None
        self._held = b""  # the first byte of a deflate stream, until the second shows how it is wrapped
        self._begun = False  # one stream has ended

    def feed(self, data: bytes) -> Iterator[bytes]:
        more = False  # the step was full: there may be output left though no input is
        while data or more:
            if self._engine is None:
                data = self._open(data)
                if not data:
                    return
            try:
                piece = self._engine.decompress(data, STEP)
            except zlib.error as error:
                raise BodyError("encoding", _reason(error)) from None
            if piece:
                yield piece
            more = len(piece) == STEP and not self._engine.eof
            if self._engine.eof:
                data = self._engine.unused_data
                self._engine, self._begun, self._held = None, True, b""
            else:
                data = self._engine.unconsumed_tail

    def _open(self, data: bytes) -> bytes:
        """Start on a stream; return what is to be fed to it, empty when more must come first."""
        if self._gzip:
            if self._begun:
                data = data.lstrip(b"\0")  # tar and some servers pad between and after members
            if data:
                self._engine = zlib.decompressobj(16 + zlib.MAX_WBITS)
        else:
            if self._begun:
                raise BodyError("encoding", "there is data after the end of the deflate stream")
            data = self._held + data
            if len(data) < 2:
                self._held = data
                return b""
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0  # RFC 1950, section 2.2
            self._engine = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        return data

    def finish(self) -> None:
        if self._engine is not None or self._held:
            raise BodyError("truncated", "the compressed data ends in the middle")


class _Brotli:
    def __init__(self) -> None:
        self._engine = _brotli().Decompressor()  # type: ignore[union-attr]
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if not data:
            return
        self._begun = True
        piece = self._step(data)
        while piece or not (self._engine.is_finished() or self._engine.can_accept_more_data()):
            if piece:
                yield piece
            if self._engine.is_finished():
                return
            piece = self._step(b"")

    def _step(self, data: bytes) -> bytes:
        try:
            return bytes(self._engine.process(data, output_buffer_limit=STEP))
        except Exception as error:  # noqa: BLE001 - the library's error class has a name of its own in every release
            raise BodyError("encoding", _reason(error)) from None

    def finish(self) -> None:
        if self._begun and not self._engine.is_finished():
            raise BodyError("truncated", "the compressed data ends in the middle")


class _Zstd:
    """zstd, any number of frames."""

    def __init__(self) -> None:
        self._engine: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        zstd = _zstd()
        assert zstd is not None  # noqa: S101 - offered() and decoders() looked before
        more = False
        while data or more:
            if self._engine is None:
                options = {zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG}
                self._engine = zstd.ZstdDecompressor(options=options)
            try:
                piece = self._engine.decompress(data, STEP)
            except zstd.ZstdError as error:
                raise BodyError("encoding", _reason(error)) from None
            if piece:
                yield piece
            if self._engine.eof:
                data, more = self._engine.unused_data, False
                self._engine = None
            else:
                data, more = b"", not self._engine.needs_input

    def finish(self) -> None:
        if self._engine is not None:
            raise BodyError("truncated", "the compressed data ends in the middle")


def _reason(error: Exception) -> str:
    return f"the body is not what its Content-Encoding says ({error})"


@cache
def _brotli() -> ModuleType | None:
    """Return the brotli library when it can stop in the middle; older ones unpack a bomb in one piece."""
    try:
        import brotli
    except ImportError:
        return None
    return brotli if hasattr(brotli.Decompressor, "can_accept_more_data") else None


@cache
def _zstd() -> ModuleType | None:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            from backports import zstd  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            return None
    return zstd  # type: ignore[no-any-return,unused-ignore]


@cache
def _makers() -> dict[str, Callable[[], Decoder]]:
    makers: dict[str, Callable[[], Decoder]] = {"gzip": lambda: _Zlib(gzip=True), "deflate": lambda: _Zlib(gzip=False)}
    if _brotli():
        makers["br"] = _Brotli
    if _zstd():
        makers["zstd"] = _Zstd
    return makers


@cache
def offered() -> str:
    """Return the value of Accept-Encoding: only what can be undone here, in bounded steps."""
    return ", ".join(_makers())


def decoders(content_encoding: Sequence[str]) -> list[Decoder]:
    """Return the decoders for the values of Content-Encoding, in the order in which they are to be applied.

    Raises:
        BodyError: a coding is unknown here, or there are more than `MAX_CODINGS`.
    """
    names = [name.strip().lower() for value in content_encoding for name in value.split(",")]
    names = [name.removeprefix("x-") for name in names if name not in ("", "identity")]
    if len(names) > MAX_CODINGS:
        raise BodyError("encoding", f"the body is encoded {len(names)} times over, at most {MAX_CODINGS} are undone")
    for name in names:
        if name not in _makers():
            raise BodyError("encoding", f"the content coding {name[:40]!r} is not known here")
    return [_makers()[name]() for name in reversed(names)]


class Body:
    """Collects a body up to its cap, undoing the codings on the way.

    `watch` sees every decoded piece and may end the body: it returns the length to cut it to, or None to go on.

    Attributes:
        truncated: the cap was reached and there was more.
        received: bytes taken off the wire, still encoded.
    """

    def __init__(
        self, coders: Sequence[Decoder], *, limit: int, watch: Callable[[bytes], int | None] | None = None
    ) -> None:
        self.truncated = False
        self.received = 0
        self._coders = coders
        self._limit = limit
        self._watch = watch
        self._content: bytes | bytearray = b""
        self._unpacked = 0
        self._enough = False

    def feed(self, data: bytes) -> bool:
        """Take bytes off the wire; return False when no more are wanted.

        Raises:
            BodyError: they are not of the coding they claim to be.
        """
        self.received += len(data)
        if not self._coders:
            self._keep(data)
        else:
            # Empty members cost bytes and give none: without a bound on the bytes received they could go on for ever.
            if self.received > self._limit + self._limit // 8 + _OVERHEAD:
                self._overflow()
            for piece in self._undo(data, 0):
                if self._enough:
                    break
                self._keep(piece)
        return not self._enough

    def _undo(self, data: bytes, layer: int) -> Iterator[bytes]:
        if layer == len(self._coders):
            yield data
            return
        for piece in self._coders[layer].feed(data):
            self._unpacked += len(piece)
            if self._unpacked > (self._limit + 2 * STEP) * len(
                self._coders
            ):  # an inner layer that holds next to nothing
                self._overflow()
                return
            yield from self._undo(piece, layer + 1)

    def _keep(self, piece: bytes) -> None:
        room = self._limit - len(self._content)
        if len(piece) > room:
            self._overflow()
            piece = piece[:room]
        if not self._content:
            self._content = piece  # nearly always the only one
        else:  # a list of pieces would cost 40 bytes for each, and a chunk may hold one byte
            if isinstance(self._content, bytes):
                self._content = bytearray(self._content)
            self._content += piece
        if self._watch is not None:
            end = self._watch(piece)
            if end is not None:
                self._content = self._content[:end]
                self._enough, self.truncated = True, False

    def _overflow(self) -> None:
        self.truncated = self._enough = True

    def finish(self) -> None:
        """Check that every layer is whole.

        Raises:
            BodyError: "truncated".
        """
        for coder in self._coders:
            coder.finish()

    def content(self) -> bytes:
        """Return what was collected."""
        return bytes(self._content)


# Codecs that Python counts as text and no document means: they run escapes, or rewrite ASCII.
_NOT_CHARSETS = {"utf_7", "unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined", "mbcs", "oem"}
_LATIN = {"ascii", "iso8859-1"}  # the WHATWG encoding standard reads both as windows-1252, as their authors meant
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode_text(body: bytes, content_type: str | None = None) -> tuple[str, str]:
    """Return a body as text and the name of the charset it was read in.

    A byte-order mark wins, then the charset of the Content-Type, then UTF-8. Bytes that do not fit become U+FFFD.
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace"), name
    charset = _charset(content_type or "") or "utf-8"
    return body.decode(charset, "replace"), charset


def _charset(content_type: str) -> str | None:
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return _codec(value.strip().strip("\"'"))
    return None


def _codec(name: str) -> str | None:
    """Return Python's name of a charset; None for those it does not know and those that are no charset (hex, zlib)."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    if not getattr(found, "_is_text_encoding", True) or found.name.replace("-", "_") in _NOT_CHARSETS:
        return None
    return "cp1252" if found.name in _LATIN else found.name
