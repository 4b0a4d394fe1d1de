import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.fetch.sniff import Sniffed, looks_like_text, sniff

URL = "https://example.org/page"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(20)
ELF = b"\x7fELF\x02\x01\x01" + bytes(60)
NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
PAGE = b"<!DOCTYPE html><html><title>t</title><p>text</p></html>"
ATOM = b'<?xml version="1.0"?>\n<!-- made -->\n<feed xmlns="http://www.w3.org/2005/Atom"></feed>'
RSS = b'<rss version="2.0"><channel></channel></rss>'
SVG = b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><svg width="1"/>'


def zipped(*names: str, first: str = "") -> bytes:
    """Return a zip with such entries; `first` is what an entry `mimetype` holds at its beginning."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if first:
            archive.writestr("mimetype", first)
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


def kind_of(body: bytes, declared: str = "", url: str = URL) -> str:
    return sniff(body, declared, url).kind


@pytest.mark.parametrize(
    ("body", "kind", "media_type"),
    [
        pytest.param(PNG, "image", "image/png", id="PNG"),
        pytest.param(b"\xff\xd8\xff\xe0" + bytes(20), "image", "image/jpeg", id="JPEG"),
        pytest.param(b"GIF89a" + bytes(20), "image", "image/gif", id="GIF"),
        pytest.param(b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image", "image/webp", id="WebP"),
        pytest.param(b"BM" + bytes(12) + b"\x28" + bytes(20), "image", "image/bmp", id="BMP"),
        pytest.param(b"\x00\x00\x01\x00\x01\x00" + bytes(20), "image", "image/vnd.microsoft.icon", id="ICO"),
        pytest.param(b"\x00\x00\x00\x1cftypavif" + bytes(20), "image", "image/avif", id="AVIF"),
        pytest.param(b"\x00\x00\x00\x1cftypheic" + bytes(20), "image", "image/heic", id="HEIC"),
        pytest.param(b"\x00\x00\x00\x1cftypisom" + bytes(20), "binary", "video/mp4", id="MP4"),
        pytest.param(b"RIFF\x10\x00\x00\x00WAVEfmt ", "binary", "audio/wav", id="WAV"),
        pytest.param(b"%PDF-1.7\n%\xe2\xe3", "pdf", "application/pdf", id="PDF"),
        pytest.param(b"\r\n junk %PDF-1.4", "pdf", "application/pdf", id="PDF behind junk"),
        pytest.param(b"\x1f\x8b\x08" + bytes(10), "archive", "application/gzip", id="gzip"),
        pytest.param(bytes(257) + b"ustar\x00" + bytes(300), "archive", "application/x-tar", id="tar"),
        pytest.param(b"BZh91AY&SY" + bytes(10), "archive", "application/x-bzip2", id="bzip2"),
        pytest.param(b"7z\xbc\xaf\x27\x1c" + bytes(10), "archive", "application/x-7z-compressed", id="7z"),
        pytest.param(ELF, "binary", "application/x-elf", id="ELF"),
        pytest.param(
            b"MZ" + bytes(58) + b"\x40\x00\x00\x00PE\x00\x00",
            "binary",
            "application/vnd.microsoft.portable-executable",
            id="Windows program",
        ),
        pytest.param(b"\x00asm\x01\x00\x00\x00", "binary", "application/wasm", id="WebAssembly"),
        pytest.param(b"SQLite format 3\x00" + bytes(20), "binary", "application/vnd.sqlite3", id="SQLite"),
        pytest.param(
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + "WordDocument".encode("utf-16-le"),
            "binary",
            "application/msword",
            id="old Word",
        ),
        pytest.param(bytes(range(256)), "binary", "application/octet-stream", id="unknown"),
        pytest.param(zipped("a.txt"), "archive", "application/zip", id="zip"),
        pytest.param(zipped("[Content_Types].xml", "a.txt"), "archive", "application/zip", id="zip with a types file"),
        pytest.param(
            zipped("[Content_Types].xml", "word/document.xml"),
            "docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            id="Word",
        ),
        pytest.param(
            zipped("[Content_Types].xml", "ppt/presentation.xml"),
            "pptx",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            id="PowerPoint",
        ),
        pytest.param(
            zipped("[Content_Types].xml", "xl/workbook.xml"),
            "xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            id="Excel",
        ),
        pytest.param(
            zipped("[Content_Types].xml", "word/document.xml")[:80],
            "archive",
            "application/zip",
            id="Word, only its first bytes",
        ),
        pytest.param(zipped("OPS/a.opf", first="application/epub+zip"), "epub", "application/epub+zip", id="EPUB"),
        pytest.param(
            zipped("META-INF/container.xml", "content.opf"), "epub", "application/epub+zip", id="EPUB without its mark"
        ),
        pytest.param(
            zipped("content.xml", first="application/vnd.oasis.opendocument.text"),
            "binary",
            "application/vnd.oasis.opendocument.text",
            id="OpenDocument",
        ),
    ],
)
def test_bytes_that_are_no_text_are_what_they_begin_with(body: bytes, kind: str, media_type: str) -> None:
    assert sniff(body, "", URL) == Sniffed(kind=kind, media_type=media_type)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "kind", "media_type"),
    [
        pytest.param(ELF, "binary", "application/x-elf", id="a program"),
        pytest.param(zipped("a"), "archive", "application/zip", id="a zip"),
        pytest.param(PNG, "image", "image/png", id="a picture"),
        pytest.param(bytes(range(256)), "binary", "application/octet-stream", id="anything"),
        pytest.param(b"%PDF-1.7\n", "pdf", "application/pdf", id="a PDF"),
        pytest.param(b'{"a": 1}', "json", "application/json", id="JSON"),
        pytest.param(ATOM, "feed", "application/xml", id="a feed"),
        pytest.param(b"just words\n", "text", "text/plain", id="text"),
    ],
)
def test_what_is_declared_as_a_page_and_is_none_is_told(body: bytes, kind: str, media_type: str) -> None:
    assert sniff(body, "text/html", URL) == Sniffed(
        kind=kind,  # type: ignore[arg-type]
        media_type=media_type,
        mismatch=f"declared text/html, is {media_type}",
    )


@pytest.mark.parametrize(
    "declared", ["application/json", "application/pdf", "image/png", "video/mp4", "application/xml"]
)
def test_a_page_is_a_page_whatever_it_is_declared_as(declared: str) -> None:
    assert sniff(PAGE, declared, URL) == Sniffed(
        kind="html", media_type="text/html", mismatch=f"declared {declared}, is text/html"
    )


@pytest.mark.parametrize(
    ("body", "declared", "kind"),
    [
        pytest.param(PAGE, "", "html", id="a page without a type"),
        pytest.param(b"  \n<html lang=en>", "application/octet-stream", "html", id="a page of bytes"),
        pytest.param(b"\xef\xbb\xbf<!-- c -->\n<!doctype html>", "", "html", id="a page behind a mark and a comment"),
        pytest.param(PAGE.decode().encode("utf-16"), "", "html", id="a page in UTF-16"),
        pytest.param(PAGE.decode().encode("utf-16-be"), "", "html", id="a page in UTF-16 without a mark"),
        pytest.param(b"<div>a</div>", "text/html", "html", id="a fragment"),
        pytest.param(b"words <b>with</b> tags", "text/html", "html", id="words with tags"),
        pytest.param(b"AT&amp;T", "text/html", "html", id="words with entities"),
        pytest.param(b"", "text/html", "html", id="an empty page"),
        pytest.param(b"<?xml version='1.0'?><!DOCTYPE html><html/>", "application/xhtml+xml", "html", id="XHTML"),
        pytest.param(b"<?xml version='1.0'?><html xmlns='x'/>", "text/xml", "html", id="XHTML as XML"),
        pytest.param(ATOM, "application/atom+xml", "feed", id="Atom"),
        pytest.param(ATOM, "text/xml", "feed", id="Atom as XML"),
        pytest.param(RSS, "", "feed", id="RSS without a declaration"),
        pytest.param(b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", "text/xml", "feed", id="RSS 1.0"),
        pytest.param(b"<rdf:RDF xmlns:foaf='x'>", "application/rdf+xml", "xml", id="RDF"),
        pytest.param(b"<?xml version='1.0'?><urlset/>", "text/xml", "xml", id="a sitemap"),
        pytest.param(b"<project xmlns='x'/>", "", "xml", id="XML by its name space"),
        pytest.param(b"<T> is a type parameter", "", "text", id="words about markup"),
        pytest.param(SVG, "image/svg+xml", "image", id="SVG"),
        pytest.param(SVG, "text/xml", "image", id="SVG as XML"),
        pytest.param(b'{"a": 1}', "application/json", "json", id="JSON"),
        pytest.param(b'{"a": 1}', "application/ld+json", "json", id="JSON of a vocabulary"),
        pytest.param(b' [1, {"a": 2}]', "", "json", id="JSON without a type"),
        pytest.param(b"{not json}", "", "text", id="braces"),
        pytest.param(b"[" * 100_000, "", "text", id="brackets"),
        pytest.param(b'{"a": 1}\n{"a": 2}\n', "application/json", "jsonl", id="lines declared as JSON"),
        pytest.param(b'{"a": 1}\n{"a": 2}\n', "application/x-ndjson", "jsonl", id="JSON lines"),
        pytest.param(b'{"a": 1}\n[2]\n', "", "jsonl", id="JSON lines without a type"),
        pytest.param(NOTEBOOK, "application/json", "notebook", id="a notebook as JSON"),
        pytest.param(NOTEBOOK, "application/x-ipynb+json", "notebook", id="a notebook"),
        pytest.param(b"a,b\n1,2\n", "text/csv", "csv", id="CSV"),
        pytest.param(b"# Title", "text/markdown", "markdown", id="Markdown"),
        pytest.param(b"<h1 align=center>Title</h1>\n\ntext", "text/markdown", "markdown", id="Markdown with a tag"),
        pytest.param(PAGE, "text/markdown", "html", id="a page as Markdown"),
        pytest.param(PAGE, "text/plain", "text", id="the source of a page"),
        pytest.param(b"words", "text/plain", "text", id="plain text"),
        pytest.param(b"words", "", "text", id="text without a type"),
        pytest.param(b"caf\xe9 cr\xe8me", "", "text", id="text in Latin 1"),
        pytest.param(b"\x1b[31mred\x1b[0m", "text/plain", "text", id="a coloured log"),
        pytest.param(b"BM is short for bookmark", "text/plain", "text", id="text that begins like a picture"),
        pytest.param(b"MZ and RIFF and BZh9 are marks", "text/plain", "text", id="text that begins like a program"),
        pytest.param(b"<p>%PDF-1.7 is how they begin</p>", "text/html", "html", id="a page about PDF"),
        pytest.param(b"#!/usr/bin/env python3\n", "", "source", id="a script"),
        pytest.param(b"body { margin: 0 }", "text/css", "source", id="a style sheet"),
    ],
)
def test_kinds_of_text_are_told_apart(body: bytes, declared: str, kind: str) -> None:
    assert kind_of(body, declared) == kind


@pytest.mark.parametrize(
    ("name", "declared", "kind", "language"),
    [
        ("main.py", "text/plain", "source", "python"),
        ("main.py", "", "source", "python"),
        ("a.rs?raw=1", "application/octet-stream", "source", "rust"),
        ("app.ts", "video/mp2t", "source", "typescript"),
        ("Dockerfile", "text/plain", "source", "dockerfile"),
        ("CMakeLists.txt", "text/plain", "source", "cmake"),
        ("values.yaml", "application/yaml", "source", "yaml"),
        ("index.html", "text/plain", "source", "html"),
        ("README.md", "text/plain", "markdown", None),
        ("README.md", "text/html", "markdown", None),
        ("llms.txt", "text/plain", "markdown", None),
        ("data.csv", "text/plain", "csv", None),
        ("data.json", "text/plain", "json", None),
        ("data.jsonl", "application/octet-stream", "jsonl", None),
        ("a.ipynb", "text/plain", "notebook", None),
        ("notes.txt", "text/plain", "text", None),
        ("guide.rst", "text/plain", "text", None),
    ],
)
def test_text_is_what_its_name_says(name: str, declared: str, kind: str, language: str | None) -> None:
    found = sniff(b"whatever it holds\n", declared, f"https://example.org/a/{name}")
    assert (found.kind, found.language) == (kind, language)


@pytest.mark.parametrize(
    ("body", "declared", "url", "media_type"),
    [
        pytest.param(b"x = 1", "text/x-python", URL, "text/x-python", id="source"),
        pytest.param(b"# t", "text/plain", "https://example.org/a.md", "text/plain", id="Markdown as text"),
        pytest.param(ATOM, "application/atom+xml", URL, "application/atom+xml", id="Atom"),
        pytest.param(ATOM, "text/xml", URL, "text/xml", id="a feed as XML"),
        pytest.param(zipped("a.class"), "application/java-archive", URL, "application/zip", id="a kind of zip"),
        pytest.param(bytes(range(256)), "application/x-own", URL, "application/x-own", id="a format of its own"),
        pytest.param(b"a: 1", "application/yaml", "https://example.org/a.yml", "application/yaml", id="YAML"),
    ],
)
def test_a_declared_type_that_leaves_room_for_what_it_is_stands(
    body: bytes, declared: str, url: str, media_type: str
) -> None:
    found = sniff(body, declared, url)
    assert (found.media_type, found.mismatch) == (media_type, None)


def test_text_has_next_to_no_control_characters() -> None:
    assert looks_like_text(b"a" * 99 + b"\x00")
    assert not looks_like_text(b"a" * 9 + b"\x00")
    assert looks_like_text("Съешь ещё этих мягких булок".encode("utf-16-le"))
    assert looks_like_text("text".encode("utf-32"))
    assert not looks_like_text(b"\xff\xfe" + b"\x01\x00" * 9)
    assert not looks_like_text(b"".join(number.to_bytes(2, "little") for number in range(2_000)))


@given(
    st.binary(max_size=200),
    st.sampled_from(["", "text/html", "application/json", "image/png", "x"]),
    st.text(max_size=20),
)
def test_sniffing_never_fails(body: bytes, declared: str, name: str) -> None:
    assert sniff(body, declared, f"https://example.org/{name}").media_type


@given(
    st.sampled_from([PNG, ELF, zipped("[Content_Types].xml", "word/a.xml"), ATOM, SVG, NOTEBOOK]), st.integers(0, 400)
)
def test_a_body_may_end_anywhere(body: bytes, length: int) -> None:
    assert sniff(body[:length], "", URL).kind


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<!--" * 1_000_000, id="comments without an end"),
        pytest.param(b"<?" * 1_000_000, id="instructions without an end"),
        pytest.param(b"<!doctype x [" + b"[" * 4_000_000, id="a document type without an end"),
        pytest.param(b" " * 4_000_000, id="spaces"),
        pytest.param(b"PK\x03\x04" * 1_000_000, id="headers of a zip"),
        pytest.param(b'{"a":' * 800_000, id="nested objects"),
    ],
)
def test_a_body_made_to_be_slow_is_some_kind(body: bytes) -> None:
    assert {sniff(body, declared, URL).kind for declared in ("", "text/html")} <= {
        "text",
        "html",
        "xml",
        "json",
        "archive",
    }
