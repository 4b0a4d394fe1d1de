"""What set-up has to know about a machine, and how the paths in the table of clients are written.

A value of its own, so that where a client keeps its file on Windows or macOS can be worked out, and tested, anywhere.

A path is a template: `~/` is the home folder, `$NAME/` the value of an environment variable, and a `?` in front means
that the place only counts when it is there. Templates are tried in order; one whose variable is not set is passed over.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Literal

Platform = Literal["linux", "darwin", "win32"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One machine as set-up sees it.

    Attributes:
        platform: whose rules its paths follow. home: the user's folder. env: environment variables.
        exists: whether a path leads to something. which: the path of a program of the search path, None without one.
    """

    platform: Platform
    home: str
    env: Mapping[str, str]
    exists: Callable[[str], bool]
    which: Callable[[str], str | None]

    def path(self, text: str) -> PurePath:
        """Return a path in the way of this machine."""
        return PureWindowsPath(text) if self.platform == "win32" else PurePosixPath(text)

    def expand(self, template: str) -> str | None:
        """Return the path a template stands for; None when its variable is not set or it has to exist and does not."""
        required, plain = template.startswith("?"), template.removeprefix("?")
        first, _, rest = plain.partition("/")
        if first == "~":
            base = self.home
        elif first.startswith("$"):
            base = self.env.get(first[1:], "").strip()
            if not base:
                return None
        else:  # an absolute path, such as that of an application
            base, rest = plain, ""
        full = str(self.path(base) / rest)
        return None if required and not self.exists(full) else full

    def first(self, templates: Iterable[str]) -> str | None:
        """Return the path of the first template that counts here."""
        return next((path for path in map(self.expand, templates) if path is not None), None)


def this_machine() -> Machine:
    """Return the machine this process runs on."""
    platform: Platform = "win32" if sys.platform == "win32" else "darwin" if sys.platform == "darwin" else "linux"
    return Machine(
        platform=platform,
        home=str(Path.home()),
        env=os.environ,
        exists=os.path.lexists,  # a link that leads nowhere is still a file that somebody made
        which=shutil.which,
    )
