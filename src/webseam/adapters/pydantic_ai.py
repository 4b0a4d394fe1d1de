"""Pydantic AI: `Agent(model, tools=webseam.adapters.pydantic_ai.tools())`.

A failed call is raised as `ToolFailed`: its text reaches the model as a failed result, and the run goes on. Not as
`ModelRetry`, not even for wrong arguments: that counts against the tool's retries (one, by default), and the next such
call would end the run; and the text already says what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final

from webseam.adapters.session import Session, Tools, details, missing
from webseam.blocking import Web
from webseam.tools import definitions
from webseam.web import AsyncWeb

try:
    from pydantic_ai import Tool, ToolFailed, ToolReturn
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise missing(__name__, "pydantic-ai-slim>=2.68", error) from error


def tools(web: AsyncWeb | Web | None = None, names: Iterable[str] | None = None) -> Tools[Tool[Any]]:
    """Return the tools for `Agent(tools=...)`; they remember together what was asked.

    Args:
        web: what to call; the caller closes it. None = one is opened: use `async with tools() as web_tools`, or
            `close` it.
        names: only these tools.

    Raises:
        RequestError: there is no such tool. SettingsError: the settings are wrong.
    """
    return Tools(web, names, _made)


def _made(session: Session, tool: definitions.Tool) -> Tool[Any]:
    made: Tool[Any] = Tool.from_schema(_caller(session, tool.name), tool.name, tool.description, tool.parameters)
    made.function_schema.validator = _OBJECT
    return made


def _caller(session: Session, name: str) -> Callable[..., Coroutine[Any, Any, ToolReturn[str]]]:
    async def call(**arguments: Any) -> ToolReturn[str]:
        result = await session.call(name, arguments)
        if result.is_error:
            raise ToolFailed(result.text)
        return ToolReturn(return_value=result.text, metadata=details(result))

    return call


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"arguments": value}


# The arguments are checked where they are read, in words for a model. This only keeps a list or a text, which cannot be
# given to a function by name, from ending the run.
_OBJECT: Final = SchemaValidator(core_schema.no_info_plain_validator_function(_object))
