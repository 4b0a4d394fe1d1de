"""How much memory one fetch takes: run as a program of its own, beside the server that plays the other side.

    python -m tests.faults.memory URL [SECONDS]

It reads the page `/warm` of the same server first, so that what is loaded once does not count, then URL, and prints
what came of it and how far this process and those that read for it grew. The high-water mark of a process is what Linux
keeps of it in /proc; that of a reader is looked at until it is gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

_LOOKED_AT = 0.002  # seconds between two looks at readers


def peak(process: int | str = "self") -> int:
    """Return the high-water mark of a process's memory in bytes, 0 when it is gone."""
    try:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError):
        return 0


class Readers:
    """Looks at the child processes of this one. `peaks` are their high-water marks by process id."""

    def __init__(self) -> None:
        self.peaks: dict[int, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(_LOOKED_AT):
            self.look()

    def look(self) -> None:
        """Look at each child once."""
        for children in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
            with suppress(OSError):
                for child in map(int, children.read_text().split()):
                    self.peaks[child] = max(self.peaks.get(child, 0), peak(child))

    def most(self) -> int:
        """Return the highest mark of any child."""
        return max(self.peaks.values(), default=0)

    def close(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()


async def measure(url: str, seconds: float) -> dict[str, Any]:
    """Fetch `url` and return what came of it and what it took."""
    from webseam.errors import WebSeamError
    from webseam.web import AsyncWeb

    readers = Readers()
    settings: dict[str, Any] = {"fetch.allow": ["127.0.0.0/8"], "fetch.browser": False}
    async with AsyncWeb(settings) as web:
        await web.fetch(urljoin(url, "/warm"), cache=False)
        readers.look()
        own, read = peak(), readers.most()
        started = time.monotonic()
        try:
            page: Any = await web.fetch(url, timeout=seconds)
        except WebSeamError as error:
            page = error
        took = time.monotonic() - started
    readers.close()
    return {
        "outcome": page.outcome.value,
        "detail": page.detail,
        "truncated": getattr(page, "truncated", False),
        "length": len(getattr(page, "markdown", "")),
        "took": took,
        "own": peak() - own,
        "reader": readers.most() - read,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(sys.argv[1], float(sys.argv[2])))))
