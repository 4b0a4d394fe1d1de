"""Acme Search through the whole of webseam, against a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import webseam

KEY = "a-key-of-acme-0123456789"
ROW = {"url": "https://example.org/guide", "name": "Guide", "text": "A guide.", "published": "2026-02-03"}


@contextmanager
def acme(status: int, answer: Any) -> Iterator[tuple[str, list[Any]]]:
    """Serve one answer to every request; give its address and the bodies that arrive."""
    bodies: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            payload = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", bodies
        finally:
            server.shutdown()
            thread.join()


def search(url: str, folder: Path, **options: Any) -> webseam.SearchResponse:
    """Search Acme as a user would whose folders are empty."""
    environment = {f"WEBSEAM_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "STATE", "CACHE")}
    environment |= {"WEBSEAM_ACME_BASE_URL": url, "WEBSEAM_ACME_API_KEY": KEY}
    with webseam.Web(environment=environment) as web:
        return web.search("parse a url", provider="acme", **options)


def test_what_acme_finds_becomes_hits(tmp_path: Path) -> None:
    with acme(200, {"results": [ROW], "dollars": 0.003}) as (url, bodies):
        response = search(url, tmp_path, count=5, language="en")
    hit = webseam.SearchHit(
        url="https://example.org/guide",
        title="Guide",
        snippet="A guide.",
        published="2026-02-03",
        providers=("acme",),
    )
    assert (response.hits, response.attempts[0].cost) == ((hit,), 0.003)
    body = {"query": "parse a url", "size": 5, "page": 1, "collection": "all", "language": "en"}
    assert bodies == [body]


@pytest.mark.parametrize(
    ("status", "answer", "outcome"),
    [
        pytest.param(401, {"error": "unknown key"}, "auth", id="a key it does not know"),
        pytest.param(423, {"error": "locked"}, "quota", id="its own status for spent credits"),
        pytest.param(200, {"welcome": "to Acme"}, "bad_response", id="something else"),
    ],
)
def test_what_acme_refuses_is_the_failure_it_means(tmp_path: Path, status: int, answer: Any, outcome: str) -> None:
    with acme(status, answer) as (url, _), pytest.raises(webseam.WebSeamError) as caught:
        search(url, tmp_path)
    assert caught.value.outcome == outcome
    assert KEY not in str(caught.value)
