import json
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import Outcome, RequestError
from webseam.model import (
    Attempt,
    Heading,
    Link,
    Page,
    Passage,
    SearchHit,
    SearchRequest,
    SearchResponse,
    as_json,
    from_row,
    to_row,
)


def as_dict(request: SearchRequest) -> dict[str, Any]:
    return {item.name: getattr(request, item.name) for item in fields(request)}


DEFAULTS: dict[str, Any] = {
    "query": "q",
    "count": 10,
    "include_domains": (),
    "exclude_domains": (),
    "freshness": None,
    "after": None,
    "before": None,
    "language": None,
    "region": None,
    "safe": None,
    "kind": "web",
    "page": 1,
}


@pytest.mark.parametrize(
    "given_fields, changed",
    [
        pytest.param({}, {}, id="only a query"),
        pytest.param({"query": "  two  words \n"}, {"query": "two  words"}, id="query trimmed, not rewritten"),
        pytest.param({"query": "x" * 2_000}, {"query": "x" * 2_000}, id="longest query"),
        pytest.param({"query": " " * 3_000 + "x"}, {"query": "x"}, id="length counts after trimming"),
        pytest.param({"query": "CVE-2024-3094 字 🙂"}, {"query": "CVE-2024-3094 字 🙂"}, id="any script"),
        pytest.param({"count": 1, "page": 100}, {"count": 1, "page": 100}, id="lowest count, highest page"),
        pytest.param({"count": 100}, {"count": 100}, id="highest count"),
        pytest.param(
            {
                "include_domains": ["https://www.Example.com/", "example.com", "edu"],
                "exclude_domains": ("*.a.example/x/",),
            },
            {"include_domains": ("example.com", "edu"), "exclude_domains": ("a.example/x",)},
            id="both domain lists, normalised, without repeats",
        ),
        pytest.param({"include_domains": [], "exclude_domains": set()}, {}, id="empty lists"),
        pytest.param({"freshness": "week", "safe": "off"}, {"freshness": "week", "safe": "off"}, id="choices"),
        pytest.param({"kind": "paper"}, {"kind": "paper"}, id="kind"),
        pytest.param(
            {"after": " 2026-01-02 ", "before": "20260203"},
            {"after": "2026-01-02", "before": "2026-02-03"},
            id="days as text",
        ),
        pytest.param(
            {"after": date(2026, 1, 2), "before": datetime(2026, 1, 2, 23, tzinfo=UTC)},
            {"after": "2026-01-02", "before": "2026-01-02"},
            id="days as dates, the same day",
        ),
        pytest.param({"language": " pt-BR ", "region": "br"}, {"language": "pt-BR", "region": "BR"}, id="codes"),
    ],
)
def test_a_request_is_normalised(given_fields: dict[str, Any], changed: dict[str, Any]) -> None:
    request = SearchRequest(**{"query": "q", **given_fields})
    assert as_dict(request) == {**DEFAULTS, **changed}
    assert replace(request) == request
    assert hash(request) == hash(replace(request))


@pytest.mark.parametrize(
    "bad, field, problem",
    [
        pytest.param({"query": ""}, "query", "is empty", id="empty query"),
        pytest.param({"query": " \n\t\u3000"}, "query", "is empty", id="query of white space"),
        pytest.param(
            {"query": "x" * 3_000}, "query", "has 3,000 characters, at most 2,000 are allowed", id="query too long"
        ),
        pytest.param({"query": None}, "query", "must be text, not NoneType", id="no query"),
        pytest.param({"query": b"q"}, "query", "must be text, not bytes", id="query of bytes"),
        pytest.param({"query": "a\x00b"}, "query", "has a NUL or half of a surrogate pair", id="NUL in the query"),
        pytest.param({"query": "a\ud800"}, "query", "has a NUL or half of a surrogate pair", id="half a pair"),
        pytest.param({"count": 0}, "count", "must be a whole number from 1 to 100, not 0", id="count 0"),
        pytest.param({"count": -1}, "count", "must be a whole number from 1 to 100, not -1", id="count negative"),
        pytest.param({"count": 1000}, "count", "must be a whole number from 1 to 100, not 1000", id="count 1000"),
        pytest.param({"count": 2.5}, "count", "must be a whole number from 1 to 100, not 2.5", id="count a fraction"),
        pytest.param({"count": True}, "count", "must be a whole number from 1 to 100, not True", id="count a switch"),
        pytest.param({"count": "10"}, "count", "must be a whole number from 1 to 100, not '10'", id="count as text"),
        pytest.param({"page": 0}, "page", "must be a whole number from 1 to 100, not 0", id="page 0"),
        pytest.param({"page": 101}, "page", "must be a whole number from 1 to 100, not 101", id="page 101"),
        pytest.param(
            {"include_domains": ["exa mple.com"]},
            "include_domains",
            "'exa mple.com' is not a domain",
            id="malformed host",
        ),
        pytest.param(
            {"exclude_domains": ["ok.example", "a..b"]},
            "exclude_domains",
            "'a..b' is not a domain",
            id="one malformed host",
        ),
        pytest.param({"include_domains": [None]}, "include_domains", "None is not a domain", id="no host"),
        pytest.param(
            {"include_domains": [b"a.example"]}, "include_domains", "b'a.example' is not a domain", id="bytes"
        ),
        pytest.param({"include_domains": [5]}, "include_domains", "5 is not a domain", id="number"),
        pytest.param({"include_domains": "a.example"}, "include_domains", "must be a list of hosts", id="no list"),
        pytest.param({"include_domains": ""}, "include_domains", "must be a list of hosts", id="empty text, no list"),
        pytest.param({"exclude_domains": None}, "exclude_domains", "must be a list of hosts", id="None, no list"),
        pytest.param(
            {"exclude_domains": {"a": 1}}, "exclude_domains", "must be a list of hosts", id="an object, no list"
        ),
        pytest.param(
            {"include_domains": ["a.example"] * 301},
            "include_domains",
            "has 301 entries, at most 300 are allowed",
            id="too many",
        ),
        pytest.param(
            {"freshness": "hour"}, "freshness", "'hour' is not one of day, week, month, year", id="unknown freshness"
        ),
        pytest.param({"freshness": ["day"]}, "freshness", "['day'] is not one of day, week, month, year", id="list"),
        pytest.param({"safe": "on"}, "safe", "'on' is not one of off, moderate, strict", id="unknown safe"),
        pytest.param({"kind": "images"}, "kind", "'images' is not one of web, news, code, paper", id="unknown kind"),
        pytest.param({"kind": None}, "kind", "None is not one of web, news, code, paper", id="no kind"),
        pytest.param({"after": "yesterday"}, "after", "'yesterday' is not a day", id="day in words"),
        pytest.param({"after": ""}, "after", "'' is not a day", id="empty day"),
        pytest.param({"before": "2026-02-30"}, "before", "'2026-02-30' is not a day", id="no such day"),
        pytest.param({"before": "2026-02-03T10:00"}, "before", "'2026-02-03T10:00' is not a day", id="an instant"),
        pytest.param({"before": 20260203}, "before", "20260203 is not a day", id="a number"),
        pytest.param(
            {"after": "2026-02-03", "before": "2026-02-02"},
            "after",
            "2026-02-03 is later than before=2026-02-02",
            id="after later than before",
        ),
        pytest.param(
            {"language": "english please"},
            "language",
            "'english please' is not a BCP 47 tag such as en or pt-BR",
            id="language in words",
        ),
        pytest.param({"language": ""}, "language", "'' is not a BCP 47 tag such as en or pt-BR", id="empty language"),
        pytest.param({"language": 5}, "language", "5 is not a BCP 47 tag such as en or pt-BR", id="language a number"),
        pytest.param({"region": "EUR"}, "region", "'EUR' is not two letters of ISO 3166-1 such as DE", id="region"),
        pytest.param(
            {"region": "d1"}, "region", "'d1' is not two letters of ISO 3166-1 such as DE", id="region, digit"
        ),
    ],
)
def test_bad_input_is_refused_naming_the_field(bad: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(RequestError) as caught:
        SearchRequest(**{"query": "q", **bad})
    error = caught.value
    assert (error.field, error.detail, error.outcome) == (field, f"{field}: {problem}", Outcome.INVALID)


def test_a_long_bad_value_is_not_repeated_in_full() -> None:
    with pytest.raises(RequestError) as caught:
        SearchRequest(query="q", include_domains=("?" * 10_000,))
    assert len(str(caught.value)) < 250


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.text(max_size=5), max_size=3),
)


def made(values: dict[str, Any]) -> SearchRequest | RequestError:
    try:
        return SearchRequest(**{"query": "q", **values})
    except RequestError as error:
        return error


@given(st.dictionaries(st.sampled_from(sorted(DEFAULTS)), JUNK))
def test_any_input_is_a_request_or_a_request_error(values: dict[str, Any]) -> None:
    request = made(values)
    if isinstance(request, RequestError):
        assert request.field in DEFAULTS
        return
    assert replace(request) == request
    assert request.query == values.get("query", "q").strip()
    request.query.encode()


def test_a_request_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        SearchRequest(query="q").count = 5  # type: ignore[misc]


RESPONSE = SearchResponse(
    query="q",
    hits=(
        SearchHit(
            url="https://a.example/",
            title="A",
            snippet="words",
            published="2026-01-02",
            author="B",
            site="a.example",
            score=0.5,
            providers=("one", "two"),
            passages=("first", "second"),
        ),
        SearchHit(url="https://b.example/", providers=("one",)),
    ),
    outcome=Outcome.OK,
    attempts=(
        Attempt(provider="two", outcome=Outcome.QUOTA, took=0.1, detail="HTTP 402", http_status=402, retry_after=3.0),
        Attempt(provider="one", outcome=Outcome.OK, took=0.2, cost=0.005, hits=2),
    ),
    answer="42",
    notes=("a note",),
    dropped={"duplicate": 1},
    sent_to=("one", "two"),
    took=0.3,
)


def test_the_json_form_of_a_page_is_plain_values_with_every_field() -> None:
    page = Page(
        url="https://a.example/",
        links=(Link(text="A", url="https://b.example/"),),
        passages=(Passage(0, 4, "text", ("A", "B"), 1.5),),
        outline=(Heading(1, "A", "a", 0, 3),),
        removed={"hidden": 1},
        outcome=Outcome.NOT_FOUND,
        detail="gone",
    )
    form = as_json(page)
    assert list(form) == [
        "url", "final_url", "status", "media_type", "title", "markdown", "author", "published", "language", "reader",
        "site", "links", "tokens", "truncated", "next_cursor", "passages", "outline", "removed", "fetched_at", "cached",
        "attempts", "notes", "sent_to", "took", "outcome", "detail", "hint",
    ]  # fmt: skip
    assert form["links"] == [{"text": "A", "url": "https://b.example/"}]
    assert form["passages"] == [{"start": 0, "end": 4, "text": "text", "heading_path": ["A", "B"], "score": 1.5}]
    assert form["outline"] == [{"level": 1, "text": "A", "anchor": "a", "offset": 0, "tokens": 3}]
    assert (form["outcome"], form["removed"], form["status"]) == ("not_found", {"hidden": 1}, None)


def test_the_json_form_has_every_field_in_order() -> None:
    assert list(as_json(RESPONSE).items()) == [
        ("query", "q"),
        (
            "hits",
            [
                {
                    "url": "https://a.example/",
                    "title": "A",
                    "snippet": "words",
                    "published": "2026-01-02",
                    "author": "B",
                    "site": "a.example",
                    "score": 0.5,
                    "providers": ["one", "two"],
                    "passages": ["first", "second"],
                },
                {
                    "url": "https://b.example/",
                    "title": None,
                    "snippet": None,
                    "published": None,
                    "author": None,
                    "site": None,
                    "score": None,
                    "providers": ["one"],
                    "passages": [],
                },
            ],
        ),
        ("outcome", "ok"),
        (
            "attempts",
            [
                {
                    "provider": "two",
                    "outcome": "quota",
                    "took": 0.1,
                    "detail": "HTTP 402",
                    "http_status": 402,
                    "retry_after": 3.0,
                    "cost": None,
                    "hits": 0,
                },
                {
                    "provider": "one",
                    "outcome": "ok",
                    "took": 0.2,
                    "detail": None,
                    "http_status": None,
                    "retry_after": None,
                    "cost": 0.005,
                    "hits": 2,
                },
            ],
        ),
        ("answer", "42"),
        ("notes", ["a note"]),
        ("dropped", {"duplicate": 1}),
        ("cached", False),
        ("sent_to", ["one", "two"]),
        ("pages", []),
        ("took", 0.3),
        ("detail", None),
        ("hint", None),
    ]


@pytest.mark.parametrize(
    "response", [RESPONSE, SearchResponse(query="nothing", outcome=Outcome.EMPTY)], ids=["full", "bare"]
)
def test_a_response_comes_back_from_the_cache_as_it_went_in(response: SearchResponse) -> None:
    assert from_row(json.loads(json.dumps(to_row(response)))) == response


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
)


@given(st.one_of(JSON, st.lists(JSON, min_size=12, max_size=12)))
def test_a_row_of_another_shape_raises_only_what_it_says(row: Any) -> None:
    try:
        from_row(row)
    except (KeyError, TypeError, ValueError):
        return
