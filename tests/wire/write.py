"""Writes results down the way each service does, so that one table of odd results goes through all providers.

A row is a dict with `url`, `title`, `snippet` and `published` (a day): an absent entry is left out of the answer, None
is written as null. How a service writes is in its folder: `shape.json`, or `writer.py` for text and HTML.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from tests.wire import FOLDER, WRITER, Answer, Shape, shape

Row = dict[str, Any]
JSON = {"Content-Type": "application/json"}
HTML = {"Content-Type": "text/html; charset=UTF-8"}
ROWS, TEXT = "$rows", "$text"


def results(provider: str, rows: Sequence[Row]) -> Answer:
    """Return the answer of a service that found `rows`."""
    write = _writer(provider)
    if write is not None:
        return write(rows)
    form = shape(provider)
    return _answer(form, [_written(form, row) for row in rows])


def instead(provider: str, value: Any) -> Answer:
    """Return the answer of a service that has `value` where its list of results belongs."""
    form = shape(provider)
    return (200, JSON, json.dumps({"results": value}).encode()) if form.document is None else _answer(form, value)


def stated(provider: str, error: Any) -> Answer:
    """Return an error object at status 200, in the envelope of the service's protocol where it has one."""
    document: dict[str, Any] = {"error": error}
    if shape(provider).envelope == "mcp":
        inside = error if isinstance(error, dict) else {"code": -32000, "message": error}
        document = {"jsonrpc": "2.0", "id": 1, "error": inside}
    return 200, JSON, json.dumps(document).encode()


@cache
def _writer(provider: str) -> Callable[[Sequence[Row]], Answer] | None:
    """The writer in a provider's folder. A folder may be called what no module can be, so it is loaded by its path."""
    path = FOLDER / provider / WRITER
    if not path.exists():
        return None
    spec = spec_from_file_location(f"writer_of_{provider}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    write: Callable[[Sequence[Row]], Answer] = module.write
    return write


def _answer(form: Shape, rows: Any) -> Answer:
    return 200, JSON, json.dumps(_filled(form.document, rows)).encode()


def _filled(template: Any, rows: Any) -> Any:
    """The document with `rows` in every place where they stand."""
    if template == ROWS:
        return rows
    if isinstance(template, dict):
        if set(template) == {TEXT}:
            return json.dumps(_filled(template[TEXT], rows))
        return {name: _filled(value, rows) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, rows) for value in template]
    return template


def _written(form: Shape, row: Row) -> dict[str, Any]:
    written = json.loads(json.dumps(form.always))
    for ours, theirs in form.row.items():
        if ours in row:
            path, form_of = (theirs, None) if isinstance(theirs, str) else (theirs["path"], theirs.get("as"))
            _put(written, path.split("."), _as(form_of, row[ours]))
    return dict(written)


def _put(place: Any, path: list[str], value: Any) -> None:
    """Set `value` at `path`, making what is not there yet; a number is the next place of a list."""
    for name, following in zip(path, [*path[1:], None], strict=True):
        made = value if following is None else [] if following.isdigit() else {}
        if isinstance(place, list):
            if len(place) <= int(name):
                place.append(made)
            place = place[int(name)]
        elif following is None:
            place[name] = value
        else:
            place = place.setdefault(name, made)


def _as(form: str | None, value: Any) -> Any:
    """A value in the service's form. Words that are no day stay words: services write those too."""
    if value is None or form is None:
        return value
    if form == "list":
        return [value]
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return value
    if form == "epoch":
        return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    if form == "us":
        return f"{day:%b} {day.day}, {day.year}"
    raise ValueError(f"no such form: {form}")
