"""What every provider is, how it is set up and how it stands: for lists, `status`, pickers and documentation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from webseam import providers
from webseam.config import Settings
from webseam.errors import ProviderError, SettingsError
from webseam.providers.base import OPTIONS, Provider, ProviderConfig
from webseam.providers.setup import places
from webseam.resilience.health import Health
from webseam.search.exchange import place_of
from webseam.search.route import plan, refusal
from webseam.secrets import SavedKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderState:
    """One provider as it stands now.

    Attributes:
        state: in words, e.g. "ready" or "no key (EXA_API_KEY)".
        set_up: nothing is missing and no rule forbids it, whether or not it cools down.
        usable: it would be asked now. until: Unix time at which a cool-down ends, or None.
        in_auto: part of the default order. chosen: part of what the settings choose now.
        receives: who would get a query; "" when nobody does.
    """

    id: str
    label: str
    state: str
    usable: bool
    set_up: bool = False
    until: float | None = None
    in_auto: bool = False
    chosen: bool = False
    receives: str = ""
    key_origin: str = ""
    declared: dict[str, Any] = field(default_factory=dict)

    def as_object(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "id": self.id,
            "label": self.label,
            "state": self.state,
            "usable": self.usable,
            "set_up": self.set_up,
            "until": self.until,
            "auto": self.in_auto,
            "chosen": self.chosen,
            "receives": self.receives,
            "key_from": self.key_origin or None,
            **self.declared,
        }


def declared(provider: Provider) -> dict[str, Any]:
    """Return what a provider declares about itself as plain JSON types."""
    return {
        "key": provider.key,
        "key_env": list(provider.key_env),
        "base_url": provider.base_url or None,
        "base_url_env": list(provider.base_env),
        "options": {name: str(provider.support(name)) for name in OPTIONS},
        "kinds": {str(kind): str(support) for kind, support in provider.kinds.items()},
        "max_count": provider.max_count,
        "max_query": provider.max_query,
        "interval": provider.interval,
        "price": provider.price,
        "reads": provider.reads,
        "read_price": provider.read_price,
        "private": provider.private,
        "settings": [setting.name for setting in provider.schema()],
    }


def states(settings: Settings, saved: SavedKeys, health: Health) -> list[ProviderState]:
    """Return the state of every provider, in the default order."""
    chosen = _chosen(settings, saved)
    return [_state(one, settings, saved, health, chosen) for one in providers.every(settings.named)]


def _chosen(settings: Settings, saved: SavedKeys) -> frozenset[str]:
    try:
        found = plan(None, settings, saved)
    except (ProviderError, SettingsError):
        return frozenset(settings.get("search", "provider").split(","))
    return frozenset([*(one.id for one in found.candidates), *(one.provider for one in found.skipped)])


def _state(
    provider: Provider, settings: Settings, saved: SavedKeys, health: Health, chosen: frozenset[str]
) -> ProviderState:
    found: list[tuple[ProviderConfig, str | None]] = []
    try:
        for config in places(provider, settings, saved):
            found.append((config, refusal(provider, settings, config) or provider.unavailable(config)))
    except SettingsError as error:
        found = [(ProviderConfig(provider=provider.id), error.detail)]
    config, reason = next((one for one in found if one[1] is None), found[0])  # it is as well as its best place
    label = provider.label  # of a program that is set up it would be the name of the program
    provider = provider.fitted(config) if reason is None else provider
    standing = health.look(provider.id, place_of(provider, config))
    state = reason or (standing.reason if not standing.usable else "ready")
    return ProviderState(
        id=provider.id,
        label=label,
        state=state,
        usable=reason is None and standing.usable,
        set_up=reason is None,
        until=standing.until if reason is None else None,
        in_auto=provider.rank is not None,
        chosen=provider.id in chosen,
        receives=provider.receives,
        key_origin=config.key_origin,
        declared=declared(provider),
    )
