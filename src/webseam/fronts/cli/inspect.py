"""`webseam providers`, `webseam use`, `webseam status`: what there is, what is chosen, and what would happen."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from textwrap import fill

import click

from webseam.errors import RequestError
from webseam.fronts.cli.output import print_json, session, table, width
from webseam.fronts.cli.search import complete_provider
from webseam.search.overview import ProviderState
from webseam.search.status import Place, Status
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
    """Show who answers next and why, who is passed over and until when, where keys come from, who gets the query."""

    async def examine(web: AsyncWeb) -> Status:
        return web.status()

    found = session(examine)
    if as_object:
        print_json(found.as_object())
        return
    for part in (_mode, _order, _left_out, _receivers, _limits, _project):
        for line in part(found):
            click.echo(line)


def _mode(found: Status) -> Iterator[str]:
    yield f"mode: {found.mode} (from {found.mode_from})" if found.mode_from != "default" else f"mode: {found.mode}"
    yield f"next: {' and '.join(found.next) or 'nobody'}; {found.why}"
    yield from (f"note: {note}" for note in found.notes)


def _order(found: Status) -> Iterator[str]:
    rows = [(one.id, one.key_from or "-", _receiver(one), _state(one)) for one in found.order]
    if rows:
        yield ""
        yield table(("provider", "key from", "query goes to", "state"), rows)
        yield ""


def _receiver(place: Place) -> str:
    return place.receives or ("nobody" if place.usable else "-")


def _state(place: Place) -> str:
    if place.until is None:
        return place.state
    return f"{place.state}, until {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(place.until))}"


def _left_out(found: Status) -> Iterator[str]:
    if found.not_set_up:
        missing = ", ".join(found.not_set_up)
        yield fill(f"not set up: {missing} (webseam key set NAME; what each lacks: webseam providers)", width())
    for reason, names in found.ruled_out.items():
        yield fill(f"{reason}: {', '.join(names)}", width())


def _receivers(found: Status) -> Iterator[str]:
    if found.next:
        yield f"the query goes to: {'; '.join(found.receives) or 'nobody'}"
    if found.then_receives:
        yield f"and without an answer to: {'; '.join(found.then_receives)}"


def _limits(found: Status) -> Iterator[str]:
    for budget in found.budgets:
        yield f"budget of {budget.who}: {budget.fill} a {budget.span} used ({budget.percent} %)"


def _project(found: Status) -> Iterator[str]:
    if found.project is not None:
        trusted = "trusted" if found.project_trusted else "not trusted: it may choose, but set no keys and addresses"
        yield f"project file: {found.project} ({trusted})"
