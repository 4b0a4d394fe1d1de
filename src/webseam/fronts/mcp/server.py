"""The MCP server: the tools, pages that were read, the table of providers and one prompt, on the official SDK.

It speaks both eras of the protocol because the SDK does. No rule of searching or reading lives here: a tool call goes
to a `Toolbox`, and its text is what the client is given. The schemas are ours, not made from signatures: those the SDK
makes cost a model three times the tokens.

Importing this loads the SDK; see `early` for who answers meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool as ServedTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    Resource,
    TextContent,
    ToolAnnotations,
)
from pydantic import ConfigDict, PrivateAttr

from webseam.fronts.mcp.pages import SCHEME, Pages
from webseam.fronts.mcp.words import INSTRUCTIONS, PROMPT, SERVER_NAME, TITLE
from webseam.model import as_json
from webseam.tools.definitions import Tool
from webseam.tools.toolbox import Toolbox, ToolResult
from webseam.version import VERSION

if TYPE_CHECKING:
    from webseam.web import AsyncWeb

_SESSIONS_KEPT: Final = 256  # over HTTP; of older ones it is forgotten which calls they made
_SESSION_HEADER: Final = "mcp-session-id"
PROVIDERS_URI: Final = "webseam://providers"


def make_server(web: AsyncWeb, *, structured: bool = False, shared: bool = False) -> MCPServer[Any]:
    """Return the server of one process, ready for any transport.

    Args:
        structured: send the response object as `structuredContent` along with the text.
        shared: several users may be connected, as over HTTP: pages are had by their id and not listed.
    """
    pages = Pages()
    toolboxes = _Toolboxes(web)
    tools: list[ServedTool] = [
        _WebTool.of(tool, toolboxes, pages, structured=structured, listed=not shared) for tool in toolboxes.one.tools()
    ]
    server = _Server(
        name=SERVER_NAME,
        title=TITLE,
        instructions=INSTRUCTIONS,
        version=VERSION,
        tools=tools,
        log_level="WARNING",
    )
    server.listed, server.toolboxes = None if shared else pages, toolboxes
    _add_resources(server, web, pages)
    server.add_prompt(Prompt.from_function(_research, name="research", title=PROMPT[0], description=PROMPT[1]))
    logging.getLogger("mcp").setLevel(logging.ERROR)  # a tool that failed is told to its caller, not to a terminal
    return server


class _Server(MCPServer[Any]):
    """The SDK's server, whose list of resources grows with what was read."""

    listed: Pages | None = None
    toolboxes: _Toolboxes

    async def list_resources(self) -> list[Resource]:
        fixed = await super().list_resources()
        kept = self.listed.items() if self.listed is not None else []
        return fixed + [
            Resource(
                uri=SCHEME + name,
                name=name,
                title=page.title or page.url,
                description=page.final_url or page.url,
                mime_type="text/markdown",
            )
            for name, page in kept
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """As the SDK's, but a tool that is not there is answered with those there are, in words for a model."""
        if context is None or name in {tool.name for tool in await self.list_tools()}:
            return await super().call_tool(name, arguments, context)
        result = await self.toolboxes.of(context).call(name, arguments)
        return CallToolResult(content=[TextContent(type="text", text=result.text)], is_error=True)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """As the SDK's, but a wrong name or missing argument is the caller's mistake, not a fault with a traceback."""
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from None


class _Toolboxes:
    """One `Toolbox` a session: which calls were made before is a matter of the session."""

    def __init__(self, web: AsyncWeb) -> None:
        self._web = web
        self.one = Toolbox(web)
        self._by_session: OrderedDict[str, Toolbox] = OrderedDict()

    def of(self, context: Context[Any, Any]) -> Toolbox:
        if context.headers is None:  # stdio: the process is the session
            return self.one
        session = context.headers.get(_SESSION_HEADER)
        if not session:  # the newer era keeps none over HTTP
            return Toolbox(self._web)
        toolbox = self._by_session.pop(session, None) or Toolbox(self._web)
        self._by_session[session] = toolbox
        while len(self._by_session) > _SESSIONS_KEPT:
            self._by_session.popitem(last=False)
        return toolbox


class _Arguments(ArgModelBase):
    """Whatever was sent: the toolbox reads it, and says what is wrong in words for a model."""

    model_config = ConfigDict(extra="allow")


class _WebTool(ServedTool):
    """A tool of ours in the SDK's registry."""

    _toolboxes: _Toolboxes = PrivateAttr()
    _pages: Pages = PrivateAttr()
    _structured: bool = PrivateAttr()
    _listed: bool = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool, toolboxes: _Toolboxes, pages: Pages, *, structured: bool, listed: bool) -> _WebTool:
        made = cls(
            fn=_never_called,
            name=tool.name,
            title=tool.title,
            description=tool.description,
            parameters=tool.parameters,
            fn_metadata=FuncMetadata(arg_model=_Arguments),
            is_async=True,
            context_kwarg=None,
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=tool.open_world),
        )
        made._toolboxes, made._pages, made._structured, made._listed = toolboxes, pages, structured, listed
        return made

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        toolbox = self._toolboxes.of(context)
        try:
            # Progress is unheard without a token.
            result = await toolbox.call(self.name, arguments, progress=context.report_progress)
        except asyncio.CancelledError:
            # What awaits tasks of its own may raise their cancellation in place of ours, which does not say who
            # cancelled: the SDK would take it for the end of the session. Waiting again raises the one that does.
            await asyncio.sleep(0)
            raise
        kept = [SCHEME + self._pages.keep(page) for page in result.pages if page.markdown]
        if kept and self._listed:
            await context.notify_resources_changed()  # to who asked to be told, which the older era has no way to
        return CallToolResult(
            content=[TextContent(type="text", text=result.text)],
            structured_content=_structured(result) if self._structured else None,
            is_error=result.is_error,
            _meta={"webseam/pages": kept} if kept else None,
        )


async def _never_called() -> None:
    """Stand where the SDK wants a function; `_WebTool.run` does the work."""


def _structured(result: ToolResult) -> dict[str, Any]:
    """Return the core's object. Several pages stand in an object: the protocol allows no list."""
    value = as_json(result.value)
    if isinstance(value, list):
        return {"pages": value}
    return value if isinstance(value, dict) else {"outcome": result.outcome.value, "detail": result.text}


def _add_resources(server: MCPServer[Any], web: AsyncWeb, pages: Pages) -> None:
    @server.resource(
        PROVIDERS_URI,
        name="providers",
        title="Search providers",
        description="Who can be searched with, and how each stands now",
        mime_type="text/markdown",
    )
    def providers() -> str:
        return provider_table(web)

    @server.resource(
        SCHEME + "{id}",
        name="page",
        title="A page that was read",
        description="The Markdown of a page that this server read before",
        mime_type="text/markdown",
    )
    def page(id: str) -> str:
        from webseam.fetch.render import for_model

        found = pages.get(id)
        if found is None:
            raise ResourceNotFoundError(f"No page {id!r:.80} is kept here any more; read it again with web_fetch")
        return for_model(found)


def provider_table(web: AsyncWeb) -> str:
    """Return how every provider is set up and stands, as a Markdown table. No key is in it."""
    lines = ["| provider | name | usable now | state |", "| --- | --- | --- | --- |"]
    for one in web.provider_states():
        lines.append(f"| `{one.id}` | {_cell(one.label)} | {'yes' if one.usable else 'no'} | {_cell(one.state)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _research(question: str) -> str:
    return PROMPT[2].format(question=json.dumps(question, ensure_ascii=False))
