"""Discourse forums: a topic with its posts, as the Markdown their authors wrote.

Source: https://docs.discourse.org/ (`/t/{id}.json`, `/t/{id}/posts.json`). Twenty posts come at once, the rest is
asked for by number.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.comments import Comment, say, write
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_FURTHER: Final = 80  # posts asked for after the first twenty
_ID = re.compile(r"\d{1,9}", re.ASCII)


class Discourse(Site):
    """`/t/SLUG/ID` on hosts that are called as forums are; others by the setting `hosts`."""

    id = "discourse"
    label = "Discourse"
    hosts = (
        "discuss.*",
        "discourse.*",
        "forum.*",
        "forums.*",
        "community.*",
        "meta.discourse.org",
        "users.rust-lang.org",
        "internals.rust-lang.org",
    )

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("t", key) | ("t", _, key) if _ID.fullmatch(key):
                return partial(_topic, key=key, post=None)
            case ("t", _, key, post) if _ID.fullmatch(key) and _ID.fullmatch(post):
                return partial(_topic, key=key, post=post)
        return None


def _topic(api: Api, key: str, post: str | None) -> Asked[Reading]:
    found = yield from api.object("t", f"{key}.json", query={"include_raw": 1})
    posts = list(found["post_stream"]["posts"])
    if not posts or not found["title"].line:
        raise SiteFailed("this is no Discourse topic")
    have = {one["id"].line for one in posts}
    missing = [one.line for one in found["post_stream"]["stream"] if one.line and one.line not in have]
    if post is not None and missing and int(post) > len(posts):
        near = max(0, int(post) - len(posts) - MAX_FURTHER // 2)
        api.notes.append(f"posts around {post} are shown after the first {len(posts)}")
        missing = missing[near:]
    if missing:
        wanted = {"post_ids[]": missing[:MAX_FURTHER], "include_raw": 1}
        further = yield from api.optional(api.object("t", key, "posts.json", query=wanted), "further posts")
        posts += list((further or Value())["post_stream"]["posts"])
    first, *rest = posts
    document = api.document(found["title"].line)
    document.facts(
        ("Author", first["username"].line),
        ("Date", found["created_at"].day),
        ("Last post", found["last_posted_at"].day),
        ("Posts", found["posts_count"].number),
        ("Tags", joined(tag.line or tag["name"].line for tag in found["tags"])),
        ("State", joined(["closed" if found["closed"].raw is True else "",
                          "archived" if found["archived"].raw is True else ""])),
        ("Solved by", found["accepted_answer"]["username"].line),
    )  # fmt: skip
    opening = _comment(first)
    say(document, opening.body, opening.form)
    total = (found["posts_count"].number or 0) - 1
    write(document, map(_comment, rest), total=max(total, 0), title="Replies", one="reply")
    return document.reading(author=first["username"].line, published=found["created_at"].date)


def _comment(post: Value) -> Comment:
    raw = post["raw"].text
    likes = next((one["count"].number for one in post["actions_summary"] if one["id"].number == 2), None)
    return Comment(
        id=f"post {post['post_number'].line}",
        parent=f"post {post['reply_to_post_number'].line}",
        author=post["username"].line,
        date=post["created_at"].date,
        body=raw or post["cooked"].text,
        about=("solution" if post["accepted_answer"].raw is True else "", f"{likes} likes" if likes else ""),
        form="markdown" if raw else "html",
    )
