"""Reading one page: site, page, and what may be tried when neither gives the text.

Judging and dialling are the client's, bytes to Markdown the readers', cutting `present`'s; this is the order of it, and
the one place that decides what a failure leads to. A refusal by the egress policy of the page, or of where it leads,
leads to nothing: it is final, or a page could choose the way that refuses least. (Where a site's API may not be dialled
the page itself is judged and read: it has chosen neither.)
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from webseam.config import Settings, nearest
from webseam.errors import EgressDenied, FetchError, Outcome, ProviderError, RequestError, TransportError, WebSeamError
from webseam.fetch import alternates, conversation, sites
from webseam.fetch.archive import archived_copy, check_shown, is_gone
from webseam.fetch.challenge import challenged, is_challenge
from webseam.fetch.download import ACCEPT_TEXT, announced, download, failure, received_at, source_of
from webseam.fetch.present import Found, present
from webseam.fetch.reading import KINDS, MAX_MEMORY, as_it_came, read_source
from webseam.fetch.request import FetchRequest
from webseam.fetch.sites.base import Site, SiteFailed
from webseam.fetch.types import Reading, Source, Unreadable
from webseam.fetch.worker import warm
from webseam.model import Attempt, Page
from webseam.net.message import Headers, Request, Response
from webseam.net.redact import redact_url
from webseam.resilience.deadline import Deadline

if TYPE_CHECKING:
    from webseam.fetch.service import Fetching

BROWSER: Final = "browser"
ARCHIVE: Final = "archive"
ALTERNATE: Final = "alternate"
_PAGE: Final = "page"
_SITE_SHARE: Final = 0.5  # of the time; the page itself must still be readable when an API hangs
_AS_TEXT: Final = ("markdown", "text", "source")


class PageFetch:
    """One page being read. `attempts`, `notes` and `sent_to` grow as it goes."""

    def __init__(self, request: FetchRequest, services: Fetching, settings: Settings, deadline: Deadline) -> None:
        self.request = request
        self.url = request.target.href
        self.attempts: list[Attempt] = []
        self.notes: list[str] = []
        self.sent_to: list[str] = []
        self._services = services
        self._settings = settings
        self._deadline = deadline
        self._answer: Response | None = None  # of the page itself

    async def run(self) -> Page:
        """Return the page.

        Raises:
            RequestError, EgressDenied, FetchError, TransportError, ProviderError: with all attempts.
        """
        started = time.monotonic()
        try:
            found = await self._find()
            found.notes[:0] = self.notes
            bound = self._settings.get("fetch", "max_tokens")
            page = await present(found, self.request, expires_at=self._deadline.at, max_tokens=bound)
            if page.outcome is Outcome.EMPTY:
                self.attempts[-1] = replace(self.attempts[-1], outcome=Outcome.EMPTY)
        except WebSeamError as error:
            error.attempts, error.sent_to = tuple(self.attempts), tuple(self.sent_to)
            raise
        took = round(time.monotonic() - started, 4)
        return replace(page, attempts=tuple(self.attempts), sent_to=tuple(self.sent_to), took=took)

    async def _find(self) -> Found:
        reader = self.request.reader
        if reader is not None:
            return await self._named(reader)
        if not self.request.raw:
            site = conversation.find(self.request.url, self._settings, self._services.site_hosts(self._settings))
            if site is not None:
                found = await self._by_site(site)
                if found is not None:
                    return found
        return await self._page_or_instead()

    async def _named(self, reader: str) -> Found:
        """Read with the one reader that was asked for: nothing else is tried when it fails."""
        if reader in KINDS:
            return await self._tried(reader, self._page(self.url, form=reader))
        if reader == BROWSER:
            return await self._tried(BROWSER, self._in_browser())
        services = self._services.services_that_read(self._settings)
        if reader in services:
            return await self._remotely(reader, pinned=True)
        site = sites.get(reader)
        if site is not None:
            hosts = conversation.configured(site, self._settings).hosts
            if not site.match(self.request.url, hosts):
                raise RequestError("reader", f"{reader} has no page of this address", hint="leave reader out")
            return await self._tried(reader, self._from_site(site, self._deadline))
        known = [*KINDS, BROWSER, *services, *(one.id for one in sites.every())]
        close = nearest(reader, known)
        raise RequestError("reader", f"{reader!r:.40} is not known", hint=f"did you mean {close}?" if close else None)

    # A site's API.

    async def _by_site(self, site: Site) -> Found | None:
        """Return what a site's API gives; None when the page itself has to be read after all."""
        share = self._deadline.sooner(self._deadline.remaining() * _SITE_SHARE)
        try:
            return await self._tried(site.id, self._from_site(site, share))
        except SiteFailed as error:
            if error.instead is not None:
                self.url = error.instead
                self.notes.append(f"{site.label} was read at {redact_url(error.instead)}: {error.detail}")
            else:
                self.notes.append(
                    f"{site.label}'s API did not give the page, so the page itself was read: {error.detail}"
                )
        except (TransportError, EgressDenied) as error:
            self.notes.append(f"{site.label}'s API could not be asked, so the page itself was read: {error.detail}")
        except _NotOfSite:
            self.attempts.pop()
        return None

    async def _from_site(self, site: Site, deadline: Deadline) -> Found:
        config = conversation.configured(site, self._settings)
        roots = conversation.own_roots(site, self._settings)
        last: list[Response] = []

        async def send(request: Request) -> Response:
            root = conversation.root_of(request.url, roots)
            keep = replace(request, cache="use" if self.request.cache else "refresh")
            response = await self._services.send(keep, self._settings, deadline, root=root)
            last.append(response)
            return response

        reading = await conversation.converse(site, config, self.request.url, send, deadline=deadline)
        if reading is None:
            raise _NotOfSite(f"{site.label} has no such page")
        newest = last[-1] if last else None
        return Found(
            reading=reading,
            final_url=self.request.target.href,
            media_type="text/markdown",
            site=site.id,
            status=newest.status if newest else None,
            fetched_at=received_at(newest),
            cached=bool(last) and all(response.cached for response in last),
        )

    # The page itself.

    async def _page_or_instead(self) -> Found:
        """Return the page, or what stands in for it: its own text form, a browser's, a service's, the archive's."""
        try:
            return await self._tried(_PAGE, self._page(self.url))
        except (_Disallowed, EgressDenied, RequestError):
            raise
        except (FetchError, TransportError) as error:
            first = error
        for name, way in self._ways(first):
            if self._deadline.expired:
                break
            try:
                found = await way()
            except EgressDenied:
                raise
            except WebSeamError as error:
                self.notes.append(f"{name}: {error.detail}")
                continue
            found.notes.append(f"the page itself could not be read: {first.detail}")
            return found
        raise first

    def _ways(self, error: WebSeamError) -> list[tuple[str, Callable[[], Coroutine[Any, Any, Found]]]]:
        """Return what may stand in for a page that failed so, in order, each with its name."""
        settings, request = self._settings, self.request
        ways: list[tuple[str, Callable[[], Coroutine[Any, Any, Found]]]] = []
        if error.outcome is Outcome.JS_REQUIRED:
            ways.append((ALTERNATE, lambda: self._tried(ALTERNATE, self._alternate())))
            if settings.get("fetch", "browser") and self._services.has_browser():
                ways.append((BROWSER, lambda: self._tried(BROWSER, self._in_browser())))
        if error.outcome in (Outcome.JS_REQUIRED, Outcome.BLOCKED) and not request.raw:
            remote = self._services.remote(settings, self._deadline)
            ways += [(name, partial(self._remotely, name)) for name in remote.configured(settings)]
        if is_gone(error) and (request.archived or settings.get("fetch", "archive")):
            ways.append((ARCHIVE, lambda: self._tried(ARCHIVE, self._archived())))
        return ways

    async def _page(self, url: str, *, form: str | None = None) -> Found:
        await self._ask_robots(url)
        if not self.request.raw:
            warm("html", max_memory=MAX_MEMORY)  # a process starts while the page comes
        response = self._answer = await download(url, self._send, cache=self.request.cache)
        problem = failure(response)
        if problem is not None:
            raise problem
        return await self._read(response, form=form)

    async def _read(self, response: Response, *, form: str | None = None) -> Found:
        source = source_of(response)
        if source.truncated and not source.body:
            detail = f"too large: {source.media_type or 'a file'} of {announced(response.headers):,} bytes"
            raise Unreadable(detail, outcome=Outcome.UNSUPPORTED)
        if self.request.raw:
            # 5 MB of an unknown encoding take a fifth of a second: too long for the event loop.
            reading, media_type = await asyncio.to_thread(as_it_came, source), source.media_type or None
        else:
            reading, media_type = await self._by_reader(source, response, form)
        return Found(
            reading=reading,
            final_url=response.url,
            status=response.status,
            media_type=media_type,
            fetched_at=received_at(response),
            cached=response.cached,
        )

    async def _by_reader(self, source: Source, response: Response, form: str | None) -> tuple[Reading, str]:
        try:
            reading, found = await read_source(
                source,
                expires_at=self._deadline.at,
                form=form,
                fragment=self.request.fragment,
                pages=self.request.pages,
            )
        except Unreadable as error:
            error.http_status = response.status
            if error.outcome is Outcome.JS_REQUIRED and is_challenge(response, asked=self.url):
                raise challenged(response) from None
            raise
        if found.kind == "html" and is_challenge(response, reading.markdown, asked=self.url):
            raise challenged(response)
        return reading, found.media_type

    async def _send(self, request: Request) -> Response:
        return await self._services.send(request, self._settings, self._deadline)

    async def _ask_robots(self, url: str) -> None:
        wish = self._settings.get("fetch", "robots")
        if wish == "off":
            return
        reason = await self._services.refused_by_robots(url, self._settings, self._deadline)
        if reason is None:
            return
        if wish == "obey":
            hint = "fetch.robots = warn reads it all the same and says so"
            raise _Disallowed(reason, outcome=Outcome.BLOCKED, hint=hint)
        self.notes.append(reason)

    # What stands in for it.

    async def _alternate(self) -> Found:
        """Return the page's text from where its site offers it as text."""
        async for target in self._offers():
            text = await self._text_at(target)
            if text is None:
                continue
            response, reading = text
            place = redact_url(target)
            reading.notes.append(f"the page is empty without its scripts; this is the text its site offers at {place}")
            return Found(
                reading=reading,
                final_url=response.url,
                status=response.status,
                media_type="text/markdown",
                fetched_at=received_at(response),
                cached=response.cached,
            )
        if self._deadline.expired:
            raise FetchError("its other forms were not asked for to the end in time", outcome=Outcome.TIMEOUT)
        raise FetchError("the site offers the page in no other form", outcome=Outcome.NOT_FOUND)

    async def _offers(self) -> AsyncIterator[str]:
        """Yield where the page's text may be; the site's list of its texts is only asked for when the rest failed."""
        answer = self._answer
        if answer is None:
            return
        near = [*alternates.declared(answer.body, answer.url), *alternates.twins(answer.url)]
        for target in near[: alternates.MAX_REQUESTS - 2]:
            yield target
        index = await self._text_at(alternates.index_of(answer.url))
        if index is not None:
            for target in alternates.listed(index[1].markdown, index[0].url, answer.url)[:1]:
                yield target

    async def _text_at(self, url: str) -> tuple[Response, Reading] | None:
        """Return what answers at an address when that is text and no page, else None."""
        try:
            await self._ask_robots(url)
            response = await download(url, self._send, accept=ACCEPT_TEXT, cache=self.request.cache)
            if failure(response) is not None:
                return None
            reading, found = await read_source(source_of(response), expires_at=self._deadline.at)
        except (_Disallowed, TransportError, Unreadable):
            return None
        return (response, reading) if found.kind in _AS_TEXT and reading.markdown.strip() else None

    async def _in_browser(self) -> Found:
        await self._ask_robots(self.url)
        mark = f"#{self.request.url.partition('#')[2]}" if "#" in self.request.url else ""
        seen = await self._services.in_browser(self.url + mark, self._settings, self._deadline)
        response = Response(status=seen.status, headers=Headers(), url=seen.final_url, body=seen.html)
        problem = failure(response) if seen.status else None
        if problem is not None:
            raise problem
        source = Source(
            body=seen.html, url=seen.final_url, media_type="text/html", charset="utf-8", truncated=seen.truncated
        )
        reading, media_type = await self._by_reader(source, response, "html")
        reading.reader = BROWSER
        reading.notes.extend(seen.notes)
        if seen.refused:
            rules = ", ".join(f"{rule} {count}" for rule, count in sorted(seen.refused.items()))
            reading.notes.append(f"the page was kept from {sum(seen.refused.values())} requests ({rules})")
        return Found(
            reading=reading,
            final_url=seen.final_url,
            status=seen.status or None,
            media_type=media_type,
            fetched_at=received_at(None),
        )

    async def _remotely(self, name: str, *, pinned: bool = False) -> Found:
        """Have a service read the page."""
        remote = self._services.remote(self._settings, self._deadline)
        try:
            reading = await remote.read(name, self.url, self._settings, self._deadline, pinned=pinned)
        except WebSeamError as error:
            self.attempts += error.attempts
            self.sent_to += error.sent_to
            raise
        self.attempts += reading.attempts
        self.sent_to += reading.sent_to
        final_url = reading.final_url or self.url
        return Found(reading=reading, final_url=final_url, media_type="text/markdown", fetched_at=received_at(None))

    async def _archived(self) -> Found:
        public = partial(self._services.check_public, settings=self._settings, deadline=self._deadline)
        await check_shown(self.url, public, named=self.request.archived)
        self.sent_to.append(ARCHIVE)

        async def get(url: str) -> Response:
            return await download(url, self._send, cache=self.request.cache)

        copy = await archived_copy(self.url, base_url=self._settings.get("fetch", "archive_url"), get=get)
        if copy is None:
            raise FetchError("the web archive has no copy of it", outcome=Outcome.NOT_FOUND)
        found = await self._read(replace(copy.response, url=self.url))
        found.reading.notes.append(copy.note)
        return replace(found, final_url=copy.view_url)

    async def _tried(self, name: str, work: Coroutine[Any, Any, Found]) -> Found:
        """Carry out one way of reading and keep what became of it."""
        started = time.monotonic()
        outcome, detail, status, wait = Outcome.CANCELLED, None, None, None
        try:
            found = await work
            name = (found.reading.reader.partition(" ")[0] or name) if name == _PAGE else name
            outcome, status = Outcome.OK, found.status
            return found
        except (FetchError, ProviderError) as error:
            outcome, detail = error.outcome, error.detail
            status, wait = error.http_status, error.retry_after
            raise
        except WebSeamError as error:
            outcome, detail = error.outcome, error.detail
            raise
        finally:
            took = round(time.monotonic() - started, 4)
            self.attempts.append(
                Attempt(provider=name, outcome=outcome, took=took, detail=detail, http_status=status, retry_after=wait)
            )


class _NotOfSite(FetchError):
    """The site's handler found that it is no page of the site after all."""

    outcome = Outcome.NOT_FOUND


class _Disallowed(FetchError):
    """robots.txt forbids the page, and the user wants that obeyed: no other way is looked for either."""
