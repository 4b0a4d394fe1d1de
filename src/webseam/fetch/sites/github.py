"""GitHub: repositories, files, issues, pull requests, discussions, commits, releases, gists, advisories, Actions runs.

Source: https://docs.github.com/rest (API version 2022-11-28).
"""

from __future__ import annotations

import re
from functools import partial

from webseam.fetch.sites.base import Place, Plan, Site, SiteConfig
from webseam.fetch.sites.github_parts import actions, code, discussions, threads
from webseam.schema import Setting

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_NUMBER = re.compile(r"\d{1,10}", re.ASCII)
_REF = re.compile(r"[0-9a-f]{7,64}", re.ASCII)
# First parts of paths that are GitHub's own pages, not somebody's.
_RESERVED = frozenset(
    "about advisories apps collections contact customer-stories enterprise events explore features issues login join"
    " marketplace new notifications orgs pricing pulls search security settings site sponsors stars topics trending "
    "users watching".split()
)


class GitHub(Site):
    """Repositories, folders, files and lines of them (`#L10-L20`), issues, pull requests with reviews and changes,
    discussions, commits, comparisons, releases, Actions runs (logs with a token), advisories, gists, raw files."""

    id = "github"
    label = "GitHub"
    hosts = ("github.com", "www.github.com", "gist.github.com", "raw.githubusercontent.com")
    base_url = "https://api.github.com"
    token_env = ("GITHUB_TOKEN", "GH_TOKEN")
    settings = (
        Setting(
            name="raw_url",
            default="https://raw.githubusercontent.com",
            guarded=True,
            help="where raw files are served; used without a token",
        ),
    )

    def headers(self) -> tuple[tuple[str, str], ...]:
        return (("X-GitHub-Api-Version", "2022-11-28"),)

    def trusted(self, config: SiteConfig) -> str:
        return discussions.above(config.base_url)

    def plan(self, place: Place) -> Plan | None:
        segments = place.segments
        if place.host == "gist.github.com" or segments[:1] == ("gist",):
            key = segments[-1] if 1 <= len(segments) <= 3 else ""
            return partial(code.gist, key=key) if re.fullmatch(r"[0-9a-f]{5,40}", key) else None
        if segments[:1] == ("advisories",) and len(segments) == 2 and segments[1].startswith("GHSA-"):
            return partial(threads.advisory, key=segments[1])
        if len(segments) < 2 or segments[0] in _RESERVED or not all(_NAME.fullmatch(name) for name in segments[:2]):
            return None
        owner, name, *rest = segments
        if place.host == "raw.githubusercontent.com":
            head = 2 if rest[:1] == ["refs"] else 0  # refs/heads/NAME/path
            kept = tuple(rest[head:])
            return partial(code.blob, owner=owner, name=name, rest=kept) if len(kept) > 1 else None
        if place.query.get("tab"):
            return None
        return _below(owner, name.removesuffix(".git"), tuple(rest))


def _below(owner: str, name: str, rest: tuple[str, ...]) -> Plan | None:
    """Return the steps for a page of a repository."""
    match rest:
        case ():
            return partial(code.repository, owner=owner, name=name)
        case ("tree", ref):
            return partial(code.repository, owner=owner, name=name, ref=ref)
        case ("tree", *path):
            return partial(code.tree, owner=owner, name=name, rest=tuple(path))
        case ("blob" | "raw" | "blame", *path) if len(path) > 1:
            return partial(code.blob, owner=owner, name=name, rest=tuple(path))
        case ("issues", number) if _NUMBER.fullmatch(number):
            return partial(threads.issue, owner=owner, name=name, number=number)
        case ("pull", number) | ("pull", number, "files" | "changes" | "commits" | "checks") if _NUMBER.fullmatch(
            number
        ):
            return partial(threads.pull, owner=owner, name=name, number=number)
        case ("discussions", number) if _NUMBER.fullmatch(number):
            return partial(discussions.discussion, owner=owner, name=name, number=number)
        case ("commit", ref) | ("pull", _, "commits", ref) if _REF.fullmatch(ref):
            return partial(threads.commit, owner=owner, name=name, ref=ref)
        case ("releases",):
            return partial(threads.releases, owner=owner, name=name)
        case ("releases", "latest"):
            return partial(threads.release, owner=owner, name=name, tag=None)
        case ("releases", "tag", *tag) if tag:
            return partial(threads.release, owner=owner, name=name, tag="/".join(tag))
        case ("compare", ends) if "..." in ends:
            return partial(threads.compare, owner=owner, name=name, ends=ends)
        case ("security", "advisories", key) if key.startswith("GHSA-"):
            return partial(threads.advisory, key=key)
        case ("actions", "runs", run) | ("actions", "runs", run, "attempts", _) if _NUMBER.fullmatch(run):
            return partial(actions.run, owner=owner, name=name, key=run)
        case ("actions", "runs", run, "job", job) if _NUMBER.fullmatch(run) and _NUMBER.fullmatch(job):
            return partial(actions.run, owner=owner, name=name, key=run, job=job)
    return None
