"""What styles and numbering make of the paragraphs of a Word document: headings, code, list items and their numbers.

Word writes the English names of its own styles whatever language it speaks, so names tell what a style is for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from webseam.fetch.readers.package import Package
from webseam.fetch.readers.parts import Handler, is_on, number, walk

_MAX_STYLES: Final = 10_000
_MAX_ABOVE: Final = 20  # styles that a style is based on, one on the other
_LEVELS: Final = 9  # of a list, as the format has them
_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_DEEPER = re.compile(r"list (?:bullet|number) ([2-5])", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?:code|verbatim|preformatted|listing|monospace)|html (?:sample|keyboard|typewriter)|^plain text$",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"(?:intense )?quote|quotations?|block (?:text|quote)", re.IGNORECASE)
_MONO = re.compile(
    r"courier|consolas|monospace|\bmono\b|menlo|monaco|lucida console|source code|fira code|cascadia|inconsolata",
    re.IGNORECASE,
)


def is_mono(font: str | None) -> bool:
    """True for a font whose letters are all of one width."""
    return bool(font) and _MONO.search((font or "")[:100]) is not None


@dataclass(slots=True)
class Style:
    """A style with what it takes from those it is based on; None = it does not say.

    Attributes:
        outline: 0 for a heading of the first level.
        numbering: id of its list and level in it.
    """

    name: str = ""
    based_on: str | None = None
    outline: int | None = None
    numbering: tuple[str | None, int | None] = (None, None)
    hidden: bool | None = None
    mono: bool | None = None
    bold: bool | None = None
    italic: bool | None = None
    shaded: bool | None = None

    @property
    def heading(self) -> int | None:
        """The level of a heading from 1, None for every other style."""
        if named := _HEADING.fullmatch(self.name):
            return int(named[1])
        if self.name.lower() == "title":
            return 1
        return self.outline + 1 if self.outline is not None and 0 <= self.outline < _LEVELS else None

    @property
    def list_level(self) -> int:
        """The level from 0 of an item of a list; Word's own styles make a list of its own of each level."""
        named = _DEEPER.fullmatch(self.name)
        return self.numbering[1] or (int(named[1]) - 1 if named else 0)

    @property
    def is_code(self) -> bool:
        return _CODE.search(self.name) is not None or bool(self.mono)

    @property
    def is_quote(self) -> bool:
        return _QUOTE.fullmatch(self.name) is not None

    @property
    def is_contents(self) -> bool:
        """True for a line of a table of contents."""
        return self.name.lower().startswith(("toc ", "table of figures", "contents "))


class Styles(Handler):
    """The styles of a document by id, those of paragraphs and of letters."""

    def __init__(self, package: Package, part: str | None) -> None:
        self._found: dict[str, Style] = {}
        self._whole: dict[str, Style] = {}
        self._style: Style | None = None
        self._default_mono = False
        self.default = ""
        if part and part in package:
            walk(package, part, self)
        body = self.get(self.default)
        if body.mono or self._default_mono:  # a document all in such letters is no code
            for style in self._found.values():
                style.mono = None
            self._whole.clear()
            self.mono_tells = False
        else:
            self.mono_tells = True

    def start(self, name: str, attributes: dict[str, str]) -> None:
        value = attributes.get("w:val")
        if name == "w:style" and len(self._found) < _MAX_STYLES:
            self._style = self._found[attributes.get("w:styleId", "")] = Style()
            if attributes.get("w:type") == "paragraph" and attributes.get("w:default", "0") in ("1", "true", "on"):
                self.default = attributes.get("w:styleId", "")
        elif name == "w:rFonts" and is_mono(attributes.get("w:ascii")):
            if self._style is None:
                self._default_mono = True
            else:
                self._style.mono = True
        elif (style := self._style) is None:
            return
        elif name == "w:rFonts" and attributes.get("w:ascii"):
            style.mono = False
        elif name == "w:name":
            style.name = (value or "")[:200]
        elif name == "w:basedOn":
            style.based_on = value
        elif name == "w:outlineLvl":
            style.outline = number(value, _LEVELS)
        elif name == "w:numId":
            style.numbering = (value, style.numbering[1])
        elif name == "w:ilvl":
            style.numbering = (style.numbering[0], number(value))
        elif name == "w:shd":
            style.shaded = attributes.get("w:fill", "auto").lower() not in ("auto", "ffffff")
        elif name in _SWITCHES:
            setattr(style, _SWITCHES[name], is_on(attributes))

    def end(self, name: str) -> None:
        if name == "w:style":
            self._style = None

    def get(self, name: str | None) -> Style:
        """Return a style with what it takes from others; one that says nothing where there is none of that id."""
        key = name or self.default
        if key not in self._whole:
            self._whole[key] = self._inherited(key)
        return self._whole[key]

    def _inherited(self, key: str) -> Style:
        style = replace(self._found.get(key, Style()))
        above = style.based_on
        for _ in range(_MAX_ABOVE):
            base = self._found.get(above or "")
            if base is None:
                break
            style.numbering = (
                style.numbering[0] or base.numbering[0],
                style.numbering[1] if style.numbering[1] is not None else base.numbering[1],
            )
            if style.outline is None:
                named = _HEADING.fullmatch(base.name)
                style.outline = int(named[1]) - 1 if named else base.outline
            for field_name in ("hidden", "mono", "bold", "italic", "shaded"):
                if getattr(style, field_name) is None:
                    setattr(style, field_name, getattr(base, field_name))
            above = base.based_on
        return style


_SWITCHES: Final = {"w:vanish": "hidden", "w:b": "bold", "w:i": "italic"}


@dataclass(slots=True)
class _Level:
    form: str = "decimal"
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class _List:
    levels: dict[int, _Level] = field(default_factory=dict)
    like: str | None = None  # id of a style whose list it is


@dataclass(slots=True)
class _Use:
    """One use of a list: `starts` are the levels that begin anew in it."""

    of: str
    starts: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands before a list item: `label` as the document shows it, `number` when it is a plain one."""

    label: str
    number: int | None


class Numbering(Handler):
    """The lists of a document, and how far each has been counted."""

    def __init__(self, package: Package, part: str | None, styles: Styles) -> None:
        self._lists: dict[str, _List] = {}
        self._uses: dict[str, _Use] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()
        self._list: _List | None = None
        self._use: _Use | None = None
        self._level: _Level | None = None
        self._place = 0
        self._styles = styles
        if part and part in package:
            walk(package, part, self)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        value = attributes.get("w:val")
        if name == "w:abstractNum" and len(self._lists) < _MAX_STYLES:
            self._list = self._lists[attributes.get("w:abstractNumId", "")] = _List()
        elif name == "w:num" and len(self._uses) < _MAX_STYLES:
            self._use = self._uses[attributes.get("w:numId", "")] = _Use("")
        elif name == "w:abstractNumId" and self._use is not None:
            self._use.of = value or ""
        elif name == "w:numStyleLink" and self._list is not None:
            self._list.like = value
        elif name == "w:lvlOverride":
            self._place = number(attributes.get("w:ilvl"))
        elif name == "w:startOverride" and self._use is not None:
            self._use.starts[self._place] = number(value, 1)
        elif name == "w:lvl" and self._list is not None:
            self._level = self._list.levels[number(attributes.get("w:ilvl"))] = _Level()
        elif self._level is not None and name in ("w:start", "w:numFmt", "w:lvlText"):
            if name == "w:start":
                self._level.start = number(value, 1)
            elif name == "w:numFmt":
                self._level.form = value or "decimal"
            else:
                self._level.text = (value or "")[:100]

    def end(self, name: str) -> None:
        if name == "w:abstractNum":
            self._list = None
        elif name == "w:num":
            self._use = None
        elif name == "w:lvl":
            self._level = None

    def next(self, key: str | None, place: int) -> Mark | None:
        """Count the next item on level `place` of the list `key`; None when there is no such list."""
        use = self._uses.get(key or "")
        if use is None or key is None:
            return None
        found = self._lists.get(use.of)
        if found is not None and found.like is not None and not found.levels:
            linked = self._uses.get(self._styles.get(found.like).numbering[0] or "")
            found = self._lists.get(linked.of) if linked else None
        if found is None:
            return None
        place = max(0, min(place, _LEVELS - 1))
        level = found.levels.get(place, _Level())
        counts = self._counts.setdefault(use.of, {})
        if key not in self._begun:
            self._begun.add(key)
            for where, start in use.starts.items():
                counts[where] = start - 1
        counts[place] = counts.get(place, level.start - 1) + 1
        for deeper in [where for where in counts if where > place]:
            del counts[deeper]
        if level.form in ("bullet", "none") or not level.text:
            return Mark("", None)
        label = re.sub(r"%([1-9])", lambda mark: self._written(found, counts, int(mark[1]) - 1), level.text)
        plain = level.form in ("decimal", "decimalZero") and re.fullmatch(r"%\d[.)]?", level.text)
        return Mark(label, counts[place] if plain else None)

    def _written(self, found: _List, counts: dict[int, int], place: int) -> str:
        level = found.levels.get(place, _Level())
        return _count(counts.get(place, level.start), level.form)


def _count(value: int, form: str) -> str:
    """Return a number as a list counts it."""
    if form.endswith("Letter") and 0 < value <= 780:
        text = chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 + 1)
    elif form.endswith("Roman") and 0 < value < 4_000:
        text = ""
        for worth, letters in _ROMAN:
            text += letters * (value // worth)
            value %= worth
    else:
        return str(value)
    return text.upper() if form.startswith("upper") else text
