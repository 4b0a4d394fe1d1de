"""The child process in which readers of hostile formats run, and the frames it talks in.

What arrives here was made by a stranger and is taken apart by native code, so this process has little to lose:
bounded memory, no keys in its environment, no sockets, and a parent that kills it at the deadline. Frames are a length
and JSON, followed by the source's bytes: never pickle or marshal, because the parent must not have to trust a child
that a document may have taken over. Started by `webseam.fetch.worker`; imports as little as it can.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import inspect
import json
import math
import os
import queue
import signal
import struct
import sys
import threading
import warnings
from typing import Any, BinaryIO, Final

from webseam.fetch.types import Source, Unreadable

LENGTH: Final = struct.Struct(">I")
MAX_HEADER: Final = 1024 * 1024  # bytes of a question's JSON: a URL and some options
GARBAGE: Final = 50_000  # new objects after which cycles are looked for: at Python's 700 that is a tenth of a reading
GRACE: Final = 1.0  # seconds after the deadline at which the child ends by itself, should the parent be gone

# Python's own names for what a reader has no reason to do. A library's native code is bounded by the limits instead.
_DENIED: Final = ("socket.", "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.startfile")


def send(pipe: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame: the length of the header, the header, and the bytes it announces under "size"."""
    data = json.dumps({**header, "size": len(body)}).encode("ascii")
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.write(body)
    pipe.flush()


def receive(
    pipe: BinaryIO, *, max_header: int = MAX_HEADER, max_body: float = math.inf
) -> tuple[dict[str, Any], bytes]:
    """Return header and bytes of the next frame.

    Raises:
        EOFError: the other side is gone.
        ValueError: it is no frame, or one of more than `max_header` or `max_body` bytes.
    """
    (length,) = LENGTH.unpack(_exactly(pipe, LENGTH.size))
    if length > max_header:
        raise ValueError(f"a header of {length:,} bytes")
    header = json.loads(_exactly(pipe, length))
    if not isinstance(header, dict) or not isinstance(size := header.get("size"), int):
        raise ValueError("no header")
    if size > max_body:
        raise ValueError(f"a body of {size:,} bytes")
    return header, _exactly(pipe, size)


def _exactly(pipe: BinaryIO, size: int) -> bytes:
    data = pipe.read(size) if size > 0 else b""
    if len(data) < size:
        raise EOFError
    return data


def perform(question: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Read what `question` describes.

    Return {"reading": …}, {"made": what a module made that returns no reading}, {"unreadable": …} or {"failed": the
    error's name}.
    """
    try:
        read = importlib.import_module(question["module"]).read
        options = dict(question["options"])
        if "seconds" in inspect.signature(read).parameters:  # a reader that can stop by itself keeps what it has
            options.setdefault("seconds", question["seconds"])
        reading = read(Source(body=body, **question["source"]), **options)
        return {"made": reading} if isinstance(reading, dict) else {"reading": dataclasses.asdict(reading)}
    except Unreadable as error:
        return {"unreadable": {"outcome": error.outcome.value, "detail": error.detail, "hint": error.hint}}
    except Exception as error:  # noqa: BLE001 - readers and their libraries fail in ways nobody listed; all are answered
        return {"failed": type(error).__name__}


def main() -> None:
    """Answer questions until the parent closes the pipe, then end at once, whatever is being read."""
    warnings.simplefilter("ignore")
    gc.set_threshold(GARBAGE)
    sys.addaudithook(_refuse)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends this process
    with contextlib.ExitStack() as stack:
        asked, answers = (stack.enter_context(pipe) for pipe in _own_pipes())
        questions: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(asked, questions), daemon=True).start()
        idle = _address_space()
        _limit("RLIMIT_CORE", 0)  # a crash must not write a stranger's document into the user's folder
        while True:
            question, body = questions.get()
            seconds = question["seconds"]
            _alarm(0 if seconds is None else seconds + GRACE)
            _limit("RLIMIT_AS", idle + question["max_memory"])
            answer = perform(question, body)
            del body
            _limit("RLIMIT_AS", None)  # what could not be read must at least be said
            send(answers, answer)
            _alarm(0)


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes of the parent, and leave nothing at their old numbers: native code may print there."""
    pipes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return pipes


def _listen(asked: BinaryIO, questions: queue.SimpleQueue[tuple[dict[str, Any], bytes]]) -> None:
    """Hand over what the parent asks. In a thread, so that its end is seen while something is being read."""
    try:
        while True:
            questions.put(receive(asked))
    finally:
        os._exit(0)


def _refuse(event: str, _arguments: object) -> None:
    if event.startswith(_DENIED):
        raise PermissionError(f"a reader must not use {event}")


def _alarm(seconds: float) -> None:
    """End this process in `seconds`, even inside native code that never returns; 0 calls it off. POSIX only."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit(name: str, value: int | None) -> None:
    """Set a limit of the operating system, None = as high as allowed. Where there is none, the deadline has to do."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError, AttributeError):  # macOS knows RLIMIT_AS and refuses to set it
        which = getattr(resource, name)
        _, hard = resource.getrlimit(which)
        if value is None:
            value = hard
        elif hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(which, (value, hard))


def _address_space() -> int:
    """Return the bytes of address space in use, or a generous guess: limits are set above what the interpreter has."""
    try:
        with open("/proc/self/statm", encoding="ascii") as pages:  # noqa: PTH123 - a child imports as little as it can
            return int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 256 * 1024 * 1024
