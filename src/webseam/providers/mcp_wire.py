"""One tool call to a hosted MCP server over HTTP, without the MCP SDK.

A search provider needs one `tools/call` and its answer; the SDK would cost most of a second of imports for that.
Wire: Model Context Protocol, streamable HTTP. The answer is one JSON object or an event stream, whatever the header
says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.net.message import Request
from webseam.providers.base import ProviderConfig, Reply, decode_json, post_json

CALL_ID: Final = 1
_BOM: Final = b"\xef\xbb\xbf"
ACCEPT: Final = "application/json, text/event-stream"  # both, or a server may answer 406


def call(
    config: ProviderConfig, path: str, tool: str, arguments: Mapping[str, Any], *headers: tuple[str, str]
) -> Request:
    """Return the bare `tools/call` request; reading stops as soon as its answer has come."""
    body = {
        "jsonrpc": "2.0",
        "id": CALL_ID,
        "method": "tools/call",
        "params": {"name": tool, "arguments": dict(arguments)},
    }
    request = post_json(config, path, body, *headers, accept=ACCEPT)
    return Request(
        method=request.method,
        url=request.url,
        headers=request.headers,
        body=request.body,
        secrets=request.secrets,
        stop_at=is_answer,
    )


def is_answer(data: str) -> bool:
    """True when the data of one event is the answer to our call."""
    try:
        return any(True for _ in _answers(decode_json(data.encode())))
    except ValueError:
        return False


def answer(reply: Reply) -> dict[str, Any]:
    """Return the `result` object of the call.

    Raises:
        ProviderError: a JSON-RPC error (by its words), or no answer to our call at all.
    """
    found: dict[str, Any] | None = None
    nameless: dict[str, Any] | None = None
    for document in _documents(reply):
        for candidate in _answers(document):
            found = candidate
        nameless = next(_nameless_errors(document), nameless)
    found = found or nameless
    if found is None:
        raise ProviderError("it sent no answer to the call", outcome=Outcome.BAD_RESPONSE, http_status=reply.status)
    result = found.get("result")
    if isinstance(result, dict):
        return result
    error = found.get("error")
    raise tool_error(reply, error.get("message") if isinstance(error, dict) else "", error)


def tool_error(reply: Reply, words: object, document: Any = None) -> ProviderError:
    """Return the error that a tool's own words mean."""
    from webseam.providers.verdicts import by_words, retry_after, signals_of

    text = words if isinstance(words, str) and words.strip() else "an error without words"
    return ProviderError(
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


def _answers(document: Any) -> Iterator[dict[str, Any]]:
    """The answers to our call in one document: not notifications, not answers to other ids."""
    for message in document if isinstance(document, list) else [document]:
        if (
            isinstance(message, dict)
            and "method" not in message
            and message.get("id") == CALL_ID
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
