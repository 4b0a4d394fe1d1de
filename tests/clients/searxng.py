"""A whole SearXNG of its own process, and the search engines behind it, all on loopback.

SearXNG (AGPL) is only ever started as a program; nothing of it is imported here.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

PER_PAGE = 10  # results of a page of an engine
PAGES = 3  # pages an engine has
STARTS_WITHIN = 60.0  # seconds; it takes about two, and more on a machine that is busy
_BETWEEN_LOOKS = 0.05  # seconds between two looks at whether it is up
_PORT_TRIES = 3  # somebody else may take the free port between our finding it and SearXNG's binding it
# Engines that fail in one way each, by name and path.
ILL = ("limited", "forbidden", "broken", "slow", "down")


class Engines:
    """Search engines with a JSON interface, one a path.

    Attributes:
        asked: path and parameters of each request, in order.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._stopping = threading.Event()
        engines = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
                engines.asked.append((parts.path.strip("/"), parameters))
                with contextlib.suppress(ConnectionError):  # SearXNG has given up waiting
                    engines._answer(self, parts.path.strip("/"), parameters)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False  # they end with the server, and are waited for
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def _answer(self, handler: BaseHTTPRequestHandler, name: str, parameters: dict[str, str]) -> None:
        if name == "slow":
            self._stopping.wait()
        status = {"limited": 429, "forbidden": 403}.get(name, 200)
        body = b"<html>" if name == "broken" else json.dumps({"results": _results(name, parameters)}).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def close(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _results(name: str, parameters: dict[str, str]) -> list[dict[str, str]]:
    page = int(parameters.get("page", 1))
    if name == "nothing" or page > PAGES:
        return []
    first = PER_PAGE * (page - 1)
    return [
        {"url": address(name, number), "title": f"{name} {number}", "content": f"What {number} says."}
        for number in range(first, first + PER_PAGE)
    ]


def address(engine: str, number: int) -> str:
    """Return the URL of an engine's result."""
    return f"https://{engine}.example.org/{number}"


def _engine(name: str, base: str, category: str, *, timeout: float = 10.0, able: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "engine": "json_engine",
        "shortcut": f"x{name}",
        "categories": category,
        "search_url": f"{base}/{name}?q={{query}}&page={{pageno}}&lang={{lang}}{{time_range}}{{safe_search}}",
        "results_query": "results",
        "url_query": "url",
        "title_query": "title",
        "content_query": "content",
        "paging": True,
        "enable_http": True,
        "timeout": timeout,
        "time_range_support": able,
        "safesearch": able,
    }


def _settings(engines: str, closed: str, port: int, formats: list[str]) -> dict[str, Any]:
    """Return the instance's settings: engines for web and news, others by name alone, and the ill ones."""
    return {
        "use_default_settings": {"engines": {"keep_only": []}},
        "general": {"debug": False, "instance_name": "test", "enable_metrics": False},
        "search": {"formats": formats, "autocomplete": ""},
        "server": {"port": port, "bind_address": "127.0.0.1", "secret_key": "not a secret", "limiter": False},
        "outgoing": {"request_timeout": 10.0, "max_request_timeout": 20.0, "retries": 0},
        "engines": [
            _engine("web", engines, "general", able=True),
            _engine("press", engines, "news", able=True),
            _engine("timeless", engines, "other"),
            _engine("nothing", engines, "other"),
            *(
                _engine(name, closed if name == "down" else engines, "ill", timeout=0.5 if name == "slow" else 10.0)
                for name in ILL
            ),
        ],
    }


@contextlib.contextmanager
def instance(folder: Path, engines: Engines, *, formats: list[str]) -> Iterator[str]:
    """Run a SearXNG until the block ends; yield its address once it answers."""
    with socket.socket() as closed:  # bound, never listening: a port where nobody answers
        closed.bind(("127.0.0.1", 0))
        process, url = _started(folder, engines, f"http://127.0.0.1:{closed.getsockname()[1]}", formats)
        try:
            yield url
        finally:
            process.terminate()
            process.wait()


def _started(folder: Path, engines: Engines, closed: str, formats: list[str]) -> tuple[subprocess.Popen[bytes], str]:
    said = b""
    for _ in range(_PORT_TRIES):
        port = _free_port()
        settings = folder / "settings.yml"
        settings.write_text(json.dumps(_settings(engines.url, closed, port, formats)))  # JSON is YAML
        log = folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "searx.webapp"],
                cwd=folder,
                env={**os.environ, "SEARXNG_SETTINGS_PATH": str(settings), "TMPDIR": str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        if _is_up(process, port):
            return process, f"http://127.0.0.1:{port}"
        process.kill()
        process.wait()
        said = log.read_bytes()
    raise AssertionError(f"SearXNG does not start:\n{said.decode(errors='replace')[-4_000:]}")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _is_up(process: subprocess.Popen[bytes], port: int) -> bool:
    """Ask whether it is healthy until it says so, has ended, or the time is over."""
    until = time.monotonic() + STARTS_WITHIN
    while process.poll() is None and time.monotonic() < until:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().read() == b"OK":
                return process.poll() is None
        except OSError:
            time.sleep(_BETWEEN_LOOKS)
        finally:
            connection.close()
    return False
