"""What every hit must pass, whatever a provider promised: domains, dates, safety of its address, duplicates.

Providers honour filters differently and often not at all. Enforcing them here makes a filter mean one thing, and
counting what was dropped makes a short list explain itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from webseam.domains import covers
from webseam.links import canonical
from webseam.model import SearchHit, SearchRequest
from webseam.net import EgressPolicy
from webseam.providers.options import FRESH_DAYS, today

# A name that ends in an ordinary top-level domain needs no closer look; addresses and special names get one.
_AUTHORITY = re.compile(r"https?://([A-Za-z0-9.-]+)(?:[/?#]|$)", re.IGNORECASE)
_ORDINARY_HOST = re.compile(
    r"(?:[a-z0-9-]+\.)+(?!(?:local|internal|localhost|localdomain|onion|arpa|test|invalid|example|alt)$)[a-z]{2,24}",
    re.IGNORECASE,
)
_OPEN: Final = EgressPolicy(ambient_proxy=None)


class Filtered:
    """Hits that passed, and how many did not, by reason."""

    __slots__ = ("dropped", "hits")

    def __init__(self) -> None:
        self.hits: list[SearchHit] = []
        self.dropped: dict[str, int] = {}

    def drop(self, reason: str) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + 1


def passing(hits: Iterable[SearchHit], search: SearchRequest, *, dates: bool = True, strict: bool = False) -> Filtered:
    """Return the hits that obey the request, duplicates merged, in order.

    A hit without a date passes a date filter; with `strict` it is dropped.
    `dates` is off when the date limit was lifted because it emptied the answer.
    """
    result = Filtered()
    first, last = span(search) if dates else (None, None)
    seen: dict[str, int] = {}
    by_domain = bool(search.include_domains or search.exclude_domains)
    for hit in hits:
        reason = None if is_public(hit.url) else "unsafe address"
        if reason is None and by_domain:
            reason = _domain_reason(hit.url, search)
        if reason is None and (first or last):
            reason = _date_reason(hit, first, last, strict)
        if reason is not None:
            result.drop(reason)
            continue
        key = canonical(hit.url)
        place = seen.get(key)
        if place is None:
            seen[key] = len(result.hits)
            result.hits.append(hit)
        else:
            result.hits[place] = merge(result.hits[place], hit)
            result.drop("duplicate")
    return result


def _domain_reason(url: str, search: SearchRequest) -> str | None:
    if any(covers(rule, url) for rule in search.exclude_domains):
        return "excluded domain"
    if search.include_domains and not any(covers(rule, url) for rule in search.include_domains):
        return "other domain"
    return None


def is_public(url: str) -> bool:
    """False when the address of a hit is private by its form: no search result may point into the user's network."""
    authority = _AUTHORITY.match(url)
    if authority and "\\" not in url and _is_ordinary(authority[1]):
        return True
    try:
        port = urlsplit(url).port
    except ValueError:
        return False
    if port == 0:
        return False
    # Which ports may be opened is a matter for fetch. Here each is, or "port denied" would hide what is behind it.
    policy = replace(_OPEN, ports=(port,)) if port else _OPEN
    return policy.judge_literally(url).allowed


@lru_cache(maxsize=4_096)
def _is_ordinary(host: str) -> bool:
    return _ORDINARY_HOST.fullmatch(host) is not None


def _date_reason(hit: SearchHit, first: str | None, last: str | None, strict: bool) -> str | None:
    if hit.published is None:
        return "no date" if strict else None
    day = hit.published[:10]
    if (first and day < first) or (last and day > last):
        return "outside the dates"
    return None


def span(search: SearchRequest) -> tuple[str | None, str | None]:
    """Return the first and the last allowed day; explicit days win over a freshness."""
    if search.after or search.before:
        return search.after, search.before
    if search.freshness:
        return (today() - timedelta(days=FRESH_DAYS[search.freshness])).isoformat(), None
    return None, None


def merge(kept: SearchHit, other: SearchHit) -> SearchHit:
    """Return `kept` with what only `other` knows; nothing that stands is overwritten."""
    fresh = [passage for passage in other.passages if passage not in kept.passages]
    return replace(
        kept,
        title=kept.title or other.title,
        snippet=kept.snippet or other.snippet,
        published=kept.published or other.published,
        author=kept.author or other.author,
        site=kept.site or other.site,
        providers=tuple(dict.fromkeys(kept.providers + other.providers)),
        passages=kept.passages + tuple(fresh),
    )


def has_dates(search: SearchRequest) -> bool:
    return bool(search.after or search.before or search.freshness)


def without_dates(search: SearchRequest) -> SearchRequest:
    return replace(search, after=None, before=None, freshness=None)


def count_dropped(*counts: dict[str, int]) -> dict[str, int]:
    """Return the sum of several drop counts."""
    total: dict[str, int] = {}
    for count in counts:
        for reason, number in count.items():
            total[reason] = total.get(reason, 0) + number
    return total


def page_of(hits: Sequence[SearchHit], search: SearchRequest, *, skip: int) -> tuple[SearchHit, ...]:
    """Return the wanted page out of hits that start at page 1, or the first `count` when the provider paged itself."""
    return tuple(hits[skip : skip + search.count])
