"""A scripted model on loopback: it speaks the four APIs that coding agents call, and remembers what reached it.

It plays one task: call `web_search`, call `web_fetch` with a URL out of what came back, then say that it is done. Which
turn it is follows from the conversation alone, so side requests (a title, a quota) disturb nothing. What a client makes
of a tool's result is only seen here, where the model would read it; that is what the tests look at.

A thread a connection and no framework: a client is a process of its own that must not wait for our event loop.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from tests.agents.web import SITE
from tests.agents.wires import WIRES, Call, Offered, Result, Seen, Wire, own_name

QUERY = "how to frobnicate a widget"
DONE = "The handle goes left until it clicks."  # what the user of the client must get to see in the end
_URL = re.compile(re.escape(SITE) + r"/[\w/.-]*\w")
# With which a model loads tools of which it is told little, and what it is called with: Claude Code's, Codex's.
_LOADERS = {
    "ToolSearch": {"query": "+webseam"},
    "tool_search": {"query": "search and read the web", "limit": 8},
}


class Model:
    """The model's server; a context manager.

    Attributes:
        url: the origin.
        seen: every request for an answer, in order.
        asked: method and path of every request, the unknown ones too.
    """

    def __init__(self, *, server: str = "webseam", **adds: Any) -> None:
        """Start nothing yet. It calls the tools of `server`, web_fetch with the arguments `adds` beside the URL."""
        self.seen: list[Seen] = []
        self.asked: list[str] = []
        self._server_name = server
        self._adds = adds
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                model.asked.append(f"HEAD {self.path}")
                self._send(200, "text/plain", b"")

            def do_GET(self) -> None:
                model.asked.append(f"GET {self.path}")
                self._send(*model._known(urlsplit(self.path).path))

            def do_POST(self) -> None:
                model.asked.append(f"POST {self.path}")
                body = self._body()
                with contextlib.suppress(ConnectionError):  # the client has given up waiting
                    self._send(*model._answer(urlsplit(self.path).path, body))

            def _body(self) -> bytes:
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                pieces = []
                while size := int(self.rfile.readline(), 16):
                    pieces.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(pieces)

            def _send(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True  # a client that was killed leaves its connection open
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def last(self) -> Seen:
        """The request with the most tool results in it: the whole conversation as the model had it in the end."""
        return max(self.seen, key=lambda seen: len(seen.results))

    @property
    def results(self) -> list[Result]:
        """The results of our tools, in order, as they reached the model."""
        return self._ours(self.last) if self.seen else []

    @property
    def had_to_look_for_tools(self) -> bool:
        """True when the tools were not offered from the first, but only named, to be loaded when wanted."""
        return any(result.tool in _LOADERS for result in self.last.results)

    def offered(self, name: str) -> Offered:
        """Return one of our tools as the client offered it."""
        every = (tool for seen in self.seen for tool in seen.tools)
        return next(tool for tool in every if own_name(tool.called, self._server_name) == name)

    def _ours(self, seen: Seen) -> list[Result]:
        return [result for result in seen.results if own_name(result.tool, self._server_name)]

    def _known(self, path: str) -> tuple[int, str, bytes]:
        if path.endswith("/models"):
            listed = {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "test"}]}
            return 200, "application/json", json.dumps(listed).encode()
        return 404, "application/json", b'{"error": {"message": "no such route", "type": "not_found_error"}}'

    def _answer(self, path: str, raw: bytes) -> tuple[int, str, bytes]:
        body = json.loads(raw or b"{}")
        if path.endswith(("/count_tokens", ":countTokens")):
            count = len(raw) // 4
            return 200, "application/json", json.dumps({"input_tokens": count, "totalTokens": count}).encode()
        wire = next((wire for wire in WIRES if wire.speaks(path)), None)
        if wire is None:
            return self._known(path)
        seen = wire.read(body)
        self.seen.append(seen)
        step = self._next(seen)
        return 200, *_render(wire, step, path, body, number=len(self.seen))

    def _next(self, seen: Seen) -> Call | str:
        """What a model with this one task does next."""
        ours = {own_name(tool.called, self._server_name): tool for tool in seen.tools}
        search, fetch = ours.get("web_search"), ours.get("web_fetch")
        results = self._ours(seen)
        if len(results) > 1:
            return DONE
        if search is None or fetch is None:
            return self._look_for_tools(seen)
        if not results:
            return Call(search, {"query": QUERY})
        found = _URL.search(results[0].text)
        return Call(fetch, {"url": found[0], **self._adds}) if found else "The search returned no URL."

    def _look_for_tools(self, seen: Seen) -> Call | str:
        """Load our tools where they are only named; "Widgets" is the answer to a side request, such as for a title."""
        loader = next((tool for tool in seen.tools if tool.name in _LOADERS), None)
        if loader is None or any(result.tool in _LOADERS for result in seen.results):
            return "Widgets"
        return Call(loader, _LOADERS[loader.name])


def _render(wire: Wire, step: Call | str, path: str, body: dict[str, Any], *, number: int) -> tuple[str, bytes]:
    if wire.streams(path, body):
        return "text/event-stream", _events(wire.stream(step, number))
    return "application/json", json.dumps(wire.whole(step, number)).encode()


def _events(events: Iterable[tuple[str, Any]]) -> bytes:
    """Return server-sent events of (name or "", data)."""
    pieces = []
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        pieces.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
    return "".join(pieces).encode()
