"""The arguments of a tool call as a model sent them, checked against the tool's own schema.

Models send numbers as text, lists as text, `null` for what they leave out, and names that are nearly right. What can
only mean one thing is taken as that; everything else is an error that names the argument and the fix, because a model
acts on such a sentence and not on a validator's report.

Loads nothing heavy.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from webseam.errors import RequestError
from webseam.text import quote
from webseam.tools.definitions import Tool

_SHOWN: Final = 80  # characters of a wrong value in an error
_ALIKE: Final = 0.6  # of 1: fresh and freshness, but not language and kind
_OF_CLIENTS: Final = frozenset({"wait_for_previous"})  # what Gemini CLI adds to every tool, and sends along
_TRUE: Final = frozenset({"true", "yes", "1"})
_FALSE: Final = frozenset({"false", "no", "0"})


def read_arguments(tool: Tool, arguments: object) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what a call of `tool` means, and the names of what was left out because no argument is like it.

    The first has only the arguments that were given, each of the type its schema says.

    Raises:
        RequestError: naming the first argument that is wrong, missing or nearly one that there is.
    """
    if arguments is None:
        arguments = {}
    if isinstance(arguments, str):  # some model APIs hand over the JSON text
        arguments = _object_of(arguments)
    if not isinstance(arguments, Mapping):
        raise RequestError("arguments", f"must be a JSON object, not {_kind(arguments)}")
    properties: dict[str, dict[str, Any]] = tool.parameters["properties"]
    read: dict[str, Any] = {}
    ignored = []
    for name, value in arguments.items():
        if name not in properties:
            close = difflib.get_close_matches(str(name), properties, n=1, cutoff=_ALIKE)
            if close:  # going on without it would lose what the model meant
                hint = f"did you mean {close[0]}?"
                raise RequestError(quote(str(name)), f"is no argument of {tool.name}", hint=hint)
            if name not in _OF_CLIENTS:
                ignored.append(quote(str(name)))
        elif value is not None and value != "":  # how models leave out what they have to name
            read[name] = _CHECKS[properties[name]["type"]](name, value, properties[name])
    for name in tool.parameters.get("required", ()):
        if name not in read:
            raise RequestError(name, "is missing", hint=f"call {tool.name} again with {name}")
    return read, tuple(ignored)


def _object_of(text: str) -> object:
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise RequestError("arguments", "are not JSON") from None


def _text(name: str, value: object, schema: Mapping[str, Any]) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)  # a query such as 404
    if not isinstance(value, str):
        raise RequestError(name, f"must be text, not {_kind(value)}")
    choices = schema.get("enum")
    if choices and value not in choices:
        folded = value.strip().lower()
        if folded not in choices:
            raise RequestError(name, f"{_shown(value)} is not one of {', '.join(choices)}")
        return folded
    return value


def _whole(name: str, value: object, schema: Mapping[str, Any]) -> int:
    number = _decimal(name, value, {})
    if not number.is_integer():
        raise RequestError(name, f"must be a whole number, not {_shown(value)}")
    return int(_within(name, number, schema))


def _number(name: str, value: object, schema: Mapping[str, Any]) -> float:
    number = _decimal(name, value, schema)
    if number <= 0:
        raise RequestError(name, "must be more than 0")
    return _within(name, number, schema)


def _decimal(name: str, value: object, _schema: Mapping[str, Any]) -> float:
    try:
        number = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RequestError(name, f"must be a number, not {_shown(value)}")
    return number


def _within(name: str, number: float, schema: Mapping[str, Any]) -> float:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if not low <= number <= high:
        bounds = f"at most {high}" if math.isinf(low) else f"from {low} to {high}"
        raise RequestError(name, f"must be {bounds}, not {number:g}")
    return number


def _switch(name: str, value: object, _schema: Mapping[str, Any]) -> bool:
    word = str(value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise RequestError(name, f"must be true or false, not {_shown(value)}")
    return word in _TRUE


def _list(name: str, value: object, schema: Mapping[str, Any]) -> list[str]:
    if isinstance(value, str):
        value = _listed(value)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise RequestError(name, f"must be a list of texts, not {_kind(value)}")
    items = [item.strip() for item in value if item.strip()]
    most = schema["maxItems"]
    if len(items) > most:
        raise RequestError(
            name, f"has {len(items)} entries, at most {most} are allowed", hint="call again for the rest"
        )
    return items


def _listed(text: str) -> object:
    """Return a list that was sent as text: as JSON, or as words between commas or spaces (URLs may hold commas)."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text.split() if "://" in text else text.replace(",", " ").split()


_CHECKS: Final[dict[str, Callable[[str, object, Mapping[str, Any]], Any]]] = {
    "string": _text,
    "integer": _whole,
    "number": _number,
    "boolean": _switch,
    "array": _list,
}


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", bool: "true or false", str: "text", type(None): "null"}
    return names.get(type(value), "a number")


def _shown(value: object) -> str:
    return repr(value)[:_SHOWN]
