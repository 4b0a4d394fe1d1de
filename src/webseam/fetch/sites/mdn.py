"""MDN Web Docs: the article as data, section by section, with its Baseline, specifications and browser versions.

Source: https://github.com/mdn/rari and https://github.com/mdn/fred: each page has an `index.json` beside it, and its
table of browsers is data of https://github.com/mdn/browser-compat-data, asked for by the name the article gives.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document, joined
from webseam.fetch.types import Reading
from webseam.schema import Setting

MAX_TABLES: Final = 3  # of one article; most have one
MAX_PARTS: Final = 40  # of one table
_LOCALE = re.compile(r"[a-z]{2}(?:-[A-Z]{2})?")
_QUERY = re.compile(r"[A-Za-z0-9_.@$-]{1,200}")
_BASELINE = {"high": "widely available", "low": "newly available"}


class Mdn(Site):
    """`/LOCALE/docs/PATH`."""

    id = "mdn"
    label = "MDN"
    hosts = ("developer.mozilla.org",)
    base_url = "https://developer.mozilla.org"
    settings = (
        Setting(
            name="compat_url",
            default="https://bcd.developer.mozilla.org",
            guarded=True,
            help="where the data about browsers is served",
        ),
    )

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
    wanted = [one["value"]["query"].line for one in doc["body"] if one["type"].line == "browser_compatibility"]
    tables: dict[str, Value] = {}
    root = str(api.config.values.get("compat_url") or "")
    for query in [one for one in wanted if root and _QUERY.fullmatch(one)][:MAX_TABLES]:
        asked = api.object("bcd", "api", "v0", "current", f"{query}.json", root=root, holds="data")
        tables[query] = (yield from api.optional(asked, "the versions of browsers")) or Value()
    document = api.document(doc["title"].line)
    document.facts(
        ("Changed", doc["modified"].day),
        ("Baseline", _baseline(doc["baseline"])),
        ("Features", "deprecated" if "deprecated" in [one.line for one in doc["pageFlags"]] else ""),
    )
    for section in doc["body"]:
        _section(document, section["type"].line, section["value"])
        if section["type"].line == "browser_compatibility":
            _compatibility(document, tables.get(section["value"]["query"].line, Value()))
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


def _compatibility(document: Document, table: Value) -> None:
    """Add which version of which browser brought a feature and its parts."""
    names = {name: browser["name"].line or name for name, browser in table["browsers"].items()}
    parts = [("", table["data"]["__compat"])]
    parts += [(name, part["__compat"]) for name, part in table["data"].items() if part["__compat"].is_object]
    rows = []
    for name, found in parts:
        support = joined(f"{names.get(one, one)} {_since(value)}" for one, value in found["support"].items())
        if support:
            rows.append(f"{name.replace('_', ' ')}: {support}" if name else support)
    if rows:
        document.entries(rows[:MAX_PARTS], more=len(rows) - MAX_PARTS, what="more parts")
    else:
        document.add("The table of browser versions is on the page only.")


def _since(support: Value) -> str:
    """Return `12`, `no`, `12 to 20`, with what limits it; of several, the newest comes first in the data."""
    one = support[0] if support.is_array else support
    added, removed = one["version_added"], one["version_removed"].line
    since = added.line or ("yes" if added.raw is True else "no" if added.raw is False else "?")
    limits = [
        "in part" if one["partial_implementation"].raw is True else "",
        "behind a flag" if one["flags"] else "",
        f"as {one['prefix'].line}…" if one["prefix"].line else "",
        f"as {one['alternative_name'].line}" if one["alternative_name"].line else "",
    ]
    limited = joined(limits)
    return f"{since}{f' to {removed}' if removed else ''}{f' ({limited})' if limited else ''}"
