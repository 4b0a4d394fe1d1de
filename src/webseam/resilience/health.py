"""Which providers to leave alone for now, known to every process of this user.

Two mechanisms share one row per provider and key. A *cool-down* follows one clear word of the provider (blocked,
rate limited, quota, auth). The *circuit breaker* follows three failures in a row of the kind that says nothing by
itself (network, timeout, upstream, bad response): open for a while, then one probe, whose success closes it.

A provider without a row is healthy, so the usual case reads once and writes never: a write for each success would
cost four times the read and make every process wait for one lock. Instants are wall-clock, as other processes must
understand them; what claims to have begun in the future was written by a clock that has been set back, and is dropped
rather than kept an hour too long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from webseam.errors import Outcome
from webseam.resilience.retry import RETRY_AFTER_MOST
from webseam.resilience.store import CLOCK_SLACK, Document, Store
from webseam.text import quote

__all__ = ["HEALTHY", "Health", "Standing"]

T = TypeVar("T")

BLOCKED = 3600.0  # seconds; a challenge is tied to the address, asking again sooner makes it last longer
RATE_LIMITED_KEYLESS = 300.0  # seconds, when the provider does not say: anonymous limits are per address and long
RATE_LIMITED_KEYED = 180.0  # seconds; what SearXNG found enough after 429
QUOTA = 6 * 3600.0  # seconds; credits return monthly or when someone pays, and asking costs little
AUTH = 30 * 86400.0  # seconds; a refused key stays refused, another key is another row
FAILURES = 3  # in a row: one is chance, two are bad luck
OPEN = 300.0  # seconds the breaker stays open
FAILURE_MEMORY = 3600.0  # seconds without news after which failures (and an open breaker) say nothing any more
LEASE = 60.0  # seconds a probe may take before another process may try; four times the 15 s of a search
ROW_TTL = AUTH + 86400.0  # seconds; no row outlives what it may say, and those of keys long gone disappear

_FAILED = (Outcome.NETWORK, Outcome.TIMEOUT, Outcome.UPSTREAM, Outcome.BAD_RESPONSE)
_COOLING = (Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.QUOTA, Outcome.AUTH)


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a provider may be asked.

    Attributes:
        usable: ask it; False means skip it until `until`.
        probe: this caller alone may ask a provider that was failing, and reports with `record` or `release`.
        outcome: what made it unusable or suspect, None when nothing did.
        until: Unix time at which it may be asked again, None when it may be now.
        reason: for people, e.g. "cooling down after rate_limited: slow down, please".
        unknown: nothing at all is kept about it, so a success has nothing to clear and need not be recorded.
    """

    usable: bool
    probe: bool
    outcome: Outcome | None
    until: float | None
    reason: str
    unknown: bool = field(default=False, compare=False)


HEALTHY = Standing(usable=True, probe=False, outcome=None, until=None, reason="")
_UNKNOWN = Standing(usable=True, probe=False, outcome=None, until=None, reason="", unknown=True)


@dataclass(slots=True)
class _State:
    """The row of one provider and key. Every field left at its default means: nothing is known against it."""

    cooling: str = ""  # outcome that started the cool-down
    since: float = 0.0
    until: float = 0.0
    said: str = ""
    failures: int = 0
    failed_at: float = 0.0
    failure: str = ""  # outcome of the last failure
    why: str = ""
    probe: str = ""  # token of the probe under way
    probed_at: float = 0.0

    @classmethod
    def load(cls, row: Document | None, now: float) -> _State:
        """Return what of a row still holds at `now`. A row that is not ours to read says nothing."""
        try:
            state = cls(**_checked(row or {}))
        except ValueError:
            return cls()
        if not _began(state.since, now) or now >= state.until:
            state.cooling = ""
        if not state.failure or not _began(state.failed_at, now) or now >= state.failed_at + FAILURE_MEMORY:
            state.failures = 0
        if not _began(state.probed_at, now) or now >= state.probed_at + LEASE:
            state.probe = ""
        return state

    def row(self) -> Document | None:
        """Return the document to keep, None when there is nothing to say."""
        if not self.cooling and not self.failures:
            return None
        parts = self._cooling_parts() + self._failing_parts()
        return {name: getattr(self, name) for name in parts}

    def _cooling_parts(self) -> tuple[str, ...]:
        return ("cooling", "since", "until", "said") if self.cooling else ()

    def _failing_parts(self) -> tuple[str, ...]:
        probing = ("probe", "probed_at") if self.probe else ()
        return ("failures", "failed_at", "failure", "why", *probing) if self.failures else ()

    @property
    def tripped(self) -> bool:
        return self.failures >= FAILURES

    def standing(self, now: float) -> Standing:
        """Return what this state means to a caller. `probe` says that a probe is due, not that it was given."""
        if self.cooling:
            reason = _because(f"cooling down after {self.cooling}", self.said)
            return Standing(usable=False, probe=False, outcome=Outcome(self.cooling), until=self.until, reason=reason)
        if not self.tripped:
            return HEALTHY
        outcome, opens = Outcome(self.failure), self.failed_at + OPEN
        if now < opens:
            what = f"circuit breaker open after {self.failures} failures in a row, the last {outcome}"
            reason = _because(what, self.why)
            return Standing(usable=False, probe=False, outcome=outcome, until=opens, reason=reason)
        if self.probe:
            reason = "circuit breaker half-open, another call is the probe"
            return Standing(usable=False, probe=False, outcome=outcome, until=self.probed_at + LEASE, reason=reason)
        reason = "circuit breaker half-open, this call is the probe"
        return Standing(usable=True, probe=True, outcome=outcome, until=None, reason=reason)

    def cool(self, outcome: Outcome, length: float, now: float, said: str) -> None:
        """Start a cool-down, unless a longer one runs. The provider did answer, so its breaker closes."""
        self.failures, self.probe = 0, ""
        if length > 0 and (not self.cooling or now + length >= self.until):
            self.cooling, self.since, self.until, self.said = outcome.value, now, now + length, said

    def fail(self, outcome: Outcome, now: float, why: str) -> None:
        """Count a failure. Calls that were under way when the breaker opened do not hold it open any longer."""
        if self.tripped and now < self.failed_at + OPEN:
            return
        self.failures, self.failed_at = min(self.failures + 1, FAILURES), now
        self.failure, self.why, self.probe = outcome.value, why, ""

    def succeed(self, began: float | None) -> None:
        """Clear everything, save a cool-down younger than the call: that answer was on its way when it began."""
        self.failures, self.probe = 0, ""
        if began is None or began >= self.since:
            self.cooling = ""


class Health:
    """The standing of each provider and key, shared by all processes that use the same store. Thread-safe.

    `identity` stands for the key: its fingerprint, never the key itself, and "" without one. Another key is another
    row, which is how a changed key ends the cool-downs of the old one.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._probes: dict[tuple[str, str], str] = {}  # those this process holds

    def look(self, provider: str, identity: str) -> Standing:
        """Return the standing without taking the probe: for showing it. `probe` means that one is due."""
        row = self._store.get(_space(provider), identity)
        if row is None:
            return _UNKNOWN
        now = float(self._clock())
        return _State.load(row, now).standing(now)

    def check(self, provider: str, identity: str) -> Standing:
        """Return whether this caller may ask the provider now; with `probe`, it holds the one place for a while."""
        standing = self.look(provider, identity)
        return self._claim(provider, identity) if standing.probe else standing

    def record(
        self,
        provider: str,
        identity: str,
        outcome: Outcome,
        *,
        keyless: bool,
        retry_after: float | None = None,
        detail: str | None = None,
        began: float | None = None,
    ) -> None:
        """Take note of how a call ended.

        Cancelled, invalid, unsupported and the like say nothing about the provider: they count nothing, and a probe
        that ends so gives its place back.

        Args:
            keyless: chooses the length of a cool-down the provider gave no length for.
            retry_after: seconds from `parse_retry_after`, None when it did not say.
            detail: redacted words for people; kept in the store and cut to 200 characters.
            began: Unix time at which the call went out, if known.
        """
        words = quote(detail) if detail else ""
        if outcome.answered:
            self._succeed(provider, identity, began)
        elif outcome in _FAILED:
            self._change(provider, identity, lambda state, now: state.fail(outcome, now, words))
        elif outcome in _COOLING:
            length = _cool_down(outcome, retry_after, keyless=keyless)
            self._change(provider, identity, lambda state, now: state.cool(outcome, length, now, words))
        else:
            self.release(provider, identity)

    def release(self, provider: str, identity: str) -> None:
        """Give back the place of a probe that came to nothing, so that the next caller may try. Else do nothing."""
        token = self._probes.pop((provider, identity), None)
        if token is None:
            return

        def give_back(state: _State, _now: float) -> None:
            if state.probe == token:  # it may have run out, and be another's by now
                state.probe = ""

        self._change(provider, identity, give_back)

    def forget(self, provider: str) -> None:
        """Drop everything known about a provider, under all of its keys."""
        for name in [name for name in self._probes if name[0] == provider]:
            del self._probes[name]
        self._store.clear(_space(provider))

    def _claim(self, provider: str, identity: str) -> Standing:
        token = os.urandom(8).hex()

        def claim(row: Document | None) -> tuple[Document | None, Standing]:
            now = float(self._clock())
            state = _State.load(row, now)
            standing = state.standing(now)
            if standing.probe:
                state.probe, state.probed_at = token, now
            return state.row(), standing

        standing = self._store.update(_space(provider), identity, claim, ttl=ROW_TTL)
        if standing.probe:
            self._probes[provider, identity] = token
        return standing

    def _succeed(self, provider: str, identity: str, began: float | None) -> None:
        self._probes.pop((provider, identity), None)
        if self._store.get(_space(provider), identity) is not None:
            self._change(provider, identity, lambda state, _now: state.succeed(began))

    def _change(self, provider: str, identity: str, change: Callable[[_State, float], None]) -> None:
        self._probes.pop((provider, identity), None)

        def apply(row: Document | None) -> tuple[Document | None, None]:
            now = float(self._clock())
            state = _State.load(row, now)
            change(state, now)
            return state.row(), None

        self._store.update(_space(provider), identity, apply, ttl=ROW_TTL)


def _cool_down(outcome: Outcome, retry_after: float | None, *, keyless: bool) -> float:
    if outcome is Outcome.RATE_LIMITED:
        if retry_after is not None and retry_after >= 0:
            return min(retry_after, RETRY_AFTER_MOST)
        return RATE_LIMITED_KEYLESS if keyless else RATE_LIMITED_KEYED
    if outcome is Outcome.AUTH and keyless:
        return RATE_LIMITED_KEYLESS  # no key whose change would end it: a sign-in elsewhere, or another header, does
    return {Outcome.BLOCKED: BLOCKED, Outcome.QUOTA: QUOTA, Outcome.AUTH: AUTH}[outcome]


def _space(provider: str) -> str:
    return f"health:{provider}"


def _began(instant: float, now: float) -> bool:
    return instant <= now + CLOCK_SLACK


def _because(what: str, words: str) -> str:
    return f"{what}: {words}" if words else what


def _checked(row: Document) -> dict[str, Any]:
    """Return the fields of a row, each of the type it must have.

    Raises:
        ValueError: it has other fields or values than we write.
    """
    for name, value in row.items():
        if type(value) is not _TYPES.get(name) or (name in ("cooling", "failure") and value not in _WORDS):
            raise ValueError(name)
    return row


_TYPES = {part.name: type(part.default) for part in fields(_State)}
_WORDS = {outcome.value for outcome in (*_FAILED, *_COOLING)}
