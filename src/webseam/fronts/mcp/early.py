"""Answers the first messages of a client before the SDK is loaded.

Clients start all their servers at once and wait for the list of tools, and loading the SDK takes longer than everything
else that happens until then. What a client says first is nearly always the same few messages, and their answers depend
on nothing but words and tables that are here already. So they are answered here, with the very values that the SDK
would send: a test compares them for every version of the protocol. Whatever is unusual in the slightest is left to the
SDK, so that there is one reading of the protocol and not two.

Nothing here may import more than the standard library's small modules: the answer would be late by just that much.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from webseam.fronts.mcp import words
from webseam.tools.definitions import TOOLS, Tool
from webseam.version import VERSION

__all__ = ["HANDSHAKE_VERSIONS", "MODERN_VERSION", "Early"]

HANDSHAKE_VERSIONS: Final = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
MODERN_VERSION: Final = "2026-07-28"  # no handshake: every request says for itself who asks

MAX_EARLY: Final = 64 * 1024  # bytes of a message that is read here; first messages have a few hundred
_MAX_NESTED: Final = 100  # brackets in it: parsers differ in how deep they go, from twice this on
_OURS: Final = "io.modelcontextprotocol/"  # what the protocol says in `_meta` itself
_LEVELS: Final = "debug info notice warning error critical alert emergency".split()

Message = dict[str, Any]
Shape = Callable[[Any], bool]


class Early:
    """What one client has said so far, and what it is told before there is a server.

    Attributes:
        replay: messages that were answered or taken in here and that the SDK must hear of to know the session.
        listed: the tools have been listed; what comes next is for the SDK.
    """

    def __init__(self) -> None:
        self.replay: list[Message] = []
        self.listed = False
        self._era: Literal["", "handshake", "modern"] = ""
        self._passed = False  # something was left to the SDK
        self._open = True  # what was left to it cannot change an answer given here

    def take(self, line: bytes) -> bytes | None:
        """Return the answer to one message, b"" when it needs none, or None when it is for the SDK.

        Messages that are for the SDK keep their order among themselves. A list or a ping may be answered before them,
        as a server may answer requests in any order: a client that asks for everything at once has its tools first.
        """
        message = _read(line)
        answer = self._answer(message) if message is not None and self._open else None
        if answer is None:
            self._passed = True
            method = message.get("method") if message is not None else None
            self._open &= bool(self._era) and isinstance(method, str) and method != "initialize"
        return answer

    def _answer(self, message: Message) -> bytes | None:
        if not (message.keys() <= {"jsonrpc", "id", "method", "params"} and message.get("jsonrpc") == "2.0"):
            return None
        method, params = message.get("method"), message.get("params")
        if "id" not in message:
            return self._notified(message) if method == "notifications/initialized" else None
        if not _is_id(message["id"]):
            return None
        if self._era != "handshake" and _is_modern(params):
            return self._modern(message)
        if method == "initialize":
            return self._initialize(message) if not self._era else None
        if self._era != "handshake" or not (params is None or _PLAIN(params)):
            return None
        if method == "ping":
            return _reply(message["id"], {})
        return self._list(message["id"], _TOOLS) if method == "tools/list" else None

    def _initialize(self, message: Message) -> bytes | None:
        params: Any = message.get("params")
        if not _INITIALIZE(params) or params["protocolVersion"] not in HANDSHAKE_VERSIONS:
            return None
        self._era = "handshake"
        self.replay.append(message)
        said = {"protocolVersion": params["protocolVersion"], "capabilities": _capabilities(changes=False)}
        return _reply(message["id"], {**said, "serverInfo": _SERVER, "instructions": words.INSTRUCTIONS})

    def _notified(self, message: Message) -> bytes | None:
        params = message.get("params")
        if self._era != "handshake" or self._passed or not (params is None or _PLAIN(params)):
            return None
        self.replay.append(message)
        return b""

    def _modern(self, message: Message) -> bytes | None:
        method = message.get("method")
        if method not in ("server/discover", "tools/list"):
            return None
        if not self._era:  # the first request settles which protocol is spoken, so the SDK must see it first too
            self._era = "modern"
            self.replay.append(message)
        if method == "tools/list":
            return self._list(message["id"], {**_TOOLS, **_MODERN})
        said = {"supportedVersions": [MODERN_VERSION], "capabilities": _capabilities(changes=True)}
        return _reply(message["id"], {**said, "instructions": words.INSTRUCTIONS, **_MODERN})

    def _list(self, number: int | str, result: Mapping[str, Any]) -> bytes:
        self.listed = True
        return _reply(number, result)


def _reply(number: int | str, result: Mapping[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}, separators=(",", ":")).encode() + b"\n"


def _read(line: bytes) -> Message | None:
    """Return the message in `line`, or None where another parser might read something else, or nothing."""
    if len(line) > MAX_EARLY or line.count(b"{") + line.count(b"[") > _MAX_NESTED:
        return None
    try:
        message = json.loads(line.decode(), object_pairs_hook=_unique, parse_float=_never, parse_constant=_never)
        json.dumps(message, ensure_ascii=False).encode()  # no half of a surrogate pair
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> Message:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _never(number: str) -> Any:
    raise ValueError(f"{number} is no whole number")


def _is_id(value: object) -> bool:
    return isinstance(value, str) or (type(value) is int and abs(value) < 2**53)


def _is_modern(params: Any) -> bool:
    return isinstance(params, dict) and params.keys() == {"_meta"} and _ENVELOPE(params["_meta"])


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "annotations": {"readOnlyHint": True, "openWorldHint": tool.open_world},
    }


def _capabilities(*, changes: bool) -> dict[str, Any]:
    """Return what the server offers. `changes` are announced to those who listen, in the modern protocol alone."""
    each = {"listChanged": changes}
    return {"prompts": each, "resources": {**each, "subscribe": changes}, "tools": each}


# What values may look like, no wider than every version of the protocol agrees on.
def _text(value: object) -> bool:
    return isinstance(value, str)


def _nothing(_value: object) -> bool:
    return False


def _switch(value: object) -> bool:
    return isinstance(value, bool)


def _map(value: object) -> bool:
    return isinstance(value, dict)


def _maps(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, dict) for entry in value.values())


def _token(value: object) -> bool:
    return _is_id(value)


def _each(shape: Shape) -> Shape:
    return lambda value: isinstance(value, list) and all(map(shape, value))


def _one_of(*names: str) -> Shape:
    return lambda value: value in names


def _object(needed: Mapping[str, Shape], /, **further: Shape) -> Shape:
    """Return the shape of an object with the keys `needed`, maybe some of `further` or null for them, and no others."""

    def fits(value: object) -> bool:
        if not (isinstance(value, dict) and needed.keys() <= value.keys() <= needed.keys() | further.keys()):
            return False
        return all(
            needed[key](entry) if key in needed else entry is None or further[key](entry)
            for key, entry in value.items()
        )

    return fits


def _meta(needed: Mapping[str, Shape], ours: Mapping[str, Shape]) -> Shape:
    """Return the shape of `_meta`, where anybody may write what they like under names of their own."""

    def fits(value: object) -> bool:
        if not (isinstance(value, dict) and needed.keys() <= value.keys()):
            return False
        known = {"progressToken": _token, **needed, **ours}
        return all(known[key](entry) if key in known else not key.startswith(_OURS) for key, entry in value.items())

    return fits


_ICON: Final = _object({"src": _text}, mimeType=_text, sizes=_each(_text), theme=_one_of("light", "dark"))
_WHO: Final = _object(
    {"name": _text, "version": _text}, title=_text, description=_text, websiteUrl=_text, icons=_each(_ICON)
)
_CAN: Final = _object(
    {},
    experimental=_maps,
    extensions=_maps,
    roots=_object({}, listChanged=_switch),
    sampling=_object({}, context=_map, tools=_map),
    elicitation=_object({}, form=_map, url=_map),
    tasks=_object(
        {},
        list=_map,
        cancel=_map,
        requests=_object({}, sampling=_object({}, createMessage=_map), elicitation=_object({}, create=_map)),
    ),
)
_PLAIN: Final = _object({}, _meta=_meta({}, {}), cursor=_nothing)  # null at most: there is one page
_INITIALIZE: Final = _object({"protocolVersion": _text, "capabilities": _CAN, "clientInfo": _WHO}, _meta=_meta({}, {}))
_ENVELOPE: Final = _meta(
    {_OURS + "protocolVersion": _one_of(MODERN_VERSION), _OURS + "clientCapabilities": _CAN},
    {_OURS + "clientInfo": _WHO, _OURS + "logLevel": _one_of(*_LEVELS)},
)

_SERVER: Final = {"name": words.SERVER_NAME, "title": words.TITLE, "version": VERSION}
_TOOLS: Final = {"tools": [_tool(tool) for tool in TOOLS]}
_MODERN: Final = {  # what every result says there
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {_OURS + "serverInfo": _SERVER},
}
