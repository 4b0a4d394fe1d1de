"""HTML pages: parsed once, freed of what is hidden and of what stands around the text, and written as Markdown.

The parts stand beside this module in the order of their work: `bounds`, `meta`, `tabs`, `hidden`, `select` (with
`threads`, `platforms`, `boilerplate`, `edges`, `repeats`), `convert` and `stated`. All of them
work on one tree of turbohtml's, which is imported here alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from webseam.errors import Outcome
from webseam.fetch.types import Reading, Source, Unreadable

if TYPE_CHECKING:
    from turbohtml import Document, Element

_STATED: Final = "the page shows little without its scripts: the end is what it states in its data for search engines"
_FRAGMENT: Final = 200  # characters that a fragment's element must have to be in need of its own part of the page


def read(source: Source, *, fragment: str | None = None) -> Reading:
    """Read an HTML page. `fragment`: the part after `#`, when what it points to must not be left out.

    Raises:
        Unreadable: `js_required` when the page has no text without its scripts, `unsupported` when it is too large and
            the part of it that is read has none.
    """
    import turbohtml

    from webseam.fetch.decode import decode
    from webseam.fetch.readers.html.bounds import bound_markup, bound_text
    from webseam.fetch.readers.html.convert import to_markdown
    from webseam.fetch.readers.html.hidden import remove_hidden
    from webseam.fetch.readers.html.meta import read_meta
    from webseam.fetch.readers.html.select import select
    from webseam.fetch.readers.html.shell import is_shell, shell_mark
    from webseam.fetch.readers.html.stated import as_markdown, is_article, is_missing
    from webseam.fetch.readers.html.tabs import label_tabs

    decoded = decode(source.body, source.charset, html=True)
    markup = bound_markup(decoded.text)
    document = turbohtml.parse(markup)
    meta = read_meta(document, source.url)
    mark, limit = shell_mark(document)
    label_tabs(document)
    removed = remove_hidden(document)
    body = document.select_one("body")
    is_cut = (body is not None and bound_text(body)) or len(markup) < len(decoded.text)
    is_empty = not is_cut and is_shell(body.text if body is not None else "", len(decoded.text), limit)
    if is_empty and not is_article(meta.stated):
        raise Unreadable(
            f"the page has no text without JavaScript ({mark or 'nothing but markup'}), {len(source.body)} bytes",
            outcome=Outcome.JS_REQUIRED,
            hint="read it with a browser, or look for the same text in another format",
        )
    target = _target(document, fragment)
    selection = select(document, is_article=meta.is_article)
    node = selection.node
    if target is not None and not _holds(node, target):
        node = target  # the caller asked for a part that is not in what a reader of the whole page wants
    converted = to_markdown(node, meta.base, title=meta.title)
    said, notes = converted.markdown, list[str]()
    if meta.stated is not None and target is None and is_missing(meta.stated, node.text):
        said = f"{said}\n{as_markdown(meta.stated, meta.base)}".lstrip()
        notes.append(_STATED)
    if is_cut and not said.strip():
        raise Unreadable(
            f"the page is too large: {len(decoded.text):,} characters, and no text where it begins",
            outcome=Outcome.UNSUPPORTED,
        )
    if is_cut:
        notes.append(f"the page is too large to be read whole: {len(decoded.text):,} characters")
    notes += [f"{decoded.replaced} characters could not be decoded as {decoded.encoding}"] if decoded.replaced else []
    return Reading(
        markdown=said,
        title=meta.title,
        author=meta.author,
        published=meta.published,
        language=meta.language,
        links=converted.links,
        reader=f"html ({selection.how})",
        anchors=converted.anchors,
        removed=dict(Counter(removed) + selection.removed),
        notes=notes,
        truncated=source.truncated or is_cut,
    )


def _target(document: Document, fragment: str | None) -> Element | None:
    """Return the part of the page that a fragment points to, None when there is none."""
    if not fragment:
        return None
    found = next((element for element in document.select("[id]") if element.attr("id") == fragment), None)
    if found is None or len(found.text) < _FRAGMENT:
        return None
    return found


def _holds(node: Element, target: Element) -> bool:
    return node == target or any(above == node for above in target.ancestors)
