import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.fetch.blocks import leaves, split

# What Markdown's block structure is made of; random characters alone would hardly ever nest.
PIECES = [
    *(
        "# ",
        "## a\n",
        "text",
        "\n",
        "\n\n",
        "- ",
        "* ",
        "1. ",
        "10) ",
        "> ",
        "    ",
        "  ",
        "\t",
        "```",
        "```py\n",
        "~~~\n",
    ),
    *(
        "````\n",
        "|a|b|\n",
        "|-|-|\n",
        "a | b\n",
        "- | -\n",
        "---\n",
        "===\n",
        "<div>\n",
        "</div>\n",
        "<!--",
        "-->",
        ": d",
    ),
    *("[^1]: ", "!!! note\n", "`", "\\", "é", "x\n"),
]
markdowns = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def kinds_and_texts(markdown: str) -> list[tuple[str, str]]:
    return [(block.kind, markdown[block.start : block.end]) for block in split(markdown)]


@pytest.mark.parametrize(
    "markdown, expected",
    [
        pytest.param("", [], id="nothing"),
        pytest.param("\n \n", [], id="blank lines"),
        pytest.param("a\nb\n\nc", [("paragraph", "a\nb\n"), ("paragraph", "c")], id="paragraphs, last line unended"),
        pytest.param("# a\nb\n", [("heading", "# a\n"), ("paragraph", "b\n")], id="heading without a blank line"),
        pytest.param("a\nb\n---\nc\n", [("heading", "a\nb\n---\n"), ("paragraph", "c\n")], id="underlined heading"),
        pytest.param("#no\n", [("paragraph", "#no\n")], id="number sign without a space"),
        pytest.param("***\n\n- - -\n", [("rule", "***\n"), ("rule", "- - -\n")], id="rules"),
        pytest.param("```py\n# x\n\n```\ny\n", [("code", "```py\n# x\n\n```\n"), ("paragraph", "y\n")], id="fence"),
        pytest.param("````md\n```\na\n```\n````\n", [("code", "````md\n```\na\n```\n````\n")], id="longer outer fence"),
        pytest.param("~~~\n```\n~~~\n", [("code", "~~~\n```\n~~~\n")], id="other marks inside"),
        pytest.param("```\na\n\nb", [("code", "```\na\n\nb")], id="unclosed fence goes to the end"),
        pytest.param("``` a`b\n", [("paragraph", "``` a`b\n")], id="code span, no fence"),
        pytest.param(
            "a\n```\nb\n```\n", [("paragraph", "a\n"), ("code", "```\nb\n```\n")], id="fence ends a paragraph"
        ),
        pytest.param("    a\n\n    b\n\nc\n", [("code", "    a\n\n    b\n"), ("paragraph", "c\n")], id="indented code"),
        pytest.param("a\n    b\n", [("paragraph", "a\n    b\n")], id="indentation inside a paragraph"),
        pytest.param(
            "x | y\n--|--\n1 | 2\n\nz\n", [("table", "x | y\n--|--\n1 | 2\n"), ("paragraph", "z\n")], id="table"
        ),
        pytest.param("t\n|a|b|\n|:-|-:|\n", [("paragraph", "t\n"), ("table", "|a|b|\n|:-|-:|\n")], id="text above"),
        pytest.param("|a|b|\n|-|\n", [("paragraph", "|a|b|\n|-|\n")], id="columns that do not fit are no table"),
        pytest.param(
            "- a\n\n  ```\n  x\n  ```\n- b\nlazy\n\nc\n",
            [("list", "- a\n\n  ```\n  x\n  ```\n"), ("list", "- b\nlazy\n"), ("paragraph", "c\n")],
            id="items with their continuation",
        ),
        pytest.param(
            "1. a\n   - b\n   - c\n2. d\n", [("list", "1. a\n   - b\n   - c\n"), ("list", "2. d\n")], id="nested"
        ),
        pytest.param("- ```\nx\n", [("list", "- ```\n"), ("paragraph", "x\n")], id="code in an item has no lazy line"),
        pytest.param("a\n2. b\n", [("paragraph", "a\n2. b\n")], id="only a first item ends a paragraph"),
        pytest.param("> a\nb\n> c\n\nd\n", [("quote", "> a\nb\n> c\n"), ("paragraph", "d\n")], id="quote"),
        pytest.param("> ```\nb\n", [("quote", "> ```\n"), ("paragraph", "b\n")], id="code in a quote has no lazy line"),
        pytest.param(
            "<div>\n# a\n\nb\n", [("html", "<div>\n# a\n"), ("paragraph", "b\n")], id="HTML until a blank line"
        ),
        pytest.param("<!-- a\n\nb -->\nc\n", [("html", "<!-- a\n\nb -->\n"), ("paragraph", "c\n")], id="comment"),
        pytest.param("<https://x.org>\n", [("paragraph", "<https://x.org>\n")], id="autolink"),
        pytest.param("[^1]: a\n\n    b\n\nc\n", [("list", "[^1]: a\n\n    b\n"), ("paragraph", "c\n")], id="footnote"),
        pytest.param("term\n: said\n\n  more\n", [("list", "term\n: said\n\n  more\n")], id="term and definition"),
    ],
)
def test_whole_blocks_are_found(markdown: str, expected: list[tuple[str, str]]) -> None:
    assert kinds_and_texts(markdown) == expected


def test_blocks_know_the_headings_they_stand_under() -> None:
    markdown = "a\n\n# One [x](y) #\n\n## `Two`[¶](#two)\n\nb\n\n### Three {#t}\n\nFour\n----\n\nc\n\n# Five\n"
    assert [(markdown[block.start], block.heading_path) for block in split(markdown)] == [
        ("a", ()),
        ("#", ("One x",)),
        ("#", ("One x", "Two")),
        ("b", ("One x", "Two")),
        ("#", ("One x", "Two", "Three")),
        ("F", ("One x", "Four")),
        ("c", ("One x", "Four")),
        ("#", ("Five",)),
    ]


def test_leaves_are_what_stands_inside_lists_and_quotes() -> None:
    markdown = "- a\n\n  > b\n  > ```py\n  > c\n  > ```\n\n  1. d\n\n         e\n"
    (block,) = split(markdown)
    assert [
        (leaf.kind, markdown[leaf.start : leaf.end], leaf.prefix, leaf.opening) for leaf in leaves(markdown, block)
    ] == [
        ("paragraph", "- a\n", "- ", ""),
        ("paragraph", "  > b\n", "  > ", ""),
        ("code", "  > ```py\n  > c\n  > ```\n", "  > ", "```py"),
        ("paragraph", "  1. d\n", "  1. ", ""),
        ("code", "         e\n", "         ", ""),
    ]


def test_a_list_mark_alone_on_its_line_is_no_part_of_the_code_below() -> None:
    markdown = "-\n  ```\n  a\n  ```\n"
    (block,) = split(markdown)
    assert [(leaf.kind, leaf.start, leaf.opening) for leaf in leaves(markdown, block)] == [
        ("paragraph", 0, ""),
        ("code", 2, "```"),
    ]


@given(markdowns)
def test_blocks_and_leaves_are_in_order_and_cover_all_but_blank_lines(markdown: str) -> None:
    at = 0
    for block in split(markdown):
        for leaf in leaves(markdown, block):
            assert at <= leaf.start < leaf.end <= block.end
            assert not markdown[at : leaf.start].strip(" \t\n>")
            assert leaf.start == 0 or markdown[leaf.start - 1] == "\n"
            at = leaf.end
        assert not markdown[at : block.end].strip(" \t\n>")
        at = block.end
    assert not markdown[at:].strip()


@pytest.mark.parametrize(
    "markdown",
    [
        pytest.param(">" * 20_000, id="quotes in quotes"),
        pytest.param("- " * 20_000, id="lists in lists"),
        pytest.param("> - " * 10_000 + "x\n", id="both"),
        pytest.param("<" * 100_000, id="angle brackets"),
        pytest.param("`a " * 50_000, id="backticks"),
        pytest.param("a|" * 50_000 + "\n" + "-|" * 50_000, id="a table of 50,000 columns"),
        pytest.param("[" * 50_000 + "](" * 50_000, id="brackets"),
        pytest.param("# " + "[a](" * 20_000, id="heading of unfinished links"),
        pytest.param("<!--\n" * 10_000, id="comments that do not end"),
    ],
)
def test_hostile_markdown_is_split_without_recursion_or_repetition(markdown: str) -> None:
    blocks = split(markdown)
    assert blocks[0].start == 0
    assert sum(len(leaves(markdown, block)) for block in blocks) >= 1
