import pytest

from webseam.errors import (
    AllProvidersFailed,
    Cancelled,
    EgressDenied,
    FetchError,
    Outcome,
    ProviderError,
    RequestError,
    SettingsError,
    TransportError,
    WebSeamError,
)
from webseam.model import Attempt

# The word all fronts print: (exit status, HTTP status, whether the other side did its work).
OUTCOMES = {
    "ok": (0, 200, True),
    "empty": (4, 200, True),
    "filtered": (4, 200, True),
    "blocked": (5, 502, False),
    "rate_limited": (5, 429, False),
    "quota": (5, 402, False),
    "auth": (6, 401, False),
    "timeout": (7, 504, False),
    "network": (7, 502, False),
    "upstream": (7, 502, False),
    "bad_response": (5, 502, False),
    "unsafe": (8, 403, False),
    "unsupported": (9, 415, False),
    "js_required": (5, 502, False),
    "not_found": (4, 404, False),
    "unavailable": (6, 503, False),
    "invalid": (2, 400, False),
    "cancelled": (130, 499, False),
}


@pytest.mark.parametrize("word", OUTCOMES)
def test_an_outcome_means_the_same_on_every_front(word: str) -> None:
    outcome = Outcome(word)
    assert (outcome.exit_code, outcome.http_status, outcome.answered) == OUTCOMES[word]


def test_there_are_no_other_outcomes() -> None:
    assert {outcome.value for outcome in Outcome} == set(OUTCOMES)


@pytest.mark.parametrize(
    "error, outcome, words, family",
    [
        pytest.param(
            RequestError("count", "must be a whole number", hint="write 10"),
            Outcome.INVALID,
            "invalid: count: must be a whole number (write 10)",
            (WebSeamError,),
            id="request",
        ),
        pytest.param(
            SettingsError("search.count", "is not a number"),
            Outcome.INVALID,
            "invalid: search.count: is not a number",
            (RequestError, WebSeamError),
            id="settings",
        ),
        pytest.param(
            EgressDenied("address.private", "10.0.0.1 is private", url="http://10.0.0.1/"),
            Outcome.UNSAFE,
            "unsafe: address.private: 10.0.0.1 is private",
            (WebSeamError,),
            id="egress",
        ),
        pytest.param(
            TransportError("reset by a.example", outcome=Outcome.NETWORK, host="a.example", phase="body", kind="reset"),
            Outcome.NETWORK,
            "network: reset by a.example",
            (WebSeamError,),
            id="transport",
        ),
        pytest.param(
            ProviderError("HTTP 402", outcome=Outcome.QUOTA, provider="one", http_status=402, retry_after=5.0),
            Outcome.QUOTA,
            "quota: HTTP 402",
            (WebSeamError,),
            id="provider",
        ),
        pytest.param(
            FetchError("an empty shell", outcome=Outcome.JS_REQUIRED),
            Outcome.JS_REQUIRED,
            "js_required: an empty shell",
            (WebSeamError,),
            id="fetch",
        ),
        pytest.param(
            AllProvidersFailed("nobody answered", outcome=Outcome.UPSTREAM, hint="try again"),
            Outcome.UPSTREAM,
            "upstream: nobody answered (try again)",
            (WebSeamError,),
            id="all",
        ),
        pytest.param(
            Cancelled("went away"), Outcome.CANCELLED, "cancelled: went away", (WebSeamError,), id="cancelled"
        ),
    ],
)
def test_an_error_says_its_outcome_what_happened_and_what_to_do(
    error: WebSeamError, outcome: Outcome, words: str, family: tuple[type, ...]
) -> None:
    assert (error.outcome, str(error)) == (outcome, words)
    assert all(isinstance(error, kind) for kind in family)


def test_an_error_keeps_what_a_program_needs_to_act_on_it() -> None:
    attempt = Attempt(provider="one", outcome=Outcome.TIMEOUT)
    failed = AllProvidersFailed("nobody", outcome=Outcome.TIMEOUT, attempts=[attempt])
    provider = ProviderError("HTTP 429", outcome=Outcome.RATE_LIMITED, provider="one", http_status=429, retry_after=7.0)
    transport = TransportError("silent", outcome=Outcome.TIMEOUT, host="a.example", phase="first_byte", kind="silent")
    denied = EgressDenied("url.scheme", "ftp", url="ftp://a.example/")
    assert failed.attempts == (attempt,)
    assert (provider.provider, provider.http_status, provider.retry_after) == ("one", 429, 7.0)
    assert (transport.host, transport.phase, transport.kind) == ("a.example", "first_byte", "silent")
    assert (denied.rule, denied.url) == ("url.scheme", "ftp://a.example/")
    assert RequestError("page", "is odd").field == "page"


def test_the_outcome_of_one_error_does_not_become_that_of_its_class() -> None:
    FetchError("gone", outcome=Outcome.NOT_FOUND)
    assert FetchError("unreadable").outcome == Outcome.BAD_RESPONSE
