"""Files of repositories: whole, or the lines that an address points at."""

from __future__ import annotations

import re
from typing import Final

from webseam.fetch.sites.writing import Document, language_of

MARKDOWN: Final = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
# Kinds whose bytes are no text: readers of those formats know what to do with them.
NOT_TEXT = re.compile(r"\.(?:pdf|ipynb|png|jpe?g|gif|webp|svg|ico|zip|gz|tgz|xz|docx|xlsx|pptx|epub)$", re.IGNORECASE)
_LINES = re.compile(r"L(\d{1,7})(?:C\d{1,7})?(?:-L?(\d{1,7})(?:C\d{1,7})?)?", re.ASCII)
_FRONT_MATTER = re.compile(r"---[ \t]*\n.{0,20000}?\n---[ \t]*\n", re.DOTALL)


def write(document: Document, name: str, text: str, address: str, *, fragment: str = "") -> None:
    """Add a file with its size in lines; only the lines that the fragment names (`L10-L20`), when it does."""
    lines = _LINES.fullmatch(fragment)
    if not lines:
        document.facts(("Lines", f"{text.rstrip(chr(10)).count(chr(10)) + 1:,}"))
        show(document, name, text, address)
        return
    every = text.rstrip("\n").split("\n")
    first = min(max(1, int(lines[1])), len(every))
    last = max(first, min(int(lines[2] or lines[1]), len(every)))
    document.covers(fragment)
    document.facts(("Lines", f"{first:,}{f' to {last:,}' if last > first else ''} of {len(every):,}"))
    document.code("\n".join(every[first - 1 : last]), language_of(name))
    document.truncated = True


def show(document: Document, name: str, text: str, address: str) -> None:
    """Add a file's contents: Markdown as it is, anything else as a code block."""
    if name.lower().endswith(MARKDOWN):
        document.markdown(text, address)
    else:
        document.code(text, language_of(name))


def without_front_matter(text: str) -> str:
    """Return Markdown without the YAML before it."""
    found = _FRONT_MATTER.match(text)
    return text[found.end() :] if found else text
