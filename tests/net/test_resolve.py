"""The system's resolver in threads of its own: a silent name server holds nothing else up."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence

import pytest

from webseam.net.resolve import MAX_LOOKUPS, SystemResolver, look_up


async def test_a_name_of_this_machine_has_its_loopback_address() -> None:
    assert "127.0.0.1" in await SystemResolver()("localhost", 80)


@pytest.mark.parametrize("name", ["no-such-name.invalid", "a" * 64 + ".example", "a..example"])
def test_a_name_that_cannot_exist_is_an_os_error(name: str) -> None:
    with pytest.raises(socket.gaierror):
        look_up(name, 80)


def test_an_address_is_its_own_answer_once() -> None:
    assert look_up("::1", 80) == ["::1"]


async def test_a_failure_reaches_the_caller() -> None:
    def lookup(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "later")

    resolver = SystemResolver(lookup)
    for _ in range(2):
        with pytest.raises(socket.gaierror, match="later"):
            await resolver("example.com", 80)


async def test_row_8_forty_stuck_lookups_block_neither_other_lookups_nor_the_loops_own_threads() -> None:
    release = threading.Event()

    def lookup(host: str, port: int) -> Sequence[str]:
        if host.startswith("stuck"):
            release.wait()
        return ["127.0.0.1"]

    resolver = SystemResolver(lookup)
    stuck = [asyncio.create_task(resolver(f"stuck-{number}.example", 80)) for number in range(40)]
    try:
        assert await resolver("quick.example", 80) == ["127.0.0.1"]
        assert await asyncio.to_thread(lambda: "done") == "done"
    finally:
        release.set()
    assert await asyncio.gather(*stuck) == [["127.0.0.1"]] * 40


async def test_equal_lookups_share_one_thread_and_a_caller_that_leaves_does_not_take_the_answer() -> None:
    release = threading.Event()
    asked: list[str] = []

    def lookup(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        release.wait()
        return ["127.0.0.1"]

    resolver = SystemResolver(lookup)
    callers = [asyncio.create_task(resolver("same.example", 80)) for _ in range(5)]
    await asyncio.sleep(0)
    callers[0].cancel()
    release.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert (results[1:], asked) == ([["127.0.0.1"]] * 4, ["same.example"])


async def test_no_more_threads_than_allowed_and_those_who_wait_share_too() -> None:
    release = threading.Event()
    running = 0
    most = 0
    lock = threading.Lock()

    def lookup(host: str, port: int) -> Sequence[str]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        release.wait()
        with lock:
            running -= 1
        return [host]

    resolver = SystemResolver(lookup)
    names = [f"{number // 2}.example" for number in range(2 * MAX_LOOKUPS + 20)]  # every name twice, ten too many
    callers = [asyncio.create_task(resolver(name, 80)) for name in names]
    await asyncio.sleep(0)
    release.set()
    assert await asyncio.gather(*callers) == [[name] for name in names]
    assert most <= MAX_LOOKUPS


async def test_an_error_nobody_waits_for_any_more_is_not_reported_and_does_not_stay() -> None:
    release = threading.Event()
    threads: list[threading.Thread] = []

    def lookup(host: str, port: int) -> Sequence[str]:
        threads.append(threading.current_thread())
        release.wait()
        if len(threads) == 1:
            raise OSError("too late")
        return ["127.0.0.1"]

    resolver = SystemResolver(lookup)
    caller = asyncio.create_task(resolver("late.example", 80))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    release.set()
    await asyncio.to_thread(threads[0].join)
    assert await resolver("late.example", 80) == ["127.0.0.1"]


def test_an_answer_after_the_loop_has_ended_is_dropped() -> None:
    release = threading.Event()
    threads: list[threading.Thread] = []

    def lookup(host: str, port: int) -> Sequence[str]:
        threads.append(threading.current_thread())
        release.wait()
        return ["127.0.0.1"]

    async def ask() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await SystemResolver(lookup)("late.example", 80)

    asyncio.run(ask())
    release.set()
    threads[0].join()
    assert threads[0].daemon
