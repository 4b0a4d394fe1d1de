"""The guard against calls in a loop: what a model has just asked is told to it in words it can act on.

A model that gets the same answer to the same call often makes the call again. The answer itself comes from a cache;
what ends the loop is a sentence that says so and names other moves. The answer is never withheld: one session may serve
several agents, and the one that calls now may not have seen it.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

WINDOW: Final = 600.0  # seconds; what was asked longer ago may be worth asking again
INSISTS_FROM: Final = 4  # from this call on the sentence stands before the answer, where it cannot be overlooked
_REMEMBERED: Final = 256  # calls of one session
_WORDS: Final = "query"  # whose letter case, spacing and order do not make another question

_MOVES: Final = {
    "web_search": "read a hit with web_fetch, search with other words or filters, or answer with what you have",
    "web_fetch": "use focus or cursor for another part of it, read another page, or answer with what you have",
    "docs_search": "search for another name, try web_search, or answer with what you have",
}


class Repeats:
    """Counts the equal calls of one session.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def count(self, name: str, arguments: Mapping[str, Any]) -> int:
        """Note a call and return the how-manieth of its kind it is within the window, 1 for the first."""
        key = _key(name, arguments)
        at, count = self._calls.pop(key, (0.0, 0))
        now = self._clock()
        count = count + 1 if now - at <= WINDOW else 1
        self._calls[key] = now, count
        while len(self._calls) > _REMEMBERED:
            self._calls.popitem(last=False)
        return count

    def forget(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Take a call back: it failed, and trying again is right."""
        self._calls.pop(_key(name, arguments), None)


def remark(name: str, count: int) -> str:
    """Return what to tell a model whose call is the `count`-th of its kind; "" for the first."""
    if count < 2:
        return ""
    return (
        f"This same call was made {_times(count - 1)} before in the last minutes and asking again changes nothing."
        f" Next: {_MOVES[name]}."
    )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _key(name: str, arguments: Mapping[str, Any]) -> str:
    known = {key: value for key, value in arguments.items() if key != "timeout"}
    if _WORDS in known:
        known[_WORDS] = sorted(str(known[_WORDS]).casefold().split())
    return json.dumps([name, known], sort_keys=True, default=str)
