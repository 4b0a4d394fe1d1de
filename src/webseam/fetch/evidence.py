"""Search and reading in one call: the first hits' passages that matter to the query, within one budget.

What a model would otherwise do in five calls, with five pages in its context.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from webseam.config import Settings
from webseam.errors import RequestError
from webseam.fetch.request import MAX_TOKENS, FetchRequest
from webseam.model import SearchResponse
from webseam.resilience.deadline import Deadline

if TYPE_CHECKING:
    from webseam.fetch.service import Fetching

EVIDENCE_TOKENS: Final = 4_000  # of all pages together, unless the caller says otherwise
MAX_READ: Final = 20  # hits
_WEB: Final = ("http://", "https://")


def check_reading(read: object, max_tokens: object) -> None:
    """Raise RequestError when the number of hits to read, or their budget, is none."""
    if type(read) is not int or not 0 <= read <= MAX_READ:
        raise RequestError("read", f"must be a whole number from 0 to {MAX_READ}, not {read!r:.40}")
    if max_tokens is not None and (type(max_tokens) is not int or not 1 <= max_tokens <= MAX_TOKENS):
        raise RequestError("max_tokens", f"must be a whole number from 1 to {MAX_TOKENS:,}, not {max_tokens!r:.40}")


async def read_hits(
    response: SearchResponse,
    query: str,
    read: int,
    max_tokens: int | None,
    fetching: Fetching,
    settings: Settings,
    deadline: Deadline | None,
) -> SearchResponse:
    """Return `response` with the first `read` hits read, each page with an outcome of its own.

    Hits that are no web addresses (files of this machine) are passed over: their text is in the hit. Without a
    deadline the pages together have `fetch.timeout`.
    """
    urls = list(dict.fromkeys(hit.url.partition("#")[0] for hit in response.hits if hit.url.startswith(_WEB)))[:read]
    if not urls:
        return response
    share = max(1, (max_tokens or EVIDENCE_TOKENS) // len(urls))
    requests = [FetchRequest(url=url, focus=query, max_tokens=share) for url in urls]
    until = deadline or Deadline.after(settings.get("fetch", "timeout"))
    return replace(response, pages=await fetching.fetch_all(requests, settings, until))
