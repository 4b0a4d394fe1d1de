"""What a search program prints, made rows: a JSON array, an object around one, JSON lines, or the aligned text of ddgs.

Programs have no content type, so the first character decides. A form that is begun must be kept to: guessing on after
that would turn an error message into results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from webseam.providers.answers import decode_json
from webseam.providers.verdicts import message_of

_WRAPPERS: Final = ("results", "data", "items", "hits")
_FIELDS: Final[dict[str, tuple[str, ...]]] = {  # ours: theirs, whatever their case, the first that is there
    "title": ("title", "heading", "name"),
    "url": ("href", "url", "link"),
    "snippet": ("body", "snippet", "description", "abstract", "content", "excerpt"),
    "published": ("date", "published"),
}
_OPENING = re.compile(r"\d{1,6}\.\s*=*")
_COLUMN: Final = 12  # where ddgs begins each value
_NAME = re.compile(r"[A-Za-z][\w-]*")
_ABSENT: Final = "None"  # how ddgs prints a value that is not there


class Unreadable(ValueError):
    """The output is none of the forms, and why. `stated` are the words of an error that it states, "" without."""

    def __init__(self, problem: str, stated: str = "") -> None:
        super().__init__(problem)
        self.stated = stated


def rows_in(output: str) -> list[dict[str, Any]]:
    """Return the results in what a program printed, each with those of title, url, snippet and published it has.

    Raises:
        Unreadable: there are none to be read. An empty list is a statement: nothing matches.
    """
    text = output.strip()
    if not text:
        raise Unreadable("no output")
    if text[0] == "[":
        return _objects(_json(text), "the array")
    if text[0] == "{":
        return _from_object(text)
    records = [_fields(record) for record in _records(output)]
    if not records:
        raise Unreadable("no results in its output", text if text[0] != "<" else "")  # a page says all sorts of things
    return records


def _from_object(text: str) -> list[dict[str, Any]]:
    try:
        document = decode_json(text.encode())
    except ValueError:
        return _from_lines(text)
    for name in _WRAPPERS:
        if name in document:
            rows = _objects(document[name], name)
            error = message_of({key: document.get(key) for key in ("error", "errors")})
            if not rows and error:  # that is no statement that nothing matches
                raise Unreadable("it states an error", error)
            return rows
    row = _fields(document)
    if row.get("url"):
        return [row]  # JSON lines, one of them
    raise Unreadable(f"no {', '.join(_WRAPPERS)} in its object (it has: {_some(document)})", message_of(document))


def _from_lines(text: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = decode_json(line.encode())
        except ValueError as error:
            raise Unreadable(f"its output is not JSON, as a whole or in line {number}: {error}") from None
        if not isinstance(row, dict):
            raise Unreadable(f"line {number} is not an object")
        rows.append(_fields(row))
    return rows


def _json(text: str) -> Any:
    try:
        return decode_json(text.encode())
    except ValueError as error:
        raise Unreadable(f"its output is not JSON: {error}") from None


def _objects(value: Any, name: str) -> list[dict[str, Any]]:
    """Return the objects of a list; what else is in it is left out, unless there is nothing but that."""
    if not isinstance(value, list):
        raise Unreadable(f"{name} is not an array")
    rows = [_fields(entry) for entry in value if isinstance(entry, dict)]
    if value and not rows:
        raise Unreadable(f"{name} holds no objects")
    return rows


def _some(document: Mapping[str, Any]) -> str:
    return ", ".join(sorted(document)[:8])[:100] or "nothing"


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of one result under our names."""
    theirs = {str(name).casefold(): value for name, value in row.items()}
    found = {}
    for ours, names in _FIELDS.items():
        values = (theirs.get(name) for name in names)
        value = next((value for value in values if value is not None and str(value).strip()), None)
        if value is not None:
            found[ours] = value
    return found


def _records(text: str) -> Iterator[dict[str, str]]:
    """Yield the records of ddgs's text: a numbered line, then fields whose values go on in indented lines.

    A later paragraph of a value begins in the first column again. So a number alone in its line opens a record only
    when a field follows at once, and after an empty line a field must be aligned as ddgs does it.
    """
    lines = text.split("\n")
    record: dict[str, list[str]] | None = None
    value: list[str] = []
    before = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        field = _field(line, aligned=not before.strip())
        if _OPENING.fullmatch(line.rstrip()) and _field(following):
            if record is not None:
                yield _joined(record)
            record, value = {}, []
        elif record is not None and field and field[0] not in record:
            value = record[field[0]] = [field[1]]
        elif line.strip():
            value.append(line.strip())
        before = line
    if record is not None:
        yield _joined(record)


def _field(line: str, *, aligned: bool = False) -> tuple[str, str] | None:
    """Return the name and the first line of a value, when a line begins one: a word, a gap, the value.

    With `aligned` the value must begin where ddgs lets it begin.
    """
    name = _NAME.match(line)
    if name is None:
        return None
    rest = line[name.end() :]
    value = rest.lstrip(" \t")
    gap = rest[: len(rest) - len(value)]
    in_column = bool(gap) and name.end() + len(gap) == _COLUMN
    if in_column or (not aligned and (len(gap) > 1 or "\t" in gap)):
        return name[0].casefold(), value.strip()
    return None


def _joined(record: Mapping[str, list[str]]) -> dict[str, str]:
    values = {name: _unwrapped(lines, whole=name in _FIELDS["url"]) for name, lines in record.items()}
    return {name: value for name, value in values.items() if value != _ABSENT}


def _unwrapped(lines: list[str], *, whole: bool) -> str:
    """Return the lines of a value as one. An address has no spaces; a line that ends inside `state-of-` has none."""
    if whole:
        return "".join(lines)
    text = ""
    for line in lines:
        split = re.search(r"\w-$", text) and line[:1].isalpha()
        text += line if split or not text else f" {line}"
    return text
