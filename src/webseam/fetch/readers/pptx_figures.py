"""Charts and diagrams as what they say: a chart as the table it was drawn from, a diagram as a list."""

from __future__ import annotations

from html import escape
from typing import Final

from webseam.fetch.readers.parts import Handler, number

_MAX_SERIES: Final = 30
_MAX_POINTS: Final = 200  # of one series
_MAX_WORDS: Final = 300  # characters of a name or a value
_MAX_ITEMS: Final = 500


class Chart(Handler):
    """Takes the numbers of a chart."""

    def __init__(self) -> None:
        self._title: list[str] = []
        self._names: list[str] = []
        self._points: list[dict[int, str]] = []
        self._categories: dict[int, str] = {}
        self._place = 0
        self._part = ""
        self._takes = False
        self._in_title = False
        self.more = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c:title" and not self._names:
            self._in_title = True
        elif name == "c:ser":
            self._names.append("")
            self._points.append({})
        elif name in ("c:tx", "c:cat", "c:xVal", "c:val", "c:yVal"):
            self._part = name
        elif name == "c:pt":
            self._place = number(attributes.get("idx"))
        self._takes = name == "c:v" or (name == "a:t" and self._in_title)

    def end(self, name: str) -> None:
        self._takes = False
        if name == self._part:
            self._part = ""
        elif name == "c:title":
            self._in_title = False

    def text(self, words: str) -> None:
        if not self._takes:
            return
        if self._in_title:
            self._title.append(words[:_MAX_WORDS])
        elif not self._names or len(self._names) > _MAX_SERIES or not 0 <= self._place < _MAX_POINTS:
            self.more = True
        elif self._part == "c:tx":
            self._names[-1] = (self._names[-1] + words)[:_MAX_WORDS]
        elif self._part in ("c:val", "c:yVal") or (self._part and len(self._names) == 1):  # each series repeats them
            series = self._points[-1] if self._part in ("c:val", "c:yVal") else self._categories
            series[self._place] = (series.get(self._place, "") + words)[:_MAX_WORDS]

    def html(self) -> str:
        """Return the chart's title and its table, "" when it has no numbers."""
        names, points = self._names[:_MAX_SERIES], self._points[:_MAX_SERIES]
        places = sorted({place for series in (self._categories, *points) for place in series})
        if not places:
            return ""
        head = "".join(f"<th>{escape(name)}</th>" for name in ("", *names))
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{escape(series.get(place, ''))}</td>" for series in (self._categories, *points))
            + "</tr>"
            for place in places
        )
        title = " ".join("".join(self._title[:_MAX_ITEMS]).split())
        return f"<p>Chart{': ' if title else ''}{escape(title)}</p><table><tr>{head}</tr>{rows}</table>"


class Diagram(Handler):
    """Takes the texts of a diagram."""

    def __init__(self) -> None:
        self._items: list[str] = []
        self._takes = False
        self._words: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "dgm:pt":
            self._words = []
        self._takes = name == "a:t"

    def end(self, name: str) -> None:
        self._takes = False
        if name == "a:p":
            self._words.append(" ")
        elif name == "dgm:pt":
            text = " ".join("".join(self._words[:_MAX_ITEMS]).split())[:_MAX_WORDS]
            if text and len(self._items) < _MAX_ITEMS:
                self._items.append(text)

    def text(self, words: str) -> None:
        if self._takes and len(self._words) < _MAX_ITEMS:
            self._words.append(words[:_MAX_WORDS])

    def html(self) -> str:
        """Return the diagram's texts as a list."""
        items = "".join(f"<li>{escape(item)}</li>" for item in self._items)
        return f"<ul>{items}</ul>" if items else ""
