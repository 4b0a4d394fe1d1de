"""Pages that are empty until their scripts run: said so, instead of passing off "Loading…" as the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from turbohtml import Document, Element

_LITTLE: Final = 200  # letters of text from which a page that wants scripts says something without them
_NOTHING: Final = 40  # the same for a page that merely has scripts: "Loading…", a name, a notice of copyright
_MAX_NOTES: Final = 20
_LOOKED_AT: Final = 20  # characters for each letter wanted, in which most pages have them
_MARKUP: Final = 2_000  # characters of markup without a single letter from which something must be missing
_ROOTS: Final = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #q-app, #ember-app, #main-outlet, #react-root, app-root, "
    "[ng-app], [data-reactroot], [data-server-rendered], [id^=mount], flt-glass-pane"
)
_NAMED = re.compile(r"java\s?script", re.IGNORECASE)  # most pages are done with this
_MESSAGE = re.compile(
    r"(?:enable|activate|turn on|requires?|need|allow|without|disabled?|activer|activez|aktivier\w*|habilit\w*)"
    r"[^.]{0,80}java\s?script"
    r"|java\s?script[^.]{0,80}(?:enable|required?|disabled|needed|turned off|aktivier|activ|habilit)",
    re.IGNORECASE,
)


def shell_mark(document: Document) -> tuple[str, int]:
    """Return what tells that a page wants scripts, and below how many letters of text it is empty without them.

    Ask before anything is removed. The mark is "" where nothing tells it.
    """
    message = "it asks for JavaScript"
    if any(_asks(element.text[:2_000]) for element in document.select("noscript")[:_MAX_NOTES]):
        return message, _LITTLE
    root = document.select_one(_ROOTS)
    if root is not None:
        name = root.attr("id")
        return f"an application's root, <{root.tag}{f' id={name}' if name else ''}>", _LITTLE
    body = document.select_one("body")
    if body is not None and _asks(_beginning(body, 5_000)):
        return message, _LITTLE
    if document.select_one("script[src], script[type=module], link[rel=modulepreload]") is not None:
        return "it has scripts", _NOTHING
    return "", 0


def _beginning(element: Element, size: int) -> str:
    """Return the first characters of the text, without a copy of all of it."""
    parts: list[str] = []
    left = size
    for text in element.strings:
        parts.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return "".join(parts)


def _asks(text: str) -> bool:
    return "java" in text.lower() and _NAMED.search(text) is not None and _MESSAGE.search(text) is not None


def is_shell(text: str, markup: int, limit: int) -> bool:
    """Tell whether `text` is too little for a page of `markup` characters, given the limit that goes with its mark."""
    letters = len("".join(text[: _LOOKED_AT * (limit + 1)].split()))
    if letters >= limit and letters:
        return False
    letters = len("".join(text.split()))
    return letters < limit or (letters == 0 and markup > _MARKUP)
