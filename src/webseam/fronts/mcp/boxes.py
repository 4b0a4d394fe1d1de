"""What stands between the SDK, which lives in an event loop, and the threads that read and write the pipes.

No event loop can wait for a pipe on every platform, and a pipe that nobody empties must not stop all calls. To the SDK
both look like the text files it expects.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from webseam.fronts.mcp.wire import MAX_LINE, Wire

if TYPE_CHECKING:
    import asyncio

__all__ = ["Inbox", "Outbox"]

LAST_WORDS: Final = 1.0  # seconds for answers to what was asked before there was a server, when the client has left
MAX_WAITING: Final = 2 * MAX_LINE  # bytes read ahead of the server; after that the client has to wait


class Inbox:
    """Lines on their way from the reading thread into the event loop. The SDK reads it like a text file."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, lines: list[bytes], settled: Callable[[], Awaitable[None]]
    ) -> None:
        import asyncio

        self._loop = loop
        self._settled = settled  # awaited before the end: the SDK drops at the end what it has not answered
        self._arrived = asyncio.Event()
        self._changed = threading.Condition()
        self._lines = deque(lines)
        self._size = sum(map(len, lines))
        self._closed = False

    def put(self, line: bytes) -> None:
        """Add a line. Blocks while `MAX_WAITING` bytes have not been taken."""
        with self._changed:
            self._changed.wait_for(lambda: self._size < MAX_WAITING or self._closed)
            if self._closed:
                return
            self._lines.append(line)
            self._size += len(line)
        self._wake()

    def close(self, *, at_once: bool = False) -> None:
        """End after the lines that wait; or without them."""
        with self._changed:
            self._closed = True
            if at_once:
                self._lines.clear()
            self._changed.notify_all()
        self._wake()

    def stop(self) -> None:
        """Do `close(at_once=True)` soon, from the handler of a signal: it may interrupt any line of this class."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(partial(self.close, at_once=True))

    def _wake(self) -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._arrived.set)

    def __aiter__(self) -> Inbox:
        return self

    async def __anext__(self) -> str:
        while True:
            with self._changed:
                if self._lines:
                    line = self._lines.popleft()
                    self._size -= len(line)
                    self._changed.notify_all()
                    return line.decode("utf-8", "replace")
                closed = self._closed
                self._arrived.clear()
            if closed:
                await self._settled()
                raise StopAsyncIteration
            await self._arrived.wait()


class Outbox:
    """What the SDK writes to. A thread does it: a client that does not read must not stop the event loop.

    Args:
        known: ids of requests whose answers the client has already.
        owed: ids of requests that waited for the SDK to be there.
        gone: called in the event loop when the client has closed its end; what is written then is forgotten.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        wire: Wire,
        *,
        known: set[str],
        owed: set[int | str],
        gone: Callable[[], None],
    ) -> None:
        import asyncio

        self._loop = loop
        self._wire = wire
        self._known = known
        self._owed = owed
        self._gone = gone
        self._paid = asyncio.Event()
        self._text = ""
        self._queue: SimpleQueue[tuple[bytes, asyncio.Future[None]]] = SimpleQueue()
        threading.Thread(target=self._send, name="stdout", daemon=True).start()

    async def settled(self) -> None:
        """Return when nothing is owed any more, or after `LAST_WORDS`."""
        import asyncio

        if self._owed:
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS):
                    await self._paid.wait()

    async def write(self, text: str) -> None:
        """Take one message."""
        number = json.loads(text).get("id") if self._known or self._owed else None
        if number in self._known:
            self._known.remove(number)
            return
        self._owed.discard(number)
        if not self._owed:
            self._paid.set()
        self._text += text

    async def flush(self) -> None:
        """Return when everything has been sent. What was taken is sent even if this is cancelled."""
        done = self._loop.create_future()
        self._queue.put((self._text.encode(), done))
        self._text = ""
        await done

    def _send(self) -> None:
        while True:
            data, done = self._queue.get()
            try:
                if data and self._gone is not _nothing:
                    self._wire.send(data)
            except OSError:
                self._tell(self._gone)
                self._gone = _nothing
            self._tell(partial(_resolve, done))

    def _tell(self, what: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(what)


def _nothing() -> None:
    return


def _resolve(done: asyncio.Future[None]) -> None:
    if not done.done():  # nobody waits for it any more
        done.set_result(None)
