"""Manual pages as text: enough of roff to read the two macro packages (man and mdoc) that pages are written in.

Running `man` would cost a process and 50 ms a page, and is missing where pages are not. Formatting is dropped; names,
headings, option lists and examples stay, one paragraph a line or as written where the page says so.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from webseam.local.pages import Section

MAX_MANUAL = 250_000  # bytes of roff: five times the text that is kept of one page; books (bash, gcc) are longer

_GZIP = 31  # of zlib's window sizes the one that means a gzip header
_ESCAPES = {
    "aq": "'", "dq": '"', "cq": "'", "oq": "'", "lq": '"', "rq": '"', "bu": "*", "em": "-", "en": "-", "hy": "-",
    "co": "(c)", "rs": "\\", "ti": "~", "ha": "^", "at": "@", "sh": "#", "Do": "$", "<=": "<=", ">=": ">=", "->": "->",
    "mi": "-",
    "ba": "|", "or": "|", "ga": "`", "mu": "x", "de": " degrees ", "fm": "'", "sl": "/", "lB": "[", "rB": "]",
    "tm": "(tm)",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:f(?:\((..)|\[[^\]]*\]|.)|s(?:[-+]?\d|\[[^\]]*\]|\([-+]?..)|\*(?:\[[^\]]*\]|\(..|.)|\((..)|\[([^\]]*)\]"
    r"|[nmMFgkYV](?:\[[^\]]*\]|\(..|.)|[hvwLlDbXZ]'[^']*'|[-e'`&,/|^~0 )%:cdurtpza{}.\\])"
)
# Nine of ten escapes, without a call for each: that took a quarter of reading a page.
_FREQUENT = (("\\-", "-"), ("\\fB", ""), ("\\fR", ""), ("\\fI", ""), ("\\fP", ""), ("\\&", ""))
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
_CONTROLS = (".", "'")  # what a line of control starts with
_HEADING = frozenset(("SH", "Sh"))
_PARAGRAPH = frozenset("PP P LP Pp TP TQ IP HP sp br SS Ss RS RE".split())
_SHOWN = frozenset(("IP", "SS", "Ss"))  # layout whose arguments are read
_LAYOUT = frozenset(
    "TH Dd Dt Os Bl El ad na hy nh ne in ta ti ft ie el if PD Sm ll ds de nr so rm als mso UE ME YS OP Bk Ek ig tr ps"
    " vs".split()
)
_FONTS = frozenset(("BR", "RB", "BI", "IB", "IR", "RI"))  # alternating: set without a space between


def read_manual(path: Path, *, limit: int = MAX_MANUAL) -> tuple[str, list[Section]]:
    """Return what a page says of itself in one line, and its sections, from its first `limit` bytes.

    A page that only includes another has none.

    Raises:
        OSError, ValueError, zlib.error: it cannot be read.
    """
    data = path.read_bytes()
    if path.suffix == ".gz":  # half the time of the gzip module, which is made for files larger than memory
        data = zlib.decompressobj(wbits=_GZIP).decompress(data, limit)
        if not data:  # cut off before its first byte
            raise ValueError(f"{path.name} holds nothing")
    text = data[:limit].decode("utf-8", "replace")
    if text.startswith(".so "):
        return "", []
    found = to_sections(text)
    about = next((section.text for section in found if section.title == "NAME"), "")
    return " ".join(about.split()).partition(" - ")[2], found


def to_sections(text: str) -> list[Section]:
    """Return the sections of a page in roff; what stands before the first heading is layout."""
    found: list[Section] = []
    title, start, body, name = "", 1, list[str](), ""
    verbatim = False
    for number, line in enumerate(text.split("\n"), 1):
        macro, rest = _control(line) if line[:1] in _CONTROLS else ("", line)
        if macro == "Nm":  # alone it stands for the name given first
            name = name or rest
            rest = rest or name
        if macro in _HEADING:
            _close(found, title, start, body)
            title, start, body = " ".join(_arguments(rest)), number, []
        elif macro in ("nf", "EX", "Bd", "fi", "EE", "Ed"):
            verbatim = macro in ("nf", "EX", "Bd")
            body.append("")
        else:
            shown = _line(macro, rest)
            if shown is None:
                body.append("")
            elif shown and body and body[-1] and not verbatim:
                body[-1] += " " + shown
            elif shown or verbatim:
                body.append(shown)
    _close(found, title, start, body)
    return found


def _control(line: str) -> tuple[str, str]:
    macro, _, rest = line[1:].strip().partition(" ")
    return macro or '\\"', rest.strip()


def _line(macro: str, rest: str) -> str | None:
    """Return the text of one line, "" for nothing, None for the end of a paragraph."""
    if not macro:
        return _unescape(rest).strip() if rest.strip() else None
    if macro in _LAYOUT or macro.startswith('\\"'):
        return ""
    arguments = _arguments(rest)
    if macro in _PARAGRAPH:
        return "\n" + " ".join(arguments) if arguments and macro in _SHOWN else None
    if macro in _FONTS:
        return "".join(arguments)
    if macro == "Nd":
        return "- " + " ".join(arguments)
    if macro == "Fl":
        return " ".join("-" + argument for argument in arguments)
    if macro == "It":
        return "\n" + " ".join(_flags(arguments)) if arguments else None
    if macro == "Xr" and len(arguments) > 1:
        return f"{arguments[0]}({arguments[1]})" + "".join(arguments[2:])
    return " ".join(_flags(arguments))


def _flags(arguments: list[str]) -> list[str]:
    """mdoc lets macros stand inside a line: `Fl a Ar file` -> -a file."""
    shown: list[str] = []
    dash = False
    for argument in arguments:
        if argument == "Fl":
            dash = True
        elif len(argument) == 2 and argument[0].isupper() and argument[1].islower():
            dash = False
        else:
            shown.append("-" + argument if dash else argument)
            dash = False
    return shown


def _arguments(rest: str) -> list[str]:
    if '"' not in rest:
        return [_unescape(bare) for bare in rest.split()]
    return [_unescape((quoted or bare).replace('""', '"')) for quoted, bare in _ARGUMENT.findall(rest)]


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    text = text.partition('\\"')[0]
    if "\\\\" not in text:  # else a backslash that is text could be taken for the start of an escape
        for escape, shown in _FREQUENT:
            text = text.replace(escape, shown)
        if "\\" not in text:
            return text
    return _ESCAPE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    name = found[2] or found[3]
    if name:
        return _ESCAPES.get(name, "")
    code = found.group()[1]
    if code in "-e'`.\\":
        return {"e": "\\", "\\": "\\"}.get(code, code)
    return " " if code in "~0 t" else ""


def _close(found: list[Section], title: str, start: int, body: list[str]) -> None:
    text = "\n".join(body).strip("\n")
    if title and text:
        found.append(Section(title, (), re.sub(r"\n{3,}", "\n\n", text), start))
