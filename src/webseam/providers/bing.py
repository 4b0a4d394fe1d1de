"""Endpoints that speak Bing's web search API, version 7. Wire: as Azure's Python client sends it.

Microsoft ended its own service in August 2025, so there is no address to start from; gateways that kept the shape
remain, and their addresses are written down in every length from the host to the whole path.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.model import Freshness, Safe, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import EMULATED, NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, get
from webseam.providers.googlish import listed
from webseam.providers.options import bucket, closed_range, date_range, with_sites

_FRESHNESS: Final[dict[Freshness, str]] = {"day": "Day", "week": "Week", "month": "Month"}  # there is no year
_SAFE: Final[dict[Safe, str]] = {"off": "Off", "moderate": "Moderate", "strict": "Strict"}
_OWN_FIELDS: Final = frozenset({"queryContext", "rankingResponse"})  # what even an answer without results has
_COPIED_PATH = re.compile(r"/v7\.0(?:/news)?(?:/search)?\Z")


class Bing(Provider):
    id = "bing"
    label = "Bing"
    receives = "the Bing-compatible endpoint you set"
    rank = 170
    key_env = ("BING_API_KEY", "BING_SEARCH_V7_SUBSCRIPTION_KEY", "BING_SUBSCRIPTION_KEY")
    base_env = ("BING_SEARCH_V7_ENDPOINT", "BING_SEARCH_URL", "BING_BASE_URL")
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
    kinds = {"news": NATIVE}
    max_count = 50
    max_query = 1_500  # a URL of more than 2,048 characters is answered with 404
    hint = "set BING_SEARCH_V7_ENDPOINT to an endpoint of Bing's version 7 shape; Microsoft's own was shut down"

    def unavailable(self, config: ProviderConfig) -> str | None:
        return super().unavailable(config) if config.base_url else "retired; set a compatible endpoint"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        news = search.kind == "news"
        query: dict[str, Any] = {
            "q": with_sites(search, limit=self.max_query),
            "count": search.count,
            "offset": (search.page - 1) * search.count or None,
            "freshness": _news_age(search) if news else _age(search),
            "safeSearch": _SAFE[search.safe] if search.safe else None,
            "textDecorations": "false",
            "responseFilter": None if news else "Webpages",
            **_market(search),
        }
        at = replace(config, base_url=_COPIED_PATH.sub("", config.base_url.rstrip("/")))
        path = "/v7.0/news/search" if news else "/v7.0/search"
        return get(at, path, query, ("Ocp-Apim-Subscription-Key", config.key))

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import failure, retry_after

        error = failure(reply)
        if reply.status == 410:
            error.hint = "write the endpoint's address with https"
        if reply.status == 403 and error.outcome is Outcome.AUTH and b"quota" in reply.response.body.lower():
            error.outcome, error.retry_after = Outcome.QUOTA, retry_after(reply)  # of the day or month
        return error

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in _results(reply, document, news=search.kind == "news"):
            hits.add(
                url=row.get("url"),
                title=row.get("name"),
                snippet=row.get("snippet") or row.get("description"),
                published=row.get("datePublished"),  # the day of the crawl is given too and says nothing of the page
                site=row.get("siteName") or _provider(row.get("provider")) or _host(row.get("displayUrl")),
            )
        return hits.parsed()


def _results(reply: Reply, document: Any, *, news: bool) -> list[dict[str, Any]]:
    if news or not isinstance(document, dict) or document.get("webPages") is None:
        own = _OWN_FIELDS | ({"_type"} if _is_answer(document) else frozenset())
        return listed(reply, document, own, "value" if news else "webPages")
    return listed(reply, document["webPages"], frozenset({"totalEstimatedMatches"}), "value")


def _is_answer(document: Any) -> bool:
    return isinstance(document, dict) and document.get("_type") in ("SearchResponse", "News")


def _age(search: SearchRequest) -> str | None:
    if search.freshness in _FRESHNESS and not (search.after or search.before):
        return _FRESHNESS[search.freshness]
    days = closed_range(*date_range(search))
    return f"{days[0]}..{days[1]}" if days else None


def _news_age(search: SearchRequest) -> str | None:
    """Return the smallest age that holds the wanted days: news know no range."""
    name = bucket(search)
    return _FRESHNESS.get(name) if name else None


def _market(search: SearchRequest) -> dict[str, str]:
    """Return language and country: both make a market; one alone has a parameter of its own."""
    language, _, tail = (search.language or "").partition("-")
    country = search.region or (tail.upper() if len(tail) == 2 else "")
    if language and country:
        return {"mkt": f"{language.lower()}-{country}"}
    if country:
        return {"cc": country}
    return {"setLang": search.language} if search.language else {}


def _provider(value: object) -> object:
    first = value[0] if isinstance(value, list) and value else None
    return first.get("name") if isinstance(first, dict) else None


def _host(shown: object) -> str | None:
    """Return the host of an address as it is shown, with or without its scheme."""
    return shown.rpartition("://")[2].split("/")[0] or None if isinstance(shown, str) else None
