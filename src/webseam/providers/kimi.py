"""Kimi's search for subscribers of its coding plan. Wire: as its official command-line client sends it.

The key is that of the coding plan. `MOONSHOT_API_KEY`, of the open platform, is another kind that this endpoint
refuses, so it is not read: it would only turn "no key" into "wrong key".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from uuid import uuid4

from webseam.config import PROVIDER_COMMON, Settings
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import EMULATED, Hits, Parsed, Provider, ProviderConfig, Reply, post_json, rows

_BASE_URL: Final = next(setting for setting in PROVIDER_COMMON if setting.name == "base_url")
_ENDPOINTS: Final = ("MOONSHOT_SEARCH_BASE_URL", "KIMI_SEARCH_BASE_URL")  # despite their names: nothing is appended
_LONGEST: Final = 30  # seconds it may be told to take


class Kimi(Provider):
    id = "kimi"
    label = "Kimi"
    receives = "Moonshot AI (kimi.com)"
    rank = 192
    base_url = "https://api.kimi.com/coding/v1"
    key_env = ("MOONSHOT_SEARCH_API_KEY", "KIMI_SEARCH_API_KEY")
    base_env = (*_ENDPOINTS, "KIMI_CODE_BASE_URL")  # the last is the base of all its endpoints
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": EMULATED,
        "date_range": EMULATED,
    }
    max_count = 20
    hint = "get a key at kimi.com/code, then: webseam key set kimi"

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        """Make the address the whole endpoint: what is to be appended depends on the name it was set under."""
        _, origin = settings.read(self.id, replace(_BASE_URL, env=self.base_env))
        return (config if origin in _ENDPOINTS else replace(config, base_url=config.url("/search")),)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        body = {
            "text_query": search.query,
            "limit": search.count,
            "enable_page_crawling": False,  # pages are read with a command of their own
            "timeout_seconds": max(1, min(_LONGEST, int(config.timeout))),  # no longer than the deadline leaves
        }
        headers = (("Authorization", f"Bearer {config.key}"), ("X-Msh-Tool-Call-Id", str(uuid4())))
        return replace(post_json(config, "", body, *headers), url=config.base_url)

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        hits = Hits(self.id)
        for row in rows(reply, reply.json(), "search_results"):
            content = row.get("content")
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("snippet") or content,
                published=row.get("date"),
                site=row.get("site_name"),
                passages=[content],
            )
        return hits.parsed()
