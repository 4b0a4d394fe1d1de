"""Runs one program of the user's and reads what it prints, bounded in time, in size and in what the program can see.

No shell ever reads the words, so a query cannot become a command. The program gets no terminal, no input, an empty
folder of its own and an environment made here: a search program needs a path and a language, not our keys. Whatever it
started ends with it. What differs by platform (environment, process trees, where programs are found) stands in small
functions at the end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from webseam.text import clean

__all__ = ["NotStarted", "Printed", "Program", "environment", "find", "run", "values_of"]

MAX_STDOUT: Final = 5 * 1024 * 1024  # bytes, as of an answer from the network
MAX_STDERR: Final = 64 * 1024
_REAPED_WITHIN: Final = 1.0  # seconds a killed program has to be gone; one that hangs inside the kernel is left behind
_LAST_WORDS: Final = 0.1  # seconds, whatever the deadline: what a program that has ended left in its pipes is in memory

_WINDOWS: Final = sys.platform == "win32"
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_PLAIN: Final = {"NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One run of a program.

    Attributes:
        argv: the program and its arguments, handed over as they are.
        env: names of variables it may see besides the usual ones.
        timeout: seconds it may take, inside the caller's deadline.
        max_stdout, max_stderr: bytes kept; what is printed beyond is read and forgotten, so that the program can end.
        proxy: URL of the one proxy it is told to use; "" = those of our own environment.
        secrets: what nobody may be shown of its output. `run` shows nothing; whoever quotes removes them.
    """

    argv: tuple[str, ...]
    env: tuple[str, ...] = ()
    timeout: float = 30.0
    max_stdout: int = MAX_STDOUT
    max_stderr: int = MAX_STDERR
    proxy: str = field(default="", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a program printed, as text without escape sequences, and its exit code; below 0 it was ended by a signal.

    `truncated` is True when `stdout` is not all it printed.
    """

    code: int
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False


class NotStarted(FileNotFoundError):
    """There is no such program, or the system cannot start what stands there. Nothing has run."""


async def run(program: Program, *, expires_at: float) -> Printed:
    """Run `program` to its end and return what it printed. `expires_at` is an instant of `time.monotonic`.

    Raises:
        TimeoutError: it was not done by then. It is killed, with all it started, as it is on cancellation.
        NotStarted: it cannot be run at all, saying why.
        ValueError: an argument that no program can be given: a NUL, half of a surrogate pair.
    """
    path = find(program.argv[0])
    if path is None:
        raise NotStarted(f"there is no program {program.argv[0]} on the path")
    deadline = min(expires_at, time.monotonic() + program.timeout)
    if time.monotonic() >= deadline:
        raise TimeoutError
    with TemporaryDirectory(prefix="webseam-", ignore_cleanup_errors=True) as folder:
        transport, output = await _start(program, path, folder, deadline)
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                await output.exited.wait()
        finally:  # at its own end too: what it left running would go on with nobody to read it
            await _end(transport, output, deadline)
    return output.printed(transport.get_returncode() or 0)


async def _start(
    program: Program, path: str, folder: str, deadline: float
) -> tuple[asyncio.SubprocessTransport, _Output]:
    """Start `program`. Cancellations that come meanwhile wait until there is something that can be killed."""
    starting = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            lambda: _Output(program),
            path,
            *program.argv[1:],
            stdin=subprocess.DEVNULL,  # truly closed, the first file it opens would become its input
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment(program),
            **_own_group(),
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        while not starting.done():
            with suppress(asyncio.CancelledError):  # the first one is raised; a further one would leave the program
                await asyncio.wait([starting])
        if not starting.cancelled() and starting.exception() is None:
            await _end(*starting.result(), deadline)
        raise
    except OSError as error:  # its file is no program, or names an interpreter that is not there
        raise NotStarted(f"{program.argv[0]} cannot be started: {error.strerror}") from None


async def _end(transport: asyncio.SubprocessTransport, output: _Output, deadline: float) -> None:
    """Kill what still runs, take in what had been printed, and see the program gone."""
    _kill_all(transport.get_pid(), running=transport.get_returncode() is None)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAPED_WITHIN):
                await output.exited.wait()
            # Its pipes end with the last process that holds them: only one that left the group can still do so.
            left = min(_REAPED_WITHIN, deadline - time.monotonic())
            async with asyncio.timeout(max(_LAST_WORDS, left)):
                await output.ended.wait()
    finally:
        transport.close()
    if output.exited.is_set():
        await output.ended.wait()  # the loop has one or two callbacks left to run for the closed pipes


class _Output(asyncio.SubprocessProtocol):
    """Keeps the beginning of what a program prints and reads the rest away. No task of its own that could leak."""

    def __init__(self, program: Program) -> None:
        self.exited = asyncio.Event()
        self.ended = asyncio.Event()  # exited, and both pipes closed
        self._limits = {1: program.max_stdout, 2: program.max_stderr}
        self._kept = {1: bytearray(), 2: bytearray()}
        self._truncated = False

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        room = self._limits[fd] - len(self._kept[fd])
        self._kept[fd] += data[:room]
        self._truncated |= fd == 1 and len(data) > room

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()

    def printed(self, code: int) -> Printed:
        stdout, stderr = (clean(kept.decode("utf-8", "replace")) for kept in self._kept.values())
        return Printed(code=code, stdout=stdout, stderr=stderr, truncated=self._truncated)


def values_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return what these variables of our own environment hold, for whoever must not show it."""
    return tuple(os.environ[name] for name in names if os.environ.get(name))


def environment(program: Program) -> dict[str, str]:
    """Return all the variables `program` will see. A list of what to pass: keys have more names than anybody knows."""
    proxies = _both_cases(*_PROXIES)
    passed = [*_needed(), *program.env, *(() if program.proxy else (*proxies, *_both_cases("NO_PROXY")))]
    ours = {name: os.environ[name] for name in passed if name in os.environ}
    given = dict.fromkeys(proxies, program.proxy) if program.proxy else {}
    return {**_PLAIN, **_language(), **ours, **given}


def find(name: str) -> str | None:
    """Return the absolute path of the program `name`: found on the path, or a path itself. Nothing is run.

    Relative folders of the path are passed over: they would mean whatever folder the user happens to be in.
    """
    if Path(name).name != name:
        places = [Path(name).absolute()]
    else:
        places = [Path(folder, name) for folder in os.get_exec_path() if Path(folder).is_absolute()]
    found = (f"{place}{ending}" for place in places for ending in _endings(name))
    return next((path for path in found if Path(path).is_file() and os.access(path, os.X_OK)), None)


def _both_cases(*names: str) -> tuple[str, ...]:
    """Return environment names as different programs look for them; on Windows both spellings are one name."""
    return names if _WINDOWS else (*names, *(name.lower() for name in names))


def _needed() -> tuple[str, ...]:
    """Return the names without which programs do not start, or do not find their user's folders."""
    if not _WINDOWS:
        return ("PATH", "HOME")
    return tuple("PATH PATHEXT SYSTEMROOT SYSTEMDRIVE TEMP TMP USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA".split())


def _language() -> dict[str, str]:
    """Return what makes a program print UTF-8 and unlocalised messages."""
    if _WINDOWS:
        return {"PYTHONUTF8": "1"}
    name = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"  # the one that each is sure to have
    return {"LANG": name, "LC_ALL": name}


def _endings(name: str) -> tuple[str, ...]:
    """Return what a file name may have to end with. Batch files are no programs here.

    Windows hands their arguments to cmd.exe, which reads them again by rules that nothing can be quoted for.
    """
    programs = (".exe", ".com")
    return programs if _WINDOWS and not name.lower().endswith(programs) else ("",)


def _own_group() -> dict[str, Any]:
    """Return the options that make a program and its children one group to kill, and leave it no terminal."""
    if _WINDOWS:
        return {"creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0)}
    return {"start_new_session": True}


def _kill_all(pid: int, *, running: bool) -> None:
    """Kill the group that `pid` leads. It may have ended: the group is found as long as any child of it lives.

    Its number cannot have gone to somebody else before: that takes one round of all numbers since it was reaped.
    """
    if not _WINDOWS:
        with suppress(ProcessLookupError, PermissionError):  # macOS: PermissionError when only the dead are left
            os.killpg(pid, signal.SIGKILL)
    elif running:  # a tree is known by its root alone
        taskkill = Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([taskkill, "/T", "/F", "/PID", str(pid)], capture_output=True, timeout=5, check=False)
