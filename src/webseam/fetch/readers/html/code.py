"""Code blocks as their author wrote them, out of the markup that highlighters, gutters and editors put around lines.

Knows the markup of Pygments (Sphinx, MkDocs), Prism, highlight.js, Shiki, Docusaurus, GitHub, Chroma, Rouge,
CodeMirror, Verso and their like; what it does not know still comes out whole, because only gutters and buttons are
left out. Prompts and the marks of diffs stay: whether they belong to the code is for the reader to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from webseam.fetch.fences import fenced
from webseam.fetch.readers.html.code_gutters import is_beside_code, is_gutter, may_be_beside_code, numbers_of
from webseam.fetch.readers.html.code_language import language_of

CODE_TAGS: Final = frozenset({"pre", "listing", "xmp", "plaintext"})
_LINE_TAGS: Final = frozenset({"div", "tr", "li", "p", "pre"})
_STRUCTURE: Final = frozenset(
    {"table", "thead", "tbody", "tr", "ol", "ul"}
)  # white space between their parts is layout
_LINE = re.compile(
    r"(?:^|\s)(?:line|token-line|code-line|view-line|ec-line|hljs-ln-line|react-code-line|cl-line|gatsby-highlight-code-line"
    r"|highlight-line)(?:\s|$)"
)
_OWN_LINE: Final = "gatsby-highlight-code-line"  # a box on its own: its newline is gone whatever follows
_BOX_STYLE = re.compile(r"display:\s*(?:block|flex|grid|table-row)")
# Elements that are a code block as a whole though they are no `pre`.
_EDITOR = re.compile(
    r"(?:^|\s)(?:CodeMirror|cm-editor|monaco-editor|ace_editor|syntaxhighlighter|crayon-syntax|highlighttable|lntable"
    r"|rouge-table|hljs-ln|js-file-line-container|codehilitetable|react-code-lines|diff-table|RktBlk|ltx_listing"
    r"|fragment|mermaid)(?:\s|$)"
)
_ONLY_WITH: Final = {"fragment": "line", "ltx_listing": "ltx_listingline"}  # Doxygen; slides call theirs so too
_MAX_VARIANTS: Final = 10
_FIRST: Final = 4  # elements of a block among which one is a line
_EDITOR_BODY: Final = ".CodeMirror-code, .cm-content, .view-lines, .ace_text-layer, td.code .container, td.crayon-code"
_BLOCK_HINT = re.compile(r"hljs|language-|prism|block|white-space:\s*pre")
_INVISIBLE: Final = str.maketrans({"\xa0": " ", "\u200b": None, "\ufeff": None, "\r": None})


@dataclass(frozen=True, slots=True)
class Code:
    """A code block: its text without a newline at the end, and its language or ""."""

    text: str
    language: str = ""

    def fenced(self) -> str:
        """Return it as a fenced block whose fence is longer than any run of backticks inside."""
        return fenced(self.text, self.language)


def is_code_block(tag: str, classes: str) -> bool:
    """True for an element that may be a code block as a whole: `pre`, an editor, a table of line numbers and lines.

    Of those in doubt `has_code` says whether they are.
    """
    if tag in CODE_TAGS:
        return True
    return bool(classes) and tag in ("div", "table") and _EDITOR.search(classes) is not None


def has_code(node: Any, classes: str) -> bool:
    """Tell, of an element that may be a code block, whether what only code blocks have is inside."""
    for name, needed in _ONLY_WITH.items():
        if name in classes.split():  # only in the first elements: they may be nested without end
            return any(
                needed in (part.attr("class") or "").split() for part in islice(node.iter_elements("div"), _FIRST)
            )
    return True


def is_block_of_lines(node: Any) -> bool:
    """True for a `code` element that stands alone with several lines, as sites write it that style it as a block."""
    return any(child.tag == "br" for child in node.iter_elements("br")) or (
        "\n" in node.text.strip() and bool(_BLOCK_HINT.search(_hints(node)))
    )


def _hints(node: Any) -> str:
    return f"{node.attr('class') or ''} {node.attr('style') or ''}"


def variants_of(node: Any) -> list[Any]:
    """Return the parts of a block that say the same in several languages, of which a page shows one; else the block.

    As in Node's documentation: `import` for one kind of module and `require` for the other.
    """
    if node.tag != "pre":
        return [node]
    parts = [part for part in node.children if getattr(part, "tag", None) == "code"]
    if len(parts) < 2:
        return [node]
    languages = {language_of(part) if part.attr("class") else "" for part in parts[:_MAX_VARIANTS]}
    return parts if "" not in languages and len(languages) == len(parts) else [node]


def read_code(node: Any) -> Code | None:
    """Return the code of a block element, None when it holds none (a lone gutter)."""
    body = node
    if node.tag not in CODE_TAGS:
        body = node.select_one(_EDITOR_BODY) or node
    elif is_gutter(node):
        return None
    text = "".join(_pieces(body)).translate(_INVISIBLE)
    if node.tag not in CODE_TAGS:  # of a `pre` the parser took it, and another one is the author's
        text = text.removeprefix("\n")
    head, newline, last = text.rpartition("\n")
    if newline and not last.strip():  # the newline before `</pre>`, and the indentation of that tag
        text = head
    if not text.strip():
        return None
    language = language_of(node)
    if not language and text.startswith(">>> "):
        language = "pycon"
    return Code(text, language)


def _pieces(root: Any) -> Iterator[str]:
    """Yield the text of a block piece by piece; every element that is a line ends in a newline."""
    import turbohtml

    numbers = set(numbers_of(root))
    ended = True  # the text so far ends in a newline, or there is none
    fresh = True  # nothing came since the innermost line began
    layout = _STRUCTURE if root.tag in CODE_TAGS else _STRUCTURE | {"div", "td"}
    stack: list[tuple[Any, bool, bool]] = [(iter(root.children), False, root.tag in layout)]
    while stack:
        children, is_line, is_layout = stack[-1]
        for child in children:
            if isinstance(child, turbohtml.Text):
                if child.data and not (is_layout and not child.data.strip()):
                    yield child.data
                    ended, fresh = child.data.endswith("\n"), False
                continue
            tag = getattr(child, "tag", None)
            if tag is None:
                continue
            if tag == "br":
                yield "\n"
                ended, fresh = True, False
                continue
            if tag == "span" and not numbers and _is_token(child):
                parts = child.children
                if len(parts) == 1 and isinstance(parts[0], turbohtml.Text):  # nearly all of a highlighted block
                    yield parts[0].data
                    ended, fresh = parts[0].data.endswith("\n"), False
                    continue
                stack.append((iter(parts), False, False))
                break
            classes = child.attr("class") or ""
            if is_beside_code(tag, classes, child) or child in numbers or (tag == "pre" and is_gutter(child)):
                continue
            line = tag in _LINE_TAGS or (tag in ("span", "code") and _is_bare_line(child, classes))
            if line:
                if not ended and tag != "span":
                    yield "\n"
                    ended = True
                fresh = True
            mark = child.attr("data-code-marker")
            if mark and mark.strip():  # of a diff, which GitHub draws by style sheet
                yield mark
                ended = fresh = False
            stack.append((iter(child.children), line, tag in layout))
            break
        else:
            stack.pop()
            if is_line and (fresh or not ended):
                yield "\n"
                ended, fresh = True, False


def _is_token(span: Any) -> bool:
    """True for a part of a line that only gets a colour."""
    count = len(span.attrs)
    if not count:
        return True
    classes, style = span.attr("class"), span.attr("style")
    if count > (classes is not None) + (style is not None):
        return False
    return _has_colour_only(classes or "", style or "")


@lru_cache(maxsize=1_024)
def _has_colour_only(classes: str, style: str) -> bool:
    return not may_be_beside_code(classes, style) and not _LINE.search(classes) and not _BOX_STYLE.search(style)


def _is_bare_line(node: Any, classes: str) -> bool:
    """True for a line whose newline is left to the style sheet: the next line follows without text in between."""
    follower = node.next_sibling
    if follower is None:
        return False
    if _OWN_LINE in classes:
        return not (getattr(follower, "tag", None) is None and follower.text.startswith("\n"))
    return _is_line(node, classes) and _is_line(follower, getattr(follower, "attr", lambda _: None)("class") or "")


def _is_line(node: Any, classes: str) -> bool:
    if classes and _LINE.search(classes):
        return True
    style: str = (node.attr("style") or "") if getattr(node, "tag", None) == "span" else ""
    return _BOX_STYLE.search(style) is not None
