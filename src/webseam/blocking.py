"""`Web`: the facade for programs without an event loop, and inside one, e.g. in a notebook.

One background thread runs the loop in which an `AsyncWeb` lives; every call is carried over to it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from webseam.fetch.options import FetchOptions, Urls
from webseam.model import Page, SearchRequest, SearchResponse
from webseam.web import AsyncWeb

T = TypeVar("T")

_of_parents: list[object] = []  # dropping a connection in a forked child would say goodbye in its parent's name


class Web:
    """The web for programs without an event loop; also inside one, e.g. a notebook.

    The same arguments as `AsyncWeb`; `search`, `search_docs` and `fetch` without `await`, and `close`. One background
    thread runs the loop.
    """

    def __init__(self, settings: Mapping[str, Any] | None = None, **options: Any) -> None:
        self._given = settings, options
        self._start()

    def _start(self) -> None:
        settings, options = self._given
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="webseam", daemon=True)
        self._thread.start()
        try:
            self._web = self._call(_make(settings, options))
        except BaseException:
            self._stop()
            raise

    def search(self, query: str | SearchRequest, **options: Any) -> SearchResponse:
        """Search the web; see `AsyncWeb.search`."""
        return self._call(self._live().search(query, **options))

    def search_docs(self, query: str, **options: Any) -> SearchResponse:
        """Search the documentation installed on this machine; see `AsyncWeb.search_docs`."""
        return self._call(self._live().search_docs(query, **options))

    @overload
    def fetch(self, url: str, **options: Unpack[FetchOptions]) -> Page: ...

    @overload
    def fetch(self, url: Urls, **options: Unpack[FetchOptions]) -> tuple[Page, ...]: ...

    def fetch(self, url: str | Urls, **options: Unpack[FetchOptions]) -> Page | tuple[Page, ...]:
        """Read one page, or several; see `AsyncWeb.fetch`."""
        read: Coroutine[Any, Any, Page | tuple[Page, ...]] = self._live().fetch(url, **options)
        return self._call(read)

    def close(self) -> None:
        """Close connections and end the background thread."""
        if self._process == os.getpid() and not self._loop.is_closed():
            self._call(self._web.aclose())
            self._stop()

    def _live(self) -> AsyncWeb:
        """Return the web of this process. A fork takes no thread along, so in its child everything begins anew."""
        if self._process != os.getpid():
            _of_parents.append((self._loop, self._thread, self._web))
            self._start()
        if self._loop.is_closed():
            raise RuntimeError("this Web is closed")
        return self._web

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C in the caller's thread must stop the work in ours
            raise

    def _stop(self) -> None:
        self._call(_wind_up())  # in its own thread: this one may be running a loop, and can run no second one
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _wind_up() -> None:
    """End what an interrupted call left under way, as `asyncio.run` would."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


async def _make(settings: Mapping[str, Any] | None, options: Mapping[str, Any]) -> AsyncWeb:
    return AsyncWeb(settings, **options)
