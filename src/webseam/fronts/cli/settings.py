"""`webseam config` and `webseam completion`: reading and changing the user's settings file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from webseam import providers
from webseam.config import (
    CORE,
    USER_FILE,
    Setting,
    Settings,
    SettingsSource,
    check,
    config_folder,
    find_setting,
    split_name,
)
from webseam.errors import RequestError, SettingsError
from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import table as table_of
from webseam.net.redact import redact_url

if TYPE_CHECKING:
    import tomlkit


@click.group()
def config() -> None:
    """Show and change settings. Precedence: flags, environment, project file, user file, defaults."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A setting by its dotted name: the table it is written in, its key, and what may stand there."""

    table: tuple[str, ...]
    key: str
    setting: Setting

    @property
    def section(self) -> str:
        return self.table[-1].replace("-", "_")


def _place(name: str, named: Mapping[str, str]) -> _Place:
    table, key, kind = split_name(name, named)
    setting = find_setting(table[-1], key, providers.schema_of, providers.sections, kind=kind)
    return _Place(table if kind else (table[-1].replace("-", "_"),), key, setting)


def _source() -> SettingsSource:
    return SettingsSource(providers.schema_of, sections=providers.sections)


@config.command("get")
@click.argument("name", required=False)
def get_setting(name: str | None) -> None:
    """Print one setting (SECTION.KEY), or every setting that is not at its default, with its source."""
    settings = _source().current()
    if name is not None:
        place = _place(name, settings.named)
        click.echo(_shown(place.setting, settings.read(place.section, place.setting)[0]))
        return
    rows = []
    for table, schema in _schemas(settings):
        for setting in schema:
            value, origin = settings.read(table[-1].replace("-", "_"), setting)
            if origin != "default":
                rows.append((f"{'.'.join(table)}.{setting.name}", _shown(setting, value), origin))
    click.echo(table_of(("setting", "value", "from"), rows) if rows else "every setting is at its default")


def _schemas(settings: Settings) -> Iterator[tuple[tuple[str, ...], tuple[Setting, ...]]]:
    """Yield every table there can be, with what it may hold."""
    for section in [*CORE, *providers.sections()]:
        yield (section,), CORE.get(section) or providers.schema_of(section) or ()
    for name, kind in settings.named.items():
        yield ("providers", kind, name), providers.schema_of(name, kind) or ()


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


@config.command("unset")
@click.argument("name")
def unset_setting(name: str) -> None:
    """Take SECTION.KEY out of the user's settings file, so that its default counts again."""
    place = _place(name, _named())
    path, document = _read()
    holder: Any = document
    for part in place.table:
        holder = holder.get(part, {})
    if place.key not in holder:
        click.echo(f"{name} is not set in {path}")
        return
    del holder[place.key]
    _write(path, document)
    click.echo(f"{name} is no longer set (in {path})")
    _point_out_winner(name, place, place.setting.default)


def write_setting(name: str, raw: str) -> Path:
    """Write one value into the user's file, leaving its comments and everything else as they are.

    Raises:
        SettingsError: unknown or malformed, or a secret, which belongs to `webseam key set`.
    """
    place = _place(name, _named())
    if place.setting.secret:
        hint = f"webseam key set {place.table[-1]}"
        raise RequestError(name, "is a secret and must not stand on a command line", hint=hint)
    value = check(place.setting, raw, place.section, "the command line")
    path, document = _read()
    import tomlkit

    holder: Any = document
    for depth, part in enumerate(place.table, start=1):
        if part not in holder:
            holder[part] = tomlkit.table(is_super_table=depth < len(place.table))
        holder = holder[part]
    holder[place.key] = list(value) if isinstance(value, tuple) else value
    _write(path, document)
    _point_out_winner(name, place, value)
    return path


def _named() -> Mapping[str, str]:
    """Return the names of the user's own providers; a file with a mistake in it has none, and can still be mended."""
    try:
        return _source().current().named
    except SettingsError:
        return {}


def _read() -> tuple[Path, tomlkit.TOMLDocument]:
    import tomlkit

    path = config_folder(os.environ) / USER_FILE
    try:
        return path, tomlkit.parse(path.read_text("utf-8"))
    except FileNotFoundError:
        return path, tomlkit.document()
    except (ValueError, OSError) as error:
        raise SettingsError(str(path), f"cannot be changed: {error}") from None


def _write(path: Path, document: tomlkit.TOMLDocument) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    real = path.resolve()  # people keep settings elsewhere and link to them; the link must stay one
    beside = real.with_name(f".{USER_FILE}.{os.getpid()}")
    beside.touch(mode=0o600)  # the file may hold a key
    if real.exists():
        beside.chmod(real.stat().st_mode & 0o777)
    beside.write_text(document.as_string(), "utf-8")
    beside.replace(real)


def _point_out_winner(name: str, place: _Place, value: Any) -> None:
    """Say when something else than the file just written decides."""
    winner, origin = _source().current().read(place.section, place.setting)
    if winner != value:
        say(f"webseam: {origin} sets {name} too, and wins over the file")


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
