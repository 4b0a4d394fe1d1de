"""Z.AI's web search: its API, or the MCP server of its coding plan, as the setting `route` says.

Wire: https://docs.z.ai, as its official Python SDK sends it. One is paid in cash by the call and the other drawn from a
plan, so that neither ever takes the other's place.
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
    Conversation,
    Hits,
    Memory,
    Parsed,
    Provider,
    ProviderConfig,
    Reply,
    Setting,
    post_json,
    rows,
    shape,
)
from webseam.providers.mcp_wire import ToolAnswer, documents, session_call, texts, tool_error
from webseam.providers.options import bucket, hosts
from webseam.text import SNIPPET_LIMIT

_API: Final = "/api/paas/v4"
_ENDPOINT: Final = "/web_search"
_MCP: Final = "/api/mcp/web_search_prime/mcp"
_PROTOCOL: Final = "2025-03-26"
_USUAL_SIZE: Final = "medium"  # of content, when nothing is said
_TOOLS: Final = ("web_search_prime", "webSearchPrime")  # the newer name first
_QUERY_NAMES: Final = ("search_query", "query")
_WAYS: Final = tuple((tool, name) for tool in _TOOLS for name in _QUERY_NAMES)
_WAY: Final = "way"
_WAY_KEPT: Final = 86_400.0  # seconds
_FRESHNESS: Final[dict[Freshness, str]] = {"day": "oneDay", "week": "oneWeek", "month": "oneMonth", "year": "oneYear"}
_PRICES: Final = {"search-prime": 0.01, "search_std": 0.0015}
_OWN_FIELDS: Final = frozenset({"created", "search_intent"})  # what even an answer without results has
_OUTCOMES: Final = {  # by its own codes, where the words do not tell
    **dict.fromkeys(("1000", "1001", "1002", "1003", "1004"), Outcome.AUTH),
    **dict.fromkeys(("1113", "1304", "1308"), Outcome.QUOTA),  # no balance, limit of the day, limit of the plan
    **dict.fromkeys(("1302", "1303", "1305"), Outcome.RATE_LIMITED),
}
_CODE = re.compile(r'code\\{0,3}"?\s{0,9}[:=]\s{0,9}\\{0,3}"?(\d{4})\b')  # also within JSON that is quoted in JSON
_MCP_STATUS = re.compile(r"MCP error -(\d{3})\b")
_NO_TOOL = re.compile(r"unknown tool|no such tool|tool\b.{0,60}\b(?:unknown|not found|does not exist)", re.IGNORECASE)
_ARGUMENTS = re.compile(r"-32602|argument|param|schema|validation|required|search_query|unexpected", re.IGNORECASE)
_VERSION_PATH = re.compile(r"/v\d+$", re.ASCII)
_API_PATH = re.compile(r"/api(?:/\w+)?/paas/v\d+$", re.ASCII)


class Zai(Provider):
    id = "zai"
    label = "Z.AI"
    receives = "Z.AI (z.ai)"
    rank = 194
    base_url = "https://api.z.ai"
    key_env = ("ZAI_API_KEY", "Z_AI_API_KEY")
    base_env = ("ZAI_BASE_URL",)
    settings = (
        Setting(
            name="route",
            default="rest",
            choices=("rest", "mcp"),
            guarded=True,  # as the engine: it decides what a call costs, and out of which pocket
            help="rest is paid by the call, mcp by the plan",
        ),
        Setting(name="search_engine", default="search-prime", guarded=True, help="engine of the rest route"),
        Setting(name="content_size", default=_USUAL_SIZE, choices=(_USUAL_SIZE, "high"), help="length of the extracts"),
    )
    options = {
        "include_domains": NATIVE,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": EMULATED,
    }
    max_count = 50
    price = _PRICES["search-prime"]
    hint = "get a key at z.ai, then: webseam key set zai"

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        """Price the route that is set; on the plan's route a call costs no cash, whatever the other one costs."""
        plan = config.values["route"] == "mcp"
        if config.price == self.price:
            config = replace(config, price=0.0 if plan else _PRICES.get(config.values["search_engine"]))
        # What is spent or limited on one route is not on the other, so they are two accounts to health and pace.
        return (replace(config, key_identity=f"{config.key_identity}:plan") if plan and config.key else config,)

    def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        if config.values["route"] == "rest":
            return super().converse(search, config, memory)
        return self._by_tool(search, config, memory)

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        body = {
            "search_engine": config.values["search_engine"],
            "search_query": search.query,
            "count": search.count,
            "content_size": config.values["content_size"],
            **_filters(search),
        }
        base = _base(config)
        place = replace(config, base_url=base if _VERSION_PATH.search(base) else base + _API)
        return post_json(place, _ENDPOINT, body, _authorization(config))

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import failure

        return _by_code(failure(reply), reply.text())

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        return self._read(reply, reply.json(), reply.text())

    def _by_tool(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        """Call the tool of the MCP server; what it and its query are called has changed, so a refusal is no end."""
        place = replace(config, base_url=_API_PATH.sub("", _base(config)))
        size = config.values["content_size"]
        ways = _ways(memory)
        while True:
            tool, name = ways[0]
            arguments = {
                name: search.query,
                "count": search.count,
                **_filters(search),
                **({"content_size": size} if size != _USUAL_SIZE else {}),
            }
            call = session_call(
                place, _MCP, tool, arguments, memory, protocol=_PROTOCOL, headers=[_authorization(config)]
            )
            try:
                told = yield from call
                parsed = self._read_tool(told)
            except ProviderError as error:
                ways = _ways_left(ways, _by_code(error, error.detail))
                if not ways:
                    raise
            else:
                memory.set(_WAY, {"tool": tool, "name": name}, ttl=_WAY_KEPT)
                return parsed

    def _read_tool(self, told: ToolAnswer) -> Parsed:
        """Read what the tool answered: the API's document or its list alone, as an object or as text."""
        words = "\n\n".join(texts(told.result))
        found = [{"search_result": one} if isinstance(one, list) else one for one in documents(told.result)]
        if not found:
            raise tool_error(told.reply, words or "it answered with nothing")
        document = next((one for one in found if one.keys() & {"search_result", "results"}), found[0])
        return self._read(told.reply, document, words)

    def _read(self, reply: Reply, document: Any, words: str) -> Parsed:
        try:
            found = _rows(reply, document)
        except ProviderError as error:
            raise _by_code(error, words) from None
        hits = Hits(self.id)
        for row in found:
            content = row.get("content")
            long = isinstance(content, str) and len(content) > SNIPPET_LIMIT
            hits.add(
                url=row.get("link") or row.get("url"),
                title=row.get("title"),
                snippet=content,
                published=row.get("publish_date"),
                site=row.get("media"),
                passages=[content] if long else (),
            )
        return hits.parsed()


def _base(config: ProviderConfig) -> str:
    """Return the base URL without the endpoint, which some set with it."""
    return config.base_url.rstrip("/").removesuffix(_ENDPOINT)


def _authorization(config: ProviderConfig) -> tuple[str, str]:
    return "Authorization", f"Bearer {config.key}"


def _filters(search: SearchRequest) -> dict[str, Any]:
    """Return the filters Z.AI has: one host, and an age. It takes no second host; those are filtered here."""
    sent: dict[str, Any] = {}
    names = hosts(search.include_domains) or []
    if len(names) == 1:
        sent["search_domain_filter"] = names[0]
    age = bucket(search)
    if age:
        sent["search_recency_filter"] = _FRESHNESS[age]
    return sent


def _ways(memory: Memory) -> list[tuple[str, str]]:
    """Return how the tool and its query may be called, what worked before first."""
    kept = memory.get(_WAY) or {}
    return sorted(_WAYS, key=lambda way: way != (kept.get("tool"), kept.get("name")))


def _ways_left(ways: list[tuple[str, str]], error: ProviderError) -> list[tuple[str, str]]:
    """Return the ways worth trying after a refusal of the first one; none when it was not about names."""
    tool, name = ways[0]
    words = error.detail.partition(": ")[2]
    if _NO_TOOL.search(words):
        return [way for way in ways if way[0] != tool]
    if error.outcome in (Outcome.BAD_RESPONSE, Outcome.UNSUPPORTED) and _ARGUMENTS.search(words):
        return [way for way in ways if way[1] != name]
    return []


def _rows(reply: Reply, document: Any) -> list[dict[str, Any]]:
    """Return the rows of results; one alone may stand where the list should.

    Raises:
        ProviderError: there are none, and no sign either that Z.AI found nothing.
    """
    if not isinstance(document, dict):
        raise shape(reply, document, "search_result")
    found = document.get("search_result")
    if isinstance(found, dict) and found.keys() & {"link", "url"}:
        return [found]
    if found is None and "results" in document:
        return rows(reply, document, "results")
    stated = {"message": document["msg"], **document} if "msg" in document else document
    nothing = found is None and "error" not in document and _OWN_FIELDS & document.keys()
    return rows(reply, stated, "search_result", required=not nothing)


def _by_code(error: ProviderError, words: str) -> ProviderError:
    """Return the error with the outcome that Z.AI's own code stands for, where it is known."""
    from webseam.providers.verdicts import by_words

    code, status = _CODE.search(words), _MCP_STATUS.search(words)
    if code and code[1] in _OUTCOMES:
        error.outcome = _OUTCOMES[code[1]]
    elif status:
        error.outcome = by_words(words, status[1])
    return error
