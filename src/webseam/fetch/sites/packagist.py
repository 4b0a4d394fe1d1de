"""Packagist: one PHP package, what its newest stable version needs, and its newest versions.

Source: https://packagist.org/apidoc#get-package-data.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_VERSIONS: Final = 15
MAX_ANSWER: Final = 24 * 1024 * 1024  # bytes; every version's manifest is in it
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_.-]{0,98}[a-z0-9])?")
_STABLE = re.compile(r"v?\d+(?:\.\d+){0,3}", re.ASCII)


class Packagist(Site):
    """`/packages/VENDOR/NAME`."""

    id = "packagist"
    label = "Packagist"
    hosts = ("packagist.org", "www.packagist.org")
    base_url = "https://packagist.org"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("packages", vendor, name) if _NAME.fullmatch(vendor) and _NAME.fullmatch(name):
                return partial(_package, vendor=vendor, name=name)
        return None


def _package(api: Api, vendor: str, name: str) -> Asked[Reading]:
    found = yield from api.object("packages", vendor, f"{name}.json", max_bytes=MAX_ANSWER, holds="package")
    package = found["package"]
    versions = [one for number, one in package["versions"].items() if not number.startswith("dev-")]
    versions.sort(key=lambda one: one["time"].date or "", reverse=True)
    stable = [one for one in versions if _STABLE.fullmatch(one["version"].line)]
    newest = next(iter(stable or versions), Value())
    abandoned = package["abandoned"]
    document = api.document(f"{package['name'].line or f'{vendor}/{name}'} {newest['version'].line}")
    document.markdown(package["description"].line)
    document.facts(
        ("Released", newest["time"].day),
        ("Licenses", joined(one.line for one in newest["license"])),
        ("Authors", joined((one["name"].line for one in newest["authors"]), most=10)),
        ("Repository", package["repository"].line),
        ("Homepage", newest["homepage"].line),
        ("Downloads", package["downloads"]["total"].number),
        ("Stars", package["github_stars"].number),
        ("Abandoned", abandoned.line or ("yes" if abandoned.raw is True else "")),
        ("Keywords", joined(one.line for one in newest["keywords"])),
        ("Install", f"composer require {vendor}/{name}"),
    )
    for key, title in (("require", "Requires"), ("require-dev", "Requires for development"), ("suggest", "Suggests")):
        needed = [f"{one} {wish.line}" for one, wish in newest[key].items()]
        if needed:
            document.heading(2, title)
            document.entries(needed[:100], more=len(needed) - 100)
    if versions:
        document.heading(2, "Newest versions")
        listed = [f"{one['version'].line} ({one['time'].day})" for one in versions]
        document.entries(listed[:MAX_VERSIONS], more=len(listed) - MAX_VERSIONS, what="older versions")
    return document.reading(author=newest["authors"][0]["name"].line, published=newest["time"].date)
