"""`webseam mcp`: serves one client over standard input and output.

One thread reads from the first moment on and answers what can be answered without the SDK (see `early`), while the main
thread loads it; then the session is handed over. The SDK gets the messages that make the session what it is, what it
answers to those is dropped, as it was said before, and then gets everything that waits, in order.
The thread stays the reader: no event loop can wait for a pipe on every platform, and one that blocks needs no event
loop to be loaded at all.

The process ends when the client closes its end, when nobody reads what it writes, or on a signal: quietly, with calls,
connections and child processes stopped first, and in any case within `MAX_ENDING`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, cast

from webseam.errors import WebSeamError
from webseam.fronts.mcp.boxes import Inbox, Outbox
from webseam.fronts.mcp.early import Early
from webseam.fronts.mcp.wire import MAX_LINE, Wire

__all__ = ["serve_stdio"]

MAX_ENDING: Final = 3.0  # seconds for taking things apart; what still hangs then (a name look-up, say) hangs by itself

_PATIENCE: Final = 0.1 if sys.platform == "win32" else None  # seconds; on Windows no signal interrupts a wait
_INVALID_REQUEST: Final = -32600
_INTERNAL_ERROR: Final = -32603
_TOO_LONG: Final = f"the message is longer than {MAX_LINE} bytes and was not read"


def serve_stdio(*, settings: Mapping[str, Any] | None = None) -> int:
    """Serve the client at standard input and output until it leaves, and return the exit code.

    Args:
        settings: values that win over everything else, as for `AsyncWeb`.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        _say("this talks to agents, which start it by themselves (see webseam setup); Ctrl-C ends it")
    return _Session(Wire(), settings).run()


class _Session:
    """One client from its first message to its last, in two threads; `_lock` is around what both touch."""

    def __init__(self, wire: Wire, settings: Mapping[str, Any] | None) -> None:
        self._wire = wire
        self._settings = settings
        self._early = Early()
        self._lock = threading.Lock()
        self._needed = threading.Event()  # the SDK is needed, or nothing is any more
        self._begun = False
        self._loading = False
        self._left = False  # the client has closed its end
        self._waiting: list[bytes] = []  # messages for the SDK, until it is there
        self._inbox: Inbox | None = None
        self._ending: SimpleQueue[None] = SimpleQueue()
        self._code = 0

    def run(self) -> int:
        """Serve to the end and return the exit code."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):  # not every system has all
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as nohup sets it
                signal.signal(number, self._signalled)
        threading.Thread(target=self._read, name="stdin", daemon=True).start()
        threading.Thread(target=self._watch, name="ending", daemon=True).start()
        while self._wait():
            _load()
            try:
                self._serve()
                break
            except WebSeamError as error:  # settings that cannot be read: said to whoever asks, until they can
                self._refuse(error)
        return self._code

    def _read(self) -> None:
        """Read to the end, in a thread of its own."""
        try:
            for line in self._wire.lines():
                if line is None:
                    self._wire.send(_error(None, _INVALID_REQUEST, _TOO_LONG))
                else:
                    self._take(line)
        except OSError:  # nobody reads our answers, or there is nothing to read from
            with self._lock:
                self._waiting.clear()
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._left = True
            inbox = self._inbox
            if self._loading and not self._waiting:
                os._exit(0)  # in the middle of imports; nothing is there yet that would have to be taken apart
            self._needed.set()
        if inbox is not None:
            self._bound()
            inbox.close()

    def _take(self, line: bytes) -> None:
        with self._lock:
            inbox = self._inbox
            if inbox is None:
                answer = self._early.take(line)
                if answer is None:
                    self._waiting.append(line)
                elif answer:
                    self._wire.send(answer)
                if answer is None or (self._early.listed and not self._begun):
                    self._needed.set()
        if inbox is not None:
            inbox.put(line)

    def _wait(self) -> bool:
        """Wait until the SDK is needed. False when the client has left, and waits for no answer."""
        while not self._needed.wait(_PATIENCE):
            pass
        with self._lock:
            if not self._left:
                self._needed.clear()
            self._begun = True
            self._loading = not self._left or bool(self._waiting)
            return self._loading

    def _serve(self) -> None:
        """Serve with the SDK to the end of the session.

        Raises:
            WebSeamError: there is nothing to serve with. Nothing has been handed over.
        """
        import asyncio

        with self._lock:
            self._loading = False
        asyncio.run(self._session())

    async def _session(self) -> None:
        from mcp.server.stdio import stdio_server

        from webseam.fronts.mcp.server import make_server
        from webseam.web import AsyncWeb

        async with AsyncWeb(self._settings, warn=_say) as web:
            server = make_server(web, structured=bool(web.settings().get("mcp", "structured")))
            serving = server._lowlevel_server  # its public face insists on the real standard streams
            inbox, outbox = self._hand_over()
            async with stdio_server(cast(Any, inbox), cast(Any, outbox)) as (incoming, outgoing):
                await serving.run(incoming, outgoing, serving.create_initialization_options())
            await outbox.flush()

    def _hand_over(self) -> tuple[Inbox, Outbox]:
        """Return what the SDK reads from and writes to. From here on, all that the client says goes there."""
        import asyncio

        loop = asyncio.get_running_loop()
        mark = os.urandom(12).hex()  # no client has an id like it, so that no answer of its own can be dropped
        with self._lock:
            replay = [
                {**message, "id": f"{mark}-{place}"} if "id" in message else message
                for place, message in enumerate(self._early.replay)
            ]
            lines = [json.dumps(message).encode() for message in replay]
            known = {message["id"] for message in replay if "id" in message}
            owed = {number for line in self._waiting if (number := _id_of(line)) is not None}
            outbox = Outbox(loop, self._wire, known=known, owed=owed, gone=self._gone)
            self._inbox = Inbox(loop, [*lines, *self._waiting], outbox.settled)
            if self._left:
                self._bound()
                self._inbox.close()
        return self._inbox, outbox

    def _refuse(self, error: WebSeamError) -> None:
        """Answer what waits with `error`; what comes next is another try."""
        if self._inbox is not None:
            raise error
        text = f"{error.detail}. Next: {error.hint}" if error.hint else error.detail
        _say(text)
        with self._lock:
            waiting = self._waiting
            self._waiting = [] if self._left else [line for line in waiting if _id_of(line) is None]
        with suppress(OSError):  # the reader notices too that nobody reads
            for number in filter(_is_some, map(_id_of, waiting)):
                self._wire.send(_error(number, _INTERNAL_ERROR, text))

    def _signalled(self, number: int, _frame: object) -> None:
        again, self._code = bool(self._code), 128 + number
        if self._inbox is None or again:
            os._exit(self._code)  # nothing was begun; or somebody will not wait
        self._bound()
        self._inbox.stop()

    def _gone(self) -> None:
        """Nobody reads what is written: end as if the client had closed its other end too."""
        self._bound()
        if self._inbox is not None:
            self._inbox.close(at_once=True)

    def _bound(self) -> None:
        """See to it that the process is gone within `MAX_ENDING`. Safe in the handler of a signal."""
        self._ending.put(None)

    def _watch(self) -> None:
        self._ending.get()
        time.sleep(MAX_ENDING)
        os._exit(self._code)


def _load() -> None:
    """Import what serving takes, one import after the other, while the other thread still answers."""
    import gc

    gc.disable()  # what is loaded stays: looking through it again and again is an eighth of the time
    try:
        _import()
    finally:
        gc.freeze()
        gc.enable()


def _import() -> None:
    import asyncio  # noqa: F401
    import logging

    import mcp.server.stdio  # noqa: F401

    import webseam.fronts.mcp.server
    import webseam.web  # noqa: F401

    if not logging.root.handlers:  # the SDK tells of every request, in colours if it finds a library for them
        logging.basicConfig(level=logging.WARNING, format="webseam: %(name)s: %(message)s")


def _say(text: str) -> None:
    """Print one line on standard error, where clients keep a log of their servers."""
    with suppress(OSError, ValueError, AttributeError):  # closed, or nobody reads it
        print(f"webseam: {' '.join(text.split())}", file=sys.stderr, flush=True)


def _error(number: object, code: int, text: str) -> bytes:
    error = {"code": code, "message": text}
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}, separators=(",", ":")).encode() + b"\n"


def _id_of(line: bytes) -> int | str | None:
    """Return the id of the request in `line`; None when it is something else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    number = message.get("id") if isinstance(message, dict) and "method" in message else None
    return number if isinstance(number, (int, str)) else None


def _is_some(value: object) -> bool:
    return value is not None
