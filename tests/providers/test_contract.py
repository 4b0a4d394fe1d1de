"""What every network provider owes: each captured answer read whole, each request as the service expects it, and the
right outcome for answers that no service should send.

All of it runs through the whole of webseam against a server on loopback. The tables name no provider: a new one is
covered as soon as it has a folder in tests/wire and a row in tests/wire/write.py.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.wire import NETWORKED, Case, captured, case, names
from tests.wire.fake import FORGETFUL, KEY, Answer, Fake, play, search, sent
from tests.wire.write import HTML, JSON, WRITERS, Row, results
from tests.world import World
from webseam import providers
from webseam.errors import Outcome

CASES = [
    pytest.param(case(provider, name), id=f"{provider}-{name}") for provider in NETWORKED for name in names(provider)
]
EACH = pytest.mark.parametrize("provider", NETWORKED)


def test_every_network_provider_has_its_wire_cases_and_its_writer() -> None:
    owed = {"ok", "empty", "rate_limited", "quota", "broken"}
    lacking = {
        provider: wanted
        for provider in NETWORKED
        if (wanted := (owed if providers.get(provider).key == "none" else owed | {"auth"}) - set(names(provider)))
    }
    assert (lacking, set(WRITERS)) == ({}, set(NETWORKED))


@pytest.mark.parametrize("wire", CASES)
async def test_a_service_s_answer_becomes_exactly_this(wire: Case) -> None:
    told, requests = await play(wire)
    assert told.as_expected() == wire.expect
    assert len(requests) == 1


# Requests.

# What we send on purpose otherwise than the client that was captured, as `None` where we leave it out.
_OURS: dict[str, dict[str, Any]] = {
    "brave": {
        "offset": None,  # 0 is where it starts anyway
        "result_filter": "web",  # `query` would add what was searched for, which we know
        "spellcheck": None,  # on unless switched off
    },
    "exa": {},
    "exa-free": {},
    "searxng": {},
    "tavily": {},
}
# Headers that say who somebody is; every other header of a captured request must be ours too.
_AUTHENTICATION = ("authorization", "x-api-key", "x-subscription-token")
_ASKED: dict[str, dict[str, Any]] = {
    "brave": {
        "count": 20,
        "region": "US",
        "language": "en",
        "safe": "moderate",
        "after": "2026-01-01",
        "before": "2026-06-30",
    },
    "exa": {
        # A domain filter fetches twice as much, as the service lets others through; 5 is what makes it ask for 10.
        "count": 5,
        "include_domains": ["example.org"],
        "after": "2026-01-01",
        "before": "2026-06-30",
        "kind": "news",
        "safe": "strict",
        "region": "US",
    },
    "exa-free": {"count": 10},
    "searxng": {"language": "en", "safe": "moderate"},
    "tavily": {
        "count": 5,
        "include_domains": ["example.org"],
        "exclude_domains": ["example.net"],
        "after": "2026-01-01",
        "before": "2026-06-30",
    },
}


@pytest.mark.parametrize("provider", _ASKED)
async def test_a_request_is_the_official_client_s_in_all_that_matters(provider: str) -> None:
    theirs = captured(provider)["request"]
    their_headers = {name.lower(): value for name, value in theirs["headers"].items()}
    key = KEY if set(their_headers) & set(_AUTHENTICATION) else None
    ours = await sent(provider, _ASKED[provider], results(provider, []), settings={"api_key": key})
    assert (ours.method, ours.path) == (theirs["method"], theirs["path"])
    for name in _AUTHENTICATION:
        assert ours.headers.get(name) == their_headers.get(name)
    if theirs["body"] is None:
        assert ours.body == b""
    else:
        assert ours.headers["content-type"] == their_headers["content-type"]
        assert ours.json() == theirs["body"]
    query = {name: values[0] for name, values in ours.query.items()}
    expected = {**theirs["query"], **_OURS[provider]}
    assert query == {name: value for name, value in expected.items() if value is not None}


@EACH
async def test_a_key_travels_in_a_header_and_nowhere_else(provider: str) -> None:
    request = await sent(provider, {}, results(provider, []))
    carrying = [name for name, value in request.fields if KEY in value]
    wanted = 0 if providers.get(provider).key == "none" else 1
    assert (len(carrying), KEY in request.target, KEY.encode() in request.body) == (wanted, False, False)


@EACH
async def test_a_base_url_may_have_a_path_and_a_slash_and_neither_is_doubled(provider: str) -> None:
    paths = []
    for base in ("", "/", "/gateway", "/gateway/"):
        async with World() as world:
            fake = Fake(world, results(provider, []))
            await search(provider, fake.url + base, variables=FORGETFUL)
            paths.append(fake.requests[0].path)
    plain = paths[0]
    assert paths == [plain, plain, f"/gateway{plain}", f"/gateway{plain}"]
    assert not any("//" in path for path in paths)


# Answers that are none.

_PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body>Hello</body></html>"
_CHALLENGE = b'<html><body><form id="challenge-form"><div class="h-captcha"></div></form></body></html>'
_SPENT = b'{"error": {"message": "You have insufficient credits left, please top up."}}'


def _is(outcome: str, status: int | None, retry_after: float | None = None) -> dict[str, Any]:
    return {"outcome": outcome, "http_status": status, "retry_after": retry_after}


_FAILURES = [
    pytest.param((401, JSON, b'{"error": "Unauthorized"}'), _is("auth", 401), {}, id="401"),
    pytest.param((401, {}, b""), _is("auth", 401), {}, id="401-without-words"),
    pytest.param((402, JSON, b'{"error": "Payment required"}'), _is("quota", 402), {}, id="402"),
    pytest.param(
        (403, JSON, _SPENT),
        _is("quota", 403),
        # For these two a 403 has one meaning, and it is not money.
        {"searxng": _is("unavailable", 403), "duckduckgo": _is("blocked", 403)},
        id="403-about-credits",
    ),
    pytest.param(
        (403, JSON, b'{"message": "Forbidden"}'),
        _is("auth", 403),
        {"searxng": _is("unavailable", 403), "duckduckgo": _is("blocked", 403)},
        id="403",
    ),
    pytest.param((429, {}, b""), _is("rate_limited", 429), {}, id="429"),
    pytest.param((429, {"Retry-After": "17"}, b""), _is("rate_limited", 429, 17.0), {}, id="429-retry-after"),
    pytest.param((429, {"Retry-After": "soon"}, b"slow down"), _is("rate_limited", 429), {}, id="429-nonsense-delay"),
    pytest.param((500, JSON, b'{"error": "Internal server error"}'), _is("upstream", 500), {}, id="500"),
    pytest.param((500, HTML, _PAGE), _is("upstream", 500), {}, id="500-page"),
    pytest.param((503, {"Retry-After": "3"}, b"maintenance"), _is("upstream", 503, 3.0), {}, id="503"),
    pytest.param((504, HTML, _PAGE), _is("timeout", 504), {}, id="504"),
    pytest.param((302, {"Location": "https://example.org/"}, b""), _is("bad_response", None), {}, id="redirect"),
    pytest.param((200, HTML, _PAGE), _is("bad_response", 200), {}, id="page"),
    pytest.param((200, HTML, _CHALLENGE), _is("blocked", 200), {}, id="challenge"),
    pytest.param((200, JSON, b'{"results": [{"url": "https://exa'), _is("bad_response", 200), {}, id="truncated"),
    pytest.param((200, JSON, b""), _is("bad_response", 200), {}, id="nothing"),
    pytest.param((200, JSON, b"\xff\xfe\x00\x80"), _is("bad_response", 200), {}, id="bytes"),
    pytest.param((200, JSON, b"null"), _is("bad_response", 200), {}, id="null"),
    pytest.param((200, JSON, b"[" * 100_000), _is("bad_response", 200), {}, id="deep"),
    pytest.param((200, JSON, b'{"results": NaN}'), _is("bad_response", 200), {}, id="nan"),
    pytest.param((200, JSON, b'{"results": {}}'), _is("bad_response", 200), {}, id="object-for-list"),
    pytest.param(
        (200, JSON, b'{"results": "none", "web": 1, "result": 1}'), _is("bad_response", 200), {}, id="text-for-list"
    ),
    pytest.param(
        (200, JSON, b'{"error": {"code": 429, "message": "Too many requests"}}'),
        _is("rate_limited", 200),
        {"duckduckgo": _is("bad_response", 200)},
        id="error-object-rate",
    ),
    pytest.param(
        (200, JSON, _SPENT), _is("quota", 200), {"duckduckgo": _is("bad_response", 200)}, id="error-object-credits"
    ),
    pytest.param(
        (200, JSON, b'{"error": "Invalid API key"}'),
        _is("auth", 200),
        {"duckduckgo": _is("bad_response", 200)},
        id="error-object-key",
    ),
    pytest.param(
        (200, JSON, b'{"error": "something went wrong"}'), _is("bad_response", 200), {}, id="error-object-unknown"
    ),
]


@EACH
@pytest.mark.parametrize("answer, usual, particular", _FAILURES)
async def test_an_answer_that_is_no_result_is_the_failure_it_stands_for(
    provider: str, answer: Answer, usual: dict[str, Any], particular: dict[str, dict[str, Any]]
) -> None:
    async with World() as world:
        fake = Fake(world, _for(provider, answer))
        told = await search(provider, fake.url)
    attempt = told.attempt
    assert {
        "outcome": attempt.outcome,
        "http_status": attempt.http_status,
        "retry_after": attempt.retry_after,
    } == particular.get(provider, usual)
    assert (told.outcome, told.hits, len(attempt.detail or "") <= 300) == (attempt.outcome, (), True)
    assert "Traceback" not in str(attempt.detail)
    assert KEY not in str(attempt.detail) + str(told.hint)
    assert len(fake.requests) == 1


def _for(provider: str, answer: Answer) -> Answer:
    """The hosted MCP server states its errors in the envelope of the protocol; elsewhere the answer is as it is."""
    status, headers, body = answer
    if provider != "exa-free" or status != 200 or not body.startswith(b'{"error"'):
        return answer
    stated = json.loads(body)["error"]
    error = stated if isinstance(stated, dict) else {"code": -32000, "message": stated}
    return status, headers, json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode()


# Results that are odd.

_GOOD: Row = {"url": "https://example.org/good", "title": "Good", "snippet": "Good words.", "published": "2026-02-03"}
_ESC = "\x1b[31mred\x1b[0m"


def _seen(**fields: Any) -> dict[str, Any]:
    return {"url": "https://example.org/odd", "title": "Odd", "snippet": None, "published": None, **fields}


_ODD = [
    pytest.param({"url": "https://example.org/odd"}, _seen(title=None), None, id="url-alone"),
    pytest.param(
        {"url": "https://example.org/odd", "title": None, "snippet": None, "published": None},
        _seen(title=None),
        None,
        id="nulls",
    ),
    pytest.param({"url": "https://example.org/odd", "title": " \t "}, _seen(title=None), None, id="blank-title"),
    pytest.param({"url": "https://example.org/odd", "title": "N/A"}, _seen(title=None), None, id="title-n-a"),
    pytest.param(
        {"url": "https://example.org/odd", "title": f"O{_ESC}dd"}, _seen(title="Oreddd"), None, id="terminal-escape"
    ),
    pytest.param(
        {"url": "https://example.org/odd", "title": "Odd \u202egpj.exe\u202c\u200b"},
        _seen(title="Odd gpj.exe"),
        None,
        id="direction-marks",
    ),
    pytest.param(
        {"url": "https://example.org/odd", "title": "<b>Odd</b> &amp; <script>alert(1)</script>"},
        _seen(title="Odd & alert(1)"),
        None,
        id="markup",
    ),
    pytest.param(
        {"url": "https://example.org/odd", "title": "Odd", "snippet": "word " * 1_000},
        _seen(snippet="word " * 158 + "word…"),
        None,
        id="long-snippet",
    ),
    pytest.param(
        {"url": "https://example.org/odd", "title": "Odd", "published": "someday"}, _seen(), None, id="no-date"
    ),
    pytest.param(
        {"url": "https://example.org/odd?utm_source=x&id=1", "title": "Odd"},
        _seen(url="https://example.org/odd?id=1"),
        None,
        id="tracking",
    ),
    pytest.param({"title": "No address"}, None, "no url", id="no-url"),
    pytest.param({"url": None, "title": "No address"}, None, "no url", id="null-url"),
    pytest.param({"url": "", "title": "No address"}, None, "no url", id="empty-url"),
    pytest.param({"url": "javascript:alert(1)", "title": "Odd"}, None, "not http", id="javascript"),
    pytest.param({"url": "ftp://example.org/odd", "title": "Odd"}, None, "not http", id="ftp"),
    pytest.param({"url": "file:///etc/passwd", "title": "Odd"}, None, "not http", id="file"),
    pytest.param({"url": "http://[::1", "title": "Odd"}, None, "unsafe address", id="malformed"),
    pytest.param({"url": "http://192.168.0.1/admin", "title": "Odd"}, None, "unsafe address", id="private"),
    pytest.param({"url": "http://169.254.169.254/latest", "title": "Odd"}, None, "unsafe address", id="metadata"),
    pytest.param({"url": "https://www.example.org/good/#part", "title": "Odd"}, None, "duplicate", id="duplicate"),
]


@EACH
@pytest.mark.parametrize("row, seen, reason", _ODD)
async def test_an_odd_result_is_cleaned_or_dropped_and_counted_and_the_good_one_stays(
    provider: str, row: Row, seen: dict[str, Any] | None, reason: str | None
) -> None:
    async with World() as world:
        pages = iter([results(provider, [_GOOD, row])])
        fake = Fake(world, lambda _: next(pages, results(provider, [])))
        told = await search(provider, fake.url)
    good, *rest = told.hits
    assert (good.url, good.title, good.snippet, str(good.published)[:10]) == tuple(_GOOD.values())
    assert [
        {"url": hit.url, "title": hit.title, "snippet": hit.snippet, "published": hit.published} for hit in rest
    ] == ([seen] if seen else [])
    assert told.dropped == ({reason: 1} if reason else {})
    assert {hit.providers for hit in told.hits} == {(provider,)}


@EACH
async def test_five_thousand_results_are_read_up_to_a_bound_and_the_rest_is_counted(provider: str) -> None:
    rows: list[Row] = [{"url": f"https://example.org/{number}", "title": str(number)} for number in range(5_000)]
    async with World() as world:
        fake = Fake(world, results(provider, rows))
        told = await search(provider, fake.url, {"count": 7})
    assert [hit.title for hit in told.hits] == ["0", "1", "2", "3", "4", "5", "6"]
    assert (told.attempt.hits, told.dropped) == (500, {"too many": 4_500})


@EACH
async def test_only_what_cannot_be_a_hit_is_filtered_not_empty(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, results(provider, [{"url": "ftp://example.org/", "title": "Odd"}]))
        told = await search(provider, fake.url)
    assert (told.outcome, told.hits, told.dropped, told.attempt.hits) == (Outcome.FILTERED, (), {"not http": 1}, 0)
