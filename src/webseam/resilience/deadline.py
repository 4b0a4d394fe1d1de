"""One clock from call to return.

A deadline is an instant, not a length: handing a length down through DNS, TLS, body and fallback would start the clock
again at each step. It is monotonic, because a wall clock that is set back an hour would make every wait an hour longer.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from webseam.errors import RequestError

__all__ = ["NEVER", "Deadline", "seconds_of"]

MAX_TIMEOUT = 3_600.0  # seconds that a caller may give one call


@dataclass(frozen=True, slots=True, order=True)
class Deadline:
    """The instant at which a caller stops waiting. `at` is on the clock of `time.monotonic()`, in seconds."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline `seconds` from now."""
        return cls(time.monotonic() + seconds)

    def remaining(self) -> float:
        """Return the seconds left, never below 0."""
        return max(0.0, self.at - time.monotonic())

    @property
    def expired(self) -> bool:
        """True when no time is left."""
        return time.monotonic() >= self.at

    def sooner(self, seconds: float) -> Deadline:
        """Return this deadline or the one `seconds` from now, whichever comes first: one step's share of the time."""
        at = time.monotonic() + seconds
        return self if self.at <= at else Deadline(at)


NEVER = Deadline(math.inf)


def seconds_of(timeout: object, default: float) -> float:
    """Return how many seconds a caller gives one call; None is `default`.

    Raises:
        RequestError: it is no such number.
    """
    if timeout is None:
        return default
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= MAX_TIMEOUT:
        raise RequestError("timeout", f"{timeout!r:.40} is not a number of seconds from 0 to {MAX_TIMEOUT:g}")
    return float(timeout)
