"""Small parts of a line that carry a meaning of their own: footnotes, link marks, images, raised text, check boxes."""

from __future__ import annotations

import re
from typing import Any, Final

_LINK_MARK = re.compile(
    r"(?:^|\s)(?:headerlink|header-anchor|heading-anchor|heading-link|hash-link|anchor|anchor-link|anchorjs-link|permalink|direct-link"
    r"|self-link|section-link|headinglink|toc-anchor|doc-anchor|deep-link|sl-anchor-link|elementor-anchor)(?:\s|$)"
)
_MARKS: Final = frozenset(
    (
        "",
        "¶",
        "#",
        "##",
        "§",
        "🔗",
        "⚓",
        "∞",
        "&para;",
        "permalink",
        "link",
        "anchor",
        "top",
        "edit",
        "link to this heading",
    )
)
_BACK_LINK = re.compile(
    r"(?:^|\s)(?:footnote-backref|footnote-back|fn-backref|reversefootnote|mw-cite-backlink)(?:\s|$)"
)
_BACK_MARKS: Final = frozenset("↩ ↩︎ ↑ ^ ⏎ ↵ ⤴".split())
_REFERENCE = re.compile(r"(?:^|\s)(?:footnote-reference|footnote-ref|fn-ref|footnoteRef|footnote)(?:\s|$)")
_REFERENCE_TEXT = re.compile(r"[\[(]?([0-9]{1,4}|[a-z]{1,2}|(?:note|n|nb) [0-9]{1,3}|[*†‡§]{1,3})[\])]?", re.IGNORECASE)
_NOTE_ID = re.compile(r"(?:^|[:_-])(?:user-content-)?(?:fn|footnote|cite_note|note|ftn|endnote|id)", re.IGNORECASE)
_ZERO_WIDTH: Final = str.maketrans("", "", "\u200b\u200c\u200d\ufeff\u2060\u00ad\ufe0f")
_LETTER_CLASS = re.compile(r"(?:^|\s)(?:emoji|wp-smiley|g-emoji|emojione|smiley|twemoji|joypixels)(?:\s|$)")
_POWER = re.compile(r"[-+−–]?[0-9]{1,4}|[a-z]|[-+−*/().,0-9a-zA-Z]*[0-9(+*/−-][-+−*/().,0-9a-zA-Z]*")
_MAX_RAISED: Final = 30  # characters; longer raised text is no power
_MAX_ALT: Final = 300  # characters of an image's description


class Footnotes:
    """Which elements are notes, found by the references that lead to them."""

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}
        self._used: set[str] = set()

    def reference(self, node: Any, classes: str, fragment: str) -> str | None:
        """Return the label when a link inside the page is a reference to a note."""
        if not fragment:
            return None
        raised = getattr(node.parent, "tag", None) == "sup" or _has(node, "sup")
        marked = (
            _REFERENCE.search(classes) is not None
            or node.attr("role") == "doc-noteref"
            or node.attr("data-footnote-ref") is not None
        )
        if not raised and not marked:
            return None
        found = _REFERENCE_TEXT.fullmatch(" ".join(node.text.split()))
        if found is None or not (marked or _NOTE_ID.search(fragment)):
            return None
        label = found[1].replace(" ", "")
        if fragment not in self._labels:
            if label in self._used:
                label = re.sub(r"[^\w-]", "-", fragment)[:40]
            self._used.add(label)
            self._labels[fragment] = label
        return self._labels[fragment]

    def is_note(self, node: Any, tag: str) -> bool:
        """True for the element that holds the text of a note a reference was seen to."""
        return tag in ("li", "aside", "div", "p") and bool(self._labels) and self._key(node) is not None

    def label_of(self, node: Any) -> str:
        """Return the label of the element of a note."""
        return self._labels[self._key(node) or ""]

    def _key(self, node: Any) -> str | None:
        name = node.attr("id") or ""
        if name in self._labels:
            return name
        name = name.removeprefix("user-content-")
        return name if name and name in self._labels else None

    def is_back_link(self, node: Any, classes: str) -> bool:
        """True for a link from a note back to its place in the text."""
        if _BACK_LINK.search(classes) or node.attr("role") == "doc-backlink":
            return True
        return node.attr("data-footnote-backref") is not None or node.text.strip() in _BACK_MARKS


def _has(node: Any, tag: str) -> bool:
    return next(node.iter_elements(tag), None) is not None


def is_link_mark(node: Any, classes: str, *, in_heading: bool) -> bool:
    """True for the sign behind a heading that links to the heading itself."""
    if not classes and not in_heading:
        return False
    text = node.text.translate(_ZERO_WIDTH).strip().casefold()
    if _LINK_MARK.search(classes):
        return text in _MARKS or len(text) <= 1 or "headerlink" in classes
    return in_heading and text in _MARKS and not _has(node, "img")


def is_self_link(node: Any, classes: str) -> bool:
    """True for a mark with an absolute address."""
    return bool(classes) and "headerlink" in classes.split()


def is_checkbox(node: Any) -> bool:
    return (node.attr("type") or "").lower() == "checkbox"


def image_text(node: Any, classes: str) -> tuple[str, bool] | None:
    """Return an image as words, and whether they stand for a letter (an emoji); None when nothing is to be seen."""
    alt = node.attr("alt")
    words = " ".join((alt or node.attr("title") or "").split())[:_MAX_ALT]
    if words and (_LETTER_CLASS.search(classes) or (len(words) <= 3 and not words.isascii())):
        return words, True
    if alt == "" or _is_dot(node):
        return None
    return (f"image: {words}" if words else "image"), False


def _is_dot(node: Any) -> bool:
    """True for an image of one or two pixels, which counts visits."""
    return any((node.attr(name) or "").strip().removesuffix("px") in ("0", "1", "2") for name in ("width", "height"))


def raised(node: Any, before: str) -> str | None:
    """Return raised text with a `^` where flat text would read as another number; None when it is anything else."""
    if next(node.iter_elements(), None) is not None:
        return None
    text = node.text.strip()
    if not text or len(text) > _MAX_RAISED or not before or not (before[-1].isalnum() or before[-1] in ")]"):
        return None
    if not _POWER.fullmatch(text):
        return None
    return f"^{text}" if len(text) == 1 or text.lstrip("-+−").isdigit() else f"^({text})"
