"""Acme Search as a provider of webseam. The service is invented: JSON, a key in a header, numbered pages."""

from __future__ import annotations

from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
    EMULATED,
    NATIVE,
    Hits,
    Parsed,
    Provider,
    ProviderConfig,
    Reply,
    Setting,
    post_json,
    rows,
)


class Acme(Provider):
    id = "acme"
    label = "Acme Search"
    receives = "Acme (acme.example)"
    rank = 45
    base_url = "https://api.acme.example"
    key_env = ("ACME_SEARCH_KEY",)
    settings = (Setting(name="collection", default="all", choices=("all", "docs"), help="which of Acme's indexes"),)
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": EMULATED,
        "language": NATIVE,
        "page": NATIVE,
    }
    max_count = 25
    price = 0.004
    hint = "get a key at acme.example, then: webseam key set acme"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        body = {
            "query": search.query,
            "size": search.count,
            "page": search.page,
            "collection": config.values["collection"],
            "language": search.language,
            "newest": search.freshness if not (search.after or search.before) else None,
        }
        return post_json(config, "/v2/search", body, ("Authorization", f"Bearer {config.key}"))

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in rows(reply, document, "results"):
            hits.add(
                url=row.get("url"),
                title=row.get("name"),
                snippet=row.get("text"),
                published=row.get("published"),
            )
        dollars = document.get("dollars")
        return hits.parsed(cost=dollars if isinstance(dollars, (int, float)) else None)

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | None:
        if reply.status != 423:  # Acme's own; the common rules know all its others
            return None
        return ProviderError("the account is locked until it is topped up", outcome=Outcome.QUOTA, http_status=423)
