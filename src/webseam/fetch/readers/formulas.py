"""Formulas of office documents as TeX: fractions, roots, powers, sums. What is unknown becomes its letters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

_MAX_PARTS: Final = 2_000  # elements of one formula; a longer one is written as its letters
_MAX_DEPTH: Final = 40
_MAX_LETTERS: Final = 10_000
_SPECIAL: Final = str.maketrans({"%": r"\%", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "\\": r"\backslash "})
_LINE: Final = r" \\ "
_BIG: Final = dict(zip("∑∏∫∬∮⋃⋂∐", r"\sum \prod \int \iint \oint \bigcup \bigcap \coprod".split(), strict=True))
_ACCENTS: Final = dict(
    zip(
        "\u0302\u0303\u0304\u0305\u0307\u0308\u20d7",
        r"\hat \tilde \bar \overline \dot \ddot \vec".split(),
        strict=True,
    )
)


@dataclass(slots=True)
class _Part:
    name: str
    value: str | None = None
    inner: list[_Part | str] = field(default_factory=list)

    def of(self, name: str) -> _Part:
        """Return the first element inside of that name, an empty one when there is none."""
        return next((one for one in self.inner if isinstance(one, _Part) and one.name == name), _Part(name))

    def all(self, name: str) -> list[_Part]:
        return [one for one in self.inner if isinstance(one, _Part) and one.name == name]


class Formula:
    """Takes the elements inside one formula."""

    def __init__(self) -> None:
        self._open = [_Part("m:oMath")]
        self._parts = self._beyond = self._letters = 0
        self._takes = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._parts += 1
        self._takes = name == "m:t"
        if self._beyond or len(self._open) > _MAX_DEPTH or self._parts > _MAX_PARTS:
            self._beyond += 1
            return
        part = _Part(name, attributes.get("m:val"))
        self._open[-1].inner.append(part)
        self._open.append(part)

    def end(self, name: str) -> None:
        self._takes = False
        if self._beyond:
            self._beyond -= 1
        elif len(self._open) > 1:
            self._open.pop()

    def text(self, words: str) -> None:
        if self._takes and self._letters < _MAX_LETTERS:
            self._letters += len(words)
            self._open[-1].inner.append(words[:_MAX_LETTERS])

    def tex(self) -> str:
        """Return the formula as TeX."""
        return " ".join(_inner(self._open[0]).split())


def _inner(part: _Part) -> str:
    return "".join(one.translate(_SPECIAL) if isinstance(one, str) else _tex(one) for one in part.inner)


def _tex(part: _Part) -> str:
    name = part.name.removeprefix("m:")
    if name.endswith("Pr"):
        return ""
    if name in ("sSup", "sSub", "sSubSup", "sPre"):
        return _scripts(part, name)
    if name == "f":
        return rf"\frac{{{_inner(part.of('m:num'))}}}{{{_inner(part.of('m:den'))}}}"
    if name == "rad":
        degree = _inner(part.of("m:deg"))
        return rf"\sqrt{f'[{degree}]' if degree.strip() else ''}{{{_inner(part.of('m:e'))}}}"
    if name == "nary":
        sign = part.of("m:naryPr").of("m:chr").value or "∫"
        limits = "".join(
            f"{mark}{{{_inner(part.of(side))}}}"
            for mark, side in (("_", "m:sub"), ("^", "m:sup"))
            if part.of(side).inner
        )
        return f"{_BIG.get(sign, sign)}{limits} {_inner(part.of('m:e'))}"
    if name == "d":
        about = part.of("m:dPr")
        first, last = (about.of("m:begChr").value, about.of("m:endChr").value)
        inside = ", ".join(_inner(one) for one in part.all("m:e"))
        first, last = ("(" if first is None else first), (")" if last is None else last)
        return f"{first.translate(_SPECIAL)}{inside}{last.translate(_SPECIAL)}"
    if name == "func":
        return f"{_inner(part.of('m:fName'))} {_inner(part.of('m:e'))}"
    if name == "acc":
        accent = _ACCENTS.get(part.of("m:accPr").of("m:chr").value or "\u0302", r"\hat")
        return f"{accent}{{{_inner(part.of('m:e'))}}}"
    if name == "bar":
        return rf"\overline{{{_inner(part.of('m:e'))}}}"
    if name in ("limLow", "limUpp"):
        return f"{_inner(part.of('m:e'))}{'_' if name == 'limLow' else '^'}{{{_inner(part.of('m:lim'))}}}"
    if name == "m":
        rows = _LINE.join(" & ".join(_inner(cell) for cell in row.all("m:e")) for row in part.all("m:mr"))
        return rf"\begin{{matrix}}{rows}\end{{matrix}}"
    if name == "eqArr":
        return _LINE.join(_inner(one) for one in part.all("m:e"))
    return _inner(part)


def _scripts(part: _Part, name: str) -> str:
    base, below, above = (_inner(part.of(f"m:{side}")) for side in ("e", "sub", "sup"))
    marks = (f"_{{{below}}}" if "Sub" in name or name == "sPre" else "") + (
        f"^{{{above}}}" if "Sup" in name or name == "sPre" else ""
    )
    return f"{{}}{marks}{base}" if name == "sPre" else f"{base if len(base) == 1 else f'{{{base}}}'}{marks}"
