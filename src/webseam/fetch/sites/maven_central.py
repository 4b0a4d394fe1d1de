"""Maven Central: the newest versions of an artifact, and the POM of one.

Source: https://central.sonatype.org/search/rest-api-guide/.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_VERSIONS: Final = 20
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")


class MavenCentral(Site):
    """`/artifact/GROUP/NAME`, with a version too, on the pages people use for it."""

    id = "maven-central"
    label = "Maven Central"
    hosts = ("central.sonatype.com", "search.maven.org", "mvnrepository.com", "www.mvnrepository.com")
    base_url = "https://search.maven.org"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("artifact", group, name, *rest) if _NAME.fullmatch(group) and _NAME.fullmatch(name):
                version = rest[0] if rest and rest[0][:1].isdigit() and _NAME.fullmatch(rest[0]) else None
                return partial(_artifact, group=group, name=name, version=version)
        return None


def _artifact(api: Api, group: str, name: str, version: str | None) -> Asked[Reading]:
    query = {"q": f'g:"{group}" AND a:"{name}"', "core": "gav", "rows": MAX_VERSIONS, "wt": "json"}
    found = yield from api.object("solrsearch", "select", query=query, holds="response")
    versions = list(found["response"]["docs"])
    if not versions and not version:
        raise SiteFailed("no such artifact", outcome=Outcome.NOT_FOUND)
    wanted = version or versions[0]["v"].line
    one = next((entry for entry in versions if entry["v"].line == wanted), Value())
    path = f"{group.replace('.', '/')}/{name}/{wanted}/{name}-{wanted}.pom"
    pom = yield from api.optional(api.text("remotecontent", query={"filepath": path}), "its POM")
    released = _instant(one)
    document = api.document(f"{group}:{name}:{wanted}")
    document.facts(
        ("Released", released.day),
        ("Packaging", one["p"].line),
        ("Files", joined(ending.line for ending in one["ec"])),
        ("Gradle", f'implementation("{group}:{name}:{wanted}")'),
    )
    if versions:
        document.heading(2, "Newest versions")
        listed = [f"{entry['v'].line} ({_instant(entry).day})" for entry in versions]
        more = (found["response"]["numFound"].number or 0) - len(versions)
        document.entries(listed, more=more, what="older versions")
    if pom:
        document.heading(2, "POM")
        document.code(pom, "xml")
    elif not versions:
        raise SiteFailed("no such artifact", outcome=Outcome.NOT_FOUND)
    return document.reading(published=released.date)


def _instant(entry: Value) -> Value:
    """Return when a version was released; it comes in milliseconds."""
    return Value((entry["timestamp"].number or 0) / 1_000)
