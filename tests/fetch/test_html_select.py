"""The text of a page is found: by its software, by its own marks, or by what it reads like; the rest is counted."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.errors import Outcome
from webseam.fetch.readers.html import read
from webseam.fetch.readers.html.boilerplate import kind_of, remove_boilerplate
from webseam.fetch.readers.html.bounds import _MAX_SMALL_TAGS as MOST_SMALL_TAGS
from webseam.fetch.readers.html.bounds import _MAX_TAGS as MOST_TAGS
from webseam.fetch.readers.html.bounds import bound_markup, bound_text
from webseam.fetch.readers.html.convert import to_markdown
from webseam.fetch.readers.html.edges import remove_around
from webseam.fetch.readers.html.features import NAMES, features_of
from webseam.fetch.readers.html.hidden import remove_hidden
from webseam.fetch.readers.html.likelihood import WEIGHTS, likelihoods
from webseam.fetch.readers.html.measure import depth_of, each, is_ordinary, may_match
from webseam.fetch.readers.html.select import Selection, select
from webseam.fetch.readers.html.survey import NAME_BITS, Survey, names_of, survey
from webseam.fetch.types import Link, Reading, Source, Unreadable

URL = "https://example.org/docs/page"
PROSE = "A seam joins two pieces so that the load on one is carried by the other, and nobody has to look at it twice."
MENU = (
    "<ul>"
    + "".join(f'<li><a href="/{word}">{word}</a></li>' for word in "one two three four five six seven".split())
    + "</ul>"
)


def selected(html: str, *, is_article: bool = False) -> Selection:
    document = turbohtml.parse(html)
    remove_hidden(document)
    return select(document, is_article=is_article)


def words(selection: Selection) -> str:
    return to_markdown(selection.node, URL).markdown


def source(html: str) -> Source:
    return Source(body=html.encode(), url=URL, media_type="text/html", charset="utf-8")


@pytest.mark.parametrize(
    "how, html",
    [
        pytest.param(
            "platform:sphinx",
            '<div class="document"><div class="documentwrapper"><div class="body" role="main"><section id="a"><h1>T'
            '<a class="headerlink" href="#a">¶</a></h1>{}</section></div></div>'
            '<div class="sphinxsidebar">menu</div></div>',
            id="sphinx",
        ),
        pytest.param(
            "platform:material",
            '<nav class="md-nav">menu</nav><article class="md-content__inner md-typeset">'
            '<a class="md-content__button">Edit</a><h1>T</h1>{}</article>',
            id="mkdocs material",
        ),
        pytest.param(
            "platform:docusaurus",
            '<div id="__docusaurus"><article><div class="theme-doc-markdown markdown"><h1>T'
            '<a class="hash-link">#</a></h1>{}</div><a class="theme-edit-this-page">Edit</a></article></div>',
            id="docusaurus",
        ),
        pytest.param(
            "platform:github",
            '<div id="readme"><article class="markdown-body entry-content"><h1>T</h1><a class="anchor">#</a>'
            "{}</article></div>",
            id="github",
        ),
        pytest.param(
            "platform:mediawiki",
            '<div id="mw-content-text" class="mw-body"><div class="mw-parser-output"><h1>T</h1>'
            '<div id="toc">contents</div>{}'
            '<span class="mw-editsection">[edit]</span><table class="navbox"><tr><td>menu</table></div></div>',
            id="mediawiki",
        ),
        pytest.param(
            "platform:vitepress",
            '<main><div class="vp-doc"><h1>T<a class="header-anchor">#</a></h1>{}</div><footer>next</footer></main>',
            id="vitepress",
        ),
        pytest.param(
            "platform:mdbook",
            '<nav id="sidebar">menu</nav><div id="content"><main><h1>T</h1>{}</main>'
            '<nav class="nav-chapters">next</nav></div>',
            id="mdbook",
        ),
        pytest.param(
            "platform:docbook",
            '<div class="navheader">Prev</div><div class="sect1"><div class="titlepage"><h1>T</h1></div>{}</div>',
            id="docbook",
        ),
    ],
)
def test_documentation_is_found_by_its_markup_without_what_is_around(how: str, html: str) -> None:
    selection = selected("<body>" + html.format(f"<p>{PROSE}</p><p>{PROSE}</p>") + "</body>")
    assert (selection.how, words(selection)) == (how, f"# T\n\n{PROSE}\n\n{PROSE}\n")


FORUM_POSTS = f"**Ada**, 3 May 2026\n\n{PROSE}\n\n**Grace**, 4 May 2026\n\nIt is.\n"


@pytest.mark.parametrize(
    "how, post",
    [
        pytest.param(
            "thread:stackexchange",
            '<div class="answer" data-answerid="1"><div class="votecell">12</div><div class="s-prose js-post-body">'
            '<p>{text}</p></div><div class="post-signature"><span class="user-action-time"><span class="relativetime">'
            '{date}</span></span><div class="user-details"><a>{name}</a><span>1,234</span></div></div></div>',
            id="stack exchange",
        ),
        pytest.param(
            "thread:discourse",
            '<div class="topic-body crawler-post"><span class="creator"><span itemprop="name">{name}</span></span>'
            '<time datetime="2026">{date}</time><div class="post" itemprop="text"><p>{text}</p></div><div>3 Likes</div>'
            "</div>",
            id="discourse",
        ),
        pytest.param(
            "thread:xenforo",
            '<article class="message" data-author="{name}"><h4>Since 2004</h4><time datetime="2026">{date}</time>'
            '<div class="message-body"><div class="bbWrapper">{text}</div></div><aside>my signature</aside></article>',
            id="xenforo",
        ),
        pytest.param(
            "thread:phpbb",
            '<div id="p1" class="post"><dl><dt><a class="username">{name}</a></dt><dd>Posts: 99</dd></dl>'
            '<div class="postbody"><p class="author">{date}</p><div class="content">{text}</div></div></div>',
            id="phpbb",
        ),
        pytest.param(
            "thread:vbulletin3",
            '<table id="post1"><tr><td class="thead">{date}</td></tr><tr><td><a class="bigusername">{name}</a></td>'
            '<td><div id="post_message_1">{text}</div></td></tr></table>',
            id="vbulletin",
        ),
        pytest.param(
            "thread:invision",
            '<article class="ipsComment"><h3 class="cAuthorPane_author">{name}</h3><time datetime="2026">{date}</time>'
            '<div data-role="commentContent"><p>{text}</p></div></article>',
            id="invision",
        ),
        pytest.param(
            "thread:schema",
            '<div itemscope itemtype="https://schema.org/Comment"><span itemprop="author"><b itemprop="name">{name}</b>'
            '</span><time>{date}</time><p itemprop="text">{text}</p><button>Reply</button></div>',
            id="microdata",
        ),
    ],
)
def test_a_discussion_is_its_posts_with_names_and_dates(how: str, post: str) -> None:
    posts = post.format(name="Ada", date="3 May 2026", text=PROSE) + post.format(
        name="Grace", date="4 May 2026", text="It is."
    )
    selection = selected(f"<body><nav>{MENU}</nav><h1>Seams</h1>{posts}<footer>About us</footer></body>")
    assert (selection.how, words(selection)) == (how, FORUM_POSTS)


def test_comments_under_an_article_do_not_make_it_a_discussion() -> None:
    comment = '<div itemscope itemtype="https://schema.org/Comment"><p itemprop="text">Thanks!</p></div>'
    selection = selected(f"<body><main>{f'<p>{PROSE}</p>' * 9}</main>{comment * 3}</body>")
    assert selection.how.startswith("main")


def test_code_tables_and_lists_of_an_article_survive_and_its_surroundings_do_not() -> None:
    body = (
        f"<h1>Seams</h1><p>{PROSE}</p><pre><code class='language-python'>def seam():\n    return 1\n</code></pre>"
        f"<p>{PROSE} Again.</p><table><tr><th>Kind</th><th>Load</th></tr><tr><td>flat</td><td>9</td></tr></table>"
        f"<p>{PROSE} And again.</p><ul><li>first</li><li>second</li></ul><p>{PROSE} To the end.</p>"
    )
    page = (
        f"<body><header>{MENU}</header><div class='share-buttons'>Share</div><article>{body}</article>"
        f"<div class='related-posts'><a href='/x'>{PROSE}</a></div><div id='comments'><p>{PROSE} I agree.</p></div>"
        f"<div class='cookie-banner'>We use cookies</div><footer>© 2026</footer></body>"
    )
    selection = selected(page, is_article=True)
    assert words(selection) == (
        f"# Seams\n\n{PROSE}\n\n```python\ndef seam():\n    return 1\n```\n\n{PROSE} Again.\n\n"
        "| Kind | Load |\n| --- | --- |\n| flat | 9 |\n\n"
        f"{PROSE} And again.\n\n- first\n- second\n\n{PROSE} To the end.\n"
    )
    kinds = {kind: count for kind, count in selection.removed.items() if count and kind != "around"}
    assert kinds == {"navigation": 2, "share": 1, "related": 1, "comments": 1, "consent": 1}


def test_a_page_that_is_a_list_keeps_its_links() -> None:
    items = "".join(
        f'<div class="card"><h2><a href="/{n}">Item {n}</a></h2><span>{n}.00 EUR</span></div>' for n in range(1, 9)
    )
    text = words(selected(f"<body><nav>{MENU}</nav><h1>Everything</h1>{items}</body>"))
    assert text.count("https://example.org/") == 8
    assert text.startswith("# Everything\n")


def test_a_menu_without_a_name_before_the_heading_is_removed() -> None:
    selection = selected(f"<body><div>{MENU}</div><h1>T</h1><p>{PROSE}</p>{MENU}</body>")
    assert selection.removed["navigation"] == 1
    assert words(selection).startswith("# T\n")


@pytest.mark.parametrize(
    "name, kind",
    [
        pytest.param("share-buttons", "share", id="share"),
        pytest.param("td-post-sharing social", "share", id="social"),
        pytest.param("cookie-notice", "consent", id="consent"),
        pytest.param("widget related-posts", "related", id="related"),
        pytest.param("comments", "comments", id="comments"),
        pytest.param("primary-sidebar", "navigation", id="sidebar"),
        pytest.param("newsletter-signup", "promotion", id="newsletter"),
        pytest.param("has-sidebar main", None, id="layout with a sidebar"),
        pytest.param("article-body pagination-first", None, id="the body of an article"),
        pytest.param("entry-content", None, id="content"),
        pytest.param("shared-memory", None, id="a word that begins like another"),
        pytest.param("", None, id="no name"),
    ],
)
def test_what_a_name_says(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind


def test_a_name_is_not_believed_about_most_of_the_page() -> None:
    selection = selected(f"<body><div class='sidebar'><h1>T</h1><p>{PROSE}</p></div><p>{PROSE}</p></body>")
    assert words(selection).count("A seam joins") == 2


def test_quotations_and_notes_beside_the_text_stay() -> None:
    selection = selected(
        f"<body><main><p>{PROSE}</p><aside class='admonition note'><p>Mind the gap.</p></aside>"
        f"<aside class='widget'>{MENU}</aside><p>{PROSE}</p></main></body>"
    )
    assert "Mind the gap." in words(selection)
    assert "seven" not in words(selection)


def surveyed(html: str) -> Survey:
    body = turbohtml.parse(html).select_one("body")
    assert body is not None
    return survey(body)


def test_a_survey_counts_the_words_and_links_of_each_block() -> None:
    found = surveyed('<body><p>One two <a href="/">three</a>.</p><div>Four<p>five</p>six <b>seven</b></div></body>')
    assert [(block.box.tag, block.words, block.linked) for block in found.blocks] == [
        ("p", 4, 1),
        ("div", 1, 0),
        ("p", 1, 0),
        ("div", 2, 0),
    ]
    assert [(box.tag, box.words, box.linked, box.start, box.blocks) for box in found.boxes] == [
        ("body", 8, 1, 0, 4),
        ("p", 4, 1, 0, 1),
        ("div", 4, 0, 1, 3),
        ("p", 1, 0, 2, 1),
    ]


@pytest.mark.parametrize(
    "name, hints",
    [
        pytest.param("author-name", {"byline"}, id="one"),
        pytest.param("SummaryItemByline", {"byline", "card", "text"}, id="words told apart by capitals"),
        pytest.param("x1 y2", set(), id="none"),
    ],
)
def test_names_hint_at_what_a_box_is(name: str, hints: set[str]) -> None:
    assert {hint for hint, bit in NAME_BITS.items() if names_of(name) & bit} == hints


def test_every_feature_has_a_weight_and_every_block_a_likelihood() -> None:
    assert tuple(WEIGHTS) == NAMES
    found = surveyed(f"<body><nav>{MENU}</nav><article><h1>T</h1><p>{PROSE}</p><p>{PROSE}</p></article></body>")
    rows = features_of(found)
    assert {len(row) for row in rows} == {len(NAMES)}
    chances = likelihoods(rows)
    assert all(0 < chance < 1 for chance in chances)
    assert min(chances[-2:]) > 0.5 > max(chances[:7])


def test_an_article_is_cut_from_teasers_and_keeps_its_heading_and_pictures() -> None:
    teaser = f'<div class="card"><h3><a href="/x">Other</a></h3><p><a href="/x">{PROSE[:70]}…</a></p></div>'
    text = "".join(f"<p>{PROSE} {word}.</p>" for word in ("First", "Second", "Third", "Fourth", "Fifth"))
    body = turbohtml.parse(
        f'<body><p class="date">3 May</p><h1>Seams</h1><div class="share">Share this</div>{text}'
        f'<p><img src="/a.png" alt="A seam"></p><p>{PROSE} Sixth.</p><p><img src="/logo.png"></p>'
        f"<div>{teaser * 3}</div></body>"
    ).select_one("body")
    assert body is not None
    removed: Counter[str] = Counter()
    assert remove_around(survey(body), removed, is_article=True) is True
    assert to_markdown(body, URL).markdown == (
        "# Seams\n\n"
        + "".join(f"{PROSE} {word}.\n\n" for word in ("First", "Second", "Third", "Fourth", "Fifth"))
        + f"[image: A seam](https://example.org/a.png)\n\n{PROSE} Sixth.\n"
    )
    assert removed["around"] == 3


@pytest.mark.parametrize(
    "html, is_article",
    [
        pytest.param("<p>Two words.</p>", True, id="one block"),
        pytest.param(f"<p>{PROSE}</p><p>{PROSE[:40]}</p>", True, id="too short to be sure"),
        pytest.param("".join(f"<div><h2>Item</h2><span>{n} EUR</span></div>" for n in range(40)), False, id="a list"),
        pytest.param(f"<p>{PROSE}</p>" * 9 + "<pre>a</pre><pre>b</pre>", False, id="code, and no article"),
    ],
)
def test_a_page_without_sure_edges_is_left_whole(html: str, is_article: bool) -> None:
    body = turbohtml.parse(f"<body>{html}</body>").select_one("body")
    assert body is not None
    before, removed = body.html, Counter[str]()
    assert remove_around(survey(body), removed, is_article=is_article) is False
    assert (body.html, removed) == (before, Counter())


def test_what_every_card_says_is_left_out_but_not_the_cells_of_a_table() -> None:
    cards = "".join(f"<div class='card'><h2>Item {n}</h2><span>Quick view</span></div>" for n in range(6))
    table = "<table>" + "<tr><td>Yes</td><td>No</td></tr>" * 6 + "</table>"
    selection = selected(f"<body><h1>Everything</h1>{cards}{table}</body>")
    text = words(selection)
    assert selection.removed["repeated"] == 5
    assert (text.count("Quick view"), text.count("Item"), text.count("Yes")) == (1, 6, 6)


def test_code_that_stands_there_again_and_again_stays() -> None:
    cards = "".join(f"<div class='card'><h2>Item {n}</h2><p><code>pip install</code></p></div>" for n in range(6))
    text = words(selected(f"<body><h1>Everything</h1>{cards}</body>"))
    assert text.count("`pip install`") == 6


@pytest.mark.parametrize("is_article", [True, False])
@pytest.mark.parametrize("before", ["", '<div id="readme">'], ids=["no known software", "known software"])
def test_names_inside_code_are_words_of_its_highlighter(before: str, is_article: bool) -> None:
    tokens = [
        '<span class="token comment">// seams</span>',
        '<span class="token related-posts">a</span>',
        '<span class="share">b</span>',
        '<span class="sidebar" role="navigation">c</span>',
        '<span class="anchor">d</span>',
        "<nav>e</nav>",
        "<aside>f</aside>",
    ]
    lines = "\n".join(tokens)
    code = f"<pre>{lines}</pre><p>{PROSE} Then <code><span class='menu'>--menu</span> x</code>.</p>"
    classes = "markdown-body entry-content"
    page = f'<body>{before}<article class="{classes}"><h1>T</h1><p>{PROSE}</p>{code}<p>{PROSE}</p></article></body>'
    expected = "```\n// seams\na\nb\nc\nd\ne\nf\n```"
    text = words(selected(page, is_article=is_article))
    assert expected in text
    assert "`--menu x`" in text


@pytest.mark.parametrize("is_article", [True, False])
def test_a_heading_before_a_paragraph_that_is_kept_is_kept(is_article: bool) -> None:
    again = "<p>some text about parsing queries and words and more</p>" * 20
    answer = "<h2 id=sub>Sub</h2><p>The answer to frobnicating widgets is 42.</p><pre>a = 1\nb = 2</pre>"
    text = words(selected(f"<body><h1>T</h1>{again}{answer}</body>", is_article=is_article))
    assert text.endswith("## Sub\n\nThe answer to frobnicating widgets is 42.\n\n```\na = 1\nb = 2\n```\n")


def test_cards_called_related_are_the_page_when_they_are_most_of_it() -> None:
    cards = "".join(f'<div class="card related-link"><h3>Item {n}</h3><p>What it is.</p></div>' for n in range(6))
    assert words(selected(f"<body><h1>All items</h1>{cards}</body>")).count("Item") == 6
    text = words(selected(f"<body><h1>T</h1><p>{PROSE * 20}</p>{cards}</body>"))
    assert "Item" not in text


def test_a_foot_longer_than_the_page_is_no_part_of_it() -> None:
    foot = f'<div class="site-section-footer-group" id="x-footer"><p>{PROSE * 60}</p></div>'
    page = f"<body><main><h1>Shoes</h1><p>{PROSE.replace('seam', 'shoe') * 6}</p></main>{foot}</body>"
    assert "A seam" not in words(selected(page))
    assert "A seam" in words(selected(page.replace("main>", "section>")))  # without a main part nobody knows


def test_a_notice_of_consent_longer_than_the_page_goes() -> None:
    notice = f'<div id="onetrust-consent-sdk"><h2>Privacy</h2><p>{PROSE * 9}</p></div>'
    selection = selected(f"<body><h1>T</h1><p>What the page says.</p>{notice}</body>")
    assert (words(selection), selection.removed["consent"]) == ("# T\n\nWhat the page says.\n", 1)


def stating(data: str, body: str) -> str:
    return f'<script type="application/ld+json">{data}</script><body>{body}</body>'


def test_an_article_that_only_its_data_has_is_read_from_there() -> None:
    told = ". ".join(f"Sentence {n} of what the article says" for n in range(30))
    page = stating(json.dumps({"@type": "NewsArticle", "articleBody": f"{told}\nThe end."}), "<div id=root></div>")
    reading = read(source(page))
    assert (reading.markdown, len(reading.notes)) == (f"{told}\n\nThe end.\n", 1)
    whole = read(source(stating(json.dumps({"@type": "NewsArticle", "articleBody": told}), f"<p>{told}</p>")))
    assert (whole.markdown, whole.notes) == (f"{told}\n", [])


def test_a_product_is_described_by_its_data_when_its_page_says_next_to_nothing() -> None:
    told = "A seam that joins two pieces, made for those who never want to look at it twice, in three sizes."
    data = json.dumps({"@type": "Product", "description": told})
    reading = read(source(stating(data, "<h1>Seam</h1><p>Add to cart</p>")))
    assert reading.markdown == f"# Seam\n\nAdd to cart\n\n{told}\n"
    assert told not in read(source(stating(data, f"<h1>Seam</h1><p>{PROSE * 3}</p>"))).markdown


def test_tabs_whose_labels_are_buttons_keep_them() -> None:
    tabs = (
        '<div role="tablist"><button role="tab" aria-controls="a">npm</button>'
        '<button role="tab" aria-controls="b">yarn</button></div>'
        '<div role="tabpanel" id="a">one</div><div role="tabpanel" id="b" hidden>two</div>'
    )
    text = read(source(f"<body><h1>T</h1><p>{PROSE}</p>{tabs}</body>")).markdown
    assert text == f"# T\n\n{PROSE}\n\n**npm**\n\none\n\n**yarn**\n\ntwo\n"


def test_a_quotation_of_a_post_on_the_page_is_left_out_and_another_one_stays() -> None:
    def post(text: str) -> str:
        return f'<article class="message"><div class="message-body"><div class="bbWrapper">{text}</div></div></article>'

    elsewhere = "What somebody said in a book that is not on this page at all."
    answer = f"<blockquote><p>{PROSE}</p></blockquote><blockquote><p>{elsewhere}</p></blockquote>I agree."
    selection = selected(f"<body>{post(PROSE)}{post(answer)}</body>")
    assert words(selection) == f"{PROSE}\n\n> {elsewhere}\n\nI agree.\n"


@pytest.mark.parametrize(
    "selector, names, may",
    [
        pytest.param(".a .b, #c", {"a"}, False, id="one of two is missing"),
        pytest.param(".a .b, #c", {"a", "b"}, True, id="both are there"),
        pytest.param(".a .b, #c", {"c"}, True, id="the other alternative"),
        pytest.param('[itemprop="a.b"]', set(), True, id="an attribute may be anywhere"),
        pytest.param("tr:has(.x)", set(), True, id="a condition is not asked"),
    ],
)
def test_a_selector_is_tried_only_where_its_names_are(selector: str, names: set[str], may: bool) -> None:
    assert may_match(selector, names) is may


@pytest.mark.parametrize(
    "markup, bounded",
    [
        pytest.param("<p>x", "<p>x", id="a small page"),
        pytest.param("<" * 5_000_000, "<" * MOST_TAGS, id="nothing but what begins a tag"),
        pytest.param("<p>x" * (MOST_SMALL_TAGS + 1), "<p>x" * MOST_TAGS, id="one tag too many"),
        pytest.param("<div>" * MOST_SMALL_TAGS, "<div>" * MOST_SMALL_TAGS, id="many small tags"),
        pytest.param("<div a b c>" * (MOST_TAGS + 1), "<div a b c>" * MOST_TAGS, id="tags that are not small"),
        pytest.param("<p>" + "x" * 5_000_000 + "<b>", "<p>" + "x" * 1_000_000, id="text without an end"),
        pytest.param(
            "<img src='" + "x" * 2_000_000 + "'>y", "<img src='" + "x" * 2_000_000 + "'>y", id="a picture in its tag"
        ),
        pytest.param(
            "<script>" + "x" * 2_000_000 + "</script>y", "<script>" + "x" * 2_000_000 + "</script>y", id="a long script"
        ),
    ],
)
def test_markup_is_cut_before_it_is_parsed(markup: str, bounded: str) -> None:
    assert bound_markup(markup) == bounded


def test_a_page_too_large_to_be_read_whole_says_so() -> None:
    reading = read(source("<p>" + "word " * 1_100_000))
    assert (len(reading.markdown), reading.truncated) == (1_000_000, True)
    assert reading.notes == ["the page is too large to be read whole: 5,500,003 characters"]


def test_a_page_cut_before_its_text_is_too_large_and_not_an_empty_shell() -> None:
    with pytest.raises(Unreadable) as caught:
        read(source("<div>" * 1_000_000 + PROSE))
    assert caught.value.outcome is Outcome.UNSUPPORTED
    assert caught.value.detail == "the page is too large: 5,000,108 characters, and no text where it begins"


@pytest.mark.parametrize(
    "name, hint",
    [
        pytest.param("FooterLinks", "navigation", id="words told apart by capitals"),
        pytest.param("mdx-table_root__adKqa", None, id="the hash of a style sheet"),
        pytest.param("sticky top-[var(--nav-height)]", None, id="a value in brackets"),
    ],
)
def test_capitals_tell_the_words_of_a_name_apart(name: str, hint: str | None) -> None:
    body = turbohtml.parse(f"<body><p>{PROSE * 9}</p><div class='{name}'>Words.</div></body>").select_one("body")
    assert body is not None
    kinds = [kind for kind, count in remove_boilerplate(body, is_article=False).items() if count]
    assert kinds == ([hint] if hint else [])


def test_text_in_too_many_pieces_is_cut() -> None:
    body = turbohtml.parse("<body>" + "<b>x</b>" * 100_001 + "</body>").select_one("body")
    assert body is not None
    assert bound_text(body) is True
    assert len(body.text) == 100_000


def test_a_page_nested_100_000_deep_is_read_whole() -> None:
    reading = read(source(f"<body><p>{PROSE}</p>" + '<div class="sidebar">' * 100_000 + f"{PROSE}</body>"))
    assert reading.markdown == f"{PROSE}\n\n{PROSE}\n"
    assert reading.reader == "html (body)"


def test_elements_inside_a_removed_one_are_passed_over() -> None:
    document = turbohtml.parse('<div id="a" class="x"><p class="x"></p></div><p id="b" class="x"></p>')
    seen = []
    for element in each(document, ".x"):
        seen.append(element.attr("id"))
        if element.attr("id") == "a":
            element.extract()
    assert seen == ["a", "b"]


def test_depth_is_counted_up_to_its_limit() -> None:
    document = turbohtml.parse("<body>" + "<div>" * 5)
    assert (depth_of(document, 50), depth_of(document, 3)) == (7, 4)
    assert is_ordinary(document)


def test_reading_a_page_brings_everything_together() -> None:
    html = (
        '<html lang="en"><head><title>Seams – Example</title><base href="/base/"><meta name="author" content="Ada">'
        f'</head><body><nav>{MENU}</nav><main><h1>Seams</h1><p>{PROSE} See <a href="more">more</a>.</p>'
        f"<p hidden>not seen</p><p>{PROSE}</p></main><!-- note --><script>1</script></body></html>"
    )
    assert read(source(html)) == Reading(
        markdown=f"# Seams\n\n{PROSE} See [more](https://example.org/base/more).\n\n{PROSE}\n",
        title="Seams",
        author="Ada",
        language="en",
        links=(Link(text="more", url="https://example.org/base/more"),),
        reader="html (main)",
        removed={"script": 1, "comment": 1, "hidden": 1, "navigation": 1},
    )


@pytest.mark.parametrize(
    "html, told_by",
    [
        pytest.param('<div id="root"></div><script src="/app.js"></script>', "<div id=root>", id="an empty root"),
        pytest.param('<div id="__next"><p>Loading…</p></div>', "<div id=__next>", id="a root that is loading"),
        pytest.param(
            "<noscript>You need to enable JavaScript to run this app.</noscript>", "asks for JavaScript", id="noscript"
        ),
        pytest.param("<p>Please enable JavaScript to continue.</p>", "asks for JavaScript", id="a message"),
        pytest.param('<script src="/app.js"></script><p>Example</p>', "has scripts", id="nothing but scripts"),
        pytest.param("<div></div>" * 300, "nothing but markup", id="markup without a letter"),
    ],
)
def test_a_page_that_is_empty_without_scripts_says_so(html: str, told_by: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(source(f"<body>{html}</body>"))
    assert caught.value.outcome is Outcome.JS_REQUIRED
    assert told_by in caught.value.detail


@pytest.mark.parametrize(
    "html, markdown",
    [
        pytest.param("", "", id="nothing at all"),
        pytest.param("<p>Not found.</p>", "Not found.\n", id="short, without scripts"),
        pytest.param(
            '<script src="/a.js"></script><p>This short page has a script and says all it has to say.</p>',
            "This short page has a script and says all it has to say.\n",
            id="short, with a script",
        ),
        pytest.param(
            f'<div id="root"><p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p></div>',
            f"{PROSE}\n\n{PROSE}\n\n{PROSE}\n",
            id="a root that the server filled",
        ),
    ],
)
def test_a_short_page_is_no_empty_one(html: str, markdown: str) -> None:
    assert read(source(f"<body>{html}</body>")).markdown == markdown


def test_the_part_that_a_fragment_names_is_read_when_it_is_not_in_the_text() -> None:
    comments = f"<div id='comments'><p>{PROSE} I agree.</p><p>{PROSE} Me too.</p></div>"
    page = f'<meta property="og:type" content="article"><main>{f"<p>{PROSE}</p>" * 5}</main>{comments}'
    assert "I agree" not in read(source(page)).markdown
    assert read(source(page), fragment="comments").markdown == f"{PROSE} I agree.\n\n{PROSE} Me too.\n"


def test_the_part_that_a_fragment_names_is_whole_though_it_is_beyond_the_edges() -> None:
    card = f'<div class="card"><h3><a href="/x">Other</a></h3><p><a href="/x">{PROSE[:70]}…</a></p></div>'
    text = "".join(f"<p>{PROSE} {word}.</p>" for word in ("First", "Second", "Third", "Fourth", "Fifth"))
    page = f'<meta property="og:type" content="article"><h1>T</h1>{text}<div id="others">{card * 3}</div>'
    assert "Other" not in read(source(page)).markdown
    assert read(source(page), fragment="others").markdown.count("Other") == 3


@settings(max_examples=80)
@given(
    st.lists(
        st.sampled_from(
            [
                "<article>",
                "</article>",
                "<p>",
                PROSE,
                '<div class="related">',
                "</div>",
                "<table>",
                "<td>",
                "<h1>T</h1>",
                "<nav>",
                '<div itemtype="https://schema.org/Comment">',
                '<p itemprop="text">',
                "<main>",
                "\0",
                "<frameset>",
                "<svg>",
                "&#x0;",
            ]
        ),
        max_size=30,
    )
)
def test_any_markup_is_read_or_refused(parts: list[str]) -> None:
    try:
        markdown = read(source("".join(parts))).markdown
    except Unreadable:
        markdown = ""
    assert markdown == "" or markdown.endswith("\n")


_LINKS = "".join(f'<a href="/{number}">Link number {number}</a> ' for number in range(100))
_LIST = "".join(f'<li><a href="/{number}">Link number {number}</a></li>' for number in range(20))
_SAID = "A widget is frobnicated by turning its handle to the left until it clicks, and then once more."


def read_html(page: str) -> str:
    return read(Source(body=page.encode(), url="https://example.org/", media_type="text/html")).markdown


@pytest.mark.parametrize(
    "around",
    [
        pytest.param(f"<nav>{_LINKS}</nav><main>{{}}</main>", id="nav beside a main part"),
        pytest.param(f"<nav>{_LINKS}</nav>{{}}<footer>{_LINKS}</footer>", id="nav and foot"),
        pytest.param(f"<header><ul>{_LIST}</ul></header><main>{{}}</main>", id="list in a header"),
        pytest.param(f"<div class=menu><ul>{_LIST}</ul></div><div>{{}}</div>", id="menu by name"),
    ],
)
def test_a_short_page_under_a_long_menu_is_what_the_page_says(around: str) -> None:
    page = around.format(f"<h1>Widgets</h1><p>{_SAID}</p>")
    assert read_html(page) == f"# Widgets\n\n{_SAID}\n"


def test_a_page_of_nothing_but_links_keeps_them() -> None:
    assert read_html(f"<nav>{_LINKS}</nav>").count("](") == 100
