"""GitLab, on gitlab.com and on instances of its own: projects, files, issues, merge requests, commits, releases.

Source: https://docs.gitlab.com/api/rest/ (v4).
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final
from urllib.parse import quote

from webseam.errors import Outcome
from webseam.fetch.sites import files
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.comments import Comment, say, write
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import Document, fenced, joined
from webseam.fetch.types import Reading

PAGE: Final = 100  # entries of one answer
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
_NUMBER = re.compile(r"\d{1,10}", re.ASCII)
_RESERVED: Final = frozenset("admin api dashboard explore groups help profile projects search users -".split())


class GitLab(Site):
    """Projects, folders, files and lines of them, issues, work items, merge requests with changes, commits, releases;
    the API is asked on the page's own host, the token goes to `base_url` only."""

    id = "gitlab"
    label = "GitLab"
    hosts = ("gitlab.com", "gitlab.*", "invent.kde.org", "salsa.debian.org", "framagit.org")
    base_url = "https://gitlab.com"
    home = ("gitlab.com",)
    token_env = ("GITLAB_TOKEN",)

    def credentials(self, token: str) -> tuple[tuple[str, str], ...]:
        return (("PRIVATE-TOKEN", token),)

    def plan(self, place: Place) -> Plan | None:
        segments = place.segments
        end = segments.index("-") if "-" in segments else len(segments)
        names, rest = segments[:end], segments[end + 1 :]
        if len(names) < 2 or names[0] in _RESERVED or not all(_NAME.fullmatch(name) for name in names):
            return None
        project = "/".join(names)
        match rest:
            case () if end == len(segments):
                return partial(_project, project=project.removesuffix(".git"))
            case ("blob" | "raw" | "blame", _, *path) if path:
                return partial(_file, project=project, rest=rest[1:])
            case ("tree", ref):
                return partial(_tree, project=project, ref=ref, path="")
            case ("tree", ref, *path):
                return partial(_tree, project=project, ref=ref, path="/".join(path))
            case ("issues" | "work_items", number) if _NUMBER.fullmatch(number):
                return partial(_thread, project=project, kind="issues", number=number)
            case ("merge_requests", number) | ("merge_requests", number, "diffs" | "commits") if _NUMBER.fullmatch(
                number
            ):
                return partial(_thread, project=project, kind="merge_requests", number=number)
            case ("commit", ref) if re.fullmatch(r"[0-9a-f]{7,64}", ref):
                return partial(_commit, project=project, ref=ref)
            case ("releases", *tag) if tag:
                return partial(_release, project=project, tag="/".join(tag))
        return None


def _project(api: Api, project: str) -> Asked[Reading]:
    found = yield from api.object("api", "v4", "projects", project, query={"license": "true"}, holds="id")
    document = api.document(found["path_with_namespace"].line or project)
    document.markdown(found["description"].text)
    document.facts(
        ("Default branch", found["default_branch"].line),
        ("License", found["license"]["name"].line),
        ("Topics", joined(topic.line for topic in found["topics"])),
        ("Stars", found["star_count"].number),
        ("Forks", found["forks_count"].number),
        ("State", "archived, read only" if found["archived"].raw is True else ""),
        ("Created", found["created_at"].day),
        ("Last activity", found["last_activity_at"].day),
    )
    address = found["readme_url"].line
    branch, path = found["default_branch"].line, address.partition(f"/-/blob/{found['default_branch'].line}/")[2]
    if path:
        readme = yield from api.optional(_text(api, project, (branch, path)), "its README")
        if readme:
            document.heading(2, path)
            files.show(document, path, readme, address)
    return document.reading(published=found["created_at"].date)


def _tree(api: Api, project: str, ref: str, path: str) -> Asked[Reading]:
    """Read a folder: its entries, and its README when it has one."""
    query = {"ref": ref, "path": path or None, "per_page": PAGE}
    entries = yield from api.array("api", "v4", "projects", project, "repository", "tree", query=query)
    if not entries:
        raise SiteFailed("no such folder, or nothing in it", outcome=Outcome.NOT_FOUND)
    document = api.document("/".join(filter(None, (project, path))))
    document.facts(("Branch, tag or commit", ref))
    root = f"{api.place.origin}/{project}/-"
    listed = []
    for one in entries:
        kind = "tree" if one["type"].line == "tree" else "blob"
        address = f"{root}/{kind}/{quote(ref, safe='')}/{quote(one['path'].line)}"
        listed.append(f"[{one['name'].line}]({address}){'/' if kind == 'tree' else ''}")
    document.entries(listed)
    if len(entries) >= PAGE:
        document.add("… there may be more entries")
        document.truncated = True
    names = [one["name"].line for one in entries if one["type"].line == "blob"]
    name = next((name for name in names if re.match(r"readme(\.|$)", name, re.IGNORECASE)), "")
    if name:
        readme = yield from api.optional(_text(api, project, (ref, *filter(None, path.split("/")), name)), "its README")
        if readme:
            document.heading(2, name)
            where = quote("/".join(filter(None, (path, name))))
            files.show(document, name, readme, f"{root}/blob/{quote(ref, safe='')}/{where}")
    return document.reading()


def _text(api: Api, project: str, rest: tuple[str, ...]) -> Asked[str]:
    """Return a file. With a token the API is asked; without, the raw page, which knows where a branch's name ends."""
    if not api.config.token:
        parts = [part for one in rest for part in one.split("/")]
        return (yield from api.text(*project.split("/"), "-", "raw", *parts))
    for end in range(1, len(rest)):
        place = ("api", "v4", "projects", project, "repository", "files", "/".join(rest[end:]), "raw")
        try:
            return (yield from api.text(*place, query={"ref": "/".join(rest[:end])}))
        except SiteFailed as error:
            if error.outcome is not Outcome.NOT_FOUND or end == len(rest) - 1:
                raise
    raise SiteFailed("no such file", outcome=Outcome.NOT_FOUND)


def _file(api: Api, project: str, rest: tuple[str, ...]) -> Asked[Reading]:
    if files.NOT_TEXT.search(rest[-1]):
        raw = api.place.url.partition("#")[0].replace("/-/blob/", "/-/raw/").replace("/-/blame/", "/-/raw/")
        detail = "a file of this kind is read as it is, not through the API"
        raise SiteFailed(detail, outcome=Outcome.UNSUPPORTED, instead=raw if raw != api.place.url else None)
    text = yield from _text(api, project, rest)
    document = api.document("/".join([project, *rest[1:]]))
    document.facts(("Branch, tag or commit", rest[0]))
    files.write(document, rest[-1], text, api.place.url, fragment=api.place.fragment)
    return document.reading()


def _thread(api: Api, project: str, kind: str, number: str) -> Asked[Reading]:
    place = ("api", "v4", "projects", project, kind, number)
    found = yield from api.object(*place)
    query = {"per_page": PAGE, "sort": "asc", "order_by": "created_at"}
    notes = yield from api.optional(api.array(*place, "notes", query=query), "comments")
    diffs = None
    if kind == "merge_requests":
        diffs = yield from api.optional(api.array(*place, "diffs", query={"per_page": PAGE}), "changed files")
    word = "issue" if kind == "issues" else "merge request"
    document = api.document(f"{found['title'].line} ({project} {word} {number})")
    document.facts(
        ("State", joined([found["state"].line, "draft" if found["draft"].raw is True else ""])),
        ("Author", found["author"]["username"].line),
        ("Opened", found["created_at"].day),
        ("Merged", found["merged_at"].day),
        ("Closed", found["closed_at"].day),
        ("From", found["source_branch"].line),
        ("Into", found["target_branch"].line),
        ("Labels", joined(label.line for label in found["labels"])),
        ("Milestone", found["milestone"]["title"].line),
        ("Assignees", joined(one["username"].line for one in found["assignees"])),
        ("Comments", found["user_notes_count"].number),
    )
    say(document, found["description"].text)
    people = [note for note in notes or () if note["system"].raw is not True]
    total = found["user_notes_count"].number if len(notes or ()) >= PAGE else None
    write(document, map(_note, people), total=total)
    _diffs(document, diffs or Value())
    return document.reading(author=found["author"]["name"].line, published=found["created_at"].date)


def _note(note: Value) -> Comment:
    at = ":".join(filter(None, (note["position"]["new_path"].line, note["position"]["new_line"].line)))
    return Comment(
        id=note["id"].line,
        author=note["author"]["username"].line,
        date=note["created_at"].date,
        body=note["body"].text,
        about=(at, "resolved" if note["resolved"].raw is True else ""),
        anchor=f"note_{note['id'].line}",
    )


def _diffs(document: Document, diffs: Value) -> None:
    if not diffs:
        return
    document.heading(2, "Changed files")
    for one in diffs:
        kind = next((word for word in ("new", "renamed", "deleted") if one[f"{word}_file"].raw is True), "modified")
        document.heading(3, f"{one['new_path'].line} ({kind})")
        document.add(fenced(one["diff"].text, "diff") if one["diff"].text else "No patch: binary, or too large.")


def _commit(api: Api, project: str, ref: str) -> Asked[Reading]:
    place = ("api", "v4", "projects", project, "repository", "commits", ref)
    found = yield from api.object(*place, holds="id")
    diffs = yield from api.optional(api.array(*place, "diff", query={"per_page": PAGE}), "changed files")
    title, _, body = found["message"].text.partition("\n")
    document = api.document(f"{title} ({project}@{found['short_id'].line or ref})")
    document.facts(
        ("Commit", found["id"].line),
        ("Author", found["author_name"].line),
        ("Date", found["authored_date"].date),
        ("Parents", joined(parent.line for parent in found["parent_ids"])),
    )
    if body.strip():
        document.add(fenced(body.strip("\n"), "text"))
    _diffs(document, diffs or Value())
    return document.reading(author=found["author_name"].line, published=found["authored_date"].date)


def _release(api: Api, project: str, tag: str) -> Asked[Reading]:
    found = yield from api.object("api", "v4", "projects", project, "releases", tag, holds="tag_name")
    document = api.document(f"{found['name'].line or tag} ({project})")
    document.facts(
        ("Tag", found["tag_name"].line),
        ("Released", found["released_at"].day),
        ("Author", found["author"]["username"].line),
        ("Commit", found["commit"]["id"].line),
    )
    document.markdown(found["description"].text)
    links = [f"[{one['name'].line}]({one['url'].line})" for one in found["assets"]["links"]]
    if links:
        document.heading(2, "Files")
        document.entries(links[:PAGE], more=len(links) - PAGE, what="more files")
    return document.reading(author=found["author"]["name"].line, published=found["released_at"].date)
