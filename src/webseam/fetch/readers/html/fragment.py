"""A piece of HTML that is text as a whole: an entry of a feed, a comment that an API returns.

Nothing of it is chosen; what is hidden goes all the same.
"""

from __future__ import annotations


def to_markdown(html: str, base_url: str) -> str:
    """Return HTML as Markdown; relative addresses start from `base_url`."""
    import turbohtml

    from webseam.fetch.readers.html.convert import to_markdown as convert
    from webseam.fetch.readers.html.hidden import remove_hidden

    document = turbohtml.parse(html)
    remove_hidden(document)
    body = document.select_one("body") or document.root
    return convert(body, base_url).markdown if body is not None else ""
