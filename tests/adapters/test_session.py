"""How the tools of an agent reach their web: from an event loop, from another one, from threads without any."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import webseam
from tests.adapters.world import Scene, scene
from tests.fetch.world import web
from tests.world import Connection, World
from webseam.adapters.session import Session, Tools, details
from webseam.blocking import Web
from webseam.errors import RequestError
from webseam.tools import Tool
from webseam.tools.repeats import remark
from webseam.web import AsyncWeb

SOURCE = Path(webseam.__file__).parents[1]


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    yield
    assert [thread.name for thread in threading.enumerate() if thread.name == "webseam"] == []


def settle(stage: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in stage.environment.items():
        monkeypatch.setenv(name, value)


async def test_one_session_is_called_from_its_loop_from_another_and_from_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with World() as world:
        stage = scene(world)
        settle(stage, monkeypatch)
        session = Session()
        arguments = {"url": stage.page}
        results = [
            await session.call("web_fetch", arguments),
            await asyncio.to_thread(session.call_blocking, "web_fetch", arguments),
            await asyncio.to_thread(lambda: asyncio.run(session.call("web_fetch", arguments))),
        ]
        await session.aclose()
    assert [result.outcome for result in results] == ["ok"] * 3
    assert [remark("web_fetch", count) in result.text for count, result in enumerate(results, 1)] == [True] * 3


async def test_an_async_web_is_called_in_its_own_loop_whoever_calls() -> None:
    async with World() as world:
        stage = scene(world)
        async with web(world) as given:
            session = Session(given)
            loops: list[asyncio.AbstractEventLoop] = []

            async def work(seen: AsyncWeb) -> str | None:
                loops.append(asyncio.get_running_loop())
                return (await seen.fetch(stage.hit)).title

            titles = [
                await session.run(work),
                await asyncio.to_thread(session.run_blocking, work),
                await asyncio.to_thread(lambda: asyncio.run(session.run(work))),
            ]
            await session.aclose()
            assert given.open_connections > 0
    assert titles == ["Widgets"] * 3
    assert loops == [asyncio.get_running_loop()] * 3


async def test_a_call_without_await_works_where_a_loop_is_running() -> None:
    session = Session()
    assert session.call_blocking("web_fetch", {}).text == (
        "invalid: url: is missing. Next: give url, or urls for several."
    )
    session.close()


async def test_waiting_in_the_very_loop_of_an_async_web_is_refused_instead_of_hanging() -> None:
    async with AsyncWeb() as given:
        with pytest.raises(RuntimeError, match=r"give the tools a webseam\.Web or nothing, or call them with await"):
            Session(given).call_blocking("docs_search", {"query": "json"})


def test_waiting_for_an_async_web_that_has_no_loop_is_refused() -> None:
    given = AsyncWeb()
    with pytest.raises(RuntimeError, match="called without await"):
        Session(given).call_blocking("docs_search", {"query": "json"})
    asyncio.run(given.aclose())


def test_a_web_that_was_given_stays_open_and_one_that_was_opened_is_closed() -> None:
    def nothing(_session: Session, tool: Tool) -> str:
        return tool.name

    with Web() as given:
        with Tools(given, ["web_fetch"], nothing) as tools:
            assert tools == ["web_fetch"]
        with pytest.raises(RequestError):
            given.search("")
    with Tools(None, None, nothing) as tools:
        assert tools == ["web_search", "web_fetch", "docs_search"]
    tools.close()


async def test_cancelling_a_call_stops_it_in_the_background_loop() -> None:
    async with World() as world:
        arrived, gone = asyncio.Event(), asyncio.Event()

        async def silent(connection: Connection) -> None:
            await connection.request()
            arrived.set()
            await connection.until_gone()
            gone.set()

        url = f"{world.serve(silent)}/never"
        given = Web({"fetch.allow": ["127.0.0.0/8"], "fetch.browser": False})
        call = asyncio.create_task(Session(given).call("web_fetch", {"url": url}))
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await gone.wait()
        await asyncio.to_thread(given.close)


INTERRUPTED = """
import sys
from webseam.adapters.session import Session
session = Session()
try:
    session.call_blocking("web_fetch", {"url": sys.argv[1]})
except KeyboardInterrupt:
    print("interrupted", session.call_blocking("web_fetch", {"url": ""}).outcome)
session.close()
"""


async def test_ctrl_c_stops_the_call_that_a_thread_waits_for() -> None:
    async with World() as world:
        arrived, gone = asyncio.Event(), asyncio.Event()

        async def silent(connection: Connection) -> None:
            await connection.request()
            arrived.set()
            await connection.until_gone()
            gone.set()

        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", INTERRUPTED, f"{world.serve(silent)}/never",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **scene(world).environment, "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        await arrived.wait()
        process.send_signal(signal.SIGINT)
        out, errors = await process.communicate()
        await gone.wait()
    assert (out, errors, process.returncode) == (b"interrupted invalid\n", b"", 0)


async def test_what_a_program_may_know_of_a_call_is_plain_json() -> None:
    async with World() as world:
        stage = scene(world)
        async with web(world) as given:
            session = Session(given)
            read = details(await session.call("web_fetch", {"url": stage.hit}))
            several = details(await session.call("web_fetch", {"urls": [stage.hit, stage.page]}))
            wrong = details(await session.call("web_fetch", {}))
    assert (read["outcome"], read["value"]["title"], read["value"]["final_url"]) == ("ok", "Widgets", stage.hit)
    assert [page["url"] for page in several["value"]] == [stage.hit, stage.page]
    assert wrong == {"outcome": "invalid", "value": None}
