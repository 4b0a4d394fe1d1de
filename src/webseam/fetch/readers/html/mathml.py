"""Presentation MathML as TeX, for pages that keep no source of their formulas."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

_MAX_DEPTH: Final = 40  # elements of MathML inside each other; what is deeper is taken as its text
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
_LETTERS: Final = {"ℝ": "R", "ℕ": "N", "ℤ": "Z", "ℚ": "Q", "ℂ": "C", "ℙ": "P", "ℍ": "H", "𝔼": "E", "𝟙": "1"}
_VARIANTS: Final = {
    "bold": "mathbf", "bold-italic": "mathbf", "double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak",
    "sans-serif": "mathsf", "monospace": "mathtt", "normal": "mathrm",
}  # fmt: skip
_ENCLOSED: Final = {"box": "boxed", "updiagonalstrike": "cancel", "downdiagonalstrike": "bcancel", "radical": "sqrt"}
_WITHOUT_TEX: Final = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_LEAVES: Final = frozenset({"mi", "mn", "mo", "mtext", "ms"})
_COMMAND = re.compile(r"\\[A-Za-z]+")
_FENCED = re.compile(r"\s*([(\[|]|\\\{)\s*(\\begin\{matrix\})(.*)(\\end\{matrix\})\s*([)\]|]|\\\}|)\s*", re.DOTALL)
_MATRICES: Final = {("(", ")"): "pmatrix", ("[", "]"): "bmatrix", ("|", "|"): "vmatrix", ("\\{", ""): "cases"}


def to_tex(node: Any) -> str:
    """Return presentation MathML as TeX."""
    return re.sub(r" {2,}", " ", _tex(node, 0)).strip()


def local_name(node: Any) -> str | None:
    """Return an element's name without the prefix of its namespace, as XML tools write it (`mml:mi`)."""
    tag: str | None = getattr(node, "tag", None)
    return tag if tag is None else tag.rpartition(":")[2]


def _tex(node: Any, depth: int) -> str:
    tag = local_name(node)
    if tag is None:
        return ""
    if depth > _MAX_DEPTH or tag in _LEAVES:
        return _leaf(tag, " ".join(node.text.split()), node.attr("mathvariant") or "")
    if tag in _WITHOUT_TEX:
        return ""
    if tag == "mspace":
        return " "
    parts = [_tex(child, depth + 1) for child in node.children if getattr(child, "tag", None) is not None]
    if tag == "semantics":
        return parts[0] if parts else ""
    if tag == "mmultiscripts":
        return _multiscripts(node, depth)
    return _compose(tag, parts, node)


def _leaf(tag: str, text: str, variant: str) -> str:
    if tag == "mtext":
        return f"\\text{{{text}}}" if text else " "
    if len(text) == 1 and text in _LETTERS:
        return f"\\mathbb{{{_LETTERS[text]}}}"
    if any("\U0001d400" <= mark <= "\U0001d7ff" for mark in text):  # italics and the like as letters of their own
        text = unicodedata.normalize("NFKC", text)
    if tag == "mi" and len(text) > 1 and text.isalpha():
        return f"\\{text} " if text in _FUNCTIONS else f"\\mathrm{{{text}}}"
    if variant in _VARIANTS and tag == "mi" and text.isalnum() and (variant != "normal" or text.isascii()):
        return f"\\{_VARIANTS[variant]}{{{_named(text).strip()}}}"
    return _named(text)


def _named(text: str) -> str:
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
        is_binomial = (node.attr("linethickness") or "").strip().rstrip("ptemx") == "0"
        return f"\\{'binom' if is_binomial else 'frac'}{{{first}}}{{{second}}}"
    if tag == "msqrt":
        return f"\\sqrt{{{''.join(parts).strip()}}}"
    if tag == "mroot":
        return f"\\sqrt[{second}]{{{first}}}"
    if tag in ("mover", "munder") and second in _ACCENTS:
        return f"\\{_ACCENTS[second]}{{{first}}}"
    if tag == "mover" and second.removeprefix("\\") == "to":
        return f"\\vec{{{first}}}"
    if tag in ("msup", "mover"):
        return f"{_base(first)}^{_group(second)}"
    if tag in ("msub", "munder"):
        return f"{_base(first)}_{_group(second)}"
    if tag in ("msubsup", "munderover"):
        return f"{_base(first)}_{_group(second)}^{_group(third)}"
    if tag == "menclose":
        command = _ENCLOSED.get((node.attr("notation") or "").strip())
        return f"\\{command}{{{''.join(parts).strip()}}}" if command else "".join(parts)
    if tag == "mtable":
        return "\\begin{matrix}" + " \\\\ ".join(part.strip() for part in parts) + "\\end{matrix}"
    if tag in ("mtr", "mlabeledtr"):
        return " & ".join(part.strip() for part in (parts[1:] if tag == "mlabeledtr" else parts))
    if tag == "mfenced":
        separator = (node.attr("separators") or ",").strip()[:1]
        opening, closing = node.attr("open"), node.attr("close")
        inside = separator.join(part.strip() for part in parts)
        return _fenced(
            f"{'(' if opening is None else _named(opening)}{inside}{')' if closing is None else _named(closing)}"
        )
    return _fenced("".join(parts)) if tag == "mrow" else "".join(parts)


def _fenced(tex: str) -> str:
    """Return a matrix between brackets as the environment that has them."""
    found = _FENCED.fullmatch(tex) if "matrix" in tex else None
    name = _MATRICES.get((found[1], found[5])) if found else None
    return f"\\begin{{{name}}}{found[3]}\\end{{{name}}}" if found and name else tex


def _multiscripts(node: Any, depth: int) -> str:
    """Return a base with raised and lowered marks on both of its sides."""
    children = [child for child in node.children if getattr(child, "tag", None) is not None]
    if not children:
        return ""
    base, *scripts = children
    after: list[str] = []
    before: list[str] = []
    side = 0
    for script in scripts:
        if local_name(script) == "mprescripts":
            side = 1
        else:
            (before if side else after).append(_tex(script, depth + 1).strip())
    return f"{_scripts(before, '{}')}{_scripts(after, _base(_tex(base, depth + 1).strip()))}"


def _scripts(scripts: list[str], base: str) -> str:
    if not any(scripts):
        return "" if base == "{}" else base
    marks = "".join(
        f"{mark}{_group(script)}" for place, script in enumerate(scripts) if script and (mark := "_^"[place % 2])
    )
    return f"{base}{marks}"


def _group(tex: str) -> str:
    return tex if len(tex) == 1 else f"{{{tex}}}"


def _base(tex: str) -> str:
    return tex if len(tex) <= 1 or _COMMAND.fullmatch(tex) or tex.startswith(("\\math", "\\begin")) else f"{{{tex}}}"
