"""The HTTP cache of one user: what may be kept, in a file of bounded size, and one view of it for each request.

It stands inside the client, hop by hop, because redirects are followed there: a cache around the client would give back
the end of a chain whose middle the policy might refuse today. Here every hop is judged, kept or not.

A cache must never be the reason that a page is not read. Any error of the file is told once, and the process goes on
without; writing happens in a thread nobody waits for.

Measured on one core: finding takes 0.1 ms and unpacking 3.3 ms per MB, so both are done in the event loop where the
body is small; opening (0.6 ms, 5 when the file is new) and writing (0.4 to 40 ms) are not.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import sqlite3
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from webseam.net import cache_file, cache_rules
from webseam.net.answer import limit
from webseam.net.cache_rules import Stored
from webseam.net.message import Headers, RawHeaders, Request
from webseam.net.redact import redact_url
from webseam.shared_file import is_busy

__all__ = ["Memory", "ResponseCache", "memory_of"]

T = TypeVar("T")

_log = logging.getLogger("webseam")

MAX_BYTES = 200 * 2**20  # of all entries; some thousand pages
BUSY = 0.05  # seconds the event loop waits for a lock; in WAL mode readers wait only while a file is repaired
BUSY_BACKGROUND = 2.0  # seconds, in the thread nobody waits for
BUSY_REST = 30.0  # seconds without a cache after a wait in vain
PATIENCE = 0.5  # seconds a request waits for the thread that writes; 20 MB are packed and written in 0.2
INLINE = 32 * 2**10  # bytes in the file up to which a body is read in the event loop: 170 KB of HTML, 0.6 ms
MAX_QUEUED = 64 * 2**20  # bytes of bodies that wait to be written; more means a disk that is slower than the network
TOUCH_AFTER = 60.0  # seconds between two notes that an entry was used: the order of the unused ones is what matters

_of_parents: list[object] = []  # even dropping a connection in a forked child would take the locks of its parent


class _Link:
    """A connection that is opened anew when another file has taken the place of its own."""

    def __init__(self, path: Path, *, busy: float) -> None:
        self._path = path
        self._busy = busy
        self._db: sqlite3.Connection | None = None
        self._identity = (0, 0)

    def is_open(self) -> bool:
        return self._db is not None and self._identity == _identity(self._path)

    def get(self) -> sqlite3.Connection:
        if self._db is None or not self.is_open():
            self.close()
            self._db = cache_file.connect(self._path, busy=self._busy)
            self._identity = _identity(self._path)
        return self._db

    def close(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None


class ResponseCache:
    """Answers kept in the file `path`, created 0600 in a folder created 0700.

    It may serve several clients, each in its own event loop and thread, and several processes. `warn` is called at most
    once, from whatever thread meets the error.

    Args:
        max_bytes: of all entries together; the least recently used go first.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = MAX_BYTES,
        warn: Callable[[str], None] = _log.warning,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.clock = clock
        self._path = path
        self._max_bytes = max_bytes
        self._warn = warn
        self._warned = False
        self._closed = False
        self._back_at = -math.inf  # by time.monotonic()
        self._start()

    def __repr__(self) -> str:
        return f"ResponseCache({str(self._path)!r})"

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._reader = _Link(self._path, busy=BUSY)
        self._writer = _Link(self._path, busy=BUSY_BACKGROUND)
        self._thread: ThreadPoolExecutor | None = None
        self._queued: Counter[str] = Counter()  # by URL: what is not written yet cannot be found yet
        self._queued_bytes = 0
        self._finalizer = weakref.finalize(self, _close_links, self._reader, self._writer, self._process)

    def _adopt(self) -> None:
        """Start anew in a forked child: neither threads nor connections outlive a fork."""
        if self._process != os.getpid():
            self._finalizer.detach()
            _of_parents.extend((self._reader, self._writer, self._thread))
            self._start()

    # What a request sees.

    async def find(self, url: str) -> list[cache_file.Row]:
        """Return what is kept of a URL, without bodies, the newest first; nothing when the file is of no use."""
        self._adopt()
        if self._is_off():
            return []
        if self._queued[url] or not self._reader.is_open():
            return await self._wait(lambda _: self._read(lambda db: cache_file.find(db, url))) or []
        return self._read(lambda db: cache_file.find(db, url)) or []

    async def body(self, row: cache_file.Row, *, most: int) -> bytes | None:
        """Return a body, of one that is longer than `most` its first `most + 1` bytes; None when it is gone."""
        number = row.stored.number
        if row.size > INLINE:
            return await self._wait(lambda db: cache_file.read_body(db, number, most=most))
        return self._read(lambda db: cache_file.read_body(db, number, most=most))

    def keep(self, stored: Stored) -> None:
        """Keep an answer, some time soon."""
        size = len(stored.body)
        if self._queued_bytes + size <= MAX_QUEUED:
            used = self.clock()
            limit = self._max_bytes
            self._later(stored.url, lambda db: cache_file.add(db, stored, used=used, limit=limit), size=size)

    def renew(self, stored: Stored) -> None:
        """Write down, some time soon, what a server said about an answer that it had sent before."""
        used = self.clock()
        self._later(stored.url, lambda db: cache_file.renew(db, stored, used=used))

    def touch(self, row: cache_file.Row) -> None:
        """Note, some time soon, that an answer was used."""
        used = self.clock()
        if not 0 <= used - row.used < TOUCH_AFTER:
            number = row.stored.number
            self._later(row.stored.url, lambda db: cache_file.touch(db, number, used))

    def forget(self, stored: Stored) -> None:
        """Let go of an answer that holds no longer."""
        self._later(stored.url, lambda db: cache_file.remove(db, stored))

    def forget_url(self, url: str) -> None:
        """Let go of all answers of a URL, because something was sent there: RFC 9111, 4.4."""
        self._later(url, lambda db: cache_file.remove_url(db, url))

    # What a person sees.

    def clear(self) -> int:
        """Let go of everything and return how many answers there were. Blocks for some milliseconds."""
        return self._submit(cache_file.clear).result() or 0

    def size(self) -> int:
        """Return how many bytes all answers take up, what waits to be written included."""
        return self._submit(cache_file.total).result() or 0

    def flush(self) -> None:
        """Wait until everything is written."""
        self._submit(lambda _: None).result()

    def close(self) -> None:
        """Write what waits, and go without a cache from now on."""
        self._adopt()
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown()
        with self._lock:
            self._back_at = math.inf
            self._reader.close()
            self._writer.close()

    # The file, and its errors.

    def _is_off(self) -> bool:
        return time.monotonic() < self._back_at

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `work` on the connection of those who wait for it."""
        with self._lock:
            if self._is_off():
                return None
            try:
                return work(self._reader.get())
            except sqlite3.Error as error:
                problem = error
        self._degrade(problem)
        return None

    def _later(self, url: str, work: Callable[[sqlite3.Connection], None], *, size: int = 0) -> None:
        self._adopt()
        if self._is_off():
            return
        with self._lock:
            self._queued[url] += 1
            self._queued_bytes += size

        def done(_: Future[None]) -> None:
            with self._lock:
                self._queued[url] -= 1
                self._queued_bytes -= size
                if not self._queued[url]:
                    del self._queued[url]

        self._submit(work).add_done_callback(done)

    async def _wait(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `work` in the thread that writes; go without its answer when a slow disk costs more than a request."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await asyncio.wrap_future(self._submit(work))
        except TimeoutError:
            return None

    def _submit(self, work: Callable[[sqlite3.Connection], T]) -> Future[T | None]:
        """Run `work` in the one thread that writes, after all that was given to it before."""
        self._adopt()
        with self._lock, contextlib.suppress(RuntimeError):  # the interpreter is ending
            if not self._closed:
                if self._thread is None:
                    self._thread = ThreadPoolExecutor(1, thread_name_prefix="webseam-cache")
                return self._thread.submit(self._write, work)
        nothing: Future[T | None] = Future()
        nothing.set_result(None)
        return nothing

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        if self._is_off():
            return None
        try:
            return work(self._writer.get())
        except sqlite3.Error as error:
            self._degrade(error)
            return None

    def _degrade(self, error: sqlite3.Error) -> None:
        """Go without the file: for a while where another process holds it, else for good."""
        with self._lock:
            busy = is_busy(error)
            self._back_at = max(self._back_at, time.monotonic() + BUSY_REST if busy else math.inf)
            first, self._warned = not self._warned, True
        if first:
            remedy = "Another process holds it." if busy else "Delete it to start anew, or make its folder writable."
            self._warn(f"the page cache {self._path} cannot be used ({error}); going on without it. {remedy}")


class Memory:
    """One request of a chain, as its cache sees it. Made by `memory_of`; used once.

    Attributes:
        conditions: fields to send along, which ask whether the answer that is kept still holds.
    """

    def __init__(self, cache: ResponseCache, request: Request, url: str, sent: RawHeaders) -> None:
        self.conditions: RawHeaders = []
        self._cache = cache
        self._request = request
        self._url = url
        self._sent = sent
        self._row: cache_file.Row | None = None
        self._asked_at = cache.clock()

    async def fresh(self) -> Stored | None:
        """Return the answer that may be given without asking; else set `conditions`."""
        rows = await self._cache.find(self._url)
        self._row = next((row for row in rows if cache_rules.answers(row.stored, self._sent)), None)
        if self._row is None:
            return None
        stored, now = self._row.stored, self._cache.clock()
        wanted = cache_rules.asked(self._request.headers)
        if self._request.cache == "use" and cache_rules.is_fresh(stored, now, wanted):
            headers = cache_rules.with_age(stored.headers, cache_rules.age(stored, now))
            recalled = await self._recalled(replace(stored, headers=headers))
            if recalled is not None:
                self._cache.touch(self._row)
                return recalled
        else:
            self.conditions = cache_rules.conditions(stored.headers)
        self._asked_at = self._cache.clock()
        return None

    async def confirmed(self, headers: Headers) -> Stored | None:
        """Return the answer that a 304 speaks of; None when it is not kept (any more), so that it must be fetched."""
        self.conditions = []
        if self._row is None or not cache_rules.confirms(self._row.stored, headers):
            return None
        times = {"asked_at": self._asked_at, "heard_at": self._cache.clock()}
        stored = await self._recalled(cache_rules.refreshed(self._row.stored, headers, **times))
        if stored is None:
            return None
        if cache_rules.may_store(stored.status, stored.headers, stored.heard_at):
            self._cache.renew(stored)
        else:  # the server takes back its leave to keep it
            self._cache.forget(stored)
        return stored

    def learn(self, status: int, headers: Headers, body: bytes, *, whole: bool) -> None:
        """Keep the server's answer if it may be kept; else let go of the one before, unless this is but a failure.

        `whole` is False for a body of which a part is missing.
        """
        now = self._cache.clock()
        location = headers.get("location") or ""  # may lead to a signed address
        if whole and cache_rules.may_store(status, headers, now) and redact_url(location) == location:
            kept = cache_rules.kept_headers(headers)
            varied = cache_rules.variation(cache_rules.vary(headers), self._sent)
            self._cache.keep(Stored(self._url, varied, status, kept, self._asked_at, now, now, body))
        elif self._row is not None and status in cache_rules.WHEN_TOLD:
            self._cache.forget(self._row.stored)

    async def _recalled(self, stored: Stored) -> Stored | None:
        assert self._row is not None  # noqa: S101 - both callers have looked
        body = await self._cache.body(self._row, most=limit(self._request, stored.headers))
        return None if body is None else replace(stored, body=body)


def memory_of(cache: ResponseCache, request: Request, url: str, sent: RawHeaders) -> Memory | None:
    """Return what a cache is to a request; None when the request must pass it by.

    `sent` are the fields as they go out, those the client adds included: they are what a server varies its answers by.
    """
    if request.cache == "off" or request.method != "GET" or request.body or request.stop_at is not None:
        return None
    if request.secrets or cache_rules.is_private(request.headers) or cache_rules.is_partial(request.headers):
        return None
    if "no-store" in cache_rules.asked(request.headers) or redact_url(url) != url:  # a key in the query
        return None
    return Memory(cache, request, url, sent)


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


def _close_links(reader: _Link, writer: _Link, process: int) -> None:
    if process == os.getpid():
        reader.close()
        writer.close()
    else:
        _of_parents.extend((reader, writer))
