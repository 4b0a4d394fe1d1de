"""Who would answer the next search and why, who is passed over and until when, and how far budgets are used.

The same plan, health and ledger that a search looks at are asked here, so what is shown is what would happen. Sends
nothing and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from webseam import providers
from webseam.config import Settings, is_trusted
from webseam.errors import ProviderError
from webseam.model import Attempt
from webseam.providers.setup import configure, limits_in_all, limits_of
from webseam.resilience.budget import Budget, parts_of
from webseam.resilience.health import Health
from webseam.resilience.ledger import NO_LIMITS, Ledger
from webseam.schema import core_setting
from webseam.search.exchange import place_of
from webseam.search.route import AUTO, FUSE, Candidate, Plan, plan, refusal
from webseam.search.standing import tries_anyway
from webseam.secrets import SavedKeys

READY: Final = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place in the order: a provider as the next search would find it.

    Attributes:
        state: in words, e.g. "ready" or "no key (EXA_API_KEY)".
        until: Unix time until which it is passed over, None when that is up to the user or it is not.
        receives: who gets the query; "" when it stays on this machine. key_from: where its key was found, or "".
    """

    id: str
    usable: bool
    state: str
    until: float | None = None
    receives: str = ""
    key_from: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the next search would do.

    Attributes:
        mode: what chooses providers, as it is set, and mode_from: where.
        kind: "one", "chain" or "fuse". next: who is asked first; several when they are asked together.
        why: why those, in a sentence.
        order: whoever may be asked, in order, and whoever was named and cannot be.
        not_set_up: those of the order, unless it was named for this, that lack a key, an address or a program.
        ruled_out: those that the user's own rules keep out, by rule.
        receives: who gets the query of the next search; then_receives: who else, if those do not answer.
        notes: who stands in for whom, and what the settings files were warned about.
        project: the project's settings file, and whether its folder is trusted.
    """

    mode: str
    mode_from: str
    kind: str
    next: tuple[str, ...]
    why: str
    order: tuple[Place, ...] = ()
    not_set_up: tuple[str, ...] = ()
    ruled_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    receives: tuple[str, ...] = ()
    then_receives: tuple[str, ...] = ()
    budgets: tuple[Budget, ...] = ()
    notes: tuple[str, ...] = ()
    project: Path | None = None
    project_trusted: bool = False

    def as_object(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        places = ({name: getattr(one, name) for name in Place.__slots__} for one in self.order)
        return {
            "mode": self.mode,
            "mode_from": self.mode_from,
            "kind": self.kind,
            "next": list(self.next),
            "why": self.why,
            "providers": [{**place, "key_from": place["key_from"] or None} for place in places],
            "not_set_up": list(self.not_set_up),
            "ruled_out": {reason: list(names) for reason, names in self.ruled_out.items()},
            "receives": list(self.receives),
            "then_receives": list(self.then_receives),
            "budgets": [budget.as_object() for budget in self.budgets],
            "notes": list(self.notes),
            "project": None if self.project is None else {"file": str(self.project), "trusted": self.project_trusted},
        }


def look(settings: Settings, saved: SavedKeys, health: Health, ledger: Ledger, project: Path | None = None) -> Status:
    """Return what the next search would do; `project` is the project's settings file.

    Raises:
        SettingsError: the settings name a provider that does not exist, or hold a value that is none.
    """
    mode, origin = settings.read("search", core_setting("search", "provider"))
    try:
        found, failure = plan(None, settings, saved), None
    except ProviderError as error:
        found, failure = Plan("one", (), error.attempts), error.detail
    by_order = mode.strip().lower() in (AUTO, FUSE)
    places = [_place(one, health, ledger, pinned=found.kind == "one") for one in found.candidates]
    first = _together(places) if found.kind == "fuse" else _first(places)
    not_set_up, ruled_out = _missing(found, settings, saved) if by_order else ((), {})
    named = [] if by_order else [Place(id=one.provider, usable=False, state=_words(one)) for one in found.skipped]
    receives = _received_by(first)
    later = _received_by([] if found.kind == "fuse" else [one for one in places if one.usable])
    return Status(
        mode=mode,
        mode_from=origin,
        kind=found.kind,
        next=tuple(one.id for one in first),
        why=failure or _why(found, places, first, _order(settings, by_order=by_order)),
        order=(*places, *named),
        not_set_up=not_set_up,
        ruled_out=ruled_out,
        receives=receives,
        then_receives=tuple(one for one in later if one not in receives),
        budgets=tuple(budgets_set(settings, ledger)),
        notes=(*found.notes, *settings.warnings),
        project=project,
        project_trusted=project is not None and _is_trusted(project, settings),
    )


def budgets_set(settings: Settings, ledger: Ledger) -> list[Budget]:
    """Return every budget that is set, each provider's in their usual order and then that of all, and how far it is."""
    found = []
    for provider in providers.every(settings.named):
        limits = limits_of(provider, settings)
        if not limits.none:
            found += ledger.budgets(provider.id, limits)
    total = limits_in_all(settings)
    return found if total.none else [*found, *ledger.budgets(None, NO_LIMITS, total)]


def _place(candidate: Candidate, health: Health, ledger: Ledger, *, pinned: bool) -> Place:
    provider, config = candidate.provider, candidate.config
    standing = health.look(provider.id, place_of(provider, config))
    state, until = (READY, None) if standing.usable else (standing.reason, standing.until)
    usable = standing.usable or (pinned and tries_anyway(standing))
    if not config.limits.none or not config.limits_in_all.none:
        budgets = ledger.budgets(provider.id, config.limits, config.limits_in_all)
        full = next((budget for budget in budgets if not budget.leaves(parts_of(config.price))), None)
        if full is not None:
            usable, state, until = False, full.problem(parts_of(config.price)), full.starts_again
    return Place(
        id=provider.id,
        usable=usable,
        state=f"{config.route} route: {state}" if config.route else state,
        until=until,
        receives=provider.receives,
        key_from=config.key_origin,
    )


def _first(places: list[Place]) -> list[Place]:
    return [one for one in places if one.usable][:1]


def _together(places: list[Place]) -> list[Place]:
    """Return the first usable place of each provider; the others only stand in for it."""
    return list({one.id: one for one in reversed(places) if one.usable}.values())[::-1]


def _received_by(places: list[Place]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.receives for one in places if one.receives))


def _why(found: Plan, places: list[Place], first: list[Place], order: str) -> str:
    if not first:
        return "everybody who could be asked is passed over for now" if places else "nobody is set up"
    if found.kind == "one":
        return "it alone is asked, because it was named"
    if found.kind == "fuse":
        return "they are asked together and their hits are merged"
    before = [one.id for one in places[: places.index(first[0])]]
    if before:
        return f"it comes next in {order}, as {', '.join(before)} {'is' if len(before) == 1 else 'are'} passed over"
    return f"of those that are set up it comes first in {order}"


def _order(settings: Settings, *, by_order: bool) -> str:
    if not by_order:
        return "the list that was named"
    return "search.order" if settings.get("search", "order") else "the usual order"


def _missing(found: Plan, settings: Settings, saved: SavedKeys) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Sort who is left out into those that are not set up, and those that the user's own rules keep out."""
    asked = {one.id for one in found.candidates}
    left_out = [name for name in dict.fromkeys(one.provider for one in found.skipped) if name not in asked]
    not_set_up: list[str] = []
    ruled_out: dict[str, tuple[str, ...]] = {}
    for name in left_out:
        provider = providers.get(name, settings.named)
        reason = refusal(provider, settings, configure(provider, settings, saved))
        if reason is None:
            not_set_up.append(name)
        else:
            ruled_out[reason] = (*ruled_out.get(reason, ()), name)
    return tuple(not_set_up), ruled_out


def _words(attempt: Attempt) -> str:
    return attempt.detail or attempt.outcome.value


def _is_trusted(project: Path, settings: Settings) -> bool:
    """True when the folder of a project's file is trusted; the file itself has no say in that."""
    layers = tuple(layer for layer in settings.layers if layer.origin != str(project))
    own = Settings(settings.environment, settings.flags, layers)
    return is_trusted(project.parent, own.get("trust", "folders") or ())
