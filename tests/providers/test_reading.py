"""What every provider that also reads pages owes: each documented answer read whole, the request as the service expects
it, the right outcome for answers that no service should send, and no grudge over a page that nobody could have read.

All of it runs through the whole of a remote reader against a server on loopback. The tables name no provider: one that
declares `reads` is covered as soon as it has `read_` files in tests/wire.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.providers.test_contract import _pinned
from tests.wire import AUTHENTICATION, PAGE_URL, READING, case, read_names, read_shape
from tests.wire.fake import KEY, Answer, Fake, environment
from tests.wire.pages import Got, got, play, read, readers_of, unread, written
from tests.wire.write import HTML, JSON
from tests.world import World
from webseam import providers
from webseam.errors import Outcome
from webseam.providers.base import ReadPage
from webseam.web import AsyncWeb

CASES = [pytest.param(provider, name, id=f"{provider}-{name}") for provider in READING for name in read_names(provider)]
EACH = pytest.mark.parametrize("provider", READING)


@EACH
def test_a_provider_that_reads_pages_has_its_cases_and_says_how_its_service_writes(provider: str) -> None:
    assert {"read_ok", "read_not_found"} - set(read_names(provider)) == set()
    form = read_shape(provider)
    assert form.gives("markdown")
    assert set(form.failures) <= {row.id for row in _FAILURES}
    assert any(case(provider, name).sent for name in read_names(provider) if name.startswith("read_ok"))


def test_only_providers_that_say_so_have_cases_of_pages() -> None:
    others = [provider.id for provider in providers.every() if not provider.reads]
    assert [name for name in others if read_names(name)] == []


@pytest.mark.parametrize("provider, name", CASES)
async def test_a_service_s_answer_becomes_exactly_this_page(provider: str, name: str) -> None:
    wire = case(provider, name)
    came, requests = await play(wire)
    assert came.as_expected() == wire.expect
    assert len(requests) == wire.requests
    if wire.sent:
        pairs = zip(requests, wire.sent, strict=True)
        assert [_pinned(request, wanted) for request, wanted in pairs] == list(wire.sent)


@EACH
async def test_the_key_travels_in_one_header_and_the_page_in_the_body(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, written(provider))
        await read(provider, fake.url)
    (request,) = fake.requests
    assert [name for name, value in request.fields if KEY in value and name.lower() in AUTHENTICATION] != []
    assert sum(KEY in value for _, value in request.fields) == 1
    assert (KEY.encode() in request.body, KEY in request.target) == (False, False)
    assert PAGE_URL.encode() in request.body


@EACH
async def test_a_base_url_may_have_a_path_and_a_slash_when_pages_are_read_too(provider: str) -> None:
    paths = []
    async with World() as world:
        fake = Fake(world, written(provider))
        for end in ("", "/", "/gateway", "/gateway/"):
            await read(provider, fake.url + end)
            paths.append(fake.requests[-1].path)
    plain = paths[0]
    assert paths == [plain, plain, f"/gateway{plain}", f"/gateway{plain}"]


# Answers that are no page.

_PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body>Hello</body></html>"
_CHALLENGE = b'<html><body><form id="challenge-form"><div class="h-captcha"></div></form></body></html>'
_SPENT = {"message": "You have insufficient credits left, please top up."}


def _is(outcome: str, status: int | None, retry_after: float | None = None) -> dict[str, Any]:
    return {"outcome": outcome, "http_status": status, "retry_after": retry_after}


def _row(name: str, answer: Answer, usual: dict[str, Any]) -> Any:
    return pytest.param(name, answer, usual, id=name)


def _json(document: Any, status: int = 200) -> Answer:
    return status, JSON, json.dumps(document).encode()


_FAILURES = [
    _row("401", _json({"error": "Unauthorized"}, 401), _is("auth", 401)),
    _row("401-without-words", (401, {}, b""), _is("auth", 401)),
    _row("402", _json({"error": "Payment required"}, 402), _is("quota", 402)),
    _row("403", _json({"message": "Forbidden"}, 403), _is("auth", 403)),
    _row("403-about-credits", _json({"error": _SPENT}, 403), _is("quota", 403)),
    _row("403-challenge", (403, HTML, _CHALLENGE), _is("blocked", 403)),
    _row("404-page", (404, HTML, _PAGE), _is("bad_response", 404)),
    _row("429", (429, {}, b""), _is("rate_limited", 429)),
    _row("429-retry-after", (429, {"Retry-After": "17"}, b""), _is("rate_limited", 429, 17.0)),
    _row("429-about-credits", _json({"error": _SPENT}, 429), _is("quota", 429)),
    _row("500", _json({"error": "Internal server error"}, 500), _is("upstream", 500)),
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
    _row("list", (200, JSON, b"[]"), _is("bad_response", 200)),
    _row("text", (200, JSON, b'"# Guide"'), _is("bad_response", 200)),
    _row("deep", (200, JSON, b"[" * 100_000), _is("bad_response", 200)),
    _row("object-without-a-page", _json({"welcome": "here"}), _is("bad_response", 200)),
    _row("nulls-for-everything", _json({"data": None, "results": None}), _is("bad_response", 200)),
    _row(
        "error-object-rate", _json({"error": {"code": 429, "message": "Too many requests"}}), _is("rate_limited", 200)
    ),
    _row("error-object-credits", _json({"error": _SPENT}), _is("quota", 200)),
    _row("error-object-key", _json({"error": "Invalid API key"}), _is("auth", 200)),
    _row("error-object-unknown", _json({"error": "something went wrong"}), _is("bad_response", 200)),
]


@EACH
@pytest.mark.parametrize("row, answer, usual", _FAILURES)
async def test_an_answer_that_is_no_page_is_the_failure_it_stands_for(
    provider: str, row: str, answer: Answer, usual: dict[str, Any]
) -> None:
    async with World() as world:
        fake = Fake(world, answer)
        came = await read(provider, fake.url)
    attempt = came.attempt
    assert {
        "outcome": attempt.outcome,
        "http_status": attempt.http_status,
        "retry_after": attempt.retry_after,
    } == {**usual, **read_shape(provider).failures.get(row, {})}
    assert (came.outcome, came.sent_to, len(fake.requests)) == (attempt.outcome, (provider,), 1)
    assert len(attempt.detail or "") <= 300
    assert KEY not in str(came)


# What a page may be.


@EACH
async def test_a_page_that_the_service_could_not_read_is_its_own_failure_and_not_the_service_s(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, unread(provider))
        environ = environment(provider, fake.url, read_shape(provider).settings)
        async with AsyncWeb(environment=environ) as web:
            came = [*await _thrice(web, provider), await got(web, readers_of(web), provider)]
    assert [one.outcome for one in came] == [Outcome(read_shape(provider).unread["outcome"])] * 4
    assert len(fake.requests) == 4
    assert {type(one.error).__name__ for one in came} == {"PageUnread"}
    assert [one.error.hint for one in came if one.error] == [None] * 4


@EACH
async def test_a_service_that_fails_itself_is_left_alone_after_three_failures(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, (500, JSON, b'{"error": "Internal server error"}'))
        environ = environment(provider, fake.url, read_shape(provider).settings)
        async with AsyncWeb(environment=environ) as web:
            await _thrice(web, provider)
            fourth = await got(web, readers_of(web), provider)
    assert (fourth.outcome, len(fake.requests), fourth.sent_to) == (Outcome.UNAVAILABLE, 3, ())
    assert "circuit breaker open after 3 failures in a row" in str(fourth.attempt.detail)


async def _thrice(web: AsyncWeb, provider: str) -> list[Got]:
    """Read three times: after three failures in a row a service is left alone."""
    return [await got(web, readers_of(web), provider) for _ in range(3)]


_NOTHING = "it found no text on the page"
_HTML_TEXT = "it sent the page's HTML instead of its text"
_ODD = [
    pytest.param({"markdown": ""}, Outcome.EMPTY, _NOTHING, id="empty"),
    pytest.param({"markdown": " \n\t\n "}, Outcome.EMPTY, _NOTHING, id="blank"),
    pytest.param({"markdown": None}, Outcome.EMPTY, _NOTHING, id="null"),
    pytest.param({"markdown": 7}, Outcome.EMPTY, _NOTHING, id="number"),
    pytest.param({"markdown": ["# Guide"]}, Outcome.EMPTY, _NOTHING, id="list"),
    pytest.param({"markdown": "\u200b\u2060\ufeff"}, Outcome.EMPTY, _NOTHING, id="invisible"),
    pytest.param({"markdown": _PAGE.decode()}, Outcome.BAD_RESPONSE, _HTML_TEXT, id="html"),
    pytest.param({"markdown": "\n<html lang='en'><p>Hi"}, Outcome.BAD_RESPONSE, _HTML_TEXT, id="html-without-doctype"),
]


@EACH
@pytest.mark.parametrize("changed, outcome, words", _ODD)
async def test_text_that_is_none_is_not_a_page(
    provider: str, changed: dict[str, Any], outcome: Outcome, words: str
) -> None:
    async with World() as world:
        fake = Fake(world, written(provider, **changed))
        came = await read(provider, fake.url)
    assert (came.outcome, came.attempt.detail, came.reading) == (outcome, words, None)


_TITLED = [name for name in READING if read_shape(name).gives("title")]


@pytest.mark.parametrize("provider", _TITLED)
async def test_a_challenge_that_was_read_as_a_page_is_blocked(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, written(provider, title="Just a moment...", markdown="Verifying you are human."))
        came = await read(provider, fake.url)
    assert (came.outcome, came.reading) == (Outcome.BLOCKED, None)


@EACH
async def test_values_that_are_null_or_of_a_wrong_type_are_unknown(provider: str) -> None:
    odd: Any
    for odd in (None, 7, [], {}, ""):
        async with World() as world:
            fake = Fake(world, written(provider, title=odd, author=odd, published=odd, url=odd))
            reading = (await read(provider, fake.url)).reading
        assert reading is not None
        assert (reading.title, reading.author, reading.final_url) == (None, None, None)
        assert reading.published is None or odd == 7  # seconds since the epoch are a date in any usual form


@EACH
async def test_characters_that_steer_or_hide_are_taken_out_and_counted(provider: str) -> None:
    odd = "# Gu\u202eide\n\nA\x1b[31m red\x07 w\u200bord.\r\n\r\n```\n\tcode\n```\n"
    async with World() as world:
        fake = Fake(world, written(provider, markdown=odd, title="Gu\x1b]0;x\x07ide \u202e<b>here</b>"))
        reading = (await read(provider, fake.url)).reading
    assert reading is not None
    assert reading.markdown == "# Guide\n\nA red word.\n\n```\n\tcode\n```\n"
    assert reading.removed == {"control": 1, "direction": 1, "escape": 1, "zero_width": 1}
    assert reading.title == ("Guide here" if read_shape(provider).gives("title") else None)


@EACH
async def test_a_page_of_four_million_characters_is_read_whole(provider: str) -> None:
    text = "word " * 800_000
    async with World() as world:
        fake = Fake(world, written(provider, markdown=text))
        reading = (await read(provider, fake.url)).reading
    assert reading is not None
    assert len(reading.markdown.split()) == 800_000


@EACH
async def test_a_page_larger_than_any_answer_may_be_is_the_page_s_doing(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, written(provider, markdown="x" * 6_000_000))
        came = await read(provider, fake.url)
    assert (came.outcome, type(came.error).__name__) == (Outcome.UNSUPPORTED, "PageUnread")
    assert "at most 5,242,880 bytes are read" in str(came.attempt.detail)


# Keys.


@EACH
async def test_a_key_that_the_service_writes_into_the_page_is_taken_out(provider: str) -> None:
    key = "Zq7vX2mL9pT4tR8wB3nH6cJ5dF1gY0sA"
    changed = {"markdown": f"# Hello {key}", "title": f"Of {key}", "author": key, "url": f"https://example.org/{key}"}
    async with World() as world:
        fake = Fake(world, written(provider, **changed))
        came = await read(provider, fake.url, settings={"api_key": key})
    assert came.reading is not None
    assert came.reading.markdown == "# Hello ***\n"
    assert key not in repr(came)


@EACH
@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 422, 429, 500])
async def test_a_key_that_the_service_writes_into_its_refusal_shows_nowhere(
    provider: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    key = "Zq7vX2mL9pT4tR8wB3nH6cJ5dF1gY0sA"
    stated = json.dumps(read_shape(provider).unread["json"])
    for body in (
        json.dumps({"error": f"no {key} here", "message": key, "code": f"SCRAPE_{key}", "detail": key}),
        re.sub(r'": "[^"]*', f'": "{key}', stated),
        f"<html><title>{key}</title></html>",
    ):
        async with World() as world:
            fake = Fake(world, (status, JSON, body.encode()))
            came = await read(provider, fake.url, settings={"api_key": key})
        assert came.reading is None
        assert key not in f"{came!r} {came.error} {came.as_expected()} {caplog.text}"


# Money, pace and place.


@EACH
async def test_a_budget_that_is_used_up_keeps_the_page_from_being_sent(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, written(provider))
        environ = environment(provider, fake.url, {**read_shape(provider).settings, "max_calls_day": 1})
        async with AsyncWeb(environment=environ) as web:
            first = await got(web, readers_of(web), provider)
            second = await got(web, readers_of(web), provider)
    assert (first.outcome, second.outcome, len(fake.requests), second.sent_to) == (Outcome.OK, Outcome.QUOTA, 1, ())


@EACH
def test_what_a_page_costs_is_declared_or_unknown(provider: str) -> None:
    one = providers.get(provider)
    assert one.read_price is None or 0 <= one.read_price < 0.05


@EACH
async def test_a_price_of_the_settings_is_the_cost_where_the_answer_states_none(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, written(provider))
        came = await read(provider, fake.url, settings={"price": 0.5})
    states_it = re.search("creditsUsed|costDollars", json.dumps(read_shape(provider).document)) is not None
    assert (came.attempt.cost == 0.5) is not states_it


# The page for those who add a provider.

ADDING = (Path(__file__).resolve().parents[2] / "docs" / "adding-a-provider.md").read_text("utf-8")


async def test_the_reading_provider_of_the_page_reads() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", ADDING, re.MULTILINE | re.DOTALL)
    (block,) = (code for code in blocks if "def read_request" in code)
    names: dict[str, Any] = {}
    exec(
        "from webseam.errors import Outcome\n"
        "from webseam.net.message import Headers, Response\n"
        "from webseam.providers.base import *\n"
        "from webseam.providers.base import read_url\n"
        "class Heron(Provider):\n"
        "    id = label = 'heron'\n" + re.sub("^(?=.)", "    ", block, flags=re.MULTILINE),
        names,
    )
    provider = names["Heron"]()
    config = names["ProviderConfig"](provider="heron", base_url="https://api.heron.example", key="EXAMPLE-KEY")

    def asked(status: int, document: Any) -> Any:
        conversation = names["read_url"](provider, PAGE_URL, config)
        request = next(conversation)
        assert (request.method, request.url) == ("POST", "https://api.heron.example/v1/read")
        assert json.loads(request.body) == {"address": PAGE_URL}
        response = names["Response"](status, names["Headers"](), request.url, json.dumps(document).encode())
        with pytest.raises(StopIteration) as ended:
            conversation.send(names["Reply"](response))
        return ended.value.value

    assert provider.reads
    assert asked(200, {"page": {"text": "# Guide", "name": "Guide", "day": "2026-02-03", "moved_to": PAGE_URL}}) == (
        ReadPage(markdown="# Guide", title="Guide", published="2026-02-03", final_url=PAGE_URL)
    )
    assert asked(424, {"why": "the page answered 404"}) == ReadPage(problem="the page answered 404")
    parts = {name for name in vars(providers.base.Provider) if name.startswith("read")}
    assert parts - set(re.findall(r"\b(read\w*)", ADDING)) == set()
