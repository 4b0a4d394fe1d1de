"""What one provider is sent of a request, and what is said about the rest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.search.world import Engine
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.providers.base import EMULATED, NATIVE, UNSUPPORTED
from webseam.search.prepare import asked, prepare


def provider(**facts: Any) -> Engine:
    kind: type[Engine] = type("Some", (Engine,), {"label": "Some", **facts})
    return kind()


def request(**options: Any) -> SearchRequest:
    return SearchRequest(query="a query", **options)


def test_a_plain_request_is_sent_as_it_is() -> None:
    search = request()
    prepared = prepare(provider(), search)
    assert (prepared.search is search, prepared.skip, prepared.notes) == (True, 0, ())


@pytest.mark.parametrize(
    ("options", "names"),
    [
        pytest.param({}, [], id="none"),
        pytest.param({"freshness": "day"}, ["freshness"], id="freshness"),
        pytest.param({"freshness": "day", "after": "2024-01-01"}, ["date_range"], id="days win over a freshness"),
        pytest.param(
            {"include_domains": ["a.example"], "exclude_domains": ["b.example"], "language": "en", "region": "de"},
            ["include_domains", "exclude_domains", "language", "region"],
            id="several, in one order",
        ),
        pytest.param({"safe": "off", "page": 2}, ["safe"], id="paging is a matter of its own"),
    ],
)
def test_the_options_in_use_are_known(options: dict[str, Any], names: list[str]) -> None:
    assert asked(request(**options)) == names


@pytest.mark.parametrize(
    ("facts", "options", "count", "skip"),
    [
        pytest.param({}, {"count": 10}, 10, 0, id="as wanted"),
        pytest.param({"max_count": 7}, {"count": 10}, 7, 0, id="no more than there can be"),
        pytest.param({}, {"count": 10, "include_domains": ["a.example"]}, 20, 0, id="double for domains"),
        pytest.param({}, {"count": 2, "exclude_domains": ["a.example"]}, 7, 0, id="five more where double is little"),
        pytest.param({"options": {"freshness": NATIVE}}, {"count": 10, "freshness": "day"}, 10, 0, id="native dates"),
        pytest.param(
            {"options": {"freshness": EMULATED}}, {"count": 10, "freshness": "day"}, 20, 0, id="emulated dates"
        ),
        pytest.param({"options": {}}, {"count": 10, "after": "2024-01-01"}, 20, 0, id="dates it does not know"),
        pytest.param({"options": {"page": EMULATED}}, {"count": 10, "page": 3}, 30, 20, id="an emulated page"),
        pytest.param({"options": {"page": NATIVE}}, {"count": 10, "page": 3}, 10, 0, id="a native page"),
        pytest.param(
            {"options": {"page": NATIVE}},
            {"count": 10, "page": 2, "include_domains": ["a.example"]},
            10,
            0,
            id="a native page begins where the one before ended, filters or not",
        ),
        pytest.param(
            {"options": {"page": EMULATED}, "max_count": 25},
            {"count": 10, "page": 2, "include_domains": ["a.example"]},
            25,
            10,
            id="an emulated page with filters stays within the most",
        ),
    ],
)
def test_how_much_is_asked_for(facts: dict[str, Any], options: dict[str, Any], count: int, skip: int) -> None:
    prepared = prepare(provider(**facts), request(**options))
    assert (prepared.search.count, prepared.skip) == (count, skip)


@pytest.mark.parametrize(
    ("options", "notes"),
    [
        pytest.param({"region": "DE"}, ["Some cannot filter by region; that was not applied"], id="region"),
        pytest.param(
            {"include_domains": ["a.example"], "after": "2024-01-01"}, [], id="what is enforced here is worth no note"
        ),
        pytest.param(
            {"kind": "code"}, ["Some cannot search code sources alone; it searched everything"], id="a kind it lacks"
        ),
        pytest.param({"kind": "news"}, [], id="a kind it has"),
        pytest.param(
            {"freshness": "day", "before": "2024-01-01"},
            ["after and before were used; freshness was ignored"],
            id="two ways of saying when",
        ),
        pytest.param({"count": 60}, ["Some gives at most 50 hits a search"], id="more hits than it gives"),
    ],
)
def test_what_differs_from_the_request_is_said(options: dict[str, Any], notes: list[str]) -> None:
    assert prepare(provider(options={"page": EMULATED}), request(**options)).notes == tuple(notes)


@pytest.mark.parametrize(
    ("facts", "options", "strict", "words"),
    [
        pytest.param({"max_query": 3}, {}, False, "takes queries of at most 3 characters, this has 7", id="query"),
        pytest.param({"options": {"page": UNSUPPORTED}}, {"page": 2}, False, "has no page 2 of 10 hits", id="no pages"),
        pytest.param({"max_count": 15}, {"page": 2}, False, "has no page 2 of 10 hits", id="page beyond the most"),
        pytest.param({}, {"region": "DE", "safe": "off"}, True, "cannot do region, safe (strict)", id="options"),
        pytest.param({}, {"kind": "paper"}, True, "cannot do kind=paper (strict)", id="kind"),
    ],
)
def test_what_cannot_be_done_at_all_is_unsupported(
    facts: dict[str, Any], options: dict[str, Any], strict: bool, words: str
) -> None:
    with pytest.raises(ProviderError) as raised:
        prepare(provider(**facts), request(**options), strict=strict)
    assert (raised.value.outcome, raised.value.detail) == (Outcome.UNSUPPORTED, f"Some {words}")


def test_the_words_of_the_caller_are_never_rewritten() -> None:
    search = SearchRequest(query="CVE-2024-3094 site:example.org 2023", count=3, include_domains=("example.org",))
    assert prepare(provider(), search).search.query == "CVE-2024-3094 site:example.org 2023"
