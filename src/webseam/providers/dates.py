"""Publication dates as services write them, made ISO 8601; what cannot be pinned to a day is unknown, not guessed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?", re.ASCII)
_RELATIVE = re.compile(r"(\d{1,4}) (minute|min|hour|day)s? ago", re.IGNORECASE | re.ASCII)
_EITHER_ORDER = re.compile(r"(?:0?[1-9]|1[0-2])/(?:0?[1-9]|1[0-2])/\d{4}", re.ASCII)
_FORMATS: Final = (
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b. %d, %Y",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%m/%d/%Y",
)
_FIRST_PRINTED: Final = 1450  # an archive's dates may be old, but 0001-01-01 is a field nobody filled
_FIRST_YEAR, _LAST_YEAR = 1970, 2100  # outside, a number is an identifier and a date a mistake


def published_day(value: object) -> str | None:
    """Return a publication date as ISO 8601, or None when unknown.

    ISO text is kept, epoch seconds and written-out days are converted, "3 days ago" becomes that day;
    coarser words ("last month") stay unknown.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _from_epoch(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _ISO.fullmatch(text):
        try:
            year = datetime.fromisoformat(text).year
        except ValueError:
            return None
        return text.replace(" ", "T") if _FIRST_PRINTED <= year <= _LAST_YEAR else None
    relative = _RELATIVE.fullmatch(text)
    if relative:
        days = int(relative[1]) if relative[2].lower() == "day" else 0
        hours = int(relative[1]) if relative[2].lower() == "hour" else 0
        return (datetime.now(UTC) - timedelta(days=days, hours=hours)).date().isoformat()
    if _EITHER_ORDER.fullmatch(text):  # 03/04/2026 is two days, by country
        return None
    for form in _FORMATS:
        try:
            day = datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return day.date().isoformat() if _FIRST_YEAR <= day.year <= _LAST_YEAR else None
    return None


def _from_epoch(seconds: float) -> str | None:
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.date().isoformat() if _FIRST_YEAR < moment.year <= _LAST_YEAR else None
