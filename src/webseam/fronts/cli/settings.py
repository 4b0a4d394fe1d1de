"""`webseam config` and `webseam completion`: reading and changing the user's settings file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from webseam import providers
from webseam.config import CORE, USER_FILE, Setting, SettingsSource, check, config_folder, find_setting
from webseam.errors import RequestError, SettingsError
from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import table
from webseam.net.redact import redact_url


@click.group()
def config() -> None:
    """Show and change settings. Precedence: flags, environment, project file, user file, defaults."""


def _split(name: str) -> tuple[str, str, Setting]:
    section, dot, key = name.partition(".")
    if not dot:
        raise SettingsError("setting", f"{name!r} has no section", hint="write it as section.key, e.g. search.provider")
    section = section.replace("-", "_")
    return section, key, find_setting(section, key, providers.schema_of, providers.sections)


def _source() -> SettingsSource:
    return SettingsSource(providers.schema_of, sections=providers.sections)


@config.command("get")
@click.argument("name", required=False)
def get_setting(name: str | None) -> None:
    """Print one setting (SECTION.KEY), or every setting that is not at its default, with its source."""
    settings = _source().current()
    if name is not None:
        section, _, setting = _split(name)
        click.echo(_shown(setting, settings.read(section, setting)[0]))
        return
    rows = []
    for section in [*CORE, *providers.sections()]:
        for setting in CORE.get(section) or providers.schema_of(section) or ():
            value, origin = settings.read(section, setting)
            if origin != "default":
                rows.append((f"{section}.{setting.name}", _shown(setting, value), origin))
    click.echo(table(("setting", "value", "from"), rows) if rows else "every setting is at its default")


def _shown(setting: Setting, value: Any) -> str:
    if setting.secret and value:
        return "(set, not shown)"
    if isinstance(value, tuple):
        return ", ".join(value)
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else redact_url(str(value))  # a proxy's may hold a password


@config.command("set")
@click.argument("name")
@click.argument("value")
def set_setting(name: str, value: str) -> None:
    """Write SECTION.KEY into the user's settings file. Lists are comma-separated."""
    click.echo(f"{name} is set (in {write_setting(name, value)})")


@config.command("path")
def show_path() -> None:
    """Print the user's settings file, and the project's when there is one."""
    source = _source()
    click.echo(source.user_file)
    if source.project_file is not None:
        click.echo(source.project_file)


@config.command("edit")
def edit() -> None:
    """Open the user's settings file in your editor."""
    path = config_folder(os.environ) / USER_FILE
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    click.edit(filename=str(path))
    _source().current()  # says at once what is wrong with it


def write_setting(name: str, raw: str) -> Path:
    """Write one value into the user's file, leaving its comments and everything else as they are.

    Raises:
        SettingsError: unknown or malformed, or a secret, which belongs to `webseam key set`.
    """
    section, key, setting = _split(name)
    if setting.secret:
        raise RequestError(name, "is a secret and must not stand on a command line", hint=f"webseam key set {section}")
    value = check(setting, raw, section, "the command line")
    import tomlkit

    path = config_folder(os.environ) / USER_FILE
    try:
        document = tomlkit.parse(path.read_text("utf-8"))
    except FileNotFoundError:
        document = tomlkit.document()
    except (ValueError, OSError) as error:
        raise SettingsError(str(path), f"cannot be changed: {error}") from None
    if section not in document:
        document[section] = tomlkit.table()
    document[section][key] = list(value) if isinstance(value, tuple) else value
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    real = path.resolve()  # people keep settings elsewhere and link to them; the link must stay one
    beside = real.with_name(f".{USER_FILE}.{os.getpid()}")
    beside.touch(mode=0o600)  # the file may hold a key
    if real.exists():
        beside.chmod(real.stat().st_mode & 0o777)
    beside.write_text(tomlkit.dumps(document), "utf-8")
    beside.replace(real)
    winner, origin = _source().current().read(section, setting)
    if winner != value:
        say(f"webseam: {origin} sets {name} too, and wins over the file")
    return path


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL, e.g. `eval "$(webseam completion bash)"`."""
    from click.shell_completion import get_completion_class

    from webseam.fronts.cli.app import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise RequestError("shell", f"{shell} is not supported")
    click.echo(kind(cli, {}, "webseam", "_WEBSEAM_COMPLETE").source())
    sys.stdout.flush()
