"""Text that a person reading the page would not see, taken out of the tree before anything else looks at it.

Instructions for models are planted where people do not look: behind `display:none`, in white on white, off the edge of
the screen, in comments. What is removed is counted, so that a page can say so. Only what the page says itself, inline,
is judged: style sheets are not fetched. Must run before the main text is chosen, else hidden text could steer that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from webseam.fetch.readers.html import measure

if TYPE_CHECKING:
    from turbohtml import Document, Element

_SCRIPTS: Final = 'script:not([type^="math/"]), style, link, meta, base, object, embed, iframe, canvas, template, svg'
_CONTROLS: Final = (
    "button, select, input:not([type=checkbox]), textarea, datalist, dialog:not([open]), [role=alertdialog], "
    "[role=tooltip]"
)
_OPENERS: Final = "h1 button, h2 button, h3 button, h4 button, h5 button, h6 button, dt button, summary button"
_NAMES: Final = {  # class names that style sheets agree on: text for screen readers alone
    **{
        name: f".{name}"
        for name in (
            "sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only screenreader-only "
            "show-for-sr u-visually-hidden a11y-hidden mw-jump-link skip-link is-hidden"
        ).split()
    },
    "d-none": '.d-none:not([class*="d-sm-"]):not([class*="d-md-"]):not([class*="d-lg-"]):not([class*="d-xl-"])',
}
_SUSPECT: Final = '[hidden], [aria-hidden="true"], [style], font[color]'
_MAY_HIDE = re.compile(
    "display|visibility|opacity|font-size|font:|indent|position|clip|color|height|width|transform|DISPLAY|Display"
)
_FAR: Final = 400  # CSS pixels beyond the edge from which a box counts as moved off the screen
_FAR_RELATIVE: Final = 50  # the same in em or per cent
_RELATIVE: Final = frozenset(("em", "rem", "vw", "vh", "%"))
_LEVELS: Final = 40  # above an element in which its background is looked for
_WHOLE: Final = 0.85  # share of the text from which a hidden box is the page itself, waiting for its script
_MAX_STREAMED: Final = 200  # parts of a page that were sent after their place
_SHORT: Final = 500  # characters of a style that is remembered; longer ones hold pictures and do not come twice

_SPACE = re.compile(r"\s+|/\*.*?\*/")
_CLOSED = re.compile(r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden)")
_HIDING = re.compile(
    r"(?:^|;)(?:opacity:0?\.?0*(?:%|(?=;)|$)|font-size:0*\.?0*(?:px|pt|em|rem|%|(?=;)|$)|font:[^;]{0,40}\b0(?:px|pt|em)?/"
    r"|clip-path:inset\((?:50|100)%\)"
    r"|clip:rect\((?:0|1px)(?:px)?[, ](?:0|1px)|transform:scale\(0\))"
)
_FADED = re.compile(r";?opacity")
_MOVED = re.compile(r"(?:^|;)transform:(?:translate|matrix|scale(?!\(0?\.?0*\))|rotate)")  # it comes in as one scrolls
_OFFSET = re.compile(
    r"(?:^|;)(?:left|top|right|bottom|text-indent|margin-left|margin-top):-(\d{1,9})(?:\.\d+)?(px|pt|em|rem|vw|vh|%|;|$)"
)
_TINY = re.compile(r"(?:^|;)(?:max-)?(?:height|width):[01](?:px)?(?:;|$)")
_COLOUR = re.compile(r"(?:^|;)color:([^;!]+)")
_GROUND = re.compile(r"(?:^|;)background(?:-color)?:([^;!]+)")
_WHITE: Final = frozenset(
    "white #fff #ffffff #ffff #ffffffff #fefefe snow rgb(255,255,255) rgba(255,255,255,1) hsl(0,0%,100%)".split()
)
_OPENED = re.compile(  # classes of what a click brings up where no attribute says by which control
    r"(?:^|\s)(?:tabs?-?(?:pane|panel|content)|(?:accordion|collapse|collapsible|panel)-?_*(?:content|body|panel|collapse))"
    r"(?:\s|$)",
    re.IGNORECASE,
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
    # Asked before anything is removed: after that the tree finds elements by their tag only in another pass.
    has_openers = document.select_one(_OPENERS) is not None
    has_noscript = document.select_one("noscript") is not None
    removed["comment"] = _remove_comments(document)
    if has_openers:
        document.strip_tags(_OPENERS)  # the questions of many a list of questions are buttons
    document.remove(f"{_SCRIPTS}, {_CONTROLS}")
    if has_noscript:
        _remove_noscript(document)
    removed["hidden"] = _remove_unseen(document, opened, is_ordinary=is_ordinary)
    return {kind: count for kind, count in removed.items() if count}


def _remove_unseen(document: Document, opened: AbstractSet[str], *, is_ordinary: bool) -> int:
    """Remove the elements that are hidden, and return how many of them had text."""
    size = -1  # of the page's text, asked for when something is hidden
    count = at = 0
    grounds = cache(lambda: _grounds(document))
    named = _named_in(document)
    suspect = f"{_SUSPECT}, {named}" if named else _SUSPECT
    found = document.select(suspect)
    while at < len(found):
        element = found[at]
        at += 1
        way = _way_of_hiding(element, named, document, grounds)
        if way is None or (way == "closed" and (element.attr("id") in opened or _is_opened(element))):
            continue
        if element.parent is None or _is_needed(element):
            continue
        if size < 0:
            size = len(document.text) if is_ordinary else 0
        if size and len(element.text) > size * _WHOLE:
            continue
        count += any(text.strip() for text in element.strings)
        element.extract()
        at += len(element.select(suspect))  # what is inside went with it
    return count


def _named_in(document: Document) -> str:
    """Return the selector of the hidden names that are on the page, "" when none is.

    Asking the tree for all of them takes as long as everything else here.
    """
    classes = {element.attr("class") or "" for element in document.select("[class]")}  # few, many times
    used = "\n".join(classes).lower()  # a page without a document type does not mind the case
    return ", ".join(selector for name, selector in _NAMES.items() if name in used)


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

    React's servers send a `template` with the id `B:n` or `P:n` in the place of what takes time, and `S:n` when it is
    ready.
    """
    for place in document.select('template[id^="B:"], template[id^="P:"]')[:_MAX_STREAMED]:
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


def _is_opened(element: Element) -> bool:
    return _OPENED.search(element.attr("class") or "") is not None


class _Look(NamedTuple):
    """What an inline style says: `colour` and `ground` as they stand there, None where they do not."""

    is_disguised: bool
    is_closed: bool
    colour: str | None
    ground: str | None


def _look_of(style: str) -> _Look:
    return _known_look(style) if len(style) <= _SHORT else _known_look.__wrapped__(style)


@lru_cache(maxsize=4_096)  # highlighted code has the same few styles thousands of times
def _known_look(style: str) -> _Look:
    style = _SPACE.sub("", style.lower())
    colour, ground = _COLOUR.search(style), _GROUND.search(style)
    is_clear = colour is not None and _CLEAR.match(colour[1]) is not None and "background-clip:text" not in style
    return _Look(
        is_disguised=is_clear or _is_disguised(style),
        is_closed=_CLOSED.search(style) is not None,
        colour=colour[1] if colour is not None else None,
        ground=ground[1] if ground is not None else None,
    )


def _way_of_hiding(
    element: Element, named: str, document: Document, grounds: Callable[[], AbstractSet[str | None]]
) -> str | None:
    """Return how an element is hidden: `closed`, as a part to be opened is, or `disguised`; None when it is not."""
    said = style = element.attr("style") or ""
    hidden, aria = element.attr("hidden"), element.attr("aria-hidden")
    is_asked = hidden is not None or aria == "true"
    if element.tag == "font":
        colour = element.attr("color")
        is_asked = is_asked or colour is not None
        style += f";color:{colour or ''}"
    if style:
        look = _look_of(style)
        way = "closed" if look.is_closed else None
        if look.is_disguised or (look.colour is not None and _is_unseen(look, element, document, grounds)):
            way = "disguised"
        if way is not None and (is_asked or _MAY_HIDE.search(said) or (named and element.matches(named))):
            return way
    if (hidden is not None and hidden != "until-found") or aria == "true":
        return "closed"
    return "disguised" if named and element.matches(named) else None


def _is_disguised(style: str) -> bool:
    """Tell whether an inline style, in lower case and without spaces, keeps laid-out text from being seen."""
    if any(not (_FADED.match(hiding[0]) and _MOVED.search(style)) for hiding in _HIDING.finditer(style)):
        return True
    moved = _OFFSET.search(style)
    if moved is not None and int(moved[1]) >= (_FAR_RELATIVE if moved[2] in _RELATIVE else _FAR):
        return True
    return "overflow:hidden" in style and _TINY.search(style) is not None


def _is_unseen(
    look: _Look, element: Element, document: Document, grounds: Callable[[], AbstractSet[str | None]]
) -> bool:
    """Tell whether text of this colour cannot be told from what is behind it."""
    from turbohtml import Element

    colour, ground = look.colour, look.ground
    if ground is None and colour not in _WHITE and colour not in grounds():
        return False
    for behind in islice(element.ancestors, _LEVELS):
        if ground is not None:
            break
        if isinstance(behind, Element):
            ground = _look_of(behind.attr("style") or "").ground
    if ground is None:
        # Without any style sheet the page is white; with one, white text most likely stands on a dark box.
        return colour in _WHITE and document.select_one('[rel="stylesheet"], style, [class]') is None
    return ground == colour or (ground in _WHITE and colour in _WHITE)


def _grounds(document: Document) -> AbstractSet[str | None]:
    """Return all that inline styles of the page say a background is."""
    return {_look_of(element.attr("style") or "").ground for element in document.select("[style]")}


def _is_needed(element: Element) -> bool:
    """Tell whether a hidden element is part of what a person can see: a tab that is not open, a formula's source."""
    if element.tag in ("html", "body", "main"):
        return True
    if element.attr("role") == "tabpanel":
        return True
    return element.tag == "math" or ("math" in (element.attr("class") or "") and element.select_one("math") is not None)
