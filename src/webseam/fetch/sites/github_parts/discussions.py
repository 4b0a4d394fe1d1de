"""Discussions on GitHub: the post, its answer, the comments with the replies to them.

Their documented API is GraphQL, which answers nobody without a token. Without one the REST API is asked for the shape
that its webhooks document: it answers for public repositories, though nobody promises it, and where it does not the
page is read. Source: https://docs.github.com/graphql/guides/using-the-graphql-api-for-discussions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, SiteFailed
from webseam.fetch.sites.comments import Comment, say, write
from webseam.fetch.sites.github_parts.threads import PAGE, as_comment, facts
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

REPLIES: Final = 20  # to one comment; a hundred comments with more of them cost more points than one answer may
_SAID: Final = "id url body createdAt authorAssociation author { login }"
_QUERY: Final = f"""query($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{
    discussion(number: $number) {{
      title body createdAt updatedAt closed closedAt locked isAnswered answerChosenAt upvoteCount
      author {{ login }} category {{ name }} labels(first: 30) {{ nodes {{ name }} }}
      comments(first: {PAGE}) {{
        totalCount
        nodes {{ {_SAID} isAnswer replies(first: {REPLIES}) {{ totalCount nodes {{ {_SAID} }} }} }}
      }}
    }}
  }}
}}"""


def above(base_url: str) -> str:
    """Return where both APIs are: below `api.github.com`, or below `/api` of an enterprise instance."""
    return base_url.rstrip("/").removesuffix("/v3")


def discussion(api: Api, owner: str, name: str, number: str) -> Asked[Reading]:
    """Read a discussion."""
    if api.config.token:
        return (yield from _by_graphql(api, owner, name, number))
    return (yield from _by_rest(api, owner, name, number))


def _by_graphql(api: Api, owner: str, name: str, number: str) -> Asked[Reading]:
    payload = {"query": _QUERY, "variables": {"owner": owner, "name": name, "number": int(number)}}
    answer = yield from api.object("graphql", root=above(api.root), payload=payload)
    found = answer["data"]["repository"]["discussion"]
    if not found["title"].line:
        error = answer["errors"][0]
        limited = "RATE_LIMITED" in error["type"].line
        unknown = error["type"].line in ("NOT_FOUND", "")
        raise SiteFailed(
            error["message"].line or "GitHub gave no discussion",
            outcome=Outcome.RATE_LIMITED if limited else Outcome.NOT_FOUND if unknown else Outcome.BAD_RESPONSE,
        )
    author = found["author"]["login"].line or "ghost"
    document = api.document(f"{found['title'].line} ({owner}/{name} discussion {number})")
    document.facts(
        ("State", joined(["closed" if found["closed"].raw is True else "open",
                          "answered" if found["isAnswered"].raw is True else "",
                          "locked" if found["locked"].raw is True else ""])),
        ("Author", author),
        ("Opened", found["createdAt"].day),
        ("Closed", found["closedAt"].day),
        ("Updated", found["updatedAt"].day),
        ("Category", found["category"]["name"].line),
        ("Labels", joined(label["name"].line for label in found["labels"]["nodes"])),
        ("Votes", found["upvoteCount"].number),
        ("Comments", found["comments"]["totalCount"].number),
    )  # fmt: skip
    say(document, found["body"].text)
    every = sorted(found["comments"]["nodes"], key=lambda one: one["isAnswer"].raw is not True)  # the answer first
    written = write(document, (comment for one in every for comment in _thread(one)))
    left_out = (found["comments"]["totalCount"].number or 0) - len(every)
    left_out += sum(max(0, (one["replies"]["totalCount"].number or 0) - len(one["replies"]["nodes"])) for one in every)
    if written:
        document.more(left_out, "comment")
    return document.reading(author=author, published=found["createdAt"].date)


def _thread(one: Value) -> Iterator[Comment]:
    """Yield a comment, then the replies to it."""
    yield _said(one, "", "answer" if one["isAnswer"].raw is True else "")
    for reply in one["replies"]["nodes"]:
        yield _said(reply, one["id"].line, "")


def _said(node: Value, parent: str, mark: str) -> Comment:
    role = node["authorAssociation"].line.lower()
    return Comment(
        id=node["id"].line,
        parent=parent,
        author=node["author"]["login"].line or "ghost",
        date=node["createdAt"].date,
        body=node["body"].text,
        about=tuple(filter(None, (mark, role if role in ("owner", "member", "collaborator") else ""))),
        anchor=node["url"].line.partition("#")[2],
    )


def _by_rest(api: Api, owner: str, name: str, number: str) -> Asked[Reading]:
    place = ("repos", owner, name, "discussions", number)
    found = yield from api.object(*place, holds="title")
    comments = yield from api.optional(api.array(*place, "comments", query={"per_page": PAGE}), "comments")
    document = api.document(f"{found['title'].line} ({owner}/{name} discussion {number})")
    facts(document, found)
    document.facts(("Category", found["category"]["name"].line), ("Answered", found["answer_chosen_at"].day))
    say(document, found["body"].text)
    answer = found["answer_html_url"].line.rpartition("-")[2]
    marked = [(one, ("answer",) if answer and one["id"].line == answer else ()) for one in comments or ()]
    marked.sort(key=lambda pair: not pair[1])  # the answer first; the rest stays in its order
    write(document, (as_comment(one, *about) for one, about in marked), total=found["comments"].number)
    return document.reading(author=found["user"]["login"].line, published=found["created_at"].date)
