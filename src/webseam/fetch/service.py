"""What all fetches of one `AsyncWeb` share: connections, the cache, places per host, what is known of robots.txt.

Pages chosen by a model or another page go through one client under the open policy. Only an API address that the user
set for a site gets a client of its own under an operator's policy.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from webseam.config import Settings, cache_folder
from webseam.errors import Outcome, TransportError, WebSeamError
from webseam.fetch.conversation import hosts_of
from webseam.fetch.download import MAX_PAGE, USER_AGENT
from webseam.fetch.pipeline import PageFetch
from webseam.fetch.request import FetchRequest, read_url
from webseam.model import Page
from webseam.net import EgressPolicy
from webseam.net.message import Request, Response
from webseam.net.url import parse
from webseam.resilience.deadline import Deadline
from webseam.resilience.retry import RetryBudget, retrying

if TYPE_CHECKING:
    from webseam.fetch.browser import BrowserPage
    from webseam.fetch.remote import RemoteReaders
    from webseam.fetch.robots import Robots
    from webseam.net.cache import ResponseCache
    from webseam.net.client import Client
    from webseam.net.resolve import Resolver
    from webseam.resilience.health import Health
    from webseam.search.exchange import Services
    from webseam.secrets import SavedKeys

CACHE_FILE: Final = "pages.sqlite3"
MAX_AT_ONCE: Final = 16  # pages of one call that are read at a time
_NET: Final = ("proxy", "ca_bundle", "local_dns")
_MIB: Final = 1024 * 1024
_RETRIED: Final = ("reset", "empty")  # the connection broke before an answer began
_HOSTS_KEPT: Final = 256  # hosts whose places are remembered


class Fetching:
    """Reads pages for one event loop.

    Args:
        services, health, saved_keys: what asking providers takes, for those that can read a page.
        warn: called with one sentence when something works less well than it should.
        resolver: names to addresses; the system's by default.
        own: `address:port` pairs this process listens on.
    """

    def __init__(
        self,
        services: Services,
        health: Health,
        saved_keys: SavedKeys,
        *,
        warn: Callable[[str], None],
        resolver: Resolver | None = None,
        own: Sequence[str] = (),
    ) -> None:
        self._providers = (services, health, saved_keys)
        self._warn = warn
        self._resolver = resolver
        self._own = tuple(own)
        self._clients: dict[tuple[object, ...], Client] = {}
        self._caches: dict[int, ResponseCache] = {}
        self._places: dict[tuple[str, int], _Places] = {}
        self._retries = RetryBudget()
        self._robots: Robots | None = None
        self._site_hosts: tuple[Settings, Mapping[str, Sequence[str]]] | None = None

    async def fetch(self, request: FetchRequest, settings: Settings, deadline: Deadline) -> Page:
        """Read one page.

        Raises:
            RequestError, EgressDenied, FetchError, TransportError, ProviderError.
        """
        return await PageFetch(request, self, settings, deadline).run()

    async def fetch_all(
        self, requests: Sequence[FetchRequest | Page], settings: Settings, deadline: Deadline
    ) -> tuple[Page, ...]:
        """Read several pages at once, each with an outcome of its own, in the order of `requests`.

        A page among the requests is one whose request was wrong, and stays as it is.
        """
        turns = asyncio.Semaphore(MAX_AT_ONCE)

        async def one(request: FetchRequest | Page) -> Page:
            if isinstance(request, Page):
                return request
            async with turns:
                try:
                    return await self.fetch(request, settings, deadline)
                except WebSeamError as error:
                    return failed(request.url, error)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(request)) for request in requests]
        return tuple(task.result() for task in tasks)

    async def send(
        self, request: Request, settings: Settings, deadline: Deadline, *, root: str | None = None
    ) -> Response:
        """Send a request within the places its host has; `root` is an API address of the user's own.

        Raises:
            EgressDenied, TransportError.
        """
        client = self._client(settings, root)

        async def once() -> Response:
            return await client.send(request, expires_at=deadline.at)

        async with self._place(parse(request.url).host, settings, deadline):
            return await retrying(once, deadline=deadline, budget=self._retries, worth=_worth)

    def remote(self, settings: Settings, deadline: Deadline) -> RemoteReaders:
        """Return the services that can read a page. They are shown public URLs only."""
        from webseam.fetch.remote import RemoteReaders

        return RemoteReaders(*self._providers, partial(self.check_public, settings=settings, deadline=deadline))

    async def check_public(self, url: str, settings: Settings, deadline: Deadline) -> None:
        """Return when an address may be shown to others.

        Raises:
            EgressDenied: it is not public, or has no address (`dns.no_answers`). TransportError: not known in time.
        """
        from webseam.net.judging import check_public

        await check_public(
            url,
            resolver=self._resolver,
            proxy=bool(settings.get("net", "proxy")),
            local_dns=settings.get("net", "local_dns"),
            expires_at=deadline.at,
        )

    def site_hosts(self, settings: Settings) -> Mapping[str, Sequence[str]]:
        """Return the further hosts of sites, as these settings name them."""
        if self._site_hosts is None or self._site_hosts[0] is not settings:
            self._site_hosts = settings, hosts_of(settings)
        return self._site_hosts[1]

    def services_that_read(self, settings: Settings) -> list[str]:
        """Return the ids of all services that can read a page, whether they are set up or not."""
        from webseam.fetch.remote import readers

        return readers(settings.named)

    async def refused_by_robots(self, url: str, settings: Settings, deadline: Deadline) -> str | None:
        """Return why robots.txt refuses a page, None when it does not."""
        if self._robots is None:
            from webseam.fetch.robots import Robots

            self._robots = Robots()

        async def get(address: str) -> Response:
            return await self.send(Request("GET", address, overflow="truncate"), settings, deadline)

        try:
            async with asyncio.timeout(deadline.remaining()):  # somebody else may be asking for the same file
                verdict = await self._robots.verdict(url, get=get)
        except TimeoutError:
            host = read_url(url).host
            detail = f"robots.txt of {host} took all the time there was"
            raise TransportError(detail, outcome=Outcome.TIMEOUT, host=host, phase="connect", kind="deadline") from None
        return None if verdict.allowed else verdict.reason

    def has_browser(self) -> bool:
        """True when what drives a browser is installed; that there is one is seen when it is started."""
        from importlib.util import find_spec

        return find_spec("playwright") is not None

    async def in_browser(self, url: str, settings: Settings, deadline: Deadline) -> BrowserPage:
        """Return what a browser makes of a page, each of its requests judged by the open policy."""
        from webseam.fetch.browser import read_in_browser

        proxy, ca_bundle, local_dns = (settings.get("net", key) for key in _NET)
        return await read_in_browser(
            url,
            policy=self._open_policy(settings, bool(proxy), local_dns),
            expires_at=deadline.at,
            max_bytes=MAX_PAGE,
            executable=settings.get("fetch", "browser_path"),
            resolver=self._resolver,
            proxy=proxy,
            ca_bundle=ca_bundle,
        )

    def _open_policy(self, settings: Settings, proxy: bool, local_dns: bool) -> EgressPolicy:
        allow = tuple(settings.get("fetch", "allow") or ())
        return EgressPolicy(allow=allow, own=self._own, proxy=proxy, local_dns=local_dns)

    def _client(self, settings: Settings, root: str | None = None) -> Client:
        net = [settings.get("net", key) for key in _NET]
        proxy, ca_bundle, local_dns = net
        cached = bool(settings.get("fetch", "cache"))
        name = (root, settings.get("fetch", "allow"), cached, *net)
        client = self._clients.get(name)
        if client is None:
            from webseam.net.client import Client

            if root is not None:
                policy = EgressPolicy.operator(root, own=self._own, proxy=bool(proxy), local_dns=local_dns)
            else:
                policy = self._open_policy(settings, bool(proxy), local_dns)
            client = self._clients[name] = Client(
                policy,
                resolver=self._resolver,
                proxy=proxy,
                ca_bundle=ca_bundle,
                user_agent=USER_AGENT,
                cache=self._cache(settings) if cached else None,
            )
        return client

    def _cache(self, settings: Settings) -> ResponseCache:
        size = settings.get("fetch", "cache_size")
        cache = self._caches.get(size)
        if cache is None:
            from webseam.net.cache import ResponseCache

            path = cache_folder(settings.environment) / CACHE_FILE
            cache = self._caches[size] = ResponseCache(path, max_bytes=size * _MIB, warn=self._warn)
        return cache

    @asynccontextmanager
    async def _place(self, host: str, settings: Settings, deadline: Deadline) -> AsyncIterator[None]:
        """Hold one of the places that a host has; waiting counts against the deadline."""
        most = settings.get("fetch", "per_host")
        places = self._places.get((host, most))  # a setting that changed holds for what comes from now on
        if places is None:
            if len(self._places) >= _HOSTS_KEPT:
                self._places = {name: one for name, one in self._places.items() if one.users}
            places = self._places[host, most] = _Places(most)
        places.users += 1
        try:
            async with self._one_of(places, host, deadline):
                yield
        finally:
            places.users -= 1

    @asynccontextmanager
    async def _one_of(self, places: _Places, host: str, deadline: Deadline) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(deadline.remaining()):
                await places.acquire()
        except TimeoutError:
            detail = f"other requests to {host} took all the time there was"
            raise TransportError(detail, outcome=Outcome.TIMEOUT, host=host, phase="connect", kind="deadline") from None
        try:
            yield
        finally:
            places.release()

    @property
    def open_connections(self) -> int:
        """How many connections are open, in use or kept."""
        return sum(client.open_connections for client in self._clients.values())

    async def aclose(self) -> None:
        """Close connections and the cache. Reading processes end by themselves when nobody needs them."""
        clients, self._clients = self._clients, {}
        await asyncio.gather(*(client.aclose() for client in clients.values()))
        caches, self._caches = self._caches, {}
        # It writes what waits, which a slow disk lets take as long as it likes.
        await asyncio.gather(*(asyncio.to_thread(cache.close) for cache in caches.values()))


class _Places(asyncio.Semaphore):
    """The places of a host, and how many requests have one or wait for one: while there are any it is remembered."""

    users = 0


def failed(url: str, error: WebSeamError) -> Page:
    """Return the page that stands for a failure."""
    return Page(
        url=url,
        outcome=error.outcome,
        detail=error.detail,
        hint=error.hint,
        attempts=error.attempts,
        sent_to=error.sent_to,
        status=getattr(error, "http_status", None),
    )


def _worth(error: WebSeamError) -> bool:
    return isinstance(error, TransportError) and error.kind in _RETRIED and error.phase != "body"
