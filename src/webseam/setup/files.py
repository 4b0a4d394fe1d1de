"""Reading and writing the files of clients: through links, without a half-written file, with the file of before kept.

The backup stands beside the file, as `NAME.before-webseam`, for its owner alone, because the file may hold keys.
"""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import Final

from webseam.errors import SettingsError
from webseam.settings_file import replace_file
from webseam.setup.entry import NAME
from webseam.setup.plan import Change, File

BACKUP: Final = ".before-webseam"  # behind the name of the file
_NEW_FILE: Final = 0o600  # a file of servers sooner or later holds a key
_NEW_FOLDER: Final = 0o700
_LARGEST: Final = 32 * 2**20  # bytes; the largest such file seen is a tenth of it


def read(path: str) -> File:
    """Return a file and its backup as they are now.

    Raises:
        SettingsError: it cannot be read.
    """
    real = _real(path)
    contents = _bytes(path, real)
    return File(path, contents, _bytes(path, _backup_of(real)))


def write(change: Change) -> Path | None:
    """Write what a plan says, and return where the file of before is kept, if it is.

    Raises:
        SettingsError: it is write-protected, cannot be written, or is not what the plan was made of.
    """
    real = _real(change.path)
    backup = _backup_of(real)
    try:
        if _bytes(change.path, real) != change.before:
            raise SettingsError(change.path, "has just been changed by somebody else; run webseam setup again")
        mode = real.stat().st_mode & 0o777 if change.before is not None else _NEW_FILE
        if not mode & 0o200:  # a folder that may be written to would let it be replaced all the same
            hint = f"chmod u+w {shlex.quote(str(real))}"
            raise SettingsError(change.path, "is write-protected; nothing was changed", hint=hint)
        if change.after is None:
            real.unlink()
            if real.parent.name == NAME:  # the folder of the skill, made for it alone
                with contextlib.suppress(OSError):
                    real.parent.rmdir()
            return None
        real.parent.mkdir(mode=_NEW_FOLDER, parents=True, exist_ok=True)
        if change.backs_up and change.before is not None:
            replace_file(backup, change.before)
        replace_file(real, change.after, mode)
        if change.kind == "restore":
            backup.unlink(missing_ok=True)
        return backup if backup.exists() else None
    except OSError as error:
        raise SettingsError(change.path, f"cannot be written: {error.strerror}; nothing was changed") from None


def _real(path: str) -> Path:
    """Return where a file really is: people keep settings elsewhere and link to them, and the link must stay one."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError):  # links that go round in a circle
        raise SettingsError(path, "cannot be read: its links lead nowhere") from None


def _backup_of(real: Path) -> Path:
    return real.with_name(real.name + BACKUP)


def _bytes(path: str, real: Path) -> bytes | None:
    try:
        if real.is_file() and real.stat().st_size > _LARGEST:
            raise SettingsError(path, "is too large to be a file of settings")
        return real.read_bytes()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        raise SettingsError(path, f"cannot be read: {error.strerror}") from None
