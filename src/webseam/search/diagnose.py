"""Checking one provider over the lane that searches use, step by step.

A check over another path once said "healthy" where searches failed, so this sends a real request through the same
client, policy and parser, and reports how far it came.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webseam.errors import Outcome, ProviderError, TransportError, WebSeamError
from webseam.model import SearchRequest
from webseam.net.redact import Redactor
from webseam.providers.base import ProviderConfig, Reply
from webseam.providers.verdicts import failure
from webseam.resilience.deadline import Deadline
from webseam.search.asked import advice, unreadable
from webseam.search.prepare import prepare
from webseam.search.route import Candidate

if TYPE_CHECKING:
    from webseam.net.client import Client

PROBE = SearchRequest(query="example domain", count=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """How one provider answered a real request.

    Attributes:
        timings: seconds of "dns", "connect", "tls", "first_byte", "total", as far as it came.
        failed_at: "setup", "dns", "connect", "tls", "first_byte", "body", "auth", "answer" or "" when nothing failed.
    """

    provider: str
    outcome: Outcome
    timings: dict[str, float] = field(default_factory=dict)
    failed_at: str = ""
    detail: str | None = None
    hint: str | None = None
    hits: int = 0


async def diagnose(
    candidate: Candidate, client_for: Callable[[ProviderConfig], Client], deadline: Deadline
) -> Diagnosis:
    """Send one small search to one provider and say how far it came. Raises nothing but cancellation."""
    provider, config = candidate.provider, candidate.config
    if provider.local:
        return Diagnosis(provider=provider.id, outcome=Outcome.OK, detail="answers on this machine; nothing was sent")
    redact = Redactor(config.secrets)
    started = time.monotonic()
    timings: dict[str, float] = {}
    try:
        request = provider.request(prepare(provider, PROBE).search, config)
        response = await client_for(config).send(request, expires_at=deadline.sooner(config.timeout).at)
        timings = dict(response.timings)
        reply = Reply(response, redact, request)
        if not 200 <= reply.status < 300:
            judged = provider.failure(reply, PROBE, config)
            raise judged if isinstance(judged, ProviderError) else failure(reply)
        parsed = provider.parse(reply, PROBE, config)
    except Exception as error:  # noqa: BLE001 - as in a search; a check that crashes says less than one that fails
        told = error if isinstance(error, WebSeamError) else unreadable(error, redact)
        return Diagnosis(
            provider=provider.id,
            outcome=told.outcome,
            timings=timings or {"total": time.monotonic() - started},
            failed_at=_step(told),
            detail=redact(told.detail),
            hint=told.hint or advice(provider, told.outcome),
        )
    outcome = Outcome.OK if parsed.hits else Outcome.EMPTY
    return Diagnosis(provider=provider.id, outcome=outcome, timings=timings, hits=len(parsed.hits))


def _step(error: WebSeamError) -> str:
    if isinstance(error, TransportError):
        return error.phase
    return "auth" if error.outcome in (Outcome.AUTH, Outcome.QUOTA) else "answer"
