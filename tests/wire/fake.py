"""A fake of a search service on loopback, and one search through the whole of webseam against it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.wire import NETWORKED, QUERY, Answer, Case, shape
from tests.world import Connection, Recorded, World, answer_bytes
from webseam import providers
from webseam.config import environment_name
from webseam.errors import Outcome, WebSeamError
from webseam.model import Attempt, SearchHit, as_json
from webseam.providers import section_of
from webseam.web import AsyncWeb

KEY = "EXAMPLE-KEY"
FORGETFUL = {"WEBSEAM_STATE_ENABLED": "off"}  # no turns and no cool-downs from one search to the next
_PACED = [type(provider) for provider in map(providers.get, NETWORKED) if provider.interval]
Answers = Answer | Callable[[Recorded], Answer]


class Fake:
    """Answers every request, whatever its method and path, and remembers it.

    What a provider sends is a matter for the tests of requests; everywhere else a fake that insists on it would only
    hide what was sent behind a 404. The handshake of MCP is answered by itself: the tables know one answer a search.

    Attributes:
        url: the origin. requests: every request but those of a handshake, in order; `handshakes` has those.
    """

    def __init__(self, world: World, answers: Answers, *, host: str = "127.0.0.1", tls: bool = False) -> None:
        self.requests: list[Recorded] = []
        self.handshakes: list[Recorded] = []
        self._answers = answers
        self.url = world.serve(self._play, host=host, tls=tls)

    async def _play(self, connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            answer = self._handshake(request)
            if answer is None:
                self.requests.append(request)
                answer = self._answers(request) if callable(self._answers) else self._answers
            await connection.send(answer_bytes(*answer))

    def _handshake(self, request: Recorded) -> Answer | None:
        """Return the answer of an MCP server to what comes before a call, or None when this is something else."""
        message = _message(request)
        method = str(message.get("method"))
        if method != "initialize" and not method.startswith("notifications/"):
            return None
        self.handshakes.append(request)
        if method != "initialize":
            return 202, {}, b""
        session = f"session-{sum(_message(one).get('method') == 'initialize' for one in self.handshakes)}"
        result = {
            "protocolVersion": message.get("params", {}).get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "1"},
        }
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        return 200, {"Content-Type": "application/json", "Mcp-Session-Id": session}, body


def _message(request: Recorded) -> dict[str, Any]:
    """The JSON-RPC message of a request; empty when it is none."""
    try:
        document = request.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) and "jsonrpc" in document else {}


def successive(answers: Sequence[Answer]) -> Callable[[Recorded], Answer]:
    """Return what gives one answer after the other; the last one repeats."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


@dataclass(frozen=True)
class Told:
    """What came of a search: the response, or the error that stood in for it, in one form."""

    outcome: Outcome
    hits: tuple[SearchHit, ...]
    attempts: tuple[Attempt, ...]
    answer: str | None
    notes: tuple[str, ...]
    dropped: Mapping[str, int]
    hint: str | None
    sent_to: tuple[str, ...] = ()

    @property
    def attempt(self) -> Attempt:
        """The one attempt there was."""
        (only,) = self.attempts
        return only

    def as_expected(self) -> dict[str, Any]:
        """Return all of it as the wire cases write it: what is unknown or empty is left out, and so is the time."""
        attempts = [
            {name: value for name, value in _filled(as_json(attempt)).items() if name != "took"}
            for attempt in self.attempts
        ]
        return {
            "outcome": self.outcome.value,
            "hits": [_filled(as_json(hit)) for hit in self.hits],
            **({"attempt": attempts[0]} if len(attempts) == 1 else {"attempts": attempts}),
            **_filled(
                {"answer": self.answer, "notes": list(self.notes), "dropped": dict(self.dropped), "hint": self.hint}
            ),
        }


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, [], {}, "")}


def environment(provider: str, url: str, settings: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the environment of a user who set up one provider, at `url`, with a key where it takes one.

    What the provider's shape sets comes before, `settings` wins; `{url}` in either is the address, None takes away.
    """
    section = section_of(provider)
    values: dict[str, Any] = {"base_url": url, **shape(provider).settings, **(settings or {})}
    if providers.get(provider).key != "none":
        values.setdefault("api_key", KEY)
    named = {environment_name(section, name): _spelt(value, url) for name, value in values.items() if value is not None}
    return {**os.environ, **named}


def _spelt(value: Any, url: str) -> str:
    """A setting's value as a variable holds it."""
    return (",".join(value) if isinstance(value, list) else str(value)).replace("{url}", url)


def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls follow each other at once: how long to wait between two is tested where it is done."""
    for kind in _PACED:
        monkeypatch.setattr(kind, "interval", 0.0)


async def search(
    provider: str,
    url: str,
    options: Mapping[str, Any] | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    variables: Mapping[str, str] | None = None,
) -> Told:
    """Search once with `provider` alone, set up at `url`, in a process that has never searched before.

    Nothing is kept for the next search, so that the pause a service wants between two is not waited for.
    """
    whole = {**environment(provider, url, settings), **FORGETFUL, **(variables or {})}
    async with AsyncWeb(environment=whole) as web:
        return await told(web, provider, options or {})


async def told(web: AsyncWeb, provider: str | None, options: Mapping[str, Any]) -> Told:
    """Search once and return what came of it, failures included."""
    wanted: dict[str, Any] = {"query": QUERY, "provider": provider, "cache": False, **options}
    try:
        response = await web.search(**wanted)
    except WebSeamError as error:
        return Told(error.outcome, (), error.attempts, None, (), {}, error.hint)
    return Told(
        response.outcome,
        response.hits,
        response.attempts,
        response.answer,
        response.notes,
        response.dropped,
        response.hint,
        response.sent_to,
    )


async def play(case: Case) -> tuple[Told, list[Recorded]]:
    """Run a wire case; return what came of it and the requests that arrived."""
    async with World() as world:
        fake = Fake(world, successive(case.answers))
        return await search(case.provider, fake.url, case.search, settings=case.settings), fake.requests


async def sent(provider: str, options: Mapping[str, Any], answer: Answer, **more: Any) -> Recorded:
    """Return the first request that a search sends."""
    async with World() as world:
        fake = Fake(world, answer)
        await search(provider, fake.url, options, **more)
        return fake.requests[0]


__all__ = [
    "FORGETFUL",
    "KEY",
    "Answer",
    "Fake",
    "Told",
    "environment",
    "play",
    "search",
    "sent",
    "successive",
    "told",
    "without_pauses",
]
