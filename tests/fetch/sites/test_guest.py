"""What people wrote, among others: it ends where it ends, and it cannot pass for somebody else's words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from webseam.fetch.blocks import split
from webseam.fetch.sites.guest import admit, pieces, plain

PIECES = some.sampled_from(
    ["```", "~~~~", "`", "\n", "\n\n", "    ", "\t", "> ", "- ", "1. ", "# ", "### a", "===", "---", "<!--", "-->",
     "<pre>", "</pre>", "<script>", "<div>", "<?", "<![CDATA[", "<!X", "<!-", "<img src=a>", "![a](b)", "| a |",
     "|---|", "[^1]: ", ": x", "!!! note", "[a]: b", "x", " "]
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("```\nopen", "```\nopen\n```", id="open code"),
        pytest.param("````py\n```\nopen\n", "````py\n```\nopen\n````", id="open code with a shorter fence inside"),
        pytest.param("```", "```\n```", id="a fence alone"),
        pytest.param("```\n```", "```\n```", id="closed code"),
        pytest.param("> ```\n\nhello", "> ```\n\nhello", id="open code in a quote ends with it"),
        pytest.param("- ```\n\nhello", "- ```\n\nhello", id="open code in a list ends with it"),
        pytest.param("<pre>\nopen\n\nmore", "&lt;pre>\nopen\n\nmore", id="open raw HTML"),
        pytest.param("a\n\n<script>\nx", "a\n\n&lt;script>\nx", id="open script"),
        pytest.param("<![CDATA[\n\nx", "&lt;![CDATA[\n\nx", id="open section"),
        pytest.param("<pre>a</pre>", "<pre>a</pre>", id="closed raw HTML"),
        pytest.param("<details>\n\nx", "<details>\n\nx", id="HTML that a blank line ends"),
    ],
)
def test_a_text_ends_where_it_ends(text: str, shown: str) -> None:
    assert admit(text).markdown == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("# a\n\n## b", "#### a\n\n##### b", id="the shallowest is one deeper"),
        pytest.param("### 2. ada, owner\n\nPaste this.", "#### 2. ada, owner\n\nPaste this.", id="an imitation"),
        pytest.param("a\nb\n===\nc", "#### a b\nc", id="a line below"),
        pytest.param("a\n---", "#### a", id="dashes below"),
        pytest.param("###### f\n\n# a", "###### f\n\n#### a", id="never deeper than six"),
        pytest.param("#### d", "#### d", id="deep enough"),
        pytest.param("#a #b", "#a #b", id="no heading"),
        pytest.param("```\n# a\n```", "```\n# a\n```", id="code"),
        pytest.param("    # a", "    # a", id="indented code"),
        pytest.param("> # a", "> # a", id="in a quote"),
        pytest.param("```\n\n### 1. ada\n", "```\n\n### 1. ada\n```", id="in open code"),
    ],
)
def test_a_heading_stays_below_the_one_it_stands_under(text: str, shown: str) -> None:
    assert admit(text, below=3).markdown == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("`` ![a](u) ` b `", "`` [Image: a](u) ` b `", id="a run of two that nothing closes"),
        pytest.param("\\`![a](u)`", "\\`[Image: a](u)`", id="an escaped backtick"),
        pytest.param("`![a](u)`", "`![a](u)`", id="code"),
        pytest.param("> ```\n![a](u)", "> ```\n[Image: a](u)", id="after code that a quote ended"),
        pytest.param("a\n    ~~~\n![a](u)\n    ~~~", "a\n    ~~~\n[Image: a](u)\n    ~~~", id="no fence, so far in"),
    ],
)
def test_an_image_beside_what_looks_like_code_is_a_link(text: str, shown: str) -> None:
    assert admit(text).markdown == shown


def test_code_keeps_the_spaces_at_the_ends_of_its_lines() -> None:
    assert admit("a  \n\n```diff\n-x \n+y\t\n```\n").markdown == "a\n\n```diff\n-x \n+y\t\n```"


@pytest.mark.parametrize(
    ("text", "shown", "hidden"),
    [
        pytest.param("a\n===<!-- x -->", "#### a", 1, id="a line that is one without it"),
        pytest.param("``<!-- x -->`\n# b", "```\n# b\n```", 1, id="a fence that is one without it"),
        pytest.param("<!-<!-- x -->- y -->", "&lt;!-- y -->", 1, id="one made of two pieces"),
        pytest.param("<img src=x>\n# b", "[Image]\n#### b", 0, id="a heading that is one without the HTML"),
    ],
)
def test_what_goes_does_not_make_a_heading(text: str, shown: str, hidden: int) -> None:
    admitted = admit(text, below=3)
    assert (admitted.markdown, admitted.hidden) == (shown, hidden)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# a", "\\# a"),
        ("   ## a", "\\## a"),
        ("```\n~~~\nb", "\\```\n\\~~~\nb"),
        ("a\n===\nb\n---", "a\n\\===\nb\n\\---"),
        ("[a]: https://x.example", "\\[a]: https://x.example"),
        ("<b>x</b> 1 < 2", "\\<b>x\\</b> 1 < 2"),
        ("#hash, snake_case, 2 * 3", "#hash, snake_case, 2 * 3"),
    ],
)
def test_text_that_is_no_markdown_reads_the_same_as_markdown(text: str, shown: str) -> None:
    assert plain(text) == shown


@settings(max_examples=300)
@given(some.lists(PIECES, max_size=14))
def test_whatever_people_write_the_next_heading_is_one(parts: list[str]) -> None:
    admitted = admit("".join(parts), base="https://page.example/", below=3)
    said = admitted.markdown
    page = (
        f"## Comments\n\n### 1. eve\n\n{said}\n\n### 2. ada, owner\n\nnext\n" if said else "### 2. ada, owner\n\nnext\n"
    )
    blocks = split(page)
    assert [block.kind for block in blocks[-2:]] == ["heading", "paragraph"]
    assert blocks[-1].heading_path[-1] == "2. ada, owner"
    ours = 3 if said else 1
    assert [block.level for block in blocks if block.kind == "heading" and block.level <= 3] == [2, 3, 3][-ours:]


@settings(max_examples=100)
@given(some.lists(PIECES, max_size=14))
def test_the_pieces_of_a_text_are_all_of_it(parts: list[str]) -> None:
    text = "".join(parts)
    assert "".join(piece for _, piece in pieces(text)) == text


@settings(max_examples=200)
@given(some.lists(PIECES, max_size=14))
def test_plain_text_has_no_heading_and_no_fence(parts: list[str]) -> None:
    kinds = {block.kind for block in split(plain("".join(parts)))}
    assert not kinds & {"heading", "code", "html"}
