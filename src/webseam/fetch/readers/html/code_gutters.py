"""Line numbers, buttons and hover boxes of code blocks: what stands in them beside the code.

Known ones are told by their class. The classes of others are made by a build (`css-519pyc`), so they are told by what
they say: the numbers of all lines, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

_DROPPED_TAGS: Final = frozenset(
    {"button", "script", "style", "clipboard-copy", "svg", "template", "select", "noscript", "textarea", "input"}
)
# Line numbers, buttons and labels, by a class that only they have.
_DROPPED = re.compile(
    r"(?:^|\s)(?:linenos|lineno|linenodiv|linenumber|line-numbers?|line-numbers-rows|line-numbers-wrapper|code-line-number"
    r"|react-(?:syntax-highlighter-)?line-number|ln|lnt|lnum|gutter|rouge-gutter|gl|blob-num|hljs-ln-n|hljs-ln-numbers"
    r"|CodeMirror-(?:gutter\S*|linenumber|cursors|measure)|cm-gutters?|ace_gutter\S*|margin|crayon-nums?|src-line-numbers"
    r"|linenr|source-line-no|file-line-num|diff-line-num|lines-num|src-line-num|ltx_tag_listingline|ltx_listing_data"
    r"|zeroclipboard-container|copy|copy-(?:btn|button|code-button)|copybtn|btn-clipboard|headerlink|code-lang|example-header"
    r"|toolbar|md-clipboard|hover-info|tactic-state|alectryon-output|cm-widgetBuffer|viewcode-back|viewcode-link)(?:\s|$)"
)
_HOLDS_CODE: Final = frozenset({"pre", "code", "ol", "table"})  # `pre.line-numbers` is Prism's block with numbers
_NUMBER_CLASS = re.compile(r"line[-_]?n(?:o|um|r)|(?:^|[-_\s])(?:row|ln)-?num|gutter", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,6}")
_NUMBERS = re.compile(r"\s*[0-9]{1,6}(?:\s+[0-9]{1,6})*\s*")
_LINE_BOXES: Final = frozenset({"div", "tr", "li", "p"})
_MAX_ABOVE: Final = 6  # elements between a cell and the numbers in it
_MAX_PARTS: Final = 4  # elements in that of a number
_MAX_LINES: Final = 20_000  # of a block whose numbers are looked for


def may_be_beside_code(classes: str, style: str) -> bool:
    """True when a `span` with these and no other attributes may be no part of the code."""
    return bool(_DROPPED.search(classes) or _NUMBER_CLASS.search(classes) or "user-select" in style)


def is_beside_code(tag: str, classes: str, node: Any) -> bool:
    """True for an element inside a block that is no part of the code."""
    if tag in _DROPPED_TAGS:
        return True
    if classes and _DROPPED.search(classes):
        return not (tag in _HOLDS_CODE or "code" in classes.split())
    if tag == "span" and node.attr("data-nosnippet") is not None:
        return True
    if tag == "td" and node.attr("data-line-number") is not None:
        return _is_number(node, or_empty=True)
    if tag not in ("span", "a", "div", "td", "i"):
        return False
    is_marked = (classes and _NUMBER_CLASS.search(classes)) or "user-select" in (node.attr("style") or "")
    return bool(is_marked) and _is_number(node)


def _is_number(node: Any, *, or_empty: bool = False) -> bool:
    if len(list(islice(node.iter_elements(), _MAX_PARTS))) == _MAX_PARTS:  # reading all that is inside, at every depth
        return False
    text = node.text.strip()
    return _DIGITS.fullmatch(text) is not None or (or_empty and not text)


def numbers_of(block: Any) -> list[Any]:
    """Return the elements that number the lines of a block whose classes say nothing, [] when there are none.

    The first thing in each of the boxes that are lines, in its own element, one higher than in the line before.
    """
    found = _first_text(block)
    if found is None or _DIGITS.fullmatch(found.text.strip()) is None:
        return []
    number = found.parent
    line = number.parent
    if line is None or getattr(line, "tag", "") not in _LINE_BOXES or number == block or line == block:
        return []
    expected = int(found.text.strip())
    numbers: list[Any] = []
    for other in line.parent.children if line.parent is not None else ():
        if getattr(other, "tag", None) is None:
            if other.text.strip():
                return []
            continue
        text = _first_text(other)
        if text is None or text.text.strip() != str(expected) or text.parent == other or len(numbers) >= _MAX_LINES:
            return []
        numbers.append(text.parent)
        expected += 1
    if len(numbers) == 1:  # only a box beside it makes a single number one of a line
        boxes = [child.tag for child in line.children if getattr(child, "tag", None) is not None]
        return numbers if expected == 2 and boxes[1:2] == ["div"] else []
    return numbers if any(_has_more(number) for number in numbers) else []


def _first_text(node: Any) -> Any:
    import turbohtml

    for part in node.descendants:
        if isinstance(part, turbohtml.Text) and part.data.strip():
            return part
    return None


def _has_more(number: Any) -> bool:
    return any(part.text.strip() for part in number.next_siblings)


def is_gutter(node: Any) -> bool:
    """True for a `pre` in a cell that holds nothing but the numbers of the code in the next cell."""
    above = islice(node.ancestors, _MAX_ABOVE)
    cell = next((element for element in above if getattr(element, "tag", None) == "td"), None)
    if cell is None or not _counts(node.text):
        return False
    beside = next((part for part in cell.next_siblings if getattr(part, "tag", None) is not None), None)
    return beside is not None and _holds_block(beside)


def holds_code(table: Any) -> bool:
    """True for a table that is a code block: numbers in its first column, lines or the whole code in its last."""
    rows = list(_rows(table))
    if len(rows) == 1:
        cells = rows[0]
        return len(cells) == 2 and _counts(_number_in(cells[0])) and _holds_block(cells[1])
    if len(rows) < 2 or any(len(cells) not in (2, 3) for cells in rows):
        return False
    return _counts(" ".join(_number_in(cells[0]) for cells in rows), len(rows)) and all(
        _is_line(cells[-1]) for cells in rows
    )


def _rows(table: Any) -> Iterator[list[Any]]:
    for child in table.children:
        tag = getattr(child, "tag", None)
        if tag == "tbody":
            yield from _rows(child)
        elif tag == "tr":
            yield [cell for cell in child.children if getattr(cell, "tag", None) in ("td", "th")]
        elif tag is not None:
            yield []


def _number_in(cell: Any) -> str:
    if next(cell.iter_elements("table"), None) is not None:  # reading all that is inside, at every depth
        return ""
    marked = cell if cell.attr("data-line-number") else cell.select_one("[data-line-number]")
    return str(marked.attr("data-line-number")) if marked is not None else str(cell.text)


def _counts(text: str, least: int = 1) -> bool:
    """True for consecutive numbers and nothing else."""
    if _NUMBERS.fullmatch(text) is None:
        return False
    numbers = [int(word) for word in text.split()]
    return len(numbers) >= least and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _holds_block(cell: Any) -> bool:
    if getattr(cell, "tag", None) != "td":
        return False
    return getattr(next(cell.iter_elements(("pre", "table")), None), "tag", "") == "pre"


def _is_line(cell: Any) -> bool:
    parts = [part for part in cell.children if getattr(part, "tag", None) is not None or part.text.strip()]
    if len(parts) == 1 and getattr(parts[0], "tag", None) in ("code", "pre"):
        return True
    return re.search(r"(?:^|[-_\s])(?:code|blob|src|source)(?:[-_\s]|$)", cell.attr("class") or "") is not None
