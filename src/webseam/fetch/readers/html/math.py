"""Formulas as TeX, which models read best: from what the page kept of the source, else from its MathML.

MathML, KaTeX, MathJax (2: scripts; 3 and 4: containers), Sphinx, MkDocs, Pandoc, Wikipedia, GitHub and GitLab, Stack
Exchange, LaTeXML, and images whose description is the source. Returns Markdown in dollars.
"""

from __future__ import annotations

import re
from typing import Any, Final

from webseam.fetch.readers.html.mathml import local_name, to_tex

_MAX_SOURCE: Final = 10_000  # characters of a formula in plain text
_DISPLAY = re.compile(r"^\\(?:displaystyle|textstyle)\b\s*")
_DELIMITERS: Final = (
    ("$$", "$$", True),
    ("\\[", "\\]", True),
    ("\\(", "\\)", False),
    ("$`", "`$", False),
    ("$", "$", False),
)
_CLASSES = re.compile(
    r"(?:^|\s)(?:katex|katex-display|mwe-math-element|mwe-math-fallback-image-\w+|MathJax\S*|MJX\S*|mjx-\S+|ltx_Math|math"
    r"|arithmatex|latex|tex|math-container|math-inline|math-display|js-inline-math|js-display-math|js-render-math"
    r"|language-math)(?:\s|$)"
)
_HOLDS_SOURCE = re.compile(
    r"(?:^|\s)(?:math|arithmatex|latex|tex|math-container|math-inline|math-display|js-inline-math|js-display-math"
    r"|js-render-math|language-math)(?:\s|$)"
)  # around the TeX itself, or around anything
_SURE_SOURCE = re.compile(r"math (?:inline|display)|js-\w+-math|language-math|math-(?:inline|display)")  # bare TeX
_CODE_OF_MATH = re.compile(r"(?:^|\s)(?:math|js-render-math|language-math|math-(?:inline|display))(?:\s|$)")
_RENDERED = re.compile(r"(?:^|\s)(?:MathJax\S*|MJX\S*|mjx-\S+)(?:\s|$)")
_TEXT_DELIMITER = re.compile(r"\\[()\[\]]|\$\$?|\\(?:begin|end)\{[a-z]{4,10}\*?\}")
_ENVIRONMENT = re.compile(r"\\begin\{(?:equation|align|gather|multline|eqnarray|aligned|split)\*?\}")
_TEX_TYPE = re.compile(r"\s*(?:math/tex|application/x-tex)\s*(;\s*mode=display)?\s*", re.IGNORECASE)
_NUMBER: Final = "eqno"  # Sphinx puts the number of an equation before its source
_SIGNS = re.compile(r"\\[A-Za-z]+|[_^]\{|\{\\displaystyle")
_WEAK_SIGNS = re.compile(r"\\[A-Za-z]|[_^=+<>]|^[A-Za-z]$")


def is_math(tag: str, classes: str) -> bool:
    """True for an element that may be a formula as a whole; `read_math` says whether it is."""
    if tag in ("math", "mjx-container"):
        return True
    if not classes or _CLASSES.search(classes) is None:
        return False
    return tag not in ("pre", "code") or _CODE_OF_MATH.search(classes) is not None  # `code.latex` is about TeX


def read_math(node: Any) -> str | None:
    """Return a formula in dollars; "" for a rendering whose source stands beside it; None when it is no formula."""
    classes = node.attr("class") or ""
    if node.tag == "script":
        kind = _TEX_TYPE.fullmatch(node.attr("type") or "")
        return in_dollars(node.text, display=kind[1] is not None) if kind else None
    if node.tag == "img":
        return image_source(node)
    if _RENDERED.search(classes) and _has_script_after(node):
        return ""
    if _HOLDS_SOURCE.search(classes) and local_name(node) != "math":
        return _delimited(node, classes)
    source = node if local_name(node) == "math" else _first(node, "math")
    annotated = _annotation(source if source is not None else node)
    display = _is_display(node, source, classes)
    if annotated:
        return in_dollars(annotated, display=display)
    if source is None:
        source = _kept_mathml(node)
    if source is not None:
        alternative = source.attr("alttext") or ""
        return in_dollars(alternative if is_tex(alternative) else to_tex(source), display=display)
    return None


def image_source(node: Any) -> str | None:
    """Return the formula of an image whose description is its source, None when it describes anything else."""
    alternative = node.attr("alt") or node.attr("title") or ""
    if len(alternative) > _MAX_SOURCE:
        return None
    classes = (node.attr("class") or "").split()
    is_sure = not {"math", "latex", "tex"}.isdisjoint(classes) and _WEAK_SIGNS.search(alternative) is not None
    if not is_sure and not is_tex(alternative):
        return None
    display = "display" in classes or "mwe-math-fallback-image-display" in classes
    for opening, closing, is_block in _DELIMITERS:
        if alternative.startswith(opening) and alternative.endswith(closing) and len(alternative) > 2 * len(opening):
            return in_dollars(alternative[len(opening) : -len(closing)], display=display or is_block)
    return in_dollars(alternative, display=display)


def read_equations(table: Any) -> str:
    r"""Return LaTeXML's table of equations, whose cells are their parts, as one formula; numbers become `\tag`s."""
    lines = []
    for row in table.iter_elements("tr"):
        parts = [read_math(part) for part in row.iter_elements("math")]
        number = row.select_one(".ltx_tag_equation")
        tag = f" \\tag{{{number.text.strip().strip('()')}}}" if number is not None else ""
        tex = " & ".join(part.strip("$\n") for part in parts if part)
        if tex:
            lines.append(tex + tag)
    if len(lines) > 1 or any(" & " in line for line in lines):
        name = "align" if any("\\tag{" in line for line in lines) else "aligned"  # where numbers may stand
        return in_dollars(f"\\begin{{{name}}}\n" + " \\\\\n".join(lines) + f"\n\\end{{{name}}}", display=True)
    return in_dollars("".join(lines), display=True)


def in_dollars(tex: str, *, display: bool = False) -> str:
    """Return TeX between dollars: `$x$`, or `$$` on lines of their own."""
    tex = tex.strip()
    if tex.startswith("{") and tex.endswith("}") and _DISPLAY.match(tex[1:]):  # Wikipedia wraps every formula so
        tex = _DISPLAY.sub("", tex[1:-1])
    lines = [line.strip() for line in tex.strip().split("\n") if line.strip() not in ("", "%")]
    if not lines:
        return ""
    return "$$\n" + "\n".join(lines) + "\n$$" if display else f"${' '.join(lines)}$"


def may_hold_math(text: str) -> bool:
    """True for text in which `split_text` may find a formula: asked of every text of a page."""
    return ("\\" in text and ("\\(" in text or "\\[" in text or "\\begin{" in text)) or text.count("$") > 1


def split_text(text: str) -> list[tuple[str, str]]:
    r"""Split text that a script would typeset into ("text", ...) and ("math", TeX in dollars).

    `\(x\)`, `\[x\]`, `$$x$$` and environments; `$x$` only with a command of TeX inside, as most dollars are money.
    """
    parts: list[tuple[str, str]] = []
    done = 0
    opened: re.Match[str] | None = None
    for found in _TEXT_DELIMITER.finditer(text):
        if found.start() < done:
            continue
        if opened is None or not _closes(opened[0], found[0]):
            if opened is None or opened[0] == "$" or found[0] in ("\\(", "\\["):
                opened = found if _may_open(found[0]) else opened
            continue
        tex = text[opened.end() : found.start()]
        if opened[0].startswith("\\b"):
            tex = opened[0] + tex + found[0]
        if _is_formula(opened[0], tex):
            parts.append(("text", text[done : opened.start()]))
            parts.append(("math", in_dollars(tex, display=opened[0] not in ("\\(", "$"))))
            done, opened = found.end(), None
        else:
            opened = found if found[0] == "$" else None  # the next of two amounts may open a formula
    parts.append(("text", text[done:]))
    return parts


def _may_open(mark: str) -> bool:
    return mark in ("\\(", "\\[", "$", "$$") or _ENVIRONMENT.fullmatch(mark) is not None


def _closes(opening: str, mark: str) -> bool:
    if opening.startswith("\\b"):
        return mark == opening.replace("begin", "end")
    return mark == {"\\(": "\\)", "\\[": "\\]"}.get(opening, opening)


def _is_formula(opening: str, tex: str) -> bool:
    if len(tex) > _MAX_SOURCE or not tex.strip():
        return False
    if opening == "$":
        return tex[0] != " " and tex[-1] != " " and is_tex(tex)
    return opening != "$$" or _WEAK_SIGNS.search(tex) is not None


def _first(node: Any, tag: str) -> Any:
    return next(iter(node.iter_elements(tag)), None)


def _has_script_after(node: Any) -> bool:
    """True when MathJax 2 left the source in a script right after its rendering."""
    following = node.next_sibling
    for _ in range(4):
        if following is None:
            return False
        if getattr(following, "tag", "") == "script":
            return _TEX_TYPE.fullmatch(following.attr("type") or "") is not None
        following = following.next_sibling
    return False


def _annotation(node: Any) -> str:
    for found in node.iter_elements(("annotation", "annotation-xml", "mml:annotation", "m:annotation")):
        if "tex" in (found.attr("encoding") or "").lower() and found.text.strip():
            return str(found.text)
    kept = node.select_one("[data-latex]") if node.attr("data-latex") is None else node
    return str(kept.attr("data-latex") or "") if kept is not None else ""


def _kept_mathml(node: Any) -> Any:
    """Return the MathML that MathJax 2 keeps in an attribute of what it renders, None when there is none."""
    kept = node if node.attr("data-mathml") else node.select_one("[data-mathml]")
    if kept is None:
        return None
    import turbohtml

    return turbohtml.parse(kept.attr("data-mathml")).select_one("math")


def _is_display(node: Any, source: Any, classes: str) -> bool:
    if source is not None and source.attr("display") == "block":
        return True
    if node.attr("display") in ("true", "block") or re.search(r"display|mwe-math\S*-block", classes, re.IGNORECASE):
        return True
    parent = node.parent
    return parent is not None and "katex-display" in (getattr(parent, "attr", lambda _: "")("class") or "")


def _delimited(node: Any, classes: str) -> str | None:
    """Return the formula of an element that holds nothing but TeX, in its delimiters or bare."""
    text = node.text.strip()
    if len(text) > _MAX_SOURCE:
        return None
    number = node.select_one(f".{_NUMBER}")
    if number is not None:
        text = text.removeprefix(number.text.strip()).strip()
    for opening, closing, display in _DELIMITERS:
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing):
            return in_dollars(text[len(opening) : -len(closing)], display=display)
    display = "display" in f"{classes} {node.attr('data-math-style') or ''}"
    if not text:
        images = node.select("img")
        return _as_block(image_source(images[0]), node) if len(images) == 1 else None
    if next(node.iter_elements(), None) is not None:
        return None
    is_bare = _SURE_SOURCE.search(classes) is not None or is_tex(text)
    return in_dollars(text, display=display or node.tag == "div") if is_bare else None


def _as_block(formula: str | None, node: Any) -> str | None:
    if formula and node.tag == "div" and not formula.startswith("$$"):
        return in_dollars(formula[1:-1], display=True)
    return formula


def is_tex(text: str) -> bool:
    """True for text that only TeX looks like."""
    return _SIGNS.search(text) is not None and "<" not in text[:1]
