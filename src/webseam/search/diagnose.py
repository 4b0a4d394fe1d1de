"""Checking one provider over the lane that searches use, step by step.

A check over another path once said "healthy" where searches failed, so this sends a real request through the same
client, policy and parser, and reports how far it came.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from webseam.errors import Outcome, ProviderError, RequestError, TransportError, WebSeamError
from webseam.model import SearchRequest
from webseam.resilience.deadline import Deadline
from webseam.search.asked import advice, of_route, unreadable
from webseam.search.exchange import Exchange, Services
from webseam.search.prepare import prepare
from webseam.search.route import Candidate, Plan

PROBE = SearchRequest(query="example domain", count=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """How one provider answered a real request.

    Attributes:
        timings: seconds of "dns", "connect", "tls", "first_byte", "total", as far as it came.
        failed_at: "setup" (nothing was sent), "dns", "connect", "tls", "first_byte", "body", "auth", "answer",
            "deadline"; "" = nowhere.
        remark: what users of the provider should know whatever came of it.
    """

    provider: str
    outcome: Outcome
    timings: dict[str, float] = field(default_factory=dict)
    failed_at: str = ""
    detail: str | None = None
    hint: str | None = None
    hits: int = 0
    remark: str = ""


async def diagnose_choice(
    provider: str, chosen: Plan, services: Services, timeout: float, *, with_key: bool
) -> Diagnosis:
    """Ask the routes of one provider in turn until one answers, within `timeout` seconds.

    Args:
        with_key: only the routes that send a key: it is the key that is tried.

    Raises:
        RequestError: `provider` names several.
    """
    if chosen.kind != "one":
        raise RequestError("provider", f"{provider!r:.60} is not one provider", hint="name one at a time")
    deadline = Deadline.after(timeout)
    keyed = [one for one in chosen.candidates if not with_key or one.config.key]
    for candidate in keyed or chosen.candidates:
        diagnosis = await diagnose(candidate, services, deadline)
        if diagnosis.outcome.answered:
            break
    return diagnosis


async def diagnose(candidate: Candidate, services: Services, deadline: Deadline) -> Diagnosis:
    """Ask one provider for one hit and say how far it came. Raises nothing but cancellation."""
    provider, config = candidate.provider, candidate.config
    if provider.local:
        return Diagnosis(provider=provider.id, outcome=Outcome.OK, detail="answers on this machine; nothing was sent")
    exchange = Exchange(services, provider, config, deadline)
    started = time.monotonic()
    try:
        parsed = await exchange.page(prepare(provider, PROBE).search)
    except Exception as error:  # noqa: BLE001 - as in a search; a check that crashes says less than one that fails
        told = _told(error, exchange)
        return Diagnosis(
            provider=provider.id,
            outcome=told.outcome,
            timings=exchange.timings or {"total": time.monotonic() - started},
            failed_at=_step(told, called=exchange.called),
            detail=exchange.redact(of_route(config.route) + told.detail),
            hint=told.hint or advice(provider, told.outcome),
            remark=provider.remark,
        )
    return Diagnosis(
        provider=provider.id,
        outcome=Outcome.OK if parsed.hits else Outcome.EMPTY,
        timings=exchange.timings,
        hits=len(parsed.hits),
        remark=provider.remark,
    )


def _told(error: Exception, exchange: Exchange) -> WebSeamError:
    if isinstance(error, WebSeamError):
        return error
    if isinstance(error, TimeoutError):
        words = "no time was left for it" if exchange.called else "its next free slot is too far away"
        return ProviderError(words, outcome=Outcome.TIMEOUT)
    return unreadable(error, exchange.redact)


def _step(error: WebSeamError, *, called: bool) -> str:
    if isinstance(error, TransportError):
        return error.phase
    if error.outcome is Outcome.TIMEOUT:
        return "deadline"
    if not called:  # a budget of the user's own, or a search that it cannot be asked
        return "setup"
    return "auth" if error.outcome in (Outcome.AUTH, Outcome.QUOTA) else "answer"
