"""PDF: text in reading order as Markdown, with headings, code, tables and page marks.

PDFium takes the file apart; it is native code fed by strangers, so this reader is meant for `webseam.fetch.worker`. It
runs no script and opens nothing a document points to. Whatever is not in the Markdown is said in the notes: a page that
cannot be loaded, a page that is only an image, pages beyond a limit.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from webseam.errors import Outcome
from webseam.fetch.types import Link, Reading, Source, Unreadable
from webseam.text import clean, quote, squeeze

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]

    from webseam.fetch.readers.pdf_layout import Line

MAX_PAGES: Final = 500  # of one reading: some two seconds; the rest is asked for by number
MAX_CHARACTERS: Final = 4_000_000  # of one reading, some 1,500 full pages
MAX_LINKS: Final = 2_000
HEAD: Final = 2_000  # bytes of an object in which its type is looked for
SHARE: Final = 0.75  # of the given time after which no further page is begun; composing takes the rest

_PASSWORD_NEEDED: Final = 4  # FPDF_ERR_PASSWORD
_UNKNOWN_ENCRYPTION: Final = 5  # FPDF_ERR_SECURITY
_XFA: Final = (2, 3)  # FORMTYPE_XFA_FULL, FORMTYPE_XFA_FOREGROUND
_ACROFORM: Final = 1

_RANGE = re.compile(r"\s*(\d{1,9})?\s*(-)?\s*(\d{1,9})?\s*")
_LINEARIZED_PAGES = re.compile(rb"/Linearized\b[^>]{0,400}?/N\s+(\d{1,9})")
_OBJECT = re.compile(rb"\b(\d{1,7})\s+0\s+obj\b")
_CATALOG = re.compile(rb"/Type\s*/Catalog\b")
_PAGE = re.compile(rb"/Type\s*/Page\b")
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?(?:(Z)(?:00'?(?:00)?'?)?|([+-])(\d\d)'?(\d\d)?'?)?"
)
_FILE_NAME = re.compile(r"\.(?:docx?|rtf|odt|tex|dvi|indd|pptx?|xlsx?|pdf|html?|txt|ps|qxd)$", re.IGNORECASE)
_TOOL = re.compile(
    r"^(?:Microsoft (?:Word|PowerPoint|Excel) - |untitled|\(?anonymous\)?$|\(?unspecified\)?$)", re.IGNORECASE
)


def read(
    source: Source, *, pages: str | None = None, max_pages: int = MAX_PAGES, seconds: float | None = None
) -> Reading:
    """Return the text of a PDF as Markdown, `[page N]` before what begins on each page.

    Args:
        pages: which ones, counted from 1, as "3", "2-5", "7-" or "1,4-6"; None = from the first.
        max_pages: how many at most; what is left out is noted.
        seconds: time there is; a document that takes longer is cut, and says so.

    Raises:
        Unreadable: `unsupported` for a file that needs a password or holds no text; `bad_response` for one that cannot
            be opened or none of whose pages can be loaded; `invalid` for `pages` that are no pages of it.
    """
    import pypdfium2

    until = None if seconds is None else time.monotonic() + seconds * SHARE
    try:
        document = _opened(source.body)
    except pypdfium2.PdfiumError as error:
        raise _unopened(source, getattr(error, "err_code", 0)) from None
    try:
        return _read(document, source, pages, max_pages, until)
    finally:
        document.close()


def _read(
    document: pypdfium2.PdfDocument, source: Source, wanted: str | None, max_pages: int, until: float | None
) -> Reading:
    from webseam.fetch.readers.pdf_markdown import compose

    count = len(document)
    if not count:
        detail = f"no page can be found in this PDF of {len(source.body):,} bytes"
        raise Unreadable(detail, outcome=Outcome.BAD_RESPONSE)
    numbers = _numbers(wanted, count, max_pages)
    taken = _Taken(document, numbers, until)
    composed = compose(taken.pages)
    _refuse_if_nothing(taken, count, source)
    notes, truncated = _notes(document, source, taken, wanted)
    removed = {"hidden": taken.hidden, "running": composed.running, "script": _scripts(document)}
    return Reading(
        markdown=clean(composed.markdown),
        title=_title(document) or (composed.title and squeeze(clean(composed.title))) or None,
        author=_meta(document, "Author"),
        published=_day(_meta(document, "CreationDate") or _meta(document, "ModDate") or ""),
        language=_language(document),
        links=tuple(taken.links),
        reader="pdf",
        removed={kind: number for kind, number in removed.items() if number},
        notes=notes,
        truncated=truncated,
    )


class _Taken:
    """The pages as they could be taken, and what became of the others."""

    def __init__(self, document: pypdfium2.PdfDocument, numbers: Sequence[int], until: float | None) -> None:
        from pypdfium2 import PdfiumError

        from webseam.fetch.readers.pdf_words import Fonts, lines_of, links_of

        self.pages: list[tuple[int, list[Line]]] = []
        self.links: list[Link] = []
        self.failed: list[int] = []
        self.wordless: list[int] = []
        self.cut: list[int] = []  # longer than a page may be
        self.left: list[int] = []  # not begun
        self.hidden = 0
        fonts = Fonts()
        characters = 0
        for position, number in enumerate(numbers):
            late = until is not None and time.monotonic() > until
            if position and (late or characters > MAX_CHARACTERS):
                self.left = list(numbers[position:])
                break
            try:
                page = document[number - 1]
            except PdfiumError:
                self.failed.append(number)
                continue
            try:
                found = lines_of(page, number, fonts)
                if len(self.links) < MAX_LINKS:
                    self.links += links_of(document, page, MAX_LINKS - len(self.links))
            except PdfiumError:
                self.failed.append(number)
                continue
            finally:
                page.close()
            characters += found.characters
            self.hidden += found.hidden
            if found.cut:
                self.cut.append(number)
            (self.pages.append((number, found.lines)) if found.lines else self.wordless.append(number))


def _opened(body: bytes) -> pypdfium2.PdfDocument:
    """Open a file; one that lost its end gets another one, without which PDFium finds nothing in it."""
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError:
        ending = b"" if _is_whole(body) else _ending(body)
        if not ending:
            raise
    return pypdfium2.PdfDocument(body + ending)


def _ending(body: bytes) -> bytes:
    """Return an end for a file that has none: a trailer, and a list of its pages where that is lost too.

    Nothing for an encrypted file, whose key was in the trailer, or one whose objects are packed in streams.
    """
    if b"/Standard" in body:
        return b""
    objects = list(_OBJECT.finditer(body))
    ends = [*(found.start() for found in objects[1:]), len(body)]
    heads = [
        (found[1], body[found.end() : min(end, found.end() + HEAD)]) for found, end in zip(objects, ends, strict=False)
    ]
    catalogs = [number for number, head in heads if _CATALOG.search(head)]
    if catalogs:
        return b"\nendstream\nendobj\ntrailer<</Root %s 0 R>>\n%%%%EOF\n" % catalogs[-1]
    pages = list(dict.fromkeys(number for number, head in heads if _PAGE.search(head)))
    if not pages:
        return b""
    kids = b" ".join(b"%s 0 R" % number for number in pages)
    root = max(int(number) for number, _ in heads) + 1
    catalog = b"%d 0 obj\n<</Type/Catalog/Pages %d 0 R>>\nendobj\n" % (root, root + 1)
    tree = b"%d 0 obj\n<</Type/Pages/Count %d/Kids[%s]>>\nendobj\n" % (root + 1, len(pages), kids)
    return b"\nendstream\nendobj\n%s%strailer<</Root %d 0 R>>\n%%%%EOF\n" % (catalog, tree, root)


def _unopened(source: Source, code: int) -> Unreadable:
    size = f"{len(source.body):,} bytes"
    if code == _PASSWORD_NEEDED:
        return Unreadable(f"this PDF of {size} is encrypted and needs a password", outcome=Outcome.UNSUPPORTED)
    if code == _UNKNOWN_ENCRYPTION:
        return Unreadable(f"this PDF of {size} is encrypted in a way nobody knows", outcome=Outcome.UNSUPPORTED)
    if source.truncated:
        detail = f"this PDF was cut at {size}, and what came of it cannot be opened"
        return Unreadable(detail, outcome=Outcome.BAD_RESPONSE)
    why = "it ends too early" if not _is_whole(source.body) else "it is damaged"
    return Unreadable(f"this PDF of {size} cannot be opened: {why}", outcome=Outcome.BAD_RESPONSE)


def _refuse_if_nothing(taken: _Taken, count: int, source: Source) -> None:
    """Raise when there is nothing to show, because an empty page would say that the document is empty."""
    if taken.pages or taken.left:
        return
    size = f"{len(source.body):,} bytes and {count:,} page{'s' if count > 1 else ''}"
    if not _is_whole(source.body):
        detail = f"this PDF of {size} ends too early: there is no text in what is left"
        raise Unreadable(detail, outcome=Outcome.BAD_RESPONSE)
    if taken.wordless:
        detail = f"this PDF of {size} holds no text on the pages read, only images or nothing"
        hint = "it may be a scan: text recognition is needed to read it"
        raise Unreadable(detail, outcome=Outcome.UNSUPPORTED, hint=hint)
    raise Unreadable(f"this PDF of {size} is damaged: none of its pages can be loaded", outcome=Outcome.BAD_RESPONSE)


def _is_whole(body: bytes) -> bool:
    return b"%%EOF" in body[-2_048:]


def _notes(
    document: pypdfium2.PdfDocument, source: Source, taken: _Taken, wanted: str | None
) -> tuple[list[str], bool]:
    """Return what a reader of the Markdown has to know, and whether some of what was asked for is missing."""
    from pypdfium2 import raw

    count = len(document)
    shown = [*(number for number, _ in taken.pages), *taken.failed, *taken.wordless]
    last = max(shown, default=0)
    notes = []
    whole = _is_whole(source.body) and not source.truncated
    claimed = _LINEARIZED_PAGES.search(source.body[:2_048])
    if not whole:
        notes.append("the file ends too early: pages, or parts of pages, may be missing")
    if claimed and int(claimed[1]) > count:
        notes.append(f"the file says it has {int(claimed[1]):,} pages; {count:,} can be found")
    if taken.failed:
        notes.append(f"cannot be loaded: {_named(taken.failed)}")
    if taken.wordless:
        notes.append(f"without text{', perhaps scanned' if whole else ''}: {_named(taken.wordless)}")
    if taken.cut:
        notes.append(f"only the beginning was read: {_named(taken.cut)}")
    if taken.left:
        notes.append(f"not read, for lack of time or room: {_named(taken.left)}")
    elif wanted is None and last < count:
        notes.append(f"pages 1-{last:,} of {count:,} were read; ask for the others by number")
    if raw.FPDF_GetSecurityHandlerRevision(document) >= 0:
        notes.append("the file is encrypted with an empty password")
    form = raw.FPDF_GetFormType(document)
    if form in _XFA:
        notes.append("this is an XFA form: what it shows is made by a program that was not run")
    elif form == _ACROFORM:
        notes.append("this is a form: what was filled in is not read")
    attached = raw.FPDFDoc_GetAttachmentCount(document)
    if attached > 0:
        notes.append(f"attached files that were not read: {attached:,}")
    missing = bool(taken.failed or taken.cut or taken.left) or not whole
    return notes, missing or (wanted is None and last < count) or bool(claimed and int(claimed[1]) > count)


def _numbers(wanted: str | None, count: int, most: int) -> Sequence[int]:
    """Return the page numbers that `wanted` names, in order and once each, at most `most`."""
    if wanted is None:
        return range(1, min(count, most) + 1)
    chosen: set[int] = set()
    for part in wanted.split(","):
        found = _RANGE.fullmatch(part)
        if found is None or not (found[1] or found[3]):
            detail = f"{quote(part)!r} is no page number or range"
            raise Unreadable(detail, outcome=Outcome.INVALID, hint='give pages as "3", "2-5", "7-" or "1,4-6"')
        first = int(found[1] or 1)
        last = int(found[3] or count) if found[2] else first
        chosen.update(range(max(first, 1), min(last, count, first + most) + 1))
    if not chosen:
        detail = f"there is no page {quote(wanted)} in this PDF of {count:,} pages"
        raise Unreadable(detail, outcome=Outcome.INVALID)
    return sorted(chosen)[:most]


def _named(numbers: Iterable[int]) -> str:
    """Return page numbers as words: "page 3", "pages 1-4, 9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    shown = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    more = f" and {len(shown) - 20} more runs" if len(shown) > 20 else ""
    many = len(shown) > 1 or "-" in shown[0]
    return f"page{'s' if many else ''} {', '.join(shown[:20])}{more}"


def _meta(document: pypdfium2.PdfDocument, key: str) -> str | None:
    value = squeeze(clean(document.get_metadata_value(key)))[:500]
    return None if not value or _TOOL.match(value) else value


def _title(document: pypdfium2.PdfDocument) -> str | None:
    """Return the title the file gives itself, unless it is the name of the file it was made from."""
    title = _meta(document, "Title")
    return None if title is None or _FILE_NAME.search(title) else title


def _day(said: str) -> str | None:
    """Return the ISO instant of a PDF date, its day when the zone is not known, None when it is none."""
    found = _DATE.fullmatch(said)
    if found is None:
        return None
    numbers = [int(found[group] or default) for group, default in enumerate((1, 1, 1, 0, 0, 0), 1)]
    try:
        offset = timedelta(hours=int(found[9] or 0), minutes=int(found[10] or 0))
        zone = timezone(-offset if found[8] == "-" else offset) if found[8] else UTC
        year, month, day, hour, minute, second = numbers
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None
    return moment.isoformat() if found[4] and (found[7] or found[8]) else moment.date().isoformat()


def _language(document: pypdfium2.PdfDocument) -> str | None:
    import ctypes

    from pypdfium2 import raw

    size = raw.FPDFCatalog_GetLanguage(document, None, 0)
    if not 2 < size <= 100:
        return None
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFCatalog_GetLanguage(document, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    said = buffer.raw[: size - 2].decode("utf-16-le", "replace")
    return said if re.fullmatch(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*", said) else None


def _scripts(document: pypdfium2.PdfDocument) -> int:
    """Return how many scripts the document carries. None is ever run: this PDFium has no engine for them."""
    from pypdfium2 import raw

    return max(0, int(raw.FPDFDoc_GetJavaScriptActionCount(document)))
