"""Outcomes and the one tree of errors.

Every front speaks the same words: what a library caller catches, what the command line exits with and what an HTTP
client sees all come from `Outcome`. Keeping the table here means that no front can invent a status of its own.

    WebSeamError
    ├── RequestError          the caller's input (invalid)
    │   └── SettingsError     a setting, with the file and the key
    ├── EgressDenied          refused by the egress policy (unsafe), with the rule
    ├── TransportError        the wire failed: network, timeout, bad_response, unsupported; with the phase
    ├── ProviderError         one provider failed, in its own words
    │   ├── ProviderBlocked, ProviderRateLimited, ProviderQuota, ProviderAuth, ProviderUnavailable …
    ├── FetchError            one page could not be read
    ├── AllProvidersFailed    nobody answered; lists every attempt
    └── Cancelled             the caller went away

This module must not import anything of webseam: everything else imports it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webseam.model import Attempt

__all__ = [
    "AllProvidersFailed",
    "Cancelled",
    "EgressDenied",
    "FetchError",
    "Outcome",
    "ProviderError",
    "RequestError",
    "SettingsError",
    "TransportError",
    "WebSeamError",
]


class Outcome(StrEnum):
    """What became of a search, a fetch or one attempt of either. The value is the word all fronts print."""

    OK = "ok"
    EMPTY = "empty"
    FILTERED = "filtered"
    BLOCKED = "blocked"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    AUTH = "auth"
    TIMEOUT = "timeout"
    NETWORK = "network"
    UPSTREAM = "upstream"
    BAD_RESPONSE = "bad_response"
    UNSAFE = "unsafe"
    UNSUPPORTED = "unsupported"
    JS_REQUIRED = "js_required"
    NOT_FOUND = "not_found"
    UNAVAILABLE = "unavailable"
    INVALID = "invalid"
    CANCELLED = "cancelled"

    @property
    def exit_code(self) -> int:
        """The process exit status of the command line."""
        return _TABLE[self][0]

    @property
    def http_status(self) -> int:
        """The status of the HTTP front."""
        return _TABLE[self][1]

    @property
    def answered(self) -> bool:
        """True when the other side did its work: hits, or an honest statement that there are none."""
        return self in (Outcome.OK, Outcome.EMPTY, Outcome.FILTERED)


_TABLE: dict[Outcome, tuple[int, int]] = {  # outcome: (exit status, HTTP status)
    Outcome.OK: (0, 200),
    Outcome.EMPTY: (4, 200),
    Outcome.FILTERED: (4, 200),
    Outcome.BLOCKED: (5, 502),
    Outcome.RATE_LIMITED: (5, 429),
    Outcome.QUOTA: (5, 402),
    Outcome.AUTH: (6, 401),
    Outcome.TIMEOUT: (7, 504),
    Outcome.NETWORK: (7, 502),
    Outcome.UPSTREAM: (7, 502),
    Outcome.BAD_RESPONSE: (5, 502),
    Outcome.UNSAFE: (8, 403),
    Outcome.UNSUPPORTED: (9, 415),
    Outcome.JS_REQUIRED: (5, 502),
    Outcome.NOT_FOUND: (4, 404),
    Outcome.UNAVAILABLE: (6, 503),
    Outcome.INVALID: (2, 400),
    Outcome.CANCELLED: (130, 499),
}


class WebSeamError(Exception):
    """Base of every error webseam raises on purpose.

    Attributes:
        outcome: the `Outcome` all fronts show.
        detail: what happened and to which host; already redacted and cut.
        hint: what to do next, or None.
        attempts: every provider or reader tried before this was raised.
        sent_to: ids of the providers that had received the query by then.
    """

    outcome: Outcome = Outcome.BAD_RESPONSE

    def __init__(
        self,
        detail: str,
        *,
        outcome: Outcome | None = None,
        hint: str | None = None,
        attempts: Sequence[Attempt] = (),
        sent_to: Sequence[str] = (),
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.attempts: tuple[Attempt, ...] = tuple(attempts)
        self.sent_to: tuple[str, ...] = tuple(sent_to)
        if outcome is not None:
            self.outcome = outcome

    def __str__(self) -> str:
        return f"{self.outcome.value}: {self.detail}" + (f" ({self.hint})" if self.hint else "")


class RequestError(WebSeamError):
    """The caller's input is wrong. Nothing was sent. `field` names the argument."""

    outcome = Outcome.INVALID

    def __init__(self, field: str, problem: str, *, hint: str | None = None) -> None:
        super().__init__(f"{field}: {problem}", hint=hint)
        self.field = field


class SettingsError(RequestError):
    """A setting is unknown, malformed or not allowed where it stands."""


class EgressDenied(WebSeamError):
    """The egress policy refused a URL. `rule` is the stable id of the rule, `url` is redacted."""

    outcome = Outcome.UNSAFE

    def __init__(self, rule: str, detail: str, *, url: str = "", hint: str | None = None) -> None:
        super().__init__(f"{rule}: {detail}", hint=hint)
        self.rule = rule
        self.url = url


class TransportError(WebSeamError):
    """The exchange with a host failed below the meaning of its answer.

    Attributes:
        host: who was talked to.
        phase: "dns", "connect", "tls", "request", "first_byte", "body" or "parse": how far it came.
        kind: a short stable word below the outcome, e.g. "reset", "truncated", "headers_too_large", "encoding".
    """

    outcome = Outcome.NETWORK

    def __init__(
        self, detail: str, *, outcome: Outcome, host: str, phase: str, kind: str, hint: str | None = None
    ) -> None:
        super().__init__(detail, outcome=outcome, hint=hint)
        self.host = host
        self.phase = phase
        self.kind = kind


class ProviderError(WebSeamError):
    """One provider did not answer usefully.

    Attributes:
        provider: its id.
        http_status: the status it sent, when it sent one.
        retry_after: seconds it asked to be left alone, when it said so.
    """

    def __init__(
        self,
        detail: str,
        *,
        outcome: Outcome,
        provider: str = "",
        http_status: int | None = None,
        retry_after: float | None = None,
        hint: str | None = None,
        attempts: Sequence[Attempt] = (),
        sent_to: Sequence[str] = (),
    ) -> None:
        super().__init__(detail, outcome=outcome, hint=hint, attempts=attempts, sent_to=sent_to)
        self.provider = provider
        self.http_status = http_status
        self.retry_after = retry_after


class FetchError(WebSeamError):
    """One page could not be read.

    Attributes:
        http_status: the status the page was answered with, when it was answered.
        retry_after: seconds its server asked to be left alone, when it said so.
    """

    def __init__(
        self,
        detail: str,
        *,
        outcome: Outcome | None = None,
        hint: str | None = None,
        http_status: int | None = None,
        retry_after: float | None = None,
        attempts: Sequence[Attempt] = (),
        sent_to: Sequence[str] = (),
    ) -> None:
        super().__init__(detail, outcome=outcome, hint=hint, attempts=attempts, sent_to=sent_to)
        self.http_status = http_status
        self.retry_after = retry_after


class AllProvidersFailed(WebSeamError):
    """No provider of the chain answered. `attempts` has every one, each with its own outcome."""


class Cancelled(WebSeamError):
    """The caller went away before the work was done."""

    outcome = Outcome.CANCELLED
