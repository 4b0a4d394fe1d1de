"""Feeds with the HTML of their entries made Markdown: the feed reader and the HTML converter put together.

A module of its own, because the worker finds readers by name and the feed reader must not import the converter.
"""

from __future__ import annotations

from webseam.fetch.readers import feed
from webseam.fetch.readers.html.fragment import to_markdown
from webseam.fetch.types import Reading, Source


def read(source: Source) -> Reading:
    """Read a feed; see `feed.read`."""
    return feed.read(source, to_markdown)
