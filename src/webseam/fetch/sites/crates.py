"""crates.io: one crate, its README, features, dependencies and newest versions.

Source: https://crates.io/data-access and the OpenAPI description at https://crates.io/api/openapi.json.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document, count, joined
from webseam.fetch.types import Reading
from webseam.schema import Setting

MAX_VERSIONS: Final = 15
MAX_FEATURES: Final = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_VERSION = re.compile(r"\d[0-9A-Za-z.+-]{0,100}")


class Crates(Site):
    """`/crates/NAME`, with a version too."""

    id = "crates"
    label = "crates.io"
    hosts = ("crates.io", "www.crates.io")
    base_url = "https://crates.io"
    settings = (
        Setting(
            name="static_url",
            default="https://static.crates.io",
            guarded=True,
            help="where rendered READMEs are served",
        ),
    )

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("crates", name) if _NAME.fullmatch(name):
                return partial(read_crate, name=name, version=None)
            case ("crates", name, version) if _NAME.fullmatch(name) and _VERSION.fullmatch(version):
                return partial(read_crate, name=name, version=version)
        return None


def read_crate(api: Api, name: str, version: str | None, *, root: str | None = None) -> Asked[Reading]:
    """Read a crate, its newest stable version without a number; `root` is where the registry is, by default the API."""
    found = yield from api.object("api", "v1", "crates", name, holds="crate", root=root)
    crate = found["crate"]
    wanted = version or crate["max_stable_version"].line or crate["newest_version"].line
    one = next((entry for entry in found["versions"] if entry["num"].line == wanted), Value())
    place = ("api", "v1", "crates", name, wanted)
    needed = yield from api.optional(api.object(*place, "dependencies", root=root), "its dependencies")
    exact = crate["name"].line or name
    static = str(api.config.values.get("static_url") or "https://static.crates.io")
    asked = api.text("readmes", exact, f"{exact}-{wanted}.html", root=static, accept="text/html")
    readme = yield from api.optional(asked, "its README")
    document = api.document(f"{exact} {wanted}")
    document.markdown(crate["description"].text.strip())
    document.facts(
        ("Released", one["created_at"].day),
        ("Newest", crate["newest_version"].line if crate["newest_version"].line != wanted else ""),
        ("License", one["license"].line),
        ("Minimum Rust", one["rust_version"].line),
        ("Edition", one["edition"].line),
        ("Yanked", joined(["yes", one["yank_message"].line]) if one["yanked"].raw is True else ""),
        ("Repository", crate["repository"].line),
        ("Documentation", crate["documentation"].line or f"https://docs.rs/{exact}/{wanted}"),
        ("Homepage", crate["homepage"].line),
        ("Downloads", joined([count(crate["downloads"].number, "in all", "in all"),
                              count(crate["recent_downloads"].number, "in 90 days", "in 90 days")])),
        ("Keywords", joined(word["keyword"].line or word.line for word in found["keywords"])),
        ("Categories", joined(entry["category"].line for entry in found["categories"])),
        ("Published by", one["published_by"]["login"].line),
        ("Install", f"cargo add {exact}"),
    )  # fmt: skip
    features = [
        f"{feature}: {joined(part.line for part in parts) or 'nothing more'}"
        for feature, parts in one["features"].items()
    ]
    if features:
        document.heading(2, "Features")
        document.entries(features[:MAX_FEATURES], more=len(features) - MAX_FEATURES)
    _dependencies(document, needed or Value())
    versions = [
        joined([f"{entry['num'].line} ({entry['created_at'].day})", "yanked" if entry["yanked"].raw is True else ""])
        for entry in found["versions"]
    ]
    document.heading(2, "Newest versions")
    document.entries(versions[:MAX_VERSIONS], more=len(versions) - MAX_VERSIONS, what="older versions")
    if readme:
        document.heading(2, "README")
        document.html(readme)
    return document.reading(author=one["published_by"]["name"].line, published=one["created_at"].date)


def _dependencies(document: Document, needed: Value) -> None:
    """Add what a crate is built from; what only its tests need is left out."""
    normal = [
        joined([
            f"{one['crate_id'].line} {one['req'].line}",
            "optional" if one["optional"].raw is True else "",
            "for building" if one["kind"].line == "build" else "",
            one["target"].line,
        ])
        for one in needed["dependencies"]
        if one["kind"].line != "dev"
    ]  # fmt: skip
    if normal:
        document.heading(2, "Dependencies")
        document.entries(normal[:MAX_FEATURES], more=len(normal) - MAX_FEATURES)
