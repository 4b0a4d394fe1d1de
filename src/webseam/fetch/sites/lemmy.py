"""Lemmy: a post with its comments, as the Markdown their authors wrote.

Source: https://join-lemmy.org/api/ (v3).
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.comments import Comment, flatten, say, write
from webseam.fetch.sites.value import Value
from webseam.fetch.types import Reading

PAGE: Final = 50  # comments of one answer, the most the API gives at a depth
_ID = re.compile(r"\d{1,12}", re.ASCII)


class Lemmy(Site):
    """`/post/ID` on hosts known for it; others by the setting `hosts`."""

    id = "lemmy"
    label = "Lemmy"
    hosts = (
        "lemmy.*",
        "beehaw.org",
        "feddit.org",
        "feddit.uk",
        "infosec.pub",
        "lemm.ee",
        "programming.dev",
        "sh.itjust.works",
        "slrpnk.net",
        "sopuli.xyz",
    )

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("post", key) | ("post", key, _) if _ID.fullmatch(key):
                return partial(_post, key=key)
        return None


def _post(api: Api, key: str) -> Asked[Reading]:
    found = yield from api.object("api", "v3", "post", query={"id": key})
    view = found["post_view"]
    post = view["post"]
    if not post["name"].line:
        raise SiteFailed("this is no Lemmy post")
    query = {"post_id": key, "type_": "All", "sort": "Top", "max_depth": 8, "limit": PAGE}
    listed = yield from api.optional(api.object("api", "v3", "comment", "list", query=query), "comments")
    children: dict[str, list[Value]] = {}
    for one in (listed or Value())["comments"]:
        above = ["0", *one["comment"]["path"].line.split(".")][-2]
        children.setdefault(above, []).append(one)
    document = api.document(post["name"].line)
    document.facts(
        ("In", view["community"]["title"].line or view["community"]["name"].line),
        ("Author", view["creator"]["name"].line),
        ("Date", post["published"].day),
        ("Score", view["counts"]["score"].line),
        ("Link", post["url"].line),
        ("State", "locked" if post["locked"].raw is True else ""),
    )
    say(document, post["body"].text)
    tree = flatten(children.get("0", ()), lambda node: children.get(node["comment"]["id"].line, ()), _comment)
    write(document, tree, total=view["counts"]["comments"].number)
    return document.reading(author=view["creator"]["name"].line, published=post["published"].date)


def _comment(node: Value, parent: str) -> Comment | None:
    comment = node["comment"]
    if comment["deleted"].raw is True or comment["removed"].raw is True:
        return None
    return Comment(
        id=comment["id"].line,
        parent=parent,
        author=node["creator"]["name"].line,
        date=comment["published"].date,
        body=comment["content"].text,
        about=(f"score {node['counts']['score'].line}",),
    )
