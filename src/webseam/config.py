"""Settings: where they come from, which of them wins, and what each may hold.

One operation works on one frozen `Settings`, so that a file saved half-way through a search cannot change it; a
long-running process sees the change at its next operation, because `SettingsSource.current` looks at the files' times.
The schema of a provider's section is asked from the registry by a callable: this module must not import providers,
or reading one setting would load them all.
"""

from __future__ import annotations

import difflib
import os
import shlex
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from webseam.errors import SettingsError
from webseam.schema import CORE, PROVIDER_COMMON, Setting, check, core_setting, environment_name, list_of, switch_of
from webseam.settings_file import NAMED, Contents, Place, read_settings
from webseam.text import clean

UNSET_WORDS: Final = frozenset({"", "undefined", "null"})  # what wrappers put into variables that nobody set
PROJECT_FILE: Final = "webseam.toml"
USER_FILE: Final = "config.toml"

_NAMING: Final = ("provider", "order", "allow", "deny")  # settings of searches that name providers
# The schema of a provider's section; with a kind, that of a provider of this kind set up under the section's name.
SchemaOf = Callable[..., "tuple[Setting, ...] | None"]


@dataclass(frozen=True, slots=True)
class Layer:
    """The values of one source, by section and key, as they were written."""

    origin: str
    values: Mapping[tuple[str, str], Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """One frozen view of all settings. Values are checked when they are read, by the `Setting` that describes them.

    `named` tells the kind of each provider that is set up under a name of the user's own.
    """

    environment: Mapping[str, str] = field(repr=False, default_factory=dict)
    flags: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    layers: tuple[Layer, ...] = field(repr=False, default=())
    warnings: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    _known: dict[tuple[str, str], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def get(self, section: str, key: str) -> Any:
        """Return a core setting, e.g. `get("search", "timeout")`. What was read once is remembered: nothing changes."""
        place = (section, key)
        if place not in self._known:
            self._known[place] = self.read(section, core_setting(section, key))[0]
        return self._known[place]

    def read(self, section: str, setting: Setting) -> tuple[Any, str]:
        """Return `(value, where it came from)`.

        Raises:
            SettingsError: the winning value is malformed, naming the source and the key.
        """
        place = (section, setting.name)
        if place in self.flags:
            return check(setting, self.flags[place], section, "command line"), "command line"
        for name in (environment_name(section, setting.name), *setting.env):
            raw = self.environment.get(name)
            if raw is not None and raw.strip().lower() not in UNSET_WORDS:
                return check(setting, raw.strip(), section, name), name
        for layer in self.layers:
            if place in layer.values:
                return check(setting, layer.values[place], section, layer.origin), layer.origin
        return setting.default, "default"

    def variable(self, *names: str) -> str | None:
        """Return the first of these environment variables that is set to something."""
        for name in names:
            raw = self.environment.get(name)
            if raw is not None and raw.strip().lower() not in UNSET_WORDS:
                return raw.strip()
        return None

    def override(self, flags: Mapping[tuple[str, str], Any], named: Mapping[str, str] | None = None) -> Settings:
        """Return these settings with call arguments or command-line flags on top."""
        return replace(self, flags={**self.flags, **flags}, named={**self.named, **(named or {})})


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like `word`, or None when nothing is close."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def unknown(kind: str, word: str, known: Iterable[str]) -> SettingsError:
    """Return the error for an unknown name, proposing the nearest known one."""
    close = nearest(word, known)
    return SettingsError(kind, f"{word!r} is not known", hint=f"did you mean {close}?" if close else None)


class SettingsSource:
    """Reads the settings files again when they change; hands out frozen `Settings`.

    The environment is taken once: a process cannot be given new variables from outside.
    """

    def __init__(
        self,
        schema_of: SchemaOf,
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        sections: Callable[[], Iterable[str]] = tuple,
        trusted: Iterable[str] = (),
    ) -> None:
        """`trusted` are folders whose project file may set anything, beside those that the user's settings name."""
        self._trusted = check(core_setting("trust", "folders"), trusted, "trust", "the call")
        self._schema_of = schema_of
        self._sections = sections
        self.environment = dict(os.environ if environment is None else environment)
        self.user_file = config_folder(self.environment) / USER_FILE
        self.project_file = _nearest_project_file(folder)
        self._stamp: object = None
        self._settings = Settings()

    def current(self) -> Settings:
        """Return the settings as the files stand now.

        Raises:
            SettingsError: a file is not TOML, or has an unknown or malformed key.
        """
        stamp = (file_stamp(self.user_file), file_stamp(self.project_file))
        if stamp != self._stamp:
            self._settings = self._load()
            self._stamp = stamp
        return self._settings

    def _load(self) -> Settings:
        warnings: list[str] = []
        user = read_settings(self.user_file, self._setting)
        layers = [Layer(str(self.user_file), user.values)] if user.values else []
        named = dict(user.named)
        if any(self._setting(*place, named.get(place[0].replace("_", "-"))).secret for place in user.values):
            warnings.extend(_exposed(self.user_file))
        if self.project_file is not None and self.project_file != self.user_file:
            named_folders = Settings(self.environment, {}, tuple(layers)).get("trust", "folders") or ()
            trusted = (*self._trusted, *named_folders)
            project = read_settings(self.project_file, self._setting)
            values = project.values
            if is_trusted(self.project_file.parent, trusted):
                named.update(project.named)
            else:
                values, ignored = self._without_what_needs_trust(project, user.values)
                advice = shlex.quote(",".join((*named_folders, str(self.project_file.parent))))
                warnings.extend(
                    f"{self.project_file}: {name} is ignored because this folder is not trusted "
                    f"(webseam config set trust.folders {advice})"
                    for name in ignored
                )
            layers.insert(0, Layer(str(self.project_file), values))
        return Settings(self.environment, {}, tuple(layers), tuple(warnings), named)

    def _without_what_needs_trust(
        self, project: Contents, user: Mapping[Place, Any]
    ) -> tuple[dict[Place, Any], list[str]]:
        """Return what an untrusted folder may set, and the names of the rest.

        That is nothing guarded, no provider of its own, and privacy only tighter than the user has it.
        """
        kept: dict[Place, Any] = {}
        ignored = [f"{NAMED}.{kind}.{name}" for name, kind in project.named.items()]
        for (section, key), value in project.values.items():
            if section.replace("_", "-") in project.named:
                continue
            allowed = None if self._setting(section, key).guarded else _no_looser(section, key, value, user)
            if section == "search" and key in _NAMING:
                allowed = _without_names(allowed, project.named)
            if allowed is not None:
                kept[section, key] = allowed
            else:
                ignored.append(f"{section}.{key}")
        return kept, ignored

    def _setting(self, section: str, key: str, kind: str | None = None) -> Setting:
        return find_setting(section, key, self._schema_of, self._sections, kind=kind)


def _without_names(value: Any, names: Mapping[str, str]) -> Any:
    """Return a choice of providers without those that are not set up after all; None when it named them alone."""
    if isinstance(value, str):
        named = {word.strip() for word in value.rpartition(":")[2].split(",")}
        return None if named & names.keys() else value
    return [name for name in value if name not in names] or None if isinstance(value, list) else value


def _no_looser(section: str, key: str, value: Any, user: Mapping[Place, Any]) -> Any:
    """Return what of a project's value does not loosen the user's rules of who receives queries; None = nothing."""
    if (section, key) == ("search", "local_only"):
        return True if switch_of(value) else None
    if key == "enabled":
        return False if not switch_of(value) else None
    if (section, key) == ("search", "deny"):
        return [*list_of(user.get((section, key), ())), *list_of(value)]
    if (section, key) == ("search", "allow") and (section, key) in user:
        return [name for name in list_of(value) if name in list_of(user[section, key])] or None
    return value


def find_setting(
    section: str,
    key: str,
    schema_of: SchemaOf,
    sections: Callable[[], Iterable[str]],
    *,
    kind: str | None = None,
) -> Setting:
    """Return the description of `section.key`: core, a provider's, or one of a provider of `kind` named `section`.

    Raises:
        SettingsError: unknown section or key, proposing the nearest one.
    """
    if not section and kind:
        raise SettingsError(f"{NAMED}.{clean(kind)}", "has no name under it", hint=f"write [{clean(kind)}]")
    if not section:
        raise SettingsError(clean(key), "must stand in a section", hint=f"write [search] {clean(key)} = …")
    schema = (schema_of(section, kind) if kind else CORE.get(section) or schema_of(section)) or ()
    if not schema:
        raise unknown(f"section [{clean(section)}]", section, [*CORE, *sections()])
    for setting in schema:
        if setting.name == key:
            return setting
    raise unknown(f"{section}.{clean(key)}", key, [setting.name for setting in schema])


def split_name(name: str, named: Mapping[str, str]) -> tuple[tuple[str, ...], str, str | None]:
    """Return the table, the key and, for a provider under another name, its kind, of a setting's dotted name.

    `exa.timeout` stands in `[exa]`, `providers.custom.wiki.url` in `[providers.custom.wiki]`; what has been set up
    that way (`named`) is found by `wiki.url` too.

    Raises:
        SettingsError: no section.
    """
    *table, key = name.split(".")
    if not table or not all([*table, key]):
        raise SettingsError("setting", f"{name!r} has no section", hint="write it as section.key, e.g. search.provider")
    if len(table) == 1 and (kind := named.get(table[0].replace("_", "-"))):
        return (NAMED, kind, table[0].replace("_", "-")), key, kind
    if table[0] == NAMED and len(table) == 3:
        return tuple(table), key, table[1]
    return (".".join(table),), key, None


def call_settings(
    given: Mapping[str, Any],
    schema_of: SchemaOf,
    sections: Callable[[], Iterable[str]],
    *,
    named: Mapping[str, str],
) -> tuple[dict[Place, Any], dict[str, str]]:
    """Return the settings that a program gives by "section.key", by place, and the providers it names with them.

    `named` are those that the files name already.

    Raises:
        SettingsError: unknown or malformed.
    """
    values: dict[Place, Any] = {}
    own: dict[str, str] = {}
    for name, value in given.items():
        (*_, section), key, kind = split_name(name, named)
        setting = find_setting(section, key, schema_of, sections, kind=kind)
        values[section.replace("-", "_"), key] = check(setting, value, section, "the call")
        if kind is not None:
            own[section.replace("_", "-")] = kind
    return values, own


def file_stamp(path: Path | None) -> tuple[int, ...] | None:
    """Return what changes when a file is written (in one tick of the clock too), None when it is not there."""
    try:
        status = os.stat(path) if path is not None else None
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode) if status else None


def is_open_to_others(path: Path) -> bool:
    """True when other users of this machine may read a file."""
    return os.name == "posix" and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _exposed(path: Path) -> list[str]:
    if not is_open_to_others(path):
        return []
    return [f"{path} holds keys and can be read by others: chmod 600 {shlex.quote(str(path))}"]


def is_trusted(folder: Path, trusted: Iterable[str]) -> bool:
    """True when `folder` (resolved) is, or is below, a trusted one. Relative entries would follow the user around."""
    named = [Path(entry).expanduser() for entry in trusted]
    return any(entry.is_absolute() and folder.is_relative_to(entry.resolve()) for entry in named)


def _nearest_project_file(folder: Path | None) -> Path | None:
    try:
        start = (folder or Path.cwd()).resolve()
    except OSError:  # the current folder was removed; searching needs none
        return None
    for parent in (start, *start.parents):
        candidate = parent / PROJECT_FILE
        if candidate.is_file():
            return candidate
    return None


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's settings and saved keys: `WEBSEAM_CONFIG_DIR`, else the platform's."""
    return _folder(environment, "WEBSEAM_CONFIG_DIR", "user_config_dir")


def state_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of health, pace and the response cache: `WEBSEAM_STATE_DIR`, else the platform's."""
    return _folder(environment, "WEBSEAM_STATE_DIR", "user_state_dir")


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of what can be made again, such as the index: `WEBSEAM_CACHE_DIR`, else the platform's."""
    return _folder(environment, "WEBSEAM_CACHE_DIR", "user_cache_dir")


def _folder(environment: Mapping[str, str], name: str, kind: str) -> Path:
    given = environment.get(name, "").strip()
    if given:
        return Path(given).expanduser()
    import platformdirs

    return Path(getattr(platformdirs, kind)("webseam", appauthor=False))


__all__ = [
    "CORE",
    "PROJECT_FILE",
    "PROVIDER_COMMON",
    "UNSET_WORDS",
    "USER_FILE",
    "Layer",
    "Setting",
    "Settings",
    "SettingsSource",
    "cache_folder",
    "call_settings",
    "check",
    "config_folder",
    "core_setting",
    "environment_name",
    "file_stamp",
    "find_setting",
    "is_open_to_others",
    "is_trusted",
    "nearest",
    "split_name",
    "state_folder",
    "unknown",
]
