"""What these tests share: search services on loopback, tiny providers for them, and a desk that asks them.

The real providers are pointed at loopback by their base URLs (`fakes`). Where a test needs more providers than there
are, or one that misbehaves in its own code, it makes an `Engine` and hands it to a `Desk`, which is what `AsyncWeb` is
without settings, cache and coalescing.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tests.world import Connection, Recorded, Site, World
from webseam import providers as registry
from webseam.errors import Outcome, WebSeamError
from webseam.model import Attempt, Kind, SearchRequest, SearchResponse
from webseam.net.client import Client
from webseam.net.message import Request
from webseam.net.policy import EgressPolicy
from webseam.providers.base import (
    EMULATED,
    NATIVE,
    Hits,
    Option,
    Parsed,
    Provider,
    ProviderConfig,
    Reply,
    Support,
    get,
    rows,
)
from webseam.resilience.deadline import Deadline
from webseam.resilience.health import Health
from webseam.resilience.ledger import Ledger
from webseam.resilience.pace import Pace
from webseam.resilience.store import MemoryStore, Store
from webseam.search.ask import Asker
from webseam.search.exchange import Services, place_of
from webseam.search.library import Library
from webseam.search.route import Candidate, Plan
from webseam.search.run import run
from webseam.secrets import fingerprint

# answers

Row = dict[str, Any]
Json = tuple[int, dict[str, str], dict[str, Any]]
NOTHING: dict[str, Any] = {"results": []}

CAPTCHA = (200, {"Content-Type": "text/html"}, "<html><title>Robot check</title><form id='captcha'>Go on</form></html>")
WITHOUT_CREDITS: Json = (403, {}, {"error": {"message": "You have run out of credits, top up your account"}})
TOO_MANY: Json = (429, {}, {"error": "slow down"})
WRONG_JSON: Json = (200, {}, {"items": [{"url": "https://example.org/"}]})
BAD_KEY: Json = (401, {}, {"error": "invalid api key"})


def row(name: str, **more: Any) -> Row:
    """Return one result as an `Engine`, and Exa and Tavily and SearXNG, would send it."""
    return {"url": f"https://example.org/{name}", "title": f"Title {name}", "content": f"About {name}", **more}


def found(*names: str | Row) -> Json:
    """Return a good answer with these results."""
    return 200, {}, {"results": [row(name) if isinstance(name, str) else name for name in names]}


def numbered(count: int, **more: Any) -> Json:
    """Return a good answer with results 1 to `count`."""
    return found(*(row(str(number), **more) for number in range(1, count + 1)))


async def hang(connection: Connection) -> None:
    """Read a request and say nothing until the client has gone."""
    if await connection.request() is not None:
        await connection.until_gone()


def successive(*answers: Any) -> Callable[[Recorded], Any]:
    """Return a handler that gives one answer after the other; the last one repeats."""
    left = list(answers)
    return lambda _request: left.pop(0) if len(left) > 1 else left[0]


class Gate:
    """A handler that holds requests until it is opened.

    Attributes:
        arrived: how many requests have come; wait for one with `until`.
    """

    def __init__(self, answer: Any) -> None:
        self.arrived = 0
        self.opened = asyncio.Event()
        self._answer = answer
        self._changed = asyncio.Condition()

    async def __call__(self, _request: Recorded) -> Any:
        self.arrived += 1
        async with self._changed:
            self._changed.notify_all()
        await self.opened.wait()
        return self._answer

    async def until(self, count: int) -> None:
        """Wait until `count` requests have arrived."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.arrived >= count)


# tiny providers


class Engine(Provider):
    """The smallest provider that can do everything: a GET, and a list of results as JSON."""

    id = "engine"
    label = "Engine"
    receives = "the engine"
    key = "optional"
    base_url = "https://engine.example"
    options: ClassVar[Mapping[Option, Support]] = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": NATIVE,
        "page": EMULATED,
    }
    kinds: ClassVar[Mapping[Kind, Support]] = {"news": NATIVE}
    max_count = 50

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        query = {
            "q": search.query,
            "count": search.count,
            "after": search.after,
            "before": search.before,
            "fresh": search.freshness,
            "page": search.page,
        }
        headers = (("Authorization", f"Bearer {config.key}"),) if config.key else ()
        return get(config, "", query, *headers)

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        hits = Hits(self.id)
        for entry in rows(reply, reply.json(), "results"):
            hits.add(
                url=entry.get("url"),
                title=entry.get("title"),
                snippet=entry.get("content"),
                published=entry.get("published"),
            )
        return hits.parsed()


def engine(
    name: str, url: str, *, base: type[Engine] = Engine, secret: str = "", timeout: float = 15.0, **facts: Any
) -> Candidate:
    """Return a provider called `name` that answers at `url`; `facts` are its class attributes."""
    provider = type(name.title(), (base,), {"id": name, "label": name.title(), **facts})()
    config = ProviderConfig(
        provider=name,
        base_url=url,
        key=secret,
        key_identity=fingerprint(secret),
        timeout=timeout,
        secrets=(secret,) if secret else (),
    )
    return Candidate(provider, config)


def one(candidate: Candidate) -> Plan:
    return Plan("one", (candidate,))


def chain(*candidates: Candidate) -> Plan:
    return Plan("chain", candidates)


def fused(*candidates: Candidate) -> Plan:
    return Plan("fuse", candidates)


class Desk:
    """Carries plans out, with health, pace and connections that last as long as the world.

    Attributes:
        health: what was remembered of the providers. ledger: what they cost.
        clock: the wall clock of all of these, to be moved by hand.
    """

    def __init__(self, world: World, *, store: Store | None = None) -> None:
        self.ahead = 0.0
        store = store or MemoryStore(clock=self.clock)
        self.health = Health(store, clock=self.clock)
        self._world = world
        self._clients: dict[str, Client] = {}
        self.ledger = Ledger(store, clock=self.clock)
        services = Services(
            client_for=self._client_for, pace=Pace(store, clock=self.clock), ledger=self.ledger, store=store
        )
        self.asker = Asker(
            services,
            health=self.health,
            library=Library(Path(os.environ["WEBSEAM_CACHE_DIR"]) / "index.sqlite3", folders=list),
            clock=self.clock,
        )

    def clock(self) -> float:
        return time.time() + self.ahead

    def _client_for(self, config: ProviderConfig) -> Client:
        client = self._clients.get(config.base_url)
        if client is None:
            client = self._world.client(EgressPolicy.operator(config.base_url))
            self._clients[config.base_url] = client
        return client

    @property
    def open_connections(self) -> int:
        return sum(client.open_connections for client in self._clients.values())

    async def search(
        self,
        plan: Plan | Candidate,
        query: str = "query",
        *,
        within: float = 10.0,
        strict: bool = False,
        hedge: float = 0.0,
        **options: Any,
    ) -> SearchResponse:
        """Carry out a plan; a lone candidate is pinned."""
        if isinstance(plan, Candidate):
            plan = one(plan)
        request = SearchRequest(query=query, **options)
        return await run(plan, request, self.asker, Deadline.after(within), strict=strict, hedge=hedge)

    async def fail(self, plan: Plan | Candidate, query: str = "query", **options: Any) -> WebSeamError:
        """Carry out a plan that must fail and return its error."""
        try:
            response = await self.search(plan, query, **options)
        except WebSeamError as error:
            return error
        raise AssertionError(f"the search was answered: {response!r}")

    def is_healthy(self, candidate: Candidate) -> bool:
        """True when nothing at all is held against a provider."""
        standing = self.health.look(candidate.id, place_of(candidate.provider, candidate.config))
        return standing.outcome is None and standing.usable


def outcomes(told: SearchResponse | WebSeamError | Iterable[Attempt]) -> list[tuple[str, str]]:
    """Return what became of each attempt, in order."""
    attempts = told.attempts if isinstance(told, (SearchResponse, WebSeamError)) else told
    return [(attempt.provider, str(attempt.outcome)) for attempt in attempts]


def names(response: SearchResponse) -> list[str]:
    """Return the last parts of the hits' URLs."""
    return [hit.url.rpartition("/")[2] for hit in response.hits]


# the real providers, on loopback

KEY = "key-of-a-test-0123456789"


@dataclass
class Fakes:
    """The services of the real providers on one loopback site, and the environment that points there.

    Attributes:
        answers: what each service answers, by provider id: an answer, or a handler of requests.
        asked: the ids of the providers whose service got a request, in order.
    """

    site: Site
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def environment(self, *providers: str, keys: bool = True) -> dict[str, str]:
        """Return variables with which only these providers are used: each with a key, where it takes one."""
        # Of all the providers there are, `auto` sees those that are played here, in their usual order.
        order = [name for name in registry.ids() if name in _PATHS or registry.get(name).local]
        found = {"WEBSEAM_LOCAL_ENABLED": "false", "WEBSEAM_SEARCH_ORDER": ",".join(order)}
        for name in registry.ids():
            section = name.upper().replace("-", "_")
            if registry.get(name).local:
                continue
            if name not in providers:
                found[f"WEBSEAM_{section}_ENABLED"] = "false"
                continue
            found[f"WEBSEAM_{section}_BASE_URL"] = f"{self.site.url}/{name}"
            if keys and name in _KEYED:
                found[f"WEBSEAM_{section}_API_KEY"] = KEY
        return found

    def _handler(self, name: str) -> Callable[[Recorded], Awaitable[Any]]:
        async def handle(request: Recorded) -> Any:
            self.asked.append(name)
            answer = self.answers.get(name, _GOOD[name]())
            if callable(answer):
                answer = answer(request)
            return await answer if isinstance(answer, Awaitable) else answer

        return handle


def fakes(world: World, **answers: Any) -> Fakes:
    """Start services for all real providers. Each answers one hit of its own unless told otherwise."""
    made = Fakes(world.site(), {name.replace("_", "-"): answer for name, answer in answers.items()})
    for name, (method, path) in _PATHS.items():
        made.site.route(method, f"/{name}{path}", made._handler(name))
    return made


_KEYED = ("exa", "tavily", "brave")
_PATHS = {
    "exa": ("POST", "/search"),
    "tavily": ("POST", "/search"),
    "brave": ("GET", "/res/v1/web/search"),
    "searxng": ("GET", "/search"),
    "exa-free": ("POST", "/mcp"),
    "duckduckgo": ("POST", "/html/"),
}
NETWORKED = tuple(_PATHS)


def brave_answer(*names: str) -> Json:
    results = [{"url": f"https://example.org/{name}", "title": name, "description": f"About {name}"} for name in names]
    return 200, {}, {"web": {"results": results}}


def mcp_answer(text: str, **result: Any) -> Json:
    return 200, {}, {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}], **result}}


def page_answer(*names: str) -> tuple[int, dict[str, str], str]:
    results = "".join(
        f'<div class="result web-result"><a class="result__a" href="https://example.org/{name}">{name}</a>'
        f'<a class="result__snippet">About {name}</a></div>'
        for name in names
    )
    return 200, {"Content-Type": "text/html"}, f'<html><body><div id="links">{results}</div></body></html>'


_GOOD: dict[str, Callable[[], Any]] = {
    "exa": lambda: found("from-exa"),
    "tavily": lambda: found("from-tavily"),
    "brave": lambda: brave_answer("from-brave"),
    "searxng": lambda: found("from-searxng"),
    "exa-free": lambda: mcp_answer("Title: Free\nURL: https://example.org/from-exa-free\nText: About it\n"),
    "duckduckgo": lambda: page_answer("from-duckduckgo"),
}

_counter = itertools.count()


def fresh_folders(base: Path) -> dict[str, str]:
    """Return the variables of a user of one's own: nothing saved, nothing remembered."""
    home = base / f"user-{next(_counter)}"
    return {f"WEBSEAM_{kind.upper()}_DIR": str(home / kind) for kind in ("config", "state", "cache")}


def folders_of(environment: Mapping[str, str]) -> Sequence[Path]:
    return [Path(environment[f"WEBSEAM_{kind}_DIR"]) for kind in ("CONFIG", "STATE", "CACHE")]


def is_failure(attempt: Attempt) -> bool:
    return not attempt.outcome.answered and attempt.outcome is not Outcome.UNAVAILABLE
