"""Lobsters: a story with its comments, as the Markdown their authors wrote.

Source: https://lobste.rs/about: every page has a JSON form at its address with `.json`.
"""

from __future__ import annotations

import re
from functools import partial

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.comments import Comment, say, write
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

_ID = re.compile(r"[a-z0-9]{6}", re.ASCII)


class Lobsters(Site):
    """`/s/ID`."""

    id = "lobsters"
    label = "Lobsters"
    hosts = ("lobste.rs",)
    base_url = "https://lobste.rs"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("s", key) | ("s", key, _) if _ID.fullmatch(key):
                return partial(_story, key=key)
        return None


def _story(api: Api, key: str) -> Asked[Reading]:
    found = yield from api.object("s", f"{key}.json", holds="title")
    author = _user(found["submitter_user"])
    document = api.document(found["title"].line)
    document.facts(
        ("Link", found["url"].line),
        ("Score", found["score"].line),
        ("Author", author),
        ("Date", found["created_at"].day),
        ("Tags", joined(tag.line for tag in found["tags"])),
    )
    plain = found["description_plain"].text
    say(document, plain or found["description"].text, "markdown" if plain else "html")
    write(document, map(_comment, found["comments"]), total=found["comment_count"].number)
    return document.reading(author=author, published=found["created_at"].date)


def _comment(node: Value) -> Comment:
    plain = node["comment_plain"].text
    return Comment(
        id=node["short_id"].line,
        parent=node["parent_comment"].line,
        author=_user(node["commenting_user"]),
        date=node["created_at"].date,
        body=plain or node["comment"].text,
        about=(f"score {node['score'].line}",),
        form="markdown" if plain else "html",
        anchor=f"c_{node['short_id'].line}",
    )


def _user(user: Value) -> str:
    """Return a user's name; it came as an object once."""
    return user.line or user["username"].line
