"""What a caller wants of one page, checked before anything is sent.

Apart from the pipeline, so that every front refuses the same mistakes in the same words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from webseam.errors import Outcome, RequestError
from webseam.net.url import URL, UrlRefused, parse
from webseam.text import clean

MAX_TOKENS = 1_000_000  # of one call; more is a slip of the keyboard
MAX_FOCUS = 2_000  # characters, as a search query
_PATH = re.compile(r"file:|~|\.{0,2}/(?!/)|[A-Za-z]:[\\/]|\.{1,2}$", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_BARE = re.compile(r"(?:[\w-]+\.)+[A-Za-z]{2,}(?::\d+)?(?:[/?#].*)?")
_PAGES = re.compile(r"\s*\d+\s*(?:-\s*\d*)?(?:\s*,\s*\d+\s*(?:-\s*\d*)?)*\s*")
_NOT_A_URL = frozenset({"url.not_absolute", "url.userinfo"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """One page as the caller asked for it; checked on construction.

    Attributes:
        url: http or https, absolute; what follows `#` says where to start.
        focus: a question; only the passages that matter to it are wanted.
        max_tokens: most tokens of text (4 characters a token); None = no bound.
        cursor: `Page.next_cursor` of an earlier call: go on there.
        outline: only the headings, with their sizes.
        reader: read with this one and nothing else: a form ("html", "pdf"), a site, a service, or "browser".
        raw: the text as it came, decoded and freed of what is unseen, without any reader.
        pages: which pages of a PDF, as "3", "2-5" or "1,4-6".
        archived: ask the web archive when the page is gone.
        cache: False = ask the server even where the cache could answer.

    Raises:
        RequestError: naming the field and the fix. EgressDenied: the URL cannot be read in one way only.
    """

    url: str
    focus: str | None = None
    max_tokens: int | None = None
    cursor: str | None = None
    outline: bool = False
    reader: str | None = None
    raw: bool = False
    pages: str | None = None
    archived: bool = False
    cache: bool = True

    def __post_init__(self) -> None:
        read_url(self.url)
        self._check_focus()
        if self.max_tokens is not None and (type(self.max_tokens) is not int or not 1 <= self.max_tokens <= MAX_TOKENS):
            problem = f"must be a whole number from 1 to {MAX_TOKENS:,}, not {self.max_tokens!r:.40}"
            raise RequestError("max_tokens", problem, hint="leave it out for the whole page")
        if self.cursor is not None and (not isinstance(self.cursor, str) or not self.cursor.strip()):
            raise RequestError("cursor", "is empty", hint="pass next_cursor of the page before, or leave it out")
        if self.pages is not None and not (isinstance(self.pages, str) and _PAGES.fullmatch(self.pages)):
            raise RequestError("pages", f"{self.pages!r:.40} names no pages", hint="write 3, 2-5 or 1,4-6")
        if self.reader is not None and (not isinstance(self.reader, str) or not self.reader.strip()):
            raise RequestError("reader", "names no reader", hint="leave it out to have the page's form choose one")
        if self.raw and self.reader is not None:
            raise RequestError("raw", "is reading without a reader", hint="leave reader out")
        wanted = [name for name in ("focus", "cursor", "outline") if getattr(self, name)]
        if len(wanted) > 1:
            problem = f"cannot be combined with {wanted[1]}: each chooses another part of the page"
            raise RequestError(wanted[0], problem, hint="ask for one at a time")

    def _check_focus(self) -> None:
        if self.focus is None:
            return
        if not isinstance(self.focus, str) or not self.focus.strip():
            raise RequestError("focus", "is empty", hint="say what you want to know of the page, or leave it out")
        if len(self.focus) > MAX_FOCUS:
            problem = f"has {len(self.focus):,} characters, at most {MAX_FOCUS:,} are allowed"
            raise RequestError("focus", problem, hint="shorten it")

    @property
    def target(self) -> URL:
        """The URL as it is dialled."""
        return read_url(self.url)

    @property
    def fragment(self) -> str:
        """Where to start: what follows `#`, "" when nothing does."""
        return unquote(self.url.partition("#")[2]).strip()


def read_url(url: object) -> URL:
    """Return the one reading of a URL.

    Raises:
        RequestError: it is no text. UrlRefused: it has no reading; `invalid` when it merely is no web address.
    """
    if not isinstance(url, str):
        raise RequestError("url", f"must be text, not {type(url).__name__}")
    try:
        return parse(url)
    except UrlRefused as refused:
        trimmed = url.strip()
        if refused.rule in _NOT_A_URL or _DRIVE.match(trimmed):
            refused.outcome = Outcome.INVALID
        if _PATH.match(trimmed):
            refused.hint = "a file is not fetched: read its bytes and pass them to webseam.read(data, url=...)"
        elif not trimmed:
            refused.hint = "write https:// and a host"
        elif _BARE.fullmatch(trimmed) and refused.rule == "url.not_absolute":
            refused.hint = f"write https://{clean(trimmed)[:200]}"
        raise
