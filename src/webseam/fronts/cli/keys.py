"""`webseam key`: saving keys without their ever standing on a command line."""

from __future__ import annotations

import os
import sys

import click

from webseam import providers
from webseam.errors import RequestError
from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import session, table
from webseam.fronts.cli.search import complete_provider
from webseam.providers.base import Provider
from webseam.providers.setup import find_key
from webseam.secrets import SavedKeys
from webseam.web import AsyncWeb

_STDIN_LIMIT = 65_536  # characters read from a pipe


@click.group()
def key() -> None:
    """Save, remove or list the keys of providers. Keys are read hidden or from a pipe, never from an argument."""


async def _known(web: AsyncWeb, provider: str) -> Provider:
    return providers.get(provider, web.settings().named)


@key.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("provider", shell_complete=complete_provider)
@click.option("--no-verify", is_flag=True, help="Save the key without trying it.")
@click.argument("misplaced", nargs=-1, metavar="")
def set_key(provider: str, no_verify: bool, misplaced: tuple[str, ...]) -> None:
    """Save the key of PROVIDER: in the system keyring when there is one, else in a file only you can read.

    It is tried first, with one real search for two words; a key that the service refuses is not saved.
    """
    if misplaced:  # taken here, because the usage error would print it
        raise RequestError(
            "key", "must not stand on the command line, where others see it", hint=f"webseam key set {provider} asks"
        )

    one = session(lambda web: _known(web, provider))
    if one.key == "none":  # before anybody is asked to type one
        raise RequestError("provider", f"{provider} takes no key")
    if sys.stdin.isatty():
        value = click.prompt(f"Key of {one.label}", hide_input=True, err=True)
    else:
        value = sys.stdin.read(_STDIN_LIMIT)
    kept = session(lambda web: web.set_key(provider, value, verify=not no_verify))
    if kept.shadowed_by:
        say(f"webseam: {kept.shadowed_by} holds another key of {provider}, and wins over the saved one")
    click.echo(f"saved the key of {provider} in {kept.place}; {kept.remark}")


@key.command("remove")
@click.argument("provider", shell_complete=complete_provider)
def remove_key(provider: str) -> None:
    """Forget the saved key of PROVIDER."""

    if SavedKeys(os.environ).remove(provider):  # also of one that the settings know no more, or that a mistake hides
        click.echo(f"removed the key of {provider}")
        return
    session(lambda web: _known(web, provider))
    click.echo(f"no key of {provider} was saved")


@key.command("list")
def list_keys() -> None:
    """List the providers that have a key, and where it comes from; never the key.

    Keys that were saved for a provider which is set up no more are listed last.
    """

    async def listed(web: AsyncWeb) -> list[tuple[str, str]]:
        settings = web.settings()
        found = [(one.id, find_key(one, settings, web.saved_keys)) for one in providers.every(settings.named)]
        rows = [(name, one.origin) for name, one in found if one is not None]
        left = sorted({*web.saved_keys.names()}.difference(name for name, _ in found))
        return [*rows, *((name, f"{_place(web, name)}; no provider of that name is set up") for name in left)]

    rows = session(listed)
    click.echo(table(("provider", "key from"), rows) if rows else "no keys are set")


def _place(web: AsyncWeb, name: str) -> str:
    """Return where a saved key lies; what a keyring has lost is still listed in the file."""
    saved = web.saved_keys.get(name)
    return saved.origin if saved is not None else f"saved in {web.saved_keys.path}"
