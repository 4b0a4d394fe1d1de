"""What a search provider is: facts declared once, a pure `request` and a pure `parse`.

A provider never sends anything. It describes the call and reads the answer, so that deadline, pace, health, egress,
retries, filters and redaction are the same for all of them and live elsewhere. Everything that shows providers (the
command line, the documentation table, `doctor`) reads these declarations; adding a provider is adding one file.
Must not import the client of `webseam.net`, only its values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal
from urllib.parse import quote_plus, urlencode

from webseam.config import PROVIDER_COMMON, Setting, Settings
from webseam.errors import Outcome, ProviderError
from webseam.links import tidy
from webseam.model import Kind, SearchHit, SearchRequest
from webseam.net.message import Request
from webseam.providers.dates import published_day
from webseam.text import SNIPPET_LIMIT, clean, clip, plain, quote

if TYPE_CHECKING:
    from webseam.net.message import Response

MAX_PASSAGES: Final = 20  # a hit; more is a page, and pages have their own command
MAX_PASSAGE: Final = 10_000  # characters
QUOTED_FROM: Final = 20_000  # characters of a body that a quotation may come from; a whole page would take seconds
MAX_HITS: Final = 500  # a response; a provider that sends thousands is not asked to have all of them parsed


class Support(StrEnum):
    """How a provider meets an option of `SearchRequest`."""

    NATIVE = "native"
    EMULATED = "emulated"
    UNSUPPORTED = "unsupported"


NATIVE, EMULATED, UNSUPPORTED = Support.NATIVE, Support.EMULATED, Support.UNSUPPORTED
Option = Literal["include_domains", "exclude_domains", "freshness", "date_range", "language", "region", "safe", "page"]
OPTIONS: Final[tuple[Option, ...]] = (
    "include_domains", "exclude_domains", "freshness", "date_range", "language", "region", "safe", "page",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """What one provider was set up with, for one operation."""

    provider: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    key_identity: str = ""
    key_origin: str = ""
    timeout: float = 15.0
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def url(self, path: str) -> str:
        """Return `base_url` with `path` appended; a path the base already ends with is not doubled."""
        base = self.base_url.rstrip("/")
        doubled = path.rstrip("/") and base.endswith(path.rstrip("/"))
        return base if doubled else base + path


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


class Provider:
    """Base of all providers. A subclass is class attributes, `request` and `parse`.

    Class attributes:
        id, label: the name used everywhere, and the one people know.
        receives: who gets the query, in words, for the privacy notes; "" when it stays on this machine.
        rank: place in the default order of `auto`, lower first; None = only when named.
        base_url: where it answers unless set otherwise; "" = must be set.
        key: "required", "optional" or "none". key_env, base_env: environment names its own users know.
        key_file_env: environment names of a file whose first line is the key.
        keyless_for: the provider whose place this one takes when that one has no key.
        settings: its own keys, beside `api_key`, `base_url`, `timeout`, `enabled`.
        options, kinds: how each option and each kind of source is met; what is not listed is unsupported.
        max_count, max_query: the most hits of one search, the longest query in characters.
        interval: least seconds between two starts, per key, over all processes of this user.
        price: US dollars a search where published; 0.0 = free; None = unknown.
    """

    id: ClassVar[str]
    label: ClassVar[str]
    receives: ClassVar[str] = ""
    rank: ClassVar[int | None] = None
    base_url: ClassVar[str] = ""
    key: ClassVar[Literal["required", "optional", "none"]] = "required"
    key_env: ClassVar[tuple[str, ...]] = ()
    key_file_env: ClassVar[tuple[str, ...]] = ()
    base_env: ClassVar[tuple[str, ...]] = ()
    keyless_for: ClassVar[str | None] = None
    settings: ClassVar[tuple[Setting, ...]] = ()
    options: ClassVar[Mapping[Option, Support]] = {}
    kinds: ClassVar[Mapping[Kind, Support]] = {}
    max_count: ClassVar[int] = 10
    max_query: ClassVar[int] = 2_000
    interval: ClassVar[float] = 0.0
    price: ClassVar[float | None] = None
    private: ClassVar[bool] = False
    hint: ClassVar[str] = ""

    def schema(self) -> tuple[Setting, ...]:
        """All keys of this provider's section."""
        return PROVIDER_COMMON + self.settings

    def support(self, option: Option) -> Support:
        return self.options.get(option, UNSUPPORTED)

    def address(self, settings: Settings) -> str | None:
        """Return a base URL from variables other than those in `base_env`, or None."""
        return None

    def unavailable(self, config: ProviderConfig) -> str | None:
        """Why this provider cannot be used as it is set up, or None. Sends nothing."""
        if self.key == "required" and not config.key:
            return f"no key ({self.key_env[0]})" if self.key_env else "no key"
        if not config.base_url and not self.local:
            return f"no address ({self.base_env[0]})" if self.base_env else "no address"
        return None

    @property
    def local(self) -> bool:
        """True when it answers on this machine and nothing is sent."""
        return False

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        """Describe the call that runs `search`."""
        raise NotImplementedError

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        """Read a 2xx answer.

        Raises:
            ProviderError: the answer is an error, a challenge, or not of the shape this API sends.
        """
        raise NotImplementedError

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        """Judge an answer that is not 2xx where this service differs from the common rules.

        Returns an error, a request to send instead (once), or None for the common rules.
        """
        return None


def post_json(
    config: ProviderConfig,
    path: str,
    body: Mapping[str, Any],
    *headers: tuple[str, str],
    accept: str = "application/json",
) -> Request:
    """Return a POST of `body` as JSON; entries that are None are left out."""
    sent = {name: value for name, value in body.items() if value is not None}
    return Request(
        method="POST",
        url=config.url(path),
        headers=(("Accept", accept), ("Content-Type", "application/json"), *headers),
        body=json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode(),
        secrets=config.secrets,
    )


def get(config: ProviderConfig, path: str, query: Mapping[str, object], *headers: tuple[str, str]) -> Request:
    """Return a GET with `query` percent-encoded; entries that are None are left out."""
    encoded = urlencode({name: str(value) for name, value in query.items() if value is not None}, quote_via=quote_plus)
    return Request(
        method="GET",
        url=f"{config.url(path)}?{encoded}",
        headers=(("Accept", "application/json"), *headers),
        secrets=config.secrets,
    )


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


__all__ = [
    "EMULATED",
    "NATIVE",
    "OPTIONS",
    "UNSUPPORTED",
    "Hits",
    "Option",
    "Parsed",
    "Provider",
    "ProviderConfig",
    "Reply",
    "Setting",
    "Support",
    "decode_json",
    "get",
    "post_json",
    "rows",
    "shape",
]
