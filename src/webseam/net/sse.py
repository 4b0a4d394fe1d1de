"""Server-sent events, read as the bytes come in.

A stream may be cut anywhere: inside a character, between CR and LF, inside a field name. The parser therefore works on
bytes and decodes whole lines only; how the stream was cut never changes what comes out.

Source: the WHATWG HTML standard, section 9.2.6, "Interpreting an event stream".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_EVENT = 1024 * 1024  # bytes of one event; the longest seen from hosted search is 120 KiB

_LINE_END = re.compile(rb"[\r\n]")
_BOM = b"\xef\xbb\xbf"


class EventTooLarge(ValueError):
    """One event, or one line of it, is longer than `MAX_EVENT`."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event with data.

    Attributes:
        end: how many bytes of the stream, from its beginning, had been read when the event was complete.
    """

    data: str
    event: str = "message"
    id: str = ""
    end: int = 0


class EventParser:
    """Turns pieces of a stream into events. An event that the stream ends in the middle of is never given."""

    def __init__(self, *, max_event: int = MAX_EVENT) -> None:
        self._max_event = max_event
        self._line = bytearray()
        self._position = 0  # bytes taken so far
        self._after_return = False  # the last byte was CR: a LF now belongs to it
        self._first_line = True
        self._data: list[str] = []
        self._size = 0  # bytes of the event so far
        self._event = ""
        self._id = ""

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Yield the events that `piece` completes. The iterator must be used up, or reading stops for good.

        Raises:
            EventTooLarge: nothing after that can be read.
        """
        start = 0
        while start < len(piece):
            if self._after_return:
                self._after_return = False
                if piece[start] == 0x0A:
                    start += 1
                    self._position += 1
                    continue
            found = _LINE_END.search(piece, start)
            end = found.start() if found else len(piece)
            self._grow(piece[start:end])
            if not found:
                return
            self._position += 1
            self._after_return = found.group() == b"\r"
            start = end + 1
            event = self._end_line()
            if event:
                yield event

    def _grow(self, part: bytes) -> None:
        self._position += len(part)
        self._line += part
        if self._size + len(self._line) > self._max_event:
            raise EventTooLarge(f"an event is longer than {self._max_event:,} bytes")

    def _end_line(self) -> Event | None:
        line = bytes(self._line)
        self._line.clear()
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        if not line.startswith(b":"):  # a comment does not count towards the size of the event
            self._size += len(line) + 1
            self._take(line.decode("utf-8", "replace"))
        return None

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value

    def _dispatch(self) -> Event | None:
        data, name = self._data, self._event
        self._data, self._event, self._size = [], "", 0
        if not data:
            return None
        return Event("\n".join(data), name or "message", self._id, self._position)


def events(body: bytes) -> list[Event]:
    """Return the events of a whole stream.

    Raises:
        EventTooLarge: one of them is longer than `MAX_EVENT`.
    """
    return list(EventParser().feed(body))
