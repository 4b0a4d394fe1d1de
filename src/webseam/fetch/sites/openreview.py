"""OpenReview: a paper's record and everything said about it: reviews with their ratings, answers, the decision.

Source: https://docs.openreview.net/reference/api-v2 (`/notes?forum=`). Venues from before 2023 are known to the first
version of the API only, whose fields hold their values without a `value` around them.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.comments import Comment, flatten, write
from webseam.fetch.sites.guest import closed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined, one_line
from webseam.fetch.types import Reading
from webseam.schema import Setting

MAX_NOTES: Final = 1_000  # the most of one answer
_OLD: Final = "https://api.openreview.net"
_ID = re.compile(r"[A-Za-z0-9_-]{5,40}")
_SHORT: Final = 200  # characters of a field that stands on one line with its name
# Fields that are about the form, not about the paper.
_DULL: Final = frozenset(
    "_bibtex authorids authors code_of_ethics code_of_conduct first_time_reviewer keywords paperhash pdf "
    "supplementary_material title venue venueid".split()
)


class OpenReview(Site):
    """`/forum?id=ID`; the PDF is read as it is."""

    id = "openreview"
    label = "OpenReview"
    hosts = ("openreview.net", "www.openreview.net")
    base_url = "https://api2.openreview.net"
    token_env = ("OPENREVIEW_TOKEN",)
    settings = (Setting(name="old_url", default=_OLD, guarded=True, help="the API that knows venues from before 2023"),)

    def plan(self, place: Place) -> Plan | None:
        key = place.query.get("id", "")
        return partial(_forum, key=key) if place.segments == ("forum",) and _ID.fullmatch(key) else None


def _forum(api: Api, key: str) -> Asked[Reading]:
    notes = yield from _notes(api, key, None)
    if not notes:
        notes = yield from _notes(api, key, str(api.config.values.get("old_url") or _OLD))
    paper = next((one for one in notes if one["id"].line == key), Value())
    if not _field(paper, "title").line:
        raise SiteFailed("no such paper, or not for everybody", outcome=Outcome.NOT_FOUND)
    authors = joined((one.line for one in _field(paper, "authors")), most=50)
    published = next((day for name in ("pdate", "odate", "cdate", "tcdate") if (day := _instant(paper[name]))), None)
    document = api.document(_field(paper, "title").line)
    document.facts(
        ("Authors", authors),
        ("Venue", _field(paper, "venue").line),
        ("Published", published and published[:10]),
        ("Keywords", joined((one.line for one in _field(paper, "keywords")), most=30)),
        ("PDF", f"https://openreview.net/pdf?id={key}" if _field(paper, "pdf").line else ""),
        ("Replies", len(notes) - 1),
    )
    document.markdown(_fields(paper, leave_out={"abstract"}), below=2)
    abstract = _field(paper, "abstract").text
    if abstract:
        document.heading(2, "Abstract")
        document.markdown(abstract, below=2)
    replies = sorted((one for one in notes if one is not paper), key=lambda one: one["cdate"].number or 0)
    known = {one["id"].line for one in replies}
    below: dict[str, list[Value]] = {}
    for one in replies:
        above = one["replyto"].line
        below.setdefault(above if above in known else key, []).append(one)
    tree = flatten(below.get(key, ()), lambda one: below.get(one["id"].line, ()), _reply)
    write(document, tree, title="Reviews and discussion", one="reply")
    return document.reading(author=joined((one.line for one in _field(paper, "authors")), most=3), published=published)


def _notes(api: Api, key: str, root: str | None) -> Asked[list[Value]]:
    try:
        found = yield from api.object("notes", query={"forum": key, "limit": MAX_NOTES}, root=root)
    except SiteFailed as error:
        if error.outcome is not Outcome.NOT_FOUND or root is not None:
            raise
        return []
    return [one for one in found["notes"] if not one["ddate"].raw]


def _field(note: Value, name: str) -> Value:
    field = note["content"][name]
    return field["value"] if field.is_object else field


def _fields(note: Value, leave_out: set[str] | frozenset[str] = frozenset()) -> str:
    """Return what a form was filled with, in its order, as Markdown."""
    parts = []
    for name, field in note["content"].items():
        value = field["value"] if field.is_object else field
        text = value.text.strip() or value.line or joined(one.line for one in value)
        if name in _DULL or name in leave_out or not text:
            continue
        title = one_line(name.replace("_", " "))
        title = title if title.isupper() else title.capitalize()
        is_short = "\n" not in text and len(text) <= _SHORT
        parts.append(f"**{title}:** {text}" if is_short else f"**{title}:**\n\n{closed(text).strip(chr(10))}")
    return "\n\n".join(parts)


def _reply(note: Value, parent: str) -> Comment | None:
    invitation = note["invitations"][0].line or note["invitation"].line
    kind = invitation.rpartition("/")[2].replace("_", " ").lower()
    title = _field(note, "title").line
    body = _fields(note)
    if not body and not title:
        return None
    return Comment(
        id=note["id"].line,
        parent=parent,
        author=_signed(note["signatures"][0].line),
        date=_instant(note["cdate"]),
        body=f"**{title}**\n\n{body}" if title else body,
        about=(kind,),
        anchor=note["id"].line,
    )


def _signed(signature: str) -> str:
    """Return `Reviewer 1abc` of `VENUE/Submission7/Reviewer_1abc`, `Ada Acme` of `~Ada_Acme1`."""
    name = signature.rpartition("/")[2]
    if name.startswith("~"):
        name = re.sub(r"\d{1,4}$", "", name[1:])
    return name.replace("_", " ")


def _instant(value: Value) -> str | None:
    """Return an instant that came in milliseconds."""
    return Value(value.number // 1_000).date if value.number else None
