"""The fixtures that ask the client back: in the middle of a call in the older era, by their result in the newer.

Apart from the other fixtures because webseam asks nobody anything: these show that the server and what stands before it
(sessions, limits, guards) let such exchanges through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    RequestParams,
    SamplingMessage,
    TextContent,
)

from tests.mcp import fixtures

Asked = InputRequiredResult

_TEXT = {"type": "string"}
_OPTIONS = ["option1", "option2", "option3"]


def add_asking(server: MCPServer[Any]) -> None:
    """Add the tools and the prompt that ask back."""
    _add_older(server)
    _add_single(server)
    _add_with_state(server)
    _add_prompt(server)


def _form(properties: Mapping[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": required or []}


def _titled(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in pairs]


def _add_older(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    async def test_sampling(prompt: str, ctx: Context[Any, Any]) -> str:
        """Ask the client's model."""
        return f"LLM response: {await fixtures.sample(ctx, prompt)}"

    @server.tool(structured_output=False)
    async def test_elicitation(message: str, ctx: Context[Any, Any]) -> str:
        """Ask the client's user."""
        answered = {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        }
        return f"User response: {await fixtures.elicit(ctx, message, _form(answered, ['username', 'email']))}"

    @server.tool(structured_output=False)
    async def test_elicitation_sep1034_defaults(ctx: Context[Any, Any]) -> str:
        """Ask with a default for every kind of field."""
        fields = {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": True},
        }
        return f"Elicitation completed: {await fixtures.elicit(ctx, 'Please review the defaults', _form(fields))}"

    @server.tool(structured_output=False)
    async def test_elicitation_sep1330_enums(ctx: Context[Any, Any]) -> str:
        """Ask with every kind of choice."""
        first = _titled(("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option"))
        legacy = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
        fields = {
            "untitledSingle": {"type": "string", "enum": _OPTIONS},
            "titledSingle": {"type": "string", "oneOf": first},
            "legacyEnum": {"type": "string", **legacy},
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
            "titledMulti": {"type": "array", "items": {"anyOf": first}},
        }
        return f"Elicitation completed: {await fixtures.elicit(ctx, 'Please choose', _form(fields))}"


def _question(message: str, field: str, kind: str = "string") -> ElicitRequest:
    schema = _form({field: {"type": kind}}, [field])
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _prompt(text: str, most: int = 100) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=most))


def _roots() -> ListRootsRequest:
    return ListRootsRequest(params=RequestParams())


def _filled_in(ctx: Context[Any, Any], key: str, field: str) -> Any:
    """Return what the user filled in, None when it is not there: whoever forgot it is asked again."""
    answer = (ctx.input_responses or {}).get(key)
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return None
    return (answer.content or {}).get(field)


def _said(ctx: Context[Any, Any], key: str) -> str | None:
    answer = (ctx.input_responses or {}).get(key)
    if isinstance(answer, CreateMessageResult) and isinstance(answer.content, TextContent):
        return answer.content.text
    return None


def _rooted(ctx: Context[Any, Any], key: str) -> str | None:
    answer = (ctx.input_responses or {}).get(key)
    return ", ".join(str(root.uri) for root in answer.roots) if isinstance(answer, ListRootsResult) else None


def _add_single(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    async def test_input_required_result_elicitation(ctx: Context[Any, Any]) -> str | Asked:
        """Ask for a name and greet."""
        name = _filled_in(ctx, "user_name", "name")
        if not isinstance(name, str):
            return Asked(input_requests={"user_name": _question("What is your name?", "name")})
        return f"Hello, {name}!"

    @server.tool(structured_output=False)
    async def test_streaming_elicitation(ctx: Context[Any, Any]) -> str | Asked:
        """Report progress, then ask."""
        await ctx.report_progress(1, 2)
        if _filled_in(ctx, "confirm", "ok") is None:
            return Asked(input_requests={"confirm": _question("Go on?", "ok", "boolean")})
        return "Went on"

    @server.tool(structured_output=False)
    async def test_input_required_result_sampling(ctx: Context[Any, Any]) -> str | Asked:
        """Ask the client's model."""
        said = _said(ctx, "capital_question")
        if said is None:
            return Asked(input_requests={"capital_question": _prompt("What is the capital of France?")})
        return f"The model said: {said}"

    @server.tool(structured_output=False)
    async def test_input_required_result_list_roots(ctx: Context[Any, Any]) -> str | Asked:
        """Ask for the client's folders."""
        roots = _rooted(ctx, "client_roots")
        return Asked(input_requests={"client_roots": _roots()}) if roots is None else f"Roots: {roots}"

    @server.tool(structured_output=False)
    async def test_input_required_result_capabilities(ctx: Context[Any, Any]) -> str | Asked:
        """Ask only what the client has declared to answer."""
        able = ctx.client_capabilities
        requests: dict[str, Any] = {}
        if able is not None and able.elicitation is not None:
            requests["confirm"] = _question("Go on?", "ok", "boolean")
        if able is not None and able.sampling is not None:
            requests["words"] = _prompt("Say a word")
        return Asked(input_requests=requests) if requests and not ctx.input_responses else "Nothing was asked"


def _add_with_state(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    async def test_input_required_result_request_state(ctx: Context[Any, Any]) -> str | Asked:
        """Ask, and have the state of the call back with the answer."""
        if ctx.request_state != "asked" or _filled_in(ctx, "confirm", "ok") is None:
            question = _question("Please confirm", "ok", "boolean")
            return Asked(input_requests={"confirm": question}, request_state="asked")
        return "state-ok"

    @server.tool(structured_output=False)
    async def test_input_required_result_tampered_state(ctx: Context[Any, Any]) -> str | Asked:
        """Ask with a state that must not be changed; the SDK seals it."""
        if ctx.request_state != "sealed":
            question = _question("Please confirm", "ok", "boolean")
            return Asked(input_requests={"confirm": question}, request_state="sealed")
        return "The state came back as it was"

    @server.tool(structured_output=False)
    async def test_input_required_result_multiple_inputs(ctx: Context[Any, Any]) -> str | Asked:
        """Ask for three things at once."""
        answers = (_filled_in(ctx, "user_name", "name"), _said(ctx, "greeting"), _rooted(ctx, "client_roots"))
        if None in answers or ctx.request_state != "three":
            requests = {
                "user_name": _question("What is your name?", "name"),
                "greeting": _prompt("Generate a greeting", 50),
                "client_roots": _roots(),
            }
            return Asked(input_requests=requests, request_state="three")
        return " / ".join(map(str, answers))

    @server.tool(structured_output=False)
    async def test_input_required_result_multi_round(ctx: Context[Any, Any]) -> str | Asked:
        """Ask twice, one after the other."""
        if ctx.request_state is None:
            question = _question("Step 1: What is your name?", "name")
            return Asked(input_requests={"step1": question}, request_state="1")
        if ctx.request_state == "1":
            name = _filled_in(ctx, "step1", "name")
            question = _question("Step 2: What is your favorite color?", "color")
            return Asked(input_requests={"step2": question}, request_state=f"2 {name}")
        return f"{ctx.request_state[2:]} likes {_filled_in(ctx, 'step2', 'color')}"


def _add_prompt(server: MCPServer[Any]) -> None:
    @server.prompt(description="Asks for its context")
    async def test_input_required_result_prompt(ctx: Context[Any, Any]) -> list[UserMessage] | Asked:
        context = _filled_in(ctx, "user_context", "context")
        if context is None:
            question = _question("What context should the prompt use?", "context")
            return Asked(input_requests={"user_context": question})
        return [UserMessage(f"Use this context: {context}")]
