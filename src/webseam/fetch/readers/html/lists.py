"""Lists: where the numbers, bullets and terms of HTML lists go in Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from webseam.fetch.readers.html.lines import Lines

_MAX_NUMBER: Final = 999_999_999  # the longest number CommonMark takes
_BLOCKS: Final = frozenset(
    "address article aside blockquote details div dl fieldset figure form h1 h2 h3 h4 h5 h6 hr ol pre section table "
    "ul".split()
)


@dataclass(slots=True)
class Listing:
    """One open list.

    Attributes:
        number: of the next item; None for bullets.
        loose: the item before had several blocks, so the next one is set off by a blank line.
        items: how many items were opened.
    """

    number: int | None = None
    step: int = 1
    loose: bool = False
    items: int = 0


def open_list(node: Any) -> Listing:
    """Return the list that an `ul`, `ol` or `menu` element starts."""
    if node.tag != "ol":
        return Listing()
    start = _number(node.attr("start"))
    if node.attr("reversed") is None:
        return Listing(number=1 if start is None else start)
    length = sum(getattr(child, "tag", None) == "li" for child in node.children)
    return Listing(number=length if start is None else start, step=-1)


def open_item(lines: Lines, listing: Listing, value: str | None = None) -> None:
    """Open the container of a list item; `value` is its own number where it has one."""
    marker = "- "
    if listing.number is not None:
        number = _number(value)
        listing.number = listing.number if number is None else number
        marker = f"{max(0, listing.number)}. "
    starts_tight = lines.is_under_item_text() and listing.number in (None, 1)
    lines.open(marker, " " * len(marker), is_item=True, tight=not listing.loose if listing.items else starts_tight)
    listing.items += 1
    if listing.number is not None:
        listing.number += listing.step


def close_item(lines: Lines, listing: Listing) -> None:
    """Close the container of a list item."""
    listing.loose = lines.close()


def is_plain_definitions(node: Any) -> bool:
    """True for a definition list whose definitions are a line of text each; others hold whole sections."""
    for child in node.children:
        tag = getattr(child, "tag", None)
        if tag not in (None, "dt", "dd"):
            return False
        if tag is None:
            continue
        names = [getattr(part, "tag", None) for part in child.children]
        if _BLOCKS.intersection(filter(None, names)) or names.count("p") > (tag == "dd"):
            return False
    return True


def _number(value: str | None) -> int | None:
    """Return the number an attribute gives, None when it is none that Markdown can write."""
    if value is None or not (value := value.strip()).isascii() or not value.lstrip("-").isdigit() or len(value) > 10:
        return None
    number = int(value)
    return number if 0 <= number <= _MAX_NUMBER else None
