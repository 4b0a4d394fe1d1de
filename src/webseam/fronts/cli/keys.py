"""`webseam key`: saving keys without their ever standing on a command line."""

from __future__ import annotations

import sys

import click

from webseam import providers
from webseam.errors import RequestError
from webseam.fronts.cli.output import session, table
from webseam.fronts.cli.search import complete_provider
from webseam.providers.setup import find_key
from webseam.web import AsyncWeb

_STDIN_LIMIT = 65_536  # characters read from a pipe


@click.group()
def key() -> None:
    """Save, remove or list the keys of providers. Keys are read hidden or from a pipe, never from an argument."""


@key.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("provider", shell_complete=complete_provider)
@click.argument("misplaced", nargs=-1, metavar="")
def set_key(provider: str, misplaced: tuple[str, ...]) -> None:
    """Save the key of PROVIDER: in the system keyring when there is one, else in a file only you can read."""
    if misplaced:  # taken here, because the usage error would print it
        raise RequestError(
            "key", "must not stand on the command line, where others see it", hint=f"webseam key set {provider} asks"
        )
    known = providers.get(provider)
    if known.key == "none":
        raise RequestError("provider", f"{provider} takes no key")
    if sys.stdin.isatty():
        value = click.prompt(f"Key of {known.label}", hide_input=True, err=True)
    else:
        value = sys.stdin.read(_STDIN_LIMIT)
    click.echo(f"saved the key of {provider} in {session(lambda web: _save(web, provider, value))}")


async def _save(web: AsyncWeb, provider: str, value: str) -> str:
    place = web.saved_keys.set(provider, value)
    web.health.forget(provider)  # what was held against the old key says nothing about this one
    return place


@key.command("remove")
@click.argument("provider", shell_complete=complete_provider)
def remove_key(provider: str) -> None:
    """Forget the saved key of PROVIDER."""
    providers.get(provider)

    async def forget(web: AsyncWeb) -> bool:
        return web.saved_keys.remove(provider)

    click.echo(f"removed the key of {provider}" if session(forget) else f"no key of {provider} was saved")


@key.command("list")
def list_keys() -> None:
    """List the providers that have a key, and where it comes from; never the key."""

    async def listed(web: AsyncWeb) -> list[tuple[str, str]]:
        settings = web.settings()
        found = [(one.id, find_key(one, settings, web.saved_keys)) for one in providers.every()]
        return [(name, one.origin) for name, one in found if one is not None]

    rows = session(listed)
    click.echo(table(("provider", "key from"), rows) if rows else "no keys are set")
