"""The reader of data: JSON, JSON lines, tables and XML, laid out for reading and summarised when there is too much.

What is malformed is shown as it came with the reason, because half an answer of an API is still worth reading. Numbers
are kept in their own spelling, and a member of an object that stands twice is shown twice: nothing is corrected.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

from webseam.fetch.readers import table, tree
from webseam.fetch.readers.writing import (
    MAX_CONTAINERS,
    Bounds,
    Sheet,
    as_title,
    decoded,
    extension,
    fenced,
    file_name,
    fit,
    is_crowded,
    literal,
    raw,
)
from webseam.fetch.types import Reading, Source
from webseam.text import clip

READER: Final = "data"
_LINE: Final = 100  # characters on which a small array or object stays together
_MAX_RECORD: Final = 4_000  # characters of one of the records that stand one on a line
_SAMPLE: Final = 10_000  # records whose fields are looked at; the others are counted
_MAX_FIELDS: Final = 40  # names of fields worth listing before the records
_GUARD: Final = re.compile(r"\)\]\}'?,?\s*\n|(?:while\s*\(1\)|for\s*\(;;\));\s*")  # keeps a browser from running it
_RECORD: Final = re.compile(r"[^\n]+")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SMALL: Final = 15  # digits that make a whole number no larger than its text
_LINED: Final = frozenset({"jsonl", "ndjson", "jsonlines", "json-lines", "ldjson"})
_LOOSE: Final = frozenset({"json5", "jsonc"})


class _Number(str):
    """A number in its own spelling: 1.10 stays 1.10, and a thousand digits stay digits."""

    __slots__ = ()


class _Members(list[tuple[str, Any]]):
    """The members of an object in their order, with those that stand twice."""

    __slots__ = ()


_RECORDS: Final = json.JSONDecoder(parse_int=str)  # `int` refuses numbers of thousands of digits


def read(source: Source) -> Reading:
    """Return data as Markdown: JSON and XML laid out in a fence, a table as a table.

    Never fails on malformed data, which is shown as it came; `notes` say what was wrong or left out.

    Raises:
        Unreadable: XML with entities that refer to others or to files.
    """
    kind = _kind(source)
    text, notes = decoded(source, xml=kind in ("xml", None))
    if kind is None:
        kind = _kind_of(text)
    if kind == "xml":
        return tree.read(text, source, notes)
    if kind == "table":
        return table.read(text, source, notes)
    text = _GUARD.sub("", text.lstrip(), count=1) if _GUARD.match(text.lstrip()) else text
    return _lines(text, source, notes) if kind == "lines" else _document(text, source, notes)


def _kind(source: Source) -> str | None:
    """Return "json", "lines", "table" or "xml" as the type or the name says, None when neither does."""
    subtype = source.media_type.rpartition("/")[2]
    for word in (subtype.removeprefix("x-"), extension(source.url)):
        if word in _LINED or word == "json-seq":
            return "lines"
        if word == "json" or word.endswith("+json") or word in _LOOSE:
            return "json"
        if word == "xml" or word.endswith("+xml"):
            return "xml"
        if word in ("csv", "tsv", "tab", "tab-separated-values"):
            return "table"
    return None


def _kind_of(text: str) -> str:
    """Return the kind of data that `text` looks like."""
    start = text.lstrip()[:1]
    return {"<": "xml", "{": "json", "[": "json"}.get(start, "table" if start and "\n" in text else "json")


def _loads(text: str) -> Any:
    """Return JSON with numbers as spelt and objects as `_Members`.

    Raises:
        ValueError, RecursionError: it is malformed, or nested deeper than the interpreter's stack.
    """
    seen: dict[str, _Number] = {}

    def number(spelling: str) -> _Number:
        return seen.setdefault(spelling, _Number(spelling)) if len(spelling) < 6 else _Number(spelling)

    def whole(spelling: str) -> int | _Number:
        return int(spelling) if len(spelling) <= _SMALL and spelling != "-0" else _Number(spelling)

    none = _Members()
    return json.loads(
        text,
        object_pairs_hook=lambda pairs: _Members(pairs) if pairs else none,
        parse_float=number,
        parse_int=whole,
        parse_constant=number,
    )


def _problem(error: ValueError | RecursionError) -> str:
    """Return why JSON could not be taken apart, as a sentence."""
    if isinstance(error, json.JSONDecodeError):
        return f"Not valid JSON, shown as it came: {error.msg} in line {error.lineno}, column {error.colno}."
    return "Nested too deeply to lay out, shown as it came."


def _document(text: str, source: Source, notes: list[str]) -> Reading:
    """Return one JSON document, laid out."""
    label = extension(source.url) if extension(source.url) in _LOOSE else "json"
    if is_crowded(text) or _has_many_members(text):
        what = "arrays and objects" if is_crowded(text) else "members of objects"
        why = f"More than {MAX_CONTAINERS:,} {what}, shown as it came."
        return raw(text, source, label, reader=READER, notes=[*notes, why])
    try:
        value = _loads(text)
    except (ValueError, RecursionError) as error:
        if _is_lined(text):
            return _lines(text, source, notes)  # records, one a line, under the name of a document
        if not text.strip():
            return Reading(markdown="", title=file_name(source.url), reader=READER, notes=notes)
        return raw(text, source, label, reader=READER, notes=[*notes, _problem(error)] if label == "json" else notes)
    sheet = fit(lambda sheet: _write(sheet, value))
    if not sheet.lines:  # a single value longer than a sheet
        return raw(text, source, label, reader=READER, notes=notes)
    twice = _twice(value)
    if twice:
        notes = [*notes, f"Members that repeat a name of their object, all shown: {twice:,}."]
    return Reading(
        markdown=fenced("\n".join(sheet.lines), "json"),
        title=_title(value) or file_name(source.url),
        reader=READER,
        notes=notes + sheet.notes(len(text)),
        truncated=source.truncated or sheet.cut or bool(sheet.left_out),
    )


def _has_many_members(text: str) -> bool:
    """True when JSON may have so many members with names of their own that they take 30 times its size."""
    return min(text.count(":"), text.count('"') // 2) > MAX_CONTAINERS


def _is_lined(text: str) -> bool:
    """True when the first lines are JSON of their own."""
    lines = [line for line in text.split("\n", 4)[:4] if line.strip()]
    return len(lines) > 1 and all(line.lstrip()[0] in "[{" and _fields(line) is not None for line in lines[:2])


def _title(value: Any) -> str | None:
    """Return the title of a document that has one: its own, that of an API description, or a package's name."""
    top = dict(value) if isinstance(value, _Members) else {}
    info = dict(top["info"]) if isinstance(top.get("info"), _Members) else {}
    return as_title(info.get("title")) or as_title(top.get("title")) or as_title(top.get("name"))


def _twice(value: Any) -> int:
    """Return how many members of all objects repeat a name."""
    count, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, _Members):
            count += len(one) - len({name for name, _ in one})
            waiting.extend(inner for _, inner in one if isinstance(inner, list))
        elif isinstance(one, list):
            waiting.extend(inner for inner in one if isinstance(inner, list))
    return count


def _scalar(value: Any, sheet: Sheet) -> str:
    """Return a value that holds no others as JSON; half a surrogate pair stays an escape."""
    if isinstance(value, _Number):
        return sheet.shorten(value)
    if isinstance(value, str):
        words = json.dumps(sheet.shorten(value), ensure_ascii=False)
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", words)
    return json.dumps(value)


def _together(value: list[Any], sheet: Sheet, room: int) -> str | None:
    """Return a container of scalars on one line when it fits, None otherwise."""
    marks = "{}" if isinstance(value, _Members) else "[]"
    if len(value) > room:  # every item takes more than a character
        return None
    words: list[str] = []
    for item in value:
        name, inner = item if isinstance(value, _Members) else ("", item)
        if len(name) > room or (isinstance(inner, list) and inner) or (isinstance(inner, str) and len(inner) > room):
            return None
        word = "[]" if type(inner) is list else "{}" if isinstance(inner, list) else _scalar(inner, sheet)
        words.append(f"{_scalar(name, sheet)}: {word}" if isinstance(value, _Members) else word)
        room -= len(words[-1]) + 2
        if room < 0:
            return None
    return marks[0] + ", ".join(words) + marks[1]


def _write(sheet: Sheet, value: Any, *, label: str = "", comma: str = "", depth: int = 0) -> None:
    """Write one value and what it holds; `label` is the name before it when it is a member."""
    start = "  " * depth + label
    if not isinstance(value, list):
        sheet.write(start + _scalar(value, sheet) + comma)
        return
    marks = "{}" if isinstance(value, _Members) else "[]"
    line = _together(value, sheet, _LINE - len(start))
    if line is not None:
        sheet.write(start + line + comma)
    elif depth >= sheet.bounds.depth:
        sheet.left_out["values nested too deeply"] += len(value)
        sheet.write(f"{start}{marks[0]}… {len(value):,} more{marks[1]}{comma}")
    else:
        sheet.write(start + marks[0])
        _write_inner(sheet, value, depth + 1)
        sheet.write("  " * depth + marks[1] + comma)


def _write_inner(sheet: Sheet, value: list[Any], depth: int) -> None:
    """Write what an array or object holds, and how much of it there is no room for."""
    members = isinstance(value, _Members)
    shown = value[: sheet.bounds.siblings]
    rest = len(value) - len(shown)
    for place, item in enumerate(shown, 1):
        name, inner = item if members else ("", item)
        label = f"{_scalar(name, sheet)}: " if members else ""
        _write(sheet, inner, label=label, comma="," if place < len(shown) or rest else "", depth=depth)
    if rest:
        kind = "members" if members else "items"
        sheet.left_out[f"{kind} of {'objects' if members else 'arrays'}"] += rest
        sheet.write(f"{'  ' * depth}… {rest:,} more {kind}")


def _lines(text: str, source: Source, notes: list[str]) -> Reading:
    """Return records that stand one on a line: how many, their fields, then as many of them as there is room for."""
    sheet = Sheet(Bounds(siblings=0, text=_MAX_RECORD, depth=0))
    fields: Counter[str] = Counter()
    records = broken = 0
    for line in (found[0].lstrip("\x1e") for found in _RECORD.finditer(text)):
        if not line.strip():
            continue
        records += 1
        if records <= _SAMPLE:
            names = _fields(line)
            broken += names is None
            fields.update(names or ())
        sheet.cut = sheet.cut or len(line) > sheet.room
        if not sheet.cut:
            sheet.write(sheet.shorten(line))
    rest = records - len(sheet.lines)
    if rest:
        sheet.left_out["records"] += rest
    if broken:
        notes = [*notes, f"Of the first {min(records, _SAMPLE):,} records {broken:,} are not valid JSON."]
    sheet.cut = False  # counted by records instead
    head = _summary(fields, records) if records else ""
    return Reading(
        markdown=head + fenced("\n".join(sheet.lines), "jsonl"),
        title=file_name(source.url),
        reader=READER,
        notes=notes + sheet.notes(len(text)),
        truncated=source.truncated or bool(sheet.left_out),
    )


def _fields(record: str) -> set[str] | None:
    """Return the names of a record's members; None when it is not JSON."""
    if is_crowded(record):
        return set()
    try:
        value = _RECORDS.decode(record)
    except (ValueError, RecursionError):
        return None
    return set(value) if isinstance(value, dict) else set()


def _summary(fields: Counter[str], records: int) -> str:
    """Return the paragraph before records: how many there are and what they hold."""
    head = f"{records:,} record{'s' if records > 1 else ''}."
    if not fields:
        return f"{head}\n\n"
    common = fields.most_common(_MAX_FIELDS)
    all_of_them = min(records, _SAMPLE)
    words = [
        literal(clip(name, _LINE)) + ("" if count == all_of_them else f" (in {count:,})") for name, count in common
    ]
    if len(fields) > len(common):
        words.append(f"{len(fields) - len(common):,} more")
    return f"{head} Fields: {', '.join(words)}.\n\n"
