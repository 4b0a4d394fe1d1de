"""The egress policy: every row of the shared cases, and what exceptions may and may not lift."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from webseam.errors import RequestError
from webseam.net.policy import EgressPolicy, Verdict

CASES = json.loads((Path(__file__).parent / "cases" / "egress_cases.json").read_text(encoding="utf-8"))["cases"]
PUBLIC = "93.184.215.14"


class ScriptedNames:
    """A resolver that gives the answers of a table, the next one at each look-up, and keeps what it was asked."""

    def __init__(self, table: dict[str, list[list[str]]]) -> None:
        self.answers = {host: list(answers) for host, answers in table.items()}
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self.answers.get(host, [[]])
        return answers.pop(0) if len(answers) > 1 else answers[0]


def never(host: str) -> Sequence[str]:
    raise AssertionError(f"{host} was looked up although a literal rule decides")


def answering(*addresses: str) -> Callable[[str], Sequence[str]]:
    return lambda host: addresses


def policy_of(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> EgressPolicy:
    kind, _, value = case.get("context", "").partition(":")
    if kind == "provider_base_url":
        return EgressPolicy.operator(case["url"])
    if kind == "listen":
        return EgressPolicy(own=(value,))
    if kind == "config":
        return EgressPolicy(proxy=True)
    if kind == "env":
        name, _, proxy = value.partition("=")
        monkeypatch.setenv(name, proxy)
    return EgressPolicy()


def decided_by_text(rule: str) -> bool:
    return rule.startswith(("url.", "host.", "port.", "redirect.too", "redirect.loop"))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_each_case_has_its_verdict_rule_address_and_lookups(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, names = policy_of(case, monkeypatch), ScriptedNames(case.get("dns", {}))
    verdict = policy.judge(case["url"], resolve=names)
    seen = [case["url"]]
    for location in case.get("hops", ()):
        assert verdict.allowed, "a hop before the last was refused"
        verdict, following = policy.judge_redirect(seen[-1], location, seen=seen, resolve=names)
        seen.append(following)
    assert (verdict.allowed, verdict.rule) == (case["verdict"] == "allow", case["rule"])
    assert bool(verdict.detail) is not verdict.allowed
    if "pin" in case:
        assert verdict.addresses[0] == case["pin"]
    if "expect_sni" in case:
        assert verdict.host == case["expect_sni"]
    assert len(names.asked) <= case.get("max_lookups", len(seen))
    if "hops" not in case and (
        decided_by_text(case["rule"]) or ("dns" not in case and "env:" not in case.get("context", ""))
    ):
        assert names.asked == []


def test_the_cases_are_all_there() -> None:
    assert len(CASES) == 308


@pytest.mark.parametrize(
    ("allow", "url", "address", "rule"),
    [
        pytest.param("wiki.corp.example", "http://wiki.corp.example:9000/", "10.2.3.4", "ok", id="host, any port"),
        pytest.param("wiki.corp.example:9000", "http://wiki.corp.example:9000/", "10.2.3.4", "ok", id="host and port"),
        pytest.param("wiki.corp.example:9000", "http://wiki.corp.example:9001/", None, "port.denied", id="other port"),
        pytest.param(
            "wiki.corp.example:9000", "http://wiki.corp.example/", "10.2.3.4", "address.private", id="port 80"
        ),
        pytest.param(
            "wiki.corp.example", "http://x.wiki.corp.example/", "10.2.3.4", "address.private", id="host below"
        ),
        pytest.param("*.corp.example", "http://wiki.corp.example/", "10.2.3.4", "ok", id="below a host"),
        pytest.param("*.corp.example", "http://corp.example/", "10.2.3.4", "address.private", id="not the host itself"),
        pytest.param("*.corp.example", "http://xcorp.example/", "10.2.3.4", "address.private", id="not a longer name"),
        pytest.param("WIKI.", "http://wiki/", "10.2.3.4", "ok", id="single label"),
        pytest.param("printer.local", "http://printer.local:631/", "192.168.0.9", "ok", id="special-use name"),
        pytest.param("münchen.internal", "http://xn--mnchen-3ya.internal/", "10.0.0.1", "ok", id="IDN as its A-label"),
        pytest.param("127.0.0.1", "http://127.0.0.1:3000/", None, "ok", id="loopback, any port"),
        pytest.param("127.0.0.1:3000", "http://127.0.0.1:3000/", None, "ok", id="loopback and port"),
        pytest.param("127.0.0.1:3000", "http://127.0.0.1/", None, "address.loopback", id="loopback, another port"),
        pytest.param("127.0.0.1", "http://127.0.0.2/", None, "address.loopback", id="another loopback address"),
        pytest.param("127.0.0.1", "http://localhost/", None, "host.special_use", id="an address lifts no name"),
        pytest.param("127.0.0.1", "http://[::ffff:127.0.0.1]/", None, "ok", id="mapped form of the same"),
        pytest.param("::1", "http://[::1]:5000/", None, "ok", id="IPv6 without brackets"),
        pytest.param("[::1]:5000", "http://[::1]:5000/", None, "ok", id="IPv6 with port"),
        pytest.param("[fd00::/8]:5000", "http://[fd12::1]:5000/", None, "ok", id="IPv6 network with port"),
        pytest.param("[fd00::/8]", "http://[fd12::1]:5001/", None, "ok", id="IPv6 network, any port"),
        pytest.param("10.0.0.0/8", "http://wiki.corp.example/", "10.2.3.4", "ok", id="name into a network"),
        pytest.param("10.0.0.0/8", "http://wiki.corp.example:9200/", "10.2.3.4", "ok", id="any port of a network"),
        pytest.param("10.0.0.0/8", "http://example.com:22/", PUBLIC, "port.denied", id="the port elsewhere"),
        pytest.param(
            "10.0.0.0/8:9200", "http://wiki.corp.example:9201/", None, "port.denied", id="no entry for the port"
        ),
        pytest.param("10.0.0.0/8", "http://192.168.1.1:9200/", None, "port.denied", id="port of another network"),
        pytest.param("198.18.0.0/15", "http://example.com/", "198.18.0.7", "ok", id="a fake-address proxy"),
        pytest.param("0.0.0.0/0", "http://169.254.169.254/", None, "address.metadata", id="metadata stay refused"),
        pytest.param("::/0", "http://[2002:a9fe:a9fe::1]/", None, "address.metadata", id="metadata in 6to4"),
        pytest.param("0.0.0.0/0", "http://0.0.0.0/", None, "address.unspecified", id="unspecified stays refused"),
        pytest.param("0.0.0.0/0", "http://224.0.0.1/", None, "address.multicast", id="multicast stays refused"),
        pytest.param(
            "metadata.google.internal", "http://metadata.google.internal/", None, "address.metadata", id="metadata name"
        ),
        pytest.param("metadata", "http://metadata/", None, "address.metadata", id="short metadata name"),
        pytest.param(
            "evil.example", "http://evil.example/", "169.254.169.254", "address.metadata", id="name of metadata"
        ),
        pytest.param("example.com", "http://user@example.com/", None, "url.userinfo", id="forms stay refused"),
        pytest.param("x.onion", "http://x.onion/", None, "host.special_use", id="an onion never reaches DNS"),
    ],
)
def test_an_exception_lifts_exactly_what_it_names(allow: str, url: str, address: str | None, rule: str) -> None:
    resolve = never if address is None else answering(address)
    verdict = EgressPolicy(allow=(allow,)).judge(url, resolve=resolve)
    assert (verdict.rule, verdict.allowed) == (rule, rule == "ok")


def test_exceptions_apply_before_answers_are_called_mixed() -> None:
    policy = EgressPolicy(allow=("10.0.0.0/8",))
    good = policy.judge("http://split.example/", resolve=answering(PUBLIC, "10.0.0.1"))
    assert good == Verdict(True, "ok", "split.example", 80, (PUBLIC, "10.0.0.1"), "")
    bad = policy.judge("http://split.example/", resolve=answering(PUBLIC, "10.0.0.1", "192.168.0.1"))
    assert bad == Verdict(
        False,
        "dns.mixed_answers",
        "split.example",
        80,
        (),
        "split.example has the address 192.168.0.1: private use, RFC 1918 (address.private), beside allowed ones",
    )
    port = policy.judge("http://split.example:9000/", resolve=answering(PUBLIC, "10.0.0.1"))
    assert port.rule == "dns.mixed_answers"


def test_of_several_refused_answers_metadata_is_named_first() -> None:
    verdict = EgressPolicy().judge("http://evil.example/", resolve=answering("10.0.0.1", "169.254.169.254"))
    assert verdict.rule == "address.metadata"


def test_answers_keep_their_order_and_lose_their_doubles() -> None:
    verdict = EgressPolicy().judge("https://example.com/", resolve=answering("1.1.1.1", PUBLIC, "1.1.1.1"))
    assert verdict == Verdict(True, "ok", "example.com", 443, ("1.1.1.1", PUBLIC))


@pytest.mark.parametrize("answer", ["nonsense", "", "fe80::1%eth0", "127.1", "2130706433"])
def test_an_answer_that_is_no_plain_address_is_refused(answer: str) -> None:
    verdict = EgressPolicy().judge("http://example.com/", resolve=answering(answer))
    assert not verdict.allowed
    assert verdict.rule.startswith("address.")


@pytest.mark.parametrize("error", [OSError("no such host"), KeyError("example.com")])
def test_a_resolver_that_fails_has_no_answer(error: Exception) -> None:
    def failing(host: str) -> Sequence[str]:
        raise error

    verdict = EgressPolicy().judge("http://example.com/", resolve=failing)
    assert verdict == Verdict(False, "dns.no_answers", "example.com", 80, (), "example.com has no address")


def test_a_proxy_in_the_environment_is_named_and_its_password_kept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://user:hunter22@127.0.0.1:3128")
    policy = EgressPolicy()
    assert policy.judge("http://example.com/", resolve=answering()).detail == (
        "example.com has no address here, and the proxy in http_proxy is not used; set net.proxy to use one"
    )
    assert policy.judge("http://example.com/", resolve=answering(PUBLIC)).allowed
    assert "hunter22" not in repr(policy)


# --- operator ---


SEARXNG = EgressPolicy.operator("http://searxng:8888/search")


@pytest.mark.parametrize(
    ("url", "addresses", "rule"),
    [
        pytest.param("http://searxng:8888/config?x=1", ("172.18.0.3",), "ok", id="another path"),
        pytest.param("http://SEARXNG.:8888/", ("172.18.0.3", "fd00::3"), "ok", id="same name spelled differently"),
        pytest.param("http://searxng:8888/", ("127.0.0.1", PUBLIC), "ok", id="private and public answers"),
        pytest.param("http://searxng:8888/", ("169.254.169.254",), "address.metadata", id="metadata by name"),
        pytest.param(
            "http://searxng:8888/", ("172.18.0.3", "169.254.169.254"), "dns.mixed_answers", id="beside others"
        ),
        pytest.param("http://searxng:8888/", ("0.0.0.0",), "address.unspecified", id="unspecified"),
        pytest.param("http://searxng:8888/", (), "dns.no_answers", id="unknown"),
        pytest.param("https://searxng:8888/", None, "origin.other", id="another scheme"),
        pytest.param("http://searxng:8889/", None, "origin.other", id="another port"),
        pytest.param("http://searxng.example:8888/", None, "origin.other", id="another host"),
        pytest.param("https://example.com/", None, "origin.other", id="a public host"),
        pytest.param("http://u:p@searxng:8888/", None, "url.userinfo", id="credentials in the URL"),
    ],
)
def test_an_operator_policy_is_one_origin(url: str, addresses: tuple[str, ...] | None, rule: str) -> None:
    verdict = SEARXNG.judge(url, resolve=never if addresses is None else answering(*addresses))
    assert (verdict.rule, verdict.allowed) == (rule, rule == "ok")
    assert verdict.addresses == (addresses if rule == "ok" else ())


def test_an_operator_policy_takes_any_port_and_any_plain_address() -> None:
    policy = EgressPolicy.operator("http://[fd00::7]:1/")
    assert policy.judge("http://[fd00::7]:1/x", resolve=never) == Verdict(True, "ok", "fd00::7", 1, ("fd00::7",))


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/", "http://metadata.google.internal/", "http://[fd00:ec2::254]/"]
)
def test_metadata_stay_refused_in_settings(url: str) -> None:
    assert EgressPolicy.operator(url).judge(url, resolve=never).rule == "address.metadata"


def test_an_unreadable_base_url_allows_nothing() -> None:
    policy = EgressPolicy.operator("file:///etc/passwd")
    assert policy.judge("file:///etc/passwd", resolve=never).rule == "url.scheme"
    assert policy.judge("https://example.com/", resolve=never) == Verdict(
        False, "origin.other", "example.com", 443, (), "only a readable base URL may be called here"
    )


def test_an_operator_policy_follows_no_redirect_and_says_where_it_led() -> None:
    verdict, target = SEARXNG.judge_redirect(
        "http://searxng:8888/a", "https://searxng/a", seen=["http://searxng:8888/a"], resolve=never
    )
    assert verdict == Verdict(
        False,
        "redirect.blocked",
        "searxng",
        443,
        (),
        "it leads to https://searxng:443, and redirects of a configured service are not followed",
    )
    assert target == "https://searxng/a"


# --- ourselves ---


@pytest.mark.parametrize(
    ("own", "url", "addresses", "rule"),
    [
        pytest.param(
            "198.46.10.7:8080", "http://gateway.example:8080/", ("198.46.10.7",), "address.self", id="by name"
        ),
        pytest.param("198.46.10.7:8080", "http://198.46.10.7/", None, "ok", id="another port"),
        pytest.param("198.46.10.7:8080", "http://[::ffff:198.46.10.7]:8080/", None, "address.self", id="mapped"),
        pytest.param("198.46.10.7:8080", "http://198.46.10.8:8080/", None, "ok", id="another address"),
        pytest.param("0.0.0.0:8080", "http://127.0.0.1:8080/", None, "address.self", id="wildcard is loopback too"),
        pytest.param("[::]:8080", "http://[::1]:8080/", None, "address.self", id="IPv6 wildcard"),
        pytest.param("[::]:8080", "http://0.0.0.0:8080/", None, "address.self", id="unspecified is the wildcard"),
        pytest.param("0.0.0.0:8080", "http://10.0.0.1:8080/", None, "ok", id="an address that may be another machine"),
    ],
)
def test_webseam_does_not_call_itself(own: str, url: str, addresses: tuple[str, ...] | None, rule: str) -> None:
    policy = EgressPolicy(own=(own,), allow=("127.0.0.0/8", "::1", "10.0.0.0/8"))
    assert policy.judge(url, resolve=never if addresses is None else answering(*addresses)).rule == rule


def test_an_operator_policy_does_not_call_webseam_either() -> None:
    policy = EgressPolicy.operator("http://127.0.0.1:8080/", own=("127.0.0.1:8080",))
    assert policy.judge("http://127.0.0.1:8080/", resolve=never).rule == "address.self"


# --- proxies ---


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        pytest.param("https://example.com/", "ok", id="a name is left to the proxy"),
        pytest.param("https://8.8.8.8/", "ok", id="a public address"),
        pytest.param("http://10.0.0.1/", "address.private", id="a private address"),
        pytest.param("http://localhost/", "host.special_use", id="a special name"),
        pytest.param("http://localhost.localdomain/", "host.special_use", id="its long form"),
        pytest.param("http://intranet/", "host.single_label", id="a single label"),
        pytest.param("http://metadata.goog/", "address.metadata", id="a metadata name"),
        pytest.param("http://example.com:22/", "port.denied", id="a port"),
    ],
)
def test_with_a_proxy_only_the_literal_rules_decide_and_nothing_is_looked_up(url: str, rule: str) -> None:
    assert EgressPolicy(proxy=True).judge(url, resolve=never).rule == rule


def test_with_a_proxy_names_can_be_judged_here_all_the_same() -> None:
    policy = EgressPolicy(proxy=True, local_dns=True)
    assert policy.judge("https://example.com/", resolve=answering("10.0.0.1")).rule == "address.private"
    assert policy.judge("https://example.com/", resolve=answering(PUBLIC)).addresses == (PUBLIC,)


def test_an_onion_service_is_reached_through_a_proxy_or_not_at_all() -> None:
    base = "http://expyuzz4wqqyqhjn.onion/"
    assert EgressPolicy.operator(base, proxy=True).judge(base, resolve=never) == Verdict(
        True, "ok", "expyuzz4wqqyqhjn.onion", 80
    )
    assert EgressPolicy.operator(base).judge(base, resolve=never).rule == "host.special_use"
    assert EgressPolicy.operator(base, proxy=True, local_dns=True).judge(base, resolve=never).rule == "host.special_use"


def test_a_proxy_given_as_a_url_leaves_no_password_behind() -> None:
    policy = EgressPolicy(proxy="http://user:hunter22@proxy:3128")  # type: ignore[arg-type]
    assert policy.proxy is True
    assert "hunter22" not in repr(policy)


# --- without DNS ---


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("https://example.com/", Verdict(True, "ok", "example.com", 443), id="a name"),
        pytest.param("http://8.8.8.8/", Verdict(True, "ok", "8.8.8.8", 80, ("8.8.8.8",)), id="an address"),
        pytest.param(
            "http://10.0.0.1/",
            Verdict(False, "address.private", "10.0.0.1", 80, (), "private use, RFC 1918"),
            id="a private address",
        ),
        pytest.param(
            "example.com",
            Verdict(False, "url.not_absolute", detail="is no absolute URL (start it with https://)"),
            id="no URL",
        ),
    ],
)
def test_a_link_can_be_judged_by_its_text_alone(url: str, expected: Verdict) -> None:
    assert EgressPolicy().judge_literally(url) == expected


# --- redirects ---


def test_a_redirect_gives_the_absolute_url_it_leads_to() -> None:
    verdict, target = EgressPolicy().judge_redirect(
        "https://example.com/a/b", "../c?d#e", seen=["https://example.com/a/b"], resolve=answering(PUBLIC)
    )
    assert verdict == Verdict(True, "ok", "example.com", 443, (PUBLIC,))
    assert target == "https://example.com/c?d"


def test_a_blocked_redirect_names_the_rule_behind_it() -> None:
    verdict, target = EgressPolicy().judge_redirect(
        "https://example.com/", "http://127.0.0.1/x", seen=["https://example.com/"], resolve=never
    )
    assert verdict == Verdict(False, "redirect.blocked", "127.0.0.1", 80, (), "address.loopback: loopback, RFC 1122")
    assert target == "http://127.0.0.1/x"
    verdict, target = EgressPolicy().judge_redirect("https://example.com/", "ftp://x/", seen=[], resolve=never)
    assert verdict == Verdict(False, "redirect.blocked", detail="url.scheme: ftp: is neither http nor https")
    assert target == ""


def test_a_loop_is_seen_whatever_its_spelling_and_fragment() -> None:
    verdict, _ = EgressPolicy().judge_redirect(
        "https://example.com/b", "HTTPS://Example.com:443/#again", seen=["https://example.com"], resolve=never
    )
    assert verdict.rule == "redirect.loop"


def test_a_page_that_redirects_to_itself_is_a_loop_even_when_seen_leaves_it_out() -> None:
    verdict, _ = EgressPolicy().judge_redirect("https://example.com/", "", seen=["not a url"], resolve=never)
    assert verdict.rule == "redirect.loop"


def test_the_number_of_redirects_can_be_lowered() -> None:
    policy = EgressPolicy(max_redirects=0)
    verdict, _ = policy.judge_redirect("https://example.com/", "/a", seen=["https://example.com/"], resolve=never)
    assert (verdict.rule, verdict.detail) == ("redirect.too_many", "more than 0 redirects")


# --- the value ---


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("allow", ("http://wiki/",), id="a URL"),
        pytest.param("allow", ("*",), id="everything"),
        pytest.param("allow", ("10.0.0.1/8",), id="bits below the prefix"),
        pytest.param("allow", ("10.0.0.256",), id="no address"),
        pytest.param("allow", ("*.10.0.0.1",), id="below an address"),
        pytest.param("allow", ("wiki:0",), id="port 0"),
        pytest.param("allow", ("[::1",), id="half a bracket"),
        pytest.param("allow", ("",), id="empty"),
        pytest.param("allow", "10.0.0.0/8", id="a string for a list"),
        pytest.param("allow", 7, id="a number for a list"),
        pytest.param("own", ("127.0.0.1",), id="no port"),
        pytest.param("own", ("localhost:80",), id="a name"),
        pytest.param("own", ("[::1]x",), id="text behind a bracket"),
        pytest.param("ports", (0,), id="port out of range"),
        pytest.param("ports", ("443",), id="port as text"),
    ],
)
def test_a_bad_entry_is_an_error_that_names_the_field(field: str, value: object) -> None:
    with pytest.raises(RequestError) as error:
        EgressPolicy(**{field: value})  # type: ignore[arg-type]
    assert error.value.field == field


def test_policies_are_values() -> None:
    policy = EgressPolicy(ports=[443], allow=["10.0.0.0/8"])
    assert policy == EgressPolicy(ports=(443,), allow=("10.0.0.0/8",))
    assert hash(policy) == hash(EgressPolicy(ports=(443,), allow=("10.0.0.0/8",)))
    assert dataclasses.replace(SEARXNG, max_redirects=3).origin == SEARXNG.origin == "http://searxng:8888"
    assert EgressPolicy(ports=(443, 8443)).judge("http://example.com/", resolve=never) == Verdict(
        False, "port.denied", "example.com", 80, (), "port 80 is not one of 443, 8443"
    )
