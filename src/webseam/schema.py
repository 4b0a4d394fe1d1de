"""The settings there are: the core's keys, what all providers have, and what each kind of value may hold.

Apart from where values come from, so that a provider can describe its own keys without knowing about files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from webseam.errors import SettingsError

ValueKind = Literal["text", "whole", "number", "switch", "list"]
ENV_PREFIX: Final = "WEBSEAM_"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_MAX_SHOWN: Final = 40  # characters of a malformed value in an error
_MAX_WHOLE: Final = 2**63 - 1  # what the shared state can count to
_SHOWABLE = re.compile(rf"[\w .,+-]{{0,{_MAX_SHOWN}}}")  # no URL, no pair, no address
_LIKE_A_KEY = re.compile(r"(?i)key|token|secret|passw|bearer|credential|sk-|(?=[\w-]*[0-9])[\w-]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key of one section.

    Attributes:
        env: further environment names, after `WEBSEAM_<SECTION>_<KEY>`, in order of precedence.
        secret: never shown. guarded: a project file may set it only in a trusted folder.
    """

    name: str
    kind: ValueKind = "text"
    default: Any = None
    help: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    env: tuple[str, ...] = ()
    secret: bool = False
    guarded: bool = False


def _number(name: str, default: float, help: str, *, high: float | None = None) -> Setting:
    return Setting(name=name, kind="number", default=default, help=help, low=0, high=high)


def _budget(what: str) -> tuple[Setting, ...]:
    """Return the four limits of a budget. A project may set none: it could lift those of the user."""
    return tuple(
        Setting(name=f"max_{unit}_{period}", kind=kind, low=0, guarded=True, help=f"most {words} a {period} {what}")
        for unit, kind, words in _UNITS
        for period in ("day", "month")
    )


_UNITS: Final[tuple[tuple[str, ValueKind, str], ...]] = (
    ("calls", "whole", "calls"),
    ("dollars", "number", "US dollars"),
)


CORE: Final[dict[str, tuple[Setting, ...]]] = {
    "search": (
        Setting(name="provider", default="auto", env=("WEB_SEARCH_PROVIDER",), help="auto, a name, a list, or fuse"),
        Setting(name="order", kind="list", help="the order auto tries providers in"),
        Setting(name="allow", kind="list", help="only these providers may ever be used"),
        Setting(name="deny", kind="list", help="these providers are never used"),
        Setting(name="count", kind="whole", default=10, low=1, high=100, help="hits wanted"),
        _number("timeout", 30.0, "seconds for a whole search", high=600),
        _number("provider_timeout", 15.0, "seconds for one provider", high=600),
        _number("hedge", 0.0, "seconds of silence after which the next provider starts too; 0 = never", high=60),
        _number("repeat_window", 120.0, "seconds in which the same query is answered from memory; 0 = never"),
        _number("cache_ttl", 900.0, "seconds a response is kept; 0 turns the cache off"),
        Setting(name="local_only", kind="switch", default=False, help="send no query off this network"),
        Setting(name="strict", kind="switch", default=False, help="an option a provider lacks is an error"),
        Setting(name="language", help="default language, BCP 47"),
        Setting(name="region", help="default region, ISO 3166-1"),
        Setting(name="safe", choices=("off", "moderate", "strict"), help="default adult-content filter"),
    ),
    "net": (
        Setting(name="proxy", guarded=True, help="http, https or socks5h URL; the only proxy ever used"),
        Setting(name="ca_bundle", guarded=True, help="PEM file trusted instead of the system's store"),
        Setting(
            name="local_dns", kind="switch", default=False, guarded=True, help="judge addresses here despite a proxy"
        ),
    ),
    "fetch": (
        Setting(name="allow", kind="list", guarded=True, help="hosts or networks of one's own that may be reached"),
        _number("timeout", 20.0, "seconds for one page", high=600),
        Setting(name="max_tokens", kind="whole", default=0, low=0, help="most tokens of a page at once; 0 = all of it"),
        Setting(name="robots", choices=("off", "warn", "obey"), default="off", help="what robots.txt means here"),
        Setting(name="cache", kind="switch", default=True, help="keep pages as their servers allow, for this user"),
        Setting(name="cache_size", kind="whole", default=200, low=1, help="MiB of disk for kept pages"),
        Setting(name="per_host", kind="whole", default=4, low=1, high=64, help="requests to one host at a time"),
        Setting(name="archive", kind="switch", default=False, guarded=True, help="ask the archive for what is gone"),
        Setting(
            name="archive_url", default="https://archive.org", guarded=True, help="where the Wayback Machine answers"
        ),
        Setting(
            name="remote_readers",
            kind="list",
            guarded=True,
            help="services that may read a page which cannot be read here; they are told its URL",
        ),
        Setting(name="browser", kind="switch", default=True, help="use a browser where a page needs one, if installed"),
        Setting(name="browser_path", guarded=True, help="the browser's program; else the first that is found"),
    ),
    "mcp": (
        Setting(
            name="structured",
            kind="switch",
            default=False,
            help="send the response object along with the text; some clients then drop the text and its frame",
        ),
        Setting(name="api_key", secret=True, guarded=True, help="the key a client must send over HTTP"),
        Setting(name="hosts", kind="list", guarded=True, help="further Host values that are served over HTTP"),
        Setting(name="origins", kind="list", guarded=True, help="further Origin values that are served over HTTP"),
        Setting(
            name="concurrency", kind="whole", default=16, low=1, high=1000, guarded=True, help="calls over HTTP at once"
        ),
    ),
    "budget": _budget("of all providers together; days and months are those of UTC"),
    "state": (
        # guarded: budgets are counted in this file, and a project could lift those of the user
        Setting(
            name="enabled",
            kind="switch",
            default=True,
            guarded=True,
            help="keep health, pace and cache in a shared file",
        ),
    ),
    "index": (Setting(name="folders", kind="list", guarded=True, help="folders of documentation to index"),),
    "trust": (Setting(name="folders", kind="list", guarded=True, help="folders whose webseam.toml may set anything"),),
}

PROVIDER_COMMON: Final[tuple[Setting, ...]] = (
    Setting(name="api_key", secret=True, guarded=True, help="the key; better saved with `webseam key set`"),
    Setting(name="base_url", guarded=True, help="where the service answers"),
    Setting(name="timeout", kind="number", low=0.1, high=600, help="seconds for one call of this provider"),
    Setting(name="enabled", kind="switch", default=True, help="off = never used"),
    Setting(name="price", kind="number", low=0, guarded=True, help="US dollars a call, where you pay another price"),
    *_budget("of this provider"),
)


@cache
def environment_name(section: str, key: str) -> str:
    """Return the environment name of a setting, `WEBSEAM_<SECTION>_<KEY>`."""
    return f"{ENV_PREFIX}{section}_{key}".replace("-", "_").replace(".", "_").upper()


@cache
def core_setting(section: str, key: str) -> Setting:
    """Return the description of a core setting."""
    return next(setting for setting in CORE[section] if setting.name == key)


def check(setting: Setting, raw: Any, section: str, origin: str) -> Any:
    """Return `raw` as the kind of value `setting` holds.

    Raises:
        SettingsError: naming the key, the source and what would be right.
    """
    name = f"{section}.{setting.name}"
    if isinstance(raw, bool) and str(raw).lower() in setting.choices:  # TOML's true, where "true" is one of the words
        raw = str(raw).lower()
    try:
        value = _CONVERT[setting.kind](raw)
    except (ValueError, TypeError, OverflowError):
        raise SettingsError(name, f"{_shown(setting, raw)} in {origin} is not {_WORDS[setting.kind]}") from None
    if setting.choices and value not in setting.choices:
        raise SettingsError(name, f"{_shown(setting, raw)} in {origin} is not one of {', '.join(setting.choices)}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = setting.low, setting.high
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            wanted = f"at least {low:g}" if high is None else f"from {low or 0:g} to {high:g}"
            raise SettingsError(name, f"{_shown(setting, raw)} in {origin} is not {wanted}")
        if setting.kind == "whole" and abs(value) > _MAX_WHOLE:
            raise SettingsError(name, f"{_shown(setting, raw)} in {origin} is too large")
    return value


def _shown(setting: Setting, raw: Any) -> str:
    """Return what an error calls a malformed value: as it was written only where that cannot be a key.

    A malformed value is often one that was meant for another setting, so what this setting holds says nothing.
    """
    if setting.secret:
        return "the value"
    if isinstance(raw, (list, tuple)):
        return "a list"
    if isinstance(raw, dict):
        return "a table"
    if isinstance(raw, str):
        return repr(raw) if _SHOWABLE.fullmatch(raw) and not _LIKE_A_KEY.search(raw) else "the value"
    if isinstance(raw, int):
        return repr(raw) if abs(raw) <= _MAX_WHOLE else "the value"  # Python refuses to write down a very long one
    return repr(raw) if isinstance(raw, float) else "the value"


def _text(raw: Any) -> str:
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        raise ValueError
    return str(raw)


def _whole(raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, (str, int)):
        raise ValueError
    return int(raw)


def _decimal(raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        raise ValueError
    value = float(raw)
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError
    return value


def switch_of(raw: Any) -> bool:
    word = str(raw).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError
    return word in _TRUE


def list_of(raw: Any) -> tuple[str, ...]:
    items = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        raise ValueError
    return tuple(item.strip() for item in items if item.strip())


_CONVERT: dict[ValueKind, Callable[[Any], Any]] = {
    "text": _text,
    "whole": _whole,
    "number": _decimal,
    "switch": switch_of,
    "list": list_of,
}
_WORDS: dict[ValueKind, str] = {
    "text": "text",
    "whole": "a whole number",
    "number": "a number",
    "switch": "true or false",
    "list": "a list of words",
}
