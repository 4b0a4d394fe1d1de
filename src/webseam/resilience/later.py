"""Writing in the background: documents that nobody waits for.

A response of 10 KB takes a file about a millisecond with everything around it, which an event loop serving 50 searches
would feel; here they wait in memory, are found there meanwhile, and are written in batches by a thread. It knows
nothing of where they go. The thread ends when it has been idle, so a finished command is not kept waiting by it.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

from webseam.resilience.store import Entry, Late

__all__ = ["WriteBehind"]

Name = tuple[str, str]

GATHER = (
    0.25  # seconds a batch waits for company: what a crash may lose of a mere cache; under load it bounds the writes
)
BATCH = 32  # documents in one transaction: about 320 KB, so others wait for the write lock a few milliseconds at most
MAX_WAITING = 512  # documents; a disk that cannot keep up costs the oldest of them, not the memory of the process
IDLE = 2.0  # seconds without work after which the thread ends


class WriteBehind:
    """Entries on their way to `write`, which gets a batch, is called by one thread at a time, and must not raise."""

    def __init__(self, write: Callable[[Mapping[Name, Entry]], None]) -> None:
        self._write = write
        self._waiting: OrderedDict[Name, Late] = OrderedDict()  # a dict finds its oldest ever more slowly
        self.reset()

    def reset(self) -> None:
        """Start anew in a forked child: what waits is the parent's to write, and its thread is not here."""
        self._waiting.clear()
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._hurry = False

    def put(self, name: Name, late: Late) -> None:
        """Have a document made and written soon."""
        with self._changed:
            self._waiting.pop(name, None)
            self._waiting[name] = late
            if len(self._waiting) > MAX_WAITING:
                self._waiting.popitem(last=False)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="webseam-store", daemon=True)
                self._thread.start()
            if len(self._waiting) == 1:  # waking the thread for each would cost the caller more than the document
                self._changed.notify_all()

    def find(self, name: Name) -> Entry | None:
        """Return the entry that waits under `name`."""
        late = self._waiting.get(name) if self._waiting else None
        return late.entry() if late is not None else None

    def drop(self, name: Name) -> None:
        """Make sure that nothing is written under `name` from now on."""
        if name in self._waiting:
            with self._writing, self._changed:  # a batch under way would bring back what is forgotten here
                self._waiting.pop(name, None)

    def flush(self) -> None:
        """Write everything that waits, now, in the calling thread."""
        while self._waiting:
            self._write_batch()

    def close(self) -> None:
        """Write everything that waits and end the thread."""
        with self._changed:
            thread, self._hurry = self._thread, True
            self._changed.notify_all()
        if thread is not None:
            thread.join()
        self.flush()
        self._hurry = False

    def hold(self) -> None:
        """Keep writes from starting until `let_go`: a fork must not copy half of one."""
        self._writing.acquire()
        self._changed.acquire()

    def let_go(self) -> None:
        self._changed.release()
        self._writing.release()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting and not self._hurry:
                    self._changed.wait(IDLE)
                if not self._waiting:
                    self._thread = None
                    return
                self._changed.wait_for(lambda: self._hurry, GATHER)
            self._write_batch()

    def _write_batch(self) -> None:
        with self._writing:
            with self._changed:
                batch = dict(list(self._waiting.items())[:BATCH])
            if batch:
                self._write(_made(batch))
            with self._changed:
                for name, late in batch.items():
                    if self._waiting.get(name) is late:
                        del self._waiting[name]


def _made(batch: Mapping[Name, Late]) -> dict[Name, Entry]:
    """Make the documents of a batch one by one, letting other threads run in between: the event loop is one of them."""
    entries = {}
    for name, late in batch.items():
        entries[name] = late.entry()
        time.sleep(0)
    return entries
