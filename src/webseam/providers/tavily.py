"""Tavily's search, and its reading of pages. Wire: https://docs.tavily.com, as its official Python SDK sends it."""

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
from webseam.providers.countries import ENGLISH_NAME
from webseam.providers.options import hosts, keyless_note, whole_hosts

_MAX_EXCLUDE: Final = 150
_CREDIT_DOLLARS: Final = 0.008
_CREDITS: Final = {"basic": 1, "advanced": 2, "fast": 1, "ultra-fast": 1}
_READ_CREDITS: Final = {"basic": 0.2, "advanced": 0.4}  # they are charged for five pages at once
_LONGEST_READ: Final = 60.0  # seconds that it takes for an extraction at most
_PLAN_LIMITS: Final = (432, 433)  # Tavily's own statuses: plan limit, pay-as-you-go limit
_OWN_FIELDS: Final = frozenset({"query", "request_id", "response_time"})  # what even an answer without results has


class Tavily(Provider):
    id = "tavily"
    label = "Tavily"
    receives = "Tavily (tavily.com)"
    rank = 50
    base_url = "https://api.tavily.com"
    key_env = ("TAVILY_API_KEY",)
    base_env = ("TAVILY_BASE_URL", "TAVILY_API_BASE")
    settings = (
        Setting(
            name="search_depth",
            default="basic",
            choices=tuple(_CREDITS),
            help="advanced costs double",
        ),
        Setting(
            name="extract_depth",
            default="advanced",
            choices=tuple(_READ_CREDITS),
            help="how pages are read; basic costs half and sees less of pages made by scripts",
        ),
        Setting(name="include_answer", kind="switch", default=False, help="ask for a short answer too"),
        Setting(name="keyless", kind="switch", default=False, help="without a key, use Tavily's anonymous access"),
        Setting(name="project", env=("TAVILY_PROJECT",), help="project the usage is booked on"),
        Setting(name="organization", env=("TAVILY_ORG_ID",), help="organization the usage is booked on"),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "language": NATIVE,
        "region": NATIVE,
    }
    kinds = {"news": NATIVE}
    max_count = 20
    max_query = 400
    price = _CREDIT_DOLLARS
    reads = True
    read_price = _READ_CREDITS["advanced"] * _CREDIT_DOLLARS
    hint = "get a key at tavily.com, then: webseam key set tavily"

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        """Price the depth that is set, or anonymous access, so that budgets are checked against what will be paid."""
        if not config.key and config.values["keyless"]:
            return (replace(config, price=0.0),)
        own = config.price != self.price  # a price from the settings
        depth = config.values["search_depth"]
        return (config if own else replace(config, price=_CREDITS[depth] * _CREDIT_DOLLARS),)

    def unavailable(self, config: ProviderConfig) -> str | None:
        return None if config.values["keyless"] else super().unavailable(config)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        values = config.values
        body: dict[str, Any] = {
            "query": search.query,
            "search_depth": values["search_depth"],
            "topic": "news" if search.kind == "news" else "general",  # never from a freshness: it changes what is found
            "max_results": search.count,
            "include_answer": values["include_answer"],
            "include_raw_content": False,
            "include_usage": True,
            "include_domains": hosts(search.include_domains),
            "exclude_domains": (whole_hosts(search.exclude_domains) or [])[:_MAX_EXCLUDE] or None,
            "language": search.language,
            "filter_by_language": True if search.language else None,
        }
        if search.after or search.before:
            body["start_date"], body["end_date"] = search.after, search.before
        else:
            body["time_range"] = search.freshness
        body["country"] = _country(search)
        return post_json(config, "/search", body, *_headers(config))

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        return _judged(reply)

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in rows(reply, document, "results", required=False):
            raw = row.get("raw_content")
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("content"),
                published=row.get("published_date"),
                score=row.get("score"),
                passages=[raw] if isinstance(raw, str) else (),
            )
        if not isinstance(document.get("results"), list):
            _check_empty(reply, document)
        answer = document.get("answer")
        return hits.parsed(
            answer=answer if isinstance(answer, str) and answer.strip() else None,
            cost=_cost(document, config),
            notes=_notes(search, config),
        )

    def read_routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        if not config.key and config.values["keyless"]:
            return (replace(config, price=0.0),)
        own = config.price != self.price
        depth = config.values["extract_depth"]
        return (config if own else replace(config, price=_READ_CREDITS[depth] * _CREDIT_DOLLARS),)

    def read_request(self, url: str, config: ProviderConfig) -> Request:
        body = {
            "urls": [url],
            "include_images": False,
            "extract_depth": config.values["extract_depth"],
            "format": "markdown",
            "timeout": min(max(config.timeout, 1.0), _LONGEST_READ),
            "include_usage": True,
        }
        return post_json(config, "/extract", body, *_headers(config))

    def read_failure(self, reply: Reply, url: str, config: ProviderConfig) -> ProviderError | ReadPage | None:
        return _judged(reply)

    def read_answer(self, reply: Reply, url: str, config: ProviderConfig) -> ReadPage:
        document = reply.json()
        found = rows(reply, document, "results")
        cost = _cost(document, config)
        if not found:
            failed = next(iter(rows(reply, document, "failed_results", required=False)), {})
            words = reply.quote(str(failed.get("error") or "it could not read that page"))
            return ReadPage(problem=words, cost=cost)
        row = found[0]
        return ReadPage(
            markdown=row.get("raw_content"),
            title=row.get("title"),
            published=row.get("published_date"),
            final_url=row.get("url"),
            cost=cost,
            notes=[] if config.key else [keyless_note("Tavily", "tavily.keyless")],
        )


def _headers(config: ProviderConfig) -> list[tuple[str, str]]:
    headers = [("X-Client-Source", "webseam")]
    headers.append(("Authorization", f"Bearer {config.key}") if config.key else ("X-Tavily-Access-Mode", "keyless"))
    for name, key in (("X-Project-ID", "project"), ("X-Tavily-Orgid", "organization")):
        if config.values[key]:
            headers.append((name, config.values[key]))
    return headers


def _judged(reply: Reply) -> ProviderError:
    from webseam.providers.verdicts import failure

    error = failure(reply)
    if reply.status in _PLAN_LIMITS:
        error.outcome = Outcome.QUOTA
    elif reply.status == 400 and error.outcome == Outcome.BAD_RESPONSE:
        error.outcome = Outcome.UNSUPPORTED
    return _keyless_limit(reply, error)


def _country(search: SearchRequest) -> str | None:
    """Return the country as Tavily names it; it prefers a country's pages in its general topic only."""
    return ENGLISH_NAME.get(search.region) if search.region and search.kind != "news" else None


def _cost(document: Any, config: ProviderConfig) -> float | None:
    """Return what the call cost; None leaves it to the price."""
    if not config.key:
        return 0.0
    usage = document.get("usage")
    used = usage.get("credits") if isinstance(usage, dict) else None
    return used * _CREDIT_DOLLARS if isinstance(used, (int, float)) else None


def _notes(search: SearchRequest, config: ProviderConfig) -> list[str]:
    notes = []
    if search.region and not _country(search):
        where = "news" if search.kind == "news" else "results"
        notes.append(f"Tavily cannot prefer {where} of the region {search.region}; that was not applied")
    if not config.key:
        notes.append(keyless_note("Tavily", "tavily.keyless"))
    return notes


def _check_empty(reply: Reply, document: Any) -> None:
    """Raise what an answer without results states, or that it is not one of Tavily's at all."""
    from webseam.providers.verdicts import error_object

    if error := error_object(reply, document):
        raise error
    if not _OWN_FIELDS & document.keys():
        raise shape(reply, document, "results")


def _keyless_limit(reply: Reply, error: ProviderError) -> ProviderError:
    """Read the envelope of anonymous access: a limit with the window it is for and the delay it asks for."""
    stated = reply.fields().get("error")
    if isinstance(stated, dict) and isinstance(stated.get("retry_after_seconds"), (int, float)):
        long = str(stated.get("window")) in ("day", "month")
        error.outcome = Outcome.QUOTA if long else Outcome.RATE_LIMITED
        error.retry_after = max(0.0, float(stated["retry_after_seconds"]))
    return error
