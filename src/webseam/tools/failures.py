"""Failures in words that a model acts on: the outcome, what happened, and the next step.

The hints of the core speak to whoever can act on them, and some of them are people: a key to get, a setting, an option
of the command line. A model is told those as something to pass on, and what it can do itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from webseam.errors import Outcome, WebSeamError
from webseam.model import Page

INSTALLED: Final = ("python://", "file://")  # how hits of the index of this machine begin

_FOR_A_PERSON: Final = re.compile(r"webseam\b|\ba key\b|\bset\b|\b(?:net|fetch|search|mcp)\.\w")
_OPTION: Final = re.compile(r"--\w|\bin the call\b|\b(?:leave|remove) reader\b|another reader or ")

_ELSEWHERE: Final = "look for the same in another source"
_STEPS: Final[dict[Outcome, str]] = {
    Outcome.BLOCKED: f"{_ELSEWHERE}; this one refuses programs",
    Outcome.RATE_LIMITED: f"{_ELSEWHERE}, or try again later",
    Outcome.QUOTA: _ELSEWHERE,
    Outcome.AUTH: _ELSEWHERE,
    Outcome.TIMEOUT: f"try once more with a longer timeout, or {_ELSEWHERE}",
    Outcome.NETWORK: f"check the address, or {_ELSEWHERE}",
    Outcome.UPSTREAM: f"try once more later, or {_ELSEWHERE}",
    Outcome.BAD_RESPONSE: _ELSEWHERE,
    Outcome.UNSAFE: f"{_ELSEWHERE}; this address is not reachable from here on purpose",
    Outcome.UNSUPPORTED: f"{_ELSEWHERE}, or use raw for the source as it came",
    Outcome.JS_REQUIRED: f"{_ELSEWHERE}; this page is empty without a browser",
    Outcome.NOT_FOUND: "search for where it moved with web_search",
}
_OF_A_SEARCH: Final[dict[Outcome, str]] = {
    **dict.fromkeys((Outcome.NETWORK, Outcome.TIMEOUT, Outcome.UPSTREAM), "try once more, or use docs_search"),
    **dict.fromkeys((Outcome.UNSUPPORTED, Outcome.BAD_RESPONSE), "search with fewer options"),
}
_UNPINNED: Final = "omit provider so that another can answer"


def words_of(error: WebSeamError, given: Mapping[str, Any]) -> str:
    """Return what a model is told of a failed call with the arguments `given`."""
    tried = "; ".join(
        f"{one.provider}: {one.outcome}" for one in error.attempts if one.outcome not in ("unavailable", "cancelled")
    )
    own = _STEPS.get(error.outcome)
    if "query" in given:
        own = _UNPINNED if "provider" in given else _OF_A_SEARCH.get(error.outcome, "answer with what you have")
    step = _step(error.hint, own if error.outcome is not Outcome.INVALID else None)
    text = f"{error.outcome}: {error.detail.rstrip('.')}."
    return text + (f" Tried: {tried}." if len(error.attempts) > 1 else "") + _next(step)


def words_of_page(page: Page) -> str:
    """Return what a model is told of a page that could not be read."""
    return f"{page.outcome}: {page.url}: {(page.detail or 'it could not be read').rstrip('.')}." + _next(_of(page))


def for_model(page: Page) -> Page:
    """Return a page whose hint speaks to a model."""
    return page if page.outcome.answered else replace(page, hint=_of(page))


def _of(page: Page) -> str | None:
    if page.url.startswith(INSTALLED):
        return "this is documentation installed here: call docs_search with its name"
    return _step(page.hint, _STEPS.get(page.outcome) if page.outcome is not Outcome.INVALID else None)


def _step(hint: str | None, own: str | None) -> str | None:
    """Return the next step: the hint where a model can follow it, else its own, with the hint to pass on."""
    if hint is None or (own and _OPTION.search(hint)):
        return own
    if not own or not _FOR_A_PERSON.search(hint):
        return hint
    return f"{own}; to tell the user: {hint}"


def _next(step: str | None) -> str:
    return f" Next: {step.rstrip('.')}." if step else ""
