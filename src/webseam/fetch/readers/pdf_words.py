"""Words and links of one PDF page, as PDFium finds them.

PDFium gives characters in the order of the content, which is the reading order of nearly every producer, and makes the
spaces and line ends that a PDF does not have. A call into it costs a microsecond, and a page has 3,000 characters but
500 words: so it is asked about words, and fonts and text objects are asked about once.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webseam.fetch.readers.pdf_layout import Line, Style, Word
from webseam.fetch.types import Link
from webseam.text import clean, clip, squeeze

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]

MAX_PAGE: Final = 200_000  # characters of one page; a dense newspaper page has 30,000
SMALLEST: Final = 1.5  # points; what is smaller is not meant for eyes
LONGEST_WORD: Final = 200  # characters; a longer one is not looked into for changes of font
FURTHEST: Final = 1e6  # points; the largest page a PDF can have is 14,400
MAX_LINK_TEXT: Final = 200

_FIXED_PITCH: Final = 1
_INVISIBLE: Final = 3  # text render mode; what text recognition lays over a scan
_FONT_NAME: Final = 128  # bytes; longer ones are cut
_BOLD_WEIGHT: Final = 600
_URI_ACTION: Final = 3  # PDFACTION_URI
_MONO_NAME = re.compile(
    r"mono|cour|consol|typewriter|fixed|menlo|monaco|terminal|inconsolata|sourcecode|firacode|cascadia"
    r"|^(?:[A-Z]{6}\+)?(?:cmtt|cmitt|cmsltt|ectt|sftt|lmtt|lmmono|txtt|t1xtt|pcr|andale|hack-)",
    re.IGNORECASE,
)
_BOLD_NAME = re.compile(
    r"bold|black|heavy|semibd|demi|-bd\b|^(?:[A-Z]{6}\+)?(?:cmbx|sfbx|ecbx|lmbx|cmssbx)", re.IGNORECASE
)
_NARROW: Final = frozenset("iljtfrI.,:;'|()[]1")
_WIDE: Final = frozenset("mwMWGOQD@")
_WORD = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ufffe\uffff]+")
_DIVIDED: Final = "\x02\ufffe"  # PDFium's own marks for the hyphen of a divided word; no line end follows them
_LINE_END = re.compile("(\r\n|\r|\n|(?<=[\x02\ufffe]))")


class Found(NamedTuple):
    """What one page holds."""

    lines: list[Line]
    characters: int
    hidden: int  # words that nobody can see
    cut: bool


class _Font(NamedTuple):
    name: str
    mono: bool
    bold: bool


class Fonts:
    """What the words of one document showed about its fonts, by their names: pointers are used again after a page."""

    def __init__(self) -> None:
        self.proportional: set[str] = set()
        self.monospaced: set[str] = set()


class _Set(NamedTuple):
    """How one text object sets its words."""

    style: Style
    font: str
    hidden: bool


def lines_of(page: pypdfium2.PdfPage, number: int, fonts: Fonts) -> Found:
    """Return the lines of a page in reading order.

    Raises:
        pypdfium2.PdfiumError: the page's text cannot be loaded.
    """
    textpage = page.get_textpage()
    try:
        taker = _Taker(page, textpage, fonts)
        lines = [words for words in taker.lines() if words]
    finally:
        textpage.close()
    # Text without ink under a scan is all there is to read; beside visible text it is something that was hidden.
    inked = sum(word.style.inked for words in lines for word in words)
    total = sum(map(len, lines))
    if 2 * inked >= total > inked:
        lines = [[word for word in words if word.style.inked] for words in lines]
    hidden = taker.hidden + total - sum(map(len, lines))
    made = [Line(words, number) for words in _rejoined([words for words in lines if words])]
    return Found(made, taker.count, hidden, taker.cut)


class _Taker:
    """Takes one page apart. Holds the buffers that PDFium writes into, so that they are made once."""

    def __init__(self, page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, fonts: Fonts) -> None:
        from pypdfium2 import raw

        self.raw = raw
        self.page = textpage.raw
        self.fonts = fonts
        self.count = min(textpage.count_chars(), MAX_PAGE)
        self.cut = textpage.count_chars() > MAX_PAGE
        self.hidden = 0
        self.box = page.get_cropbox()
        self._sets: dict[int, _Set] = {}
        self._fonts: dict[int, _Font] = {}
        self._numbers = [ctypes.c_double() for _ in range(4)]
        self._matrix = raw.FS_MATRIX()

    def lines(self) -> Iterator[list[Word]]:
        text = self._text()
        start = 0
        for piece in _LINE_END.split(text):
            matches = list(_WORD.finditer(piece))
            if matches and not self._is_on_page(start + matches[0].start()):
                self.hidden += len(matches)  # a line that only runs over the edge is none of those
            else:
                words = [word for found in matches for word in self._words(found[0], start + found.start())]
                if (
                    words
                    and piece[-1] in _DIVIDED
                    and self.raw.FPDFText_IsHyphen(self.page, start + len(piece) - 1) == 1
                ):
                    words[-1] = words[-1]._replace(text=words[-1].text.rstrip("-\u2010") + "\u00ad")
                yield words
            start += len(piece)

    def _text(self) -> str:
        """Return one character for each of PDFium's, so that places in it are PDFium's indexes."""
        buffer = ctypes.create_string_buffer(4 * self.count + 4)
        short = ctypes.POINTER(ctypes.c_ushort)
        length = self.raw.FPDFText_GetText(self.page, 0, self.count, ctypes.cast(buffer, short))
        text = buffer.raw[: 2 * max(0, length - 1)].decode("utf-16-le", "replace")
        if len(text) == self.count:
            return text
        points = (self.raw.FPDFText_GetUnicode(self.page, index) for index in range(self.count))  # some have no text
        return "".join(
            chr(point) if 0 < point < 0x110000 and not 0xD800 <= point < 0xE000 else "\x01" for point in points
        )

    def _words(self, text: str, start: int) -> Iterator[Word]:
        """Yield the word `text` at an index, in parts where its font changes between code and prose."""
        end = start + len(text)
        first, last = self._set(start), self._set(end - 1)
        if first.style.mono == last.style.mono or len(text) > LONGEST_WORD:
            edges = [0, len(text)]
        else:
            mono = [self._set(index).style.mono for index in range(start, end)]
            edges = [0, *(n for n in range(1, len(text)) if mono[n] != mono[n - 1]), len(text)]
        for begin, stop in pairwise(edges):
            how = first if not begin else self._set(start + begin)
            if how.hidden:
                self.hidden += 1
                continue
            part = text[begin:stop]
            left, base = self._origin(start + begin, how)
            right = self._right(start + stop - 1, how)
            style = self._measured(start + begin, part, how)
            yield Word(part, left, right if right > left else left, base, style, begin > 0)

    def _set(self, index: int) -> _Set:
        """Return how the character is set; asked once for each text object."""
        item = self.raw.FPDFText_GetTextObject(self.page, index)
        key = ctypes.addressof(item.contents) if item else 0
        known = self._sets.get(key)
        return known if known is not None else self._new_set(index, item, key)

    def _new_set(self, index: int, item: Any, key: int) -> _Set:
        raw = self.raw
        size = raw.FPDFText_GetFontSize(self.page, index)
        turn = 0
        if raw.FPDFText_GetMatrix(self.page, index, self._matrix):
            matrix = self._matrix
            scale = math.hypot(matrix.c, matrix.d)
            size = _sane(size * scale)
            if math.isfinite(matrix.a) and math.isfinite(matrix.b) and (matrix.a or matrix.b):
                turn = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
        font, inked, clear = _Font("", mono=False, bold=False), True, False
        if item:
            font = self._font(raw.FPDFTextObj_GetFont(item))
            inked = raw.FPDFTextObj_GetTextRenderMode(item) != _INVISIBLE
            clear = self._is_clear(item)
        size = round(abs(size), 1) or 0.1
        style = Style(size, font.mono or font.name in self.fonts.monospaced, font.bold, 0.0, turn, inked)
        known = _Set(style, font.name, clear or size < SMALLEST)
        self._sets[key] = known
        return known

    def _font(self, handle: Any) -> _Font:
        raw = self.raw
        pointer = ctypes.addressof(handle.contents) if handle else 0
        if pointer not in self._fonts:
            buffer = ctypes.create_string_buffer(_FONT_NAME)
            raw.FPDFFont_GetBaseFontName(handle, buffer, _FONT_NAME)
            name = buffer.value.decode("utf-8", "replace")
            flags = raw.FPDFFont_GetFlags(handle)
            mono = bool(_MONO_NAME.search(name)) or (flags > 0 and bool(flags & _FIXED_PITCH))
            bold = bool(_BOLD_NAME.search(name)) or raw.FPDFFont_GetWeight(handle) >= _BOLD_WEIGHT
            self._fonts[pointer] = _Font(name, mono, bold)
        return self._fonts[pointer]

    def _is_clear(self, item: Any) -> bool:
        """Tell whether a text object is painted with nothing."""
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        return bool(self.raw.FPDFPageObj_GetFillColor(item, red, green, blue, alpha)) and alpha.value == 0

    def _measured(self, begin: int, text: str, how: _Set) -> Style:
        """Add the advance to the style of a monospaced word; find out whether an unnamed font is one."""
        style = how.style
        if style.mono:
            if not style.advance and len(text) > 1:
                step = self._origin(begin + 1, how)[0] - self._origin(begin, how)[0]
                if 0.2 * style.size < step < 1.5 * style.size:
                    style = style._replace(advance=round(step, 3))
                    self._restyle(how, style)
            return style
        font, letters = how.font, set(text[:-1])
        if font in self.fonts.proportional or len(text) < 5 or not (_NARROW & letters and _WIDE & letters):
            return style
        places = [self._origin(index, how)[0] for index in range(begin, begin + min(len(text), 12))]
        steps = [b - a for a, b in pairwise(places)]
        if steps and min(steps) > 0.3 * style.size and max(steps) - min(steps) < 0.02 * style.size:
            self.fonts.monospaced.add(font)
            style = style._replace(mono=True, advance=round(steps[0], 3))
            self._restyle(how, style)
        else:
            self.fonts.proportional.add(font)
        return style

    def _restyle(self, how: _Set, style: Style) -> None:
        for key, known in self._sets.items():
            if known is how:
                self._sets[key] = how._replace(style=style)
                return

    def _origin(self, index: int, how: _Set) -> tuple[float, float]:
        x, y = self._numbers[:2]
        self.raw.FPDFText_GetCharOrigin(self.page, index, x, y)
        return _turned(_sane(x.value), _sane(y.value), how.style.turn)

    def _right(self, index: int, how: _Set) -> float:
        left, right, bottom, top = self._numbers
        self.raw.FPDFText_GetCharBox(self.page, index, left, right, bottom, top)
        turn = how.style.turn
        return _sane((right.value, top.value, -left.value, -bottom.value)[turn])

    def _is_on_page(self, index: int) -> bool:
        x, y = self._numbers[:2]
        self.raw.FPDFText_GetCharOrigin(self.page, index, x, y)
        left, bottom, right, top = self.box
        return bool(left - 1 <= x.value <= right + 1 and bottom - 1 <= y.value <= top + 1)


def _sane(value: float) -> float:
    """Return a coordinate that can be calculated with: a file may say that a letter stands at infinity."""
    return value if -FURTHEST < value < FURTHEST else 0.0


def _turned(x: float, y: float, turn: int) -> tuple[float, float]:
    """Return a place as it would be if text turned by `turn` quarters ran from left to right."""
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turn]


def _rejoined(lines: list[list[Word]]) -> list[list[Word]]:
    """Correct PDFium's lines: it parts raised words from theirs, and at times runs two rows of a table together."""
    joined: list[list[Word]] = []
    for words in lines:
        for number, word in enumerate(words):
            if number and _is_level(words[number - 1], word):
                joined[-1].append(word)
            elif not number and joined and _goes_on(joined[-1][-1], word):
                last = joined[-1][-1]
                tight = word.left - last.right < 0.15 * max(last.style.size, word.style.size)
                joined[-1].append(word._replace(glued=tight))
            else:
                joined.append([word])
    return joined


def _is_level(last: Word, word: Word) -> bool:
    size = max(last.style.size, word.style.size)
    return last.style.turn == word.style.turn and abs(last.base - word.base) < 0.55 * size


def _goes_on(last: Word, word: Word) -> bool:
    size = max(last.style.size, word.style.size)
    furthest = math.inf if abs(last.base - word.base) < 0.1 * size else 2 * size  # a cell, or a raised word
    return _is_level(last, word) and -0.3 * size < word.left - last.right < furthest


def links_of(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, most: int) -> list[Link]:
    """Return the links of a page that lead to the web, with the words they cover."""
    from pypdfium2 import raw

    links: list[Link] = []
    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    seen = 0
    textpage = None
    try:
        while len(links) < most and seen < 10 * most and raw.FPDFLink_Enumerate(page, position, link):
            seen += 1
            url = _address(document, link)
            if url is None:
                continue
            textpage = textpage or page.get_textpage()
            box = raw.FS_RECTF()
            text = ""
            if raw.FPDFLink_GetAnnotRect(link, box):
                text = textpage.get_text_bounded(box.left, box.bottom, box.right, box.top)
            found = Link(text=clip(squeeze(clean(text)), MAX_LINK_TEXT), url=url)
            if found not in links[-3:]:  # one link over two lines is two areas
                links.append(found)
    finally:
        if textpage is not None:
            textpage.close()
    return links


def _address(document: pypdfium2.PdfDocument, link: Any) -> str | None:
    """Return the web address a link leads to, None when it leads elsewhere."""
    from pypdfium2 import raw

    action = raw.FPDFLink_GetAction(link)
    if not action or raw.FPDFAction_GetType(action) != _URI_ACTION:
        return None
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= 8_192:
        return None
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, buffer, size)
    url = buffer.value.decode("utf-8", "replace")
    return url if re.match(r"https?://[^\s\x00-\x1f]+\Z", url, re.IGNORECASE) else None
