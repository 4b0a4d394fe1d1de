"""What tests of adapters share: a search provider and pages on loopback, and a model that plays the turns it was given.

The model speaks four wires, so that the official clients of model APIs, and frameworks over them, talk to it unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from tests.fetch.world import PAGE
from tests.world import Recorded, Site, World
from tests.world.site import Answer

KEY: Final = "a-made-up-key-0123456789"
MODEL: Final = "scripted"
_OBSERVED: Final = "Observation:\n"
_NONCE: Final = re.compile(r"(?<=[ -])[0-9a-f]{16,}\b|\b[0-9a-f]{16,}(?=>)")


@dataclass(frozen=True)
class Call:
    """A tool call of the model. Arguments that are text go over the wire as they are."""

    name: str
    arguments: dict[str, Any] | str

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


Turn = str | tuple[Call, ...]


@dataclass
class Model:
    """A model that takes its turns in order, whatever it is told.

    Attributes:
        asked: the bodies of the requests.
    """

    turns: list[Turn]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def next_turn(self) -> tuple[str | None, tuple[Call, ...]]:
        """Return the text and the calls of the turn that the last request asks for."""
        turn = self.turns[len(self.asked) - 1]
        return (turn, ()) if isinstance(turn, str) else (None, turn)

    def heard(self) -> list[str]:
        """Return the results of tool calls that the last request carried, in order, with nonces replaced."""
        return [without_nonces(text) for text in _results(self.asked[-1])]


def without_nonces(text: str) -> str:
    """Return `text` with what is random in a page's frame replaced by NONCE."""
    return _NONCE.sub("NONCE", text)


@dataclass
class Scene:
    """A web of one provider and one site, and a model.

    Attributes:
        engine: the provider. pages: the site. Their routes may be changed.
    """

    world: World
    engine: Site
    pages: Site
    model: Model

    @property
    def hit(self) -> str:
        """The URL that a search finds: by name, for a private address would be dropped."""
        return f"{self.pages.url}/widgets"

    @property
    def page(self) -> str:
        """The same page by its address, for a web whose names are the system's."""
        return f"http://127.0.0.1:{urlsplit(self.pages.url).port}/widgets"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a web of any process comes here."""
        return {
            "WEBSEAM_SEARCH_PROVIDER": "searxng",
            "WEBSEAM_SEARXNG_BASE_URL": self.engine.url,
            "WEBSEAM_FETCH_ALLOW": "127.0.0.0/8",
            "WEBSEAM_FETCH_BROWSER": "false",
        }


def scene(world: World, *turns: Turn) -> Scene:
    """Set a scene: a search finds the page /widgets, which can be read."""
    engine, pages, apis = world.site(), world.site(host="widgets.example"), world.site()
    hit = {"url": f"{pages.url}/widgets", "title": "Widgets", "content": "On frobnicating them.", "engine": "one"}
    engine.route("GET", "/search", (200, {}, {"query": "", "results": [hit]}))
    pages.route("GET", "/widgets", PAGE)
    model = Model(list(turns), apis.url)
    for path, wire in _WIRES.items():
        apis.route("POST", path, _played(model, wire))
    return Scene(world, engine, pages, model)


def _played(model: Model, wire: Callable[[Model], dict[str, Any]]) -> Callable[[Recorded], Answer]:
    def answer(request: Recorded) -> Answer:
        model.asked.append(request.json())
        return 200, {"Connection": "close"}, wire(model)  # frameworks keep their clients, and connections, for ever

    return answer


def _chat(model: Model) -> dict[str, Any]:
    text, calls = model.next_turn()
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": _id(model, number), "type": "function", "function": {"name": call.name, "arguments": call.text}}
            for number, call in enumerate(calls)
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _responses(model: Model) -> dict[str, Any]:
    text, calls = model.next_turn()
    said = {"type": "output_text", "text": text, "annotations": []}
    output: list[dict[str, Any]] = [
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [said]}
    ]
    if calls:
        output = [
            {
                "id": f"fc_{_id(model, number)}",
                "type": "function_call",
                "status": "completed",
                "call_id": _id(model, number),
                "name": call.name,
                "arguments": call.text,
            }
            for number, call in enumerate(calls)
        ]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": MODEL,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }


def _messages(model: Model) -> dict[str, Any]:
    text, calls = model.next_turn()
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [
            {"type": "tool_use", "id": _id(model, number), "name": call.name, "input": call.arguments}
            for number, call in enumerate(calls)
        ]
        or [{"type": "text", "text": text}],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _gemini(model: Model) -> dict[str, Any]:
    text, calls = model.next_turn()
    parts: list[dict[str, Any]] = [
        {"functionCall": {"id": _id(model, number), "name": call.name, "args": call.arguments}}
        for number, call in enumerate(calls)
    ]
    content = {"role": "model", "parts": parts or [{"text": text}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "modelVersion": MODEL}


_WIRES: Final = {
    "/v1/chat/completions": _chat,
    "/v1/responses": _responses,
    "/v1/messages": _messages,
    f"/v1/models/{MODEL}:generateContent": _gemini,
}


def _id(model: Model, number: int) -> str:
    return f"call_{len(model.asked)}_{number}"


def _results(body: dict[str, Any]) -> list[str]:
    """Return the tool results in a request of any of the four wires."""
    if "contents" in body:
        parts = [part for content in body["contents"] for part in content["parts"]]
        return [_said(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
    if "input" in body:
        return [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
    results = []
    for message in body["messages"]:
        if message["role"] == "tool":
            results.append(_text(message["content"]))
        elif message["role"] == "user" and isinstance(message["content"], list):
            for block in message["content"]:
                if block["type"] == "tool_result":
                    results.append(_text(block["content"]))
                elif block["text"].startswith(_OBSERVED):  # smolagents tells results as a user would
                    results.append(block["text"].removeprefix(_OBSERVED) + "\n")
    return results


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def _said(response: dict[str, Any]) -> str:
    (text,) = response.values()  # under "result" or "error"
    return str(text)
