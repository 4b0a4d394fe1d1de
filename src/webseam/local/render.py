"""An entry of the index as a hit: where it is, what it says in one breath, and the lines that match the question."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Literal, cast

from webseam.local.query import Found
from webseam.local.rows import CODE
from webseam.local.terms import Term
from webseam.text import clip, squeeze

LocalKind = Literal["function", "class", "module", "readme", "man", "page"]

SNIPPET = 300  # characters
PASSAGE_LINES = 5
PASSAGE = 600  # characters
PASSAGES = 2
MAX_LINES = 400  # of an entry that are looked at
MAX_LINE = 1_000  # characters of each


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalHit:
    """One hit on this machine.

    Attributes:
        url: `python://package/module#name` of code, `file:///…#L12` of pages.
        package, version: of the distribution as it is installed; "python" is the standard library; empty for pages.
        passages: the matching lines, at most five and 600 characters each.
        score: higher is better; only comparable within one search.
        location: `file:///…#L12` of the source of code, None for what is written in C.
    """

    title: str
    url: str
    package: str
    version: str
    kind: LocalKind
    snippet: str
    passages: tuple[str, ...]
    score: float
    location: str | None


def hit_of(entry: Found, terms: list[Term]) -> LocalHit:
    location = None
    if entry.file:
        location = _file_url(entry.file) + (f"#L{entry.line}" if entry.line else "")
    doc = entry.doc
    start = doc[: 4 * SNIPPET]
    if entry.kind in CODE:
        title, url = entry.name, _python_url(entry)
        about = entry.summary or squeeze(start)
        shown = f"{entry.name[entry.split + 1 :] or entry.name}{entry.signature}"
        snippet = f"{clip(shown, SNIPPET // 2)}: {about}" if about else shown
    else:
        trail = [step for step in (entry.place or entry.package).split(" > ") if step and step != entry.name]
        title = " > ".join([*trail, entry.name])
        url = location or ""
        snippet = f"{entry.summary} {start}" if entry.summary else start
    return LocalHit(
        title=title,
        url=url,
        package=entry.package,
        version=entry.version,
        kind=cast("LocalKind", entry.kind),
        snippet=clip(squeeze(snippet), SNIPPET),
        passages=passages(doc, terms),
        score=round(entry.score, 4),
        location=location,
    )


@lru_cache(maxsize=1024)
def _file_url(path: str) -> str:
    return Path(path).as_uri()


def _python_url(entry: Found) -> str:
    module, name = entry.name[: entry.split], entry.name[entry.split + 1 :]
    return f"python://{entry.package.lower()}/{module}" + (f"#{name}" if name else "")


def passages(doc: str, terms: list[Term]) -> tuple[str, ...]:
    """Return the runs of lines with the most telling words of the question, in the order they stand."""
    lines = [line.rstrip() for line in doc.split("\n")[:MAX_LINES]]
    gains = _gains(lines, terms)
    chosen: list[tuple[int, int]] = []
    for _ in range(PASSAGES):
        most = max(gains)
        if most <= 0:
            break
        best = gains.index(most)
        start = max(0, best - 1)
        while start < best and not lines[start].strip():
            start += 1
        end = min(len(lines), start + PASSAGE_LINES)
        for number in range(start, end):
            gains[number] = 0.0
        if not any(start < other_end and other < end for other, other_end in chosen):
            chosen.append((start, end))
    return tuple(clip("\n".join(lines[start:end]).strip("\n"), PASSAGE) for start, end in sorted(chosen))


def _gains(lines: list[str], terms: list[Term]) -> list[float]:
    """How much of the question each line holds. Searching line by line took five times as long."""
    shown = [line[:MAX_LINE].lower() for line in lines]
    ends = list(accumulate(len(line) + 1 for line in shown))
    text = "\n".join(shown)
    gains = [0.0] * len(lines)
    for term in terms:
        for number in {bisect_right(ends, place) for place in term.places(text)}:
            gains[number] += term.weight
    return gains
