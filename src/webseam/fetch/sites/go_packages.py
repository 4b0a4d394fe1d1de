"""pkg.go.dev: the list of a module's versions, from the module proxy.

The page of a package has its documentation, which the proxy has not, so only the tab of versions is asked for here.
Source: https://go.dev/ref/mod#goproxy-protocol.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.types import Reading

MAX_VERSIONS: Final = 200
MAX_TRIES: Final = 3  # a package's path is its module's and perhaps a folder; the module is looked for from the end
_PART = re.compile(r"[A-Za-z0-9._~-]{1,100}")


class GoPackages(Site):
    """`/PATH?tab=versions`."""

    id = "go-packages"
    label = "the Go module proxy"
    hosts = ("pkg.go.dev",)
    base_url = "https://proxy.golang.org"

    def plan(self, place: Place) -> Plan | None:
        parts = tuple(part.partition("@")[0] for part in place.segments)
        if place.query.get("tab") != "versions" or not parts or "." not in parts[0]:
            return None
        return partial(_versions, path=parts) if all(_PART.fullmatch(part) for part in parts) else None


def _versions(api: Api, path: tuple[str, ...]) -> Asked[Reading]:
    for left in range(len(path), max(len(path) - MAX_TRIES, 0), -1):
        escaped = [re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), part) for part in path[:left]]
        try:
            latest = yield from api.object(*escaped, "@latest", holds="Version")
        except SiteFailed as error:
            if error.outcome is not Outcome.NOT_FOUND:
                raise
            continue
        return (yield from _module(api, path[:left], escaped, latest))
    raise SiteFailed("no such module", outcome=Outcome.NOT_FOUND)


def _module(api: Api, path: tuple[str, ...], escaped: list[str], latest: Value) -> Asked[Reading]:
    listed = yield from api.text(*escaped, "@v", "list")
    newest = latest["Version"].line
    needs = yield from api.optional(api.text(*escaped, "@v", f"{newest}.mod"), "its go.mod")
    module = "/".join(path)
    document = api.document(f"Versions of {module}")
    document.facts(
        ("Latest", newest),
        ("Released", latest["Time"].day),
        ("Repository", latest["Origin"]["URL"].line),
        ("Commit", latest["Origin"]["Hash"].line),
        ("Install", f"go get {module}@{newest}"),
    )
    versions = sorted(listed.split(), key=_order, reverse=True)
    document.heading(2, "Versions")
    document.entries(versions[:MAX_VERSIONS], more=len(versions) - MAX_VERSIONS, what="older versions")
    if needs:
        document.heading(2, "go.mod")
        document.code(needs, "text")
    return document.reading(published=latest["Time"].date)


def _order(version: str) -> tuple[list[int], bool, str]:
    """Order by number, a release after its candidates."""
    number, dash, rest = version.partition("-")
    return [int(part) for part in re.findall(r"\d{1,9}", number)], not dash, rest
