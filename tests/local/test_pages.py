from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from webseam.local.manual import read_manual, to_sections
from webseam.local.pages import SECTION_LIMIT, Section, sections


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        pytest.param(
            "markdown",
            "Intro [site](https://x.example).\n\n# One\ntext\n```\n# no heading\n```\n## Two\n**bold** `code`\n",
            [
                Section("page", (), "Intro site.", 1),
                Section("One", (), "text\n\n# no heading", 3),
                Section("Two", ("One",), "bold code", 8),
            ],
            id="markdown",
        ),
        pytest.param(
            "markdown",
            "Title\n=====\n\nbody\n\nSub\n---\n\nmore\n",
            [Section("Title", (), "body", 1), Section("Sub", ("Title",), "more", 6)],
            id="markdown-underlined",
        ),
        pytest.param(
            "rst",
            "=====\nTitle\n=====\n\nSee :func:`~os.walk` and `docs <https://x.example>`_.\n\nSub\n---\n\n``code``\n",
            [Section("Title", (), "See os.walk and docs.", 1), Section("Sub", ("Title",), "code", 7)],
            id="rst",
        ),
        pytest.param("text", "First line\nsecond\n", [Section("First line", (), "First line\nsecond", 1)], id="text"),
        pytest.param(
            "html",
            "<html><head><title>Page</title><style>p{}</style></head><body><nav>menu</nav><p>Hello\nworld &amp; all</p>"
            "\n<h2>Part</h2><ul><li>one<li>two</ul><script>x()</script></body></html>",
            [Section("Page", (), "Hello\nworld & all", 1), Section("Part", ("Page",), "one\ntwo", 3)],
            id="html",
        ),
        pytest.param("markdown", "", [], id="empty"),
    ],
)  # fmt: skip
def test_a_page_is_cut_at_its_headings(form: str, text: str, expected: list[Section]) -> None:
    assert sections(text, form, title="page") == expected


def test_a_long_section_is_cut_at_paragraphs_and_keeps_its_lines() -> None:
    paragraphs = [f"{number} " + "word " * 100 for number in range(20)]
    found = sections("# Long\n\n" + "\n\n".join(paragraphs), "markdown", title="page")
    assert len(found) > 1
    assert all(len(section.text) <= SECTION_LIMIT + 600 for section in found)
    assert {section.title for section in found} == {"Long"}
    assert " ".join(" ".join(section.text for section in found).split()) == " ".join(" ".join(paragraphs).split())


def test_html_nested_thousands_deep_is_read() -> None:
    found = sections("<div>" * 20_000 + "deep", "html", title="page")
    assert [section.text for section in found] == ["deep"]


MAN = r"""'\" t
.TH LS 1 "2024" "GNU"
.SH NAME
ls \- list directory contents
.SH SYNOPSIS
.B ls
[\fI\,OPTION\/\fR]...
.SH DESCRIPTION
.\" a comment
Sorts with
.BR sort (1).
.TP
\fB\-a\fR, \fB\-\-all\fR
do not ignore entries
"""
MDOC = """.Dd May 1
.Dt TOOL 1
.Sh NAME
.Nm tool
.Nd do one thing
.Sh DESCRIPTION
The
.Nm
utility reads
.Ar file .
.Bl -tag
.It Fl v Ar level
Say more.
.El
"""


@pytest.mark.parametrize(
    ("roff", "expected"),
    [
        pytest.param(
            MAN,
            [
                Section("NAME", (), "ls - list directory contents", 3),
                Section("SYNOPSIS", (), "ls [OPTION]...", 5),
                Section("DESCRIPTION", (), "Sorts with sort(1).\n\n-a, --all do not ignore entries", 8),
            ],
            id="man",
        ),
        pytest.param(
            MDOC,
            [
                Section("NAME", (), "tool - do one thing", 3),
                Section("DESCRIPTION", (), "The tool utility reads file . \n-v level Say more.", 6),
            ],
            id="mdoc",
        ),
        pytest.param(
            ".SH S\n\\fBa\\fR\\-b \\(bu \\e \\\\- \\\\fB\\fP\n\n.B one\\-two \"three \\-4\"\n",
            [Section("S", (), "a-b * \\ \\- \\fB\n\none-two three -4", 1)],
            id="escapes-and-backslashes-that-are-text",
        ),
    ],
)  # fmt: skip
def test_a_manual_page_becomes_text(roff: str, expected: list[Section]) -> None:
    assert to_sections(roff) == expected


def test_a_packed_manual_page_says_what_it_is_about(tmp_path: Path) -> None:
    place = tmp_path / "ls.1.gz"
    place.write_bytes(gzip.compress(MAN.encode()))
    about, found = read_manual(place)
    assert about == "list directory contents"
    assert [section.title for section in found] == ["NAME", "SYNOPSIS", "DESCRIPTION"]


def test_a_page_that_only_includes_another_has_no_sections(tmp_path: Path) -> None:
    place = tmp_path / "dir.1"
    place.write_text(".so man1/ls.1\n")
    assert read_manual(place) == ("", [])
