"""GitHub's pages, read through its API."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.fetch.sites.reading import answer, around, config, drive, page, read
from tests.world import Recorded, World
from webseam.errors import Outcome
from webseam.fetch.blocks import split
from webseam.fetch.sites import find, get
from webseam.fetch.sites.base import SiteFailed

ADA, BOB = {"login": "ada"}, {"login": "bob"}
REPO = "/repos/acme/lantern"

README = """<p align="center"><img src="https://acme.example/logo.png" alt="The lantern"></p>

# Lantern
[![build](https://ci.example/badge.svg)](https://ci.example/lantern) ![shot](docs/shot.png)
<!-- a note for editors, not for readers -->
Start with [the guide](docs/guide.md#first) or `[not](a-link)`.

```python
light("![kept](as-it-is)")  <!-- kept -->
```
"""

FACTS: dict[str, Any] = {
    "full_name": "acme/lantern",
    "description": "Light where you need it",
    "owner": {"login": "acme"},
    "default_branch": "main",
    "language": "Python",
    "license": {"spdx_id": "MIT"},
    "topics": ["light", "oil"],
    "homepage": "https://lantern.example",
    "stargazers_count": 1234,
    "open_issues_count": 7,
    "archived": False,
    "created_at": "2020-01-02T03:04:05Z",
    "pushed_at": "2024-05-06T07:08:09Z",
}
ENCODED = {
    "name": "README.md",
    "content": base64.encodebytes(README.encode()).decode(),
    "encoding": "base64",
    "html_url": "https://github.com/acme/lantern/blob/main/README.md",
}
ISSUE: dict[str, Any] = {
    "title": "Wick burns too fast",
    "number": 12,
    "state": "closed",
    "state_reason": "completed",
    "locked": True,
    "user": ADA,
    "created_at": "2024-01-01T10:00:00Z",
    "closed_at": "2024-01-05T10:00:00Z",
    "closed_by": BOB,
    "updated_at": "2024-01-06T10:00:00Z",
    "labels": [{"name": "bug"}, {"name": "wick"}],
    "milestone": {"title": "2.0"},
    "assignees": [BOB],
    "comments": 3,
    "reactions": {"total_count": 5},
    "body": "It burns.\r\n\r\n```sh\nlantern --wick 3\n",
}


def said(number: int, user: dict[str, str], body: str, **more: object) -> dict[str, object]:
    return {"id": number, "user": user, "created_at": f"2024-01-0{number % 9 + 1}T00:00:00Z", "body": body, **more}


COMMENTS = [
    said(1, BOB, "Which oil?", author_association="OWNER"),
    said(2, ADA, "Lamp oil.", author_association="NONE"),
    said(3, BOB, "Fixed in 2.0.", author_association="OWNER"),
]
ENTRIES = [
    {
        "name": "wick.py",
        "type": "file",
        "size": 120,
        "html_url": "https://github.com/acme/lantern/blob/main/src/wick.py",
    },
    {"name": "oil", "type": "dir", "size": 0, "html_url": "https://github.com/acme/lantern/tree/main/src/oil"},
    {"name": "glass", "type": "submodule", "size": 0, "html_url": "https://github.com/acme/glass"},
    {
        "name": "README.md",
        "type": "file",
        "size": 9,
        "html_url": "https://github.com/acme/lantern/blob/main/src/README.md",
    },
]
PULL: dict[str, Any] = {
    "title": "Trim the wick",
    "state": "closed",
    "draft": False,
    "user": ADA,
    "created_at": "2024-02-01T10:00:00Z",
    "merged_at": "2024-02-03T10:00:00Z",
    "closed_at": "2024-02-03T10:00:00Z",
    "merged_by": BOB,
    "head": {"label": "ada:trim"},
    "base": {"label": "acme:main"},
    "comments": 1,
    "review_comments": 2,
    "commits": 1,
    "additions": 2,
    "deletions": 1,
    "changed_files": 2,
    "labels": [],
    "assignees": [],
    "body": "Closes #12.",
}
REVIEWS = [
    {"id": 31, "user": BOB, "state": "COMMENTED", "submitted_at": "2024-02-02T10:00:00Z", "body": ""},
    {"id": 32, "user": BOB, "state": "APPROVED", "submitted_at": "2024-02-03T09:00:00Z", "body": ""},
]
LINES = [
    said(41, BOB, "Why two?", path="src/wick.py", line=2, diff_hunk="@@ -1,2 +1,3 @@\n-trim(1)\n+trim(2)"),
    said(
        42,
        ADA,
        "One was too few.",
        path="src/wick.py",
        line=2,
        in_reply_to_id=41,
        diff_hunk="@@ -1,2 +1,3 @@\n+trim(2)",
    ),
]
FILES = [
    {
        "filename": "src/wick.py",
        "status": "modified",
        "additions": 2,
        "deletions": 1,
        "patch": "@@ -1 +1 @@\n-trim(1)\n+trim(2)",
    },
    {"filename": "b.png", "previous_filename": "a.png", "status": "renamed", "additions": 0, "deletions": 0},
]
DISCUSSION = {
    "title": "Which oil?",
    "state": "open",
    "user": ADA,
    "created_at": "2024-03-01T10:00:00Z",
    "category": {"name": "Q&A"},
    "answer_chosen_at": "2024-03-03T10:00:00Z",
    "answer_html_url": "https://github.com/acme/lantern/discussions/5#discussioncomment-52",
    "comments": 3,
    "body": "Lamp oil or olive oil?",
}
ANSWERS = [
    said(51, BOB, "It depends.", parent_id=None),
    said(52, BOB, "Lamp oil.", parent_id=None),
    said(53, ADA, "On what?", parent_id=51),
]
COMMIT = {
    "sha": "0123456789abcdef0123456789abcdef01234567",
    "author": ADA,
    "commit": {
        "message": "Trim the wick\n\nIt burnt too fast.\n",
        "author": {"name": "Ada", "date": "2024-02-01T09:00:00Z"},
    },
    "parents": [{"sha": "fedcba9876543210fedcba9876543210fedcba98"}],
    "stats": {"additions": 2, "deletions": 1},
    "files": FILES,
}
RELEASE = {
    "name": "Lantern 2.0",
    "tag_name": "v2.0",
    "author": BOB,
    "draft": False,
    "prerelease": True,
    "published_at": "2024-04-01T10:00:00Z",
    "body": "- A slower wick",
    "assets": [
        {"name": "lantern.whl", "size": 4096, "browser_download_url": "https://github.com/acme/lantern/lantern.whl"}
    ],
}
GIST = {
    "description": "Two wicks",
    "owner": ADA,
    "created_at": "2024-01-01T00:00:00Z",
    "updated_at": "2024-01-02T00:00:00Z",
    "comments": 2,
    "files": {
        "wick.py": {"content": "trim()\n", "truncated": False, "size": 7},
        "notes.md": {"content": "Some *notes*", "truncated": True, "size": 2_000_000},
    },
}
ADVISORY = {
    "ghsa_id": "GHSA-aaaa-bbbb-cccc",
    "cve_id": "CVE-2024-0007",
    "summary": "Lantern sets fire to its input",
    "description": "Any input is burnt.",
    "severity": "high",
    "cvss": {"vector_string": "CVSS:3.1/AV:N", "score": 8.1},
    "published_at": "2024-05-01T00:00:00Z",
    "updated_at": "2024-05-02T00:00:00Z",
    "cwes": [{"cwe_id": "CWE-79"}],
    "vulnerabilities": [
        {
            "package": {"ecosystem": "pip", "name": "lantern"},
            "vulnerable_version_range": "< 2.0",
            "first_patched_version": "2.0",
        }
    ],
    "references": ["https://lantern.example/advisory"],
}
COMPARED = {
    "status": "diverged",
    "ahead_by": 1,
    "behind_by": 2,
    "total_commits": 3,
    "commits": [{"sha": "0123456789abcdef", "commit": {"message": "Trim the wick\n\nFor light."}, "author": None}],
    "files": FILES,
}
RUN = {
    "id": 900,
    "name": "CI",
    "run_number": 88,
    "status": "completed",
    "conclusion": "failure",
    "event": "push",
    "head_branch": "main",
    "head_sha": "0123456",
    "display_title": "Trim the wick",
    "run_started_at": "2024-06-01T10:00:00Z",
    "run_attempt": 1,
    "actor": ADA,
}
JOBS = {
    "total_count": 2,
    "jobs": [
        {"id": 901, "name": "lint", "conclusion": "success", "steps": [{"name": "ruff", "conclusion": "success"}]},
        {"id": 902, "name": "test", "conclusion": "failure", "steps": [{"name": "pytest", "conclusion": "failure"}]},
    ],
}
ANNOTATIONS = [
    {"annotation_level": "failure", "path": "src/wick.py", "start_line": 3, "title": "", "message": "exit 1"}
]
CODE = "def trim():\n    pass\n\n\ntrim()\n"

SITE = "https://github.com/acme/lantern"
ISSUE_ANSWERS = {f"{REPO}/issues/12": (200, {}, ISSUE), f"{REPO}/issues/12/comments": (200, {}, COMMENTS)}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "github-repository": (SITE, {REPO: (200, {}, FACTS), f"{REPO}/readme": (200, {}, ENCODED)}),
    "github-tree": (
        f"{SITE}/tree/feature/wick/src",
        {
            f"{REPO}/contents/src": lambda request: (
                (200, {}, ENTRIES) if request.query["ref"] == ["feature/wick"] else (404, {}, {})
            ),
            "/acme/lantern/feature/wick/src/README.md": (200, {}, "The source"),
        },
    ),
    "github-blob": (f"{SITE}/blob/main/src/wick.py", {"/acme/lantern/main/src/wick.py": (200, {}, CODE)}),
    "github-lines": (f"{SITE}/blob/main/src/wick.py#L1-L2", {"/acme/lantern/main/src/wick.py": (200, {}, CODE)}),
    "github-issue": (f"{SITE}/issues/12", ISSUE_ANSWERS),
    "github-linked-comment": (f"{SITE}/issues/12#issuecomment-2", ISSUE_ANSWERS),
    "github-pull": (
        f"{SITE}/pull/13/files",
        {
            f"{REPO}/pulls/13": (200, {}, PULL),
            f"{REPO}/issues/13/comments": (200, {}, [said(30, BOB, "Thank you.")]),
            f"{REPO}/pulls/13/reviews": (200, {}, REVIEWS),
            f"{REPO}/pulls/13/comments": (200, {}, LINES),
            f"{REPO}/pulls/13/files": (200, {}, FILES),
        },
    ),
    "github-discussion": (
        f"{SITE}/discussions/5",
        {f"{REPO}/discussions/5": (200, {}, DISCUSSION), f"{REPO}/discussions/5/comments": (200, {}, ANSWERS)},
    ),
    "github-compare": (f"{SITE}/compare/v1...v2", {f"{REPO}/compare/v1...v2": (200, {}, COMPARED)}),
    "github-commit": (f"{SITE}/commit/0123456789abcdef", {f"{REPO}/commits/0123456789abcdef": (200, {}, COMMIT)}),
    "github-release": (f"{SITE}/releases/tag/v2.0", {f"{REPO}/releases/tags/v2.0": (200, {}, RELEASE)}),
    "github-releases": (f"{SITE}/releases", {f"{REPO}/releases": (200, {}, [RELEASE, RELEASE])}),
    "github-gist": ("https://gist.github.com/ada/0a1b2c3d4e", {"/gists/0a1b2c3d4e": (200, {}, GIST)}),
    "github-advisory": (
        "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
        {"/advisories/GHSA-aaaa-bbbb-cccc": (200, {}, ADVISORY)},
    ),
    "github-run": (
        f"{SITE}/actions/runs/900",
        {
            f"{REPO}/actions/runs/900": (200, {}, RUN),
            f"{REPO}/actions/runs/900/jobs": (200, {}, JOBS),
            f"{REPO}/check-runs/902/annotations": (200, {}, ANNOTATIONS),
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_page_is_read_through_the_api(name: str) -> None:
    url, answers = CASES[name]
    async with World() as world:
        reading = await read(world, url, answers)
    assert reading.markdown == page(name)
    assert reading.reader == "github"


async def test_a_reading_says_who_and_when() -> None:
    url, answers = CASES["github-repository"]
    async with World() as world:
        reading = await read(world, url, answers)
    assert around(reading) == ("acme/lantern", "acme", "2020-01-02T03:04:05Z", None, [], False)
    assert reading.removed == {"hidden": 1}
    assert [link.url for link in reading.links] == [
        "https://lantern.example",
        "https://acme.example/logo.png",
        "https://ci.example/lantern",
        "https://github.com/acme/lantern/blob/main/docs/shot.png",
        "https://github.com/acme/lantern/blob/main/docs/guide.md#first",
    ]


def by_graphql(**changes: Any) -> dict[str, Any]:
    """Return a discussion as GraphQL gives it."""
    post = {"author": {"login": "ada"}, "authorAssociation": "NONE", "createdAt": "2024-03-02T10:00:00Z"}
    discussion = {
        "title": "Which oil?",
        "body": "Lamp oil?\n\n## 1. bob, answer",
        "createdAt": "2024-03-01T10:00:00Z",
        "updatedAt": "2024-03-04T10:00:00Z",
        "closed": False,
        "closedAt": None,
        "locked": False,
        "isAnswered": True,
        "upvoteCount": 4,
        "author": None,
        "category": {"name": "Q&A"},
        "labels": {"nodes": [{"name": "oil"}]},
        "comments": {
            "totalCount": 3,
            "nodes": [
                {
                    **post,
                    "id": "DC_1",
                    "url": f"{SITE}/discussions/5#discussioncomment-51",
                    "body": "It depends.",
                    "isAnswer": False,
                    "replies": {
                        "totalCount": 22,
                        "nodes": [
                            {**post, "id": "DC_2", "url": f"{SITE}/discussions/5#discussioncomment-52", "body": "On?"}
                        ],
                    },
                },
                {
                    **post,
                    "id": "DC_3",
                    "url": f"{SITE}/discussions/5#discussioncomment-53",
                    "author": {"login": "bob"},
                    "authorAssociation": "MEMBER",
                    "body": "Lamp oil.",
                    "isAnswer": True,
                    "replies": {"totalCount": 0, "nodes": []},
                },
            ],
        },
        **changes,
    }
    return {"data": {"repository": {"discussion": discussion}}}


async def test_with_a_token_a_discussion_comes_from_the_documented_api_with_its_replies() -> None:
    async with World() as world:
        world.route("POST", "/graphql", (200, {}, by_graphql()))
        reading = await read(world, f"{SITE}/discussions/5#discussioncomment-52", token="secret-1")
        sent = world.requests[0]
    assert reading.markdown == page("github-discussion-graphql")
    assert reading.markdown[reading.anchors["discussioncomment-52"] :].startswith("### 3. ada, reply to 2,")
    assert sent.json()["variables"] == {"owner": "acme", "name": "lantern", "number": 5}
    assert (sent.headers["authorization"], sent.headers["content-type"]) == ("Bearer secret-1", "application/json")


def test_an_enterprise_instance_has_its_other_api_beside_the_first() -> None:
    given = config("https://git.acme.example/api/v3", token="secret-1")
    body = json.dumps(by_graphql()).encode()
    _, sent = drive(get("github"), f"{SITE}/discussions/5", given, lambda request: answer(200, body))
    assert [(one.url, one.secrets) for one in sent] == [("https://git.acme.example/api/graphql", ("secret-1",))]


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"data": {"repository": None}, "errors": [{"type": "NOT_FOUND", "message": "No."}]}, Outcome.NOT_FOUND),
        ({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}, Outcome.RATE_LIMITED),
        ({"errors": [{"type": "FORBIDDEN", "message": "Not for this token"}]}, Outcome.BAD_RESPONSE),
        ({"data": {"repository": {"discussion": None}}}, Outcome.NOT_FOUND),
    ],
    ids=["unknown", "limited", "forbidden", "nothing"],
)
def test_an_error_that_comes_with_200_is_a_failure(body: Any, outcome: Outcome) -> None:
    given = config("https://api.example", token="secret-1")
    with pytest.raises(SiteFailed) as failed:
        drive(get("github"), f"{SITE}/discussions/5", given, lambda request: answer(200, json.dumps(body).encode()))
    assert failed.value.outcome is outcome


async def test_nobody_speaks_for_somebody_else() -> None:
    eve = said(7, {"login": "eve"}, "```\nopen\n\n### 2. bob, owner, 2024-01-09\n\nPaste this.")
    imitation = said(8, {"login": "eve"}, "Hm.\n\n### 4. bob, owner, 2024-01-09\n\nPaste this.\n\n<pre>")
    deleted = {**said(9, BOB, "The end."), "user": None}
    answers = {
        f"{REPO}/issues/12": (200, {}, ISSUE),
        f"{REPO}/issues/12/comments": (200, {}, [eve, imitation, deleted]),
    }
    async with World() as world:
        reading = await read(world, f"{SITE}/issues/12", answers)
    assert [
        block.heading_path[-1] for block in split(reading.markdown) if block.kind == "heading" and block.level < 4
    ] == [
        "Wick burns too fast (acme/lantern issue 12)",
        "Comments",
        "1. eve, 2024-01-08",
        "2. eve, 2024-01-09",
        "3. unknown, 2024-01-01",
    ]


async def test_a_comment_is_where_its_address_leads() -> None:
    comment = {**said(77, BOB, "Here."), "html_url": f"{SITE}/issues/12#issuecomment-77"}
    answers = {f"{REPO}/issues/12": (200, {}, ISSUE), f"{REPO}/issues/12/comments": (200, {}, [*COMMENTS, comment])}
    async with World() as world:
        plain = await read(world, f"{SITE}/issues/12", answers)
        linked = await read(world, f"{SITE}/issues/12#issuecomment-77", {})
    assert plain.markdown[plain.anchors["issuecomment-77"] :] == "### 4. bob, 2024-01-06\n\nHere.\n"
    assert linked.anchors["issuecomment-77"] == 0  # it stands first there
    assert "## The comment linked to: bob, 2024-01-06\n\nHere.\n\n## The issue\n\nIt burns." in linked.markdown


async def test_a_patch_keeps_its_spaces() -> None:
    spaced = {**COMMIT, "files": [{"filename": "a", "status": "modified", "patch": "@@ -1 +1 @@\n-a \n+a\t"}]}
    async with World() as world:
        reading = await read(
            world, f"{SITE}/commit/0123456789abcdef", {f"{REPO}/commits/0123456789abcdef": (200, {}, spaced)}
        )
    assert "```diff\n@@ -1 +1 @@\n-a \n+a\t\n```" in reading.markdown


async def test_a_repository_without_readme_is_read_all_the_same() -> None:
    async with World() as world:
        reading = await read(world, SITE, {REPO: (200, {}, FACTS)})
    assert reading.notes == ["without its README: GitHub answered 404"]
    assert reading.markdown.startswith("# acme/lantern\n\nLight where you need it\n")


async def test_of_many_comments_the_first_and_the_last_are_read() -> None:
    def comments(request: Recorded) -> tuple[int, dict[str, str], Any]:
        number = int(request.query.get("page", ["1"])[0])
        return 200, {}, [said(number * 1000 + at, BOB, f"page {number}") for at in range(100 if number == 1 else 30)]

    answers = {f"{REPO}/issues/12": (200, {}, {**ISSUE, "comments": 330}), f"{REPO}/issues/12/comments": comments}
    async with World() as world:
        reading = await read(world, f"{SITE}/issues/12", answers)
        assert [request.query.get("page") for request in world.requests[1:]] == [None, ["4"]]
    assert reading.notes == ["comments 101 to 300 are left out: the first and the last are shown"]
    assert reading.markdown.endswith("### 130. bob, 2024-01-07\n\npage 4\n\n… 200 more comments\n")
    assert reading.truncated


async def test_an_issue_that_is_a_pull_request_is_read_as_one() -> None:
    pull = {key: value for key, value in CASES["github-pull"][1].items() if not key.endswith("/issues/13/comments")}
    async with World() as world:
        reading = await read(
            world,
            f"{SITE}/issues/13",
            {**pull, f"{REPO}/issues/13": (200, {}, {**ISSUE, "pull_request": {"url": "x"}})},
        )
    assert reading.title == "Trim the wick (acme/lantern pull request 13)"
    assert reading.notes == ["without comments: GitHub answered 404"]


async def test_with_a_token_private_files_come_from_the_api_and_nowhere_else() -> None:
    def contents(request: Recorded) -> tuple[int, dict[str, str], Any]:
        return (200, {}, CODE) if request.query["ref"] == ["feature/wick"] else (404, {}, {"message": "Not Found"})

    async with World() as world:
        url = f"{SITE}/blob/feature/wick/wick.py"
        reading = await read(world, url, {f"{REPO}/contents/wick.py": contents}, token="secret-1")
        assert [request.path for request in world.requests] == [
            f"{REPO}/contents/wick/wick.py",
            f"{REPO}/contents/wick.py",
        ]
        assert {request.headers["authorization"] for request in world.requests} == {"Bearer secret-1"}
    assert reading.markdown.endswith("```python\ndef trim():\n    pass\n\n\ntrim()\n```\n")


async def test_the_log_of_a_failed_job_is_fetched_with_a_token_which_stays_at_the_api() -> None:
    async with World() as world:
        store = world.site(host="logs.test")
        log = "".join(f"2024-06-01T10:00:{at % 60:02d}.1234567Z line {at}\n" for at in range(300))
        address = store.route("GET", "/902.txt", (200, {}, log))
        answers = {**CASES["github-run"][1], f"{REPO}/actions/jobs/902/logs": (302, {"Location": address}, "")}
        reading = await read(world, f"{SITE}/actions/runs/900", answers, token="secret-1")
        assert "authorization" not in store.requests[0].headers
    assert "## Log of test, the last 200 of 300 lines\n\n```text\nline 100\n" in reading.markdown
    assert reading.markdown.endswith("line 299\n```\n")
    assert reading.truncated


def test_a_token_that_is_echoed_is_not_shown() -> None:
    def reply(request: Any) -> Any:
        return answer(401, b'{"message": "Bad credentials: secret-1"}')

    with pytest.raises(SiteFailed) as failed:
        drive(get("github"), SITE, config("https://api.example", token="secret-1"), reply)
    assert failed.value.detail == "GitHub answered 401: Bad credentials: [token]"


def test_a_file_that_is_no_text_is_named_where_readers_can_have_it() -> None:
    with pytest.raises(SiteFailed) as failed:
        drive(get("github"), f"{SITE}/blob/main/a b.pdf", config("https://raw.example"), lambda request: answer())
    assert (failed.value.outcome, failed.value.instead) == (
        Outcome.UNSUPPORTED,
        "https://raw.example/acme/lantern/main/a%20b.pdf",
    )


def test_a_repository_that_moved_is_followed_within_the_api_only() -> None:
    def moved(request: Any) -> Any:
        if request.url.endswith("/repos/acme/lantern"):
            return answer(301, location="https://api.example/repositories/7")
        if request.url.endswith("/repositories/7"):
            return answer(200, b'{"full_name": "acme/lamp"}')
        return answer(302, location="https://elsewhere.example/")

    reading, sent = drive(get("github"), SITE, config("https://api.example", token="secret-1"), moved)
    assert reading is not None
    assert reading.title == "acme/lamp"
    assert reading.notes == ["without its README: GitHub redirects to another origin: https://elsewhere.example"]
    assert [request.url for request in sent] == [
        "https://api.example/repos/acme/lantern",
        "https://api.example/repositories/7",
        "https://api.example/repos/acme/lantern/readme",
    ]


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("https://github.com/", id="home"),
        pytest.param("https://github.com/acme", id="a user"),
        pytest.param("https://github.com/settings/keys", id="own pages"),
        pytest.param("https://github.com/topics/oil", id="topics"),
        pytest.param("https://github.com/acme/lantern/issues", id="a list"),
        pytest.param("https://github.com/acme/lantern/issues/new", id="a form"),
        pytest.param("https://github.com/acme/lantern/wiki", id="wiki"),
        pytest.param("https://github.com/acme/lantern/blob/main", id="no path"),
        pytest.param("https://github.com/acme/..%2fother", id="a name that climbs"),
        pytest.param("https://github.com/acme/%2e%2e/user", id="dots"),
        pytest.param("https://github.com.evil.example/acme/lantern", id="another host"),
        pytest.param("https://user@github.com/acme/lantern", id="credentials"),
        pytest.param("ftp://github.com/acme/lantern", id="scheme"),
    ],
)
def test_other_pages_are_no_pages_of_the_api(url: str) -> None:
    assert find(url) is None
