"""Text that a person reading the page would not see, taken out of the tree before anything else looks at it.

Instructions for models are planted where people do not look: behind `display:none`, in white on white, off the edge of
the screen, in comments. What is removed is counted, so that a page can say so. Only what the page says itself, inline,
is judged: style sheets are not fetched. Must run before the main text is chosen, else hidden text could steer that.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TYPE_CHECKING, Final

from webseam.fetch.readers.html import measure

if TYPE_CHECKING:
    from turbohtml import Document, Element

_SCRIPTS: Final = 'script:not([type^="math/"]), style, link, meta, base, object, embed, iframe, canvas, template, svg'
_CONTROLS: Final = (
    "button, select, input:not([type=checkbox]), textarea, datalist, dialog:not([open]), [role=alertdialog], "
    "[role=tooltip]"
)
_OPENERS: Final = "h1 button, h2 button, h3 button, h4 button, h5 button, h6 button, dt button, summary button"
_NAMED: Final = (  # class names that style sheets agree on: text for screen readers alone
    ".sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text, .screen-reader-only, .screenreader-only, "
    ".show-for-sr, .u-visually-hidden, .a11y-hidden, .mw-jump-link, .skip-link, "
    '.is-hidden, .d-none:not([class*="d-sm-"]):not([class*="d-md-"]):not([class*="d-lg-"]):not([class*="d-xl-"])'
)
_ATTRIBUTES: Final = '[hidden], [aria-hidden="true"]'
_MAY_HIDE: Final = (
    '[style*="display"], [style*="visibility"], [style*="opacity"], [style*="font-size"], [style*="font:"], '
    '[style*="indent"], [style*="position"], [style*="clip"], [style*="color"], [style*="height"], '
    '[style*="width"], [style*="transform"], [style*="DISPLAY"], [style*="Display"], font[color]'
)
_FAR: Final = 400  # CSS pixels beyond the edge from which a box counts as moved off the screen
_FAR_RELATIVE: Final = 50  # the same in em or per cent
_RELATIVE: Final = frozenset(("em", "rem", "vw", "vh", "%"))
_LEVELS: Final = 40  # above an element in which its background is looked for
_WHOLE: Final = 0.85  # share of the text from which a hidden box is the page itself, waiting for its script
_MAX_STREAMED: Final = 200  # parts of a page that were sent after their place

_SPACE = re.compile(r"\s+|/\*.*?\*/")
_CLOSED = re.compile(r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden)")
_HIDING = re.compile(
    r"(?:^|;)(?:opacity:0?\.?0*(?:%|;|$)|font-size:0*\.?0*(?:px|pt|em|rem|%|;|$)|font:[^;]{0,40}\b0(?:px|pt|em)?/"
    r"|clip-path:inset\((?:50|100)%\)"
    r"|clip:rect\((?:0|1px)(?:px)?[, ](?:0|1px)|transform:scale\(0\))"
)
_OFFSET = re.compile(
    r"(?:^|;)(?:left|top|right|bottom|text-indent|margin-left|margin-top):-(\d{1,9})(?:\.\d+)?(px|pt|em|rem|vw|vh|%|;|$)"
)
_TINY = re.compile(r"(?:^|;)(?:max-)?(?:height|width):[01](?:px)?(?:;|$)")
_COLOUR = re.compile(r"(?:^|;)color:([^;!]+)")
_GROUND = re.compile(r"(?:^|;)background(?:-color)?:([^;!]+)")
_WHITE: Final = frozenset(
    "white #fff #ffffff #ffff #ffffffff #fefefe snow rgb(255,255,255) rgba(255,255,255,1) hsl(0,0%,100%)".split()
)
_CLEAR = re.compile(r"transparent$|(?:rgb|hsl)a\([^)]*,0?\.?0*%?\)$|#[0-9a-f]{3}0$|#[0-9a-f]{6}00$")


def remove_hidden(document: Document) -> dict[str, int]:
    """Take scripts, controls, comments and hidden elements out of `document`.

    Returns what was removed, by kind: `script`, `comment`, `hidden` (elements that had text). `noscript` is left in
    place when the page has no other text: that is then what a reader without scripts sees.
    """
    is_ordinary = measure.is_ordinary(document)
    _place_streamed(document)
    opened = _opened_ids(document) if is_ordinary else frozenset()
    removed = {"script": len(document.select("script:not([type^='math/'])"))}
    removed["comment"] = _remove_comments(document)
    document.remove(_SCRIPTS)
    document.strip_tags(_OPENERS)  # the questions of many a list of questions are buttons
    document.remove(_CONTROLS)
    _remove_noscript(document)
    size = len(document.text) if is_ordinary else 0
    hidden = 0
    for element in measure.each(document, f"{_ATTRIBUTES}, {_NAMED}, {_MAY_HIDE}"):
        if element.parent is None or _is_needed(element):
            continue
        way = _way_of_hiding(element, document)
        if way is None or (way == "closed" and element.attr("id") in opened):
            continue
        if size and len(element.text) > size * _WHOLE:
            continue
        hidden += any(text.strip() for text in element.strings)
        element.extract()
    removed["hidden"] = hidden
    return {kind: count for kind, count in removed.items() if count}


def _remove_comments(document: Document) -> int:
    from turbohtml import Node

    count = 0
    found = document.xpath("//comment()")
    for comment in found if isinstance(found, list) else ():
        if isinstance(comment, Node):
            comment.extract()
            count += 1
    return count


def _remove_noscript(document: Document) -> None:
    """Drop what is written for browsers without scripts, unless it is nearly all the page has."""
    inside = document.select("noscript")
    if not inside:
        return
    spare = sum(len(element.text.strip()) for element in inside)
    body = document.select_one("body")
    rest = len(body.text.strip()) - spare if body is not None else 0
    if spare > 500 and spare > 2 * rest:
        return
    document.remove("noscript")


def _place_streamed(document: Document) -> None:
    """Put parts of a page that came later, hidden and at its end, where their script would put them.

    React's servers send a `template` with the id `B:n` in the place of what takes time, and `S:n` when it is ready.
    """
    for place in document.select('template[id^="B:"]')[:_MAX_STREAMED]:
        part = document.find("div", id=f"S:{(place.attr('id') or '')[2:]}")
        if part is not None:
            place.insert_before(*list(part.children))
            part.extract()


def _opened_ids(document: Document) -> AbstractSet[str]:
    """Return the ids that a control with words on it opens: a person sees those parts after a click.

    Tabs, accordions and "read more" are written as hidden elements, and are most of many pages of documentation.
    """
    opened: set[str] = set()
    for control in document.select('[aria-controls], [href^="#"], [data-target], [data-bs-target]'):
        if not control.text.strip():
            continue
        for name in ("aria-controls", "href", "data-target", "data-bs-target"):
            opened.update(word.removeprefix("#") for word in (control.attr(name) or "").split())
    return opened


def _way_of_hiding(element: Element, document: Document) -> str | None:
    """Return how an element is hidden: `closed`, as a part to be opened is, or `disguised`; None when it is not."""
    style = element.attr("style") or ""
    if element.tag == "font":
        style += f";color:{element.attr('color') or ''}"
    if style:
        style = _SPACE.sub("", style.lower())
        if _is_disguised(style, element, document):
            return "disguised"
        if _CLOSED.search(style):
            return "closed"
    if element.attr("hidden") is not None and element.attr("hidden") != "until-found":
        return "closed"
    if element.attr("aria-hidden") == "true":
        return "closed"
    return "disguised" if element.matches(_NAMED) else None


def _is_disguised(style: str, element: Element, document: Document) -> bool:
    """Tell whether an inline style, in lower case and without spaces, keeps laid-out text from being seen."""
    if _HIDING.search(style):
        return True
    moved = _OFFSET.search(style)
    if moved is not None and int(moved[1]) >= (_FAR_RELATIVE if moved[2] in _RELATIVE else _FAR):
        return True
    if "overflow:hidden" in style and _TINY.search(style):
        return True
    colour = _COLOUR.search(style)
    return colour is not None and _is_unseen(colour[1], style, element, document)


def _is_unseen(colour: str, style: str, element: Element, document: Document) -> bool:
    """Tell whether text of this colour cannot be told from what is behind it."""
    from turbohtml import Element

    if _CLEAR.match(colour) and "background-clip:text" not in style:
        return True
    ground = _GROUND.search(style)
    for behind in islice(element.ancestors, _LEVELS):
        if ground is not None:
            break
        if isinstance(behind, Element):
            ground = _GROUND.search(_SPACE.sub("", (behind.attr("style") or "").lower()))
    if ground is None:
        # Without any style sheet the page is white; with one, white text most likely stands on a dark box.
        return colour in _WHITE and document.select_one('[rel="stylesheet"], style, [class]') is None
    return ground[1] == colour or (ground[1] in _WHITE and colour in _WHITE)


def _is_needed(element: Element) -> bool:
    """Tell whether a hidden element is part of what a person can see: a tab that is not open, a formula's source."""
    if element.tag in ("html", "body", "main"):
        return True
    if element.attr("role") == "tabpanel":
        return True
    return element.tag == "math" or (element.select_one("math") is not None and "math" in (element.attr("class") or ""))
