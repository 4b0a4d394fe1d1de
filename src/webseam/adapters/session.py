"""What the tools of one agent share: a web, the memory of its calls, and the way into the event loop where both live.

Frameworks call tools from everywhere: their own event loop, one loop a run, threads without any. Connections belong to
one loop. So a web that is opened here lives in a background loop (a `Web`), and every call is carried over to it;
`asyncio.run` in each call would lose the connections between calls, and fail where a loop is running. An `AsyncWeb`
that a program brings along stays in the program's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Self, TypeVar

from webseam.blocking import Web
from webseam.model import as_json
from webseam.tools import Toolbox, ToolResult, chosen
from webseam.tools.definitions import Tool
from webseam.web import AsyncWeb

T = TypeVar("T")
Work = Callable[[AsyncWeb], Coroutine[Any, Any, T]]


class Session:
    """A web and the toolbox over it, callable with and without an event loop.

    Args:
        web: an `AsyncWeb` of the program's loop, or a `Web`; both are the caller's to close. None = one is opened.
    """

    def __init__(self, web: AsyncWeb | Web | None = None) -> None:
        self._web = Web() if web is None else web
        self._is_own = web is None
        self._loop = _running_loop()
        self._toolbox: tuple[AsyncWeb, Toolbox] | None = None

    async def call(self, name: str, arguments: Any) -> ToolResult:
        """Carry out a tool call. Raises nothing but cancellation, which ends the work at once."""
        return await self.run(lambda web: self._toolbox_of(web).call(name, arguments))

    def call_blocking(self, name: str, arguments: Any) -> ToolResult:
        """Carry out a tool call from a thread that may wait."""
        return self.run_blocking(lambda web: self._toolbox_of(web).call(name, arguments))

    async def run(self, work: Work[T]) -> T:
        """Return what `work(web)` returns, wherever the web lives."""
        web, loop = self._home()
        if loop is not None:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(web), loop))
        self._loop = asyncio.get_running_loop()
        return await work(web)

    def run_blocking(self, work: Work[T]) -> T:
        """Wait for what `work(web)` returns.

        Raises:
            RuntimeError: the web is an `AsyncWeb`, and its loop is not running or would be waiting for itself.
        """
        web, loop = self._home()
        if loop is None:
            raise RuntimeError(
                "this tool was called without await, and its AsyncWeb lives in an event loop:"
                " give the tools a webseam.Web or nothing, or call them with await"
            )
        future = asyncio.run_coroutine_threadsafe(work(web), loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C in this thread must stop the work in the other
            raise

    def _home(self) -> tuple[AsyncWeb, asyncio.AbstractEventLoop | None]:
        """Return the web and the loop of another thread in which it lives; None = it can be called where we are."""
        if isinstance(self._web, Web):
            return self._web._live(), self._web._loop
        is_elsewhere = self._loop is not None and self._loop.is_running() and self._loop is not _running_loop()
        return self._web, self._loop if is_elsewhere else None

    def _toolbox_of(self, web: AsyncWeb) -> Toolbox:
        """Return the toolbox over `web`, the same every time; after a fork the web is another one."""
        if self._toolbox is None or self._toolbox[0] is not web:
            self._toolbox = web, Toolbox(web)
        return self._toolbox[1]

    def close(self) -> None:
        """Close what was opened here; a web that was given stays open."""
        if self._is_own and isinstance(self._web, Web):
            self._web.close()

    async def aclose(self) -> None:
        """The same, from a running event loop."""
        await asyncio.to_thread(self.close)


class Tools(list[T]):
    """A framework's tools, and what they share.

    A context manager, with `with` and `async with`, or `close` and `aclose`: it closes what was opened for the tools.
    """

    def __init__(
        self, web: AsyncWeb | Web | None, names: Iterable[str] | None, make: Callable[[Session, Tool], T]
    ) -> None:
        wanted = chosen(names)  # before anything is opened
        self._session = Session(web)
        super().__init__(make(self._session, tool) for tool in wanted)

    def close(self) -> None:
        """Close the connections of the tools, unless the web was given."""
        self._session.close()

    async def aclose(self) -> None:
        """The same, from a running event loop."""
        await self._session.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def details(result: ToolResult) -> dict[str, Any]:
    """Return what a program may want to know of a call and the model need not, as JSON types: histories are saved."""
    return {"outcome": result.outcome.value, "value": as_json(result.value)}


def missing(module: str, install: str, error: ImportError) -> ImportError:
    """Return the error for a framework that cannot be imported: what to install, and what Python said."""
    return ImportError(
        f"{module} needs a framework that is not installed: pip install '{install}' ({error})", name=error.name
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
