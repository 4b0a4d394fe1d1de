"""What the commands share: a session of the core, a progress bar, tables and JSON."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from webseam.fronts.cli.app import say
from webseam.model import as_json

if TYPE_CHECKING:
    from webseam.local import Progress
    from webseam.web import AsyncWeb

T = TypeVar("T")
_REDRAW = 0.1  # seconds between two states of the bar
_LINE_EVERY = 5.0  # seconds between two lines of progress where there is no terminal


def session(work: Callable[[AsyncWeb], Awaitable[T]], *, flags: dict[str, Any] | None = None) -> T:
    """Run `work` with an `AsyncWeb` that reports progress and warnings on standard error."""
    from webseam.web import AsyncWeb

    async def inside() -> T:
        bar = ProgressBar()
        async with AsyncWeb(flags, progress=bar, warn=lambda words: say(f"webseam: {words}")) as web:
            try:
                return await work(web)
            finally:
                bar.finish()

    return asyncio.run(inside())


class ProgressBar:
    """Shows how far the index is. Without a terminal: a line when it starts, every few seconds, and when it ends."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._drawn = 0.0
        self._began = 0.0
        self._open = False
        self._last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        self._last = progress
        if not self._open:
            self._open, self._began = True, now
            if not self._terminal:
                say(f"indexing the documentation installed here ({progress.total} steps)")
        if now - self._drawn < (_REDRAW if self._terminal else _LINE_EVERY):
            return
        self._drawn = now
        if self._terminal:
            width = 24
            full = width * progress.done // max(1, progress.total)
            name = progress.name[:32]
            click.echo(
                f"\r\x1b[Kindexing [{'#' * full}{'.' * (width - full)}] {progress.done}/{progress.total} {name}",
                nl=False,
                err=True,
            )
        elif now - self._began >= _REDRAW:
            say(f"indexing: {progress.done}/{progress.total}")

    def finish(self) -> None:
        if self._open and self._last is not None:
            clear = "\r\x1b[K" if self._terminal else ""
            say(f"{clear}indexed the documentation installed here in {time.monotonic() - self._began:.1f} s")
            self._open = False


def print_json(value: Any) -> None:
    """Print a core value as JSON on standard output."""
    click.echo(as_text(value))


def as_text(value: Any) -> str:
    """Return a core value as indented JSON."""
    return json.dumps(as_json(value), ensure_ascii=False, indent=2)


def as_typed(words: str) -> str:
    """Return what was typed: its bytes are UTF-8 nearly everywhere, also where the locale claims ASCII or Latin-1."""
    import os

    try:
        return os.fsencode(words).decode("utf-8")
    except UnicodeError:
        return words


def width() -> int:
    """Return the columns of the terminal, within what reads well."""
    return max(40, min(110, shutil.get_terminal_size((100, 24)).columns))


def colour() -> bool:
    """True when standard output is a terminal and the user did not ask for plain text."""
    import os

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns; the last column is not padded."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(size) for cell, size in zip(line, widths, strict=True)).rstrip() for line in lines
    )
