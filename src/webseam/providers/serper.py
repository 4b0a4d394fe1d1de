"""Serper, which sells Google's results. It has no client of its own; the wire is what its users' clients send."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from webseam.model import Kind, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
    EMULATED,
    NATIVE,
    Hits,
    Parsed,
    Provider,
    ProviderConfig,
    Reply,
    post_json,
)
from webseam.providers.googlish import first_text, interface_language, listed, region, when
from webseam.providers.options import with_sites

_PATH: Final[dict[Kind, str]] = {"news": "/news", "paper": "/scholar"}
_ENDPOINT = re.compile(r"(?<=[^/])/(?:search|news|scholar)/*$")  # but not of a host that is called so
_OWN_FIELDS: Final = frozenset({"searchParameters", "searchInformation"})  # what even an answer without results has


class Serper(Provider):
    id = "serper"
    label = "Serper"
    receives = "Serper (serper.dev), which asks Google"
    rank = 130
    base_url = "https://google.serper.dev"
    key_env = ("SERPER_API_KEY", "SERPERDEV_API_KEY")
    base_env = ("SERPER_API_BASE",)
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "language": NATIVE,
        "region": NATIVE,
        "page": NATIVE,
    }
    kinds = {"news": NATIVE, "paper": NATIVE}
    max_count = 100
    price = 0.001
    hint = "get a key at serper.dev, then: webseam key set serper"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        body: dict[str, Any] = {
            "q": with_sites(search),
            "num": search.count,
            "gl": region(search),
            "hl": interface_language(search.language),
            "tbs": when(search),
            "page": search.page if search.page > 1 else None,
        }
        # A base URL copied with its endpoint means the service: news are not asked for at the endpoint of the web.
        place = replace(config, base_url=_ENDPOINT.sub("", config.base_url))
        return post_json(place, _PATH.get(search.kind, "/search"), body, ("X-API-KEY", config.key))

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in listed(reply, document, _OWN_FIELDS, "news" if search.kind == "news" else "organic"):
            hits.add(
                url=row.get("link"),
                title=row.get("title"),
                snippet=row.get("snippet"),
                published=row.get("date"),
                site=row.get("source"),
            )
        language = search.language  # goes into the interface's language; there is no filter
        return hits.parsed(
            answer=first_text(document.get("answerBox"), "answer", "snippet"),
            notes=[f"{self.label} prefers the language {language}; it cannot filter by it"] if language else [],
            cost=_cost(document.get("credits"), config),
        )


def _cost(credits_used: object, config: ProviderConfig) -> float | None:
    """Return the dollars of the credits an answer names; one is a search, and more than ten results take two."""
    price = Serper.price if config.price is None else config.price
    if price is None or isinstance(credits_used, bool) or not isinstance(credits_used, (int, float)):
        return None
    return credits_used * price
