"""Merging several providers' rankings into one: reciprocal rank fusion.

Scores of different services cannot be compared, ranks can. Source: Cormack, Clarke and Büttcher, "Reciprocal Rank
Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009; k = 60 as there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from webseam.links import canonical
from webseam.model import SearchHit
from webseam.search.filters import merge

K: Final = 60


def fuse(rankings: Iterable[Sequence[SearchHit]]) -> list[SearchHit]:
    """Return all hits by falling sum of 1 / (K + rank); equal pages are one hit that lists all its providers.

    The fused score stands in `score`. Ties keep the order of first appearance.
    """
    merged: dict[str, SearchHit] = {}
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            key = canonical(hit.url)
            merged[key] = merge(merged[key], hit) if key in merged else hit
            scores[key] = scores.get(key, 0.0) + 1 / (K + rank)
    order = sorted(merged, key=lambda key: -scores[key])
    return [replace(merged[key], score=round(scores[key], 6)) for key in order]
