"""Read the Docs: what a project is and its versions; with a token, its pages too.

Pages are Sphinx's or MkDocs' HTML and read well as they are, so without a token they are left to that: the API would
cost as much and know less. With one they come through the embed API, because the service turns away many addresses of
clouds and build machines that do not say who they are. `_sources` is not read: it is what the page was made from,
without all that was taken from docstrings. Source: https://docs.readthedocs.com/platform/stable/api/v3.html and
https://docs.readthedocs.com/platform/stable/guides/embedding-content.html.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined, one_line
from webseam.fetch.types import Reading

MAX_VERSIONS: Final = 50
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_HEADING = re.compile(r"<h1\b[^<>]{0,300}>(.{1,1000}?)</h1>", re.DOTALL | re.IGNORECASE)
_LINK_TO_SELF = re.compile(r"<a\b[^<>]{0,500}\bclass=\"headerlink\"[^<>]{0,500}>[^<>]{0,10}</a>")
_TAG = re.compile(r"<[^<>]{0,500}>")


class ReadTheDocs(Site):
    """`readthedocs.org/projects/NAME`; with a token, pages of `NAME.readthedocs.io` too."""

    id = "read-the-docs"
    label = "Read the Docs"
    hosts = ("readthedocs.org", "www.readthedocs.org", "app.readthedocs.org", "*.readthedocs.io", "*.rtfd.io")
    base_url = "https://app.readthedocs.org"
    token_env = ("READTHEDOCS_TOKEN",)

    def credentials(self, token: str) -> tuple[tuple[str, str], ...]:
        return (("Authorization", f"Token {token}"),)

    def plan(self, place: Place) -> Plan | None:
        if place.host.endswith("readthedocs.org"):
            match place.segments:
                case ("projects", name) | ("projects", name, "versions" | "downloads") if _NAME.fullmatch(name):
                    return partial(_project, name=name)
            return None
        is_page = not place.segments or place.segments[-1].endswith(".html") or place.url.split("?")[0].endswith("/")
        return _page if is_page and place.segments[:1] != ("_",) else None


def _project(api: Api, name: str) -> Asked[Reading]:
    place = ("api", "v3", "projects", name)
    found = yield from api.object(*place, "", holds="slug")
    query = {"active": "true", "limit": MAX_VERSIONS}
    versions = yield from api.optional(api.object(*place, "versions", "", query=query), "its versions")
    document = api.document(f"{found['name'].line or name} (Read the Docs)")
    document.facts(
        ("Documentation", found["urls"]["documentation"].line),
        ("Homepage", found["homepage"].line or found["urls"]["home"].line),
        ("Repository", found["repository"]["url"].line),
        ("Default version", found["default_version"].line),
        ("Default branch", found["default_branch"].line),
        ("Language", found["language"]["name"].line),
        ("Programming language", found["programming_language"]["name"].line),
        ("Part of", found["subproject_of"]["slug"].line),
        ("Translation of", found["translation_of"]["slug"].line),
        ("Tags", joined(tag.line for tag in found["tags"])),
        ("Created", found["created"].day),
        ("Changed", found["modified"].day),
    )
    listed = [_version(one) for one in (versions or Value())["results"] if one["hidden"].raw is not True]
    if listed:
        document.heading(2, "Active versions")
        total = (versions or Value())["count"].number or 0
        document.entries(listed[:MAX_VERSIONS], more=total - MAX_VERSIONS, what="more versions")
    return document.reading(published=found["created"].date)


def _version(one: Value) -> str:
    address = one["urls"]["documentation"].line
    name = one["verbose_name"].line or one["slug"].line
    built = "" if one["built"].raw is not False else "not built"
    return joined([f"[{name}]({address})" if address else name, one["type"].line, built])


def _page(api: Api) -> Asked[Reading | None]:
    if not api.config.token:
        return None
    address = api.place.url.partition("#")[0]
    found = yield from api.object("api", "v3", "embed", "", query={"url": address})
    content = _LINK_TO_SELF.sub("", found["content"].text)
    if not content.strip():
        raise SiteFailed("Read the Docs gave a page without text", outcome=Outcome.EMPTY)
    document = api.document("", base=address)
    document.html(content)
    heading = _HEADING.search(content)
    document.title = one_line(_TAG.sub("", heading[1])) if heading else ""
    return document.reading()
