"""What a provider declares, it does: native options reach the wire, domains and dates hold whatever the service does
with them, and what cannot be done is said.

Everything here is driven by the registry's declarations, so a new provider is covered without a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any, get_args
from urllib.parse import parse_qs

import pytest

from tests.wire import NETWORKED, shape
from tests.wire.fake import Fake, Told, search, successive, without_pauses
from tests.wire.write import Row, results
from tests.world import Recorded, World
from webseam import providers
from webseam.errors import Outcome
from webseam.model import Kind
from webseam.providers.base import EMULATED, NATIVE, OPTIONS, UNSUPPORTED, Option, Support

Options = dict[str, Any]


def _day(ago: int) -> str:
    return (datetime.now(UTC).date() - timedelta(days=ago)).isoformat()


# Values of each option that ask for different things.
_VALUES: dict[Option, tuple[Options, Options]] = {
    "include_domains": ({"include_domains": ["example.org"]}, {"include_domains": ["example.net"]}),
    "exclude_domains": ({"exclude_domains": ["example.org"]}, {"exclude_domains": ["example.net"]}),
    "freshness": ({"freshness": "day"}, {"freshness": "year"}),
    "date_range": ({"after": _day(20), "before": _day(10)}, {"after": _day(300), "before": _day(10)}),
    "language": ({"language": "de"}, {"language": "fr"}),
    "region": ({"region": "DE"}, {"region": "FR"}),
    "safe": ({"safe": "off"}, {"safe": "strict"}),
    "page": ({"page": 2, "count": 5}, {"page": 3, "count": 5}),
}
_KINDS = tuple(kind for kind in get_args(Kind) if kind != "web")


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    without_pauses(monkeypatch)


def _declaring(*wanted: Support, among: tuple[Option, ...] = OPTIONS) -> list[Any]:
    return [
        pytest.param(provider, option, id=f"{provider}-{option}")
        for provider in NETWORKED
        for option in among
        if providers.get(provider).support(option) in wanted
    ]


def _kinds(*, declared: bool) -> list[Any]:
    return [
        pytest.param(provider, kind, id=f"{provider}-{kind}")
        for provider in NETWORKED
        for kind in _KINDS
        if (kind in providers.get(provider).kinds) is declared
    ]


# What is sent.

# Results enough that neither a further page nor a second search without the dates is wanted.
_PLENTY: list[Row] = [{"url": f"https://example.org/{number}", "title": "Plenty"} for number in range(50)]
_OUR_OWN = ("host", "referer", "content-length")  # they hold this test's port, or follow from the body


async def _seen(provider: str, *searches: Options) -> list[dict[str, Any]]:
    """Return what a service sees of each search, by place, without what differs between two searches for the same.

    Some services are sent a random id, and some the time that is left: two equal searches with different deadlines
    show both.
    """
    alike = ({"timeout": 10.0}, {"timeout": 20.0})
    async with World() as world:
        fake = Fake(world, results(provider, _PLENTY))
        requests = []
        for options in (*alike, *searches):
            before = len(fake.requests)
            await search(provider, fake.url, options)
            requests.append(_places(fake.requests[before]))
    one, other, *wanted = requests
    changing = {place for place in one.keys() | other.keys() if one.get(place) != other.get(place)}
    return [{place: value for place, value in request.items() if place not in changing} for request in wanted]


def _places(request: Recorded) -> dict[str, Any]:
    """All that a service sees of a request, each header, parameter and field of the body by itself."""
    places: dict[str, Any] = {"method": request.method, "path": request.path}
    places |= {f"header {name}": value for name, value in request.headers.items() if name not in _OUR_OWN}
    places |= {f"query {name}": values for name, values in request.query.items()}
    try:
        return places | dict(_leaves("body", request.json()))
    except ValueError:
        return places | {f"form {name}": values for name, values in parse_qs(request.body.decode()).items()}


def _leaves(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if not entries:
        yield place, value
        return
    for name, inner in entries:
        yield from _leaves(f"{place}.{name}", inner)


def test_the_table_has_two_values_for_every_option_there_is() -> None:
    assert set(_VALUES) == set(OPTIONS)


@pytest.mark.parametrize("provider", NETWORKED)
def test_a_provider_declares_options_and_kinds_that_exist(provider: str) -> None:
    declared = providers.get(provider)
    assert set(declared.options) <= set(OPTIONS)
    assert set(declared.kinds) <= set(_KINDS)
    assert UNSUPPORTED not in (
        *declared.options.values(),
        *declared.kinds.values(),
    )


@pytest.mark.parametrize("provider, option", _declaring(NATIVE))
async def test_a_native_option_is_seen_on_the_wire(provider: str, option: Option) -> None:
    first, second = await _seen(provider, *_VALUES[option])
    assert first != second


@pytest.mark.parametrize("provider", NETWORKED)
async def test_native_kinds_of_sources_are_told_apart_on_the_wire(provider: str) -> None:
    native = [kind for kind, support in providers.get(provider).kinds.items() if support is NATIVE]
    requests = await _seen(provider, *({"kind": kind} for kind in ("web", *native)))
    assert all(one != other for one, other in combinations(requests, 2))


@pytest.mark.parametrize("provider, kind", _kinds(declared=True))
async def test_a_kind_that_is_declared_is_searched_without_a_word(provider: str, kind: str) -> None:
    async with World() as world:
        fake = Fake(world, results(provider, _MIXED))
        told = await search(provider, fake.url, {"kind": kind, "count": len(_MIXED)})
    assert [note for note in told.notes if "cannot search" in note] == []
    assert fake.requests


@pytest.mark.parametrize("provider, kind", _kinds(declared=False))
async def test_a_kind_that_cannot_be_searched_gives_a_note(provider: str, kind: str) -> None:
    told, requests = await _search(provider, {"kind": kind, "count": len(_MIXED)})
    label = providers.get(provider).label
    assert f"{label} cannot search {kind} sources alone; it searched everything" in told.notes
    assert (told.outcome, len(requests)) == (Outcome.OK, 1)


# Domains and dates: enforced on the hits, here against a service that ignores all of it.

_MIXED: list[Row] = [
    {"url": "https://example.org/new", "title": "0", "published": _day(0)},
    {"url": "https://docs.example.org/old", "title": "1", "published": _day(400)},
    {"url": "https://badexample.org/new", "title": "2", "published": _day(2)},
    {"url": "https://example.com/month", "title": "3", "published": _day(20)},
    {"url": "https://example.com/undated", "title": "4"},
    {"url": "https://example.net/new", "title": "5", "published": _day(1)},
    {"url": "https://example.org/path/page", "title": "6", "published": _day(3)},
]
_PLACE = {row["url"]: str(place) for place, row in enumerate(_MIXED)}


def _kept(told: Told) -> str:
    """Which rows of `_MIXED` became hits, in order."""
    return "".join(_PLACE[hit.url] for hit in told.hits)


def _of_dates(told: Told) -> list[str]:
    return [note for note in told.notes if "carry no date" in note]


def _undated(count: int) -> list[str]:
    return [f"{count} of the hits carry no date; they were not checked against the dates"] if count else []


async def _search(provider: str, options: Options, rows: list[Row] = _MIXED) -> tuple[Told, list[Recorded]]:
    async with World() as world:
        fake = Fake(world, successive([results(provider, rows), results(provider, [])]))
        return await search(provider, fake.url, options), fake.requests


@pytest.mark.parametrize("provider", NETWORKED)
@pytest.mark.parametrize(
    "options, kept, dropped",
    [
        pytest.param({"include_domains": ["example.org"]}, "016", {"other domain": 4}, id="include"),
        pytest.param({"include_domains": ["example.org/path"]}, "6", {"other domain": 6}, id="include-path"),
        pytest.param({"include_domains": ["org"]}, "0126", {"other domain": 3}, id="include-suffix"),
        pytest.param({"exclude_domains": ["example.com"]}, "01256", {"excluded domain": 2}, id="exclude"),
        pytest.param({"exclude_domains": ["example.org/path"]}, "012345", {"excluded domain": 1}, id="exclude-path"),
        pytest.param(
            {"include_domains": ["org"], "exclude_domains": ["docs.example.org"]},
            "026",
            {"other domain": 3, "excluded domain": 1},
            id="include-and-exclude",
        ),
    ],
)
async def test_domains_hold_although_the_service_ignores_them(
    provider: str, options: Options, kept: str, dropped: dict[str, int]
) -> None:
    told, _ = await _search(provider, options)
    assert (_kept(told), told.dropped, _of_dates(told)) == (kept, dropped, [])
    assert (told.outcome, told.attempt.hits) == (Outcome.OK, len(_MIXED))


@pytest.mark.parametrize("provider", NETWORKED)
@pytest.mark.parametrize(
    "options, kept, dropped, undated",
    [
        pytest.param({"freshness": "week"}, "02456", {"outside the dates": 2}, 1, id="freshness"),
        pytest.param({"after": _day(30), "before": _day(2)}, "2346", {"outside the dates": 3}, 1, id="date-range"),
        pytest.param({"before": _day(10)}, "134", {"outside the dates": 4}, 1, id="before"),
        pytest.param(
            {"freshness": "day", "strict": True}, "05", {"outside the dates": 4, "no date": 1}, 0, id="freshness-strict"
        ),
    ],
)
async def test_dates_hold_although_the_service_ignores_them(
    provider: str, options: Options, kept: str, dropped: dict[str, int], undated: int
) -> None:
    told, _ = await _search(provider, options)
    if not shape(provider).gives("published"):  # then every hit is one without a date
        strict = options.get("strict", False)
        kept, dropped, undated = ("", {"no date": 7}, 0) if strict else ("0123456", {}, 7)
    assert (_kept(told), told.dropped, _of_dates(told)) == (kept, dropped, _undated(undated))
    assert (told.outcome, told.attempt.hits) == (Outcome.OK if kept else Outcome.FILTERED, len(_MIXED))


@pytest.mark.parametrize("provider", NETWORKED)
async def test_when_the_filters_drop_everything_the_outcome_says_so(provider: str) -> None:
    told, _ = await _search(provider, {"include_domains": ["example.edu"]})
    assert (told.outcome, told.hits, told.dropped) == (Outcome.FILTERED, (), {"other domain": 7})


@pytest.mark.parametrize("provider", NETWORKED)
async def test_more_is_fetched_where_the_filters_may_take_something_away(provider: str) -> None:
    most = providers.get(provider).max_count
    few, many, filtered = await _seen(
        provider,
        {"count": 2},
        {"count": most},
        {"count": 2, "include_domains": ["example.org"], "exclude_domains": ["example.com"]},
    )
    if few != many:  # where the service is told how many there should be
        assert filtered != few


# Pages.


@pytest.mark.parametrize("provider, _option", _declaring(EMULATED, among=("page",)))
async def test_a_page_that_a_service_does_not_have_is_cut_out_of_more_hits(provider: str, _option: str) -> None:
    told, _ = await _search(provider, {"count": 2, "page": 2})
    assert _kept(told) == "23"


@pytest.mark.parametrize("provider, _option", _declaring(NATIVE, among=("page",)))
async def test_a_page_that_a_service_has_itself_is_shown_from_its_start(provider: str, _option: str) -> None:
    told, _ = await _search(provider, {"count": 2, "page": 2})
    assert _kept(told) == "01"


@pytest.mark.parametrize("provider, _option", _declaring(UNSUPPORTED, among=("page",)))
async def test_a_further_page_that_cannot_be_had_is_refused_before_anything_is_sent(
    provider: str, _option: str
) -> None:
    told, requests = await _search(provider, {"count": 2, "page": 2})
    assert (told.outcome, requests) == (Outcome.UNSUPPORTED, [])
    assert told.attempt.detail == f"{providers.get(provider).label} has no page 2 of 2 hits"


# What cannot be done.

_ENFORCED_HERE = ("include_domains", "exclude_domains", "freshness", "date_range", "page")
_LACKING = _declaring(UNSUPPORTED, among=tuple(option for option in OPTIONS if option not in _ENFORCED_HERE))


@pytest.mark.parametrize("provider, option", _LACKING)
async def test_an_option_that_cannot_be_met_gives_a_note(provider: str, option: Option) -> None:
    told, requests = await _search(provider, {**_VALUES[option][1], "count": len(_MIXED)})
    label = providers.get(provider).label
    lacking = [note for note in told.notes if "cannot" in note]
    assert lacking == [f"{label} cannot filter by {option}; that was not applied"]
    assert (told.outcome, len(told.hits), len(requests)) == (Outcome.OK, len(_MIXED), 1)


@pytest.mark.parametrize("provider, option", _LACKING)
async def test_with_strict_an_option_that_cannot_be_met_is_an_error_and_nothing_is_sent(
    provider: str, option: Option
) -> None:
    told, requests = await _search(provider, {**_VALUES[option][1], "strict": True})
    assert (told.outcome, told.hits, requests) == (Outcome.UNSUPPORTED, (), [])
    assert told.attempt.detail == f"{providers.get(provider).label} cannot do {option} (strict)"


@pytest.mark.parametrize("provider", NETWORKED)
async def test_a_query_longer_than_a_service_takes_is_refused_before_anything_is_sent(provider: str) -> None:
    longest = providers.get(provider).max_query
    if longest >= 2_000:  # the core refuses longer ones for everybody
        told, requests = await _search(provider, {"query": "x" * 2_000, "count": 1})
        assert (told.outcome, len(requests)) == (Outcome.OK, 1)
        return
    told, requests = await _search(provider, {"query": "x" * (longest + 1)})
    assert (told.outcome, requests) == (Outcome.UNSUPPORTED, [])
    told, requests = await _search(provider, {"query": "x" * longest, "count": 1})
    assert (told.outcome, len(requests)) == (Outcome.OK, 1)


@pytest.mark.parametrize("provider", NETWORKED)
async def test_a_count_beyond_what_a_service_gives_is_said(provider: str) -> None:
    declared = providers.get(provider)
    told, _ = await _search(provider, {"count": 100})
    limit = f"{declared.label} gives at most {declared.max_count} hits a search"
    assert (limit in told.notes) is (declared.max_count < 100)
