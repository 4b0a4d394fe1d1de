"""Keeping a key: it is tried with one real search first, and one that the service refuses is not kept.

A wrong key that is saved shows up much later, as a provider that is passed over; trying it costs one cheap call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from webseam.config import Settings
from webseam.errors import Outcome, ProviderError, RequestError
from webseam.providers.base import Provider
from webseam.providers.setup import find_key
from webseam.resilience.health import Health
from webseam.search.diagnose import Diagnosis
from webseam.secrets import SavedKeys, check_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A key that was kept.

    Attributes:
        place: where it lies. remark: what trying it showed, or why it was not tried.
        shadowed_by: what holds another key of this provider and wins over it; "" when nothing does.
    """

    place: str
    remark: str
    shadowed_by: str = ""


async def keep_key(
    provider: Provider,
    value: str,
    settings: Settings,
    saved: SavedKeys,
    health: Health,
    *,
    diagnose: Callable[[str, str], Awaitable[Diagnosis]] | None,
) -> Kept:
    """Save a key and return where; `diagnose` tries one, None = it is not tried.

    Raises:
        RequestError: the provider takes no key. SettingsError: the value cannot be one.
        ProviderError: auth, the service refused it; nothing was changed.
    """
    if provider.key == "none":
        raise RequestError("provider", f"{provider.id} takes no key")
    key = check_key(value)
    remark = await _tried(provider, key, saved, diagnose) if diagnose else "it was not tried"
    place = saved.set(provider.id, key)
    health.forget(provider.id)  # what was held against the old key says nothing about this one
    used = find_key(provider, settings, saved)
    return Kept(place=place, remark=remark, shadowed_by=used.origin if used is not None and used.value != key else "")


async def _tried(
    provider: Provider, key: str, saved: SavedKeys, diagnose: Callable[[str, str], Awaitable[Diagnosis]]
) -> str:
    """Make one search with a key and return what that says about it."""
    later = f"webseam doctor {provider.id} tries again"
    try:
        found = await diagnose(provider.id, key)
    except ProviderError as error:  # a rule of the user's own, or something else is missing: nobody was asked
        return f"it was not tried: {error.detail} ({later})"
    if found.outcome.answered:
        return f"one real search with it was answered ({found.hits} {'hit' if found.hits == 1 else 'hits'})"
    said = found.detail or found.outcome.value
    if found.outcome is Outcome.AUTH:
        kept = "the key that was saved before stays" if saved.get(provider.id) is not None else "it was not saved"
        raise ProviderError(
            f"{provider.label} refused the key: {said}; {kept}",
            outcome=Outcome.AUTH,
            provider=provider.id,
            hint=found.hint,
        )
    if found.outcome in (Outcome.QUOTA, Outcome.RATE_LIMITED) and "first_byte" in found.timings:
        state = "spent" if found.outcome is Outcome.QUOTA else "limited"
        return f"one real search with it was refused: the service knows the key, but it is {state} for now ({said})"
    return f"it could not be checked: {said} ({later})"
