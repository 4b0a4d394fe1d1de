from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import RequestError
from webseam.model import SearchRequest
from webseam.net.message import Headers, Response
from webseam.providers.answers import Reply
from webseam.providers.countries import ENGLISH_NAME
from webseam.providers.options import (
    FRESH_DAYS,
    MAX_SITES,
    bucket,
    closed_range,
    date_range,
    is_traditional,
    listed_language,
    today,
    with_sites,
)


def days_ago(days: int) -> str:
    return (today() - timedelta(days=days)).isoformat()


def search(query: str = "q", **fields: Any) -> SearchRequest:
    return SearchRequest(query=query, **fields)


@pytest.mark.parametrize(
    "fields, wanted",
    [
        pytest.param({}, (None, None), id="no dates"),
        pytest.param({"after": "2026-01-02"}, ("2026-01-02", None), id="start"),
        pytest.param({"before": "2026-01-02"}, (None, "2026-01-02"), id="end"),
        pytest.param({"after": "2026-01-02", "before": "2026-02-03"}, ("2026-01-02", "2026-02-03"), id="start and end"),
        pytest.param({"after": "2026-01-02", "freshness": "day"}, ("2026-01-02", None), id="explicit days win"),
    ],
)
def test_explicit_days_are_passed_on(fields: dict[str, Any], wanted: tuple[str | None, str | None]) -> None:
    assert date_range(search(**fields)) == wanted
    assert date_range(search(**fields), start_only=True) == (wanted[0], None)


@pytest.mark.parametrize("freshness, days", [("day", 1), ("week", 7), ("month", 31), ("year", 366)])
def test_a_freshness_becomes_a_start(freshness: Any, days: int) -> None:
    allowed = {days_ago(days)}
    found = date_range(search(freshness=freshness))
    allowed.add(days_ago(days))  # midnight may pass in between
    assert found[0] in allowed
    assert found[1] is None


@pytest.mark.parametrize(
    "age, smallest",
    [
        pytest.param(0, "day", id="today"),
        pytest.param(1, "week", id="all of yesterday is more than 24 hours"),
        pytest.param(6, "week", id="six days"),
        pytest.param(7, "month", id="seven days and this one"),
        pytest.param(30, "month", id="thirty days"),
        pytest.param(31, "year", id="a month and this day"),
        pytest.param(365, "year", id="a year"),
        pytest.param(366, None, id="more than a year"),
        pytest.param(10_000, None, id="decades"),
    ],
)
def test_the_smallest_bucket_that_holds_the_whole_range_is_asked_for(age: int, smallest: str | None) -> None:
    start = days_ago(age)
    found = bucket(search(after=start))
    if start == days_ago(age):  # midnight has not passed in between
        assert found == smallest


@pytest.mark.parametrize(
    "fields, wanted",
    [
        pytest.param({}, None, id="no dates"),
        pytest.param({"freshness": "week"}, "week", id="freshness"),
        pytest.param({"before": "2020-01-01"}, None, id="an end alone has no bucket"),
        pytest.param({"before": "2020-01-01", "freshness": "day"}, None, id="an end wins over a freshness"),
        pytest.param({"after": "2100-01-01"}, "day", id="a start to come"),
    ],
)
def test_a_bucket_follows_freshness_only_without_days(fields: dict[str, Any], wanted: str | None) -> None:
    assert bucket(search(**fields)) == wanted


@given(st.integers(0, 1_000))
def test_a_bucket_never_cuts_off_a_wanted_day(age: int) -> None:
    found = bucket(search(after=days_ago(age)))
    assert found is None or FRESH_DAYS[found] > age - 1  # one less, as midnight may pass in between


@pytest.mark.parametrize(
    "fields, query",
    [
        pytest.param({}, "q", id="nothing"),
        pytest.param({"include_domains": ["a.example"]}, "q site:a.example", id="one"),
        pytest.param({"include_domains": ["a.example", "b.example"]}, "q (site:a.example OR site:b.example)", id="two"),
        pytest.param({"include_domains": ["edu"]}, "q site:edu", id="bare suffix"),
        pytest.param({"include_domains": ["a.example/docs"]}, "q site:a.example", id="host of a path"),
        pytest.param(
            {"exclude_domains": ["a.example", "b.example"]}, "q -site:a.example -site:b.example", id="excluded"
        ),
        pytest.param({"exclude_domains": ["a.example/docs"]}, "q", id="an excluded path would exclude its host"),
        pytest.param(
            {"include_domains": ["a.example"], "exclude_domains": ["b.a.example"]},
            "q site:a.example -site:b.a.example",
            id="both",
        ),
        pytest.param({"include_domains": [f"a{n}.example" for n in range(9)]}, "q", id="too many: all or none"),
        pytest.param(
            {"exclude_domains": [f"a{n}.example" for n in range(9)]},
            "q" + "".join(f" -site:a{n}.example" for n in range(8)),
            id="the first eight excluded",
        ),
    ],
)
def test_operators_are_appended_and_the_callers_words_stay(fields: dict[str, Any], query: str) -> None:
    assert with_sites(search(**fields)) == query


def test_services_that_cannot_exclude_get_no_exclusion() -> None:
    assert with_sites(search(exclude_domains=["a.example"]), exclude=False) == "q"


def test_operators_that_do_not_fit_are_left_to_the_filter() -> None:
    request = search("CVE-2024-3094 site:own", include_domains=["a.example"], exclude_domains=["b.example", "c.d"])
    full = "CVE-2024-3094 site:own site:a.example -site:b.example -site:c.d"
    cuts = [with_sites(request, limit=limit) for limit in (len(full), len(full) - 1, 40, 22)]
    assert cuts == [
        full,
        "CVE-2024-3094 site:own site:a.example -site:b.example",
        "CVE-2024-3094 site:own site:a.example",
        "CVE-2024-3094 site:own",
    ]


HOSTS = st.lists(st.from_regex(r"[a-z]{1,9}\.(example|org)(/[a-z]{1,5})?", fullmatch=True), max_size=12, unique=True)


@given(st.text(min_size=1, max_size=60).filter(lambda text: text.strip()), HOSTS, HOSTS, st.integers(1, 200))
def test_a_query_with_operators_keeps_the_words_and_the_limit(
    words: str, include: list[str], exclude: list[str], limit: int
) -> None:
    try:
        request = search(words, include_domains=include, exclude_domains=exclude)
    except RequestError:  # a NUL among the words
        return
    query = with_sites(request, limit=limit)
    assert query.startswith(request.query)
    assert len(query) <= max(limit, len(request.query))
    assert query.count("site:") - request.query.count("site:") <= 2 * MAX_SITES


def test_country_names_have_codes_and_are_names() -> None:
    assert {code: ENGLISH_NAME[code] for code in ("DE", "US", "GB", "CI", "BA") if code in ENGLISH_NAME} == {
        "DE": "germany",
        "US": "united states",
        "GB": "united kingdom",
        "BA": "bosnia and herzegovina",
    }
    assert len(ENGLISH_NAME) == len(set(ENGLISH_NAME.values()))
    assert all(len(code) == 2 and code.isupper() and name.islower() for code, name in ENGLISH_NAME.items())


@pytest.mark.parametrize(
    "after, before, days",
    [
        pytest.param(None, None, None, id="none"),
        pytest.param("2026-01-02", "2026-03-04", ("2026-01-02", "2026-03-04"), id="both"),
        pytest.param(None, "2026-03-04", ("1990-01-01", "2026-03-04"), id="open-start"),
        pytest.param("2026-01-02", None, ("2026-01-02", today().isoformat()), id="open-end"),
    ],
)
def test_a_range_is_given_both_ends(after: str | None, before: str | None, days: tuple[str, str] | None) -> None:
    found = closed_range(after, before)
    assert (tuple(map(str, found)) if found else None) == days


@pytest.mark.parametrize(
    "tag, entry",
    [("en-gb", "en-gb"), ("en-us", "en"), ("ja", "jp"), ("ja-jp", "jp"), ("tlh", None)],
)
def test_a_language_is_looked_up_whole_then_by_itself_as_the_list_spells_it(tag: str, entry: str | None) -> None:
    assert listed_language(tag, frozenset({"en", "en-gb", "jp"}), {"ja": "jp"}) == entry


def test_chinese_is_traditional_where_it_is_written_so() -> None:
    tags = ["zh-Hant", "zh-Hant-TW", "zh-TW", "zh-HK", "ZH-MO", "zh", "zh-CN", "zh-Hans-HK", "de"]
    assert [is_traditional(tag) for tag in tags] == [True] * 5 + [False] * 4


@pytest.mark.parametrize(
    "body, fields",
    [
        pytest.param(b'{"error": "x"}', {"error": "x"}, id="object"),
        pytest.param(b"[1]", {}, id="list"),
        pytest.param(b"<html>502 Bad Gateway</html>", {}, id="page"),
        pytest.param(b'{"error": ', {}, id="cut"),
        pytest.param(b"", {}, id="nothing"),
    ],
)
def test_what_an_error_states_is_read_from_an_object_and_from_nothing_else(body: bytes, fields: dict[str, str]) -> None:
    reply = Reply(Response(status=502, headers=Headers(), url="https://api.example/", body=body))
    assert reply.fields() == fields
