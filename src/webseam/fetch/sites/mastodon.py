"""Mastodon and what speaks its API: a post, what it answers, and what was answered.

Source: https://docs.joinmastodon.org/methods/statuses/. The address of a post is the same on every instance and like
nothing else on the web, so it is asked for on any host.
"""

from __future__ import annotations

import html
import re
from functools import partial

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.comments import Comment, say, write
from webseam.fetch.sites.value import Value
from webseam.fetch.types import Reading

_ID = re.compile(r"\d{15,20}", re.ASCII)
_USER = re.compile(r"@[\w.-]{1,60}(?:@[\w.-]{1,120})?", re.ASCII)


class Mastodon(Site):
    """`/@USER/ID`."""

    id = "mastodon"
    label = "Mastodon"
    hosts = ("*",)

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case (user, key) if _USER.fullmatch(user) and _ID.fullmatch(key):
                return partial(_status, key=key)
        return None


def _status(api: Api, key: str) -> Asked[Reading]:
    found = yield from api.object("api", "v1", "statuses", key)
    if not found["account"]["acct"].line:
        raise SiteFailed("this is no post of Mastodon")
    around = yield from api.optional(api.object("api", "v1", "statuses", key, "context"), "replies")
    thread = around or Value()
    author = found["account"]["display_name"].line or found["account"]["acct"].line
    document = api.document(f"{author} (@{found['account']['acct'].line})")
    write(document, map(_comment, thread["ancestors"]), title="In reply to", one="post")
    if thread["ancestors"]:
        document.heading(2, "The post")
    document.facts(
        ("Date", found["created_at"].date),
        ("Replies", found["replies_count"].number),
        ("Boosts", found["reblogs_count"].number),
        ("Favourites", found["favourites_count"].number),
        ("Link", found["card"]["url"].line),
    )
    say(document, _body(found), "html")
    write(document, map(_comment, thread["descendants"]), title="Replies", one="reply")
    return document.reading(author=author, published=found["created_at"].date, language=found["language"].line or None)


def _body(status: Value) -> str:
    """Return the HTML of a post, its warning before and its pictures' descriptions behind it."""
    parts = [f"<p>{html.escape(status['spoiler_text'].line)}</p>" if status["spoiler_text"].line else ""]
    parts.append(status["content"].text)
    for one in status["media_attachments"]:
        words = html.escape(f"[{one['type'].line or 'file'}: {one['description'].line or 'not described'}]")
        parts.append(f"<p>{words}</p>")
    return "".join(parts)


def _comment(status: Value) -> Comment:
    return Comment(
        id=status["id"].line,
        parent=status["in_reply_to_id"].line,
        author=f"@{status['account']['acct'].line}",
        date=status["created_at"].date,
        body=_body(status),
        form="html",
    )
