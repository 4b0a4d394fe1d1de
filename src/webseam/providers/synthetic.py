"""Synthetic's search, which takes a query and nothing else. Wire: https://dev.synthetic.new/docs, no SDK."""

from __future__ import annotations

from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import EMULATED, Hits, Parsed, Provider, ProviderConfig, Reply, post_json, rows


class Synthetic(Provider):
    id = "synthetic"
    label = "Synthetic"
    receives = "Synthetic (synthetic.new)"
    rank = 196
    base_url = "https://api.synthetic.new"
    key_env = ("SYNTHETIC_API_KEY",)
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": EMULATED,
        "date_range": EMULATED,
    }
    hint = "get a key at synthetic.new, then: webseam key set synthetic"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        # The service decides how many it sends; what is too much is cut here.
        return post_json(config, "/v2/search", {"query": search.query}, ("Authorization", f"Bearer {config.key}"))

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        hits = Hits(self.id)
        for row in rows(reply, reply.json(), "results"):
            text = row.get("text")
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=text,
                published=row.get("published"),
                passages=[text],
            )
        return hits.parsed()
