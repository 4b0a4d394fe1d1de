"""Carrying out a provider's conversation: what it wants sent is sent, within slots, budgets, deadline and egress.

A provider only yields what is to be sent and reads what comes back; everything that must be the same for all of them
happens here, once, for searches, for checks and for pages that a service reads alike. Whatever counts as a call takes
a start slot and its place in the budgets before, also a second page, a second try and a request in place of a refused
one: a service counts requests, not searches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, Final, TypeVar

from webseam.errors import EgressDenied, Outcome, ProviderError, TransportError, WebSeamError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.net.redact import Redactor
from webseam.process import Printed, Program
from webseam.providers.answers import amount, scrubbed
from webseam.providers.base import (
    Aside,
    Conversation,
    Parsed,
    Provider,
    ProviderConfig,
    ReadPage,
    Reply,
    Step,
    decode_json,
    read_page,
    read_url,
)
from webseam.resilience.deadline import Deadline
from webseam.resilience.pace import Pace
from webseam.resilience.retry import RetryBudget, retrying
from webseam.secrets import fingerprint

if TYPE_CHECKING:
    from webseam.net.client import Client
    from webseam.net.message import Response
    from webseam.resilience.ledger import Ledger, Ticket
    from webseam.resilience.store import Store

RETRY_DELAY: Final = 0.5  # seconds before the one more try
MAX_STEPS: Final = 12  # messages of one conversation; a provider that wants more goes in circles
_RETRIED_STATUS: Final = (502, 503)
_RETRIED_KIND: Final = ("reset", "empty")  # the connection broke before an answer began; a closed port stays closed
_BEFORE_SENDING: Final = ("dns", "connect", "tls")  # phases of the transport
_PAGE: Final = ("markdown", "title", "author", "published", "language", "final_url", "problem")

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Services:
    """What all exchanges of one `AsyncWeb` share."""

    client_for: Callable[[ProviderConfig], Client]
    pace: Pace
    ledger: Ledger
    store: Store
    retries: dict[str, RetryBudget] = field(default_factory=dict)


class Exchange:
    """One provider, asked once: all its pages, retries and handshakes under one deadline.

    Attributes:
        called: something was on its way out, so that how it ended says something about the provider.
        sent: that was the query itself, not only a handshake.
        cost: US dollars of all calls so far, as reported or declared; None when none was made or a price is unknown.
        timings: seconds of the last call's phases, as far as it came.
    """

    def __init__(self, services: Services, provider: Provider, config: ProviderConfig, deadline: Deadline) -> None:
        self.deadline = deadline.sooner(config.timeout)
        left = ceil(self.deadline.remaining())  # whole seconds, as services that are told want them
        self.provider = provider
        self.config = replace(config, timeout=left) if left < config.timeout else config
        self.redact = redactor(config.secrets)
        self.called = self.sent = False
        self.timings: dict[str, float] = {}
        self._services = services
        self._memory = _Memory(services.store, provider, config)
        self._tickets: list[Ticket] = []
        self._last: Reply | None = None
        self._retried = self._has_turn = False
        self._costs: list[float | None] = []

    async def page(self, search: SearchRequest, more: Request | None = None) -> Parsed:
        """Return what one page holds: the first, or the one that `more` asks for."""
        try:
            return await self._once(search, more)
        except (ProviderError, TransportError) as error:
            broken = self.provider.retries_broken and _is_broken(error, self._last)
            if not broken or self._retried or self.deadline.remaining() <= RETRY_DELAY:
                raise
            self._retried = True
            await asyncio.sleep(RETRY_DELAY)
            await self._another_turn(error)
            self._has_turn = True
            return await self._once(search, more)

    async def read(self, url: str) -> ReadPage:
        """Return what the service made of the page at `url`, or why it could not read that page."""
        page = _scrubbed(await self._hold(read_url(self.provider, url, self.config)), self.redact.known)
        self._settle(amount(page.cost))
        return page

    async def _once(self, search: SearchRequest, more: Request | None) -> Parsed:
        parsed = scrubbed(await self._hold(self._conversation(search, more)), self.redact.known)
        self._settle(amount(parsed.cost))
        return parsed

    async def _hold(self, conversation: Generator[Step, Any, Answer]) -> Answer:
        """Carry out a conversation and return what it came to."""
        if not self._has_turn:  # or the one that was taken would be forgotten
            self._tickets = []
        try:
            step = next(conversation)  # what the provider refuses to ask is raised here, before anything is sent
            if not isinstance(step, Program):
                self._client().prepare()  # 150 ms of imports in a fresh process, which must not follow its turn
            for _ in range(MAX_STEPS):
                step = conversation.send(await self._carry_out(step))
        except StopIteration as done:
            answer: Answer = done.value
            return answer
        finally:
            conversation.close()
        raise ProviderError("it was asked again and again without coming to an answer", outcome=Outcome.BAD_RESPONSE)

    def _conversation(self, search: SearchRequest, more: Request | None) -> Conversation:
        if more is None:
            return self.provider.converse(search, self.config, self._memory)
        return read_page(self.provider, more, search, self.config)

    async def _carry_out(self, step: Step) -> Reply | Printed:
        if isinstance(step, Aside):
            self.called = True
            return Reply(
                await self._client().send(step.request, expires_at=self.deadline.at), self.redact, step.request
            )
        if isinstance(step, Program):
            await self._turn()
            return await self._run(step)
        await self._turn()
        self._last = Reply(await self._send(step), self.redact, step)
        return self._last

    async def _turn(self) -> None:
        """Wait until this provider may be called again with this key, and take a call out of the budgets.

        Raises:
            TimeoutError: the deadline comes first. ProviderError: quota, a budget is used up.
        """
        if self._has_turn:
            self._has_turn = False
            return
        config = self.config
        if self.provider.interval:
            name = f"{self.provider.id}:{config.key_identity}"
            await self._services.pace.wait(name, self.provider.interval, deadline=self.deadline)
        if self.deadline.expired:
            raise TimeoutError
        try:
            ticket = self._services.ledger.reserve(self.provider.id, config.price, config.limits, config.limits_in_all)
        except ProviderError:
            self.called = False  # the user's own limit: nothing to hold against the provider
            raise
        self._tickets.append(ticket)
        self._costs.append(config.price)
        self.called = self.sent = True

    async def _another_turn(self, before: WebSeamError) -> None:
        """Wait for the turn of a second try; when there is none to be had, the first one's error stands."""
        called = self.called
        try:
            await self._turn()
        except (TimeoutError, ProviderError):
            self.called = called
            raise before from None

    async def _run(self, program: Program) -> Printed:
        from webseam.process import run

        started = time.monotonic()
        try:
            return await run(program, expires_at=self.deadline.at)
        except FileNotFoundError as error:  # nothing was started: no call to count, and nobody has seen the query
            self._refund()
            self.sent = False
            raise ProviderError(str(error), outcome=Outcome.UNAVAILABLE) from None
        finally:
            self.timings = {"total": time.monotonic() - started}

    async def _send(self, request: Request) -> Response:
        name, client = self.provider.id, self._client()
        budget = self._services.retries.get(name)
        if budget is None:
            budget = self._services.retries[name] = RetryBudget()
        before: WebSeamError | None = None
        statuses = self.provider.retried_status or _RETRIED_STATUS

        async def once() -> Response:
            nonlocal before
            try:
                if before is not None:
                    self._retried = True
                    await self._another_turn(before)
                response = await client.send(request, expires_at=self.deadline.at)
                self.timings = dict(response.timings)
                if response.status >= 400:
                    self._unbilled()
                if response.status in statuses and response.headers.get("retry-after") is None:
                    raise _Passing(response)
            except (EgressDenied, TransportError) as error:
                if never_left(error):
                    self._refund()
                before = error
                raise
            except _Passing as error:
                before = error
                raise
            return response

        try:
            return await retrying(once, deadline=self.deadline, budget=budget, delay=RETRY_DELAY, worth=_worth)
        except _Passing as passing_failure:
            return passing_failure.response

    def _client(self) -> Client:
        return self._services.client_for(self.config)

    # Money.

    @property
    def cost(self) -> float | None:
        known = [cost for cost in self._costs if cost is not None]
        return sum(known) if known and len(known) == len(self._costs) else None

    def notes(self) -> list[str]:
        """Return what is to be said about budgets that are nearly used up."""
        config = self.config
        return self._services.ledger.notes(self.provider.id, config.limits, config.limits_in_all)

    def _settle(self, cost: float | None) -> None:
        """Book what a page really cost, on its last call; the others keep the declared price."""
        for ticket in self._tickets[:-1]:
            ticket.settle(None)
        if self._tickets:
            self._tickets[-1].settle(cost)
            self._costs[-1] = cost if cost is not None else self._costs[-1]

    def _refund(self) -> None:
        self._tickets.pop().refund()
        self._costs.pop()

    def _unbilled(self) -> None:
        self._tickets.pop().unbilled()
        self._costs[-1] = 0.0


class _Passing(WebSeamError):
    """A status that is worth one more try; the response stands when the retry brings no other."""

    outcome = Outcome.UPSTREAM

    def __init__(self, response: Response) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


class _Memory:
    """What one provider keeps for one key and address; see `providers.base.Memory`."""

    __slots__ = ("_config", "_provider", "_store")

    def __init__(self, store: Store, provider: Provider, config: ProviderConfig) -> None:
        self._store, self._provider, self._config = store, provider, config

    def get(self, name: str) -> dict[str, Any] | None:
        return self._store.get("memory", self._own(name))

    def set(self, name: str, value: dict[str, Any], *, ttl: float) -> None:
        self._store.set("memory", self._own(name), value, ttl=ttl)

    def delete(self, name: str) -> None:
        self._store.delete("memory", self._own(name))

    def _own(self, name: str) -> str:  # worked out when it is wanted: most providers keep nothing
        return f"{self._provider.id}:{place_of(self._provider, self._config)}:{name}"


@lru_cache(maxsize=256)
def redactor(secrets: tuple[str, ...]) -> Redactor:
    """Return the redactor of these secrets; making one costs more than a search should pay each time."""
    return Redactor(secrets)


def _scrubbed(page: ReadPage, remove: Callable[[str], str]) -> ReadPage:
    """Return what was read without this call's secrets, which a service may write into a page as well."""
    texts = {name: value for name in _PAGE if isinstance(value := getattr(page, name), str)}
    changed: dict[str, Any] = {name: remove(text) for name, text in texts.items()}
    return replace(page, **changed, notes=[remove(note) for note in page.notes])


def never_left(error: Exception) -> bool:
    """True when the query cannot have reached anybody: there was no connection to send it over."""
    return isinstance(error, EgressDenied) or (isinstance(error, TransportError) and error.phase in _BEFORE_SENDING)


def place_of(provider: Provider, config: ProviderConfig) -> str:
    """Return what stands for a provider's key, or its address without one, in the shared state.

    Another key is another account, and another address is another service: neither inherits a cool-down.
    """
    if config.base_url == provider.base_url:
        return config.key_identity
    place = fingerprint(config.base_url)
    return f"{config.key_identity}:{place}" if config.key_identity else place


def _worth(error: WebSeamError) -> bool:
    return isinstance(error, _Passing) or (
        isinstance(error, TransportError) and error.kind in _RETRIED_KIND and error.phase != "body"
    )


def _is_broken(error: WebSeamError, last: Reply | None) -> bool:
    """True for a network error, and for an answer that cannot be read at all; not for a clear refusal."""
    if isinstance(error, TransportError):
        cut = error.phase == "body" and error.kind in ("truncated", "encoding")
        return (error.outcome is Outcome.NETWORK or cut) and not _worth(error)  # those were tried again already
    return (
        error.outcome is Outcome.BAD_RESPONSE and last is not None and 200 <= last.status < 300 and not _decodes(last)
    )


def _decodes(reply: Reply) -> bool:
    try:
        decode_json(reply.response.body)
    except ValueError:
        return False
    return True
