"""The forms in which model APIs take tools, and what is said when there is no such form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import webseam
from webseam.errors import RequestError
from webseam.tools import formats
from webseam.tools.definitions import TOOLS, Tool

PARAMETERS = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "words"}, "count": {"type": "integer", "minimum": 1}},
    "required": ["query"],
    "additionalProperties": False,
}
FIND = Tool(name="find", title="Find", description="Find it.", parameters=PARAMETERS)
LOSE = Tool(name="lose", title="Lose", description="Lose it.", parameters={"type": "object", "properties": {}})
EMPTY = {"type": "object", "properties": {}}

# Of JSON Schema, what Gemini's `parametersJsonSchema` takes: the shortest list of the four APIs.
# https://ai.google.dev/api/generate-content (GenerationConfig.responseJsonSchema)
GEMINI_TAKES = set(
    "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum"
    " anyOf oneOf properties additionalProperties required".split()
)


@pytest.mark.parametrize(
    ("style", "written"),
    [
        pytest.param(
            "openai-chat",
            [
                {
                    "type": "function",
                    "function": {"name": "find", "description": "Find it.", "parameters": PARAMETERS},
                },
                {"type": "function", "function": {"name": "lose", "description": "Lose it.", "parameters": EMPTY}},
            ],
            id="openai-chat",
        ),
        pytest.param(
            "openai-responses",
            [
                {
                    "type": "function",
                    "name": "find",
                    "description": "Find it.",
                    "parameters": PARAMETERS,
                    "strict": False,
                },
                {"type": "function", "name": "lose", "description": "Lose it.", "parameters": EMPTY, "strict": False},
            ],
            id="openai-responses",
        ),
        pytest.param(
            "anthropic",
            [
                {"name": "find", "description": "Find it.", "input_schema": PARAMETERS},
                {"name": "lose", "description": "Lose it.", "input_schema": EMPTY},
            ],
            id="anthropic",
        ),
        pytest.param(
            "gemini",
            [
                {
                    "function_declarations": [
                        {"name": "find", "description": "Find it.", "parameters_json_schema": PARAMETERS},
                        {"name": "lose", "description": "Lose it.", "parameters_json_schema": EMPTY},
                    ]
                }
            ],
            id="gemini",
        ),
    ],
)
def test_each_style_is_written_as_its_api_wants_it(style: str, written: list[dict[str, Any]]) -> None:
    assert formats.schemas(style, [FIND, LOSE]) == written
    assert formats.schemas(style, []) == []


@pytest.mark.parametrize("style", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_what_a_caller_does_to_the_schemas_changes_no_tool(style: str) -> None:
    def emptied(value: Any) -> None:
        for item in list(value.values()) if isinstance(value, dict) else list(value):
            if isinstance(item, (dict, list)):
                emptied(item)
        value.clear()

    before = webseam.tools.schemas(style)
    emptied(webseam.tools.schemas(style))
    assert webseam.tools.schemas(style) == before != []


@pytest.mark.parametrize("style", ["openai", "OpenAI-Chat", "", None, ["gemini"]])
def test_an_unknown_style_is_refused_with_the_names_there_are(style: Any) -> None:
    with pytest.raises(RequestError) as raised:
        formats.schemas(style, TOOLS)
    assert (raised.value.detail, raised.value.hint) == (
        f"style: there is no {style!r}",
        "there are openai-chat, openai-responses, anthropic, gemini",
    )


def words(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the words of JSON Schema that a schema is made of."""
    yield from schema
    for part in (*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])):
        yield from words(part)


@pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])
def test_the_schemas_keep_to_the_words_that_all_apis_take(tool: Tool) -> None:
    assert sorted(set(words(tool.parameters)) - GEMINI_TAKES) == []
    assert sorted(set(words(tool.parameters)) & {"anyOf", "oneOf", "$ref"}) == []
