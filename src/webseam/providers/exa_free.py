"""Exa's free tier: its hosted MCP server, without a key. The text form is what the official server writes.

No key is ever sent here: a failing key must not silently become somebody else's free quota.
"""

from __future__ import annotations

import re
from typing import Any, Final

from webseam.domains import host_of
from webseam.errors import Outcome, ProviderError
from webseam.model import Kind, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
    EMULATED,
    NATIVE,
    Hits,
    Option,
    Parsed,
    Provider,
    ProviderConfig,
    Reply,
    Setting,
    Support,
)
from webseam.providers.exa import CATEGORY, date_notes, instants, parse_results
from webseam.providers.mcp_wire import answer, call, nested_json, texts, tool_error
from webseam.providers.options import hosts, whole_hosts
from webseam.providers.verdicts import by_words, is_challenge

_TOOL: Final = "web_search_exa"
_ADVANCED_TOOL: Final = "web_search_advanced_exa"
_ADVANCED_OPTIONS: Final[dict[Option, Support]] = {
    "include_domains": NATIVE,
    "exclude_domains": NATIVE,
    "freshness": NATIVE,
    "date_range": NATIVE,
    "region": NATIVE,
    "safe": NATIVE,
    "page": EMULATED,
}
_KINDS: Final[tuple[Kind, ...]] = ("news", "paper")
_MAX_ADVANCED: Final = 100
_RATE_MARK: Final = "ai.exa/rateLimited"
_FIELDS = r"Published(?: Date)?|Author|Highlights|Text|Summary"
_STRICT_OPENING = re.compile(rf"^Title:.*\n\s*^URL:.*\n(?=(?:{_FIELDS}):)", re.MULTILINE)
_LOOSE_OPENING = re.compile(r"^Title:.*\n\s*^URL:.*$", re.MULTILINE)
_BODIES: Final = frozenset({"Highlights", "Text", "Summary"})  # page text: once one began, no line is a field
_FIELD = re.compile(rf"^(Title|URL|{_FIELDS}):[ \t]?(.*)$")
_RULE = re.compile(r"^\s*-{3,}\s*$")
_NOTHING = re.compile(r"no search results found", re.IGNORECASE)
_ERROR_STATUS = re.compile(r"error \((\d{3})\)")
_REFUSALS: Final = (Outcome.RATE_LIMITED, Outcome.QUOTA, Outcome.AUTH)
_ADVICE = re.compile(r"(?<=[.!?])\s.*|\s*\S*https?://.*", re.DOTALL)  # all but a first sentence, and addresses


class ExaFree(Provider):
    id = "exa-free"
    label = "Exa, free tier"
    receives = "Exa (mcp.exa.ai)"
    rank = 200
    base_url = "https://mcp.exa.ai"
    key = "none"
    keyless_for = "exa"
    settings = (
        Setting(name="tier", kind="switch", default=True, env=("EXA_FREE_TIER",), help="off = never use the free tier"),
        Setting(name="advanced", kind="switch", default=False, help="call the tool with native filters"),
    )
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": EMULATED,
        "date_range": EMULATED,
        "page": EMULATED,
    }
    kinds = dict.fromkeys(_KINDS, EMULATED)
    max_count = 50
    interval = 0.5
    price = 0.0
    hint = "wait, or get a key of your own: webseam key set exa"

    def fitted(self, config: ProviderConfig) -> Provider:
        if not config.values["advanced"]:
            return self
        kinds = dict.fromkeys(_KINDS, NATIVE)
        return self.copied(options=_ADVANCED_OPTIONS, kinds=kinds, max_count=_MAX_ADVANCED)

    def unavailable(self, config: ProviderConfig) -> str | None:
        return None if config.values["tier"] else "switched off (EXA_FREE_TIER)"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        source = ("x-exa-source", "webseam")  # attribution only
        if config.values["advanced"]:
            return call(config, f"/mcp?tools={_ADVANCED_TOOL}", _ADVANCED_TOOL, _advanced(search), source)
        query = search.query
        if search.include_domains:  # a hint to a semantic engine; the filter here is what holds
            query += " " + " OR ".join(f"site:{host_of(rule)}" for rule in search.include_domains[:8])
        if search.kind in _KINDS:
            query += f" category:{CATEGORY[search.kind]}"
        return call(config, "/mcp", _TOOL, {"query": query, "numResults": search.count}, source)

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import failure

        return _without_advice(failure(reply))

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        try:
            parsed = self._read(reply)
        except ProviderError as error:
            raise _without_advice(error) from None
        if config.values["advanced"]:
            parsed.notes = [*parsed.notes, *date_notes(search)]
        return parsed

    def _read(self, reply: Reply) -> Parsed:
        result = answer(reply)
        blocks = texts(result)
        text = "\n\n".join(blocks)
        if _is_rate_limited(result):
            raise _limited(reply, text)
        if result.get("isError"):
            raise _tool_failure(reply, text)
        nothing: Parsed | None = None
        decoded = [nested_json(block) for block in blocks]
        for candidate in (result.get("structuredContent"), result.get("data"), *decoded):
            if isinstance(candidate, dict) and isinstance(candidate.get("results"), list):
                parsed = parse_results(candidate, reply, self.id)
                if parsed.hits:
                    return parsed
                nothing = nothing or parsed
        words = [block for block, value in zip(blocks, decoded, strict=True) if value is None or nothing is None]
        return self._from_text(reply, "\n\n".join(words).replace("\r\n", "\n"), nothing)

    def _from_text(self, reply: Reply, text: str, nothing: Parsed | None) -> Parsed:
        """Read the text form. `nothing` is what an empty list beside it gave: then words are enough."""
        hits = Hits(self.id)
        for record in _records(text):
            hits.add(**record)
        if hits.found or hits.dropped:
            return hits.parsed()
        if not text.strip() or _NOTHING.search(text):
            return nothing or hits.parsed()
        if text.lstrip()[:1] == "<":
            outcome = Outcome.BLOCKED if is_challenge(reply, text) else Outcome.BAD_RESPONSE
            raise ProviderError("it sent a web page instead of results", outcome=outcome, http_status=reply.status)
        if by_words(text) == Outcome.RATE_LIMITED:
            raise _limited(reply, text)
        if nothing is not None:
            return nothing
        raise ProviderError(
            f"its answer holds no result: {reply.quote(text)}", outcome=Outcome.BAD_RESPONSE, http_status=reply.status
        )


def _advanced(search: SearchRequest) -> dict[str, Any]:
    after, before = instants(search)
    arguments = {
        "query": search.query,
        "numResults": search.count,
        "includeDomains": hosts(search.include_domains),
        "excludeDomains": None if search.include_domains else whole_hosts(search.exclude_domains),
        "startPublishedDate": after,
        "endPublishedDate": before,
        "category": CATEGORY[search.kind] if search.kind in _KINDS else None,
        "userLocation": search.region,
        "moderation": True if search.safe in ("moderate", "strict") else None,
    }
    return {name: value for name, value in arguments.items() if value is not None}


def _is_rate_limited(result: dict[str, Any]) -> bool:
    content = result.get("content")
    for holder in [result, *(content if isinstance(content, list) else ())]:
        meta = holder.get("_meta") if isinstance(holder, dict) else None
        if isinstance(meta, dict) and meta.get(_RATE_MARK):
            return True
    return False


def _without_advice(error: ProviderError) -> ProviderError:
    """Return a refusal as its first sentence: what follows tells people to put a key into a URL."""
    if error.outcome in _REFUSALS:
        error.detail = _ADVICE.sub("", error.detail)
    return error


def _limited(reply: Reply, text: str) -> ProviderError:
    from webseam.providers.verdicts import retry_after

    return ProviderError(
        f"the free tier's rate limit is reached: {reply.quote(text)}",
        outcome=Outcome.RATE_LIMITED,
        http_status=reply.status,
        retry_after=retry_after(reply),
    )


def _tool_failure(reply: Reply, text: str) -> ProviderError:
    status = _ERROR_STATUS.search(text)
    if "rate limit" in text.lower() or (status and status[1] == "429"):
        return _limited(reply, text)
    error = tool_error(reply, text)
    if status:
        by_status = {"402": Outcome.QUOTA, "401": Outcome.AUTH, "403": Outcome.AUTH}
        error.outcome = by_status.get(status[1], Outcome.BAD_RESPONSE if status[1][0] == "5" else error.outcome)
        error.http_status = int(status[1])
    if "timed out after" in text:
        error.outcome = Outcome.TIMEOUT
    return error


def _records(text: str) -> list[dict[str, object]]:
    """Return the records of the server's text form.

    A record runs from one opening (a Title line, then a URL line) to the next. It is never split at a rule: the server
    writes rules between records, but page text contains rules too.
    """
    openings = [found.start() for found in _STRICT_OPENING.finditer(text)]
    if not openings:
        openings = [found.start() for found in _LOOSE_OPENING.finditer(text)]
    ends = [*openings[1:], len(text)]
    return [_record(text[start:end]) for start, end in zip(openings, ends, strict=False)]


def _record(text: str) -> dict[str, object]:
    found: dict[str, list[str]] = {}
    own = text.rstrip().split("\n")
    if _RULE.match(own[-1]):  # the server's own rule between two records; any other belongs to the page
        own.pop()
    current: list[str] = []
    body = in_page = False
    for line in own:
        field = None if in_page else _FIELD.match(line)
        if field and field[1] not in found:
            current, line, body = found.setdefault(field[1], []), field[2].strip(), field[1] in _BODIES
        current.append(line)
        in_page = in_page or (body and bool(line))
    values = {name: "\n".join(lines) for name, lines in found.items()}
    url = (values.get("URL") or "").split()
    highlights = values.get("Highlights", "").strip("\n")
    words = highlights or values.get("Text", "") or values.get("Summary", "")
    lines = [line for line in words.split("\n") if not _RULE.match(line)]
    return {
        "url": url[0] if url else None,
        "title": values.get("Title"),
        "published": values.get("Published") or values.get("Published Date"),
        "author": values.get("Author"),
        "snippet": "\n".join(lines).replace("...", "…"),
        "passages": [line for line in lines if line.strip()] if highlights else (),
    }
