"""Finding the results in the answer of a service that nobody described, and reading their fields.

A path that the user set is believed. Otherwise the list is where nearly all services have it, under a few names, and so
are the fields. Where nothing is found the error says what there was instead: a guess would look like an honest answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.providers.answers import Hits, Reply, shape
from webseam.providers.custom_parts.template import Mistake
from webseam.providers.dates import published_day
from webseam.providers.verdicts import error_object

EACH: Final = None  # the step `*` of a path; a name and a number are themselves
Steps = tuple[str | int | None, ...]
Row = Mapping[str, Any]

_STEP = re.compile(r"(?:^|\.)(?P<name>[^.\[\]]+)|\[(?P<place>[0-9]{1,6}|\*)\]")
_LISTS: Final = ("results", "items", "data", "web", "organic_results", "hits", "entries")
_MAX_DEPTH: Final = 4  # objects in objects that are looked through for lists
_MAX_OBJECTS: Final = 1_000
_NAMES: Final[dict[str, tuple[str, ...]]] = {  # in lower case: names are compared without
    "title": ("title", "headline", "name", "heading"),
    "url": ("url", "link", "href", "uri", "permalink"),
    "snippet": ("description", "snippet", "content", "preview", "summary", "text", "body"),
    "site": ("source", "domain", "displaylink", "displayed_link", "engine"),
    "published": ("published", "published_at", "publisheddate", "date", "page_age", "time"),
}


@lru_cache(maxsize=64)
def read_path(path: str) -> Steps:
    """Return the steps of a path such as `data.hits[0].entries` or `groups.*.results`.

    Raises:
        Mistake: it cannot be read.
    """
    steps: list[str | int | None] = []
    at = 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise Mistake("json_path", f"cannot be read from character {at + 1} on", hint="write it like a.b[0].c")
        step = found["name"] or found["place"]
        steps.append(EACH if step == "*" else int(step) if found["place"] else step)
        at = found.end()
    return tuple(steps)


def rows_of(reply: Reply, document: Any, path: str, own: Sequence[str] = ()) -> list[Row]:
    """Return the objects that are results.

    Args:
        path: where they are; "" = wherever services have them.
        own: names that an answer of this service has even without results.

    Raises:
        ProviderError: the error the answer states, or bad_response, saying what it holds.
    """
    found = _at(document, read_path(path)) if path else _anywhere(document)
    if found is None:
        if stated := error_object(reply, document):
            raise stated
        if isinstance(document, dict) and any(name in document for name in own):
            return []
        raise shape(reply, document, path or "list of results")
    rows: list[Row] = [entry for entry in found if isinstance(entry, dict)]
    if found and not rows:
        words = f"none of the {len(found)} entries of {path or 'its list of results'} is an object"
        raise ProviderError(words, outcome=Outcome.BAD_RESPONSE, http_status=reply.status)
    return rows


def _at(document: Any, steps: Steps) -> list[Any] | None:
    """Return the entries that a path leads to: those of lists, and objects themselves. None = it leads nowhere."""
    places = [document]
    for step in steps:
        found = [value for place in places for value in _step(place, step)]
        if not found:
            empty = step is EACH and any(isinstance(place, (list, dict)) for place in places)
            return [] if empty else None
        places = found
    if not any(isinstance(place, (list, dict)) for place in places):
        return None
    return [entry for place in places for entry in (place if isinstance(place, list) else [place])]


def _step(place: Any, step: str | int | None) -> Sequence[Any]:
    if step is EACH:
        return place if isinstance(place, list) else list(place.values()) if isinstance(place, dict) else ()
    if isinstance(step, int):
        return place[step : step + 1] if isinstance(place, list) else ()
    return (place[step],) if isinstance(place, dict) and step in place else ()


def _anywhere(document: Any) -> list[Any] | None:
    """Return the entries of the first list of results there is, or None."""
    if isinstance(document, list):
        return document
    for name in _LISTS if isinstance(document, dict) else ():
        value = document.get(name)
        if isinstance(value, list):
            return value
        if isinstance(value, dict) and (lists := list(_lists_in(value))):
            return [entry for one in lists for entry in one]
    return None


def _lists_in(value: dict[str, Any]) -> Iterator[list[Any]]:
    """Yield the lists in an object and in the objects in it, each in its order; those in lists are results' own."""
    level = [value]
    seen = 0
    for _ in range(_MAX_DEPTH):
        below = []
        for inner in (inner for one in level for inner in one.values()):
            if isinstance(inner, list):
                yield inner
            elif isinstance(inner, dict) and seen < _MAX_OBJECTS:
                seen += 1
                below.append(inner)
        level = below


def add(hits: Hits, row: Row, known: Mapping[str, str]) -> None:
    """Add one result; `known` are this service's own names of fields, looked at before the usual ones."""
    named: dict[str, Any] = {}
    for name, value in row.items():
        named.setdefault(name.lower(), value)

    def values(field: str) -> Iterator[Any]:
        own = (known[field].lower(),) if field in known else ()
        return (named[name] for name in (*own, *_NAMES[field]) if name in named)

    hits.add(
        url=next(filter(None, map(_words, values("url"))), None),
        title=next(filter(None, map(_words, values("title"))), None),
        snippet=next(filter(None, map(_extract, values("snippet"))), None),
        site=next(filter(None, map(_site, values("site"))), None),
        published=next(filter(published_day, values("published")), None),
        author=named.get("author"),
        score=named.get("score"),
    )


def _words(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _extract(value: Any) -> str | None:
    if isinstance(value, list):
        return " … ".join(part.strip() for part in value if _words(part)) or None
    return _words(value)


def _site(value: Any) -> str | None:
    return _words(value.get("name")) if isinstance(value, dict) else _words(value)
