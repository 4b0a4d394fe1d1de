"""Reading one settings file: TOML, every key checked, and each mistake named by file, line and key.

Apart from `config`, which says who wins over whom: this knows how values are written down. A table
`[providers.KIND.NAME]` sets up one more provider of a kind under a name of its own; its values are kept under the
section NAME, like those of any provider.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from webseam.errors import SettingsError
from webseam.schema import Setting, check
from webseam.text import clean

NAMED: Final = "providers"  # the table under which providers are set up under further names
_HEADER = re.compile(r"\s*\[\s*(?P<name>[^\[\]#]+?)\s*\]\s*(?:#.*)?")
_KEY = re.compile(r"\s*(?P<name>[A-Za-z0-9_.\"'-]+?)\s*=")

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
        if section != NAMED:
            yield _Table((section,) if section else (), section, table)
            continue
        for kind, names in table.items():
            if not isinstance(names, dict):
                yield _Table((NAMED,), "", {kind: names}, kind)
                continue
            for name, values in names.items():
                if isinstance(values, dict):
                    yield _Table((NAMED, kind, name), name, values, kind)
                else:  # [providers.exa] api_key = …
                    yield _Table((NAMED, kind), "", {name: values}, kind)


def _placed(error: SettingsError, path: Path, text: str, table: _Table, key: str | None = None) -> SettingsError:
    """Return the error with the file and the line in front of the key."""
    problem = error.detail.removeprefix(f"{error.field}: ")
    line = line_of(text, table.path, key)
    where = f"{path}:{line}" if line else str(path)
    return SettingsError(f"{where}: {error.field}", problem, hint=error.hint)


def line_of(text: str, table: tuple[str, ...], key: str | None = None) -> int | None:
    """Return the number of the line that sets `key` in `table` (or begins the table), None when it is not plain."""
    inside: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.fullmatch(line)
        if header:
            inside = _parts(header["name"])
            if key is None and inside == list(table):
                return number
        elif key is not None and (found := _KEY.match(line)) and [*inside, *_parts(found["name"])] == [*table, key]:
            return number
    return None


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]
