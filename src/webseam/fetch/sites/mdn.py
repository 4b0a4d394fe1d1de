"""MDN Web Docs: the article as data, section by section, with its Baseline and specifications.

Source: https://github.com/mdn/rari and https://github.com/mdn/fred: each page has an `index.json` beside it.
"""

from __future__ import annotations

import re
from functools import partial

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document
from webseam.fetch.types import Reading

_LOCALE = re.compile(r"[a-z]{2}(?:-[A-Z]{2})?")
_BASELINE = {"high": "widely available", "low": "newly available"}


class Mdn(Site):
    """`/LOCALE/docs/PATH`."""

    id = "mdn"
    label = "MDN"
    hosts = ("developer.mozilla.org",)
    base_url = "https://developer.mozilla.org"

    def plan(self, place: Place) -> Plan | None:
        segments = place.segments
        if len(segments) < 3 or not _LOCALE.fullmatch(segments[0]) or segments[1] != "docs":
            return None
        return None if segments[-1] == "index.json" else partial(_article, segments=segments)


def _article(api: Api, segments: tuple[str, ...]) -> Asked[Reading]:
    found = yield from api.object(*segments, "index.json")
    doc = found["doc"]
    if not doc["body"]:
        raise SiteFailed("MDN gave an article without text")
    document = api.document(doc["title"].line)
    document.facts(
        ("Changed", doc["modified"].day),
        ("Baseline", _baseline(doc["baseline"])),
        ("Features", "deprecated" if "deprecated" in [one.line for one in doc["pageFlags"]] else ""),
    )
    for section in doc["body"]:
        _section(document, section["type"].line, section["value"])
    return document.reading(published=doc["modified"].date, language=segments[0])


def _baseline(baseline: Value) -> str:
    if baseline["baseline"].raw is False:
        return "limited availability"
    since = baseline["baseline_low_date"].day
    words = _BASELINE.get(baseline["baseline"].line, "")
    return f"{words} (since {since})" if words and since else words


def _section(document: Document, kind: str, value: Value) -> None:
    title = value["title"].line
    if title:
        document.html(f"<h{3 if value['isH3'].raw is True else 2}>{title}</h{3 if value['isH3'].raw is True else 2}>")
    if kind == "prose":
        document.html(value["content"].text)
    elif kind == "specifications":
        document.entries(
            [f"[{one['title'].line}]({one['bcdSpecificationURL'].line})" for one in value["specifications"]]
        )
    elif kind == "browser_compatibility":
        document.add("The table of browser versions is on the page only.")
