"""`AsyncWeb`: the one facade that every front and every program calls; `webseam.blocking` has its twin without `await`.

It owns what searches share: settings, saved keys, connections, health, pace, cache, the local index. No rule of routing
or egress lives here; it puts the parts together for one operation and takes them apart at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, overload

from webseam import providers
from webseam.config import Settings, SettingsSource, cache_folder, call_settings, file_stamp, state_folder
from webseam.errors import ProviderError
from webseam.fetch.evidence import check_reading, read_hits
from webseam.fetch.options import FetchOptions, Urls, carry_out
from webseam.fetch.sections import schema_of, sections
from webseam.model import Freshness, Kind, Page, Safe, SearchRequest, SearchResponse
from webseam.net import EgressPolicy
from webseam.providers.setup import limits_in_all, limits_of
from webseam.resilience.deadline import Deadline, seconds_of
from webseam.resilience.health import Health
from webseam.resilience.ledger import Ledger
from webseam.resilience.pace import Pace
from webseam.resilience.store import Store, open_store
from webseam.search.answering import Answering
from webseam.search.ask import Asker
from webseam.search.exchange import Services
from webseam.search.library import Library
from webseam.search.overview import ProviderState, states
from webseam.search.route import Plan, is_lasting, plan
from webseam.secrets import Key, SavedKeys, check_key, key_files

if TYPE_CHECKING:
    from webseam.fetch.service import Fetching
    from webseam.local import Progress
    from webseam.net.client import Client
    from webseam.net.resolve import Resolver
    from webseam.providers.base import ProviderConfig
    from webseam.resilience.budget import Budget, Limits
    from webseam.resilience.ledger import Usage
    from webseam.search.diagnose import Diagnosis
    from webseam.search.keeping import Kept
    from webseam.search.status import Status

STATE_FILE: Final = "state.sqlite3"
INDEX_FILE: Final = "index.sqlite3"
_PLANS_KEPT: Final = 64  # choices of providers remembered until a file changes


class AsyncWeb:
    """The web for programs that run an asyncio event loop.

    Args:
        settings: values that win over everything else, by "section.key", e.g. `{"search.provider": "exa"}`.
        environment: instead of the process's own.
        folder: where the search for a project file starts; default the current one.
        progress: called from a worker thread while the local index is built.
        warn: called with one sentence when something works less well than it should; default: nothing.
        resolver: names to addresses for pages, `async (host, port) -> addresses`; the system's by default.
        own: `address:port` pairs this program listens on; no page is read from there.

    Use as an async context manager, or call `aclose`.
    """

    def __init__(
        self,
        settings: Mapping[str, Any] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        progress: Callable[[Progress], None] | None = None,
        warn: Callable[[str], None] | None = None,
        resolver: Resolver | None = None,
        own: Iterable[str] = (),
    ) -> None:
        given = settings or {}
        self._source = SettingsSource(
            schema_of,
            environment=environment,
            folder=folder,
            sections=sections,
            trusted=given.get("trust.folders", ()),
        )
        self._flags, self._named = call_settings(given, schema_of, sections, named=self._source.current().named)
        self._current = self._snapshot = Settings()
        self._plans: dict[object, Plan] = {}
        self._warn = warn or _ignore
        self._egress: dict[str, Any] = {"resolver": resolver, "own": tuple(own)}
        self.saved_keys = SavedKeys(self._source.environment)
        self._key_files = key_files(self._source.environment)
        first = self.settings()
        environment = first.environment
        self._warned: set[str] = set()
        self.store: Store = open_store(
            state_folder(environment) / STATE_FILE if first.get("state", "enabled") else None, warn=self._warn
        )
        self.health = Health(self.store)
        self.library = Library(
            cache_folder(environment) / INDEX_FILE,
            folders=lambda: [Path(entry).expanduser() for entry in self.settings().get("index", "folders") or ()],
            progress=progress,
        )
        self._shows_progress = progress is not None
        self._clients: dict[tuple[object, ...], Client] = {}
        self.ledger = Ledger(self.store)
        self._services = Services(
            client_for=self._client_for, pace=Pace(self.store), ledger=self.ledger, store=self.store
        )
        asker = Asker(self._services, health=self.health, library=self.library)
        self._answering = Answering(asker, self.store)
        self._fetching: Fetching | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def settings(self) -> Settings:
        """Return the settings as they stand now, read again when a file changed.

        Raises:
            SettingsError: a file or a value is wrong.
        """
        current = self._source.current()
        if current is not self._current:  # a file changed: what was worked out from the old one is void
            self._current, self._snapshot = current, current.override(self._flags, self._named)
            self._plans.clear()
        return self._snapshot

    def plan(self, provider: str | None = None, *, local_only: bool | None = None) -> Plan:
        """Return whom a search would ask now, in order, and why others are passed over. Sends nothing."""
        return self._plan(self.settings(), provider, local_only)

    def _plan(self, settings: Settings, provider: str | None, local_only: bool | None) -> Plan:
        name = (provider, local_only, self.saved_keys.stamp(), tuple(map(file_stamp, self._key_files)))
        found = self._plans.get(name)
        if found is None:
            found = plan(provider, settings, self.saved_keys, local_only=local_only)
            if is_lasting(found, settings, self.saved_keys):
                self._plans = dict([*self._plans.items(), (name, found)][-_PLANS_KEPT:])
        return found

    def check_choice(self, provider: str) -> None:
        """Raise SettingsError when `provider` (as for `search`) has an unknown name; one without a key passes."""
        with contextlib.suppress(ProviderError):
            self.plan(provider)

    def provider_states(self) -> list[ProviderState]:
        """Return how every provider is set up and stands now. Sends nothing."""
        return states(self.settings(), self.saved_keys, self.health)

    def status(self) -> Status:
        """Return who would answer the next search and why, and how far budgets are used. Sends nothing."""
        from webseam.search.status import look

        return look(self.settings(), self.saved_keys, self.health, self.ledger, self._source.project_file)

    def usage(self) -> tuple[Usage, list[Budget]]:
        """Return the calls that were made and what they cost, by provider, and the budgets that are set."""
        from webseam.search.status import budgets_set

        return self.ledger.usage(), budgets_set(self.settings(), self.ledger)

    async def set_key(self, provider: str, value: str, *, verify: bool = True) -> Kept:
        """Save the key of `provider`, after one real search with it unless `verify` is off.

        Raises:
            ProviderError: auth, the service refused it; nothing was changed.
        """
        from webseam.search.keeping import keep_key

        settings = self.settings()
        one = providers.get(provider, settings.named)

        async def tried(name: str, key: str) -> Diagnosis:
            return await self.diagnose(name, key=key)

        return await keep_key(one, value, settings, self.saved_keys, self.health, diagnose=tried if verify else None)

    def limits_of(self, provider: str | None = None) -> Limits:
        """Return the budget of one provider, or of all together."""
        settings = self.settings()
        return limits_of(providers.get(provider, settings.named), settings) if provider else limits_in_all(settings)

    async def diagnose(self, provider: str, *, key: str | None = None, timeout: float = 15.0) -> Diagnosis:
        """Send one small search to `provider` over the lane that searches use, and say how far it came.

        Args:
            key: tried in place of the one that is set up; nothing is kept of it.
        """
        from webseam.search.diagnose import diagnose_choice

        settings = self.settings()
        self._settle()
        if key is None:
            found = self.plan(provider)
        else:
            found = plan(provider, settings, self.saved_keys, key=Key(check_key(key), "the call"))
        self._tell((self.saved_keys.warning, *found.notices))
        return await diagnose_choice(provider, found, self._services, timeout, with_key=key is not None)

    async def search(
        self,
        query: str | SearchRequest,
        *,
        count: int | None = None,
        include_domains: Iterable[str] = (),
        exclude_domains: Iterable[str] = (),
        freshness: Freshness | None = None,
        after: str | None = None,
        before: str | None = None,
        language: str | None = None,
        region: str | None = None,
        safe: Safe | None = None,
        kind: Kind = "web",
        page: int = 1,
        provider: str | None = None,
        timeout: float | None = None,
        strict: bool | None = None,
        local_only: bool | None = None,
        cache: bool = True,
        read: int = 0,
        max_tokens: int | None = None,
    ) -> SearchResponse:
        """Search the web.

        Args:
            query: what to look for, or a whole `SearchRequest` (the options below are then ignored).
            provider: "auto", a name, "a,b,c" (in this order), "fuse" or "fuse:a,b,c"; default: the setting.
            timeout: seconds for everything, from call to return; default: `search.timeout`.
            strict: an option that a provider lacks is an error instead of a note.
            local_only: ask nobody outside this network.
            cache: False = neither take the answer from the cache nor merge with an equal search under way.
            read: how many of the first hits to read as well, for the passages that matter to the query.
            max_tokens: of those passages together; default 4,000.

        Returns:
            A response with outcome ok, empty or filtered.

        Raises:
            RequestError: the input is wrong; nothing was sent. ProviderError: the one named provider failed.
            AllProvidersFailed: nobody answered; `.attempts` lists everyone.
        """
        started = time.monotonic()
        settings = self.settings()
        self._settle()
        check_reading(read, max_tokens)
        if isinstance(query, SearchRequest):
            request = query
        else:
            request = SearchRequest(
                query=query,
                count=settings.get("search", "count") if count is None else count,
                include_domains=_listed(include_domains),
                exclude_domains=_listed(exclude_domains),
                freshness=freshness,
                after=after,
                before=before,
                language=language or settings.get("search", "language"),
                region=region or settings.get("search", "region"),
                safe=safe or settings.get("search", "safe"),
                kind=kind,
                page=page,
            )
        deadline = Deadline.after(seconds_of(timeout, float(settings.get("search", "timeout"))))
        strict = settings.get("search", "strict") if strict is None else strict
        self._pass_on(settings)
        chosen = self._plan(settings, provider, local_only)
        self._tell((self.saved_keys.warning, *chosen.notices))  # the keys are read by planning
        patient = self._shows_progress and timeout is None
        response = await self._answering.answer(
            chosen, request, settings, deadline, strict=bool(strict), patient=patient, cache=cache
        )
        if read and response.hits:
            until = deadline if timeout is not None else None
            response = await read_hits(response, request.query, read, max_tokens, self._reading(), settings, until)
        if response.query == request.query and not response.cached and not read:
            return response
        return replace(response, query=request.query, took=round(time.monotonic() - started, 4))

    async def search_docs(
        self, query: str, *, package: str | None = None, count: int = 10, timeout: float | None = None
    ) -> SearchResponse:
        """Search the documentation installed on this machine, of one package if one is named. Sends nothing.

        Raises:
            RequestError: the input is wrong. ProviderError: the index cannot be read, or not in time.
        """
        from webseam.search.documentation import search_docs

        settings = self.settings()
        deadline = Deadline.after(seconds_of(timeout, float(settings.get("search", "timeout"))))
        chosen = self._plan(settings, providers.on_this_machine(), None)
        patient = self._shows_progress and timeout is None
        request = SearchRequest(query=query, count=count)
        return await search_docs(chosen, self.library, request, deadline, package=package, patient=patient)

    @overload
    async def fetch(self, url: str, **options: Unpack[FetchOptions]) -> Page: ...

    @overload
    async def fetch(self, url: Urls, **options: Unpack[FetchOptions]) -> tuple[Page, ...]: ...

    async def fetch(self, url: str | Urls, **options: Unpack[FetchOptions]) -> Page | tuple[Page, ...]:
        """Read one page as Markdown, or several at once; see `FetchOptions` for the options.

        Args:
            url: http or https. What follows `#` says where to start. Of several, each page has an outcome of its own.

        Raises:
            RequestError: the input is wrong; nothing was sent. EgressDenied: the egress policy refuses the URL.
            FetchError: the page cannot be read, or is not there. TransportError: the network failed.
            ProviderError: the remote reader that was named failed. All with `.attempts`.
        """
        settings = self.settings()
        self._settle()
        self._pass_on(settings)
        return await carry_out(self._reading(), url, options, settings)

    def _settle(self) -> None:
        """Start without connections in another event loop than before: those of one that ended cannot be closed."""
        before, self._loop = self._loop, asyncio.get_running_loop()
        if before not in (None, self._loop):
            self._clients, self._fetching = {}, None

    def _reading(self) -> Fetching:
        if self._fetching is None:
            from webseam.fetch.service import Fetching

            self._fetching = Fetching(self._services, self.health, self.saved_keys, warn=self._warn, **self._egress)
        return self._fetching

    def _pass_on(self, settings: Settings) -> None:
        """Warn once about what the settings files and other packages had to say."""
        if settings.warnings or providers.broken:
            self._tell((*settings.warnings, *providers.broken.values()))

    def _tell(self, warnings: Iterable[str | None]) -> None:
        for warning in warnings:
            if warning and warning not in self._warned:
                self._warned.add(warning)
                self._warn(warning)

    def _client_for(self, config: ProviderConfig) -> Client:
        """Return the client of a provider's origin: single origin, no redirects, keys go nowhere else.

        What records wire cases overrides this to listen.
        """
        name = (config.base_url, config.reach, config.proxy, config.ca_bundle, config.local_dns)
        client = self._clients.get(name)
        if client is None:
            from webseam.net.client import Client

            policy = EgressPolicy.operator(
                config.base_url,
                public=config.reach == "public",
                proxy=bool(config.proxy),
                local_dns=config.local_dns,
            )
            client = self._clients[name] = Client(policy, proxy=config.proxy, ca_bundle=config.ca_bundle)
        return client

    @property
    def open_connections(self) -> int:
        """How many connections are open, in use or kept."""
        clients = sum(client.open_connections for client in self._clients.values())
        return clients + (self._fetching.open_connections if self._fetching is not None else 0)

    async def aclose(self) -> None:
        """Close connections and write what waits to be written."""
        self._settle()
        clients, self._clients = self._clients, {}
        await asyncio.gather(*(client.aclose() for client in clients.values()))
        if self._fetching is not None:
            await self._fetching.aclose()
        self.library.close()
        self.ledger.flush()
        self.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _listed(domains: Iterable[str]) -> Any:
    """Return what was given as a tuple; a bare string stays one, so that the request can say what is wrong with it."""
    return domains if isinstance(domains, str) else tuple(domains)


def _ignore(_warning: str) -> None:
    return
