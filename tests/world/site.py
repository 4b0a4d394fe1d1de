"""A well-behaved HTTP/1.1 site with routes, which remembers every request."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from tests.world.server import Connection, Recorded

Headers = Mapping[str, str] | list[tuple[str, str]]
Body = bytes | str | dict[str, Any] | list[Any]
Answer = tuple[int, Headers, Body]
Handler = Callable[[Recorded], Answer | Awaitable[Answer]] | Answer


def answer_bytes(status: int, headers: Headers, body: Body) -> bytes:
    """Return an answer as it goes over the wire. A dict or list becomes JSON; Content-Length is added."""
    fields = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    names = {name.lower() for name, _ in fields}
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
        if "content-type" not in names:
            fields.append(("Content-Type", "application/json"))
    payload = body.encode() if isinstance(body, str) else body
    if not names & {"content-length", "transfer-encoding"} and status not in (204, 304):
        fields.append(("Content-Length", str(len(payload))))
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Unknown"
    head = f"HTTP/1.1 {status} {phrase}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields)
    return head.encode("latin-1") + b"\r\n" + payload


class Site:
    """Routes and what came in over them.

    Attributes:
        url: the origin, without a slash at the end.
        requests: every request, answered by a route or not (404), in order.
    """

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[Recorded] = []
        self._routes: dict[tuple[str, str], Handler] = {}

    def route(self, method: str, path: str, handler: Handler) -> str:
        """Answer `method path` with a ready answer, or with what `handler(request)` returns; return the URL."""
        self._routes[method, path] = handler
        return self.url + path

    async def __call__(self, connection: Connection) -> None:
        """Answer requests until the client closes the connection: the handler of the site's server."""
        while (request := await connection.request()) is not None:
            self.requests.append(request)
            handler = self._routes.get((request.method, request.path), (404, {}, "no such route"))
            answer: Any = handler(request) if callable(handler) else handler
            if inspect.isawaitable(answer):
                answer = await answer
            await connection.send(answer_bytes(*answer))
