"""Where the text of an empty page may be found instead: by its own word, by custom, by the site's list."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.fetch import alternates

PAGE = "https://example.org/docs/start"


@pytest.mark.parametrize(
    ("head", "found"),
    [
        pytest.param(
            '<link rel="alternate" type="text/markdown" href="/a.md">', ["https://example.org/a.md"], id="plain"
        ),
        pytest.param(
            "<LINK TYPE=text/markdown REL=alternate HREF=a.md>", ["https://example.org/docs/a.md"], id="unquoted"
        ),
        pytest.param(
            '<link rel="alternate" type="text/plain" href="/a.txt">'
            '<link rel=alternate type="text/markdown" href="/a.md">',
            ["https://example.org/a.md", "https://example.org/a.txt"],
            id="Markdown first",
        ),
        pytest.param(
            '<link rel="alternate" type="text/markdown; charset=utf-8" href="/a.md?x=1&amp;y=2">',
            ["https://example.org/a.md?x=1&y=2"],
            id="parameter and entity",
        ),
        pytest.param('<link rel="alternate" type="application/rss+xml" href="/feed">', [], id="a feed"),
        pytest.param('<link rel="stylesheet" type="text/markdown" href="/a.md">', [], id="no alternate"),
        pytest.param('<link rel="alternate" type="text/markdown" href="javascript:alert(1)">', [], id="script"),
        pytest.param('<link rel="alternate" type="text/markdown" href="http://[">', [], id="broken address"),
        pytest.param('<link rel="alternate" type="text/markdown">', [], id="no address"),
    ],
)
def test_a_page_declares_its_own_text_forms(head: str, found: list[str]) -> None:
    assert alternates.declared(f"<html><head>{head}</head>".encode(), PAGE) == found


@pytest.mark.parametrize(
    ("url", "found"),
    [
        pytest.param("https://e.org/docs/start", ["https://e.org/docs/start.md"], id="a page"),
        pytest.param("https://e.org/docs/", ["https://e.org/docs.md", "https://e.org/docs/index.md"], id="a folder"),
        pytest.param("https://e.org/", ["https://e.org/index.md"], id="the root"),
        pytest.param("https://e.org", ["https://e.org/index.md"], id="no path"),
        pytest.param("https://e.org/a.html", ["https://e.org/a.html.md", "https://e.org/a.md"], id="with its form"),
        pytest.param("https://e.org/a?b=c", ["https://e.org/a.md?b=c"], id="with a query"),
        pytest.param("https://e.org/a.png", [], id="another file"),
    ],
)
def test_a_page_may_have_a_twin_in_markdown(url: str, found: list[str]) -> None:
    assert alternates.twins(url) == found


INDEX = """# Example

- [Start](https://example.org/docs/start.md): begin here
- [Other](/docs/other.html.md)
- [Elsewhere](https://other.example/docs/start.md)
- [Broken](http://[)
"""


@pytest.mark.parametrize(
    ("url", "found"),
    [
        pytest.param("https://example.org/docs/start", ["https://example.org/docs/start.md"], id="by its path"),
        pytest.param("https://www.example.org/docs/start/", ["https://example.org/docs/start.md"], id="www and slash"),
        pytest.param("https://example.org/docs/start.html", ["https://example.org/docs/start.md"], id="other form"),
        pytest.param("https://example.org/docs/other", ["https://example.org/docs/other.html.md"], id="relative"),
        pytest.param("https://example.org/docs/none", [], id="not listed"),
    ],
)
def test_a_list_of_texts_is_searched_for_the_page(url: str, found: list[str]) -> None:
    assert alternates.listed(INDEX, alternates.index_of(url), url) == found


@settings(max_examples=60)
@given(st.binary(max_size=300), st.text(max_size=100))
def test_whatever_a_page_says_only_web_addresses_come_of_it(body: bytes, index: str) -> None:
    wrapped = b'<link rel="alternate" type="text/markdown" href="' + body + b'">'
    found = alternates.declared(wrapped, PAGE) + alternates.listed(f"[x]({index})", PAGE, PAGE)
    assert all(target.startswith(("http://", "https://")) for target in found)
