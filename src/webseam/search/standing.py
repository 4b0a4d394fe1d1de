"""Asking one place of a provider in its standing: whether it may be asked now, and what is remembered of how it went.

The same for searches and for pages, or one of them would burn the other's quota. Cancellation counts nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Final

from webseam.errors import Outcome
from webseam.resilience.health import Health, Standing
from webseam.search.asked import Asked, skipped
from webseam.search.exchange import place_of
from webseam.search.route import Candidate

_FAIR_TIME: Final = 2.0  # seconds; a provider that was given less and did not answer is not to blame
# A pinned call goes out despite these: the user may just have paid or pasted a new key, and asking harms nobody.
_PINNED_TRIES: Final = (Outcome.AUTH, Outcome.QUOTA)


class Standings:
    """The standing of places, on the clock of `health`, whose rows tell what began when."""

    def __init__(self, health: Health, *, clock: Callable[[], float] = time.time) -> None:
        self._health = health
        self._clock = clock

    async def ask(self, candidate: Candidate, ask: Callable[[], Awaitable[Asked]], *, pinned: bool) -> Asked:
        """Return what `ask` brought, or why the place was passed over, and remember how it went."""
        provider, config = candidate.provider, candidate.config
        identity = place_of(provider, config)
        standing = self._health.check(provider.id, identity)
        if not standing.usable and not (pinned and tries_anyway(standing)):
            return skipped(provider, standing, route=config.route)
        began = float(self._clock())
        try:
            asked = await ask()
        except BaseException:
            if standing.probe:  # cancelled: the probe's place is for the next caller
                self._health.release(provider.id, identity)
            raise
        attempt = asked.attempt
        answered = asked.answered or attempt.outcome.answered
        hurried = attempt.outcome is Outcome.TIMEOUT and attempt.took < min(_FAIR_TIME, config.timeout)
        if asked.called and (answered or not hurried) and not (standing.unknown and answered):
            self._health.record(
                provider.id,
                identity,
                Outcome.OK if asked.answered else attempt.outcome,
                keyless=not config.key,
                retry_after=attempt.retry_after,
                detail=attempt.detail,
                began=began,
            )
        elif standing.probe:
            self._health.release(provider.id, identity)
        return asked


def tries_anyway(standing: Standing) -> bool:
    """True for an open breaker and for what only the user can mend; a block or a rate limit holds for everybody."""
    return standing.outcome in _PINNED_TRIES or standing.outcome not in (Outcome.BLOCKED, Outcome.RATE_LIMITED)
