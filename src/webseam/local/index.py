"""The documentation of what is installed on this machine, searchable without a network.

One SQLite file, shared by all processes of this user. Opening it, checking that it is current and asking one question
must fit into the start of a command, so nothing that reads sources is imported before there is something to read.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from webseam.errors import Cancelled, RequestError, WebSeamError
from webseam.local import schema
from webseam.local.connections import Connections
from webseam.local.query import rank
from webseam.local.render import LocalHit, hit_of
from webseam.local.sources import Source, discover
from webseam.text import clean

if TYPE_CHECKING:
    from webseam.local.build import Progress

MAX_HITS = 100
FOLDERS = "folders.json"  # beside the index, not in it: a damaged index must not lose what the user added


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """What bringing the index up to date did.

    Attributes:
        complete: everything there is to index is in it now.
        read, removed: sources read anew, and sources that are gone.
        entries: in the index now. skipped: files of it that could not be read.
        warnings: what the user should know, in words. took: seconds.
    """

    complete: bool
    read: int = 0
    removed: int = 0
    entries: int = 0
    skipped: int = 0
    warnings: tuple[str, ...] = ()
    took: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """One source in the index. `complete` is False while it is being read or has changed since."""

    kind: str
    name: str
    version: str
    place: str
    entries: int
    skipped: int
    complete: bool


@dataclass(eq=False, slots=True)
class _Running:
    stopped: threading.Event
    connection: sqlite3.Connection | None = None


class LocalIndex:
    """The index at `path`. Safe to use from several threads; `close` lets go of the file."""

    def __init__(self, path: Path, *, folders: Sequence[Path] = (), environments: Sequence[Path] | None = None) -> None:
        self.path = Path(path)
        self._folders = tuple(Path(folder) for folder in folders)
        self._environments = None if environments is None else tuple(Path(place) for place in environments)
        self._lock = threading.Lock()
        self._running: set[_Running] = set()
        self._connections = Connections(self.path)
        self._memory: sqlite3.Connection | None = None  # only where the disk cannot be written
        self._memory_lock = threading.Lock()

    # searching

    def search(self, query: str, *, count: int = 10, package: str | None = None) -> list[LocalHit]:
        """Return the best hits, from what is in the index now; none when there is no index yet.

        Raises:
            RequestError: the query is empty or the count is not 1 to 100.
            WebSeamError: the index or the disk failed.
            Cancelled: `interrupt` was called.
        """
        query = clean(query).strip()
        if not query:
            raise RequestError("query", "is empty", hint="say what to search for")
        if not 1 <= count <= MAX_HITS:
            raise RequestError("count", f"must be a whole number from 1 to {MAX_HITS}, not {count}")
        with self._run() as running:
            try:
                with self._reading(running) as connection:
                    found, terms = rank(connection, query, count=count, package=package)
                    return [hit_of(entry, terms) for entry in found]
            except schema.Unusable:
                return []
            except sqlite3.Error as error:
                if running.stopped.is_set():
                    raise Cancelled("the search of the local index was interrupted") from None
                raise self._failed(error) from None

    def _failed(self, error: sqlite3.Error) -> WebSeamError:
        """Put a damaged index out of the way, so that `fresh` says no; an empty answer would be a lie."""
        hint = None
        if schema.is_damage(error) and self._memory is None:
            with contextlib.suppress(OSError):
                self._remove()
                hint = "it is made again at the next search"
        return WebSeamError(f"the local index could not be read: {error}", hint=hint)

    def fresh(self) -> bool:
        """True when the index has everything there is, as it is now. Reads dates only: a few milliseconds."""
        from webseam.local.current import is_current

        with self._run() as running:
            try:
                with self._reading(running) as connection:
                    return is_current(connection, self._discover())
            except (schema.Unusable, sqlite3.DatabaseError):
                return False

    def interrupt(self) -> None:
        """Stop what other threads are doing with this object now. What is called later is not affected."""
        with self._lock:
            for running in self._running:
                running.stopped.set()
                if running.connection is not None:
                    running.connection.interrupt()

    def close(self) -> None:
        """Let go of the file, and of an index that had to be kept in memory. A later call opens what it needs."""
        self._connections.close()
        with self._memory_lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None

    # building

    def refresh(
        self, *, progress: Callable[[Progress], None] | None = None, expires_at: float | None = None
    ) -> Refresh:
        """Read what changed. Stops at `expires_at` (`time.monotonic()`) with what it has by then, and says so."""
        started = time.monotonic()
        warnings: list[str] = []
        with self._run() as running:
            done = self._refresh(running, progress, expires_at, warnings)
            if done is None:  # the file turned out to be damaged, and is gone now
                done = self._refresh(running, progress, expires_at, warnings)
        return replace(done or Refresh(complete=False), warnings=tuple(warnings), took=time.monotonic() - started)

    def _refresh(
        self,
        running: _Running,
        progress: Callable[[Progress], None] | None,
        expires_at: float | None,
        warnings: list[str],
    ) -> Refresh | None:
        """Bring the index up to date once. None asks for a second time: what was there has been removed."""
        from webseam.local.build import Builder  # brings the process pool, which a search does not need

        with self._writing(running, warnings) as connection:
            builder = Builder(
                connection, self._discover(), stopped=running.stopped, expires_at=expires_at, progress=progress
            )
            complete = False
            try:
                complete = builder.run()
                entries, skipped = _totals(connection)
            except sqlite3.Error as error:
                entries = skipped = 0
                problem: sqlite3.Error | None = None if running.stopped.is_set() else error
            else:
                problem = None
        if problem is None:
            return Refresh(
                complete=complete, read=builder.sources_read, removed=builder.removed, entries=entries, skipped=skipped
            )
        warnings.append(f"the index could not be brought up to date: {problem}")
        if not schema.is_damage(problem) or self._memory is not None:
            return Refresh(complete=False)
        try:
            self._remove()
        except OSError:
            return Refresh(complete=False)
        return None

    def _discover(self) -> list[Source]:
        return discover([*self._folders, *self.folders()], self._environments)

    # folders

    def folders(self) -> list[Path]:
        """Return the folders added with `add_folder`."""
        try:
            text = self._folder_list.read_text("utf-8")
        except (OSError, ValueError):
            return []
        import json  # 5 ms that only those who added a folder pay at each start

        try:
            listed = json.loads(text)
        except ValueError:
            return []
        return [Path(entry) for entry in listed if isinstance(entry, str)] if isinstance(listed, list) else []

    def add_folder(self, folder: Path) -> bool:
        """Index a folder from the next `refresh` on. Returns False when it already was.

        Raises:
            RequestError: it is not a folder, or the list cannot be written.
        """
        place = Path(folder).expanduser().resolve()
        if not place.is_dir():
            raise RequestError("folder", f"{place} is not a folder", hint="name an existing folder")
        known = self.folders()
        if place in known:
            return False
        self._keep_folders([*known, place])
        return True

    def remove_folder(self, folder: Path) -> bool:
        """Leave a folder out from the next `refresh` on. Returns False when it was not in the list.

        Raises:
            RequestError: the list cannot be written.
        """
        place = Path(folder).expanduser().resolve()
        known = self.folders()
        if place not in known:
            return False
        self._keep_folders([entry for entry in known if entry != place])
        return True

    @property
    def _folder_list(self) -> Path:
        return self.path.with_name(FOLDERS)

    def _keep_folders(self, folders: list[Path]) -> None:
        import json

        fresh = self._folder_list.with_suffix(f".{os.getpid()}.new")
        try:
            fresh.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps([str(folder) for folder in folders], indent=2) + "\n", "utf-8")
            fresh.replace(self._folder_list)
        except OSError as error:
            raise RequestError("folder", f"the list of folders cannot be written: {error}") from None

    def list_sources(self) -> list[SourceState]:
        """Return what is in the index, by kind and name."""
        with self._run() as running:
            try:
                with self._reading(running) as connection:
                    rows = connection.execute(
                        "SELECT s.kind, s.name, s.version, s.key, coalesce(sum(p.entries), 0),"
                        " coalesce(sum(p.skipped), 0), s.fingerprint IS NOT NULL FROM sources s"
                        " LEFT JOIN parts p ON p.source = s.id WHERE s.idle_since IS NULL"
                        " GROUP BY s.id ORDER BY s.kind, lower(s.name)"
                    ).fetchall()
            except (schema.Unusable, sqlite3.DatabaseError):
                return []
        return [
            SourceState(
                kind=kind, name=name, version=version, place=key.partition(":")[2], entries=entries, skipped=skipped,
                complete=bool(complete),
            )
            for kind, name, version, key, entries, skipped, complete in rows
        ]  # fmt: skip

    # connections

    @contextlib.contextmanager
    def _run(self) -> Iterator[_Running]:
        running = _Running(threading.Event())
        with self._lock:
            self._running.add(running)
        try:
            yield running
        finally:
            with self._lock:
                self._running.discard(running)

    @contextlib.contextmanager
    def _reading(self, running: _Running) -> Iterator[sqlite3.Connection]:
        if self._memory is not None:
            with self._memory_lock:
                yield self._attach(running, self._memory)
            return
        with self._connections.reading() as connection:
            try:
                yield self._attach(running, connection)
            finally:
                self._detach(running)

    @contextlib.contextmanager
    def _writing(self, running: _Running, warnings: list[str]) -> Iterator[sqlite3.Connection]:
        """Open the index to write it; make it again when it is damaged, in memory where the disk does not let us."""
        if self._memory is None:
            connection = self._open_file(warnings)
            if connection is not None:
                with contextlib.closing(connection):
                    try:
                        yield self._attach(running, connection)
                    finally:
                        self._detach(running)
                return
        with self._memory_lock:
            if self._memory is None:
                self._memory = schema.connect(None, write=True)
            try:
                yield self._attach(running, self._memory)
            finally:
                self._detach(running)

    def _open_file(self, warnings: list[str]) -> sqlite3.Connection | None:
        try:
            return schema.connect(self.path, write=True)
        except schema.Unusable as error:
            problem = error
        if problem.replaceable:
            try:
                self._remove()
                connection = schema.connect(self.path, write=True)
            except (OSError, schema.Unusable) as error:
                warnings.append(f"{problem}, and it cannot be replaced ({error}); this process keeps its own in memory")
                return None
            warnings.append(f"{problem}; it is made again")
            return connection
        warnings.append(f"the index {self.path} cannot be written ({problem}); this process keeps its own in memory")
        return None

    def _remove(self) -> None:
        self._connections.close()  # some systems do not remove a file that is open
        schema.remove(self.path)

    def _attach(self, running: _Running, connection: sqlite3.Connection) -> sqlite3.Connection:
        with self._lock:
            running.connection = connection
        return connection

    def _detach(self, running: _Running) -> None:
        with self._lock:  # `interrupt` must never reach a closed connection
            running.connection = None


def _totals(connection: sqlite3.Connection) -> tuple[int, int]:
    entries, skipped = connection.execute(
        "SELECT coalesce(sum(p.entries), 0), coalesce(sum(p.skipped), 0) FROM parts p"
        " JOIN sources s ON s.id = p.source WHERE s.idle_since IS NULL"
    ).fetchone()
    return int(entries), int(skipped)
