"""Carrying out a plan: one provider, a chain, a hedged chain, or several at once.

The caller's deadline binds the whole; within it no provider of a chain may use so much that those after it get no turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from webseam.errors import AllProvidersFailed, Outcome, ProviderError, WebSeamError
from webseam.model import Attempt, SearchHit, SearchRequest, SearchResponse
from webseam.resilience.deadline import Deadline
from webseam.search.ask import Asker, Terms
from webseam.search.asked import Asked, cancelled
from webseam.search.exchange import Exchange
from webseam.search.filters import count_dropped
from webseam.search.fuse import fuse
from webseam.search.route import Candidate, Plan
from webseam.tasks import end

_LOCAL_SHARE: Final = 0.2  # of the time left, kept for the index of this machine when only it comes after
_MOST_HINTED: Final = 3


async def run(
    plan: Plan,
    search: SearchRequest,
    asker: Asker,
    deadline: Deadline,
    *,
    strict: bool = False,
    hedge: float = 0.0,
    patient: bool = False,
) -> SearchResponse:
    """Return the first usable answer of a chain, or the merged answers of a fusion.

    An honest "nothing found" is a response too (outcome empty or filtered), when nobody failed.

    Raises:
        ProviderError: the one provider asked failed. AllProvidersFailed: nobody of several answered.
    """
    started = time.monotonic()
    terms = Terms(pinned=plan.kind == "one", strict=strict, patient=patient)
    if plan.kind == "fuse":
        asked = await _all_at_once(plan.candidates, search, asker, deadline, terms)
    elif hedge > 0 and len(plan.candidates) > 1:
        asked = await _hedged(plan.candidates, search, asker, deadline, terms, hedge)
    else:
        asked = await _in_turn(plan.candidates, search, asker, deadline, terms)
    return _respond(plan, search, asked, started)


async def _in_turn(
    candidates: Sequence[Candidate], search: SearchRequest, asker: Asker, deadline: Deadline, terms: Terms
) -> list[Asked]:
    asked: list[Asked] = []
    for place, candidate in enumerate(candidates):
        if place and deadline.expired and not candidate.provider.local:
            asked.append(_no_time(candidate))
            continue
        asked.append(await asker.ask(candidate, search, _share(deadline, candidates[place + 1 :]), terms))
        if asked[-1].outcome is Outcome.OK:
            break
    return asked


def _share(deadline: Deadline, after: Sequence[Candidate]) -> Deadline:
    """Return the part of the time one provider may use: half, while others over the network still wait for a turn."""
    if not after:
        return deadline
    waiting = any(not candidate.provider.local for candidate in after)
    return deadline.sooner(deadline.remaining() * (0.5 if waiting else 1 - _LOCAL_SHARE))


async def _hedged(
    candidates: Sequence[Candidate],
    search: SearchRequest,
    asker: Asker,
    deadline: Deadline,
    terms: Terms,
    hedge: float,
) -> list[Asked]:
    """Start the next provider when those under way are silent for `hedge` seconds or have failed; first answer wins."""
    waiting = list(candidates)
    running: dict[asyncio.Task[Asked], tuple[Candidate, float, list[Exchange]]] = {}
    asked: list[Asked] = []
    try:
        while waiting or running:
            if waiting:
                candidate = waiting.pop(0)
                begun: list[Exchange] = []
                share = _share(deadline, waiting)
                task = asyncio.create_task(asker.ask(candidate, search, share, terms, begun.append))
                running[task] = (candidate, time.monotonic(), begun)
            done, _ = await asyncio.wait(
                running, timeout=hedge if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in sorted(done, key=lambda each: running[each][1]):
                del running[task]
                asked.append(task.result())
            if any(one.outcome is Outcome.OK for one in asked):
                break
    finally:
        await end(running)  # their sockets are closed before we return
    for candidate, since, begun in running.values():
        took, left = round(time.monotonic() - since, 4), any(exchange.sent for exchange in begun)
        asked.append(cancelled(candidate, took, "another provider answered first", sent=left))
    return asked


async def _all_at_once(
    candidates: Sequence[Candidate], search: SearchRequest, asker: Asker, deadline: Deadline, terms: Terms
) -> list[Asked]:
    by_provider: dict[str, list[Candidate]] = {}
    for candidate in candidates:  # the places of one provider stand in for each other
        by_provider.setdefault(candidate.id, []).append(candidate)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_in_turn(places, search, asker, deadline, terms)) for places in by_provider.values()]
    return [asked for task in tasks for asked in task.result()]


def _no_time(candidate: Candidate) -> Asked:
    return Asked(
        Attempt(provider=candidate.id, outcome=Outcome.TIMEOUT, detail="the deadline had passed before its turn")
    )


def _respond(plan: Plan, search: SearchRequest, asked: list[Asked], started: float) -> SearchResponse:
    attempts = _in_order(plan, asked)
    winners = [one for one in asked if one.outcome is Outcome.OK]
    if not winners:
        outcome = verdict(attempts)
        if not outcome.answered:
            raise _error(plan, asked, attempts, outcome)
    else:
        outcome = Outcome.OK
    notes = list(plan.notes)
    for one in winners or asked:
        notes.extend(one.notes)
    if winners and winners[0].attempt.provider != (plan.candidates[0].id if plan.candidates else ""):
        notes.extend(_reachability(attempts))
    return SearchResponse(
        query=search.query,
        hits=_hits(plan, winners, search),
        outcome=outcome,
        attempts=attempts,
        answer=next((one.answer for one in winners if one.answer), None),
        notes=tuple(dict.fromkeys(notes)),
        dropped=count_dropped(*(one.dropped for one in (winners or asked))),
        sent_to=_recipients(asked),
        took=round(time.monotonic() - started, 4),
    )


def _hits(plan: Plan, winners: list[Asked], search: SearchRequest) -> tuple[SearchHit, ...]:
    if plan.kind != "fuse":
        return winners[0].hits if winners else ()
    return tuple(fuse(one.hits for one in winners)[: search.count])


def _recipients(asked: Sequence[Asked]) -> tuple[str, ...]:
    """Return who received the query, each once."""
    return tuple(dict.fromkeys(one.attempt.provider for one in asked if one.sent))


def _in_order(plan: Plan, asked: list[Asked]) -> tuple[Attempt, ...]:
    """Return all attempts; those passed over before anything was sent come after those that were asked."""
    return (*(one.attempt for one in asked), *plan.skipped)


def _reachability(attempts: Sequence[Attempt]) -> list[str]:
    """Say that the network was not reachable, when that is why an answer comes from further down the chain."""
    tried = [one for one in attempts if one.outcome not in (Outcome.OK, Outcome.UNAVAILABLE, Outcome.CANCELLED)]
    down = [one for one in tried if one.outcome in (Outcome.NETWORK, Outcome.TIMEOUT)]
    if tried and len(down) == len(tried):
        return [f"the network was not reachable ({', '.join(one.provider for one in down)})"]
    cooling = [one for one in attempts if one.outcome is Outcome.UNAVAILABLE and "network" in (one.detail or "")]
    if not tried and cooling:
        return [f"the network was not reachable a moment ago ({', '.join(one.provider for one in cooling)})"]
    return []


def verdict(attempts: Sequence[Attempt]) -> Outcome:
    """Return what a search without hits came to: empty only when everybody who was asked honestly had nothing.

    Who cannot do what was asked has not failed at it: `--site` would else turn "nothing found" into an error, because
    the documentation of this machine, last in the chain, knows no sites.
    """
    tried = [one.outcome for one in attempts if one.outcome not in (Outcome.UNAVAILABLE, Outcome.UNSUPPORTED)]
    if not tried:
        unable = any(one.outcome is Outcome.UNSUPPORTED for one in attempts)
        return Outcome.UNSUPPORTED if unable else Outcome.UNAVAILABLE
    failed = [outcome for outcome in tried if not outcome.answered]
    if failed:
        return failed[0]
    return Outcome.FILTERED if Outcome.FILTERED in tried else Outcome.EMPTY


def _error(plan: Plan, asked: list[Asked], attempts: tuple[Attempt, ...], outcome: Outcome) -> WebSeamError:
    hints = [one.hint for one in asked if one.hint and not one.outcome.answered]
    if plan.kind == "one" and len(asked) == 1:
        attempt = asked[0].attempt
        return ProviderError(
            f"{attempt.provider}: {attempt.detail}",
            outcome=outcome,
            provider=attempt.provider,
            http_status=attempt.http_status,
            retry_after=attempt.retry_after,
            hint=asked[0].hint,
            attempts=attempts,
            sent_to=_recipients(asked),
        )
    told = "; ".join(f"{one.provider}: {one.outcome}" + (f" ({one.detail})" if one.detail else "") for one in attempts)
    return AllProvidersFailed(
        f"no provider answered. {told}" if told else "no provider is set up",
        outcome=outcome,
        hint="; ".join(list(dict.fromkeys(hints))[:_MOST_HINTED]) or None,
        attempts=attempts,
        sent_to=_recipients(asked),
    )
