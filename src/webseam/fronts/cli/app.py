"""The `webseam` command: its subcommands, loaded one by one, and the mapping of errors to exit codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, Final

import click

from webseam.config import nearest
from webseam.errors import Outcome, WebSeamError
from webseam.version import VERSION

# command: (module, name there, one line of help). The help stands here so that `webseam --help` loads no command.
COMMANDS: Final[dict[str, tuple[str, str, str]]] = {
    "search": ("search", "search", "Search the web and print ranked hits."),
    "fetch": ("fetch", "fetch", "Read pages as Markdown."),
    "providers": ("inspect", "providers", "List the search providers and what each can do."),
    "use": ("inspect", "use", "Choose the provider that searches use."),
    "key": ("keys", "key", "Save, remove or list the keys of providers."),
    "status": ("inspect", "status", "Show who answers next, who is skipped and why."),
    "usage": ("usage", "usage", "Show calls made, what they cost, and budgets."),
    "test": ("checks", "test", "Run one search and show every step of it."),
    "doctor": ("checks", "doctor", "Check each configured provider over the real lane."),
    "config": ("settings", "config", "Show and change settings."),
    "index": ("index", "index", "The documentation of what is installed here."),
    "mcp": ("mcp", "mcp", "Serve the tools to an agent over MCP."),
    "setup": ("setup", "setup", "Give the tools to the agents installed here."),
    "completion": ("settings", "completion", "Print the completion script of a shell."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used; an unknown one proposes the nearest."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(f"webseam.fronts.cli.{entry[0]}"), entry[1])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = nearest(name, COMMANDS)
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {close!r}?" if close else ""))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # `webseam … | head`: the reader has what it wanted. Click would make it a failure.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, package_name="webseam", message="webseam %(version)s")
def cli() -> None:
    """One seam through which agents, scripts and people reach the web."""


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code: Any = cli.main(args=arguments, prog_name="webseam", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.exceptions.Abort:
        return Outcome.CANCELLED.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except WebSeamError as error:
        say(f"webseam: {error.detail}" + (f"\n  {error.hint}" if error.hint else ""))
        return error.outcome.exit_code
    except KeyboardInterrupt:
        return Outcome.CANCELLED.exit_code
    return code if isinstance(code, int) else 0


def say(text: str) -> None:
    """Print a notice on standard error."""
    click.echo(text, err=True)
