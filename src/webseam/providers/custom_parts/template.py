"""Templates of URLs and bodies: `{query}`, `{count}` and `{page}` in text that a user wrote.

Substitution is one pass over the template, so text that came from a value is never looked at again: a query about
`{count}` stays a query about `{count}`. Every value is encoded for the place it stands in, and a template for which
that cannot work (a query outside a JSON string, a placeholder in the host) is refused when it is read, not when
somebody searches for the wrong words. Other braces are what they are; `{{query}}` is the same as `{query}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus

QUERY, COUNT, PAGE = "query", "count", "page"
_PLACEHOLDER = re.compile(r"\{\{(query|count|page)\}\}|\{(query|count|page)\}")
_URL = re.compile(r"(?P<front>[^:/?#]*://[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?P<fragment>#.*)?", re.DOTALL)
# Everything that breaks out of an encoding that was forgotten, and what would be substituted in a second pass.
_AWKWARD: Final = 'a "quoted\\" {query} {{count}}&=%41+\n\t\u2028\u00e9\U0001f600'

Values = Mapping[str, str]
Encode = Callable[[str], str]


class Mistake(ValueError):
    """What is wrong with a setting, `key`, in words that follow its name."""

    def __init__(self, key: str, problem: str, *, hint: str | None = None) -> None:
        super().__init__(problem)
        self.key = key
        self.hint = hint


def placeholders(template: str) -> list[str]:
    """Return the names of all placeholders in a template, in order."""
    return [found[1] or found[2] for found in _PLACEHOLDER.finditer(template)]


def fill(template: str, values: Values, encode: Encode) -> str:
    """Return the template with every placeholder replaced, once."""
    return _PLACEHOLDER.sub(lambda found: encode(values[found[1] or found[2]]), template)


def in_url(text: str) -> str:
    """Return text percent-encoded for any place in a path or a query (RFC 3986; a space is %20)."""
    return quote(text, safe="")


def in_form(text: str) -> str:
    """Return text as a form has it (a space is +)."""
    return quote_plus(text)


def in_json(text: str) -> str:
    """Return text as the inside of a JSON string; ASCII alone, so that no encoding on the way can spoil it."""
    return json.dumps(text)[1:-1]


def split_url(key: str, template: str) -> tuple[str, str, str]:
    """Return origin, path and query (without its question mark) of a URL template.

    Raises:
        Mistake: it is no URL, has a fragment, or a placeholder where none may stand.
    """
    parts = _URL.fullmatch(template)
    if parts is None:
        raise Mistake(key, "is not an http or https URL", hint="write it like https://search.example.org/api")
    if placeholders(parts["front"]):
        raise Mistake(key, "has a placeholder in the scheme, the host or the port", hint="use it in the path or query")
    if parts["fragment"]:
        raise Mistake(key, "has a fragment, which is never sent", hint="remove everything from the # on")
    if has_dots(parts["path"]):
        raise Mistake(key, "has . or .. as a part of its path", hint="write the path it leads to")
    return parts["front"], parts["path"], (parts["query"] or "?")[1:]


def has_dots(path: str) -> bool:
    """True when a path has a part that is read as "here" or "one up", whatever it is encoded like."""
    return any(re.fullmatch(r"(?:\.|%2e){1,2}", part, re.IGNORECASE) for part in path.split("/"))


def check_url(key: str, template: str) -> None:
    """Check that a URL template gives a URL.

    Raises:
        Mistake: what is wrong with it.
    """
    from webseam.net.url import UrlRefused, parse

    try:
        parse(fill(template, {QUERY: "q", COUNT: "10", PAGE: "1"}, in_url))
    except UrlRefused as refused:
        raise Mistake(key, refused.problem, hint=refused.hint) from None


def check_body(key: str, template: str, encode: Encode) -> None:
    """Check that a body template carries any query whole, by one that would break out of most places.

    Raises:
        Mistake: what is wrong with it.
    """
    filled = fill(template, {QUERY: _AWKWARD, COUNT: "10", PAGE: "1"}, encode)
    arrived = _texts_of_json(key, filled) if encode is in_json else _texts_of_form(filled)
    if sum(text.count(_AWKWARD) for text in arrived) != placeholders(template).count(QUERY):
        raise Mistake(key, "has {query} in a place that cannot hold any text", hint='write {"name": "{query}"}')


def _texts_of_json(key: str, filled: str) -> list[str]:
    from webseam.providers.answers import decode_json

    try:
        return _texts(decode_json(filled.encode()))
    except ValueError as error:
        hint = 'write {query} between quotation marks: {"name": "{query}"}'
        raise Mistake(key, f"is not JSON once it is filled in: {error}", hint=hint) from None


def _texts(value: Any) -> list[str]:
    """Return every string of a document, names included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for name, inner in value.items() for text in (name, *_texts(inner))]
    return [text for inner in value for text in _texts(inner)] if isinstance(value, list) else []


def _texts_of_form(filled: str) -> list[str]:
    return [text for pair in parse_qsl(filled, keep_blank_values=True) for text in pair]
