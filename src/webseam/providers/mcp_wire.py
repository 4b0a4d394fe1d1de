"""Tool calls to a hosted MCP server over HTTP, without the MCP SDK: a bare call, or calls within a session.

A search provider needs one `tools/call` and its answer; the SDK would cost most of a second of imports for that.
Wire: Model Context Protocol, streamable HTTP. The answer is one JSON object or an event stream, whatever the header
says. A session costs two more messages, so it is kept for the next search, also that of another process.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.net.message import Request
from webseam.providers.base import Aside, Memory, ProviderConfig, Reply, Step, decode_json, post_json

CALL_ID: Final = 1
PROTOCOL: Final = "2025-06-18"
ACCEPT: Final = "application/json, text/event-stream"  # both, or a server may answer 406
_BOM: Final = b"\xef\xbb\xbf"
_HELLO_ID: Final = 0
_KEPT: Final = "session"
_KEPT_FOR: Final = 600.0  # seconds; servers forget idle sessions after some minutes
_MAX_CALL_ID: Final = 2**31
_SESSION_ID = re.compile(r"[\x21-\x7e]{1,1024}", re.ASCII)  # visible ASCII, says the protocol
_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_NAMES_SESSION = re.compile(r"session|not initiali[sz]ed", re.IGNORECASE)
_NAMED_IN: Final = 65_536  # bytes of an error body


def call(
    config: ProviderConfig, path: str, tool: str, arguments: Mapping[str, Any], *headers: tuple[str, str]
) -> Request:
    """Return the bare `tools/call` request; reading stops as soon as its answer has come."""
    body = _message(CALL_ID, "tools/call", {"name": tool, "arguments": dict(arguments)})
    return replace(post_json(config, path, body, *headers, accept=ACCEPT), stop_at=is_answer)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answered: its `result` object, and the `reply` that brought it, for judging and quoting."""

    result: dict[str, Any]
    reply: Reply


class ToolError(ProviderError):
    """A tool, or the server in its place, answered the call with an error."""


@dataclass(frozen=True, slots=True)
class _Session:
    """A session as the server opened it; `id` is "" where it keeps none."""

    id: str = field(repr=False)
    protocol: str


@dataclass(frozen=True, slots=True)
class _Server:
    config: ProviderConfig
    url: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)

    def post(self, session: _Session | None, number: int | None, method: str, params: Any = None) -> Request:
        """Return one message as a request; a message without a number is a notification and gets no answer."""
        headers = list(self.headers)
        if session is not None:
            headers.append(("MCP-Protocol-Version", session.protocol))
        if session is not None and session.id:
            headers.append(("Mcp-Session-Id", session.id))
        request = post_json(self.config, "", _message(number, method, params), *headers, accept=ACCEPT)
        secrets = (*self.config.secrets, session.id) if session is not None and session.id else self.config.secrets
        stop = None if number is None else partial(is_answer, number=number)
        return replace(request, url=self.url, secrets=secrets, stop_at=stop)


def session_call(
    config: ProviderConfig,
    path_or_url: str,
    tool: str,
    arguments: Mapping[str, Any],
    memory: Memory,
    *,
    protocol: str = PROTOCOL,
    headers: Iterable[tuple[str, str]] = (),
) -> Generator[Step, Any, ToolAnswer]:
    """Call a tool within a session: the kept one, else a new one. For `yield from`.

    A server that no longer knows the kept session is asked for a new one, once.

    Raises:
        ToolError: the tool failed, or the call was refused with a JSON-RPC error. ProviderError: any other refusal, by
            the common rules.
    """
    url = path_or_url if "://" in path_or_url else config.url(path_or_url)
    server = _Server(config, url, tuple(headers))
    params = {"name": tool, "arguments": dict(arguments)}
    session = _kept(memory, url)
    if session is not None:
        number = _later_id()
        reply: Reply = yield server.post(session, number, "tools/call", params)
        if not _is_forgotten(reply, number):
            return _judged(reply, session, number)
        memory.delete(_KEPT)
    session = yield from _open(server, memory, protocol)
    reply = yield server.post(session, CALL_ID, "tools/call", params)
    return _judged(reply, session, CALL_ID)


def _open(server: _Server, memory: Memory, protocol: str) -> Generator[Step, Any, _Session]:
    """Shake hands and keep the session. Many servers keep none: then only the agreed protocol is remembered."""
    from webseam.version import VERSION

    greeting = {
        "protocolVersion": protocol,
        "capabilities": {},
        "clientInfo": {"name": "webseam", "version": VERSION},
    }
    reply: Reply = yield Aside(server.post(None, _HELLO_ID, "initialize", greeting))
    result = answer(_successful(reply), number=_HELLO_ID)
    session = _Session(_session_id(reply), _agreed(result.get("protocolVersion"), protocol))
    reply = yield Aside(server.post(session, None, "notifications/initialized"))
    _successful(_hiding(reply, session))
    memory.set(_KEPT, {"url": server.url, "id": session.id, "protocol": session.protocol}, ttl=_KEPT_FOR)
    return session


def _kept(memory: Memory, url: str) -> _Session | None:
    match memory.get(_KEPT):
        case {"url": str(place), "id": str(name), "protocol": str(protocol)} if place == url:
            sound = _VERSION.fullmatch(protocol) and (not name or _SESSION_ID.fullmatch(name))
            return _Session(name, protocol) if sound else None
    return None


def _later_id() -> int:
    """Return the id of a call in a kept session: none may come twice in it, and other processes use it too."""
    from secrets import randbelow

    return CALL_ID + 1 + randbelow(_MAX_CALL_ID)


def _session_id(reply: Reply) -> str:
    name = reply.header("mcp-session-id") or ""
    if name and not _SESSION_ID.fullmatch(name):
        raise ProviderError("its session id is not one", outcome=Outcome.BAD_RESPONSE, http_status=reply.status)
    return name


def _agreed(version: object, asked: str) -> str:
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else asked


def _judged(reply: Reply, session: _Session, number: int) -> ToolAnswer:
    reply = _hiding(reply, session)
    result = answer(_successful(reply), number=number)
    if result.get("isError"):
        raise tool_error(reply, "\n\n".join(texts(result)), result.get("structuredContent"))
    return ToolAnswer(result, reply)


def _successful(reply: Reply) -> Reply:
    from webseam.providers.verdicts import failure

    if not 200 <= reply.status < 300:
        raise failure(reply)
    return reply


def _hiding(reply: Reply, session: _Session) -> Reply:
    """Return the reply with the session's id among what is never quoted: who has it may speak in the session."""
    from webseam.net.redact import Redactor

    redact, hide = reply.redact, Redactor((session.id,) if session.id else ())
    return replace(reply, redact=lambda words: redact(hide(words)))


def _is_forgotten(reply: Reply, number: int) -> bool:
    """True when the server refuses a call because of its session; what a tool says about sessions does not count."""
    if 200 <= reply.status < 300:
        try:
            error = _answer_to(reply, number).get("error")
        except ProviderError:
            return False
        words = error.get("message") if isinstance(error, dict) else error
        return isinstance(words, str) and _NAMES_SESSION.search(words) is not None
    named = _NAMES_SESSION.search(reply.response.body[:_NAMED_IN].decode("utf-8", "replace"))
    return reply.status == 404 or (400 <= reply.status < 500 and named is not None)


def _message(number: int | None, method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def is_answer(data: str, number: int = CALL_ID) -> bool:
    """True when the data of one event is the answer to our call."""
    try:
        return any(True for _ in _answers(decode_json(data.encode()), number))
    except ValueError:
        return False


def answer(reply: Reply, number: int = CALL_ID) -> dict[str, Any]:
    """Return the `result` object of the call.

    Raises:
        ProviderError: a JSON-RPC error (by its words), or no answer to our call at all.
    """
    found = _answer_to(reply, number)
    result = found.get("result")
    if isinstance(result, dict):
        return result
    error = found.get("error")
    raise tool_error(reply, error.get("message") if isinstance(error, dict) else "", error)


def _answer_to(reply: Reply, number: int) -> dict[str, Any]:
    found: dict[str, Any] | None = None
    nameless: dict[str, Any] | None = None
    for document in _documents(reply):
        for candidate in _answers(document, number):
            found = candidate
        nameless = next(_nameless_errors(document), nameless)
    found = found or nameless
    if found is None:
        raise ProviderError("it sent no answer to the call", outcome=Outcome.BAD_RESPONSE, http_status=reply.status)
    return found


def tool_error(reply: Reply, words: object, document: Any = None) -> ToolError:
    """Return the error that a tool's own words mean."""
    from webseam.providers.verdicts import by_words, retry_after, signals_of

    text = words if isinstance(words, str) and words.strip() else "an error without words"
    return ToolError(
        f"its tool failed: {reply.quote(text)}",
        outcome=by_words(f"{text} {signals_of(document)}"),
        http_status=reply.status,
        retry_after=retry_after(reply),
    )


def _documents(reply: Reply) -> Iterator[Any]:
    """Every JSON document of the answer; each event stands alone, and events that are not JSON are passed over."""
    body = reply.response.body.removeprefix(_BOM).lstrip()
    if body[:1] in (b"{", b"["):
        yield reply.json()
        return
    if body[:1] == b"<":
        reply.json()  # raises: a web page, perhaps a challenge
    from webseam.net.sse import EventTooLarge, events

    try:
        found = events(body + b"\n\n")  # a last event whose blank line is missing counts too
    except EventTooLarge as error:
        raise ProviderError(
            f"its answer cannot be read: {error}", outcome=Outcome.BAD_RESPONSE, http_status=reply.status
        ) from None
    for event in found:
        try:
            yield decode_json(event.data.encode())
        except ValueError:
            continue


def _answers(document: Any, number: int) -> Iterator[dict[str, Any]]:
    """The answers to our call in one document: not notifications, not answers to other ids."""
    for message in document if isinstance(document, list) else [document]:
        if (
            isinstance(message, dict)
            and "method" not in message
            and message.get("id") == number
            and ("result" in message or "error" in message)
        ):
            yield message


def _nameless_errors(document: Any) -> Iterator[dict[str, Any]]:
    """Errors with the id null: the server could not tell which call it refused, and there was only ours."""
    for message in document if isinstance(document, list) else [document]:
        if isinstance(message, dict) and message.get("id") is None and "method" not in message and "error" in message:
            yield message


def texts(result: Mapping[str, Any]) -> list[str]:
    """Return the text blocks of a result."""
    content = result.get("content")
    return [
        block["text"]
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type", "text") == "text" and isinstance(block.get("text"), str)
    ]


def nested_json(text: str) -> Any:
    """Return the JSON in a text block, decoded again when it is JSON inside a JSON string; None when it is not JSON."""
    value: Any = text
    for _ in range(2):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            return value if not isinstance(value, str) else None
        try:
            value = decode_json(value.encode())
        except ValueError:
            return None
    return None if isinstance(value, str) else value


def documents(result: Mapping[str, Any]) -> list[Any]:
    """Return the objects and lists that a result holds as JSON: its structured content, then its text blocks.

    Servers made with the official SDK wrap what a tool returns as text into an object with the one key `result`.
    """
    structured = result.get("structuredContent")
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        structured = structured["result"]
    decoded = (nested_json(one) if isinstance(one, str) else one for one in (structured, *texts(result)))
    return [one for one in decoded if isinstance(one, (dict, list))]
