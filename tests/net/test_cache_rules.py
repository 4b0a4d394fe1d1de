"""What HTTP says about keeping answers, where a server is not needed to try it."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.net.cache_rules import (
    Stored,
    age,
    asked,
    conditions,
    confirms,
    directives,
    http_date,
    is_private,
    kept_headers,
    lifetime,
    may_store,
    refreshed,
    variation,
    vary,
)
from webseam.net.message import Headers

NOON = 1_800_000_000.0


def headers(*pairs: tuple[str, str]) -> Headers:
    return Headers((name.encode(), value.encode("latin-1")) for name, value in pairs)


def stored(*pairs: tuple[str, str], asked_at: float = NOON, heard_at: float = NOON) -> Stored:
    return Stored("http://a.example/", (), 200, headers(*pairs), asked_at, heard_at, heard_at)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Sun, 06 Nov 1994 08:49:37 GMT", 784111777.0, id="fixdate"),
        pytest.param("Sunday, 06-Nov-94 08:49:37 GMT", 784111777.0, id="rfc 850"),
        pytest.param("Sun Nov  6 08:49:37 1994", 784111777.0, id="asctime"),
        pytest.param(" sun, 6 nov 1994 08:49:37 gmt ", 784111777.0, id="sloppy"),
        pytest.param("Sun, 06 Nov 1994 08:49:37 +0000", 784111777.0, id="offset of nothing"),
        pytest.param("06 Nov 1994 08:49:37 UTC", 784111777.0, id="without a day of the week"),
        pytest.param("Friday, 01-Jan-27 00:00:00 GMT", 1798761600.0, id="two digits of this century"),
        pytest.param("Sat, 31 Dec 2016 23:59:60 GMT", 1483228799.0, id="leap second"),
        pytest.param("Sun, 06 Nov 1994 08:49:37 +0200", None, id="another offset"),
        pytest.param("Sun, 06 Nov 1994 08:49:37", None, id="no zone"),
        pytest.param("Sun, 31 Feb 1994 08:49:37 GMT", None, id="no such day"),
        pytest.param("Sun, 06 Foo 1994 08:49:37 GMT", None, id="no such month"),
        pytest.param("Sun, 06 Nov 0000 08:49:37 GMT", None, id="no such year"),
        pytest.param("Sun, 06 Nov 1994 25:49:37 GMT", None, id="no such hour"),
        pytest.param("Sun, ٠٦ Nov 1994 08:49:37 GMT", None, id="digits of another script"),
        pytest.param("0", None, id="zero"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_dates_are_read_in_the_forms_of_http(text: str, expected: float | None) -> None:
    assert http_date(text) == expected


@given(st.integers(0, 2**33))
def test_a_date_that_was_written_is_read(seconds: int) -> None:
    assert http_date(formatdate(seconds, usegmt=True)) == seconds


@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert http_date(text) is None or isinstance(http_date(text), float)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(["max-age=60"], {"max-age": ["60"]}, id="one"),
        pytest.param(["Max-Age = 60 ,NO-STORE"], {"max-age": ["60"], "no-store": [""]}, id="case and blanks"),
        pytest.param(["max-age=60", "max-age=5"], {"max-age": ["60", "5"]}, id="two lines"),
        pytest.param(['a="b, no-store", private'], {"a": ["b, no-store"], "private": [""]}, id="quoted"),
        pytest.param([r'a="\"no-store\"", b'], {"a": ['"no-store"'], "b": [""]}, id="quotes in quotes"),
        pytest.param(['a="no-store, b'], {"a": ['"no-store'], "b": [""]}, id="a quote that does not end"),
        pytest.param([",,;no-cache;"], {"no-cache": [""]}, id="wrong separators"),
        pytest.param([""], {}, id="nothing"),
    ],
)
def test_cache_control_is_read_with_its_quotes(lines: list[str], expected: dict[str, list[str]]) -> None:
    assert directives(lines) == expected


@settings(max_examples=300)
@given(st.lists(st.text(alphabet='am-xge=",; \\0159\u00fc\t', max_size=80), max_size=3))
def test_any_cache_control_is_read(lines: list[str]) -> None:
    control = directives(lines)
    pairs = [("Cache-Control", line) for line in lines]
    assert all(name == name.lower() and values for name, values in control.items())
    assert 0.0 <= lifetime(200, headers(*pairs), NOON) <= 365 * 86_400
    assert may_store(200, headers(*pairs), NOON) <= ("no-store" not in control)


def test_a_cache_control_that_nobody_could_mean_keeps_nothing() -> None:
    assert directives(["max-age=60", " " * 5000]) == {"no-store": [""], "no-cache": [""]}
    assert len(directives([f"x{number}" for number in range(500)])) == 500


def test_pragma_counts_only_where_cache_control_is_silent() -> None:
    assert asked([("Pragma", "no-cache")]) == {"no-cache": [""]}
    assert asked([("Pragma", "no-cache"), ("Cache-Control", "max-age=5")]) == {"max-age": ["5"]}
    assert asked([("pragma", "x")]) == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [(name, True) for name in ("Authorization", "Cookie", "X-Api-Key", "PRIVATE-TOKEN", "Proxy-Authorization")]
    + [(name, False) for name in ("Accept", "User-Agent", "Accept-Language", "Accept-Encoding", "Referer", "DNT")],
)
def test_fields_that_name_somebody_are_known_by_their_names(name: str, expected: bool) -> None:
    assert is_private([("Accept", "*/*"), (name, "x")]) == expected


@pytest.mark.parametrize(
    ("pairs", "asked_at", "now", "expected"),
    [
        pytest.param([], NOON, NOON + 5, 5.0, id="since it came"),
        pytest.param([("Age", "30")], NOON, NOON + 5, 35.0, id="told"),
        pytest.param([("Age", "30")], NOON - 4, NOON + 5, 39.0, id="told, and slow to come"),
        pytest.param([("Date", formatdate(NOON - 50, usegmt=True)), ("Age", "30")], NOON, NOON, 50.0, id="dated"),
        pytest.param([("Date", formatdate(NOON + 50, usegmt=True))], NOON, NOON + 1, 1.0, id="dated ahead"),
        pytest.param([("Age", "30"), ("Age", "7")], NOON, NOON, 30.0, id="the greater of two"),
    ],
)
def test_age_is_counted_from_when_the_origin_spoke(
    pairs: list[tuple[str, str]], asked_at: float, now: float, expected: float
) -> None:
    assert age(stored(*pairs, asked_at=asked_at), now) == expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        pytest.param([("ETag", '"a"')], [b"If-None-Match"], id="tag"),
        pytest.param([("ETag", 'W/"a"')], [b"If-None-Match"], id="weak tag"),
        pytest.param([("ETag", "a")], [b"If-None-Match"], id="tag without quotes goes back as it came"),
        pytest.param([("ETag", '"a"'), ("ETag", '"b"')], [], id="two tags"),
        pytest.param([("ETag", "")], [], id="no tag"),
        pytest.param([("ETag", '"' + "a" * 2000 + '"')], [], id="a tag that is too long to be one"),
        pytest.param([("ETag", '"\xfc"')], [], id="a tag that cannot be sent"),
        pytest.param([("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")], [b"If-Modified-Since"], id="date"),
        pytest.param([("Last-Modified", "lately")], [], id="a date that is none"),
    ],
)
def test_what_can_be_asked_about_is_asked_about(pairs: list[tuple[str, str]], expected: list[bytes]) -> None:
    assert [name for name, _ in conditions(headers(*pairs))] == expected


def test_a_304_speaks_of_the_tag_it_names() -> None:
    assert confirms(stored(("ETag", '"a"')), headers())
    assert confirms(stored(("ETag", '"a"')), headers(("ETag", 'W/"a"')))
    assert confirms(stored(), headers(("ETag", '"a"')))
    assert not confirms(stored(("ETag", '"a"')), headers(("ETag", '"b"')))


def test_a_304_without_a_date_is_of_the_moment_it_came() -> None:
    old = stored(("Date", formatdate(NOON, usegmt=True)), ("Age", "9"), ("Content-Length", "4"))
    new = refreshed(old, headers(("Content-Length", "0"), ("X", "y")), asked_at=NOON + 500, heard_at=NOON + 500)
    assert (age(new, NOON + 501), dict(new.headers.items())) == (1.0, {"content-length": "4", "x": "y"})


def test_what_belongs_to_a_connection_or_a_session_is_not_kept() -> None:
    kept = kept_headers(
        headers(("Connection", "close, X-Hop"), ("X-Hop", "1"), ("Set-Cookie", "a"), ("Upgrade", "h2"), ("X", "1"))
    )
    assert list(kept.items()) == [("x", "1")]


def test_a_field_that_is_missing_is_another_variant_than_an_empty_one() -> None:
    names = vary(headers(("Vary", "Accept, accept-language,"), ("Vary", "X")))
    assert names == {"accept", "accept-language", "x"}
    assert variation(names, [(b"Accept", b"a"), (b"ACCEPT", b" b "), (b"X", b"")]) == (("accept", "a, b"), ("x", ""))
    assert variation(names, [(b"Accept", b"a, b")]) == (("accept", "a, b"),)
