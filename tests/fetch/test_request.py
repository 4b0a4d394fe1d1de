"""What a caller asks of a page is checked before anything is sent, and each mistake names its field and the fix."""

from __future__ import annotations

from typing import Any

import pytest

from webseam.errors import EgressDenied, Outcome, RequestError, WebSeamError
from webseam.fetch.request import FetchRequest

URL = "https://example.org/page"
FILES = "a file is not fetched: read its bytes and pass them to webseam.read(data, url=...)"


@pytest.mark.parametrize(
    ("url", "outcome", "rule", "hint"),
    [
        pytest.param("", Outcome.INVALID, "url.not_absolute", "write https:// and a host", id="empty"),
        pytest.param("two words", Outcome.INVALID, "url.not_absolute", "start it with https://", id="words"),
        pytest.param(
            "example.org/a", Outcome.INVALID, "url.not_absolute", "write https://example.org/a", id="no scheme"
        ),
        pytest.param("/etc/passwd", Outcome.INVALID, "url.not_absolute", FILES, id="absolute path"),
        pytest.param("./page.html", Outcome.INVALID, "url.not_absolute", FILES, id="relative path"),
        pytest.param("~/page.html", Outcome.INVALID, "url.not_absolute", FILES, id="path of a home"),
        pytest.param("C:\\page.html", Outcome.INVALID, "url.scheme", FILES, id="path with a drive"),
        pytest.param("file:///etc/passwd", Outcome.UNSAFE, "url.scheme", FILES, id="file URL"),
        pytest.param(
            "https://user:pass@example.org/",
            Outcome.INVALID,
            "url.userinfo",
            "remove everything up to the @",
            id="credentials",
        ),
        pytest.param("ftp://example.org/", Outcome.UNSAFE, "url.scheme", "use http or https", id="another scheme"),
    ],
)
def test_what_is_no_web_address_is_refused_with_the_fix(
    url: str, outcome: Outcome, rule: str, hint: str | None
) -> None:
    with pytest.raises(EgressDenied) as raised:
        FetchRequest(url=url)
    assert (raised.value.outcome, raised.value.rule, raised.value.hint) == (outcome, rule, hint)
    assert "pass" not in raised.value.detail or "passwd" in url


@pytest.mark.parametrize(
    ("options", "field"),
    [
        pytest.param({"url": 7}, "url", id="no text"),
        pytest.param({"focus": "  "}, "focus", id="empty focus"),
        pytest.param({"focus": "x" * 2_001}, "focus", id="long focus"),
        pytest.param({"max_tokens": 0}, "max_tokens", id="no budget"),
        pytest.param({"max_tokens": True}, "max_tokens", id="a truth"),
        pytest.param({"max_tokens": "9"}, "max_tokens", id="text as a budget"),
        pytest.param({"cursor": ""}, "cursor", id="empty cursor"),
        pytest.param({"pages": "first"}, "pages", id="pages in words"),
        pytest.param({"pages": ""}, "pages", id="no pages"),
        pytest.param({"raw": True, "reader": "html"}, "raw", id="raw by a reader"),
        pytest.param({"focus": "a", "cursor": "b"}, "focus", id="two parts"),
        pytest.param({"focus": "a", "outline": True}, "focus", id="passages and headings"),
        pytest.param({"cursor": "a", "outline": True}, "cursor", id="the rest and headings"),
    ],
)
def test_a_wrong_option_is_named_with_what_to_do(options: dict[str, Any], field: str) -> None:
    with pytest.raises(RequestError) as raised:
        FetchRequest(**{"url": URL, **options})
    assert (raised.value.outcome, raised.value.field) == (Outcome.INVALID, field)
    assert raised.value.hint or field == "url"


@pytest.mark.parametrize(
    ("url", "target", "fragment"),
    [
        pytest.param("HTTPS://Example.ORG", "https://example.org/", "", id="canonical"),
        pytest.param(" https://example.org/a#b ", "https://example.org/a", "b", id="spaces around"),
        pytest.param("https://example.org/a#b%20c", "https://example.org/a", "b c", id="encoded fragment"),
        pytest.param("https://example.org/a#b#c", "https://example.org/a", "b#c", id="two marks"),
        pytest.param("https://example.org/a#", "https://example.org/a", "", id="empty fragment"),
    ],
)
def test_the_fragment_says_where_to_start_and_never_travels(url: str, target: str, fragment: str) -> None:
    request = FetchRequest(url=url)
    assert (request.target.href, request.fragment) == (target, fragment)


def test_an_error_about_a_url_never_shows_its_password() -> None:
    with pytest.raises(WebSeamError) as raised:
        FetchRequest(url="https://user:canary-7351@example.org/")
    assert "canary-7351" not in f"{raised.value!r} {raised.value} {vars(raised.value)}"
