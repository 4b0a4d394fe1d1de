"""Kagi's search API. Wire: https://help.kagi.com/kagi/api/search.html; v1 as its official Python client sends it.

Keys of the first API (v0) are not good for the second (v1) and the other way round, so which one is asked is a setting.
v0 knows words and a count only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from webseam.config import Settings
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
    EMULATED,
    NATIVE,
    Hits,
    Option,
    Parsed,
    Provider,
    ProviderConfig,
    Reply,
    Setting,
    Support,
    get,
    post_json,
    rows,
    shape,
)
from webseam.providers.options import date_range, hosts, whole_hosts, with_sites

_MAX_PAGE: Final = 10
_HIT: Final = 0  # in v0 the type of a row: 0 is a result, 1 a list of related searches
_V0_DOLLARS: Final = 0.025
_V0_OPTIONS: Final[dict[Option, Support]] = {
    "include_domains": EMULATED,
    "exclude_domains": EMULATED,
    "freshness": EMULATED,
    "date_range": EMULATED,
}


class Kagi(Provider):
    id = "kagi"
    label = "Kagi"
    receives = "Kagi (kagi.com)"
    rank = 110
    base_url = "https://kagi.com"
    key_env = ("KAGI_API_KEY", "KAGI_SEARCH_API_KEY")
    settings = (Setting(name="api", default="v1", choices=("v1", "v0"), help="v0 = for keys of the first API"),)
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "region": NATIVE,
        "safe": NATIVE,
        "page": NATIVE,
    }
    kinds = {"news": NATIVE}  # not code: its section goes first, but what is asked is the same, so all is searched
    max_count = 50
    price = 0.012
    hint = "get a key at kagi.com/api, then: webseam key set kagi"

    def fitted(self, config: ProviderConfig) -> Provider:
        return self.copied(label=f"{self.label} (v0)", options=_V0_OPTIONS, kinds={}) if _is_v0(config) else self

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        own_price = config.price != self.price
        return (replace(config, price=_V0_DOLLARS) if _is_v0(config) and not own_price else config,)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        if search.page > _MAX_PAGE:
            raise ProviderError(f"{self.label} has no page {search.page}", outcome=Outcome.UNSUPPORTED)
        if _is_v0(config):
            query = {"q": with_sites(search, limit=self.max_query), "limit": search.count}
            return get(config, "/api/v0/search", query, ("Authorization", f"Bot {config.key}"))
        return post_json(config, "/api/v1/search", _body(search), ("Authorization", f"Bearer {config.key}"))

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        data = document.get("data") if isinstance(document, dict) else None
        if not isinstance(data, (dict, list)) or (not data and document.get("error")):
            raise shape(reply, document, "data")
        found = _of_v1(reply, data, search) if isinstance(data, dict) else _of_v0(reply, document)
        hits = Hits(self.id)
        for row in found:
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("snippet"),
                published=row.get("time") or row.get("published"),
            )
        return hits.parsed(answer=_answer(data))


def _is_v0(config: ProviderConfig) -> bool:
    return bool(config.values["api"] == "v0")


def _body(search: SearchRequest) -> dict[str, Any]:
    after, before = date_range(search)
    filters = {"region": search.region.lower() if search.region else None, "after": after, "before": before}
    lens = {
        "sites_included": hosts(search.include_domains),
        "sites_excluded": whole_hosts(search.exclude_domains),
    }
    return {
        "query": search.query,
        "workflow": "news" if search.kind == "news" else "search",
        "format": "json",
        "limit": search.count,  # trims what one pass found; it does not make the pass longer
        "page": search.page,
        "safe_search": None if search.safe is None else search.safe != "off",
        "filters": _filled(filters),
        "lens": _filled(lens),
    }


def _filled(values: dict[str, Any]) -> dict[str, Any] | None:
    return {name: value for name, value in values.items() if value} or None


def _of_v1(reply: Reply, data: dict[str, Any], search: SearchRequest) -> list[dict[str, Any]]:
    """Return the rows of the sections that answer this search; a section without any is left out by the service."""
    if search.kind == "news":
        return rows(reply, data, "news", required=False)
    plain = rows(reply, data, "search", required=False)
    return [*rows(reply, data, "code", required=False), *plain] if search.kind == "code" else plain


def _of_v0(reply: Reply, document: Any) -> list[dict[str, Any]]:
    return [row for row in rows(reply, document, "data") if row.get("t") == _HIT]


def _answer(data: Any) -> str | None:
    """Return the answer to a sum or a conversion of units, which stands beside the results."""
    answers = data.get("direct_answer") if isinstance(data, dict) else None
    first = answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], dict) else {}
    for text in (first.get("snippet"), first.get("title")):
        if isinstance(text, str) and text.strip():
            return text
    return None
