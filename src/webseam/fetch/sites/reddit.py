"""Reddit: a post with its comments, as the Markdown their authors wrote.

Source: https://www.reddit.com/dev/api#GET_comments_{article}. Reddit refuses many addresses; the page is then read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.comments import MAX_COMMENTS, Comment, flatten, say, write
from webseam.fetch.sites.value import Value
from webseam.fetch.types import Reading

_ID = re.compile(r"[a-z0-9]{2,12}", re.ASCII)


class Reddit(Site):
    """`/r/NAME/comments/ID`, with a comment's id too, and `redd.it/ID`."""

    id = "reddit"
    label = "Reddit"
    hosts = ("reddit.com", "www.reddit.com", "old.reddit.com", "new.reddit.com", "np.reddit.com", "redd.it")
    base_url = "https://www.reddit.com"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("r" | "user" | "u", _, "comments", key, *rest) | ("comments", key, *rest) if _ID.fullmatch(key):
                comment = rest[1] if len(rest) > 1 and _ID.fullmatch(rest[1]) else None
                return partial(_post, key=key, comment=comment)
            case (key,) if place.host == "redd.it" and _ID.fullmatch(key):
                return partial(_post, key=key, comment=None)
        return None


def _post(api: Api, key: str, comment: str | None) -> Asked[Reading]:
    query = {"raw_json": 1, "limit": MAX_COMMENTS, "comment": comment, "context": 3 if comment else None}
    found = yield from api.array("comments", f"{key}.json", query=query)
    post = found[0]["data"]["children"][0]["data"]
    if not post["title"].line:
        raise SiteFailed("no such post", outcome=Outcome.NOT_FOUND)
    document = api.document(post["title"].line)
    link = "" if post["is_self"].raw is True else post["url"].line
    document.facts(
        ("In", post["subreddit_name_prefixed"].line),
        ("Author", post["author"].line),
        ("Date", post["created_utc"].day),
        ("Score", post["score"].line),
        ("Link", link),
        ("Flair", post["link_flair_text"].line),
        ("Comments", post["num_comments"].number),
        ("State", "locked" if post["locked"].raw is True else ""),
        ("Removed", post["removed_by_category"].line),
    )
    say(document, post["selftext"].text)
    comments = flatten(found[1]["data"]["children"], _replies, _comment)
    write(document, comments, total=None if comment else post["num_comments"].number)
    return document.reading(author=post["author"].line, published=post["created_utc"].date)


def _replies(node: Value) -> Iterable[Value]:
    return node["data"]["replies"]["data"]["children"]


def _comment(node: Value, parent: str) -> Comment | None:
    data = node["data"]
    if node["kind"].line != "t1" or not data["body"].text:
        return None
    return Comment(
        id=data["id"].line,
        parent=parent,
        author=data["author"].line,
        date=data["created_utc"].date,
        body=data["body"].text,
        about=(f"score {data['score'].line}", data["distinguished"].line),
    )
