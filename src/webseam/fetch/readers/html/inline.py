"""Runs of text with their marks, made one paragraph of Markdown.

Runs instead of nested elements: equal neighbours merge, white space moves outside the marks, and a block inside a link
or a bold element needs no special case. Text is escaped only where a reader of Markdown would take it for markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

Kind = Literal["text", "code", "raw", "break"]


@dataclass(slots=True, eq=False)
class Target:
    """Where a link leads; one object for each link of the page."""

    url: str
    is_used: bool = False  # written in an earlier block: a link around several blocks is a link once


class Style(NamedTuple):
    """The marks around a run. Tuples, as a page has tens of thousands of them."""

    link: Target | None = None
    strong: bool = False
    emphasis: bool = False
    strike: bool = False

    def marks(self) -> tuple[Target | str, ...]:
        """Return the marks around such a run, outermost first."""
        link, strong, emphasis, strike = self
        marks = _MARKS[strong, emphasis, strike]
        return (link, *marks) if link is not None else marks


PLAIN: Final = Style()
_MARKS: Final = {
    (strong, emphasis, strike): ("**",) * strong + ("*",) * emphasis + ("~~",) * strike
    for strong in (False, True)
    for emphasis in (False, True)
    for strike in (False, True)
}


class Run(NamedTuple):
    """A piece of a paragraph. `text` is unescaped with white space collapsed; `raw` is Markdown already."""

    kind: Kind
    text: str
    style: Style = PLAIN


_SPECIAL = re.compile(r"[\\`*_\[<&~]")
_ALWAYS: Final = (
    r"\\(?=[!-/:-@\[-`{-~]|\Z)",
    r"<(?=[A-Za-z/!?])",
    r"&(?=#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};)",
)
_WHEN_PAIRED: Final = {"*": r"\*", "_": r"(?<![^\W_])_|_(?![^\W_])", "~": "~", "`": "`", "[": r"\["}
_RUNS: Final = {mark: re.compile(re.escape(mark) + "+") for mark in "*_~"}
_LINE_START = re.compile(
    r"(?P<mark>\#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|(?:=++|-++)(?=\s*+$)|(?:[*_-]\s*+){3,}+$|```(?=[^`]*$)|~~~|\|)"
    r"|[0-9]{1,9}(?P<stop>[.)])(?=\s|$)"
)
_LINE_STARTERS: Final = frozenset("#>-+*=_`~|0123456789")
_TICKS = re.compile("`+")
_HEADING_END = re.compile(r"(?<!\S)(#+)$")


def code_span(text: str) -> str:
    """Return `text` as a code span whose delimiter is longer than any run of backticks inside."""
    text = text.replace("\n", " ")
    if not text.strip():
        return ""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    room = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{room}{text}{room}{fence}"


def paragraph(runs: list[Run]) -> str:
    """Return the runs as a paragraph; "" when nothing is to be seen. Two breaks in a row make two paragraphs."""
    text = _join(runs, "\n")
    return "\n".join(_at_line_start(line) for line in text.split("\n")) if text else ""


def heading(runs: list[Run]) -> str:
    """Return the runs on one line; bold would say the same twice."""
    plain = [Run(run.kind, run.text, Style(link=run.style.link, emphasis=run.style.emphasis)) for run in runs]
    return _HEADING_END.sub(r"\\\1", _join(plain, " "))


def cell(runs: list[Run], *, is_heading: bool = False) -> str:
    """Return the runs as a cell of a table: line breaks become `<br>`, pipes are escaped."""
    if is_heading:
        runs = [Run(run.kind, run.text, Style(link=run.style.link)) for run in runs]
    return _join(runs, "\n").replace("\n\n", "\n").replace("|", "\\|").replace("\n", "<br>")


def _at_line_start(line: str) -> str:
    if not line or line[0] not in _LINE_STARTERS:
        return line
    found = _LINE_START.match(line)
    if found is None:
        return line
    if found["mark"]:
        return "\\" + line
    return f"{line[: found.start('stop')]}\\{line[found.start('stop') :]}"


def _join(runs: list[Run], line_break: str) -> str:
    if len(runs) == 1 and runs[0].kind == "text" and runs[0].style is PLAIN and not _SPECIAL.search(runs[0].text):
        return runs[0].text.strip(" ")  # half of all paragraphs
    writer = _Joiner(_escape_of(runs), line_break)
    add = writer.add
    for kind, text, style in runs:
        add(kind, text, style)
    return writer.finish()


class _Joiner:
    """Writes runs one after the other, opening and closing marks between them."""

    def __init__(self, escape: re.Pattern[str] | None, line_break: str) -> None:
        self._escape = escape
        self._line_break = line_break
        self._out: list[str] = []
        self._open: list[tuple[Target | str, int]] = []
        self._spans: list[tuple[int, int]] = []
        self._seen: list[str] = []  # unescaped text of the open link
        self._space = False
        self._breaks = 0

    def add(self, kind: Kind, text: str, style: Style) -> None:
        if kind == "break":
            self._breaks += bool(self._out)
            return
        if kind != "text":
            if text:
                self._emit(code_span(text) if kind == "code" else text, text, style)
            return
        core = text.strip(" ")
        if not core:
            self._space = self._space or text[:1] == " "
            return
        if core is not text:
            self._space = self._space or text[0] == " "
        self._emit(self._escaped(core, style), core, style)
        self._space = text[-1] == " "

    def finish(self) -> str:
        self._close_to(0)
        if self._spans:
            self._drop_unreadable_marks()
        return "".join(self._out)

    def _escaped(self, text: str, style: Style) -> str:
        if self._escape is not None:
            text = self._escape.sub(r"\\\g<0>", text)
        if style.link is not None and ("[" in text or "]" in text) and not _is_balanced(text):
            text = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", text)
        return text

    def _emit(self, piece: str, seen: str, style: Style) -> None:
        if style is PLAIN and not self._open:  # most of a paragraph
            out = self._out
            if self._breaks:
                out.append(self._line_break * min(self._breaks, 2))
                self._breaks = 0
            elif self._space and out:
                out.append(" ")
            self._space = False
            out.append(piece)
            return
        wanted = () if style is PLAIN else style.marks()
        same = 0
        if wanted and self._breaks < 2:  # a mark never spans two paragraphs
            while same < len(wanted) and same < len(self._open) and self._open[same][0] == wanted[same]:
                same += 1
        self._close_to(same)
        gap = self._line_break * min(self._breaks, 2) if self._breaks else " " * (self._space and bool(self._out))
        if gap:
            self._out.append(gap)
            self._seen.append(" ")
        self._breaks, self._space = 0, False
        for mark in wanted[same:]:
            self._open.append((mark, len(self._out)))
            if isinstance(mark, Target):
                self._seen.clear()
                if self._out and self._out[-1].endswith("!"):  # or the link would become an image that loads
                    self._out[-1] = self._out[-1][:-1] + "\\!"
                self._out.append("[")
            else:
                self._out.append(mark)
        self._out.append(piece)
        self._seen.append(seen)

    def _close_to(self, depth: int) -> None:
        while len(self._open) > depth:
            mark, start = self._open.pop()
            if not isinstance(mark, Target):
                self._spans.append((start, len(self._out)))
                self._out.append(mark)
            elif "".join(self._seen) in (mark.url, mark.url.partition("://")[2], mark.url.partition("mailto:")[2]):
                self._out[start:] = [mark.url.removeprefix("mailto:")]
                while self._spans and self._spans[-1][1] >= start:
                    self._spans.pop()
            else:
                self._out.append(f"]({mark.url})")

    def _drop_unreadable_marks(self) -> None:
        """Take away marks that would show as asterisks, as in `**Note:**text`: the words matter more than the bold."""
        opening = {start for start, _ in self._spans}
        for start, end in self._spans:
            before, first = self._nearest(start, -1), self._nearest(start, 1)
            last, after = self._nearest(end, -1), self._nearest(end, 1)
            touches = end + 1 < len(self._out) and end + 1 in opening
            if touches or not (_flanks(before, first) and _flanks(after, last)):
                self._out[start] = self._out[end] = ""

    def _nearest(self, index: int, step: int) -> str:
        """Return the character next to a mark, "" at an end of the paragraph."""
        index += step
        while 0 <= index < len(self._out):
            if self._out[index]:
                return self._out[index][0 if step > 0 else -1]
            index += step
        return ""


def _flanks(outside: str, inside: str) -> bool:
    """CommonMark's flanking rule for one delimiter run: what stands outside of it and what inside."""
    if not inside or inside.isspace():
        return False
    return inside.isalnum() or not outside or outside.isspace() or not outside.isalnum()


def _is_balanced(text: str) -> bool:
    depth = 0
    for mark in text:
        depth += (mark == "[") - (mark == "]")
        if depth < 0:
            return False
    return depth == 0


def _escape_of(runs: list[Run]) -> re.Pattern[str] | None:
    """Return what has to be escaped in the text of these runs, None when nothing could be taken for markup."""
    text = "".join([text if kind == "text" else "\0" for kind, text, _ in runs])
    if not _SPECIAL.search(text):
        return None
    has_marks = "*" in text and any(run.style.strong or run.style.emphasis for run in runs)
    wanted = [mark for mark in "*_~" if mark in text and _may_pair(text, mark, mark == "*" and has_marks)]
    if text.count("`") > 1 or ("`" in text and any(run.kind == "code" for run in runs)):
        wanted.append("`")
    if "](" in text or "][" in text or "]:" in text or "[^" in text:
        wanted.append("[")
    return _escape_pattern("".join(wanted))


@lru_cache(maxsize=64)
def _escape_pattern(marks: str) -> re.Pattern[str]:
    return re.compile("|".join((*_ALWAYS, *(_WHEN_PAIRED[mark] for mark in marks))))


def _may_pair(text: str, mark: str, alone: bool) -> bool:
    """True when some run of `mark` could open and a later one close; with `alone`, when one could do either."""
    opened = False
    for found in _RUNS[mark].finditer(text):
        before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        opens, closes = bool(after) and not after.isspace(), bool(before) and not before.isspace()
        if mark == "_":  # inside a word it is a letter
            opens, closes = opens and not before.isalnum(), closes and not after.isalnum()
        if (alone and (opens or closes)) or (closes and opened):
            return True
        opened = opened or opens
    return False
