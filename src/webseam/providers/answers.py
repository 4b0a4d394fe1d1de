"""Reading a service's answer: strict JSON, the rows of results in it, and hits in one clean form.

Apart from `base`, which says what a provider is: this is what a provider's `parse` works with. Every field is cleaned
here and nowhere else, so that no provider can forget it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.links import tidy
from webseam.model import SearchHit
from webseam.providers.dates import published_day
from webseam.text import SNIPPET_LIMIT, clean, clip, plain, quote

if TYPE_CHECKING:
    from webseam.net.message import Request, Response

MAX_PASSAGES: Final = 20  # a hit; more is a page, and pages have their own command
MAX_PASSAGE: Final = 10_000  # characters
QUOTED_FROM: Final = 20_000  # characters of a body that a quotation may come from; a whole page would take seconds
MAX_HITS: Final = 500  # a response; a provider that sends thousands is not asked to have all of them parsed


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as a provider's `parse` sees it. `redact` removes this call's secrets from words that are quoted."""

    response: Response
    redact: Callable[[str], str] = str
    request: Request | None = None

    @property
    def status(self) -> int:
        return self.response.status

    def header(self, name: str) -> str | None:
        return self.response.headers.get(name)

    def text(self) -> str:
        """The body as UTF-8, wrong bytes replaced."""
        return self.response.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            ProviderError: bad_response (or blocked, for a challenge page), saying what came instead.
        """
        try:
            return decode_json(self.response.body)
        except ValueError as error:
            from webseam.providers.verdicts import not_json

            raise not_json(self, str(error)) from None

    def fields(self) -> dict[str, Any]:
        """The fields of a body that is a JSON object; none for any other, such as the page of a proxy: for errors."""
        try:
            document = decode_json(self.response.body)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    def quote(self, words: str) -> str:
        """Somebody else's words, without secrets, cleaned and cut."""
        return quote(self.redact(words[:QUOTED_FROM]))


def decode_json(body: bytes) -> Any:
    """Return strict JSON (RFC 8259) from bytes: UTF-8, no NaN, no duplicate keys, no halves of surrogate pairs.

    Raises:
        ValueError: anything else; nesting beyond the interpreter's limit included.
    """
    try:
        text = body.decode("utf-8-sig")
        value = _STRICT.decode(text)
        if "\\" in text and ("\\ud" in text or "\\uD" in text):
            json.dumps(value, ensure_ascii=False).encode()  # fails on a surrogate that has no other half
    except UnicodeError:
        raise ValueError("text that is not valid Unicode") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object with the same key twice")
    return found


_STRICT: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


@dataclass(slots=True, kw_only=True)
class Parsed:
    """What one answer held. `more` is the request for the next page, where the service has one."""

    hits: Sequence[SearchHit] = ()
    dropped: dict[str, int] = field(default_factory=dict)
    answer: str | None = None
    notes: Sequence[str] = ()
    cost: float | None = None
    more: Request | None = None


_WORDS: Final = ("url", "title", "snippet", "author", "site")


def scrubbed(parsed: Parsed, remove: Callable[[str], str]) -> Parsed:
    """Return what was read without this call's secrets: a service may write the key it was sent into its results."""
    every = "\0".join([*_texts(parsed), *parsed.notes, parsed.answer or ""])
    if remove(every) == every:  # nearly always; once over all of it costs a tenth of looking at each piece
        return parsed
    parsed.hits = [_scrubbed(hit, remove) for hit in parsed.hits]
    parsed.notes = [remove(note) for note in parsed.notes]
    parsed.answer = remove(parsed.answer) if parsed.answer else parsed.answer
    return parsed


def _texts(parsed: Parsed) -> Iterator[str]:
    for hit in parsed.hits:
        yield from filter(None, (hit.url, hit.title, hit.snippet, hit.author, hit.site, *hit.passages))


def _scrubbed(hit: SearchHit, remove: Callable[[str], str]) -> SearchHit:
    known: dict[str, Any] = {name: value for name in _WORDS if (value := getattr(hit, name))}
    kept: dict[str, Any] = {name: remove(value) for name, value in known.items()}
    passages = tuple(remove(passage) for passage in hit.passages)
    return hit if (kept, passages) == (known, hit.passages) else replace(hit, **kept, passages=passages)


class Hits:
    """Collects the hits of one answer: cleans every field, drops what cannot be one, and counts what it dropped."""

    def __init__(self, provider: str) -> None:
        self._providers = (provider,)
        self.found: list[SearchHit] = []
        self.dropped: dict[str, int] = {}

    def add(
        self,
        *,
        url: object,
        title: object = None,
        snippet: object = None,
        published: object = None,
        author: object = None,
        site: object = None,
        score: object = None,
        passages: object = (),
    ) -> None:
        """Add one result as the service gave it. Values of a wrong type count as unknown."""
        if len(self.found) >= MAX_HITS:
            return self.drop("too many")
        if not isinstance(url, str) or not url.strip():
            return self.drop("no url")
        address = tidy(url)
        if address is None:
            return self.drop("not http")
        self.found.append(
            SearchHit(  # what is absent is not looked at: most fields of most services are
                url=address,
                title=_title(title) if title else None,
                snippet=_snippet(snippet) if snippet else None,
                published=published_day(published) if published else None,
                author=_title(author) if author else None,
                site=_title(site) if site else None,
                score=_number(score) if score is not None else None,
                providers=self._providers,
                passages=_passages(passages) if passages else (),
            )
        )
        return None

    def drop(self, reason: str) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def parsed(self, **more: Any) -> Parsed:
        """Return everything collected as `Parsed`."""
        return Parsed(hits=self.found, dropped=self.dropped, **more)


def _snippet(value: object) -> str | None:
    return clip(plain(value), SNIPPET_LIMIT) or None if isinstance(value, str) else None


def amount(value: object) -> float | None:
    """Return what can be a number of dollars or seconds; None for anything else: negative, endless, words."""
    number = _number(value)
    return number if number is not None and number >= 0 else None


def _number(value: object) -> float | None:
    """Return a finite number; the rest cannot be written as JSON again."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _passages(value: object) -> tuple[str, ...]:
    extracts = value[:MAX_PASSAGES] if isinstance(value, (list, tuple)) else ()
    cleaned = (clean(extract).strip() for extract in extracts if isinstance(extract, str))
    return tuple(clip(extract, MAX_PASSAGE) for extract in cleaned if extract)


def _title(value: object) -> str | None:
    words = plain(value) if isinstance(value, str) else ""
    return None if not words or words == "N/A" else words


def shape(reply: Reply, value: object, wanted: str) -> ProviderError:
    """Return the error for an answer that parsed but is not what this API sends: the error it states, when it does."""
    from webseam.providers.verdicts import error_object

    stated = error_object(reply, value)
    if stated is not None:
        return stated
    found = ", ".join(sorted(map(str, value))[:8]) if isinstance(value, dict) else type(value).__name__
    return ProviderError(
        f"the answer has no {wanted} (it holds: {reply.quote(found)})",
        outcome=Outcome.BAD_RESPONSE,
        http_status=reply.status,
    )


def rows(reply: Reply, value: object, *path: str, required: bool = True) -> list[dict[str, Any]]:
    """Return the list of objects at `path` in an answer; entries that are not objects are left out.

    Raises:
        ProviderError: bad_response when it is missing (and `required`) or no list.
    """
    place = value
    for name in path:
        place = place.get(name) if isinstance(place, dict) else None
    if place is None and not required and isinstance(value, dict):
        return []
    if not isinstance(place, list):
        raise shape(reply, value, ".".join(path))
    return [entry for entry in place if isinstance(entry, dict)]
