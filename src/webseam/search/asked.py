"""What became of asking one provider: an attempt for the record, and what it brought.

This is the only place where a failure is turned into an `Attempt`, so that every strategy (one, chain, hedged, fused)
and every check sees the same outcomes, redacted and cut in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from webseam.errors import EgressDenied, Outcome, ProviderError, TransportError, WebSeamError
from webseam.model import Attempt, SearchHit, SearchRequest
from webseam.net.policy import LIFTABLE
from webseam.net.redact import Redactor
from webseam.providers.answers import amount
from webseam.providers.base import Parsed, Provider
from webseam.resilience.health import Standing
from webseam.search.exchange import Exchange, never_left
from webseam.search.filters import count_dropped, has_dates, page_of, passing
from webseam.search.prepare import Prepared
from webseam.search.route import Candidate
from webseam.text import clean, clip, quote

MAX_ANSWER: Final = 4_000  # characters of a provider's own short answer
_PRIVATE: Final = LIFTABLE | {"host.special_use", "host.single_label"}  # what keeps a service on one's own network out
_ADVISED: Final = (Outcome.AUTH, Outcome.QUOTA, Outcome.RATE_LIMITED, Outcome.BLOCKED, Outcome.UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class Asked:
    """One attempt and what it brought.

    `called` is True when the provider was tried, so that the outcome says something about it; `sent` when the query
    left for it: a name that was not resolved, a port that was closed or a refused certificate received nothing.
    `answered` is True when it did its work although the outcome tells of a failure: that of one page.
    """

    attempt: Attempt
    hits: tuple[SearchHit, ...] = ()
    answer: str | None = None
    notes: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)
    sent: bool = False
    called: bool = False
    answered: bool = False
    hint: str | None = None

    @property
    def outcome(self) -> Outcome:
        return self.attempt.outcome


def skipped(provider: Provider, standing: Standing, *, route: str = "") -> Asked:
    """Return the record of a provider that was passed over because of what is held against it."""
    until = f" until {_clock(standing.until)}" if standing.until else ""
    detail = f"{of_route(route)}{standing.reason}{until}"
    attempt = Attempt(provider=provider.id, outcome=Outcome.UNAVAILABLE, detail=detail)
    return Asked(attempt, hint=advice(provider, standing.outcome))


def of_route(route: str) -> str:
    """Return what a detail begins with when a provider has several places to ask."""
    return f"{route} route: " if route else ""


def _clock(instant: float) -> str:
    """Return a Unix time as people read it: the local time, with the day when it is not today."""
    then, now = time.localtime(instant), time.localtime()
    return time.strftime("%H:%M:%S" if then[:3] == now[:3] else "%Y-%m-%d %H:%M", then)


def found(
    exchange: Exchange,
    search: SearchRequest,
    prepared: Prepared,
    parsed: Parsed,
    started: float,
    *,
    relaxed: bool,
    strict: bool,
) -> Asked:
    """Return what a provider's answer comes to after the filters; `relaxed` when the date limit was lifted for it."""
    provider, route = exchange.provider, exchange.config.route
    filtered = passing(parsed.hits, search, dates=not relaxed, strict=strict)
    hits = page_of(filtered.hits, search, skip=prepared.skip)
    if hits:
        outcome = Outcome.OK
    elif filtered.hits:  # all of them stand on earlier pages
        outcome = Outcome.EMPTY
    else:
        outcome = Outcome.FILTERED if filtered.dropped or parsed.dropped else Outcome.EMPTY
    attempt = Attempt(
        provider=provider.id,
        outcome=outcome,
        took=round(time.monotonic() - started, 4),
        detail=f"{route} route" if route else None,
        cost=parsed.cost,
        hits=len(parsed.hits),
    )
    return Asked(
        attempt,
        hits,
        answer=quote_answer(parsed.answer),
        notes=(*prepared.notes, *parsed.notes, *_date_notes(provider, search, hits, relaxed)),
        dropped=count_dropped(parsed.dropped, filtered.dropped),
        sent=exchange.sent,
        called=exchange.called,
    )


def _date_notes(provider: Provider, search: SearchRequest, hits: Sequence[SearchHit], relaxed: bool) -> list[str]:
    if relaxed:
        return [f"{provider.label} found nothing within the dates; these hits are without the date limit"]
    undated = sum(hit.published is None for hit in hits) if has_dates(search) else 0
    return [f"{undated} of the hits carry no date; they were not checked against the dates"] if undated else []


def quote_answer(answer: str | None) -> str | None:
    """Return a provider's answer cleaned and bounded, paragraphs kept."""
    return clip(clean(answer).strip(), MAX_ANSWER) or None if answer else None


def failed(exchange: Exchange, error: Exception, started: float) -> Asked:
    """Return the record of a failure, before the provider was tried or after."""
    provider, redact, called = exchange.provider, exchange.redact, exchange.called
    outcome = outcome_of(error)
    status = error.http_status if isinstance(error, ProviderError) else None
    if isinstance(error, (ProviderError, TransportError, EgressDenied)):
        detail = error.detail
    elif isinstance(error, TimeoutError):
        detail = "the deadline passed" if called else "no time was left for it, or to wait for its next free slot"
    else:
        detail = unreadable(error, redact).detail
    attempt = Attempt(
        provider=provider.id,
        outcome=outcome,
        took=round(time.monotonic() - started, 4),
        detail=redact(of_route(exchange.config.route) + detail),
        http_status=status,
        retry_after=amount(error.retry_after) if isinstance(error, ProviderError) else None,
    )
    hint = error.hint if isinstance(error, WebSeamError) else None
    if isinstance(error, EgressDenied) and exchange.config.reach == "public" and error.rule in _PRIVATE:
        hint = hint or f"set allow_private of {provider.id} to true if that is a network of your own"
    return Asked(
        attempt, sent=exchange.sent and not never_left(error), called=called, hint=hint or advice(provider, outcome)
    )


def advice(provider: Provider, outcome: Outcome | None) -> str | None:
    """Return what the provider's users can do about a failure; how to get a key is no advice about a broken server."""
    return (provider.hint or None) if outcome in _ADVISED else None


def unreadable(error: Exception, redact: Redactor) -> ProviderError:
    """Return the error for a provider's code that failed over an answer: other people's code may raise anything."""
    words = f"its answer could not be read ({type(error).__name__}: {quote(redact(str(error)))})"
    return ProviderError(words, outcome=Outcome.BAD_RESPONSE)


def outcome_of(error: Exception) -> Outcome:
    """Return the outcome an exception means."""
    if isinstance(error, TransportError) and error.kind == "too_large":
        return Outcome.BAD_RESPONSE  # a page may be too large to read; an API that sends so much is broken
    if isinstance(error, WebSeamError):
        return error.outcome
    return Outcome.TIMEOUT if isinstance(error, TimeoutError) else Outcome.BAD_RESPONSE


def cancelled(asked_for: Candidate, took: float, detail: str, *, sent: bool) -> Asked:
    """Return the record of an attempt that was given up because another one answered first."""
    return Asked(Attempt(provider=asked_for.id, outcome=Outcome.CANCELLED, took=took, detail=detail), sent=sent)
