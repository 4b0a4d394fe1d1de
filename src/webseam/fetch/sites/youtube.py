"""YouTube: the title and the channel of a video. Its page is a program; this much it tells without one.

Source: https://oembed.com/ (YouTube is in its list of providers).
"""

from __future__ import annotations

import re
from functools import partial

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.types import Reading

_ID = re.compile(r"[A-Za-z0-9_-]{11}")


class YouTube(Site):
    """`/watch?v=ID`, `/shorts/ID`, `/live/ID`, `/embed/ID`, `youtu.be/ID`."""

    id = "youtube"
    label = "YouTube"
    hosts = ("youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com", "youtu.be")
    base_url = "https://www.youtube.com"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("watch",):
                key = place.query.get("v", "")
            case ("shorts" | "live" | "embed", key):
                pass
            case (key,) if place.host == "youtu.be":
                pass
            case _:
                return None
        return partial(_video, key=key) if _ID.fullmatch(key) else None


def _video(api: Api, key: str) -> Asked[Reading]:
    address = f"https://www.youtube.com/watch?v={key}"
    found = yield from api.object("oembed", query={"url": address, "format": "json"})
    if not found["title"].line:
        raise SiteFailed("YouTube gave no title")
    document = api.document(found["title"].line)
    document.facts(
        ("Channel", found["author_name"].line),
        ("Channel's page", found["author_url"].line),
        ("Video", address),
    )
    document.notes.append("title and channel only: YouTube gives descriptions and captions to its player alone")
    return document.reading(author=found["author_name"].line)
