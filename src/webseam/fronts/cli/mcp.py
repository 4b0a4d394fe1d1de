"""`webseam mcp`."""

from __future__ import annotations

import click

from webseam.fronts.mcp.words import DEFAULT_HOST, DEFAULT_PORT


@click.command()
@click.option("--http", is_flag=True, help="Serve over HTTP at /mcp instead of standard input and output.")
@click.option("--host", default=DEFAULT_HOST, help="Address to listen on; any but loopback needs mcp.api_key.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, help="Port to listen on; 0 = any free one."
)
@click.pass_context
def mcp(ctx: click.Context, http: bool, host: str, port: int) -> int:
    """Serve the tools to an agent over MCP: web_search, web_fetch, docs_search.

    An agent starts this by itself; `webseam setup` tells it to.
    """
    if http:
        from webseam.fronts.mcp.http import serve_http

        return serve_http(host=host, port=port)
    for option in ("host", "port"):
        if ctx.get_parameter_source(option) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(f"--{option} needs --http.")
    from webseam.fronts.mcp.stdio import serve_stdio

    return serve_stdio()
