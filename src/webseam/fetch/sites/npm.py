"""npm: one package, its README, what it needs and its newest versions.

Source: https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.errors import TransportError
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_VERSIONS: Final = 15
MAX_DEPENDENCIES: Final = 100
MAX_ANSWER: Final = 24 * 1024 * 1024  # bytes; every version's manifest is in it
_NAME = re.compile(r"(?:@[a-z0-9~_.-]{1,100}/)?[A-Za-z0-9~_.-]{1,214}")


class Npm(Site):
    """`/package/NAME`, with a scope, and with `/v/VERSION`."""

    id = "npm"
    label = "npm"
    hosts = ("www.npmjs.com", "npmjs.com", "npm.im")
    base_url = "https://registry.npmjs.org"
    token_env = ("NPM_TOKEN",)

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("package", *rest):
                name = "/".join(rest[: 2 if rest and rest[0].startswith("@") else 1])
                after = rest[name.count("/") + 1 :]
                if not _NAME.fullmatch(name) or (after and (len(after) != 2 or after[0] != "v")):
                    return None
                return partial(_package, name=name, version=after[1] if after else None)
            case (name,) if place.host == "npm.im" and _NAME.fullmatch(name):
                return partial(_package, name=name, version=None)
        return None


def _package(api: Api, name: str, version: str | None) -> Asked[Reading]:
    try:
        found = yield from api.object(name, max_bytes=MAX_ANSWER, holds="dist-tags")
    except TransportError as error:  # too large; one version is always small
        api.notes.append(f"without README and older versions: {error.detail}")
        found = Value()
    latest = found["dist-tags"]["latest"].line
    wanted = version or latest or "latest"
    manifest = found["versions"][wanted]
    if not manifest.is_object:
        if found and not version:
            raise SiteFailed("npm gave a package without versions")
        manifest = yield from api.object(name, wanted, holds="version")
    released = found["time"][manifest["version"].line]
    document = api.document(f"{manifest['name'].line or name} {manifest['version'].line}")
    document.markdown(manifest["description"].line or found["description"].line)
    document.facts(
        ("Released", released.day),
        ("Latest", latest if latest != manifest["version"].line else ""),
        ("License", manifest["license"].line or manifest["license"]["type"].line),
        ("Author", manifest["author"]["name"].line or manifest["author"].line),
        ("Maintainers", joined((one["name"].line for one in manifest["maintainers"]), most=10)),
        ("Repository", manifest["repository"]["url"].line or manifest["repository"].line),
        ("Homepage", manifest["homepage"].line),
        ("Engines", joined(f"{engine} {needed.line}" for engine, needed in manifest["engines"].items())),
        ("Types", manifest["types"].line or manifest["typings"].line),
        ("Module type", manifest["type"].line),
        ("Deprecated", manifest["deprecated"].line),
        ("Install", f"npm install {name}"),
        ("Tags", joined((f"{tag} {one.line}" for tag, one in found["dist-tags"].items()), most=10)),
    )
    for key, title in (("dependencies", "Dependencies"), ("peerDependencies", "Peer dependencies")):
        needed = [f"{one} {wish.line}" for one, wish in manifest[key].items()]
        if needed:
            document.heading(2, title)
            document.entries(needed[:MAX_DEPENDENCIES], more=len(needed) - MAX_DEPENDENCIES)
    newest = _newest(found)
    if newest:
        document.heading(2, "Newest versions")
        document.entries(newest[:MAX_VERSIONS], more=len(newest) - MAX_VERSIONS, what="older versions")
    readme = manifest["readme"].text or found["readme"].text
    if readme.strip() and not readme.startswith("ERROR: No README"):  # what the registry says in its place
        document.heading(2, "README")
        document.markdown(readme, _base(manifest["repository"]["url"].line) or api.place.url)
    return document.reading(author=manifest["author"]["name"].line, published=released.date)


def _newest(found: Value) -> list[str]:
    versions = found["versions"].raw if found["versions"].is_object else {}
    dated = [(time.date or "", version) for version, time in found["time"].items() if version in versions]
    return [f"{version} ({date[:10]})" for date, version in sorted(dated, reverse=True)]


def _base(repository: str) -> str:
    """Return what relative addresses of a README start from: npm resolves them in the repository."""
    found = re.fullmatch(r"(?:git\+)?(?:https|ssh|git)://(?:git@)?(github\.com/[\w.-]+/[\w.-]+?)(?:\.git)?", repository)
    return f"https://{found[1]}/blob/HEAD/" if found else ""
