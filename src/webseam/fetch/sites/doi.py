"""DOIs: what Crossref knows of a publication, with its abstract where the publisher gave one.

Source: https://api.crossref.org/swagger-ui/index.html (`/works/{doi}`).
"""

from __future__ import annotations

import html
import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_AUTHORS: Final = 50
_DOI = re.compile(r"10\.\d{4,9}/\S{1,300}")
_JATS = re.compile(r"<(/?)jats:([a-z0-9-]{1,20})[^<>]{0,300}>")
_TITLE = re.compile(r"<jats:title>\s{0,100}Abstract\s{0,100}</jats:title>", re.IGNORECASE)
_TAGS: Final = {"title": "h3", "italic": "i", "bold": "b", "list": "ul", "list-item": "li", "sec": "div"}


class Doi(Site):
    """`doi.org/10.…`; registered elsewhere than at Crossref, the page itself is read."""

    id = "doi"
    label = "Crossref"
    hosts = ("doi.org", "www.doi.org", "dx.doi.org")
    base_url = "https://api.crossref.org"

    def plan(self, place: Place) -> Plan | None:
        doi = "/".join(place.segments)
        return partial(_work, doi=doi) if _DOI.fullmatch(doi) else None


def _work(api: Api, doi: str) -> Asked[Reading]:
    found = yield from api.object("works", doi, holds="message")
    work = found["message"]
    if not work["DOI"].line:
        raise SiteFailed("Crossref gave no work")
    authors = [_name(author) for author in work["author"]]
    published = _date(work["published"]) or _date(work["issued"])
    document = api.document(html.unescape(work["title"][0].line) or doi)
    document.facts(
        ("Authors", joined(authors, most=MAX_AUTHORS)),
        ("Published", published),
        ("In", joined([work["container-title"][0].line, work["volume"].line and f"volume {work['volume'].line}",
                       work["issue"].line and f"issue {work['issue'].line}",
                       work["page"].line and f"pages {work['page'].line}"])),
        ("Publisher", work["publisher"].line),
        ("Type", work["type"].line.replace("-", " ")),
        ("DOI", f"https://doi.org/{work['DOI'].line or doi}"),
        ("Page", work["resource"]["primary"]["URL"].line),
        ("Cited by", work["is-referenced-by-count"].number),
        ("References", work["references-count"].number),
        ("License", work["license"][0]["URL"].line),
        ("Updates", joined(f"{one['type'].line} {one['DOI'].line}" for one in work["update-to"])),
    )  # fmt: skip
    texts = [link["URL"].line for link in work["link"] if link["intended-application"].line != "similarity-checking"]
    if work["abstract"].text:
        document.heading(2, "Abstract")
        abstract = _TITLE.sub("", work["abstract"].text)
        document.html(_JATS.sub(lambda tag: f"<{tag[1]}{_TAGS.get(tag[2], tag[2])}>", abstract))
    if texts:
        document.heading(2, "Full text")
        document.entries(texts[:10])
    language = work["language"].line or None
    return document.reading(author=joined(authors, most=3), published=published, language=language)


def _name(author: Value) -> str:
    return " ".join(filter(None, (author["given"].line, author["family"].line))) or author["name"].line


def _date(value: Value) -> str | None:
    """Return `2024-05-01`, or less where less is known."""
    numbers = [part.number for part in value["date-parts"][0]]
    if not numbers or any(number is None for number in numbers):
        return None
    return "-".join(f"{number:02d}" for number in numbers if number is not None)
