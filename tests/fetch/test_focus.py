import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.test_blocks import markdowns
from webseam.errors import Outcome, RequestError
from webseam.fetch.blocks import split
from webseam.fetch.focus import Passage, focus

PAGE = """# Tools

Tools for many kinds of things, none of which matter here.

## Reading

**`tools.parse_qs(query, strict=False)`**

Parse a query string given as a string argument. Data are returned as a dictionary.

If *strict* is false, errors are silently ignored.

**`tools.removeprefix(text)`**

Return the rest of the text.

The following shows it:

```pycon
>>> tools.removeprefix("x")
''
```

## Writing

Files are written in one step.

| option | meaning |
|---|---|
| `fsync` | wait for the disk |
| `mode` | permissions of the new file |

## Other

Nothing of interest to anybody, but long enough to cost something when it is taken along without need.
"""


def texts(question: str, max_tokens: int, page: str = PAGE) -> list[str]:
    return [passage.text for passage in focus(page, question, max_tokens)]


def test_a_passage_has_its_place_and_its_headings() -> None:
    (passage,) = focus(PAGE, "wait for the disk", 120)
    start = PAGE.index("## Writing")
    assert passage == Passage(
        start, PAGE.index("\n## Other"), PAGE[start : PAGE.index("\n## Other")], ("Tools", "Writing"), passage.score
    )


@pytest.mark.parametrize(
    "question, answer",
    [
        pytest.param("parse_qs", "Parse a query string", id="identifier"),
        pytest.param("what does tools.parse_qs return", "Data are returned", id="dotted name"),
        pytest.param("parseQs", "Parse a query string", id="parts of another spelling"),
        pytest.param("remove a prefix", "Return the rest", id="two words for one name"),
        pytest.param("parsing of queries", "Parse a query string", id="other endings"),
        pytest.param("removeprefix example", ">>> tools.removeprefix", id="the code behind its sentence"),
        pytest.param("ignore failures", "silently ignored", id="another word for it"),
        pytest.param("FSYNC", "wait for the disk", id="letter case"),
    ],
)
def test_the_passage_with_the_answer_is_found(question: str, answer: str) -> None:
    assert answer in "\n".join(texts(question, 60))


def test_an_explanation_comes_with_the_signature_it_belongs_to() -> None:
    assert texts("return the rest", 20) == ["**`tools.removeprefix(text)`**\n\nReturn the rest of the text.\n"]


def test_passages_are_in_page_order_whatever_their_scores() -> None:
    found = focus(PAGE, "fsync disk mode permissions; parse query string", 400)
    assert len(found) > 1
    assert [passage.start for passage in found] == sorted(passage.start for passage in found)


def test_a_table_larger_than_the_budget_gives_its_rows_with_the_head() -> None:
    table = "| name | means |\n|---|---|\n" + "".join(f"| option{n} | thing{n} |\n" for n in range(200))
    (passage,) = focus(table, "option150", 40)
    assert passage.text.startswith("| name | means |\n|---|---|\n| option1")
    assert "| option150 | thing150 |\n" in passage.text


def test_words_that_are_not_on_the_page_find_nothing() -> None:
    assert focus(PAGE, "zebra", 100) == []


def test_a_page_without_text_has_no_passages() -> None:
    assert focus("\n", "zebra", 100) == []


def test_addresses_of_links_are_not_words() -> None:
    assert focus("[a](https://x.org/zebra)\n\nb\n", "zebra", 100) == []


def test_languages_without_spaces_are_searched() -> None:
    assert texts("円周率の計算", 10, "# 数学\n\n円周率を計算する。\n\n別の話。\n") == ["# 数学\n\n円周率を計算する。\n"]


@pytest.mark.parametrize(
    "question, max_tokens, field",
    [
        pytest.param("", 10, "focus", id="empty"),
        pytest.param(" \n", 10, "focus", id="white space"),
        pytest.param("a", 0, "max_tokens", id="no budget"),
    ],
)
def test_what_cannot_be_focused_on_is_said(question: str, max_tokens: int, field: str) -> None:
    with pytest.raises(RequestError) as caught:
        focus(PAGE, question, max_tokens)
    assert (caught.value.field, caught.value.outcome) == (field, Outcome.INVALID)


@given(markdowns, st.sampled_from(["a b x d", "text", "py", "?", "the"]), st.integers(10, 40))
def test_passages_are_whole_blocks_within_the_budget_and_do_not_overlap(
    markdown: str, question: str, max_tokens: int
) -> None:
    found = focus(markdown, question, max_tokens)
    assert sum(len(passage.text) for passage in found) <= 4 * max_tokens
    at = 0
    small = {edge for block in split(markdown) for edge in (block.start, block.end) if block.end - block.start < 40}
    inside = [block for block in split(markdown) if block.end - block.start >= 40]
    for passage in found:
        assert at <= passage.start < passage.end <= len(markdown)
        at = passage.end
        for edge in (passage.start, passage.end):
            assert edge in small or any(block.start <= edge <= block.end for block in inside)
