"""Books, made of the chapters that each test is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.packages import epub, zipped
from webseam.errors import Outcome
from webseam.fetch.readers.epub import read
from webseam.fetch.types import Link, Reading, Source, Unreadable

ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
    '<enc:EncryptedData><enc:EncryptionMethod Algorithm="{method}"/><enc:CipherData>'
    '<enc:CipherReference URI="{part}"/></enc:CipherData></enc:EncryptedData></encryption>'
)


def reading(body: bytes, url: str = "https://example.org/files/a.epub") -> Reading:
    return read(Source(body=body, url=url))


def test_a_whole_reading() -> None:
    body = epub(
        {
            "text/one 1.xhtml": '<h1>One</h1><p>Text<a epub:type="noteref" href="one 1.xhtml#n1">1</a>'
            ' <img src="../i.png" alt="A cat"/> <a href="two.xhtml#x">next</a></p>'
            '<aside epub:type="footnote" id="n1"><p>The note.</p></aside>'
            '<pre><code class="language-python">x = 1\n</code></pre>',
            "two.xhtml": '<h1>Two<a id="x"/></h1><p>é <a href="https://e.org/">out</a></p>'
            '<p style="display:none">evil</p>',
        },
        metadata="<dc:title>A\n book</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator>"
        "<dc:language>en-GB</dc:language><dc:date>2020-05-01</dc:date>",
        items='<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        order='<itemref idref="n"/>',
    )
    assert reading(body) == Reading(
        markdown="# One\n\nText[^1] image: A cat next\n\n[^1]: The note.\n\n```python\nx = 1\n```\n\n"
        "# Two\n\né [out](https://e.org/)\n",
        title="A book",
        author="Ann, Bob",
        published="2020-05-01",
        language="en-GB",
        links=(Link(text="out", url="https://e.org/"),),
        reader="epub",
        removed={"hidden": 1, "navigation": 1},
    )


def test_an_element_that_ends_at_once_does_not_swallow_what_follows() -> None:
    body = epub({"a.xhtml": '<script src="x"/><p>a<i/>b<br/>c</p><iframe src="x"/><p>d</p>'})
    assert reading(body).markdown == "ab\nc\n\nd\n"


def test_a_chapter_says_its_own_encoding() -> None:
    chapter = '<?xml version="1.0" encoding="iso-8859-1"?><html><body><p>é</p></body></html>'.encode("latin-1")
    assert reading(epub({"a.xhtml": chapter})).markdown == "é\n"


def test_chapters_come_in_the_order_of_the_spine() -> None:
    body = epub({"z.xhtml": "<p>first</p>", "a.xhtml": "<p>second</p>"})
    assert reading(body).markdown == "first\n\nsecond\n"


def test_a_chapter_that_is_missing_is_counted() -> None:
    body = epub(
        {"a.xhtml": "<p>a</p>"},
        items='<item id="b" href="b.xhtml" media-type="text/html"/>',
        order='<itemref idref="b"/>',
    )
    found = reading(body)
    assert (found.markdown, found.notes, found.truncated) == (
        "a\n",
        ["Chapters that are listed and missing: 1."],
        True,
    )


def test_a_long_book_is_cut_and_says_so() -> None:
    found = reading(epub({f"{place}.xhtml": "<p>" + "word " * 120_000 + "</p>" for place in range(6)}))
    assert found.notes == ["Left out: chapters 5 to 6, as there is more text than fits."]
    assert found.truncated


def test_fonts_that_are_kept_from_copying_do_not_make_a_book_encrypted() -> None:
    parts = {
        "META-INF/encryption.xml": ENCRYPTION.format(method="http://www.idpf.org/2008/embedding", part="OEBPS/a.xhtml")
    }
    assert reading(epub({"a.xhtml": "<p>a</p>"}, parts=parts)).markdown == "a\n"


LOCKED = {
    "META-INF/encryption.xml": ENCRYPTION.format(
        method="http://www.w3.org/2001/04/xmlenc#aes256-cbc", part="OEBPS/a.xhtml"
    )
}
REFUSED = {
    "encrypted": (epub({"a.xhtml": "<p>a</p>"}, parts=LOCKED), "is encrypted", Outcome.UNSUPPORTED),
    "no list of chapters": (
        zipped({"META-INF/container.xml": "<container/>"}),
        "is damaged: it says that nothing lists its chapters, which is missing",
        Outcome.BAD_RESPONSE,
    ),
    "no text": (epub({"a.xhtml": "<p/>"}), "holds no text", Outcome.UNSUPPORTED),
    "cut": (epub({"a.xhtml": "<p>a</p>"})[:-40], "is damaged: it ends too early", Outcome.BAD_RESPONSE),
}


@pytest.mark.parametrize(("body", "why", "outcome"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_is_refused_with_the_reason(body: bytes, why: str, outcome: Outcome) -> None:
    with pytest.raises(Unreadable) as refused:
        reading(body)
    assert (refused.value.detail, refused.value.outcome) == (f"this EPUB of {len(body):,} bytes {why}", outcome)


def test_a_book_that_was_cut_on_its_way_is_refused_as_too_large() -> None:
    with pytest.raises(Unreadable) as refused:
        read(Source(body=epub({"a.xhtml": "<p>a</p>"})[:500], url="https://example.org/", truncated=True))
    assert refused.value.detail == "this EPUB is too large: its first 500 bytes cannot be read alone"
    assert refused.value.outcome is Outcome.UNSUPPORTED


@given(st.binary(max_size=300))
def test_any_chapter_is_read_or_refused(chapter: bytes) -> None:
    try:
        found = reading(epub({"a.xhtml": chapter})).markdown
    except Unreadable as error:
        found = error.detail
    assert found.endswith(("\n", "holds no text"))
