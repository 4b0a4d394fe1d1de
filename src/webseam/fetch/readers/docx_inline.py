"""What stands inside the paragraphs of a Word document: letters and how they look, links, fields, pictures, formulas.

What a person would not see on the page is left out and counted: hidden letters, those of no size or white on white.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Final

from webseam.fetch.readers.docx_styles import Numbering, Style, Styles, is_mono
from webseam.fetch.readers.formulas import Formula
from webseam.fetch.readers.office_blocks import Look, Run
from webseam.fetch.readers.parts import Done, Handler, Relations, is_on, number

COST: Final = 16  # characters that a block or a run costs besides its text: memory is taken by those without any too
_MAX_ALT: Final = 500  # characters of a picture's description
MAX_CODE: Final = 2_000  # characters of a field's code
_LEAST_SIZE: Final = 2  # half points; smaller letters are not there to be seen
_LINK = re.compile(r'\s*HYPERLINK\s+"([^"]{1,1900})"', re.IGNORECASE)
_NO_STYLE: Final = Style()


@dataclass(slots=True)
class Paragraph:
    style: Style
    runs: list[Run] = field(default_factory=list)
    numbering: tuple[str | None, int | None] = (None, None)
    outline: int | None = None
    shaded: bool = False
    boxes: list[str] = field(default_factory=list)  # what stands in frames anchored here


@dataclass(slots=True)
class Letters:
    """The properties of a run; None = as its paragraph has it."""

    style: Style
    bold: bool | None = None
    italic: bool | None = None
    strike: bool = False
    mono: bool | None = None
    hidden: bool | None = None
    white: bool = False
    tiny: bool = False
    shaded: bool = False
    place: str = ""


@dataclass(slots=True)
class _Field:
    """Something that a program computes: its code, then what came out of it."""

    code: str = ""
    has_result: bool = False
    href: str | None = None


class Inline(Handler):
    """Takes what stands in paragraphs.

    Attributes:
        room: characters that may still be written; when there is none left, `is_cut` is set and nothing more is taken.
        references: notes that the text since they were last cleared refers to: id with its kind -> number.
        opened: what ends the elements that are open.
        on_dark: in how many tables and frames we are, whose background may be of any colour.
    """

    def __init__(self, styles: Styles, numbering: Numbering, relations: Relations, room: int) -> None:
        self.room = room
        self.is_cut = False
        self.removed: Counter[str] = Counter()
        self.references: dict[str, int] = {}
        self._styles, self._numbering, self._relations = styles, numbering, relations
        self._numbered: dict[str, int] = {}
        self._opened: list[Callable[[], None]] = []
        self._paragraphs: list[Paragraph] = []
        self._letters: Letters | None = None
        self._fields: list[_Field] = []
        self._hrefs: list[str | None] = []
        self._formula: Formula | None = None
        self._in_properties = False
        self._on_dark = 0

    def _add(self, text: str) -> None:
        letters, paragraph = self._letters, self._paragraphs[-1] if self._paragraphs else None
        if paragraph is None or not text:
            return
        if self._fields and not self._fields[-1].has_result:
            return
        self._spend(len(text))
        if letters is None:
            letters = Letters(self._styles.get(None))
        if self._is_hidden(letters, paragraph):
            self.removed["hidden"] += bool(text.strip())
            return
        bold = letters.bold if letters.bold is not None else letters.style.bold
        italic = letters.italic if letters.italic is not None else letters.style.italic
        mono = letters.mono if letters.mono is not None else letters.style.is_code
        href = self._hrefs[-1] if self._hrefs else None
        code = bool(mono) and self._styles.mono_tells
        paragraph.runs.append((Look(href, bool(bold), bool(italic), letters.strike, code, letters.place), text))

    def _is_hidden(self, letters: Letters, paragraph: Paragraph) -> bool:
        for said in (letters.hidden, letters.style.hidden, paragraph.style.hidden):
            if said is not None:
                if said:
                    return True
                break
        on_paper = not (letters.shaded or paragraph.shaded or paragraph.style.shaded or letters.style.shaded)
        return letters.tiny or (letters.white and on_paper and not self._on_dark)

    def _add_html(self, html: str) -> None:
        if self._paragraphs:
            self._spend(len(html))
            self._paragraphs[-1].runs.append((None, html))

    def _start_run(self, attributes: dict[str, str]) -> None:
        self._spend(COST)
        if self._paragraphs:
            self._letters = Letters(_NO_STYLE)

    def _start_properties(self, attributes: dict[str, str]) -> None:
        self._in_properties = True

    def _take_style(self, attributes: dict[str, str]) -> None:
        if self._paragraphs:
            self._paragraphs[-1].style = self._styles.get(attributes.get("w:val"))

    def _take_run_style(self, attributes: dict[str, str]) -> None:
        if self._letters is not None:
            self._letters.style = self._styles.get(attributes.get("w:val"))

    def _take_list(self, attributes: dict[str, str]) -> None:
        if self._paragraphs and self._in_properties:
            self._paragraphs[-1].numbering = attributes.get("w:val"), self._paragraphs[-1].numbering[1]

    def _take_level(self, attributes: dict[str, str]) -> None:
        if self._paragraphs and self._in_properties:
            self._paragraphs[-1].numbering = self._paragraphs[-1].numbering[0], number(attributes.get("w:val"))

    def _take_outline(self, attributes: dict[str, str]) -> None:
        if self._paragraphs:
            self._paragraphs[-1].outline = number(attributes.get("w:val"), 9) + 1

    def _take_shade(self, attributes: dict[str, str]) -> None:
        if attributes.get("w:fill", "auto").lower() in ("auto", "ffffff"):
            return
        if self._letters is not None:
            self._letters.shaded = True
        elif self._paragraphs:
            self._paragraphs[-1].shaded = True

    def _take_letters(self, name: str, value: object) -> None:
        if self._letters is not None:
            setattr(self._letters, name, value)

    def _take_font(self, attributes: dict[str, str]) -> None:
        if attributes.get("w:ascii"):
            self._take_letters("mono", is_mono(attributes["w:ascii"]))

    def _start_link(self, attributes: dict[str, str]) -> None:
        self._hrefs.append(self._relations.target(attributes.get("r:id")))
        self._opened.append(self._end_link)

    def _end_link(self) -> None:
        if self._hrefs:
            self._hrefs.pop()

    def _take_field(self, attributes: dict[str, str]) -> None:
        kind = attributes.get("w:fldCharType")
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._begin_result(self._fields[-1])
        elif kind == "end" and self._fields:
            self._end_field()

    def _begin_result(self, one: _Field) -> None:
        one.has_result = True
        if found := _LINK.match(one.code):
            one.href = found[1]
            self._hrefs.append(one.href)

    def _end_field(self) -> None:
        if self._fields and self._fields.pop().href is not None and self._hrefs:
            self._hrefs.pop()

    def _start_simple_field(self, attributes: dict[str, str]) -> None:
        self._fields.append(_Field(attributes.get("w:instr", "")[:MAX_CODE]))
        self._begin_result(self._fields[-1])
        self._opened.append(self._end_field)

    def _take_picture(self, attributes: dict[str, str]) -> None:
        said = attributes.get("descr") or attributes.get("title") or attributes.get("alt") or ""
        if said.strip():
            self._add_html(f'<img alt="{escape(said.strip()[:_MAX_ALT])}">')

    def _refer(self, kind: str, attributes: dict[str, str]) -> None:
        key = f"{kind}-{attributes.get('w:id', '')[:20]}"
        count = self._numbered.setdefault(key, len(self._numbered) + 1)
        self.references[key] = count
        self._add_html(f'<sup><a role="doc-noteref" href="#{escape(key)}">{count}</a></sup>')

    def _start_formula(self, attributes: dict[str, str]) -> None:
        self._formula = Formula()

    def _end_formula(self) -> None:
        tex = self._formula.tex() if self._formula is not None else ""
        self._formula = None
        if tex:
            self._add_html(escape(f"\\({tex}\\)", quote=False))

    def _spend(self, characters: int) -> None:
        self.room -= characters
        if self.room < 0:
            self.is_cut = True
            raise Done


def _letters(name: str, read: Callable[[dict[str, str]], object]) -> Callable[[Inline, dict[str, str]], None]:
    return lambda body, attributes: body._take_letters(name, read(attributes))


INSIDE: Final[dict[str, Callable[[Inline, dict[str, str]], None]]] = {
    "w:pPr": Inline._start_properties,
    "w:pStyle": Inline._take_style,
    "w:numId": Inline._take_list,
    "w:ilvl": Inline._take_level,
    "w:outlineLvl": Inline._take_outline,
    "w:shd": Inline._take_shade,
    "w:r": Inline._start_run,
    "w:rStyle": Inline._take_run_style,
    "w:rFonts": Inline._take_font,
    "w:b": _letters("bold", is_on),
    "w:i": _letters("italic", is_on),
    "w:strike": _letters("strike", is_on),
    "w:dstrike": _letters("strike", is_on),
    "w:vanish": _letters("hidden", is_on),
    "w:highlight": _letters("shaded", is_on),
    "w:color": _letters("white", lambda attributes: attributes.get("w:val", "").lower() == "ffffff"),
    "w:sz": _letters("tiny", lambda attributes: 0 <= number(attributes.get("w:val"), 20) <= _LEAST_SIZE),
    "w:vertAlign": _letters(
        "place", lambda attributes: {"superscript": "sup", "subscript": "sub"}.get(attributes.get("w:val", ""), "")
    ),
    "w:rt": lambda one, attributes: one._add("("),
    "w:hyperlink": Inline._start_link,
    "w:fldChar": Inline._take_field,
    "w:fldSimple": Inline._start_simple_field,
    "w:footnoteReference": lambda one, attributes: one._refer("footnote", attributes),
    "w:endnoteReference": lambda one, attributes: one._refer("endnote", attributes),
    "w:commentReference": lambda one, attributes: one.removed.update(("comment",)),
    "c:chart": lambda one, attributes: one.removed.update(("chart",)),
    "wp:docPr": Inline._take_picture,
    "v:shape": Inline._take_picture,
    "m:oMath": Inline._start_formula,
}
