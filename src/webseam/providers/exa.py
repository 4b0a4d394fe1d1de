"""Exa's search, and its reading of pages. Wire: https://docs.exa.ai/reference, as its official Python SDK sends it."""

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
    ReadPage,
    Reply,
    Setting,
    post_json,
    rows,
    shape,
)
from webseam.providers.options import date_range, hosts, whole_hosts

CATEGORY: Final[dict[Kind, str]] = {"news": "news", "paper": "publication", "code": "github"}
_TYPES = ("auto", "lite", "deep", "deep-lite", "deep-reasoning", "fast", "instant", "neural")
_HIGHLIGHTS_IN_SNIPPET = 3
_KEPT_OUT: Final = (b"SOURCE_NOT_AVAILABLE", b"ROBOTS")  # tags of pages that Exa may not read


class Exa(Provider):
    id = "exa"
    label = "Exa"
    receives = "Exa (exa.ai)"
    rank = 10
    base_url = "https://api.exa.ai"
    key_env = ("EXA_API_KEY", "METAPHOR_API_KEY")
    base_env = ("EXA_BASE_URL", "EXA_API_BASE")
    settings = (
        Setting(
            name="search_type",
            default="auto",
            choices=_TYPES,
            env=("EXA_SEARCH_TYPE",),
            help="how Exa searches; deep types take up to 50 s: raise exa.timeout and search.timeout",
        ),
        Setting(
            name="contents", default="highlights", choices=("highlights", "text", "summary"), help="what hits carry"
        ),
        Setting(name="text_chars", kind="whole", default=1000, low=100, high=10_000, help="characters of text a hit"),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": NATIVE,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "region": NATIVE,
        "safe": NATIVE,
        "page": EMULATED,
    }
    kinds = {"news": NATIVE, "paper": NATIVE, "code": EMULATED}
    max_count = 100
    interval = 0.1  # 10 requests a second a key
    price = 0.005
    reads = True
    read_price = 0.001
    hint = "get a key at exa.ai, then: webseam key set exa"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        return self._post(search, config, CATEGORY.get(search.kind))

    def _post(self, search: SearchRequest, config: ProviderConfig, category: str | None) -> Request:
        after, before = instants(search)
        body: dict[str, Any] = {
            "query": search.query,
            "numResults": search.count,
            "type": config.values["search_type"],
            "contents": _contents(config),  # left out, Exa adds 10,000 characters of text to every hit
            "startPublishedDate": after,
            "endPublishedDate": before,
            "category": category,
            "moderation": True if search.safe in ("moderate", "strict") else None,
            "userLocation": search.region,
        }
        if search.include_domains:  # Exa takes one of the two lists; the other is filtered here
            body["includeDomains"] = hosts(search.include_domains)
        else:
            body["excludeDomains"] = whole_hosts(search.exclude_domains)
        return post_json(config, "/search", body, ("x-api-key", config.key))

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        if reply.status != 400:
            return None
        if search.kind == "code" and b"category" in reply.response.body.lower():
            return self._post(search, config, None)  # the category is gone from newer API versions
        if b"NUM_RESULTS_EXCEEDED" in reply.response.body:
            return ProviderError(
                "the plan allows fewer results", outcome=Outcome.UNSUPPORTED, http_status=400, hint="ask for fewer"
            )
        from webseam.providers.verdicts import failure

        error = failure(reply)
        if error.outcome is Outcome.BAD_RESPONSE and b"INVALID_REQUEST" in reply.response.body:
            error.outcome = Outcome.UNSUPPORTED
        return error

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        parsed = parse_results(reply.json(), reply, self.id)
        parsed.notes = [*parsed.notes, *date_notes(search)]
        return parsed

    def read_request(self, url: str, config: ProviderConfig) -> Request:
        return post_json(config, "/contents", {"urls": [url], "text": True}, ("x-api-key", config.key))

    def read_failure(self, reply: Reply, url: str, config: ProviderConfig) -> ProviderError | ReadPage | None:
        """Older versions told by the status of the whole call that the one page could not be read."""
        from webseam.providers.verdicts import failure, message_of

        error, body = failure(reply), reply.response.body
        refused = reply.status == 403 and any(tag in body for tag in _KEPT_OUT)
        if refused or (reply.status == 422 and error.outcome in (Outcome.BAD_RESPONSE, Outcome.UNSUPPORTED)):
            words = reply.quote(message_of(reply.fields())) or error.detail
            return ReadPage(problem=words, outcome=Outcome.BLOCKED if refused else None)
        return None

    def read_answer(self, reply: Reply, url: str, config: ProviderConfig) -> ReadPage:
        document = reply.json()
        found = rows(reply, document, "results")
        statuses = _list(document.get("statuses"))
        failed = next((one for one in statuses if isinstance(one, dict) and one.get("status") == "error"), None)
        cost = _cost(document)
        if not found:
            if failed is None and not statuses:
                raise shape(reply, document, "page in its results")
            told = failed.get("error") if failed else None
            stated = told if isinstance(told, dict) else {}
            words = reply.quote(str(stated.get("tag") or "it has no text of that page"))
            return ReadPage(problem=words, status=stated.get("httpStatusCode"), cost=cost)
        row = found[0]
        return ReadPage(
            markdown=row.get("text"),
            title=row.get("title"),
            author=row.get("author"),
            published=row.get("publishedDate"),
            final_url=row.get("url"),
            cost=cost,
        )


def instants(search: SearchRequest) -> tuple[str | None, str | None]:
    """Return the first and the last wanted moment: Exa takes moments, and both days are to be whole."""
    after, before = date_range(search)
    return f"{after}T00:00:00.000Z" if after else None, f"{before}T23:59:59.999Z" if before else None


def date_notes(search: SearchRequest) -> list[str]:
    """Say what Exa's date filter does besides."""
    return ["Exa leaves out pages without a date when dates are asked for"] if any(date_range(search)) else []


def _contents(config: ProviderConfig) -> dict[str, Any]:
    kind = config.values["contents"]
    if kind == "text":
        return {"text": {"maxCharacters": config.values["text_chars"]}}
    return {kind: True}


def parse_results(document: Any, reply: Reply, provider: str) -> Parsed:
    """Read Exa's result object; its hosted server sends the same one inside its own envelope."""
    hits = Hits(provider)
    for row in rows(reply, document, "results"):
        highlights = [text for text in _list(row.get("highlights")) if isinstance(text, str)]
        text = row.get("text") if isinstance(row.get("text"), str) else None
        hits.add(
            url=row.get("url"),
            title=row.get("title"),
            snippet=" … ".join(highlights[:_HIGHLIGHTS_IN_SNIPPET]) or row.get("summary") or text,
            published=row.get("publishedDate"),
            author=row.get("author"),
            score=row.get("score"),
            passages=highlights or ([text] if text else ()),
        )
    return hits.parsed(
        cost=_cost(document),
        notes=[
            f"Exa: {reply.quote(str(remark.get('message') or remark.get('code')))}"
            for remark in [*_list(document.get("notices")), *_list(document.get("warnings"))]
            if isinstance(remark, dict)
        ],
    )


def _cost(document: Any) -> float | None:
    """Return what the call cost; None leaves it to the price."""
    cost = document.get("costDollars")
    total = cost.get("total") if isinstance(cost, dict) else None
    return float(total) if isinstance(total, (int, float)) else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
