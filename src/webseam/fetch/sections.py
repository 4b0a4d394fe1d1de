"""Which sections settings may have beside the core's: one for each provider, and `[sites.NAME]` for each site.

Apart from the registries, because settings must not know who reads what is set in them.
"""

from __future__ import annotations

from webseam import providers
from webseam.schema import Setting
from webseam.settings_file import SITES


def schema_of(section: str, kind: str | None = None) -> tuple[Setting, ...] | None:
    """Return what may stand in a section, None when there is none of this name; see `providers.schema_of`."""
    if kind is None and section.startswith(f"{SITES}."):
        from webseam.fetch import sites  # a search needs none of them

        site = sites.get(section.removeprefix(f"{SITES}.").replace("_", "-"))
        return site.schema() if site is not None else None
    return providers.schema_of(section, kind)


def sections() -> tuple[str, ...]:
    """Return the sections of all providers and sites."""
    from webseam.fetch import sites

    return (*providers.sections(), *(section_of(site.id) for site in sites.every()))


def section_of(site: str) -> str:
    """Return the section of a site by its id."""
    return f"{SITES}.{site.replace('-', '_')}"
