"""Which providers there are: the files of this folder, and what other packages register.

A provider is known by its file name, so that one search with a named provider loads one file. Other packages register
theirs under the entry-point group `webseam.providers`, as `id = "module:Class"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from webseam.config import Setting, unknown
from webseam.errors import SettingsError
from webseam.providers.base import Provider

ENTRY_POINTS: Final = "webseam.providers"
# Files of this folder that serve providers and are none themselves.
_SHARED: Final = frozenset({"__init__", "base", "countries", "dates", "mcp_wire", "options", "setup", "verdicts"})


broken: Final[dict[str, str]] = {}  # registered providers that could not be loaded: id, why


@cache
def ids() -> tuple[str, ...]:
    """Return the ids of all providers, in the default order of `auto`, those that must be named last."""
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


@cache
def get(name: str) -> Provider:
    """Return the provider called `name`.

    Raises:
        SettingsError: there is none; proposes the nearest name.
    """
    if name in _own():
        module = import_module(f"{__name__}.{name.replace('-', '_')}")
        kinds = (kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Provider))
        return next(kind for kind in kinds if vars(kind).get("id") == name)()
    if name in _registered():
        return _load(name, _registered()[name])
    raise unknown("provider", name, [*_own(), *_registered()])


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


def every() -> Iterator[Provider]:
    """Yield all providers in the order of `ids`."""
    return (get(name) for name in ids())


def on_this_machine() -> str:
    """Return the id of the provider that answers without sending anything."""
    return next(one.id for one in every() if one.local)


def section_of(name: str) -> str:
    """Return the settings section of a provider: its id with `-` as `_`."""
    return name.replace("-", "_")


def schema_of(section: str) -> tuple[Setting, ...] | None:
    """Return the settings of a provider's section, or None when no provider has it."""
    name = section.replace("_", "-")
    if name not in _own() and name not in _registered():
        return None
    return get(name).schema()


def sections() -> tuple[str, ...]:
    """Return the settings sections of all providers."""
    return tuple(section_of(name) for name in [*_own(), *_registered()])
