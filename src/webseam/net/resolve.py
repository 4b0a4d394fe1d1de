"""Names to addresses, without letting a silent name server hold anything else up.

`loop.getaddrinfo` runs in the loop's shared executor: a few dozen stuck lookups there would block every file read and
every other lookup of the process, and its threads are joined at exit, so that a command would hang after it has
printed its answer. Lookups get daemon threads of their own instead, at most `MAX_LOOKUPS` at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

MAX_LOOKUPS = 64  # threads; a stuck one costs 8 MiB of address space and next to no memory


class Resolver(Protocol):
    """Turns a host into its addresses, best first. Raises OSError when the name has none or nobody answers."""

    async def __call__(self, host: str, port: int) -> Sequence[str]: ...


class SystemResolver:
    """The operating system's resolver: hosts file, search order and all. For one event loop."""

    def __init__(self, lookup: Callable[[str, int], Sequence[str]] | None = None) -> None:
        self._lookup = lookup or look_up
        self._places = asyncio.Semaphore(MAX_LOOKUPS)
        self._running: dict[tuple[str, int], asyncio.Future[Sequence[str]]] = {}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        running = self._running.get((host, port))
        if running is None:
            await self._places.acquire()
            # Somebody may have started the same lookup while this one waited for a place.
            running = self._running.get((host, port))
            if running is not None:
                self._places.release()
            else:
                running = self._start(host, port)
        # Shielded: a caller that gives up must not take the answer from the others who wait for it.
        return await asyncio.shield(running)

    def _start(self, host: str, port: int) -> asyncio.Future[Sequence[str]]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Sequence[str]] = loop.create_future()
        self._running[host, port] = future

        def finish(answer: Sequence[str] | None, error: Exception | None) -> None:
            del self._running[host, port]
            self._places.release()
            if error is not None:
                future.set_exception(error)
                future.exception()  # marks it as seen: every waiter may have gone
            else:
                future.set_result(answer or ())

        def work() -> None:
            answer: Sequence[str] | None = None
            problem: Exception | None = None
            try:
                answer = self._lookup(host, port)
            except Exception as error:  # noqa: BLE001 - handed to the waiter, whatever it is
                problem = error
            with contextlib.suppress(RuntimeError):  # the loop was closed while the name server was silent
                loop.call_soon_threadsafe(finish, answer, problem)

        threading.Thread(target=work, name=f"resolve {host}", daemon=True).start()
        return future


def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host in the system's order of preference (RFC 6724), each once.

    Raises:
        OSError: there is no such name, or no name server answered.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except UnicodeError as error:  # a label of more than 63 octets fails in Python's own codec, before any lookup
        raise socket.gaierror(socket.EAI_NONAME, f"not a name: {error}") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
