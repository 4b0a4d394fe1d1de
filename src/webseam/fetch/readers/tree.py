"""XML without its dangers: a bounded tree from expat, and that tree laid out for reading.

No entity is ever expanded and nothing outside the document is read. Names keep their prefixes instead of being
resolved: feeds in the wild use prefixes that they never declare, which a parser that knows namespaces refuses.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from html.entities import html5
from itertools import islice
from typing import Final
from xml.parsers import expat

from webseam.errors import Outcome
from webseam.fetch.readers.writing import Sheet, as_title, fenced, file_name, fit, raw
from webseam.fetch.types import Reading, Source, Unreadable

_MAX_NODES: Final = 100_000  # elements, runs of text and comments kept; a few hundred bytes each
_MAX_DEPTH: Final = 150  # levels kept; what is deeper is counted
_MAX_BEYOND: Final = 100_000  # levels that are counted
_MAX_ATTRIBUTES: Final = 200  # of one element
_LINE: Final = 120  # characters on which a small element stays together
_PROSE: Final = 2_000  # characters on which text with elements inside stays together
_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
_NO_ATTRIBUTES: Final[dict[str, str]] = {}
_NO_CHARACTER: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    "|&#(?:0{0,5}(?:[0-8]|1[124-9]|2[0-9]|3[01])|x0{0,5}(?:[0-8bcefBCEF]|1[0-9a-fA-F]));"
)
_AMPERSAND: Final = re.compile(
    r"&(?!#[0-9]{1,7};|#x[0-9A-Fa-f]{1,6};|(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,31};)?"
)


class Comment(str):
    """The text of a comment, which is no text of its element."""

    __slots__ = ()


@dataclass(slots=True)
class Element:
    """One element: its name as written, its attributes and what it holds, in order."""

    name: str
    attributes: dict[str, str]
    inner: list[Element | str] = field(default_factory=list)

    def elements(self) -> list[Element]:
        """Return the elements right inside."""
        return [one for one in self.inner if isinstance(one, Element)]

    def text(self) -> str:
        """Return all text inside, without comments, ends trimmed."""
        words: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Element):
                waiting.extend(reversed(one.inner))
            elif not isinstance(one, Comment):
                words.append(one)
        return "".join(words).strip()


@dataclass(slots=True)
class Tree:
    """What was read of a document.

    Attributes:
        root: None when not even the first element began.
        error: why reading stopped before the end, or None.
        left_out: elements that were too many or too deep.
    """

    root: Element | None = None
    error: str | None = None
    left_out: int = 0


class _TooDeep(Exception):
    """Elements are nested so deeply that the parser's own memory matters."""


class _Declared(Exception):
    """The document declares entities; nothing of it was built."""


def parse(text: str, *, repair: bool = False) -> Tree:
    """Return the tree of an XML document, as far as it is well-formed.

    `repair` reads past what feeds get wrong: entities of HTML, bare ampersands, control characters.

    Raises:
        Unreadable: it declares entities that refer to other entities or to files.
    """
    text = text.lstrip("\ufeff \t\n")
    tree = _parse(text)
    if tree.error and repair:
        again = _parse(_repaired(text))
        if again.error is None or _count(again.root) > _count(tree.root):
            return again
    return tree


def _parse(text: str) -> Tree:
    building = _Building()
    parser = expat.ParserCreate("utf-8")  # a label inside is about bytes that have been decoded by now
    parser.buffer_text = True
    parser.StartElementHandler = building.start
    parser.EndElementHandler = building.end
    parser.CharacterDataHandler = building.add
    parser.CommentHandler = lambda words: building.add(Comment(words))
    parser.SkippedEntityHandler = lambda name, is_parameter: None if is_parameter else building.add(_entity(name))
    parser.EntityDeclHandler = building.declare
    tree = building.tree
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        parser.buffer_text = False  # hands over the text before the mistake
        line, column = error.lineno, error.offset + 1
        tree.error = f"{expat.ErrorString(error.code)} in line {line}, column {column}"
    except _TooDeep:
        tree.error = f"elements are nested deeper than {_MAX_BEYOND:,} levels"
    except _Declared:
        if building.hostile:
            detail = f"XML with entities that refer to others or to files is not read ({len(text):,} characters)"
            raise Unreadable(detail, outcome=Outcome.UNSUPPORTED) from None
        tree.error = "it declares entities, which are not expanded"
    return tree


def _entity(name: str) -> str:
    """Return the text of an entity of HTML that a document without its definitions refers to."""
    return html.unescape(f"&{name};")


class _Building:
    """Takes expat's events and keeps a tree within bounds."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.open: list[Element] = []
        self.nodes = 0
        self.beyond = 0  # levels below the last element kept
        self.declared = self.hostile = False

    def declare(self, name: str, is_parameter: bool, value: str | None, *outside: object) -> None:
        """Note an entity; one that reaches further than its own letters is an attack."""
        self.declared = True
        self.hostile = bool(self.hostile or is_parameter or any(outside) or value is None or "&" in value)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.declared:  # before anything could be expanded
            raise _Declared
        if self.beyond > _MAX_BEYOND:
            raise _TooDeep
        self.nodes += 1
        if self.beyond or len(self.open) >= _MAX_DEPTH or self.nodes > _MAX_NODES:
            self.beyond += 1
            self.tree.left_out += 1
            return
        element = Element(name, attributes or _NO_ATTRIBUTES)
        if self.open:
            self.open[-1].inner.append(element)
        else:
            self.tree.root = element
        self.open.append(element)

    def end(self, name: str) -> None:
        if self.beyond:
            self.beyond -= 1
        else:
            self.open.pop()

    def add(self, words: str) -> None:
        if self.beyond or not self.open:
            return
        inner = self.open[-1].inner
        blank = not words.strip()
        if blank and not inner:
            return
        self.nodes += not blank
        if self.nodes > _MAX_NODES:
            self.tree.left_out += 1
        else:
            inner.append(" " if blank and not isinstance(words, Comment) else words)


def _repaired(text: str) -> str:
    """Return XML with what feeds get wrong put right; inside CDATA the result means the same to HTML."""
    return _AMPERSAND.sub(_character, _NO_CHARACTER.sub("", text))


def _character(found: re.Match[str]) -> str:
    """Return the numeric reference for an entity of HTML, an escaped ampersand for any other."""
    name = found[1] or ""
    return "".join(f"&#{ord(one)};" for one in html5[name]) if name in html5 else f"&amp;{name}"


def _count(root: Element | None) -> int:
    count, waiting = 0, [root] if root else []
    while waiting:
        inner = waiting.pop().elements()
        count += len(inner) + 1
        waiting.extend(inner)
    return count


def read(text: str, source: Source, notes: list[str]) -> Reading:
    """Return an XML document laid out in a fence; what is not well-formed is shown as it came.

    Raises:
        Unreadable: it declares entities that refer to other entities or to files.
    """
    tree = parse(text)
    if not text.strip():
        return Reading(markdown="", title=file_name(source.url), reader="data", notes=notes)
    if tree.root is None or (tree.error and not source.truncated):
        return raw(text, source, "xml", reader="data", notes=[*notes, f"XML shown as it came: {tree.error}."])
    root = tree.root
    sheet = fit(lambda sheet: _write(sheet, root, 0))
    if not sheet.lines:  # a name or a text longer than a sheet
        return raw(text, source, "xml", reader="data", notes=notes)
    if tree.left_out:
        sheet.left_out["elements too many or too deep"] += tree.left_out
    titles = [one.text() for one in root.elements() if one.name.rpartition(":")[2] in ("title", "name")]
    return Reading(
        markdown=fenced("\n".join(sheet.lines), "xml"),
        title=(as_title(titles[0]) if titles else None) or file_name(source.url),
        reader="data",
        notes=notes + sheet.notes(len(text)),
        truncated=source.truncated or sheet.cut or bool(sheet.left_out),
    )


def markup(element: Element, room: int, *, as_html: bool = False) -> str | None:
    """Return an element and all it holds as XML, or None when that takes more than `room` characters.

    `as_html` writes what a parser of HTML takes the same way: no CDATA, and an end tag where HTML needs one.
    """
    parts: list[str] = []
    room -= sum(len(name) + len(value) + 4 for name, value in element.attributes.items()) + 2 * len(element.name) + 5
    if room < 0:
        return None
    is_prose = _is_prose(element)
    for one in element.inner:
        if isinstance(one, str) and not isinstance(one, Comment) and not is_prose and not one.strip():
            continue
        part = markup(one, room, as_html=as_html) if isinstance(one, Element) else _words(one, as_html=as_html)
        room -= len(part) if part is not None else room + 1
        if part is None or room < 0:
            return None
        parts.append(part)
    start = "".join([element.name, *(f' {name}="{_quoted(value)}"' for name, value in element.attributes.items())])
    if not element.inner and not (as_html and element.name not in _VOID):
        return f"<{start}/>"
    return f"<{start}>{''.join(parts)}</{element.name}>"


def _write(sheet: Sheet, element: Element, depth: int) -> None:
    """Write an element on one line when it is small or prose, else with what it holds below it."""
    indent = "  " * depth
    line = markup(element, _PROSE if _is_prose(element) else _LINE - len(indent))
    if line is not None and "\n" not in line:
        sheet.write(indent + line)
        return
    start, end = f"{indent}<{_start(sheet, element)}", f"</{sheet.shorten(element.name)}>"
    inner = [one for one in element.inner if isinstance(one, Element) or one.strip()]
    if not inner:
        sheet.write(f"{start}/>")
    elif not any(isinstance(one, Element) for one in inner):
        sheet.write(f"{start}>{_words(sheet.shorten(element.text()))}{end}")
    elif depth >= sheet.bounds.depth:
        sheet.left_out["elements nested too deeply"] += len(inner)
        sheet.write(f"{start}><!-- {len(inner):,} more -->{end}")
    else:
        sheet.write(f"{start}>")
        for one in inner[: sheet.bounds.siblings]:
            if isinstance(one, Element):
                _write(sheet, one, depth + 1)
            else:
                sheet.write(f"{indent}  {_words(type(one)(sheet.shorten(one.strip())))}")
        rest = len(inner) - sheet.bounds.siblings
        if rest > 0:
            sheet.left_out["elements"] += rest
            sheet.write(f"{indent}  <!-- {rest:,} more -->")
        sheet.write(indent + end)


def _is_prose(element: Element) -> bool:
    """True when text stands between the elements, so that line ends would change it."""
    words = [one for one in element.inner if isinstance(one, str) and not isinstance(one, Comment)]
    return len(words) < len(element.inner) and any(not one.isspace() for one in words)


def _start(sheet: Sheet, element: Element) -> str:
    """Return the name and the attributes of an element within the bounds."""
    shown = list(islice(element.attributes.items(), _MAX_ATTRIBUTES))
    rest = len(element.attributes) - len(shown)
    if rest:
        sheet.left_out["attributes"] += rest
    words = [f'{sheet.shorten(name)}="{_quoted(sheet.shorten(value))}"' for name, value in shown]
    return " ".join([sheet.shorten(element.name), *words])


def _words(text: str, *, as_html: bool = False) -> str:
    """Return text or a comment as XML or HTML."""
    if isinstance(text, Comment):
        return f"<!--{text}-->"
    if "<" in text and "]]>" not in text and not as_html:  # as it was written, most likely, and easier to read
        return f"<![CDATA[{text}]]>"
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
