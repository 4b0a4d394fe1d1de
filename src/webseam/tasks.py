"""Ending tasks that were started for one piece of work, without losing who cancelled that work.

`asyncio.gather` would do, but when its caller is cancelled meanwhile it raises a cancellation of its own making.
Libraries that tell their cancellations apart by what the error carries (anyio, and so an MCP session) then take it for
somebody else's, and end more than was asked for. `asyncio.wait` passes the caller's own on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


async def end(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks and return when all are gone. What they raised is looked at and forgotten."""
    ending = list(tasks)
    for task in ending:
        task.add_done_callback(_look)
        task.cancel()
    if ending:
        await asyncio.wait(ending)


def _look(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()  # else asyncio reports it as one that nobody looked at
