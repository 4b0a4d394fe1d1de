"""RFCs: the text as the RFC Editor publishes it, with its state, made Markdown.

The plain text has what the HTML pages have, in a third of the size; its prose is indented by three, its figures and
code by more, its sections are numbered at the margin, and older ones have page breaks. Source:
https://www.rfc-editor.org/rfc-index-100a.html and RFC 7322 (style).
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site
from webseam.fetch.sites.writing import Document, fenced, joined, one_line
from webseam.fetch.types import Reading

_PAGE = re.compile(r"rfc0*([1-9]\d{0,4})(?:\.(?:html|txt|xml|json|pdf))?", re.ASCII | re.IGNORECASE)
_SECTION = re.compile(r"(?:Appendix )?((?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,5})\.?\s{1,4}(\S.{0,200})")
_UNNUMBERED = re.compile(r"[A-Z][A-Za-z'.,/-]*(?: [A-Za-z'.,/&()-]+){0,7}")
_FOOTER = re.compile(r"\S.*\[Page \d{1,4}\]$")
_HEADER = re.compile(r"RFC \d{1,5}\s.*\d{4}$")
_ITEM = re.compile(r" {3,9}(?:[o*+-]|\d{1,2}\.|\(\d{1,2}\)) {1,3}\S")
_CONTENTS = re.compile(r"(?:\. ?){4,}|\.{4,}")
_PROSE: Final = 3  # columns
MAX_TEXT: Final = 3 * 1024 * 1024  # bytes; the longest is under 2 MiB
MAX_TITLE_LINES: Final = 3
_MONTHS: Final = {"January": "01", "February": "02", "March": "03", "April": "04", "May": "05", "June": "06",
                  "July": "07", "August": "08", "September": "09", "October": "10", "November": "11",
                  "December": "12"}  # fmt: skip


class RfcEditor(Site):
    """`rfc-editor.org/rfc/rfcN`, `/info/rfcN`, and the same documents at the IETF's datatracker."""

    id = "rfc-editor"
    label = "RFC Editor"
    hosts = ("www.rfc-editor.org", "rfc-editor.org", "datatracker.ietf.org", "tools.ietf.org")
    base_url = "https://www.rfc-editor.org"

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("rfc" | "info", name) | ("doc", name) | ("doc", "html", name) | ("html", name):
                found = _PAGE.fullmatch(name)
                return partial(_rfc, number=found[1]) if found and not name.lower().endswith((".xml", ".pdf")) else None
        return None


def _rfc(api: Api, number: str) -> Asked[Reading]:
    text = yield from api.text("rfc", f"rfc{number}.txt", max_bytes=MAX_TEXT)
    facts = yield from api.optional(api.object("rfc", f"rfc{number}.json"), "its state")
    title, authors, published = f"RFC {number}", "", None
    if facts is not None:
        title = f"RFC {number}: {facts['title'].line}" if facts["title"].line else title
        authors = joined(author.line for author in facts["authors"])
        published = _month(facts["pub_date"].line)
    document = api.document(title)
    if facts is not None:
        document.facts(
            ("Status", facts["status"].line),
            ("Published", facts["pub_date"].line),
            ("Authors", authors),
            ("Obsoletes", joined(one.line.strip() for one in facts["obsoletes"])),
            ("Obsoleted by", joined(one.line.strip() for one in facts["obsoleted_by"])),
            ("Updates", joined(one.line.strip() for one in facts["updates"])),
            ("Updated by", joined(one.line.strip() for one in facts["updated_by"])),
            ("Errata", facts["errata_url"].line),
        )
    write(document, text)
    return document.reading(author=authors, published=published, language="en")


def _month(written: str) -> str | None:
    """Return the first day of e.g. `June 2022`."""
    month, _, year = written.partition(" ")
    return f"{year}-{_MONTHS[month]}-01" if month in _MONTHS and re.fullmatch(r"\d{4}", year, re.ASCII) else None


def write(document: Document, text: str) -> None:
    """Add the text of an RFC: sections as headings, prose without its indentation, everything else as it stands."""
    waiting: list[str] = []  # blocks of a figure or of code, which blank lines may part
    for block in _blocks(text):
        level, prose = _level(block), _prose(block)
        if not level and prose is None:
            waiting.append("\n".join(block))
            continue
        if waiting:
            document.add(fenced("\n\n".join(waiting), "text"))
            waiting = []
        if level:
            document.heading(level, " ".join(block))
        elif prose is not None:
            document.add(prose)
    if waiting:
        document.add(fenced("\n\n".join(waiting), "text"))


def _level(block: list[str]) -> int:
    """Return the level of a section's title; 0 when a block is none. Titles alone stand at the margin."""
    if block[0].startswith(" ") or len(block) > MAX_TITLE_LINES:
        return 0
    section = _SECTION.fullmatch(block[0])
    if section:
        return min(2 + section[1].count("."), 6)
    return 2 if len(block) == 1 and _UNNUMBERED.fullmatch(block[0]) else 0


def _blocks(text: str) -> list[list[str]]:
    """Return the runs of lines between blank ones, without page breaks; a run that a page break parted is joined."""
    blocks: list[list[str]] = []
    is_open = broken = False  # whether the last run goes on; whether a page ended since its last line
    for line in map(str.rstrip, text.replace("\f", "\n\f\n").split("\n")):
        if line == "\f" or _FOOTER.fullmatch(line) or (broken and _HEADER.fullmatch(line)):
            broken = True
        elif not line:
            is_open = False
        elif is_open or (broken and blocks and _goes_on(blocks[-1][-1], line)):
            blocks[-1].append(line)
            is_open, broken = True, False
        else:
            blocks.append([line])
            is_open, broken = True, False
    return blocks


def _goes_on(before: str, after: str) -> bool:
    """True when a sentence before a page break is not at its end, and the line after it stands as far in."""
    indents = [len(line) - len(line.lstrip(" ")) for line in (before, after)]
    return before[-1] not in ".:;!?" and indents[0] == indents[1] > 0


def _prose(block: list[str]) -> str | None:
    """Return a block as a paragraph or an entry of a list, or None when its lines must stay as they are."""
    if any(_CONTENTS.search(line) for line in block):
        return None
    indents = [len(line) - len(line.lstrip(" ")) for line in block]
    gaps = any(re.search(r"\S {3,}\S|[|{}]|--[+>]", line) for line in block)
    words = one_line(" ".join(block))
    if _ITEM.match(block[0]) and all(indent > indents[0] for indent in indents[1:]):
        mark, _, rest = words.partition(" ")
        return f"{'-' if mark in 'o*+-' else '1.'} {_escaped(rest.strip())}"
    if set(indents) == {_PROSE} and not gaps:
        return _escaped(words)
    return None


def _escaped(words: str) -> str:
    """Keep a name in angle brackets from being taken for a tag."""
    return re.sub(r"<(?=[A-Za-z/!])", r"\\<", words)
