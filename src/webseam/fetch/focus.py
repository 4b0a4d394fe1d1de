"""The passages of a page that matter to a question, so that a model reads 800 tokens instead of 20,000.

Ranking is BM25 over whole blocks. What is particular to documentation is around it: identifiers count whole and in
their parts, a block is also about the headings and the signature it stands under, and the example after a sentence
comes with it. Nothing is asked of a model or a network.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final

from webseam.errors import RequestError
from webseam.fetch.blocks import Leaf, leaves, split
from webseam.fetch.budget import CHARACTERS_A_TOKEN, excerpts
from webseam.fetch.clean import inline_text
from webseam.model import Passage

_LONGEST_QUESTION: Final = 2_000  # characters; as a search query
_SATURATION: Final = 1.2  # BM25's k1: how soon a word said again stops counting
_LENGTH: Final = 0.4  # BM25's b; low, because a table or an example is long without being vague
_IN_HEADING: Final = 1.0  # what a word counts that the heading above has
_IN_OUTER: Final = 0.4  # the same of the headings above that
_IN_LEAD: Final = 1.0  # the same of the signature or term that a block explains
_NEIGHBOUR: Final = 0.25  # share of a score that rubs off on the blocks beside
_EXAMPLE: Final = 0.6  # share of a sentence's score that the code behind it gets at least
_WORTH: Final = 0.15  # share of the best score below which a block is not worth its tokens
_EXACT: Final = 2.5  # weight of an identifier as a whole, against a plain word
_PART: Final = 0.6  # weight of a part of an identifier
_SPLIT_ABOVE: Final = 1_200  # characters of a list item or quote above which its blocks are ranked one by one
_LEAD_LIMIT: Final = 500  # characters of a line that names what the blocks below explain
_SHORTEST_HALF: Final = 4  # letters of each half of a word that is written as one or as two
_INSTEAD: Final = 0.6  # what a word counts that stands for one of the question
_FIRST: Final = 1.15  # what the first block under a heading or signature counts: it says what the thing is
_SECTION_LIMIT: Final = 4_000  # characters of what one signature explains, for its words to count together
_BETWEEN: Final = 2  # characters of the blank line between two passages
_PIECES: Final = 4  # a large block is ranked in pieces of lines, each this share of the budget

_TOKEN = re.compile(r"[^\W_]+(?:(?:[._]|::|->|-(?=[a-z]))[^\W_]+)*|_+[^\W_]\w*")
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TARGET = re.compile(r"\]\((?:<[^<>\n]{0,4000}>|[^()\s]{0,4000})(?:[ \t]+\"[^\"\n]{0,500}\")?\)")
_SIGNATURE = re.compile(r"(?:[a-z]+ ){0,3}[\w.$:@-]+(?:\(|$|[ =:[])")
_STOP: Final = frozenset(
    "a an and are as at be been but by can could do does did for from had has have how i if in into is it its me my"
    " of on or our should so than that the their them then there these this to was we were what when where which while"
    " who why will with would you your use using used one way get there any not no".split()
)

_ALIKE: Final = (  # words of people and words of manuals
    "delete remove drop unlink erase",
    "make create build new",
    "change modify alter update",
    "error exception failure",
    "argument parameter option",
    "directory folder dir",
    "string str text",
    "integer int",
    "join concatenate concat",
    "find search lookup",
    "show display print",
    "stop terminate kill cancel",
    "start begin launch",
    "convert transform cast",
    "several multiple many repeated",
    "collect append gather",
    "function method",
    "faster performance speed",
    "memory ram",
    "save write store",
    "load read",
)


@dataclass(slots=True)
class _Unit:
    """What is ranked: a block, or a piece of one that is too large."""

    start: int
    end: int
    kind: str
    path: tuple[str, ...]
    lead: int = -1  # number of the unit that names what this one explains
    counts: dict[str, float] = field(default_factory=dict)
    own: float = 0.0  # words of its own
    score: float = 0.0


def focus(markdown: str, question: str, max_tokens: int) -> list[Passage]:
    """Return the passages of `markdown` that matter to `question`, in page order, together within `max_tokens`.

    An empty list means that no word of the question is on the page.

    Raises:
        RequestError: an empty question, a budget below one token.
    """
    if not question.strip():
        raise RequestError("focus", "it is empty", hint="say what you want to know of the page, or leave it out")
    if max_tokens < 1:
        raise RequestError("max_tokens", f"{max_tokens} is below one token")
    limit = max_tokens * CHARACTERS_A_TOKEN
    units = _units(markdown, limit)
    if not units:
        return []
    _count(markdown, units)
    wanted = _wanted(question[:_LONGEST_QUESTION], set().union(*(unit.counts for unit in units)))
    _score(units, wanted)
    _share(markdown, units)
    chosen = _choose(markdown, units, limit)
    return _passages(markdown, units, chosen, limit)


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of the question: its weight, and what counts for less in its place."""

    weight: float
    instead: tuple[str, ...] = ()


def _wanted(question: str, page: Collection[str]) -> dict[str, _Term]:
    """Return the terms of a question for a page with these terms."""
    wanted: dict[str, _Term] = {}
    words: list[str] = []
    for token in _TOKEN.findall(question):
        found = _terms_of(token)
        has_identifier = any(term[0] == "=" for term in found)
        for term in found:
            if term in _STOP:
                continue
            weight = _EXACT if term[0] == "=" else _PART if has_identifier else 1.0
            if term not in wanted or wanted[term].weight < weight:
                wanted[term] = _Term(weight, _SYNONYMS.get(term, ()))
            words.append(token.lower())
    for first, second in pairwise(words):  # "remove prefix" asks for `removeprefix`
        if (joined := _stem(first + second)) in page and joined not in wanted:
            wanted[joined] = _Term(_EXACT)
    for word in words:  # and "timezone" for a time zone
        for at in range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1):
            halves = (_stem(word[:at]), _stem(word[at:]))
            if halves[0] in page and halves[1] in page and not wanted.keys() & set(halves):
                wanted |= dict.fromkeys(halves, _Term(_PART))
    return wanted or {term: _Term(1.0) for term in _terms(question)}  # "what is it": better than nothing


def _terms(text: str) -> Iterator[str]:
    """Yield the terms of a text: stems of words, and identifiers whole behind a `=`, then their parts."""
    for token in _TOKEN.findall(text):
        yield from _terms_of(token)


@lru_cache(maxsize=16_384)  # a page says the same words again and again
def _terms_of(token: str) -> tuple[str, ...]:
    if _IDEOGRAPHS.search(token):  # no spaces between words: pairs of signs stand for them
        return tuple(map("".join, pairwise(token))) if len(token) > 1 else (token,)
    if token.islower() and token.isalpha():
        return (token if token in _STOP else _stem(token),)
    parts = [part.lower() for part in _PARTS.findall(token if token.isupper() else _CAMEL.sub(" ", token))]
    stems = [part if part in _STOP else _stem(part) for part in parts]
    if len(parts) == 1:
        return tuple(stems)
    whole = ["=" + token.lower().strip("_")]
    last = re.split(r"[.]|::|->", token)[-1]
    if last != token and len(last) >= _SHORTEST_HALF:
        whole.append("=" + last.lower().strip("_"))
    return (*whole, *stems)


def _stem(word: str) -> str:
    """Return a word without the endings of English; what is left need not be a word."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_SYNONYMS: Final = {
    _stem(word): tuple(_stem(other) for other in row.split() if other != word) for row in _ALIKE for word in row.split()
}


def _units(markdown: str, limit: int) -> list[_Unit]:
    units: list[_Unit] = []
    lead = -1
    for block in split(markdown):
        if block.kind == "heading":
            lead = -1
        size = block.end - block.start
        parts = leaves(markdown, block) if size > min(limit // _PIECES, _SPLIT_ABOVE) else []
        if len(parts) < 2:
            parts = [Leaf(block.start, block.end, block.kind)]
        for number, leaf in enumerate(parts):
            if leaf.kind in ("paragraph", "list") and _is_lead(markdown, leaf, first=number == 0 and len(parts) > 1):
                lead = len(units)
                units.append(_Unit(leaf.start, leaf.end, "lead", block.heading_path))
            else:
                for start, end in _pieces(markdown, leaf, limit):
                    units.append(_Unit(start, end, leaf.kind, block.heading_path, lead))
    return units


def _is_lead(markdown: str, leaf: Leaf, *, first: bool) -> bool:
    """True for a short line that names what follows: a signature, a term, an option, the head of a long item."""
    if leaf.end - leaf.start > _LEAD_LIMIT:
        return False
    line = markdown[leaf.start + len(leaf.prefix) : leaf.end].strip()
    if line.startswith("**") and line.endswith("**"):
        return True
    words = inline_text(_TARGET.sub("]", markdown[leaf.start : leaf.end])).strip("[]¶:-*+ ")
    return first or (
        "\n" not in line and not words.endswith((".", ":", "!", "?", ";", ",")) and bool(_SIGNATURE.match(words))
    )


def _pieces(markdown: str, leaf: Leaf, limit: int) -> Iterator[tuple[int, int]]:
    """Yield a block whole, or ranges of its lines where it would take the budget alone: rows of a table, mostly."""
    start = leaf.start
    most = limit // _PIECES if leaf.kind == "table" else limit // 2
    largest = max(1, limit // _PIECES) if leaf.end - start > most else limit
    while leaf.end - start > largest:
        border = markdown.rfind("\n", start + 1, start + largest) + 1
        if border <= start:  # one line longer than that
            border = markdown.find("\n", start, leaf.end) + 1 or leaf.end
        yield start, border
        start = border
    if start < leaf.end:
        yield start, leaf.end


def _count(markdown: str, units: list[_Unit]) -> None:
    """Fill in the words of each unit, its own and, weighed less, those of what it stands under."""
    headings: dict[tuple[str, ...], dict[str, float]] = {}
    own = []
    for unit in units:
        words = Counter(_terms(_TARGET.sub("]", markdown[unit.start : unit.end])))
        own.append(words)
        unit.own = sum(words.values())
        if unit.path not in headings:
            outer = dict.fromkeys(_terms(" ".join(unit.path[:-1])), _IN_OUTER)
            headings[unit.path] = outer | dict.fromkeys(_terms(" ".join(unit.path[-1:])), _IN_HEADING)
    for unit, words in zip(units, own, strict=True):
        weighed: dict[str, float] = dict(words)
        contexts = [headings[unit.path]] if unit.kind != "heading" else []
        if unit.lead >= 0:
            contexts.append(dict.fromkeys(own[unit.lead], _IN_LEAD))
        for context in contexts:
            for term, weight in context.items():
                weighed[term] = weighed.get(term, 0.0) + weight
        unit.counts = weighed


def _score(units: list[_Unit], wanted: dict[str, _Term]) -> None:
    average = sum(unit.own for unit in units) / len(units) or 1.0
    found = {term: [_frequency(unit, term, wanted[term]) for unit in units] for term in wanted}
    rarity = {}
    for term, counts in found.items():
        if having := sum(count > 0 for count in counts):
            rarity[term] = wanted[term].weight * math.log(1 + (len(units) - having + 0.5) / (having + 0.5))
    total = sum(rarity.values()) or 1.0
    sections: dict[int, set[str]] = {}  # terms that what one signature explains has anywhere
    sizes: Counter[int] = Counter()
    for number, unit in enumerate(units):
        sizes[unit.lead] += unit.end - unit.start
        sections.setdefault(unit.lead, set()).update(term for term in rarity if found[term][number])
    for number, unit in enumerate(units):
        if unit.kind == "heading":
            continue
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * max(unit.own, average / 2) / average)
        score = sum(
            weight * found[term][number] * (_SATURATION + 1) / (found[term][number] + norm)
            for term, weight in rarity.items()
        )
        covered = sum(weight for term, weight in rarity.items() if found[term][number]) / total
        together = covered
        if unit.lead >= 0 and sizes[unit.lead] <= _SECTION_LIMIT:
            together = sum(rarity[term] for term in sections[unit.lead]) / total
        is_first = number and (unit.lead == number - 1 or units[number - 1].kind == "heading")
        unit.score = score * (0.3 + (covered + together) / 2) * (_FIRST if is_first else 1.0)


def _frequency(unit: _Unit, term: str, wanted: _Term) -> float:
    return max(unit.counts.get(term, 0.0), *(_INSTEAD * unit.counts.get(other, 0.0) for other in wanted.instead), 0.0)


def _share(markdown: str, units: list[_Unit]) -> None:
    """Let a score rub off on the blocks beside, and on the example behind a sentence."""
    scores = [unit.score for unit in units]
    for number, unit in enumerate(units):
        if unit.kind == "heading":
            continue
        for other in (number - 1, number + 1):
            if 0 <= other < len(units) and units[other].path == unit.path and units[other].lead == unit.lead:
                unit.score += _NEIGHBOUR * scores[other] / 2
        if unit.kind == "code" and number and units[number - 1].path == unit.path:
            unit.score = max(unit.score, _EXAMPLE * scores[number - 1])


def _choose(markdown: str, units: list[_Unit], limit: int) -> set[int]:
    """Return the numbers of the units worth reading, best first until the budget is used."""
    ranked = sorted(range(len(units)), key=lambda number: -units[number].score)
    best = units[ranked[0]].score
    chosen: set[int] = set()
    used = 0
    for number in ranked:
        if units[number].score <= 0 or units[number].score < _WORTH * best:
            break
        for group in (_group(markdown, units, number), {number}):
            added = group - chosen
            size = sum(units[each].end - units[each].start + _BETWEEN for each in added)
            if used + size <= limit:
                chosen |= added
                used += size
                break
    return chosen


def _group(markdown: str, units: list[_Unit], number: int) -> set[int]:
    """Return a unit with what it is not understood without: its heading or signature, the example, its sentence."""
    group = {number}
    unit = units[number]
    following = number + 1
    if following < len(units) and units[following].path == unit.path:
        introduces = unit.kind != "code" and markdown[unit.start : unit.end].rstrip().endswith(":")
        if introduces or units[following].kind == "code" or unit.kind == "lead":
            group.add(following)
    first = number
    if unit.kind in ("code", "table") and number and units[number - 1].path == unit.path:
        first -= 1
    while first and units[first - 1].kind in ("heading", "lead") and units[first].kind != "heading":
        first -= 1
    return group | set(range(first, number))


def _passages(markdown: str, units: list[_Unit], chosen: set[int], limit: int) -> list[Passage]:
    runs: list[list[int]] = []
    for number in sorted(chosen):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    ranges = [(units[run[0]].start, units[run[-1]].end) for run in runs]
    found = [
        Passage(start, end, text, units[run[0]].path, max(units[number].score for number in run))
        for run, (start, end), text in zip(runs, ranges, excerpts(markdown, ranges), strict=True)
    ]
    kept: list[Passage] = []
    used = 0
    for passage in sorted(
        found, key=lambda passage: -passage.score
    ):  # fences and table heads may have made them longer
        if used + len(passage.text) + _BETWEEN <= limit or not kept:
            kept.append(passage)
            used += len(passage.text) + _BETWEEN
    return sorted(kept, key=lambda passage: passage.start)
