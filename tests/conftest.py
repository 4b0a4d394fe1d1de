"""What every test gets: a world of its own, and an event loop that must be left as it was found.

A test sees no key, proxy or setting of the person who runs it, writes only below a folder of its own, and an
`async def` test runs bounded in a fresh event loop. No plug-in does this, so that what is checked stands here.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import itertools
import os
import re
from collections.abc import Coroutine, Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Self

import pytest

BOUND = 20.0  # seconds for one async test; all are far below, so reaching it means a hang
GRACE = 1.0  # seconds for tasks that are ending by themselves, e.g. a server's handler whose peer has just closed

# What an interpreter, its coverage and its child processes need. A list of what to keep, not of what to clear: the
# next provider brings variable names that nobody would remember to add.
_KEPT = re.compile(
    r"PATH|PATHEXT|COMSPEC|SYSTEMROOT|WINDIR|TMPDIR|TEMP|TMP|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|DYLD_\w+|VIRTUAL_ENV"
    r"|PYTHON\w+|PYTEST_\w+|PYENV_\w+|COVERAGE_\w+|COV_CORE_\w+|CI"
)
_ISOLATED = ("config", "state", "cache")


STARTED = datetime.now(UTC)  # tables of expected values are made on this day, when they are collected


class _OneDay(datetime):
    """The day on which the tests began, for what asks which day it is: midnight may come while they run."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(STARTED.timestamp(), tz)


@pytest.fixture(scope="session", autouse=True)
def _one_day() -> Iterator[None]:
    from webseam.providers import options

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(options, "datetime", _OneDay)
        yield


def pytest_collection_finish() -> None:
    """Keep what collecting made out of the collection that ends each test: that makes it ten times cheaper."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def _worlds(tmp_path_factory: pytest.TempPathFactory) -> itertools.chain[Path]:
    base = tmp_path_factory.mktemp("worlds")
    return itertools.chain.from_iterable([base / str(number)] for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_world(_worlds: itertools.chain[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the environment; give the test a home, and config, state and cache folders that do not exist yet."""
    for name in os.environ:
        if not _KEPT.fullmatch(name.upper()):
            monkeypatch.delenv(name)
    world = next(_worlds)
    home = world / "home"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for kind in _ISOLATED:
        monkeypatch.setenv(f"WEBSEAM_{kind.upper()}_DIR", str(world / kind))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an `async def` test in an event loop of its own; leave every other test to pytest."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: value for name, value in pyfuncitem.funcargs.items() if name in wanted}
    with asyncio.Runner(debug=False) as runner:
        runner.run(_bounded(pyfuncitem.obj(**arguments)))
    # A socket nobody closed warns when it is collected. Collected now, it fails the test that left it.
    gc.collect()
    return True


async def _bounded(test: Coroutine[object, object, None]) -> None:
    try:
        async with asyncio.timeout(BOUND) as bound:
            await test
    except TimeoutError as error:
        if bound.expired():
            raise AssertionError(f"the test ran longer than {BOUND:g} s; the cause above shows where") from error
        raise
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        _, left = await asyncio.wait(left, timeout=GRACE)
    assert not left, f"tasks left running by the test: {sorted(repr(task.get_coro()) for task in left)}"
