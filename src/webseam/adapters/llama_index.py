"""LlamaIndex: `FunctionAgent(tools=webseam.adapters.llama_index.tools(), llm=...)`.

A failed call is an output with `is_error`, and its text is what the model reads. Tools work with `call` and `acall`.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from webseam.adapters.session import Session, Tools, details, missing
from webseam.blocking import Web
from webseam.tools import ToolResult
from webseam.tools.definitions import Tool
from webseam.web import AsyncWeb

try:
    from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput
    from pydantic import BaseModel, ConfigDict, create_model
except ImportError as error:
    raise missing(__name__, "llama-index-core>=0.14", error) from error


class WebTool(AsyncBaseTool):
    """One tool. `raw_output` has the outcome and the whole response or page as JSON types."""

    def __init__(self, session: Session, tool: Tool) -> None:
        self._session = session
        self._metadata = ToolMetadata(tool.description, tool.name, _arguments_of(tool))
        self._names = tuple(tool.parameters["properties"])

    @property
    def metadata(self) -> ToolMetadata:
        """Name, description and arguments."""
        return self._metadata

    def call(self, /, *values: Any, **arguments: Any) -> ToolOutput:
        """Carry out a call, waiting. Values without a name are the first arguments."""
        arguments = {**dict(zip(self._names, values, strict=False)), **arguments}
        return self._output(arguments, self._session.call_blocking(self._metadata.get_name(), arguments))

    async def acall(self, /, *values: Any, **arguments: Any) -> ToolOutput:
        """Carry out a call."""
        arguments = {**dict(zip(self._names, values, strict=False)), **arguments}
        return self._output(arguments, await self._session.call(self._metadata.get_name(), arguments))

    def _output(self, arguments: dict[str, Any], result: ToolResult) -> ToolOutput:
        return ToolOutput(
            tool_name=self._metadata.get_name(),
            content=result.text,
            raw_input=arguments,
            raw_output=details(result),
            is_error=result.is_error,
        )


def tools(web: AsyncWeb | Web | None = None, names: Iterable[str] | None = None) -> Tools[AsyncBaseTool]:
    """Return the tools for an agent; they remember together what was asked.

    Args:
        web: what to call; the caller closes it. An `AsyncWeb` works with `acall`, and with `call` from another
            thread than its event loop's. None = one is opened: use `async with tools() as web_tools`, or `close` it.
        names: only these tools.

    Raises:
        RequestError: there is no such tool. SettingsError: the settings are wrong.
    """
    return Tools(web, names, WebTool)


def _arguments_of(tool: Tool) -> type[BaseModel]:
    """Return a class whose JSON schema is the tool's: LlamaIndex takes no other form.

    It checks nothing. A class made from the schema would say `anyOf` with null for every optional argument.
    """

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> dict[str, Any]:
            return deepcopy(tool.parameters)

    return create_model(tool.name, __base__=Arguments)
