"""A SearXNG instance of one's own. Wire: https://docs.searxng.org/dev/search_api.html and what running servers answer.

It answers 200 with no results when every engine behind it is dead, so its list of unresponsive engines decides whether
"nothing" means nothing. Which engines a hit came from, as it states too, is not told: a note on every answer would
drown those that matter.
"""

from __future__ import annotations

import base64
import re
from typing import Any, Final
from urllib.parse import urlencode

from webseam.config import Settings
from webseam.errors import Outcome, ProviderError
from webseam.model import Kind, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import EMULATED, NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, Setting, get, rows
from webseam.providers.options import bucket, with_sites

_SAFE: Final = {"off": "0", "moderate": "1", "strict": "2"}
_CATEGORY: Final[dict[Kind, str]] = {"web": "general", "news": "news", "code": "it", "paper": "science"}
_MAX_PAGES: Final = 5  # pages asked for to fill one count
_RATE_WORDS = re.compile(r"too many requests|suspended", re.IGNORECASE)
_BLOCK_WORDS = re.compile(r"captcha|access denied", re.IGNORECASE)
_NO_JSON_HINT = "add json to search.formats in the instance's settings.yml"


class Searxng(Provider):
    id = "searxng"
    label = "SearXNG"
    receives = "your SearXNG instance, and the engines behind it"
    rank = 20
    key = "optional"
    key_env = ("SEARXNG_TOKEN", "SEARXNG_API_KEY")
    base_env = (
        "SEARXNG_URL", "SEARXNG_BASE_URL", "SEARXNG_ENDPOINT", "SEARXNG_API_BASE", "SEARXNG_QUERY_URL", "SEARX_HOST",
    )  # fmt: skip
    settings = (
        Setting(name="categories", help="categories instead of the one for the kind"),
        Setting(name="engines", help="engines, comma-separated"),
        Setting(name="language", help="language when the request names none"),
        Setting(name="safesearch", choices=("0", "1", "2"), help="filter when the request names none"),
        Setting(name="method", default="GET", choices=("GET", "POST"), help="POST keeps queries out of access logs"),
        Setting(name="username", env=("SEARXNG_USERNAME",), help="Basic authentication; wins over a token"),
        Setting(name="password", env=("SEARXNG_PASSWORD",), secret=True, guarded=True, help="its password"),
    )
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": EMULATED,
        "language": NATIVE,
        "region": NATIVE,
        "safe": NATIVE,
        "page": NATIVE,
    }
    kinds = {"news": NATIVE, "code": NATIVE, "paper": NATIVE}
    max_count = 50
    price = 0.0
    private = True
    hint = "set SEARXNG_URL to your instance, e.g. http://localhost:8080"

    def address(self, settings: Settings) -> str | None:
        return settings.variable("WEB_SEARCH_API") if settings.variable("WEB_PROVIDER") == self.id else None

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        return self._page(search, config, search.page)

    def _page(self, search: SearchRequest, config: ProviderConfig, page: int) -> Request:
        values = config.values
        query = {
            "q": with_sites(search),
            "format": "json",
            "pageno": str(page),
            "categories": _categories(search, config),
            "engines": values["engines"],
            "language": _language(search) or values["language"],
            "time_range": bucket(search),
            "safesearch": _SAFE[search.safe] if search.safe else values["safesearch"],
        }
        base = config.base_url.partition("?")[0]  # a copied query template is an address too
        at = ProviderConfig(provider=config.provider, base_url=base, secrets=config.secrets)
        headers = _credentials(config)
        if values["method"] == "GET":
            return get(at, "/search", query, *headers)
        form = urlencode({name: value for name, value in query.items() if value is not None})
        return Request(
            method="POST",
            url=at.url("/search"),
            headers=(("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"), *headers),
            body=form.encode(),
            secrets=config.secrets,
        )

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        if reply.status == 403:
            return ProviderError(
                "HTTP 403: the instance does not offer JSON answers",
                outcome=Outcome.UNAVAILABLE,
                http_status=403,
                hint=_NO_JSON_HINT,
            )
        if reply.status == 400 and b"Invalid value" in reply.response.body:
            from webseam.providers.verdicts import message_of

            words = reply.quote(message_of(reply.json()))
            return ProviderError(f"HTTP 400: {words}", outcome=Outcome.UNSUPPORTED, http_status=400)
        return None

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in rows(reply, document, "results"):
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("content"),
                published=row.get("publishedDate") or row.get("pubdate"),
                author=row.get("author"),
                score=row.get("score"),
            )
        dead = _unresponsive(document)
        if not hits.found and not hits.dropped and dead:
            raise _all_dead(reply, dead)
        notes = _notes(search, config)
        if dead:
            notes.append(f"SearXNG engines that did not answer: {reply.quote(', '.join(name for name, _ in dead))}")
        page = _page_number(reply, search)
        more = self._page(search, config, page + 1) if hits.found and page - search.page + 1 < _MAX_PAGES else None
        return hits.parsed(answer=_answer(document), notes=notes, more=more)


def _categories(search: SearchRequest, config: ProviderConfig) -> str | None:
    """Return the categories to search. None where engines are chosen: SearXNG would add all engines of a category."""
    chosen = config.values["categories"]
    return str(chosen) if chosen else None if config.values["engines"] else _CATEGORY[search.kind]


def _notes(search: SearchRequest, config: ProviderConfig) -> list[str]:
    if search.kind == "web" or _categories(search, config) == _CATEGORY[search.kind]:
        return []
    return [f"SearXNG was asked as its settings say (searxng.engines or categories), not for {search.kind} alone"]


def _language(search: SearchRequest) -> str | None:
    if search.language and search.region and "-" not in search.language:
        return f"{search.language}-{search.region}"
    return search.language or (f"all-{search.region}" if search.region else None)


def _credentials(config: ProviderConfig) -> tuple[tuple[str, str], ...]:
    username, password = config.values["username"], config.values["password"]
    if username and password:
        pair = base64.b64encode(f"{username}:{password}".encode()).decode()
        return (("Authorization", f"Basic {pair}"),)
    return (("Authorization", f"Bearer {config.key}"),) if config.key else ()


def _unresponsive(document: Any) -> list[tuple[str, str]]:
    entries = document.get("unresponsive_engines")
    return [
        (str(entry[0]), str(entry[1]))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, (list, tuple)) and len(entry) >= 2
    ]


def _all_dead(reply: Reply, dead: list[tuple[str, str]]) -> ProviderError:
    reasons = " ".join(reason for _, reason in dead)
    if _BLOCK_WORDS.search(reasons):
        outcome = Outcome.BLOCKED
    elif _RATE_WORDS.search(reasons):
        outcome = Outcome.RATE_LIMITED
    elif "timeout" in reasons.lower():
        outcome = Outcome.TIMEOUT
    else:
        outcome = Outcome.BAD_RESPONSE
    named = ", ".join(f"{name}: {reason}" for name, reason in dead)
    return ProviderError(
        f"none of its engines answered ({reply.quote(named)})", outcome=outcome, http_status=reply.status
    )


def _answer(document: Any) -> str | None:
    answers = document.get("answers")
    for entry in answers if isinstance(answers, list) else ():
        text = entry.get("answer") if isinstance(entry, dict) else entry
        if isinstance(text, str) and text.strip():
            return text
    return None


def _page_number(reply: Reply, search: SearchRequest) -> int:
    """Return the page that was asked for: in the URL of a GET, in the form of a POST."""
    sent = reply.request
    found = re.search(r"(?:^|[?&])pageno=(\d{1,4})", f"{sent.url}&{sent.body.decode()}" if sent else "")
    return int(found[1]) if found else search.page
