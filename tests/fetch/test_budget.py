import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.test_blocks import markdowns
from webseam.errors import Outcome, RequestError
from webseam.fetch.blocks import leaves, split
from webseam.fetch.budget import (
    Cut,
    Heading,
    cut,
    decode_cursor,
    encode_cursor,
    excerpts,
    left_out,
    outline,
    start_of,
    tokens,
)

PAGE = "https://docs.example/page"
CODE = "```py\n" + "".join(f"x{number:02} = 1\n" for number in range(20)) + "```\n"
TABLE = "| a | b |\n|---|---|\n" + "".join(f"| {number:02} | x |\n" for number in range(20))


def pieces(markdown: str, max_tokens: int) -> list[Cut]:
    found: list[Cut] = []
    while not found or found[-1].truncated:
        found.append(cut(markdown, max_tokens, found[-1].end if found else 0))
    return found


def test_four_characters_are_a_token() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]


def test_a_page_within_the_budget_is_whole() -> None:
    assert cut("# a\n\nb\n", 2) == Cut(text="# a\n\nb\n", start=0, end=7)


def test_a_cut_falls_between_blocks_and_tells_what_is_left() -> None:
    assert cut("aaaa\n\nbbbb\n\ncccc\n", 3) == Cut(text="aaaa\n\nbbbb\n\n", start=0, end=12, truncated=True, left=2)


def test_a_heading_goes_with_what_it_is_the_heading_of() -> None:
    assert cut("aaaa\n\n## b\n\ncccc\n", 4).text == "aaaa\n\n"


def test_code_that_fits_a_budget_of_its_own_is_never_cut() -> None:
    markdown = "text\n\n" + CODE + "\nmore\n"
    assert [piece.text for piece in pieces(markdown, tokens(CODE))] == ["text\n\n", CODE + "\n", "more\n"]


def test_code_larger_than_the_budget_is_closed_and_reopened() -> None:
    found = pieces(CODE, 20)
    assert found[0].text == "```py\nx00 = 1\nx01 = 1\nx02 = 1\nx03 = 1\nx04 = 1\nx05 = 1\nx06 = 1\nx07 = 1\n```\n"
    assert found[0].suffix == "```\n"
    assert found[1].prefix == "```py\n"
    assert found[-1].text == "```py\nx16 = 1\nx17 = 1\nx18 = 1\nx19 = 1\n```\n"
    assert "".join(CODE[piece.start : piece.end] for piece in found) == CODE


def test_the_closing_line_alone_is_no_piece() -> None:
    markdown = "```\n" + "a\n" * 4 + "```\n"
    assert [piece.text for piece in pieces(markdown, 4)] == [markdown]


def test_code_inside_a_list_is_reopened_where_it_stood() -> None:
    markdown = "1. a\n\n   ```py\n" + "   x = 1\n" * 20 + "   ```\n"
    found = pieces(markdown, 20)
    assert found[0].text.endswith("   x = 1\n   ```\n")
    assert all(piece.text.startswith("   ```py\n   x = 1\n") for piece in found[1:])


def test_code_deep_inside_lists_becomes_no_indented_code() -> None:
    markdown = "- a\n\n  - b\n\n    - c\n\n      ```py\n" + "      x = 1\n" * 20 + "      ```\n"
    later = pieces(markdown, 20)[-1].text
    assert [leaf.opening for block in split(later) for leaf in leaves(later, block)] == ["```py"]


def test_code_inside_a_quote_stays_quoted() -> None:
    markdown = "> ~~~\n" + "> x = 1\n" * 20 + "> ~~~\n"
    assert all(piece.text.startswith("> ~~~\n") and piece.text.endswith("\n> ~~~\n") for piece in pieces(markdown, 20))


def test_a_table_larger_than_the_budget_gets_its_head_again() -> None:
    found = pieces(TABLE, 25)
    assert found[0].text == "| a | b |\n|---|---|\n" + "".join(f"| {number:02} | x |\n" for number in range(7))
    assert found[1].prefix == "| a | b |\n|---|---|\n"
    assert found[1].text.startswith("| a | b |\n|---|---|\n| 07 | x |\n")


def test_a_long_list_item_is_cut_between_its_paragraphs() -> None:
    markdown = "- " + "\n\n  ".join(["word " * 10] * 6) + "\n"
    assert all(piece.text.startswith(("- word", "  word")) for piece in pieces(markdown, 40))


def test_one_long_line_is_cut_between_words() -> None:
    assert [piece.text for piece in pieces("one two three four\n", 3)] == ["one two ", "three four\n"]


def test_a_giant_behind_a_few_words_does_not_leave_a_piece_almost_empty() -> None:
    assert cut("few\n\n" + CODE, 20).text == "few\n\n```py\n" + "".join(f"x{n:02} = 1\n" for n in range(8)) + "```\n"


@given(markdowns, st.integers(1, 30))
def test_the_pieces_of_a_page_are_the_page(markdown: str, max_tokens: int) -> None:
    found = pieces(markdown, max_tokens)
    assert "".join(markdown[piece.start : piece.end] for piece in found) == markdown
    for piece in found:
        assert piece.text == piece.prefix + markdown[piece.start : piece.end] + piece.suffix
        assert piece.end > piece.start or not markdown
        marks = len(piece.prefix) + len(piece.suffix)
        assert len(piece.text) <= max(4 * max_tokens, marks + 4) or not markdown[piece.end :].strip()


@pytest.mark.parametrize(
    "max_tokens, start, field",
    [
        pytest.param(0, 0, "max_tokens", id="no budget"),
        pytest.param(10, 4, "start", id="behind the end"),
        pytest.param(10, -1, "start", id="before the start"),
    ],
)
def test_what_cannot_be_cut_is_said(max_tokens: int, start: int, field: str) -> None:
    with pytest.raises(RequestError) as caught:
        cut("abc", max_tokens, start)
    assert (caught.value.field, caught.value.outcome) == (field, Outcome.INVALID)


def test_excerpts_are_made_valid() -> None:
    at = CODE.index("x05")
    assert excerpts(CODE + "\nend\n", [(at, at + 8), (len(CODE) + 1, len(CODE) + 5)]) == [
        "```py\nx05 = 1\n```\n",
        "end\n",
    ]


def test_what_is_left_out_is_named() -> None:
    markdown = "# A\n\n" + "x" * 79 + "\n\n## B\n\ny\n\n## C\n\nz\n"
    assert left_out(markdown, 86) == "about 5 of 26 tokens are left out, with the sections B; C"
    assert left_out(markdown, len(markdown)) == ""


OUTLINED = """# The [page](x)[¶](#the-top "Permalink")

text

## Same

a

### Deep

b

## Same

## Über *uns* {#about}
"""


def test_the_outline_has_levels_anchors_and_sizes_of_whole_sections() -> None:
    assert outline(OUTLINED) == [
        Heading(1, "The page", "the-top", 0, 27),
        Heading(2, "Same", "same", OUTLINED.index("## Same"), 7),
        Heading(3, "Deep", "deep", OUTLINED.index("### Deep"), 4),
        Heading(2, "Same", "same-1", OUTLINED.rindex("## Same"), 3),
        Heading(2, "Über uns", "about", OUTLINED.index("## Über"), 6),
    ]


SECTIONS = """# 2.1 What's new & why

## C++ and more

## The `re.sub()` way

## Größe

## Größe

**`class json.JSONEncoder(*, skipkeys=False)`**

Encodes.

- **`work_mem`** (integer)

<a id="old"></a>Here
"""


@pytest.mark.parametrize(
    "fragment, starts_with",
    [
        pytest.param("21-whats-new--why", "# 2.1", id="GitHub"),
        pytest.param("what-s-new-why", "# 2.1", id="Sphinx"),
        pytest.param("21-whats-new-why", "# 2.1", id="MkDocs"),
        pytest.param("user-content-c-and-more", "## C++", id="GitHub's own prefix, MkDocs style"),
        pytest.param("the-re-sub-way", "## The", id="Sphinx, code in the heading"),
        pytest.param("gr%C3%B6%C3%9Fe", "## Größe\n\n## Größe", id="percent-encoded"),
        pytest.param("größe-1", "## Größe\n\n**", id="second of two on GitHub"),
        pytest.param("grode_1", None, id="not there"),
        pytest.param("grosze", "## Größe\n\n## Größe", id="Sphinx, letters without ASCII"),
        pytest.param("json.JSONEncoder", "**`class json", id="Sphinx object"),
        pytest.param("work_mem", "- **`work_mem`", id="a term"),
        pytest.param("old", '<a id="old">', id="anchor of the page"),
        pytest.param("", None, id="empty"),
    ],
)
def test_a_fragment_leads_to_its_place(fragment: str, starts_with: str | None) -> None:
    start = start_of(SECTIONS, fragment)
    assert (None if start is None else SECTIONS[start:].startswith(starts_with or "?")) == (
        None if starts_with is None else True
    )


def test_a_cursor_goes_on_where_the_page_stopped() -> None:
    markdown = "a" * 5_000
    cursor = encode_cursor(PAGE, markdown, 4_321)
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert decode_cursor(cursor, PAGE + "?utm_source=x", markdown) == 4_321


@pytest.mark.parametrize(
    "cursor, url, markdown, problem",
    [
        pytest.param("hello", PAGE, "abc", "this is not one of ours, or not all of it", id="made up"),
        pytest.param("", PAGE, "abc", "this is not one of ours, or not all of it", id="empty"),
        pytest.param("é", PAGE, "abc", "this is not one of ours, or not all of it", id="not ASCII"),
        pytest.param(
            encode_cursor(PAGE, "abc", 1)[:-2], PAGE, "abc", "this is not one of ours, or not all of it", id="cut short"
        ),
        pytest.param(
            encode_cursor(PAGE, "abc", 1), PAGE + "/b", "abc", "this belongs to another page", id="another page"
        ),
        pytest.param(encode_cursor(PAGE, "abc", 1), PAGE, "abd", "the page has changed since", id="changed page"),
    ],
)
def test_a_cursor_of_something_else_is_refused_with_the_reason(
    cursor: str, url: str, markdown: str, problem: str
) -> None:
    with pytest.raises(RequestError) as caught:
        decode_cursor(cursor, url, markdown)
    assert caught.value.detail == f"cursor: {problem}"


@given(st.text(max_size=40))
def test_any_text_as_a_cursor_is_refused(text: str) -> None:
    with pytest.raises(RequestError):
        decode_cursor(text, PAGE, "abc")
