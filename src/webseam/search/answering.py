"""One search from plan to response: from the cache, from an equal search under way, or by asking.

Apart from the facade, which knows settings and callers but none of this.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from webseam.config import Settings
from webseam.errors import AllProvidersFailed, Outcome
from webseam.model import SearchRequest, SearchResponse
from webseam.resilience.coalesce import Coalescer
from webseam.resilience.deadline import Deadline
from webseam.resilience.store import Store
from webseam.search.ask import Asker
from webseam.search.recall import Recall, identity_of, key_of, words_of
from webseam.search.route import Plan
from webseam.search.run import run


class Answering:
    """Answers searches; what was answered lately is kept in `store`."""

    def __init__(self, asker: Asker, store: Store) -> None:
        self._asker = asker
        self._recall = Recall(store)
        self._coalescer = Coalescer()

    async def answer(
        self,
        chosen: Plan,
        request: SearchRequest,
        settings: Settings,
        deadline: Deadline,
        *,
        strict: bool,
        patient: bool,
        cache: bool,
    ) -> SearchResponse:
        """Return what the providers of a plan say.

        Args:
            patient: the first index of the documentation installed here may take longer than the deadline.
            cache: False = neither take the answer from the cache nor merge with an equal search under way.

        Raises:
            ProviderError, AllProvidersFailed: as `run`.
        """
        hedge = settings.get("search", "hedge")

        def carry_out() -> Coroutine[Any, Any, SearchResponse]:
            return run(chosen, request, self._asker, deadline, strict=strict, hedge=hedge, patient=patient)

        if not cache:
            return await carry_out()
        ttl, window = settings.get("search", "cache_ttl"), settings.get("search", "repeat_window")
        identity = identity_of(chosen, request, strict=strict)
        key, words = key_of(identity), words_of(identity, request)
        known = (
            self._recall.repeated(words, window=window) if window > 0 and ttl > 0 else None
        ) or self._recall.stored(key, ttl=ttl)
        if known is not None:
            return known

        async def carry_out_and_keep() -> SearchResponse:
            response = await carry_out()
            if not _is_from_here(chosen, response):
                self._recall.keep(key, words, response, ttl=ttl, window=window)
            return response

        try:
            return await self._coalescer.run(key, carry_out_and_keep, deadline=None if patient else deadline)
        except TimeoutError:  # joined an equal search that had more time than this caller
            raise AllProvidersFailed("the deadline passed", outcome=Outcome.TIMEOUT) from None


def _is_from_here(chosen: Plan, response: SearchResponse) -> bool:
    """True when the index of this machine answered: asking it again costs nothing, and the network may be back."""
    here = {one.id for one in chosen.candidates if one.provider.local}
    return any(not here.isdisjoint(hit.providers) for hit in response.hits)
