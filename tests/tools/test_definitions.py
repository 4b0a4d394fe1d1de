"""What every model reads at the start of every conversation: small, plain, and without what only an operator sets."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from webseam.tools.definitions import TOOLS, Tool

BUDGET = 1_500  # tokens of all tools together, 4 characters a token
FORBIDDEN = {"anyOf", "oneOf", "allOf", "$ref", "$defs", "default", "format", "patternProperties"}
OPERATORS = ("key", "token", "secret", "base_url", "allow", "proxy", "header", "robots", "reader", "cache")


def test_there_are_these_tools() -> None:
    assert [(tool.name, tool.title, tool.open_world) for tool in TOOLS] == [
        ("web_search", "Search the web", True),
        ("web_fetch", "Read a web page", True),
        ("docs_search", "Search installed documentation", False),
    ]


def test_all_tools_together_cost_less_than_half_of_what_they_may() -> None:
    listed = [
        {"name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.parameters}
        for tool in TOOLS
    ]
    assert len(json.dumps(listed)) / 4 < BUDGET * 0.6


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_is_plain_and_closed(tool: Tool) -> None:
    words = set(_keys(tool.parameters))
    assert words & FORBIDDEN == set()
    assert tool.parameters["additionalProperties"] is False
    for name, schema in tool.parameters["properties"].items():
        assert schema["type"] in ("string", "integer", "number", "boolean", "array"), name
        assert schema["description"], name
        assert ("items" in schema) == (schema["type"] == "array"), name


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_only_an_operator_should_set_is_no_argument(tool: Tool) -> None:
    names = set(tool.parameters["properties"])
    assert [name for name in names if any(word in name for word in OPERATORS)] == (
        ["max_tokens"] if tool.name == "web_fetch" else []
    )


def test_the_definitions_load_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import webseam.tools.definitions;"
        " print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "webseam" in loaded
    assert loaded & {"asyncio", "mcp", "pydantic", "httpcore2", "sqlite3", "ssl", "click", "turbohtml"} == set()


def _keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for item in value.values() for key in _keys(item))]
    return [key for item in value for key in _keys(item)] if isinstance(value, list) else []
