import os
import stat
import subprocess
import sys
import types
from pathlib import Path

import pytest

from webseam import settings_file
from webseam.errors import SettingsError
from webseam.secrets import KEYS_FILE, MAX_KEY, Key, SavedKeys, check_key, fingerprint
from webseam.settings_file import LOCK_FILE, locked

SECRET = "sk-planted-5f2c9"


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `import keyring` fail, as on a machine without the extra."""
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "made" / "config"


def saved_in(folder: Path) -> SavedKeys:
    return SavedKeys({"WEBSEAM_CONFIG_DIR": str(folder)})


@pytest.fixture
def keys(folder: Path, no_keyring: None) -> SavedKeys:
    return saved_in(folder)


def test_a_saved_key_is_found_by_the_next_process(keys: SavedKeys, folder: Path) -> None:
    where = keys.set("one", f"  {SECRET}\n")
    again = saved_in(folder)
    assert where == str(folder / KEYS_FILE)
    assert again.get("one") == keys.get("one") == Key(SECRET, f"saved in {folder / KEYS_FILE}")
    assert (again.get("two"), again.names()) == (None, ("one",))


def test_keys_are_listed_by_provider_changed_and_removed(keys: SavedKeys) -> None:
    keys.set("two", "key-2")
    keys.set("one", "key-1")
    keys.set("two", "key-3")
    assert keys.names() == ("one", "two")
    assert keys.get("two") == Key("key-3", f"saved in {keys.path}")
    assert [keys.remove("two"), keys.remove("two"), keys.remove("never")] == [True, False, False]
    assert (keys.names(), keys.get("two")) == (("one",), None)


def test_without_a_file_there_are_no_keys_and_none_is_made(keys: SavedKeys) -> None:
    assert (keys.names(), keys.get("one"), keys.remove("one"), keys.stamp()) == ((), None, False, None)
    assert not keys.path.parent.exists()


def test_a_key_saved_or_removed_by_another_process_is_seen(keys: SavedKeys, folder: Path) -> None:
    other = saved_in(folder)
    stamps = [keys.stamp()]
    seen = [keys.get("one")]
    for value in ("key-1", "key-2"):  # of one length, within one tick of the clock
        other.set("one", value)
        seen.append(keys.get("one"))
        stamps.append(keys.stamp())
    other.remove("one")
    seen.append(keys.get("one"))
    assert [key and key.value for key in seen] == [None, "key-1", "key-2", None]
    assert len(set(stamps)) == len(stamps)


@pytest.mark.parametrize(
    "value, problem",
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param(" \n", "is empty", id="white space"),
        pytest.param(f"{SECRET} {SECRET}", "has spaces or characters that no key has", id="space inside"),
        pytest.param(f"{SECRET}\nX-Evil: 1", "has spaces or characters that no key has", id="line break"),
        pytest.param(f"{SECRET}\x1b[31m", "has spaces or characters that no key has", id="escape"),
        pytest.param(f"{SECRET}é", "has spaces or characters that no key has", id="outside ASCII"),
        pytest.param(f"{SECRET}\udcff", "has spaces or characters that no key has", id="undecodable byte"),
        pytest.param(SECRET * MAX_KEY, "has spaces or characters that no key has", id="a whole file"),
    ],
)
def test_what_no_key_looks_like_is_refused_and_not_repeated(keys: SavedKeys, value: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        keys.set("one", value)
    assert caught.value.detail == f"key: {problem}"
    assert SECRET not in str(caught.value)
    assert keys.names() == ()


def test_a_key_is_trimmed() -> None:
    assert check_key(f"\t{SECRET}\r\n") == SECRET


def test_a_key_shows_in_no_repr(keys: SavedKeys) -> None:
    keys.set("one", SECRET)
    key = keys.get("one")
    assert key is not None
    assert repr(key) == f"Key(origin='saved in {keys.path}')"
    assert SECRET not in f"{keys!r} {keys.names()} {key.identity} {keys.warning}"


def test_a_fingerprint_tells_keys_apart_without_keeping_them() -> None:
    assert fingerprint("") == ""
    assert fingerprint(SECRET) == Key(SECRET).identity == fingerprint(SECRET)
    assert fingerprint(SECRET) != fingerprint(SECRET + "x")
    assert len(fingerprint(SECRET)) == 16
    assert set(fingerprint(SECRET)) <= set("0123456789abcdef")


def test_the_file_is_for_its_owner_alone_whatever_the_umask(folder: Path) -> None:
    code = (
        "import os, sys; os.umask(0); sys.modules['keyring'] = None\n"
        "from webseam.secrets import SavedKeys\n"
        "SavedKeys(os.environ).set('one', 'key-1')\n"
    )
    environment = {
        **os.environ,
        "WEBSEAM_CONFIG_DIR": str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / KEYS_FILE)]
    assert modes == [0o700, 0o600]


def test_the_file_is_0600_from_the_first_byte(keys: SavedKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    real_fdopen = os.fdopen

    def fdopen(descriptor: int, mode: str) -> object:
        status = os.fstat(descriptor)
        seen.append((stat.S_IMODE(status.st_mode), status.st_size))
        return real_fdopen(descriptor, mode)

    monkeypatch.setattr(os, "fdopen", fdopen)
    keys.set("one", SECRET)
    assert seen == [(0o600, 0)]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_used_with_a_warning_that_mends_it(keys: SavedKeys, mode: int) -> None:
    keys.set("one", SECRET)
    keys.path.chmod(mode)
    found = keys.get("one")
    assert found is not None
    assert (found.value, keys.warning) == (SECRET, f"{keys.path} can be read by others: chmod 600 {keys.path}")
    keys.path.chmod(0o600)
    assert (keys.names(), keys.warning) == (("one",), None)


def test_the_command_of_the_warning_can_be_pasted(tmp_path: Path, no_keyring: None) -> None:
    keys = saved_in(tmp_path / "my folder")
    keys.set("one", SECRET)
    keys.path.chmod(0o644)
    keys.names()
    assert keys.warning is not None
    subprocess.run(["sh", "-c", keys.warning.split("others: ")[1]], check=True, timeout=60)
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600


def test_saving_again_closes_a_file_that_was_open_to_others(keys: SavedKeys) -> None:
    keys.set("one", "key-1")
    keys.path.chmod(0o644)
    keys.set("two", "key-2")
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    keys: SavedKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys.set("one", "key-1")
    before = keys.path.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError) as caught:
        keys.set("two", SECRET)
    monkeypatch.undo()
    assert caught.value.detail == f"{keys.path}: cannot be written: No space left on device"
    assert keys.path.read_bytes() == before
    assert files_beside(keys) == [LOCK_FILE, KEYS_FILE]


def test_what_a_crashed_process_left_behind_is_no_obstacle(keys: SavedKeys) -> None:
    keys.path.parent.mkdir(parents=True)
    beside = keys.path.with_name(f".{KEYS_FILE}.{os.getpid()}")
    beside.write_text("half")
    keys.set("one", "key-1")
    assert files_beside(keys) == [LOCK_FILE, KEYS_FILE]


def files_beside(keys: SavedKeys) -> list[str]:
    return sorted(path.name for path in keys.path.parent.iterdir())


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, no_keyring: None) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError) as caught:
        saved_in(tmp_path / "file" / "config").set("one", "key-1")
    assert caught.value.detail == f"{tmp_path / 'file' / 'config'}: cannot be written to: Not a directory"


def test_processes_that_save_and_remove_at_once_lose_nothing(folder: Path) -> None:
    code = (
        "import os, sys; sys.modules['keyring'] = None\n"
        "from webseam.secrets import SavedKeys\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "keys = SavedKeys(os.environ)\n"
        "for number in range(25):\n"
        "    keys.set(f'{sys.argv[1]}-{number}', 'key-1')\n"
        "    keys.set('of-all', f'key-{number}')\n"
        "    keys.set(f'{sys.argv[1]}-gone', 'key-2'); keys.remove(f'{sys.argv[1]}-gone')\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "WEBSEAM_CONFIG_DIR": str(folder), "PYTHONPATH": path}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, name],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for name in "abc"
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:  # all at once, not one after the other's start
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    expected = {f"{name}-{number}" for name in "abc" for number in range(25)}
    assert set(saved_in(folder).names()) == {*expected, "of-all"}


def test_a_change_waits_for_another_one_and_not_for_ever(keys: SavedKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    keys.set("one", "key-1")
    monkeypatch.setattr(settings_file, "LOCK_WAIT", 0.1)
    with locked(keys.path.parent):
        for change in (lambda: keys.set("one", "key-2"), lambda: keys.remove("one")):
            with pytest.raises(SettingsError) as caught:
                change()
            assert caught.value.detail == f"{keys.path.parent}: is being changed by another process"
    assert keys.get("one") == Key("key-1", f"saved in {keys.path}")
    keys.set("one", "key-2")
    assert keys.get("one") == Key("key-2", f"saved in {keys.path}")


@pytest.mark.parametrize(
    "contents",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"one": "sk-planted-5f2c9"', id="cut short"),
        pytest.param(b'["sk-planted-5f2c9"]', id="no object"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b"[" * 100_000, id="nested too deeply"),
    ],
)
def test_a_corrupt_file_is_an_error_that_says_what_to_do_and_nothing_is_overwritten(
    keys: SavedKeys, contents: bytes
) -> None:
    keys.path.parent.mkdir(parents=True)
    keys.path.write_bytes(contents)
    for use in (lambda: keys.get("one"), keys.names, lambda: keys.set("one", "key-1"), lambda: keys.remove("one")):
        with pytest.raises(SettingsError) as caught:
            use()
        assert caught.value.detail == f"{keys.path}: is not readable as saved keys"
        assert caught.value.hint == "move it away and set the keys again"
        assert SECRET not in str(caught.value)
    assert keys.path.read_bytes() == contents


def test_an_entry_of_another_shape_is_no_key(keys: SavedKeys) -> None:
    keys.path.parent.mkdir(parents=True)
    keys.path.write_text('{"one": 5, "two": {"vault": true}, "three": "key-3"}')
    keys.path.chmod(0o600)
    found = [keys.get(name) for name in ("one", "two", "three")]
    assert found == [None, None, Key("key-3", f"saved in {keys.path}")]


class Vault(types.ModuleType):
    """A system keyring; `broken` is one without a desktop behind it, `silent` one that forgets."""

    def __init__(self, *, broken: bool = False, silent: bool = False) -> None:
        super().__init__("keyring")
        self.entries: dict[tuple[str, str], str] = {}
        self.broken, self.silent = broken, silent

    def set_password(self, service: str, name: str, value: str) -> None:
        if self.broken:
            raise RuntimeError("no backend")
        if not self.silent:
            self.entries[service, name] = value

    def get_password(self, service: str, name: str) -> str | None:
        if self.broken:
            raise RuntimeError("no backend")
        return self.entries.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
        del self.entries[service, name]


def test_a_keyring_takes_the_key_and_the_file_only_remembers_that(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = Vault()
    monkeypatch.setitem(sys.modules, "keyring", vault)
    keys = saved_in(folder)
    assert keys.set("one", SECRET) == "system keyring"
    assert keys.get("one") == Key(SECRET, "system keyring")
    assert SECRET not in keys.path.read_text()
    assert vault.entries == {("webseam", "one"): SECRET}
    assert keys.remove("one")
    assert (keys.get("one"), vault.entries) == (None, {})


@pytest.mark.parametrize("fails", ["silent", "broken"])
def test_a_key_that_goes_to_the_file_leaves_none_of_before_in_the_keyring(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    vault = Vault()
    monkeypatch.setitem(sys.modules, "keyring", vault)
    keys = saved_in(folder)
    keys.set("one", "key-1")
    setattr(vault, fails, True)
    assert keys.set("one", SECRET) == str(keys.path)
    assert (keys.get("one"), vault.entries) == (Key(SECRET, f"saved in {keys.path}"), {})


def test_removing_a_key_of_the_file_takes_a_forgotten_one_out_of_the_keyring_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    keys = saved_in(folder)
    keys.set("one", SECRET)
    vault = Vault()
    vault.entries = {("webseam", "one"): "key-1", ("webseam", "two"): "key-2"}
    monkeypatch.setitem(sys.modules, "keyring", vault)
    assert keys.remove("one")
    assert (keys.names(), vault.entries) == ((), {("webseam", "two"): "key-2"})


def test_an_entry_that_is_gone_from_the_keyring_is_no_key_and_can_be_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = Vault()
    monkeypatch.setitem(sys.modules, "keyring", vault)
    keys = saved_in(folder)
    keys.set("one", SECRET)
    vault.entries.clear()
    assert (keys.get("one"), keys.remove("one"), keys.names()) == (None, True, ())


@pytest.mark.parametrize("vault", [Vault(broken=True), Vault(silent=True)], ids=["raises", "forgets"])
def test_a_keyring_that_does_not_work_is_passed_over_for_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, vault: Vault
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", vault)
    keys = saved_in(folder)
    assert keys.set("one", SECRET) == str(keys.path)
    assert keys.get("one") == Key(SECRET, f"saved in {keys.path}")


def test_a_keyring_that_was_uninstalled_leaves_no_key_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", Vault())
    saved_in(folder).set("one", SECRET)
    monkeypatch.setitem(sys.modules, "keyring", None)
    keys = saved_in(folder)
    assert (keys.get("one"), keys.names()) == (None, ("one",))
