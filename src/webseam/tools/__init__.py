"""The tools for models without MCP: their schemas in the form of each model API, and a way to carry out a call.

    import webseam

    tools = webseam.tools.schemas("anthropic")          # for the request
    result = await webseam.tools.call(name, arguments)  # for each tool call in the answer
    result.text                                         # for the model

Many calls are faster, and calls in a loop are noticed, through one `Toolbox`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from webseam.tools.definitions import TOOLS, Tool

if TYPE_CHECKING:
    from webseam.tools.toolbox import Toolbox, ToolResult
    from webseam.web import AsyncWeb

__all__ = ["Tool", "ToolResult", "Toolbox", "call", "schemas"]


def __getattr__(name: str) -> Any:
    if name in ("ToolResult", "Toolbox"):  # an MCP server lists its tools before it loads what carries them out
        from webseam.tools import toolbox

        return getattr(toolbox, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def schemas(style: str, *, names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return the tools as a model API wants them in its request.

    Args:
        style: "openai-chat", "openai-responses", "anthropic" or "gemini".
        names: only these tools; all by default.

    Raises:
        RequestError: there is no such style or tool.
    """
    from webseam.tools import formats

    return formats.schemas(style, chosen(names))


def chosen(names: Iterable[str] | None) -> tuple[Tool, ...]:
    """Return the tools of these names, all for None, in their own order.

    Raises:
        RequestError: there is no such tool.
    """
    from webseam.errors import RequestError
    from webseam.tools.definitions import BY_NAME

    if names is None:
        return TOOLS
    wanted = {names} if isinstance(names, str) else set(names)
    unknown = sorted(wanted - BY_NAME.keys())
    if unknown:
        raise RequestError("names", f"there is no tool {unknown[0]!r:.80}", hint=f"there are {', '.join(BY_NAME)}")
    return tuple(tool for tool in TOOLS if tool.name in wanted)


async def call(name: str, arguments: Mapping[str, Any], *, web: AsyncWeb | None = None) -> ToolResult:
    """Carry out one tool call. Raises nothing but cancellation: what went wrong is in the result, in words for a model.

    Args:
        arguments: as the model sent them.
        web: what to call it with; by default one that is opened and closed for this call.
    """
    from webseam.errors import WebSeamError
    from webseam.tools.toolbox import Toolbox, failure

    if web is not None:
        return await Toolbox(web).call(name, arguments)
    from webseam.web import AsyncWeb

    try:
        one = AsyncWeb()
    except WebSeamError as error:  # a settings file is wrong
        return failure(error)
    async with one:
        return await Toolbox(one).call(name, arguments)
