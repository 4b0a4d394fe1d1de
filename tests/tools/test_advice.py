"""What a model is told to try after a search that found nothing, from what really happened."""

from __future__ import annotations

from typing import Any

import pytest

from webseam.errors import Outcome
from webseam.model import Attempt, SearchHit, SearchResponse
from webseam.tools.advice import next_step


def response(outcome: Outcome, **fields: Any) -> SearchResponse:
    return SearchResponse(query="q", outcome=outcome, **fields)


@pytest.mark.parametrize(
    ("dropped", "given", "said"),
    [
        pytest.param(
            {"other domain": 7, "duplicate": 2},
            {"query": "q", "sites": ["a.org"]},
            "Next: call web_search again without sites, which left out 7 of the hits.",
            id="sites",
        ),
        pytest.param(
            {"outside the dates": 4, "other domain": 1},
            {"query": "q", "sites": ["a.org"], "freshness": "day"},
            "Next: call web_search again without freshness, which left out 4 of the hits.",
            id="the one that dropped most",
        ),
        pytest.param(
            {"outside the dates": 4},
            {"query": "q", "after": "2024-01-01", "before": "2024-02-01"},
            "Next: call web_search again without after and before, which left out 4 of the hits.",
            id="both days",
        ),
        pytest.param(
            {"unsafe address": 3},
            {"query": "q"},
            "Next: search with other words; what was found could not be used.",
            id="nothing the caller set",
        ),
    ],
)
def test_the_filter_that_dropped_the_hits_is_named(dropped: dict[str, int], given: dict[str, Any], said: str) -> None:
    assert next_step(response(Outcome.FILTERED, dropped=dropped), given) == said


@pytest.mark.parametrize(
    ("given", "failed", "said"),
    [
        pytest.param(
            {"query": "frobnicate"}, (), "Next: use other words, a broader term or the English one.", id="one word"
        ),
        pytest.param(
            {"query": "q", "freshness": "day", "kind": "news"},
            (),
            "Next: call again without freshness.",
            id="a filter",
        ),
        pytest.param(
            {"query": "q", "kind": "web"},
            (),
            "Next: use other words, a broader term or the English one.",
            id="the default kind is no filter",
        ),
        pytest.param(
            {"query": '"exact words" site:a.org'},
            (),
            "Next: leave quotation marks and operators out of the query.",
            id="operators",
        ),
        pytest.param(
            {"query": "how do I make the widget on the left side frobnicate again"},
            (),
            "Next: use three to six words that the page itself would hold.",
            id="a sentence",
        ),
        pytest.param(
            {"query": "q", "provider": "p"},
            (),
            "Next: use other words, a broader term or the English one; omit provider so that others are asked too.",
            id="a pinned provider",
        ),
        pytest.param(
            {"query": "q"},
            ("one", "two", "three"),
            "Next: use other words, a broader term or the English one; or try later, when one and two may answer"
            " again.",
            id="others failed",
        ),
    ],
)
def test_after_nothing_was_found_the_move_fits_what_was_asked(
    given: dict[str, Any], failed: tuple[str, ...], said: str
) -> None:
    attempts = tuple(Attempt(provider=name, outcome=Outcome.RATE_LIMITED) for name in failed)
    assert next_step(response(Outcome.EMPTY, attempts=attempts), given) == said


def test_documentation_that_is_not_there_leads_elsewhere() -> None:
    nothing = response(Outcome.EMPTY)
    assert [
        next_step(nothing, {"query": "q", "package": "numpy"}, tool="docs_search"),
        next_step(nothing, {"query": "q"}, tool="docs_search"),
    ] == [
        "Next: call docs_search without package, or web_search for documentation that is not installed here.",
        "Next: search for the exact name (module.function), or use web_search: it may not be installed here.",
    ]


def test_there_is_nothing_to_propose_where_there_are_hits_or_the_failure_has_its_own_hint() -> None:
    hit = SearchHit(url="https://example.org/", providers=("p",))
    assert next_step(response(Outcome.OK, hits=(hit,)), {"query": "q", "freshness": "day"}) is None
    assert next_step(response(Outcome.NETWORK), {"query": "q"}) is None
