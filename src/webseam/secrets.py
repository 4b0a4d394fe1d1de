"""Keys: where they are kept and how they are found, so that they are never printed.

Order: environment, the user's settings file, then saved keys: the system keyring when the `keyring` extra is there,
else a file created 0600. The file lists which providers have a keyring entry, because asking the keyring itself costs
over 100 ms of imports. Must not log: every value here is a secret.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from webseam.config import config_folder, file_stamp, is_open_to_others
from webseam.errors import SettingsError
from webseam.settings_file import locked, replace_file

KEYS_FILE = "keys.json"
_KEYRING_SERVICE = "webseam"
_KEYRING_MARK = {"keyring": True}
MAX_KEY = 4_096  # characters; longer is a pasted file, not a key


@dataclass(frozen=True, slots=True)
class Key:
    """A key and where it came from. Its repr shows neither the key nor a part of it."""

    value: str = field(repr=False)
    origin: str = ""

    @property
    def identity(self) -> str:
        """A short fingerprint that tells keys apart in the shared state without keeping them."""
        return fingerprint(self.value)


def fingerprint(secret: str) -> str:
    """Return 16 hex digits that identify a secret; "" for none. Salted by purpose, so it matches no other tool's."""
    return hashlib.sha256(b"webseam-key:" + secret.encode()).hexdigest()[:16] if secret else ""


def check_key(value: str) -> str:
    """Return a key as it can travel in a header.

    Raises:
        SettingsError: empty, too long, or with characters no key has (the value is not repeated).
    """
    key = value.strip()
    if not key:
        raise SettingsError("key", "is empty")
    if len(key) > MAX_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError("key", "has spaces or characters that no key has", hint="copy only the key itself")
    return key


def key_files(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files that variables name as holding a key. Told by their names: asking would load all providers."""
    named = (environment[name].strip() for name in environment if name.endswith("_KEY_FILE"))
    return tuple(Path(place).expanduser() for place in named if place)


class SavedKeys:
    """The keys kept by `webseam key set`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.path = config_folder(environment) / KEYS_FILE
        self._stamp: tuple[int, ...] | None = None
        self._entries: dict[str, object] = {}
        self.warning: str | None = None

    def stamp(self) -> tuple[int, ...] | None:
        """Return what changes when a key is saved or removed by any process."""
        return file_stamp(self.path)

    def get(self, provider: str) -> Key | None:
        """Return the saved key of a provider, or None."""
        entry = self._read().get(provider)
        if isinstance(entry, str):
            return Key(entry, f"saved in {self.path}")
        if entry == _KEYRING_MARK:
            value = _keyring_get(provider)
            return Key(value, "system keyring") if value else None
        return None

    def names(self) -> tuple[str, ...]:
        """Return the ids of the providers with a saved key."""
        return tuple(sorted(self._read()))

    def set(self, provider: str, value: str) -> str:
        """Save a key and return where it was put."""
        key = check_key(value)
        self._read()  # what is wrong with the file is wrong before the folder is touched
        with locked(self.path.parent):
            entries = dict(self._read(again=True))
            stored = _keyring_set(provider, key)
            entries[provider] = _KEYRING_MARK if stored else key
            self._write(entries)
            if not stored:
                _keyring_delete(provider)  # one of before, or one that the keyring took and did not give back
        return "system keyring" if stored else str(self.path)

    def remove(self, provider: str) -> bool:
        """Forget a key, also what a keyring still has of an earlier one; False when there was none."""
        if provider not in self._read():
            return False
        with locked(self.path.parent):
            entries = dict(self._read(again=True))
            there = provider in entries
            entries.pop(provider, None)
            _keyring_delete(provider)
            if there:
                self._write(entries)
        return there

    def _read(self, *, again: bool = False) -> dict[str, object]:
        stamp = file_stamp(self.path)
        if stamp is None:
            self._stamp, self._entries, self.warning = None, {}, None
            return self._entries
        if stamp == self._stamp and not again:
            return self._entries
        try:
            self.warning = _exposed(self.path)
            entries = json.loads(self.path.read_text("utf-8"))
            if not isinstance(entries, dict):
                raise ValueError
        except (OSError, ValueError, RecursionError):
            raise SettingsError(
                str(self.path), "is not readable as saved keys", hint="move it away and set the keys again"
            ) from None
        self._stamp, self._entries = stamp, entries
        return entries

    def _write(self, entries: dict[str, object]) -> None:
        try:
            replace_file(self.path, json.dumps(entries, indent=1, sort_keys=True).encode())
        except OSError as error:
            raise SettingsError(str(self.path), f"cannot be written: {error.strerror}") from None
        self._stamp = None


def _exposed(path: Path) -> str | None:
    """Return the warning about a file that others can read, or None."""
    if not is_open_to_others(path):
        return None
    return f"{path} can be read by others: chmod 600 {shlex.quote(str(path))}"


def _keyring_get(provider: str) -> str | None:
    try:
        import keyring

        value: str | None = keyring.get_password(_KEYRING_SERVICE, provider)
        return value
    except Exception:  # noqa: BLE001 - back ends raise whatever their desktop raises; none of it may stop a search
        return None


def _keyring_set(provider: str, value: str) -> bool:
    """True when the system keyring took the key and gives it back; a headless machine has none that does."""
    try:
        import keyring

        keyring.set_password(_KEYRING_SERVICE, provider, value)
        return bool(keyring.get_password(_KEYRING_SERVICE, provider) == value)
    except Exception:  # noqa: BLE001 - as above
        return False


def _keyring_delete(provider: str) -> None:
    try:
        import keyring

        keyring.delete_password(_KEYRING_SERVICE, provider)
    except Exception:  # noqa: BLE001 - an entry that is gone already is what was wanted
        return
