"""What a page says about itself is read in one order of trust, and nothing is made up."""

from __future__ import annotations

import json

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.fetch.readers.html.meta import Meta, read_meta

URL = "https://example.org/a/page"


def meta(html: str) -> Meta:
    return read_meta(turbohtml.parse(html), URL)


def linked(**item: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(item)}</script>'


def test_an_article_with_everything() -> None:
    page = (
        '<html lang="en-GB"><head><title>Seams hold - Example</title><base href="/docs/">'
        + linked(
            **{
                "@context": "https://schema.org",
                "@graph": [
                    {"@type": "Organization", "name": "Example"},
                    {
                        "@type": "NewsArticle",
                        "headline": "Seams hold",
                        "author": [{"@type": "Person", "name": "Ada Byron"}, {"@type": "Person", "name": "C. Babbage"}],
                        "datePublished": "2026-03-04T05:06:07Z",
                    },
                ],
            }
        )
        + "</head><body><h1>Seams hold</h1></body></html>"
    )
    assert meta(page) == Meta(
        title="Seams hold",
        author="Ada Byron, C. Babbage",
        published="2026-03-04T05:06:07Z",
        language="en-GB",
        base="https://example.org/docs/",
        is_article=True,
    )


def test_a_page_that_says_nothing() -> None:
    assert meta("<p>words</p>") == Meta(
        title=None, author=None, published=None, language=None, base=URL, is_article=False
    )


@pytest.mark.parametrize(
    "html, title",
    [
        pytest.param(
            "<title>Guide — Widget 1.0 documentation</title><h1>Guide¶</h1>", "Guide", id="part of the tab's title"
        ),
        pytest.param(
            "<title>Guide | Site</title><h1>Site</h1><h1>Guide</h1>", "Guide", id="the site's name is a heading too"
        ),
        pytest.param('<meta property="og:title" content="A &amp; B"><title>x</title>', "A & B", id="opengraph"),
        pytest.param('<meta property="og:title" content="It&amp;#039;s"><title>x</title>', "It's", id="escaped twice"),
        pytest.param("<title> A\n  title </title>", "A title", id="title alone"),
        pytest.param("<h1>A <em>heading</em></h1>", "A heading", id="heading alone"),
        pytest.param("<svg><title>icon</title></svg><h1>Page</h1><title>Page</title>", "Page", id="not of a picture"),
        pytest.param("<title>A\u202e\u200bB</title>", "AB", id="cleaned"),
        pytest.param(f"<title>{'word ' * 100}</title>", "word " * 58 + "word…", id="cut"),
    ],
)
def test_the_title(html: str, title: str) -> None:
    assert meta(html).title == title


@pytest.mark.parametrize(
    "html, author",
    [
        pytest.param(linked(**{"@type": "BlogPosting", "author": "By Ada"}), "Ada", id="json-ld, as text"),
        pytest.param(linked(**{"@type": "Organization", "author": "Nobody"}), None, id="not of the publisher"),
        pytest.param('<meta name="author" content="Ada Byron">', "Ada Byron", id="meta"),
        pytest.param(
            '<meta property="article:author" content="https://f.example/ada">', None, id="an address is no name"
        ),
        pytest.param('<a rel="author" href="/ada">Ada</a>', "Ada", id="rel author"),
        pytest.param('<span itemprop="author"><b itemprop="name">Ada</b></span>', "Ada", id="microdata"),
        pytest.param('<a rel="author">x</a>' * 9, None, id="a list of posts has no author"),
    ],
)
def test_the_author(html: str, author: str | None) -> None:
    assert meta(html).author == author


@pytest.mark.parametrize(
    "html, published",
    [
        pytest.param(
            '<meta property="article:published_time" content="2026-01-02T03:04:05+01:00">',
            "2026-01-02T03:04:05+01:00",
            id="opengraph",
        ),
        pytest.param('<meta name="date" content="2026-01-02">', "2026-01-02", id="meta"),
        pytest.param('<meta itemprop="datePublished" content="2026-01-02">', "2026-01-02", id="microdata"),
        pytest.param(
            '<article><time datetime="2026-01-02">then</time></article>', "2026-01-02", id="time in the article"
        ),
        pytest.param("<p>Published 2 January 2026</p>", None, id="words are not read as a date"),
        pytest.param('<meta name="date" content="soon">', None, id="no date"),
        pytest.param(
            '<main><time datetime="2026-01-02"></time><time datetime="2026-01-03"></time></main>',
            None,
            id="which of two",
        ),
    ],
)
def test_the_date(html: str, published: str | None) -> None:
    assert meta(html).published == published


@pytest.mark.parametrize(
    "html, language",
    [
        pytest.param('<html lang="de">', "de", id="root"),
        pytest.param('<html lang="">', None, id="empty"),
        pytest.param('<meta http-equiv="Content-Language" content="fr">', "fr", id="http-equiv"),
        pytest.param('<meta property="og:locale" content="pt_BR">', "pt-BR", id="locale"),
        pytest.param('<html lang="{{ lang }}">', None, id="a template's variable"),
    ],
)
def test_the_language(html: str, language: str | None) -> None:
    assert meta(html).language == language


@pytest.mark.parametrize(
    "href, base",
    [
        pytest.param("", URL, id="empty"),
        pytest.param("../", "https://example.org/", id="relative"),
        pytest.param("https://cdn.example/x/", "https://cdn.example/x/", id="absolute"),
        pytest.param("javascript:alert(1)//", URL, id="a script"),
        pytest.param("file:///etc/", URL, id="a file"),
        pytest.param("http://[broken/", URL, id="broken"),
    ],
)
def test_the_base_of_links(href: str, base: str) -> None:
    assert meta(f'<head><base href="{href}"></head>').base == base


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="nested too deep"),
        pytest.param('{"@type": "Article", "headline": ', id="broken off"),
        pytest.param('{"@graph": {"@graph": [1, null, {"@type": [7]}]}}', id="strange shapes"),
        pytest.param(
            '{"@type": "Article", "author": {"name": ["x"]}, "headline": 5, "datePublished": {}}', id="wrong types"
        ),
    ],
)
def test_json_ld_that_is_not_what_it_should_be_says_nothing(text: str) -> None:
    found = meta(f'<title>T</title><script type="application/ld+json">{text}</script>')
    assert (found.title, found.author, found.published) == ("T", None, None)


def test_a_discussion_is_no_article() -> None:
    assert meta('<meta property="og:type" content="article">').is_article
    assert not meta('<meta property="og:type" content="article">' + linked(**{"@type": "QAPage"})).is_article


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(["@type", "@graph", "author", "headline", "datePublished", "mainEntity"]),
        st.recursive(
            st.none() | st.text(max_size=8) | st.integers() | st.just("Article"),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        ),
    )
)
def test_any_json_ld_is_survived(item: dict[str, object]) -> None:
    meta(linked(**item))
