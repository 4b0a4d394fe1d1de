"""Trying once more, seldom.

A retry helps against one dropped connection and harms against an overloaded host, and a caller cannot tell which it is.
So there is one retry, for the few errors where a second try is likely to end otherwise, and a budget holds all of them
to a tenth of the calls: a host that fails half of the time gets 1.1 times the load, not 1.5 times.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

from webseam.errors import WebSeamError
from webseam.resilience.deadline import Deadline

__all__ = ["RETRY_AFTER_MOST", "RetryBudget", "parse_retry_after", "retrying"]

T = TypeVar("T")

DELAY = 0.5  # seconds before the second try: long enough for a restarted worker, short enough for a person
RETRY_COST = 10  # calls that pay for one retry: retries are at most a tenth of them
MOST_SAVED = 10 * RETRY_COST  # calls that count as recent: no storm of retries after a long good time
RETRY_AFTER_MOST = 3600.0  # seconds; see parse_retry_after


class RetryBudget:
    """How many retries the recent calls pay for: each call is worth a tenth of one, ten retries can be saved up.

    The first retry is lent, so that a fresh process may repeat its first call; the first ten calls pay it back.
    Hence after n >= 10 calls at most n / 10 retries were made. In whole numbers, as tenths do not add up in floats.
    """

    def __init__(self) -> None:
        self._saved = RETRY_COST
        self._debt = RETRY_COST

    def call(self) -> None:
        """Count one call (not its retry)."""
        if self._debt:
            self._debt -= 1
        else:
            self._saved = min(self._saved + 1, MOST_SAVED)

    def spend(self) -> bool:
        """Take one retry; False when the calls so far do not pay for it."""
        if self._saved < RETRY_COST:
            return False
        self._saved -= RETRY_COST
        return True


async def retrying(
    call: Callable[[], Awaitable[T]],
    *,
    deadline: Deadline,
    budget: RetryBudget,
    delay: float = DELAY,
    worth: Callable[[WebSeamError], bool],
) -> T:
    """Return what `call` returns, at the second try if the first failed with an error that is `worth` it.

    There is no second try when the deadline comes before it, or when the budget is spent. Cancelling passes through at
    any point, and no call is made after it.

    Raises:
        WebSeamError: of the first try when there was no second, else of the second.
    """
    budget.call()
    try:
        return await call()
    except WebSeamError as error:
        if not worth(error) or deadline.remaining() <= delay or not budget.spend():
            raise
    await asyncio.sleep(delay)
    return await call()


_SECONDS = re.compile(r"[0-9]+", re.ASCII)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_MONTH = f"(?P<month>{'|'.join(_MONTHS)})"
_DATES = (  # RFC 9110, section 5.6.7: the one form to send and the two old ones to understand
    re.compile(rf"[A-Z][a-z]{{2}}, (?P<day>\d\d) {_MONTH} (?P<year>\d{{4}}) {_TIME} GMT", re.ASCII),
    re.compile(rf"[A-Z][a-z]+day, (?P<day>\d\d)-{_MONTH}-(?P<year>\d\d) {_TIME} GMT", re.ASCII),
    re.compile(rf"[A-Z][a-z]{{2}} {_MONTH} (?P<day>[ \d]\d) {_TIME} (?P<year>\d{{4}})", re.ASCII),
)
_FIFTY_YEARS = 50 * 365.25 * 86400.0  # seconds; RFC 9110 reads a two-digit year further ahead as the past one


def parse_retry_after(value: str | None, *, now: float) -> float | None:
    """Return the seconds a `Retry-After` header asks for, 0 to 3600; None when it says nothing sensible.

    Seconds or an HTTP date as in RFC 9110, section 10.2.3. Nonsense (a negative number, words, a date in the past) is
    None rather than 0: a host that just refused us does not want the next call at once, so our own schedule holds.
    At most an hour: a date in 2099, by mistake or malice, must not take a provider away for good. Not less than an
    hour, such as the two minutes one would wait for a retry: nobody waits here, the next provider answers meanwhile,
    and asking a host again before the time it named makes it refuse for longer.

    Args:
        now: Unix time, for dates.
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return RETRY_AFTER_MOST if len(text.lstrip("0")) > 5 else min(float(text), RETRY_AFTER_MOST)
    instant = _http_date(text, now)
    if instant is None or instant <= now:
        return None
    return min(instant - now, RETRY_AFTER_MOST)


def _http_date(text: str, now: float) -> float | None:
    """Return the Unix time of an HTTP date in any of its three forms, or None."""
    found = next(filter(None, (form.fullmatch(text) for form in _DATES)), None)
    if found is None:
        return None
    short = len(found["year"]) == 2
    century = 100 * (time.gmtime(now).tm_year // 100) if short else 0
    instant = _instant(found, century + int(found["year"]))
    if short and instant is not None and instant > now + _FIFTY_YEARS:
        return _instant(found, century - 100 + int(found["year"]))
    return instant


def _instant(date: re.Match[str], year: int) -> float | None:
    day, hour, minute, second = (int(date[name]) for name in ("day", "hour", "minute", "second"))
    try:
        leap = min(second, 59) if second <= 60 else second  # 23:59:60 is a valid time that datetime does not know
        return datetime(year, _MONTHS.index(date["month"]) + 1, day, hour, minute, leap, tzinfo=UTC).timestamp()
    except ValueError:  # the 30th of February, hour 25
        return None
