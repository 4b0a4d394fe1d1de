"""What every hit must pass, whatever the provider promised."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from webseam.model import SearchHit, SearchRequest
from webseam.providers.options import today
from webseam.search.filters import count_dropped, is_public, merge, page_of, passing, span


def hit(url: str, **more: Any) -> SearchHit:
    return SearchHit(url=f"https://{url}", providers=("a",), **more)


def filtered(
    hits: list[SearchHit], *, dates: bool = True, strict: bool = False, **options: Any
) -> tuple[list[str], dict[str, int]]:
    result = passing(hits, SearchRequest(query="q", **options), dates=dates, strict=strict)
    return [one.url.removeprefix("https://") for one in result.hits], result.dropped


@pytest.mark.parametrize(
    ("rules", "passed", "dropped"),
    [
        pytest.param(
            {"include_domains": ["example.org"]},
            ["example.org/a", "docs.example.org/b"],
            {"other domain": 3},
            id="include takes subdomains and no look-alikes",
        ),
        pytest.param(
            {"exclude_domains": ["example.org"]},
            ["badexample.org/c", "example.com/d", "xn--bcher-kva.example.com/e"],
            {"excluded domain": 2},
            id="exclude",
        ),
        pytest.param(
            {"include_domains": ["example.org"], "exclude_domains": ["docs.example.org"]},
            ["example.org/a"],
            {"excluded domain": 1, "other domain": 3},
            id="exclude wins inside include",
        ),
        pytest.param(
            {"include_domains": ["example.org/a"]}, ["example.org/a"], {"other domain": 4}, id="a path prefix"
        ),
        pytest.param(
            {"include_domains": ["https://*.WWW.Example.Org./"]},
            ["example.org/a", "docs.example.org/b"],
            {"other domain": 3},
            id="scheme, star, www, capitals, dot and slash do not count",
        ),
        pytest.param(
            {"include_domains": ["bücher.example.com"]},
            ["xn--bcher-kva.example.com/e"],
            {"other domain": 4},
            id="an international name and its punycode are equal",
        ),
        pytest.param(
            {"include_domains": ["com"]},
            ["example.com/d", "xn--bcher-kva.example.com/e"],
            {"other domain": 3},
            id="a public suffix means every host under it",
        ),
    ],
)
def test_domains_hold_whatever_a_provider_does(
    rules: dict[str, Any], passed: list[str], dropped: dict[str, int]
) -> None:
    hits = [
        hit(url)
        for url in (
            "example.org/a", "docs.example.org/b", "badexample.org/c", "example.com/d", "xn--bcher-kva.example.com/e",
        )
    ]  # fmt: skip
    assert filtered(hits, **rules) == (passed, dropped)


DATED = [
    hit("example.org/early", published="2024-01-31"),
    hit("example.org/first", published="2024-02-01T00:00:00Z"),
    hit("example.org/last", published="2024-02-29T23:59:59+00:00"),
    hit("example.org/late", published="2024-03-01"),
    hit("example.org/undated"),
]


@pytest.mark.parametrize(
    ("dates", "strict", "passed", "dropped"),
    [
        pytest.param(
            {"after": "2024-02-01", "before": "2024-02-29"},
            False,
            ["first", "last", "undated"],
            {"outside the dates": 2},
            id="both ends are inclusive, and what has no date passes",
        ),
        pytest.param(
            {"after": "2024-02-01", "before": "2024-02-29"},
            True,
            ["first", "last"],
            {"outside the dates": 2, "no date": 1},
            id="strict drops what has no date",
        ),
        pytest.param({"after": "2024-03-01"}, True, ["late"], {"outside the dates": 3, "no date": 1}, id="after"),
        pytest.param({"before": "2024-01-31"}, True, ["early"], {"outside the dates": 3, "no date": 1}, id="before"),
        pytest.param({}, True, ["early", "first", "last", "late", "undated"], {}, id="no dates asked for"),
    ],
)
def test_dates_hold_whatever_a_provider_does(
    dates: dict[str, Any], strict: bool, passed: list[str], dropped: dict[str, int]
) -> None:
    urls, counts = filtered(DATED, strict=strict, **dates)
    assert ([url.rpartition("/")[2] for url in urls], counts) == (passed, dropped)


def test_dates_that_were_lifted_drop_nothing() -> None:
    assert filtered(DATED, dates=False, after="2024-03-01")[1] == {}


def test_a_freshness_is_a_first_day_and_explicit_days_win_over_it() -> None:
    week = SearchRequest(query="q", freshness="week")
    assert span(week) == ((today() - timedelta(days=7)).isoformat(), None)
    assert span(SearchRequest(query="q", freshness="week", before="2024-01-01")) == (None, "2024-01-01")
    assert span(SearchRequest(query="q")) == (None, None)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("http://127.0.0.1/admin", id="loopback"),
        pytest.param("http://localhost:8000/", id="localhost"),
        pytest.param("http://10.1.2.3/", id="private"),
        pytest.param("http://192.168.0.1:8080/x", id="private with a port"),
        pytest.param("http://169.254.169.254/latest/meta-data/", id="metadata address"),
        pytest.param("http://metadata.google.internal/", id="metadata name"),
        pytest.param("http://[::1]/", id="IPv6 loopback"),
        pytest.param("http://[::ffff:10.0.0.1]/", id="mapped IPv4"),
        pytest.param("http://2130706433/", id="a decimal address"),
        pytest.param("http://0x7f.1/", id="a hexadecimal address"),
        pytest.param("http://017700000001/", id="an octal address"),
        pytest.param("http://printer/", id="a single label"),
        pytest.param("http://router.local/", id="mDNS"),
        pytest.param("http://intranet.internal/", id="internal"),
        pytest.param("http://example.onion/", id="onion"),
        pytest.param("http://user:password@example.org/", id="userinfo"),
        pytest.param("https://example.org@evil.example.com/", id="userinfo that looks like a host"),
        pytest.param("http://127.0.0.1:6379/", id="loopback and an odd port"),
        pytest.param("ftp://example.org/", id="another scheme"),
        pytest.param("javascript:alert(1)", id="javascript"),
        pytest.param("https://exa\\mple.org/", id="backslash"),
        pytest.param("https://example.org:99999/", id="a port that is none"),
    ],
)
def test_a_hit_may_not_point_into_the_network_of_the_user(url: str) -> None:
    assert not is_public(url)
    assert filtered([SearchHit(url=url), hit("example.org")]) == (["example.org"], {"unsafe address": 1})


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("https://example.org/", id="ordinary"),
        pytest.param("https://example.org", id="without a path"),
        pytest.param("http://example.co.uk:8080/a?b=c#d", id="port, query and fragment"),
        pytest.param("https://example.org:9999/", id="an odd port is a matter for whoever opens it"),
        pytest.param("https://bücher.example.org/", id="international"),
        pytest.param("https://xn--bcher-kva.example.org/", id="punycode"),
        pytest.param("https://93.184.215.14/", id="a public address"),
        pytest.param("https://example.museum/", id="a long suffix"),
        pytest.param("https://localhost.example.org/", id="a special word that is only a label"),
    ],
)
def test_a_public_address_passes(url: str) -> None:
    assert is_public(url)


def test_equal_pages_are_merged_at_the_best_rank_and_counted() -> None:
    hits = [
        hit("example.org/a?x=1&y=2", snippet="first"),
        hit("example.org/b"),
        hit("WWW.Example.org:443/a/?y=2&x=1&utm_source=mail#part", title="Title", published="2024-01-01"),
        hit("example.org/a?x=1&y=3"),
    ]
    result = passing(hits, SearchRequest(query="q"))
    assert [one.url for one in result.hits] == [
        "https://example.org/a?x=1&y=2",
        "https://example.org/b",
        "https://example.org/a?x=1&y=3",
    ]
    assert (result.hits[0].title, result.hits[0].snippet, result.hits[0].published) == ("Title", "first", "2024-01-01")
    assert result.dropped == {"duplicate": 1}


def test_merging_fills_gaps_and_overwrites_nothing() -> None:
    kept = SearchHit(url="u", title="T", providers=("a",), passages=("one", "two"), score=0.5)
    other = SearchHit(
        url="v", title="U", snippet="s", author="w", site="x", providers=("b", "a"), passages=("two", "3")
    )
    assert merge(kept, other) == SearchHit(
        url="u", title="T", snippet="s", author="w", site="x", score=0.5,
        providers=("a", "b"), passages=("one", "two", "3"),
    )  # fmt: skip


def test_counts_of_several_attempts_are_added() -> None:
    assert count_dropped({"a": 1}, {}, {"a": 2, "b": 1}) == {"a": 3, "b": 1}


def test_a_page_is_cut_out_of_hits_that_start_at_the_first() -> None:
    hits = [hit(f"example.org/{number}") for number in range(7)]
    search = SearchRequest(query="q", count=3, page=2)
    assert page_of(hits, search, skip=3) == tuple(hits[3:6])
    assert page_of(hits, search, skip=0) == tuple(hits[:3])
    assert page_of(hits, search, skip=9) == ()
