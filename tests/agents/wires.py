"""The four model APIs as the scripted model speaks them: what a request offers and holds, and how an answer is written.

Only what coding agents send and need to read. Wires: Anthropic Messages, OpenAI Responses (with namespaces of tools, as
Codex sends them), OpenAI Chat Completions, Gemini generateContent.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_SEARCH = "tool_search"  # with which a model of the Responses API looks for tools of which it is told the names only
_USAGE = 7  # tokens of anything; a client wants a number, and no test wants another one
Events = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class Offered:
    """A tool as a client offers it to the model."""

    name: str
    description: str
    parameters: dict[str, Any]
    namespace: str = ""

    @property
    def called(self) -> str:
        """The whole name, as a model sees it."""
        return joined(self.namespace, self.name)


@dataclass(frozen=True)
class Result:
    """What reached the model of a tool's result: which tool's, its texts, whether it is marked an error; as it came."""

    tool: str
    text: str
    is_error: bool
    raw: Any


@dataclass(frozen=True)
class Seen:
    """A request to the model."""

    wire: str
    tools: tuple[Offered, ...]
    results: tuple[Result, ...]
    body: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Call:
    """What the model does next: call this tool."""

    tool: Offered
    arguments: dict[str, Any]


class Wire:
    """One API. `number` makes the ids of an answer its own."""

    name: str
    paths: tuple[str, ...]  # how the path of a request ends

    def speaks(self, path: str) -> bool:
        return path.endswith(self.paths)

    def streams(self, path: str, body: dict[str, Any]) -> bool:
        return bool(body.get("stream"))

    def read(self, body: dict[str, Any]) -> Seen:
        return Seen(self.name, tuple(self.tools(body)), tuple(self.results(body)), body)

    def tools(self, body: dict[str, Any]) -> Iterator[Offered]:
        raise NotImplementedError

    def results(self, body: dict[str, Any]) -> Iterator[Result]:
        raise NotImplementedError

    def whole(self, step: Call | str, number: int) -> dict[str, Any]:
        raise NotImplementedError

    def stream(self, step: Call | str, number: int) -> Events:
        raise NotImplementedError


def joined(namespace: str, name: str) -> str:
    """Return the whole name of a tool."""
    return f"{namespace}.{name}" if namespace else name


def own_name(called: str, server: str) -> str:
    """Return a tool's own name if its whole name says that it is a tool of that MCP server, else ""."""
    _, found, rest = called.partition(server)
    return rest.strip("_-.") if found else ""


def texts(content: Any) -> str:
    """Return the text of a message's content: a string, or a list of parts that have one."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if isinstance(part, dict) and "text" in part)


class Anthropic(Wire):
    name = "Anthropic Messages"
    paths = ("/messages",)

    def tools(self, body: dict[str, Any]) -> Iterator[Offered]:
        for tool in body.get("tools") or ():
            yield Offered(tool["name"], tool.get("description", ""), tool.get("input_schema", {}))

    def results(self, body: dict[str, Any]) -> Iterator[Result]:
        names = {}
        for message in body["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "tool_use":
                    names[block["id"]] = block["name"]
                elif block["type"] == "tool_result":
                    is_error = bool(block.get("is_error"))
                    yield Result(names[block["tool_use_id"]], texts(block.get("content")), is_error, block)

    def whole(self, step: Call | str, number: int) -> dict[str, Any]:
        return self._message(number) | {"content": [self._block(step, number)], "stop_reason": self._reason(step)}

    def stream(self, step: Call | str, number: int) -> Events:
        block = self._block(step, number)
        if isinstance(step, str):
            empty: dict[str, Any] = {**block, "text": ""}
            delta = {"type": "text_delta", "text": step}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
        events = (
            {"type": "message_start", "message": self._message(number)},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": self._reason(step), "stop_sequence": None},
                "usage": {"output_tokens": _USAGE},
            },
            {"type": "message_stop"},
        )
        for event in events:
            yield str(event["type"]), event

    def _message(self, number: int) -> dict[str, Any]:
        return {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": _USAGE, "output_tokens": _USAGE},
        }  # fmt: skip

    def _block(self, step: Call | str, number: int) -> dict[str, Any]:
        if isinstance(step, str):
            return {"type": "text", "text": step}
        return {"type": "tool_use", "id": f"toolu_{number}", "name": step.tool.name, "input": step.arguments}

    def _reason(self, step: Call | str) -> str:
        return "end_turn" if isinstance(step, str) else "tool_use"


class Responses(Wire):
    name = "OpenAI Responses"
    paths = ("/responses",)

    def tools(self, body: dict[str, Any]) -> Iterator[Offered]:
        found = (item["tools"] for item in self._items(body) if item.get("type") == f"{_SEARCH}_output")
        for tool in itertools.chain(body.get("tools") or (), *found):
            if tool["type"] == "namespace":
                for inner in tool["tools"]:
                    yield self._offered(inner, tool["name"])
            elif tool["type"] == "function":
                yield self._offered(tool, "")
            elif tool["type"] == _SEARCH:
                yield Offered(_SEARCH, tool["description"], tool["parameters"])

    def _offered(self, tool: dict[str, Any], namespace: str) -> Offered:
        return Offered(tool["name"], tool.get("description", ""), tool.get("parameters") or {}, namespace)

    def _items(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        return body["input"] if isinstance(body["input"], list) else []

    def results(self, body: dict[str, Any]) -> Iterator[Result]:
        names = {}
        for item in self._items(body):
            if item.get("type") == f"{_SEARCH}_output":
                yield Result(_SEARCH, json.dumps(item["tools"]), False, item)
            elif item.get("type") == "function_call":
                names[item["call_id"]] = joined(item.get("namespace", ""), item["name"])
            elif item.get("type") == "function_call_output":
                yield Result(names[item["call_id"]], texts(item["output"]), False, item)

    def whole(self, step: Call | str, number: int) -> dict[str, Any]:
        return self._response(number, "completed", [self._item(step, number)])

    def stream(self, step: Call | str, number: int) -> Events:
        item = self._item(step, number)
        events = (
            {"type": "response.created", "response": self._response(number, "in_progress", [])},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": self.whole(step, number)},
        )
        for order, event in enumerate(events):
            yield str(event["type"]), {**event, "sequence_number": order}

    def _response(self, number: int, status: str, output: list[Any]) -> dict[str, Any]:
        usage = {
            "input_tokens": _USAGE, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": _USAGE,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2 * _USAGE,
        }  # fmt: skip
        return {
            "id": f"resp_{number}", "object": "response", "created_at": 0, "model": "scripted", "status": status,
            "output": output, "usage": usage if status == "completed" else None,
        }  # fmt: skip

    def _item(self, step: Call | str, number: int) -> dict[str, Any]:
        if isinstance(step, str):
            part = {"type": "output_text", "text": step, "annotations": []}
            return {
                "type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [part]
            }  # fmt: skip
        if step.tool.name == _SEARCH:
            return {
                "type": f"{_SEARCH}_call", "id": f"tsc_{number}", "call_id": f"call_{number}", "status": "completed",
                "execution": "client", "arguments": step.arguments,
            }  # fmt: skip
        return {
            "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed",
            "name": step.tool.name, "arguments": json.dumps(step.arguments),
            **({"namespace": step.tool.namespace} if step.tool.namespace else {}),
        }  # fmt: skip


class Chat(Wire):
    name = "OpenAI Chat Completions"
    paths = ("/chat/completions",)

    def tools(self, body: dict[str, Any]) -> Iterator[Offered]:
        for tool in body.get("tools") or ():
            function = tool["function"]
            yield Offered(function["name"], function.get("description", ""), function.get("parameters") or {})

    def results(self, body: dict[str, Any]) -> Iterator[Result]:
        names = {}
        for message in body["messages"]:
            for call in message.get("tool_calls") or ():
                names[call["id"]] = call["function"]["name"]
            if message["role"] == "tool":
                yield Result(names[message["tool_call_id"]], texts(message["content"]), False, message)

    def whole(self, step: Call | str, number: int) -> dict[str, Any]:
        choice = {"index": 0, "message": self._message(step, number), "finish_reason": self._reason(step)}
        return self._completion(number, "chat.completion", [choice], usage=True)

    def stream(self, step: Call | str, number: int) -> Events:
        message = self._message(step, number)
        for order, call in enumerate(message.get("tool_calls", ())):
            call["index"] = order
        first = {"index": 0, "delta": message, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": self._reason(step)}
        yield "", self._completion(number, "chat.completion.chunk", [first])
        yield "", self._completion(number, "chat.completion.chunk", [last])
        yield "", self._completion(number, "chat.completion.chunk", [], usage=True)
        yield "", "[DONE]"

    def _completion(self, number: int, kind: str, choices: list[Any], *, usage: bool = False) -> dict[str, Any]:
        counts = {"prompt_tokens": _USAGE, "completion_tokens": _USAGE, "total_tokens": 2 * _USAGE}
        return {
            "id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": "scripted", "choices": choices,
            **({"usage": counts} if usage else {}),
        }  # fmt: skip

    def _message(self, step: Call | str, number: int) -> dict[str, Any]:
        if isinstance(step, str):
            return {"role": "assistant", "content": step}
        function = {"name": step.tool.name, "arguments": json.dumps(step.arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def _reason(self, step: Call | str) -> str:
        return "stop" if isinstance(step, str) else "tool_calls"


class Gemini(Wire):
    name = "Gemini generateContent"
    paths = (":generateContent", ":streamGenerateContent")

    def streams(self, path: str, body: dict[str, Any]) -> bool:
        return path.endswith(":streamGenerateContent")

    def tools(self, body: dict[str, Any]) -> Iterator[Offered]:
        for tool in body.get("tools") or ():
            for one in tool.get("functionDeclarations") or ():
                schema = one.get("parametersJsonSchema") or one.get("parameters") or {}
                yield Offered(one["name"], one.get("description", ""), schema)

    def results(self, body: dict[str, Any]) -> Iterator[Result]:
        for content in body["contents"]:
            for part in content.get("parts") or ():
                if answer := part.get("functionResponse"):
                    response = answer["response"]
                    text = response.get("output") or response.get("error") or json.dumps(response)
                    yield Result(answer["name"], text, "error" in response, answer)

    def whole(self, step: Call | str, number: int) -> dict[str, Any]:
        if isinstance(step, str):
            part: dict[str, Any] = {"text": step}
        else:
            part = {"functionCall": {"name": step.tool.name, "args": step.arguments}}
        counts = {"promptTokenCount": _USAGE, "candidatesTokenCount": _USAGE, "totalTokenCount": 2 * _USAGE}
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        return {"candidates": [candidate], "usageMetadata": counts, "responseId": f"response-{number}"}

    def stream(self, step: Call | str, number: int) -> Events:
        yield "", self.whole(step, number)


WIRES: tuple[Wire, ...] = (Anthropic(), Responses(), Chat(), Gemini())
