"""`webseam.read`: the readers alone, on what a program already has."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import webseam
from tests.fetch.world import PARAGRAPH, html
from webseam import FetchError, Outcome, Page, RequestError

URL = "https://example.org/page"


def test_bytes_and_text_give_the_same_page_without_any_network() -> None:
    body = html("<h1>Widgets</h1>", PARAGRAPH, '<p><a href="/more">More</a> of it.</p>')
    page = webseam.read(body, url=URL, media_type="text/html")
    assert page == Page(
        url=URL,
        final_url=URL,
        media_type="text/html",
        title="Widgets",
        markdown=f"# Widgets\n\n{PARAGRAPH}\n\n[More](https://example.org/more) of it.\n",
        reader="html",
        links=page.links,
        tokens=page.tokens,
        removed=page.removed,
        took=page.took,
    )
    assert webseam.read(body.encode(), url=URL, media_type="text/html; charset=utf-8").markdown == page.markdown


def test_the_encoding_of_a_media_type_counts() -> None:
    assert webseam.read("Grüße\n".encode("latin-1"), url=URL, media_type="text/plain; charset=latin-1").markdown == (
        "Grüße\n"
    )


def test_half_a_surrogate_pair_is_no_reason_to_fail() -> None:
    assert webseam.read("a \ud800 b\n", url=URL, media_type="text/plain").markdown == "a ? b\n"


@pytest.mark.parametrize(
    ("data", "url", "kind"),
    [
        pytest.param(b"%PDF-1.7 nonsense", URL, "pdf", id="a broken PDF"),
        pytest.param(b"\x7fELF" + bytes(100), URL, "104 bytes", id="a program"),
        pytest.param(
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le"),
            URL + ".docx",
            "is encrypted, 544 bytes",
            id="an encrypted document",
        ),
    ],
)
def test_what_no_reader_can_read_is_refused_with_its_kind_and_size(data: bytes, url: str, kind: str) -> None:
    with pytest.raises(FetchError) as raised:
        webseam.read(data, url=url)
    assert raised.value.outcome in (Outcome.UNSUPPORTED, Outcome.BAD_RESPONSE)
    assert kind in raised.value.detail.lower()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        pytest.param({"data": 7}, "data", id="a number"),
        pytest.param({"url": "page.html"}, None, id="no URL"),
        pytest.param({"reader": "github"}, "reader", id="a site"),
        pytest.param({"focus": ""}, "focus", id="empty focus"),
        pytest.param({"timeout": 0}, "timeout", id="no time"),
    ],
)
def test_wrong_input_is_named(options: dict[str, Any], field: str | None) -> None:
    with pytest.raises(webseam.WebSeamError) as raised:
        webseam.read(**{"data": b"x", "url": URL, **options})
    assert raised.value.outcome is Outcome.INVALID
    if field is not None:
        assert isinstance(raised.value, RequestError)
        assert raised.value.field == field


def test_an_unknown_option_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="archived"):
        webseam.read(b"x", url=URL, archived=True)


async def test_it_can_be_called_where_an_event_loop_runs() -> None:
    pages = [webseam.read(html(PARAGRAPH), url=URL, media_type="text/html") for _ in range(2)]
    assert [page.outcome for page in pages] == [Outcome.OK, Outcome.OK]
    await asyncio.sleep(0)
    with pytest.raises(FetchError):
        webseam.read(b"\x7fELF" + bytes(100), url=URL)


def test_parts_of_what_is_given_can_be_asked_for() -> None:
    text = "# A\n\none\n\n# B\n\ntwo\n"
    assert webseam.read(text, url=URL + "#b", media_type="text/markdown").markdown == "# B\n\ntwo\n"
    first = webseam.read(text, url=URL, media_type="text/markdown", max_tokens=3)
    assert webseam.read(text, url=URL, media_type="text/markdown", cursor=first.next_cursor).markdown == "# B\n\ntwo\n"
