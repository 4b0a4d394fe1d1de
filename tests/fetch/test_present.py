"""The part of a page that was asked for: from a fragment, by a cursor, as passages, as an outline."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest

from webseam.errors import Outcome, RequestError
from webseam.fetch.present import Found, present
from webseam.fetch.request import FetchRequest
from webseam.fetch.types import Link, Reading, Unreadable
from webseam.model import Heading, Page, Passage

URL = "https://example.org/guide"
TEXT = """# Guide

First things first, and a good deal of them, so that this is more than a few tokens.

## Install {#setup}

Run the installer of the widget.

```sh
pip install widget
```

## Use

Frobnicate the widget with care.
"""
INSTALL = TEXT.index("## Install")
USE = TEXT.index("## Use")


def page(markdown: str = TEXT, *, of: dict[str, Any] | None = None, bound: int | None = None, **wanted: Any) -> Page:
    reading = Reading(markdown=markdown, reader="html", **(of or {}))
    request = FetchRequest(**{"url": URL, **wanted})
    found = Found(reading=reading, final_url=URL, status=200)
    return asyncio.run(present(found, request, expires_at=math.inf, max_tokens=bound))


def test_without_a_bound_the_whole_page_is_there() -> None:
    whole = page()
    assert (whole.markdown, whole.truncated, whole.next_cursor, whole.notes) == (TEXT, False, None, ())
    assert (whole.url, whole.final_url, whole.status, whole.reader, whole.tokens) == (URL, URL, 200, "html", 56)


@pytest.mark.parametrize("budget", [10, 17, 30, 45, 60])
def test_cursors_give_the_whole_page_piece_by_piece(budget: int) -> None:
    pieces = [page(max_tokens=budget)]
    while pieces[-1].next_cursor:
        assert pieces[-1].truncated
        pieces.append(page(max_tokens=budget, cursor=pieces[-1].next_cursor))
    assert not pieces[-1].truncated
    words = [word for piece in pieces for word in piece.markdown.replace("```sh", "").replace("```", "").split()]
    assert words == TEXT.replace("```sh", "").replace("```", "").split()


def test_the_setting_is_the_bound_of_a_call_without_one() -> None:
    assert page(bound=20).markdown == page(max_tokens=20).markdown
    assert page(bound=20, max_tokens=1_000).markdown == TEXT


@pytest.mark.parametrize(
    ("cursor", "problem"),
    [
        pytest.param("nonsense", "is not one of ours", id="nonsense"),
        pytest.param("ä", "is not one of ours", id="not even letters"),
    ],
)
def test_a_cursor_that_is_none_is_invalid(cursor: str, problem: str) -> None:
    with pytest.raises(RequestError, match=problem) as raised:
        page(cursor=cursor)
    assert raised.value.field == "cursor"


def test_a_cursor_of_another_page_or_of_a_changed_one_is_invalid() -> None:
    cursor = page(max_tokens=20).next_cursor
    with pytest.raises(RequestError, match="belongs to another page"):
        page(cursor=cursor, url="https://example.org/other")
    with pytest.raises(RequestError, match="the page has changed since"):
        page(TEXT + "\nMore.\n", cursor=cursor)
    assert page(cursor=cursor, url=URL + "#use").markdown.startswith("First things")


@pytest.mark.parametrize(
    ("fragment", "start"),
    [
        pytest.param("setup", INSTALL, id="the page's own anchor"),
        pytest.param("use", USE, id="as GitHub would call it"),
        pytest.param("marked", USE, id="an anchor the reader found"),
        pytest.param(":~:text=widget", 0, id="a text to highlight"),
        pytest.param("!/route", 0, id="a route"),
    ],
)
def test_a_fragment_says_where_to_start(fragment: str, start: int) -> None:
    part = page(url=f"{URL}#{fragment}", of={"anchors": {"marked": USE}})
    assert part.markdown == TEXT[start:]
    assert bool(part.notes) is bool(start)


def test_what_is_removed_in_front_of_an_anchor_does_not_shift_it() -> None:
    dirty = TEXT.replace("First", "F\u200b\u200birst\u202e")
    part = page(dirty, url=f"{URL}#marked", of={"anchors": {"marked": dirty.index("## Use")}})
    assert part.markdown == TEXT[USE:]
    assert part.removed == {"direction": 1, "zero_width": 2}


def test_an_unknown_fragment_is_said_and_the_page_is_there() -> None:
    part = page(url=f"{URL}#nowhere")
    assert (part.markdown, part.notes) == (
        TEXT,
        ("nothing on the page is called #nowhere; this is the page from its start",),
    )


def test_a_focus_gives_passages_with_their_places_and_a_cursor_into_the_rest() -> None:
    filler = "\n".join(f"Paragraph {number} about nothing in particular at all.\n" for number in range(40))
    long = TEXT + "\n## Appendix\n\n" + filler
    part = page(long, focus="frobnicate", max_tokens=40)
    assert part.passages == (
        Passage(USE, long.index("\n## Appendix"), TEXT[USE:], ("Guide", "Use"), part.passages[0].score),
    )
    assert part.markdown == f"[…] Guide\n\n{TEXT[USE:]}"
    assert part.truncated
    rest = page(long, cursor=part.next_cursor)
    assert rest.markdown.strip() == long[long.index("## Appendix") :].strip()


def test_a_page_within_the_budget_is_its_own_passage() -> None:
    part = page(focus="frobnicate")
    assert (part.markdown, part.truncated) == (TEXT, False)
    assert part.passages == (Passage(0, len(TEXT), TEXT, (), 1.0),)


def test_a_focus_of_which_no_word_is_there_gives_the_start_and_says_so() -> None:
    part = page(focus="zygote", max_tokens=20)
    assert part.markdown.startswith("# Guide")
    assert part.notes[0] == "no word of the focus is on the page; this is its start"
    assert part.next_cursor


def test_an_outline_has_the_headings_and_how_large_their_sections_are() -> None:
    part = page(outline=True)
    assert part.outline == (
        Heading(1, "Guide", "guide", 0, 56),
        Heading(2, "Install", "setup", INSTALL, 22),
        Heading(2, "Use", "use", USE, 11),
    )
    assert part.markdown.splitlines()[2] == "  - Use #use (about 11 tokens)"


def test_images_are_text_and_what_is_unseen_is_gone_and_counted() -> None:
    part = page("See ![a cat](https://e.org/c.png?d=1).\U000e0041\n", of={"removed": {"hidden": 2, "script": 0}})
    assert part.markdown == "See (image: a cat, https://e.org/c.png?d=1).\n"
    assert part.removed == {"hidden": 2, "tag": 1}


def test_facts_of_a_page_are_one_clean_line_each() -> None:
    part = page(of={"title": "A\n\u202eB ", "author": "\u200b", "links": (Link(text="a\nb", url="https://e.org/"),)})
    assert (part.title, part.author, part.links) == ("A B", None, (Link(text="a b", url="https://e.org/"),))


def test_a_page_with_nothing_on_it_is_empty_and_not_ok() -> None:
    part = page(" \n")
    assert (part.outcome, part.markdown, part.detail) == (Outcome.EMPTY, "", "there is nothing to read on it")


LARGE = "".join(
    f"## Part {number}\n\nA paragraph about the number {number}, and of no use otherwise.\n\n" for number in range(900)
)


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({}, id="whole"),
        pytest.param({"max_tokens": 300}, id="beginning"),
        pytest.param({"focus": "the number 417", "max_tokens": 100}, id="passages"),
        pytest.param({"outline": True}, id="outline"),
        pytest.param({"url": URL + "#part-700"}, id="fragment"),
    ],
)
def test_a_large_page_is_cut_in_another_process_and_comes_out_the_same(
    wanted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = page(LARGE, **wanted)
    monkeypatch.setattr("webseam.fetch.present._CUT_HERE", 10**9)
    assert page(LARGE, **wanted) == there
    assert there.markdown


def test_a_cursor_is_judged_in_the_other_process_as_in_this_one() -> None:
    first = page(LARGE, max_tokens=300)
    assert (
        page(LARGE, cursor=first.next_cursor).markdown
        == LARGE[LARGE.index(page(LARGE, cursor=first.next_cursor).markdown[:40]) :]
    )
    with pytest.raises(RequestError, match="the page has changed since") as raised:
        page(LARGE + "\nMore.\n", cursor=first.next_cursor)
    assert (raised.value.field, raised.value.hint) == ("cursor", "fetch the page again without a cursor")


def test_a_page_that_takes_too_long_to_cut_is_a_timeout() -> None:
    found = Found(reading=Reading(markdown="> - > - x\n" * 400_000), final_url=URL)
    request = FetchRequest(url=URL, focus="x", max_tokens=100)
    with pytest.raises(Unreadable) as raised:
        asyncio.run(present(found, request, expires_at=time.monotonic() + 1))
    assert raised.value.outcome is Outcome.TIMEOUT
