"""A fake of a service that reads pages, and one page read through it by all of webseam that a remote reader uses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.wire import PAGE_URL, Answer, Case, read_shape
from tests.wire.fake import FORGETFUL, Fake, environment, successive
from tests.wire.write import JSON
from tests.world import Recorded, World
from webseam.errors import Outcome, WebSeamError
from webseam.fetch.remote import RemoteReaders, RemoteReading
from webseam.model import Attempt, as_json
from webseam.resilience.deadline import Deadline
from webseam.web import AsyncWeb

PAGE = {
    "markdown": "# Guide\n\nHow names are registered.",
    "title": "Guide",
    "author": "A. Author",
    "published": "2026-02-03",
    "url": PAGE_URL,
}
_KEPT = ("markdown", "title", "author", "published", "language", "final_url", "removed", "notes")


def written(provider: str, **changed: Any) -> Answer:
    """Return the answer of a service that read `PAGE`, with some of its values changed."""
    return 200, JSON, json.dumps(_filled(read_shape(provider).document, {**PAGE, **changed})).encode()


def unread(provider: str) -> Answer:
    """Return the answer of a service that could not read the page."""
    stated = read_shape(provider).unread
    return stated.get("status", 200), JSON, json.dumps(stated["json"]).encode()


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, str) and template.startswith("$"):
        return values[template[1:]]
    if isinstance(template, dict):
        return {name: _filled(value, values) for name, value in template.items()}
    return [_filled(value, values) for value in template] if isinstance(template, list) else template


@dataclass(frozen=True)
class Got:
    """What came of reading a page: the reading, or the error that stood in for it, in one form."""

    outcome: Outcome
    reading: RemoteReading | None
    error: WebSeamError | None
    attempts: tuple[Attempt, ...]
    sent_to: tuple[str, ...]

    @property
    def attempt(self) -> Attempt:
        """The one attempt there was."""
        (only,) = self.attempts
        return only

    def as_expected(self) -> dict[str, Any]:
        """Return all of it as the wire cases write it: what is unknown or empty is left out, and so is the time."""
        attempts = [_filled_in(as_json(attempt), without=("took", "hits")) for attempt in self.attempts]
        page = {name: getattr(self.reading, name) for name in _KEPT} if self.reading else {}
        told = {"detail": self.error.detail, "hint": self.error.hint} if self.error else {}
        return {
            "outcome": self.outcome.value,
            **_filled_in({"page": _filled_in(page), **told}),
            **({"attempt": attempts[0]} if len(attempts) == 1 else {"attempts": attempts}),
        }


def _filled_in(values: Mapping[str, Any], *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    empty: tuple[Any, ...] = (None, [], {}, "")
    return {name: value for name, value in values.items() if value not in empty and name not in without}


async def public(_url: str) -> None:
    """Find every host public: the pages of these tests are on none that exists."""


async def read(
    provider: str,
    url: str,
    page: str = PAGE_URL,
    *,
    settings: Mapping[str, Any] | None = None,
    variables: Mapping[str, str] | None = None,
) -> Got:
    """Read one page with `provider`, set up at `url`, in a process that has never asked it before."""
    own = {**read_shape(provider).settings, **(settings or {})}
    async with AsyncWeb(environment={**environment(provider, url, own), **FORGETFUL, **(variables or {})}) as web:
        return await got(web, readers_of(web), provider, page)


def readers_of(web: AsyncWeb, judge: Callable[[str], Any] = public) -> RemoteReaders:
    """Return remote readers that share what the searches of `web` share."""
    return RemoteReaders(web._services, web.health, web.saved_keys, judge)


async def got(web: AsyncWeb, readers: RemoteReaders, provider: str, page: str = PAGE_URL, **more: Any) -> Got:
    """Read once and return what came of it, failures included."""
    try:
        reading = await readers.read(provider, page, web.settings(), Deadline.after(15.0), **more)
    except WebSeamError as error:
        return Got(error.outcome, None, error, error.attempts, error.sent_to)
    return Got(Outcome.OK, reading, None, reading.attempts, reading.sent_to)


async def play(case: Case) -> tuple[Got, list[Recorded]]:
    """Run a case of a page; return what came of it and the requests that arrived."""
    async with World() as world:
        fake = Fake(world, successive(case.answers))
        return await read(case.provider, fake.url, case.url, settings=case.settings), fake.requests
