"""The tables of providers in README.md and docs/providers.md, made from what the providers declare.

Usage: python scripts/provider_table.py [--check]. Writes each table between its marks; with --check it only says
whether they are current (exit 1 when one is not).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from webseam import providers
from webseam.config import Setting, Settings
from webseam.providers.base import Provider
from webseam.providers.setup import places
from webseam.secrets import SavedKeys

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- providers: made by scripts/provider_table.py -->", "<!-- end of providers -->"
SIGNS = {"native": "yes", "emulated": "here", "unsupported": "-"}
COLUMNS = {
    "include_domains": "domains",
    "date_range": "dates",
    "language": "language",
    "region": "region",
    "safe": "safe",
    "page": "pages",
}


def table() -> str:
    """Return the table as Markdown."""
    head = ["`-p`", "provider", "needs", *COLUMNS.values(), "kinds", "most hits", "US$ a search"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for one in providers.every():
        options = [SIGNS[one.support(option)] for option in COLUMNS]
        kinds = ", ".join(sorted({"web", *one.kinds})) if not one.local else "documentation"
        price = "?" if one.price is None else "free" if one.price == 0 else f"{one.price:g}"
        cells = [f"`{one.id}`", one.label, needs(one), *options, kinds, str(one.max_count), price]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def needs(provider: Provider) -> str:
    """Return what a provider needs before it can be used."""
    if provider.means == "program":
        return "the program"
    if provider.several:
        return "settings"
    config = next(iter(places(provider, Settings(), SavedKeys({"WEBSEAM_CONFIG_DIR": "/nonexistent"}))))
    if provider.unavailable(config) is None:
        return "nothing"
    names = [*provider.key_env[:1]] if provider.key != "none" and not config.key else []
    return ", ".join(f"`{name}`" for name in [*names, *(() if config.base_url else provider.base_env[:1])])


def variables() -> str:
    """Return the table of what each provider is set up by, as Markdown."""
    lines = ["| provider | key | address | settings of its own |", "| --- | --- | --- | --- |"]
    for one in providers.every():
        if not one.local:
            keys = [*one.key_env, *(f"{name} (a file)" for name in one.key_file_env)]
            settings = [f"`{setting.name}`{_default(setting)}{_heard(setting)}" for setting in one.settings]
            cells = [f"`{one.id}`", _listed(keys), _listed(one.base_env), "; ".join(settings) or "-"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" if " " not in name else f"`{name.split()[0]}` (a file)" for name in names) or "-"


def _default(setting: Setting) -> str:
    value = setting.default
    if value in (None, "", ()):
        return ""
    return f" ({str(value).lower() if isinstance(value, bool) else value})"


def _heard(setting: Setting) -> str:
    return "".join(f", `{name}`" for name in setting.env)


def main() -> int:
    stale = []
    for page, make in ((ROOT / "README.md", table), (ROOT / "docs" / "providers.md", variables)):
        text = page.read_text("utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        made = f"{before}{BEGIN}\n{make()}\n{END}{after}"
        if made != text:
            stale.append(page.name)
            if "--check" not in sys.argv[1:]:
                page.write_text(made, "utf-8")
    if "--check" in sys.argv[1:]:
        print(f"stale: {', '.join(stale)}; run scripts/provider_table.py" if stale else "the tables are current")
    return int("--check" in sys.argv[1:] and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
