"""Answering again what was answered a moment ago: the response cache, and the guard against repeated queries.

Only `ok` responses are kept: a failure remembered is a failure prolonged, and "nothing found" may be an engine's bad
minute. The cache is shared by the processes of one user; the guard is for one process, where a model that reorders the
same words in a loop would otherwise spend quota on the same answer.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from dataclasses import replace
from typing import Any, Final

from webseam.errors import Outcome
from webseam.model import SearchRequest, SearchResponse, fields_of, from_row, to_row
from webseam.resilience.store import Store
from webseam.search.route import Plan

SPACE: Final = "responses"
_VERSION: Final = 2  # of the stored form; another version's entries are simply not found
_REMEMBERED: Final = 128  # responses the guard keeps in memory


def identity_of(plan: Plan, search: SearchRequest, *, strict: bool) -> tuple[Any, ...]:
    """Return the identity of a search: what is asked, of whom, with which keys. Another plan is another search."""
    return (_VERSION, plan.kind, plan.identity, strict, *fields_of(search))


def key_of(identity: tuple[Any, ...]) -> str:
    """Return the name of a search in the store."""
    return hashlib.blake2b(repr(identity).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def words_of(identity: tuple[Any, ...], search: SearchRequest) -> tuple[Any, ...]:
    """Return the identity of a search in which letter case, spacing and order of the words do not count."""
    words = tuple(sorted(search.query.casefold().split()))
    return tuple(words if part == search.query else part for part in identity)


class Recall:
    """The responses of the last minutes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._recent: OrderedDict[Any, tuple[float, SearchResponse]] = OrderedDict()

    def stored(self, key: str, *, ttl: float) -> SearchResponse | None:
        """Return the cached response to exactly this search, or None."""
        if ttl <= 0:
            return None
        document = self._store.get(SPACE, key)
        if document is None:
            return None
        try:
            age = time.time() - document["at"]
            response = from_row(document["response"])
        except (KeyError, TypeError, ValueError):
            return None  # written by another version
        if not 0 <= age <= ttl:
            return None
        return _again(response, f"from the cache, {age:.0f} s old")

    def repeated(self, words: object, *, window: float) -> SearchResponse | None:
        """Return what this process answered to the same words within `window` seconds, or None."""
        at, response = self._recent.get(words, (0.0, None))
        age = time.monotonic() - at
        if response is None or age > window:
            return None
        return _again(
            response,
            f"the same words were searched {age:.0f} s ago; this is that answer, change the words to search anew",
        )

    def keep(self, key: str, words: object, response: SearchResponse, *, ttl: float, window: float) -> None:
        """Remember an `ok` response; anything else is not kept."""
        if response.outcome is not Outcome.OK or ttl <= 0:
            return
        at = time.time()
        self._store.put_later(SPACE, key, lambda: {"at": at, "response": to_row(response)}, ttl=ttl)
        if window > 0:
            self._recent[words] = (time.monotonic(), response)
            self._recent.move_to_end(words)
            while len(self._recent) > _REMEMBERED:
                self._recent.popitem(last=False)


def _again(response: SearchResponse, note: str) -> SearchResponse:
    return replace(response, cached=True, sent_to=(), notes=(*response.notes, note))
