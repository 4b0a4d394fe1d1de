"""Secrets leave a text in every spelling they may have in it, and ordinary text stays as it is."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.net.redact import REDACTED, Redactor, redact_url

KEY = "k9/aB+3=x y&Z"


def lower_hex(text: str) -> str:
    return re.sub("%..", lambda found: found.group().lower(), quote(text, safe=""))


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(KEY, id="literal"),
        pytest.param(quote(KEY, safe=""), id="percent, upper hex"),
        pytest.param(lower_hex(KEY), id="percent, lower hex"),
        pytest.param(quote(KEY), id="percent, slash kept"),
        pytest.param(quote_plus(KEY), id="form"),
        pytest.param("".join(f"%{ord(character):02X}" for character in KEY), id="percent, every character"),
        pytest.param(quote(quote(KEY, safe=""), safe=""), id="percent, twice"),
        pytest.param(json.dumps(KEY)[1:-1], id="JSON"),
        pytest.param(KEY.replace("/", "\\/"), id="JSON, slash escaped"),
        pytest.param("".join(f"\\u{ord(character):04x}" for character in KEY), id="JSON, every character"),
        pytest.param("".join(f"\\u{ord(character):04X}" for character in KEY), id="JSON, upper hex"),
        pytest.param(html.escape(KEY), id="HTML"),
        pytest.param(base64.b64encode(KEY.encode()).decode(), id="base64"),
        pytest.param(base64.b64encode(f"user:{KEY}".encode()).decode(), id="base64 of a pair"),
        pytest.param(base64.b64encode(f"ab:{KEY}".encode()).decode(), id="base64 of a pair, another offset"),
        pytest.param(base64.b64encode(f"a:{KEY}".encode()).decode(), id="base64 of a pair, third offset"),
        pytest.param(base64.urlsafe_b64encode(f"{KEY}:".encode()).decode(), id="base64 for URLs, key as user"),
        pytest.param(quote(base64.b64encode(f"u:{KEY}".encode()).decode(), safe=""), id="base64, percent-encoded"),
    ],
)
def test_a_known_secret_is_removed_however_it_is_spelled(spelling: str) -> None:
    assert Redactor([KEY])(f"the server said <{spelling}> and more") == "the server said <***> and more"


@pytest.mark.parametrize(
    ("secret", "spelling"),
    [
        pytest.param('pa"ss\\word', json.dumps('pa"ss\\word')[1:-1], id="quotes and backslashes in JSON"),
        pytest.param('pa"ss\\word', json.dumps(json.dumps('pa"ss\\word')[1:-1])[1:-1], id="JSON in JSON"),
        pytest.param("it's<me>&you", html.escape("it's<me>&you"), id="signs of HTML"),
        pytest.param("schlüssel🔑1", json.dumps("schlüssel🔑1")[1:-1], id="a surrogate pair in JSON"),
        pytest.param("schlüssel🔑1", quote("schlüssel🔑1"), id="UTF-8 percent-encoded"),
        pytest.param("schlüssel🔑1", repr("schlüssel🔑1".encode())[2:-1], id="UTF-8 in the repr of bytes"),
        pytest.param("line\nbreak\ttab\r", json.dumps("line\nbreak\ttab\r")[1:-1], id="control characters in JSON"),
        pytest.param(" padded-key \n", "padded-key", id="the key without the space around it"),
        pytest.param("user:passphrase9", "passphrase9", id="the password of a pair"),
    ],
)
def test_signs_in_a_secret_do_not_hide_it(secret: str, spelling: str) -> None:
    assert Redactor([secret])(f"<{spelling}>") == "<***>"


def test_hidden_characters_do_not_hold_a_secret_together_for_later() -> None:
    redact = Redactor(["sk_live_canary"])
    assert redact("x sk_live\u200b_can\x1b[31mary y") == "x *** y"
    assert redact("plain\x1b[31m red\n") == "plain\x1b[31m red\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("password=test1 failed", "password=*** failed", id="after an equals sign"),
        pytest.param("pin: test1, again", "pin: ***, again", id="after a colon and a space"),
        pytest.param('say "test1"', 'say "***"', id="in quotation marks"),
        pytest.param("the latest1 of the test1s", "the latest1 of the test1s", id="inside words"),
        pytest.param("run test1 again", "run test1 again", id="as a word of a sentence"),
    ],
)
def test_a_short_word_is_removed_only_where_it_stands_as_a_value(text: str, expected: str) -> None:
    assert Redactor(["test1"])(text) == expected


def test_a_short_secret_with_a_sign_in_it_is_removed_everywhere() -> None:
    assert Redactor(["p@$$"])("it is p@$$word") == "it is ***word"


def test_the_longest_of_nested_secrets_is_removed_whole() -> None:
    assert Redactor(["canary", "canary-and-more"])("canary-and-more, canary") == "***, ***"


@pytest.mark.parametrize("secrets", [[], [""], ["  "], ["", "\n"]])
def test_empty_secrets_remove_nothing(secrets: list[str]) -> None:
    assert Redactor(secrets)("nothing to see: 1 = 1 & 2 % 3") == "nothing to see: 1 = 1 & 2 % 3"


SHAPES = [
    pytest.param("Authorization: Bearer abc.def-123", "Authorization: Bearer ***", id="header"),
    pytest.param("authorization: Basic dTpw", "authorization: Basic ***", id="header with a pair"),
    pytest.param("Authorization: abc123", "Authorization: ***", id="header without a scheme"),
    pytest.param("Proxy-Authorization=Basic dTpw", "Proxy-Authorization=Basic ***", id="proxy header"),
    pytest.param("x-api-key: abc123, next", "x-api-key: ***, next", id="key header"),
    pytest.param("X-Subscription-Token: abc123", "X-Subscription-Token: ***", id="subscription header"),
    pytest.param('{"x-api-key": "abc123"}', '{"x-api-key": "***"}', id="header in JSON"),
    pytest.param("[(b'X-Api-Key', b'abc123')]", "[(b'X-Api-Key', b'***')]", id="header as a pair of bytes"),
    pytest.param("{'Authorization': ['Bearer abc']}", "{'Authorization': ['Bearer ***']}", id="header in a list"),
    pytest.param("Cookie: a=1; session=2\nHost: x", "Cookie: ***\nHost: x", id="cookies to the end of the line"),
    pytest.param("Set-Cookie: id=7; Path=/", "Set-Cookie: ***", id="a cookie that is set"),
    pytest.param("sent Bearer xyz to it", "sent Bearer *** to it", id="a bearer token in a sentence"),
    pytest.param("used basic dXNlcjpwYXNz there", "used basic *** there", id="a pair in a sentence"),
    pytest.param("https://user:pw@example.com/x", "https://***@example.com/x", id="credentials in a URL"),
    pytest.param("socks5h://u:p@ss@proxy:1080", "socks5h://***@proxy:1080", id="credentials with an @"),
    pytest.param("https:\\/\\/u:p@example.com", "https:\\/\\/***@example.com", id="credentials in JSON"),
    pytest.param("GET /s?q=x&api_key=abc&n=1", "GET /s?q=x&api_key=***&n=1", id="key in a query"),
    pytest.param("/s?key=abc#x", "/s?key=***#x", id="the parameter key"),
    pytest.param("/s?a=1&amp;token=abc", "/s?a=1&amp;token=***", id="query in HTML"),
    pytest.param("u=%2Fs%3Faccess_token%3Dabc%26n%3D1", "u=%2Fs%3Faccess_token%3D***%26n%3D1", id="query in a query"),
    pytest.param("/cb#access_token=abc&x=1", "/cb#access_token=***&x=1", id="token in a fragment"),
    pytest.param("API_KEY=abc123 make", "API_KEY=*** make", id="a setting"),
    pytest.param('{"api_key": "a,b c", "q": "x"}', '{"api_key": "***", "q": "x"}', id="field of a JSON body"),
    pytest.param('{\\"apiKey\\": \\"abc\\"}', '{\\"apiKey\\": \\"***\\"}', id="field of a JSON body in JSON"),
    pytest.param("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln back", "got *** back", id="a JWT"),
    pytest.param("bad key sk-proj-abcdefghij0123456789.", "bad key ***.", id="a key by its prefix"),
]


@pytest.mark.parametrize(("text", "expected"), SHAPES)
def test_a_secret_nobody_told_about_is_known_by_its_shape(text: str, expected: str) -> None:
    assert Redactor()(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "connection refused by api.example.com:443",
        "https://example.com/search?cx=017:abc&q=token&id=7&page=2",
        "https://example.com/@user/post and a@b.example",
        'WWW-Authenticate: Bearer realm="x", error="invalid_token"',
        "use Basic authentication or a Bearer token",
        "Authorization header is missing",
        "basic QUJDREVGR0g= without a colon",
        "sort by key=name",
        '{"key": "title", "count": 3}',
        "the monkey = a primate; turkey: a bird",
        "scikit-learn, sk-learn-and-something-else",
        "",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor(["unrelated-secret-1"])(text) == text
    assert redact_url(text) == text


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("https://u:p@example.com/?q=1", "https://***@example.com/?q=1", id="credentials"),
        pytest.param(
            "https://example.com/?API%5FKEY=a&q=1", "https://example.com/?API%5FKEY=***&q=1", id="encoded name"
        ),
        pytest.param("https://example.com/?a=1;sig=b;c", "https://example.com/?a=1;sig=***", id="after a semicolon"),
        pytest.param("https://example.com/?key=", "https://example.com/?key=", id="no value"),
        pytest.param("https://example.com/cb#id_token=a", "https://example.com/cb#id_token=***", id="fragment"),
        pytest.param(
            "https://example.com/?X-Amz-Signature=abc&X-Amz-Date=1",
            "https://example.com/?X-Amz-Signature=***&X-Amz-Date=1",
            id="signed URL",
        ),
        pytest.param("https://example.com/\x1b[31m?token=a", "https://example.com/?token=***", id="escape"),
        pytest.param("no url at all ?token=a", "no url at all ?token=***", id="no URL"),
    ],
)
def test_a_url_is_shown_without_credentials_and_keys(url: str, expected: str) -> None:
    assert redact_url(url) == expected


def test_a_redacted_url_can_still_be_read() -> None:
    parts = urlsplit(redact_url("https://user:pw@example.com:8080/x?token=abc"))
    assert (parts.hostname, parts.port, parts.query) == ("example.com", 8080, "token=***")


@pytest.mark.parametrize("spell", [str, lambda key: quote(key, safe=""), lambda key: json.dumps(key)[1:-1]])
def test_a_quotation_is_cut_after_redaction_and_never_inside_a_secret(spell: object) -> None:
    key = "canary/" + "0123456789" * 4
    assert callable(spell)
    for before in (150, 190, 199, 200, 19_980, 19_999):
        shown = Redactor([key]).quote("y" * before + spell(key) * 30)
        assert "canary" not in shown
        assert "0123" not in shown
        assert len(shown) <= 200
    flood = Redactor([key]).quote((spell(key) + " ") * 3_000)
    assert set(flood) <= set("*… ")


def test_a_quotation_is_one_clean_line() -> None:
    assert Redactor(["secret-1"]).quote("a\x1b[2J\n  b\u202esecret\u200b-1") == "a b***"


def test_a_redactor_shows_nothing_of_what_it_knows() -> None:
    redact = Redactor(["canary-key", "other-key"])
    redact("x")
    assert repr(redact) == "<Redactor of 2 secrets>"
    assert "canary" not in str(redact)


SECRETS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Mn"]), min_size=8, max_size=30)


@settings(max_examples=200)
@given(SECRETS, st.text(max_size=20), st.text(max_size=20), st.integers(0, 5))
def test_no_spelling_of_any_secret_survives(secret: str, before: str, after: str, kind: int) -> None:
    spelling = (
        secret,
        quote(secret, safe=""),
        lower_hex(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        base64.b64encode(f"user:{secret}".encode()).decode(),
    )[kind]
    redact = Redactor([secret])
    shown = redact(f"{before} {spelling} {after}")
    assert spelling not in shown.replace(REDACTED, "\x00") or spelling in f"{before}{after}"
    assert redact(shown) == shown


@settings(max_examples=300)
@given(st.text(alphabet="ab:/@?&=%\"'\\ ;,*[]{}\nkeytokn-Berauthizsc.", max_size=60))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    shown = Redactor(["token-b", "key"])(text)
    assert Redactor(["token-b", "key"])(shown) == shown
    assert redact_url(redact_url(text)) == redact_url(text)


@pytest.mark.parametrize(
    "unit",
    [
        "://",
        "a@",
        "x-api-key: ",
        "Bearer ",
        "basic ",
        "a-",
        "sk-a-",
        "eyJ",
        "&token=",
        '"api_key":"',
        "cookie: ",
        "%25",
    ],
)
def test_hostile_text_takes_linear_work(unit: str) -> None:
    """A quadratic pattern would take hours here, not seconds: the bound of the whole run tells them apart."""
    text = "://" + unit * (300_000 // len(unit)) + "\nkey@"
    assert Redactor(["some-secret-0"])(text).endswith("key@")
