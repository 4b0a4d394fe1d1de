"""How a provider is set up right now: its address, key and settings out of `Settings` and the saved keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from webseam.config import PROVIDER_COMMON, Settings, environment_name
from webseam.errors import SettingsError
from webseam.providers import section_of
from webseam.providers.base import Provider, ProviderConfig
from webseam.resilience.ledger import Limits
from webseam.secrets import Key, SavedKeys, check_key, fingerprint

_API_KEY, _BASE_URL, _TIMEOUT, _ENABLED, _PRICE, *_BUDGET = PROVIDER_COMMON
_MAX_KEY_FILE: Final = 65_536  # bytes read of a key file


def configure(provider: Provider, settings: Settings, saved: SavedKeys, *, key: Key | None = None) -> ProviderConfig:
    """Return what `provider` was set up with; whether that suffices is the provider's own `unavailable`.

    `key` is used in place of the one that was set up, to try it before it is kept.

    Raises:
        SettingsError: a value is malformed, naming it and its source.
    """
    section = section_of(provider.id)
    values: dict[str, Any] = {}
    secrets: list[str] = []
    for setting in provider.settings:
        value, _ = settings.read(section, setting)
        values[setting.name] = value
        if setting.secret and value:
            secrets.append(str(value))
    key = key or find_key(provider, settings, saved)
    if key is not None:
        secrets.append(key.value)
    timeout, _ = settings.read(section, _TIMEOUT)
    usual = provider.timeout or settings.get("search", "provider_timeout")
    price, _ = settings.read(section, _PRICE)
    return ProviderConfig(
        provider=provider.id,
        base_url=_base_url(provider, settings, section),
        key=key.value if key else "",
        key_identity=fingerprint(key.value) if key else "",
        key_origin=key.origin if key else "",
        timeout=usual if timeout is None else timeout,
        values=values,
        secrets=tuple(secrets),
        proxy=settings.get("net", "proxy"),
        ca_bundle=settings.get("net", "ca_bundle"),
        local_dns=settings.get("net", "local_dns"),
        price=provider.price if price is None else price,
        limits=limits_of(provider, settings),
        limits_in_all=limits_in_all(settings),
    )


def places(
    provider: Provider, settings: Settings, saved: SavedKeys, *, key: Key | None = None
) -> tuple[ProviderConfig, ...]:
    """Return each place that `provider` would be asked at, in order; see `Provider.routes`.

    Raises:
        SettingsError: as `configure`, and what the provider itself finds wrong.
    """
    return provider.routes(configure(provider, settings, saved, key=key), settings)


def limits_of(provider: Provider, settings: Settings) -> Limits:
    """Return the budget of one provider."""
    section = section_of(provider.id)
    return _limits({setting.name: settings.read(section, setting)[0] for setting in _BUDGET})


def limits_in_all(settings: Settings) -> Limits:
    """Return the budget of all providers together."""
    return _limits({setting.name: settings.get("budget", setting.name) for setting in _BUDGET})


def _limits(values: dict[str, Any]) -> Limits:
    return Limits(**{name.removeprefix("max_"): value for name, value in values.items()})


def enabled(provider: Provider, settings: Settings) -> bool:
    """False when the user switched this provider off."""
    return bool(settings.read(section_of(provider.id), _ENABLED)[0])


def find_key(provider: Provider, settings: Settings, saved: SavedKeys) -> Key | None:
    """Return the key of `provider` by precedence: environment, settings files, key file, saved keys."""
    if provider.key == "none":
        return None
    value, origin = settings.read(section_of(provider.id), replace(_API_KEY, env=provider.key_names(settings)))
    if value:
        return Key(_checked(provider, value, origin), origin)
    for name in provider.key_file_env:
        path = settings.variable(name)
        if path:
            return Key(_checked(provider, _first_line(name, path), f"{name}={path}"), f"{name}={path}")
    return saved.get(provider.id)


def _checked(provider: Provider, value: str, origin: str) -> str:
    try:
        return check_key(value)
    except SettingsError as error:
        problem = error.detail.split(": ", 1)[1]
        raise SettingsError(f"{provider.id} key", f"from {origin} {problem}", hint=error.hint) from None


def _first_line(name: str, path: str) -> str:
    try:
        with Path(path).expanduser().open("rb") as file:
            return file.read(_MAX_KEY_FILE).decode("utf-8-sig", "replace").split("\n", 1)[0]
    except OSError as error:
        raise SettingsError(name, f"{path} cannot be read: {error.strerror}") from None


def _base_url(provider: Provider, settings: Settings, section: str) -> str:
    value, origin = settings.read(section, replace(_BASE_URL, env=provider.base_env))
    if not value:
        value, origin = provider.address(settings), "WEB_SEARCH_API"
    if not value:
        return provider.base_url
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        sound = sound and value.isprintable() and " " not in value  # urlsplit drops line breaks without a word
    except ValueError:
        parts, sound = urlsplit(""), False
    field = origin if origin.isupper() else f"{section}.base_url"
    if not sound:
        raise SettingsError(field, "is not an http or https URL", hint="write it like http://localhost:8080")
    if parts.username is not None or parts.password is not None:
        raise SettingsError(field, "holds credentials", hint=f"set {environment_name(section, 'api_key')} instead")
    return str(value)
