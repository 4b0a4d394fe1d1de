"""Perplexity's Search API (results, not answers). Wire: https://docs.perplexity.ai, as its official SDK sends it."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
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
from webseam.providers.options import hosts, whole_hosts

_MAX_DOMAINS: Final = 20


class Perplexity(Provider):
    id = "perplexity"
    label = "Perplexity"
    receives = "Perplexity (perplexity.ai)"
    rank = 70
    base_url = "https://api.perplexity.ai"
    key_env = ("PERPLEXITY_API_KEY", "PPLX_API_KEY", "PERPLEXITYAI_API_KEY")
    base_env = ("PERPLEXITY_BASE_URL", "PERPLEXITY_API_BASE")
    settings = (
        Setting(name="context_size", default="low", choices=("low", "medium", "high"), help="how much text a hit has"),
        Setting(
            name="max_tokens_per_page", kind="whole", low=1, high=1_000_000, help="tokens a hit, instead of a size"
        ),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "language": NATIVE,
        "region": NATIVE,
    }
    kinds = {"paper": NATIVE}
    max_count = 20
    price = 0.005
    hint = "get a key at perplexity.ai/account/api, then: webseam key set perplexity"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        per_page = config.values["max_tokens_per_page"]
        language = _language(search)
        body: dict[str, Any] = {
            "query": search.query,
            "max_results": search.count,
            "max_tokens_per_page": per_page,
            "search_context_size": None if per_page else config.values["context_size"],  # it takes one of the two
            "search_mode": "academic" if search.kind == "paper" else "web",
            "search_domain_filter": _domains(search),
            "search_language_filter": [language] if language else None,
            "country": search.region,
        }
        if search.after or search.before:  # never beside a recency
            body["search_after_date_filter"] = _american(search.after)
            body["search_before_date_filter"] = _american(search.before)
        else:
            body["search_recency_filter"] = search.freshness
        return post_json(config, "/search", body, ("Authorization", f"Bearer {config.key}"))

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        hits = Hits(self.id)
        for row in rows(reply, reply.json(), "results"):
            text = row.get("snippet")
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=text,
                published=row.get("date"),
                passages=[text],
            )
        return hits.parsed(notes=self._notes(search))

    def _notes(self, search: SearchRequest) -> list[str]:
        if not search.language or _language(search):
            return []
        return [f"{self.label} does not know the language {search.language}; that was not applied"]


def _domains(search: SearchRequest) -> list[str] | None:
    """Return its one list, which either allows or, with a minus before each, denies."""
    included = hosts(search.include_domains)
    if included and len(included) <= _MAX_DOMAINS:  # some of them would hide the hosts of the others
        return included
    return [f"-{host}" for host in whole_hosts(search.exclude_domains) or ()][:_MAX_DOMAINS] or None


def _language(search: SearchRequest) -> str | None:
    """Return the two-letter code; its list has no longer ones."""
    code = (search.language or "").lower().partition("-")[0]
    return code if len(code) == 2 else None


def _american(day: str | None) -> str | None:
    return date.fromisoformat(day).strftime("%m/%d/%Y") if day else None
