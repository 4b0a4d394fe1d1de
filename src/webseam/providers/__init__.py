"""Which providers there are: the files of this folder, and what other packages register.

A provider is known by its file name, so that one search with a named provider loads one file. Other packages register
theirs under the entry-point group `webseam.providers`, as `id = "module:Class"`. A user may set up a provider that
allows it several times, as `[providers.KIND.NAME]`; `named` below is what the settings say of these, NAME to KIND.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from webseam.config import CORE, Setting, unknown
from webseam.errors import SettingsError
from webseam.providers.base import Provider

ENTRY_POINTS: Final = "webseam.providers"
# Files of this folder that serve providers and are none themselves.
_SHARED: Final = frozenset(
    {
        "__init__",
        "answers",
        "base",
        "command_output",
        "countries",
        "dates",
        "googlish",
        "mcp_wire",
        "options",
        "setup",
        "verdicts",
    }
)
_NAME: Final = re.compile(r"(?!auto$|fuse$|providers$)[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


broken: Final[dict[str, str]] = {}  # registered providers that could not be loaded: id, why


def ids(named: Mapping[str, str] = {}) -> tuple[str, ...]:
    """Return the ids of all providers, in the default order of `auto`, those that must be named last."""
    return (*_ids(), *sorted(named)) if named else _ids()


@cache
def _ids() -> tuple[str, ...]:
    known = []
    for name in sorted({*_own(), *_registered()}):
        try:
            known.append(get(name))
        except SettingsError as error:  # somebody else's package must not take search away from everybody
            broken[name] = error.detail
    return tuple(
        provider.id for provider in sorted(known, key=lambda item: (item.rank is None, item.rank or 0, item.id))
    )


@cache
def _own() -> tuple[str, ...]:
    names = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return tuple(name.replace("_", "-") for name in names if name not in _SHARED)


@cache
def _registered() -> dict[str, str]:
    from importlib.metadata import entry_points  # 15 ms; only when all providers are wanted, or an unknown one

    return {entry.name: entry.value for entry in entry_points(group=ENTRY_POINTS)}


def get(name: str, named: Mapping[str, str] = {}) -> Provider:
    """Return the provider called `name`.

    Raises:
        SettingsError: there is none; proposes the nearest name.
    """
    if name in named:
        return _instance(name, named[name])
    found = _get(name)
    if found is None:
        raise unknown("provider", name, [*_own(), *_registered(), *named])
    return found


@cache
def _get(name: str) -> Provider | None:
    if name in _own():
        module = import_module(f"{__name__}.{section_of(name)}")
        kinds = (kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Provider))
        own = next((kind for kind in kinds if vars(kind).get("id") == name), None)
        if own is None:
            raise SettingsError("provider", f"{module.__name__} holds no provider {name!r}")
        return own()
    return _load(name, _registered()[name]) if name in _registered() else None


@cache
def _instance(name: str, kind: str) -> Provider:
    """Return the provider `kind` under another name. Variables of other tools mean the one called `kind`."""
    original = type(get(kind))
    if not original.several:
        raise SettingsError(f"[providers.{kind}.{name}]", f"{kind} can be set up once only", hint=f"write [{kind}]")
    if name in (*_own(), *_registered(), *CORE) or not _NAME.fullmatch(name):
        taken = "is taken" if _NAME.fullmatch(name) else "is not lower-case letters, digits and dashes"
        raise SettingsError(f"[providers.{kind}.{name}]", f"the name {name!r} {taken}", hint="choose another name")
    own = {
        "id": name,
        "label": name,
        "settings": tuple(replace(setting, env=()) for setting in original.settings),
        "key_env": (),
        "key_file_env": (),
        "base_env": (),
        "rank": None,
    }
    made: type[Provider] = type(original.__name__, (original,), own)
    return made()


def _load(name: str, place: str) -> Provider:
    """Return a provider of another package, from `module:Class`."""
    target, _, attribute = place.partition(":")
    try:
        kind = getattr(import_module(target), attribute)
        provider = kind() if isinstance(kind, type) and issubclass(kind, Provider) else None
    except Exception as error:
        raise SettingsError("provider", f"{name!r} cannot be loaded from {target}: {error}") from error
    if provider is None or getattr(provider, "id", None) != name:
        raise SettingsError("provider", f"{name!r} is not a provider of that id")
    return provider


def every(named: Mapping[str, str] = {}) -> Iterator[Provider]:
    """Yield all providers in the order of `ids`."""
    return (get(name, named) for name in ids(named))


def on_this_machine() -> str:
    """Return the id of the provider that answers without sending anything."""
    return next(one.id for one in every() if one.local)


def section_of(name: str) -> str:
    """Return the settings section of a provider: its id with `-` as `_`."""
    return name.replace("-", "_")


def schema_of(section: str, kind: str | None = None) -> tuple[Setting, ...] | None:
    """Return the settings of a provider's section, or None when no provider has it.

    With `kind`: of a provider of that kind set up under the name `section`.

    Raises:
        SettingsError: there is no such kind, it may be set up once only, or the name is not free.
    """
    name = section.replace("_", "-")
    if kind is not None:
        return get(name, {name: kind}).schema()
    if name not in _own() and name not in _registered():
        return None
    return get(name).schema()


def sections() -> tuple[str, ...]:
    """Return the settings sections of all providers that are not set up under other names."""
    return tuple(section_of(name) for name in [*_own(), *_registered()])
