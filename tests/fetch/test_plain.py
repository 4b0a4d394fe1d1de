"""Text is read as it is: Markdown and prose are passed on, source code and logs stand in a fence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.fetch.readers import plain
from webseam.fetch.readers.languages import language_of
from webseam.fetch.readers.moments import moment
from webseam.fetch.types import Link, Reading, Source


def read(body: str | bytes, name: str = "x.txt", media_type: str = "text/plain", *, truncated: bool = False) -> Reading:
    body = body.encode() if isinstance(body, str) else body
    return plain.read(
        Source(body=body, url=f"https://example.com/a/{name}", media_type=media_type, truncated=truncated)
    )


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        pytest.param(
            "One line\r\nand the next.  \r\n\r\n    indented\r\n\n\n",
            "One line\nand the next.\n\n    indented\n",
            id="lines",
        ),
        pytest.param("é".encode("utf-16"), "é\n", id="utf-16"),
        pytest.param("x" * 100_000, "x" * 100_000 + "\n", id="a long line"),
        pytest.param("\n \n", "", id="nothing"),
    ],
)
def test_prose_keeps_its_lines(body: str | bytes, markdown: str) -> None:
    assert read(body) == Reading(markdown=markdown, title="x.txt", reader="plain")


def test_bytes_that_are_no_text_are_counted() -> None:
    reading = read("à la carte, déjà vu, ".encode() * 10 + b"\xff.")
    assert reading.markdown == "à la carte, déjà vu, " * 10 + "\ufffd.\n"
    assert reading.notes == ["1 characters could not be decoded and are shown as \ufffd."]


@pytest.mark.parametrize(
    ("name", "media_type", "body", "label"),
    [
        pytest.param("x.py", "text/plain", "a = 1", "python", id="name"),
        pytest.param("Dockerfile", "text/plain", "FROM x", "dockerfile", id="whole name"),
        pytest.param("Dockerfile.dev", "text/plain", "FROM x", "dockerfile", id="whole name with a suffix"),
        pytest.param("CMakeLists.txt", "text/plain", "project(x)", "cmake", id="whole name before its extension"),
        pytest.param("x.ts", "video/mp2t", "let a", "typescript", id="name before a type guessed from it"),
        pytest.param("x", "text/x-python", "a = 1", "python", id="type"),
        pytest.param("x", "text/plain", "#!/usr/bin/env -S python3 -u\n", "python", id="first line"),
        pytest.param("x", "text/plain", "#!/bin/sh\n", "bash", id="first line, no env"),
        pytest.param("x.diff", "text/plain", "-a\n+b", "diff", id="patch"),
        pytest.param("x.log", "text/plain", "a\nb", "log", id="log by name"),
        pytest.param("7", "text/plain", "2026-11-30T10:00:00.1Z a\n" * 3, "log", id="log by its times"),
    ],
)
def test_source_code_and_logs_stand_in_a_fence(name: str, media_type: str, body: str, label: str) -> None:
    assert read(body, name, media_type).markdown == f"```{label}\n{body.rstrip()}\n```\n"


def test_code_is_verbatim_in_a_fence_longer_than_any_inside() -> None:
    body = "\n\ta = '''\n````\n  \n'''\n"
    assert read(body, "x.py").markdown == f"`````python\n{body}`````\n"


def test_an_unknown_name_is_no_source_code() -> None:
    assert language_of("https://[", "application/octet-stream", "hello") is None


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param(
            "---\ntitle: 'A: b'  # c\ndate: 2026-01-02 03:04:05 +0100\nauthors:\n  - name: Jo\n  - Al\nlang: en\n---\n",
            ("A: b", "Jo, Al", "2026-01-02T03:04:05+01:00", "en"),
            id="yaml",
        ),
        pytest.param(
            '+++\ntitle = "T"\ndate = 2026-01-02T03:04:05Z\nauthors = ["Jo", "Al"]\n+++\n',
            ("T", "Jo, Al", "2026-01-02T03:04:05Z", None),
            id="toml",
        ),
        pytest.param("---\ntitle: >-\n  Folded\nauthor: [Jo]\n...\n", ("Folded", "Jo", None, None), id="folded"),
    ],
)
def test_front_matter_is_taken_off(head: str, expected: tuple[str | None, ...]) -> None:
    reading = read(f"{head}\n# Other\n", "x.md")
    assert (reading.title, reading.author, reading.published, reading.language) == expected
    assert (reading.markdown, reading.removed) == ("# Other\n", {"front matter": 1})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("---\nWords between rules.\n---\ntext\n", id="no fields"),
        pytest.param("---\na: 1\ntext without an end\n", id="no end"),
        pytest.param("----\na: 1\n----\n", id="another rule"),
    ],
)
def test_what_is_no_front_matter_stays(body: str) -> None:
    reading = read(body, "x.md")
    assert (reading.markdown, reading.title, reading.removed) == (body, "x.md", {})


@pytest.mark.parametrize(
    ("body", "title"),
    [
        pytest.param("text\n\n# The `title` of *it* #\n", "The title of it", id="number sign"),
        pytest.param("Title\n=====\n", "Title", id="underlined"),
        pytest.param('<h1 align="center">A <b>b</b></h1>\n', "A b", id="html"),
        pytest.param("# [![badge](b.svg)](c) [Name](d)\n", "Name", id="badges and links"),
        pytest.param("```\n# comment\n```\n## second level\n", "x.md", id="none"),
    ],
)
def test_the_title_of_markdown_is_its_first_heading(body: str, title: str) -> None:
    assert read(body, "x.md").title == title


def test_markdown_is_passed_on_with_its_links_listed() -> None:
    body = (
        "# T\n\nHard  \nbreak [b](../b.md), <b>html</b> [top](#t) [m](mailto:x@y) ![i](i.png)\n"
        '[w](https://example.org/A_(b) "title")\n\n```\n[code](https://no.example/)\n```\n[again](../b.md)\n'
    )
    reading = read(body, "x", "text/markdown")
    assert reading.markdown == body
    assert reading.links == (
        Link(text="b", url="https://example.com/b.md"),
        Link(text="w", url="https://example.org/A_(b)"),
    )


def test_an_image_inside_the_file_is_named_with_its_size() -> None:
    body = "a ![pic](data:image/png;base64,AAAABBBB) b ![](attachment:c.png) ![d](data:,hello)"
    markdown = "a [image: pic, image/png, 6 bytes] b [image: c.png] [image: d, text/plain, 5 bytes]\n"
    assert read(body, "x.md").markdown == markdown


def test_a_text_cut_at_the_size_limit_says_so() -> None:
    assert [read("x", name, truncated=True).truncated for name in ("x.txt", "x.py", "x.md")] == [True, True, True]


@pytest.mark.parametrize(
    ("url", "title"),
    [
        pytest.param("https://example.com/a%20b/c%C3%A9.txt?q", "cé.txt", id="decoded"),
        pytest.param("https://example.com/a/", "a", id="folder"),
        pytest.param("https://example.com/", None, id="host alone"),
        pytest.param("https://[", None, id="no address"),
        pytest.param("https://example.com/a%1b%5b2Jb", "ab", id="cleaned"),
    ],
)
def test_the_title_of_text_is_the_name_in_its_address(url: str, title: str | None) -> None:
    assert plain.read(Source(body=b"x", url=url)).title == title


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        pytest.param("2026-11-30", "2026-11-30", id="day"),
        pytest.param("2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z", id="universal"),
        pytest.param("2026-11-30 10:00:00 UTC", "2026-11-30T10:00:00Z", id="universal in words"),
        pytest.param("2026-11-30T10:00:00.123-05:00", "2026-11-30T10:00:00-05:00", id="offset"),
        pytest.param("2026-11-30T10:00", "2026-11-30T10:00:00", id="no offset"),
        pytest.param("Mon, 30 Nov 2026 10:00:00 GMT", "2026-11-30T10:00:00Z", id="mail"),
        pytest.param("Mon, 30 Nov 2026 10:00:00 -0000", "2026-11-30T10:00:00Z", id="mail, zone unknown"),
        pytest.param("Mon, 30 Nov 2026 10:00:00 EST", "2026-11-30T10:00:00-05:00", id="mail, zone in letters"),
        pytest.param("30 Nov 26 10:00 +0000", "2026-11-30T10:00:00Z", id="mail, short"),
        pytest.param("yesterday at noon", None, id="words"),
        pytest.param("2026-13-45", None, id="no such day"),
        pytest.param("Mon, 99 Nov 2026 99:00:00 GMT", None, id="no such time"),
        pytest.param("", None, id="nothing"),
        pytest.param(None, None, id="no text"),
        pytest.param("1" * 100, None, id="too long"),
    ],
)
def test_dates_become_iso(written: object, iso: str | None) -> None:
    assert moment(written) == iso


@settings(max_examples=60)
@given(st.text(alphabet="0123456789-+:TZ ,MonGMNv.", max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert moment(text) is None or len(moment(text) or "") >= 10


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("![](data:" * 100_000, id="images that never end"),
        pytest.param("[" * 500_000, id="brackets"),
        pytest.param("# ![](a" * 100_000, id="a heading of images"),
        pytest.param("# x" + " " * 500_000 + "y", id="a heading of spaces"),
        pytest.param("`" * 500_000, id="backticks"),
        pytest.param("---\n" + "a:\n" * 100_000, id="fields that never end"),
    ],
)
def test_hostile_markdown_is_passed_on(body: str) -> None:
    assert read(body, "x.md").markdown == f"{body.strip(chr(10))}\n"


_PIECES = st.lists(
    st.sampled_from(
        ["---\n", "```", "~~~\n", "# ", "[a](b)", "![x](data:", "<h1>", "</h1>", "\n", "===", "a: b\n", "é", "\x00"]
    )
)


@settings(max_examples=60)
@given(
    body=st.one_of(st.binary(max_size=200), _PIECES.map(lambda pieces: "".join(pieces).encode())),
    name=st.sampled_from(["x.md", "x.txt", "x.py", "x", "["]),
)
def test_any_bytes_give_a_reading(body: bytes, name: str) -> None:
    markdown = read(body, name).markdown
    assert markdown == "" or (markdown.endswith("\n") and "\r" not in markdown)


@settings(max_examples=40)
@given(st.text(alphabet="`~ab \n", max_size=60).filter(lambda text: text.strip()))
def test_fenced_code_comes_out_as_it_went_in(code: str) -> None:
    lines = read(code, "x.py").markdown.removesuffix("\n").split("\n")
    assert lines[0] == f"{lines[-1]}python"
    assert "\n".join(lines[1:-1]) == code.rstrip("\n")
    assert all(not line.lstrip().startswith(lines[-1]) for line in lines[1:-1])
