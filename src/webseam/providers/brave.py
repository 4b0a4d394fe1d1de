"""Brave's search API. Wire: https://api.search.brave.com/app/documentation, as Brave's own MCP server sends it."""

from __future__ import annotations

import re
from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.model import Freshness, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
    EMULATED,
    NATIVE,
    Hits,
    Parsed,
    Provider,
    ProviderConfig,
    Reply,
    Setting,
    get,
    rows,
    shape,
)
from webseam.providers.options import closed_range, is_traditional, listed_language, with_sites

_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_FRESHNESS: Final[dict[Freshness, str]] = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_MAX_WORDS: Final = 50
_MAX_PAGE: Final = 10  # its offset counts pages and ends at 9
_OWN_FIELDS: Final = frozenset({"mixed", "query", "type"})  # what even an answer without results has
_MOST_NEWS: Final = 50
_NEWS: Final = "/res/v1/news/search"
_WEB: Final = "/res/v1/web/search"
_COUNTRIES: Final = frozenset(
    (
        "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US"
    ).split()
)
_LANGUAGES: Final = frozenset(
    (
        "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi hu is it jp kn ko lv lt ms ml "
        "mr nb pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi"
    ).split()
)
_LANGUAGE_NAMES: Final = {"ja": "jp", "zh": "zh-hans", "pt": "pt-pt", "no": "nb"}


class Brave(Provider):
    id = "brave"
    label = "Brave Search"
    receives = "Brave (search.brave.com)"
    rank = 100
    base_url = "https://api.search.brave.com"
    key_env = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    key_file_env = ("BRAVE_API_KEY_FILE",)
    base_env = ("BRAVE_API_BASE",)
    settings = (
        Setting(name="extra_snippets", kind="switch", default=True, help="ask for more extracts a hit"),
        Setting(name="goggles", help="a Goggle that re-ranks the results"),
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
    kinds = {"news": NATIVE}
    max_count = 20  # and of news `_MOST_NEWS`
    max_query = 400
    interval = 1.0  # one a second a key on the free plan, over both endpoints
    price = 0.005
    hint = "get a key at brave.com/search/api, then: webseam key set brave"

    def most(self, search: SearchRequest) -> int:
        return _MOST_NEWS if search.kind == "news" else self.max_count

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        if search.page > _MAX_PAGE:
            raise ProviderError(f"{self.label} has no page {search.page}", outcome=Outcome.UNSUPPORTED)
        if len(search.query.split()) > _MAX_WORDS:
            raise ProviderError(
                f"{self.label} takes queries of at most {_MAX_WORDS} words", outcome=Outcome.UNSUPPORTED
            )
        return self._get(search, config, extra=config.values["extra_snippets"])

    def _get(self, search: SearchRequest, config: ProviderConfig, *, extra: bool) -> Request:
        news = search.kind == "news"
        query = with_sites(search, limit=self.max_query)
        if len(query.split()) > _MAX_WORDS:
            query = search.query
        parameters: dict[str, object] = {
            "q": query,
            "count": search.count,
            "offset": search.page - 1 or None,
            "country": _country(search.region),
            "search_lang": _language(search.language),
            "safesearch": search.safe,
            "freshness": _when(search),
            "spellcheck": "false" if news else None,
            "text_decorations": None if news else "false",
            "result_filter": None if news else "web",
            "extra_snippets": "true" if extra else None,
            "goggles": config.values["goggles"],
        }
        return get(config, _NEWS if news else _WEB, parameters, ("X-Subscription-Token", config.key))

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        error = _stated(reply)
        if error is None:
            return None
        code = str(error.get("code"))
        detail = f"HTTP {reply.status}: {reply.quote(str(error.get('detail') or code))}"
        if code == "SUBSCRIPTION_TOKEN_INVALID":
            return ProviderError(detail, outcome=Outcome.AUTH, http_status=reply.status)
        if code == "OPTION_NOT_IN_PLAN":
            return self._without_extra(reply, search, config, detail)
        if code == "VALIDATION":
            return ProviderError(detail, outcome=Outcome.UNSUPPORTED, http_status=reply.status)
        if reply.status == 429:
            return _limited(reply, error.get("meta"), detail)
        return None

    def _without_extra(
        self, reply: Reply, search: SearchRequest, config: ProviderConfig, detail: str
    ) -> ProviderError | Request:
        if config.values["extra_snippets"] and reply.request is not None and "extra_snippets" in reply.request.url:
            return self._get(search, config, extra=False)
        return ProviderError(detail, outcome=Outcome.AUTH, http_status=reply.status, hint="choose a plan that has it")

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in _results(reply, document, news=search.kind == "news"):
            meta, profile = row.get("meta_url"), row.get("profile")
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("description"),
                published=row.get("page_age") or row.get("age"),
                site=_of(meta, "hostname") or _of(profile, "name"),
                passages=row.get("extra_snippets"),
            )
        return hits.parsed(notes=self._notes(search))

    def _notes(self, search: SearchRequest) -> list[str]:
        """Say which values are not on Brave's closed lists."""
        notes = []
        if _country(search.region) == "ALL":
            notes.append(f"{self.label} does not know the region {search.region}; it searched all regions")
        if search.language and _language(search.language) is None:
            notes.append(f"{self.label} does not know the language {search.language}; that was not applied")
        return notes


def _results(reply: Reply, document: Any, *, news: bool) -> list[dict[str, Any]]:
    """Return the rows of results.

    Raises:
        ProviderError: there is no section of results, and no sign either that Brave found nothing.
    """
    from webseam.providers.verdicts import error_object

    section = "results" if news else "web"
    if isinstance(document, dict) and document.get(section) is None:
        if error := error_object(reply, document):
            raise error
        if not _OWN_FIELDS & document.keys():
            raise shape(reply, document, section)
        return []
    return rows(reply, document, "results") if news else rows(reply, document, "web", "results")


def _of(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _country(region: str | None) -> str | None:
    if region is None:
        return None
    return region if region in _COUNTRIES else "ALL"


def _language(language: str | None) -> str | None:
    if language is None:
        return None
    if is_traditional(language):
        return "zh-hant"
    return listed_language(language.lower(), _LANGUAGES, _LANGUAGE_NAMES)


def _when(search: SearchRequest) -> str | None:
    days = closed_range(search.after, search.before)  # the API wants both ends
    if days:
        return f"{days[0]}to{days[1]}"
    return _FRESHNESS[search.freshness] if search.freshness else None


def _stated(reply: Reply) -> dict[str, Any] | None:
    error = reply.fields().get("error")
    return error if isinstance(error, dict) else None


def _limited(reply: Reply, meta: object, detail: str) -> ProviderError:
    from webseam.providers.verdicts import retry_after

    reset = _reset(reply)
    return ProviderError(
        detail,
        outcome=Outcome.QUOTA if _is_quota(meta) else Outcome.RATE_LIMITED,
        http_status=reply.status,
        retry_after=retry_after(reply) if reset is None else reset,
    )


def _is_quota(meta: object) -> bool:
    limit, current = _of(meta, "quota_limit"), _of(meta, "quota_current")
    return isinstance(limit, (int, float)) and isinstance(current, (int, float)) and 0 < limit <= current


def _reset(reply: Reply) -> float | None:
    """Return the longest reset among the buckets that are used up.

    The headers are lists with one position a bucket; a bucket whose limit is 0 belongs to a prepaid plan.
    """
    limit, remaining, reset = (
        _numbers(reply.header(f"X-RateLimit-{name}")) for name in ("Limit", "Remaining", "Reset")
    )
    waits = [after for size, left, after in zip(limit, remaining, reset, strict=False) if size > 0 and left <= 0]
    return max(waits, default=None)


def _numbers(header: str | None) -> list[float]:
    entries = [entry.strip() for entry in (header or "").split(",")]
    return [float(entry) for entry in entries] if all(_NUMBER.fullmatch(entry) for entry in entries) else []
