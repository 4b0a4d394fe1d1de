"""One pass over the elements of a page, writing blocks as they end.

An explicit stack instead of recursion: pages nest 200,000 deep when they want to. What an element does stands in the
table at the end of the module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from webseam.fetch.readers.html import (
    admonitions,
    block_elements,
    code,
    inline_elements,
    list_elements,
    math,
)
from webseam.fetch.readers.html.inline import Run
from webseam.fetch.readers.html.writer import BLANK, SPACE, Leave, Writer

_MAX_ADMONITIONS: Final = 4  # inside each other; a title is looked for in each
_MAX_TRIES: Final = 200  # elements of a page that look like a formula and are none: each try reads all inside

Enter = Callable[[Writer, Any, str], Leave | bool]


class Walker(Writer):
    """Visits every element once."""

    def write_title(self, title: str) -> None:
        self.text(title)
        self.end_heading(1)

    def walk(self, root: Any) -> None:
        """Convert `root` and everything inside."""
        from turbohtml import Text

        stack: list[tuple[Iterator[Any], Leave | None]] = []
        runs, text, enter = self.runs, self.text, self._enter
        children: Iterator[Any] = iter((root,))
        leave: Leave | None = None
        while True:
            for child in children:
                if type(child) is Text:
                    data = child.data
                    if runs or data.strip(BLANK):  # else layout between blocks, as half of all texts are
                        text(data)
                    continue
                ending = enter(child)
                if ending is not False:
                    stack.append((children, leave))
                    children, leave = iter(child.children), None if ending is True else ending
                    break
            else:
                if leave is not None:
                    leave()
                if not stack:
                    break
                children, leave = stack.pop()
        if not self.is_cell:
            self.flush()

    def _enter(self, node: Any) -> Leave | bool:
        tag: str | None = getattr(node, "tag", None)
        if tag is None:  # a document or a fragment is walked, a comment has no children
            return True
        if self.skipped is not None and node == self.skipped:
            return False
        classes: str = node.attr("class") or ""
        name = node.attr("id") or (node.attr("name") if tag == "a" else None)
        if name and not self.is_cell:
            self.lines.anchor(name)
            if self.notes.is_note(node, tag):
                return block_elements.start_note(self, node)
        if classes and _is_notable(classes) and (special := self._special(node, tag, classes)) is not None:
            return special
        if self.in_heading and self.runs and tag in _ENDS_HEADING:  # it was never closed: the page goes on inside
            self.end_heading(self.level)
        enter = _ENTER.get(tag)
        return True if enter is None else enter(self, node, classes)

    def _special(self, node: Any, tag: str, classes: str) -> Leave | bool | None:
        """Start an element that its classes make more than its tag says."""
        if math.is_math(tag, classes) and self.formulas < _MAX_TRIES:
            formula = math.read_math(node)
            if formula is not None:
                if formula:
                    self.formula(formula)
                return False
            self.formulas += 1
        if code.is_code_block(tag, classes) and code.has_code(node, classes):
            return block_elements.enter_code_block(self, node, classes)
        if _DROPPED.search(classes) or (classes == "lang" and _is_beside_code(node)):
            return False
        kind = (
            admonitions.kind_of(tag, classes)
            if self.admonitions < _MAX_ADMONITIONS and not self.is_one_line()
            else None
        )
        if kind is not None:
            return block_elements.start_admonition(self, node, kind)
        return None

    def line_of(self, node: Any) -> list[Run]:
        from turbohtml import Text

        parts = node.children
        if (
            len(parts) == 1 and type(parts[0]) is Text and not math.may_hold_math(parts[0].data)
        ):  # most cells, and all of a table that is nothing but cells
            return [Run("text", SPACE.sub(" ", parts[0].data))]
        inner = Walker("", self)
        inner.walk(node)
        while inner.runs and inner.runs[-1].kind == "break":
            inner.runs.pop()
        return inner.runs


@lru_cache(maxsize=4_096)
def _is_notable(classes: str) -> bool:
    """True when these classes may make more of an element than its tag says; pages have few of them, many times."""
    return (
        code.is_code_block("table", classes)
        or math.is_math("", classes)
        or _DROPPED.search(classes) is not None
        or admonitions.may_be_one(classes)
        or classes == "lang"
    )


def _is_beside_code(node: Any) -> bool:
    """True for the name of the language that VitePress shows in the corner of a block."""
    return "language-" in (getattr(node.parent, "attr", lambda _: None)("class") or "")


def _skip(writer: Writer, node: Any, classes: str) -> bool:
    return False


_DROPPED = re.compile(
    r"(?:^|\s)(?:mw-editsection|mw-cite-backlink|viewcode-link|viewcode-back|MathJax_Preview|MJX_Assistive_MathML"
    r"|zeroclipboard-container|example-header|sr-only-copy|katex-html|fn-bracket|backrefs|line-numbers-wrapper"
    r"|toolbar-item|copy-to-clipboard-button|copy-code-button|copy-btn|copybtn|btn-clipboard)(?:\s|$)"
)
_BLOCKS: Final = frozenset(
    "address article aside body center details div dir fieldset figcaption figure footer form header hgroup html "
    "legend main nav p search section tbody td tfoot th thead tr caption".split()
)
_ENDS_HEADING: Final = frozenset("p pre table ul ol dl blockquote hr section article".split())
_SKIPPED: Final = frozenset(
    "head style noscript template svg canvas object embed applet iframe frame frameset noframes button select option "
    "datalist textarea audio video map area progress meter dialog rp link meta title base source track "
    "clipboard-copy".split()
)
_ENTER: Final[dict[str, Enter]] = {
    **dict.fromkeys(_BLOCKS, block_elements.enter_paragraph),
    **dict.fromkeys(_SKIPPED, _skip),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), block_elements.enter_heading),
    **dict.fromkeys(("b", "strong"), inline_elements.enter_strong),
    **dict.fromkeys(("i", "em", "var", "dfn", "cite"), inline_elements.enter_emphasis),
    **dict.fromkeys(("s", "del", "strike"), inline_elements.enter_strike),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), inline_elements.enter_code),
    **dict.fromkeys(code.CODE_TAGS, block_elements.enter_code_block),
    **dict.fromkeys(("ul", "ol", "menu"), list_elements.enter_list),
    "li": list_elements.enter_item,
    "dl": list_elements.enter_definitions,
    "dt": list_elements.enter_term,
    "dd": list_elements.enter_definition,
    "blockquote": block_elements.enter_quote,
    "summary": block_elements.enter_summary,
    "br": block_elements.enter_break,
    "hr": block_elements.enter_rule,
    "a": inline_elements.enter_link,
    "img": inline_elements.enter_image,
    "sup": inline_elements.enter_raised,
    "rt": inline_elements.enter_ruby,
    "q": inline_elements.enter_quoted,
    "input": inline_elements.enter_input,
    "script": block_elements.enter_formula,
    **dict.fromkeys(("math", "mml:math", "m:math", "mjx-container"), block_elements.enter_formula),
    "table": block_elements.enter_table,
}
