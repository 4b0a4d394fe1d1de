"""What every network provider owes: each captured answer read whole, each request as the service expects it, and the
right outcome for answers that no service should send.

All of it runs through the whole of webseam against a server on loopback. The tables name no provider: a new one is
covered as soon as it has a folder in tests/wire.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.wire import (
    AUTHENTICATION,
    FIELDS,
    FOLDER,
    NETWORKED,
    SHAPE,
    WRITER,
    captured,
    case,
    has_captured,
    names,
    shape,
)
from tests.wire.fake import KEY, Fake, play, search, sent, successive
from tests.wire.write import HTML, JSON, Row, instead, results, stated
from tests.world import Recorded, World
from webseam import providers
from webseam.errors import Outcome
from webseam.model import SearchHit

# Names alone, so that one broken file fails the tests of its provider and not the collection of all.
CASES = [pytest.param(provider, name, id=f"{provider}-{name}") for provider in NETWORKED for name in names(provider)]
EACH = pytest.mark.parametrize("provider", NETWORKED)


@EACH
def test_a_network_provider_has_its_wire_cases_and_says_how_its_service_writes(provider: str) -> None:
    owed = {"ok", "empty", "rate_limited", "quota", "broken"}
    if providers.get(provider).key != "none":
        owed.add("auth")
    assert owed - set(names(provider)) == set()
    files = {path.name for path in (FOLDER / provider).iterdir()}
    assert files & {f"{SHAPE}.json", WRITER}
    form = shape(provider)
    assert "url" in form.row
    assert set(form.row) <= set(FIELDS)
    assert set(form.failures) <= {row.id for row in _FAILURES}


def test_every_folder_belongs_to_a_provider() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(NETWORKED)


@pytest.mark.parametrize("provider, name", CASES)
async def test_a_service_s_answer_becomes_exactly_this(provider: str, name: str) -> None:
    wire = case(provider, name)
    told, requests = await play(wire)
    assert told.as_expected() == wire.expect
    assert len(requests) == wire.requests
    if wire.sent:
        pairs = zip(requests, wire.sent, strict=True)
        assert [_pinned(request, wanted) for request, wanted in pairs] == list(wire.sent)


def _pinned(request: Recorded, wanted: dict[str, Any]) -> dict[str, Any]:
    """What arrived, in the form of a case; of the headers those that the case speaks of."""
    seen = {"method": request.method, "path": request.path}
    if request.query:
        seen["query"] = {name: values[0] for name, values in request.query.items()}
    if request.body:
        seen["body"] = _body(request)
    if "headers" in wanted:
        seen["headers"] = {name: request.headers.get(name.lower()) for name in wanted["headers"]}
    return dict(_starred(seen, wanted))


def _starred(seen: Any, wanted: Any) -> Any:
    """What arrived, with a star where the case has one."""
    if wanted == "*" and seen:
        return "*"
    if isinstance(seen, dict) and isinstance(wanted, dict):
        return {name: _starred(value, wanted.get(name)) for name, value in seen.items()}
    return seen


@EACH
def test_what_a_provider_sends_is_pinned_by_an_official_client_or_by_a_case(provider: str) -> None:
    assert has_captured(provider) or any(case(provider, name).sent for name in names(provider) if name.startswith("ok"))


# Requests.

# Results enough that neither a further page nor a second search without the dates is wanted.
_PLENTY: list[Row] = [{"url": f"https://example.org/{number}", "title": "Plenty"} for number in range(50)]


@pytest.mark.parametrize("provider", [provider for provider in NETWORKED if has_captured(provider)])
async def test_a_request_is_the_official_client_s_in_all_that_matters(provider: str) -> None:
    theirs, form = captured(provider)["request"], shape(provider)
    their_headers = {name.lower(): value for name, value in theirs["headers"].items()}
    keyed = set(their_headers) & set(AUTHENTICATION) or KEY in theirs["query"].values()
    settings = {**({} if keyed else {"api_key": None}), **form.asked_settings}
    ours = await sent(provider, form.asked, results(provider, _PLENTY), settings=settings)
    assert (ours.method, ours.path) == (theirs["method"], theirs["path"])
    for name in AUTHENTICATION:
        assert ours.headers.get(name) == their_headers.get(name)
    query = {name: values[0] for name, values in ours.query.items()}
    if theirs["body"] is None:
        assert ours.body == b""
        assert query == _changed(theirs["query"], form.ours)
    else:
        assert _media_type(ours.headers["content-type"]) == _media_type(their_headers["content-type"])
        assert (_body(ours), query) == (_changed(theirs["body"], form.ours), theirs["query"])


def _media_type(value: str) -> str:
    return value.split(";")[0].strip().lower()


def _body(request: Recorded) -> Any:
    """The fields of a body, JSON or a form."""
    if _media_type(request.headers["content-type"]) == "application/x-www-form-urlencoded":
        return {name: values[0] for name, values in parse_qs(request.body.decode(), keep_blank_values=True).items()}
    return request.json()


def _changed(theirs: Any, ours: dict[str, Any]) -> Any:
    """Their fields with what we send otherwise on purpose, by dotted path; None leaves out."""
    changed = json.loads(json.dumps(theirs))
    for path, value in ours.items():
        *way, last = path.split(".")
        place = changed
        for name in way:
            place = place.setdefault(name, {})
        if value is None:
            del place[last]  # fails when they do not send it either: then there is nothing to leave out
        else:
            place[last] = value
    return changed


@EACH
async def test_a_key_travels_in_the_one_place_the_provider_declares_and_nowhere_else(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, results(provider, []))
        await search(provider, fake.url)
    declared = providers.get(provider)
    in_url = getattr(declared, "key_in_url", False)
    wanted = (0, 0) if declared.key == "none" else (0, 1) if in_url else (1, 0)
    assert fake.requests
    for request in [*fake.requests, *fake.handshakes]:
        in_headers = sum(KEY in value for _, value in request.fields)
        assert (in_headers, request.target.count(KEY), KEY.encode() in request.body) == (*wanted, False)
        if in_url:
            assert [name for name, values in request.query.items() if KEY in values] != []


@EACH
async def test_a_base_url_may_have_a_path_and_a_slash_and_neither_is_doubled(provider: str) -> None:
    bases = ["", "/", "/gateway", "/gateway/"]
    if "{url}" in str(shape(provider).settings):  # its address is not its base URL but part of a setting, as it is
        bases = ["", "", "/gateway", "/gateway"]
    paths = []
    async with World() as world:
        fake = Fake(world, results(provider, []))
        for base in bases:
            before = len(fake.requests)
            await search(provider, fake.url + base)
            paths.append(fake.requests[before].path)
    plain = paths[0]
    assert paths == [plain, plain, f"/gateway{plain}", f"/gateway{plain}"]
    assert not any("//" in path for path in paths)


# Answers that are none.

_PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body>Hello</body></html>"
_CHALLENGE = b'<html><body><form id="challenge-form"><div class="h-captcha"></div></form></body></html>'
_SPENT = {"message": "You have insufficient credits left, please top up."}
_SPENT_BODY = json.dumps({"error": _SPENT}).encode()


def _is(outcome: str, status: int | None, retry_after: float | None = None) -> dict[str, Any]:
    return {"outcome": outcome, "http_status": status, "retry_after": retry_after, "requests": 1}


def _row(name: str, answer: Any, usual: dict[str, Any]) -> Any:
    """A row of the table: an answer, or what makes a provider's own, and what it means.

    Where a service rightly differs, its shape says so by the row's name.
    """
    return pytest.param(name, answer, usual, id=name)


_FAILURES = [
    _row("401", (401, JSON, b'{"error": "Unauthorized"}'), _is("auth", 401)),
    _row("401-without-words", (401, {}, b""), _is("auth", 401)),
    _row("402", (402, JSON, b'{"error": "Payment required"}'), _is("quota", 402)),
    _row("402-without-words", (402, {}, b""), _is("quota", 402)),
    _row("403-about-credits", (403, JSON, _SPENT_BODY), _is("quota", 403)),
    _row("403-spending", (403, JSON, b'{"message": "Monthly spending limit reached"}'), _is("quota", 403)),
    _row("403", (403, JSON, b'{"message": "Forbidden"}'), _is("auth", 403)),
    _row("403-challenge", (403, HTML, _CHALLENGE), _is("blocked", 403)),
    _row("429", (429, {}, b""), _is("rate_limited", 429)),
    _row("429-retry-after", (429, {"Retry-After": "17"}, b""), _is("rate_limited", 429, 17.0)),
    _row("429-nonsense-delay", (429, {"Retry-After": "soon"}, b"slow down"), _is("rate_limited", 429)),
    _row("429-about-credits", (429, JSON, _SPENT_BODY), _is("quota", 429)),
    _row("500", (500, JSON, b'{"error": "Internal server error"}'), _is("upstream", 500)),
    _row("500-page", (500, HTML, _PAGE), _is("upstream", 500)),
    _row("503", (503, {"Retry-After": "3"}, b"maintenance"), _is("upstream", 503, 3.0)),
    _row("504", (504, HTML, _PAGE), _is("timeout", 504)),
    _row("redirect", (302, {"Location": "https://example.org/"}, b""), _is("bad_response", None)),
    _row("page", (200, HTML, _PAGE), _is("bad_response", 200)),
    _row("challenge", (200, HTML, _CHALLENGE), _is("blocked", 200)),
    _row("truncated", (200, JSON, b'{"results": [{"url": "https://exa'), _is("bad_response", 200)),
    _row("nothing", (200, JSON, b""), _is("bad_response", 200)),
    _row("bytes", (200, JSON, b"\xff\xfe\x00\x80"), _is("bad_response", 200)),
    _row("null", (200, JSON, b"null"), _is("bad_response", 200)),
    _row("deep", (200, JSON, b"[" * 100_000), _is("bad_response", 200)),
    _row("nan", (200, JSON, b'{"results": NaN}'), _is("bad_response", 200)),
    _row("object-for-list", lambda provider: instead(provider, {}), _is("bad_response", 200)),
    _row("text-for-list", lambda provider: instead(provider, "none"), _is("bad_response", 200)),
    _row("number-for-list", lambda provider: instead(provider, 1), _is("bad_response", 200)),
    _row(
        "error-object-rate",
        lambda provider: stated(provider, {"code": 429, "message": "Too many requests"}),
        _is("rate_limited", 200),
    ),
    _row("error-object-credits", lambda provider: stated(provider, _SPENT), _is("quota", 200)),
    _row("error-object-key", lambda provider: stated(provider, "Invalid API key"), _is("auth", 200)),
    _row("error-object-unknown", lambda provider: stated(provider, "something went wrong"), _is("bad_response", 200)),
]


@EACH
@pytest.mark.parametrize("row, answer, usual", _FAILURES)
async def test_an_answer_that_is_no_result_is_the_failure_it_stands_for(
    provider: str, row: str, answer: Any, usual: dict[str, Any]
) -> None:
    async with World() as world:
        fake = Fake(world, answer(provider) if callable(answer) else answer)
        told = await search(provider, fake.url)
    attempt = told.attempt
    assert {
        "outcome": attempt.outcome,
        "http_status": attempt.http_status,
        "retry_after": attempt.retry_after,
        "requests": len(fake.requests),
    } == {**usual, "requests": 1, **shape(provider).failures.get(row, {})}
    assert (told.outcome, told.hits, len(attempt.detail or "") <= 300) == (attempt.outcome, (), True)
    assert "Traceback" not in str(attempt.detail)
    assert KEY not in str(attempt.detail) + str(told.hint)


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
        fake = Fake(world, successive([results(provider, [_GOOD, row]), results(provider, [])]))
        told = await search(provider, fake.url)
    good, *rest = [_in_our_words(hit) for hit in told.hits]
    assert {**good, "published": str(good["published"])[:10]} == _given(provider, _GOOD, lacking="None")
    assert rest == ([_given(provider, seen)] if seen else [])
    assert told.dropped == ({reason: 1} if reason else {})
    assert {hit.providers for hit in told.hits} == {(provider,)}


def _in_our_words(hit: SearchHit) -> dict[str, Any]:
    return {name: getattr(hit, name) for name in FIELDS}


def _given(provider: str, fields: dict[str, Any], *, lacking: str | None = None) -> dict[str, Any]:
    """The fields without what this service never gives."""
    form = shape(provider)
    none = {"published": lacking}
    return {name: value if form.gives(name) else none.get(name) for name, value in fields.items()}


@EACH
async def test_five_thousand_results_are_read_up_to_a_bound_and_the_rest_is_counted(provider: str) -> None:
    rows: list[Row] = [{"url": f"https://example.org/{number}", "title": str(number)} for number in range(5_000)]
    async with World() as world:
        fake = Fake(world, results(provider, rows))
        told = await search(provider, fake.url, {"count": 7})
    assert [hit.url.rpartition("/")[2] for hit in told.hits] == ["0", "1", "2", "3", "4", "5", "6"]
    assert (told.attempt.hits, told.dropped) == (500, {"too many": 4_500})


@EACH
async def test_only_what_cannot_be_a_hit_is_filtered_not_empty(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, results(provider, [{"url": "ftp://example.org/", "title": "Odd"}]))
        told = await search(provider, fake.url)
    assert (told.outcome, told.hits, told.dropped, told.attempt.hits) == (Outcome.FILTERED, (), {"not http": 1}, 0)
