"""Hacker News: a story or a comment with everything said below it, in one answer.

Source: https://hn.algolia.com/api (items).
"""

from __future__ import annotations

import re
from functools import partial

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.comments import Comment, flatten, say, write
from webseam.fetch.sites.value import Value
from webseam.fetch.types import Reading

_ID = re.compile(r"\d{1,10}", re.ASCII)


class HackerNews(Site):
    """`/item?id=ID`."""

    id = "hacker-news"
    label = "Hacker News"
    hosts = ("news.ycombinator.com",)
    base_url = "https://hn.algolia.com/api/v1"

    def plan(self, place: Place) -> Plan | None:
        number = place.query.get("id", "")
        return partial(_item, number=number) if place.segments == ("item",) and _ID.fullmatch(number) else None


def _item(api: Api, number: str) -> Asked[Reading]:
    found = yield from api.object("items", number, holds="id")
    document = api.document(found["title"].line or f"Comment by {found['author'].line}")
    story = found["story_id"].line if found["parent_id"].number else ""
    document.facts(
        ("Link", found["url"].line),
        ("Points", found["points"].number),
        ("Author", found["author"].line),
        ("Date", found["created_at"].day),
        ("Story", f"https://news.ycombinator.com/item?id={story}" if story else ""),
    )
    say(document, found["text"].text, "html")
    write(document, flatten(found["children"], lambda node: node["children"], _comment))
    return document.reading(author=found["author"].line, published=found["created_at"].date)


def _comment(node: Value, parent: str) -> Comment | None:
    if not node["text"].text:  # deleted; its replies stay
        return None
    return Comment(
        id=node["id"].line,
        parent=parent,
        author=node["author"].line,
        date=node["created_at"].date,
        body=node["text"].text,
        form="html",
        anchor=node["id"].line,
    )
