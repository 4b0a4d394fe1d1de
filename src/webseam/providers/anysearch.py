"""AnySearch's search API. Wire: its documentation and a typed client by others; there is no official one.

It answers without a key too, for few searches a day. A key that is refused is never left out to try again: the answer
would come from another account than the caller thinks.
"""

from __future__ import annotations

from typing import Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.model import Kind, SearchRequest
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
    post_json,
    rows,
    shape,
)

_MAX_RESULTS: Final = 10
_TAG: Final[dict[Kind, str]] = {"code": "code.doc", "paper": "academic.search"}
_CHINA: Final = "CN"


class AnySearch(Provider):
    id = "anysearch"
    label = "AnySearch"
    receives = "AnySearch (anysearch.com)"
    base_url = "https://api.anysearch.com"
    key = "optional"
    key_env = ("ANYSEARCH_API_KEY",)
    settings = (
        Setting(
            name="max_results",
            kind="whole",
            default=_MAX_RESULTS,
            low=1,
            high=_MAX_RESULTS,
            env=("ANYSEARCH_MAX_RESULTS",),
            help="the most results to ask for",
        ),
    )
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": EMULATED,
        "date_range": EMULATED,
        "language": NATIVE,
        "region": EMULATED,
    }
    kinds = {"code": NATIVE, "paper": NATIVE}
    max_count = _MAX_RESULTS
    hint = "get a key at anysearch.com, then: webseam key set anysearch"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        body = {
            "query": search.query,
            "max_results": min(search.count, config.values["max_results"]),
            "tag": _TAG.get(search.kind),
            "zone": _zone(search.region),
            "language": search.language,
            "format": "json",
        }
        headers = (("Authorization", f"Bearer {config.key}"),) if config.key else ()
        return post_json(config, "/v1/search", body, *headers)

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        _check(reply, document)
        hits = Hits(self.id)
        for row in rows(reply, {"data": document.get("data")}, "data", "results"):
            text = row.get("content")
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("snippet") or text,
                passages=[text] if isinstance(text, str) else (),
            )
        return hits.parsed(notes=self._notes(search, config))

    def _notes(self, search: SearchRequest, config: ProviderConfig) -> list[str]:
        notes = []
        if search.region and search.region != _CHINA:
            notes.append(f"{self.label} knows China and the rest alone; for {search.region} it searched the rest")
        if search.count > config.values["max_results"]:
            notes.append(f"{self.label} was asked for {config.values['max_results']} results (anysearch.max_results)")
        if not config.key:
            notes.append(f"{self.label} was asked without a key; that is limited per address")
        return notes


def _zone(region: str | None) -> str | None:
    if region is None:
        return None
    return "cn" if region == _CHINA else "intl"


def _check(reply: Reply, document: Any) -> None:
    """Raise what an answer states: 0 is its code for success, every other one is an error, also where HTTP says 200."""
    from webseam.providers.verdicts import error_object

    code = document.get("code") if isinstance(document, dict) else None
    if type(code) is not int:
        raise shape(reply, document, "code")
    if code:
        raise error_object(reply, document) or ProviderError(
            f"it answered 200 with code {code}", outcome=Outcome.BAD_RESPONSE, http_status=reply.status
        )
