"""The tool schemas and `webseam.tools.call` with the official clients of the model APIs, unmodified.

Each client sends our schemas to a model on loopback, which calls web_search and then web_fetch; each call is carried
out, and what the client sends back is checked on the wire.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import webseam
from tests.adapters.world import KEY, MODEL, Call, Scene, scene, without_nonces
from tests.world import World
from webseam.tools import ToolResult

# google-genai derives a class from aiohttp's, which discourages that.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

QUESTION = "How is a widget frobnicated?"
ANSWER = "By turning its handle."

Carry = Callable[[str, Any], Awaitable[ToolResult]]


async def openai_chat(url: str, carry: Carry) -> str:
    from openai import AsyncOpenAI

    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        while True:
            answer = await client.chat.completions.create(
                model=MODEL,
                messages=messages,
                tools=webseam.tools.schemas("openai-chat"),  # type: ignore[arg-type]
            )
            said = answer.choices[0].message
            if not said.tool_calls:
                return said.content or ""
            messages.append(said)
            for call in said.tool_calls:
                result = await carry(call.function.name, call.function.arguments)  # type: ignore[union-attr]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})


async def openai_responses(url: str, carry: Carry) -> str:
    from openai import AsyncOpenAI

    items: list[Any] = [{"role": "user", "content": QUESTION}]
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        while True:
            answer = await client.responses.create(
                model=MODEL,
                input=items,
                tools=webseam.tools.schemas("openai-responses"),  # type: ignore[arg-type]
            )
            items += answer.output
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                return answer.output_text
            for call in calls:
                result = await carry(call.name, call.arguments)
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": result.text})


async def anthropic(url: str, carry: Carry) -> str:
    from anthropic import AsyncAnthropic

    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    async with AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        while True:
            answer = await client.messages.create(
                model=MODEL,
                max_tokens=1000,
                messages=messages,
                tools=webseam.tools.schemas("anthropic"),  # type: ignore[arg-type]
            )
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                return "".join(block.text for block in answer.content if block.type == "text")
            results = []
            for call in calls:
                result = await carry(call.name, call.input)
                results.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": call.id,
                        "content": result.text,
                        "is_error": result.is_error,
                    }
                )
            messages += [
                {"role": "assistant", "content": answer.content},
                {"role": "user", "content": results},
            ]


async def gemini(url: str, carry: Carry) -> str:
    from google import genai
    from google.genai import types

    contents: list[Any] = [types.UserContent(parts=[types.Part(text=QUESTION)])]
    config = types.GenerateContentConfig(tools=webseam.tools.schemas("gemini"))  # type: ignore[arg-type]
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url))
    async with client.aio as api:
        while True:
            answer = await api.models.generate_content(model=MODEL, contents=contents, config=config)
            if not answer.function_calls:
                return answer.text or ""
            parts = []
            for call in answer.function_calls:
                result = await carry(call.name or "", call.args)
                response = {"error" if result.is_error else "result": result.text}
                parts.append(types.Part.from_function_response(name=call.name or "", response=response))
            contents += [answer.candidates[0].content, types.UserContent(parts=parts)]  # type: ignore[index]


CLIENTS = [
    pytest.param(openai_chat, "openai-chat", id="openai-chat"),
    pytest.param(openai_responses, "openai-responses", id="openai-responses"),
    pytest.param(anthropic, "anthropic", id="anthropic"),
    pytest.param(gemini, "gemini", id="gemini"),
]


def on_the_wire(style: str) -> Any:
    """Return the field `tools` as a request must have it.

    google-genai spells the outer name as JSON does and the inner ones as Python does; the API reads both.
    """
    schemas = webseam.tools.schemas(style)
    return [{"functionDeclarations": schemas[0]["function_declarations"]}] if style == "gemini" else schemas


def first_request(style: str) -> dict[str, Any]:
    """Return the whole body of the first request of a client."""
    tools = on_the_wire(style)
    asked = [{"role": "user", "content": QUESTION}]
    return {
        "openai-chat": {"model": MODEL, "messages": asked, "tools": tools},
        "openai-responses": {"model": MODEL, "input": asked, "tools": tools},
        "anthropic": {"model": MODEL, "max_tokens": 1000, "messages": asked, "tools": tools},
        "gemini": {
            "contents": [{"role": "user", "parts": [{"text": QUESTION}]}],
            "tools": tools,
            "generationConfig": {},
        },
    }[style]


def searched(stage: Scene) -> str:
    """Return what a model reads of the one hit there is."""
    return f"[1] Widgets\n    {stage.hit}\n    On frobnicating them.\n\n1 result from searxng.\n"


@pytest.mark.parametrize(("run", "style"), CLIENTS)
async def test_a_client_sends_the_tools_and_carries_our_markdown_back(
    run: Callable[[str, Carry], Awaitable[str]], style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with World() as world:
        stage = scene(world)
        stage.model.turns = [
            (Call("web_search", {"query": "frobnicate a widget", "count": 3}),),
            (Call("web_fetch", {"url": stage.page}),),
            ANSWER,
        ]
        for name, value in stage.environment.items():
            monkeypatch.setenv(name, value)
        carried: list[ToolResult] = []

        async def carry(name: str, arguments: Any) -> ToolResult:
            carried.append(await webseam.tools.call(name, arguments))
            return carried[-1]

        assert await run(stage.model.url, carry) == ANSWER
    assert stage.model.asked[0] == first_request(style)
    assert [request["tools"] for request in stage.model.asked] == [on_the_wire(style)] * 3
    assert [result.outcome for result in carried] == ["ok", "ok"]
    assert stage.model.heard() == [without_nonces(result.text) for result in carried]
    assert stage.model.heard()[0] == searched(stage)


@pytest.mark.parametrize(("run", "style"), CLIENTS)
async def test_a_failed_call_is_told_to_the_model_and_marked_where_the_api_can(
    run: Callable[[str, Carry], Awaitable[str]], style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with World() as world:
        stage = scene(world, (Call("web_search", {"query": "widgets", "count": "many"}),), ANSWER)
        for name, value in stage.environment.items():
            monkeypatch.setenv(name, value)
        assert await run(stage.model.url, webseam.tools.call) == ANSWER
    last = stage.model.asked[-1]
    said = "invalid: count: must be a number, not 'many'."
    assert said in json.dumps(last)
    if style == "anthropic":
        (block,) = last["messages"][-1]["content"]
        assert (block["content"], block["is_error"]) == (said, True)
    elif style == "gemini":
        (part,) = last["contents"][-1]["parts"]
        assert part["functionResponse"]["response"] == {"error": said}
    else:
        assert stage.model.heard() == [said]


def typed(style: str) -> Any:
    """Return the client's own type of one tool."""
    if style == "openai-chat":
        from openai.types.chat import ChatCompletionFunctionToolParam as Wanted
    elif style == "openai-responses":
        from openai.types.responses import FunctionToolParam as Wanted  # type: ignore[assignment]
    elif style == "anthropic":
        from anthropic.types import ToolParam as Wanted  # type: ignore[assignment]
    else:
        from google.genai.types import Tool as Wanted  # type: ignore[assignment]
    return Wanted


@pytest.mark.parametrize("style", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_a_schema_is_of_the_type_that_the_client_declares_for_it(style: str) -> None:
    from pydantic import BaseModel, TypeAdapter

    wanted = typed(style)
    for schema in webseam.tools.schemas(style):
        read = TypeAdapter(wanted).validate_python(schema)
        assert (read.model_dump(exclude_none=True) if isinstance(read, BaseModel) else read) == schema
