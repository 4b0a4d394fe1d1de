"""What would change, for a person to read, with nothing in it that is not ours to show.

Files of clients are full of other people's secrets: keys in `env`, tokens in headers, commands with passwords. A list
of names that sound secret would miss the next one, so every value and comment that webseam does not write itself is
masked, and only names and structure are shown.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from webseam.text import clean

MASK: Final = "…"
_AROUND: Final = 3  # lines shown before and after a change
_OURS: Final = re.compile(r"(?:.*[/\\])?(?:webseam|uvx|python[\d.]*)(?:\.exe)?", re.IGNORECASE)  # a program of ours
_QUOTES: Final = re.compile(r"^(\"\"\"|'''|\"|'|//|/\*|#)?")
_CLOSING: Final = {"/*": "*/", "//": "", "#": ""}


def shown(path: str, before: str | None, after: str | None, mask: Callable[[str, int, int], str]) -> str:
    """Return a unified diff of two texts, both masked; None is no file.

    Only the lines around the change are masked and compared: some of these files have a hundred thousand.

    Args:
        mask: gives a part of a text, by where it begins and ends, with what is private in it masked.
    """
    old, new = (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True)
    first = _same(old, new)
    last = min(_same(old[::-1], new[::-1]), min(len(old), len(new)) - first)
    start, end = max(0, first - _AROUND), max(0, last - _AROUND)
    names = (path if before is not None else "/dev/null", path if after is not None else "/dev/null")
    left, right = _part(before or "", old, start, end, mask), _part(after or "", new, start, end, mask)
    lines = [_moved(line, start) for line in difflib.unified_diff(left, right, *names, lineterm="", n=_AROUND)]
    if not lines and before != after:
        lines = [f"--- {names[0]}", f"+++ {names[1]}", "@@ only line ends or white space differ @@"]
    return "\n".join(map(clean, lines))


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))


def _part(text: str, lines: list[str], start: int, end: int, mask: Callable[[str, int, int], str]) -> list[str]:
    begin = sum(map(len, lines[:start]))
    stop = len(text) - sum(map(len, lines[len(lines) - end :]))
    return mask(text, begin, stop).splitlines()


def _moved(line: str, by: int) -> str:
    """Return the head of a hunk with the line numbers of the whole file."""
    if not line.startswith("@@"):
        return line
    return re.sub(r"(?<=[-+])\d+", lambda number: str(int(number[0]) + by), line)


def masked(
    text: str, begin: int, stop: int, private: Callable[[str], Iterator[tuple[int, int]]], ours: frozenset[str]
) -> str:
    """Return a part of a text in which what is private is masked, but for what webseam itself writes there."""
    parts, at = [], begin
    for start, end in sorted(private(text)):
        if end <= at or start >= stop:
            continue
        # A value that goes on beyond the part is masked all the same; its lines outside are not ours to show.
        parts += [text[at : max(at, start)], _hidden(text[start:end], ours, text[max(at, start) : min(end, stop)])]
        at = min(end, stop)
    return "".join([*parts, text[at:stop]])


def words_of(entry: Mapping[str, Any]) -> frozenset[str]:
    """Return every text in an entry, which a diff may show."""
    return frozenset(_texts(entry))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    else:
        yield value if isinstance(value, str) else str(value)


def _hidden(piece: str, ours: frozenset[str], part: str) -> str:
    """Return what is shown for a private piece, with as many lines as there are in the part of it that is shown."""
    opening = _QUOTES.match(piece)
    quotes = (opening[1] or "") if opening else ""
    value = piece
    if quotes == '"':
        try:
            value = json.loads(piece)
        except ValueError:
            value = piece[1:-1]
    elif quotes == "'":
        value = piece[1:-1]
    if quotes not in _CLOSING and part == piece and (value in ours or _OURS.fullmatch(value)):
        return piece
    closing = _CLOSING.get(quotes, quotes)
    space = " " if quotes in _CLOSING else ""
    return f"{quotes}{space}{MASK}{space if closing else ''}{closing}" + "\n" * part.count("\n")
