"""docs/sites.md says what the registry holds, row by row."""

from __future__ import annotations

from pathlib import Path

from webseam.fetch.sites import every
from webseam.fetch.sites.base import Site
from webseam.schema import Setting

PAGE = Path(__file__).parents[3] / "docs" / "sites.md"
BEGIN, END = "<!-- sites -->", "<!-- end of sites -->"


def row(site: Site) -> str:
    """Return what the table says of a site."""
    pages = " ".join((site.__doc__ or "").split()).removesuffix(".").replace("|", "\\|")
    tokens = ", ".join(f"`{name}`" for name in site.token_env)
    own = "; ".join(f"`{setting.name}`{default(setting)}{heard(setting)}" for setting in site.settings)
    cells = [f"`{site.id}`", site.label, pages, site.base_url or "the page's own host", tokens or "-", own or "-"]
    return "| " + " | ".join(cells) + " |"


def default(setting: Setting) -> str:
    value = setting.default
    if value in (None, "", ()):
        return ""
    return f" ({str(value).lower() if isinstance(value, bool) else value})"


def heard(setting: Setting) -> str:
    return "".join(f", `{name}`" for name in setting.env)


def test_the_table_says_what_every_site_declares() -> None:
    text = PAGE.read_text(encoding="utf-8")
    head = ["| site | name | pages | API | token | settings of its own |", "| --- | --- | --- | --- | --- | --- |"]
    found = text.partition(BEGIN)[2].partition(END)[0].strip().split("\n")
    assert found == [*head, *(row(site) for site in sorted(every(), key=lambda one: one.id))]
