"""Firecrawl's search and its reading of pages, hosted or self-hosted.

Wire: https://docs.firecrawl.dev, as its official Python SDK sends it. A search never asks for the pages found
(`scrapeOptions`): each costs credits, and pages have their own command.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.model import Freshness, Kind, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
    EMULATED,
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
from webseam.providers.options import hosts, keyless_note, whole_hosts

_AGES: Final[dict[Freshness, str]] = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}
_CATEGORY: Final[dict[Kind, str]] = {"code": "github", "paper": "research"}
_OLD_SECTIONS: Final = ("data", "results")  # where self-hosted servers of older versions put their list
_VERSIONS: Final = ("/v1", "/v2")  # which addresses of other tools often end with
_CREDIT_DOLLARS: Final = 0.00085
_FRESH: Final = 4 * 3_600_000  # milliseconds; an older copy of a page is not taken, as the SDK has it
_PAGE_CODES: Final = {  # of its errors, what is the page's doing; the others that begin so are just that
    "SCRAPE_TIMEOUT": Outcome.TIMEOUT,
    "SCRAPE_DNS_RESOLUTION_ERROR": Outcome.NETWORK,
    "SCRAPE_SSL_ERROR": Outcome.NETWORK,
    "SCRAPE_SITE_ERROR": Outcome.UPSTREAM,
    "SCRAPE_PDF_ANTIBOT_ERROR": Outcome.BLOCKED,
    "SCRAPE_DOCUMENT_ANTIBOT_ERROR": Outcome.BLOCKED,
    "SCRAPE_UNSUPPORTED_FILE_ERROR": Outcome.UNSUPPORTED,
}
_TERMS = "THIRD_PARTY_DATA_TERMS_REQUIRED"


class Firecrawl(Provider):
    id = "firecrawl"
    label = "Firecrawl"
    receives = "Firecrawl (firecrawl.dev), or the server of your own that is set"
    rank = 40
    base_url = "https://api.firecrawl.dev"
    key = "optional"  # a server of one's own may have none
    key_env = ("FIRECRAWL_API_KEY",)
    base_env = ("FIRECRAWL_API_URL", "FIRECRAWL_BASE_URL", "FIRECRAWL_API_BASE", "FIRECRAWL_API_BASE_URL")
    settings = (
        Setting(name="keyless", kind="switch", default=False, help="without a key, use Firecrawl's anonymous access"),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "region": NATIVE,
        "page": EMULATED,
    }
    kinds = {"news": NATIVE, "code": NATIVE, "paper": NATIVE}
    max_count = 100
    price = 0.0017  # 2 credits for every 10 results
    reads = True
    read_price = _CREDIT_DOLLARS
    hint = "get a key at firecrawl.dev, then: webseam key set firecrawl"

    def unavailable(self, config: ProviderConfig) -> str | None:
        hosted = _without_version(config).base_url == self.base_url
        if hosted and not config.key and not config.values["keyless"]:
            return f"no key ({self.key_env[0]})"
        return super().unavailable(config)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        category = _CATEGORY.get(search.kind)
        included = hosts(search.include_domains)
        body: dict[str, Any] = {
            "query": search.query,
            "limit": search.count,
            "sources": [{"type": "news" if search.kind == "news" else "web"}],
            "categories": [{"type": category}] if category else None,
            "tbs": _when(search),
            "country": search.region,  # left out, Firecrawl searches as from the United States
            "timeout": int(config.timeout * 1000),
            "ignoreInvalidURLs": True,
            # It takes one of the two lists; the other is filtered here.
            "includeDomains": included,
            "excludeDomains": None if included else whole_hosts(search.exclude_domains),
            "origin": "webseam",
        }
        return _post(config, "/v2/search", body)

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        return self._refused(reply, config)

    def _refused(self, reply: Reply, config: ProviderConfig) -> ProviderError | None:
        from webseam.providers.verdicts import failure

        if reply.status not in (401, 403):
            return None
        error = failure(reply)
        if _TERMS.encode() in reply.response.body:
            error.outcome, error.hint = Outcome.AUTH, "accept the terms for third-party data in Firecrawl's dashboard"
        elif _is_anonymous(config) and error.outcome is Outcome.AUTH:
            error.hint = f"Firecrawl refuses anonymous access from this address; {self.hint}"
        return error

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in _results(reply, document, search):
            text = row.get("markdown")
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("description") or row.get("snippet"),
                published=row.get("date"),
                passages=[text] if isinstance(text, str) else (),
            )
        return hits.parsed(cost=_cost(document, config), notes=_notes(reply, document, config))

    def read_request(self, url: str, config: ProviderConfig) -> Request:
        body: dict[str, Any] = {
            "url": url,
            "formats": ["markdown"],
            "onlyMainContent": True,
            "blockAds": True,
            "maxAge": _FRESH,
            "storeInCache": False,  # what somebody here reads is not kept for other customers
            "timeout": int(config.timeout * 1000),
            "origin": "webseam",
        }
        return _post(config, "/v2/scrape", body)

    def read_failure(self, reply: Reply, url: str, config: ProviderConfig) -> ProviderError | ReadPage | None:
        from webseam.providers.verdicts import message_of

        fields = reply.fields()
        code, words = str(fields.get("code")), message_of(fields)
        if code.startswith("SCRAPE_"):
            return ReadPage(problem=reply.quote(words or code), outcome=_PAGE_CODES.get(code))
        if reply.status == 403 and "website" in words.lower() and "support" in words.lower():
            return ReadPage(problem=reply.quote(words), outcome=Outcome.BLOCKED)
        return self._refused(reply, config)

    def read_answer(self, reply: Reply, url: str, config: ProviderConfig) -> ReadPage:
        document = reply.json()
        page = document.get("data") if isinstance(document, dict) and document.get("success") is True else None
        if not isinstance(page, dict):
            raise shape(reply, document, "data")
        told = page.get("metadata")
        about = told if isinstance(told, dict) else {}
        error = about.get("error")
        return ReadPage(
            markdown=page.get("markdown"),
            title=about.get("title"),
            author=about.get("author"),
            published=about.get("publishedTime"),
            language=about.get("language"),
            final_url=about.get("url") or about.get("sourceURL"),
            status=about.get("statusCode"),
            problem=reply.quote(error) if isinstance(error, str) else "",
            cost=_cost(about, config),
            notes=[*_notes(reply, document, config), *_warnings(reply, page)],
        )


def _post(config: ProviderConfig, path: str, body: dict[str, Any]) -> Request:
    headers = (("Authorization", f"Bearer {config.key}"),) if config.key else ()
    return post_json(_without_version(config), path, body, *headers)


def _is_anonymous(config: ProviderConfig) -> bool:
    return not config.key and bool(config.values["keyless"])


def _without_version(config: ProviderConfig) -> ProviderConfig:
    base = config.base_url.rstrip("/")
    version = next((version for version in _VERSIONS if base.endswith(version)), "")
    return replace(config, base_url=base.removesuffix(version))


def _when(search: SearchRequest) -> str | None:
    if search.after or search.before:
        ends = (("cd_min", search.after), ("cd_max", search.before))
        return ",".join(["cdr:1", *(f"{name}:{_american(day)}" for name, day in ends if day)])
    return _AGES[search.freshness] if search.freshness else None


def _american(day: str) -> str:
    return date.fromisoformat(day).strftime("%m/%d/%Y")


def _results(reply: Reply, document: Any, search: SearchRequest) -> list[dict[str, Any]]:
    """Return the rows of results; a section without any is left out by the service.

    Raises:
        ProviderError: what the answer states, or that it is not one of Firecrawl's.
    """
    if not isinstance(document, dict) or document.get("success") is not True:
        raise shape(reply, document, "success")
    if isinstance(document.get("data"), dict):
        return rows(reply, document, "data", "news" if search.kind == "news" else "web", required=False)
    name = next((name for name in _OLD_SECTIONS if document.get(name) is not None), _OLD_SECTIONS[0])
    return rows(reply, document, name)


def _cost(document: Any, config: ProviderConfig) -> float | None:
    """Return what the call cost; None leaves it to the published price."""
    if not config.key:
        return 0.0
    used = document.get("creditsUsed")
    return used * _CREDIT_DOLLARS if isinstance(used, (int, float)) and not isinstance(used, bool) else None


def _notes(reply: Reply, document: Any, config: ProviderConfig) -> list[str]:
    notes = _warnings(reply, document)
    if _is_anonymous(config):
        notes.append(keyless_note("Firecrawl", "firecrawl.keyless"))
    return notes


def _warnings(reply: Reply, document: Any) -> list[str]:
    warning = document.get("warning")
    return [f"Firecrawl: {reply.quote(warning)}"] if isinstance(warning, str) and warning.strip() else []
