"""The documentation installed on this machine, asked by itself: not as one provider of a chain, and by package.

Apart from `library`, which answers for a chain as every provider does: with an attempt, never with an error.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from webseam.errors import Outcome, ProviderError, RequestError
from webseam.model import SearchRequest, SearchResponse
from webseam.resilience.deadline import Deadline

if TYPE_CHECKING:
    from webseam.search.library import Library
    from webseam.search.route import Plan

_AGAIN = "ask again; what was read so far is kept"
MAX_PACKAGE = 200  # characters of a name


async def search_docs(
    chosen: Plan,
    library: Library,
    request: SearchRequest,
    deadline: Deadline,
    *,
    package: str | None,
    patient: bool,
) -> SearchResponse:
    """Return what the index of this machine has; see `AsyncWeb.search_docs`. `chosen`: the plan of asking it alone."""
    if package is not None and not (isinstance(package, str) and 0 < len(package.strip()) <= MAX_PACKAGE):
        raise RequestError("package", "must be the name of a package, as numpy")
    started = time.monotonic()
    provider = chosen.candidates[0].provider
    wanted = package.strip() if package else None
    asked = await library.ask(provider, request, deadline, started, patient=patient, package=wanted)
    attempts = (asked.attempt,)
    if not asked.outcome.answered:
        detail = asked.attempt.detail or "the index did not answer"
        hint = _AGAIN if asked.outcome is Outcome.TIMEOUT else asked.hint
        raise ProviderError(detail, outcome=asked.outcome, provider=provider.id, hint=hint, attempts=attempts)
    return SearchResponse(
        query=request.query,
        hits=asked.hits,
        outcome=asked.outcome,
        attempts=attempts,
        notes=asked.notes,
        took=round(time.monotonic() - started, 4),
    )
