"""Sections of a page of documentation: Markdown, reStructuredText, HTML or plain text, cut at its headings.

A hit in a long README is only useful when it leads to the right section, so each section becomes an entry of its own
with the line it starts on. Everything is kept as plain text; nothing a page says is run, loaded or followed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

from webseam.text import clean, squeeze

SECTION_LIMIT = 4_000  # characters; longer sections are cut at paragraphs so that a hit stays one place
MAX_PAGE = 2_000_000  # bytes of one file

_ATX = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*\s*$")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_RULE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_RST_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]+>`__?")
_ROLE = re.compile(r":(?:[a-z]+:)?[a-z]+:`~?([^`]+)`")
_DIRECTIVE = re.compile(r"^\.\. (?:image|figure|_|\|)[^\n]*(?:\n[ \t]+:[^\n]*)*", re.MULTILINE)
_MARKUP = re.compile(r"\*\*|``|(?<!\w)[*`](?=\S)|(?<=\S)[*`](?!\w)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a page: its heading, the headings above it, its text, and the line it starts on (from 1)."""

    title: str
    above: tuple[str, ...]
    text: str
    line: int


def sections(text: str, form: str, *, title: str) -> list[Section]:
    """Return the sections of a page. `form` is a value of `sources.SUFFIXES`; `title` names what no heading does."""
    text = clean(text)
    if form == "html":
        found = _html_sections(text, title)
    elif form == "markdown":
        found = _assemble(_markdown_blocks(text.split("\n")), title, _plain_markdown)
    elif form == "rst":
        found = _assemble(_rst_blocks(text.split("\n")), title, _plain_rst)
    else:
        found = [Section(_first_line(text) or title, (), text.strip("\n"), 1)] if text.strip() else []
    return [piece for section in found for piece in _cut(section)]


_Block = tuple[int, str, int, list[str]]  # level (0 before any heading), heading, line of its text, lines


def _markdown_blocks(lines: list[str]) -> Iterator[_Block]:
    level, title, start, body, fence = 0, "", 1, list[str](), ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
        heading = None if fence or mark else _ATX.match(line)
        if heading:
            yield level, title, start, body
            level, title, start, body = len(heading[1]), heading[2], number, []
        elif not fence and body and body[-1].strip() and re.fullmatch(r"(=+|-+)\s*", line) and len(line.strip()) > 2:
            above = body.pop()
            yield level, title, start, body
            level, title, start, body = (1 if line[0] == "=" else 2), above.strip(), number - 1, []
        else:
            body.append(line)
    yield level, title, start, body


def _rst_blocks(lines: list[str]) -> Iterator[_Block]:
    levels: dict[str, int] = {}
    level, title, start, body = 0, "", 1, list[str]()
    number = 0
    while number < len(lines):
        line = lines[number]
        under = lines[number + 1] if number + 1 < len(lines) else ""
        over = _RULE.match(line) and number + 2 < len(lines) and lines[number + 2].rstrip() == line.rstrip()
        if over and under.strip():
            heading, mark, used = under.strip(), line[0] * 2, 3
        elif line.strip() and line[0] not in " \t" and _RULE.match(under) and len(under.rstrip()) >= len(line.rstrip()):
            heading, mark, used = line.strip(), under[0], 2
        else:
            body.append(line)
            number += 1
            continue
        yield level, title, start, body
        level, title, start, body = levels.setdefault(mark, len(levels) + 1), heading, number + 1, []
        number += used
    yield level, title, start, body


def _assemble(blocks: Iterator[_Block], page: str, plain: Callable[[str], str]) -> list[Section]:
    found: list[Section] = []
    trail: list[tuple[int, str]] = []
    for level, heading, line, body in blocks:
        text = plain("\n".join(body)).strip("\n")
        name = squeeze(_TAG.sub("", _MARKUP.sub("", _LINK.sub(r"\1", heading))))
        while trail and level and trail[-1][0] >= level:
            trail.pop()
        above = tuple(title for _, title in trail)
        if level:
            trail.append((level, name))
        if text.strip() or (level and name):
            found.append(Section(name or page, above, text, line))
    return found


def _plain_markdown(text: str) -> str:
    return _TAG.sub("", _MARKUP.sub("", _LINK.sub(r"\1", text)))


def _plain_rst(text: str) -> str:
    return _MARKUP.sub("", _ROLE.sub(r"\1", _RST_LINK.sub(r"\1", _DIRECTIVE.sub("", text))))


def _cut(section: Section) -> Iterator[Section]:
    """Cut a long section at empty lines, or at any line where there are none; the line numbers go along."""
    if len(section.text) <= SECTION_LIMIT:
        yield section
        return
    held: list[str] = []
    size, start = 0, section.line
    for number, line in enumerate(section.text.split("\n"), section.line):
        if held and (size > SECTION_LIMIT or (size > SECTION_LIMIT // 2 and not line.strip())):
            yield Section(section.title, section.above, "\n".join(held), start)
            held, size, start = [], 0, number
        held.append(line[: 4 * SECTION_LIMIT])
        size += len(line) + 1
    if any(line.strip() for line in held):
        yield Section(section.title, section.above, "\n".join(held), start)


def _first_line(text: str) -> str:
    for line in text.split("\n", 50)[:50]:
        if line.strip(" \t=-#*_"):
            return squeeze(line)[:120]
    return ""


_SILENT = frozenset(("script", "style", "noscript", "template", "svg", "nav", "head", "iframe", "form"))
_BREAKS = frozenset(
    "address article aside blockquote br dd div dl dt figcaption footer h1 h2 h3 h4 h5 h6 header hr li main ol p pre"
    " section table td th tr ul".split()
)
_VOID = frozenset(
    ("br", "hr", "img", "input", "meta", "link", "source", "wbr", "col", "area", "base", "embed", "track")
)


class _Page(HTMLParser):
    """Gathers text by heading; unclosed elements may swallow silence at most up to the next block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page_title = ""
        self.blocks: list[tuple[int, list[str], int, list[str]]] = [(0, [], 1, [])]  # as `_Block`, still in pieces
        self._silent: list[str] = []
        self._in_title = False
        self._in_heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        elif tag == "body":
            self._silent.clear()
        elif tag in _SILENT and tag not in _VOID:
            self._silent.append(tag)
        elif self._silent:
            return
        elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self.blocks.append((int(tag[1]), [], self.getpos()[0], []))
            self._in_heading = True
        elif tag in _BREAKS:
            self.blocks[-1][3].append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif self._silent and tag in self._silent:
            del self._silent[self._silent.index(tag) :]
        elif self._silent:
            return
        elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._in_heading = False
        elif tag in _BREAKS:
            self.blocks[-1][3].append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.page_title += data
        elif not self._silent:
            _, heading, _, body = self.blocks[-1]
            (heading if self._in_heading else body).append(data)


def _html_sections(text: str, title: str) -> list[Section]:
    page = _Page()
    page.feed(text)
    page.close()
    name = squeeze(page.page_title) or title
    found: list[Section] = []
    trail: list[tuple[int, str]] = []
    for level, heading, line, body in page.blocks:
        # Lines of HTML say nothing; a block element ends one.
        words = "\n".join(filter(None, (squeeze(piece) for piece in "".join(body).split("\n"))))
        shown = squeeze("".join(heading)).rstrip("¶#").strip()
        while trail and level and trail[-1][0] >= level:
            trail.pop()
        if words or shown:
            found.append(Section(shown or name, (name, *(above for _, above in trail)) if level else (), words, line))
        if level:
            trail.append((level, shown))
    return found
