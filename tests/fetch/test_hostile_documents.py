"""Documents made to hurt whoever reads them, through every reader in its child process.

A row says what comes back: text, a part of it, or a refusal that names the size. For each the peak of the child's
memory over what it needs for nothing is measured, and reading ends before the deadline: a pattern that backtracks or a
loop within a loop takes minutes on these.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import struct
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fetch import packages
from tests.fetch.test_pdf import lines, make
from webseam.errors import Outcome
from webseam.fetch import worker
from webseam.fetch.reading import MAX_MEMORY
from webseam.fetch.types import Source, Unreadable
from webseam.fetch.worker import run_in_worker

DEADLINE = 18.0  # seconds; a page may take 20
MEMORY = 256 * 1024 * 1024  # bytes of address space: more than readers are given, so that what they take is seen
PDF_MEMORY = MAX_MEMORY  # what native code takes can only be bounded from outside
PEAK = 100 * 1024 * 1024  # bytes over idle, the document included
TEXT = 5 * 1024 * 1024  # bytes at which text is cut on its way
FILE = 20 * 1024 * 1024  # bytes at which documents are

# Reads with the reader that it is told, and says how much memory that took.
MEASURED = """
import importlib
import resource
import sys
from webseam.fetch.types import Reading, Source, Unreadable

def peak():
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

def read(source, *, reader, seconds, sample):
    module = importlib.import_module("webseam.fetch.readers." + reader)
    options = {"seconds": seconds} if "seconds" in (module.read.__kwdefaults__ or {}) else {}
    try:
        module.read(Source(body=bytes.fromhex(sample), url=source.url, media_type=source.media_type), **options)
    except Unreadable:
        pass
    idle = peak() - len(source.body)

    def taken():  # the system counts in steps for each processor, so that a peak can seem to go down a little
        return max(0, peak() - idle)

    try:
        reading = module.read(source, **options)
    except Unreadable as error:
        raise Unreadable(error.detail, outcome=error.outcome, hint=str(taken())) from None
    reading.removed["peak"] = taken()
    return reading
"""

# Reads many bodies one after the other, each a pattern repeated: none may take a reader longer than it is long.
REPEATED = """
import importlib
from webseam.fetch.types import Reading, Source, Unreadable

def read(source, *, module, function, patterns, size, types):
    call = getattr(importlib.import_module(module), function)
    for pattern in patterns:
        for kind in types:
            text = (pattern * (size // len(pattern) + 1))[:size]
            try:
                if function == "read":
                    call(Source(body=text.encode(), url=source.url, media_type=kind))
                else:
                    call(text.encode(), *source.url.split())
            except Unreadable:
                pass
    return Reading(markdown=str(len(patterns)))
"""


@pytest.fixture(autouse=True)
def _readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package = tmp_path / "hostile_readers"
    package.mkdir()
    (package / "measured.py").write_text(MEASURED, encoding="utf-8")
    (package / "repeated.py").write_text(REPEATED, encoding="utf-8")
    monkeypatch.setattr(worker, "READERS", package.name)
    monkeypatch.syspath_prepend(str(tmp_path))
    worker.close()  # a child that is warm from another test would look for readers elsewhere
    yield
    worker.close()  # each is measured in a child of its own


def zipped(parts: dict[str, bytes]) -> bytes:
    return packages.zipped(parts)


def html(inside: str) -> bytes:
    return f"<!doctype html><title>t</title><body>{inside}".encode()


def entities(count: int) -> str:
    declared = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, count))
    return f'<!DOCTYPE r [<!ENTITY e0 "lol">{declared}]>'


def word(inside: str, before: str = "") -> bytes:
    document = f"{before}<w:document {packages.NAMESPACES}><w:body>{inside}</w:body></w:document>"
    return packages.office("word/document.xml", {"word/document.xml": document})


def sheet(inside: str, **more: str) -> bytes:
    return packages.xlsx({"S": inside}, **more)  # type: ignore[arg-type]


def chapter(inside: str) -> bytes:
    return packages.epub({"a.xhtml": f"<body>{inside}".encode()})


def overlapping(entries: int, size: int) -> bytes:
    """A zip file all of whose entries are the same packed bytes."""
    whole = zipped({"word/document.xml": bytes(size)})
    start = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    central = whole[start:end] * entries
    return whole[:start] + central + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, entries, entries, len(central), start, 0)


def many_entries(count: int) -> bytes:
    files, central = [], []
    for place in range(count):
        head = struct.pack("<5H3L2H", 20, 0, 0, 0, 0, 0, 0, 0, 6, 0)
        files.append(b"PK\3\4" + head + b"%06d" % place)
        central.append(b"PK\1\2\x14\0" + head + struct.pack("<3H2L", 0, 0, 0, 0, place * 36) + b"%06d" % place)
    listed = b"".join(central)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count % 65_536, count % 65_536, len(listed), count * 36, 0)
    long = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(listed), count * 36)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, count * 36 + len(listed), 1)
    return b"".join(files) + listed + long + locator + end


def nested_zip(levels: int) -> bytes:
    body = zipped({"zeros": bytes(1 << 24)})
    for _ in range(levels):
        body = zipped({f"{place}.zip": body for place in range(10)})
    return body


def sparse_tar() -> bytes:
    entry = tarfile.TarInfo("sparse.bin")
    entry.size = 1 << 50
    return entry.tobuf(format=tarfile.GNU_FORMAT) + bytes(10_240)


def png(width: int, height: int) -> bytes:
    head = struct.pack(">2L5B", width, height, 8, 6, 0, 0, 0)
    chunk = b"IHDR" + head
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">L", len(head)) + chunk + struct.pack(">L", zlib.crc32(chunk))


def pdf_bomb(size: int) -> bytes:
    return make(zlib.compress(bytes(size), 1))


def pdf_pages(count: int) -> bytes:
    return make(*(lines(700, f"Page {number}.") for number in range(count)))


def notebook(cells: list[dict[str, object]]) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def names(count: int) -> bytes:
    return ("{" + ",".join(f'"{n:x}":1' for n in range(count)) + "}").encode()


def output(text: str) -> dict[str, object]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def code(outputs: list[dict[str, object]]) -> dict[str, object]:
    return {"cell_type": "code", "source": "x", "metadata": {}, "execution_count": 1, "outputs": outputs}


CSV, JSON, LINES, XML = "text/csv", "application/json", "application/x-ndjson", "application/xml"
SVG, MD, PLAIN = "image/svg+xml", "text/markdown", "text/plain"
ROW = '<row r="{0}"><c r="A{0}" t="s"><v>{0}</v></c></row>'
PART = "<w:r><w:rPr><w:b/></w:rPr><w:t>a</w:t></w:r><w:r><w:t>b</w:t></w:r>"

# What it is, the reader, its media type, how it is made, and what comes back: "read", or words of the refusal.
Row = tuple[str, str, str, Callable[[], bytes], str]
ROWS: tuple[Row, ...] = (
    ("text on one line", "plain", PLAIN, lambda: b"a" * TEXT, "read"),
    ("words on one line", "plain", PLAIN, lambda: b"word " * (TEXT // 5), "read"),
    ("Markdown on one line", "plain", MD, lambda: b"[a](b) **c** " * (TEXT // 13), "read"),
    ("lines of nothing", "plain", PLAIN, lambda: b"\n" * TEXT, "read"),
    ("text whose charset is a compressor", "plain", PLAIN, lambda: zlib.compress(bytes(1 << 26)), "read"),
    ("JSON on one line", "data", JSON, lambda: b"[" + b'{"a":"b"},' * (TEXT // 10) + b"1]", "read"),
    ("JSON of one string", "data", JSON, lambda: b'"' + b"a" * TEXT + b'"', "read"),
    ("JSON of one number", "data", JSON, lambda: b"1" * TEXT, "read"),
    ("JSON of numbers", "data", JSON, lambda: b"[" + b"1," * (TEXT // 2) + b"1]", "read"),
    ("JSON of empty arrays", "data", JSON, lambda: b"[" + b"[]," * (TEXT // 3) + b"1]", "read"),
    ("JSON 100,000 deep", "data", JSON, lambda: b"[" * 100_000 + b"]" * 100_000, "read"),
    ("JSON of 50 MB, cut", "data", JSON, lambda: (b"[" + b'{"name":"value","n":1},' * 2_200_000)[:TEXT], "read"),
    ("JSON of one name again and again", "data", JSON, lambda: b"{" + b'"a":1,' * (TEXT // 6) + b'"a":1}', "read"),
    ("JSON of a million names", "data", JSON, lambda: json.dumps({str(n): 1 for n in range(400_000)}).encode(), "read"),
    ("JSON of 600,000 short names", "data", JSON, lambda: names(600_000), "read"),
    ("lines of JSON", "data", LINES, lambda: b'{"a":[1,2,{"b":null}]}\n' * (TEXT // 23), "read"),
    ("lines of brackets", "data", LINES, lambda: (b"[" * 5_000 + b"\n") * (TEXT // 5_001), "read"),
    ("entities in entities", "data", XML, lambda: (entities(12) + "<r>&e11;</r>").encode(), "entities"),
    (
        "an entity said 100,000 times",
        "data",
        XML,
        lambda: f'<!DOCTYPE r [<!ENTITY e "{"a" * 50_000}">]><r>{"&e;" * 100_000}</r>'.encode(),
        "read",
    ),
    (
        "an entity that is a file",
        "data",
        XML,
        lambda: b'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>',
        "entities",
    ),
    ("XML 100,000 deep", "data", XML, lambda: b"<a>" * 100_000 + b"</a>" * 100_000, "read"),
    ("XML of elements", "data", XML, lambda: b"<r>" + b"<a/>" * (TEXT // 4) + b"</r>", "read"),
    (
        "XML of attributes",
        "data",
        XML,
        lambda: ("<r " + " ".join(f'a{n}="1"' for n in range(200_000)) + "/>").encode(),
        "read",
    ),
    ("XML of one text", "data", XML, lambda: b"<r>" + b"a" * TEXT + b"</r>", "read"),
    (
        "SVG of 200 MB, cut",
        "image",
        SVG,
        lambda: b'<svg xmlns="http://www.w3.org/2000/svg">' + b'<path d="M0 0"/>' * (TEXT // 16),
        "read",
    ),
    ("SVG with entities", "image", SVG, lambda: (entities(12) + "<svg><text>&e11;</text></svg>").encode(), "read"),
    ("one column", "data", CSV, lambda: b"abcdefgh\n" * (TEXT // 9), "read"),
    ("100,000 columns", "data", CSV, lambda: (b"a," * 100_000 + b"\n") * (TEXT // 200_001), "read"),
    ("a quote that never ends", "data", CSV, lambda: b'a,b\n"' + b"c,d\n" * (TEXT // 4), "read"),
    ("quotes", "data", CSV, lambda: b'"' * TEXT, "read"),
    (
        "100,000 entries",
        "syndicated",
        "application/rss+xml",
        lambda: (
            b"<rss><channel><title>t</title>" + b"<item><title>a</title><link>https://e.org/</link></item>" * 100_000
        ),
        "read",
    ),
    (
        "an entry of 5 MB",
        "syndicated",
        "application/rss+xml",
        lambda: (
            b"<rss><channel><item><description>" + b"&lt;b>" * (TEXT // 6) + b"</description></item></channel></rss>"
        ),
        "read",
    ),
    (
        "entries of nested HTML",
        "syndicated",
        "application/rss+xml",
        lambda: b"<rss><channel>" + (b"<item><description>" + b"&lt;div>" * 10_000 + b"</description></item>") * 60,
        "read",
    ),
    (
        "a JSON feed of 100,000 entries",
        "syndicated",
        "application/feed+json",
        lambda: json.dumps(
            {
                "version": "https://jsonfeed.org/version/1.1",
                "title": "t",
                "items": [{"id": str(n), "content_text": "a"} for n in range(100_000)],
            }
        ).encode(),
        "read",
    ),
    ("a notebook with an output of 5 MB", "notebook", "", lambda: notebook([code([output("a" * TEXT)])]), "read"),
    ("a notebook of 100,000 outputs", "notebook", "", lambda: notebook([code([output("a\n")] * 50_000)]), "read"),
    (
        "a notebook of pictures",
        "notebook",
        "",
        lambda: notebook(
            [code([{"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * 1_000_000}}])] * 5
        ),
        "read",
    ),
    ("a notebook of 50,000 cells", "notebook", "", lambda: notebook([code([])] * 50_000), "too many parts"),
    ("a PDF whose page unpacks to 128 MB", "pdf", "", lambda: pdf_bomb(1 << 27), "crashed"),
    ("a PDF of 50,000 pages", "pdf", "", lambda: pdf_pages(50_000), "read"),
    ("a PDF that claims a billion pages", "pdf", "", lambda: make(lines(700, "One."), count=1_000_000_000), "read"),
    ("a PDF whose pages are its own parents", "pdf", "", lambda: make(lines(700, "One."), kids="2 0 R " * 50), "bytes"),
    ("a PDF with a password", "pdf", "", lambda: make(lines(700, "One."), password="x"), "encrypted"),
    (
        "a PDF with scripts",
        "pdf",
        "",
        lambda: make(lines(700, "One."), catalog="/OpenAction<</S/JavaScript/JS(while\\(1\\);)>>"),
        "read",
    ),
    ("a PDF without its last 4 KB", "pdf", "", lambda: pdf_pages(40)[:-4_096], "read"),
    ("zip files in zip files", "archive", "", lambda: nested_zip(3), "read"),
    ("a zip file of entries that overlap", "archive", "", lambda: overlapping(5_000, 1 << 24), "read"),
    ("a zip file of 100,000 entries", "archive", "", lambda: many_entries(100_000), "read"),
    ("a tar with a file of a petabyte", "archive", "", sparse_tar, "read"),
    ("a tar of folders", "archive", "", lambda: (lambda entry: entry.tobuf() * 40_000)(folder()), "read"),
    ("a tar in gzip with a file of 96 MB", "archive", "", lambda: gzip.compress(tar_of(96 << 20), 1), "read"),
    ("a tar in bzip2 with a file of 96 MB", "archive", "", lambda: bz2.compress(tar_of(96 << 20), 1), "read"),
    ("a tar in xz with a file of 96 MB", "archive", "", lambda: lzma.compress(tar_of(96 << 20), preset=0), "read"),
    ("a picture of 100,000 x 100,000", "image", "image/png", lambda: png(100_000, 100_000), "read"),
    ("a GIF that is cut", "image", "image/gif", lambda: b"GIF89a\x10\x00\x10\x00", "read"),
    ("a JPEG that is cut", "image", "image/jpeg", lambda: b"\xff\xd8\xff\xe0\x00\x10JFIF", "read"),
    (
        "a JPEG of empty segments",
        "image",
        "image/jpeg",
        lambda: b"\xff\xd8" + b"\xff\xe0\x00\x02" * (TEXT // 4),
        "read",
    ),
    ("a JPEG of marks", "image", "image/jpeg", lambda: b"\xff\xd8" + b"\xff" * TEXT, "read"),
    ("Word: a body of 80 MB", "docx", "", lambda: word("<w:p>" + " " * (80 << 20) + "</w:p>"), "unpacks to more"),
    ("Word: 300,000 paragraphs", "docx", "", lambda: word("<w:p/>" * 300_000), "holds no text"),
    ("Word: 300,000 runs in a paragraph", "docx", "", lambda: word(f"<w:p>{PART * 150_000}</w:p>"), "read"),
    (
        "Word: 200,000 cells",
        "docx",
        "",
        lambda: word(
            f"<w:tbl>{('<w:tr>' + '<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>' * 10 + '</w:tr>') * 20_000}</w:tbl>"
        ),
        "read",
    ),
    (
        "Word: tables in tables",
        "docx",
        "",
        lambda: word(
            "<w:tbl><w:tr><w:tc>" * 600 + "<w:p><w:r><w:t>a</w:t></w:r></w:p>" + "</w:tc></w:tr></w:tbl>" * 600
        ),
        "read",
    ),
    ("Word: 100,000 deep", "docx", "", lambda: word("<w:p>" * 100_000 + "</w:p>" * 100_000), "nested deeper"),
    (
        "Word: 200,000 attributes",
        "docx",
        "",
        lambda: word("<w:p " + " ".join(f'a{n}="1"' for n in range(200_000)) + "/>"),
        "1,048,576 bytes",
    ),
    ("Word: a comment of 10 MB", "docx", "", lambda: word("<!--" + "a" * (10 << 20) + "-->"), "1,048,576 bytes"),
    ("Word: entities", "docx", "", lambda: word("<w:p><w:r><w:t>&e11;</w:t></w:r></w:p>", entities(12)), "entities"),
    ("Word: entries that overlap", "docx", "", lambda: overlapping(60_000, 1 << 24), "damaged"),
    ("Word: 100,000 entries", "docx", "", lambda: many_entries(100_000), "damaged"),
    (
        "Word: a picture of 80 MB",
        "docx",
        "",
        lambda: packages.docx("<w:p><w:r><w:t>a</w:t></w:r></w:p>", parts={"word/media/a.png": bytes(80 << 20)}),
        "read",
    ),
    (
        "Word: a wall of styles",
        "docx",
        "",
        lambda: packages.docx(
            "<w:p><w:r><w:t>a</w:t></w:r></w:p>",
            styles="".join(f'<w:style w:styleId="{n}"><w:basedOn w:val="{n + 1}"/></w:style>' for n in range(50_000)),
        ),
        "read",
    ),
    (
        "a sheet of 100,000 rows",
        "xlsx",
        "",
        lambda: sheet(
            f"<sheetData>{''.join(ROW.format(n) for n in range(1, 100_000))}</sheetData>",
            texts="<si><t>a text</t></si>" * 200_000,
        ),
        "read",
    ),
    (
        "a sheet of empty cells",
        "xlsx",
        "",
        lambda: sheet(f"<sheetData>{'<row>' + '<c/>' * 700_000}</row></sheetData>"),
        "holds no values",
    ),
    (
        "a sheet of one cell of 50 MB",
        "xlsx",
        "",
        lambda: sheet(f'<sheetData><row><c t="inlineStr"><is><t>{"a" * (50 << 20)}</t></is></c></row></sheetData>'),
        "read",
    ),
    (
        "texts of 50 MB",
        "xlsx",
        "",
        lambda: sheet(
            '<sheetData><row><c t="s"><v>0</v></c></row></sheetData>', texts=f"<si><t>{'a' * (50 << 20)}</t></si>"
        ),
        "read",
    ),
    (
        "a sheet with all columns hidden",
        "xlsx",
        "",
        lambda: sheet(
            '<cols><col min="1" max="16384" hidden="1"/></cols>' * 10_000
            + "<sheetData><row><c><v>1</v></c></row></sheetData>"
        ),
        "holds no values",
    ),
    (
        "2,000 slides",
        "pptx",
        "",
        lambda: packages.pptx(["<p:sp><p:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></p:txBody></p:sp>"] * 2_000),
        "read",
    ),
    (
        "a slide of 200,000 paragraphs",
        "pptx",
        "",
        lambda: packages.pptx(
            ["<p:sp><p:txBody>" + "<a:p><a:r><a:t>a</a:t></a:r></a:p>" * 200_000 + "</p:txBody></p:sp>"]
        ),
        "read",
    ),
    ("a chapter of 20 MB", "epub", "", lambda: chapter("<p>" + "a " * (10 << 20)), "read"),
    ("a chapter of nested elements", "epub", "", lambda: chapter("<div>" * 400_000 + "a"), "read"),
    ("a chapter of <", "epub", "", lambda: chapter("a" + "<" * 4_000_000), "read"),
    (
        "a book of 2,000 chapters",
        "epub",
        "",
        lambda: packages.epub({f"{n}.xhtml": "<p>a</p>" for n in range(2_000)}),
        "read",
    ),
    ("HTML on one line", "html", "", lambda: html("<p>" + "word " * (TEXT // 5)), "read"),
    ("HTML of <", "html", "", lambda: html("a" + "<" * TEXT), ""),
    ("a million nested divs", "html", "", lambda: html("<div>" * 1_000_000 + "text " * 100), ""),
    ("200,000 nested divs", "html", "", lambda: html("<div>" * 200_000 + "a" * 500), "read"),
    (
        "200,000 attributes",
        "html",
        "",
        lambda: html("<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">" + "text " * 100),
        "read",
    ),
    ("10,000 tables in tables", "html", "", lambda: html("<table><tr><td>a" * 10_000), "read"),
)


def folder() -> tarfile.TarInfo:
    entry = tarfile.TarInfo("folder")
    entry.type = tarfile.DIRTYPE
    return entry


def tar_of(size: int) -> bytes:
    entry = tarfile.TarInfo("zeros")
    entry.size = size
    return entry.tobuf() + bytes(size + 1_024)


SAMPLES = {  # something small of each kind: what reading it takes is no part of what is measured
    "plain": b"a",
    "data": b"[1]",
    "syndicated": b"<rss><channel><item><description>&lt;p>a</description></item></channel></rss>",
    "notebook": notebook([code([output("a")])]),
    "pdf": make(lines(700, "a")),
    "archive": packages.zipped({"a": "b"}),
    "image": png(1, 1),
    "docx": word("<w:p><w:r><w:t>a</w:t></w:r></w:p>"),
    "xlsx": sheet("<sheetData><row><c><v>1</v></c></row></sheetData>"),
    "pptx": packages.pptx(["<p:sp><p:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></p:txBody></p:sp>"]),
    "epub": chapter("<p>a</p>"),
    "html": html("<p>a</p><p>b</p>"),
}


async def read(reader: str, body: bytes, media_type: str) -> tuple[str, int]:
    """Return "read" or the words of the refusal, and the bytes of memory that it took."""
    source = Source(
        body=body,
        url="https://example.org/file",
        media_type=media_type,
        charset="zlib_codec",
        truncated=len(body) >= TEXT and reader in ("plain", "data"),
    )
    options = {"reader": reader, "sample": SAMPLES[reader].hex()}
    memory = PDF_MEMORY if reader == "pdf" else MEMORY
    try:
        reading = await run_in_worker(
            "measured", source, expires_at=time.monotonic() + DEADLINE, max_memory=memory, options=options
        )
    except Unreadable as error:
        refused = error
    else:
        return "read", reading.removed["peak"]
    assert refused.outcome in (Outcome.UNSUPPORTED, Outcome.BAD_RESPONSE), refused.detail
    assert "bytes" in refused.detail or "characters" in refused.detail
    said = refused.hint or ""
    return refused.detail, int(said) if said.isdigit() else memory  # of a child that died nobody knows more


@pytest.mark.parametrize(
    ("reader", "media_type", "made", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
async def test_a_hostile_document_is_read_or_refused_within_time_and_memory(
    reader: str, media_type: str, made: Callable[[], bytes], expected: str
) -> None:
    body = made()
    assert len(body) <= FILE + 1_000_000
    answer, peak = await read(reader, body, media_type)
    assert expected in answer
    assert peak < PEAK


# fmt: off
PATTERNS = (
    *"<>&[]()*_`~|\\#-=:;,\"'$!\n \ta0é\u200b",
    "\n ", " \n", "\r\n", "\x1b[", "\x1b]", "<!--", "<![CDATA[", "<?xml ", "<a ", "</a", "<a href='",
    '<p style="', "&#x", "&amp", "&a;", "[a](", "![", "[^1]: ", "> ", "- ", "1. ", "| a ", "|-", "```\n",
    "~~~\n", ":::", "$$", "\\(", "{%", "{{", "---\n", "a: b\n", "key = ", "http://", "a@", "//", "/*", "#!",
    "\\u", "\\ud800", '{"', '[{"a":', '"a",', "a,b;c\td|", '"a""b', "0.0e+", "2026-01-01T",
    "<div style=display:none>", "<pre><code>", "<table><tr>", "<script>", "<svg", "<math><mi>", "<!DOCTYPE ",
    "<!ENTITY a '", "<item>", "xmlns:a=", "<br/>", "<li>", "%PDF-", "a:hover{}",
)
# fmt: on
SIZE = 100_000  # characters of a pattern repeated: what takes their square in steps takes longer than the deadline
READ: dict[str, tuple[str, str, list[str], str]] = {
    "text": ("webseam.fetch.readers.plain", "read", [PLAIN, MD], "https://example.org/file"),
    "source code": ("webseam.fetch.readers.plain", "read", [PLAIN], "https://example.org/file.py"),
    "JSON": ("webseam.fetch.readers.data", "read", [JSON, LINES], "https://example.org/file"),
    "tables and XML": ("webseam.fetch.readers.data", "read", [CSV, XML], "https://example.org/file"),
    "pages": ("webseam.fetch.readers.html", "read", ["text/html"], "https://example.org/file"),
    "feeds": ("webseam.fetch.readers.syndicated", "read", ["application/rss+xml"], "https://example.org/file"),
    "pictures": ("webseam.fetch.readers.image", "read", [SVG], "https://example.org/file"),
    "PDF": ("webseam.fetch.readers.pdf", "read", ["application/pdf"], "https://example.org/file"),
    "telling what it is": ("webseam.fetch.sniff", "sniff", ["bytes"], "text/html https://example.org/file"),
}


@pytest.mark.parametrize(("module", "function", "types", "url"), READ.values(), ids=READ.keys())
@pytest.mark.parametrize("half", [0, 1], ids=["some", "others"])
async def test_no_pattern_repeated_takes_a_reader_longer_than_it_is_long(
    module: str, function: str, types: list[str], url: str, half: int
) -> None:
    patterns = PATTERNS[half::2]
    options = {"module": module, "function": function, "patterns": list(patterns), "size": SIZE, "types": types}
    reading = await run_in_worker(
        "repeated",
        Source(body=b"", url=url),
        expires_at=time.monotonic() + DEADLINE,
        max_memory=MEMORY,
        options=options,
    )
    assert reading.markdown == str(len(patterns))
