"""Stack Overflow and its sisters: the question, the answers with the accepted one first, comments below each.

Source: https://api.stackexchange.com/docs (version 2.3). The built-in filter `withbody` adds the bodies, as HTML.
Without a key an address has 300 requests a day, so three are made for a page, never one for each answer.
"""

from __future__ import annotations

import html
import re
from functools import partial
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document, joined
from webseam.fetch.types import Reading
from webseam.schema import Setting

MAX_ANSWERS: Final = 30
MAX_COMMENTS: Final = 100  # of the question and all answers together
MAX_EACH: Final = 10  # below one post
POSTS: Final = 3  # level of the deepest heading of ours; those that people write are deeper
_ID = re.compile(r"\d{1,10}", re.ASCII)


class StackExchange(Site):
    """`/questions/ID`, `/q/ID`, `/a/ID` on any site of the network."""

    id = "stack-exchange"
    label = "Stack Exchange"
    hosts = (
        "stackoverflow.com",
        "www.stackoverflow.com",
        "*.stackoverflow.com",
        "*.stackexchange.com",
        "superuser.com",
        "serverfault.com",
        "askubuntu.com",
        "mathoverflow.net",
        "stackapps.com",
        "meta.superuser.com",
        "meta.serverfault.com",
        "meta.askubuntu.com",
    )
    base_url = "https://api.stackexchange.com/2.3"
    settings = (
        Setting(name="key", env=("STACKEXCHANGE_KEY",), help="an app's key, no secret: 10,000 requests a day, not 300"),
    )

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("questions", number, *_) | ("q", number, *_) if _ID.fullmatch(number):
                return partial(_question, number=number)
            case ("a", number, *_) if _ID.fullmatch(number):
                return partial(_answer, number=number)
        return None


def _query(api: Api, **more: object) -> dict[str, object]:
    site = api.place.host.removeprefix("www.")
    key = api.config.values.get("key") or None
    return {
        "site": site.removesuffix(".stackexchange.com").removesuffix(".com"),
        "filter": "withbody",
        "key": key,
        **more,
    }


def _items(api: Api, *segments: str, **query: object) -> Asked[Value]:
    found = yield from api.object(*segments, query=_query(api, **query))
    if found["error_id"].number:
        raise SiteFailed(f"{found['error_name'].line}: {found['error_message'].line}")
    return found


def _answer(api: Api, number: str) -> Asked[Reading]:
    """Read the question that an answer belongs to, that answer first."""
    found = yield from _items(api, "answers", number)
    question = found["items"][0]["question_id"].line
    if not question:
        raise SiteFailed("no such answer", outcome=Outcome.NOT_FOUND)
    return (yield from _question(api, question, first=number))


def _question(api: Api, number: str, first: str = "") -> Asked[Reading]:
    first = first or (api.place.fragment if _ID.fullmatch(api.place.fragment) else "")
    asked = yield from _items(api, "questions", number)
    question = asked["items"][0]
    if not question.is_object:
        raise SiteFailed("no such question", outcome=Outcome.NOT_FOUND)
    found = yield from _items(api, "questions", number, "answers", sort="votes", order="desc", pagesize=MAX_ANSWERS)
    answers = sorted(found["items"], key=lambda one: (one["answer_id"].line != first, not _is_accepted(one)))
    ids = ";".join([number, *(one["answer_id"].line for one in answers)])
    said = _items(api, "posts", ids, "comments", sort="votes", order="desc", pagesize=MAX_COMMENTS)
    comments = yield from api.optional(said, "comments")
    by_post: dict[str, list[Value]] = {}
    for one in (comments or Value())["items"]:
        by_post.setdefault(one["post_id"].line, []).append(one)
    document = api.document(_text(question["title"].line))
    document.facts(
        ("Score", question["score"].line),
        ("Tags", joined(tag.line for tag in question["tags"])),
        ("Asked", joined([question["creation_date"].day or "", _by(question)])),
        ("Active", question["last_activity_date"].day),
        ("Views", question["view_count"].number),
        ("Answers", question["answer_count"].number),
        ("Closed", joined([question["closed_date"].day or "", question["closed_reason"].line])),
    )
    if first:
        document.covers(api.place.fragment)  # it comes first of the answers
    document.html(question["body"].text, below=POSTS)
    _comments(document, by_post.get(number, []))
    for one in answers:
        marks = [
            "Accepted answer" if _is_accepted(one) else "Answer",
            "the one linked to" if one["answer_id"].line == first else "",
            f"score {one['score'].line}",
            _by(one),
            one["creation_date"].day or "",
        ]
        document.heading(2, joined(marks))
        document.html(one["body"].text, below=POSTS)
        _comments(document, by_post.get(one["answer_id"].line, []))
    document.more((question["answer_count"].number or 0) - len(answers), "answer")
    if found["backoff"].number:
        document.notes.append(f"Stack Exchange asks to be left alone for {found['backoff'].number} seconds")
    author = _text(question["owner"]["display_name"].line)
    return document.reading(author=author, published=question["creation_date"].date)


def _comments(document: Document, comments: list[Value]) -> None:
    if not comments:
        return
    document.heading(3, "Comments")
    for one in comments[:MAX_EACH]:
        score = f" ({one['score'].line})" if one["score"].number else ""
        words = f"<p><b>{one['owner']['display_name'].line or 'unknown'}</b>{score}: {one['body'].text}</p>"
        document.html(words, below=POSTS)
    document.more(len(comments) - MAX_EACH, "comment")


def _is_accepted(answer: Value) -> bool:
    return answer["is_accepted"].raw is True


def _by(post: Value) -> str:
    name = _text(post["owner"]["display_name"].line)
    return f"by {name}" if name else ""


def _text(escaped: str) -> str:
    """Return a name or a title, which come as HTML text, as it is read."""
    return html.unescape(escaped)
