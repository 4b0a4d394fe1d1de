"""Ending tasks: all gone, nothing unsaid on standard error, and the caller's own cancellation passed on."""

from __future__ import annotations

import asyncio

import pytest

from webseam.tasks import end


async def test_all_are_gone_afterwards_whatever_they_raise() -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async def fail() -> None:
        raise ValueError

    async def resist() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            raise OSError from None

    tasks = [asyncio.create_task(work()) for work in (hang, fail, resist)]
    await asyncio.sleep(0)
    await end(tasks)
    assert [task.done() for task in tasks] == [True, True, True]


async def test_nothing_to_end_is_fine() -> None:
    await end([])


async def test_who_is_cancelled_meanwhile_raises_that_very_cancellation() -> None:
    stubborn = asyncio.Event()

    async def resist() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await stubborn.wait()

    task = asyncio.create_task(resist())
    await asyncio.sleep(0)
    ending = asyncio.create_task(end([task]))
    await asyncio.sleep(0)
    ending.cancel("by the test")
    with pytest.raises(asyncio.CancelledError, match="by the test"):
        await ending
    stubborn.set()
    await task
