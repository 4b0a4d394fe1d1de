"""Discussions: comments in reading order, each with a number, so that replies can say what they answer.

Nesting by indentation would break the code blocks inside and run out of depth; a number costs two tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document

MAX_COMMENTS: Final = 200  # of one page; a page of them is about 40,000 tokens
MAX_DEPTH: Final = 50  # replies to replies that are followed
LEVEL: Final = 3  # of a comment's heading; those inside it are deeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """What somebody said.

    Attributes:
        about: what stands in its heading beside the author: a score, "accepted".
        anchor: the fragment of the page's address that leads to it.
    """

    author: str
    body: str
    date: str | None = None
    id: str = ""
    parent: str = ""
    about: tuple[str, ...] = ()
    form: Literal["markdown", "html", "plain"] = "markdown"
    anchor: str = ""


def write(
    document: Document,
    comments: Iterable[Comment],
    *,
    total: int | None = None,
    title: str = "Comments",
    one: str = "comment",
) -> int:
    """Add comments below a heading, at most `MAX_COMMENTS`; return how many were written.

    `total` is how many there are in all, when more are known of than came; `one` is what one of them is called.
    """
    numbers: dict[str, int] = {}
    left = 0
    for comment in comments:
        if len(numbers) >= MAX_COMMENTS:
            left += 1
            continue
        if not numbers:
            document.heading(2, title)
        number = len(numbers) + 1
        numbers[comment.id or f"#{number}"] = number
        _write_one(document, comment, number, numbers.get(comment.parent) if comment.parent else None)
    document.more(max(left, (total or 0) - len(numbers)), one)
    return len(numbers)


def _write_one(document: Document, comment: Comment, number: int, answers: int | None) -> None:
    about = [f"reply to {answers}" if answers else "", *comment.about, (comment.date or "")[:10]]
    document.anchor(comment.anchor)
    document.heading(LEVEL, ", ".join([f"{number}. {comment.author or 'unknown'}", *filter(None, about)]))
    say(document, comment.body, comment.form)


def say(document: Document, body: str, form: str = "markdown") -> None:
    """Add what one of several people said: its headings stay deeper than those that say who speaks."""
    if form == "html":
        document.html(body, below=LEVEL)
    elif form == "plain":
        document.plain(body)
    else:
        document.markdown(body, below=LEVEL)


def flatten(
    roots: Iterable[Value],
    replies: Callable[[Value], Iterable[Value]],
    made: Callable[[Value, str], Comment | None],
) -> Iterator[Comment]:
    """Yield the comments of a tree, each before its replies. `made(node, id of what it answers)` may leave one out."""
    waiting = [(root, "", 0) for root in reversed(list(roots))]
    while waiting:
        node, parent, depth = waiting.pop()
        comment = made(node, parent)
        if comment is not None:
            yield comment
        if depth < MAX_DEPTH:
            own = comment.id if comment is not None else parent
            waiting.extend((reply, own, depth + 1) for reply in reversed(list(replies(node))))
