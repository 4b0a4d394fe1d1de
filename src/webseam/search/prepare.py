"""Turning the caller's request into what one provider can be sent, and saying what that provider cannot do.

Over-fetching, paging by dropping and the notes about options are the same for all providers, so they are worked out
here from the declarations; a provider's `request` sees a request it can meet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.providers.base import EMULATED, NATIVE, OPTIONS, UNSUPPORTED, Option, Provider

_EXTRA: Final = 5  # hits fetched beyond the wanted ones where some may be filtered out here


@dataclass(frozen=True, slots=True)
class Prepared:
    """`search` is what the provider gets, `skip` of its hits belong to earlier pages, `notes` say what differs."""

    search: SearchRequest
    skip: int
    notes: tuple[str, ...]


def prepare(provider: Provider, search: SearchRequest, *, strict: bool = False) -> Prepared:
    """Return the request for one provider.

    Raises:
        ProviderError: unsupported, before anything is sent: the query is too long for it, a further page it does not
            have, or with `strict` any option it lacks.
    """
    if len(search.query) > provider.max_query:
        raise _unsupported(
            provider, f"takes queries of at most {provider.max_query} characters, this has {len(search.query)}"
        )
    if _asks_nothing_special(provider, search):
        return Prepared(search, 0, ())
    lacking = [name for name in asked(search) if provider.support(name) is UNSUPPORTED and not _enforced_here(name)]
    paging = provider.support("page")
    skip = (search.page - 1) * search.count if paging is EMULATED else 0
    # Page 2 that repeats page 1 is worse than no page 2, so this is an error even when strict is off.
    if search.page > 1 and (paging is UNSUPPORTED or skip + search.count > provider.most(search)):
        raise _unsupported(provider, f"has no page {search.page} of {search.count} hits")
    if strict and (lacking or not _has_kind(provider, search)):
        names = [*lacking, *([] if _has_kind(provider, search) else [f"kind={search.kind}"])]
        raise _unsupported(provider, f"cannot do {', '.join(names)} (strict)")
    notes = [f"{provider.label} cannot filter by {name}; that was not applied" for name in lacking]
    if not _has_kind(provider, search):
        notes.append(f"{provider.label} cannot search {search.kind} sources alone; it searched everything")
    if search.freshness and (search.after or search.before):
        notes.append("after and before were used; freshness was ignored")
    # A further page begins after the hits that were wanted before, so it must not be of a larger size than they were.
    further = search.page > 1 and paging is NATIVE
    wanted = min(provider.most(search), (search.count if further else _fetched(provider, search)) + skip)
    if search.count > provider.most(search):
        notes.append(f"{provider.label} gives at most {provider.most(search)} hits a search")
    sent = search if wanted == search.count else replace(search, count=wanted)
    return Prepared(sent, skip, tuple(notes))


def _asks_nothing_special(provider: Provider, search: SearchRequest) -> bool:
    """True for the usual search, words and a count: nothing has to be weighed for it."""
    return (
        search.page == 1
        and search.kind == "web"
        and search.count <= provider.most(search)
        and not (search.include_domains or search.exclude_domains or search.freshness or search.after or search.before)
        and search.language is search.region is search.safe is None
    )


def asked(search: SearchRequest) -> list[Option]:
    """Return the options this request uses, paging aside."""
    present = {
        "include_domains": bool(search.include_domains),
        "exclude_domains": bool(search.exclude_domains),
        "freshness": bool(search.freshness) and not (search.after or search.before),
        "date_range": bool(search.after or search.before),
        "language": search.language is not None,
        "region": search.region is not None,
        "safe": search.safe is not None,
    }
    return [name for name in OPTIONS if present.get(name)]


def _enforced_here(name: Option) -> bool:
    """True for domains and dates: they hold whatever the provider does, so lacking them is not worth a note."""
    return name in ("include_domains", "exclude_domains", "freshness", "date_range")


def _has_kind(provider: Provider, search: SearchRequest) -> bool:
    return search.kind == "web" or search.kind in provider.kinds


def _fetched(provider: Provider, search: SearchRequest) -> int:
    """Return how many hits to ask for so that `count` are left after the filters here."""
    post = any(
        name in ("include_domains", "exclude_domains")  # also where native: services let other hosts slip through
        or (name in ("freshness", "date_range") and provider.support(name) is not NATIVE)
        for name in asked(search)
    )
    return max(search.count + _EXTRA, 2 * search.count) if post else search.count


def _unsupported(provider: Provider, words: str) -> ProviderError:
    return ProviderError(f"{provider.label} {words}", outcome=Outcome.UNSUPPORTED, provider=provider.id)
