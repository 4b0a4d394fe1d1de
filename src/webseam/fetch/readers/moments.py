"""Dates as feeds and front matter write them, as ISO days or instants."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

_LONGEST: Final = 64  # characters; what is longer is no date
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_ZONE: Final = re.compile(r"\s+(UTC|GMT|Z)$|\s+(?=[+-]\d{2}:?\d{2}$)")


def moment(text: object) -> str | None:
    """Return an ISO day, or an instant with its offset ("Z" for UTC), for a date of ISO 8601, RFC 3339 or RFC 822.

    A date without an offset is kept without one. None when it is no date.
    """
    if not isinstance(text, str) or not 8 <= len(text.strip()) <= _LONGEST:
        return None
    text = text.strip()
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        found = datetime.fromisoformat(_ZONE.sub(lambda zone: "Z" if zone[1] else "", text))
    except ValueError:
        from email.utils import parsedate_to_datetime  # 30 ms that most dates do without

        try:
            found = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        if found.tzinfo is None:  # "-0000": universal time, whoever wrote it
            found = found.replace(tzinfo=UTC)
    return found.replace(microsecond=0).isoformat().replace("+00:00", "Z")
