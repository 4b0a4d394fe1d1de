"""`webseam providers`, `webseam use`, `webseam status`: what there is, what is chosen, and what would happen."""

from __future__ import annotations

import sys
import time

import click

from webseam.errors import RequestError
from webseam.fronts.cli.output import print_json, session, table
from webseam.fronts.cli.search import complete_provider
from webseam.search.overview import ProviderState
from webseam.web import AsyncWeb


@click.command()
@click.option("--json", "as_object", is_flag=True, help="Print everything the providers declare.")
def providers(as_object: bool) -> None:
    """List the search providers: state, what each can do, who receives the query."""

    async def look(web: AsyncWeb) -> list[ProviderState]:
        return web.provider_states()

    states = session(look)
    if as_object:
        print_json([state.as_object() for state in states])
        return
    rows = [(one.id, one.label, one.state, "yes" if one.in_auto else "no", one.receives or "nobody") for one in states]
    click.echo(table(("provider", "name", "state", "auto", "query goes to"), rows))


@click.command()
@click.argument("provider", required=False, shell_complete=complete_provider)
def use(provider: str | None) -> None:
    """Make PROVIDER (auto, a name, a list a,b,c, fuse) what searches use. Without one, choose from a list."""
    from webseam.fronts.cli.settings import write_setting

    async def check(web: AsyncWeb) -> list[ProviderState]:
        if provider is not None:
            web.check_choice(provider)
        return web.provider_states()

    states = session(check)
    chosen = provider if provider is not None else _pick(states)
    path = write_setting("search.provider", chosen)
    click.echo(f"searches now use {chosen} (in {path})")


def _pick(states: list[ProviderState]) -> str:
    """Show every provider with its state and read a number."""
    rows = [("0", "auto", "every configured provider in order, first answer wins")]
    rows += [(str(number), one.id, one.state) for number, one in enumerate(states, start=1)]
    click.echo(table(("", "provider", "state"), rows), err=True)
    if not sys.stdin.isatty():
        raise RequestError("provider", "none was named", hint="webseam use NAME")
    number = click.prompt("Number", type=click.IntRange(0, len(states)), err=True)
    return "auto" if number == 0 else states[number - 1].id


@click.command()
@click.option("--json", "as_object", is_flag=True, help="Print the status as an object.")
def status(as_object: bool) -> None:
    """Show the mode, who answers next and why, who is skipped and until when, where keys come from."""

    async def look(web: AsyncWeb) -> tuple[str, list[ProviderState]]:
        return str(web.settings().get("search", "provider")), web.provider_states()

    mode, states = session(look)
    used = [one for one in states if one.chosen]
    ready = [one for one in used if one.usable]
    if as_object:
        print_json(
            {"mode": mode, "next": ready[0].id if ready else None, "providers": [one.as_object() for one in used]}
        )
        return
    click.echo(f"mode: {mode}")
    click.echo(f"next: {ready[0].id}" if ready else "next: nobody is usable")
    rows = [(one.id, one.state, _until(one.until), one.key_origin or "-", one.receives or "nobody") for one in used]
    click.echo(table(("provider", "state", "until", "key from", "query goes to"), rows))


def _until(instant: float | None) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(instant)) if instant else "-"
