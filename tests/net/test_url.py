"""How one text becomes one URL, and which texts are refused because two programs would read two."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import webseam.net
from webseam.errors import EgressDenied, Outcome
from webseam.net.url import MAX_URL, URL, UrlRefused, _standard, _written, canonical_host, join, parse

CASES = json.loads((Path(__file__).parent / "cases" / "egress_cases.json").read_text(encoding="utf-8"))["cases"]
FORM_RULES = [case for case in CASES if case["rule"].startswith("url.") or case["rule"] == "host.ambiguous_ipv4"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "HTTP://Example.COM",
            URL("http", "example.com", 80, "http://example.com/", None),
            id="scheme and host in lower case, a path added",
        ),
        pytest.param(
            "https://example.com:443/a/../b/./c?q=1#part",
            URL("https", "example.com", 443, "https://example.com/b/c?q=1", None),
            id="default port, dot segments and fragment dropped",
        ),
        pytest.param(
            "http://example.com:0000008080",
            URL("http", "example.com", 8080, "http://example.com:8080/", None),
            id="leading zeros of a port",
        ),
        pytest.param(
            "\t https://example.com./a b?c d \r\n",
            URL("https", "example.com", 443, "https://example.com/a%20b?c%20d", None),
            id="outer white space, root dot, inner spaces",
        ),
        pytest.param(
            "https://example.com/é?ü=\u2028#ß",
            URL("https", "example.com", 443, "https://example.com/%C3%A9?%C3%BC=%E2%80%A8", None),
            id="path and query outside ASCII",
        ),
        pytest.param(
            "https://MÜNCHEN\uff0ede/",
            URL("https", "xn--mnchen-3ya.de", 443, "https://xn--mnchen-3ya.de/", None),
            id="international name in capitals with a full-width dot",
        ),
        pytest.param(
            "https://mu\u0308nchen.de/",
            URL("https", "xn--mnchen-3ya.de", 443, "https://xn--mnchen-3ya.de/", None),
            id="decomposed letters are composed",
        ),
        pytest.param(
            "http://[2606:4700:0:0::1111]:8080/",
            URL("http", "2606:4700::1111", 8080, "http://[2606:4700::1111]:8080/", "2606:4700::1111"),
            id="an IPv6 address in its short form",
        ),
        pytest.param(
            "http://[::FFFF:8.8.8.8]/",
            URL("http", "::ffff:808:808", 80, "http://[::ffff:808:808]/", "::ffff:808:808"),
            id="a mapped address does not depend on the version of Python",
        ),
        pytest.param("http://8.8.8.8/", URL("http", "8.8.8.8", 80, "http://8.8.8.8/", "8.8.8.8"), id="an IPv4 address"),
        pytest.param(
            "http://-a_.example.com/",
            URL("http", "-a_.example.com", 80, "http://-a_.example.com/", None),
            id="outer hyphens and underscores answer in practice",
        ),
    ],
)
def test_a_url_has_one_canonical_form(text: str, expected: URL) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in FORM_RULES])
def test_a_text_with_two_readings_is_refused_with_its_rule(case: dict[str, str]) -> None:
    with pytest.raises(UrlRefused) as refused:
        parse(case["url"])
    assert refused.value.rule == case["rule"]


@pytest.mark.parametrize(
    ("text", "rule", "problem"),
    [
        pytest.param("", "url.not_absolute", "is no absolute URL", id="empty"),
        pytest.param("example.com:8080/x", "url.scheme", "example.com: is neither http nor https", id="host and port"),
        pytest.param("http:///x", "url.not_absolute", "there is no host after http://", id="no host"),
        pytest.param("http://:80/", "url.not_absolute", "there is no host before the port", id="only a port"),
        pytest.param("http://./", "url.host_char", "the host has an empty label", id="only the root"),
        pytest.param("http://example.com../", "url.host_char", "the host has an empty label", id="two root dots"),
        pytest.param("http://a/\x9b31m", "url.control_char", "has the control character U+009B", id="8-bit escape"),
        pytest.param("http://a/\ud800", "url.control_char", "has the control character U+D800", id="half a pair"),
        pytest.param(
            "http://a/\x0b", "url.control_char", "has the control character U+000B", id="vertical tab at the end"
        ),
        pytest.param("http://\u212aube.com/", "url.idna", "it turns into ASCII", id="a Kelvin sign is no K"),
        pytest.param("http://" + "é" * 64 + ".de/", "url.host_char", "a label of the host is longer", id="long label"),
        pytest.param("http://1:2:3:4:5:6:7:8/", "url.ipv6_form", "an IPv6 address has to", id="no brackets, full form"),
        pytest.param("http://[::1/", "url.ipv6_form", "[::1 is not [address]", id="bracket not closed"),
        pytest.param("http://a:" + "9" * 5000, "url.port", "is not a port number", id="thousands of digits"),
        pytest.param("http://a:٣/", "url.port", "٣ is not a port number", id="digits of another script"),
        pytest.param(
            "http://a/" + "x" * MAX_URL, "url.length", "8,201 characters, at most 8,192 are allowed", id="too long"
        ),
        pytest.param(
            "http://a/" + "é" * 4000, "url.length", "24,009 characters once encoded", id="too long once encoded"
        ),
    ],
)
def test_a_refusal_says_what_is_wrong(text: str, rule: str, problem: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        parse(text)
    assert refused.value.rule == rule
    assert problem in refused.value.problem


def test_a_refusal_is_an_egress_denial_with_outcome_hint_and_redacted_url() -> None:
    with pytest.raises(EgressDenied) as denied:
        parse("https://user:hunter22@example.com/?api_key=abc123")
    error = denied.value
    assert error.outcome is Outcome.UNSAFE
    assert error.url == "https://***@example.com/?api_key=***"
    assert error.hint == "remove everything up to the @"
    assert "hunter22" not in f"{error}{error!r}"


def test_the_longest_allowed_url_is_taken_and_one_character_more_is_not() -> None:
    longest = "http://example.com/" + "x" * (MAX_URL - len("http://example.com/"))
    assert parse(longest).href == longest
    with pytest.raises(UrlRefused, match=r"url\.length"):
        parse(longest + "x")


def test_a_url_shows_no_secret_in_its_repr() -> None:
    assert repr(parse("https://example.com/?q=1&token=abc")) == "URL('https://example.com/?q=1&token=***')"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        pytest.param("https://example.com/x", "https://example.com:443", id="default port is written"),
        pytest.param("http://[::1]:8080/", "http://[::1]:8080", id="IPv6 in brackets"),
    ],
)
def test_an_origin_always_names_its_port(text: str, origin: str) -> None:
    assert parse(text).origin == origin


@pytest.mark.parametrize(
    ("reference", "href"),
    [
        pytest.param("next", "https://example.com/a/next", id="relative path"),
        pytest.param("/next#part", "https://example.com/next", id="absolute path"),
        pytest.param("../../x", "https://example.com/x", id="above the root"),
        pytest.param("?q=2", "https://example.com/a/b?q=2", id="query alone"),
        pytest.param("", "https://example.com/a/b?q=1", id="nothing is the same again"),
        pytest.param("//example.org/x", "https://example.org/x", id="another host, same scheme"),
        pytest.param("http://example.org", "http://example.org/", id="absolute"),
        pytest.param("?next=a\\b", "https://example.com/a/b?next=a\\b", id="backslash in a query"),
        pytest.param(" /é ", "https://example.com/%C3%A9", id="white space and letters outside ASCII"),
    ],
)
def test_a_reference_is_resolved_against_the_url_it_was_found_at(reference: str, href: str) -> None:
    assert join(parse("https://example.com/a/b?q=1"), reference).href == href


@pytest.mark.parametrize(
    ("reference", "rule"),
    [
        pytest.param("https:example.org", "url.not_absolute", id="scheme without slashes"),
        pytest.param("///example.org/", "url.not_absolute", id="three slashes"),
        pytest.param("/\\example.org/", "url.backslash", id="slash and backslash"),
        pytest.param("//user@example.org/", "url.userinfo", id="credentials"),
        pytest.param("javascript:alert(1)", "url.scheme", id="script"),
        pytest.param("/a\nb", "url.control_char", id="newline"),
        pytest.param("/" + "x" * MAX_URL, "url.length", id="too long"),
    ],
)
def test_a_reference_that_programs_read_differently_is_refused(reference: str, rule: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        join(parse("https://example.com/a"), reference)
    assert refused.value.rule == rule


def test_a_host_that_only_the_standard_refuses_is_refused_too() -> None:
    with pytest.raises(UrlRefused, match="reads no host"):
        _standard("http://exa mple/")
    with pytest.raises(UrlRefused, match="two different hosts"):
        _written("http", "EXAMPLE.com", None, 80, "/")


def test_a_host_alone_is_canonical_too() -> None:
    assert canonical_host("Wiki.Example.") == ("wiki.example", None)
    assert canonical_host("[::1]") == ("::1", "::1")
    assert canonical_host("10.0.0.1") == ("10.0.0.1", "10.0.0.1")


def test_importing_net_loads_neither_parser_nor_client_and_names_load_on_first_use() -> None:
    script = """
import sys
import webseam.net
heavy = {"ada_url", "httpcore2", "ssl", "socket", "idna", "ipaddress", "dataclasses"}
print(sorted(heavy & sys.modules.keys()), sorted(name for name in sys.modules if name.startswith("webseam.")))
print(webseam.net.parse("http://example.com").href, "parse" in vars(webseam.net), "EgressPolicy" in dir(webseam.net))
print(hasattr(webseam.net, "nothing"))
"""
    source = Path(__file__).parents[2] / "src"
    shown = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {[str(source), *sys.path]!r}\n{script}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.splitlines() == ["[] ['webseam.net', 'webseam.version']", "http://example.com/ True True", "False"]


def test_every_name_of_net_is_there() -> None:
    assert {name for name in webseam.net.__all__ if getattr(webseam.net, name, None) is None} == set()


def test_net_lists_its_names_and_refuses_others() -> None:
    assert set(webseam.net.__all__) <= set(dir(webseam.net))
    with pytest.raises(AttributeError, match=r"'webseam\.net' has no attribute 'nothing'"):
        webseam.net.nothing  # noqa: B018 - looking the name up is the test
