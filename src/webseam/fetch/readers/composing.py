"""Documents of several parts as one Markdown text: each part goes through the converter of web pages by itself.

Piece by piece, because the tree of a whole book would take a hundred times the memory of its chapters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webseam.fetch.types import Link

if TYPE_CHECKING:
    from turbohtml import Node

MAX_CHARACTERS: Final = 2_000_000  # of HTML of one document, some 700 full pages
PIECE: Final = 200_000  # characters of HTML that are worth a conversion
_MAX_LINKS: Final = 2_000
_NOWHERE: Final = "document:/"  # what has no address of its own: links inside the document become their words


class Composer:
    """Markdown so far, with the links in it. `left` is how many characters of HTML there is still room for."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._links: dict[str, Link] = {}
        self.left = MAX_CHARACTERS

    def add(self, html: str) -> None:
        """Add a piece of HTML."""
        if not html:
            return
        import turbohtml

        self.add_tree(turbohtml.parse(f"<body>{html}"), len(html))

    def add_tree(self, node: Node, size: int, base_url: str = _NOWHERE) -> None:
        """Add an element of turbohtml's that was parsed from `size` characters."""
        from webseam.fetch.readers.html.convert import to_markdown

        self.left -= size
        converted = to_markdown(node, base_url)
        if converted.markdown:
            self._parts.append(converted.markdown)
        for link in converted.links:
            if len(self._links) < _MAX_LINKS:
                self._links.setdefault(link.url, link)

    @property
    def markdown(self) -> str:
        return "\n".join(self._parts)

    @property
    def links(self) -> tuple[Link, ...]:
        return tuple(self._links.values())
