"""Carrying out a site handler's conversation with its API: what it yields is sent, what comes back is given to it.

Its steps turn whole answers into Markdown, so they run in a thread: a thread of comments takes longer than other
fetches of this event loop should have to wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from webseam.config import Settings
from webseam.errors import Outcome, TransportError
from webseam.fetch import sites
from webseam.fetch.download import Send
from webseam.fetch.readers.html.fragment import to_markdown
from webseam.fetch.sections import section_of
from webseam.fetch.sites.base import Conversation, Site, SiteConfig, SiteFailed
from webseam.fetch.types import Reading
from webseam.net.message import Request
from webseam.net.url import UrlRefused, parse
from webseam.resilience.deadline import NEVER, Deadline
from webseam.schema import Setting

_ADDRESS: Final = "_url"  # how settings that are addresses end


def find(url: str, settings: Settings, hosts: Mapping[str, Sequence[str]]) -> Site | None:
    """Return the site whose API can be asked about a page, None when there is none or it is turned off.

    `hosts` are those of `hosts_of`, worked out once for all pages.
    """
    site = sites.find(url, hosts)
    if site is None or not _value(settings, site, "enabled"):
        return None
    return site


def configured(site: Site, settings: Settings) -> SiteConfig:
    """Return how a site is set up."""
    section = section_of(site.id)
    return site.configured(lambda setting: settings.read(section, setting)[0], to_markdown)


def own_roots(site: Site, settings: Settings) -> tuple[str, ...]:
    """Return the addresses of a site's API that the user set, which may be private."""
    section = section_of(site.id)
    read = ((setting.name, *settings.read(section, setting)) for setting in site.schema())
    return tuple(value for name, value, origin in read if name.endswith(_ADDRESS) and value and origin != "default")


def root_of(url: str, roots: Sequence[str]) -> str | None:
    """Return the one of `roots` whose origin a request goes to."""
    try:
        origin = parse(url).origin
        return next((root for root in roots if parse(root).origin == origin), None)
    except UrlRefused:
        return None


async def converse(
    site: Site, config: SiteConfig, url: str, send: Send, *, deadline: Deadline = NEVER
) -> Reading | None:
    """Return what a site's API says about a page, None when it is no page of the site after all.

    Raises:
        SiteFailed: the API does not give the page, or not in time. EgressDenied: an address of the API may not be
            dialled.
    """
    try:
        async with asyncio.timeout(None if deadline is NEVER else deadline.remaining()):  # steps take time as well
            return await _converse(site, config, url, send)
    except TimeoutError:
        raise SiteFailed(f"{site.label} was not read in time", outcome=Outcome.TIMEOUT) from None


async def _converse(site: Site, config: SiteConfig, url: str, send: Send) -> Reading | None:
    conversation = site.read(url, config)
    step = await _advance(conversation, partial(next, conversation))
    while isinstance(step, Request):
        try:
            response = await send(step)
        except TransportError as error:
            step = await _advance(conversation, partial(conversation.throw, error))
        else:
            step = await _advance(conversation, partial(conversation.send, response))
    return step


async def _advance(conversation: Conversation, move: Callable[[], Request]) -> Request | Reading | None:
    def moved() -> Request | Reading | None:
        try:
            return move()
        except StopIteration as done:  # must not cross a thread: a future cannot hold it
            reading: Reading | None = done.value
            return reading

    return await asyncio.to_thread(moved)


def hosts_of(settings: Settings) -> Mapping[str, Sequence[str]]:
    """Return the further hosts that settings name for sites, by the site's id."""
    found = {site.id: _value(settings, site, "hosts") or () for site in sites.every()}
    return {name: tuple(host.lower() for host in hosts) for name, hosts in found.items() if hosts}


def _value(settings: Settings, site: Site, name: str) -> Any:
    setting: Setting = next(one for one in site.schema() if one.name == name)
    return settings.read(section_of(site.id), setting)[0]
