"""Linkup's search, and its reading of pages. Wire: https://docs.linkup.so, as its official Python SDK sends it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from webseam.config import Settings
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
    NATIVE,
    Hits,
    Parsed,
    Provider,
    ProviderConfig,
    ReadPage,
    Reply,
    Setting,
    post_json,
    rows,
    shape,
)
from webseam.providers.options import date_range, hosts, whole_hosts

_PRICES: Final = {"standard": 0.005, "fast": 0.005, "flash": 0.005, "deep": 0.05}
_MAX_DOMAINS: Final = 100
_NOTHING_FOUND: Final = b"SEARCH_QUERY_NO_RESULT"
_PAGE_CODES: Final = {  # of its errors, all HTTP 400, what is the page's doing
    "FETCH_ERROR": None,
    "FETCH_RESPONSE_TOO_LARGE": Outcome.UNSUPPORTED,
    "FETCH_TARGET_NOT_FOUND": Outcome.NOT_FOUND,
    "FETCH_TARGET_UNREACHABLE": Outcome.NETWORK,
    "FETCH_UNSUPPORTED_CONTENT_TYPE": Outcome.UNSUPPORTED,
    "FETCH_URL_IS_FILE": Outcome.UNSUPPORTED,
}


class Linkup(Provider):
    id = "linkup"
    label = "Linkup"
    receives = "Linkup (linkup.so)"
    rank = 120
    base_url = "https://api.linkup.so"
    key_env = ("LINKUP_API_KEY",)
    base_env = ("LINKUP_BASE_URL", "LINKUP_API_BASE")
    settings = (
        Setting(name="depth", default="standard", choices=tuple(_PRICES), help="deep takes long and costs ten times"),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
    }
    max_count = 50
    price = _PRICES["standard"]
    reads = True
    read_price = 0.005  # with the page's scripts run, which is why it is asked
    hint = "get a key at app.linkup.so, then: webseam key set linkup"

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        """Price the depth that is set, so that budgets are checked against what will be paid."""
        own = config.price != self.price  # a price from the settings
        return (config if own else replace(config, price=_PRICES[config.values["depth"]]),)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        after, before = date_range(search)
        included = hosts(search.include_domains) or []
        body: dict[str, Any] = {
            "q": search.query,
            "depth": config.values["depth"],
            "outputType": "searchResults",
            "includeImages": False,
            "maxResults": search.count,
            # Some of a longer list would hide the hosts of the others, so all or none.
            "includeDomains": included if 0 < len(included) <= _MAX_DOMAINS else None,
            "excludeDomains": (whole_hosts(search.exclude_domains) or [])[:_MAX_DOMAINS] or None,
            "fromDate": after,
            "toDate": before,
        }
        return post_json(config, _path(config, "/search"), body, ("Authorization", f"Bearer {config.key}"))

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        if reply.status == 400 and _NOTHING_FOUND in reply.response.body:
            return ProviderError("it found nothing", outcome=Outcome.EMPTY, http_status=400)
        return None

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        hits = Hits(self.id)
        for row in rows(reply, reply.json(), "results"):
            if row.get("type", "text") != "text":  # a picture, though none were asked for
                hits.drop("no text")
                continue
            text = row.get("content")
            hits.add(url=row.get("url"), title=row.get("name"), snippet=text, passages=[text])
        nothing = not hits.found and not hits.dropped
        return hits.parsed(cost=0.0 if nothing else None)  # only answers with results are charged

    def read_request(self, url: str, config: ProviderConfig) -> Request:
        body = {"url": url, "renderJs": True, "extractImages": False}
        return post_json(config, _path(config, "/fetch"), body, ("Authorization", f"Bearer {config.key}"))

    def read_failure(self, reply: Reply, url: str, config: ProviderConfig) -> ProviderError | ReadPage | None:
        stated = reply.fields().get("error")
        code = str(stated.get("code")) if isinstance(stated, dict) else ""
        if reply.status != 400 or not isinstance(stated, dict) or code not in _PAGE_CODES:
            return None
        words = stated.get("message")
        problem = reply.quote(words if isinstance(words, str) and words.strip() else code)
        return ReadPage(problem=problem, outcome=_PAGE_CODES[code])

    def read_answer(self, reply: Reply, url: str, config: ProviderConfig) -> ReadPage:
        document = reply.json()
        if not isinstance(document, dict) or "markdown" not in document:
            raise shape(reply, document, "markdown")
        return ReadPage(markdown=document["markdown"])


def _path(config: ProviderConfig, path: str) -> str:
    """Return the path below the base, which other clients want with the version and people also give without."""
    return path if config.base_url.rstrip("/").endswith("/v1") else f"/v1{path}"
