"""Changing one table of a TOML file as text: everything outside it stays as it is, byte for byte.

A new table is written behind everything else, which is right in every TOML file that has not closed its section; our
own table is cut out by its lines. What is written in another way (an inline table, dotted keys) is left to tomlkit.
Whoever calls compares what the file says before and after, so a way nobody thought of is refused and not guessed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from webseam.setup.malformed import Malformed, Unfit

_MAX_LINES: Final = 2_000  # of one value; telling where it ends reads its beginning once a line
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_PLACE: Final = re.compile(
    r"^(?P<problem>.*?) \((?:at line (?P<line>\d+), column (?P<column>\d+)|at end of document)\)$"
)
_TOKEN: Final = re.compile(
    r'"""[\s\S]*?"""+|\'\'\'[\s\S]*?\'\'\'+|"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*\'|(?P<comment>#[^\n]*)'
    r"|(?P<number>(?<![\w.\"'-])[+-]?\d[\w.:+-]{5,})"
)


def load(text: str) -> dict[str, Any]:
    """Return what a file says.

    Raises:
        Malformed: it is not TOML; says where.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.fullmatch(str(error))
        problem = found["problem"] if found else str(error)
        line = int(found["line"]) if found and found["line"] else text.count("\n") + 1
        column = int(found["column"]) if found and found["column"] else 0
        raise Malformed(problem[:1].lower() + problem[1:], line, column) from None
    except (ValueError, RecursionError):
        raise Malformed("holds a number that is too large, or is nested too deeply") from None


def add(text: str, section: Sequence[str], name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with a new table as the last."""
    header = ".".join(map(_key, [*section, name]))
    lines = [f"[{header}]", *(f"{_key(key)} = {_value(value)}" for key, value in entry.items())]
    block = "\n".join(lines)
    if not text:
        return block + "\n"
    after = f"{text}\n{block}\n" if text.endswith("\n") else f"{text}\n\n{block}"  # ends as it ended before
    try:
        tomllib.loads(after)
    except tomllib.TOMLDecodeError:  # its section is closed: an inline table
        return _edit(text, lambda document: _holder(document, section).update({name: dict(entry)}))
    return after


def change(text: str, path: Sequence[str], changed: Mapping[str, Any], dropped: Sequence[str]) -> str:
    """Return the text with values of a table that is there set or taken out."""

    def set_values(document: Any) -> None:
        table = _holder(document, path)
        for key, value in changed.items():
            table[key] = value
        for key in dropped:
            del table[key]

    return _edit(text, set_values)


def remove(text: str, path: Sequence[str], *, prune: bool) -> str:
    """Return the text without a table and the tables below it.

    Args:
        prune: without an empty section too.
    """
    wanted = tuple(path)
    blocks = [block for block in _blocks(text) if block.path[: len(wanted)] == wanted]
    for block in reversed(blocks):
        text = _cut(text, block.start, block.end)
    if not blocks:
        text = _edit(text, lambda document: _holder(document, path[:-1]).pop(path[-1]))
    value: Any = load(text)
    for outer in path[:-1]:
        value = value.get(outer) if isinstance(value, Mapping) else None
    if prune and value == {}:
        return remove(text, path[:-1], prune=False)
    return text


def _cut(text: str, start: int, end: int) -> str:
    """Cut lines out, with the blank line that stands before a table."""
    if end == len(text) and not text.endswith("\n"):
        return text[:start].removesuffix("\n").removesuffix("\n")
    before = text[:start]
    if before.endswith("\n\n") or before == "\n":
        before = before[:-1]
    return before + text[end:]


@dataclass(frozen=True, slots=True)
class _Block:
    path: tuple[str, ...]
    start: int  # where the line of its header begins
    end: int  # behind its last value


def _blocks(text: str) -> list[_Block]:
    """Return the tables with a header of their own, and where each ends; comments behind it belong to what follows."""
    found: list[_Block] = []
    path: tuple[str, ...] | None = None
    start = end = 0
    for begin, stop in _statements(text):
        statement = text[begin:stop]
        header = statement.lstrip(" \t").startswith("[")
        if header:
            if path is not None:
                found.append(_Block(path, start, end))
            path, start, end = _header(statement), begin, stop
        elif tomllib.loads(statement):
            end = stop
    if path is not None:
        found.append(_Block(path, start, end))
    return found


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each statement begins and ends: a line, or several where one value goes on.

    No beginning of a value that goes on is a statement of its own, so the first that can be read is the whole of it.
    """
    begin, stop, lines = 0, 0, 0
    while begin < len(text):
        line = text.find("\n", stop)
        stop = len(text) if line < 0 else line + 1
        lines += 1
        try:
            tomllib.loads(text[begin:stop])
        except tomllib.TOMLDecodeError:
            if lines > _MAX_LINES or stop == len(text):
                raise Unfit("holds a value that is too long") from None
            continue
        yield begin, stop
        begin, lines = stop, 0


def _header(statement: str) -> tuple[str, ...]:
    """Return the names of a header, as TOML reads them."""
    names: list[str] = []
    value: Any = tomllib.loads(statement)
    while value:
        if isinstance(value, list):  # [[several.tables]]
            value = value[0]
            continue
        name, value = next(iter(value.items()))
        names.append(name)
    return tuple(names)


def _edit(text: str, work: Any) -> str:
    """Return the text after a change by tomlkit, which leaves what it does not touch."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        work(document)
        return document.as_string()
    except (TOMLKitError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unfit("is written in a way that cannot be changed here") from error


def _holder(document: Any, path: Sequence[str]) -> Any:
    holder = document
    for name in path:
        holder = holder[name]
    return holder


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def private(text: str) -> Iterator[tuple[int, int]]:
    """Yield where there is something that a diff must not show: values, long numbers and comments."""
    headers = [(begin, stop) for begin, stop in _statements(text) if text[begin:stop].lstrip(" \t").startswith("[")]
    for found in _TOKEN.finditer(text):
        behind = text[found.end() :][:200].lstrip(" \t")[:1]
        is_text = not found["comment"] and not found["number"]
        while headers and headers[0][1] <= found.start():
            headers.pop(0)
        in_header = bool(headers) and headers[0][0] <= found.start()
        if not (is_text and (behind in ("=", ".") or (in_header and behind == "]"))):
            yield found.span()
