"""Properties of the URL parser over texts nobody thought of."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.net.url import DEFAULT_PORTS, URL, UrlRefused, canonical_host, join, parse

HOSTS = st.sampled_from(
    (
        "example.com EXAMPLE.com. a_b.example 127.0.0.1 0x7f.1 1.2.3.4.5 [::1] [::ffff:8.8.8.8] [fe80::1%25eth0] "
        "münchen.de faß.de ①②⑦.0.0.1 127。0。0。1 xn--53h.us xn--a localhost %31 a..b ::1 expa\u00admple.com \u212a.com"
    ).split()
)
SIGNS = st.text(alphabet="ab1.:/?#@[]\\%&=;-_ \t\n\x00\u3002\uff0e\u200b\u0661éßK\ud800🏴", max_size=12)
URLS = st.builds(
    "{}{}{}{}{}{}".format,
    st.sampled_from(["", " ", "\ufeff"]),
    st.sampled_from(["http://", "https://", "HTTP://", "http:", "http:/", "http:///", "//", "ftp://", ""]),
    st.one_of(st.just(""), SIGNS, st.sampled_from(["user@", "a:b@", "example.com\\@"])),
    st.one_of(HOSTS, SIGNS),
    st.one_of(st.just(""), st.builds(":{}".format, st.one_of(st.integers(-1, 70_000), SIGNS))),
    st.one_of(st.just(""), st.builds("/{}".format, SIGNS), st.builds("?{}".format, SIGNS), SIGNS),
)


def parsed(text: str) -> URL | None:
    try:
        return parse(text)
    except UrlRefused:
        return None


@settings(max_examples=1_000)
@given(st.one_of(URLS, st.text(max_size=60)))
def test_a_text_is_refused_or_gives_a_form_that_reads_the_same_again(text: str) -> None:
    url = parsed(text)
    if url is not None:
        assert parse(url.href) == url
        assert url.href.isascii()
        assert url.href.isprintable()


@settings(max_examples=1_000)
@given(URLS)
def test_the_host_dialled_is_the_host_that_the_standard_library_reads_or_it_reads_none(text: str) -> None:
    url = parsed(text)
    if url is None:
        return
    written = urlsplit(url.href)
    port = DEFAULT_PORTS[written.scheme] if written.port is None else written.port
    assert (written.scheme, written.hostname, port) == (url.scheme, url.host, url.port)
    try:
        given_host = urlsplit(text.strip()).hostname
    except ValueError:  # urlsplit gives up on full-width dots
        return
    assert given_host is not None
    assert canonical_host(f"[{given_host}]" if ":" in given_host else given_host)[0] == url.host


@settings(max_examples=500)
@given(st.one_of(SIGNS, URLS))
def test_a_reference_is_refused_or_stays_what_a_strict_reader_makes_of_it(reference: str) -> None:
    base = parse("https://example.com/a/b?c")
    try:
        target = join(base, reference)
    except UrlRefused:
        return
    assert parse(target.href) == target
    if not reference.strip(" \t\n\r\f").startswith("//") and "://" not in reference:
        assert target.origin == base.origin


@settings(max_examples=300)
@given(st.lists(st.integers(0, 65_535), min_size=8, max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_each_spelling_of_an_ipv6_address_gives_the_same_host(groups: list[int], start: int, length: int) -> None:
    for index in range(start, min(8, start + length)):
        groups[index] = 0
    padded = ":".join(f"{group:04X}" for group in groups)
    plain = ":".join(f"{group:x}" for group in groups)
    dotted = ":".join(f"{group:x}" for group in groups[:6]) + ":{}.{}.{}.{}".format(
        *divmod(groups[6], 256), *divmod(groups[7], 256)
    )
    assert canonical_host(f"[{padded}]") == canonical_host(f"[{plain}]") == canonical_host(f"[{dotted}]")


@pytest.mark.parametrize("length", [10, 1_000, 8_000])
def test_a_long_host_is_refused_without_much_work(length: int) -> None:
    with pytest.raises(UrlRefused):
        parse("http://" + "é" * length * 64 + ".com/")
