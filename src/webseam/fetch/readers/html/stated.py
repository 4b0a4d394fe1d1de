"""The text that a page states for machines, in JSON-LD, where the page itself shows next to nothing.

Shops and papers that write their pages by script often send the article or the description along for search engines.
It is not what a person sees, so it is taken only where it says much that the page does not, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

_ARTICLE_LEAST: Final = 500  # characters from which an article is worth more than the word that scripts are needed
_PRODUCT_LEAST: Final = 80
_MOST: Final = 200_000  # characters
_TIMES: Final = 2  # of the statement; a page with more text than that speaks for itself
_LAYOUT: Final = 10_000  # characters of white space that a page may have between its words
_PIECE: Final = 8  # words by which a text is known again
_KNOWN: Final = 0.2  # share of the pieces that are on the page, from which the page says it too
_WORD = re.compile(r"\w+")


def stated_text(items: Iterable[dict[str, Any]]) -> str | None:
    """Return the longest text of an article, or description of a product, among objects of JSON-LD; may be HTML."""
    found = ""
    for item in items:
        text = item.get("articleBody")
        if not isinstance(text, str) or len(text) < _ARTICLE_LEAST:
            text = item.get("description") if item.get("@type") in ("Product", "ProductGroup") else None
        if isinstance(text, str) and max(len(found), _PRODUCT_LEAST) < len(text) <= _MOST:
            found = text
    return found or None


def is_article(stated: str | None) -> bool:
    """Tell whether a statement is as much as a page."""
    return stated is not None and len(stated) >= _ARTICLE_LEAST


def is_missing(stated: str, text: str) -> bool:
    """Tell whether a page with this text says too little, and next to nothing of what is stated."""
    if len(text) > len(stated) * _TIMES + _LAYOUT:
        return False
    said = " ".join(_WORD.findall(text.lower()))
    if len(said) > len(stated) * _TIMES:
        return False
    told = _WORD.findall(stated.lower())
    pieces = [" ".join(told[at : at + _PIECE]) for at in range(0, len(told), _PIECE)]
    return sum(piece in said for piece in pieces) < len(pieces) * _KNOWN


def as_markdown(stated: str, base: str) -> str:
    """Return a statement as Markdown: its lines are paragraphs, its markup is read as that of any page."""
    import turbohtml

    from webseam.fetch.readers.html.convert import to_markdown
    from webseam.fetch.readers.html.hidden import remove_hidden

    lines = (line.strip() for line in stated.splitlines())
    document = turbohtml.parse("".join(f"<p>{line}</p>" for line in lines if line))
    remove_hidden(document)
    return to_markdown(document, base).markdown
