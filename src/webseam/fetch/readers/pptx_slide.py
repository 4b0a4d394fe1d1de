"""One slide as HTML: its title, then its shapes in the order in which they are read out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Final

from webseam.fetch.readers.formulas import Formula
from webseam.fetch.readers.office_blocks import Cell, Flow, Look, Run, Table, inline, words_of
from webseam.fetch.readers.parts import Done, Handler, Relations, number

_COST: Final = 32  # characters that a paragraph or a cell costs besides its text
_MAX_ALT: Final = 500
_UNREAD: Final = ("sldNum", "dt", "ftr", "hdr", "sldImg")  # placeholders for what every slide repeats
_TITLES: Final = ("title", "ctrTitle")
_BULLETED: Final = ("body", "obj", "")
_FLAGS: Final = ("1", "true")


@dataclass(slots=True)
class _Paragraph:
    level: int = 0
    bullet: str = ""  # "" as the shape has it, "none", "mark", "count"
    start: int = 1
    runs: list[Run] = field(default_factory=list)


@dataclass(slots=True)
class _Shape:
    """`place`: the kind of placeholder, None for what stands by itself."""

    place: str | None = None
    paragraphs: list[_Paragraph] = field(default_factory=list)
    hidden: bool = False
    picture: str = ""


class Slide(Handler):
    """Takes the elements of a slide or of its notes.

    Attributes:
        room: characters that may still be taken.
        title: of the slide, on one line.
        blocks: HTML of the shapes.
        charts, diagrams: names of parts that belong to it.
    """

    def __init__(self, relations: Relations, room: int, *, is_notes: bool = False) -> None:
        self.room = room
        self._bulleted = () if is_notes else _BULLETED
        self.title = ""
        self.blocks: list[str] = []
        self.body: list[str] = []  # of them, those of placeholders for text: in notes, what the speaker wrote
        self.charts: list[str] = []
        self.diagrams: list[str] = []
        self.is_hidden = self.is_cut = False
        self.hidden = 0
        self._relations = relations
        self._shapes: list[_Shape] = []
        self._paragraph: _Paragraph | None = None
        self._table: Table | None = None
        self._cell: list[str] | None = None
        self._target: Cell | None = None  # where it goes; None for one that is covered by another
        self._look = Look()
        self._takes = False
        self._skip = 0
        self._formula: Formula | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._skip:
            self._skip += 1
        elif self._formula is not None:
            self._formula.start(name, attributes)
        elif name == "mc:Fallback" or (name == "a:fld" and attributes.get("type") == "slidenum"):
            self._skip = 1
        elif name == "p:sld":
            self.is_hidden = attributes.get("show", "1") not in _FLAGS
        elif (enter := _START.get(name)) is not None:
            enter(self, attributes)

    def end(self, name: str) -> None:
        if self._skip:
            self._skip -= 1
        elif self._formula is not None:
            if name == "m:oMath":
                tex, self._formula = self._formula.tex(), None
                if tex and self._paragraph is not None:
                    self._paragraph.runs.append((None, escape(f"\\({tex}\\)", quote=False)))
            else:
                self._formula.end(name)
        elif name in ("p:sp", "p:pic", "p:graphicFrame", "p:cxnSp"):
            self._end_shape()
        elif name == "a:p":
            self._end_paragraph()
        elif name == "a:t":
            self._takes = False
        elif name == "a:r":
            self._look = Look()
        elif name == "a:tc":
            if self._target is not None:
                self._target.html = "<br>".join(self._cell or ())
            self._cell = self._target = None
        elif name == "a:tbl" and self._table is not None:
            self.blocks.append(self._table.html())
            self._table = None

    def text(self, text: str) -> None:
        if self._formula is not None and not self._skip:
            self._formula.text(text)
        elif self._takes and not self._skip and self._paragraph is not None:
            self._spend(len(text))
            self._paragraph.runs.append((self._look, text))

    def finish(self) -> None:
        """Take what was begun and not ended, because there was no more room."""
        self._formula = None
        self._end_paragraph()
        if self._table is not None:
            self.blocks.append(self._table.html())
        while self._shapes:
            self._end_shape()

    def _start_shape(self, attributes: dict[str, str]) -> None:
        self._spend(_COST)
        self._shapes.append(_Shape())

    def _name_shape(self, attributes: dict[str, str]) -> None:
        if not self._shapes:
            return
        shape = self._shapes[-1]
        shape.hidden = attributes.get("hidden") in _FLAGS
        said = attributes.get("descr") or attributes.get("title") or ""
        shape.picture = said.strip()[:_MAX_ALT]

    def _place_shape(self, attributes: dict[str, str]) -> None:
        if self._shapes:
            self._shapes[-1].place = attributes.get("type", "")

    def _end_shape(self) -> None:
        if not self._shapes:
            return
        shape = self._shapes.pop()
        said = [paragraph for paragraph in shape.paragraphs if paragraph.runs]
        if shape.place in _UNREAD:
            return
        if shape.hidden:
            self.hidden += bool(said)
        elif shape.place in _TITLES and not self.title and said:
            self.title = " ".join(words_of(run for one in said for run in one.runs).split())
        else:
            html = self._html(shape, said)
            self.blocks.append(html)
            if shape.place == "body":
                self.body.append(html)

    def _html(self, shape: _Shape, paragraphs: list[_Paragraph]) -> str:
        flow = Flow()
        if shape.picture and not paragraphs:
            self._spend(len(shape.picture))
            flow.block(f'<p><img alt="{escape(shape.picture)}"></p>')
        listed = shape.place in self._bulleted and len(paragraphs) > 1
        counts: dict[int, int] = {}
        for one in paragraphs:
            html = inline(one.runs)
            is_item = one.bullet in ("mark", "count") or (one.bullet == "" and listed)
            counts = {level: count for level, count in counts.items() if level <= one.level}
            if one.bullet == "count":
                counts[one.level] = counts.get(one.level, one.start - 1) + 1
                flow.item(html, one.level, counts[one.level])
            elif is_item:
                flow.item(html, one.level, None)
            else:
                counts.clear()
                flow.block(f"<p>{html}</p>")
        return flow.take()

    def _start_paragraph(self, attributes: dict[str, str]) -> None:
        self._spend(_COST)
        self._paragraph = _Paragraph()

    def _end_paragraph(self) -> None:
        one, self._paragraph = self._paragraph, None
        if one is None or not any(look is None or text.strip() for look, text in one.runs):
            return
        if self._cell is not None:
            self._cell.append(inline(one.runs))
        elif self._shapes:
            self._shapes[-1].paragraphs.append(one)

    def _take_level(self, attributes: dict[str, str]) -> None:
        if self._paragraph is not None:
            self._paragraph.level = max(0, min(number(attributes.get("lvl")), 8))

    def _take_bullet(self, bullet: str, attributes: dict[str, str]) -> None:
        if self._paragraph is not None:
            self._paragraph.bullet = bullet
            self._paragraph.start = number(attributes.get("startAt"), 1)

    def _start_letters(self, attributes: dict[str, str]) -> None:
        self._look = Look(bold=attributes.get("b") in _FLAGS, italic=attributes.get("i") in _FLAGS)

    def _take_link(self, attributes: dict[str, str]) -> None:
        target = self._relations.target(attributes.get("r:id"))
        if target and ":" in target:  # not to another slide
            self._look = self._look._replace(href=target)

    def _break(self, attributes: dict[str, str]) -> None:
        if self._paragraph is not None:
            self._paragraph.runs.append((self._look, "\n"))

    def _start_text(self, attributes: dict[str, str]) -> None:
        self._takes = True

    def _start_table(self, attributes: dict[str, str]) -> None:
        self._table = Table()

    def _take_head(self, attributes: dict[str, str]) -> None:
        if self._table is not None:
            self._table.has_head = attributes.get("firstRow") in _FLAGS

    def _start_row(self, attributes: dict[str, str]) -> None:
        self._spend(_COST)
        if self._table is not None:
            self._table.rows.append([])

    def _start_cell(self, attributes: dict[str, str]) -> None:
        self._spend(_COST)
        if self._table is None or not self._table.rows:
            return
        self._cell = []
        if attributes.get("hMerge") in _FLAGS:  # the cell before it says how wide it is
            return
        down = "more" if attributes.get("vMerge") in _FLAGS else "first" if "rowSpan" in attributes else ""
        across = max(1, min(number(attributes.get("gridSpan"), 1), 1_000))
        self._target = Cell(across=across, down=down)
        self._table.rows[-1].append(self._target)

    def _start_formula(self, attributes: dict[str, str]) -> None:
        self._formula = Formula()

    def _take_chart(self, attributes: dict[str, str]) -> None:
        if part := self._relations.target(attributes.get("r:id")):
            self.charts.append(part)

    def _take_diagram(self, attributes: dict[str, str]) -> None:
        if part := self._relations.target(attributes.get("r:dm")):
            self.diagrams.append(part)

    def _spend(self, characters: int) -> None:
        self.room -= characters
        if self.room < 0:
            self.is_cut = True
            raise Done


_START: Final[dict[str, Callable[[Slide, dict[str, str]], None]]] = {
    **dict.fromkeys(("p:sp", "p:pic", "p:graphicFrame", "p:cxnSp"), Slide._start_shape),
    "p:cNvPr": Slide._name_shape,
    "p:ph": Slide._place_shape,
    "a:p": Slide._start_paragraph,
    "a:pPr": Slide._take_level,
    "a:buNone": lambda slide, attributes: slide._take_bullet("none", attributes),
    "a:buChar": lambda slide, attributes: slide._take_bullet("mark", attributes),
    "a:buBlip": lambda slide, attributes: slide._take_bullet("mark", attributes),
    "a:buAutoNum": lambda slide, attributes: slide._take_bullet("count", attributes),
    "a:rPr": Slide._start_letters,
    "a:hlinkClick": Slide._take_link,
    "a:br": Slide._break,
    "a:t": Slide._start_text,
    "a:tbl": Slide._start_table,
    "a:tblPr": Slide._take_head,
    "a:tr": Slide._start_row,
    "a:tc": Slide._start_cell,
    "m:oMath": Slide._start_formula,
    "c:chart": Slide._take_chart,
    "dgm:relIds": Slide._take_diagram,
}
