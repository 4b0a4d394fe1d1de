"""The values that travel through webseam: a request, its hits, a page, and what was tried to get them.

All are frozen: a response may be cached, shared by coalesced callers and rendered by several fronts at once.
`as_json` gives the one JSON form, the same on the command line, over HTTP and in the cache.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from datetime import date
from enum import Enum
from operator import attrgetter
from typing import Any, Literal, TypeVar, get_args

from webseam.domains import normalize_rule
from webseam.errors import Outcome, RequestError

Freshness = Literal["day", "week", "month", "year"]
Safe = Literal["off", "moderate", "strict"]
Kind = Literal["web", "news", "code", "paper"]

T = TypeVar("T")
MAX_QUERY = 2_000  # characters after trimming
MAX_COUNT = 100
MAX_PAGE = 100
MAX_DOMAINS = 300  # the longest list any provider takes

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")  # BCP 47, the shapes search engines know
_REGION = re.compile(r"[A-Za-z]{2}")  # ISO 3166-1 alpha-2


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search as the caller asked for it; checked and normalised on construction.

    Attributes:
        query: 1 to 2,000 characters after trimming; never rewritten.
        count: hits wanted, 1 to 100.
        include_domains, exclude_domains: hosts or host/path prefixes, subdomains included; exclude wins.
        freshness: published within the last day, week, month or year.
        after, before: inclusive calendar days (UTC), ISO 8601; they win over `freshness`.
        language: BCP 47, e.g. "en" or "pt-BR". region: ISO 3166-1 alpha-2, e.g. "DE".
        safe: adult-content filter. kind: what sort of source. page: 1 is the first.

    Raises:
        RequestError: naming the field and the fix.
    """

    query: str
    count: int = 10
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    freshness: Freshness | None = None
    after: str | None = None
    before: str | None = None
    language: str | None = None
    region: str | None = None
    safe: Safe | None = None
    kind: Kind = "web"
    page: int = 1

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "query", _query(self.query))
        _whole_number("count", self.count, 1, MAX_COUNT)
        _whole_number("page", self.page, 1, MAX_PAGE)
        if self.include_domains != ():
            put(self, "include_domains", _domains("include_domains", self.include_domains))
        if self.exclude_domains != ():
            put(self, "exclude_domains", _domains("exclude_domains", self.exclude_domains))
        _choice("freshness", self.freshness, get_args(Freshness), optional=True)
        _choice("safe", self.safe, get_args(Safe), optional=True)
        _choice("kind", self.kind, get_args(Kind))
        put(self, "after", _day("after", self.after))
        put(self, "before", _day("before", self.before))
        if self.after and self.before and self.after > self.before:
            raise RequestError("after", f"{self.after} is later than before={self.before}", hint="swap the two days")
        if self.language is not None:
            put(self, "language", _code("language", self.language, _LANGUAGE, "a BCP 47 tag such as en or pt-BR"))
        if self.region is not None:
            region = _code("region", self.region, _REGION, "two letters of ISO 3166-1 such as DE")
            put(self, "region", region.upper())


def _query(value: object) -> str:
    if not isinstance(value, str):
        raise RequestError("query", f"must be text, not {type(value).__name__}")
    query = value.strip()
    if not query:
        raise RequestError("query", "is empty", hint="say what to search for")
    if len(query) > MAX_QUERY:
        raise RequestError(
            "query", f"has {len(query):,} characters, at most {MAX_QUERY:,} are allowed", hint="shorten it"
        )
    if "\x00" in query or any("\ud800" <= character <= "\udfff" for character in query):
        raise RequestError("query", "has a NUL or half of a surrogate pair", hint="send valid Unicode text")
    return query


def _whole_number(name: str, value: object, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise RequestError(name, f"must be a whole number from {low} to {high}, not {value!r:.40}")


def _choice(name: str, value: object, allowed: tuple[str, ...], *, optional: bool = False) -> None:
    if value in allowed or (optional and value is None):
        return
    raise RequestError(name, f"{value!r:.40} is not one of {', '.join(allowed)}")


def _domains(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, (tuple, list, set, frozenset)):
        raise RequestError(name, "must be a list of hosts", hint="wrap a single host in a list")
    if len(value) > MAX_DOMAINS:
        raise RequestError(name, f"has {len(value)} entries, at most {MAX_DOMAINS} are allowed")
    rules: dict[str, None] = {}
    for entry in value:
        try:
            rules[normalize_rule(entry)] = None
        except (ValueError, AttributeError, TypeError):
            raise RequestError(
                name, f"{entry!r:.80} is not a domain", hint="write a host such as example.org, or host/path"
            ) from None
    return tuple(rules)


def _day(name: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, date):
        return value.isoformat()[:10]
    if isinstance(value, str):
        try:
            return date.fromisoformat(value.strip()).isoformat()
        except ValueError:
            pass
    raise RequestError(name, f"{value!r:.40} is not a day", hint="write it as YYYY-MM-DD")


def _code(name: str, value: object, pattern: re.Pattern[str], wanted: str) -> str:
    if isinstance(value, str) and pattern.fullmatch(value.strip()):
        return value.strip()
    raise RequestError(name, f"{value!r:.40} is not {wanted}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One search result. Everything but `url` and `providers` may be None or empty: unknown is never invented.

    Attributes:
        url: unwrapped and free of tracking parameters.
        snippet: at most 800 characters; `passages` keep longer extracts.
        published: ISO 8601 day or instant.
        score: the provider's own; not comparable between providers.
        providers: ids of all providers that returned it.
    """

    url: str
    title: str | None = None
    snippet: str | None = None
    published: str | None = None
    author: str | None = None
    site: str | None = None
    score: float | None = None
    providers: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One provider or reader that was tried, or passed over, and what became of it.

    Attributes:
        took: seconds. retry_after: seconds it asked to be left alone. cost: US dollars, when known.
        hits: how many usable hits it gave before filters.
    """

    provider: str
    outcome: Outcome
    took: float = 0.0
    detail: str | None = None
    http_status: int | None = None
    retry_after: float | None = None
    cost: float | None = None
    hits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link of a page: its words and its absolute address."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Whole blocks of a page that belong together and matter to a question.

    Attributes:
        start, end: offsets into the page's whole Markdown.
        text: `markdown[start:end]`; where a block larger than the budget was cut, with its fence or table head.
        heading_path: the headings that the first block stands under.
        score: comparable within one page only.
    """

    start: int
    end: int
    text: str
    heading_path: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page: its words, the fragment that leads to it, its offset, the tokens of its whole section."""

    level: int
    text: str
    anchor: str
    offset: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What reading one URL gave.

    Attributes:
        final_url: where the text is from, after redirects; None when nothing was read.
        status: of HTTP; None where none was seen, as for text that a program passed in.
        markdown: the page, or the piece or the passages of it that were asked for.
        published: ISO 8601 day or instant.
        reader: which reader made Markdown of it. site: whose API it came from instead of the page.
        tokens: of the whole page, estimated; `markdown` may hold fewer.
        truncated: the page has more than `markdown`; `next_cursor`, when there is one, goes on where it stopped.
        passages: with a focus; `markdown` is made of them. outline: when it was asked for.
        removed: what was left out, by kind: "hidden", "navigation", "zero_width".
        fetched_at: when the bytes came, an ISO 8601 instant in UTC. cached: they came from the cache.
        attempts: every way of reading that was tried, in order. sent_to: services that were told the URL.
        outcome: ok, or empty when there is nothing to read on it; the library raises for the rest, but several pages
            at once, and fronts, hold failures too, with `detail` and `hint`. took: seconds.
    """

    url: str
    final_url: str | None = None
    status: int | None = None
    media_type: str | None = None
    title: str | None = None
    markdown: str = ""
    author: str | None = None
    published: str | None = None
    language: str | None = None
    reader: str | None = None
    site: str | None = None
    links: tuple[Link, ...] = ()
    tokens: int = 0
    truncated: bool = False
    next_cursor: str | None = None
    passages: tuple[Passage, ...] = ()
    outline: tuple[Heading, ...] = ()
    removed: dict[str, int] = field(default_factory=dict)
    fetched_at: str | None = None
    cached: bool = False
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    sent_to: tuple[str, ...] = ()
    took: float = 0.0
    outcome: Outcome = Outcome.OK
    detail: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResponse:
    """What a search gave.

    Attributes:
        outcome: ok, empty or filtered from the library, which raises for the rest; fronts also fill in failures.
        attempts: every provider considered, in order.
        answer: a provider's own short answer, when it sent one.
        notes: what was done that the caller might not expect, in words.
        dropped: hits removed, by reason.
        sent_to: ids of the providers that received the query over the network.
        pages: the first hits read, with the passages that matter to the query, when that was asked for.
        took: seconds from call to return.
        detail, hint: what went wrong and what to do, on failure only.
    """

    query: str
    hits: tuple[SearchHit, ...] = ()
    outcome: Outcome = Outcome.OK
    attempts: tuple[Attempt, ...] = ()
    answer: str | None = None
    notes: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)
    cached: bool = False
    sent_to: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    took: float = 0.0
    detail: str | None = None
    hint: str | None = None


def as_json(value: Any) -> Any:
    """Return a model value as plain JSON types: objects as dicts in field order, tuples as lists."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [as_json(item) for item in value]
    return {name: as_json(getattr(value, name)) for name in _field_names(type(value))}


_FIELD_NAMES: dict[type, tuple[str, ...]] = {}


def _field_names(kind: type) -> tuple[str, ...]:
    names = _FIELD_NAMES.get(kind)
    if names is None:
        names = _FIELD_NAMES[kind] = tuple(item.name for item in fields(kind))
    return names


fields_of = attrgetter(*(item.name for item in fields(SearchRequest)))
_HIT = attrgetter(*(item.name for item in fields(SearchHit)))
_ATTEMPT = attrgetter(*(item.name for item in fields(Attempt)))
_RESPONSE = attrgetter(*(item.name for item in fields(SearchResponse)))
_HITS_AT = [item.name for item in fields(SearchResponse)].index("hits")
_ATTEMPTS_AT = [item.name for item in fields(SearchResponse)].index("attempts")


def to_row(response: SearchResponse) -> list[Any]:
    """Return a response as nested lists that `json` can write, for the cache: a tenth of the work of `as_json`."""
    row = list(_RESPONSE(response))
    row[_HITS_AT] = [_HIT(hit) for hit in response.hits]
    row[_ATTEMPTS_AT] = [_ATTEMPT(attempt) for attempt in response.attempts]
    return row


def from_row(row: list[Any]) -> SearchResponse:
    """Rebuild a response from `to_row`.

    Raises:
        KeyError, TypeError, ValueError: the row has another shape, e.g. written by another version.
    """
    values = dict(zip([item.name for item in fields(SearchResponse)], row, strict=True))
    values["hits"] = tuple(_from(SearchHit, hit) for hit in values["hits"])
    values["attempts"] = tuple(_from(Attempt, attempt) for attempt in values["attempts"])
    values["outcome"] = Outcome(values["outcome"])
    for name in ("notes", "sent_to", "pages"):
        values[name] = tuple(values[name])
    return SearchResponse(**values)


def _from(kind: type[T], row: list[Any]) -> T:
    names = _field_names(kind)
    values: dict[str, Any] = dict(zip(names, row, strict=True))
    values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    if "outcome" in values:
        values["outcome"] = Outcome(values["outcome"])
    return kind(**values)


__all__ = [
    "Attempt",
    "Freshness",
    "Heading",
    "Kind",
    "Link",
    "Page",
    "Passage",
    "Safe",
    "SearchHit",
    "SearchRequest",
    "SearchResponse",
    "as_json",
    "fields_of",
    "from_row",
    "replace",
    "to_row",
]
