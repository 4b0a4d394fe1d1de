"""Repositories and what is in them: facts and README, folders, files, single lines of files, gists.

Without a token GitHub's API answers 60 questions an hour, so files come from where raw files are served, which also
takes branches with slashes in their names. Private files need the API, because the token goes nowhere else.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final
from urllib.parse import quote

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, SiteFailed
from webseam.fetch.sites.files import NOT_TEXT, show, write
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document, count, fenced, joined
from webseam.fetch.types import Reading

MAX_ENTRIES: Final = 500  # of a folder
MAX_FILE: Final = 4 * 1024 * 1024  # bytes of one file
MAX_REF_PARTS: Final = 3  # a branch may have slashes in its name; the API must be told where it ends
RAW: Final = "application/vnd.github.raw+json"


def repository(api: Api, owner: str, name: str, ref: str | None = None) -> Asked[Reading]:
    """Read what a repository says about itself: facts, then its README."""
    facts = yield from api.object("repos", owner, name, holds="full_name")
    readme = yield from api.optional(api.object("repos", owner, name, "readme", query={"ref": ref}), "its README")
    full = facts["full_name"].line or f"{owner}/{name}"
    document = api.document(full)
    document.markdown(facts["description"].line)
    document.facts(
        ("Branch", ref),
        ("Default branch", facts["default_branch"].line),
        ("Language", facts["language"].line),
        ("License", facts["license"]["spdx_id"].line),
        ("Topics", joined(topic.line for topic in facts["topics"])),
        ("Homepage", facts["homepage"].line),
        ("Stars", facts["stargazers_count"].line),
        ("Open issues and pull requests", facts["open_issues_count"].line),
        ("Fork of", facts["parent"]["full_name"].line),
        ("State", "archived, read only" if facts["archived"].raw is True else ""),
        ("Created", facts["created_at"].day),
        ("Last push", facts["pushed_at"].day),
    )
    if readme is not None:
        _readme(document, readme)
    return document.reading(author=facts["owner"]["login"].line, published=facts["created_at"].date)


def _readme(document: Document, readme: Value) -> None:
    try:
        text = base64.b64decode(readme["content"].text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        text = ""
    name = readme["name"].line
    if text.strip():
        document.heading(2, name or "README")
        show(document, name, text, readme["html_url"].line)


def tree(api: Api, owner: str, name: str, rest: tuple[str, ...]) -> Asked[Reading]:
    """Read a folder: its entries, and its README when it has one. `rest` is a branch, tag or commit and a path."""
    entries, ref, path = yield from _contents(api, owner, name, rest)
    document = api.document("/".join([f"{owner}/{name}", *path]))
    document.facts(("Branch, tag or commit", ref), ("Entries", len(entries)))
    listed = sorted(entries, key=lambda entry: (entry["type"].line != "dir", entry["name"].line))
    lines = []
    for entry in listed[:MAX_ENTRIES]:
        kind, size = entry["type"].line, entry["size"].number
        size_or_kind = count(size, "byte") if kind == "file" and size is not None else kind
        mark = "/" if kind == "dir" else f" ({size_or_kind})"
        lines.append(f"[{entry['name'].line}]({entry['html_url'].line}){mark}")
    document.entries(lines, more=len(listed) - MAX_ENTRIES, what="more entries")
    readme = next((entry for entry in listed if re.match(r"readme(\.|$)", entry["name"].line, re.IGNORECASE)), None)
    if readme is not None and readme["type"].line == "file":
        found = yield from api.optional(_file_of(api, owner, name, [ref], (*path, readme["name"].line)), "its README")
        if found is not None:
            document.heading(2, readme["name"].line)
            show(document, readme["name"].line, found, readme["html_url"].line)
    return document.reading()


def _contents(api: Api, owner: str, name: str, rest: tuple[str, ...]) -> Asked[tuple[Value, str, tuple[str, ...]]]:
    """Return a folder's entries, its ref and its path, trying where the ref ends."""
    for parts in range(1, MAX_REF_PARTS + 1):
        ref, path = "/".join(rest[:parts]), rest[parts:]
        try:
            entries = yield from api.array("repos", owner, name, "contents", *path, query={"ref": ref})
        except SiteFailed as error:
            if error.outcome is not Outcome.NOT_FOUND or parts == min(MAX_REF_PARTS, len(rest)):
                raise
        else:
            return entries, ref, path
    raise SiteFailed("no such folder", outcome=Outcome.NOT_FOUND)


def blob(api: Api, owner: str, name: str, rest: tuple[str, ...]) -> Asked[Reading]:
    """Read a file, or the lines that the fragment names. `rest` is a branch, tag or commit and a path."""
    if NOT_TEXT.search(rest[-1]):
        root = str(api.config.values.get("raw_url") or "").rstrip("/")
        raw = "/".join([root, *(quote(part) for part in (owner, name, *rest))]) if root else None
        detail = "a file of this kind is read as it is, not through the API"
        raise SiteFailed(detail, outcome=Outcome.UNSUPPORTED, instead=raw if raw != api.place.url else None)
    parts = range(1, min(MAX_REF_PARTS, len(rest) - 1) + 1)
    text = ""
    for end in parts:
        try:
            text = yield from _file_of(api, owner, name, list(rest[:end]), rest[end:])
            break
        except SiteFailed as error:
            if error.outcome is not Outcome.NOT_FOUND or end == parts[-1] or not api.config.token:
                raise
    document = api.document("/".join([f"{owner}/{name}", *rest[1:]]))
    document.facts(("Branch, tag or commit", rest[0]))
    write(document, rest[-1], text, api.place.url, fragment=api.place.fragment)
    return document.reading()


def _file_of(api: Api, owner: str, name: str, ref: list[str], path: tuple[str, ...]) -> Asked[str]:
    if api.config.token:
        return (
            yield from api.text(
                "repos", owner, name, "contents", *path, query={"ref": "/".join(ref)}, accept=RAW, max_bytes=MAX_FILE
            )
        )
    root = str(api.config.values.get("raw_url") or "")
    if not root:
        raise SiteFailed("raw files need a token here", outcome=Outcome.AUTH)
    split = [part for one in ref for part in one.split("/")]
    return (yield from api.text(owner, name, *split, *path, root=root, max_bytes=MAX_FILE))


def gist(api: Api, key: str) -> Asked[Reading]:
    """Read all files of a gist, then its comments' number."""
    found = yield from api.object("gists", key, holds="files")
    files = found["files"].items()
    document = api.document(found["description"].line or (files[0][0] if files else key))
    document.facts(
        ("Author", found["owner"]["login"].line),
        ("Files", len(files)),
        ("Created", found["created_at"].day),
        ("Updated", found["updated_at"].day),
        ("Comments", found["comments"].number or ""),
    )
    for name, file in files[:MAX_ENTRIES]:
        document.heading(2, name)
        show(document, name, file["content"].text, api.place.url)
        if file["truncated"].raw is True:
            document.truncated = True
            document.notes.append(f"{name} is cut by GitHub ({count(file['size'].number, 'byte')} in all)")
    return document.reading(author=found["owner"]["login"].line, published=found["created_at"].date)


def patch(document: Document, files: Value, total: int | None) -> None:
    """Add the changed files of a commit or pull request with their patches."""
    if not files:
        return
    document.heading(2, "Changed files")
    for file in list(files)[:MAX_ENTRIES]:
        before = f"from {file['previous_filename'].line}" if file["previous_filename"].line else ""
        counted = f"+{file['additions'].number or 0} -{file['deletions'].number or 0}"
        document.heading(3, f"{file['filename'].line} ({joined([file['status'].line, before, counted])})")
        if file["patch"].text:
            document.add(fenced(file["patch"].text, "diff"))
        else:
            document.add("No patch: binary, or too large.")
    document.more(max((total or 0) - len(files), len(files) - MAX_ENTRIES), "changed file")
