"""Tool calls of a model carried out by the facade: arguments checked, deadlines kept, results as text within bounds.

Every way to a model goes through here, so that what a model reads is the same over MCP, a model API's own tool format
and a framework's adapter. A call ends in a result whatever happens, because an exception in the middle of an agent's
turn often ends its run; only cancellation passes through.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from webseam.errors import Outcome, RequestError, WebSeamError
from webseam.model import Page, SearchResponse
from webseam.tasks import end
from webseam.tools import failures
from webseam.tools.arguments import read_arguments
from webseam.tools.definitions import BY_NAME, DOCS_SEARCH, MAX_TOKENS, PAGE_TOKENS, TOOLS, WEB_FETCH, WEB_SEARCH, Tool
from webseam.tools.repeats import INSISTS_FROM, Repeats, remark

if TYPE_CHECKING:
    from webseam.web import AsyncWeb

Report = Callable[[float, float, str], Awaitable[None]]

SEARCH_TIME: Final = 40.0  # seconds, reading hits included, when the caller sets none: clients give up after 60
FETCH_TIME: Final = 40.0
DOCS_COUNT: Final = 8
REPORT_EVERY: Final = 2.0  # seconds between two notes of progress


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool call gave.

    Attributes:
        text: Markdown for the model; of a failure its outcome, what happened, and the next step.
        outcome: ok, empty or filtered; else the word of the failure.
        value: `SearchResponse` of a search, `Page` or a tuple of them of a fetch; None when nothing was asked.
        pages: pages that were read.
    """

    text: str
    outcome: Outcome
    value: SearchResponse | Page | tuple[Page, ...] | None = None
    pages: tuple[Page, ...] = ()

    @property
    def is_error(self) -> bool:
        return not self.outcome.answered


class Toolbox:
    """The tools of one session over one `AsyncWeb`; it remembers which calls were made."""

    def __init__(self, web: AsyncWeb) -> None:
        self._web = web
        self._repeats = Repeats()
        self._work: dict[str, Callable[[dict[str, Any]], Awaitable[ToolResult]]] = {
            WEB_SEARCH.name: self._search,
            WEB_FETCH.name: self._fetch,
            DOCS_SEARCH.name: self._docs,
        }

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools there are."""
        return TOOLS

    async def call(
        self, name: str, arguments: Mapping[str, Any] | str, *, progress: Report | None = None
    ) -> ToolResult:
        """Carry out one call. Raises nothing but cancellation.

        Args:
            arguments: as the model sent them, or their JSON text; null means absent.
            progress: called every two seconds with the seconds that have passed, those there are, and what is done.
        """
        read: dict[str, Any] = {}
        try:
            tool = BY_NAME.get(name)
            if tool is None:
                raise RequestError("tool", f"there is no {name!r:.80}", hint=f"there are {', '.join(BY_NAME)}")
            read, ignored = read_arguments(tool, arguments)
            async with _reporting(progress, tool, read):
                result = await self._work[name](read)
        except WebSeamError as error:
            return failure(error, read)
        except Exception as error:  # noqa: BLE001 - a fault of ours must reach the model as a result it can work around
            words = f"{name} failed inside webseam ({type(error).__name__})"
            return failure(WebSeamError(words, hint="try again another way; this is a fault to report"))
        if result.is_error:
            return result
        count = self._repeats.count(name, read)
        said = remark(name, count)
        text = result.text
        if said:
            text = f"{said}\n\n{text}" if count >= INSISTS_FROM else f"{text}\n{said}\n"
        if ignored:
            text += f"\nLeft out, being no arguments of {name}: {', '.join(ignored)}.\n"
        return replace(result, text=text)

    async def _search(self, given: dict[str, Any]) -> ToolResult:
        from webseam.fetch.render import for_model as pages_for_model
        from webseam.search.render import for_model
        from webseam.tools.advice import next_step

        response = await self._web.search(
            given["query"],
            count=given.get("count"),
            include_domains=given.get("sites", ()),
            exclude_domains=given.get("not_sites", ()),
            freshness=given.get("freshness"),
            after=given.get("after"),
            before=given.get("before"),
            kind=given.get("kind", "web"),
            provider=given.get("provider"),
            read=given.get("read", 0),
            timeout=given.get("timeout", SEARCH_TIME),
        )
        text = for_model(response, step=next_step(response, given))
        if response.pages:
            text += "\n" + pages_for_model(response.pages)
        return ToolResult(text=text, outcome=response.outcome, value=response, pages=response.pages)

    async def _fetch(self, given: dict[str, Any]) -> ToolResult:
        from webseam.fetch.render import for_model

        urls = list(dict.fromkeys([*([given["url"]] if "url" in given else []), *given.get("urls", ())]))
        if not urls:
            raise RequestError("url", "is missing", hint="give url, or urls for several")
        if len(urls) > 1 and "cursor" in given:
            raise RequestError("cursor", "belongs to one page", hint="give its url alone")
        pages = await self._web.fetch(
            urls,
            focus=given.get("focus"),
            max_tokens=max(1, given.get("max_tokens", self._page_tokens()) // len(urls)),
            cursor=given.get("cursor"),
            outline=given.get("outline", False),
            raw=given.get("raw", False),
            timeout=given.get("timeout", FETCH_TIME),
        )
        # Of one page its own outcome. Of several, ok when any was read: the text says of each what became of it.
        outcome = next((page.outcome for page in pages if page.outcome.answered), pages[0].outcome)
        return ToolResult(
            text=for_model([*map(failures.for_model, pages)]) if outcome.answered else _said(pages),
            outcome=outcome,
            value=pages[0] if len(pages) == 1 else pages,
            pages=tuple(page for page in pages if page.outcome.answered),
        )

    async def _docs(self, given: dict[str, Any]) -> ToolResult:
        from webseam.search.render import for_model
        from webseam.tools.advice import next_step

        response = await self._web.search_docs(given["query"], package=given.get("package"), count=DOCS_COUNT)
        text = for_model(response, step=next_step(response, given, tool=DOCS_SEARCH.name), whole_passages=True)
        return ToolResult(text=text, outcome=response.outcome, value=response)

    def _page_tokens(self) -> int:
        """Return how much of pages a result holds: what the user set for every fetch, else what clients take well."""
        return min(self._web.settings().get("fetch", "max_tokens") or PAGE_TOKENS, MAX_TOKENS)


def _said(pages: tuple[Page, ...]) -> str:
    return "\n".join(map(failures.words_of_page, pages))


def failure(error: WebSeamError, given: Mapping[str, Any] | None = None) -> ToolResult:
    """Return the result that tells a model of an error of the call with the arguments `given`."""
    return ToolResult(text=failures.words_of(error, given or {}), outcome=error.outcome)


@contextlib.asynccontextmanager
async def _reporting(progress: Report | None, tool: Tool, given: Mapping[str, Any]) -> Any:
    """Report how far a call is while the body runs. A client that cannot be told is no reason to stop working."""
    if progress is None:
        yield
        return
    total = float(given.get("timeout", FETCH_TIME))
    words = f"{tool.title}: {given.get('query') or given.get('url') or ', '.join(given.get('urls', ()))}"[:200]

    async def report() -> None:
        started = time.monotonic()
        while True:
            with contextlib.suppress(Exception):
                await progress(min(round(time.monotonic() - started, 1), total), total, words)
            await asyncio.sleep(REPORT_EVERY)

    reporter = asyncio.create_task(report())
    try:
        yield
    finally:
        await end([reporter])
