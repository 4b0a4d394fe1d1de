"""Running the real command in a process of its own, beside servers in this one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import webseam

SOURCE = Path(webseam.__file__).parents[1]


@dataclass(frozen=True)
class Run:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """What it printed on standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)


def environment_of(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a command: that of this test, and `more`."""
    return {**os.environ, "PYTHONPATH": str(SOURCE), **(more or {})}


async def start(*arguments: str, env: Mapping[str, str] | None = None, stdin: int = subprocess.DEVNULL) -> Any:
    """Start `webseam` with these arguments."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-m", "webseam", *arguments,
        stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment_of(env),
    )  # fmt: skip


async def webseam_command(*arguments: str, env: Mapping[str, str] | None = None, stdin: bytes | None = None) -> Run:
    """Run `webseam` with these arguments to its end."""
    process = await start(*arguments, env=env, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
    out, err = await process.communicate(stdin)
    return Run(process.returncode, out.decode("utf-8"), err.decode("utf-8"))


async def interrupted(*arguments: str, env: Mapping[str, str], once: Callable[[], Awaitable[Any]]) -> Run:
    """Run `webseam` and send it SIGINT, as Ctrl-C does, once something has happened."""
    process = await start(*arguments, env=env)
    await once()
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    return Run(process.returncode, out.decode("utf-8"), err.decode("utf-8"))
