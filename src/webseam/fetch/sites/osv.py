"""OSV: one vulnerability of open-source packages, with the versions it affects.

Source: https://google.github.io/osv.dev/get-v1-vulns/ and https://ossf.github.io/osv-schema/.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_ENTRIES: Final = 100
_ID = re.compile(r"[A-Za-z][A-Za-z0-9]{0,19}-[A-Za-z0-9:._-]{1,80}")


class Osv(Site):
    """`/vulnerability/ID`."""

    id = "osv"
    label = "OSV"
    hosts = ("osv.dev", "www.osv.dev")
    base_url = "https://api.osv.dev"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("vulnerability", key) if _ID.fullmatch(key):
                return partial(_vulnerability, key=key)
        return None


def _vulnerability(api: Api, key: str) -> Asked[Reading]:
    found = yield from api.object("v1", "vulns", key, holds="id")
    document = api.document(": ".join(filter(None, (found["id"].line or key, found["summary"].line))))
    document.facts(
        ("Aliases", joined(one.line for one in found["aliases"])),
        ("Related", joined(one.line for one in found["related"])),
        ("Published", found["published"].day),
        ("Changed", found["modified"].day),
        ("Withdrawn", found["withdrawn"].day),
        (
            "Severity",
            joined([found["database_specific"]["severity"].line, *(one["score"].line for one in found["severity"])]),
        ),
        ("Weaknesses", joined(one.line for one in found["database_specific"]["cwe_ids"])),
    )
    affected = [_affected(one) for one in found["affected"]]
    if affected:
        document.heading(2, "Affected")
        document.entries(affected[:MAX_ENTRIES], more=len(affected) - MAX_ENTRIES)
    if found["details"].text.strip():
        document.heading(2, "Details")
        document.markdown(found["details"].text)
    if found["references"]:
        document.heading(2, "References")
        references = [f"{one['type'].line.lower()}: {one['url'].line}" for one in found["references"]]
        document.entries(references[:MAX_ENTRIES], more=len(references) - MAX_ENTRIES)
    return document.reading(published=found["published"].date)


def _affected(one: Value) -> str:
    package = f"{one['package']['ecosystem'].line} {one['package']['name'].line}".strip() or "unnamed"
    spans = []
    for part in one["ranges"]:
        if part["type"].line == "GIT" and len(one["ranges"]) > 1:  # the same again, in commits
            continue
        events = [f"{name.replace('_', ' ')} {value.line}" for event in part["events"] for name, value in event.items()]
        spans.append(joined(events, most=20))
    spans = spans or [joined((version.line for version in one["versions"]), most=20)]
    return f"{package}: {'; '.join(filter(None, spans)) or 'versions not said'}"
