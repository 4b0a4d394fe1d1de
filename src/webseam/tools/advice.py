"""What a model should try after a search that found nothing, from what really happened, in the words of its tool.

"No results" makes models search again with the same filters, or give up. What helps is one move that could change the
outcome: the filter that dropped the hits, the words that are too many, the provider that was pinned or failed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from webseam.errors import Outcome
from webseam.model import SearchResponse
from webseam.tools.definitions import DOCS_SEARCH, WEB_SEARCH

MANY_WORDS: Final = 8  # a query of more reads like a sentence; engines match few pages that hold all of it
_OPERATORS: Final = re.compile(r'"[^"]*"|\b(?:site|inurl|intitle|filetype):\S+|(?<!\S)-\w+|\b(?:AND|OR|NOT)\b')

# Why a hit was dropped, and the arguments that did it.
_DROPPED_BY: Final = {
    "other domain": ("sites",),
    "excluded domain": ("not_sites",),
    "outside the dates": ("freshness", "after", "before"),
    "no date": ("freshness", "after", "before"),
}
_NARROWING: Final = ("freshness", "after", "before", "sites", "kind", "not_sites")  # the likeliest culprit first
_LATER: Final = (Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.NETWORK, Outcome.UPSTREAM)


def next_step(response: SearchResponse, given: Mapping[str, Any], *, tool: str = WEB_SEARCH.name) -> str | None:
    """Return one sentence on what to call next; None where there are hits, or the response has its own hint."""
    if response.hits:
        return None
    if tool == DOCS_SEARCH.name:
        return _after_docs(response, given)
    if response.outcome is Outcome.FILTERED:
        return _after_filters(response, given)
    if response.outcome is Outcome.EMPTY:
        return _after_nothing(response, given)
    return None


def _after_filters(response: SearchResponse, given: Mapping[str, Any]) -> str:
    by_argument = [
        (count, name)
        for reason, count in response.dropped.items()
        for name in _DROPPED_BY.get(reason, ())
        if name in given
    ]
    if not by_argument:
        return "Next: search with other words; what was found could not be used."
    most = max(count for count, _ in by_argument)
    names = [name for count, name in by_argument if count == most]
    return f"Next: call web_search again without {_listed(names)}, which left out {most} of the hits."


def _after_nothing(response: SearchResponse, given: Mapping[str, Any]) -> str:
    moves = []
    narrowing = [name for name in _NARROWING if name in given and given[name] != "web"]
    if narrowing:
        moves.append(f"call again without {narrowing[0]}")
    query = str(given.get("query", ""))
    if _OPERATORS.search(query):
        moves.append("leave quotation marks and operators out of the query")
    elif len(query.split()) > MANY_WORDS:
        moves.append("use three to six words that the page itself would hold")
    elif not narrowing:
        moves.append("use other words, a broader term or the English one")
    if "provider" in given:
        moves.append("omit provider so that others are asked too")
    failed = [one.provider for one in response.attempts if one.outcome in _LATER]
    if failed and "provider" not in given:
        moves.append(f"or try later, when {_listed(failed[:2])} may answer again")
    return f"Next: {'; '.join(moves)}."


def _after_docs(response: SearchResponse, given: Mapping[str, Any]) -> str:
    if "package" in given:
        return "Next: call docs_search without package, or web_search for documentation that is not installed here."
    return "Next: search for the exact name (module.function), or use web_search: it may not be installed here."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
