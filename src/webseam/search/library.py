"""The embedded index as a provider: nothing is sent, and the work runs in a thread that the deadline can stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webseam.config import nearest
from webseam.errors import Outcome, ProviderError
from webseam.model import Attempt, SearchHit, SearchRequest
from webseam.providers.base import Provider
from webseam.resilience.deadline import NEVER, Deadline
from webseam.search.asked import Asked
from webseam.search.filters import has_dates
from webseam.search.prepare import prepare
from webseam.text import clean

if TYPE_CHECKING:
    from webseam.local import LocalHit, LocalIndex, Progress, Refresh

    Findings = tuple[list[LocalHit], list[str], bool]

_ANSWER_SECONDS: Final = 0.2  # kept of the deadline for the query itself when the index is being built
_FINISH: Final = "`webseam index update` finishes it"
_GRACE: Final = 0.5  # seconds a build may overrun while it commits what it has
FROM_HERE: Final = "these hits come from the documentation installed on this machine"


class Library:
    """Opens the index when it is first asked; keeps it up to date before each answer.

    `progress` is called from a worker thread while the index is built. Building is not counted against the deadline
    of a `patient` search: the first use of a command line sets it up for all that follow.
    """

    def __init__(
        self,
        path: Path,
        *,
        folders: Callable[[], Sequence[Path]],
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._path = path
        self._folders = folders
        self._progress = progress
        self._index: LocalIndex | None = None
        self._turn = asyncio.Lock()

    def open(self) -> LocalIndex:
        """Return the index, opened but not necessarily built."""
        if self._index is None:
            from webseam.local import LocalIndex

            self._index = LocalIndex(self._path, folders=self._folders())
        return self._index

    async def ask(
        self,
        provider: Provider,
        search: SearchRequest,
        deadline: Deadline,
        started: float,
        *,
        strict: bool = False,
        patient: bool = False,
        package: str | None = None,
    ) -> Asked:
        """Answer from the index, of one package if one is named. Raises nothing but cancellation."""
        try:
            notes = _notes(provider, search, strict=strict)
        except ProviderError as error:
            return _ended(provider, Outcome.UNSUPPORTED, started, error.detail)
        try:
            # One after another: a second builder would only wait for the first. Waiting for a turn counts as time.
            async with asyncio.timeout(None if patient else deadline.remaining()):
                await self._turn.acquire()
        except TimeoutError:
            return _ended(provider, Outcome.TIMEOUT, started, "the index was busy with another search")
        try:
            loop = asyncio.get_running_loop()
            worker = loop.run_in_executor(None, self._work, search, NEVER if patient else deadline, package)
            try:
                done, _ = await asyncio.wait([worker], timeout=None if patient else deadline.remaining() + _GRACE)
            except asyncio.CancelledError:
                await self._stop(worker)
                raise
            if not done:
                await self._stop(worker)
                return _ended(provider, Outcome.TIMEOUT, started, "the index was not ready in time")
        finally:
            self._turn.release()
        return _asked(provider, worker, started, notes)

    async def update(self) -> Refresh:
        """Bring the index up to date, however long that takes."""
        async with self._turn:
            return await asyncio.to_thread(lambda: self.open().refresh(progress=self._progress))

    def close(self) -> None:
        if self._index is not None:
            self._index.close()

    async def _stop(self, worker: asyncio.Future[Findings]) -> None:
        if self._index is not None:
            self._index.interrupt()
        await asyncio.wait([worker])
        worker.exception()  # looked at, so that an interrupted build is not reported as forgotten

    def _work(self, search: SearchRequest, deadline: Deadline, package: str | None) -> Findings:
        index = self.open()
        notes: list[str] = []
        complete = True
        if not index.fresh():
            refreshed = index.refresh(
                progress=self._progress, expires_at=None if deadline == NEVER else deadline.at - _ANSWER_SECONDS
            )
            notes += refreshed.warnings
            complete = refreshed.complete
        skip = (search.page - 1) * search.count
        hits = index.search(search.query, count=skip + search.count, package=package)[skip:]
        if package and not hits:
            notes += _missing(index, package)
        return hits, notes, complete


def _missing(index: LocalIndex, package: str) -> list[str]:
    """Return what to say of a package that is not in the index: that nothing was found would be half the truth."""
    names = {source.name.lower().replace("_", "-"): source.name for source in index.list_sources()}
    wanted = package.lower().replace("_", "-")
    if wanted in names:
        return []
    close = nearest(wanted, names)
    return [f"{package!r:.80} is not installed here" + (f"; {names[close]!r} is" if close else "")]


def _notes(provider: Provider, search: SearchRequest, *, strict: bool) -> list[str]:
    """Return what differs from the request.

    Raises:
        ProviderError: unsupported; documentation has no domains and no dates, and is not news.
    """
    if search.include_domains:
        raise _unable("documentation installed here has no domains to choose by")
    if search.kind in ("news", "paper"):
        raise _unable(f"documentation installed here is no {search.kind}")
    if search.page * search.count > provider.max_count:
        raise _unable(f"{provider.label} has no page {search.page} of {search.count} hits")
    if strict and has_dates(search):
        raise _unable("documentation installed here carries no dates (strict)")
    notes = [*prepare(provider, replace(search, page=1), strict=strict).notes]  # it does have pages: they are cut here
    if has_dates(search):
        notes.append("documentation installed here carries no dates; they were not applied")
    return notes


def _unable(words: str) -> ProviderError:
    return ProviderError(words, outcome=Outcome.UNSUPPORTED)


def _ended(provider: Provider, outcome: Outcome, started: float, detail: str) -> Asked:
    took = round(time.monotonic() - started, 4)
    return Asked(Attempt(provider=provider.id, outcome=outcome, took=took, detail=detail))


def _asked(provider: Provider, worker: asyncio.Future[Findings], started: float, said: list[str]) -> Asked:
    try:
        found, notes, complete = worker.result()
    except Exception as error:  # noqa: BLE001 - a damaged disk may raise anything; a search must end in an outcome
        return _ended(
            provider, Outcome.BAD_RESPONSE, started, f"the index could not be read ({type(error).__name__}: {error})"
        )
    if not found and not complete:  # what was not read yet may hold it: nobody can say that there is nothing
        return _ended(provider, Outcome.TIMEOUT, started, f"the index was not complete in time; {_FINISH}")
    hits = tuple(_hit(provider, hit) for hit in found)
    notes = [*said, *notes, *([] if complete else [f"the index of this machine is not complete yet; {_FINISH}"])]
    attempt = Attempt(
        provider=provider.id,
        outcome=Outcome.OK if hits else Outcome.EMPTY,
        took=round(time.monotonic() - started, 4),
        cost=provider.price,
        hits=len(hits),
    )
    return Asked(attempt, hits, notes=(*notes, *((FROM_HERE,) if hits else ())))


def _hit(provider: Provider, hit: LocalHit) -> SearchHit:
    site = f"{hit.package} {hit.version}" if hit.version else hit.package
    return SearchHit(
        url=hit.url,
        title=clean(hit.title) if hit.title else None,
        snippet=clean(hit.snippet) if hit.snippet else None,
        site=site or None,
        score=hit.score,
        providers=(provider.id,),
        passages=tuple(clean(passage) for passage in hit.passages),
    )
