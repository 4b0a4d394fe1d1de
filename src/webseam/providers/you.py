"""You.com's search API. Wire: https://docs.you.com, as its official Python SDK sends it.

Without a key there is another address with the same answers, for few searches a day. It takes its parameters in the
query string and refuses a key, so address, method and authentication are chosen together.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
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
    Reply,
    Setting,
    get,
    post_json,
    rows,
    shape,
)
from webseam.providers.options import (
    closed_range,
    hosts,
    is_traditional,
    keyless_note,
    listed_language,
    whole_hosts,
)

_KEYLESS_BASE: Final = "https://api.you.com"
_KEYLESS: Final = "/v1/agents/search"
_MAX_PAGE: Final = 10  # its offset counts pages and ends at 9
_MAX_DOMAINS: Final = 500
_COUNTRIES: Final = frozenset(
    (
        "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US"
    ).split()
)
_LANGUAGES: Final = frozenset(
    (
        "AR EU BN BG CA ZH-HANS ZH-HANT HR CS DA NL EN EN-GB ET FI FR GL DE EL GU HE HI HU IS IT JA KN KO LV LT MS ML "
        "MR NB PL PT-BR PT-PT PA RO RU SR SK SL ES SV TA TE TH TR UK VI"
    ).split()
)
_LANGUAGE_NAMES: Final = {"ZH": "ZH-HANS", "PT": "PT-PT", "NO": "NB"}


class You(Provider):
    id = "you"
    label = "You.com"
    receives = "You.com (you.com)"
    rank = 80
    base_url = "https://ydc-index.io"
    key_env = ("YDC_API_KEY", "YOU_API_KEY", "YOU_API_KEY_AUTH", "YOUCOM_API_KEY")
    base_env = ("YOU_BASE_URL", "YOUCOM_API_BASE")
    settings = (
        Setting(name="keyless", kind="switch", default=False, help="without a key, use You.com's anonymous access"),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "language": NATIVE,
        "region": NATIVE,
        "safe": NATIVE,
        "page": NATIVE,
    }
    # No kinds: for news it is asked the same as ever, and only its section of news goes first. So "it searched
    # everything", the note about a kind that is not declared, is what happens.
    max_count = 100  # a section
    interval = 0.1  # 10 requests a second a key
    price = 0.005
    hint = "get a key at you.com/platform, then: webseam key set you"

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        if config.key or not config.values["keyless"]:
            return (config,)
        base = _KEYLESS_BASE if config.base_url == self.base_url else config.base_url
        return (replace(config, base_url=base, price=0.0),)

    def unavailable(self, config: ProviderConfig) -> str | None:
        return None if config.values["keyless"] else super().unavailable(config)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        if search.page > _MAX_PAGE:
            raise ProviderError(f"{self.label} has no page {search.page}", outcome=Outcome.UNSUPPORTED)
        included = (hosts(search.include_domains) or [])[:_MAX_DOMAINS]
        excluded = [] if included else (whole_hosts(search.exclude_domains) or [])[:_MAX_DOMAINS]
        # Left out, `knowledge` and `extraction` are off: they cost more, and pages have their own command.
        asked: dict[str, Any] = {
            "query": search.query,
            "count": search.count,
            "offset": search.page - 1 or None,
            "country": search.region if search.region in _COUNTRIES else None,
            "language": _language(search.language),
            "safesearch": search.safe,
            "freshness": _when(search),
        }
        lists = {"include_domains": included, "exclude_domains": excluded}  # both at once are refused
        if config.key:
            body = {**asked, **{name: domains or None for name, domains in lists.items()}}
            return post_json(config, "/v1/search", body, ("X-API-Key", config.key))
        return get(config, _KEYLESS, {**asked, **{name: ",".join(one) or None for name, one in lists.items()}})

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import failure

        error = failure(reply)
        if reply.status == 422 and error.outcome is Outcome.BAD_RESPONSE:
            error.outcome = Outcome.UNSUPPORTED
        elif reply.status == 402 and error.retry_after is None:
            error.retry_after = _until_reset(reply)
        return error

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in _results(reply, document, news_first=search.kind == "news"):
            snippets = _texts(row.get("snippets"))
            contents = row.get("contents")
            highlights = _texts(contents.get("highlights")) if isinstance(contents, dict) else []
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=snippets[0] if snippets else row.get("description"),
                published=row.get("page_age"),
                passages=[*snippets, *highlights],
            )
        return hits.parsed(cost=None if config.key else 0.0, notes=self._notes(search, config))

    def _notes(self, search: SearchRequest, config: ProviderConfig) -> list[str]:
        """Say which values are not on its closed lists, and when it was asked anonymously."""
        notes = []
        if search.region and search.region not in _COUNTRIES:
            notes.append(f"{self.label} does not know the region {search.region}; that was not applied")
        if search.language and _language(search.language) is None:
            notes.append(f"{self.label} does not know the language {search.language}; it searched in English")
        if not config.key:
            notes.append(keyless_note(self.label, "you.keyless"))
        return notes


def _language(language: str | None) -> str | None:
    if language is None:
        return None
    if is_traditional(language):
        return "ZH-HANT"
    return listed_language(language.upper(), _LANGUAGES, _LANGUAGE_NAMES)


def _when(search: SearchRequest) -> str | None:
    days = closed_range(search.after, search.before)  # the API wants both ends
    if days:
        return f"{days[0]}to{days[1]}"
    return search.freshness


def _results(reply: Reply, document: Any, *, news_first: bool) -> list[dict[str, Any]]:
    """Return the rows of both sections; a section without any is left out by the service.

    News appear only when the service takes the query for one about news, so whoever wants news gets them first.

    Raises:
        ProviderError: what the answer states, or that it is not one of You.com's.
    """
    if not isinstance(document, dict) or not isinstance(document.get("results"), dict):
        if isinstance(document, dict) and "results" not in document and isinstance(document.get("metadata"), dict):
            return []
        raise shape(reply, document, "results")
    web, news = (rows(reply, document["results"], name, required=False) for name in ("web", "news"))
    return [*news, *web] if news_first else [*web, *news]


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _until_reset(reply: Reply) -> float | None:
    """Return the seconds until the allowance is renewed, as the answer to an unpaid call states it."""
    reset = reply.fields().get("reset_at")
    try:
        moment = datetime.fromisoformat(reset) if isinstance(reset, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    instant = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, round(instant.timestamp() - time.time(), 1))
