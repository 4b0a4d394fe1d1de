"""Parallel's free tier: its hosted MCP server, without a key. Its tool answers what Parallel's search API answers.

No key is ever sent here: a failing key must not silently become somebody else's free quota.
"""

from __future__ import annotations

from typing import Final

from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.providers.base import (
    EMULATED,
    Conversation,
    Memory,
    Parsed,
    Provider,
    ProviderConfig,
    Setting,
)
from webseam.providers.mcp_wire import ToolAnswer, documents, session_call, texts
from webseam.providers.options import today
from webseam.providers.parallel import keywords, parse_results

_TOOL: Final = "web_search"
_KEPT: Final = "client"
_DAY: Final = 86_400.0  # seconds


class ParallelFree(Provider):
    id = "parallel-free"
    label = "Parallel, free tier"
    receives = "Parallel (search.parallel.ai)"
    rank = 210
    base_url = "https://search.parallel.ai"
    key = "none"
    keyless_for = "parallel"
    settings = (
        Setting(name="model_name", help="name of the asking model, for Parallel's statistics; unset = not told"),
    )
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": EMULATED,
        "date_range": EMULATED,
    }
    interval = 0.5
    price = 0.0
    hint = "wait, or get a key of your own: webseam key set parallel"

    def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        arguments = {
            "objective": search.query,
            "search_queries": [keywords(search.query)],
            "session_id": _client(memory),
        }
        if config.values["model_name"]:
            arguments["model_name"] = config.values["model_name"]
        told = yield from session_call(config, "/mcp", _TOOL, arguments, memory)
        return self._read(told)

    def _read(self, told: ToolAnswer) -> Parsed:
        found = [one for one in documents(told.result) if isinstance(one, dict)]
        if found:
            return parse_results(next((one for one in found if "results" in one), found[0]), told.reply, self.id)
        from webseam.providers.verdicts import by_words

        words = "\n\n".join(texts(told.result))
        raise ProviderError(
            f"its answer holds no results: {told.reply.quote(words) or 'it is empty'}",
            outcome=by_words(words) if words else Outcome.BAD_RESPONSE,
            http_status=told.reply.status,
        )


def _client(memory: Memory) -> str:
    """Return what the free limit is counted by: a random name for this installation and day, never an identity."""
    day = today().isoformat()
    match memory.get(_KEPT):
        case {"day": str(kept), "name": str(name)} if kept == day:
            return name
    from secrets import token_hex

    name = token_hex(16)
    memory.set(_KEPT, {"day": day, "name": name}, ttl=_DAY)
    return name
