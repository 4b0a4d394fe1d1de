"""The shape of one entry of the index, from the process that reads a source to the table that keeps it.

A row crosses a pipe between processes as plain tuples, so this module says what stands where, and builds the
texts that are searched. The same row always gives the same texts: that is how a row is taken out again.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

from webseam.local.tokens import expand, expand_name, stems

KINDS = ("module", "class", "function", "readme", "man", "page")
CODE = frozenset(("module", "class", "function"))
MAX_DOC = 12_000  # characters kept of one docstring; longer ones are manuals, and their start says what they are
_WORTH_PACKING = 160  # bytes; below, zlib saves nothing


class Row(NamedTuple):
    """One entry.

    Attributes:
        name: public dotted name of an object, or the title of a page's section.
        split: length of the module's name within `name`; of pages 0.
        where: for objects nothing more; for pages the titles above the section.
        file: absolute path, empty for what has no file. line: from 1, 0 when unknown.
        summary: the first sentence. doc: the rest, as `pack` leaves it.
        aliases: other dotted names of the same object.
        weight: 0 to 1, how likely somebody looks for this rather than for an equally good match.
    """

    kind: str
    name: str
    split: int
    where: str
    file: str
    line: int
    signature: str
    summary: str
    doc: bytes | str
    aliases: tuple[str, ...]
    weight: float


def pack(text: str) -> bytes | str:
    """Return text as it is kept: compressed when that saves something."""
    if len(text) < _WORTH_PACKING:
        return text
    packed = zlib.compress(text.encode("utf-8", "replace"), 6)
    return packed if len(packed) < len(text) else text


def unpack(doc: bytes | str) -> str:
    return doc if isinstance(doc, str) else zlib.decompress(doc).decode()


def searched(package: str, row: Row) -> tuple[str, str, str, str]:
    """Return the texts that are indexed: stems of the name, of the place and of the first sentence; and all words."""
    summary = expand(row.summary)
    if row.kind in CODE:
        parent, _, last = row.name.rpartition(".")
        name, path = expand_name(last), expand_name(f"{package} {parent}")
    else:
        name, path = expand(row.name), expand(f"{package} {row.where}")
    text = expand(f"{row.signature} {unpack(row.doc)}")
    return stems(name), stems(path), stems(summary), f"{name} {path} {summary} {text}"
