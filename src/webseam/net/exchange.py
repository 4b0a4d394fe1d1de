"""One exchange with a host: how far it has come, and what to say when it goes no further.

The pool calls the network backend with a host and a port only. What the backend needs besides (the URL to judge, where
to note the time) travels in a context variable, which costs nothing per read; the pool dials in the task that asked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

from webseam.errors import Outcome, TransportError
from webseam.net.url import URL

if TYPE_CHECKING:
    from webseam.net.stream import Stream

Phase = Literal["dns", "connect", "tls", "request", "first_byte", "body", "parse"]

# What the wait was for, when the deadline ended it.
_WAITED = {
    "dns": "the name {host} was not resolved in time",
    "connect": "{host} did not accept a connection in time",
    "tls": "{host} did not finish the TLS handshake in time",
    "request": "{host} did not take the whole request in time",
    "first_byte": "{host} did not answer in time",
    "body": "{host} did not finish its answer in time",
}


class Exchange:
    """The state of one `Client.send`, over all its redirects."""

    __slots__ = (
        "answers",
        "connect_time",
        "dialled",
        "dns_time",
        "expires_at",
        "first_byte_time",
        "heard",
        "host",
        "phase",
        "started",
        "stream",
        "through",
        "tls_time",
        "url",
        "written_at",
    )

    def __init__(self, expires_at: float, *, through: str = "") -> None:
        self.expires_at = expires_at
        self.started = time.monotonic()
        self.stream: Stream | None = None
        self.through = through  # words for the errors when a proxy stands between
        self.phase: Phase = "connect"  # waiting for a free place in the pool counts as connecting
        self.url: URL | None = None
        self.host = ""
        self.answers: Sequence[str] | None = None  # addresses of the host, once looked up
        self.dialled = False  # False after the answer means that a kept connection served
        self.heard = False  # the server has sent at least one byte
        self.dns_time = self.connect_time = self.tls_time = self.first_byte_time = self.written_at = 0.0

    def begin(self, url: URL, answers: Sequence[str] | None = None) -> None:
        """Start with a URL: the first, or the next after a redirect."""
        self.url = url
        self.host = shown(url)
        self.answers = answers
        self.phase = "connect"
        self.dialled = self.heard = False

    def remaining(self) -> float:
        """Return the seconds left, never less than 0."""
        return max(0.0, self.expires_at - time.monotonic())

    def timings(self) -> dict[str, float]:
        """Return the seconds spent so far, by phase."""
        return {
            "dns": self.dns_time,
            "connect": self.connect_time,
            "tls": self.tls_time,
            "first_byte": self.first_byte_time,
            "total": time.monotonic() - self.started,
        }

    def failed(self, outcome: Outcome, kind: str, detail: str, *, hint: str | None = None) -> TransportError:
        """Return the error for what happened in the present phase; `{host}` in `detail` is filled in."""
        host = self.url.host if self.url is not None else ""
        detail = detail.replace("{host}", self.host) + self.through
        return TransportError(detail, outcome=outcome, host=host, phase=self.phase, kind=kind, hint=hint)

    def timed_out(self) -> TransportError:
        """Return the error for a deadline that passed."""
        if self.phase == "first_byte" and self.stream is not None and self.stream.is_sending():
            self.phase = "request"
        return self.failed(Outcome.TIMEOUT, "deadline", _WAITED[self.phase])


def shown(url: URL) -> str:
    """Return the host as people write it: with its port only where that is not the scheme's own."""
    name = f"[{url.host}]" if ":" in url.host else url.host
    return name if url.port == (443 if url.scheme == "https" else 80) else f"{name}:{url.port}"


CURRENT: ContextVar[Exchange] = ContextVar("webseam_exchange")
