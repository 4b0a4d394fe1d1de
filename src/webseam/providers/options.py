"""Request options as services spell them: dates, buckets of age, `site:` operators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final

from webseam.domains import host_of
from webseam.model import Freshness, SearchRequest

FRESH_DAYS: Final[dict[Freshness, int]] = {"day": 1, "week": 7, "month": 31, "year": 366}
_FIRST_DAY: Final = "1990-01-01"  # an open start, where both ends are wanted or half a range is not documented
_TRADITIONAL: Final = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")
MAX_SITES: Final = 8  # domains written into a query as operators; engines ignore or refuse longer ones


def today() -> date:
    return datetime.now(UTC).date()


def date_range(search: SearchRequest, *, start_only: bool = False) -> tuple[str | None, str | None]:
    """Return `(after, before)` as ISO days; a freshness becomes a start date. Explicit days win."""
    if search.after or search.before:
        return search.after, None if start_only else search.before
    if search.freshness:
        return (today() - timedelta(days=FRESH_DAYS[search.freshness])).isoformat(), None
    return None, None


def closed_range(after: str | None, before: str | None) -> tuple[date, date] | None:
    """Return ISO days as a range with both ends, for services that know no other; None when neither is given."""
    if not (after or before):
        return None
    return date.fromisoformat(after or _FIRST_DAY), date.fromisoformat(before) if before else today()


def is_traditional(language: str) -> bool:
    """True for Chinese as it is written in Taiwan, Hong Kong and Macao."""
    return language.lower().startswith(_TRADITIONAL)


def listed_language(tag: str, known: Collection[str], names: Mapping[str, str]) -> str | None:
    """Return the entry of a closed list that a language tag, or its language alone, means.

    `tag` is in the case of the list; `names` has what the list spells otherwise.
    """
    spelled = (names.get(name, name) for name in (tag, tag.split("-")[0]))
    return next((name for name in spelled if name in known), None)


def keyless_note(label: str, setting: str) -> str:
    """Return what a response says that came without a key because `setting` allows it."""
    return f"{label} was asked without a key ({setting}); that is limited per address"


def bucket(search: SearchRequest) -> Freshness | None:
    """Return the smallest freshness that contains the wanted days, for services that know nothing finer."""
    if not search.after:
        return None if search.before else search.freshness
    age = (today() - date.fromisoformat(search.after)).days
    # Less than, not equal: "the last day" begins 24 hours ago, and all of yesterday began earlier.
    return next((name for name, days in FRESH_DAYS.items() if age < days), None)


def hosts(rules: Iterable[str]) -> list[str] | None:
    """Return the hosts of domain rules for services that take hosts alone, or None when they cannot be told all.

    A bare suffix such as `edu` is no host to them; sending the others only would leave its hosts out.
    """
    names = list(dict.fromkeys(host_of(rule) for rule in rules))
    return names if names and all("." in name for name in names) else None


def whole_hosts(rules: Iterable[str]) -> list[str] | None:
    """Return the rules that cover a whole host, for exclusions: leaving out a host for one of its paths is too much."""
    return [rule for rule in rules if "/" not in rule and "." in rule] or None


def with_sites(search: SearchRequest, *, limit: int = 2_000, exclude: bool = True) -> str:
    """Return the query with `site:` operators appended; the caller's own words are never touched.

    Domains that do not fit are left to the filter that every hit passes anyway.
    """
    query = search.query
    for count in range(min(MAX_SITES, len(search.include_domains)), 0, -1):
        sites = " OR ".join(f"site:{host_of(rule)}" for rule in search.include_domains[:count])
        longer = f"{query} ({sites})" if count > 1 else f"{query} {sites}"
        if len(longer) <= limit and count == len(search.include_domains):
            query = longer  # part of an OR would hide the other hosts, so all or none
            break
    for rule in search.exclude_domains[:MAX_SITES] if exclude else ():
        if "/" not in rule and len(query) + len(rule) + 7 <= limit:
            query += f" -site:{rule}"
    return query
