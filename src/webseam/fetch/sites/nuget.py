"""NuGet: one .NET package, its README, what it needs for which framework, and its newest versions.

Source: https://learn.microsoft.com/nuget/api/overview (package metadata and package content).
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document, joined
from webseam.fetch.types import Reading

MAX_VERSIONS: Final = 15
REGISTRATION: Final = "registration5-gz-semver2"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


class NuGet(Site):
    """`/packages/NAME`, with a version too."""

    id = "nuget"
    label = "NuGet"
    hosts = ("www.nuget.org", "nuget.org")
    base_url = "https://api.nuget.org"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("packages", name) if _NAME.fullmatch(name):
                return partial(_package, name=name, version=None)
            case ("packages", name, version) if _NAME.fullmatch(name) and re.fullmatch(r"\d[\w.+-]{0,60}", version):
                return partial(_package, name=name, version=version)
        return None


def _package(api: Api, name: str, version: str | None) -> Asked[Reading]:
    lowered = name.lower()
    index = yield from api.object("v3", REGISTRATION, lowered, "index.json")
    pages = list(index["items"])
    if not pages:
        raise SiteFailed("NuGet gave a package without versions")
    page = next((one for one in pages if version and _in_page(one, version)), pages[-1])
    if not page["items"]:  # a package with many versions has its pages apart
        below = page["@id"].line.partition(f"/{lowered}/")[2]
        page = yield from api.object("v3", REGISTRATION, lowered, *below.split("/"))
    entries = [one["catalogEntry"] for one in page["items"]]
    listed = [one for one in entries if one["listed"].raw is not False]
    stable = [one for one in listed if "-" not in one["version"].line]
    same = (one for one in entries if version and one["version"].line.lower() == version.lower())
    entry = next(same, None) or next(iter(reversed(stable or listed)), Value())
    exact = entry["version"].line
    if not exact:
        raise SiteFailed("NuGet gave a package without versions")
    asked = api.text("v3-flatcontainer", lowered, exact.partition("+")[0].lower(), "readme")
    readme = yield from api.optional(asked, "its README")
    document = api.document(f"{entry['id'].line or name} {exact}")
    document.markdown(entry["description"].text)
    _facts(document, entry, name)
    _dependencies(document, entry)
    if listed:
        document.heading(2, "Newest versions")
        newest = [f"{one['version'].line} ({one['published'].day})" for one in reversed(listed)]
        total = index["count"].number or 0
        more = sum(one["count"].number or 0 for one in pages) if total > 1 else len(newest)
        document.entries(newest[:MAX_VERSIONS], more=more - min(len(newest), MAX_VERSIONS), what="other versions")
    if readme:
        document.heading(2, "README")
        document.markdown(readme)
    return document.reading(author=entry["authors"].line, published=entry["published"].date)


def _facts(document: Document, entry: Value, name: str) -> None:
    risks = [f"{one['advisoryUrl'].line} (severity {one['severity'].line})" for one in entry["vulnerabilities"]]
    document.facts(
        ("Published", entry["published"].day),
        ("Authors", entry["authors"].line),
        ("License", entry["licenseExpression"].line or entry["licenseUrl"].line),
        ("Project", entry["projectUrl"].line),
        ("Tags", joined(tag.line for tag in entry["tags"])),
        (
            "Deprecated",
            joined([*(one.line for one in entry["deprecation"]["reasons"]), entry["deprecation"]["message"].line]),
        ),
        ("Known vulnerabilities", joined(risks)),
        ("Listed", "no" if entry["listed"].raw is False else ""),
        ("Install", f"dotnet add package {name}"),
    )


def _dependencies(document: Document, entry: Value) -> None:
    groups = []
    for group in entry["dependencyGroups"]:
        needed = joined(f"{one['id'].line} {one['range'].line}" for one in group["dependencies"])
        groups.append(f"{group['targetFramework'].line or 'any framework'}: {needed or 'nothing'}")
    if groups:
        document.heading(2, "Dependencies")
        document.entries(groups[:50], more=len(groups) - 50)


def _in_page(page: Value, version: str) -> bool:
    return _order(page["lower"].line) <= _order(version) <= _order(page["upper"].line)


def _order(version: str) -> tuple[int, ...]:
    """Return the numbers of a version; enough to find the page it is on."""
    return tuple(int(part) for part in re.findall(r"\d{1,9}", version.partition("-")[0])[:4])
