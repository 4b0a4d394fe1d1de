"""Runs readers of hostile formats in child processes that can be killed.

A reader that hangs in native code cannot be stopped from inside its process, and one that crashes takes its process
along: so neither may be ours. A child is kept warm for some seconds, because starting one (50 ms and its imports) costs
more than most documents do. It belongs to a thread, not to an event loop: loops come and go between calls, and a pipe
that outlives its loop cannot be closed.
Killing is the only way to stop a child, and always safe: it holds nothing that could be left half done.
"""

from __future__ import annotations

import asyncio
import atexit
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, cast

from webseam.errors import Outcome
from webseam.fetch.child import receive, send
from webseam.fetch.said import nonsense, reading_of, said_by
from webseam.fetch.types import Reading, Source, Unreadable

__all__ = ["close", "make_in_worker", "run_in_worker", "warm"]

READERS: Final = "webseam.fetch.readers"  # where readers are found by their name
MAX_CHILDREN: Final = 2  # at a time; a third document waits rather than taking memory and a core from everything else
WARM: Final = 10.0  # seconds a child is kept with nothing to do
MAX_READINGS: Final = 100  # by one child, so that what a library leaks does not add up
MAX_ANSWER: Final = 64 * 1024 * 1024  # bytes of a reading: more than three times the largest document

_HARMLESS: Final = {"reading", "made", "unreadable"}  # answers after which a child is as good as before
_EXAMPLE: Final = b"<html><body><main><p>A page.</p></main></body></html>"
_ROOT: Final = str(Path(__file__).resolve().parents[2])
_CODE: Final = "import sys; sys.path += sys.argv[1:]; from webseam.fetch.child import main; main()"
# What an interpreter needs to start; no key, proxy or setting of the user is among it.
_KEPT: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP")


async def run_in_worker(
    reader: str,
    source: Source,
    *,
    expires_at: float,
    max_memory: int,
    options: Mapping[str, object] | None = None,
) -> Reading:
    """Return what `webseam.fetch.readers.<reader>.read(source, **options)` makes of `source` in a child process.

    At most `MAX_CHILDREN` read at a time; further callers wait for their turn, within their own deadline. A reader with
    a parameter `seconds` is told how much time it has and can stop early with what it read.

    Args:
        reader: the module's name, chosen by us and never by a page.
        expires_at: an instant of `time.monotonic`; the child is killed then, as it is on cancellation.
        max_memory: bytes of address space beyond those of an idle child (POSIX; elsewhere the deadline alone bounds).
        options: further keyword arguments of the reader, as JSON can carry them.

    Raises:
        Unreadable: what the reader said; `timeout` at the deadline; `bad_response` when it crashed, ran out of memory
            or answered nonsense; `unavailable` when this system starts no process for us.
    """
    return reading_of(*await _answer(reader, source, expires_at, max_memory, options))


async def make_in_worker(
    maker: str,
    source: Source,
    *,
    expires_at: float,
    max_memory: int,
    options: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return the dictionary that `webseam.fetch.readers.<maker>.read` makes; its values are for the caller to check.

    Raises:
        Unreadable: as `run_in_worker`.
    """
    answer, job = await _answer(maker, source, expires_at, max_memory, options)
    made = said_by(answer, job).get("made")
    if not isinstance(made, dict):
        raise nonsense(job)
    return made


async def _answer(
    reader: str, source: Source, expires_at: float, max_memory: int, options: Mapping[str, object] | None
) -> tuple[dict[str, Any], _Job]:
    job = _Job(reader, source, dict(options or {}), expires_at, max_memory)
    try:
        if expires_at <= time.monotonic():
            raise TimeoutError
        _pool.submit(job)
        async with asyncio.timeout(None if math.isinf(expires_at) else expires_at - time.monotonic()):
            return await job.answer, job
    except TimeoutError:
        detail = f"the {reader} reader was not done with {job.size} at the deadline and was stopped"
        raise Unreadable(detail, outcome=Outcome.TIMEOUT) from None
    finally:
        _pool.abandon(job)


def warm(reader: str, *, max_memory: int, seconds: float = WARM) -> None:
    """Have a child start and load a reader while something else is waited for. Needs a running event loop.

    Does nothing where children are there already.
    """
    if not _pool.is_staffed:
        example = Source(body=_EXAMPLE, url="http://webseam.invalid/")
        _pool.submit(_Job(reader, example, {}, time.monotonic() + seconds, max_memory, warms=True))


def close() -> None:
    """End all children and see them gone. The next call starts new ones."""
    _pool.close()


@dataclass(slots=True, eq=False)
class _Job:
    reader: str
    source: Source
    options: dict[str, object]
    expires_at: float
    max_memory: int
    warms: bool = False  # nobody waits for it
    child: subprocess.Popen[bytes] | None = None  # set while one works on it
    abandoned: bool = False
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    answer: asyncio.Future[dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.answer = self.loop.create_future()

    @property
    def size(self) -> str:
        return f"{len(self.source.body):,} bytes"

    def question(self) -> dict[str, Any]:
        source = self.source
        return {
            "module": f"{READERS}.{self.reader}",
            "options": self.options,
            "seconds": None if math.isinf(self.expires_at) else max(0.0, self.expires_at - time.monotonic()),
            "max_memory": self.max_memory,
            "source": {
                "url": source.url,
                "media_type": source.media_type,
                "charset": source.charset,
                "truncated": source.truncated,
            },
        }

    def finish(self, answer: dict[str, Any]) -> None:
        """Hand the answer to the caller's event loop, which may be gone by now."""

        def set_unless_gone() -> None:
            if not self.answer.done():
                self.answer.set_result(answer)

        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(set_unless_gone)


class _Pool:
    """Jobs in the order they came, and up to `MAX_CHILDREN` threads that each own one child."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._working: set[_Job] = set()
        self._serving = 0  # threads that take jobs, `_idle` of them at this moment
        self._idle = 0
        self._threads: set[threading.Thread] = set()  # those and the ones that still see their child out
        self._closing = False

    @property
    def is_staffed(self) -> bool:
        return self._serving > 0

    def submit(self, job: _Job) -> None:
        with self._changed:
            self._waiting.append(job)
            self._staff()

    def _staff(self) -> None:
        """Have enough threads for what waits. The lock is held."""
        # A child that is getting warm is ready before a second one would be, which would take its memory for nothing.
        ready = self._idle + sum(job.warms for job in self._working)
        wanted = sum(not job.warms for job in self._waiting) or len(self._waiting)
        while ready < wanted and self._serving < MAX_CHILDREN:
            thread = threading.Thread(target=self._serve, name="webseam-reader", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads here
                if not self._serving:
                    self._waiting.pop().finish({"unstarted": True})
                return
            self._threads.add(thread)
            self._serving += 1
            self._idle += 1
            ready += 1
        self._changed.notify_all()

    def abandon(self, job: _Job) -> None:
        """Forget a job: take it from the queue, or kill the child that works on it."""
        with self._changed:
            job.abandoned = True
            with suppress(ValueError):
                self._waiting.remove(job)
            if job.child is not None:
                job.child.kill()

    def close(self) -> None:
        with self._changed:
            self._closing = True
            while self._waiting:
                self._waiting.popleft().finish({"unstarted": True})
            for job in self._working:
                if job.child is not None:
                    job.child.kill()
            threads = list(self._threads)
            self._changed.notify_all()
        for thread in threads:
            thread.join()
        with self._changed:
            self._closing = False
            self._staff()

    def _next(self) -> _Job | None:
        """Wait for the next job. None when there was none for `WARM` seconds: this thread serves no longer."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing, timeout=WARM)
            self._idle -= 1
            if self._waiting and not self._closing:
                job = self._waiting.popleft()
                self._working.add(job)
                return job
            self._serving -= 1
            return None

    def _serve(self) -> None:
        child: subprocess.Popen[bytes] | None = None
        done = 0
        while (job := self._next()) is not None:
            if child is not None and (done >= MAX_READINGS or child.poll() is not None):
                _end(child)
                child = None
            if child is None:
                child, done = _start(), 0
            answer = self._work(child, job)
            done += 1
            if child is not None and not answer.keys() & _HARMLESS:
                _end(child)  # after running out of memory or worse, nobody knows what state it is in
                child = None
            job.finish(answer)
        if child is not None:
            _end(child)
        with self._changed:
            self._threads.discard(threading.current_thread())

    def _work(self, child: subprocess.Popen[bytes] | None, job: _Job) -> dict[str, Any]:
        with self._changed:
            job.child = child
            stopped = job.abandoned or self._closing
        try:
            if stopped:
                return {"unreadable": {}}  # nobody waits for it, and the child has seen none of it
            return {"unstarted": True} if child is None else _ask(child, job)
        finally:
            with self._changed:
                job.child = None
                self._working.discard(job)
                self._idle += 1


def _start() -> subprocess.Popen[bytes] | None:
    """Start a child that finds modules where we do, but reads no settings and no `site`. None where that fails."""
    if not sys.executable or getattr(sys, "frozen", False):  # a bundled program would start itself again
        return None
    folders = [*(entry for entry in sys.path if Path(entry).is_absolute()), _ROOT]  # after the standard library
    # Compiled readers are kept where ours are: compiling them anew takes longer than reading most pages.
    bare = ["-B"] if sys.dont_write_bytecode else []
    command = [sys.executable, "-I", "-S", *bare, "-c", _CODE, *dict.fromkeys(folders)]
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # One arena: each further one reserves 64 MiB of the address space that is limited, and uses none of it.
            env={**kept, "MALLOC_ARENA_MAX": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError):  # ValueError: a NUL in a folder's name
        return None


def _ask(child: subprocess.Popen[bytes], job: _Job) -> dict[str, Any]:
    """Return the child's answer; {"crashed": how} when it died of the job, {"nonsense": why} when it sent no answer."""
    try:
        send(cast("IO[bytes]", child.stdin), job.question(), job.source.body)  # type: ignore[arg-type]
        said = cast("IO[bytes]", child.stdout)
        answer, _ = receive(said, max_header=MAX_ANSWER, max_body=0)  # type: ignore[arg-type]
    except (EOFError, OSError):
        child.kill()
        return {"crashed": _last_word(child.wait())}
    except (ValueError, TypeError, RecursionError) as error:  # TypeError: an option that JSON cannot carry
        return {"nonsense": str(error)}
    return answer


def _last_word(code: int) -> str:
    """Return how a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):  # that of a killed child may still hold half of a question
                pipe.close()
    child.wait()


_pool = _Pool()
atexit.register(close)


def _forget() -> None:
    """Start over after a fork: children and threads are the parent's, and its lock may be held for ever."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
