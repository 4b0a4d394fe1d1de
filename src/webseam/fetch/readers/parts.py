"""The XML inside office documents, handed over as it streams by. No tree is built: a part has millions of elements.

Office Open XML has two sets of namespaces for the same elements, so names are made of the prefixes that everybody uses:
"w:p". No such document declares entities; one that does is not read further, so none can be expanded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final
from xml.parsers import expat

from webseam.errors import Outcome
from webseam.fetch.readers.moments import moment
from webseam.fetch.readers.package import Package, resolved
from webseam.fetch.readers.writing import as_title
from webseam.fetch.types import Unreadable
from webseam.text import quote

MAX_DEPTH: Final = 2_000  # levels of elements; what people write has 60
_MAX_TOKEN: Final = 1_048_576  # bytes of one tag, comment or run of text that the parser has to hold together
_MAX_RELATIONS: Final = 100_000  # links and pictures of one part

_SCHEMAS: Final = "http://schemas.openxmlformats.org/"
_STRICT: Final = "http://purl.oclc.org/ooxml/"
_PREFIXES: Final = {
    **{
        f"{root}{path}": prefix
        for prefix, paths in {
            "w": ("wordprocessingml/2006/main", "wordprocessingml/main"),
            "x": ("spreadsheetml/2006/main", "spreadsheetml/main"),
            "p": ("presentationml/2006/main", "presentationml/main"),
            "a": ("drawingml/2006/main", "drawingml/main"),
            "c": ("drawingml/2006/chart", "drawingml/chart"),
            "dgm": ("drawingml/2006/diagram", "drawingml/diagram"),
            "wp": ("drawingml/2006/wordprocessingDrawing", "drawingml/wordprocessingDrawing"),
            "m": ("officeDocument/2006/math", "officeDocument/math"),
            "r": ("officeDocument/2006/relationships", "officeDocument/relationships"),
            "rel": ("package/2006/relationships",),
            "mc": ("markup-compatibility/2006",),
            "cp": ("package/2006/metadata/core-properties",),
        }.items()
        for path in paths
        for root in (_SCHEMAS, _STRICT)
    },
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://www.w3.org/XML/1998/namespace": "xml",
    "urn:schemas-microsoft-com:vml": "v",
    "http://www.idpf.org/2007/opf": "opf",
    "urn:oasis:names:tc:opendocument:xmlns:container": "ocf",
    "http://www.w3.org/2001/04/xmlenc#": "enc",
}


class Done(Exception):
    """The handler has all it wants of this part."""


class Handler:
    """Takes the elements of a part in the order in which they begin and end. To be derived from."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take a start tag. May raise Done."""

    def end(self, name: str) -> None:
        """Take an end tag. May raise Done."""

    def text(self, words: str) -> None:
        """Take text, perhaps in pieces."""


class _Refused(Exception):
    """Something that no office document has."""


class _Names(dict[str, str]):
    """Names as expat gives them -> as everybody writes them."""

    def __missing__(self, name: str) -> str:
        space, mark, local = name.rpartition(" ")
        known = f"{_PREFIXES.get(space, '?')}:{local}" if mark else local
        if len(self) < 10_000:
            self[name] = known
        return known


def walk(package: Package, part: str, handler: Handler, *, until: float | None = None) -> bool:
    """Hand `part` to `handler`. Returns False when the instant `until` of `time.monotonic` came before its end.

    Raises:
        Unreadable: `bad_response` when it is damaged, `unsupported` when it is more than can be read.
    """
    names = _Names()
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise _Refused(f"elements are nested deeper than {MAX_DEPTH:,} levels")
        handler.start(names[name], {names[key]: value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handler.end(names[name])

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = _refuse_entity
    fed = 0
    try:
        for step in package.chunks(part):
            if until is not None and time.monotonic() > until:
                return False
            parser.Parse(step, False)
            fed += len(step)
            if fed - parser.CurrentByteIndex > _MAX_TOKEN:
                raise _Refused(f"one tag or comment has more than {_MAX_TOKEN:,} bytes")
        parser.Parse(b"", True)
    except Done:
        pass
    except _Refused as error:
        detail = f"this {package.kind} of {package.size} is not read: {error} (part {quote(part)})"
        raise Unreadable(detail, outcome=Outcome.UNSUPPORTED) from None
    except expat.ExpatError as error:
        why = f"{expat.ErrorString(error.code)} in line {error.lineno} of the part {quote(part)}"
        raise package.damaged(why) from None
    finally:
        # The parser holds these functions and they hold the parser: without this it is freed at some later time.
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
    return True


def _refuse_entity(*_: object) -> None:
    raise _Refused("it declares entities, which could be anything")


class Relations(Handler):
    """What a part refers to: id -> (end of the kind, target). Targets outside are addresses, others names of parts."""

    def __init__(self, package: Package, part: str) -> None:
        self._part = part
        self._found: dict[str, tuple[str, str]] = {}
        folder, _, name = part.rpartition("/")
        rels = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
        if rels in package:
            walk(package, rels, self)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name != "rel:Relationship" or len(self._found) >= _MAX_RELATIONS:
            return
        target = attributes.get("Target", "")
        if attributes.get("TargetMode", "").lower() != "external":
            target = resolved(self._part, target)
        self._found[attributes.get("Id", "")] = attributes.get("Type", "").rpartition("/")[2], target

    def target(self, name: str | None) -> str | None:
        """Return what an id refers to."""
        return self._found.get(name or "", ("", None))[1]

    def of_kind(self, kind: str) -> Iterator[str]:
        """Yield the targets of all relations of one kind, such as "notesSlide"."""
        yield from (target for found, target in self._found.values() if found == kind)


class Properties(Handler):
    """What a document says about itself. Unknown is None; `published` is an ISO day or instant."""

    def __init__(self, package: Package) -> None:
        self._said: dict[str, str] = {}
        self._name = ""
        part = next(Relations(package, "").of_kind("core-properties"), "docProps/core.xml")
        if part in package:
            walk(package, part, self)
        self.title = as_title(self._said.get("dc:title"))
        self.author = as_title(self._said.get("dc:creator"))
        self.language = as_title(self._said.get("dc:language"))
        self.published = moment(self._said.get("dcterms:created")) or moment(self._said.get("dcterms:modified"))

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._name = name

    def end(self, name: str) -> None:
        self._name = ""

    def text(self, words: str) -> None:
        if self._name and len(self._said.get(self._name, "")) < 1_000:
            self._said[self._name] = self._said.get(self._name, "") + words[:1_000]


def main_part(package: Package, expected: str) -> str:
    """Return the name of the part that a document begins with. Raises: Unreadable when there is none."""
    part = next(Relations(package, "").of_kind("officeDocument"), expected)
    if part not in package:
        raise package.damaged(f"the part {quote(part)} is missing")
    return part


def is_on(attributes: dict[str, str]) -> bool:
    """Return the value of a property that is either on or off."""
    return attributes.get("w:val", "1").lower() not in ("0", "false", "off", "none")


def number(text: str | None, default: int = 0) -> int:
    """Return a whole number of the format, `default` where it is none."""
    text = (text or "").strip()
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 10 and text.isascii() else default
