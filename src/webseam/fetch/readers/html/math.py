"""Formulas as TeX, which models read best: from what the page kept of the source, else from its MathML.

MathML, KaTeX, MathJax (2: scripts; 3 and 4: containers), Sphinx, MkDocs and Wikipedia. Returns Markdown in dollars.
"""

from __future__ import annotations

import re
from typing import Any, Final

_MAX_DEPTH: Final = 40  # elements of MathML inside each other; what is deeper is taken as its text
_MAX_SOURCE: Final = 10_000  # characters of a formula in plain text
_DISPLAY = re.compile(r"^\\(?:displaystyle|textstyle)\b\s*")
_DELIMITERS: Final = (("$$", "$$", True), ("\\[", "\\]", True), ("\\(", "\\)", False), ("$", "$", False))
_CLASSES = re.compile(
    r"(?:^|\s)(?:katex|katex-display|mwe-math-element|mwe-math-fallback-image-\w+|MathJax\S*|MJX\S*|mjx-\S+|ltx_Math|math|arithmatex|latex|tex)(?:\s|$)"
)
_HOLDS_SOURCE = re.compile(
    r"(?:^|\s)(?:math|arithmatex|latex|tex)(?:\s|$)"
)  # around the TeX itself, or around anything
_RENDERED = re.compile(r"(?:^|\s)(?:MathJax\S*|MJX\S*|mjx-\S+)(?:\s|$)")
_TEXT_DELIMITER = re.compile(r"\\[()\[\]]")
_TEX_TYPE = re.compile(r"\s*(?:math/tex|application/x-tex)\s*(;\s*mode=display)?\s*", re.IGNORECASE)
_OPERATORS: Final = {
    "×": r"\times", "⋅": r"\cdot", "·": r"\cdot", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "≤": r"\le", "≥": r"\ge",
    "≠": r"\ne", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "∝": r"\propto", "∞": r"\infty", "∑": r"\sum",
    "∏": r"\prod", "∫": r"\int", "∮": r"\oint", "√": r"\surd", "∂": r"\partial", "∇": r"\nabla", "∈": r"\in",
    "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap", "∅": r"\emptyset",
    "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\land", "∨": r"\lor", "→": r"\to", "←": r"\gets",
    "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "↦": r"\mapsto", "…": r"\dots", "⋯": r"\cdots", "−": "-",
    "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "′": "'", "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&",
    "\u2061": "", "\u2062": "", "\u2063": "", "\u2064": "",
}  # fmt: skip
_GREEK: Final = dict(
    zip(
        "αβγδεϵζηθϑικλμνξπρσςτυφϕχψωΓΔΘΛΞΠΣΥΦΨΩℓℏ",
        (
            "\\" + name
            for name in "alpha beta gamma delta varepsilon epsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
            "pi rho sigma varsigma tau upsilon varphi phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon "
            "Phi Psi Omega ell hbar".split()
        ),
        strict=True,
    )
)
_ACCENTS: Final = {
    "^": "hat", "ˆ": "hat", "¯": "bar", "‾": "overline", "~": "tilde", "˜": "tilde", "→": "vec", "⃗": "vec", "˙": "dot",
    "¨": "ddot", "⏞": "overbrace", "⏟": "underbrace", "_": "underline",
}  # fmt: skip
_FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan exp log ln lim max min sup inf det dim ker gcd arg "
    "deg Pr".split()
)


def is_math(tag: str, classes: str) -> bool:
    """True for an element that may be a formula as a whole; `read_math` says whether it is."""
    return tag in ("math", "mjx-container") or (bool(classes) and _CLASSES.search(classes) is not None)


def read_math(node: Any) -> str | None:
    """Return a formula in dollars; "" for a rendering whose source stands beside it; None when it is no formula."""
    classes = node.attr("class") or ""
    if node.tag == "script":
        kind = _TEX_TYPE.fullmatch(node.attr("type") or "")
        return in_dollars(node.text, display=kind[1] is not None) if kind else None
    if node.tag == "img":
        return in_dollars(node.attr("alt") or "") if _is_tex(node.attr("alt") or "") else None
    if _RENDERED.search(classes) and _has_script_after(node):
        return ""
    if _HOLDS_SOURCE.search(classes) and node.tag != "math":
        return _delimited(node)
    source = node if node.tag == "math" else _first(node, "math")
    annotated = _annotation(source if source is not None else node)
    display = _is_display(node, source, classes)
    if annotated:
        return in_dollars(annotated, display=display)
    if source is not None:
        alternative = source.attr("alttext") or ""
        return in_dollars(alternative if _is_tex(alternative) else to_tex(source), display=display)
    return None


def in_dollars(tex: str, *, display: bool = False) -> str:
    """Return TeX between dollars: `$x$`, or `$$` on lines of their own."""
    tex = tex.strip()
    if tex.startswith("{") and tex.endswith("}") and _DISPLAY.match(tex[1:]):  # Wikipedia wraps every formula so
        tex = _DISPLAY.sub("", tex[1:-1])
    lines = [line.strip() for line in tex.strip().split("\n") if line.strip() not in ("", "%")]
    if not lines:
        return ""
    return "$$\n" + "\n".join(lines) + "\n$$" if display else f"${' '.join(lines)}$"


def split_text(text: str) -> list[tuple[str, str]]:
    r"""Split text that a script would typeset into ("text", ...) and ("math", TeX in dollars): `\(x\)`, `\[x\]`."""
    parts: list[tuple[str, str]] = []
    done, opened = 0, None
    for found in _TEXT_DELIMITER.finditer(text):
        mark = found.group()
        if mark in ("\\(", "\\["):
            opened = found
        elif opened is not None and (opened.group() == "\\(") == (mark == "\\)"):
            tex = text[opened.end() : found.start()]
            if tex.strip():
                parts.append(("text", text[done : opened.start()]))
                parts.append(("math", in_dollars(tex)))
                done = found.end()
            opened = None
    parts.append(("text", text[done:]))
    return parts


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
    for found in node.iter_elements(("annotation", "annotation-xml")):
        if "tex" in (found.attr("encoding") or "").lower() and found.text.strip():
            return str(found.text)
    kept = node.select_one("[data-latex]") if node.attr("data-latex") is None else node
    return str(kept.attr("data-latex") or "") if kept is not None else ""


def _is_display(node: Any, source: Any, classes: str) -> bool:
    if source is not None and source.attr("display") == "block":
        return True
    if node.attr("display") in ("true", "block") or re.search(r"display|mwe-math-block", classes, re.IGNORECASE):
        return True
    parent = node.parent
    return parent is not None and "katex-display" in (getattr(parent, "attr", lambda _: "")("class") or "")


def _delimited(node: Any) -> str | None:
    """Return the formula of an element that holds nothing but TeX in its delimiters."""
    text = node.text.strip()
    if len(text) > _MAX_SOURCE:
        return None
    for opening, closing, display in _DELIMITERS:
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing):
            return in_dollars(text[len(opening) : -len(closing)], display=display)
    return in_dollars(text) if _is_tex(text) and next(node.iter_elements(), None) is None else None


def _is_tex(text: str) -> bool:
    return bool(re.search(r"\\[A-Za-z]+|[_^]\{|\{\\displaystyle", text)) and "<" not in text[:1]


def to_tex(node: Any) -> str:
    """Return presentation MathML as TeX."""
    return re.sub(r" {2,}", " ", _tex(node, 0)).strip()


def _tex(node: Any, depth: int) -> str:
    tag = getattr(node, "tag", None)
    if tag is None:
        return ""
    if depth > _MAX_DEPTH or tag in ("mi", "mn", "mo", "mtext", "ms"):
        return _leaf(tag, " ".join(node.text.split()))
    if tag in ("annotation", "annotation-xml", "mspace", "mphantom", "none", "mprescripts"):
        return " " if tag == "mspace" else ""
    parts = [_tex(child, depth + 1) for child in node.children if getattr(child, "tag", None) is not None]
    return _compose(tag, parts, node)


def _leaf(tag: str, text: str) -> str:
    if tag == "mtext":
        return f"\\text{{{text}}}" if text else " "
    if tag == "mi" and len(text) > 1 and text.isalpha():
        return f"\\{text} " if text in _FUNCTIONS else f"\\mathrm{{{text}}}"
    if text.isascii() and (len(text) != 1 or text not in "{}%#&"):
        return text
    out = []
    for mark in text:
        named = _OPERATORS.get(mark, _GREEK.get(mark, mark))
        out.append(named + " " if named[-1:].isalpha() and named.startswith("\\") else named)
    return "".join(out)


def _compose(tag: str, parts: list[str], node: Any) -> str:
    first, second, third = (*(part.strip() for part in parts[:3]), "", "", "")[:3]
    if tag == "mfrac":
        return f"\\frac{{{first}}}{{{second}}}"
    if tag == "msqrt":
        return f"\\sqrt{{{''.join(parts).strip()}}}"
    if tag == "mroot":
        return f"\\sqrt[{second}]{{{first}}}"
    if tag in ("mover", "munder") and second in _ACCENTS:
        return f"\\{_ACCENTS[second]}{{{first}}}"
    if tag in ("mover", "munder") and second.removeprefix("\\") == "to":
        return f"\\vec{{{first}}}"
    if tag in ("msup", "mover"):
        return f"{_base(first)}^{_group(second)}"
    if tag in ("msub", "munder"):
        return f"{_base(first)}_{_group(second)}"
    if tag in ("msubsup", "munderover"):
        return f"{_base(first)}_{_group(second)}^{_group(third)}"
    if tag == "mtable":
        return "\\begin{matrix}" + " \\\\ ".join(part.strip() for part in parts) + "\\end{matrix}"
    if tag in ("mtr", "mlabeledtr"):
        return " & ".join(part.strip() for part in parts)
    if tag == "mfenced":
        separator = (node.attr("separators") or ",").strip()[:1]
        return f"{node.attr('open') or '('}{separator.join(part.strip() for part in parts)}{node.attr('close') or ')'}"
    return "".join(parts)


def _group(tex: str) -> str:
    return tex if len(tex) == 1 else f"{{{tex}}}"


def _base(tex: str) -> str:
    return tex if len(tex) <= 1 or re.fullmatch(r"\\[A-Za-z]+", tex) or tex.startswith("\\mathrm") else f"{{{tex}}}"
