"""arXiv: title, authors, abstract, versions and where the whole text is, by the export API.

Source: https://info.arxiv.org/help/api/user-manual.html (an Atom feed with arXiv's own elements).
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.elements import parse
from webseam.fetch.sites.writing import joined, one_line
from webseam.fetch.types import Reading

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_AUTHORS: Final = 100
_ID = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?", re.ASCII)
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_OWN: Final = "{http://arxiv.org/schemas/atom}"


class Arxiv(Site):
    """`/abs/ID`; the PDF and the HTML text are read as they are."""

    id = "arxiv"
    label = "arXiv"
    hosts = ("arxiv.org", "www.arxiv.org", "export.arxiv.org")
    base_url = "https://export.arxiv.org/api"

    def plan(self, place: Place) -> Plan | None:
        number = "/".join(place.segments[1:])
        if place.segments[:1] != ("abs",) or not _ID.fullmatch(number):
            return None
        return partial(_abstract, number=number)


def _abstract(api: Api, number: str) -> Asked[Reading]:
    feed = yield from api.text("query", query={"id_list": number, "max_results": 1}, accept="application/atom+xml")
    entry = parse(feed, "arXiv").find(f"{_ATOM}entry")
    title = _words(entry, f"{_ATOM}title")
    if entry is None or not title or title == "Error":
        raise SiteFailed("no such paper", outcome=Outcome.NOT_FOUND)
    document = api.document(title)
    authors = [one_line(name.text or "") for name in entry.findall(f"{_ATOM}author/{_ATOM}name")]
    published, updated = _words(entry, f"{_ATOM}published"), _words(entry, f"{_ATOM}updated")
    doi = _words(entry, f"{_OWN}doi")
    document.facts(
        ("Authors", joined(authors, most=MAX_AUTHORS)),
        ("Submitted", published[:10]),
        ("This version", updated[:10] if updated != published else ""),
        ("Subjects", joined(one.get("term", "") for one in entry.findall(f"{_ATOM}category"))),
        ("Comments", _words(entry, f"{_OWN}comment")),
        ("Journal", _words(entry, f"{_OWN}journal_ref")),
        ("DOI", f"https://doi.org/{doi}" if doi else ""),
        ("PDF", f"https://arxiv.org/pdf/{number}"),
        ("HTML", f"https://arxiv.org/html/{number}"),
    )
    document.heading(2, "Abstract")
    document.markdown(_words(entry, f"{_ATOM}summary"))
    return document.reading(author=joined(authors, most=3), published=published or None)


def _words(entry: Element | None, name: str) -> str:
    return one_line(entry.findtext(name) or "") if entry is not None else ""
