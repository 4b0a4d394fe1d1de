"""Writing the files of clients: what stays as it was, what is kept, and what is refused."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.setup.world import STDIO
from webseam.errors import SettingsError
from webseam.setup.clients import BY_ID
from webseam.setup.entry import Server, entry_for
from webseam.setup.files import read, write
from webseam.setup.plan import Change, plan_entry, plan_removal

CLIENT = BY_ID["gemini"]
BEFORE = b'{\n  "a": 1\n}\n'


def change_of(path: Path, server: Server = STDIO) -> Change:
    return plan_entry(CLIENT, entry_for(CLIENT, server), read(str(path)))


def removal_of(path: Path) -> Change:
    return plan_removal(CLIENT, read(str(path)))


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    path.write_bytes(BEFORE)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_a_file_keeps_its_mode_and_the_backup_is_for_its_owner_alone(path: Path, mode: int) -> None:
    path.chmod(mode)
    backup = write(change_of(path))
    assert backup == path.with_name("settings.json.before-webseam")
    assert (mode_of(path), mode_of(backup), backup.read_bytes()) == (mode, 0o600, BEFORE)
    assert sorted(one.name for one in path.parent.iterdir()) == ["settings.json", "settings.json.before-webseam"]
    write(removal_of(path))
    assert (path.read_bytes(), mode_of(path)) == (BEFORE, mode)
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


def test_a_new_file_and_its_folder_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "one" / "two" / "settings.json"
    assert write(change_of(path)) is None
    assert (mode_of(path), mode_of(path.parent)) == (0o600, 0o700)
    write(removal_of(path))
    assert not path.exists()


def test_the_backup_stays_the_file_of_before_when_set_up_runs_again(path: Path) -> None:
    write(change_of(path))
    second = change_of(path, Server(("/elsewhere/webseam", "mcp")))
    assert (second.kind, second.backs_up) == ("update", False)
    backup = write(second)
    assert backup is not None
    assert backup.read_bytes() == BEFORE
    write(removal_of(path))
    assert path.read_bytes() == BEFORE


def test_a_backup_of_an_earlier_time_makes_way_once_the_entry_is_gone(path: Path) -> None:
    write(change_of(path))
    path.write_bytes(b'{"b": 2}')
    backup = write(change_of(path))
    assert backup is not None
    assert backup.read_bytes() == b'{"b": 2}'


def test_a_link_stays_a_link_and_the_file_it_leads_to_is_changed(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "dotfiles"
    link.symlink_to(path)
    backup = write(change_of(link))
    assert link.is_symlink()
    assert backup == path.with_name("settings.json.before-webseam")
    assert b"webseam" in path.read_bytes()
    write(removal_of(link))
    assert (link.is_symlink(), path.read_bytes()) == (True, BEFORE)


def test_a_link_to_nothing_yet_makes_the_file_it_leads_to(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real.json")
    write(change_of(link))
    assert link.is_symlink()
    assert b"webseam" in (tmp_path / "real.json").read_bytes()


def test_a_write_protected_file_is_left_alone(path: Path) -> None:
    path.chmod(0o444)
    with pytest.raises(SettingsError) as refused:
        write(change_of(path))
    assert refused.value.detail == f"{path}: is write-protected; nothing was changed"
    assert refused.value.hint == f"chmod u+w {path}"
    assert path.read_bytes() == BEFORE
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(path: Path) -> None:
    change = change_of(path)
    path.write_bytes(b'{"a": 2}')
    with pytest.raises(SettingsError) as refused:
        write(change)
    assert refused.value.detail == f"{path}: has just been changed by somebody else; run webseam setup again"
    assert path.read_bytes() == b'{"a": 2}'


def a_folder(at: Path) -> Path:
    (at / "settings.json").mkdir()
    return at / "settings.json"


def below_a_file(at: Path) -> Path:
    (at / "file").write_text("")
    return at / "file" / "settings.json"


def links_in_a_circle(at: Path) -> Path:
    (at / "settings.json").symlink_to(at / "other.json")
    (at / "other.json").symlink_to(at / "settings.json")
    return at / "settings.json"


def too_large(at: Path) -> Path:
    with (at / "settings.json").open("wb") as file:
        file.truncate(33 * 2**20)
    return at / "settings.json"


@pytest.mark.parametrize(
    ("made", "says"),
    [
        pytest.param(a_folder, "cannot be read: Is a directory", id="a folder"),
        pytest.param(below_a_file, "cannot be written: ", id="no folder can be made"),
        pytest.param(links_in_a_circle, "cannot be read: ", id="links in a circle"),
        pytest.param(too_large, "is too large to be a file of settings", id="too large"),
    ],
)
def test_a_file_that_cannot_be_read_or_written_is_an_error_that_names_it(
    tmp_path: Path, made: object, says: str
) -> None:
    path = made(tmp_path)  # type: ignore[operator]
    with pytest.raises(SettingsError) as refused:
        write(change_of(path))
    assert refused.value.detail.startswith(f"{path}: {says}")


@pytest.fixture
def ordinary_user() -> Iterator[None]:
    """Drop the rights of root, to whom no folder is closed, for one test."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder with a file that may be written to, where no file can be made: that of pytest is its owner's alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.json"
        path.write_bytes(BEFORE)
        path.chmod(0o666)
        Path(folder).chmod(0o555)
        yield path
        Path(folder).chmod(0o755)


@pytest.mark.usefixtures("closed_folder", "ordinary_user")
def test_a_folder_that_is_closed_leaves_the_file_as_it_was(closed_folder: Path) -> None:
    change = change_of(closed_folder)
    with pytest.raises(SettingsError) as refused:
        write(change)
    assert refused.value.detail == f"{closed_folder}: cannot be written: Permission denied; nothing was changed"
    assert closed_folder.read_bytes() == BEFORE


def test_a_write_that_fails_half_way_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    change = change_of(path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError) as refused:
        write(change)
    assert refused.value.detail == f"{path}: cannot be written: No space left on device; nothing was changed"
    assert path.read_bytes() == BEFORE
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]
