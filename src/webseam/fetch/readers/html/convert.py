"""From an HTML element to CommonMark with GFM tables: the public face of the converter.

turbohtml's own Markdown is not used: it loses the language and the lines of most highlighters' code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webseam.fetch.types import Link

if TYPE_CHECKING:
    from turbohtml import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """What an element says, as Markdown.

    Attributes:
        markdown: LF line ends, one at the end; "" when there is nothing to read.
        links: what it links to outside of the page, in order, each address once.
        anchors: fragments of the page -> offset in `markdown` of the block they lead to.
    """

    markdown: str
    links: tuple[Link, ...] = ()
    anchors: dict[str, int] = field(default_factory=dict)


def to_markdown(node: Node, base_url: str, *, title: str | None = None) -> Converted:
    """Return `node` and what is inside as Markdown. Linear in the size of the page, at any depth.

    Links are absolute against `base_url`; those inside the page are their words only. Images are links that say so,
    never Markdown that loads by itself. A `title` becomes the first heading when the element has none of level 1.
    Tabs come out one after the other, which changes the tree.
    """
    from webseam.fetch.readers.html.tabs import label_tabs
    from webseam.fetch.readers.html.walker import Walker

    label_tabs(node)
    walker = Walker(base_url)
    if title and not any(True for _ in node.iter_elements("h1", include_self=True)):
        walker.write_title(title)
    walker.walk(node)
    return Converted(markdown=walker.lines.markdown(), links=tuple(walker.links.values()), anchors=walker.lines.anchors)
