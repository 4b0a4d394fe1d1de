"""XML that an API sent, read without what XML can do to its reader.

Nothing is expanded or fetched: a declaration of entities is refused, and a document type that only names its grammar,
as some APIs send it, is taken off before anything is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.fetch.sites.base import SiteFailed
from webseam.fetch.sites.writing import one_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DOCTYPE = re.compile(r"<!DOCTYPE[^\[<>]{0,500}>")


def parse(text: str, label: str) -> Element:
    """Return the root of a document that `label` sent.

    Raises:
        SiteFailed: it is no XML, or it declares entities.
    """
    from xml.etree import ElementTree  # 8 ms that other sites do not need

    text = _DOCTYPE.sub("", text, count=1)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise SiteFailed(f"{label} answered with XML that declares entities")
    try:
        return ElementTree.fromstring(text)  # noqa: S314 - no declarations, as seen above
    except (ElementTree.ParseError, ValueError):
        raise SiteFailed(f"{label} answered with something that is not XML") from None


def words(element: Element | None, path: str = "") -> str:
    """Return the text of an element, or of the first one at `path` below it, on one line; "" when there is none."""
    found = element.find(path) if element is not None and path else element
    return one_line("".join(found.itertext())) if found is not None else ""
