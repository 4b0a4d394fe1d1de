"""How a session over pipes ends: whoever ends it, whenever, it is over at once, quietly, and nothing stays behind."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.cli.world import environment_of
from tests.mcp.peer import LISTED, Message, call, initialize, modern, ready, request, served, wire
from tests.world import Connection, World

SEARCH = call("search", "web_search", query="words", count=1)
# A search program that says that it runs, with a child, and then never ends.
PROGRAM = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
child.wait()
"""


def running(folder: Path) -> dict[str, str]:
    """Return the environment of a server that searches with `PROGRAM`, which writes its process ids to `folder`/ids."""
    (folder / "program.py").write_text(PROGRAM)
    (folder / "config").mkdir()
    template = f"{sys.executable} {folder / 'program.py'} {folder / 'ids'} {{{{query}}}}"
    (folder / "config" / "config.toml").write_text(
        f'[search]\nprovider = "slow"\n[providers.command.slow]\ntemplate = {json.dumps(template)}\n'
    )
    return {"WEBSEAM_CONFIG_DIR": str(folder / "config")}


async def started(folder: Path) -> list[psutil.Process]:
    """Wait until the program runs; return it and its child."""
    while not (folder / "ids").exists():  # noqa: ASYNC110 - written by a process that knows no event of ours
        await asyncio.sleep(0.01)
    return [psutil.Process(int(word)) for word in (folder / "ids").read_text().split()]


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


# the client closes its end


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        pytest.param([], [], id="before anything"),
        pytest.param([wire(initialize())[:40]], [], id="in the middle of a line"),
        pytest.param([initialize()], [0], id="after the handshake began"),
        pytest.param([*LISTED], [0, 1], id="while the SDK is loading"),
        pytest.param([modern(0, "server/discover")], [0], id="without a handshake"),
        pytest.param([*LISTED[:2], wire(request(1, "ping")).strip()], [0, 1], id="after a line without its end"),
    ],
)
async def test_a_client_that_leaves_early_is_answered_and_let_go(
    sent: list[Message | bytes], answered: list[int]
) -> None:
    async with served() as peer:
        await peer.send(*sent)
        code = await peer.leave()
    assert (code, peer.err) == (0, "")
    assert [one["id"] for one in peer.messages] == answered


async def test_what_was_asked_before_leaving_is_answered_by_the_sdk() -> None:
    async with served() as peer:
        await peer.send(*LISTED, request(2, "prompts/list"))
        code = await peer.leave()
    assert (code, peer.err) == (0, "")
    assert sorted(one["id"] for one in peer.messages) == [0, 1, 2]


async def test_leaving_an_idle_session_ends_it() -> None:
    async with served() as peer:
        await ready(peer)
        assert (await peer.leave(), peer.err) == (0, "")


async def test_leaving_stops_a_running_call_and_its_connection() -> None:
    arrived = asyncio.Event()

    async def never(connection: Connection) -> None:
        await connection.request()
        arrived.set()
        await connection.until_gone()

    async with World() as world:
        env = {"SEARXNG_URL": world.serve(never), "WEBSEAM_SEARCH_PROVIDER": "searxng"}
        async with served(env=env) as peer:
            await peer.send(*LISTED, SEARCH)
            await arrived.wait()
            code = await peer.leave()
            await world.connections[0].gone.wait()
    assert (code, peer.err) == (0, "")
    closed = {"code": -32000, "message": "Connection closed"}
    assert [one.get("error") for one in peer.messages if one["id"] == "search"] == [closed]


async def test_leaving_kills_a_running_program_and_its_children(tmp_path: Path) -> None:
    async with served(env=running(tmp_path)) as peer:
        await peer.send(*LISTED, SEARCH)
        programs = await started(tmp_path)
        assert len(alive(programs)) == 2
        code = await peer.leave()
    assert (code, peer.err) == (0, "")
    assert alive(programs) == []


# nobody reads any more


@pytest.mark.parametrize(
    "last",
    [pytest.param(request(2, "ping"), id="early"), pytest.param(request(2, "prompts/list"), id="by the SDK")],
)
async def test_a_client_that_stops_reading_ends_the_session(last: Message) -> None:
    async with served() as peer:
        await peer.ask(initialize())
        await peer.stop_reading()
        await peer.send(last)
        code = await peer.ended()
    assert (code, peer.err) == (0, "")


async def test_a_client_that_stops_reading_in_a_session_ends_it_with_all_its_calls(tmp_path: Path) -> None:
    async with served(env=running(tmp_path)) as peer:
        await ready(peer)
        await peer.send(SEARCH)
        programs = await started(tmp_path)
        await peer.stop_reading()
        await peer.send(request(2, "ping"))
        code = await peer.ended()
    assert (code, peer.err) == (0, "")
    assert alive(programs) == []


async def test_a_server_that_nobody_can_read_or_write_ends() -> None:
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", f'exec "{sys.executable}" -m webseam mcp <&- >&-', env=environment_of()
    )
    assert await process.wait() == 0


# signals


@pytest.mark.parametrize(
    ("number", "code"), [pytest.param(signal.SIGINT, 130, id="Ctrl-C"), pytest.param(signal.SIGTERM, 143, id="TERM")]
)
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param([initialize()], id="early"),
        pytest.param([*LISTED], id="loading"),
    ],
)
async def test_a_signal_ends_it_at_once(sent: list[Message], number: int, code: int) -> None:
    async with served() as peer:
        await peer.send(*sent)
        await peer.answer(sent[-1]["id"])
        peer.process.send_signal(number)
        assert (await peer.ended(), peer.err) == (code, "")


@pytest.mark.parametrize(
    ("number", "code"), [pytest.param(signal.SIGINT, 130, id="Ctrl-C"), pytest.param(signal.SIGTERM, 143, id="TERM")]
)
async def test_a_signal_stops_running_calls_and_their_children(tmp_path: Path, number: int, code: int) -> None:
    async with served(env=running(tmp_path)) as peer:
        await peer.send(*LISTED, SEARCH, request(2, "ping"))
        programs = await started(tmp_path)
        peer.process.send_signal(number)
        assert (await peer.ended(), peer.err) == (code, "")
    assert alive(programs) == []


async def test_a_signal_that_the_caller_has_switched_off_stays_off() -> None:
    command = ["/bin/sh", "-c", f'trap "" INT; exec "{sys.executable}" -m webseam mcp']
    async with served(command=command) as peer:
        await peer.ask(initialize())
        peer.process.send_signal(signal.SIGINT)
        assert (await peer.ask(request(1, "ping")))["result"] == {}
        assert (await peer.leave(), peer.err) == (0, "")
