"""The file of the HTTP cache: bounded, shared by processes, and never the reason that a page is not read."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.resilience.world import Clock, finish, raw, start, together
from tests.world import World
from webseam.net import cache as module
from webseam.net import cache_file
from webseam.net.cache import ResponseCache
from webseam.net.cache_rules import Stored
from webseam.net.message import Headers

FRESH = {"Cache-Control": "max-age=600"}
PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "pages.sqlite"


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def opened(path: Path, warnings: list[str]) -> Iterator[Callable[..., ResponseCache]]:
    caches: list[ResponseCache] = []

    def make(**options: object) -> ResponseCache:
        cache = ResponseCache(path, **{"warn": warnings.append, **options})  # type: ignore[arg-type]
        caches.append(cache)
        return cache

    yield make
    for cache in caches:
        cache.close()


Opened = Callable[..., ResponseCache]


def stored(url: str, body: bytes = b"page", **fields: object) -> Stored:
    return Stored(
        **{
            "url": url,
            "varied": (),
            "status": 200,
            "headers": Headers([(b"cache-control", b"max-age=600")]),
            "asked_at": 1.0,
            "heard_at": 1.0,
            "body_at": 1.0,
            "body": body,
            **fields,
        }  # type: ignore[arg-type]
    )


async def fetch_twice(cache: ResponseCache) -> int:
    """Return how many requests a server gets for two of ours, both answered whole."""
    async with World() as world:
        url = world.route("GET", "/", (200, FRESH, "page"))
        client = world.client(cache=cache)
        for _ in range(2):
            assert (await world.send("GET", url, client=client, cache="use")).body == b"page"
        return len(world.requests)


async def urls(cache: ResponseCache, *asked: str) -> list[str]:
    """Return those URLs of which something is kept once all is written: making room takes what others stood in."""
    await asyncio.to_thread(cache.flush)
    return [url for url in asked if await cache.find(url)]


# Files that cannot be used.


def newer(path: Path) -> None:
    with raw(path) as db:
        db.execute("PRAGMA user_version = 2")


def foreign(path: Path) -> None:
    with raw(path) as db:
        db.execute("CREATE TABLE theirs(x)")


def without_tables(path: Path) -> None:
    with raw(path) as db:
        db.execute("PRAGMA user_version = 1")


def text(path: Path) -> None:
    path.write_text("This is a diary, and not a database.\n" * 100, encoding="utf-8")


def damaged(path: Path) -> None:
    with closing(ResponseCache(path)) as cache:
        cache.keep(stored("https://example.com/"))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)


def content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        pytest.param(newer, "it has schema 2, this webseam knows 1", id="from a newer version"),
        pytest.param(foreign, "it belongs to another program", id="another program's"),
        pytest.param(without_tables, "no such table", id="without tables"),
        pytest.param(text, "file is not a database", id="not a database"),
        pytest.param(damaged, "malformed", id="damaged"),
        pytest.param(Path.mkdir, "unable to open database file", id="a folder"),
    ],
)
async def test_a_file_that_cannot_be_used_costs_one_warning_and_is_left_alone(
    path: Path, opened: Opened, warnings: list[str], spoil: Callable[[Path], None], cause: str
) -> None:
    path.parent.mkdir()
    spoil(path)
    before = content(path)
    cache = opened()
    assert [await fetch_twice(cache), await fetch_twice(cache)] == [2, 2]
    cache.close()
    assert len(warnings) == 1
    assert cause in warnings[0]
    assert str(path) in warnings[0]
    assert content(path) == before


async def test_a_folder_that_cannot_be_made_costs_one_warning(tmp_path: Path, warnings: list[str]) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with closing(ResponseCache(tmp_path / "file" / "cache" / "pages.sqlite", warn=warnings.append)) as cache:
        assert (await fetch_twice(cache), len(warnings)) == (2, 1)


async def test_a_file_that_may_only_be_read_costs_one_warning(path: Path, opened: Opened, warnings: list[str]) -> None:
    opened().flush()

    def read_only(name: Path, *, busy: float) -> sqlite3.Connection:
        db = connect(name, busy=busy)
        db.execute("PRAGMA query_only = ON")  # what an ordinary user meets; who runs as root may write everywhere
        return db

    connect = cache_file.connect
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_file, "connect", read_only)
        cache = opened()
        assert await fetch_twice(cache) == 2
    assert len(warnings) == 1
    assert "readonly" in warnings[0]


async def test_a_file_that_is_held_by_another_process_is_tried_again_later(
    path: Path, opened: Opened, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY_BACKGROUND", 0.0)
    cache = opened()
    cache.flush()
    with raw(path) as db:
        db.isolation_level = None
        db.execute("BEGIN IMMEDIATE")
        assert await fetch_twice(cache) == 2
        assert await fetch_twice(cache) == 2
        db.execute("ROLLBACK")
    assert len(warnings) == 1
    assert "database is locked" in warnings[0]
    cache._back_at = 0.0  # half a minute later
    assert (await fetch_twice(cache), len(warnings)) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("UPDATE bodies SET body = x'00ff'", id="body that does not unpack"),
        pytest.param("UPDATE bodies SET body = 7", id="body that is none"),
        pytest.param("UPDATE answers SET length = length + 1", id="body of another length"),
        pytest.param("UPDATE answers SET length = -1", id="length below nothing"),
        pytest.param("DELETE FROM bodies", id="no body"),
        pytest.param("UPDATE answers SET headers = '{'", id="headers that are not json"),
        pytest.param("UPDATE answers SET headers = '[1]'", id="headers that are no pairs"),
        pytest.param('UPDATE answers SET headers = \'[["a", "\u0151"]]\'', id="headers that are no bytes"),
        pytest.param(f"UPDATE answers SET varied = '{'[' * 100_000}'", id="too deep"),
        pytest.param("UPDATE answers SET heard = 'nan'", id="time that is none"),
        pytest.param("UPDATE answers SET status = 'ok'", id="status that is none"),
    ],
)
async def test_a_damaged_row_is_only_missing(path: Path, opened: Opened, warnings: list[str], change: str) -> None:
    body = "page " * 1000
    async with World() as world:
        url = world.route("GET", "/", (200, FRESH, body))
        client = world.client(cache=opened())
        await world.send("GET", url, client=client, cache="use")
        opened().flush()
        client._cache.flush()  # type: ignore[union-attr]
        with raw(path) as db:
            db.execute(change)
            db.commit()
        answer = await world.send("GET", url, client=client, cache="use")
        assert (answer.body, answer.cached, len(world.requests), warnings) == (body.encode(), False, 2, [])


async def test_a_bomb_in_the_file_is_unpacked_only_as_far_as_it_says(path: Path, opened: Opened) -> None:
    cache = opened()
    cache.keep(stored("https://example.com/", bytes(50_000_000)))
    cache.flush()
    with raw(path) as db:
        db.execute("UPDATE answers SET length = 1000")
        db.commit()
    row = (await cache.find("https://example.com/"))[0]
    assert await cache.body(row, most=10**9) == bytes(1000)
    with raw(path) as db:
        db.execute("UPDATE answers SET length = 50000000")
        db.commit()
    assert await cache.body(row, most=10) == bytes(11)


# The bound.


async def test_the_least_recently_used_go_first_when_the_file_is_full(path: Path, opened: Opened) -> None:
    clock = Clock()
    cache = opened(max_bytes=6 * PAGE, clock=clock)
    names = [f"https://example.com/{letter}" for letter in "abcd"]
    for name in names[:3]:
        clock.now += 100
        cache.keep(stored(name))
    assert (cache.size(), await urls(cache, *names)) == (6 * PAGE, names[:3])
    clock.now += 100
    cache.touch((await cache.find(names[0]))[0])
    cache.keep(stored(names[3]))
    assert await urls(cache, *names) == [names[0], names[2], names[3]]
    assert cache.size() == 6 * PAGE


async def test_a_page_that_is_read_from_the_cache_stays_longer(opened: Opened) -> None:
    clock = Clock()
    cache = opened(max_bytes=4 * PAGE, clock=clock)
    async with World() as world:
        client = world.client(cache=cache)
        for path in ("/a", "/b", "/a", "/c"):
            clock.now += 100
            url = world.route("GET", path, (200, FRESH, "page"))
            await world.send("GET", url, client=client, cache="use")
        assert await urls(cache, *(world.url + path for path in ("/a", "/b", "/c"))) == [
            world.url + "/a",
            world.url + "/c",
        ]


async def test_what_alone_is_larger_than_the_bound_is_not_kept_and_takes_nothing_with_it(opened: Opened) -> None:
    cache = opened(max_bytes=100_000)
    cache.keep(stored("https://example.com/small"))
    cache.keep(stored("https://example.com/large", os.urandom(100_000)))
    assert await urls(cache, "https://example.com/small", "https://example.com/large") == ["https://example.com/small"]


async def test_a_new_answer_takes_the_place_of_the_one_before(opened: Opened) -> None:
    cache = opened()
    for body in (b"one" * 10_000, b"two"):
        cache.keep(stored("https://example.com/", body))
    rows = await cache.find("https://example.com/")
    assert [await cache.body(row, most=100) for row in rows] == [b"two"]
    assert cache.size() == 2 * PAGE


def test_the_count_of_bytes_is_that_of_the_rows_after_everything_that_can_happen(path: Path, opened: Opened) -> None:
    cache = opened(max_bytes=40 * PAGE)
    for number in range(40):
        cache.keep(stored(f"https://example.com/{number % 13}", os.urandom(number * 300)))
        cache.renew(stored(f"https://example.com/{number % 5}", number=number))
        if number % 7 == 0:
            cache.forget(stored(f"https://example.com/{number % 3}"))
            cache.forget_url(f"https://example.com/{number % 4}")
    cache.flush()
    with raw(path) as db:
        assert db.execute("SELECT total(size) FROM answers").fetchone() == (cache.size(),)
        assert (
            db.execute("SELECT count(*) FROM bodies").fetchone()
            == db.execute("SELECT count(*) FROM answers").fetchone()
        )
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert 0 < cache.size() <= 40 * PAGE


def wait_for(event: threading.Event) -> None:
    event.wait()


def test_a_disk_that_cannot_keep_up_costs_what_would_wait(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_QUEUED", 1000)
    hold = threading.Event()
    cache = opened()
    cache._later("held", lambda _: wait_for(hold))
    for number in range(5):
        cache.keep(stored(f"https://example.com/{number}", bytes(400)))
    hold.set()
    assert cache.clear() == 2


def test_what_is_cleared_is_gone_and_its_space_is_given_back(path: Path, opened: Opened) -> None:
    cache = opened()
    for number in range(20):
        cache.keep(stored(f"https://example.com/{number}", os.urandom(50_000)))
    assert (cache.clear(), cache.size()) == (20, 0)
    cache.close()
    assert path.stat().st_size < 100_000


def test_the_file_and_its_folder_are_for_their_owner_alone_whatever_the_umask(path: Path, opened: Opened) -> None:
    before = os.umask(0)
    try:
        cache = opened()
        cache.keep(stored("https://example.com/"))
        cache.flush()
    finally:
        os.umask(before)
    modes = {name.name: stat.S_IMODE(name.stat().st_mode) for name in (path.parent, *path.parent.iterdir())}
    assert modes == {
        "cache": 0o700,
        "pages.sqlite": 0o600,
        "pages.sqlite-wal": 0o600,
        "pages.sqlite-shm": 0o600,
    }


async def test_a_file_that_is_deleted_while_open_is_made_anew(path: Path, opened: Opened, warnings: list[str]) -> None:
    cache = opened()
    assert await fetch_twice(cache) == 1
    cache.flush()
    for name in path.parent.iterdir():
        name.unlink()
    assert (await fetch_twice(cache), warnings, content(path)[:6]) == (1, [], b"SQLite")


async def test_a_cache_that_was_closed_keeps_nothing_more(path: Path, opened: Opened, warnings: list[str]) -> None:
    cache = opened()
    cache.keep(stored("https://example.com/a"))
    cache.close()
    cache.keep(stored("https://example.com/b"))
    cache.flush()
    assert (await fetch_twice(cache), cache.size(), warnings) == (2, 0, [])
    assert await urls(opened(), "https://example.com/a", "https://example.com/b") == ["https://example.com/a"]


def test_a_cache_shows_its_place_and_nothing_else(path: Path, opened: Opened) -> None:
    assert repr(opened()) == f"ResponseCache({str(path)!r})"


# Processes and threads.

SHARE = """
import asyncio, pathlib, sys
from webseam.net.cache import ResponseCache
from webseam.net.cache_rules import Stored
from webseam.net.message import Headers
def stored(url, body): return Stored(url, (), 200, Headers([(b"a", b"b")]), 1.0, 1.0, 1.0, body)
def warn(message): raise SystemExit(message)
cache = ResponseCache(pathlib.Path(sys.argv[1]), warn=warn, max_bytes=400_000)
print("ready", flush=True)
sys.stdin.readline()
async def work():
    for number in range(60):
        url = f"https://example.com/{number % 20}"
        cache.keep(stored(url, (url * 500).encode()))
        for row in await cache.find(url):
            body = await cache.body(row, most=10**6)
            assert body is None or body == (url * 500).encode()
asyncio.run(work())
cache.close()
"""


def test_processes_share_one_file(path: Path, opened: Opened, warnings: list[str]) -> None:
    together(SHARE, path, processes=3)
    assert (opened().clear(), warnings) == (20, [])
    with raw(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_what_one_process_kept_another_is_served(path: Path, opened: Opened) -> None:
    async with World() as world:
        url = world.route("GET", "/", (200, FRESH, "page"))
        one, other = opened(), opened()
        await world.send("GET", url, client=world.client(cache=one), cache="use")
        one.flush()
        answer = await world.send("GET", url, client=world.client(cache=other), cache="use")
        assert (answer.body, answer.cached) == (b"page", True)


FORK = """
import asyncio, os, pathlib, sys
from webseam.net.cache import ResponseCache
from webseam.net.cache_rules import Stored
from webseam.net.message import Headers
def stored(url): return Stored(url, (), 200, Headers([(b"a", b"b")]), 1.0, 1.0, 1.0, b"page")
def warn(message): raise SystemExit(message)
cache = ResponseCache(pathlib.Path(sys.argv[1]), warn=warn)
def kept(name): return bool(asyncio.run(cache.find("https://example.com/" + name)))
cache.keep(stored("https://example.com/parent"))
cache.flush()
assert kept("parent")
child = os.fork()
if child == 0:
    assert kept("parent")
    cache.keep(stored("https://example.com/child"))
    assert kept("child")
    cache.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
cache.keep(stored("https://example.com/later"))
print(kept("parent"), kept("child"), kept("later"))
cache.close()
"""


def test_a_forked_child_and_its_parent_both_go_on(path: Path) -> None:
    assert finish(start(FORK, path)) == "True True True\n"
    with raw(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_clients_in_several_threads_share_one_cache(opened: Opened, warnings: list[str]) -> None:
    cache = opened()
    counts: list[int] = []

    async def work() -> None:
        async with World() as world:
            url = world.route("GET", "/", (200, FRESH, "page"))
            client = world.client(cache=cache)
            for _ in range(20):
                assert (await world.send("GET", url, client=client, cache="use")).body == b"page"
            counts.append(len(world.requests))

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counts, warnings) == ([1, 1, 1], [])
