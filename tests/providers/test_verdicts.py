"""What answers that are not results mean: the table of common rules, row by row."""

import json
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import Outcome, ProviderError
from webseam.net.message import Headers, Response
from webseam.net.redact import Redactor
from webseam.providers.base import Reply
from webseam.providers.verdicts import (
    ERROR_BODY,
    by_words,
    error_object,
    failure,
    is_challenge,
    message_of,
    retry_after,
    signals_of,
    status_in,
)

O = Outcome  # noqa: E741 - sixty rows name one


def answer(status: int, body: object = b"", **headers: str) -> Reply:
    """A reply of `status`; text and bytes are sent as they are, anything else as JSON. `_` in names stands for `-`."""
    raw = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Reply(Response(status, Headers(fields), "https://api.example/search", raw))


CHALLENGE = "<html><title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/x.js'></script></html>"
PAGE = "<html><title>Gateway</title><body>nginx</body></html>"

FAILURES = [
    ("401", 401, "", O.AUTH),
    ("401 with words", 401, {"error": "Invalid API key"}, O.AUTH),
    ("401 about credits", 401, {"detail": "You have run out of credits"}, O.QUOTA),
    ("401 about a quota", 401, {"error": {"message": "insufficient_quota"}}, O.QUOTA),
    ("402", 402, "", O.QUOTA),
    ("402 with other words", 402, {"error": "Payment required"}, O.QUOTA),
    ("403", 403, "", O.AUTH),
    ("403 with words", 403, {"message": "Forbidden"}, O.AUTH),
    ("403 about spending", 403, {"error": {"message": "Monthly spending limit reached"}}, O.QUOTA),
    ("403 about credits", 403, {"error": "Your team has used all available credits"}, O.QUOTA),
    ("403 about billing", 403, {"detail": {"error": "Please check your billing details"}}, O.QUOTA),
    ("403 about a budget, by its code", 403, {"tag": "API_KEY_BUDGET_EXCEEDED", "error": "Forbidden"}, O.QUOTA),
    ("403 about the rate", 403, {"error": "Rate limit exceeded"}, O.RATE_LIMITED),
    ("403 about requests per second", 403, "more than 5 requests per second", O.RATE_LIMITED),
    ("403 challenge page", 403, CHALLENGE, O.BLOCKED),
    ("403 other page", 403, PAGE, O.AUTH),
    ("403 page with a word of the query", 403, "<p>monthly quota</p>", O.AUTH),
    ("400", 400, "", O.BAD_RESPONSE),
    ("400 about the key", 400, {"error": "Missing API key"}, O.AUTH),
    ("400 about an expired token", 400, {"message": "expired token"}, O.AUTH),
    ("400 about credits", 400, {"error": {"code": "NO_MORE_CREDITS", "message": "Bad request"}}, O.QUOTA),
    ("400 about nothing found", 400, {"error": "No search results"}, O.EMPTY),
    ("400 about an option", 400, {"error": "Unsupported parameter: safe"}, O.UNSUPPORTED),
    ("400 about a model", 400, {"error": "model not found"}, O.UNSUPPORTED),
    ("400 about length", 400, {"errors": [{"message": "query is too long"}]}, O.UNSUPPORTED),
    ("400 about something else", 400, {"error": "Bad request"}, O.BAD_RESPONSE),
    ("404", 404, "", O.BAD_RESPONSE),
    ("404 page", 404, PAGE, O.BAD_RESPONSE),
    ("404 about nothing found", 404, {"message": "Search hasn't returned any results"}, O.EMPTY),
    ("404 about nothing found, other words", 404, {"detail": "did not yield any result"}, O.EMPTY),
    ("404 about the key", 404, {"error": "unauthenticated"}, O.AUTH),
    ("410", 410, "", O.BAD_RESPONSE),
    ("410 about credits", 410, {"error": "out of searches"}, O.QUOTA),
    ("422 about the key", 422, {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}, O.AUTH),
    ("422 about a value", 422, {"detail": [{"msg": "country must be one of …"}]}, O.UNSUPPORTED),
    ("422 about a quota", 422, {"title": "usage limit"}, O.QUOTA),
    ("422", 422, {}, O.BAD_RESPONSE),
    ("408", 408, "", O.TIMEOUT),
    ("504", 504, PAGE, O.TIMEOUT),
    ("429", 429, "", O.RATE_LIMITED),
    ("429 with words", 429, {"error": "Too Many Requests"}, O.RATE_LIMITED),
    ("429 page", 429, PAGE, O.RATE_LIMITED),
    ("429 about credits", 429, {"error": {"message": "You need more credits"}}, O.QUOTA),
    ("429 about credits and the rate", 429, {"error": "Rate limit: your credits are exhausted"}, O.QUOTA),
    ("429 about a monthly quota", 429, {"error": {"code": "monthly_quota"}}, O.QUOTA),
    ("429 about a plan limit", 429, {"message": "plan_limit"}, O.QUOTA),
    ("429 about arrears", 429, "Your account is in arrears", O.QUOTA),
    ("429 challenge page", 429, CHALLENGE, O.BLOCKED),
    ("500", 500, {"error": "Internal error"}, O.UPSTREAM),
    ("502 page", 502, PAGE, O.UPSTREAM),
    ("503", 503, "", O.UPSTREAM),
    ("503 about load", 503, {"error": "SERVICE_OVERLOADED"}, O.UPSTREAM),
    ("503 naming the rate", 503, {"error": "request was throttled"}, O.RATE_LIMITED),
    ("503 challenge page", 503, CHALLENGE, O.BLOCKED),
    ("599", 599, "", O.UPSTREAM),
    ("999, as social networks answer robots", 999, "", O.BLOCKED),
    ("redirect", 302, "", O.BAD_RESPONSE),
    ("418", 418, "I'm a teapot", O.BAD_RESPONSE),
]


@pytest.mark.parametrize("status, body, outcome", [pytest.param(*row[1:], id=row[0]) for row in FAILURES])
def test_a_failure_means_what_status_and_words_say_together(status: int, body: object, outcome: Outcome) -> None:
    error = failure(answer(status, body))
    assert (error.outcome, error.http_status) == (outcome, status)
    assert error.detail.startswith(f"HTTP {status}")


@pytest.mark.parametrize(
    "words, outcome",
    [
        pytest.param("credits exhausted", O.QUOTA, id="credits exhausted"),
        pytest.param("credit limit", O.QUOTA, id="credit limit"),
        pytest.param("your credits are insufficient", O.QUOTA, id="credits insufficient"),
        pytest.param("this request requires more credits", O.QUOTA, id="more credits"),
        pytest.param("not enough credits", O.QUOTA, id="not enough credits"),
        pytest.param("insufficient balance", O.QUOTA, id="insufficient balance"),
        pytest.param("insufficient funds", O.QUOTA, id="insufficient funds"),
        pytest.param("insufficient_quota", O.QUOTA, id="insufficient_quota"),
        pytest.param("out of credits", O.QUOTA, id="out of credits"),
        pytest.param("Your account has run out of searches.", O.QUOTA, id="run out of searches"),
        pytest.param("over budget", O.QUOTA, id="budget"),
        pytest.param("spending limit", O.QUOTA, id="spending limit"),
        pytest.param("daily limit", O.QUOTA, id="daily limit"),
        pytest.param("Monthly Quota", O.QUOTA, id="monthly quota"),
        pytest.param("usage limit", O.QUOTA, id="usage limit"),
        pytest.param("plan limit", O.QUOTA, id="plan limit"),
        pytest.param("billing", O.QUOTA, id="billing"),
        pytest.param("arrears", O.QUOTA, id="arrears"),
        pytest.param("Too many requests", O.RATE_LIMITED, id="too many requests"),
        pytest.param("rate limited", O.RATE_LIMITED, id="rate limited"),
        pytest.param("rate_limit_exceeded", O.RATE_LIMITED, id="rate_limit"),
        pytest.param("Throttling", O.RATE_LIMITED, id="throttling"),
        pytest.param("5 requests per minute", O.RATE_LIMITED, id="requests per minute"),
        pytest.param("max concurrency reached", O.RATE_LIMITED, id="concurrency"),
        pytest.param("invalid api key", O.AUTH, id="invalid api key"),
        pytest.param("Incorrect API-key", O.AUTH, id="incorrect API-key"),
        pytest.param("missing key", O.AUTH, id="missing key"),
        pytest.param("revoked token", O.AUTH, id="revoked token"),
        pytest.param("INVALID_API_KEY", O.AUTH, id="INVALID_API_KEY"),
        pytest.param("Unauthorised", O.AUTH, id="unauthorised"),
        pytest.param("unauthenticated", O.AUTH, id="unauthenticated"),
        pytest.param("subscription token", O.AUTH, id="subscription token"),
        pytest.param("No results", O.EMPTY, id="no results"),
        pytest.param("no search results found", O.EMPTY, id="no search results"),
        pytest.param("Google hasn't returned any results for this query.", O.EMPTY, id="hasn't returned"),
        pytest.param("did not yield any result", O.EMPTY, id="did not yield"),
        pytest.param("something else", O.BAD_RESPONSE, id="anything else"),
        pytest.param("", O.BAD_RESPONSE, id="nothing"),
    ],
)
def test_words_alone_have_a_meaning(words: str, outcome: Outcome) -> None:
    assert by_words(words) == outcome


@pytest.mark.parametrize(
    "document, outcome, detail",
    [
        pytest.param(
            {"error": {"code": 429, "message": "slow down"}},
            O.RATE_LIMITED,
            "it answered 200 with an error: slow down",
            id="code 429",
        ),
        pytest.param(
            {"error": {"code": 429}}, O.RATE_LIMITED, "it answered 200 with an error: 429", id="a code without words"
        ),
        pytest.param(
            {"error": {"status": "402", "message": "x"}}, O.QUOTA, "it answered 200 with an error: x", id="402 as text"
        ),
        pytest.param({"code": 401, "message": "x"}, O.AUTH, "it answered 200 with an error: x", id="code beside it"),
        pytest.param(
            {"statusCode": 503, "error": "x"}, O.UPSTREAM, "it answered 200 with an error: x", id="statusCode"
        ),
        pytest.param({"status": 504, "error": "x"}, O.TIMEOUT, "it answered 200 with an error: x", id="status"),
        pytest.param(
            {"error": "Monthly limit"}, O.QUOTA, "it answered 200 with an error: Monthly limit", id="words of a quota"
        ),
        pytest.param(
            {"error": {"code": "rate_limit_exceeded", "message": "wait"}},
            O.RATE_LIMITED,
            "it answered 200 with an error: wait",
            id="a code in words",
        ),
        pytest.param(
            {"code": 200, "message": "Invalid API key"},
            O.AUTH,
            "it answered 200 with an error: Invalid API key",
            id="a code that is no error's, with words",
        ),
        pytest.param(
            {"error": {"code": 429, "message": "credits exhausted"}},
            O.QUOTA,
            "it answered 200 with an error: credits exhausted",
            id="credits at 429",
        ),
        pytest.param(
            {"errors": ["No results"]}, O.EMPTY, "it answered 200 with an error: No results", id="nothing found"
        ),
        pytest.param(
            {"error": "odd", "query": "monthly quota of credits exhausted"},
            O.BAD_RESPONSE,
            "it answered 200 with an error: odd",
            id="the words of the query do not count",
        ),
        pytest.param(
            {"error": {"code": "²²²", "message": "x"}},
            O.BAD_RESPONSE,
            "it answered 200 with an error: x",
            id="a code that only looks like a number",
        ),
    ],
)
def test_an_error_object_at_200_is_what_it_says_it_is(document: Any, outcome: Outcome, detail: str) -> None:
    error = error_object(answer(200, document), document)
    assert error is not None
    assert (error.outcome, error.detail, error.http_status) == (outcome, detail, 200)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({}, id="empty object"),
        pytest.param({"results": []}, id="results"),
        pytest.param({"code": 200, "status": "ok"}, id="a code of success"),
        pytest.param({"error": None, "errors": []}, id="no error"),
        pytest.param([], id="list"),
        pytest.param("no", id="text"),
        pytest.param(None, id="null"),
    ],
)
def test_an_answer_that_states_no_error_has_none(document: Any) -> None:
    assert error_object(answer(200, document), document) is None


@pytest.mark.parametrize(
    "document, words",
    [
        pytest.param({"error": {"message": "1", "detail": "2"}, "message": "3"}, "1", id="error.message"),
        pytest.param({"error": "2", "message": "3"}, "2", id="error"),
        pytest.param({"error": {"code": "C"}}, "C", id="error.code"),
        pytest.param({"message": "3", "detail": {"error": "4"}}, "3", id="message"),
        pytest.param({"detail": {"error": "4"}, "title": "7"}, "4", id="detail.error"),
        pytest.param({"detail": "5", "title": "7"}, "5", id="detail"),
        pytest.param({"detail": [{"msg": "5b"}]}, "5b", id="detail[0].msg"),
        pytest.param({"errors": [{"message": "6"}], "title": "7"}, "6", id="errors[0].message"),
        pytest.param({"errors": ["6b"]}, "6b", id="errors[0]"),
        pytest.param({"title": "7"}, "7", id="title"),
        pytest.param({"error": {"message": ""}, "message": "  ", "title": "7"}, "7", id="blank ones are passed over"),
        pytest.param("words", "words", id="text alone"),
        pytest.param({"error": True, "errors": [None], "detail": 5}, "", id="none"),
        pytest.param([1], "", id="list"),
    ],
)
def test_the_words_of_an_error_are_found_wherever_a_service_puts_them(document: Any, words: str) -> None:
    assert message_of(document) == words


def test_the_signals_of_an_error_are_its_words_without_the_echoed_query() -> None:
    document = {
        "error": {"code": "NO_MORE_CREDITS", "meta": {"query": "secret"}},
        "q": "secret",
        "list": ["a", 5, ["b"]],
    }
    assert signals_of(document) == "NO MORE CREDITS  a  b"


@pytest.mark.parametrize(
    "code, status",
    [
        (429, 429),
        ("503", 503),
        (200, 200),
        (True, 0),
        (4290, 0),
        ("42", 0),
        ("²²²", 0),
        ("٤٢٩", 0),
        (None, 0),
        (4.29, 0),
    ],
)
def test_a_code_is_a_status_only_when_it_can_be_one(code: object, status: int) -> None:
    assert status_in(code) == status


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<div class='g-recaptcha'>", id="captcha"),
        pytest.param("<form id='challenge-form'>", id="challenge-form"),
        pytest.param("<div class='anomaly-modal__title'>", id="anomaly-modal"),
        pytest.param("<script src='/anomaly.js'>", id="anomaly.js"),
        pytest.param("<script src='/cdn-cgi/challenge-platform/h/b'>", id="challenge-platform"),
        pytest.param("<input name='__cf_chl_tk'>", id="__cf_chl_"),
        pytest.param("<p>Our systems have detected unusual traffic", id="unusual traffic"),
        pytest.param("<p>Enable JavaScript and cookies to continue", id="JavaScript and cookies"),
        pytest.param("<form action='https://consent.google.com/save'>", id="consent host"),
        pytest.param('<form method="post" action="/consent">', id="consent form"),
    ],
)
def test_a_challenge_page_is_known_by_its_marks(text: str) -> None:
    assert is_challenge(answer(200), text)
    assert failure(answer(403, text)).outcome == O.BLOCKED


def test_a_challenge_is_known_by_its_header_and_ordinary_pages_are_none() -> None:
    assert is_challenge(answer(403, cf_mitigated="challenge"), "<html>")
    assert failure(answer(403, PAGE, CF_Mitigated="challenge")).outcome == O.BLOCKED
    assert not is_challenge(answer(200), PAGE)
    assert not is_challenge(answer(200), " " * ERROR_BODY + CHALLENGE)


@pytest.mark.parametrize(
    "status, header, seconds",
    [
        pytest.param(429, "30", 30.0, id="seconds"),
        pytest.param(402, "30", 30.0, id="quota"),
        pytest.param(503, "30", 30.0, id="upstream"),
        pytest.param(401, "30", None, id="a key does not come back by waiting"),
        pytest.param(429, "-5", None, id="negative"),
        pytest.param(429, "soon", None, id="words"),
        pytest.param(429, "999999", 3600.0, id="at most an hour"),
        pytest.param(429, "Wed, 21 Oct 2015 07:28:00 GMT", None, id="date in the past"),
    ],
)
def test_a_failure_carries_the_wait_that_was_asked_for(status: int, header: str, seconds: float | None) -> None:
    assert failure(answer(status, retry_after=header)).retry_after == seconds


def test_a_wait_may_be_given_as_a_date() -> None:
    import time

    found = retry_after(answer(429, retry_after=formatdate(time.time() + 100, usegmt=True)))
    assert found is not None
    assert 0 < found <= 100


def test_quoted_words_are_redacted_cleaned_and_cut() -> None:
    key = "sk-planted-5f2c9"
    body = json.dumps({"error": f"bad\x1b[31m key {key} " + "x" * 500})
    reply = Reply(Response(403, Headers(), "https://api.example/", body.encode()), Redactor([key]))
    error = failure(reply)
    assert error.detail.startswith("HTTP 403: bad key ***")
    assert len(error.detail) <= len("HTTP 403: ") + 200
    assert key not in str(error)


def test_only_the_beginning_of_an_error_body_is_read() -> None:
    assert failure(answer(400, "x" * ERROR_BODY + " invalid api key")).outcome == O.BAD_RESPONSE


WORDS = st.sampled_from(
    ["error", "message", "detail", "code", "errors", "title", "status", "query", "credits exhausted"]
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 600), WORDS, st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
)


@given(st.integers(300, 999), st.one_of(JSON.map(json.dumps).map(str.encode), st.binary(max_size=50)))
def test_every_failure_is_a_provider_error(status: int, body: bytes) -> None:
    error = failure(answer(status, body))
    assert isinstance(error, ProviderError)
    assert not error.outcome.answered or error.outcome == O.EMPTY
    assert len(error.detail) <= 220


@given(JSON)
def test_every_document_states_an_error_or_none(document: Any) -> None:
    error = error_object(answer(200, document), document)
    assert error is None or error.http_status == 200


@pytest.mark.parametrize("piece", ["credit ", "no api ", "<form ", "exhausted ", "a", "<title", "plan_", "captch"])
def test_a_long_run_of_one_piece_is_judged_in_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert by_words(text) in (O.BAD_RESPONSE, O.QUOTA)
    assert failure(answer(403, f"<{text}")).outcome == O.AUTH
