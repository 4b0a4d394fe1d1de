"""What a conversion holds between elements: the open paragraph, its marks, and the blocks written so far.

The elements themselves are in `block_elements`, `list_elements` and `inline_elements`: functions that start one and
return how it ends.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from webseam.fetch.fences import fenced
from webseam.fetch.readers.html import math
from webseam.fetch.readers.html.inline import PLAIN, Kind, Run, Style, heading, paragraph
from webseam.fetch.readers.html.lines import Lines
from webseam.fetch.readers.html.lists import Listing
from webseam.fetch.readers.html.marks import Footnotes
from webseam.fetch.readers.html.targets import Targets
from webseam.fetch.types import Link

SPACE = re.compile(r"[ \t\n\r\f\xa0]+")
BLANK: Final = " \t\n\r\f\xa0"  # the same characters

Leave = Callable[[], None]


class Writer(ABC):
    """The state of a conversion.

    Attributes:
        is_cell: everything becomes one line of text, and blocks become breaks; so too while `in_heading`.
        terms: for each open list of definitions the part that was open last; "" for one that is written as sections.
        skipped: an element that was written ahead of its turn.
    """

    def __init__(self, base_url: str, parent: Writer | None = None) -> None:
        self.targets: Targets = parent.targets if parent else Targets(base_url)
        self.links: dict[str, Link] = parent.links if parent else {}
        self.notes: Footnotes = parent.notes if parent else Footnotes()
        self.lines: Lines = parent.lines if parent else Lines()
        self.is_cell = parent is not None
        self.in_heading = False
        self.level = 1
        self.runs: list[Run] = []
        self.style: Style = PLAIN
        self.lists: list[Listing] = []
        self.terms: list[str] = []
        self.skipped: Any = None
        self.admonitions = self.formulas = self.links_open = self.codes = 0

    @abstractmethod
    def line_of(self, node: Any) -> list[Run]:
        """Return what is inside an element as runs of one line."""

    def is_one_line(self) -> bool:
        return self.is_cell or self.in_heading

    def text(self, data: str) -> None:
        text = data if data.isprintable() and "  " not in data else SPACE.sub(" ", data)
        if ("$" in text or "\\" in text) and math.may_hold_math(text):
            for kind, part in math.split_text(text):
                if kind == "math":
                    self.formula(part)
                else:
                    self.add("text", part)
        elif text != " " or self.runs:
            if self.style is PLAIN and text:
                self.runs.append(Run("text", text))
            else:
                self.add("text", text)

    def add(self, kind: Kind, text: str) -> None:
        if text:
            style = self.style
            if style is not PLAIN and style.link is not None and style.link.is_used:
                style = Style(None, style.strong, style.emphasis, style.strike)
            self.runs.append(Run(kind, text, style))

    def flush(self) -> None:
        """End the paragraph; inside a heading or a cell, a break."""
        if not self.runs:
            return
        if self.is_cell or self.in_heading:
            if self.runs[-1].kind != "break":
                self.runs.append(Run("break", "\n"))
            return
        text = paragraph(self.runs)
        self.end_runs()
        if text:
            self.lines.block(text)

    def end_runs(self) -> None:
        self.runs.clear()
        if self.style.link is not None:
            self.style.link.is_used = True

    def block(self, text: str) -> None:
        self.flush()
        if text:
            self.lines.block(text)

    def formula(self, tex: str) -> None:
        """Write a formula in dollars: a block of its own where it is one and may be one."""
        if not tex.startswith("$$"):
            self.add("raw", tex)
        elif self.is_one_line():
            self.add("raw", f"${' '.join(tex[3:-3].split())}$")
        elif "\n```" in tex or "\n~~~" in tex:  # Markdown would take it for the start of code
            self.block(fenced(tex[3:-3], "math"))
        else:
            self.block(tex)

    def close(self) -> None:
        self.flush()
        self.lines.close()

    def end_heading(self, level: int) -> None:
        self.in_heading = False
        text = heading(self.runs)
        self.end_runs()
        if text:
            self.lines.block(f"{'#' * level} {text}")

    def add_marked(self, text: str) -> None:
        before, self.style = self.style, Style(strong=True)
        self.add("text", text)
        self.style = before

    def styled(self, *, strong: bool = False, emphasis: bool = False, strike: bool = False, then: Any = None) -> Leave:
        before = self.style
        self.style = Style(before.link, before.strong or strong, before.emphasis or emphasis, before.strike or strike)

        def restore() -> None:
            self.style = before
            if then is not None:
                then()

        return restore
