"""`webseam config` and `webseam completion`: reading and changing the user's settings file."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
from webseam.fetch.sections import schema_of, sections
from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import table as table_of
from webseam.net.redact import redact_url
from webseam.schema import PROVIDER_COMMON
from webseam.settings_file import SITES, locked, replace_file
from webseam.text import clean

if TYPE_CHECKING:
    import tomlkit

_API_KEY = PROVIDER_COMMON[0].name
_BOM = b"\xef\xbb\xbf"


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
        name = ".".join(self.table) if self.table[0] == SITES else self.table[-1]
        return name.replace("-", "_")


def _place(name: str, named: Mapping[str, str]) -> _Place:
    table, key, kind = split_name(name, named)
    setting = find_setting(table[-1], key, schema_of, sections, kind=kind)
    return _Place(table if kind else tuple(table[-1].replace("-", "_").split(".")), key, setting)


def _source() -> SettingsSource:
    return SettingsSource(schema_of, sections=sections)


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
    for section in [*CORE, *sections()]:
        yield (section,), CORE.get(section) or schema_of(section) or ()
    for name, kind in settings.named.items():
        yield ("providers", kind, name), schema_of(name, kind) or ()


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
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError as error:
        raise _unwritable(path, error) from None
    if not path.is_file():
        raise SettingsError(str(path), "cannot be edited: it is no file")
    click.edit(filename=str(path))
    _source().current()  # says at once what is wrong with it


@config.command("unset")
@click.argument("name")
def unset_setting(name: str) -> None:
    """Take SECTION.KEY out of the user's settings file, so that its default counts again."""
    place = _place(name, _named())
    path = config_folder(os.environ) / USER_FILE
    if not _holders(_File.read(path), place):
        click.echo(f"{name} is not set in {path}")
        return
    with locked(path.parent):
        file = _File.read(path)
        for holder in _holders(file, place):
            del holder[place.key]
        file.write()
    click.echo(f"{name} is no longer set (in {path})")
    _point_out_winner(name, place, place.setting.default)


def write_setting(name: str, raw: str) -> Path:
    """Write one value into the user's file, leaving its comments and everything else as they are.

    Raises:
        SettingsError: unknown or malformed, or a secret, which belongs to `webseam key set`; the file is none that a
            program can change, or it cannot be written.
    """
    place = _place(name, _named())
    if place.setting.secret:
        hint = f"webseam key set {_plain(place.table[-1])}" if place.key == _API_KEY else "webseam config edit"
        raise RequestError(name, "is a secret and must not stand on a command line", hint=hint)
    value = check(place.setting, raw, place.section, "the command line")
    path = config_folder(os.environ) / USER_FILE
    with locked(path.parent):
        file = _File.read(path)
        tables = _holders(file, place) or file.tables(place.table) or [file.add(place.table)]
        tables[-1][place.key] = list(value) if isinstance(value, tuple) else value  # of two, the last one counts
        file.write()
    _point_out_winner(name, place, value)
    return path


def _named() -> Mapping[str, str]:
    """Return the names of the user's own providers; a file with a mistake in it has none, and can still be mended."""
    try:
        return _source().current().named
    except SettingsError:
        return {}


@dataclass(frozen=True, slots=True)
class _File:
    """The user's settings file as it is written: comments, order, byte order mark and line ends stay."""

    path: Path
    document: tomlkit.TOMLDocument
    mark: bytes = b""
    line_end: str = "\n"

    @classmethod
    def read(cls, path: Path) -> _File:
        """Read a file; an absent one is empty.

        Raises:
            SettingsError: it cannot be read, or is not TOML.
        """
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            contents = path.read_bytes()
            mark = _BOM if contents.startswith(_BOM) else b""
            text = contents.removeprefix(mark).decode()
            windows = text.count("\n") == text.count("\r\n") > 0
            document = tomlkit.parse(text.replace("\r\n", "\n") if windows else text)
        except FileNotFoundError:
            return cls(path, tomlkit.document())
        except OSError as error:
            raise SettingsError(str(path), f"cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError, TOMLKitError) as error:
            words = f"cannot be changed: it is not TOML: {clean(str(error))}"
            raise SettingsError(str(path), words, hint="webseam config edit") from None
        return cls(path, document, mark, "\r\n" if windows else "\n")

    def tables(self, names: tuple[str, ...]) -> list[Any]:
        """Return the tables that stand under these names, in their order: one may be written with _ and with -.

        Raises:
            SettingsError: what stands there is no table.
        """
        found: list[Any] = [self.document]
        for depth, name in enumerate(names, start=1):
            found = [holder[key] for holder in found for key in holder if _plain(key) == _plain(name)]
            if not all(isinstance(one, MutableMapping) for one in found):
                words = f"cannot be changed: {'.'.join(names[:depth])} is no table in it"
                raise SettingsError(str(self.path), words, hint="webseam config edit")
        return found

    def add(self, names: tuple[str, ...]) -> Any:
        """Add an empty table under these names and return it."""
        import tomlkit

        holder: Any = self.document
        for depth, name in enumerate(names, start=1):
            if name not in holder:
                holder[name] = tomlkit.table(is_super_table=depth < len(names))
            holder = holder[name]
        return holder

    def write(self) -> None:
        """Write it back, by the way of a link to where it really is.

        Raises:
            SettingsError: it is write-protected, or cannot be written.
        """
        text = self.document.as_string().replace("\n", self.line_end)
        try:
            real = self.path.resolve()  # people keep settings elsewhere and link to them; the link must stay one
            mode = real.stat().st_mode & 0o777 if real.exists() else 0o600  # the file may hold a key
            if not mode & 0o200:  # a folder that may be written to would let it be replaced all the same
                hint = f"chmod u+w {shlex.quote(str(real))}"
                raise SettingsError(str(self.path), "is write-protected; nothing was changed", hint=hint)
            replace_file(real, self.mark + text.encode(), mode)
        except OSError as error:
            raise _unwritable(self.path, error) from None


def _holders(file: _File, place: _Place) -> list[Any]:
    """Return the tables of a file in which a setting stands."""
    return [table for table in file.tables(place.table) if place.key in table]


def _plain(name: str) -> str:
    return name.replace("_", "-")


def _unwritable(path: Path, error: OSError) -> SettingsError:
    real = f" (it leads to {path.readlink()})" if path.is_symlink() else ""
    return SettingsError(str(path), f"cannot be written: {error.strerror}{real}")


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
