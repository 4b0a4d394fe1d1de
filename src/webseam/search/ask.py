"""Asking one provider once: health, pace, the call, its pages, its meaning, the filters, and what to remember of it.

Whatever is sent takes a start slot before, also a second page, a second try and a request in place of a refused one:
a service counts requests, not searches. Cancellation passes through untouched and counts nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from webseam.errors import Outcome, ProviderError, TransportError, WebSeamError
from webseam.model import SearchHit, SearchRequest
from webseam.net.redact import Redactor
from webseam.providers.base import NATIVE, Parsed, Provider, ProviderConfig, Reply
from webseam.providers.verdicts import failure
from webseam.resilience.deadline import Deadline
from webseam.resilience.health import Health, Standing
from webseam.resilience.pace import Pace
from webseam.resilience.retry import RetryBudget, retrying
from webseam.search.asked import Asked, failed, found, outcome_of, skipped
from webseam.search.filters import count_dropped, has_dates, without_dates
from webseam.search.prepare import prepare
from webseam.search.route import Candidate
from webseam.secrets import fingerprint

if TYPE_CHECKING:
    from webseam.net.client import Client
    from webseam.net.message import Request, Response
    from webseam.search.library import Library

MAX_PAGES: Final = 5  # calls for one search of one provider
RETRY_AFTER_BOUND: Final = 0.5  # seconds before the one retry
_RETRIED_STATUS: Final = (502, 503)
_RETRIED_KIND: Final = ("reset", "empty")  # the connection broke before an answer began; a closed port stays closed
_FAIR_TIME: Final = 2.0  # seconds; a provider that was given less and did not answer is not to blame
# A pinned call goes out despite these: the user may just have paid or pasted a new key, and asking harms nobody.
_PINNED_TRIES: Final = (Outcome.AUTH, Outcome.QUOTA)


@dataclass(frozen=True, slots=True)
class Terms:
    """How a search is to be carried out, beside what it asks for."""

    pinned: bool = False
    strict: bool = False
    patient: bool = False  # building the local index is set-up and not counted


@dataclass(frozen=True, slots=True)
class _Call:
    """What stays the same while one provider is asked. `redact` removes this call's secrets."""

    provider: Provider
    config: ProviderConfig
    deadline: Deadline
    redact: Redactor


class Asker:
    """Asks providers. Shared by all searches of one `AsyncWeb`, so that connections, health and pace are too."""

    def __init__(
        self,
        *,
        client_for: Callable[[ProviderConfig], Client],
        health: Health,
        pace: Pace,
        library: Library,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client_for = client_for
        self._health = health
        self._pace = pace
        self._library = library
        self._clock = clock  # that of health, whose rows tell what began when
        self._budgets: dict[str, RetryBudget] = {}

    async def ask(self, candidate: Candidate, search: SearchRequest, deadline: Deadline, terms: Terms) -> Asked:
        """Ask one provider and return what came of it; raises nothing but cancellation."""
        started = time.monotonic()
        provider, config = candidate.provider, candidate.config
        if provider.local:
            return await self._library.ask(
                provider, search, deadline, started, strict=terms.strict, patient=terms.patient
            )
        identity = place_of(provider, config)
        standing = self._health.check(provider.id, identity)
        if not standing.usable and not (terms.pinned and _tries_anyway(standing)):
            return skipped(provider, standing)
        began = float(self._clock())
        try:
            asked = await self._attempt(provider, config, search, deadline, terms, started)
        except BaseException:
            if standing.probe:  # cancelled: the probe's place is for the next caller
                self._health.release(provider.id, identity)
            raise
        attempt = asked.attempt
        hurried = attempt.outcome is Outcome.TIMEOUT and attempt.took < min(_FAIR_TIME, config.timeout)
        if asked.called and not hurried and not (standing.unknown and attempt.outcome.answered):
            self._health.record(
                provider.id,
                identity,
                attempt.outcome,
                keyless=not config.key,
                retry_after=attempt.retry_after,
                detail=attempt.detail,
                began=began,
            )
        elif standing.probe:
            self._health.release(provider.id, identity)
        return asked

    async def _attempt(
        self,
        provider: Provider,
        config: ProviderConfig,
        search: SearchRequest,
        deadline: Deadline,
        terms: Terms,
        started: float,
    ) -> Asked:
        call = _Call(provider, config, deadline.sooner(config.timeout), _redactor(config.secrets))
        called = False
        try:
            prepared = prepare(provider, search, strict=terms.strict)
            request = provider.request(prepared.search, config)  # refuses what it cannot ask before anything is sent
            self._client_for(config).prepare()  # 150 ms of imports in a fresh process, which must not follow its turn
            await self._slot(call)
            if call.deadline.expired:
                raise TimeoutError
            called = True
            parsed, relaxed = await self._collect(call, prepared.search, request, strict=terms.strict)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the one mapping point; a third-party provider may raise anything
            return failed(provider, error, started, call.redact, called=called)
        return found(provider, search, prepared, parsed, started, relaxed=relaxed, strict=terms.strict)

    async def _slot(self, call: _Call) -> None:
        """Wait until this provider may be called again with this key; raises TimeoutError when that is too late."""
        if call.provider.interval:
            name = f"{call.provider.id}:{call.config.key_identity}"
            await self._pace.wait(name, call.provider.interval, deadline=call.deadline)

    async def _collect(
        self, call: _Call, search: SearchRequest, request: Request, *, strict: bool
    ) -> tuple[Parsed, bool]:
        """Return everything the provider sent for this search, and whether the date limit had to be lifted."""
        parsed = await self._pages(call, search, request)
        may_relax = has_dates(search) and not strict and _dates_are_native(call.provider, search)
        if parsed.hits or parsed.dropped or not may_relax or call.deadline.expired:
            return parsed, False
        try:
            await self._slot(call)
            undated = without_dates(search)
            relaxed = await self._pages(call, undated, call.provider.request(undated, call.config))
        except (WebSeamError, TimeoutError) as error:  # the first answer stands: it was honest, only empty
            note = f"{call.provider.label}: asking without the dates failed ({outcome_of(error)})"
            parsed.notes = [*parsed.notes, note]
            return parsed, False
        return (relaxed, True) if relaxed.hits else (parsed, False)

    async def _pages(self, call: _Call, search: SearchRequest, first: Request) -> Parsed:
        """Return the hits of as many pages as it takes to have `search.count`, where the service pages."""
        request: Request | None = first
        total = Parsed()
        for page in range(MAX_PAGES):
            if request is None:
                break
            try:
                if page:
                    await self._slot(call)
                parsed = await self._exchange(call, search, request)
            except Exception as error:  # as in `_attempt`, where the first page's ends
                if not page:
                    raise
                total.notes = [*total.notes, f"{call.provider.label}: page {page + 1} failed ({outcome_of(error)})"]
                break  # what came before is kept
            known = {hit.url for hit in total.hits}
            fresh = [hit for hit in parsed.hits if hit.url not in known] if page else parsed.hits
            total = _joined(total, parsed, fresh)
            if len(total.hits) >= search.count or (page and not fresh):
                break
            request = parsed.more
        return total

    async def _exchange(self, call: _Call, search: SearchRequest, request: Request) -> Parsed:
        """Send one request and read its answer; a provider may name another request to send in its place, once."""
        provider, config = call.provider, call.config
        for may_replace in (True, False):
            reply = Reply(await self._send(call, request), call.redact, request)
            if 200 <= reply.status < 300:
                return provider.parse(reply, search, config)
            judged = provider.failure(reply, search, config)
            if judged is None or isinstance(judged, ProviderError):
                raise judged or failure(reply)
            if not may_replace:
                raise failure(reply)
            request = judged
            await self._slot(call)
        raise AssertionError("unreachable")

    async def _send(self, call: _Call, request: Request) -> Response:
        name, client = call.provider.id, self._client_for(call.config)
        budget = self._budgets.get(name)
        if budget is None:
            budget = self._budgets[name] = RetryBudget()
        before: WebSeamError | None = None

        async def once() -> Response:
            nonlocal before
            try:
                if before is not None:
                    await self._slot(call)
                response = await client.send(request, expires_at=call.deadline.at)
                if response.status in _RETRIED_STATUS and response.headers.get("retry-after") is None:
                    raise _Passing(response)
            except WebSeamError as error:
                before = error
                raise
            except TimeoutError:  # no slot in time for the second try: the first one's error stands
                raise before or TimeoutError from None
            return response

        try:
            return await retrying(once, deadline=call.deadline, budget=budget, delay=RETRY_AFTER_BOUND, worth=_worth)
        except _Passing as passing_failure:
            return passing_failure.response


@lru_cache(maxsize=256)
def _redactor(secrets: tuple[str, ...]) -> Redactor:
    return Redactor(secrets)


class _Passing(WebSeamError):
    """A status that is worth one retry; the response stands when the retry brings no other."""

    outcome = Outcome.UPSTREAM

    def __init__(self, response: Response) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


def _worth(error: WebSeamError) -> bool:
    return isinstance(error, _Passing) or (
        isinstance(error, TransportError) and error.kind in _RETRIED_KIND and error.phase != "body"
    )


def place_of(provider: Provider, config: ProviderConfig) -> str:
    """Return what stands for a provider's key, or its address without one, in the shared state.

    Another key is another account, and another address is another service: neither inherits a cool-down.
    """
    if config.key_identity or config.base_url == provider.base_url:
        return config.key_identity
    return fingerprint(config.base_url)


def _dates_are_native(provider: Provider, search: SearchRequest) -> bool:
    return provider.support("date_range" if search.after or search.before else "freshness") is NATIVE


def _joined(total: Parsed, parsed: Parsed, fresh: list[SearchHit] | tuple[SearchHit, ...] | object) -> Parsed:
    costs = [cost for cost in (total.cost, parsed.cost) if cost is not None]
    return Parsed(
        hits=[*total.hits, *fresh],  # type: ignore[misc]
        dropped=count_dropped(total.dropped, parsed.dropped),
        answer=total.answer or parsed.answer,
        notes=list(dict.fromkeys([*total.notes, *parsed.notes])),
        cost=sum(costs) if costs else None,
    )


def _tries_anyway(standing: Standing) -> bool:
    """True for an open breaker and for what only the user can mend; a block or a rate limit holds for everybody."""
    return standing.outcome in _PINNED_TRIES or standing.outcome not in (Outcome.BLOCKED, Outcome.RATE_LIMITED)
