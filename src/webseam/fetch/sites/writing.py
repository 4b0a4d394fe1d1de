"""Writing of Markdown for a reader with little room: a title, facts, then what people wrote.

Most APIs give the Markdown its author wrote. It is passed on, but as a guest: its code blocks are closed, comments
that a renderer would hide are removed and counted, images become links that nothing loads by itself, and relative
addresses become absolute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final
from urllib.parse import urljoin

from webseam.fetch import fences
from webseam.fetch.types import Link, Reading
from webseam.text import clean, squeeze

MAX_LINKS: Final = 500  # of one page
MAX_TEXT: Final = 1_500_000  # characters that people wrote, of one page; about a second of work
MAX_RELATIVE: Final = 10_000  # addresses of one text that are made absolute
MAX_CODE: Final = 400_000  # characters of one file that are shown

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^\n]*)")
_BADGE = re.compile(r"\[!\[([^\[\]]{0,300})\]\([^()\s]{1,2000}(?:\s+\"[^\"]{0,300}\")?\)\]\(([^()\s]{1,2000})\)")
_IMAGE = re.compile(r"!\[([^\[\]]{0,300})\](?=[(\[])")
_TAG_IMAGE = re.compile(r"<img\b[^<>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b(alt|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_RELATIVE = re.compile(  # `](path` and `[name]: path`
    r"(\]\(|^\[[^\[\]]{1,300}\]:[ \t]+)(?![a-z][a-z0-9+.-]*:|//|#|<)([^()\s]{1,2000})", re.MULTILINE | re.IGNORECASE
)
_LINK = re.compile(  # `[words](address)`, or an address alone
    r"(?<!!)\[([^\[\]]{1,300})\]\((https?://[^()\s]{1,2000})|(?<![\w(\[\"'=/])(https?://[^\s<>()\[\]\"'`]{1,2000})"
)
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
_CODE_SPAN = re.compile(r"(`+)(?!`)[^`\n]{1,2000}?(?<!`)\1(?!`)")
# Names of languages by the ending of a file, where the ending itself is not what highlighters know.
_LANGUAGES: Final = {
    "cc": "cpp", "cjs": "javascript", "cxx": "cpp", "h": "c", "hh": "cpp", "hpp": "cpp", "js": "javascript",
    "kt": "kotlin", "m": "objective-c", "md": "markdown", "mjs": "javascript", "pl": "perl", "ps1": "powershell",
    "py": "python", "pyi": "python", "rb": "ruby", "rs": "rust", "sh": "bash", "ts": "typescript", "txt": "text",
    "yml": "yaml", "zsh": "bash",
}  # fmt: skip
_NAMES: Final = {"dockerfile": "dockerfile", "makefile": "makefile", "cmakelists.txt": "cmake", "go.mod": "go"}

ToMarkdown = Callable[[str, str], str]


def language_of(name: str) -> str:
    """Return the info string of a code block for a file called `name`; "" when its ending says nothing."""
    lowered = name.rpartition("/")[2].lower()
    ending = lowered.rpartition(".")[2] if "." in lowered else ""
    known = _NAMES.get(lowered) or _LANGUAGES.get(ending, ending)
    return known if re.fullmatch(r"[a-z0-9+#-]{1,16}", known, re.ASCII) else ""


def fenced(code: str, language: str = "") -> str:
    """Return `code` as a block that its own backticks cannot end."""
    return fences.fenced(code.rstrip("\n"), language)


def one_line(text: str) -> str:
    """Return text fit for a heading or an entry of a list."""
    return squeeze(clean(text))


def count(number: int | None, one: str, many: str = "") -> str:
    """Return e.g. `1 comment`, `1,200 comments`; "" when the number is not known."""
    if number is None:
        return ""
    plural = many or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{number:,} {one if number == 1 else plural}"


def joined(values: Iterable[str], *, most: int = 50) -> str:
    """Return values with commas between, and how many more there were."""
    known = [value for value in values if value]
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more:,} more" if more > 0 else "")


def segments(markdown: str) -> Iterator[tuple[bool, str]]:
    """Yield the text in pieces, `(is a code block, piece)`; a block that is not closed goes to the end."""
    piece: list[str] = []
    fence = ""
    for line in markdown.splitlines(keepends=True):
        found = _FENCE.match(line)
        if fence:
            piece.append(line)
            if found and found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2].strip():
                yield True, "".join(piece)
                piece, fence = [], ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            if piece:
                yield False, "".join(piece)
            piece, fence = [line], found[1]
        else:
            piece.append(line)
    if fence:
        end = "" if piece[-1].endswith("\n") else "\n"
        yield True, "".join(piece) + f"{end}{fence}\n"
    elif piece:
        yield False, "".join(piece)


class Document:
    """A page as it is written down.

    Attributes:
        removed: what was left out of people's own Markdown, by kind.
    """

    def __init__(self, title: str, html_to_markdown: ToMarkdown, *, base: str = "") -> None:
        self.title = one_line(title)
        self.removed: dict[str, int] = {}
        self.notes: list[str] = []
        self.truncated = False
        self._convert = html_to_markdown
        self._base = base
        self._ends_with_facts = False
        self._left = MAX_TEXT
        self._parts: list[str] = [f"# {self.title}"] if self.title else []

    def facts(self, *pairs: tuple[str, object]) -> None:
        """Add a list of facts; those without a value are left out."""
        shown = "\n".join(
            f"- {name}: {one_line(str(value))}" for name, value in pairs if value not in (None, "", False, ())
        )
        if shown and self._ends_with_facts:
            self._parts[-1] += f"\n{shown}"
        else:
            self.add(shown)
        self._ends_with_facts = bool(shown) or self._ends_with_facts

    def heading(self, level: int, text: str) -> None:
        """Add a heading."""
        self.add(f"{'#' * level} {one_line(text)}")

    def add(self, markdown: str) -> None:
        """Add Markdown of our own."""
        if not markdown:
            return
        if self._ends_with_facts and _ITEM.match(markdown):  # two lists in a row would be read as one
            self._parts.append("---")
        self._ends_with_facts = False
        self._parts.append(markdown)

    def entries(self, entries: Sequence[str], *, more: int = 0, what: str = "more") -> None:
        """Add a list, and how many entries were left out."""
        shown = [f"- {one_line(entry)}" for entry in entries]
        if more > 0:
            shown.append(f"- … {more:,} {what}")
        self.add("\n".join(shown))

    def code(self, text: str, language: str = "") -> None:
        """Add a code block, cut at `MAX_CODE` characters at a line's end."""
        if len(text) > MAX_CODE:
            kept = text[:MAX_CODE].rpartition("\n")[0] or text[:MAX_CODE]
            self.notes.append(f"cut after {len(kept):,} of {len(text):,} characters")
            self.truncated = True
            text = kept
        self.add(fenced(text, language))

    def markdown(self, text: str, base: str = "") -> None:
        """Add Markdown that somebody wrote; `base` is what its relative addresses start from."""
        if len(text) > self._left:
            kept = text[: self._left].rpartition("\n")[0] or text[: self._left]
            self.notes.append(f"cut after {len(kept):,} of {len(text):,} characters")
            self.truncated = True
            text, self._left = kept, len(kept)  # nothing more after a cut
        self._left -= len(text)
        self.add("".join(self._guest(text, base or self._base)).strip("\n"))

    def html(self, text: str, base: str = "") -> None:
        """Add HTML, converted."""
        if text.strip():
            self.markdown(self._convert(text, base or self._base), base)

    def more(self, number: int, one: str) -> None:
        """Say how many of something were left out; nothing when `number` is not above zero."""
        if number > 0:
            self.add(f"… {count(number, f'more {one}')}")
            self.truncated = True

    def _guest(self, text: str, base: str) -> Iterator[str]:
        absolute = partial(_absolute, base=base)
        left = MAX_RELATIVE if base else 0
        for is_code, piece in segments(text.replace("\r\n", "\n")):
            if is_code:
                yield piece
                continue
            piece, hidden = _without_comments(piece)
            if hidden:
                self.removed["hidden"] = self.removed.get("hidden", 0) + hidden
            for in_span, part in _spans(piece):
                if not in_span and left > 0:
                    part, changed = _RELATIVE.subn(absolute, part, left)
                    left -= changed
                yield part

    def reading(
        self, *, author: str | None = None, published: str | None = None, language: str | None = None
    ) -> Reading:
        """Return everything as a `Reading`."""
        pieces = []
        for is_code, piece in segments("\n\n".join(self._parts) + "\n"):
            lines = (piece if is_code else _without_images(piece)).split("\n")
            pieces.append("\n".join(line.rstrip() for line in lines))
        markdown = "".join(pieces).strip("\n")
        return Reading(
            markdown=markdown + "\n" if markdown else "",
            title=self.title or None,
            author=one_line(author or "") or None,
            published=published,
            language=language,
            links=links_of(markdown),
            removed=self.removed,
            notes=self.notes,
            truncated=self.truncated,
        )


def _without_comments(text: str) -> tuple[str, int]:
    """Return text without HTML comments, and how many there were; one without its end is made visible."""
    kept, at, hidden = [], 0, 0
    while (start := text.find("<!--", at)) >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            break
        kept.append(text[at:start])
        at, hidden = end + 3, hidden + 1
    kept.append(text[at:].replace("<!--", "&lt;!--"))
    return "".join(kept), hidden


def _spans(text: str) -> Iterator[tuple[bool, str]]:
    """Yield a paragraph in pieces, `(is code inside a line, piece)`."""
    at = 0
    for found in _CODE_SPAN.finditer(text):
        yield False, text[at : found.start()]
        yield True, found[0]
        at = found.end()
    yield False, text[at:]


def _absolute(found: re.Match[str], base: str) -> str:
    try:
        return f"{found[1]}{urljoin(base, found[2])}"
    except ValueError:  # brackets that look like a broken IPv6 host
        return found[0]


def _without_images(text: str) -> str:
    """Return text in which nothing loads by itself: an image is a link that says it is one."""
    if "![" not in text and "<" not in text:
        return text
    shown = []
    for in_span, part in _spans(text):
        if not in_span:
            part = _TAG_IMAGE.sub(_tag_image, part)
            part = _BADGE.sub(lambda badge: f"[{badge[1] or 'image'}]({badge[2]})", part)
            part = _IMAGE.sub(lambda image: f"[Image: {image[1]}]" if image[1] else "[Image]", part)
        shown.append(part)
    return "".join(shown)


def _tag_image(found: re.Match[str]) -> str:
    values = {name.lower(): double or single for name, double, single in _ATTRIBUTE.findall(found[0])}
    alt, address = one_line(values.get("alt", "")).strip("[]"), values.get("src", "")
    label = f"Image: {alt}" if alt else "Image"
    return f"[{label}]({address})" if re.fullmatch(r"https?://[^()\s<>]{1,2000}", address) else f"[{label}]"


def links_of(markdown: str) -> tuple[Link, ...]:
    """Return the first `MAX_LINKS` different links of a page, outside its code blocks."""
    found: dict[str, str] = {}
    for is_code, piece in segments(markdown):
        for link in () if is_code else _LINK.finditer(piece):
            url = link[2] or link[3].rstrip(".,;:!?*_")
            found.setdefault(url, one_line(link[1] or url))
            if len(found) >= MAX_LINKS:
                break
    return tuple(Link(text=text, url=url) for url, text in list(found.items())[:MAX_LINKS])
