"""Writing of Markdown for a reader with little room: a title, facts, then what people wrote.

Most APIs give the Markdown its author wrote; `webseam.fetch.sites.guest` says what it may do here. Code of our own and
of others stays as it is, to the last space: a patch without them would not apply.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from urllib.parse import unquote

from webseam.fetch import fences
from webseam.fetch.sites import guest
from webseam.fetch.types import Link, Reading
from webseam.text import clean, squeeze

MAX_LINKS: Final = 500  # of one page
# What people wrote, of one page. Both are more than anybody reads; lines are what costs, a tenth of a millisecond each.
MAX_TEXT: Final = 600_000  # characters
MAX_LINES: Final = 40_000
MAX_CODE: Final = 400_000  # characters of one file that are shown

_LINK = re.compile(  # `[words](address)`, in which brackets come in pairs, or an address alone
    r"(?<!!)\[([^\[\]]{1,300})\]\((https?://[^()\s]{1,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,500}){0,5})"
    r"|(?<![\w(\[\"'=/])(https?://[^\s<>()\[\]\"'`]{1,2000})"
)
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
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
        self._left, self._lines = MAX_TEXT, MAX_LINES
        self._parts: list[str] = []
        self._anchors: dict[str, int] = {}  # fragment -> the part it leads to
        self._links: dict[str, str] = {}
        if self.title:
            self.add(f"# {self.title}")

    def facts(self, *pairs: tuple[str, object]) -> None:
        """Add a list of facts; those without a value are left out."""
        shown = "\n".join(
            f"- {name}: {one_line(str(value))}" for name, value in pairs if value not in (None, "", False, ())
        )
        if shown and self._ends_with_facts:
            more = guest.without_images(shown)
            self._parts[-1] += f"\n{more}"
            self._remember(more)
        else:
            self.add(shown)
        self._ends_with_facts = bool(shown) or self._ends_with_facts

    def anchor(self, *names: str) -> None:
        """Let fragments lead to what is added next."""
        for name in filter(None, names):
            self._anchors.setdefault(name, len(self._parts))

    def covers(self, fragment: str) -> None:
        """Say that all of this page is what a fragment asked for: it was put first, or nothing else is here."""
        self._anchors[fragment] = 0

    def heading(self, level: int, text: str) -> None:
        """Add a heading."""
        self.add(f"{'#' * level} {one_line(text)}")

    def add(self, markdown: str) -> None:
        """Add Markdown of our own."""
        if not markdown:
            return
        if not markdown.startswith("```"):  # then it is code of our own
            markdown = guest.trimmed(guest.without_images(markdown))
            self._remember(markdown)
        self._append(markdown)

    def _append(self, markdown: str) -> None:
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

    def markdown(self, text: str, base: str = "", *, below: int = 0) -> None:
        """Add Markdown that somebody wrote.

        Args:
            base: what its relative addresses start from.
            below: the level of the heading it must stay under; 0 where nobody else speaks on the page.
        """
        kept = text[: self._left]
        lines = kept.split("\n", self._lines)
        if len(lines) > self._lines:
            kept = "\n".join(lines[: self._lines])
        elif len(kept) < len(text):
            kept = kept.rpartition("\n")[0] or kept
        if len(kept) < len(text):
            self.notes.append(f"cut after {len(kept):,} of {len(text):,} characters")
            self.truncated = True
            text, self._left = kept, len(kept)  # nothing more after a cut
        self._left -= len(text)
        self._lines -= min(self._lines, len(lines))
        admitted = guest.admit(text, base=base or self._base, below=below)
        if admitted.hidden:
            self.removed["hidden"] = self.removed.get("hidden", 0) + admitted.hidden
        if admitted.markdown.strip():
            for is_code, piece in admitted.pieces:
                if not is_code:
                    self._remember(piece)
            self._append(admitted.markdown)

    def html(self, text: str, base: str = "", *, below: int = 0, anchors: re.Pattern[str] | None = None) -> None:
        """Add HTML, converted. `anchors` finds where elements with a fragment begin, its groups hold their names."""
        if not text.strip():
            return
        if anchors is None:
            self.markdown(self._convert(text, base or self._base), base, below=below)
            return
        mark = "anchormark"  # the converter gives no places: a word that the page has not goes through it
        while mark in text:
            mark += "x"
        names: list[str] = []

        def marked(found: re.Match[str]) -> str:
            names.append(next(filter(None, found.groups()), ""))
            return f"<p>{mark}{len(names) - 1}</p>{found[0]}"

        first, *rest = re.split(rf"(?m)^.{{0,9}}{mark}(\d+).{{0,9}}$", self._convert(anchors.sub(marked, text), base))
        self.markdown(first, base, below=below)
        for number, part in zip(rest[::2], rest[1::2], strict=True):
            name = html.unescape(names[int(number)])
            self.anchor(name, unquote(name))
            self.markdown(part, base, below=below)

    def plain(self, text: str) -> None:
        """Add text that somebody wrote and that is no Markdown."""
        self.markdown(guest.plain(text))

    def more(self, number: int, one: str) -> None:
        """Say how many of something were left out; nothing when `number` is not above zero."""
        if number > 0:
            self.add(f"… {count(number, f'more {one}')}")
            self.truncated = True

    def _remember(self, piece: str) -> None:
        for link in _LINK.finditer(piece) if len(self._links) < MAX_LINKS and "://" in piece else ():
            url = link[2] or link[3].rstrip(".,;:!?*_")
            self._links.setdefault(url, one_line(link[1] or url))
            if len(self._links) >= MAX_LINKS:
                break

    def reading(
        self, *, author: str | None = None, published: str | None = None, language: str | None = None
    ) -> Reading:
        """Return everything as a `Reading`."""
        markdown = "\n\n".join(self._parts).strip("\n")
        starts = [0]
        for part in self._parts:
            starts.append(starts[-1] + len(part) + 2)
        return Reading(
            markdown=markdown + "\n" if markdown else "",
            title=self.title or None,
            author=one_line(author or "") or None,
            published=published,
            language=language,
            links=tuple(Link(text=text, url=url) for url, text in self._links.items()),
            anchors={name: starts[at] for name, at in self._anchors.items() if at < len(self._parts)},
            removed=self.removed,
            notes=self.notes,
            truncated=self.truncated,
        )
