"""What stands between the network and the MCP server: who may ask, how much, and how many at once.

Each guard is a plain ASGI application around another one and refuses before the next is asked, so that what costs
little to check is checked first: names (in `names`), then the key, then the body, then the places. No rule of searching
is here, and nothing of the SDK.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, cast

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH: Final = "/mcp"
HEALTH: Final = "/healthz"
MAX_HEAD: Final = 16 * 1024  # bytes of all header names and values
MAX_BODY: Final = 1024 * 1024  # bytes; the longest sensible call, ten URLs and a question, has a few thousand
BODY_TIMEOUT: Final = 10.0  # seconds for all of a body
QUEUE: Final = 4  # calls that may wait for each place
WAIT: Final = 10.0  # seconds a call waits for a place: most calls take less, and clients give up after 60
LONGEST_CALL: Final = (
    120.0  # seconds: tools end within 55; one whose id a later call took would keep its place for ever
)
RETRY_AFTER: Final = 5  # seconds, told to whoever got no place
_CANCELLING: Final = 5.0  # seconds for a session to take note of a cancellation

INVALID_REQUEST: Final = -32600  # the codes of JSON-RPC 2.0
PARSE_ERROR: Final = -32700
INTERNAL_ERROR: Final = -32603


def values(scope: Scope, name: bytes) -> list[str]:
    """Return every value of a header, in order."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


async def refuse(
    send: Send, status: int, message: str, *, code: int = INVALID_REQUEST, about: Any = None, **headers: str
) -> None:
    """Answer with an error that MCP clients show: a JSON-RPC error in the body, whatever the status.

    The connection is left open although the request's body may still be coming: closed with unread bytes it would be
    reset, and the client might never see why it was refused. How long it may go on is up to the connection's timer.

    Args:
        about: id of the request, None when nobody has read it yet.
        headers: more of them; `_` in a name stands for `-`.
    """
    known = (
        about if type(about) in (str, int) else None
    )  # what else JSON holds is no id, or not even valid to send back
    error = {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}
    body = json.dumps(error).encode()
    named = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    fixed = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *named]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


@dataclass(slots=True, eq=False)
class _Answer:
    """How far a request has been answered."""

    _send: Send
    _started: bool = False
    complete: bool = False

    async def send(self, message: Message) -> None:
        self._started = True
        self.complete = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def end(self, status: int, problem: str, *, about: Any = None) -> None:
        """Bring the answer to an end that is no broken connection, as far as it still can be."""
        if not self._started:
            await refuse(self.send, status, problem, code=INTERNAL_ERROR, about=about)
        elif not self.complete:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


class KeyGuard:
    """Asks for a bearer key before a byte of the body is read, and lets nothing behind it see the key."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._right = _digest(key.encode("utf-8"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) == 1 and self._is_right(given[0]):
            headers = [pair for pair in scope["headers"] if pair[0] != b"authorization"]
            await self._app({**scope, "headers": headers}, receive, send)
            return
        challenge = 'Bearer realm="webseam"' + (', error="invalid_token"' if given else "")
        message = "the bearer key is wrong" if given else "this server asks for a bearer key"
        await refuse(send, 401, message, www_authenticate=challenge)

    def _is_right(self, value: bytes) -> bool:
        scheme, _, token = value.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(_digest(token.strip(b" ")), self._right)


def _digest(key: bytes) -> bytes:
    """Return what is compared: of one length, so that the time tells nothing of the key's, and no secret to keep."""
    return hashlib.sha256(key).digest()


class BodyGuard:
    """Reads the body whole, within a limit of size and time; the next application gets it as one message."""

    def __init__(self, app: ASGIApp, *, limit: int = MAX_BODY, timeout: float = BODY_TIMEOUT) -> None:
        self._app = app
        self._limit = limit
        self._timeout = timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if any(_exceeds(value, self._limit) for value in values(scope, b"content-length")):
            await self._refuse_size(send)
            return
        body = bytearray()
        try:
            async with asyncio.timeout(self._timeout):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > self._limit:
                        await self._refuse_size(send)
                        return
        except TimeoutError:
            await refuse(send, 408, f"the request did not arrive within {self._timeout:g} s", connection="close")
            return
        await self._app(scope, _again({"type": "http.request", "body": bytes(body), "more_body": False}, receive), send)

    async def _refuse_size(self, send: Send) -> None:
        await refuse(send, 413, f"a request may have {self._limit} bytes")


def _exceeds(length: str, limit: int) -> bool:
    return length.isdecimal() and (len(length.lstrip("0")) > len(str(limit)) or int(length[-len(str(limit)) :]) > limit)


def _again(first: Message, receive: Receive) -> Receive:
    """Return a receive that gives `first`, then what comes."""
    waiting = [first]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


class CallGuard:
    """Lets so many tool calls run at once, makes a few more wait, and stops the call of a client that went away.

    Only `tools/call` takes a place. Event streams, listings and cancellations must get through while every place is
    taken, or a client could not even stop what keeps the places. A call waits a bounded moment first, because clients
    do not retry: a refusal at once would turn every short burst into failures that a model sees.

    Expects the whole body in the first message, as `BodyGuard` gives it.
    """

    def __init__(self, app: ASGIApp, *, concurrency: int, queue: int | None = None, wait: float = WAIT) -> None:
        self._app = app
        self._places = Places(concurrency, queue=concurrency * QUEUE if queue is None else queue, wait=wait)
        self._concurrency = concurrency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        first = await receive()
        try:
            message = json.loads(first["body"])
        except (ValueError, RecursionError):  # passed on, it might be read as a call by a more lenient parser
            await refuse(send, 400, "the body is not JSON", code=PARSE_ERROR)
            return
        if is_call(message):
            await self._call(message, scope, first, receive, send)
        else:
            await self._app(scope, _again(first, receive), send)

    async def _call(self, call: dict[str, Any], scope: Scope, first: Message, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_disconnected(receive))
        answer = _Answer(send)

        async def heard() -> Message:
            await asyncio.wait({gone}, timeout=LONGEST_CALL)
            return {"type": "http.disconnect"}

        try:
            if await self._places.take(gone):
                try:
                    await self._app(scope, _again(first, heard), answer.send)
                    if not answer.complete:
                        await self._cancel(call["id"], scope)
                finally:
                    self._places.give_back()
                if not gone.done():
                    await answer.end(504, f"the call was not answered within {LONGEST_CALL:g} s", about=call["id"])
            elif not gone.done():
                message = f"webseam is busy: {self._concurrency} calls run and others wait. Try again in some seconds."
                again = str(RETRY_AFTER)
                await refuse(send, 503, message, code=INTERNAL_ERROR, about=call["id"], retry_after=again)
        finally:
            gone.cancel()

    async def _cancel(self, call: object, scope: Scope) -> None:
        """Cancel a call of a session on behalf of its client.

        The protocol until 2025-11-25 keeps a call running when its connection is lost, for a client that comes back
        with the id of the last event. We keep no events, so nobody could ever read the result. In later protocols the
        SDK has stopped the call already, and there is no session.
        """
        if not values(scope, b"mcp-session-id"):
            return
        parameters = {"requestId": call, "reason": "the client went away"}
        body = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters}).encode()
        headers = [pair for pair in scope["headers"] if pair[0] not in (b"content-length", b"transfer-encoding")]
        headers.append((b"content-length", str(len(body)).encode()))
        first = {"type": "http.request", "body": body, "more_body": False}
        with suppress(TimeoutError):
            async with asyncio.timeout(_CANCELLING):
                await self._app({**scope, "headers": headers}, _again(first, _nothing_more), _unheard)


def is_call(message: Any) -> bool:
    """True for the one kind of request that costs something."""
    return isinstance(message, dict) and message.get("method") == "tools/call" and "id" in message


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _nothing_more() -> Message:
    return {"type": "http.disconnect"}


async def _unheard(_message: Message) -> None:
    return


class Places:
    """So many places, taken in the order of asking.

    Not a semaphore, because whoever waits must also be able to be turned away or to leave.
    """

    def __init__(self, count: int, *, queue: int, wait: float) -> None:
        self._free = count
        self._most = queue
        self._wait = wait
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self, gone: asyncio.Future[None]) -> bool:
        """Return True with a place; False when the queue is full, time is up or the caller is gone."""
        if self._free:
            self._free -= 1
            return True
        if len(self._waiting) >= self._most:
            return False
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await asyncio.wait({turn, gone}, timeout=self._wait, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._leave(turn)
            raise
        if turn.done() and not gone.done():
            return True
        self._leave(turn)
        return False

    def _leave(self, turn: asyncio.Future[None]) -> None:
        if turn.done():
            self.give_back()
        else:
            self._waiting.remove(turn)

    def give_back(self) -> None:
        """Give a place to who has waited longest."""
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._free += 1


class App:
    """The guarded MCP server as one ASGI application: `/mcp`, `/healthz`, and 404 for the rest."""

    def __init__(self, served: ASGIApp, sdk: ASGIApp) -> None:
        self._served = served
        self._sdk = sdk
        self._running: set[asyncio.Task[Any]] = set()
        self._stopped = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":  # of the SDK's sessions
            await self._sdk(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = _Answer(send)
        with self._as_running() as task:
            try:
                if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD:
                    await refuse(answer.send, 431, f"the headers of a request may have {MAX_HEAD} bytes")
                elif not self._stopped:
                    await self._served(scope, receive, answer.send)
            except asyncio.CancelledError:
                if not self._stopped:
                    raise
                task.uncancel()
        if self._stopped:
            await answer.end(503, "webseam is being stopped")

    @contextmanager
    def _as_running(self) -> Iterator[asyncio.Task[Any]]:
        task = cast("asyncio.Task[Any]", asyncio.current_task())  # an ASGI application is always called in one
        self._running.add(task)
        try:
            yield task
        finally:
            self._running.discard(task)

    def stop(self) -> None:
        """End every call and event stream that is running; whoever asks from now on is turned away."""
        self._stopped = True
        for task in self._running:
            task.cancel()


class Paths:
    """Sends each request to what answers its path. Only what costs nothing is open to those without a key."""

    def __init__(self, mcp: ASGIApp) -> None:
        self._mcp = mcp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path == PATH:
            await self._mcp(scope, receive, send)
        elif path == HEALTH and scope["method"] in ("GET", "HEAD"):
            headers = [(b"content-type", b"text/plain"), (b"content-length", b"2")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"ok", "more_body": False})
        else:
            await refuse(send, 404, f"nothing is here; MCP is at {PATH}")
