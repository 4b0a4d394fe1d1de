"""Feeds of every kind become one heading an entry, with what is known about it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.errors import Outcome
from webseam.fetch.readers import feed
from webseam.fetch.readers.writing import ROOM
from webseam.fetch.types import Link, Reading, Source, Unreadable


def read(body: str | bytes, *, convert: feed.Converter = feed.plain_text, truncated: bool = False) -> Reading:
    body = body.encode() if isinstance(body, str) else body
    return feed.read(Source(body=body, url="https://example.com/feed.xml", truncated=truncated), convert)


def rss(*items: str, channel: str = "") -> str:
    inner = "".join(f"<item>{item}</item>" for item in items)
    return f'<rss version="2.0"><channel><title>F</title>{channel}{inner}</channel></rss>'


RSS_2 = """<?xml version="1.0"?>
<rss version="2.0" xmlns:c="http://purl.org/rss/1.0/modules/content/" xmlns:a="http://www.w3.org/2005/Atom">
<channel><a:link rel="self" href="https://example.com/self"/><title>Tom &amp;amp; Co</title>
<link>https://example.org/</link><description>About &lt;i&gt;it&lt;/i&gt;</description>
<language>en-us</language><managingEditor>e@example.org (Ed)</managingEditor>
<item><title>List&lt;T&gt; is &lt;b&gt;good&lt;/b&gt;</title><link>/p/1?utm_source=rss&amp;id=2</link>
<author>j@example.org (Jane Doe)</author><pubDate>Mon, 30 Nov 2026 10:00:00 GMT</pubDate>
<description>Short</description><c:encoded><![CDATA[<p>Long <b>text</b> &amp; more</p>]]></c:encoded>
<enclosure url="https://example.org/a.mp3" type="audio/mpeg" length="1234567"/></item>
<item><guid isPermaLink="false">no address</guid><title>Second</title></item>
<item><guid>https://example.org/3</guid><description>Third</description></item>
<item/></channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" xml:base="https://example.org/blog/">
<title type="html">T &lt;i&gt;i&lt;/i&gt;</title><subtitle>Sub</subtitle><author><name>Al</name></author>
<updated>2026-01-03T00:00:00Z</updated><link rel="self" href="self"/>
<entry><title>a &lt;b&gt;</title><link rel="enclosure" href="f.zip" length="5"/><link href="one.html"/><id>urn:1</id>
<updated>2026-01-02T03:04:05Z</updated><published>2026-01-01T03:04:05+02:00</published>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>x &lt; y<a id="q"/><br/></p></div></content></entry>
<entry><title>Two</title><id>https://example.org/two</id><author><name>Bo</name></author><content type="text">a &lt;b>
c</content></entry></feed>"""

RSS_1 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="https://example.org/"><title>R</title><link>https://example.org/</link></channel>
<item rdf:about="https://example.org/1"><title>I</title><link>https://example.org/1</link>
<dc:date>2026-01-01</dc:date><dc:creator>C</dc:creator></item></rdf:RDF>"""

JSON_FEED = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "J",
        "home_page_url": "https://example.org/",
        "language": "en",
        "authors": [{"name": "Al"}, {"name": "Bo"}, {"url": "x"}],
        "items": [
            {"id": 1, "url": "a", "title": "One", "content_html": "<p>x</p>", "author": {"name": "Cy"},
             "attachments": [{"url": "b.mp3", "size_in_bytes": 1234}, {"url": "javascript:x"}]},
            {"id": "2", "title": "Two", "content_text": "p\n\n# q", "date_published": "2026-01-01T00:00:00Z"},
            "no entry",
        ],
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            RSS_2,
            Reading(
                markdown="About it\n\n## List\\<T> is good\n\n"
                ""
                "<https://example.org/p/1?id=2> · 2026-11-30T10:00:00Z · Jane Doe\n\n"
                "Enclosure: <https://example.org/a.mp3> (audio/mpeg, 1,234,567 bytes)\n\nLong text & more\n\n"
                "## Second\n\n## Entry 3\n\n<https://example.org/3>\n\nThird\n",
                title="Tom & Co",
                author="Ed",
                published="2026-11-30T10:00:00Z",
                language="en-us",
                links=(
                    Link(text="List<T> is good", url="https://example.org/p/1?id=2"),
                    Link(text="", url="https://example.org/3"),
                ),
                reader="feed",
            ),
            id="RSS 2.0 with modules under other prefixes",
        ),
        pytest.param(
            ATOM,
            Reading(
                markdown="Sub\n\n## a \\<b>\n\n<https://example.org/blog/one.html> · 2026-01-01T03:04:05+02:00\n\n"
                "Enclosure: <https://example.org/blog/f.zip> (5 bytes)\n\nx < y\n\n"
                "## Two\n\n<https://example.org/two> · Bo\n\na \\<b>\nc\n",
                title="T i",
                author="Al",
                published="2026-01-03T00:00:00Z",
                language="de",
                links=(
                    Link(text="a <b>", url="https://example.org/blog/one.html"),
                    Link(text="Two", url="https://example.org/two"),
                ),
                reader="feed",
            ),
            id="Atom",
        ),
        pytest.param(
            RSS_1,
            Reading(
                markdown="## I\n\n<https://example.org/1> · 2026-01-01 · C\n",
                title="R",
                published="2026-01-01",
                links=(Link(text="I", url="https://example.org/1"),),
                reader="feed",
            ),
            id="RSS 1.0 with a prefix that is not declared",
        ),
        pytest.param(
            JSON_FEED,
            Reading(
                markdown="## One\n\n<https://example.org/a> · Cy\n\n"
                "Enclosure: <https://example.org/b.mp3> (1,234 bytes)\n\n"
                "x\n\n## Two\n\n2026-01-01T00:00:00Z\n\np\n\n### q\n",
                title="J",
                author="Al, Bo",
                published="2026-01-01T00:00:00Z",
                language="en",
                links=(Link(text="One", url="https://example.org/a"),),
                reader="feed",
            ),
            id="JSON Feed",
        ),
        pytest.param(
            "<rss version='0.91'><channel><title>Old</title></channel></rss>",
            Reading(markdown="", title="Old", reader="feed"),
            id="without entries",
        ),
        pytest.param(
            '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>P</a:title>'
            "<a:entry><a:title>E</a:title></a:entry></a:feed>",
            Reading(markdown="## E\n", title="P", reader="feed"),
            id="Atom under a prefix",
        ),
    ],
)
def test_a_feed_is_read(body: str, expected: Reading) -> None:
    assert read(body) == expected


def test_html_of_entries_is_converted_with_the_address_its_links_are_relative_to() -> None:
    asked: list[tuple[str, str]] = []

    def convert(fragment: str, base_url: str) -> str:
        asked.append((fragment, base_url))
        return "# Heading\n\n```\n# code\n```\n\n##### Deep"

    reading = read(ATOM, convert=convert)
    fragment = '<div xmlns="http://www.w3.org/1999/xhtml"><p>x &lt; y<a id="q"></a><br/></p></div>'
    assert asked == [(fragment, "https://example.org/blog/")]
    assert "### Heading\n\n```\n# code\n```\n\n###### Deep\n\n## Two" in reading.markdown


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        pytest.param("<description>a&nbsp;b &mdash; c</description>", "a b — c", id="entities of HTML"),
        pytest.param("<description>R&D & more</description>", "R&D & more", id="bare ampersands"),
        pytest.param("<description>a\x08b\x0b&#x1b;c</description>", "abc", id="control characters"),
        pytest.param("<description><![CDATA[x &copy; & y]]></description>", "x © & y", id="inside CDATA"),
        pytest.param("<media:description>m</media:description>", "m", id="a prefix that is not declared"),
        pytest.param("<media:group><media:description>a\nb</media:description></media:group>", "a\nb", id="video"),
        pytest.param(
            "<description>![x](https://e.example/?q)</description>", "\\![x]\\(https://e.example/?q)", id="Markdown"
        ),
    ],
)
def test_what_feeds_get_wrong_is_read(inner: str, text: str) -> None:
    reading = read("\n" + rss(f"<title>T</title>{inner}"))
    assert (reading.markdown, reading.notes) == (f"## T\n\n{text}\n", [])


def test_of_a_feed_that_breaks_off_the_entries_before_are_read() -> None:
    reading = read(rss("<title>One</title>", "<title>Two</title>")[:-32])
    assert reading.markdown == "## One\n\n## Tw\n"
    assert reading.notes == ["The feed is broken, entries may be missing: no element found in line 1, column 91."]
    assert reading.truncated


def test_links_that_are_no_web_address_are_left_out() -> None:
    reading = read(rss("<title>T</title><link>javascript:alert(1)</link>", "<title>U</title><link>http://[</link>"))
    assert (reading.markdown, reading.links[0].url) == (
        "## T\n\n## U\n\n<https://example.com/feed.xml>\n",
        "https://example.com/feed.xml",
    )


def test_entries_without_room_are_counted_and_long_ones_end_early() -> None:
    item = f"<title>T</title><description>{'word ' * 1_000}</description>"
    reading = read(rss(*[item] * 300))
    assert len(reading.markdown) < ROOM
    assert reading.markdown.count("## T") == 200
    assert reading.notes == ["Left out: 100 entries, 200 ends of long entries (of 300 entries)."]
    assert reading.truncated


def test_a_long_entry_ends_between_blocks_and_never_in_code() -> None:
    code = "```\n" + "x = 1\n\n" * 5_000 + "```"
    reading = read(
        rss("<title>T</title><description>&lt;p></description>"), convert=lambda html, url: f"Before.\n\n{code}"
    )
    assert reading.markdown == "## T\n\nBefore.\n\n…\n"
    reading = read(rss("<title>T</title><description>&lt;p></description>"), convert=lambda html, url: code)
    assert reading.markdown == "## T\n\n…\n"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        pytest.param("<html><body/></html>", "not a feed but XML with <html> on top (20 bytes)", id="a page"),
        pytest.param("", "not a feed but not XML: no element found in line 1, column 1 (0 bytes)", id="nothing"),
        pytest.param("{", "not a feed but JSON that cannot be parsed (1 bytes)", id="broken JSON"),
        pytest.param('{"a":' * 100_000, "not a feed but JSON that cannot be parsed (500,000 bytes)", id="deep JSON"),
        pytest.param('{"items": 1}', "not a feed but JSON without items (12 bytes)", id="other JSON"),
        pytest.param(
            '{"a":[' + "[]," * 200_000, "not a feed but JSON of too many parts (600,006 bytes)", id="crowded JSON"
        ),
    ],
)
def test_what_is_no_feed_is_a_bad_response(body: str, detail: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read(body)
    assert (raised.value.outcome, raised.value.detail) == (Outcome.BAD_RESPONSE, detail)


def test_entities_are_never_expanded() -> None:
    laughs = '<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    with pytest.raises(Unreadable) as raised:
        read(laughs + rss("<title>&b;</title>"))
    assert raised.value.outcome is Outcome.UNSUPPORTED


def test_a_feed_of_countless_parts_is_refused_or_read_within_bounds() -> None:
    assert read("<rss>" + "&" * 200_000).truncated
    assert read(rss(*["<title>x</title>"] * 40_000)).truncated


_PIECES = st.lists(
    st.sampled_from(
        ["<rss>", "<channel>", "<item>", "</item>", "<title>", "</title>", "<feed>", "<entry>", '<link href="x"/>',
         "&x;", "]]>", "<content type='xhtml'>", "</content>", "{", '"items":', "[", "]", "}", "text",
         "<!DOCTYPE a [<!ENTITY b 'c'>]>"]
    )
)  # fmt: skip


@settings(max_examples=80)
@given(st.one_of(st.binary(max_size=200), _PIECES.map(lambda pieces: "".join(pieces).encode())))
def test_any_bytes_give_a_reading_or_unreadable(body: bytes) -> None:
    try:
        reading = read(body)
    except Unreadable:
        return
    assert reading.markdown == "" or reading.markdown.endswith("\n")


_NAMES = st.sampled_from(["url", "title", "authors", "name", "attachments", "content_html"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.lists(_VALUES, max_size=3), _VALUES)
def test_json_of_any_shape_under_the_names_of_a_feed_is_read(items: list[object], other: object) -> None:
    assert read(json.dumps({"items": items, "title": other, "authors": other, "description": other})).reader == "feed"
