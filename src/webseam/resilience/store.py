"""What processes of one user tell each other: small JSON documents with a time to live.

The seam exists so that health, pace and caches do not know where their facts are kept: in memory, in a file shared by
processes, or on a server. Nothing of SQLite may show through `Store`; `webseam.resilience.sqlite` is loaded only when
a path is given, since importing sqlite3 costs a few milliseconds that a store in memory does not need.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

__all__ = ["Document", "MemoryStore", "Store", "open_store"]

Document = dict[str, Any]
T = TypeVar("T")

CLOCK_SLACK = 2.0  # seconds; a clock that NTP set back by less does not make us disbelieve what lies in the future
MEMORY_LATER = 512  # documents kept in memory by put_later; about 5 MB at the 10 KB of one response
PRUNE_EVERY = 256  # writes between two looks for rows past their time; a look costs well under a millisecond


class Store(Protocol):
    """Documents by space and key, shared by whoever opened the same place.

    Calls are synchronous and take well under a millisecond, so an event loop may make them. They are thread-safe and
    never raise because of where the documents are kept. A document is copied in and out as JSON, so what a caller does
    to one it got changes nothing. A document written by a clock that was ahead of today's is not believed, unless the
    caller asks for it with `ahead`, as one whose documents name their own days does.
    """

    def get(self, space: str, key: str, *, ahead: bool = False) -> Document | None:
        """Return the document, or None when there is none or its time is over."""

    def set(self, space: str, key: str, value: Document, *, ttl: float) -> None:
        """Keep a document for `ttl` seconds."""

    def put_later(self, space: str, key: str, make: Callable[[], Document], *, ttl: float) -> None:
        """Keep a larger document for up to `ttl` seconds; written in the background, and the oldest go first when many.

        `make` gives the document and is called when it is needed, perhaps in another thread, perhaps never: under load,
        making and writing each would cost the caller more than the document is worth. `get` of this store sees it at
        once, other processes a little later; `close` writes what is still waiting.
        """

    def delete(self, space: str, key: str) -> None:
        """Forget one document."""

    def clear(self, space: str) -> int:
        """Forget all documents of a space; return how many there were."""

    def update(
        self,
        space: str,
        key: str,
        change: Callable[[Document | None], tuple[Document | None, T]],
        *,
        ttl: float,
        ahead: bool = False,
    ) -> T:
        """Read, change and write one document with nobody in between, in any process; return what `change` answers.

        `change` gets the document or None, and returns the new one (None forgets it) and an answer. It must not call
        the store, and must have no other effects: it runs a second time when the place turns out not to take writes.
        """

    def close(self) -> None:
        """Write what waits and let go of the place. Later calls are served from memory."""


def open_store(path: Path | None, *, warn: Callable[[str], None]) -> Store:
    """Return the store in the file `path`, or one in memory for None. Nothing is opened before it is first used.

    A file that cannot be used (corrupt, full, read-only, from a newer version), now or later, costs one call of `warn`
    and the sharing; everything goes on in memory.
    """
    if path is None:
        return MemoryStore()
    from webseam.resilience.sqlite import SqliteStore

    return SqliteStore(path, warn=warn)


@dataclass(frozen=True, slots=True)
class Entry:
    """One document as it is kept. `written` and `expires` are Unix times; `size` is 0 for what must not be evicted."""

    text: str
    written: float
    expires: float
    size: int = 0

    @classmethod
    def of(cls, value: Document, *, now: float, ttl: float, evictable: bool = False) -> Entry:
        text = json.dumps(value, separators=(",", ":"))
        return cls(text, now, now + ttl, len(text) if evictable else 0)

    def read(self, now: float, *, ahead: bool = False) -> Document | None:
        """Return the document, or None when its time is over, its clock was `ahead` of this one, or it is not one."""
        if now >= self.expires or (now < self.written - CLOCK_SLACK and not ahead):
            return None
        try:
            value = json.loads(self.text)
        except (ValueError, TypeError, RecursionError):  # somebody else wrote into the file
            return None
        return value if isinstance(value, dict) else None


class Late:
    """A document that is made when it is first needed."""

    __slots__ = ("_entry", "_make", "_ttl", "_written")

    def __init__(self, make: Callable[[], Document], *, now: float, ttl: float) -> None:
        self._make, self._written, self._ttl = make, now, ttl
        self._entry: Entry | None = None

    def entry(self) -> Entry:
        if self._entry is None:  # two threads may both make it; they make the same
            self._entry = Entry.of(self._make(), now=self._written, ttl=self._ttl, evictable=True)
        return self._entry


class MemoryStore:
    """A store for this process alone."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: dict[tuple[str, str], Entry] = {}
        self._writes = 0

    def get(self, space: str, key: str, *, ahead: bool = False) -> Document | None:
        entry = self._entries.get((space, key))
        return entry.read(self._clock(), ahead=ahead) if entry else None

    def set(self, space: str, key: str, value: Document, *, ttl: float) -> None:
        self.keep((space, key), Entry.of(value, now=self._clock(), ttl=ttl))

    def put_later(self, space: str, key: str, make: Callable[[], Document], *, ttl: float) -> None:
        self.keep((space, key), Late(make, now=self._clock(), ttl=ttl).entry())

    def delete(self, space: str, key: str) -> None:
        with self._lock:
            self._entries.pop((space, key), None)

    def clear(self, space: str) -> int:
        with self._lock:
            names = [name for name in self._entries if name[0] == space]
            for name in names:
                del self._entries[name]
        return len(names)

    def update(
        self,
        space: str,
        key: str,
        change: Callable[[Document | None], tuple[Document | None, T]],
        *,
        ttl: float,
        ahead: bool = False,
    ) -> T:
        with self._lock:
            old = self._entries.get((space, key))
            now = self._clock()
            new, answer = change(old.read(now, ahead=ahead) if old else None)
            if new is None:
                self._entries.pop((space, key), None)
            else:
                self._put((space, key), Entry.of(new, now=now, ttl=ttl))
        return answer

    def close(self) -> None:
        """Nothing is held open."""

    def find(self, name: tuple[str, str]) -> Entry | None:
        """Return the entry as it is kept."""
        return self._entries.get(name)

    def keep(self, name: tuple[str, str], entry: Entry) -> None:
        """Take over an entry as it is: what a store that fails hands to its stand-in."""
        with self._lock:
            self._put(name, entry)

    def _put(self, name: tuple[str, str], entry: Entry) -> None:
        self._entries.pop(name, None)  # so that the order of the dict is the order of writing
        self._entries[name] = entry
        self._writes += 1
        if self._writes % PRUNE_EVERY == 0:
            self._prune()

    def _prune(self) -> None:
        now = self._clock()
        self._entries = {name: entry for name, entry in self._entries.items() if now < entry.expires}
        later = [name for name, entry in self._entries.items() if entry.size]
        for name in later[: max(0, len(later) - MEMORY_LATER)]:
            del self._entries[name]
