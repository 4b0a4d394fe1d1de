"""The reader of Word documents: headings, lists with their numbers, tables, notes, code and formulas as Markdown.

Straight from the XML, in one pass. The usual converters build a tree of the document and another of objects: measured,
50 times its size, so that 15 KB made for it take hundreds of megabytes and ten seconds. Nothing a document points to is
loaded, and macros are not looked at.
"""

from __future__ import annotations

import time
from typing import Final

from webseam.fetch.readers.composing import MAX_CHARACTERS, PIECE, Composer
from webseam.fetch.readers.docx_body import Body
from webseam.fetch.readers.docx_styles import Numbering, Styles
from webseam.fetch.readers.package import Package
from webseam.fetch.readers.parts import Handler, Properties, Relations, main_part, walk
from webseam.fetch.readers.writing import as_title, file_name
from webseam.fetch.types import Reading, Source
from webseam.text import clean

READER: Final = "docx"
_NOTED: Final = ("deleted", "comment", "chart")  # counted in words instead
SHARE: Final = 0.75  # of the given time after which no more is taken apart


def read(source: Source, *, seconds: float | None = None) -> Reading:
    """Return a Word document as Markdown; each note stands behind the part of the text that refers to it.

    Args:
        seconds: time there is; a document that takes longer is cut, and says so.

    Raises:
        Unreadable: `unsupported` when it is encrypted, too large or without text; `bad_response` when it is damaged.
    """
    until = None if seconds is None else time.monotonic() + seconds * SHARE
    package = Package(source, "Word document")
    main = main_part(package, "word/document.xml")
    relations = Relations(package, main)
    styles = Styles(package, next(relations.of_kind("styles"), None))
    numbering = Numbering(package, next(relations.of_kind("numbering"), None), styles)
    notes: dict[str, str] = {}
    room = MAX_CHARACTERS // 2
    for kind in ("footnotes", "endnotes"):
        for part in relations.of_kind(kind):
            found = Body(styles, numbering, Relations(package, part), room)
            if part in package:
                walk(package, part, found, until=until)
            found.finish()
            room = found.room
            notes.update({f"{kind[:-1]}-{key}": html for key, html in found.notes.items()})
    body = Body(styles, numbering, relations, MAX_CHARACTERS)
    pages = _Pages(body, notes)
    in_time = walk(package, main, pages, until=until)
    pages.finish()
    return _reading(source, package, pages, body, in_time)


class _Pages(Handler):
    """Converts the body piece by piece while it is read."""

    def __init__(self, body: Body, notes: dict[str, str]) -> None:
        self._body, self._notes = body, notes
        self.composer = Composer()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._body.start(name, attributes)

    def text(self, words: str) -> None:
        self._body.text(words)

    def end(self, name: str) -> None:
        self._body.end(name)
        if self._body.size > PIECE and (html := self._body.take()):
            self._add(html)

    def finish(self) -> None:
        self._add(self._body.finish())

    def _add(self, html: str) -> None:
        asides = []
        for key in self._body.references:
            if note := self._notes.pop(key, ""):
                asides.append(f'<aside id="{key}">{note}</aside>')
        self._body.references.clear()
        self.composer.add(html + "".join(asides))


def _reading(source: Source, package: Package, pages: _Pages, body: Body, in_time: bool) -> Reading:
    markdown = pages.composer.markdown
    if not markdown.strip():
        raise package.wordless(is_whole=not body.is_cut, in_time=in_time)
    about = Properties(package)
    removed = {kind: count for kind, count in body.removed.items() if count and kind not in _NOTED}
    if any(name.endswith("vbaproject.bin") for name in package.names()):
        removed["script"] = 1
    notes = []
    if body.is_cut or not in_time:
        notes.append(f"Only the beginning was read: {'there is more text than fits' if in_time else 'time was short'}.")
    if body.removed["deleted"]:
        notes.append("Changes are tracked in it: what was deleted is left out.")
    for kind in ("comment", "chart"):
        if count := body.removed[kind]:
            notes.append(f"Left out: {count:,} {kind}{'s' if count > 1 else ''}.")
    return Reading(
        markdown=clean(markdown),
        title=about.title or as_title(body.first_title) or file_name(source.url),
        author=about.author,
        published=about.published,
        language=about.language,
        links=pages.composer.links,
        reader=READER,
        removed=removed,
        notes=notes,
        truncated=body.is_cut or not in_time,
    )
