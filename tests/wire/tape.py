"""Asks a live service through the whole of webseam and keeps what went over the wire.

The client that is recorded is the one every search uses, with the key, the pace, the budgets and the egress rules that
are set up: what another client would get is not what a parser is given.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import string
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from tests.wire import QUERY
from tests.wire.fake import Told, told
from webseam.errors import Outcome, ProviderError, RequestError
from webseam.model import SearchRequest
from webseam.net.client import Client, Request, Response
from webseam.providers import section_of
from webseam.providers.base import NATIVE, Provider, ProviderConfig
from webseam.web import AsyncWeb

COUNT: Final = 3  # hits asked for: as many as show the form
NOTHING: Final = "qzxvj wkpfh vbqnz jxwqk zzvqp"
NOWHERE: Final = "nothing.invalid"
_MET: Final = (Outcome.RATE_LIMITED, Outcome.QUOTA)


@dataclass(frozen=True)
class Wanted:
    """One question to the live service and the case it is asked for."""

    name: str
    search: dict[str, Any]
    query: str = QUERY
    key: str | None = None


@dataclass(frozen=True)
class Exchanged:
    """One request and its answer, as the client sent and got them."""

    request: Request
    response: Response

    @property
    def is_handshake(self) -> bool:
        """True for what the fake answers by itself."""
        try:
            message = json.loads(self.request.body)
        except ValueError:
            return False
        method = str(message.get("method")) if isinstance(message, dict) and "jsonrpc" in message else ""
        return method == "initialize" or method.startswith("notifications/")


@dataclass
class Tape:
    """What went over the wire.

    Attributes:
        secrets: those that were in use. settings: of the provider's own section, where they differ from the usual.
    """

    exchanges: list[Exchanged] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Taken:
    """What came of one question."""

    wanted: Wanted
    told: Told
    tape: Tape

    @property
    def answers(self) -> list[Response]:
        """What the service said, handshakes aside."""
        return [one.response for one in self.tape.exchanges if not one.is_handshake]


class RecordingWeb(AsyncWeb):
    """`AsyncWeb` whose clients put every request and answer on a tape."""

    def __init__(self, tape: Tape, settings: Mapping[str, Any] | None = None) -> None:
        self._tape = tape
        super().__init__(settings)

    def _client_for(self, config: ProviderConfig) -> Client:
        self._tape.secrets.update(config.secrets)
        return cast("Client", Listening(super()._client_for(config), self._tape))


class Listening:
    """A client that keeps what it sends and gets."""

    def __init__(self, client: Client, tape: Tape) -> None:
        self._client, self._tape = client, tape

    def prepare(self) -> None:
        self._client.prepare()

    async def send(self, request: Request, *, expires_at: float) -> Response:
        response = await self._client.send(request, expires_at=expires_at)
        self._tape.exchanges.append(Exchanged(request, response))
        return response


async def ask(provider: Provider, wanted: Wanted) -> Taken:
    """Put one question to the live service.

    Raises:
        SettingsError, RequestError, ProviderError: it is not set up; nothing is sent.
    """
    section, tape = section_of(provider.id), Tape()
    overriding = {} if wanted.key is None else {f"{section}.api_key": wanted.key}
    request = SearchRequest(query=wanted.query, **wanted.search)
    async with RecordingWeb(tape, overriding) as web:
        if others := {one.provider.id for one in web.plan(provider.id).candidates} - {provider.id}:
            raise RequestError("provider", f"{provider.id} has no key, so {min(others)} is asked", hint=provider.hint)
        settings = web.settings()
        for setting in provider.settings:
            value, _ = settings.read(section, setting)
            if value != setting.default and not setting.secret:
                tape.settings[setting.name] = value
        return Taken(wanted, await told(web, provider.id, {"query": request}), tape)


async def questions(
    provider: Provider, names: Iterable[str], options: Iterable[tuple[str, Any]], query: str = QUERY
) -> list[Wanted]:
    """Return what is to be asked for these cases and one more for each option, in order.

    `broken` is cut out of the answer to `ok`. What finds nothing is asked in two ways: to some services all words mean
    something.
    """
    plain = {"count": COUNT}
    asked = [Wanted("ok", plain, query)] if {"ok", "broken"} & set(names) else []
    for name, value in options:
        asked.append(Wanted(name_of_option(name, value), {**plain, name: value}, query))
    if "empty" in names:
        asked.append(Wanted("empty", plain, NOTHING))
        if provider.support("include_domains") is NATIVE:
            asked.append(Wanted("empty", {**plain, "include_domains": [NOWHERE]}, NOTHING))
    if "auth" in names and provider.key != "none":
        asked.append(Wanted("auth", plain, key=made_up(await _own_key(provider))))
    return asked


def name_of_option(name: str, value: Any) -> str:
    """Return the name of the case that one option makes."""
    slug = re.sub(r"[^a-z0-9]+", "_", str(value if name == "kind" else name).lower())
    return f"ok_{slug}"


async def _own_key(provider: Provider) -> str:
    """The key that is set up, or "". Sends nothing."""
    async with AsyncWeb() as web:
        with contextlib.suppress(ProviderError):
            return web.plan(provider.id).candidates[0].config.key
    return ""


def made_up(key: str) -> str:
    """Return a key of the same form that is nobody's; without one, any that looks like a key."""
    if not key:
        return secrets.token_hex(16)
    start = re.match(r"[A-Za-z]{2,8}[-_]", key)  # some services only say more about keys that begin as theirs do
    kept = start.end() if start else 0
    sorts = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    drawn = (next((secrets.choice(sort) for sort in sorts if one in sort), one) for one in key[kept:])
    return key[:kept] + "".join(drawn)


async def take(provider: Provider, asked: Iterable[Wanted], say: Callable[[str], None]) -> dict[str, Taken]:
    """Ask everything that is wanted; return what is worth keeping by the names of cases."""
    taken: dict[str, Taken] = {}
    for wanted in asked:
        if wanted.name in taken:
            continue
        one = await ask(provider, wanted)
        outcome, name = one.told.outcome, _name_of(one)
        if name is None:
            detail = one.told.attempts[-1].detail if one.told.attempts else None
            said = "" if one.answers else "; no answer was recorded"
            say(f"{wanted.name}: it came out as {outcome.value}{said}{': ' if detail else ''}{detail or ''}")
            continue
        taken.setdefault(name, one)
        if outcome in _MET:
            say(f"{wanted.name}: the service wants to be left alone ({outcome.value}); nothing more is asked")
            break
    return taken


def _name_of(taken: Taken) -> str | None:
    """Return the case that an answer makes, or None when it is not the one that was wanted."""
    outcome, wanted = taken.told.outcome, taken.wanted.name
    if not taken.answers:
        return None
    expected = Outcome.OK if wanted.startswith("ok") else Outcome(wanted)
    if outcome is expected:
        return wanted
    return outcome.value if outcome in (*_MET, Outcome.UNSUPPORTED, Outcome.BLOCKED) else None
