"""From bytes to a reading: what they are, which reader turns them into Markdown, and where that reader runs.

Readers of anything that a library in native code parses run in a process that can be killed; small pieces of plain text
are read here, because asking another process would take longer than reading them.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any, Final, get_args

from webseam.errors import Outcome
from webseam.fetch.decode import decode
from webseam.fetch.sniff import Kind, Sniffed, sniff
from webseam.fetch.types import OutOfMemory, Reading, Source, Unreadable
from webseam.fetch.worker import run_in_worker

KINDS: Final[tuple[str, ...]] = tuple(kind for kind in get_args(Kind) if kind != "binary")
MAX_MEMORY: Final = 96 * 1024 * 1024  # bytes a reader may take beside an idle child's; a page of 5 MB takes under 80
RAW: Final = "raw"  # what stands for a reader where nobody read
_READ_IN_PART: Final = frozenset({"html", "text", "source", "markdown", "csv", "jsonl"})  # their beginning is of use
_NEVER_CUT: Final = 524_288  # bytes; what needs too much memory below that is an attack
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")  # the name of the stream that holds the document
_READ_HERE: Final = 65_536  # bytes of text read in this process
_READER_OF: Final[dict[str, str]] = {
    "html": "html",
    "feed": "syndicated",
    **dict.fromkeys(("xml", "json", "jsonl", "csv"), "data"),
    **dict.fromkeys(("text", "source", "markdown"), "plain"),
    **{kind: kind for kind in ("notebook", "pdf", "docx", "pptx", "xlsx", "epub", "image", "archive")},
}
_PLAIN: Final = frozenset({"text", "source", "markdown", "json", "jsonl", "csv"})
_USELESS_IN_PART: Final = frozenset({"docx", "pptx", "xlsx", "epub", "image", "archive"})


async def read_source(
    source: Source,
    *,
    expires_at: float,
    form: str | None = None,
    fragment: str = "",
    pages: str | None = None,
) -> tuple[Reading, Sniffed]:
    """Return what a reader makes of `source`, and what it turned out to be.

    Args:
        form: read it as this kind instead of what it seems to be.
        fragment: the part of an HTML page that must not be left out.
        pages: of a PDF.

    Raises:
        Unreadable: no reader can; the outcome and the detail say why.
    """
    found = sniff(source.body, source.media_type, source.url)
    kind = form or found.kind
    size = f"{len(source.body):,} bytes"
    if kind == "binary":
        if source.body.startswith(_OLE) and _ENCRYPTED in source.body:
            detail = f"an Office document that is encrypted, {size}"
            raise Unreadable(detail, outcome=Outcome.UNSUPPORTED, hint="save it without a password")
        raise Unreadable(f"no reader for {found.media_type}, {size}", outcome=Outcome.UNSUPPORTED)
    if source.truncated and kind in _USELESS_IN_PART:
        detail = f"too large: more than {size} of {found.media_type}, of no use in part"
        raise Unreadable(detail, outcome=Outcome.UNSUPPORTED)
    source = replace(source, media_type=found.media_type)
    options: dict[str, Any] = {}
    if kind == "html" and fragment:
        options["fragment"] = fragment
    if kind == "pdf" and pages:
        options["pages"] = pages
    try:
        reading, source = await _as_much_as_fits(kind, source, expires_at, options)
    except Unreadable as error:
        if kind not in ("feed", "notebook") or error.outcome is not Outcome.BAD_RESPONSE or form is not None:
            raise
        reading = await _run("data", source, expires_at, {}, here=False)
        reading.notes.append(f"read as data: {error.detail}")
    if found.mismatch and form is None:
        reading.notes.append(f"the server is wrong about what this is: {found.mismatch}")
    if source.truncated:
        reading.truncated = True
        reading.notes.append(f"only the first {len(source.body):,} bytes were read; the page is larger")
    if reading.truncated and not reading.markdown.strip():  # "empty" would say that there is nothing in the rest either
        detail = f"too large: {size} of {found.media_type}, and the part that was read holds no text"
        raise Unreadable(detail, outcome=Outcome.UNSUPPORTED)
    return reading, found


async def _as_much_as_fits(
    kind: str, source: Source, expires_at: float, options: dict[str, Any]
) -> tuple[Reading, Source]:
    """Return what a reader makes of a source, or of the beginning of it that its memory is enough for."""
    while True:
        try:
            return await _run(_READER_OF[kind], source, expires_at, options, here=kind in _PLAIN), source
        except OutOfMemory:
            if kind not in _READ_IN_PART or len(source.body) < _NEVER_CUT:
                raise
            source = replace(source, body=source.body[: len(source.body) // 2], truncated=True)


async def _run(reader: str, source: Source, expires_at: float, options: dict[str, Any], *, here: bool) -> Reading:
    if here and len(source.body) <= _READ_HERE:
        reading: Reading = import_module(f"webseam.fetch.readers.{reader}").read(source, **options)
        return reading
    return await run_in_worker(reader, source, expires_at=expires_at, max_memory=MAX_MEMORY, options=options)


def as_it_came(source: Source) -> Reading:
    """Return the text of a source as it came, read by nobody.

    Raises:
        Unreadable: it is no text.
    """
    found = sniff(source.body, source.media_type, source.url)
    if found.kind in _USELESS_IN_PART - {"image"} or found.kind in ("pdf", "binary") or b"\0" in source.body[:4_096]:
        detail = f"{found.media_type}, {len(source.body):,} bytes, is no text"
        raise Unreadable(detail, outcome=Outcome.UNSUPPORTED, hint="leave raw out to have it read")
    decoded = decode(source.body, source.charset, html=found.kind == "html", xml=found.kind in ("xml", "feed"))
    reading = Reading(markdown=decoded.text, reader=RAW, truncated=source.truncated)
    if decoded.replaced:
        reading.notes.append(f"{decoded.replaced:,} characters could not be decoded as {decoded.encoding}")
    return reading
