"""The embedded index as a provider: nothing is sent, and the work runs in a thread that the deadline can stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webseam.errors import Outcome
from webseam.model import Attempt, SearchHit, SearchRequest
from webseam.providers.base import Provider
from webseam.resilience.deadline import NEVER, Deadline
from webseam.search.ask import Asked
from webseam.text import clean

if TYPE_CHECKING:
    from webseam.local import LocalHit, LocalIndex, Progress, Refresh

    Findings = tuple[list[LocalHit], list[str]]

_ANSWER_SECONDS: Final = 0.2  # kept of the deadline for the query itself when the index is being built
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
        self, provider: Provider, search: SearchRequest, deadline: Deadline, started: float, *, patient: bool = False
    ) -> Asked:
        """Answer from the index. Raises nothing but cancellation."""
        reason = _cannot(search)
        if reason is not None:
            return _ended(provider, Outcome.UNSUPPORTED, started, reason)
        async with self._turn:  # one connection, and a second builder would only wait for the first
            loop = asyncio.get_running_loop()
            worker = loop.run_in_executor(None, self._work, search, NEVER if patient else deadline)
            try:
                done, _ = await asyncio.wait([worker], timeout=None if patient else deadline.remaining() + _GRACE)
            except asyncio.CancelledError:
                await self._stop(worker)
                raise
            if not done:
                await self._stop(worker)
                return _ended(provider, Outcome.TIMEOUT, started, "the index was not ready in time")
        return _asked(provider, search, worker, started)

    async def update(self) -> Refresh:
        """Bring the index up to date, however long that takes."""
        async with self._turn:
            return await asyncio.to_thread(lambda: self.open().refresh(progress=self._progress))

    async def _stop(self, worker: asyncio.Future[Findings]) -> None:
        if self._index is not None:
            self._index.interrupt()
        await asyncio.wait([worker])
        worker.exception()  # looked at, so that an interrupted build is not reported as forgotten

    def _work(self, search: SearchRequest, deadline: Deadline) -> Findings:
        index = self.open()
        notes: list[str] = []
        if not index.fresh():
            refreshed = index.refresh(
                progress=self._progress, expires_at=None if deadline == NEVER else deadline.at - _ANSWER_SECONDS
            )
            notes += refreshed.warnings
            if not refreshed.complete:
                notes.append("the index of this machine is not complete yet; `webseam index update` finishes it")
        skip = (search.page - 1) * search.count
        return index.search(search.query, count=skip + search.count)[skip:], notes


def _cannot(search: SearchRequest) -> str | None:
    if search.include_domains:
        return "documentation installed here has no domains to choose by"
    if search.kind in ("news", "paper"):
        return f"documentation installed here is no {search.kind}"
    return None


def _ended(provider: Provider, outcome: Outcome, started: float, detail: str) -> Asked:
    took = round(time.monotonic() - started, 4)
    return Asked(Attempt(provider=provider.id, outcome=outcome, took=took, detail=detail))


def _asked(provider: Provider, search: SearchRequest, worker: asyncio.Future[Findings], started: float) -> Asked:
    try:
        found, notes = worker.result()
    except Exception as error:  # noqa: BLE001 - a damaged disk may raise anything; a search must end in an outcome
        return _ended(
            provider, Outcome.BAD_RESPONSE, started, f"the index could not be read ({type(error).__name__}: {error})"
        )
    hits = tuple(_hit(provider, hit) for hit in found)
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
