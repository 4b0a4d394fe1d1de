"""Exa's API: which field each option becomes, and what only Exa does."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, environment, search, sent, told
from tests.wire.write import JSON, results
from tests.world import World
from webseam.errors import Outcome
from webseam.web import AsyncWeb

NOTHING = results("exa", [])
PLAIN = {"query": QUERY, "numResults": 10, "type": "auto", "contents": {"highlights": True}}


def _ago(days: int) -> str:
    return f"{datetime.now(UTC).date() - timedelta(days=days)}T00:00:00.000Z"


@pytest.mark.parametrize(
    "options, fields",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 100}, {"numResults": 100}, id="count"),
        pytest.param(
            {"include_domains": ["https://www.Example.org/docs/", "example.net"]},
            {"includeDomains": ["example.org", "example.net"], "numResults": 20},
            id="include",
        ),
        pytest.param(
            {"exclude_domains": ["example.org", "example.net/docs"]},
            {"excludeDomains": ["example.org"], "numResults": 20},  # a host for a path would take too much away
            id="exclude",
        ),
        pytest.param(
            {"include_domains": ["example.org"], "exclude_domains": ["docs.example.org"]},
            {"includeDomains": ["example.org"], "numResults": 20},  # it takes one list; the other is filtered here
            id="include-and-exclude",
        ),
        pytest.param({"freshness": "week"}, {"startPublishedDate": _ago(7)}, id="freshness"),
        pytest.param(
            {"after": "2026-01-01", "before": "2026-06-30", "freshness": "day"},
            {"startPublishedDate": "2026-01-01T00:00:00.000Z", "endPublishedDate": "2026-06-30T23:59:59.999Z"},
            id="days-win",
        ),
        pytest.param({"before": "2026-06-30"}, {"endPublishedDate": "2026-06-30T23:59:59.999Z"}, id="before"),
        pytest.param({"region": "us"}, {"userLocation": "US"}, id="region"),
        pytest.param({"safe": "moderate"}, {"moderation": True}, id="safe-moderate"),
        pytest.param({"safe": "off"}, {}, id="safe-off"),
        pytest.param({"kind": "news"}, {"category": "news"}, id="news"),
        pytest.param({"kind": "paper"}, {"category": "publication"}, id="paper"),
        pytest.param({"kind": "code"}, {"category": "github"}, id="code"),
        pytest.param({"page": 3, "count": 5}, {"numResults": 15}, id="page"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], fields: dict[str, Any]) -> None:
    request = await sent("exa", options, NOTHING)
    assert (request.method, request.path, request.headers["x-api-key"]) == ("POST", "/search", KEY)
    assert request.json() == {**PLAIN, **fields}


@pytest.mark.parametrize(
    "settings, fields",
    [
        pytest.param({"search_type": "fast"}, {"type": "fast"}, id="type"),
        pytest.param({"contents": "summary"}, {"contents": {"summary": True}}, id="summary"),
        pytest.param(
            {"contents": "text", "text_chars": 500}, {"contents": {"text": {"maxCharacters": 500}}}, id="text"
        ),
    ],
)
async def test_each_setting_becomes_this_field(settings: dict[str, Any], fields: dict[str, Any]) -> None:
    request = await sent("exa", {}, NOTHING, settings=settings)
    assert request.json() == {**PLAIN, **fields}


async def test_a_category_that_newer_versions_refuse_is_left_out_once() -> None:
    async with World() as world:
        refusal = 400, JSON, b'{"error": "Invalid category: github", "tag": "INVALID_REQUEST_BODY"}'
        answers = iter([refusal, results("exa", [{"url": "https://example.org/"}])])
        fake = Fake(world, lambda _: next(answers))
        result = await search("exa", fake.url, {"kind": "code"})
    assert (result.outcome, [hit.url for hit in result.hits]) == (Outcome.OK, ["https://example.org/"])
    assert [request.json().get("category") for request in fake.requests] == ["github", None]


async def test_a_second_refusal_is_the_answer() -> None:
    async with World() as world:
        fake = Fake(world, (400, JSON, b'{"error": "Invalid category parameter", "tag": "INVALID_REQUEST_BODY"}'))
        result = await search("exa", fake.url, {"kind": "code"})
    assert (result.outcome, len(fake.requests)) == (Outcome.UNSUPPORTED, 2)


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({"highlights": "words, not a list"}, id="highlights-text"),
        pytest.param({"highlights": 7}, id="highlights-number"),
        pytest.param({"highlights": [None, 7, {"text": "x"}]}, id="highlights-mixed"),
        pytest.param({"summary": {"text": "x"}, "text": ["x"], "author": 3, "score": "high"}, id="others"),
    ],
)
async def test_a_field_of_a_wrong_type_is_unknown_and_the_hit_stays(odd: dict[str, Any]) -> None:
    body = {"results": [{"url": "https://example.org/", "title": "Guide", **odd}], "notices": 3, "warnings": {"a": 1}}
    async with World() as world:
        fake = Fake(world, (200, JSON, json.dumps(body).encode()))
        (hit,) = (await search("exa", fake.url)).hits
    assert (hit.title, hit.snippet, hit.passages, hit.author, hit.score) == ("Guide", None, (), None, None)


async def test_without_a_key_the_free_tier_is_asked_and_that_is_said() -> None:
    async with World() as world:
        paid = Fake(world, NOTHING)
        free = Fake(world, results("exa-free", [{"url": "https://example.org/"}]))
        variables = {**environment("exa-free", free.url), "WEBSEAM_EXA_BASE_URL": paid.url}
        async with AsyncWeb(environment=variables) as web:
            result = await told(web, "exa", {})
    assert (result.outcome, result.attempt.provider, result.sent_to) == (Outcome.OK, "exa-free", ("exa-free",))
    assert result.notes == ("exa has no key, so exa-free was asked (Exa (mcp.exa.ai) receives the query)",)
    assert (paid.requests, len(free.requests)) == ([], 1)


async def test_a_key_that_fails_does_not_fall_back_to_the_free_tier() -> None:
    async with World() as world:
        paid = Fake(world, (401, JSON, b'{"error": "x-api-key header is invalid", "tag": "INVALID_API_KEY"}'))
        free = Fake(world, results("exa-free", [{"url": "https://example.org/"}]))
        variables = {**environment("exa-free", free.url), **environment("exa", paid.url)}
        async with AsyncWeb(environment=variables) as web:
            result = await told(web, "exa", {})
    assert (result.outcome, result.attempt.provider, len(paid.requests), free.requests) == (Outcome.AUTH, "exa", 1, [])
