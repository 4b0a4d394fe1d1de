"""What a search provider is: facts declared once, a pure `request` and a pure `parse`.

A provider never sends anything. It describes the call and reads the answer, so that deadline, pace, health, egress,
retries, filters and redaction are the same for all of them and live elsewhere. Everything that shows providers (the
command line, the documentation table, `doctor`) reads these declarations; adding a provider is adding one file.
Must not import the client of `webseam.net`, only its values.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, Final, Literal, Protocol, Self
from urllib.parse import quote_plus, urlencode

from webseam.config import PROVIDER_COMMON, Setting, Settings
from webseam.errors import Outcome, ProviderError
from webseam.model import Kind, SearchRequest
from webseam.net.message import Request
from webseam.process import Program
from webseam.providers.answers import Hits, Parsed, Reply, decode_json, rows, shape
from webseam.resilience.ledger import NO_LIMITS, Limits


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
    """What one provider was set up with, for one operation.

    Attributes:
        route: which of a provider's several places this is; "" when it has one.
        reach: "own" = the origin of `base_url` wherever it is; "public" = that origin, at public addresses only.
        proxy, ca_bundle, local_dns: how the network is reached (settings `net.*`).
        price: US dollars a call, as declared or set; None = unknown.
        limits, limits_in_all: budgets of this provider, and of all together.
    """

    provider: str
    base_url: str = ""
    route: str = ""
    reach: Literal["own", "public"] = "own"
    key: str = field(default="", repr=False)
    key_identity: str = ""
    key_origin: str = ""
    timeout: float = 15.0
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    proxy: str | None = field(default=None, repr=False)
    ca_bundle: str | None = None
    local_dns: bool = False
    price: float | None = None
    limits: Limits = NO_LIMITS
    limits_in_all: Limits = NO_LIMITS

    def url(self, path: str) -> str:
        """Return `base_url` with `path` appended; what of it the base already ends with is not doubled."""
        base, parts = self.base_url.rstrip("/"), path.split("/")
        held = "".join(base.partition("://")[2].partition("/")[1:])  # its path: a host may be called "search"
        for end in range(len(parts), 1, -1):
            beginning = "/".join(parts[:end]).rstrip("/")
            if beginning and held.endswith(beginning):
                return base + path[len(beginning) :]
        return base + path


@dataclass(frozen=True, slots=True)
class Aside:
    """A message that sets up a session: it takes no start slot and counts as no call of a budget."""

    request: Request


class Memory(Protocol):
    """Small facts a provider keeps per key and address, across processes; session ids, never keys."""

    def get(self, name: str) -> dict[str, Any] | None:
        """Return what was kept under `name`, or None."""

    def set(self, name: str, value: dict[str, Any], *, ttl: float) -> None:
        """Keep a small JSON object for `ttl` seconds."""

    def delete(self, name: str) -> None:
        """Forget one."""


# What a provider wants done next, and in the end what it read. Sent back: a `Reply`, or what a program printed.
Step = Request | Aside | Program
Conversation = Generator[Step, Any, Parsed]


@dataclass(slots=True, kw_only=True)
class ReadPage:
    """What a service made of one page, value by value as it came: all of it is cleaned and judged by who asked.

    Attributes:
        markdown: the text of the page; None or "" when the service found none.
        final_url: where redirects led it. status: what the page's own server answered, where that is told.
        problem: why that page could not be read, in quoted words. The service works: nothing is held against it.
        outcome: what the problem is, where neither `status` nor its words say so.
        cost: US dollars this call cost, when the answer says; None leaves it to `read_price`.
    """

    markdown: object = None
    title: object = None
    author: object = None
    published: object = None
    language: object = None
    final_url: object = None
    status: object = None
    problem: str = ""
    outcome: Outcome | None = None
    notes: Sequence[str] = ()
    cost: float | None = None


class Provider:
    """Base of all providers. A subclass is class attributes, `request` and `parse`.

    Class attributes:
        id, label: the name used everywhere, and the one people know.
        receives: who gets the query, in words, for the privacy notes; "" when it stays on this machine.
        rank: place in the default order of `auto`, lower first; None = only when named.
        means: how it answers: over the network, by a program started here, or out of the index of this machine.
        several: may be set up more than once, as `[providers.<id>.NAME]`; NAME is then the id.
        base_url: where it answers unless set otherwise; "" = must be set.
        key: "required", "optional" or "none". key_env, base_env: environment names its own users know.
        key_file_env: environment names of a file whose first line is the key.
        key_in_url: the service takes the key in the query string only.
        keyless_for: the provider whose place this one takes when that one has no key.
        settings: its own keys, beside `api_key`, `base_url`, `timeout`, `enabled`.
        options, kinds: how each option and each kind of source is met; what is not listed is unsupported.
        max_count, max_query: the most hits of one search (see `most` too), the longest query in characters.
        interval: least seconds between two starts, per key, over all processes of this user.
        price: US dollars a search where published; 0.0 = free; None = unknown.
        timeout: seconds for one search unless set; None = `search.provider_timeout`.
        hint: what to do when it cannot be used. remark: what its users should know, for `webseam doctor`.
        retried_status: statuses worth one more try; None = those that usually pass.
        retries_broken: an answer that cannot be decoded is worth one more try too.
        reads: can also read one page, see `read_request`. read_price: US dollars a page, as `price`.
    """

    id: ClassVar[str]
    label: ClassVar[str]
    receives: ClassVar[str] = ""
    rank: ClassVar[int | None] = None
    means: ClassVar[Literal["network", "program", "index"]] = "network"
    several: ClassVar[bool] = False
    base_url: ClassVar[str] = ""
    key: ClassVar[Literal["required", "optional", "none"]] = "required"
    key_env: ClassVar[tuple[str, ...]] = ()
    key_file_env: ClassVar[tuple[str, ...]] = ()
    key_in_url: ClassVar[bool] = False
    base_env: ClassVar[tuple[str, ...]] = ()
    keyless_for: ClassVar[str | None] = None
    settings: ClassVar[tuple[Setting, ...]] = ()
    options: ClassVar[Mapping[Option, Support]] = {}
    kinds: ClassVar[Mapping[Kind, Support]] = {}
    max_count: ClassVar[int] = 10
    max_query: ClassVar[int] = 2_000
    interval: ClassVar[float] = 0.0
    price: ClassVar[float | None] = None
    timeout: ClassVar[float | None] = None
    private: ClassVar[bool] = False
    retried_status: ClassVar[tuple[int, ...] | None] = None
    retries_broken: ClassVar[bool] = False
    hint: ClassVar[str] = ""
    remark: ClassVar[str] = ""
    reads: ClassVar[bool] = False
    read_price: ClassVar[float | None] = None

    def schema(self) -> tuple[Setting, ...]:
        """All keys of this provider's section."""
        return PROVIDER_COMMON + self.settings

    def support(self, option: Option) -> Support:
        return self.options.get(option, UNSUPPORTED)

    def most(self, search: SearchRequest) -> int:
        """Return the most hits of one search, where that depends on what is searched."""
        return self.max_count

    def address(self, settings: Settings) -> str | None:
        """Return a base URL from variables other than those in `base_env`, or None."""
        return None

    def key_names(self, settings: Settings) -> tuple[str, ...]:
        """Return the variables whose value is a key of this provider, as things are set up."""
        return self.key_env

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        """Return the places to ask, in order; each is tried and recorded on its own. Usually the one there is.

        Raises:
            SettingsError: the provider's own settings contradict each other or cannot be read.
        """
        return (config,)

    def fitted(self, config: ProviderConfig) -> Provider:
        """Return this provider as its settings make it, where what it can do depends on them; see `copied`."""
        return self

    def copied(self, **facts: Any) -> Self:
        """Return a copy that declares other facts, e.g. `options`."""
        made = copy(self)
        vars(made).update(facts)
        return made

    def notice(self, config: ProviderConfig) -> str | None:
        """Return what is to be said once before the first query leaves, where who receives it is the user's choice."""
        return None

    def is_private(self, values: Mapping[str, Any]) -> bool:
        """True when the query does not leave this network, as far as the settings say."""
        return self.private

    def unavailable(self, config: ProviderConfig) -> str | None:
        """Why this provider cannot be used as it is set up, or None. Sends nothing."""
        if self.key == "required" and not config.key:
            return f"no key ({self.key_env[0]})" if self.key_env else "no key"
        if not config.base_url and self.means == "network":
            return f"no address ({self.base_env[0]})" if self.base_env else "no address"
        return None

    @property
    def local(self) -> bool:
        """True when it answers out of the index of this machine and nothing is sent."""
        return self.means == "index"

    def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        """Carry out one search step by step: yield what is to be sent, get the reply, return what was read.

        Sends nothing itself, so that slots, budgets, deadline and egress are the same for all. Usually one request and
        its answer; a request that `failure` names in its place is sent once.

        Raises:
            ProviderError: what the service's answer means.
        """
        return read_page(self, self.request(search, config), search, config)

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

    def read_routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        """Return the places where pages are read, in order, as `routes` does for searches; priced for one page."""
        own = config.price != self.price  # a price from the settings
        return (config if own else replace(config, price=self.read_price),)

    def read_unavailable(self, config: ProviderConfig) -> str | None:
        """Why no page can be read with this setup, or None; see `unavailable`."""
        return self.unavailable(config)

    def read_request(self, url: str, config: ProviderConfig) -> Request:
        """Describe the call that reads the page at `url`, as Markdown where that can be asked for."""
        raise NotImplementedError

    def read_answer(self, reply: Reply, url: str, config: ProviderConfig) -> ReadPage:
        """Read a 2xx answer: a page, or that this one page could not be read.

        Raises:
            ProviderError: as `parse`.
        """
        raise NotImplementedError

    def read_failure(self, reply: Reply, url: str, config: ProviderConfig) -> ProviderError | ReadPage | None:
        """Judge an answer that is not 2xx: an error, that only the page is to blame, or None for the common rules."""
        return None


def read_page(provider: Provider, request: Request, search: SearchRequest, config: ProviderConfig) -> Conversation:
    """Send one request and read its answer: the conversation of most providers, and that of each further page."""
    from webseam.providers.verdicts import failure

    for may_replace in (True, False):
        reply: Reply = yield request
        if 200 <= reply.status < 300:
            break
        judged = provider.failure(reply, search, config)
        if isinstance(judged, Request) and may_replace:
            request = judged
            continue
        raise judged if isinstance(judged, ProviderError) else failure(reply)
    return provider.parse(reply, search, config)


def read_url(provider: Provider, url: str, config: ProviderConfig) -> Generator[Step, Any, ReadPage]:
    """Send the request that reads a page, and read its answer."""
    from webseam.providers.verdicts import failure

    reply: Reply = yield provider.read_request(url, config)
    if 200 <= reply.status < 300:
        return provider.read_answer(reply, url, config)
    judged = provider.read_failure(reply, url, config)
    if isinstance(judged, ReadPage):
        return judged
    raise judged or failure(reply)


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


__all__ = [
    "EMULATED",
    "NATIVE",
    "OPTIONS",
    "UNSUPPORTED",
    "Aside",
    "Conversation",
    "Hits",
    "Memory",
    "Option",
    "Parsed",
    "Provider",
    "ProviderConfig",
    "ReadPage",
    "Reply",
    "Setting",
    "Step",
    "Support",
    "decode_json",
    "get",
    "post_json",
    "read_page",
    "read_url",
    "rows",
    "shape",
]
