"""Docker Hub: what an image is, how it is used, and its newest tags with their platforms.

Source: https://docs.docker.com/reference/api/hub/latest/.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_TAGS: Final = 25
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,254}")


class DockerHub(Site):
    """`/_/NAME` and `/r/OWNER/NAME`, with `/tags` too."""

    id = "docker-hub"
    label = "Docker Hub"
    hosts = ("hub.docker.com", "registry.hub.docker.com")
    base_url = "https://hub.docker.com"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("_", name) | ("_", name, "tags") if _NAME.fullmatch(name):
                return partial(_image, owner="library", name=name)
            case ("r", owner, name) | ("r", owner, name, "tags") if _NAME.fullmatch(owner) and _NAME.fullmatch(name):
                return partial(_image, owner=owner, name=name)
        return None


def _image(api: Api, owner: str, name: str) -> Asked[Reading]:
    place = ("v2", "repositories", owner, name)
    found = yield from api.object(*place, holds="name")
    tags = yield from api.optional(api.object(*place, "tags", query={"page_size": MAX_TAGS}), "its tags")
    image = name if owner == "library" else f"{owner}/{name}"
    document = api.document(image)
    document.plain(found["description"].text)
    document.facts(
        ("Pull", f"docker pull {image}"),
        ("Stars", found["star_count"].number),
        ("Pulls", found["pull_count"].number),
        ("Registered", found["date_registered"].day),
        ("Updated", found["last_updated"].day),
    )
    if tags is not None and tags["results"]:
        document.heading(2, "Newest tags")
        listed = [_tag(tag) for tag in tags["results"]]
        document.entries(listed, more=(tags["count"].number or 0) - len(listed), what="more tags")
    if found["full_description"].text.strip():
        document.heading(2, "Description")
        document.markdown(found["full_description"].text)
    return document.reading(author=found["user"].line, published=found["date_registered"].date)


def _tag(tag: Value) -> str:
    platforms = {"/".join(filter(None, (one["os"].line, one["architecture"].line))) for one in tag["images"]}
    known = sorted(platform for platform in platforms if platform and "unknown" not in platform)
    size = f"{(tag['full_size'].number or 0) / 1e6:,.1f} MB" if tag["full_size"].number else ""
    return joined([f"{tag['name'].line} ({tag['last_updated'].day})", size, *known])
