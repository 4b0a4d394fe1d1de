"""The HTTP cache in the client, against a real server: what is kept, for how long, for whom, and that each hop is
judged before anything kept is given out.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import threading
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.world import NEVER, World, answer_bytes, reply, soon
from tests.world.proxies import HttpProxy
from tests.world.server import Connection, Recorded
from webseam.errors import EgressDenied, Outcome, TransportError
from webseam.net import cache as module
from webseam.net.cache import ResponseCache
from webseam.net.client import Client, Request, Response
from webseam.net.message import CacheUse
from webseam.net.policy import EgressPolicy

START = 1_800_000_000.0  # seconds since the epoch
DAY = 86_400
TAG = ("ETag", '"one"')
OLD = ("Last-Modified", formatdate(START - 100 * DAY, usegmt=True))  # a tenth of it is more than a day
YOUNG = ("Last-Modified", formatdate(START - 1000, usegmt=True))


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


def date(seconds: float) -> str:
    """Return a moment after the start as HTTP writes it."""
    return formatdate(START + seconds, usegmt=True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(tmp_path: Path, clock: Clock) -> Iterator[ResponseCache]:
    cache = ResponseCache(tmp_path / "cache" / "pages.sqlite", clock=clock, warn=pytest.fail)
    yield cache
    cache.close()


async def get(
    world: World, client: Client, url: str, *headers: tuple[str, str], cache: CacheUse = "use", **request: Any
) -> Response:
    return await world.send("GET", url, client=client, headers=headers, cache=cache, **request)


class Page:
    """A page that knows its validators: a handler for a route."""

    def __init__(self, status: int, *headers: tuple[str, str], body: str = "page") -> None:
        self.status = status
        self.headers = list(headers)
        self.body = body

    def __call__(self, request: Recorded) -> tuple[int, list[tuple[str, str]], str]:
        own = {name.lower(): value for name, value in self.headers}
        tag, changed = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
        holds = tag == own["etag"] if tag and "etag" in own else changed is not None and changed == own["last-modified"]
        return (304, self.headers, "") if holds else (self.status, self.headers, self.body)


def conditional(request: Recorded) -> bool:
    return bool({"if-none-match", "if-modified-since"} & request.headers.keys())


CC = "Cache-Control"


@pytest.mark.parametrize(
    ("status", "headers", "wait", "expected"),
    [
        pytest.param(200, [(CC, "max-age=60")], 59, "fresh", id="max-age"),
        pytest.param(200, [(CC, "max-age=60")], 60, "fetched", id="max-age over"),
        pytest.param(200, [(CC, "max-age=60"), TAG], 60, "validated", id="max-age over, with a tag"),
        pytest.param(200, [(CC, "max-age=60"), OLD], 60, "validated", id="max-age over, with a date"),
        pytest.param(200, [(CC, "max-age=0"), TAG], 0, "validated", id="max-age of nothing"),
        pytest.param(200, [(CC, "MAX-AGE=60")], 59, "fresh", id="upper case"),
        pytest.param(200, [(CC, 'max-age="60"')], 59, "fresh", id="quoted"),
        pytest.param(200, [(CC, 'note="no-store, no-cache", max-age=60')], 59, "fresh", id="words in a quoted string"),
        pytest.param(200, [(CC, "max-age=60"), (CC, "no-cache"), TAG], 1, "validated", id="two lines"),
        pytest.param(200, [(CC, "max-age=60, max-age=5"), TAG], 6, "validated", id="the smaller of two"),
        pytest.param(200, [(CC, "max-age=soon"), OLD], 0, "validated", id="not a number"),
        pytest.param(200, [(CC, "max-age=-1"), OLD], 0, "validated", id="negative"),
        pytest.param(200, [(CC, "max-age=" + "9" * 40)], 300 * DAY, "fresh", id="longer than a number"),
        pytest.param(200, [(CC, "max-age=" + "9" * 40)], 366 * DAY, "fetched", id="no promise beyond a year"),
        pytest.param(200, [(CC, "no-store, max-age=60"), TAG], 0, "fetched", id="no-store"),
        pytest.param(200, [(CC, "no-cache, max-age=60"), TAG], 0, "validated", id="no-cache"),
        pytest.param(200, [(CC, 'no-cache="set-cookie", max-age=60'), TAG], 0, "validated", id="no-cache of a field"),
        pytest.param(200, [(CC, "private, max-age=60")], 59, "fresh", id="private is for us"),
        pytest.param(200, [(CC, "s-maxage=60")], 0, "fetched", id="s-maxage is for others"),
        pytest.param(200, [(CC, "max-age=60, must-revalidate"), TAG], 59, "fresh", id="must-revalidate while fresh"),
        pytest.param(200, [(CC, "max-age=60, must-revalidate"), TAG], 61, "validated", id="must-revalidate after"),
        pytest.param(200, [(CC, "max-age=60, stale-if-error=900"), TAG], 61, "validated", id="never stale unasked"),
        pytest.param(200, [("Expires", date(60))], 59, "fresh", id="expires"),
        pytest.param(200, [("Expires", date(60))], 60, "fetched", id="expired"),
        pytest.param(200, [("Expires", date(60)), ("Date", date(-30))], 59, "fresh", id="expires after date"),
        pytest.param(200, [("Expires", date(60)), ("Date", date(60)), TAG], 0, "validated", id="expires with its date"),
        pytest.param(200, [("Expires", "0"), TAG], 0, "validated", id="expires without a date"),
        pytest.param(200, [("Expires", date(60)), (CC, "max-age=5"), TAG], 6, "validated", id="max-age over expires"),
        pytest.param(200, [(CC, "max-age=60"), ("Age", "50")], 9, "fresh", id="age"),
        pytest.param(200, [(CC, "max-age=60"), ("Age", "50")], 10, "fetched", id="age counts"),
        pytest.param(200, [(CC, "max-age=60"), ("Age", "old")], 59, "fresh", id="age that is none"),
        pytest.param(200, [(CC, "max-age=60"), ("Date", date(-50)), TAG], 10, "validated", id="old when it came"),
        pytest.param(200, [(CC, "max-age=60"), ("Date", date(9000))], 59, "fresh", id="a clock ahead of ours"),
        pytest.param(200, [OLD], DAY - 1, "fresh", id="guessed"),
        pytest.param(200, [OLD], DAY, "validated", id="guessed for a day at most"),
        pytest.param(200, [YOUNG], 99, "fresh", id="a tenth of its age"),
        pytest.param(200, [YOUNG], 100, "validated", id="more than a tenth"),
        pytest.param(200, [OLD, ("Expires", "never")], 0, "validated", id="no guess where something was said"),
        pytest.param(200, [TAG], 0, "validated", id="a tag alone"),
        pytest.param(200, [], 0, "fetched", id="nothing"),
        pytest.param(200, [("Pragma", "no-cache"), ("Expires", date(60)), TAG], 0, "validated", id="pragma"),
        pytest.param(200, [("Pragma", "no-cache"), (CC, "max-age=60")], 59, "fresh", id="pragma beside cache-control"),
        pytest.param(200, [(CC, "max-age=60"), ("Vary", "*")], 0, "fetched", id="vary by anything"),
        pytest.param(200, [(CC, "max-age=60"), ("Set-Cookie", "a=b")], 59, "fresh", id="set-cookie"),
        pytest.param(203, [(CC, "max-age=60")], 59, "fresh", id="203"),
        pytest.param(204, [(CC, "max-age=60")], 59, "fresh", id="204"),
        pytest.param(404, [(CC, "max-age=60")], 59, "fresh", id="404"),
        pytest.param(404, [], 0, "fetched", id="404 without a word"),
        pytest.param(410, [OLD], 99, "fresh", id="410 guessed"),
        pytest.param(403, [(CC, "max-age=60"), TAG], 0, "fetched", id="a refusal"),
        pytest.param(429, [(CC, "max-age=60")], 0, "fetched", id="too many"),
        pytest.param(500, [(CC, "max-age=60")], 0, "fetched", id="a failure"),
        pytest.param(503, [(CC, "public, max-age=60"), TAG], 0, "fetched", id="a public failure"),
    ],
)
async def test_an_answer_is_used_again_as_its_headers_say(
    status: int, headers: list[tuple[str, str]], wait: float, expected: str, cache: ResponseCache, clock: Clock
) -> None:
    async with World() as world:
        url = world.route("GET", "/", Page(status, *headers))
        client = world.client(cache=cache)
        first = await get(world, client, url)
        clock.now += wait
        second = await get(world, client, url)
        later = [conditional(request) for request in world.requests[1:]]
        outcome = {(): "fresh", (True,): "validated", (False,): "fetched"}[tuple(later)]
        body = b"" if status == 204 else b"page"
        assert (outcome, first.cached, first.stored_at) == (expected, False, None)
        assert (second.status, second.body, second.cached) == (status, body, expected != "fetched")
        assert second.stored_at == (START if expected != "fetched" else None)


@pytest.mark.parametrize(
    ("headers", "request_headers", "expected"),
    [
        pytest.param([(CC, "max-age=60")], [], 1, id="nothing"),
        pytest.param([(CC, "max-age=60"), TAG], [(CC, "no-cache")], 2, id="no-cache"),
        pytest.param([(CC, "max-age=60"), TAG], [("Pragma", "no-cache")], 2, id="pragma"),
        pytest.param([(CC, "max-age=60"), TAG], [(CC, "max-age=9")], 2, id="younger than it is"),
        pytest.param([(CC, "max-age=60"), TAG], [(CC, "max-age=10")], 1, id="as young as it is"),
        pytest.param([(CC, "max-age=60"), TAG], [(CC, "min-fresh=50")], 2, id="fresh for longer"),
        pytest.param([(CC, "max-age=60"), TAG], [(CC, "min-fresh=49")], 1, id="fresh for long enough"),
        pytest.param([(CC, "max-age=60"), TAG], [(CC, "max-age=much")], 2, id="not a number"),
        pytest.param([(CC, "max-age=60")], [(CC, "no-store")], 2, id="no-store"),
    ],
)
async def test_a_request_can_ask_for_more_than_fresh(
    headers: list[tuple[str, str]],
    request_headers: list[tuple[str, str]],
    expected: int,
    cache: ResponseCache,
    clock: Clock,
) -> None:
    async with World() as world:
        url = world.route("GET", "/", Page(200, *headers))
        client = world.client(cache=cache)
        await get(world, client, url)
        clock.now += 10
        await get(world, client, url, *request_headers)
        assert len(world.requests) == expected


PERSONAL: list[tuple[str, dict[str, Any]]] = [
    ("authorization", {"headers": (("Authorization", "Bearer x"),)}),
    ("cookie", {"headers": (("Cookie", "a=b"),)}),
    ("a key of its own name", {"headers": (("X-Subscription-Token", "x"),)}),
    ("a secret in the url", {"secrets": ("needle",)}),
    ("a key in the url", {"query": "?api_key=needle"}),
    ("a part", {"headers": (("Range", "bytes=0-1"),)}),
    ("a condition", {"headers": (("If-None-Match", '"x"'),)}),
    ("a stream", {"stop_at": lambda _: False}),
    ("off", {"cache": "off"}),
    ("no cache asked for", {"headers": ((CC, "no-store"),)}),
]


@pytest.mark.parametrize("request_", [pytest.param(request, id=name) for name, request in PERSONAL])
async def test_what_is_somebodys_or_a_part_is_neither_kept_nor_answered_from_the_cache(
    request_: dict[str, Any], cache: ResponseCache
) -> None:
    async with World() as world:
        asked = {"cache": "use", **request_}
        url = world.route("GET", "/", (200, {CC: "max-age=60"}, "page")) + asked.pop("query", "?k=needle")
        client = world.client(cache=cache)
        assert not (await world.send("GET", url, client=client, **asked)).cached
        assert cache.size() == 0
        await get(world, client, url)
        assert (cache.size() > 0) == ("api_key" not in url)
        assert not (await world.send("GET", url, client=client, **asked)).cached
        assert len(world.requests) == 3


async def test_only_a_get_is_kept_and_sending_something_lets_go_of_what_was_there(cache: ResponseCache) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        for method in ("HEAD", "POST"):
            world.route(method, "/", (200, {CC: "max-age=60"}, ""))
        client = world.client(cache=cache)
        await world.send("HEAD", url, client=client, cache="use")
        await get(world, client, url)
        await world.send("HEAD", url, client=client, cache="use")
        assert (await get(world, client, url)).cached
        await world.send("POST", url, client=client, cache="use", body=b"x")
        assert not (await get(world, client, url)).cached
        assert [request.method for request in world.requests] == ["HEAD", "GET", "HEAD", "POST", "GET"]


async def test_a_client_without_a_cache_asks_every_time() -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        for _ in range(2):
            assert not (await get(world, world.client(), url)).cached
        assert len(world.requests) == 2


async def test_refresh_asks_every_time_and_keeps_the_answer(cache: ResponseCache, clock: Clock) -> None:
    async with World() as world:
        page = Page(200, (CC, "max-age=60"), TAG, body="one")
        url = world.route("GET", "/", page)
        client = world.client(cache=cache)
        await get(world, client, url, cache="refresh")
        clock.now += 5
        confirmed = await get(world, client, url, cache="refresh")
        page.headers, page.body = [(CC, "max-age=60"), ("ETag", '"two"')], "two"
        clock.now += 5
        changed = await get(world, client, url, cache="refresh")
        kept = await get(world, client, url)
        assert [conditional(request) for request in world.requests] == [False, True, True]
        assert [(answer.body, answer.cached, answer.stored_at) for answer in (confirmed, changed, kept)] == [
            (b"one", True, START),
            (b"two", False, None),
            (b"two", True, START + 10),
        ]


async def test_an_answer_from_the_cache_is_the_one_that_came_with_its_age_and_without_cookies(
    cache: ResponseCache, clock: Clock
) -> None:
    async with World() as world:
        headers = [(CC, "max-age=60"), ("X-A", "one"), ("X-A", "\xfc"), ("Content-Type", "text/html"), ("Age", "3")]
        private = [("Set-Cookie", "session=needle"), ("Connection", "x-hop"), ("X-Hop", "1")]
        url = world.route("GET", "/a", (200, headers + private, "page"))
        client = world.client(cache=cache)
        await get(world, client, url + "#part")
        clock.now += 7.5
        answer = await get(world, client, url + "#other")
        assert sorted(answer.headers.items()) == sorted(
            [(name.lower(), value) for name, value in headers if name != "Age"]
            + [("age", "10"), ("content-length", "4")]
        )
        assert (answer.url, answer.status, answer.body, answer.truncated, answer.peer) == (
            url,
            200,
            b"page",
            False,
            None,
        )
        assert list(answer.timings) == ["dns", "connect", "tls", "first_byte", "total"]
        cache.flush()
        files = [path.read_bytes() for path in cache._path.parent.iterdir()]
        assert len(files) == 3
        assert not any(b"needle" in content for content in files)


async def test_an_encoded_body_is_kept_as_it_was_read(cache: ResponseCache) -> None:
    body = b"<p>long and longer</p>" * 100_000
    async with World() as world:
        headers = {CC: "max-age=60", "Content-Encoding": "gzip"}
        url = world.route("GET", "/", (200, headers, gzip.compress(body)))
        client = world.client(cache=cache)
        assert (await get(world, client, url)).body == body
        kept = await get(world, client, url)
        assert (kept.body == body, kept.cached, kept.headers.get("content-encoding")) == (True, True, "gzip")
        assert cache.size() < 50_000


async def test_each_variant_is_kept_for_the_requests_that_have_its_fields(cache: ResponseCache) -> None:
    def vary(request: Recorded) -> tuple[int, dict[str, str], str]:
        return 200, {CC: "max-age=60", "Vary": "Accept, accept-language"}, request.headers.get("accept", "none")

    async with World() as world:
        url = world.route("GET", "/", vary)
        client = world.client(cache=cache)
        asked = [("Accept", "text/html"), ("Accept", "text/markdown"), None, ("Accept", "text/html"), ("X-Other", "1")]
        answers = [await get(world, client, url, *([field] if field else [])) for field in asked]
        assert [(answer.body, answer.cached) for answer in answers] == [
            (b"text/html", False),
            (b"text/markdown", False),
            (b"none", False),
            (b"text/html", True),
            (b"none", True),
        ]


async def test_the_fields_that_the_client_adds_choose_a_variant_too(cache: ResponseCache) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {CC: "max-age=60", "Vary": "User-Agent"}, "page"))
        for agent, known in (("one", False), ("one", True), ("two", False), ("two", True)):
            answer = await get(world, world.client(cache=cache, user_agent=agent), url)
            assert answer.cached == known


async def test_a_304_brings_new_headers_and_a_new_term_but_leaves_those_of_the_body(
    cache: ResponseCache, clock: Clock
) -> None:
    answers = iter(
        [
            (200, [(CC, "max-age=10"), TAG, ("Content-Type", "text/html"), ("X-A", "1"), ("X-B", "1"), ("Age", "5")]),
            (304, [(CC, "max-age=100"), ("ETag", 'W/"one"'), ("Content-Type", "text/plain"), ("X-A", "2")]),
        ]
    )
    async with World() as world:
        url = world.route("GET", "/", lambda _: (*next(answers), "page"))
        client = world.client(cache=cache)
        await get(world, client, url)
        clock.now += 50
        confirmed = await get(world, client, url)
        clock.now += 99
        kept = await get(world, client, url)
        expected = {"content-type": "text/html", "x-a": "2", "x-b": "1", "cache-control": "max-age=100"}
        for answer in (confirmed, kept):
            fields = dict(answer.headers.items())
            assert {name: fields[name] for name in expected} == expected
            assert (answer.status, answer.body, answer.stored_at, answer.cached) == (200, b"page", START, True)
        assert (confirmed.peer, kept.peer, kept.headers.get("age")) == ("127.0.0.1", None, "99")
        assert world.requests[1].headers["if-none-match"] == '"one"'
        assert (len(world.requests), len(world.connections)) == (2, 1)


async def test_a_304_about_something_else_is_followed_by_a_whole_request(cache: ResponseCache) -> None:
    def confused(request: Recorded) -> tuple[int, dict[str, str], str]:
        return (304, {"ETag": '"two"'}, "") if conditional(request) else (200, {"ETag": '"one"'}, "page")

    async with World() as world:
        url = world.route("GET", "/", confused)
        client = world.client(cache=cache)
        await get(world, client, url)
        answer = await get(world, client, url)
        assert (answer.status, answer.body, answer.cached) == (200, b"page", False)
        assert [conditional(request) for request in world.requests] == [False, True, False]


async def test_a_304_that_nobody_asked_for_is_what_the_server_said(cache: ResponseCache) -> None:
    async with World() as world:
        url = world.route("GET", "/", (304, {TAG[0]: TAG[1]}, ""))
        answer = await get(world, world.client(cache=cache), url)
        assert (answer.status, answer.cached, cache.size()) == (304, False, 0)


async def test_a_server_can_take_back_its_leave_to_keep(cache: ResponseCache) -> None:
    async with World() as world:
        page = Page(200, TAG)
        url = world.route("GET", "/", page)
        client = world.client(cache=cache)
        await get(world, client, url)
        page.headers = [TAG, (CC, "no-store")]
        assert (await get(world, client, url)).body == b"page"
        assert cache.size() == 0


@pytest.mark.parametrize(
    ("status", "kept"),
    [
        pytest.param(500, True, id="failure"),
        pytest.param(429, True, id="refusal"),
        pytest.param(404, False, id="gone"),
        pytest.param(200, False, id="new"),
    ],
)
async def test_a_failure_is_given_as_it_is_and_does_not_cost_what_is_kept(
    status: int, kept: bool, cache: ResponseCache
) -> None:
    async with World() as world:
        page = Page(200, TAG)
        url = world.route("GET", "/", page)
        client = world.client(cache=cache)
        await get(world, client, url)
        world.route("GET", "/", (status, {}, "other"))
        answer = await get(world, client, url)
        assert (answer.status, answer.body, answer.cached) == (status, b"other", False)
        assert (cache.size() > 0) == kept


async def test_a_clock_that_was_set_back_makes_nothing_fresh_for_ever(cache: ResponseCache, clock: Clock) -> None:
    async with World() as world:
        url = world.route("GET", "/", Page(200, (CC, "max-age=60"), TAG))
        client = world.client(cache=cache)
        await get(world, client, url)
        clock.now -= 3600
        await get(world, client, url)
        assert [conditional(request) for request in world.requests] == [False, True]


async def test_a_body_that_is_cut_is_never_kept(cache: ResponseCache) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {CC: "max-age=60"}, "long page"))
        client = world.client(cache=cache)
        assert (await get(world, client, url, max_bytes=4, overflow="truncate")).truncated
        head = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 100\r\n\r\n"
        broken = world.serve(reply(head + b"only this")) + "/"
        error = await world.fail("GET", broken, client=client, cache="use")
        assert (error.outcome, cache.size()) == (Outcome.BAD_RESPONSE, 0)


async def test_a_kept_body_is_bounded_by_each_request_that_gets_it(cache: ResponseCache) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {CC: "max-age=60"}, "page " * 1000))
        client = world.client(cache=cache)
        await get(world, client, url)
        cut = await get(world, client, url, max_bytes=7, overflow="truncate")
        error = await world.fail("GET", url, client=client, cache="use", max_bytes=7)
        told = await get(world, client, url, max_bytes=7, limit_of=lambda _: 5000)
        assert (cut.body, cut.truncated, cut.cached) == (b"page pa", True, True)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind) == (Outcome.UNSUPPORTED, "too_large")
        assert (len(told.body), told.cached, len(world.requests)) == (5000, True, 1)


# Redirects: each hop for itself.


async def test_the_hops_of_a_redirect_are_kept_one_by_one(cache: ResponseCache, clock: Clock) -> None:
    async with World() as world:
        world.route("GET", "/a", (301, {"Location": "/b", CC: "max-age=1000"}, "moved"))
        world.route("GET", "/b", (302, {"Location": "/c", CC: "max-age=100"}, "found"))
        world.route("GET", "/c", (307, {"Location": "/d"}, ""))
        world.route("GET", "/d", (200, {CC: "max-age=10"}, "page"))
        client = world.client(cache=cache)
        for wait in (0, 9, 50, 100):
            clock.now += wait
            answer = await get(world, client, world.url + "/a")
            assert (answer.body, answer.url, answer.cached) == (b"page", world.url + "/d", wait == 9)
        asked = [request.path for request in world.requests]
        assert asked == ["/a", "/b", "/c", "/d", "/c", "/c", "/d", "/b", "/c", "/d"]


async def test_a_redirect_to_a_signed_address_is_not_kept(cache: ResponseCache) -> None:
    async with World() as world:
        location = "/b?X-Amz-Signature=needle"
        world.route("GET", "/a", (302, {"Location": location, CC: "max-age=60"}, ""))
        world.route("GET", "/b", (200, {CC: "max-age=60"}, "page"))
        assert (await get(world, world.client(cache=cache), world.url + "/a")).body == b"page"
        assert cache.size() == 0


async def test_a_redirect_can_be_confirmed(cache: ResponseCache) -> None:
    async with World() as world:
        world.route("GET", "/a", Page(301, ("Location", "/b"), TAG))
        world.route("GET", "/b", (200, {}, "page"))
        client = world.client(cache=cache)
        for _ in range(2):
            assert (await get(world, client, world.url + "/a")).body == b"page"
        assert [(request.path, conditional(request)) for request in world.requests] == [
            ("/a", False),
            ("/b", False),
            ("/a", True),
            ("/b", False),
        ]


async def test_kept_redirects_in_a_circle_end_as_others_do(cache: ResponseCache) -> None:
    async with World() as world:
        world.route("GET", "/a", (301, {"Location": "/b", CC: "max-age=60"}, ""))
        world.route("GET", "/b", (301, {"Location": "/a", CC: "max-age=60"}, ""))
        client = world.client(cache=cache)
        for _ in range(2):
            error = await world.fail("GET", world.url + "/a", client=client, cache="use")
            assert isinstance(error, TransportError)
            assert error.kind == "redirects"
        assert len(world.requests) == 2


# The egress policy.


async def test_a_fresh_answer_is_judged_as_if_it_were_fetched_and_nothing_is_dialled(cache: ResponseCache) -> None:
    async with World() as world:
        site = world.site(host="docs.example.com")
        url = site.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        await get(world, world.client(cache=cache), url)
        answer = await get(world, world.client(cache=cache), url)
        assert (answer.cached, len(world.connections), world.names.lookups) == (True, 1, ["docs.example.com"] * 2)


@pytest.mark.parametrize(
    ("addresses", "rule"),
    [
        pytest.param(["127.0.0.1"], "address.loopback", id="leave taken back"),
        pytest.param(["10.0.0.1"], "address.private", id="a name that moved"),
        pytest.param(["169.254.169.254"], "address.metadata", id="a name that turned to metadata"),
        pytest.param(["93.184.216.34", "10.0.0.1"], "dns.mixed_answers", id="mixed answers"),
    ],
)
async def test_what_was_kept_while_it_was_allowed_is_refused_once_it_is_not(
    addresses: list[str], rule: str, cache: ResponseCache
) -> None:
    async with World() as world:
        site = world.site(host="docs.example.com")
        url = site.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        await get(world, world.client(cache=cache), url)
        world.names.set("docs.example.com", addresses)
        ports = [int(site.url.rpartition(":")[2])]
        error = await world.fail("GET", url, client=world.client(EgressPolicy(ports=ports), cache=cache), cache="use")
        assert isinstance(error, EgressDenied)
        assert (error.rule, len(world.connections), len(site.requests)) == (rule, 1, 1)


async def test_a_literal_rule_refuses_what_is_kept(cache: ResponseCache) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        await get(world, world.client(cache=cache), url)
        error = await world.fail("GET", url, client=world.client(EgressPolicy(), cache=cache), cache="use")
        assert isinstance(error, EgressDenied)
        assert (error.rule, len(world.requests)) == ("port.denied", 1)


async def test_a_kept_redirect_leads_nowhere_that_is_not_allowed_today(cache: ResponseCache) -> None:
    async with World() as world:
        inner = world.site(host="inner.example.com")
        target = inner.route("GET", "/", (200, {CC: "max-age=60"}, "inner"))
        url = world.route("GET", "/", (301, {"Location": target, CC: "max-age=60"}, ""))
        assert (await get(world, world.client(cache=cache), url)).body == b"inner"
        world.names.set("inner.example.com", ["10.0.0.1"])
        error = await world.fail("GET", url, client=world.client(cache=cache), cache="use")
        assert isinstance(error, EgressDenied)
        assert (error.rule, len(world.requests), len(inner.requests)) == ("redirect.blocked", 1, 1)


@pytest.mark.parametrize("local_dns", [False, True])
async def test_behind_a_proxy_only_those_names_are_looked_up_that_the_settings_ask_for(
    local_dns: bool, cache: ResponseCache
) -> None:
    async with World() as world:
        site = world.site(host="docs.example.com")
        site.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        proxy = world.serve(HttpProxy(int(site.url.rpartition(":")[2])))
        world.names.set("docs.example.com", ["93.184.216.34"])
        client = world.client(EgressPolicy(local_dns=local_dns), proxy=proxy, cache=cache)
        await get(world, client, "http://docs.example.com/")
        world.names.lookups.clear()
        assert (await get(world, client, "http://docs.example.com/")).cached
        assert (world.names.lookups, len(site.requests)) == (["docs.example.com"] * local_dns, 1)
        world.names.set("docs.example.com", ["10.0.0.1"])
        second = world.client(EgressPolicy(local_dns=local_dns), proxy=proxy, cache=cache)
        request = Request("GET", "http://docs.example.com/", cache="use")
        if local_dns:
            with pytest.raises(EgressDenied):
                await second.send(request, expires_at=soon())
        else:
            assert (await second.send(request, expires_at=soon())).cached


# Deadline and cancellation.


async def test_the_deadline_bounds_the_look_up_for_what_is_kept(cache: ResponseCache) -> None:
    async with World() as world:
        site = world.site(host="docs.example.com")
        url = site.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        await get(world, world.client(cache=cache), url)
        world.names.set("docs.example.com", NEVER)
        error = await world.fail("GET", url, client=world.client(cache=cache), cache="use", within=0.05)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.phase) == (Outcome.TIMEOUT, "dns")


def wait_for(event: threading.Event) -> None:
    event.wait()


async def test_a_disk_that_hangs_does_not_hold_up_a_request(
    cache: ResponseCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = threading.Event()
    async with World() as world:
        url = world.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        client = world.client(cache=cache)
        await get(world, client, url)
        cache._later(url, lambda _: wait_for(hold))
        monkeypatch.setattr(module, "PATIENCE", 0.01)
        try:
            answer = await get(world, client, url)
            assert (answer.body, answer.cached, len(world.requests)) == (b"page", False, 2)
        finally:
            hold.set()
        cache.flush()
        assert (await get(world, client, url)).cached


async def test_cancelling_while_the_cache_is_busy_ends_the_request_at_once(cache: ResponseCache) -> None:
    hold = threading.Event()
    async with World() as world:
        url = world.route("GET", "/", (200, {CC: "max-age=60"}, "page"))
        client = world.client(cache=cache)
        await get(world, client, url)
        cache._later(url, lambda _: wait_for(hold))  # a disk that hangs
        try:
            task = asyncio.create_task(get(world, client, url))
            await asyncio.sleep(0)
            error = await world.fail("GET", url, client=client, cache="use", within=0.05)
            assert isinstance(error, TransportError)
            assert error.outcome == Outcome.TIMEOUT
            assert not task.done()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        finally:
            hold.set()
        assert (await get(world, client, url)).cached


async def test_a_request_that_is_cancelled_leaves_nothing_behind(cache: ResponseCache) -> None:
    reached = asyncio.Event()

    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(answer_bytes(200, {CC: "max-age=60", "Content-Length": "100"}, b"some"))
        reached.set()
        await connection.until_gone()

    async with World() as world:
        url = world.serve(play) + "/"
        client = world.client(cache=cache)
        task = asyncio.create_task(get(world, client, url))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (cache.size(), client.open_connections) == (0, 0)


# Whatever a server says.

TERMS = st.sampled_from(
    ["max-age", "s-maxage", "no-cache", "no-store", "private", "public", "must-revalidate", "immutable", "x", ""]
)
VALUES = st.one_of(
    st.none(),
    st.integers(-5, 200).map(str),
    st.sampled_from(['"60"', '"', "60 ", "1e3", "٣", '"a, no-store"', "=", ""]),
)
CONTROL = st.lists(
    st.tuples(TERMS, VALUES).map(lambda term: term[0] if term[1] is None else f"{term[0]}={term[1]}"), max_size=4
)
SEPARATOR = st.sampled_from([", ", ",", ";", " ", ",,"])
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "Age": st.sampled_from(["0", "10", "x", "-1"]),
        "Date": st.sampled_from([date(0), date(-20), date(9999), "yesterday"]),
        "Expires": st.sampled_from([date(30), date(-30), "0", "-1", ""]),
        "Last-Modified": st.sampled_from([OLD[1], YOUNG[1], date(500), "old"]),
        "ETag": st.sampled_from(['"a"', 'W/"a"', "a", "", '"']),
        "Vary": st.sampled_from(["Accept", "*", ",", "User-Agent, X"]),
        "Pragma": st.just("no-cache"),
    },
)
LONGEST = 86_400 + 1  # seconds for which any of these headers could be meant to hold


def test_no_header_makes_it_fail_or_serve_past_its_term(tmp_path: Path) -> None:
    clock = Clock()
    cache = ResponseCache(tmp_path / "pages.sqlite", clock=clock, warn=pytest.fail)

    @settings(max_examples=150)
    @given(control=CONTROL, separator=SEPARATOR, fields=FIELDS, wait=st.sampled_from([0, 1, 29, 61, 201, LONGEST]))
    def check(control: list[str], separator: str, fields: dict[str, str], wait: int) -> None:
        clock.now = START
        cache.clear()
        text = separator.join(control).encode().decode("latin-1")
        counts = asyncio.run(twice(cache, clock, [(CC, text), *fields.items()], wait))
        said = text.replace('"a, no-store"', "")
        numbers = [int(number) for number in re.findall("[0-9]+", said)]
        longest = max([*numbers, 30 + 20 if "Expires" in fields else 0, DAY if "Last-Modified" in fields else 0])
        if counts == 1:
            assert wait <= longest
            assert "no-store" not in said.split(", ")
            assert "no-cache" not in said.split(", ")

    check()
    cache.close()


async def twice(cache: ResponseCache, clock: Clock, headers: list[tuple[str, str]], wait: int) -> int:
    """Return how many requests a server gets for two of ours with `wait` seconds between them."""
    async with World() as world:
        url = world.route("GET", "/", (200, headers, "page"))
        client = world.client(cache=cache)
        for _ in range(2):
            assert (await get(world, client, url)).body == b"page"
            clock.now += wait
        return len(world.requests)
