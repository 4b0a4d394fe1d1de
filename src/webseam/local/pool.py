"""Child processes that read sources while this one writes what they found.

One is enough for a few changes; two when everything is to be read, because a third would compete with the writer.
Closing kills them at once: they hold nothing that could be left half done.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from webseam.local.worker import Answer, Job, perform, receive, send

WORKERS = 2
MUCH = 40  # jobs from which a second process pays its start (60 ms)
HELD = 4  # answers that may wait for the writer; each may be some 20 MB
TRIES = 2  # of one job: the first child may have died of something else, the second has died of the job
TICK = 0.1  # seconds between looks at whether to stop

_ROOT = str(Path(__file__).resolve().parents[2])
_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from webseam.local.worker import main; main()"


class Pool:
    """Answers jobs in the order they get done. Use as a context manager."""

    def __init__(self, jobs: Sequence[Job], *, stopped: threading.Event) -> None:
        self._waiting = deque(enumerate(jobs))
        self._left = len(jobs)
        self._done: queue.Queue[tuple[int, Answer | None]] = queue.Queue(HELD)
        self._stopped = stopped
        self._closed = threading.Event()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Pool:
        for number in range(min(self._left, WORKERS if self._left >= MUCH else 1)):
            thread = threading.Thread(target=self._serve, name=f"webseam-index-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        with self._lock:
            children = list(self._children)
        for child in children:
            child.kill()
        for thread in self._threads:
            thread.join()

    def answers(self, until: float | None) -> Iterator[tuple[int, Answer | None] | None]:
        """Yield (number of the job, answer or None when it failed) until all are done, `until` or a stop.

        None alone is yielded each time nothing is ready, so that the writer can let go of what it holds.
        """
        while self._left and not self._stopped.is_set():
            wait = TICK if until is None else min(TICK, until - time.monotonic())
            if wait <= 0:
                return
            try:
                answer = self._done.get(timeout=wait)
            except queue.Empty:
                yield None
                continue
            self._left -= 1
            yield answer

    def _serve(self) -> None:
        child = self._start()
        try:
            while not self._closed.is_set():
                with self._lock:
                    if not self._waiting:
                        return
                    number, job = self._waiting.popleft()
                answer: Answer | None = None
                for _ in range(TRIES):
                    try:
                        answer = perform(job) if child is None else self._ask(child, job)
                        break
                    except (EOFError, OSError, ValueError):  # the child died
                        self._end(child)
                        child = None if self._closed.is_set() else self._start()
                    if self._closed.is_set():
                        return
                self._hand_over(number, answer)
        finally:
            self._end(child)

    def _hand_over(self, number: int, answer: Answer | None) -> None:
        while not self._closed.is_set():
            try:
                self._done.put((number, answer), timeout=TICK)
                return
            except queue.Full:
                continue

    def _start(self) -> subprocess.Popen[bytes] | None:
        """Start a child; None where that is impossible, and the job is then done by this process."""
        if not sys.executable:
            return None
        command = [sys.executable, "-I", "-S", "-c", _CODE, _ROOT]
        try:
            child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except OSError:
            return None
        with self._lock:
            self._children.add(child)
        if self._closed.is_set():  # closing may have missed it
            child.kill()
        return child

    def _ask(self, child: subprocess.Popen[bytes], job: Job) -> Answer | None:
        send(cast("IO[bytes]", child.stdin), job)  # type: ignore[arg-type]
        return cast("Answer | None", receive(cast("IO[bytes]", child.stdout)))  # type: ignore[arg-type]

    def _end(self, child: subprocess.Popen[bytes] | None) -> None:
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # that of a killed child may still hold half of a job
                    pipe.close()
        child.wait()
        with self._lock:
            self._children.discard(child)
