"""Reading one settings file: TOML, every key checked, and each mistake named by file, line and key.

Apart from `config`, which says who wins over whom: this knows how values are written down. A table
`[providers.KIND.NAME]` sets up one more provider of a kind under a name of its own; its values are kept under the
section NAME, like those of any provider. What changes a file of the settings folder does it under `locked` and by
`replace_file`, so that nothing another process writes is lost and no half of a file is ever read.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from webseam.errors import SettingsError
from webseam.schema import CORE, Setting, check
from webseam.text import clean

NAMED: Final = "providers"  # the table under which providers are set up under further names
SITES: Final = "sites"  # the table whose tables set up sites with an API of their own
LOCK_FILE: Final = ".lock"  # in the settings folder; stays, because removing one that others wait for is a race
LOCK_WAIT: Final = 10.0  # seconds; a change takes milliseconds, unless a keyring asks its user for a password
_LOCK_POLL: Final = 0.02  # seconds
_EVERYWHERE: Final = "enabled"  # a key of every provider and every site: known wherever the table is

_HEADER = re.compile(r"\s*\[\s*(?P<name>[^\[\]#]+?)\s*\]\s*(?:#.*)?")
_KEY = re.compile(r"\s*(?P<name>[A-Za-z0-9_.\"'-]+?)\s*=")
_TOKEN = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*|[\[\]{}]')
_ENDS = {'"""': re.compile(r'(?:\\.|[^\\])*?"{3,5}'), "'''": re.compile(r".*?'{3,5}")}

Place = tuple[str, str]  # section and key
Describe = Callable[[str, str, "str | None"], Setting]  # section, key and, of a named provider, its kind


@dataclass(frozen=True, slots=True)
class Contents:
    """What one file says: values by section and key, and the kinds of the providers it names."""

    values: Mapping[Place, Any] = field(default_factory=dict, repr=False)
    named: Mapping[str, str] = field(default_factory=dict)


def read_settings(path: Path, describe: Describe) -> Contents:
    """Return the contents of a settings file; those of an absent one are empty.

    Raises:
        SettingsError: it cannot be read, is not TOML, or has an unknown or malformed key; says where.
    """
    import tomllib

    try:
        text = path.read_text("utf-8-sig")
        document = tomllib.loads(text)
    except FileNotFoundError:
        return Contents()
    except OSError as error:
        raise SettingsError(str(path), f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:  # the file may be anybody's
        raise SettingsError(str(path), f"is not TOML: {error}") from None
    except ValueError:  # the one other thing that tomllib lets through: a number of thousands of digits
        raise SettingsError(str(path), "holds a number that is too large") from None
    values: dict[Place, Any] = {}
    named: dict[str, str] = {}
    for table in _tables(document):
        section = table.section
        if table.kind is not None:
            name = section.replace("_", "-")
            if named.get(name, table.kind) != table.kind:
                raise _placed(
                    SettingsError(table.title, "this name stands for another provider too"), path, text, table
                )
            named[name] = table.kind
        if not table.values and section not in CORE:  # its name may be wrong all the same
            try:
                describe(section, _EVERYWHERE, table.kind)
            except SettingsError as error:
                raise _placed(error, path, text, table) from None
        for key, value in table.values.items():
            try:
                check(describe(section, key, table.kind), value, table.title, str(path))
            except SettingsError as error:
                raise _placed(error, path, text, table, key) from None
            values[section.replace("-", "_"), key] = value
    return Contents(values, named)


@dataclass(frozen=True, slots=True)
class _Table:
    path: tuple[str, ...]
    section: str
    values: Mapping[str, Any]
    kind: str | None = None

    @property
    def title(self) -> str:
        return ".".join(clean(part) for part in self.path)


def _tables(document: Mapping[str, Any]) -> Iterator[_Table]:
    for section, table in document.items():
        if not isinstance(table, dict):
            table, section = {section: table}, ""
        if section == SITES:
            yield from _site_tables(table)
            continue
        if section != NAMED:
            yield _Table((section,) if section else (), section, table)
            continue
        for kind, names in table.items():
            if not isinstance(names, dict):
                yield _Table((NAMED,), "", {kind: names}, kind)
                continue
            if not names:
                yield _Table((NAMED, kind), "", {}, kind)
            for name, values in names.items():
                if isinstance(values, dict):
                    yield _Table((NAMED, kind, name), name, values, kind)
                else:  # [providers.exa] api_key = …
                    yield _Table((NAMED, kind), "", {name: values}, kind)


def _site_tables(table: Mapping[str, Any]) -> Iterator[_Table]:
    """Yield `[sites.NAME]`, whose section is written with its dot; what stands beside them belongs to none."""
    loose = {name: values for name, values in table.items() if not isinstance(values, dict)}
    if loose:
        yield _Table((SITES,), SITES, loose)
    for name, values in table.items():
        if name not in loose:
            yield _Table((SITES, name), f"{SITES}.{name}", values)


def _placed(error: SettingsError, path: Path, text: str, table: _Table, key: str | None = None) -> SettingsError:
    """Return the error with the file and the line in front of the key."""
    problem = error.detail.removeprefix(f"{error.field}: ")
    line = line_of(text, table.path, key)
    where = f"{path}:{line}" if line else str(path)
    return SettingsError(f"{where}: {error.field}", problem, hint=error.hint)


def line_of(text: str, table: tuple[str, ...], key: str | None = None) -> int | None:
    """Return the number of the line that sets `key` in `table` (or begins the table), None when it is not plain."""
    inside: list[str] = []
    for number, line in _plain_lines(text):
        header = _HEADER.fullmatch(line)
        if header:
            inside = _parts(header["name"])
            if key is None and inside == list(table):
                return number
        elif key is not None and (found := _KEY.match(line)) and [*inside, *_parts(found["name"])] == [*table, key]:
            return number
    return None


def _plain_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, by number, on which a table or a key can begin: not those inside a longer text or list."""
    quotes, depth = "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not quotes and depth <= 0:
            depth = 0
            yield number, line
        quotes, depth = _after(line, quotes, depth)


def _after(line: str, quotes: str, depth: int) -> tuple[str, int]:
    """Return what is open after a line: the quotes of a text of several lines, or "", and how many brackets."""
    at = 0
    while True:
        if quotes:
            end = _ENDS[quotes].match(line, at)
            if end is None:
                return quotes, depth
            quotes, at = "", end.end()
        token = _TOKEN.search(line, at)
        if token is None:
            return quotes, depth
        at = token.end()
        if token.group() in _ENDS:
            quotes = token.group()
        else:
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group(), 0)


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]


def replace_file(path: Path, contents: bytes, mode: int = 0o600) -> None:
    """Write beside and rename, for its owner alone from the first byte: a crash leaves the old file, never half a file.

    Raises:
        OSError: it cannot be written; the old file stands as it was.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(descriptor)  # or a power cut could keep the new name and lose the contents
        if mode != 0o600:
            beside.chmod(mode)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time read, change and write a file of the settings folder, which is made if need be.

    Raises:
        SettingsError: the folder cannot be written to, or another process keeps it for longer than `LOCK_WAIT`.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise SettingsError(str(folder), f"cannot be written to: {error.strerror}") from None
    try:
        ends = time.monotonic() + LOCK_WAIT
        while not _take(descriptor):
            if time.monotonic() >= ends:
                raise SettingsError(str(folder), "is being changed by another process", hint="try again later")
            time.sleep(_LOCK_POLL)
        yield
    finally:
        os.close(descriptor)  # gives the lock back, as the end of the process would


def _take(descriptor: int) -> bool:
    """Try to take the lock of an open file; False when another process has it."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: a key must be kept all the same
        return True
    return True
