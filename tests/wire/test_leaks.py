"""The checker: it finds what should not be public, also where it is hidden, and nothing in what is invented."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.wire import FOLDER, NETWORKED
from tests.wire.leaks import Checker, in_folder, own_domains
from tests.wire.places import is_below
from webseam import providers

KEY = "tvly-Zq7Rk2Vx9Lm4Tn8Wb3Yc6"
OWN = ("service.io",)


@pytest.mark.parametrize("provider", NETWORKED)
def test_no_case_of_a_provider_holds_what_should_not_be_public(provider: str) -> None:
    assert [str(leak) for leak in in_folder(FOLDER / provider, provider)] == []


def found(document: Any, **more: Any) -> list[str]:
    return [leak.what for leak in Checker(own=OWN, **more).document(document)]


_HIDDEN = [
    pytest.param(KEY, id="literal"),
    pytest.param(quote(KEY, safe="").replace("-", "%2D"), id="percent-encoded"),
    pytest.param(base64.b64encode(f"user:{KEY}".encode()).decode(), id="base64"),
    pytest.param("".join(f"\\u{ord(one):04x}" for one in KEY), id="json-escaped"),
    pytest.param("".join(f"&#{ord(one)};" for one in KEY), id="entities"),
    pytest.param(f"{KEY[:9]}<em>{KEY[9:17]}</em>{KEY[17:]}", id="marked-up"),
    pytest.param(" ".join(KEY[at : at + 4] for at in range(0, len(KEY), 4)), id="in-groups"),
    pytest.param(f"{KEY[:10]}…", id="first-characters"),
]


@pytest.mark.parametrize("hidden", _HIDDEN)
def test_a_known_secret_is_found_in_every_spelling(hidden: str) -> None:
    leaks = found({"answer": {"json": {"message": f"Refused: {hidden}"}}}, secrets=[KEY])
    assert {"a secret", "a part of a secret"} & set(leaks)


def test_a_secret_found_is_not_shown() -> None:
    for leak in Checker(secrets=[KEY]).document({"message": f"{KEY} and token={KEY}"}):
        assert KEY[:8] not in str(leak)


_LEAKS = [
    pytest.param({"detail": "Bearer 8c6976e5b5410415bde9"}, "has the form of a secret", id="bearer"),
    pytest.param({"x": "AIzaSyD4x9f8k2LmNoPqRs"}, "drawn by chance, as a key or a session is", id="key"),
    pytest.param({"requestId": "b3f1c2d4e5"}, "drawn by chance, as a key or a session is", id="short-in-an-id"),
    pytest.param({"x": "9b2f0c1e-5a77-4c1d-8f3e-2a6b9d0c4e51"}, "an identifier", id="uuid"),
    pytest.param({"x": "see req_8Kf92Lm3"}, "an identifier", id="prefixed"),
    pytest.param({"x": "write to jane.doe@corp.io"}, "an e-mail address", id="email"),
    pytest.param({"x": "from 81.2.69.142."}, "an IP address", id="v4"),
    pytest.param({"x": "from 2a02:8108:9c0::7"}, "an IP address", id="v6"),
    pytest.param({"x": "call +49 30 90182015"}, "a telephone number", id="telephone"),
    pytest.param({"accountId": 48213377}, "a number that may be somebody's", id="account-number"),
    pytest.param({"x": "customer no. 482133779"}, "a number that may be somebody's", id="long-number"),
    pytest.param({"user": "Jane Doe"}, "names an account", id="account"),
    pytest.param({"url": "https://www.python.org/3/"}, "a real host", id="host"),
    pytest.param({"x": "python.org › docs"}, "a real host", id="bare-host"),
    pytest.param({"x": "/l/?u=https%3A%2F%2Fpython.org"}, "a real host", id="host-in-a-parameter"),
    pytest.param(
        {"answer": {"headers": {"Set-Cookie": "sid=1; Path=/"}}}, "a header that no parser needs", id="cookie"
    ),
    pytest.param({"answer": {"headers": {"Date": "Tue, 03 Feb 2026"}}}, "a header that no parser needs", id="date"),
    pytest.param({"https://python.org/": None}, "a real host", id="in-a-name"),
    pytest.param(
        {"x": base64.b64encode(b"jane.doe@corp.io, hello").decode()}, "an e-mail address", id="email-in-base64"
    ),
]


@pytest.mark.parametrize("document, what", _LEAKS)
def test_what_points_at_somebody_is_found(document: Any, what: str) -> None:
    assert what in found(document)


_HARMLESS = [
    pytest.param({"url": "https://docs.example.org/start", "x": "someone@example.org"}, id="example-hosts"),
    pytest.param({"x": "192.0.2.7 and 2001:db8::7 and 127.0.0.1"}, id="documentation-addresses"),
    pytest.param({"hint": "see https://docs.service.io/limits"}, id="own-host"),
    pytest.param({"id": "00000000-0000-4000-8000-000000000001", "requestId": "req-1"}, id="invented-ids"),
    pytest.param({"code": "SUBSCRIPTION_TOKEN_INVALID", "x": "a-guide-to-domain-names-in-2026"}, id="words-in-one"),
    pytest.param({"published": 1770076800, "totalResults": 1230000000}, id="dates-and-totals"),
    pytest.param({"published": "2026-02-03T00:00:00.000Z", "at": "12:30:45"}, id="moments"),
    pytest.param({"message": "Bearer EXAMPLE-KEY, api_key=EXAMPLE-KEY"}, id="example-key"),
    pytest.param({"answer": {"headers": {"Content-Type": "text/html", "X-RateLimit-Reset": "1"}}}, id="headers"),
    pytest.param({"user": None, "account": {"plan": "dolor", "name": "Lorem Ipsum"}}, id="invented-account"),
]


@pytest.mark.parametrize("document", _HARMLESS)
def test_invented_and_public_things_are_no_leaks(document: Any) -> None:
    assert found(document) == []


def test_what_is_allowed_by_name_is_no_leak() -> None:
    assert found({"x": "python.org"}, allowed=["python.org"]) == []


@pytest.mark.parametrize("provider", [one for one in NETWORKED if providers.get(one).base_url])
def test_a_provider_s_own_domains_are_those_it_declares(provider: str) -> None:
    host = str(urlsplit(providers.get(provider).base_url).hostname)
    assert is_below(host, own_domains(provider))
    assert not is_below("www.python.org", own_domains(provider))
