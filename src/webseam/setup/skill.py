"""The skill: a page that tells an agent with a shell how to use the command, for agents that are given no tools.

Its text is package data. The copy in `skills/webseam` of the repository, from where agents install it by hand, is
checked to be the same by a test.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Final

from webseam.errors import RequestError
from webseam.setup.clients import Client
from webseam.setup.contents import Contents
from webseam.setup.diff import shown
from webseam.setup.entry import NAME
from webseam.setup.machine import Machine
from webseam.setup.malformed import Malformed
from webseam.setup.plan import Change, File, Kind

SKILL_FILE: Final = "SKILL.md"
_MARK: Final = "written-by: webseam setup skill"  # in its head; without it a file is somebody else's


def skill_text() -> str:
    """Return the text of the skill."""
    return (files("webseam.setup") / "skill" / SKILL_FILE).read_text("utf-8")


def skill_files(clients: Iterable[Client], machine: Machine) -> dict[str, list[Client]]:
    """Return where the skill goes for these clients, and who reads it there."""
    readers: dict[str, list[Client]] = {}
    for client in clients:
        folder = machine.first(client.skills or ())
        if folder is not None:
            readers.setdefault(skill_file(folder, machine), []).append(client)
    return readers


def skill_file(folder: str, machine: Machine) -> str:
    """Return the path of the skill in a folder of skills."""
    return str(machine.path(folder) / NAME / SKILL_FILE)


def plan_skill(file: File) -> Change:
    """Return what writes the skill. A file that is not ours is kept as a backup."""
    text = skill_text()
    if file.contents == text.encode():
        return Change(file.path, "nothing", file.contents, file.contents)
    after = text.encode()
    kind: Kind = "add" if file.contents is None else "update"
    foreign = file.contents is not None and not _is_ours(file)
    return Change(file.path, kind, file.contents, after, _diff(file, after), foreign and file.backup is None)


def plan_skill_removal(file: File) -> Change:
    """Return what takes the skill away; the file that was there before it comes back.

    Raises:
        RequestError: the file there is not ours.
    """
    if file.contents is None:
        return Change(file.path, "nothing", None, None)
    if not _is_ours(file):
        raise RequestError(file.path, "was not written by webseam; nothing was changed")
    kind: Kind = "delete" if file.backup is None else "restore"
    return Change(file.path, kind, file.contents, file.backup, _diff(file, file.backup))


def _is_ours(file: File) -> bool:
    """True for the skill of any version of webseam."""
    return _MARK.encode() in (file.contents or b"")


def _diff(file: File, after: bytes | None) -> str:
    return shown(file.path, _text(file.contents), _text(after), lambda text, begin, stop: text[begin:stop])


def _text(contents: bytes | None) -> str | None:
    if contents is None:
        return None
    try:
        return Contents.of(contents).text
    except Malformed:
        return contents.decode("utf-8", "replace")
