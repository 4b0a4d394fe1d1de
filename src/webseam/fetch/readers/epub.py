"""The reader of EPUB books: the chapters in their order, each through the reader of web pages' converter.

A book is a zip file of web pages with a list of them. Chapters are read one after the other, so that only one is
ever in memory as a tree. Nothing that a chapter refers to is loaded; links between chapters become their words.
"""

from __future__ import annotations

import posixpath
import re
import time
from typing import TYPE_CHECKING, Final

from webseam.fetch.readers.composing import Composer
from webseam.fetch.readers.moments import moment
from webseam.fetch.readers.package import Package, resolved
from webseam.fetch.readers.parts import Handler, walk
from webseam.fetch.readers.writing import as_title, file_name
from webseam.fetch.types import Reading, Source
from webseam.text import clean, quote

if TYPE_CHECKING:
    from turbohtml import Document

READER: Final = "epub"
SHARE: Final = 0.75  # of the given time after which no further chapter is begun
_MAX_CHAPTER: Final = 4 * 1_048_576  # bytes; of one that is longer the beginning is read
_MAX_CHAPTERS: Final = 5_000
_MAX_AUTHORS: Final = 5
_MAX_ITEMS: Final = 50_000  # files of a book
_PAGES: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
_FONTS: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # fonts made unfit for copying
_NOT_EMPTY: Final = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_DECLARATION = re.compile(r"\A\s*<\?xml[^<>]*>")
# An element that XML lets end at once; a parser of HTML takes all that follows for its inside.
_EMPTY = re.compile(r"<([A-Za-z][\w:.-]*+)([^<>]*)/>")


def read(source: Source, *, seconds: float | None = None) -> Reading:
    """Return a book as Markdown: all chapters of its spine; its own table of contents is left out.

    Args:
        seconds: time there is; a book that takes longer is cut between chapters, and says so.

    Raises:
        Unreadable: `unsupported` when it is encrypted, too large or without text; `bad_response` when it is damaged.
    """
    until = None if seconds is None else time.monotonic() + seconds * SHARE
    package = Package(source, "EPUB")
    container = _Container()
    walk(package, "META-INF/container.xml", container)
    if not container.part or container.part not in package:
        raise package.damaged(f"it says that {quote(container.part or 'nothing')} lists its chapters, which is missing")
    book = _Book(container.part)
    walk(package, container.part, book)
    _refuse_if_encrypted(package, book)
    composer = Composer()
    removed: dict[str, int] = {}
    missing, cut = 0, ""
    for place, part in enumerate(book.chapters):
        if composer.left <= 0 or (until is not None and time.monotonic() > until):
            why = "there is more text than fits" if composer.left <= 0 else "time was short"
            cut = f"Left out: chapters {place + 1:,} to {len(book.chapters):,}, as {why}."
            break
        if part not in package:
            missing += 1
        elif not _add(package, part, composer, removed):
            cut = f"Left out: the end of chapter {place + 1:,} of {len(book.chapters):,}, which is very long."
    if book.contents:
        removed["navigation"] = removed.get("navigation", 0) + book.contents
    markdown = composer.markdown
    if not markdown.strip():
        raise package.wordless(is_whole=not cut, in_time=not cut or composer.left <= 0)
    return Reading(
        markdown=clean(markdown),
        title=as_title(book.first("dc:title")) or file_name(source.url),
        author=as_title(", ".join(book.said.get("dc:creator", [])[:_MAX_AUTHORS])),
        published=moment(book.first("dc:date")),
        language=as_title(book.first("dc:language")),
        links=composer.links,
        reader=READER,
        removed=removed,
        notes=[cut] * bool(cut) + [f"Chapters that are listed and missing: {missing:,}."] * bool(missing),
        truncated=bool(cut or missing),
    )


class _Container(Handler):
    """The name of the part that describes the book."""

    def __init__(self) -> None:
        self.part = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "ocf:rootfile" and not self.part:
            self.part = resolved("", attributes.get("full-path", ""))


class _Book(Handler):
    """What a book says about itself, and its chapters: names of parts in reading order."""

    def __init__(self, part: str) -> None:
        self.said: dict[str, list[str]] = {}
        self.chapters: list[str] = []
        self.contents = 0
        self._part = part
        self._items: dict[str, tuple[str, bool]] = {}
        self._takes = ""
        self._words = ""

    def first(self, name: str) -> str | None:
        return next(iter(self.said.get(name, ())), None)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name.startswith("dc:"):
            self._takes, self._words = name, ""
        elif name == "opf:item" and len(self._items) < _MAX_ITEMS:
            if attributes.get("media-type", "").lower() in _PAGES:
                is_contents = "nav" in attributes.get("properties", "").split()
                self._items[attributes.get("id", "")] = resolved(self._part, attributes.get("href", "")), is_contents
        elif name == "opf:itemref" and (item := self._items.get(attributes.get("idref", ""))):
            if item[1]:
                self.contents += 1
            elif len(self.chapters) < _MAX_CHAPTERS:
                self.chapters.append(item[0])

    def text(self, words: str) -> None:
        if self._takes and len(self._words) < 1_000:
            self._words += words[:1_000]

    def end(self, name: str) -> None:
        if name == self._takes:
            if words := " ".join(self._words.split()):
                self.said.setdefault(name, []).append(words)
            self._takes = ""


class _Encrypted(Handler):
    """The names of parts that are encrypted with more than what keeps fonts from being copied."""

    def __init__(self) -> None:
        self.parts: set[str] = set()
        self._method = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "enc:EncryptedData":
            self._method = ""
        elif name == "enc:EncryptionMethod":
            self._method = self._method or attributes.get("Algorithm", "")
        elif name == "enc:CipherReference" and self._method not in _FONTS and len(self.parts) < _MAX_ITEMS:
            self.parts.add(resolved("", attributes.get("URI", "")))


def _refuse_if_encrypted(package: Package, book: _Book) -> None:
    if "META-INF/encryption.xml" in package:
        found = _Encrypted()
        walk(package, "META-INF/encryption.xml", found)
        if found.parts.intersection(book.chapters):
            raise package.encrypted()


def _add(package: Package, part: str, composer: Composer, removed: dict[str, int]) -> bool:
    """Add a chapter. Returns False when only its beginning was read."""
    import turbohtml

    from webseam.fetch.decode import decode
    from webseam.fetch.readers.html.hidden import remove_hidden

    steps: list[bytes] = []
    size = 0
    for step in package.chunks(part):
        steps.append(step)
        size += len(step)
        if size > _MAX_CHAPTER:
            break
    text = decode(b"".join(steps)[:_MAX_CHAPTER], None, html=True).text
    room = max(composer.left, 0)
    document = turbohtml.parse(_EMPTY.sub(_opened, _DECLARATION.sub("", text[:room], count=1)))
    for kind, count in remove_hidden(document).items():
        removed[kind] = removed.get(kind, 0) + count
    _mark_notes(document, part)
    body = document.select_one("body")
    composer.add_tree(body if body is not None else document, min(len(text), room))
    return size <= _MAX_CHAPTER and len(text) <= room


def _opened(found: re.Match[str]) -> str:
    """Return an element without contents as HTML has it."""
    name, attributes = found[1], found[2]
    return found[0] if name.lower() in _NOT_EMPTY else f"<{name}{attributes}></{name}>"


def _mark_notes(document: Document, part: str) -> None:
    """Say in the words of HTML which links lead to notes; addresses of the chapter itself become fragments."""
    name = posixpath.basename(part)
    for link in document.select("a[href]"):
        head, mark, fragment = (link.attr("href") or "").partition("#")
        if mark and head == name:
            link.attrs["href"] = f"#{fragment}"
        if "noteref" in (link.attr("epub:type") or "").split():
            link.attrs["role"] = "doc-noteref"
