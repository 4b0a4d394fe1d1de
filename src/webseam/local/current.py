"""Whether the index has what there is. Apart from `build`, so that asking does not load what building needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from webseam.local.sources import Source


def is_current(connection: sqlite3.Connection, wanted: Iterable[Source]) -> bool:
    """True when the index has exactly the wanted sources, each whole and with its present fingerprint."""
    known = connection.execute("SELECT key, fingerprint, tier FROM sources WHERE idle_since IS NULL").fetchall()
    return set(known) == {(source.key, source.fingerprint, source.tier) for source in wanted}
