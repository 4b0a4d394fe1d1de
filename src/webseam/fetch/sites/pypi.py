"""PyPI: one Python package, its description as its author wrote it, what it needs and its newest releases.

Source: https://docs.pypi.org/api/json/.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import count, joined
from webseam.fetch.types import Reading

MAX_RELEASES: Final = 15
MAX_ANSWER: Final = 24 * 1024 * 1024  # bytes; every file of every release is in it, and some have thousands
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,100}[A-Za-z0-9])?")


class PyPI(Site):
    """`/project/NAME/`, with a version too."""

    id = "pypi"
    label = "PyPI"
    hosts = ("pypi.org", "www.pypi.org", "pypi.python.org")
    base_url = "https://pypi.org"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("project" | "p" | "pypi", name) if _NAME.fullmatch(name):
                return partial(_package, where=(name,))
            case ("project" | "p" | "pypi", name, version) if _NAME.fullmatch(name) and version != "json":
                return partial(_package, where=(name, version))
        return None


def _package(api: Api, where: tuple[str, ...]) -> Asked[Reading]:
    found = yield from api.object("pypi", *where, "json", max_bytes=MAX_ANSWER, holds="info")
    info, files = found["info"], found["urls"]
    document = api.document(f"{info['name'].line} {info['version'].line}")
    document.markdown(info["summary"].line)
    document.facts(
        ("Released", files[0]["upload_time_iso_8601"].day),
        ("Requires Python", info["requires_python"].line),
        ("License", (info["license_expression"].line or info["license"].line)[:100] or _classified(info)),
        ("Author", info["author"].line or info["author_email"].line),
        ("Maintainer", info["maintainer"].line or info["maintainer_email"].line),
        ("Yanked", info["yanked_reason"].line or (info["yanked"].raw is True and "yes")),
        ("Install", f"pip install {info['name'].line}"),
    )
    links = [f"{name}: {url.line}" for name, url in info["project_urls"].items()]
    if links:
        document.heading(2, "Links")
        document.entries(links[:30])
    if info["requires_dist"]:
        document.heading(2, "Requires")
        document.entries([one.line for one in info["requires_dist"]][:100], more=len(info["requires_dist"]) - 100)
    if found["vulnerabilities"]:
        document.heading(2, "Known vulnerabilities of this version")
        document.entries([_vulnerability(one) for one in found["vulnerabilities"]][:30])
    releases = _releases(found["releases"])
    if releases:
        document.heading(2, "Newest releases")
        document.entries(releases[:MAX_RELEASES], more=len(releases) - MAX_RELEASES, what="older releases")
    document.heading(2, "Description")
    if "html" in info["description_content_type"].line:
        document.html(info["description"].text)
    else:
        document.markdown(info["description"].text)
    return document.reading(author=info["author"].line, published=files[0]["upload_time_iso_8601"].date)


def _classified(info: Value) -> str:
    """Return the licences among the classifiers: where many packages state theirs, and nowhere else."""
    every = (one.line for one in info["classifiers"])
    return joined(one.rpartition(" :: ")[2] for one in every if one.startswith("License :: "))


def _releases(releases: Value) -> list[str]:
    """Return the releases that have files, newest first."""
    every = [(files[0]["upload_time_iso_8601"].date or "", version, files) for version, files in releases.items()]
    return [
        joined([
            f"{version} ({date[:10]})",
            count(len(files), "file"),
            "yanked" if files[0]["yanked"].raw is True else "",
        ])
        for date, version, files in sorted(every, key=lambda one: one[0], reverse=True)
        if date
    ]  # fmt: skip


def _vulnerability(one: Value) -> str:
    fixed = joined(version.line for version in one["fixed_in"])
    summary = one["summary"].line or one["details"].line[:200]
    names = joined([one["id"].line, *(alias.line for alias in one["aliases"])], most=5)
    return f"{names}: {summary} (fixed in {fixed or 'no version'})"
