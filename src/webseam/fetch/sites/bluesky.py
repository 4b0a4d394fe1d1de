"""Bluesky: a post, what it answers, and what was answered, from the public view of the network.

Source: https://docs.bsky.app/docs/api/app-bsky-feed-get-post-thread.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.comments import Comment, flatten, say, write
from webseam.fetch.sites.guest import plain
from webseam.fetch.sites.value import Value
from webseam.fetch.types import Reading

MAX_ANCESTORS: Final = 20
_USER = re.compile(r"(?:did:[a-z]{2,10}:[A-Za-z0-9.:_-]{1,100}|[A-Za-z0-9.-]{3,253})")
_KEY = re.compile(r"[A-Za-z0-9]{5,20}")


class Bluesky(Site):
    """`/profile/USER/post/ID`."""

    id = "bluesky"
    label = "Bluesky"
    hosts = ("bsky.app", "staging.bsky.app", "main.bsky.dev")
    base_url = "https://public.api.bsky.app"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("profile", user, "post", key) if _USER.fullmatch(user) and _KEY.fullmatch(key):
                return partial(_thread, uri=f"at://{user}/app.bsky.feed.post/{key}")
        return None


def _thread(api: Api, uri: str) -> Asked[Reading]:
    query = {"uri": uri, "depth": 10, "parentHeight": MAX_ANCESTORS}
    found = yield from api.object("xrpc", "app.bsky.feed.getPostThread", query=query)
    thread = found["thread"]
    post = thread["post"]
    if not post["author"]["handle"].line:
        raise SiteFailed("no such post, or not for everybody", outcome=Outcome.NOT_FOUND)
    ancestors: list[Value] = []
    above = thread["parent"]
    while above["post"].is_object and len(ancestors) < MAX_ANCESTORS:
        ancestors.append(above)
        above = above["parent"]
    author = post["author"]["displayName"].line or post["author"]["handle"].line
    document = api.document(f"{author} (@{post['author']['handle'].line})")
    earlier = (_comment(one, "") for one in reversed(ancestors))
    if write(document, filter(None, earlier), title="In reply to", one="post"):
        document.heading(2, "The post")
    document.facts(
        ("Date", post["record"]["createdAt"].date),
        ("Replies", post["replyCount"].number),
        ("Reposts", post["repostCount"].number),
        ("Likes", post["likeCount"].number),
    )
    say(document, _body(post))
    write(document, flatten(thread["replies"], lambda node: node["replies"], _comment), title="Replies", one="reply")
    language = post["record"]["langs"][0].line or None
    return document.reading(author=author, published=post["record"]["createdAt"].date, language=language)


def _comment(node: Value, parent: str) -> Comment | None:
    post = node["post"]
    if not post["record"]["text"].text and not post["embed"]:
        return None
    return Comment(
        id=post["uri"].line,
        parent=parent,
        author=f"@{post['author']['handle'].line}",
        date=post["record"]["createdAt"].date,
        body=_body(post),
    )


def _body(post: Value) -> str:
    """Return a post's text with its links whole, then what is attached to it."""
    parts = [plain(_with_links(post["record"]))]
    embed = post["embed"]["media"] if post["embed"]["media"].is_object else post["embed"]
    external = embed["external"]
    if external["uri"].line:
        parts.append(f"[{external['title'].line or external['uri'].line}]({external['uri'].line})")
    parts += [f"[Image: {one['alt'].line or 'not described'}]" for one in embed["images"]]
    quoted = post["embed"]["record"]["record"] if post["embed"]["media"].is_object else post["embed"]["record"]
    if quoted["value"]["text"].text:
        said = plain(quoted["value"]["text"].text).replace("\n", "\n> ")
        parts.append(f"> @{quoted['author']['handle'].line}: {said}")
    return "\n\n".join(filter(None, parts))


def _with_links(record: Value) -> str:
    """Return the text with shortened addresses replaced by whole ones; their places are counted in bytes of UTF-8."""
    text = record["text"].text.encode()
    links = []
    for facet in record["facets"]:
        start, end = facet["index"]["byteStart"].number, facet["index"]["byteEnd"].number
        uri = next((one["uri"].line for one in facet["features"] if one["uri"].line), "")
        if uri and start is not None and end is not None and 0 <= start < end <= len(text):
            links.append((start, end, uri))
    kept, at = [], 0
    for start, end, uri in sorted(links):
        if start >= at:
            kept += [text[at:start], uri.encode("utf-8", "replace")]
            at = end
    return b"".join([*kept, text[at:]]).decode("utf-8", "replace")
