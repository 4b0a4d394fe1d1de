"""Pages as text: for a model, between marks that say whose words these are, and for a person at a terminal.

Every front shows pages through here, so that what a model reads is the same over MCP, HTTP and the command line.
"""

from __future__ import annotations

from collections.abc import Sequence

from webseam.fetch.fences import fenced
from webseam.fetch.frame import frame
from webseam.fetch.reading import RAW
from webseam.model import Page


def for_model(pages: Page | Sequence[Page]) -> str:
    """Return Markdown for a model: of each page a header and its text between marks, or why there is none."""
    if isinstance(pages, Page):
        pages = [pages]
    return "\n".join(_framed(page) if page.markdown else _said(page) for page in pages)


def _framed(page: Page) -> str:
    text = page.markdown
    if page.reader == RAW:  # no Markdown: a fence keeps it as it is
        text = fenced(text.rstrip("\n"))
    return frame(
        text,
        url=page.url,
        final_url=page.final_url,
        title=page.title,
        published=page.published,
        reader=source_of(page),
        total_tokens=page.tokens,
        next_cursor=page.next_cursor,
        notes=page.notes,
    )


def _said(page: Page) -> str:
    return f"URL: {page.url}\n{failure(page)}\n"


def failure(page: Page) -> str:
    """Return in a sentence or two why a page has no text, and what to do."""
    fate = "There is nothing to read on the page" if page.outcome.answered else "The page could not be read"
    detail = f" ({page.outcome}): {page.detail.rstrip('.')}" if page.detail and not page.outcome.answered else ""
    return f"{fate}{detail}." + (
        f" Next: {page.hint.rstrip('.')}{'' if page.hint.endswith('?') else '.'}" if page.hint else ""
    )


def for_person(page: Page, *, colour: bool = False) -> str:
    """Return a page for a terminal or a file: what is known about it, then its Markdown; "" when it has none."""
    if not page.markdown:
        return ""
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    facts = " · ".join(filter(None, [page.published and page.published[:10], page.author, source_of(page)]))
    head = [f"{bold}{page.title}{plain}"] if page.title else []
    head.append(f"{dim}{page.final_url or page.url}{plain}")
    if facts:
        head.append(f"{dim}{facts}{plain}")
    return "\n".join(head) + "\n\n" + page.markdown


def source_of(page: Page) -> str:
    """Return who made the text: a site's API or a reader, and whether it came from the cache."""
    name = page.site or page.reader or ""
    return f"{name}, cached" if page.cached and name else name
