"""The embedded index of the documentation installed on this machine: what answers without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webseam.local.build import Progress
    from webseam.local.index import LocalIndex, Refresh, SourceState
    from webseam.local.render import LocalHit

__all__ = ["LocalHit", "LocalIndex", "Progress", "Refresh", "SourceState"]

_HOMES = {"Progress": "build", "LocalHit": "render"}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: `sqlite3` and the rest cost 10 ms that other providers must not pay."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'index')}"), name)
