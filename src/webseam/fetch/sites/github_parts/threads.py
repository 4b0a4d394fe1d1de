"""Conversations on GitHub: issues, pull requests with their reviews, releases, commits, advisories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from webseam.fetch.sites.base import Api, Asked
from webseam.fetch.sites.comments import Comment, say, write
from webseam.fetch.sites.github_parts.code import patch
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document, count, fenced, joined
from webseam.fetch.types import Reading

PAGE: Final = 100  # entries of one answer; the most that GitHub gives
HUNK_LINES: Final = 12  # lines of the diff above a review comment; what it is about is the last of them
_LINKED = re.compile(r"issuecomment-(\d{1,18})")


def issue(api: Api, owner: str, name: str, number: str) -> Asked[Reading]:
    """Read an issue: facts, the report, every comment; when there are many, the first and the last hundred."""
    found = yield from api.object("repos", owner, name, "issues", number, holds="title")
    if found["pull_request"].is_object:
        return (yield from pull(api, owner, name, number))
    comments, total = yield from _comments(api, owner, name, number, found["comments"].number or 0, pages=2)
    document = api.document(f"{found['title'].line} ({owner}/{name} issue {number})")
    facts(document, found)
    yield from _linked(api, document, owner, name, comments)
    say(document, found["body"].text)
    write(document, (as_comment(one) for one in comments), total=total)
    return document.reading(author=found["user"]["login"].line, published=found["created_at"].date)


def pull(api: Api, owner: str, name: str, number: str) -> Asked[Reading]:
    """Read a pull request: facts, description, conversation, reviews with the lines they are about, changed files."""
    place = ("repos", owner, name, "pulls", number)
    found = yield from api.object(*place, holds="title")
    comments, total = yield from _comments(api, owner, name, number, found["comments"].number or 0, pages=1)
    query = {"per_page": PAGE}
    reviews = yield from api.optional(api.array(*place, "reviews", query=query), "reviews")
    lines = None
    if found["review_comments"].number != 0:
        lines = yield from api.optional(api.array(*place, "comments", query=query), "review comments")
    files = yield from api.optional(api.array(*place, "files", query=query), "changed files")
    document = api.document(f"{found['title'].line} ({owner}/{name} pull request {number})")
    facts(document, found)
    document.facts(
        ("From", found["head"]["label"].line),
        ("Into", found["base"]["label"].line),
        ("Merged", joined([found["merged_at"].day or "", _by(found["merged_by"])])),
        ("Commits", found["commits"].number),
        ("Changes", f"+{found['additions'].number or 0} -{found['deletions'].number or 0} in "
                    + count(found["changed_files"].number, "file")),
    )  # fmt: skip
    say(document, found["body"].text)
    write(document, (as_comment(one) for one in comments), total=total)
    write(document, _reviews(reviews or Value()), title="Reviews", one="review")
    write(
        document,
        _line_comments(lines or Value()),
        total=found["review_comments"].number,
        title="Review comments",
        one="review comment",
    )
    patch(document, files or Value(), found["changed_files"].number)
    return document.reading(author=found["user"]["login"].line, published=found["created_at"].date)


def commit(api: Api, owner: str, name: str, ref: str) -> Asked[Reading]:
    """Read a commit: message, facts, patches."""
    found = yield from api.object("repos", owner, name, "commits", ref, holds="sha")
    title, _, body = found["commit"]["message"].text.partition("\n")
    document = api.document(f"{title} ({owner}/{name}@{found['sha'].line[:12] or ref})")
    author = found["author"]["login"].line or found["commit"]["author"]["name"].line
    document.facts(
        ("Commit", found["sha"].line),
        ("Author", author),
        ("Date", found["commit"]["author"]["date"].date),
        ("Parents", joined(parent["sha"].line for parent in found["parents"])),
        ("Changes", f"+{found['stats']['additions'].number or 0} -{found['stats']['deletions'].number or 0}"),
    )
    if body.strip():
        document.add(fenced(body.strip("\n"), "text"))
    patch(document, found["files"], None)
    return document.reading(author=author, published=found["commit"]["author"]["date"].date)


def compare(api: Api, owner: str, name: str, ends: str) -> Asked[Reading]:
    """Read what is between two commits, branches or tags: the commits, then all changes in one."""
    found = yield from api.object("repos", owner, name, "compare", ends, query={"per_page": PAGE}, holds="status")
    document = api.document(f"{ends} ({owner}/{name})")
    document.facts(
        ("State", joined([found["status"].line, f"{found['ahead_by'].number or 0} ahead",
                          f"{found['behind_by'].number or 0} behind"])),
        ("Commits", found["total_commits"].number),
    )  # fmt: skip
    listed = [
        joined([one["sha"].line[:12], one["commit"]["message"].text.partition("\n")[0], _by(one["author"])])
        for one in found["commits"]
    ]
    if listed:
        document.heading(2, "Commits")
        document.entries(listed, more=(found["total_commits"].number or 0) - len(listed), what="more commits")
    patch(document, found["files"], None)
    return document.reading()


def release(api: Api, owner: str, name: str, tag: str | None) -> Asked[Reading]:
    """Read one release, the latest one without a tag: notes and files."""
    where = ("tags", tag) if tag else ("latest",)
    found = yield from api.object("repos", owner, name, "releases", *where, holds="tag_name")
    document = api.document(f"{found['name'].line or found['tag_name'].line} ({owner}/{name})")
    _release_facts(document, found)
    document.markdown(found["body"].text)
    assets = [
        f"[{asset['name'].line}]({asset['browser_download_url'].line}) ({count(asset['size'].number, 'byte')})"
        for asset in found["assets"]
    ]
    if assets:
        document.heading(2, "Files")
        document.entries(assets[:PAGE], more=len(assets) - PAGE, what="more files")
    return document.reading(author=found["author"]["login"].line, published=found["published_at"].date)


def releases(api: Api, owner: str, name: str) -> Asked[Reading]:
    """Read the notes of the newest releases."""
    found = yield from api.array("repos", owner, name, "releases", query={"per_page": 30})
    document = api.document(f"Releases of {owner}/{name}")
    for one in found:
        document.heading(2, one["name"].line or one["tag_name"].line)
        _release_facts(document, one)
        document.markdown(one["body"].text, below=2)
    if len(found) == 30:
        document.add("… older releases are not shown")
        document.truncated = True
    return document.reading(published=found[0]["published_at"].date)


def advisory(api: Api, key: str) -> Asked[Reading]:
    """Read a security advisory of GitHub's database."""
    found = yield from api.object("advisories", key, holds="ghsa_id")
    document = api.document(f"{found['summary'].line} ({key})")
    document.facts(
        ("CVE", found["cve_id"].line),
        ("Severity", joined([found["severity"].line, found["cvss"]["vector_string"].line])),
        ("Published", found["published_at"].day),
        ("Updated", found["updated_at"].day),
        ("Withdrawn", found["withdrawn_at"].day),
        ("Weaknesses", joined(one["cwe_id"].line for one in found["cwes"])),
    )
    affected = [
        f"{one['package']['ecosystem'].line} {one['package']['name'].line} {one['vulnerable_version_range'].line}"
        f" (fixed in {one['first_patched_version'].line or 'no version'})"
        for one in found["vulnerabilities"]
    ]
    if affected:
        document.heading(2, "Affected")
        document.entries(affected[:PAGE], more=len(affected) - PAGE)
    document.markdown(found["description"].text)
    if found["references"]:
        document.heading(2, "References")
        document.entries([one.line for one in found["references"]][:PAGE])
    return document.reading(published=found["published_at"].date)


def _release_facts(document: Document, found: Value) -> None:
    document.facts(
        ("Tag", found["tag_name"].line),
        ("Published", joined([found["published_at"].day or "", _by(found["author"])])),
        ("State", joined(["draft" if found["draft"].raw is True else "",
                          "prerelease" if found["prerelease"].raw is True else ""])),
    )  # fmt: skip


def facts(document: Document, found: Value) -> None:
    """Add what an issue, a pull request or a discussion says about itself."""
    state = "merged" if found["merged_at"].raw else found["state"].line
    reason = found["state_reason"].line.replace("_", " ")
    document.facts(
        ("State", joined([state, "draft" if found["draft"].raw is True else "", reason if reason != state else "",
                          "locked" if found["locked"].raw is True else ""])),
        ("Author", found["user"]["login"].line),
        ("Opened", found["created_at"].day),
        ("Closed", joined([found["closed_at"].day or "", _by(found["closed_by"])])),
        ("Updated", found["updated_at"].day),
        ("Labels", joined(label["name"].line or label.line for label in found["labels"])),
        ("Milestone", found["milestone"]["title"].line),
        ("Assignees", joined(one["login"].line for one in found["assignees"])),
        ("Comments", found["comments"].number),
        ("Reactions", found["reactions"]["total_count"].number or ""),
    )  # fmt: skip


def _by(user: Value) -> str:
    return f"by {user['login'].line}" if user["login"].line else ""


def _comments(
    api: Api, owner: str, name: str, number: str, total: int, *, pages: int
) -> Asked[tuple[list[Value], int]]:
    """Return the first page of comments and, where there are more and `pages` allows, the last one."""
    if not total:
        return [], 0
    place = ("repos", owner, name, "issues", number, "comments")
    first = yield from api.optional(api.array(*place, query={"per_page": PAGE}), "comments")
    found = list(first or ())
    last = (total - 1) // PAGE + 1
    if first is not None and pages > 1 and last > 1:
        rest = yield from api.optional(api.array(*place, query={"per_page": PAGE, "page": last}), "the last comments")
        if last > 2 and rest:
            left_out = f"comments {PAGE + 1:,} to {PAGE * (last - 1):,}"
            api.notes.append(f"{left_out} are left out: the first and the last are shown")
        found += list(rest or ())
    return found, total


def _linked(api: Api, document: Document, owner: str, name: str, comments: list[Value]) -> Asked[None]:
    """Put the comment that the address points at first: it is what was asked for, and may not be on the first page."""
    wanted = _LINKED.fullmatch(api.place.fragment)
    if not wanted:
        return
    found: Value | None = next((one for one in comments if one["id"].line == wanted[1]), None)
    if found is None:
        asked = api.object("repos", owner, name, "issues", "comments", wanted[1])
        found = yield from api.optional(asked, "the comment linked to")
    if found is not None:
        document.heading(2, f"The comment linked to: {found['user']['login'].line}, {found['created_at'].day or ''}")
        say(document, found["body"].text)
        document.heading(2, "The issue")
        document.covers(api.place.fragment)


def as_comment(found: Value, *about: str) -> Comment:
    """Return a comment of the REST API; `about` is what stands in its heading first."""
    role = found["author_association"].line.lower().replace("_", " ")
    shown = (role,) if role in ("owner", "member", "collaborator") else ()
    return Comment(
        id=found["id"].line,
        parent=found["parent_id"].line or found["in_reply_to_id"].line,
        author=found["user"]["login"].line,
        date=found["created_at"].date,
        body=found["body"].text,
        about=(*about, *shown),
        anchor=_fragment(found),
    )


def _fragment(found: Value) -> str:
    return found["html_url"].line.partition("#")[2]


def _reviews(reviews: Value) -> Iterator[Comment]:
    for review in reviews:
        state = review["state"].line.lower().replace("_", " ")
        if review["body"].text.strip() or state in ("approved", "changes requested"):
            yield Comment(
                id=review["id"].line,
                author=review["user"]["login"].line,
                date=review["submitted_at"].date,
                body=review["body"].text,
                about=(state,),
                anchor=_fragment(review),
            )


def _line_comments(comments: Value) -> Iterator[Comment]:
    shown: set[str] = set()
    for found in comments:
        comment = as_comment(found)
        place = f"{found['path'].line}:{found['line'].number or found['original_line'].number or ''}".rstrip(":")
        body = comment.body
        if comment.parent not in shown and found["diff_hunk"].text:
            hunk = "\n".join(found["diff_hunk"].text.split("\n")[-HUNK_LINES:])
            body = f"{fenced(hunk, 'diff')}\n\n{body}"
        shown.add(comment.id)
        yield replace(comment, body=body, about=(place,))
