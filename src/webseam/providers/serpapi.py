"""SerpApi, which sells Google's results. Wire: https://serpapi.com/search-api, as its official Python SDK sends it.

The key is documented in the query string only. A search that found nothing is reported as an error inside a success.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import EMULATED, NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, Setting, get
from webseam.providers.google import ENGINE
from webseam.providers.googlish import (
    adult_filter,
    first_text,
    interface_language,
    language_notes,
    listed,
    region,
    result_language,
    when,
    years,
)
from webseam.providers.options import with_sites

_OWN_FIELDS: Final = frozenset({"search_metadata", "search_parameters"})  # what even an answer without results has
_MAX_PAPERS: Final = 20  # a call; the scholar engine refuses more
_UNFINISHED: Final = ("Processing", "Queued", "Error")  # states of a search other than success
_START = re.compile(r"[0-9]{1,6}", re.ASCII)


class Serpapi(Provider):
    id = "serpapi"
    label = "SerpApi"
    receives = "SerpApi (serpapi.com), which asks Google"
    rank = 140
    base_url = "https://serpapi.com"
    key_env = ("SERPAPI_API_KEY", "SERPAPI_KEY", "SERP_API_KEY")
    key_in_url = True
    settings = (
        Setting(
            name="engine",
            default=ENGINE,
            env=("SERPAPI_ENGINE",),
            help="engine of the web search, one with Google's parameters",
        ),
    )
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "language": NATIVE,
        "region": NATIVE,
        "safe": NATIVE,
        "page": NATIVE,
    }
    kinds = {"news": NATIVE, "paper": NATIVE}
    max_count = 100
    price = 0.025  # of the smallest plan; larger ones cost less, and a budget must not run out late
    hint = "get a key at serpapi.com, then: webseam key set serpapi"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        return self._from(search, config, _first(search))

    def _from(self, search: SearchRequest, config: ProviderConfig, start: int) -> Request:
        """Describe the call for the results from `start` on, the first being 0."""
        papers = search.kind == "paper"
        query: dict[str, Any] = {
            "engine": _engine(search, config),
            "q": with_sites(search),
            "num": min(search.count, _MAX_PAPERS) if papers else search.count,
            "start": start or None,
            "hl": interface_language(search.language),
            "lr": result_language(search.language),
            "safe": adult_filter(search),
            "output": "json",
            "api_key": config.key,
        }
        if papers:
            query |= years(search)
        else:
            query |= {"gl": region(search), "tbs": when(search, padded=False)}
        if search.kind == "news":
            query["tbm"] = "nws"
        return get(config, "/search", query)

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import failure

        error = failure(reply)
        if reply.status == 429 and error.outcome is Outcome.QUOTA and b"hourly" in reply.response.body.lower():
            error.outcome = Outcome.RATE_LIMITED  # the throughput of the plan, in the words of a quota
        # A 503 stays upstream, although it too may say that the search is not done: both count for the breaker.
        return error

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        _check_finished(reply, document)
        section = "news_results" if search.kind == "news" else "organic_results"
        for row in listed(reply, document, _OWN_FIELDS, section):
            hits.add(
                url=row.get("link"),
                title=row.get("title"),
                snippet=row.get("snippet"),
                published=row.get("date"),
                site=row.get("source"),
            )
        notes = language_notes(self.label, search)
        if search.kind == "paper" and search.region:
            notes.append(f"{self.label} cannot filter papers by region; that was not applied")
        following = _following(document)
        # A page often holds nine results; a whole page must be missing before another call is paid for.
        wanted = following is not None and following - _first(search) < search.count
        return hits.parsed(
            answer=first_text(document.get("answer_box"), "answer", "snippet", "result"),
            notes=notes,
            more=self._from(search, config, following) if following is not None and wanted else None,
        )


def _engine(search: SearchRequest, config: ProviderConfig) -> str:
    return {"paper": "google_scholar", "news": ENGINE}.get(search.kind) or str(config.values["engine"])


def _first(search: SearchRequest) -> int:
    """Return where the wanted page starts. Ours are as long as was asked for, so that none repeats another."""
    return (search.page - 1) * search.count


def _following(document: Any) -> int | None:
    """Return where the next page starts, as the service counts it; its own link has the key in it and is not used."""
    pagination = document.get("serpapi_pagination")
    link = pagination.get("next") if isinstance(pagination, dict) else None
    if not isinstance(link, str):
        return None
    try:
        start = parse_qs(urlsplit(link).query).get("start", [""])[0]
    except ValueError:
        return None
    return int(start) if _START.fullmatch(start) else None


def _check_finished(reply: Reply, document: Any) -> None:
    """Raise what is wrong when the search behind the answer is not done.

    Raises:
        ProviderError: the state the service names, with its words where there are any.
    """
    from webseam.providers.verdicts import error_object

    metadata = document.get("search_metadata") if isinstance(document, dict) else None
    status = metadata.get("status") if isinstance(metadata, dict) else None
    if status not in _UNFINISHED:
        return
    raise error_object(reply, document) or ProviderError(
        f"the search is not done: {reply.quote(str(status))}",
        outcome=Outcome.BAD_RESPONSE,
        http_status=reply.status,
    )
