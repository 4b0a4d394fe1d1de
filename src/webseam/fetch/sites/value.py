"""Reading of JSON that somebody else's API sent, without trusting its shape.

Every step into a `Value` answers: what is missing or of another type is empty, so that a site's code reads fields one
after the other and an API that changed costs a line of the page, never the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final

from webseam.text import clean, squeeze

_SURROGATE = re.compile("[\ud800-\udfff]")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?", re.ASCII
)
_FIRST_SECOND, _LAST_SECOND = 0, 4_102_444_800  # 1970 to 2100; a number outside is no time


class Value:
    """A piece of JSON, or nothing."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any = None) -> None:
        self.raw = raw

    def __getitem__(self, key: str | int) -> Value:
        raw = self.raw
        if isinstance(raw, dict) and isinstance(key, str):
            return Value(raw.get(key))
        if isinstance(raw, list) and isinstance(key, int) and -len(raw) <= key < len(raw):
            return Value(raw[key])
        return _NOTHING

    def __iter__(self) -> Iterator[Value]:
        """Yield the entries of an array; an object or anything else has none."""
        return iter([Value(entry) for entry in self.raw] if isinstance(self.raw, list) else ())

    def __len__(self) -> int:
        return len(self.raw) if isinstance(self.raw, (list, dict, str)) else 0

    def __bool__(self) -> bool:
        return bool(self.raw)

    def items(self) -> list[tuple[str, Value]]:
        """Return the names and values of an object, names cleaned."""
        raw = self.raw if isinstance(self.raw, dict) else {}
        return [(squeeze(clean(str(name))), Value(value)) for name, value in raw.items()]

    @property
    def is_object(self) -> bool:
        return isinstance(self.raw, dict)

    @property
    def is_array(self) -> bool:
        return isinstance(self.raw, list)

    @property
    def text(self) -> str:
        """A text of several lines, LF line ends; "" when it is none."""
        if not isinstance(self.raw, str):
            return ""
        text = self.raw.replace("\r\n", "\n").replace("\r", "\n")
        return text if text.isascii() else _SURROGATE.sub("\ufffd", text)

    @property
    def line(self) -> str:
        """A text or a number on one line, cleaned; "" when it is neither."""
        if isinstance(self.raw, bool):
            return ""
        if isinstance(self.raw, (int, float)):
            return str(self.raw) if isfinite(self.raw) else ""
        return squeeze(clean(self.raw)) if isinstance(self.raw, str) else ""

    @property
    def number(self) -> int | None:
        """A whole number, also when it is spelled as a text; None when it is none."""
        raw = self.raw
        if isinstance(raw, str) and re.fullmatch(r"\d{1,18}", raw, re.ASCII):
            return int(raw)
        if isinstance(raw, bool) or not isinstance(raw, (int, float)) or not isfinite(raw):
            return None
        return int(raw)

    @property
    def date(self) -> str | None:
        """An ISO day or instant, from one or from epoch seconds; None when it is neither."""
        raw = self.raw
        if isinstance(raw, str) and _DATE.fullmatch(raw):
            return raw.replace(" UTC", "Z").replace(" ", "T", 1)
        number = self.number
        if number is None or not _FIRST_SECOND < number < _LAST_SECOND:
            return None
        return datetime.fromtimestamp(number, UTC).isoformat().replace("+00:00", "Z")

    @property
    def day(self) -> str | None:
        """The day of `date`."""
        return self.date[:10] if self.date else None


_NOTHING: Final = Value()


def decode(body: bytes) -> Value:
    """Return the JSON of a body.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return Value(json.loads(body.decode("utf-8-sig", "replace")))
    except RecursionError:
        raise ValueError("nested too deeply") from None
