"""OpenAI Agents SDK: `Agent(tools=webseam.adapters.openai_agents.tools())`.

A failed call returns its text, which begins with the outcome: this API has no mark for a failed call, and raising would
end the run or replace the text by the SDK's own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from copy import deepcopy
from typing import Any

from webseam.adapters.session import Session, Tools, missing
from webseam.blocking import Web
from webseam.tools.definitions import Tool
from webseam.web import AsyncWeb

try:
    from agents import FunctionTool
    from agents.tool_context import ToolContext
except ImportError as error:
    raise missing(__name__, "openai-agents>=0.24", error) from error


def tools(web: AsyncWeb | Web | None = None, names: Iterable[str] | None = None) -> Tools[FunctionTool]:
    """Return the tools for `Agent(tools=...)`; they remember together what was asked.

    Args:
        web: what to call; the caller closes it. None = one is opened: use `async with tools() as web_tools`, or
            `close` it.
        names: only these tools.

    Raises:
        RequestError: there is no such tool. SettingsError: the settings are wrong.
    """
    return Tools(web, names, _made)


def _made(session: Session, tool: Tool) -> FunctionTool:
    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=deepcopy(tool.parameters),
        on_invoke_tool=_caller(session, tool.name),
        strict_json_schema=False,  # strict would make every argument one that the model has to send
    )


def _caller(session: Session, name: str) -> Callable[[ToolContext[Any], str], Awaitable[str]]:
    async def call(_context: ToolContext[Any], arguments: str) -> str:
        return (await session.call(name, arguments)).text

    return call
