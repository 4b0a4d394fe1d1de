"""SearchApi, which sells Google's results. It has no client of its own; the wire is what its users' clients send.

Some of them put the key into the URL. It also takes a Bearer header, so ours goes there.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from webseam.errors import Outcome, ProviderError
from webseam.model import Freshness, Kind, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import EMULATED, NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, Setting, get
from webseam.providers.google import ENGINE
from webseam.providers.googlish import (
    PAGE,
    adult_filter,
    first_text,
    interface_language,
    language_notes,
    listed,
    region,
    result_language,
    us_day,
    years,
)
from webseam.providers.options import closed_range, with_sites

_ENGINE: Final[dict[Kind, str]] = {"news": "google_news", "paper": "google_scholar"}
_PERIOD: Final[dict[Freshness, str]] = {
    "day": "last_day",
    "week": "last_week",
    "month": "last_month",
    "year": "last_year",
}
_OWN_FIELDS: Final = frozenset({"search_metadata", "search_parameters"})  # what even an answer without results has
_SPENT = re.compile(rb"searches|month|plan|upgrade", re.IGNORECASE)
_SOON_OVER = re.compile(rb"hour|minute|second", re.IGNORECASE)  # what is counted by these is a rate
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)


class Searchapi(Provider):
    id = "searchapi"
    label = "SearchApi"
    receives = "SearchApi (searchapi.io), which asks Google"
    rank = 150
    base_url = "https://www.searchapi.io/api/v1"
    key_env = ("SEARCHAPI_API_KEY",)
    base_env = ("SEARCHAPI_API_BASE",)
    settings = (
        Setting(
            name="engine",
            default=ENGINE,
            env=("SEARCHAPI_ENGINE",),
            help="engine of the web search, one with Google's parameters",
        ),
    )
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "language": NATIVE,
        "region": NATIVE,
        "safe": NATIVE,
        "page": NATIVE,
    }
    kinds = {"news": NATIVE, "paper": NATIVE}
    max_count = 50
    price = 0.004
    hint = "get a key at searchapi.io, then: webseam key set searchapi"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        return self._page(search, config, _first(search))

    def _page(self, search: SearchRequest, config: ProviderConfig, page: int) -> Request:
        """Describe the call for one of the service's pages; their length is not ours to choose."""
        query: dict[str, Any] = {
            "engine": _ENGINE.get(search.kind) or config.values["engine"],
            "q": with_sites(search),  # not `(q) AND (site:…)`, as some write it: the caller's words stay as they are
            "page": page if page > 1 else None,
            "hl": interface_language(search.language),
            "lr": result_language(search.language),
            "safe": adult_filter(search),
        }
        if search.kind == "paper":
            query |= years(search)
        else:
            query |= {"gl": region(search), **_period(search)}
        return get(config, "/search", query, ("Authorization", f"Bearer {config.key}"))

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import failure

        error = failure(reply)
        body = reply.response.body
        if error.outcome is Outcome.RATE_LIMITED and _SPENT.search(body) and not _SOON_OVER.search(body):
            error.outcome = Outcome.QUOTA
        return error

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in listed(reply, document, _OWN_FIELDS, "organic_results", "news_results"):
            hits.add(
                url=row.get("link"),
                title=row.get("title"),
                snippet=row.get("snippet"),
                published=row.get("date"),
                site=row.get("source") or row.get("domain"),
            )
        page = _asked_page(reply, search)
        # A page often holds nine results; a whole page must be missing before another call is paid for.
        wanted = _has_next(document) and page < _first(search) + _pages(search) - 1
        notes = language_notes(self.label, search)
        if search.kind == "paper" and search.region:
            notes.append(f"{self.label} cannot filter papers by region; that was not applied")
        return hits.parsed(
            answer=first_text(document.get("answer_box"), "answer", "snippet"),
            notes=notes,
            more=self._page(search, config, page + 1) if wanted else None,
        )


def _period(search: SearchRequest) -> dict[str, str]:
    days = closed_range(search.after, search.before)
    if days:
        return {"time_period_min": us_day(days[0]), "time_period_max": us_day(days[1])}
    return {"time_period": _PERIOD[search.freshness]} if search.freshness else {}


def _pages(search: SearchRequest) -> int:
    """Return how many of the service's pages make one of ours."""
    return -(-search.count // PAGE)


def _first(search: SearchRequest) -> int:
    """Return the first of the service's pages that ours is made of; none of ours repeats another."""
    return (search.page - 1) * _pages(search) + 1


def _asked_page(reply: Reply, search: SearchRequest) -> int:
    sent = parse_qs(urlsplit(reply.request.url).query) if reply.request else {}
    number = sent.get("page", [""])[0]
    return int(number) if _NUMBER.fullmatch(number) else _first(search)


def _has_next(document: Any) -> bool:
    pagination = document.get("pagination")
    return isinstance(pagination, dict) and bool(pagination.get("next"))
