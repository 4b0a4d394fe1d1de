"""Mojeek's search API. Wire: https://www.mojeek.com/support/api/search/, requests as a community client sends them.

The key is documented in the query string only, and errors are answered with 200 and words in a field called status.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, get, rows
from webseam.providers.options import date_range, hosts, whole_hosts

_LANGUAGE_BOOST: Final = 100  # of 100; the strengths that its documentation recommends
_REGION_BOOST: Final = 10


class Mojeek(Provider):
    id = "mojeek"
    label = "Mojeek"
    receives = "Mojeek (mojeek.com)"
    rank = 180
    base_url = "https://www.mojeek.com"
    key_env = ("MOJEEK_API_KEY", "MOJEEK_SEARCH_API_KEY")
    key_in_url = True
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
    max_count = 50
    hint = "get a key at mojeek.com/services/search/web-search-api, then: webseam key set mojeek"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        since, before = _days(search)
        query: dict[str, Any] = {
            "q": search.query,
            "fmt": "json",
            "t": search.count,
            "s": (search.page - 1) * search.count + 1 if search.page > 1 else None,
            "fi": _listed(hosts(search.include_domains)),
            "fe": _listed(whole_hosts(search.exclude_domains)),
            "since": since,
            "before": before,
            "safe": None if search.safe is None else int(search.safe != "off"),
            "api_key": config.key,
        }
        if search.language:
            query |= {"lb": search.language.split("-")[0].upper(), "lbb": _LANGUAGE_BOOST}
        if search.region:
            query |= {"rb": search.region, "rbb": _REGION_BOOST}
        return get(config, "/search", query)

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        wrapped = document.get("response") if isinstance(document, dict) else None
        held = wrapped if isinstance(wrapped, dict) else document  # its first version had no wrapping
        nothing = _says_nothing(reply, held)
        hits = Hits(self.id)
        for row in rows(reply, held, "results", required=not nothing):
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("desc") or row.get("snippet"),
                published=row.get("pdate"),  # its other two times are of the last change and of the crawl
            )
        return hits.parsed(
            notes=[
                f"{self.label} prefers the {name} {value}; it does not filter by it"
                for name, value in (("language", search.language), ("region", search.region))
                if value
            ]
        )


def _listed(names: list[str] | None) -> str | None:
    return ",".join(names) if names else None


def _days(search: SearchRequest) -> tuple[str | None, str | None]:
    """Return `since` and `before`; the second is the first day that is no longer wanted."""
    if search.freshness in ("day", "month", "year") and not (search.after or search.before):
        return search.freshness, None
    after, before = date_range(search)
    end = date.fromisoformat(before) + timedelta(days=1) if before and before < date.max.isoformat() else None
    return after.replace("-", "") if after else None, f"{end:%Y%m%d}" if end else None


def _says_nothing(reply: Reply, held: Any) -> bool:
    """True when the status says that nothing was found, which takes no list.

    Raises:
        ProviderError: it spells another error, known by its words; nothing else tells them apart.
    """
    from webseam.providers.verdicts import by_words, retry_after

    status = held.get("status") if isinstance(held, dict) else None
    if not isinstance(status, str) or status.strip().upper() == "OK":
        return False
    words = status.partition(":")[2].strip() if status.upper().startswith("ERROR") else status
    outcome = by_words(words)
    if outcome is Outcome.EMPTY:
        return True
    raise ProviderError(
        f"it answered 200 with an error: {reply.quote(words or status)}",
        outcome=outcome,
        http_status=reply.status,
        retry_after=retry_after(reply),
    )
