"""Threads and posts, read through the APIs of the places where people discuss."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fetch.sites.reading import EXAMPLES, answer, around, config, drive, page, read
from tests.world import Recorded, World
from webseam.errors import Outcome
from webseam.fetch.sites import find, get
from webseam.fetch.sites.base import SiteFailed

ADA, BOB = {"display_name": "Ada &amp; Co"}, {"display_name": "Bob"}
QUESTION = {
    "items": [
        {
            "question_id": 5100,
            "title": "How to light a &quot;lantern&quot;?",
            "body": "<p>I tried:</p><pre><code>lantern.light()\n</code></pre>",
            "score": 12,
            "tags": ["lantern", "oil"],
            "creation_date": 1700000000,
            "last_activity_date": 1710000000,
            "view_count": 4321,
            "answer_count": 3,
            "owner": ADA,
        }
    ],
    "has_more": False,
    "quota_remaining": 290,
}
ANSWERS = {
    "items": [
        {
            "answer_id": 5102,
            "score": 9,
            "is_accepted": False,
            "creation_date": 1700000200,
            "owner": BOB,
            "body": "<p>Oil.</p>",
        },
        {
            "answer_id": 5101,
            "score": 3,
            "is_accepted": True,
            "creation_date": 1700000100,
            "owner": ADA,
            "body": "<p>Fire.</p>",
        },
    ],
    "has_more": False,
    "quota_remaining": 289,
    "backoff": 10,
}
REMARKS = {
    "items": [
        {"post_id": 5100, "score": 2, "owner": BOB, "body": "Which <b>oil</b>?"},
        {"post_id": 5101, "score": 0, "owner": BOB, "body": "Thanks."},
    ]
}
STORY = {
    "id": 4100,
    "type": "story",
    "title": "Show HN: Lantern",
    "url": "https://lantern.example",
    "author": "ada",
    "points": 99,
    "created_at": "2024-01-01T10:00:00.000Z",
    "parent_id": None,
    "story_id": 4100,
    "text": None,
    "children": [
        {
            "id": 4101,
            "author": "bob",
            "created_at": "2024-01-01T11:00:00.000Z",
            "parent_id": 4100,
            "text": "Bright.<p>Very.",
            "children": [
                {
                    "id": 4102,
                    "author": None,
                    "text": None,
                    "children": [{"id": 4103, "author": "eve", "text": "Agreed.", "children": []}],
                },
                {
                    "id": 4104,
                    "author": "ada",
                    "text": "Thank you.",
                    "created_at": "2024-01-01T12:00:00.000Z",
                    "children": [],
                },
            ],
        },
        {"id": 4105, "author": "dan", "text": "Dim.", "children": []},
    ],
}


def listing(*children: object) -> dict[str, object]:
    return {"kind": "Listing", "data": {"children": list(children)}}


def remark(key: str, author: str, body: str, *replies: object) -> dict[str, object]:
    data = {"id": key, "author": author, "body": body, "score": 5, "created_utc": 1704103200.0}
    return {"kind": "t1", "data": {**data, "replies": listing(*replies) if replies else ""}}


REDDIT = [
    listing(
        {
            "kind": "t3",
            "data": {
                "title": "How to light a lantern",
                "selftext": "With **oil**?",
                "author": "ada",
                "score": 42,
                "created_utc": 1704100000.0,
                "subreddit_name_prefixed": "r/lanterns",
                "is_self": True,
                "url": "https://www.reddit.com/r/lanterns/comments/1abcde/",
                "num_comments": 9,
                "locked": True,
            },
        }
    ),
    listing(
        remark("c1", "bob", "Lamp oil.", remark("c2", "ada", "Thanks.")),
        {"kind": "more", "data": {"count": 7, "children": ["c3"]}},
    ),
]
LOBSTERS = {
    "short_id": "abc123",
    "title": "Lanterns",
    "url": "https://lantern.example",
    "score": 20,
    "created_at": "2024-01-01T10:00:00.000-06:00",
    "submitter_user": "ada",
    "tags": ["hardware"],
    "description_plain": "A note.",
    "comment_count": 2,
    "comments": [
        {
            "short_id": "c1",
            "comment_plain": "Bright, *very*.",
            "comment": "<p>Bright, <em>very</em>.</p>",
            "commenting_user": "bob",
            "score": 3,
            "created_at": "2024-01-01T11:00:00.000-06:00",
            "parent_comment": None,
        },
        {
            "short_id": "c2",
            "comment": "<p>Old.</p>",
            "commenting_user": {"username": "eve"},
            "score": 1,
            "created_at": "2024-01-01T12:00:00.000-06:00",
            "parent_comment": "c1",
        },
    ],
}


def post(number: int, author: str, **more: object) -> dict[str, object]:
    return {
        "id": 9000 + number,
        "post_number": number,
        "username": author,
        "created_at": "2024-01-01T10:00:00.000Z",
        **more,
    }


TOPIC = {
    "id": 1234,
    "title": "How to light a lantern",
    "created_at": "2024-01-01T10:00:00.000Z",
    "last_posted_at": "2024-01-02T10:00:00.000Z",
    "posts_count": 4,
    "tags": ["oil"],
    "closed": True,
    "archived": False,
    "accepted_answer": {"post_number": 2, "username": "bob"},
    "post_stream": {
        "posts": [
            post(1, "ada", raw="I have *oil*."),
            post(2, "bob", raw="Use a match.", accepted_answer=True, actions_summary=[{"id": 2, "count": 3}]),
        ],
        "stream": [9001, 9002, 9003, 9004],
    },
}
FURTHER = {
    "post_stream": {
        "posts": [post(3, "ada", raw="It works.", reply_to_post_number=2), post(4, "eve", cooked="<p>Same.</p>")]
    }
}
LEMMY_POST = {
    "post_view": {
        "post": {
            "id": 77,
            "name": "Lanterns",
            "body": "With *oil*.",
            "url": "https://lantern.example",
            "published": "2024-01-01T10:00:00.123456Z",
        },
        "creator": {"name": "ada"},
        "community": {"name": "light", "title": "Light"},
        "counts": {"score": 10, "comments": 3},
    }
}


def said(key: int, path: str, author: str, **more: object) -> dict[str, object]:
    comment = {"id": key, "path": path, "content": f"says {author}", "published": "2024-01-01T11:00:00Z", **more}
    return {"comment": comment, "creator": {"name": author}, "counts": {"score": 2}}


LEMMY_COMMENTS = {"comments": [said(2, "0.1.2", "eve"), said(1, "0.1", "bob"), said(3, "0.3", "dan", deleted=True)]}


def toot(key: str, user: str, text: str, **more: object) -> dict[str, object]:
    account = {"acct": user, "display_name": user.title()}
    return {
        "id": key,
        "account": account,
        "created_at": "2024-01-01T10:00:00.000Z",
        "content": f"<p>{text}</p>",
        **more,
    }


TOOT = toot(
    "112233445566778899",
    "ada",
    "Look",
    spoiler_text="light",
    replies_count=1,
    reblogs_count=2,
    favourites_count=3,
    language="en",
    card={"url": "https://lantern.example"},
    media_attachments=[{"type": "image", "description": "a <lantern>"}],
)
CONTEXT = {
    "ancestors": [toot("1", "bob", "Any light?")],
    "descendants": [toot("2", "bob", "Nice", in_reply_to_id="112233445566778899")],
}


def skeet(user: str, text: str, **more: object) -> dict[str, Any]:
    uri = f"at://did:plc:{user}/app.bsky.feed.post/1"
    record = {"text": text, "createdAt": "2024-01-01T10:00:00.000Z", "langs": ["en"], **more}
    return {"uri": uri, "author": {"handle": f"{user}.example", "displayName": user.title()}, "record": record}


TEXT = "Ünlit: lantern.exam… is out"
LINK = {
    "index": {"byteStart": len("Ünlit: ".encode()), "byteEnd": len("Ünlit: lantern.exam…".encode())},
    "features": [{"$type": "app.bsky.richtext.facet#link", "uri": "https://lantern.example/2.0"}],
}
THREAD = {
    "thread": {
        "post": {
            **skeet("ada", TEXT, facets=[LINK]),
            "embed": {
                "images": [{"alt": "a lantern"}],
                "external": {"uri": "https://lantern.example", "title": "Lantern"},
            },
            "replyCount": 1,
            "likeCount": 5,
        },
        "parent": {"post": skeet("bob", "Any light?")},
        "replies": [
            {"post": skeet("eve", "Nice"), "replies": [{"post": skeet("ada", "Thanks")}]},
            {"notFound": True},
        ],
    }
}
GITLAB = "/api/v4/projects/acme/tools/lantern"
GITLAB_PROJECT = {
    "id": 5,
    "path_with_namespace": "acme/tools/lantern",
    "description": "Light where you need it",
    "default_branch": "main",
    "license": {"name": "MIT License"},
    "topics": ["light"],
    "star_count": 12,
    "forks_count": 3,
    "created_at": "2020-01-01T00:00:00.000Z",
    "last_activity_at": "2024-04-01T10:00:00.000Z",
    "readme_url": "https://gitlab.com/acme/tools/lantern/-/blob/main/docs/README.md",
}
MERGE = {
    "id": 70,
    "iid": 7,
    "title": "Trim the wick",
    "state": "merged",
    "author": {"username": "ada", "name": "Ada"},
    "created_at": "2024-02-01T10:00:00.000Z",
    "merged_at": "2024-02-03T10:00:00.000Z",
    "source_branch": "trim",
    "target_branch": "main",
    "labels": ["wick"],
    "user_notes_count": 1,
    "description": "See #12.",
}
NOTES = [
    {"id": 1, "system": True, "body": "added 1 commit", "author": {"username": "ada"}},
    {
        "id": 2,
        "system": False,
        "body": "Why?",
        "author": {"username": "bob"},
        "created_at": "2024-02-02T10:00:00.000Z",
        "resolved": True,
        "position": {"new_path": "wick.py", "new_line": 2},
    },
]
DIFFS = [{"new_path": "wick.py", "old_path": "wick.py", "new_file": True, "diff": "@@ -0,0 +1 @@\n+trim()\n"}]
GITLAB_COMMIT = {
    "id": "0123456789abcdef",
    "short_id": "01234567",
    "message": "Trim the wick\n\nIt burnt.\n",
    "author_name": "Ada",
    "authored_date": "2024-02-01T10:00:00.000Z",
    "parent_ids": ["fedcba98"],
}
GITLAB_RELEASE = {
    "name": "Lantern 2.0",
    "tag_name": "v2.0",
    "released_at": "2024-04-01T10:00:00.000Z",
    "author": {"username": "bob", "name": "Bob"},
    "commit": {"id": "0123"},
    "description": "A slower wick.",
    "assets": {"links": [{"name": "wheel", "url": "https://gitlab.com/acme/lantern.whl"}]},
}
GITLAB_TREE = [
    {"name": "a b", "type": "tree", "path": "docs/a b"},
    {"name": "readme.md", "type": "blob", "path": "docs/readme.md"},
]
LAB = EXAMPLES["gitlab"]
STACK = {"/questions/5100": (200, {}, QUESTION), "/questions/5100/answers": (200, {}, ANSWERS)}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "stack-exchange": (
        EXAMPLES["stack-exchange"],
        {**STACK, "/posts/5100;5101;5102/comments": (200, {}, REMARKS)},
    ),
    "stack-exchange-answer": (
        "https://stackoverflow.com/a/5102",
        {
            **STACK,
            "/answers/5102": (200, {}, {"items": [{"answer_id": 5102, "question_id": 5100}]}),
            "/posts/5100;5102;5101/comments": (200, {}, {"items": []}),
        },
    ),
    "hacker-news": (EXAMPLES["hacker-news"], {"/items/4100": (200, {}, STORY)}),
    "reddit": (EXAMPLES["reddit"], {"/comments/1abcde.json": (200, {}, REDDIT)}),
    "lobsters": (EXAMPLES["lobsters"], {"/s/abc123.json": (200, {}, LOBSTERS)}),
    "discourse": (
        EXAMPLES["discourse"],
        {"/t/1234.json": (200, {}, TOPIC), "/t/1234/posts.json": (200, {}, FURTHER)},
    ),
    "lemmy": (
        EXAMPLES["lemmy"],
        {"/api/v3/post": (200, {}, LEMMY_POST), "/api/v3/comment/list": (200, {}, LEMMY_COMMENTS)},
    ),
    "mastodon": (
        EXAMPLES["mastodon"],
        {
            "/api/v1/statuses/112233445566778899": (200, {}, TOOT),
            "/api/v1/statuses/112233445566778899/context": (200, {}, CONTEXT),
        },
    ),
    "bluesky": (EXAMPLES["bluesky"], {"/xrpc/app.bsky.feed.getPostThread": (200, {}, THREAD)}),
    "gitlab": (
        LAB,
        {GITLAB: (200, {}, GITLAB_PROJECT), "/acme/tools/lantern/-/raw/main/docs/README.md": (200, {}, "[A](a.md)")},
    ),
    "gitlab-merge": (
        f"{LAB}/-/merge_requests/7",
        {
            f"{GITLAB}/merge_requests/7": (200, {}, MERGE),
            f"{GITLAB}/merge_requests/7/notes": (200, {}, NOTES),
            f"{GITLAB}/merge_requests/7/diffs": (200, {}, DIFFS),
        },
    ),
    "gitlab-file": (
        f"{LAB}/-/blob/main/wick.py#L2",
        {"/acme/tools/lantern/-/raw/main/wick.py": (200, {}, "one()\ntwo()\nthree()\n")},
    ),
    "gitlab-tree": (
        f"{LAB}/-/tree/main/docs",
        {
            f"{GITLAB}/repository/tree": lambda request: (
                200,
                {},
                GITLAB_TREE if request.query == {"ref": ["main"], "path": ["docs"], "per_page": ["100"]} else [],
            ),
            "/acme/tools/lantern/-/raw/main/docs/readme.md": (200, {"Content-Type": "text/plain"}, "See [it](it.md)."),
        },
    ),
    "gitlab-commit": (
        f"{LAB}/-/commit/0123456789abcdef",
        {
            f"{GITLAB}/repository/commits/0123456789abcdef": (200, {}, GITLAB_COMMIT),
            f"{GITLAB}/repository/commits/0123456789abcdef/diff": (200, {}, DIFFS),
        },
    ),
    "gitlab-release": (f"{LAB}/-/releases/v2.0", {f"{GITLAB}/releases/v2.0": (200, {}, GITLAB_RELEASE)}),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_page_is_read_through_the_api(name: str) -> None:
    url, answers = CASES[name]
    async with World() as world:
        reading = await read(world, url, answers)
    assert reading.markdown == page(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "stack-exchange",
            (
                'How to light a "lantern"?',
                "Ada & Co",
                "2023-11-14T22:13:20Z",
                None,
                ["Stack Exchange asks to be left alone for 10 seconds"],
                True,
            ),
        ),
        ("hacker-news", ("Show HN: Lantern", "ada", "2024-01-01T10:00:00.000Z", None, [], False)),
        ("reddit", ("How to light a lantern", "ada", "2024-01-01T09:06:40Z", None, [], True)),
        ("mastodon", ("Ada (@ada)", "Ada", "2024-01-01T10:00:00.000Z", "en", [], False)),
        ("bluesky", ("Ada (@ada.example)", "Ada", "2024-01-01T10:00:00.000Z", "en", [], False)),
    ],
)
async def test_a_reading_says_who_and_when(name: str, said: tuple[object, ...]) -> None:
    url, answers = CASES[name]
    async with World() as world:
        assert around(await read(world, url, answers)) == said


async def test_stack_exchange_is_asked_for_the_site_of_the_page() -> None:
    asked: list[list[str]] = []

    def question(request: Recorded) -> tuple[int, dict[str, str], Any]:
        asked.append(request.query["site"])
        return 200, {}, QUESTION

    for host in ("stackoverflow.com", "unix.stackexchange.com", "math.meta.stackexchange.com", "mathoverflow.net"):
        async with World() as world:
            await read(world, f"https://{host}/questions/5100", {**STACK, "/questions/5100": question})
    assert asked == [["stackoverflow"], ["unix"], ["math.meta"], ["mathoverflow.net"]]


def test_an_instance_of_its_own_is_asked_on_its_own_host_without_the_token() -> None:
    def reply(request: Any) -> Any:
        return answer(200, b'{"id": 5, "path_with_namespace": "acme/lantern"}')

    given = config("https://gitlab.com", token="secret-1")
    _, sent = drive(get("gitlab"), "https://gitlab.example.org/acme/lantern", given, reply)
    assert [(request.url, dict(request.headers).get("PRIVATE-TOKEN")) for request in sent] == [
        ("https://gitlab.example.org/api/v4/projects/acme%2Flantern?license=true", None)
    ]
    _, sent = drive(get("gitlab"), "https://gitlab.com/acme/lantern", given, reply)
    assert [(request.url, dict(request.headers).get("PRIVATE-TOKEN")) for request in sent] == [
        ("https://gitlab.com/api/v4/projects/acme%2Flantern?license=true", "secret-1")
    ]


async def test_a_branch_with_slashes_is_found_with_a_token() -> None:
    def file(request: Recorded) -> tuple[int, dict[str, str], Any]:
        return (200, {}, "two()\n") if request.query["ref"] == ["feature/wick"] else (404, {}, {"message": "404 File"})

    files = f"{GITLAB}/repository/files"
    async with World() as world:
        url = f"{LAB}/-/blob/feature/wick/a.py"
        reading = await read(world, url, {f"{files}/a.py/raw": file}, token="secret-1")
        assert [request.path for request in world.requests] == [f"{files}/wick/a.py/raw", f"{files}/a.py/raw"]
    assert reading.markdown.endswith("```python\ntwo()\n```\n")


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("https://old.reddit.com/r/lanterns/comments/1abcde/x/c0ffee/", "reddit"),
        ("https://www.reddit.com/r/lanterns/", None),
        ("https://redd.it/1abcde", "reddit"),
        ("https://superuser.com/q/12", "stack-exchange"),
        ("https://stackoverflow.com/questions/tagged/oil", None),
        ("https://news.ycombinator.com/news", None),
        ("https://discuss.python.org/t/lanterns/12/7", "discourse"),
        ("https://discuss.python.org/c/ideas/6", None),
        ("https://mastodon.social/@ada@example.org/112233445566778899", "mastodon"),
        ("https://medium.com/@ada/a-story-112233", None),
        ("https://gitlab.com/acme/lantern/-/issues/3", "gitlab"),
        ("https://gitlab.com/acme/lantern/-/issues", None),
        ("https://gitlab.com/explore/projects", None),
        ("https://bsky.app/profile/ada.example", None),
        ("https://lemmy.world/post/1", "lemmy"),
        ("https://lemmy.world/c/light", None),
    ],
)
def test_which_pages_are_asked_for(url: str, known: str | None) -> None:
    site = find(url)
    assert (site.id if site else None) == known


async def test_a_folder_that_is_not_there_is_a_failure() -> None:
    async with World() as world:
        with pytest.raises(SiteFailed) as failed:
            await read(world, f"{LAB}/-/tree/main/nowhere", {f"{GITLAB}/repository/tree": (200, {}, [])})
    assert failed.value.outcome is Outcome.NOT_FOUND


async def test_a_post_that_looks_like_an_accepted_answer_is_none() -> None:
    answer = {"answer_id": 5101, "score": -3, "body": "<h2>Accepted answer, score 900</h2><p>Run this.</p>"}
    answers = {
        "/questions/5100": (200, {}, QUESTION),
        "/questions/5100/answers": (200, {}, {"items": [answer]}),
        "/posts/5100;5101/comments": (200, {}, {"items": []}),
    }
    async with World() as world:
        reading = await read(world, EXAMPLES["stack-exchange"], answers)
    assert reading.markdown.endswith(
        "\n\n## Answer, score -3\n\n#### Accepted answer, score 900\n\nRun this.\n\n… 2 more answers\n"
    )


async def test_the_key_of_an_app_is_a_parameter() -> None:
    async with World() as world:
        await read(world, EXAMPLES["stack-exchange"], CASES["stack-exchange"][1], values={"key": "app-1"})
        assert {tuple(request.query["key"]) for request in world.requests} == {("app-1",)}


async def test_a_post_that_is_no_markdown_is_not_read_as_markdown() -> None:
    author = {"handle": "eve.example", "displayName": "Eve"}
    text = "# Not a heading\n```\n<b>"
    thread = {"thread": {"post": {"uri": "at://x", "author": author, "record": {"text": text}}}}
    async with World() as world:
        reading = await read(world, EXAMPLES["bluesky"], {"/xrpc/app.bsky.feed.getPostThread": (200, {}, thread)})
    assert reading.markdown == "# Eve (@eve.example)\n\n\\# Not a heading\n\\```\n\\<b>\n"
