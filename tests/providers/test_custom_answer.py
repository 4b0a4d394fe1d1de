"""Where a custom provider finds results in an answer that nobody described, and what it takes for their fields."""

from __future__ import annotations

from typing import Any

import pytest

from webseam.errors import Outcome, ProviderError
from webseam.net.message import Headers, Response
from webseam.providers.answers import Hits, Reply
from webseam.providers.custom_parts.answer import add, rows_of

_A, _B = {"url": "https://example.org/a"}, {"url": "https://example.org/b"}


def _rows(document: Any, path: str = "") -> list[Any]:
    return list(rows_of(Reply(Response(200, Headers(), "https://example.org/")), document, path))


def _nested(depth: int) -> dict[str, Any]:
    return {"list": [_A]} if depth == 1 else {"in": _nested(depth - 1)}


@pytest.mark.parametrize(
    "document, found",
    [
        pytest.param([_A, _B], [_A, _B], id="bare-array"),
        pytest.param({"results": [_A]}, [_A], id="results"),
        pytest.param({"items": [_A]}, [_A], id="items"),
        pytest.param({"data": [_A]}, [_A], id="data"),
        pytest.param({"web": [_A]}, [_A], id="web"),
        pytest.param({"organic_results": [_A]}, [_A], id="organic"),
        pytest.param({"hits": [_A]}, [_A], id="hits"),
        pytest.param({"entries": [_A]}, [_A], id="entries"),
        pytest.param({"items": [_B], "results": [_A]}, [_A], id="order-is-ours"),
        pytest.param({"results": [], "items": [_A]}, [], id="an-empty-list-is-the-answer"),
        pytest.param({"results": None, "items": [_A]}, [_A], id="null-is-not"),
        pytest.param({"results": {"total": 3}, "items": [_A]}, [_A], id="an-object-without-lists-is-not"),
        pytest.param({"results": [None, _A, "x", 1, [_B]]}, [_A], id="others-are-skipped"),
        pytest.param({"data": {"web": [_A], "news": [_B]}}, [_A, _B], id="lists-of-an-object"),
        pytest.param({"web": {"results": []}}, [], id="empty-list-of-an-object"),
        pytest.param({"data": _nested(4)}, [_A], id="four-deep"),
    ],
)
def test_the_list_is_found_where_services_have_it(document: Any, found: list[Any]) -> None:
    assert _rows(document) == found


@pytest.mark.parametrize(
    "document, path, found",
    [
        pytest.param({"items": [_B], "x": [_A]}, "x", [_A], id="wins-over-the-usual"),
        pytest.param({"a": {"b": [{"c": [_A]}]}}, "a.b[0].c", [_A], id="names-and-places"),
        pytest.param({"a": {"x": {"r": [_A]}, "y": {"r": [_B]}}}, "a.*.r", [_A, _B], id="each-value"),
        pytest.param([{"d": _A}, {"e": 1}, {"d": _B}], "*.d", [_A, _B], id="each-entry"),
        pytest.param({"hits": {"hits": []}}, "hits.hits[*]._source", [], id="each-of-none"),
        pytest.param({"one": _A}, "one", [_A], id="an-object"),
        pytest.param({"a.b": [_A], "a": {"b": [_B]}}, "a.b", [_B], id="a-dot-is-a-step"),
    ],
)
def test_a_path_leads_to_the_results(document: Any, path: str, found: list[Any]) -> None:
    assert _rows(document, path) == found


@pytest.mark.parametrize(
    "document, path, outcome, detail",
    [
        pytest.param({}, "", "bad_response", "the answer has no list of results (it holds: )", id="nothing"),
        pytest.param({"b": 1, "a": []}, "", "bad_response", "no list of results (it holds: a, b)", id="other-names"),
        pytest.param("text", "", "bad_response", "no list of results (it holds: str)", id="text"),
        pytest.param(None, "", "bad_response", "(it holds: NoneType)", id="null"),
        pytest.param({"data": _nested(5)}, "", "bad_response", "(it holds: data)", id="five-deep"),
        pytest.param({"results": ["a", 1]}, "", "bad_response", "none of the 2 entries of its list", id="no-objects"),
        pytest.param({"items": []}, "x.y", "bad_response", "no x.y (it holds: items)", id="path-into-nothing"),
        pytest.param({"x": None}, "x", "bad_response", "no x (it holds: x)", id="path-to-null"),
        pytest.param({"x": [{"a": 1}]}, "x.*.b", "bad_response", "no x.*.b (it holds: x)", id="path-past-all"),
        pytest.param({"x": [_A]}, "x[1]", "bad_response", "no x[1] (it holds: x)", id="place-past-the-end"),
        pytest.param({"message": "Invalid API key"}, "", "auth", "Invalid API key", id="an-error-counts-by-its-words"),
        pytest.param({"error": "No results"}, "x", "empty", "No results", id="an-error-that-says-nothing-found"),
    ],
)
def test_where_nothing_is_found_the_error_says_what_there_was(
    document: Any, path: str, outcome: str, detail: str
) -> None:
    with pytest.raises(ProviderError) as caught:
        _rows(document, path)
    assert (caught.value.outcome, detail in caught.value.detail) == (Outcome(outcome), True)


def test_a_thousand_objects_are_looked_through_and_not_more() -> None:
    flat = {str(number): {"list": [_A]} for number in range(1_500)}
    assert len(_rows({"data": flat})) == 1_000


@pytest.mark.parametrize(
    "row, field, value",
    [
        *[
            pytest.param({name: "Words"}, "title", "Words", id=name)
            for name in ("title", "Headline", "NAME", "heading")
        ],
        *[
            pytest.param({name: "Words"}, "snippet", "Words", id=name)
            for name in ("description", "Snippet", "content", "preview", "summary", "text", "body")
        ],
        *[
            pytest.param({name: "Words"}, "site", "Words", id=name)
            for name in ("source", "domain", "displayLink", "displayed_link", "engine")
        ],
        *[
            pytest.param({name: "2026-02-03"}, "published", "2026-02-03", id=name)
            for name in ("published", "published_at", "publishedDate", "date", "page_age", "time")
        ],
        pytest.param({"title": " ", "name": "Words"}, "title", "Words", id="blank"),
        pytest.param({"title": 5, "name": "Words"}, "title", "Words", id="no-text"),
        pytest.param({"text": "b", "description": "a"}, "snippet", "a", id="order-is-ours"),
        pytest.param({"snippet": ["a", " ", None, "b "]}, "snippet", "a … b", id="list-of-extracts"),
        pytest.param({"snippet": [], "text": "b"}, "snippet", "b", id="empty-list-of-extracts"),
        pytest.param({"source": {"name": "Words", "id": 1}}, "site", "Words", id="name-of-an-object"),
        pytest.param({"date": "last month", "time": 1770076800}, "published", "2026-02-03", id="first-that-is-a-day"),
        pytest.param({"time": 0.25}, "published", None, id="seconds-it-took"),
        pytest.param({"author": "A. Author"}, "author", "A. Author", id="author"),
        pytest.param({"score": 2}, "score", 2.0, id="score"),
        pytest.param({"score": "high"}, "score", None, id="score-in-words"),
        pytest.param({}, "title", None, id="no-title-is-none"),
    ],
)
def test_a_field_is_the_first_of_its_names_that_has_something(row: dict[str, Any], field: str, value: Any) -> None:
    hits = Hits("custom")
    add(hits, {**_A, **row}, {})
    assert (len(hits.found), getattr(hits.found[0], field)) == (1, value)


@pytest.mark.parametrize("name", ["url", "Link", "href", "URI", "permalink"])
def test_an_address_has_one_of_these_names(name: str) -> None:
    hits = Hits("custom")
    add(hits, {name: "https://example.org/x", "title": "Title"}, {})
    assert [(hit.url, hit.title) for hit in hits.found] == [("https://example.org/x", "Title")]


def test_a_title_is_not_made_into_an_address() -> None:
    hits = Hits("custom")
    add(hits, {"title": "https://example.org/x"}, {})
    assert (hits.found, hits.dropped) == ([], {"no url": 1})


def test_a_service_s_own_name_of_a_field_comes_first() -> None:
    hits = Hits("custom")
    row = {"url": "https://example.org/usual", "shown": "https://example.org/own", "source": "a", "displayed": "b"}
    add(hits, row, {"url": "shown", "site": "displayed"})
    assert [(hit.url, hit.site) for hit in hits.found] == [("https://example.org/own", "b")]
