"""smolagents: `ToolCallingAgent(tools=webseam.adapters.smolagents.tools(), model=...)`, and `CodeAgent`.

A failed call returns its text, which begins with the outcome. Raising would mark it as an error, but of calls made in
parallel one that raises makes smolagents forget the results of the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from webseam.adapters.session import Session, Tools, missing
from webseam.blocking import Web
from webseam.tools import definitions
from webseam.web import AsyncWeb

try:
    from smolagents import Tool
except ImportError as error:
    raise missing(__name__, "smolagents>=1.26", error) from error


class WebTool(Tool):
    """One tool."""

    skip_forward_signature_validation = True  # it wants one Python parameter for each input; ours are a table
    output_type = "string"

    def __init__(self, session: Session, tool: definitions.Tool) -> None:
        required = tool.parameters.get("required", ())
        self.name = tool.name
        self.description = tool.description
        self.inputs = {
            name: {**({} if name in required else {"nullable": True}), "description": "", **schema}
            for name, schema in tool.parameters["properties"].items()
        }
        self._session = session
        super().__init__()

    def forward(self, /, *values: Any, **arguments: Any) -> str:
        """Carry out a call. Code that a model wrote gives the first arguments by their place."""
        return self._session.call_blocking(
            self.name, {**dict(zip(self.inputs, values, strict=False)), **arguments}
        ).text


def tools(web: Web | AsyncWeb | None = None, names: Iterable[str] | None = None) -> Tools[Tool]:
    """Return the tools for an agent; they remember together what was asked.

    Args:
        web: what to call; the caller closes it. An `AsyncWeb` works where the agent runs in another thread than the
            web's event loop, as with `asyncio.to_thread(agent.run, task)`. None = one is opened: use
            `with tools() as web_tools`, or `close` it.
        names: only these tools.

    Raises:
        RequestError: there is no such tool. SettingsError: the settings are wrong.
    """
    return Tools(web, names, WebTool)
