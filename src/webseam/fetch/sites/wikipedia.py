"""Wikipedia and its sister projects: the article alone, without the page around it.

Source: https://www.mediawiki.org/wiki/API:REST_API/Reference (`/page/{title}/with_html`).
"""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.types import Reading

# Pages that are made for each reader, or are no text.
_SPECIAL = ("special:", "file:", "media:")


class Wikipedia(Site):
    """`/wiki/TITLE` of every language, asked on the page's own host."""

    id = "wikipedia"
    label = "Wikipedia"
    hosts = (
        "*.wikipedia.org",
        "*.wiktionary.org",
        "*.wikibooks.org",
        "*.wikisource.org",
        "*.wikiversity.org",
        "*.wikivoyage.org",
        "*.wikiquote.org",
        "www.mediawiki.org",
        "wikitech.wikimedia.org",
        "meta.wikimedia.org",
    )

    def plan(self, place: Place) -> Plan | None:
        if len(place.segments) < 2 or place.segments[0] != "wiki" or place.query.keys() - {"useskin", "redirect"}:
            return None
        title = "/".join(place.segments[1:])
        return None if title.lower().startswith(_SPECIAL) else partial(_article, title=title.replace(" ", "_"))


def _article(api: Api, title: str) -> Asked[Reading]:
    root = api.root if api.config.base_url else api.place.origin.replace("://m.", "://").replace(".m.", ".", 1)
    found = yield from api.object("w", "rest.php", "v1", "page", title, "with_html", root=root)
    if not found["html"].text:
        raise SiteFailed("Wikipedia gave an article without text")
    name = found["title"].line or title.replace("_", " ")
    document = api.document(name, base=f"{api.place.origin}/wiki/{quote(title)}")
    document.facts(
        ("Changed", found["latest"]["timestamp"].day),
        ("Revision", found["latest"]["id"].number),
        ("License", found["license"]["title"].line),
    )
    document.html(found["html"].text)
    language = api.place.host.partition(".")[0]
    return document.reading(language=None if language in ("www", "m", "meta", "wikitech") else language)
