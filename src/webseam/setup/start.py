"""Which command a client has to run to start webseam.

A client starts it later, from another folder, with another search path (an application started from a desktop has
nearly none) and perhaps when this process's environment is gone. So it is an absolute path that stays.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from webseam.errors import Outcome, WebSeamError

SERVE: Final = "mcp"  # the command that serves the tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """How this process was started.

    Attributes:
        program: `sys.argv[0]`. interpreter: `sys.executable`. package: the folder of the package.
        is_file: whether a path is a file that can be run. which: the path of a program of the search path.
        published: False when what runs did not come from the package index.
    """

    program: str
    interpreter: str
    package: str
    is_file: Callable[[str], bool]
    which: Callable[[str], str | None]
    published: bool = True


def running() -> Running:
    """Return how this process was started."""
    return Running(
        program=sys.argv[0],
        interpreter=sys.executable,
        package=str(Path(__file__).parents[1]),
        is_file=lambda path: Path(path).is_file() and os.access(path, os.X_OK),
        which=shutil.which,
        published=_is_published(),
    )


def start_line(how: Running) -> tuple[str, ...]:
    """Return the program and the arguments that start `webseam mcp`; see `_line`.

    Raises:
        WebSeamError: uvx runs a version that it could not find again by its name, or no file could hold the path.
    """
    line = _line(how)
    try:
        "".join(line).encode()
    except UnicodeEncodeError:
        raise WebSeamError("the path of webseam is not UTF-8", outcome=Outcome.UNSUPPORTED) from None
    return line


def _line(how: Running) -> tuple[str, ...]:
    """Return the program and its arguments.

    In order: the script of a checkout, which keeps its own environment up to date; `uvx webseam` when uvx runs this,
    whose environments are thrown away; the program that was called; the one beside the interpreter; the interpreter.
    """
    checkout = Path(how.package).parents[1] / "scripts" / "webseam"
    if how.is_file(str(checkout)):
        return (str(checkout), SERVE)
    if "archive-v" in how.interpreter and (uvx := how.which("uvx")):
        if not how.published:
            words = "uvx runs a webseam that is not from the package index, and would start another one later"
            raise WebSeamError(words, outcome=Outcome.UNSUPPORTED, hint="uv tool install it, then run webseam setup")
        return (uvx, "webseam", SERVE)
    called = Path(how.program)
    if called.stem.casefold() == "webseam":
        found = how.which(how.program) or how.program
        if how.is_file(found):
            return (os.path.abspath(found), SERVE)  # noqa: PTH100 - links stay: they outlive what they point at
    for name in ("webseam", "webseam.exe"):
        beside = str(Path(how.interpreter).with_name(name))
        if how.is_file(beside):
            return (beside, SERVE)
    return (how.interpreter, "-m", "webseam", SERVE)


def _is_published() -> bool:
    """Return False when the package was installed from a folder, a file or a repository."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution("webseam").read_text("direct_url.json") is None
    except PackageNotFoundError:
        return False
