"""How big parts of a page are, and walking over them without tripping over what was removed meanwhile.

The limits here keep every step after the parser linear: judging an element means reading all inside it, which over
elements nested 200,000 deep is a matter of hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from turbohtml import Element, Node, Text

_SENTENCE: Final = 60  # characters from which a block counts as prose and not as a label
_MAX_ELEMENTS: Final = 60_000
_FEW_ELEMENTS: Final = 4_000  # up to which no depth can hurt
_MAX_DEPTH: Final = 250  # levels; the deepest pages that people wrote have about 80


_CONDITION = re.compile(r"\[[^\]]*\]|:[\w-]+\([^()]*\)")
_NAME = re.compile(r"[.#]([\w-]+)")


def names_in(root: Node) -> Set[str]:
    """Return all classes and ids of the elements inside `root`."""
    classes = {element.attr("class") or "" for element in root.select("[class]")}  # few, many times
    return {*" ".join(classes).split(), *(element.attr("id") or "" for element in root.select("[id]"))}


def may_match(selector: str, names: Set[str]) -> bool:
    """Tell whether anything can match where only these names are: asking the tree for each row costs 2 ms a page."""
    return any(needed <= names for needed in _needed(selector))


@cache  # the selectors are those of our tables
def _needed(selector: str) -> tuple[Set[str], ...]:
    """Return the classes and ids that each alternative of a selector cannot do without."""
    return tuple(frozenset(_NAME.findall(one)) for one in _CONDITION.sub("", selector).split(","))


def prose_of(root: Node) -> int:
    """Return how many characters of `root` are in blocks of sentences."""
    sizes = (len(element.text) for element in root.iter_elements(("p", "li", "pre", "td", "dd", "blockquote")))
    return sum(size for size in sizes if size >= _SENTENCE)


def is_in_code(node: Element | Text) -> bool:
    """Tell whether a node is inside code: there a class is the word of a highlighter, `comment` or `operator`."""
    from turbohtml import Element

    element = node if isinstance(node, Element) else node.parent
    return isinstance(element, Element) and element.closest("pre, code") is not None


def count_elements(root: Node) -> int:
    """Return how many elements are inside `root`."""
    return len(list(root.iter_elements()))


def depth_of(root: Node, limit: int) -> int:
    """Return how many levels of elements there are inside `root`, counting no further than just above `limit`."""
    from turbohtml import Element

    depth = 0
    level: list[Node] = [root]
    while level and depth <= limit:
        level = [child for node in level for child in node.children if type(child) is Element]
        depth += bool(level)
    return depth


def is_ordinary(root: Node) -> bool:
    """Tell whether a page is small and flat enough for its parts to be judged one by one."""
    elements = count_elements(root)
    return elements <= _FEW_ELEMENTS or (elements <= _MAX_ELEMENTS and depth_of(root, _MAX_DEPTH) <= _MAX_DEPTH)


def each(root: Node, selector: str) -> Iterator[Element]:
    """Yield the elements that match, in order; when one is removed while it is out, those inside it are passed over."""
    found = root.select(selector)
    at = 0
    while at < len(found):
        element = found[at]
        yield element
        at += 1 if element.parent is not None else 1 + len(element.select(selector))
