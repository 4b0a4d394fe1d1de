"""Code blocks as their author wrote them, out of the markup that highlighters, gutters and editors put around lines.

Knows the markup of Pygments (Sphinx, MkDocs), Prism, highlight.js, Shiki, Docusaurus, GitHub, Chroma, Rouge, CodeMirror
and their like; what it does not know still comes out whole, because only known gutters and buttons are left out.
Prompts stay: whether they belong to the code is for the reader to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from webseam.fetch.fences import fenced

CODE_TAGS: Final = frozenset({"pre", "listing", "xmp", "plaintext"})
_DROPPED_TAGS: Final = frozenset(
    {"button", "script", "style", "clipboard-copy", "svg", "template", "select", "noscript"}
)
_LINE_TAGS: Final = frozenset({"div", "tr", "li", "p", "pre"})
_STRUCTURE: Final = frozenset(
    {"table", "thead", "tbody", "tr", "ol", "ul"}
)  # white space between their parts is layout
# Line numbers, buttons and labels, by a class that only they have.
_DROPPED = re.compile(
    r"(?:^|\s)(?:linenos|lineno|linenodiv|linenumber|line-numbers?|line-numbers-rows|line-numbers-wrapper|code-line-number"
    r"|react-(?:syntax-highlighter-)?line-number|ln|lnt|lnum|gutter|rouge-gutter|gl|blob-num|hljs-ln-n|hljs-ln-numbers"
    r"|CodeMirror-(?:gutter\S*|linenumber|cursors|measure)|cm-gutters?|ace_gutter\S*|margin|crayon-nums?|src-line-numbers"
    r"|zeroclipboard-container|copy|copy-(?:btn|button|code-button)|copybtn|btn-clipboard|headerlink|code-lang|example-header"
    r"|toolbar)(?:\s|$)"
)
_LINE = re.compile(
    r"(?:^|\s)(?:line|token-line|code-line|view-line|ec-line|hljs-ln-line|react-code-line|cl-line)(?:\s|$)"
)
# Elements that are a code block as a whole though they are no `pre`.
_EDITOR = re.compile(
    r"(?:^|\s)(?:CodeMirror|cm-editor|monaco-editor|ace_editor|syntaxhighlighter|crayon-syntax|highlighttable|lntable"
    r"|rouge-table|hljs-ln|js-file-line-container|codehilitetable|react-code-lines)(?:\s|$)"
)
_EDITOR_BODY: Final = ".CodeMirror-code, .cm-content, .view-lines, .ace_text-layer, td.code .container, td.crayon-code"

_FROM_CLASS = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight-text|highlight|src|source)-(\S+)")
_FROM_BRUSH = re.compile(r"brush:\s*([\w+#-]+)")
_LONE: Final = frozenset({"hljs", "sourceCode", "rust", "syntaxhighlighter", "highlight", "prettyprint", "src", "code"})
_NO_LANGUAGE: Final = frozenset(
    "none default text plain plaintext plain-text txt nohighlight no-highlight undefined unknown auto hljs notranslate "
    "literal highlight code source sourcecode line-numbers numbers container wrapper block nocode lineno pre".split()
)
_NAMES: Final = {  # what highlighters call a language, where models and editors know it by another name
    "python3": "python",
    "ipython3": "python",
    "ipython": "python",
    "py": "python",
    "py3": "python",
    "source-shell": "bash",
    "js": "javascript",
    "ts": "typescript",
    "cs": "csharp",
    "c++": "cpp",
    "objc": "objective-c",
    "viml": "vim",
    "batchfile": "batch",
    "html-basic": "html",
    "html-erb": "erb",
    "css-scss": "scss",
    "rb": "ruby",
    "golang": "go",
    "yml": "yaml",
}
_TOKEN = re.compile(r"[\w+#.-]{1,30}")
_PLAIN_NAME = re.compile(r"(?!hljs)[A-Za-z][A-Za-z0-9+#]*")
_ANCESTORS: Final = 5  # a language stands on the block or on one of the few wrappers around it
_INNER: Final = 4  # or on a part of it; more parts are lines
_NO_WRAPPERS: Final = frozenset({"body", "article", "main", "section", "li", "td"})
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
    """True for an element that is a code block as a whole: `pre`, an editor, or a table of line numbers and lines."""
    if tag in CODE_TAGS:
        return True
    return bool(classes) and tag in ("div", "table") and _EDITOR.search(classes) is not None


def is_block_of_lines(node: Any) -> bool:
    """True for a `code` element that stands alone with several lines, as sites write it that style it as a block."""
    return any(child.tag == "br" for child in node.iter_elements("br")) or (
        "\n" in node.text.strip() and bool(re.search(r"hljs|language-|prism|block|white-space:\s*pre", _hints(node)))
    )


def _hints(node: Any) -> str:
    return f"{node.attr('class') or ''} {node.attr('style') or ''}"


def read_code(node: Any) -> Code | None:
    """Return the code of a block element, None when it holds none (a lone gutter)."""
    body = node
    if node.tag not in CODE_TAGS:
        body = node.select_one(_EDITOR_BODY) or node
    text = "".join(_pieces(body)).translate(_INVISIBLE)
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
            if tag is None or tag in _DROPPED_TAGS:
                continue
            if tag == "br":
                yield "\n"
                ended, fresh = True, False
                continue
            classes = child.attr("class") or ""
            if _is_dropped(tag, classes, child):
                continue
            line = tag in _LINE_TAGS or (tag in ("span", "code") and _is_bare_line(child, classes))
            if line:
                if not ended and tag != "span":
                    yield "\n"
                    ended = True
                fresh = True
            stack.append((iter(child.children), line, tag in layout))
            break
        else:
            stack.pop()
            if is_line and (fresh or not ended):
                yield "\n"
                ended, fresh = True, False


def _is_dropped(tag: str, classes: str, node: Any) -> bool:
    if classes and _DROPPED.search(classes):
        return not (
            tag in ("pre", "code", "ol", "table") or "code" in classes.split()
        )  # `pre.line-numbers` holds the code
    if tag == "span":
        return node.attr("data-nosnippet") is not None
    return tag == "td" and node.attr("data-line-number") is not None and not node.text.strip()


def _is_bare_line(node: Any, classes: str) -> bool:
    """True for a line whose newline is left to the style sheet: the next line follows without text in between."""
    if not classes or not _LINE.search(classes):
        return False
    follower = node.next_sibling
    return follower is not None and _LINE.search(getattr(follower, "attr", lambda _: None)("class") or "") is not None


def language_of(node: Any) -> str:
    """Return the language a block is marked with, on itself, its `code` or a wrapper; "" when nobody says."""
    inner = node.select("code[class], pre[class], [data-lang], [data-language]")[:_INNER]
    wrappers = []
    for depth, ancestor in enumerate(node.ancestors):
        if depth >= _ANCESTORS or getattr(ancestor, "tag", "body") in _NO_WRAPPERS:
            break
        wrappers.append(ancestor)
    for element in (*inner, node, *wrappers):
        found = _marked(element, is_wrapper=element in wrappers)
        if found:
            return found
    return ""


def _marked(element: Any, *, is_wrapper: bool) -> str:
    for name in ("data-language", "data-lang", "data-code-language", *(() if is_wrapper else ("lang",))):
        value = element.attr(name)
        if value:
            found = _named(value)
            if found:
                return found
    classes = element.attr("class") or ""
    if not classes:
        return ""
    brush = _FROM_BRUSH.search(classes)
    if brush:
        return _named(brush[1])
    for match in _FROM_CLASS.finditer(classes):
        found = _named(f"source-{match[1]}" if "highlight-source-" in match[0] else match[1])
        if found:
            return found
    tokens = classes.split()
    if is_wrapper or not _LONE.intersection(tokens):
        return ""
    lone = [token for token in tokens if token not in _LONE and _PLAIN_NAME.fullmatch(token)]
    if "rust" in tokens:  # rustdoc's own class
        return "rust"
    return _named(lone[0]) if len(lone) == 1 else ""


def _named(value: str) -> str:
    value = value.strip().lower()
    if not _TOKEN.fullmatch(value) or value in _NO_LANGUAGE:
        return ""
    return _NAMES.get(value) or _NAMES.get(value.removeprefix("source-")) or value.removeprefix("source-")
