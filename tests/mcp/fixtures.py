"""What the conformance suite wants to find on a server: its tools, resources and prompts, by the names it asks for.

The suite calls `test_simple_text`, reads `test://static-text` and so on; no product has these. They are added to the
server under test through the SDK's decorators, so that everything around them is that server's own: its session, its
transport, its guards. The same function furnishes a bare server of the SDK, which is what ours is compared with.
"""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    ElicitRequestedSchema,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import Field

PAUSE = 0.05  # seconds between two notifications; the suite wants to see that they come while the tool works


def _png() -> bytes:
    """Return the smallest picture there is: one red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
        + chunk(b"IEND", b"")
    )


def _wav() -> bytes:
    """Return one sample of silence."""
    samples = b"\0\0"
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", len(samples)) + samples
    return struct.pack("<4sI", b"RIFF", len(body)) + body


PNG = base64.b64encode(_png()).decode()
WAV = base64.b64encode(_wav()).decode()


def furnish(server: MCPServer[Any]) -> None:
    """Add all that the suite asks for to a server."""
    from tests.mcp.fixtures_asking import add_asking

    _add_contents(server)
    _add_notifying(server)
    _add_schemas(server)
    _add_resources(server)
    _add_prompts(server)
    _add_older_methods(server)
    add_asking(server)


def _embedded(uri: str, text: str, kind: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text))


def _image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def _add_contents(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    def test_simple_text() -> str:
        """Return text."""
        return "This is a simple text response for testing."

    @server.tool(structured_output=False)
    def test_image_content() -> ImageContent:
        """Return a picture."""
        return _image()

    @server.tool(structured_output=False)
    def test_audio_content() -> AudioContent:
        """Return a sound."""
        return AudioContent(type="audio", data=WAV, mime_type="audio/wav")

    @server.tool(structured_output=False)
    def test_embedded_resource() -> EmbeddedResource:
        """Return a resource along with the result."""
        return _embedded("test://embedded-resource", "This is an embedded resource content.")

    @server.tool(structured_output=False)
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        """Return text, a picture and a resource."""
        return [
            TextContent(type="text", text="Multiple content types test:"),
            _image(),
            _embedded("test://mixed-content-resource", json.dumps({"test": "data", "value": 123}), "application/json"),
        ]

    @server.tool(structured_output=False)
    def test_error_handling() -> str:
        """Fail."""
        raise ToolError("This tool intentionally returns an error for testing")


def _add_notifying(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    async def test_tool_with_logging(ctx: Context[Any, Any]) -> str:
        """Log three lines while working."""
        for number, line in enumerate(("Tool execution started", "Tool processing data", "Tool execution completed")):
            if number:
                await asyncio.sleep(PAUSE)
            with _older_feature():
                await ctx.info(line)
        return "Tool with logging executed successfully"

    @server.tool(structured_output=False)
    async def test_logging_tool(ctx: Context[Any, Any]) -> str:
        """Log a line, which only reaches a client that asked for lines."""
        with _older_feature():
            await ctx.info("Working")
        return "Done"

    @server.tool(structured_output=False)
    async def test_tool_with_progress(ctx: Context[Any, Any]) -> str:
        """Report progress three times."""
        for progress in (0, 50, 100):
            if progress:
                await asyncio.sleep(PAUSE)
            await ctx.report_progress(progress, 100)
        return "Tool with progress executed successfully"

    @server.tool(structured_output=False)
    async def test_trigger_tool_change(ctx: Context[Any, Any]) -> str:
        """Say that the list of tools has changed."""
        await ctx.notify_tools_changed()
        return "Said"

    @server.tool(structured_output=False)
    async def test_trigger_prompt_change(ctx: Context[Any, Any]) -> str:
        """Say that the list of prompts has changed."""
        await ctx.notify_prompts_changed()
        return "Said"

    @server.tool(structured_output=False)
    async def test_reconnection(ctx: Context[Any, Any]) -> str:
        """Close the stream in the middle of the call and answer on the next one."""
        await ctx.close_sse_stream()
        await asyncio.sleep(PAUSE)
        return "Reconnection test completed"

    @server.tool(structured_output=False)
    def test_missing_capability(ctx: Context[Any, Any]) -> str:
        """Refuse a client that cannot be asked for a completion."""
        if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
            raise MCPError(
                code=MISSING_REQUIRED_CLIENT_CAPABILITY,
                message="This tool needs a client that can sample",
                data={"requiredCapabilities": {"sampling": {}}},
            )
        return "The client can sample"


@contextmanager
def _older_feature() -> Iterator[None]:
    """Use what the newer era deprecates and the older one tests for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        yield


_WHOLE_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _add_schemas(server: MCPServer[Any]) -> None:
    @server.tool(structured_output=False)
    def test_x_mcp_header(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
        query: str = "",
    ) -> str:
        """Take an argument that is mirrored in a header."""
        return f"{region}: {query}"

    @server.tool(structured_output=False)
    def json_schema_2020_12_tool() -> str:
        """Tool with JSON Schema 2020-12 features"""
        return "No argument is needed"

    # The decorator makes schemas from signatures and none has these keywords. What the list says is put in place
    # where servers are meant to rewrite messages; whatever strips keywords comes after it.
    async def with_whole_schema(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/list":
            for tool in result["tools"] if isinstance(result, dict) else result.tools:
                _replace_schema(tool)
        return result

    server.middleware.append(with_whole_schema)


def _replace_schema(tool: Any) -> None:
    if isinstance(tool, dict):
        if tool["name"] == "json_schema_2020_12_tool":
            tool["inputSchema"] = _WHOLE_SCHEMA
    elif tool.name == "json_schema_2020_12_tool":
        tool.input_schema = _WHOLE_SCHEMA


def _add_resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text", name="static-text", description="Text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", name="static-binary", description="A picture", mime_type="image/png")
    def static_binary() -> bytes:
        return _png()

    @server.resource("test://watched-resource", name="watched", description="To subscribe to", mime_type="text/plain")
    def watched() -> str:
        return "This resource can be watched."

    @server.resource(
        "test://template/{id}/data", name="template", description="By its id", mime_type="application/json"
    )
    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt(description="Plain words")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="With two arguments")
    def test_prompt_with_arguments(
        arg1: Annotated[str, Field(description="First test argument")],
        arg2: Annotated[str, Field(description="Second test argument")],
    ) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="With a resource")
    def test_prompt_with_embedded_resource(
        resourceUri: Annotated[str, Field(description="URI of the resource to embed")],
    ) -> list[UserMessage]:
        embedded = _embedded(resourceUri, "Embedded resource content for testing.")
        return [UserMessage(embedded), UserMessage("Please process the embedded resource above.")]

    @server.prompt(description="With a picture")
    def test_prompt_with_image() -> list[UserMessage]:
        return [UserMessage(_image()), UserMessage("Please analyze the image above.")]

    @server.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Completion:
        values = [value for value in ("paris", "park", "party") if value.startswith(argument.value)]
        return Completion(values=values, total=len(values), has_more=False)


def _add_older_methods(server: MCPServer[Any]) -> None:
    """Add the methods of the older era for which the SDK's high-level server has no decorator."""

    async def accepted(ctx: Any, params: Any) -> EmptyResult:
        return EmptyResult()

    low_level = server._lowlevel_server
    low_level.add_request_handler("logging/setLevel", SetLevelRequestParams, accepted)
    low_level.add_request_handler("resources/subscribe", SubscribeRequestParams, accepted)
    low_level.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, accepted)


async def sample(ctx: Context[Any, Any], prompt: str) -> str:
    """Ask the client's model, as tools of the older era do in the middle of a call."""
    with _older_feature():
        answer = await ctx.session.create_message(
            messages=[SamplingMessage(role="user", content=TextContent(type="text", text=prompt))],
            max_tokens=100,
            related_request_id=ctx.request_id,
        )
    return answer.content.text if isinstance(answer.content, TextContent) else answer.content.type


async def elicit(ctx: Context[Any, Any], message: str, schema: ElicitRequestedSchema) -> str:
    """Ask the client's user, and return what came in words."""
    with _older_feature():
        answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return f"action={answer.action}, content={json.dumps(answer.content)}"
