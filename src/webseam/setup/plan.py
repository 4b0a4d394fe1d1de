"""What would change in a client's file. Nothing here writes: a plan is made of bytes and gives bytes.

A backup is the file as it was before webseam came. Nothing else is remembered: whether a file is still what was made of
its backup is found out by making it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from webseam.errors import SettingsError
from webseam.setup.clients import Client
from webseam.setup.contents import Contents
from webseam.setup.diff import masked, shown, words_of
from webseam.setup.editors import EDITORS, Editor, entry_in, with_entry, without_entry
from webseam.setup.entry import NAME, Entry
from webseam.setup.malformed import Malformed, Unfit
from webseam.setup.start import SERVE

Kind = Literal["add", "update", "remove", "restore", "delete", "nothing"]


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is now.

    Attributes:
        path: where. contents: None when it is not there. backup: the file before webseam came, None without one.
    """

    path: str
    contents: bytes | None
    backup: bytes | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a file.

    Attributes:
        kind: "add" or "update" an entry, "remove" it, "restore" the file of before, "delete" ours, or "nothing".
        before, after: its bytes; None is no file.
        diff: what a person is shown; values that are not ours are masked.
        backs_up: whether the bytes of now are kept beside it.
    """

    path: str
    kind: Kind
    before: bytes | None
    after: bytes | None
    diff: str = ""
    backs_up: bool = False


def plan_entry(client: Client, entry: Entry, file: File) -> Change:
    """Return what gives a client its entry.

    Raises:
        SettingsError: the file cannot be read or changed; says where, and what to write by hand.
    """
    editor = EDITORS[client.style]
    path = (*client.section, NAME)
    with _Explained(client, file, entry):
        old = Contents.of(file.contents)
        existing = entry_in(editor.load(old.text), path)
        changed, dropped = entry.changes(_plain(existing or {}))
        text = with_entry(editor, old.text, path, entry.new(), changed, dropped)
    if text == old.text and file.contents is not None:
        return Change(file.path, "nothing", file.contents, file.contents)
    after = old.with_text(text)
    diff = _diff(editor, file, after, words_of(entry.new()))
    backs_up = file.contents is not None and (existing is None or file.backup is None)
    return Change(file.path, "add" if existing is None else "update", file.contents, after, diff, backs_up)


def plan_removal(client: Client, file: File) -> Change:
    """Return what takes a client's entry away: the file of before when ours is all that changed, else our entry alone.

    Raises:
        SettingsError: the file cannot be read or changed; says where.
    """
    editor = EDITORS[client.style]
    path = (*client.section, NAME)
    with _Explained(client, file):
        old = Contents.of(file.contents)
        entry = entry_in(editor.load(old.text), path)
        if entry is None or file.contents is None:
            return Change(file.path, "nothing", file.contents, file.contents)
        kind: Kind = "remove"
        after: bytes | None = None
        if _made_of(editor, client, file.backup, entry) == file.contents:
            kind, after = ("delete" if file.backup is None else "restore"), file.backup
        else:
            text = without_entry(editor, old.text, path, prune=not _had_section(editor, client, file.backup))
            after = old.with_text(text)
    return Change(file.path, kind, file.contents, after, _diff(editor, file, after, _constants(client)))


def snippet(client: Client, entry: Entry) -> str:
    """Return what a file of the client holds when our entry is all there is in it."""
    return EDITORS[client.style].add("", client.section, NAME, entry.new())


def _made_of(editor: Editor, client: Client, backup: bytes | None, entry: Mapping[str, Any]) -> bytes | None:
    """Return what webseam makes of the file of before with the entry of now; None when it cannot be told."""
    path = (*client.section, NAME)
    values = _plain(entry)
    ours = {*client.stdio.fixed, *(client.http.fixed if client.http else ())}
    try:
        old = Contents.of(backup)
        existing = entry_in(editor.load(old.text), path)
        differs = {key for key in values if existing and key in ours and entry[key] != existing.get(key)}
        changed = {key: values[key] for key in values if key in differs}
        dropped = [key for key in existing or () if key in ours and key not in entry]
        return old.with_text(with_entry(editor, old.text, path, values, changed, dropped))
    except (Malformed, Unfit):
        return None


def _had_section(editor: Editor, client: Client, backup: bytes | None) -> bool:
    """True when the file had a place for servers before webseam came."""
    try:
        return backup is not None and entry_in(editor.load(Contents.of(backup).text), client.section) is not None
    except (Malformed, Unfit):
        return True


def _constants(client: Client) -> frozenset[str]:
    """Return every text that webseam writes for a client whatever the machine."""
    shapes = [client.stdio, *([client.http] if client.http else [])]
    return frozenset({NAME, SERVE}.union(*(words_of({**one.fixed, **one.initial}) for one in shapes)))


def _plain(value: Any) -> Any:
    """Return a loaded value as it was before it was loaded: YAML gives pairs of tag and text."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, tuple):
        tag, text = value
        return {"bool": text == "true", "int": int(text) if text.isdigit() else text}.get(tag, text)
    return value


def _diff(editor: Editor, file: File, after: bytes | None, ours: frozenset[str]) -> str:
    before = None if file.contents is None else Contents.of(file.contents).text
    new = None if after is None else Contents.of(after).text
    return shown(file.path, before, new, lambda text, begin, stop: masked(text, begin, stop, editor.private, ours))


class _Explained:
    """Makes what went wrong with a file an error that names it, the place in it and what to do."""

    def __init__(self, client: Client, file: File, entry: Entry | None = None) -> None:
        self._client, self._file, self._entry = client, file, entry

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Malformed):
            where = "".join(f":{number}" for number in (error.line, error.column) if number)
            kind = {"json": "JSON", "jsonc": "JSON", "toml": "TOML", "yaml": "YAML"}[self._client.style]
            words = f"cannot be read as {kind}: {error.problem}; nothing was changed"
            hint = f"mend it, or let {self._client.label} do so, and run webseam setup {self._client.id} again"
            raise SettingsError(self._file.path + where, words, hint=hint) from None
        if isinstance(error, Unfit):
            words = f"{error}; nothing was changed"
            hint = f"webseam setup --print {self._client.id} shows what to write by hand"
            raise SettingsError(self._file.path, words, hint=hint) from None


def section_name(section: Sequence[str]) -> str:
    """Return where in a file an entry stands, with dots."""
    return ".".join((*section, NAME))
