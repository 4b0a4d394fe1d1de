import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.domains import ascii_host, covers, host_of, normalize_rule

PIECES = [
    *("http://", "https://", "//", "www.", "*.", ".", "/", "-", "_", ":", ":80", "@", "?", "#", "%2F", "%", " ", "\\"),
    *(
        "example",
        "com",
        "edu",
        "xn--",
        "bücher",
        "ｅ",
        "。",
        "\u200d",
        "\u202e",
        "\ud800",
        "\x1b",
        "\x00",
        "字",
        "م",
        "é",
    ),
]
written = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=12).map("".join)


@pytest.mark.parametrize(
    "text, rule",
    [
        pytest.param("example.com", "example.com", id="host"),
        pytest.param(" Example.COM ", "example.com", id="case and white space"),
        pytest.param("https://example.com/", "example.com", id="scheme and slash"),
        pytest.param("HTTP://WWW.Example.com:8080", "example.com", id="everything dropped at once"),
        pytest.param("*.example.com", "example.com", id="wildcard"),
        pytest.param("*.www.example.com.", "example.com", id="wildcard, www and root dot"),
        pytest.param("www.www.example.com", "example.com", id="www twice"),
        pytest.param(".example.com", "example.com", id="leading dot"),
        pytest.param("www.com", "www.com", id="a host that is only called www"),
        pytest.param("example.com/Docs/API/", "example.com/Docs/API", id="path keeps its case"),
        pytest.param("example.com//docs", "example.com/docs", id="doubled slash"),
        pytest.param("edu", "edu", id="bare suffix"),
        pytest.param("*.gov.uk", "gov.uk", id="bare suffix of two labels"),
        pytest.param("a_b.example.com", "a_b.example.com", id="underscore"),
        pytest.param("192.0.2.7", "192.0.2.7", id="address"),
        pytest.param("localhost", "localhost", id="one label"),
        pytest.param("Bücher.example", "xn--bcher-kva.example", id="IDN"),
        pytest.param("xn--bcher-kva.example", "xn--bcher-kva.example", id="punycode"),
        pytest.param("*.BÜCHER.example/Ä", "xn--bcher-kva.example/Ä", id="IDN with wildcard and path"),
        pytest.param("例え。テスト。", "xn--r8jz45g.xn--zckzah", id="ideographic dots"),
        pytest.param("ｅｘａｍｐｌｅ.com", "example.com", id="full width"),
        pytest.param("faß.example", "xn--fa-hia.example", id="sharp s is a letter of its own"),
    ],
)
def test_a_rule_has_one_form_however_it_is_written(text: str, rule: str) -> None:
    assert normalize_rule(text) == rule
    assert normalize_rule(rule) == rule


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("   ", id="white space"),
        pytest.param(".", id="dot"),
        pytest.param("*", id="star"),
        pytest.param("http://", id="scheme alone"),
        pytest.param("//example.com", id="no scheme"),
        pytest.param("exa mple.com", id="space inside"),
        pytest.param("a..b", id="empty label"),
        pytest.param("-a.example", id="leading hyphen"),
        pytest.param("a-.example", id="trailing hyphen"),
        pytest.param("a" * 64 + ".example", id="label too long"),
        pytest.param(".".join(["abcdefg"] * 40), id="name too long"),
        pytest.param("ü" * 100_000, id="IDN far too long"),
        pytest.param("user@example.com", id="user"),
        pytest.param("example.com?q=1", id="query"),
        pytest.param("example.com/#top", id="fragment"),
        pytest.param("[::1]", id="IPv6"),
        pytest.param("a.*.example", id="star inside"),
        pytest.param("javascript:alert(1)", id="script"),
        pytest.param("example.com:port", id="port in words"),
        pytest.param("example.com/\x1b[31m", id="escape in the path"),
        pytest.param("example.com/\u202etxt", id="direction override in the path"),
        pytest.param("exa\u202emple.com", id="direction override in the host"),
        pytest.param("exämple\ud800.com", id="half a surrogate pair"),
    ],
)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a host|not a valid international name|longer than a name"):
        normalize_rule(text)


@pytest.mark.parametrize(
    "rule, url, covered",
    [
        pytest.param("example.com", "https://example.com/", True, id="itself"),
        pytest.param("example.com", "http://EXAMPLE.com:8080/a?b#c", True, id="case, port and the rest"),
        pytest.param("example.com", "https://a.b.example.com/", True, id="subdomain"),
        pytest.param("example.com", "https://example.com./", True, id="root dot"),
        pytest.param("example.com", "https://badexample.com/", False, id="another name with the same end"),
        pytest.param("example.com", "https://example.com.evil.example/", False, id="another name with the same start"),
        pytest.param("example.com", "https://evil.example/example.com", False, id="in the path"),
        pytest.param("example.com", "https://evil.example/?u=https://example.com", False, id="in the query"),
        pytest.param("example.com", "https://example.com@evil.example/", False, id="as a user"),
        pytest.param("a.example.com", "https://example.com/", False, id="the parent"),
        pytest.param("edu", "https://www.mit.edu/", True, id="bare suffix"),
        pytest.param("edu", "https://edu.example/", False, id="suffix at the wrong end"),
        pytest.param("edu", "https://mit.edu.au/", False, id="suffix in the middle"),
        pytest.param("gov.uk", "https://www.nhs.gov.uk/x", True, id="suffix of two labels"),
        pytest.param("gov.uk", "https://gov.uk.example/", False, id="suffix of two labels in the middle"),
        pytest.param("example.com/docs", "https://example.com/docs", True, id="path itself"),
        pytest.param("example.com/docs", "https://example.com/docs/", True, id="path with a slash"),
        pytest.param("example.com/docs", "https://www.example.com/docs/a/b", True, id="below the path"),
        pytest.param("example.com/docs", "https://example.com/docs?v=2", True, id="path with a query"),
        pytest.param("example.com/docs", "https://example.com/docsearch", False, id="path with the same start"),
        pytest.param("example.com/docs", "https://example.com/a/docs", False, id="path elsewhere"),
        pytest.param("example.com/docs", "https://example.com/", False, id="above the path"),
        pytest.param("example.com/Docs", "https://example.com/docs", False, id="paths have case"),
        pytest.param("example.com/ü", "https://example.com/%C3%BC/a", True, id="path percent-encoded in the URL"),
        pytest.param("example.com/%C3%BC", "https://example.com/ü", True, id="path percent-encoded in the rule"),
        pytest.param("xn--bcher-kva.example", "https://Bücher.example/", True, id="punycode covers IDN"),
        pytest.param("example.com", "https://[bad/", False, id="broken URL"),
        pytest.param("example.com", "https://exa\u202emple.com/", False, id="a name that is none"),
        pytest.param("example.com", "", False, id="no URL"),
    ],
)
def test_a_rule_covers_its_host_and_what_is_below(rule: str, url: str, covered: bool) -> None:
    assert covers(rule, url) is covered


def test_a_service_that_takes_hosts_gets_the_host_of_a_rule() -> None:
    assert [host_of("example.com/docs/api"), host_of("edu")] == ["example.com", "edu"]


@given(written)
def test_every_text_is_a_rule_or_a_value_error(text: str) -> None:
    try:
        rule = normalize_rule(text)
    except ValueError:
        return
    assert normalize_rule(rule) == rule
    assert covers(rule, f"https://{rule}")
    assert covers(rule, f"https://sub.{rule}/")
    assert not covers(rule, f"https://bad{rule}/")


@given(written, written)
def test_covering_never_raises(rule: str, url: str) -> None:
    assert covers(rule, url) in (True, False)
    assert covers("example.com", f"https://{url}") in (True, False)


@given(st.text(st.characters(categories=["Ll", "Lo", "Nd"]), min_size=1, max_size=12))
def test_an_international_name_and_its_punycode_are_the_same_rule(label: str) -> None:
    try:
        punycode = ascii_host(f"{label}.example")
    except ValueError:
        return
    assert punycode.isascii()
    assert normalize_rule(punycode) == normalize_rule(f"{label}.EXAMPLE.")
    assert covers(normalize_rule(punycode), f"https://www.{label}.example/a")
