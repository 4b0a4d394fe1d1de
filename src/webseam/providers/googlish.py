"""What services that are Google's search, or resell it, share: how days, languages and absent results are spelt.

They differ in how the call is made and in how errors are said; that is in their own files. `listed` is of use to others
that leave the list out when it would be empty.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from webseam.errors import Outcome
from webseam.model import Freshness, SearchRequest
from webseam.providers.base import Reply, rows, shape
from webseam.providers.options import closed_range, date_range, is_traditional

PAGE: Final = 10  # results of one page of Google's, whatever number was asked for
_BUCKET: Final[dict[Freshness, str]] = {"day": "d", "week": "w", "month": "m", "year": "y"}
# Languages that results can be restricted to (`lr`); any other value is an error at some of these services.
_RESTRICTABLE: Final = frozenset(
    (
        "ar bg ca cs da de el en es et fi fr hr hu id is it iw ja ko lt lv nl no pl pt ro ru sk sl sr sv tr zh-CN zh-TW"
    ).split()
)
_REGIONAL: Final = {"pt-br": "pt-BR", "pt-pt": "pt-PT", "es-419": "es-419"}  # interface languages with a region
_NAMES: Final = {"he": "iw", "nb": "no", "nn": "no", "fil": "tl", "zh": "zh-CN"}


def us_day(day: date) -> str:
    """Return MM/DD/YYYY."""
    return f"{day:%m/%d/%Y}"


def when(search: SearchRequest, *, padded: bool = True) -> str | None:
    """Return the value of `tbs`, Google's own parameter for dates."""
    days = closed_range(search.after, search.before)
    if days:
        first, last = (us_day(day) if padded else f"{day.month}/{day.day}/{day.year}" for day in days)
        return f"cdr:1,cd_min:{first},cd_max:{last}"
    return f"qdr:{_BUCKET[search.freshness]}" if search.freshness else None


def years(search: SearchRequest) -> dict[str, str | None]:
    """Return the years that contain the wanted days: all that a search of papers can be limited to."""
    after, before = date_range(search)
    return {"as_ylo": after[:4] if after else None, "as_yhi": before[:4] if before else None}


def interface_language(language: str | None) -> str | None:
    """Return the value of `hl`. Results lean to it; a region is kept only where Google has a language for it."""
    if language is None:
        return None
    tag = language.lower()
    if tag in _REGIONAL:
        return _REGIONAL[tag]
    if is_traditional(tag):
        return "zh-TW"
    base = tag.split("-")[0]
    return _NAMES.get(base, base)


def result_language(language: str | None) -> str | None:
    """Return the value of `lr`, or None for a language that results cannot be restricted to."""
    name = interface_language(language)
    if name is None:
        return None
    code = name if name in _RESTRICTABLE else name.split("-")[0]
    return f"lang_{code}" if code in _RESTRICTABLE else None


def language_notes(label: str, search: SearchRequest) -> list[str]:
    """Say when a language could only be preferred."""
    if search.language is None or result_language(search.language):
        return []
    return [f"{label} prefers the language {search.language}; it cannot filter by it"]


def region(search: SearchRequest) -> str | None:
    """Return the value of `gl`."""
    return search.region.lower() if search.region else None


def adult_filter(search: SearchRequest) -> str | None:
    """Return the value of `safe`; there is nothing between on and off."""
    return None if search.safe is None else "off" if search.safe == "off" else "active"


def listed(reply: Reply, document: Any, own: frozenset[str], *names: str) -> list[dict[str, Any]]:
    """Return the rows under the first of `names` that is there; none when nothing was found.

    A service that found nothing leaves the list out, and so does any other JSON: `own` are the fields by which even an
    answer without results is known.

    Raises:
        ProviderError: the answer states an error, or is not one of this service at all.
    """
    from webseam.providers.verdicts import error_object

    if isinstance(document, dict):
        for name in names:
            if document.get(name) is not None:
                return rows(reply, document, name)
        error = error_object(reply, document)
        if error is not None and error.outcome is Outcome.EMPTY:
            return []
        if error is not None:
            raise error
        if own & document.keys():
            return []
    raise shape(reply, document, names[0])


def first_text(box: object, *names: str) -> str | None:
    """Return the first of these fields that holds words."""
    fields = box if isinstance(box, dict) else {}
    for name in names:
        text = fields.get(name)
        if isinstance(text, str) and text.strip():
            return text
    return None


__all__ = [
    "PAGE",
    "adult_filter",
    "first_text",
    "interface_language",
    "language_notes",
    "listed",
    "region",
    "result_language",
    "us_day",
    "when",
    "years",
]
