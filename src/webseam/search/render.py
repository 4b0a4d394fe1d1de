"""Search results as text: for a person at a terminal, for a model, and as bare URLs.

Every front shows results through here, so that what a model reads is the same over MCP, HTTP and the command line.
Hits are cleaned when they are parsed; what is added here is escaping for the place they go to.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from webseam.fetch.fences import fenced
from webseam.model import Attempt, SearchHit, SearchResponse
from webseam.text import clip, squeeze

MODEL_SNIPPET: Final = 300  # characters; ten hits then cost a model under 1,500 tokens
_PERSON_SNIPPET: Final = 240
_PASSAGES_SHOWN: Final = 1
_MARKDOWN_SPECIALS: Final = str.maketrans({character: "\\" + character for character in "\\`*_[]<>#|"})
# Of the last line, which is ours and quotes others: enough that no link, image or tag forms, and outcomes stay words.
_LINK_SPECIALS: Final = str.maketrans({character: "\\" + character for character in "\\`[]<>"})


def for_model(response: SearchResponse, *, step: str | None = None, whole_passages: bool = False) -> str:
    """Return Markdown for a model: a numbered list, then one line on who answered, what was dropped and what to do.

    Args:
        step: what to do next when nothing came, where the caller knows better.
        whole_passages: show the passages of hits with their lines as they stand, as documentation needs it.
    """
    blocks = []
    if response.answer:
        blocks.append(f"Answer by the provider: {_escape(squeeze(response.answer))}")
    for number, hit in enumerate(response.hits, start=1):
        lines = [f"[{number}] {_escape(hit.title) if hit.title else host(hit.url)}", f"    {hit.url}"]
        facts = _facts(hit)
        if facts:
            lines.append(f"    {_escape(facts)}")
        text = clip(squeeze(hit.snippet or " ".join(hit.passages[:_PASSAGES_SHOWN])), MODEL_SNIPPET)
        if text:
            lines.append(f"    {_escape(text)}")
        if whole_passages:
            lines += [fenced(passage) for passage in hit.passages]
        blocks.append("\n".join(lines))
    blocks.append(" ".join(summary(response, step=step)).translate(_LINK_SPECIALS))
    return "\n\n".join(blocks) + "\n"


def for_person(response: SearchResponse, *, width: int = 100, colour: bool = False) -> str:
    """Return plain text for a terminal of `width` columns."""
    bold, dim, blue, plain = ("\x1b[1m", "\x1b[2m", "\x1b[34m", "\x1b[0m") if colour else ("", "", "", "")
    blocks = []
    if response.answer:
        blocks.append(textwrap.fill(squeeze(response.answer), width))
    for number, hit in enumerate(response.hits, start=1):
        title = clip(hit.title or host(hit.url), max(20, width - 4))
        lines = [f"{number:>2}. {bold}{title}{plain}", f"    {blue}{hit.url}{plain}"]
        text = clip(squeeze(hit.snippet or " ".join(hit.passages[:_PASSAGES_SHOWN])), _PERSON_SNIPPET)
        if text:
            lines += textwrap.wrap(text, max(20, width - 4), initial_indent="    ", subsequent_indent="    ")
        facts = _facts(hit)
        if facts:
            lines.append(f"    {dim}{facts}{plain}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def urls(response: SearchResponse) -> str:
    """Return one URL a line."""
    return "".join(f"{hit.url}\n" for hit in response.hits)


def host(url: str) -> str:
    """Return the host of a URL, for hits without a title."""
    try:
        return urlsplit(url).hostname or url
    except ValueError:
        return url


def _facts(hit: SearchHit) -> str:
    return " · ".join(fact for fact in (hit.site, hit.published and hit.published[:10], hit.author) if fact)


def _escape(text: str) -> str:
    return text.translate(_MARKDOWN_SPECIALS)


def summary(response: SearchResponse, *, step: str | None = None) -> list[str]:
    """Return sentences on who answered, what was left out, and the next step when nothing came."""
    names = ", ".join(dict.fromkeys(name for hit in response.hits for name in hit.providers))
    said = []
    if response.hits:
        number = "1 result" if len(response.hits) == 1 else f"{len(response.hits)} results"
        said.append(f"{number} from {names}" + (" (cached)." if response.cached else "."))
    elif response.outcome.answered:  # not by the attempts: where one failed, that another had nothing is no answer
        asked = ", ".join(one.provider for one in response.attempts if one.outcome.answered)
        fate = f"what {asked} found was left out" if response.outcome == "filtered" else f"{asked} found nothing"
        said.append(f"No results: {fate}.")
    else:
        said.append(f"The search failed ({response.outcome}): {(response.detail or '').rstrip('.')}.")
    if response.dropped:
        said.append("Left out: " + ", ".join(f"{count} {reason}" for reason, count in response.dropped.items()) + ".")
    said += [note[:1].upper() + note[1:] + "." for note in response.notes]
    failed = failures(response.attempts)
    if failed and response.hits:
        said.append(f"Did not answer: {failed}.")
    step = step or next_step(response)
    if step:
        said.append(step)
    return said


def failures(attempts: Sequence[Attempt]) -> str:
    """Return the providers that were asked and failed, with their outcomes; "" when there are none."""
    return ", ".join(
        f"{one.provider} ({one.outcome})"
        for one in attempts
        if not one.outcome.answered and one.outcome not in ("unavailable", "cancelled")
    )


def next_step(response: SearchResponse) -> str | None:
    """Return what to try next when nothing was found, from what really happened."""
    if response.hits:
        return None
    if response.outcome == "filtered":
        reasons = ", ".join(response.dropped) or "the filters"
        return f"Try again with fewer filters (what was found was dropped by: {reasons})."
    if response.outcome == "empty":
        return "Try other or fewer words."
    return f"Next: {response.hint}." if response.hint else None
