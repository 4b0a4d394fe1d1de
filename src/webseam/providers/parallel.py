"""Parallel's search, and its reading of pages. Wire: https://docs.parallel.ai, as its official Python SDK sends it.

`parse_results` reads its result object, which Parallel's hosted server sends too, inside an envelope of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from webseam.config import Settings
from webseam.domains import host_of
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
    ReadPage,
    Reply,
    Setting,
    post_json,
    rows,
    shape,
)
from webseam.providers.options import date_range

_PRICES: Final = {"basic": 0.005, "advanced": 0.005, "fast": 0.001, "turbo": 0.001}
_INCLUDED_RESULTS: Final = 10  # of one price
_PRICE_OF_A_FURTHER_RESULT: Final = 0.001
_MAX_KEYWORDS: Final = 200  # characters of one of `search_queries`
_MAX_DOMAINS: Final = 200  # entries of both lists


class Parallel(Provider):
    id = "parallel"
    label = "Parallel"
    receives = "Parallel (parallel.ai)"
    rank = 60
    base_url = "https://api.parallel.ai"
    key_env = ("PARALLEL_API_KEY", "PARALLEL_AI_API_KEY")
    base_env = ("PARALLEL_BASE_URL", "PARALLEL_AI_API_BASE")
    settings = (
        Setting(
            name="mode",
            default="basic",
            choices=tuple(_PRICES),
            help="advanced takes longer; fast and turbo cost less; turbo knows English and Japanese queries only",
        ),
        Setting(
            name="chars_per_result", kind="whole", default=2000, low=100, high=20_000, help="characters of text a hit"
        ),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": EMULATED,  # it knows a first day only; the last one is kept to here
        "region": NATIVE,
    }
    max_count = 20
    interval = 0.1  # 600 a minute a key
    price = _PRICES["basic"]
    reads = True
    read_price = 0.001
    hint = "get a key at platform.parallel.ai, then: webseam key set parallel"

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        """Price the mode that is set, so that budgets are checked against what will be paid."""
        own = config.price != self.price  # a price from the settings
        return (config if own else replace(config, price=_PRICES[config.values["mode"]]),)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        chars = config.values["chars_per_result"]
        settings: dict[str, Any] = {
            "max_results": search.count,
            "location": search.region.lower() if search.region else None,
            "source_policy": _source_policy(search),
            "excerpt_settings": {"max_chars_per_result": chars},
        }
        body = {
            "search_queries": [keywords(search.query)],
            "objective": search.query,
            "mode": config.values["mode"],  # left out, it is the slowest one
            "max_chars_total": chars * search.count,
            "advanced_settings": {name: value for name, value in settings.items() if value is not None},
        }
        return post_json(config, "/v1/search", body, ("x-api-key", config.key))

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        return _judged(reply)

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        parsed = parse_results(document, reply, self.id)
        further = len(document["results"]) - _INCLUDED_RESULTS
        if further > 0 and config.price == _PRICES[config.values["mode"]]:
            parsed.cost = config.price + further * _PRICE_OF_A_FURTHER_RESULT
        return parsed

    def read_request(self, url: str, config: ProviderConfig) -> Request:
        body = {"urls": [url], "advanced_settings": {"full_content": True}}
        return post_json(config, "/v1/extract", body, ("x-api-key", config.key))

    def read_failure(self, reply: Reply, url: str, config: ProviderConfig) -> ProviderError | ReadPage | None:
        return _judged(reply)

    def read_answer(self, reply: Reply, url: str, config: ProviderConfig) -> ReadPage:
        document = reply.json()
        found = rows(reply, document, "results")
        if not found:
            failed = next(iter(rows(reply, document, "errors", required=False)), None)
            if failed is None:
                raise shape(reply, document, "page in its results")
            words = reply.quote(str(failed.get("error_type") or "it could not read that page"))
            return ReadPage(problem=words, status=failed.get("http_status_code"))
        row, whole = found[0], found[0].get("full_content")
        excerpts = [text for text in _list(row.get("excerpts")) if isinstance(text, str)]
        notes = _remarks(document, reply)
        if not whole and excerpts:
            notes.append("Parallel gave excerpts of the page, not all of it")
        return ReadPage(
            markdown=whole or "\n\n".join(excerpts),
            title=row.get("title"),
            published=row.get("publish_date"),
            final_url=row.get("url"),
            notes=notes,
        )


def _judged(reply: Reply) -> ProviderError:
    from webseam.providers.verdicts import failure

    error = failure(reply)
    if reply.status == 422 and error.outcome == Outcome.BAD_RESPONSE:  # a field or value it does not take
        error.outcome = Outcome.UNSUPPORTED
    return error


def parse_results(document: Any, reply: Reply, provider_id: str) -> Parsed:
    """Read Parallel's result object; `reply` is what errors are told from.

    Raises:
        ProviderError: it states an error, or has no list of results.
    """
    hits = Hits(provider_id)
    for row in rows(reply, document, "results"):
        excerpts = [text for text in _list(row.get("excerpts")) if isinstance(text, str)]
        hits.add(
            url=row.get("url"),
            title=row.get("title"),
            snippet=excerpts[0] if excerpts else None,
            published=row.get("publish_date"),
            passages=excerpts,
        )
    return hits.parsed(notes=_remarks(document, reply))


def _remarks(document: Any, reply: Reply) -> list[str]:
    remarks = [warning.get("message") for warning in _list(document.get("warnings")) if isinstance(warning, dict)]
    return [f"Parallel: {reply.quote(words)}" for words in remarks if isinstance(words, str) and words.strip()]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def keywords(query: str) -> str:
    """Return a query as keywords: its beginning, cut at a word, where it is longer than they may be."""
    if len(query) <= _MAX_KEYWORDS:
        return query
    cut = query[: _MAX_KEYWORDS + 1].rsplit(maxsplit=1)[0]
    return cut[:_MAX_KEYWORDS].rstrip()


def _source_policy(search: SearchRequest) -> dict[str, Any] | None:
    policy: dict[str, Any] = {}
    included = list(dict.fromkeys(_domain(rule) for rule in search.include_domains))
    if 0 < len(included) <= _MAX_DOMAINS:  # some of them would hide the hosts of the others
        policy["include_domains"] = included
    elif excluded := _excluded(search.exclude_domains):  # beside an include list it is ignored
        policy["exclude_domains"] = excluded
    after, _ = date_range(search, start_only=True)
    if after:
        policy["after_date"] = after
    return policy or None


def _domain(rule: str) -> str:
    """Return a rule as Parallel writes it: a bare suffix has a leading dot, and takes no path."""
    host = host_of(rule)
    return rule if "." in host else f".{host}"


def _excluded(rules: Iterable[str]) -> list[str]:
    """Return the rules to exclude; for a path on a bare suffix the whole suffix would be too much."""
    kept = (rule for rule in rules if "." in host_of(rule) or "/" not in rule)
    return [_domain(rule) for rule in kept][:_MAX_DOMAINS]
