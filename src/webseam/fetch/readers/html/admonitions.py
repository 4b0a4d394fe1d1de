"""Notes, tips and warnings: which elements are one in the generators of documentation, its kind and its title."""

from __future__ import annotations

import re
from typing import Any, Final

_KINDS: Final = frozenset(
    "note tip important warning caution danger error hint attention info success question failure bug example quote "
    "abstract seealso todo summary".split()
)
_NAMES: Final = {"seealso": "See also", "primary": "Note", "secondary": "Note"}
_WITH_KIND = re.compile(
    r"(?:^|\s)(?:theme-admonition|markdown-alert|starlight-aside-|alert|callout|hint|notecard|message|p-notification-)-(\w+)"
)
_MARKERS: Final = frozenset(
    {"admonition", "custom-block", "admonitionblock", "notecard", "callout", "starlight-aside", "hint"}
)
_MAYBE = re.compile(
    r"admonition|markdown-alert|custom-block|notecard|callout|starlight-aside|alert|hint|^(?i:note|tip|warning|caution|important|danger)$"
)
_TITLE = re.compile(
    r"(?:^|\s)(?:admonition-title|markdown-alert-title|custom-block-title|admonitionHeading\S*|starlight-aside__title"
    r"|callout-title|alert-heading|admonition-heading|icon)(?:\s|$)"
)
_PARTS: Final = 8  # how many elements from its start a title may be away
_LONGEST: Final = 200  # characters of a title


def may_be_one(classes: str) -> bool:
    """True when some element with these classes could be an admonition."""
    return _MAYBE.search(classes) is not None or not _KINDS.isdisjoint(classes.lower().split())


def kind_of(tag: str, classes: str) -> str | None:
    """Return the kind of an admonition in words ("Note"), None when the element is none."""
    if tag not in ("div", "aside", "section", "details", "blockquote", "p") or not classes:
        return None
    tokens = classes.split()
    if tag == "details":
        return next((_word(token) for token in tokens if token in _KINDS), None)
    if not _MAYBE.search(classes):
        return None
    if len(tokens) == 1 and tokens[0].lower() in _KINDS:
        return _word(tokens[0].lower()) if tag in ("div", "aside") else None
    if _MARKERS.intersection(tokens):
        return next((_word(token.lower()) for token in tokens if token.lower() in _KINDS), "Note")
    named = _WITH_KIND.search(classes)
    if named and named[1] in _KINDS and ("alert" not in tokens or tag == "div"):
        return _word(named[1])
    if "alert" in tokens:  # as Microsoft Learn writes them
        return next((_word(token.lower()) for token in tokens if token.isupper() and token.lower() in _KINDS), None)
    return None


def title_of(node: Any, kind: str) -> tuple[str, Any]:
    """Return the line that heads an admonition, and the element it was taken from, which must not come again."""
    for position, part in enumerate(node.iter_elements()):
        if position > _PARTS:
            break
        text = " ".join(part.text.split()) if _may_head(part) else ""
        if text and len(text) <= _LONGEST:
            own = text.rstrip(":").casefold() == kind.casefold()
            if own or part.tag == "summary" or _TITLE.search(part.attr("class") or ""):
                return (kind if own else f"{kind}: {text}"), part
    return kind, None


def _may_head(part: Any) -> bool:
    return part.tag in ("p", "summary", "strong", "h5", "h6") or bool(_TITLE.search(part.attr("class") or ""))


def _word(kind: str) -> str:
    return _NAMES.get(kind, kind.capitalize())
