"""The README's table of providers, made from what the providers declare.

Usage: python scripts/provider_table.py [--check]. Writes the table between the marks in README.md; with --check it only
says whether the table there is current (exit 1 when it is not).
"""

from __future__ import annotations

import sys
from pathlib import Path

from webseam import providers
from webseam.providers.base import Provider

README = Path(__file__).resolve().parents[1] / "README.md"
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
    if provider.key == "required":
        return f"`{provider.key_env[0]}`"
    return "nothing" if provider.base_url or provider.local else f"`{provider.base_env[0]}`"


def main() -> int:
    text = README.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = f"{before}{BEGIN}\n{table()}\n{END}{after}"
    if "--check" in sys.argv[1:]:
        print("the table of providers is current" if made == text else "stale: run scripts/provider_table.py")
        return int(made != text)
    README.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
