"""Which providers a search may use, in which order, and why the others are passed over.

Everything about choice is decided here before anything is sent, so that what is skipped can be listed with its reason
and nothing that costs or discloses is used by surprise. Must not send anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from webseam import providers
from webseam.config import Settings
from webseam.errors import Outcome, ProviderError, RequestError, SettingsError
from webseam.model import Attempt
from webseam.providers.base import Provider, ProviderConfig
from webseam.providers.setup import configure, enabled, places
from webseam.secrets import Key, SavedKeys

AUTO: Final = "auto"
FUSE: Final = "fuse"
FUSED: Final = 3  # providers that a bare `fuse` asks at once


@dataclass(frozen=True, slots=True)
class Candidate:
    """A provider with the setup it would be used with."""

    provider: Provider
    config: ProviderConfig

    @property
    def id(self) -> str:
        return self.provider.id


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask. `one` never falls back; `chain` stops at the first answer; `fuse` asks all and merges.

    `notices` is what is to be said once before anything is sent.
    `identity` is who is asked, with which keys, where and how set up: two plans with the same are the same to a cache.
    """

    kind: Literal["one", "chain", "fuse"]
    candidates: tuple[Candidate, ...]
    skipped: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(init=False, repr=False, compare=False)
    identity: tuple[tuple[Any, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        told = (one.provider.notice(one.config) for one in self.candidates)
        object.__setattr__(self, "notices", tuple(notice for notice in told if notice))
        who = ((one.id, one.config.key_identity, one.config.base_url, one.config.values) for one in self.candidates)
        asked = tuple((name, key, place, *values.values()) for name, key, place, values in who)
        object.__setattr__(self, "identity", asked)


def plan(
    choice: str | None,
    settings: Settings,
    saved: SavedKeys,
    *,
    local_only: bool | None = None,
    key: Key | None = None,
) -> Plan:
    """Return the plan for `choice`: "auto", a name, "a,b,c", "fuse" or "fuse:a,b,c"; None = the setting.

    `key` is used for a single named provider in place of the one that is set up.

    Raises:
        SettingsError: an unknown name, proposing the nearest. ProviderError: a named provider cannot be used.
    """
    wanted = (choice if choice is not None else settings.get("search", "provider")).strip().lower()
    check_rules(settings)
    if local_only is not None:
        settings = settings.override({("search", "local_only"): local_only})
    if wanted == AUTO:
        return _auto(settings, saved)
    kind, names = _names(wanted)
    if kind == "fuse" and not names:
        automatic = _auto(settings, saved)
        networked = [one for one in automatic.candidates if not one.provider.local]
        usable = networked or list(automatic.candidates)
        chosen = list(dict.fromkeys(one.id for one in usable))[:FUSED]  # with all the places each can be asked at
        found = tuple(one for one in usable if one.id in chosen)
        return Plan("fuse", found, automatic.skipped, automatic.notes)
    return _named(kind, names, settings, saved, key)


def is_lasting(found: Plan, settings: Settings, saved: SavedKeys) -> bool:
    """True when nothing but a changed file can change a plan.

    A program may be installed meanwhile, and a locked keyring opened: no file tells of either.
    """
    kept = saved.names()
    return all(
        one.provider not in kept and providers.get(one.provider, settings.named).means != "program"
        for one in found.skipped
    )


def _names(wanted: str) -> tuple[Literal["one", "chain", "fuse"], list[str]]:
    head, _, tail = wanted.partition(":")
    fused = head == FUSE
    names = [name.strip() for name in (tail if fused else wanted).split(",") if name.strip()]
    if not fused and not names:
        raise RequestError("provider", "names no provider", hint="auto, a name, a list such as a,b, or fuse")
    known = list(dict.fromkeys(names))
    if fused:
        return "fuse", known
    return ("one" if len(known) == 1 else "chain"), known


def refusal(provider: Provider, settings: Settings, config: ProviderConfig) -> str | None:
    """Return why the user's own rules forbid this provider, or None. They bind whoever named it."""
    allow, deny = _rule(settings, "allow"), _rule(settings, "deny")
    if allow and provider.id not in allow:
        return "not in search.allow"
    if provider.id in deny:
        return "in search.deny"
    if not enabled(provider, settings):
        return "switched off in the settings"
    if settings.get("search", "local_only") and not (provider.is_private(config.values) or provider.local):
        return "sends the query off this network (local-only is on)"
    return None


def _rule(settings: Settings, key: str) -> list[str]:
    return [name.lower() for name in settings.get("search", key) or ()]


def check_rules(settings: Settings) -> None:
    """Refuse a rule with an unknown name: a misspelt `deny` would let the query go where the user forbade it."""
    for key in ("allow", "deny"):
        for name in _rule(settings, key):
            try:
                providers.get(name, settings.named)
            except SettingsError as error:
                raise SettingsError(f"search.{key}", error.detail.split(": ", 1)[1], hint=error.hint) from None


def _auto(settings: Settings, saved: SavedKeys) -> Plan:
    names = list(dict.fromkeys(_rule(settings, "order"))) or _usual_order(settings, saved)
    found: list[Candidate] = []
    skipped: list[Attempt] = []
    for name in names:
        provider = providers.get(name, settings.named)
        usable, passed_over = _places(provider, settings, saved)
        found.extend(usable)
        skipped.extend(passed_over)
    return Plan("chain", tuple(found), tuple(skipped))


def _usual_order(settings: Settings, saved: SavedKeys) -> list[str]:
    """Return who is asked when no order is set: those with a rank.

    Who only wants to ask within this network has set up their own engine for just that, so it needs no naming then.
    """
    every = list(providers.every(settings.named))
    found = [one for one in every if one.rank is not None]
    if settings.get("search", "local_only"):
        own = [one for one in every if one.rank is None and _is_private(one, settings, saved)]
        place = next((at for at, one in enumerate(found) if one.local), len(found))
        found[place:place] = own
    return [one.id for one in found]


def _is_private(provider: Provider, settings: Settings, saved: SavedKeys) -> bool:
    if not provider.private and all(setting.name != "private" for setting in provider.settings):
        return False  # nothing of its settings matters then, not even a mistake in them
    return provider.is_private(configure(provider, settings, saved).values)


def _named(
    kind: Literal["one", "chain", "fuse"], names: list[str], settings: Settings, saved: SavedKeys, key: Key | None
) -> Plan:
    found: list[Candidate] = []
    skipped: list[Attempt] = []
    notes: list[str] = []
    for name in names:
        provider = providers.get(name, settings.named)
        usable, passed_over = _places(provider, settings, saved, key)
        stand_in = None if usable else _keyless(provider, settings, saved)
        if stand_in is not None:
            own, _ = _places(stand_in, settings, saved)
            if own:
                provider, usable, passed_over = stand_in, own, []
                notes.append(f"{name} has no key, so {provider.id} was asked ({provider.receives} receives the query)")
        if kind == "one" and not usable:
            raise _cannot_use(provider, passed_over)
        if all(one.id != provider.id for one in found):  # named itself too, or for two others
            found.extend(usable)
            skipped.extend(passed_over)
    return Plan(kind, tuple(found), tuple(skipped), tuple(notes))


def _places(
    provider: Provider, settings: Settings, saved: SavedKeys, key: Key | None = None
) -> tuple[list[Candidate], list[Attempt]]:
    """Return where a provider can be asked, and why it cannot at its other places."""
    found, skipped = [], []
    for config in places(provider, settings, saved, key=key):
        reason = refusal(provider, settings, config) or provider.unavailable(config)
        if reason is None:
            found.append(Candidate(provider.fitted(config), config))
        else:
            detail = f"{config.route} route: {reason}" if config.route else reason
            skipped.append(Attempt(provider=provider.id, outcome=Outcome.UNAVAILABLE, detail=detail))
    return found, skipped


def _keyless(provider: Provider, settings: Settings, saved: SavedKeys) -> Provider | None:
    """Return the free tier that takes this provider's place when it has no key; not when a rule forbids it."""
    config = configure(provider, settings, saved)
    if config.key or provider.key != "required" or refusal(provider, settings, config):
        return None
    return next((other for other in providers.every() if other.keyless_for == provider.id), None)


def _cannot_use(provider: Provider, skipped: list[Attempt]) -> ProviderError:
    reason = "; ".join(attempt.detail or "" for attempt in skipped)
    return ProviderError(
        f"{provider.id} cannot be used: {reason}",
        outcome=Outcome.UNAVAILABLE,
        provider=provider.id,
        hint=provider.hint or None,
        attempts=tuple(skipped),
    )


__all__ = ["AUTO", "FUSE", "Candidate", "Plan", "is_lasting", "plan", "refusal"]
