"""What the parts of reading pass to each other: bytes as they came, and what a reader made of them.

Apart from `webseam.model`, whose `Page` is what callers get: these are not public, so that readers can change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from webseam.errors import FetchError
from webseam.model import Link

__all__ = ["Link", "OutOfMemory", "Reading", "Source", "Unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Bytes as they came.

    Attributes:
        media_type: the essence in lower case, without parameters; "" when nobody said.
        charset: what the header named, as it named it.
        truncated: the body was cut at the size limit.
    """

    body: bytes = field(repr=False)
    url: str
    media_type: str = ""
    charset: str | None = None
    truncated: bool = False


@dataclass(slots=True, kw_only=True)
class Reading:
    """What a reader made of a source.

    Attributes:
        markdown: CommonMark with GFM tables; LF line ends, one at the end; "" when there is nothing to read.
        published: an ISO day or instant.
        anchors: fragments that lead into the page -> offset in `markdown` of the block they lead to.
        removed: what was left out, by kind: "hidden", "navigation", "script".
        truncated: not all of the source is in `markdown`.
    """

    markdown: str
    title: str | None = None
    author: str | None = None
    published: str | None = None
    language: str | None = None
    links: tuple[Link, ...] = ()
    reader: str = ""
    anchors: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    truncated: bool = False


class Unreadable(FetchError):
    """A source that no reader can turn into text; the outcome and the detail say why, with kind and size."""


class OutOfMemory(Unreadable):
    """A reader needed more memory than it may have; less of the same source may still be read."""
