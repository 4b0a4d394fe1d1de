"""The tools as each model API wants them in its request: one table, four envelopes.

The schema inside is the same everywhere: it keeps to what all four take (Gemini's list of JSON Schema words is the
shortest). What differs is where it stands, and what an API does when it is told nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Final

from webseam.errors import RequestError
from webseam.tools.definitions import Tool


def schemas(style: str, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return `tools` as the list that the request field `tools` of a model API takes.

    Args:
        style: "openai-chat", "openai-responses", "anthropic" or "gemini".

    Returns:
        New dictionaries, which the caller may change. For Gemini a single one, which holds all declarations.

    Raises:
        RequestError: there is no such style.
    """
    write = _STYLES.get(style) if isinstance(style, str) else None
    if write is None:
        raise RequestError("style", f"there is no {style!r:.80}", hint=f"there are {', '.join(_STYLES)}")
    return write(tools)


def _openai_chat(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    return [{"type": "function", "function": _declared(tool, "parameters")} for tool in tools]


def _openai_responses(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    # Told nothing, this API takes a function as strict, and makes every argument one that the model has to send.
    return [{"type": "function", **_declared(tool, "parameters"), "strict": False} for tool in tools]


def _anthropic(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    return [_declared(tool, "input_schema") for tool in tools]


def _gemini(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    # `parameters` would be Gemini's own kind of schema, which knows no `additionalProperties`. All declarations stand
    # in one tool: several are refused by some of its models.
    return [{"function_declarations": [_declared(tool, "parameters_json_schema") for tool in tools]}] if tools else []


def _declared(tool: Tool, schema: str) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, schema: deepcopy(tool.parameters)}


_STYLES: Final[dict[str, Callable[[Sequence[Tool]], list[dict[str, Any]]]]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
