"""The body of a Word document as HTML, element by element as the parser meets them: paragraphs, lists, tables, frames.

Deleted text and tables of contents are left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final

from webseam.fetch.readers.docx_inline import COST, INSIDE, MAX_CODE, Inline, Letters, Paragraph
from webseam.fetch.readers.docx_styles import Numbering, Styles
from webseam.fetch.readers.office_blocks import Cell, Flow, Table, inline, words_of
from webseam.fetch.readers.parts import Relations, is_on, number

_SKIPPED: Final = frozenset(
    "w:del w:moveFrom mc:Fallback w:pPrChange w:rPrChange w:tblPrChange w:trPrChange w:tcPrChange w:sectPrChange"
    " w:sectPr w:numberingChange w:tblGrid w:sdtPr".split()
)
_MARKS: Final = {"w:br": "\n", "w:cr": "\n", "w:tab": "\t", "w:ptab": " ", "w:noBreakHyphen": "-"}


class Body(Inline):
    """Takes the elements of a body or of its notes.

    Attributes:
        notes: HTML of the notes found in a part of notes, by id.
        first_title: the words of the first heading of the first level.
    """

    def __init__(self, styles: Styles, numbering: Numbering, relations: Relations, room: int) -> None:
        super().__init__(styles, numbering, relations, room)
        self.notes: dict[str, str] = {}
        self.first_title: str | None = None
        self._flows = [Flow()]
        self._tables: list[Table] = []
        self._skip = 0
        self._takes = ""

    # What the parser calls.

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._skip:
            self._skip += 1
        elif self._formula is not None:
            self._formula.start(name, attributes)
        elif name in _SKIPPED:
            self.removed["deleted"] += name in ("w:del", "w:moveFrom") and self._letters is None
            self._skip = 1
        elif (enter := _START.get(name)) is not None:
            enter(self, attributes)
        elif name in _MARKS:
            if self._letters is not None and attributes.get("w:type") != "page":
                self._add(_MARKS[name])
        elif name in ("w:t", "w:instrText"):
            self._takes = name

    def end(self, name: str) -> None:
        if self._skip:
            self._skip -= 1
        elif self._formula is not None:
            if name == "m:oMath":
                self._end_formula()
            else:
                self._formula.end(name)
        elif name in _PAIRED:
            if self._opened:
                self._opened.pop()()
        elif name == "w:pPr":
            self._in_properties = False
        elif name == "w:r":
            self._letters = None
        elif name == self._takes:
            self._takes = ""
        elif name == "w:rt":
            self._add(")")

    def text(self, words: str) -> None:
        if self._skip:
            return
        if self._formula is not None:
            self._formula.text(words)
        elif self._takes == "w:t":
            self._add(words)
        elif self._takes and self._fields and len(self._fields[-1].code) < MAX_CODE:
            self._fields[-1].code += words[:MAX_CODE]

    def take(self) -> str:
        """Return the HTML since the last time if no block is open, "" otherwise."""
        return self._flows[0].take() if not self._opened and self._flows[0].is_between else ""

    @property
    def size(self) -> int:
        return self._flows[0].size

    def finish(self) -> str:
        """Return the rest, all of it closed."""
        self._formula = None
        while self._opened:
            self._opened.pop()()
        return self._flows[0].take()

    # Blocks.

    def _start_paragraph(self, attributes: dict[str, str]) -> None:
        self._spend(COST)
        paragraph = Paragraph(self._styles.get(None))
        self._paragraphs.append(paragraph)
        self._opened.append(lambda: self._end_paragraph(paragraph))

    def _end_paragraph(self, paragraph: Paragraph) -> None:
        self._paragraphs.pop()
        self._letters = None
        flow, style = self._flows[-1], paragraph.style
        level = paragraph.outline if paragraph.outline is not None else style.heading
        key = paragraph.numbering[0] or style.numbering[0]
        place = paragraph.numbering[1] if paragraph.numbering[1] is not None else style.list_level
        is_blank = all(look is not None and not text.strip() for look, text in paragraph.runs)
        if style.is_contents:
            self.removed["navigation"] += not is_blank
        elif is_blank and not (flow.code and self._is_code(paragraph, is_blank)):
            flow.close() if flow.code else None
        elif level and 1 <= level <= 9:
            self._write_heading(flow, paragraph, level, key, place)
        elif key and key != "0" and (mark := self._numbering.next(key, place)) is not None:
            label = f"{escape(mark.label)} " if mark.label and mark.number is None else ""
            flow.item(label + inline(paragraph.runs), place, mark.number)
        elif self._is_code(paragraph, is_blank):
            flow.code_line(words_of(paragraph.runs))
        else:
            html = f"<p>{inline(paragraph.runs)}</p>"
            flow.block(f"<blockquote>{html}</blockquote>" if style.is_quote else html)
        for box in paragraph.boxes:
            flow.block(box)

    def _write_heading(self, flow: Flow, paragraph: Paragraph, level: int, key: str | None, place: int) -> None:
        mark = self._numbering.next(key, place) if key and key != "0" else None
        runs = [(look and look._replace(bold=False), text) for look, text in paragraph.runs]
        label = f"{escape(mark.label)} " if mark and mark.label else ""
        if self.first_title is None and level == 1 and len(self._flows) == 1:
            self.first_title = words_of(paragraph.runs).strip() or None
        flow.block(f"<h{min(level, 6)}>{label}{inline(runs)}</h{min(level, 6)}>")

    def _is_code(self, paragraph: Paragraph, is_blank: bool) -> bool:
        if paragraph.style.is_code:
            return True
        looks = [look for look, text in paragraph.runs if look is None or text.strip()]
        return self._styles.mono_tells and (is_blank or all(look is not None and look.code for look in looks))

    def _start_table(self, attributes: dict[str, str]) -> None:
        table = Table()
        self._tables.append(table)
        self._on_dark += 1
        self._opened.append(lambda: self._end_table(table))

    def _end_table(self, table: Table) -> None:
        self._tables.pop()
        self._on_dark -= 1
        if html := table.html():
            self._flows[-1].block(html)

    def _start_row(self, attributes: dict[str, str]) -> None:
        self._spend(COST)
        if self._tables:
            self._tables[-1].rows.append([])

    def _start_cell(self, attributes: dict[str, str]) -> None:
        self._spend(COST)
        cell, flow = Cell(), Flow()
        if self._tables and self._tables[-1].rows:
            self._tables[-1].rows[-1].append(cell)
        self._flows.append(flow)
        self._opened.append(lambda: self._end_cell(cell))

    def _end_cell(self, cell: Cell) -> None:
        html = self._flows.pop().take()
        cell.html = html[3:-4] if html.startswith("<p>") and html.count("<p>") == 1 and html.endswith("</p>") else html

    def _cell(self) -> Cell | None:
        return (
            self._tables[-1].rows[-1][-1]
            if self._tables and self._tables[-1].rows and self._tables[-1].rows[-1]
            else None
        )

    def _take_span(self, attributes: dict[str, str]) -> None:
        if (cell := self._cell()) is not None:
            cell.across = max(1, min(number(attributes.get("w:val"), 1), 1_000))

    def _take_merge(self, attributes: dict[str, str]) -> None:
        if (cell := self._cell()) is not None:
            cell.down = "first" if attributes.get("w:val") == "restart" else "more"

    def _take_head(self, attributes: dict[str, str]) -> None:
        if self._tables:
            bits = attributes.get("w:val", "0")
            marked = attributes.get("w:firstRow", "0") in ("1", "true", "on")
            self._tables[-1].has_head = marked or (bits.isalnum() and len(bits) == 4 and bits[2] in "2367abefABEF")

    def _take_head_row(self, attributes: dict[str, str]) -> None:
        if self._tables and len(self._tables[-1].rows) == 1:
            self._tables[-1].has_head = is_on(attributes)

    def _start_box(self, attributes: dict[str, str]) -> None:
        self._flows.append(Flow())
        self._on_dark += 1
        letters, self._letters = self._letters, None
        self._opened.append(lambda: self._end_box(letters))

    def _end_box(self, letters: Letters | None) -> None:
        self._letters = letters
        self._on_dark -= 1
        html = self._flows.pop().take()
        if self._paragraphs:
            self._paragraphs[-1].boxes.append(html)
        else:
            self._flows[-1].block(html)

    def _start_note(self, attributes: dict[str, str]) -> None:
        key = attributes.get("w:id", "") if "w:type" not in attributes or attributes["w:type"] == "normal" else None
        self._flows.append(Flow())

        def close() -> None:
            html = self._flows.pop().take()
            if key is not None:
                self.notes[key] = html

        self._opened.append(close)


_START: Final[dict[str, Callable[[Body, dict[str, str]], None]]] = {
    **INSIDE,
    "w:p": Body._start_paragraph,
    "w:tbl": Body._start_table,
    "w:tblLook": Body._take_head,
    "w:tblHeader": Body._take_head_row,
    "w:tr": Body._start_row,
    "w:tc": Body._start_cell,
    "w:gridSpan": Body._take_span,
    "w:vMerge": Body._take_merge,
    "w:txbxContent": Body._start_box,
    "w:footnote": Body._start_note,
    "w:endnote": Body._start_note,
}
_PAIRED: Final = frozenset("w:p w:hyperlink w:fldSimple w:tbl w:tc w:txbxContent w:footnote w:endnote".split())
