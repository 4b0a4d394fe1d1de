"""Which site handlers there are: the files of this folder.

Nothing else names a site: a handler is one file whose class declares its hosts, its settings and how its API is asked.
They are loaded when the first page is looked up, and cost a few milliseconds together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from webseam.fetch.sites.base import Place, Site

# Files of this folder that serve site handlers and are none themselves.
_SHARED: Final = frozenset({"__init__", "base", "comments", "elements", "files", "guest", "place", "value", "writing"})


@cache
def every() -> tuple[Site, ...]:
    """Return all site handlers; those that know pages on any host come last."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in _SHARED)
    sites = [_load(name) for name in names]
    return tuple(sorted(sites, key=lambda site: ("*" in site.hosts, site.id)))


def _load(name: str) -> Site:
    module = import_module(f"{__name__}.{name}")
    wanted = name.replace("_", "-")
    kinds = (kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Site))
    return next(kind for kind in kinds if vars(kind).get("id") == wanted)()


def get(name: str) -> Site | None:
    """Return the site handler called `name`, or None."""
    return next((site for site in every() if site.id == name), None)


def find(url: str, hosts: Mapping[str, Sequence[str]] = {}) -> Site | None:
    """Return the handler whose API can be asked about a page, or None.

    `hosts` are further hosts of a site, by its id, as its settings name them; they come first.
    """
    place = Place.of(url)
    if place is None:
        return None
    own = [site for site in every() if place.host in hosts.get(site.id, ())]
    return next((site for site in (*own, *every()) if site.knows(place, hosts.get(site.id, ()))), None)
