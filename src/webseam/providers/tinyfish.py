"""TinyFish's search API. Wire: https://docs.tinyfish.ai, as its official Python SDK sends it.

A page holds about ten results and there is no count, so a larger count is a matter of pages.
"""

from __future__ import annotations

import re
from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.model import Freshness, Kind, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, get, rows
from webseam.providers.options import hosts, whole_hosts

_PER_PAGE: Final = 10
_LAST_PAGE: Final = 10  # counted from 0
_MINUTES: Final[dict[Freshness, int]] = {"day": 1_440, "week": 10_080, "month": 43_200, "year": 525_600}
_DOMAIN_TYPE: Final[dict[Kind, str]] = {"news": "news", "paper": "research_paper"}


class TinyFish(Provider):
    id = "tinyfish"
    label = "TinyFish"
    receives = "TinyFish (tinyfish.ai)"
    rank = 190
    base_url = "https://api.search.tinyfish.ai"
    key_env = ("TINYFISH_API_KEY",)
    base_env = ("TINYFISH_API_BASE",)
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "language": NATIVE,
        "region": NATIVE,
        "page": NATIVE,
    }
    kinds = {"news": NATIVE, "paper": NATIVE}
    max_count = 20
    interval = 2.0  # 30 a minute a key on the free plan
    price = 0.0
    hint = "get a key at agent.tinyfish.ai, then: webseam key set tinyfish"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        # Pages of more hits than one of theirs are several of theirs, so that page 2 begins where page 1 ended.
        first = (search.page - 1) * _pages(search)
        if first > _LAST_PAGE:
            raise ProviderError(
                f"{self.label} has no page {search.page} of {search.count} hits", outcome=Outcome.UNSUPPORTED
            )
        return self._page(search, config, first)

    def _page(self, search: SearchRequest, config: ProviderConfig, page: int) -> Request:
        included, excluded = hosts(search.include_domains), whole_hosts(search.exclude_domains)
        parameters: dict[str, object] = {
            "query": search.query,
            "location": search.region,
            "language": search.language,
            "include_domains": ",".join(included) if included else None,
            "exclude_domains": ",".join(excluded) if excluded else None,
            "domain_type": _DOMAIN_TYPE.get(search.kind),
            "page": page,
        }
        if search.after or search.before:  # never beside a recency
            parameters["after_date"], parameters["before_date"] = search.after, search.before
        elif search.freshness:
            parameters["recency_minutes"] = _MINUTES[search.freshness]
        return get(config, self._path(config), parameters, ("X-API-Key", config.key))

    def _path(self, config: ProviderConfig) -> str:
        """Return the path: the service has a host of its own for searches, a gateway has it beside others."""
        return "/" if config.base_url.rstrip("/") == self.base_url else "/v1/search"

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in rows(reply, document, "results"):
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("snippet"),
                published=row.get("date"),
                author=", ".join(name for name in _list(row.get("authors")) if isinstance(name, str)),
                site=row.get("site_name"),
            )
        remarks = [_words(remark) for remark in _list(document.get("parameter_warnings"))]
        return hits.parsed(
            notes=[f"{self.label}: {reply.quote(words)}" for words in remarks if words],
            more=self._next(reply, search, config) if hits.found else None,
        )

    def _next(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Request | None:
        """Return the next page's request, where the count wanted takes more than the pages so far."""
        sent = re.search(r"[?&]page=(\d{1,2})(?:&|$)", reply.request.url) if reply.request else None
        first = (search.page - 1) * _pages(search)
        following = (int(sent[1]) if sent else first) + 1
        wanted = following - first < _pages(search) and following <= _LAST_PAGE
        return self._page(search, config, following) if wanted else None


def _pages(search: SearchRequest) -> int:
    """Return how many of its pages hold `count` results. One that lacks a few is no reason to wait for another."""
    return -(-search.count // _PER_PAGE)


def _words(remark: object) -> str:
    if isinstance(remark, dict):
        remark = remark.get("message")
    return remark.strip() if isinstance(remark, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
