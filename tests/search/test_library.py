"""The documentation of this machine as a provider: in time, honest about what it is, and stopped when nobody waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.search.world import Desk, chain, engine, found, outcomes
from tests.world import World
from webseam import providers
from webseam.errors import Outcome, ProviderError
from webseam.local import LocalIndex
from webseam.model import SearchResponse
from webseam.providers.base import ProviderConfig
from webseam.search.library import FROM_HERE, Library
from webseam.search.route import Candidate

HERE = Candidate(providers.get("local"), ProviderConfig(provider="local"))


class Shelf(Library):
    """A library of one folder alone: indexing all that is installed here would take a minute a test."""

    def __init__(self, folder: Path, *, prepare: Callable[[LocalIndex], None] = lambda _index: None) -> None:
        super().__init__(folder / "index.sqlite3", folders=lambda: [folder / "docs"])
        self._folder = folder
        self._prepare = prepare

    def open(self) -> LocalIndex:
        if self._index is None:
            self._index = LocalIndex(self._path, folders=self._folders(), environments=[])
            self._prepare(self._index)
        return self._index


def desk(world: World, library: Library) -> Desk:
    made = Desk(world)
    made.asker._library = library
    return made


def files(response: SearchResponse) -> list[str]:
    """Return the names of the files the hits are from."""
    return [Path(urlsplit(hit.url).path).name for hit in response.hits]


def built(folder: Path) -> bool:
    return (folder / "index.sqlite3").exists()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, words in (("parsing", "How to parse a frobnicated url."), ("writing", "How to write a frobnicated url.")):
        (docs / f"{name}.md").write_text(f"# {name.title()} frobnication\n\n{words}\n")
    return tmp_path


async def test_it_is_built_when_it_is_first_asked_and_says_where_its_hits_are_from(folder: Path) -> None:
    async with World() as world:
        response = await desk(world, Shelf(folder)).search(HERE, "parse frobnicated url")
    assert response.outcome is Outcome.OK
    assert files(response)[0] == "parsing.md"
    assert response.hits[0].url.startswith("file://")
    assert response.hits[0].providers == ("local",)
    assert (response.notes, response.sent_to, world.connections) == ((FROM_HERE,), (), [])


async def test_what_changed_is_read_before_the_next_answer(folder: Path) -> None:
    async with World() as world:
        own = desk(world, Shelf(folder))
        assert (await own.search(HERE, "zymurgy")).outcome is Outcome.EMPTY
        change(folder)
        assert files(await own.search(HERE, "zymurgy")) == ["new.md"]


def change(folder: Path) -> None:
    (folder / "docs" / "new.md").write_text("# Zymurgy\n\nAbout beer.\n")


async def test_in_a_chain_it_is_the_last_resort_and_the_response_says_that_the_network_was_not_reachable(
    folder: Path,
) -> None:
    async with World() as world:
        own = desk(world, Shelf(folder))
        closed = engine("closed", world.closed_port())
        response = await own.search(chain(closed, HERE), "frobnicated url")
    assert outcomes(response) == [("closed", "network"), ("local", "ok")]
    assert response.notes == (FROM_HERE, "the network was not reachable (closed)")
    assert response.sent_to == ()


async def test_when_the_network_was_not_reachable_a_moment_ago_the_response_says_so_too(folder: Path) -> None:
    async with World() as world:
        own = desk(world, Shelf(folder))
        closed = engine("closed", world.closed_port())
        for _ in range(3):
            await own.search(chain(closed, HERE), "frobnicated url")
        response = await own.search(chain(closed, HERE), "frobnicated url")
    assert outcomes(response) == [("closed", "unavailable"), ("local", "ok")]
    assert response.notes == (FROM_HERE, "the network was not reachable a moment ago (closed)")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        pytest.param(
            {"include_domains": ("example.org",)}, "documentation installed here has no domains to choose by", id="site"
        ),
        pytest.param({"kind": "news"}, "documentation installed here is no news", id="news"),
        pytest.param({"count": 60, "page": 2}, "Documentation installed here has no page 2 of 60 hits", id="far page"),
        pytest.param(
            {"freshness": "day", "strict": True}, "documentation installed here carries no dates (strict)", id="dates"
        ),
        pytest.param(
            {"language": "de", "strict": True}, "Documentation installed here cannot do language (strict)", id="strict"
        ),
    ],
)
async def test_what_it_cannot_do_is_unsupported_and_nothing_is_built(
    folder: Path, options: dict[str, Any], reason: str
) -> None:
    async with World() as world:
        error = await desk(world, Shelf(folder)).fail(HERE, "frobnicated", **options)
    assert isinstance(error, ProviderError)
    assert (error.outcome, error.detail) == (Outcome.UNSUPPORTED, f"local: {reason}")
    assert not built(folder)


async def test_a_search_of_sites_that_found_nothing_stays_empty_although_it_could_not_help(folder: Path) -> None:
    async with World() as world:
        nothing = engine("nothing", world.route("GET", "/", (200, {}, {"results": []})))
        response = await desk(world, Shelf(folder)).search(chain(nothing, HERE), include_domains=("example.org",))
    assert (response.outcome, outcomes(response)) == (Outcome.EMPTY, [("nothing", "empty"), ("local", "unsupported")])


async def test_options_it_ignores_are_notes(folder: Path) -> None:
    async with World() as world:
        response = await desk(world, Shelf(folder)).search(HERE, "frobnicated", region="DE", after="2024-01-01")
    assert response.notes == (
        "Documentation installed here cannot filter by region; that was not applied",
        "documentation installed here carries no dates; they were not applied",
        FROM_HERE,
    )


async def test_it_has_pages(folder: Path) -> None:
    async with World() as world:
        own = desk(world, Shelf(folder))
        first = await own.search(HERE, "frobnicated url", count=1)
        second = await own.search(HERE, "frobnicated url", count=1, page=2)
        third = await own.search(HERE, "frobnicated url", count=1, page=3)
    assert sorted(files(first) + files(second)) == ["parsing.md", "writing.md"]
    assert third.outcome is Outcome.EMPTY


class Slow:
    """Holds the index at the check of its freshness until it is let go or interrupted."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.go = threading.Event()
        self.interrupted = False

    def __call__(self, index: LocalIndex) -> None:
        fresh, interrupt = index.fresh, index.interrupt

        def held() -> bool:
            self.started.set()
            self.go.wait()
            return fresh()

        def stop() -> None:
            self.interrupted = True
            self.go.set()
            interrupt()

        index.fresh, index.interrupt = held, stop  # type: ignore[method-assign]


async def test_when_the_deadline_passes_the_work_is_stopped(folder: Path) -> None:
    slow = Slow()
    async with World() as world:
        error = await desk(world, Shelf(folder, prepare=slow)).fail(HERE, "frobnicated", within=0.1)
    assert (error.outcome, error.detail) == (Outcome.TIMEOUT, "local: the index was not ready in time")
    assert slow.interrupted


async def test_cancelling_stops_the_work(folder: Path) -> None:
    slow = Slow()
    async with World() as world:
        own = desk(world, Shelf(folder, prepare=slow))
        searching = asyncio.create_task(own.search(HERE, "frobnicated"))
        await asyncio.to_thread(slow.started.wait)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        assert slow.interrupted
        assert (await own.search(HERE, "frobnicated")).outcome is Outcome.OK


async def test_waiting_for_another_search_of_it_counts_as_time(folder: Path) -> None:
    slow = Slow()
    async with World() as world:
        own = desk(world, Shelf(folder, prepare=slow))
        first = asyncio.create_task(own.search(HERE, "frobnicated"))
        await asyncio.to_thread(slow.started.wait)
        error = await own.fail(HERE, "frobnicated url", within=0.1)
        slow.go.set()
        assert (await first).outcome is Outcome.OK
    assert (error.outcome, error.detail) == (Outcome.TIMEOUT, "local: the index was busy with another search")


async def test_nothing_found_in_an_index_that_is_not_complete_is_no_answer(folder: Path) -> None:
    def incomplete(index: LocalIndex) -> None:
        refresh = index.refresh
        index.refresh = lambda **_: refresh(expires_at=0.0)  # type: ignore[method-assign]

    async with World() as world:
        error = await desk(world, Shelf(folder, prepare=incomplete)).fail(HERE, "frobnicated")
    assert (error.outcome, error.detail) == (
        Outcome.TIMEOUT,
        "local: the index was not complete in time; `webseam index update` finishes it",
    )


async def test_an_index_that_breaks_is_a_bad_response_and_the_chain_goes_on(folder: Path) -> None:
    def broken(index: LocalIndex) -> None:
        def fail() -> bool:
            raise OSError("the disk is on fire")

        index.fresh = fail  # type: ignore[method-assign]

    async with World() as world:
        own = desk(world, Shelf(folder, prepare=broken))
        response = await own.search(chain(HERE, engine("good", world.route("GET", "/", found("x")))), "frobnicated")
    assert outcomes(response) == [("local", "bad_response"), ("good", "ok")]
    assert response.attempts[0].detail == "the index could not be read (OSError: the disk is on fire)"


async def test_several_searches_at_once_share_it(folder: Path) -> None:
    async with World() as world:
        own = desk(world, Shelf(folder))
        responses = await asyncio.gather(*(own.search(HERE, words) for words in ("parse url", "write url", "url")))
    assert [response.outcome for response in responses] == [Outcome.OK] * 3
