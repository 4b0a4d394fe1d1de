"""Jina's search and its reader. Wire: https://jina.ai/reader, as its official command line sends it.

The reader has an address of its own and needs no key; with one it may be asked more often. Anonymous search is gone.
`s` is the older address of the search: there every hit is read as a page unless that is switched off, which is slow
and dear; so it is always switched off.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from webseam.config import Settings
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
    ReadPage,
    Reply,
    Setting,
    get,
    post_json,
    rows,
    shape,
)
from webseam.providers.options import bucket, hosts, with_sites

_OLD_BASE: Final = "https://s.jina.ai"
_AGES: Final[dict[Freshness, str]] = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}
_PAGE_ERRORS: Final = {  # names of errors that are the page's doing
    "AssertionFailureError": None,
    "ParamValidationError": None,  # beside a setting of ours it can only be the address
    "SecurityCompromiseError": Outcome.BLOCKED,  # a site that Jina may not read, or not for everybody
}
_TARGET_STATUS: Final = re.compile(r"returned error (\d{3})")
_WITHOUT_PAGES: Final = (("X-Respond-With", "no-content"), ("X-Retain-Images", "none"))


class Jina(Provider):
    id = "jina"
    label = "Jina"
    receives = "Jina (jina.ai)"
    rank = 90
    base_url = "https://svip.jina.ai"
    key_env = ("JINA_API_KEY",)
    settings = (
        Setting(name="endpoint", default="svip", choices=("svip", "s"), help="s = the older address, s.jina.ai"),
        Setting(name="reader_url", default="https://r.jina.ai", guarded=True, help="where pages are read"),
    )
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": EMULATED,
        "language": NATIVE,
        "region": NATIVE,
    }
    kinds = {"paper": NATIVE}
    max_count = 20
    reads = True  # priced by the token
    hint = "get a key at jina.ai, then: webseam key set jina"

    def fitted(self, config: ProviderConfig) -> Provider:
        if not _is_old(config):
            return self
        return self.copied(label=f"{self.label} (s)", options={**self.options, "freshness": EMULATED}, kinds={})

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        if _is_old(config) and config.base_url == self.base_url:
            return (replace(config, base_url=_OLD_BASE),)
        return (config,)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        return _get(search, config) if _is_old(config) else self._post(search, config)

    def _post(self, search: SearchRequest, config: ProviderConfig) -> Request:
        age = bucket(search)
        body = {
            "q": with_sites(search, limit=self.max_query),
            "num": search.count,
            "tbs": _AGES[age] if age else None,
            "gl": search.region.lower() if search.region else None,
            "hl": search.language,
            "domain": "arxiv" if search.kind == "paper" else None,
        }
        return post_json(config, "/", body, ("Authorization", f"Bearer {config.key}"))

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for row in _results(reply, document):
            text = row.get("content")
            hits.add(
                url=row.get("url"),
                title=row.get("title"),
                snippet=row.get("description"),
                published=row.get("date"),
                passages=[text] if isinstance(text, str) else (),
            )
        return hits.parsed()

    def read_routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        return (replace(config, base_url=config.values["reader_url"], price=config.price if config.key else 0.0),)

    def read_unavailable(self, config: ProviderConfig) -> str | None:
        return None

    def read_request(self, url: str, config: ProviderConfig) -> Request:
        authorized = (("Authorization", f"Bearer {config.key}"),) if config.key else ()
        return post_json(config, "/", {"url": url}, *authorized)

    def read_failure(self, reply: Reply, url: str, config: ProviderConfig) -> ProviderError | ReadPage | None:
        name = str(reply.fields().get("name"))
        if name not in _PAGE_ERRORS:
            return None
        from webseam.providers.verdicts import message_of

        return ReadPage(problem=reply.quote(message_of(reply.fields()) or name), outcome=_PAGE_ERRORS[name])

    def read_answer(self, reply: Reply, url: str, config: ProviderConfig) -> ReadPage:
        document = reply.json()
        page = document.get("data") if isinstance(document, dict) else None
        if not isinstance(page, dict) or document.get("code") not in (None, 200):
            raise shape(reply, document, "data")
        warning = page.get("warning")
        words = reply.quote(warning) if isinstance(warning, str) and warning.strip() else ""
        status = _TARGET_STATUS.search(words)
        walled = "captcha" in words.lower()
        return ReadPage(
            markdown=page.get("content"),
            title=page.get("title"),
            published=page.get("publishedTime"),
            final_url=page.get("url"),
            status=int(status[1]) if status else None,
            problem=words if status or walled else "",
            outcome=Outcome.BLOCKED if walled else None,
            notes=[f"Jina: {words}"] if words else [],
        )


def _is_old(config: ProviderConfig) -> bool:
    return bool(config.values["endpoint"] == "s")


def _get(search: SearchRequest, config: ProviderConfig) -> Request:
    """Describe the call of the older address, which knows neither dates nor kinds, and takes one site in a header."""
    only = hosts(search.include_domains) or []
    one = only[0] if len(only) == 1 else None
    query = {
        "q": with_sites(replace(search, include_domains=()) if one else search, limit=Jina.max_query),
        "num": search.count,
        "gl": search.region,
        "hl": search.language,
    }
    site = (("X-Site", one),) if one else ()
    return get(config, "/", query, ("Authorization", f"Bearer {config.key}"), *_WITHOUT_PAGES, *site)


def _results(reply: Reply, document: Any) -> list[dict[str, Any]]:
    """Return the rows of results, from the envelope or, as some servers send them, without it.

    Raises:
        ProviderError: what the answer states: its `code` is the status, also where HTTP says 200.
    """
    if isinstance(document, list):
        return rows(reply, {"data": document}, "data")
    if isinstance(document, dict) and document.get("code") not in (None, 200):
        raise shape(reply, {**document, "data": None}, "data")
    return rows(reply, document, "data")
