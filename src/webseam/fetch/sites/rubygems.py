"""RubyGems: one gem, what it needs and its newest versions.

Source: https://guides.rubygems.org/rubygems-org-api/ and rubygems-org-api-v2.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_VERSIONS: Final = 15
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VERSION = re.compile(r"\d[0-9A-Za-z.-]{0,60}")


class RubyGems(Site):
    """`/gems/NAME` and `/gems/NAME/versions/VERSION`."""

    id = "rubygems"
    label = "RubyGems"
    hosts = ("rubygems.org", "www.rubygems.org")
    base_url = "https://rubygems.org"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("gems", name) | ("gems", name, "versions") if _NAME.fullmatch(name):
                return partial(_gem, name=name, version=None)
            case ("gems", name, "versions", version) if _NAME.fullmatch(name) and _VERSION.fullmatch(version):
                return partial(_gem, name=name, version=version)
        return None


def _gem(api: Api, name: str, version: str | None) -> Asked[Reading]:
    if version:
        found = yield from api.object("api", "v2", "rubygems", name, "versions", f"{version}.json", holds="name")
    else:
        found = yield from api.object("api", "v1", "gems", f"{name}.json", holds="name")
    versions = yield from api.optional(api.array("api", "v1", "versions", f"{name}.json"), "its versions")
    released = found["version_created_at"] if found["version_created_at"].date else found["created_at"]
    document = api.document(f"{found['name'].line or name} {found['version'].line or found['number'].line}")
    document.markdown(found["info"].text or found["description"].text or found["summary"].text)
    document.facts(
        ("Released", released.day),
        ("Authors", found["authors"].line),
        ("Licenses", joined(one.line for one in found["licenses"])),
        ("Platform", found["platform"].line),
        ("Downloads", found["downloads"].number),
        ("Homepage", found["homepage_uri"].line),
        ("Source", found["source_code_uri"].line),
        ("Documentation", found["documentation_uri"].line),
        ("Changes", found["changelog_uri"].line),
        ("Yanked", "yes" if found["yanked"].raw is True else ""),
        ("Install", f"gem install {name}"),
    )
    for kind, title in (("runtime", "Dependencies"), ("development", "Development dependencies")):
        needed = [f"{one['name'].line} {one['requirements'].line}" for one in found["dependencies"][kind]]
        if needed:
            document.heading(2, title)
            document.entries(needed[:100], more=len(needed) - 100)
    listed = [
        joined(
            [
                f"{one['number'].line} ({one['created_at'].day})",
                one["ruby_version"].line and f"Ruby {one['ruby_version'].line}",
            ]
        )
        for one in versions or ()
    ]
    if listed:
        document.heading(2, "Newest versions")
        document.entries(listed[:MAX_VERSIONS], more=len(listed) - MAX_VERSIONS, what="older versions")
    return document.reading(author=found["authors"].line, published=released.date)
