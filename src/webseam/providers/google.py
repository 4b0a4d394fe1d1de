"""Google's Programmable Search (custom search engines). Wire: as Google's own Python client sends it.

It needs two things, a key and the id of a search engine. GOOGLE_API_KEY is what many set for Google's models: without
an engine it is no key of this service, or everybody with a model would be told of a search they never set up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from webseam.config import Settings
from webseam.domains import host_of
from webseam.errors import Outcome, ProviderError
from webseam.model import Freshness, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, Setting, get
from webseam.providers.googlish import (
    PAGE,
    adult_filter,
    interface_language,
    language_notes,
    listed,
    region,
    result_language,
)
from webseam.providers.options import closed_range, whole_hosts, with_sites

ENGINE: Final = "google"  # what those who resell its results call it
_SHARED_KEY: Final = "GOOGLE_API_KEY"  # other services of Google's take it too
_LAST: Final = 100  # results there are at most, whatever is found
_LAST_START: Final = 91
_FRESHNESS: Final[dict[Freshness, str]] = {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}
_OWN_FIELDS: Final = frozenset({"kind", "queries", "searchInformation"})  # what even an answer without results has
_PER_DAY = re.compile(rb"per ?day|daily", re.IGNORECASE)
# The status alone says less: a wrong key is a 400, and a 403 may be the day's limit or too many calls at once.
_REASONS: Final = {
    "API_KEY_INVALID": Outcome.AUTH,
    "keyInvalid": Outcome.AUTH,
    "accessNotConfigured": Outcome.AUTH,
    "SERVICE_DISABLED": Outcome.AUTH,
    "dailyLimitExceeded": Outcome.QUOTA,
    "quotaExceeded": Outcome.QUOTA,
    "rateLimitExceeded": Outcome.RATE_LIMITED,
    "userRateLimitExceeded": Outcome.RATE_LIMITED,
    "RATE_LIMIT_EXCEEDED": Outcome.RATE_LIMITED,
}


class Google(Provider):
    id = "google"
    label = "Google Programmable Search"
    receives = "Google (customsearch.googleapis.com)"
    rank = 160
    base_url = "https://customsearch.googleapis.com"
    key_env = ("GOOGLE_PSE_API_KEY", "GOOGLE_CSE_API_KEY", "GOOGLE_SEARCH_API_KEY", _SHARED_KEY)
    key_in_url = True
    base_env = ("GOOGLE_PSE_API_BASE",)
    settings = (
        Setting(
            name="engine_id",
            env=("GOOGLE_CSE_ID", "GOOGLE_PSE_ENGINE_ID", "GOOGLE_SEARCH_ENGINE_ID", "GOOGLE_SEARCH_CX"),
            help="id of the search engine (cx)",
        ),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "language": NATIVE,
        "region": NATIVE,
        "safe": NATIVE,
        "page": NATIVE,
    }
    max_count = 100
    price = 0.005  # every page of ten is a query; the first 100 a day are free
    hint = "set a key (webseam key set google) and google.engine_id"
    remark = "closed to new customers, and ends on 1 January 2027"

    def key_names(self, settings: Settings) -> tuple[str, ...]:
        """Without an engine the variable that Google's tools share means another service of Google's."""
        engine = next(setting for setting in self.settings if setting.name == "engine_id")
        return tuple(name for name in self.key_env if name != _SHARED_KEY or settings.read(self.id, engine)[0])

    def unavailable(self, config: ProviderConfig) -> str | None:
        lacking = super().unavailable(config)
        if lacking is None and not config.values["engine_id"]:
            return "no engine id (GOOGLE_CSE_ID)"
        return lacking

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        start = _first(search)
        if start > _LAST_START:
            raise ProviderError(
                f"{self.label} has no page {search.page} of {search.count} hits", outcome=Outcome.UNSUPPORTED
            )
        return self._from(search, config, start)

    def _from(self, search: SearchRequest, config: ProviderConfig, start: int) -> Request:
        """Describe the call for the results from `start` on, the first being 1."""
        query: dict[str, Any] = {
            "num": min(PAGE, search.count),
            "start": start if start > 1 else None,
            "gl": region(search),
            "hl": interface_language(search.language),
            "lr": result_language(search.language),
            "safe": adult_filter(search),
            **_when(search),
            **_sites(search),
            "cx": config.values["engine_id"],
            "key": config.key,
            "alt": "json",
        }
        return get(config, "/customsearch/v1", query)

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import failure, retry_after

        error = failure(reply)
        body = reply.response.body
        if reply.status == 429 and error.outcome is not Outcome.BLOCKED:
            # "Quota exceeded" is what it says of a minute as well, so that it takes the day to make it one.
            if _PER_DAY.search(body):
                error.outcome = Outcome.QUOTA
            elif b"quota" in body.lower():
                error.outcome = Outcome.RATE_LIMITED
            return error
        outcome = next((_REASONS[reason] for reason in _reasons(reply) if reason in _REASONS), None)
        if outcome is not None:
            error.outcome = outcome
            error.retry_after = None if outcome is Outcome.AUTH else retry_after(reply)
        return error

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in listed(reply, document, _OWN_FIELDS, "items"):
            hits.add(
                url=row.get("link"),
                title=row.get("title"),
                snippet=row.get("snippet"),
                published=_published(row.get("pagemap")),
                site=row.get("displayLink"),
            )
        following = _following(document)
        wanted = following is not None and following - _first(search) < search.count and following <= _LAST_START
        return hits.parsed(
            notes=language_notes(self.label, search),
            more=self._from(search, config, following) if following is not None and wanted else None,
        )


def _first(search: SearchRequest) -> int:
    return (search.page - 1) * search.count + 1


def _when(search: SearchRequest) -> dict[str, str | None]:
    days = closed_range(search.after, search.before)
    if days:
        first, last = (f"{day:%Y%m%d}" for day in days)
        return {"sort": f"date:r:{first}:{last}"}
    return {"dateRestrict": _FRESHNESS[search.freshness] if search.freshness else None}


def _sites(search: SearchRequest) -> dict[str, str]:
    """Return the query, and one host where one is all there is to say: the parameter takes no list."""
    included = [host_of(rule) for rule in search.include_domains]
    if len(included) == 1 and "." in included[0]:
        rest = replace(search, include_domains=())
        return {"q": with_sites(rest), "siteSearch": included[0], "siteSearchFilter": "i"}
    excluded = whole_hosts(search.exclude_domains) or []
    if not included and len(search.exclude_domains) == len(excluded) == 1:
        return {"q": search.query, "siteSearch": excluded[0], "siteSearchFilter": "e"}
    return {"q": with_sites(search)}


def _published(pagemap: object) -> object:
    """Return the day that the page's own metadata names, which the service passes on as it is."""
    metatags = pagemap.get("metatags") if isinstance(pagemap, dict) else None
    tags = metatags[0] if isinstance(metatags, list) and metatags else None
    return tags.get("article:published_time") if isinstance(tags, dict) else None


def _following(document: Any) -> int | None:
    queries = document.get("queries")
    pages = queries.get("nextPage") if isinstance(queries, dict) else None
    page = pages[0] if isinstance(pages, list) and pages else None
    start = page.get("startIndex") if isinstance(page, dict) else None
    return start if type(start) is int and start > 1 else None


def _reasons(reply: Reply) -> Iterator[str]:
    """Yield the reasons an error names: one list is of the older style, the other of the newer, and both are sent."""
    try:
        document = reply.json()
    except ProviderError:
        return
    error = document.get("error") if isinstance(document, dict) else None
    for name in ("errors", "details"):
        entries = error.get(name) if isinstance(error, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("reason"), str):
                yield entry["reason"]
