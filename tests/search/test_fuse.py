"""Reciprocal rank fusion with k = 60: ranks count, scores of different services do not."""

from __future__ import annotations

from webseam.model import SearchHit
from webseam.search.fuse import K, fuse


def ranking(provider: str, *paths: str, score: float | None = None) -> list[SearchHit]:
    return [SearchHit(url=f"https://example.org/{path}", providers=(provider,), score=score) for path in paths]


def test_the_score_of_a_hit_is_the_sum_over_its_ranks() -> None:
    assert K == 60
    merged = fuse([ranking("a", "x", "y"), ranking("b", "y", "z"), ranking("c", "y")])
    assert [(hit.url[-1], hit.score, hit.providers) for hit in merged] == [
        ("y", round(1 / 62 + 1 / 61 + 1 / 61, 6), ("a", "b", "c")),
        ("x", round(1 / 61, 6), ("a",)),
        ("z", round(1 / 62, 6), ("b",)),
    ]


def test_ties_keep_the_order_of_first_appearance() -> None:
    assert [hit.url[-1] for hit in fuse([ranking("a", "x", "y"), ranking("b", "z", "w")])] == ["x", "z", "y", "w"]


def test_spellings_of_one_page_are_one_hit_shown_as_the_first_one_wrote_it() -> None:
    merged = fuse(
        [ranking("a", "page"), [SearchHit(url="http://www.EXAMPLE.org/page/?utm_id=1#top", providers=("b",))]]
    )
    assert [(hit.url, hit.providers) for hit in merged] == [("https://example.org/page", ("a", "b"))]


def test_scores_of_the_services_do_not_count() -> None:
    merged = fuse([ranking("a", "x", score=0.01), ranking("b", "y", "z", score=99.0)])
    assert [hit.url[-1] for hit in merged] == ["x", "y", "z"]


def test_one_ranking_keeps_its_order_and_none_gives_nothing() -> None:
    assert [hit.url[-1] for hit in fuse([ranking("a", "c", "a", "b")])] == ["c", "a", "b"]
    assert fuse([]) == []
    assert fuse([[], []]) == []
