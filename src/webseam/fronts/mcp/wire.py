"""The two pipes to the client, taken out of everybody else's reach, and the lines that come over them.

Standard output belongs to the protocol: one line printed by a provider, a library or a child process would break the
session. So both pipes move to descriptors that nobody else knows, and what is printed afterwards goes to standard
error; what reads standard input finds it empty. Done first of all, before code of others can run.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, TextIO

__all__ = ["MAX_LINE", "Lines", "Wire"]

MAX_LINE: Final = 16 * 1024 * 1024  # bytes of one message; a tool call has some hundred
_CHUNK: Final = 64 * 1024  # bytes; what a pipe holds on most systems


class Wire:
    """The pipes of this process, claimed. One that was closed from the start has ended, or refuses what is sent."""

    def __init__(self) -> None:
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        self._source = _claim(0, sys.__stdin__)
        self._sink = _claim(1, sys.__stdout__)
        self._whole = threading.Lock()
        sys.stdout = sys.stderr  # what is printed shows at once, in the order of what is said there

    def lines(self) -> Iterator[bytes | None]:
        """Yield each line until the client closes its end; None stands for one longer than `MAX_LINE`. Blocks."""
        lines = Lines()
        while self._source is not None and (data := os.read(self._source, _CHUNK)):
            yield from lines.feed(data)
        yield from lines.rest()

    def send(self, data: bytes) -> None:
        """Write all of `data` in one piece. Blocks while the client does not read.

        Raises:
            OSError: the client has closed its end.
        """
        if self._sink is None:
            raise BrokenPipeError
        with self._whole:
            left = memoryview(data)
            while left:
                left = left[os.write(self._sink, left) :]


class Lines:
    """Cuts a stream of bytes into lines that are not empty, and keeps no more than one line of `most` bytes."""

    def __init__(self, most: int = MAX_LINE) -> None:
        self._most = most
        self._begun = bytearray()
        self._too_long = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield the lines that end in `data`, without their ends; None for one that was too long."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._add(part)
            yield from self.rest()
        self._add(rest)

    def rest(self) -> Iterator[bytes | None]:
        """Yield what has come of a line so far, as its end was reached."""
        line = None if self._too_long else bytes(self._begun).strip(b" \t\r")
        self._begun.clear()
        self._too_long = False
        if line is None or line:
            yield line

    def _add(self, part: bytes) -> None:
        self._too_long |= len(self._begun) + len(part) > self._most
        if self._too_long:
            self._begun.clear()
        else:
            self._begun += part


def _claim(number: int, stream: TextIO | None) -> int | None:
    """Return a private descriptor of standard stream `number`, which itself leads elsewhere from now on.

    None when it was closed: another file may have got its number since.
    """
    if stream is None:
        return None
    private = _duplicate(number)
    elsewhere = os.open(os.devnull, os.O_RDONLY) if number == 0 else _standard_error()
    os.dup2(elsewhere, number)
    os.close(elsewhere)
    if sys.platform == "win32":
        _tell_windows(number, private)
    else:
        os.set_blocking(private, True)  # some clients give pipes on which a read would fail when nothing is there
    return private


def _standard_error() -> int:
    try:
        return os.dup(2)
    except OSError:  # closed
        return os.open(os.devnull, os.O_WRONLY)


def _duplicate(number: int) -> int:
    """Duplicate a descriptor for this process alone, to a number above those of the standard streams."""
    if sys.platform == "win32":
        return os.dup(number)
    import fcntl

    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)


def _tell_windows(number: int, private: int) -> None:
    """Give Windows the new handle too: child processes inherit handles, and `dup2` changes a table of C's alone."""
    if sys.platform == "win32":
        import ctypes
        import msvcrt

        msvcrt.setmode(private, os.O_BINARY)  # else every line would get another end
        ctypes.windll.kernel32.SetStdHandle(-10 - number, msvcrt.get_osfhandle(number))
