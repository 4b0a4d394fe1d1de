"""Brave's API: which parameter each option becomes, and what only Brave does."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import JSON, results
from tests.world import World
from webseam.errors import Outcome

NOTHING = results("brave", [])
PLAIN = {
    "q": QUERY,
    "count": "10",
    "text_decorations": "false",
    "result_filter": "web",
    "extra_snippets": "true",
}
NEWS = {"q": QUERY, "count": "10", "spellcheck": "false", "extra_snippets": "true"}
TODAY = datetime.now(UTC).date().isoformat()
SITES = [f"site-{number}.example.org" for number in range(20)]


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 50}, {"count": "20"}, id="count"),
        pytest.param(
            {"include_domains": ["example.org"]}, {"q": f"{QUERY} site:example.org", "count": "20"}, id="site"
        ),
        pytest.param(
            {"include_domains": ["example.org", "example.net/docs"], "exclude_domains": ["docs.example.org"]},
            {"q": f"{QUERY} (site:example.org OR site:example.net) -site:docs.example.org", "count": "20"},
            id="sites",
        ),
        pytest.param({"include_domains": SITES}, {"count": "20"}, id="too-many-sites-for-a-query"),
        pytest.param({"freshness": "week"}, {"freshness": "pw"}, id="freshness"),
        pytest.param({"after": "2026-01-01"}, {"freshness": f"2026-01-01to{TODAY}"}, id="open-end"),
        pytest.param({"before": "2026-06-30"}, {"freshness": "1990-01-01to2026-06-30"}, id="open-start"),
        pytest.param({"language": "ja"}, {"search_lang": "jp"}, id="japanese"),
        pytest.param({"language": "pt-BR"}, {"search_lang": "pt-br"}, id="brazilian"),
        pytest.param({"language": "de-CH"}, {"search_lang": "de"}, id="swiss-german"),
        pytest.param({"language": "zh"}, {"search_lang": "zh-hans"}, id="chinese"),
        pytest.param({"language": "zh-Hans-HK"}, {"search_lang": "zh-hans"}, id="simplified"),
        pytest.param({"language": "zh-Hant"}, {"search_lang": "zh-hant"}, id="traditional"),
        pytest.param({"language": "zh-Hant-TW"}, {"search_lang": "zh-hant"}, id="traditional-of-a-place"),
        pytest.param({"language": "zh-TW"}, {"search_lang": "zh-hant"}, id="taiwan"),
        pytest.param({"language": "zh-HK"}, {"search_lang": "zh-hant"}, id="hong-kong"),
        pytest.param({"language": "zh-MO"}, {"search_lang": "zh-hant"}, id="macao"),
        pytest.param({"region": "gb"}, {"country": "GB"}, id="region"),
        pytest.param({"safe": "strict"}, {"safesearch": "strict"}, id="safe"),
        pytest.param({"page": 2}, {"offset": "1"}, id="page"),
        pytest.param({"page": 10}, {"offset": "9"}, id="last-page"),
    ],
)
async def test_each_option_becomes_this_parameter(options: dict[str, Any], parameters: dict[str, str]) -> None:
    request = await sent("brave", options, NOTHING)
    assert (request.method, request.path, request.body) == ("GET", "/res/v1/web/search", b"")
    assert request.headers["x-subscription-token"] == KEY
    assert request.query == {name: [value] for name, value in {**PLAIN, **parameters}.items()}


async def test_news_have_an_endpoint_of_their_own() -> None:
    request = await sent("brave", {"kind": "news"}, NOTHING)
    assert (request.path, request.query) == ("/res/v1/news/search", {name: [value] for name, value in NEWS.items()})


@pytest.mark.parametrize(
    "options, count, note",
    [
        pytest.param({"kind": "news", "count": 50}, "50", None, id="news"),
        pytest.param({"kind": "news", "count": 60}, "50", "gives at most 50 hits a search", id="more-news"),
        pytest.param({"count": 50}, "20", "gives at most 20 hits a search", id="web"),
    ],
)
async def test_of_news_it_gives_more_than_of_the_web(options: dict[str, Any], count: str, note: str | None) -> None:
    async with World() as world:
        fake = Fake(world, results("brave", [{"url": "https://example.org/"}]))
        result = await search("brave", fake.url, options)
    assert (fake.requests[0].query["count"], result.notes) == ([count], (f"Brave Search {note}",) if note else ())


async def test_a_key_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\nnotes\n")
    async with World() as world:
        fake = Fake(world, NOTHING)
        await search("brave", fake.url, settings={"api_key": None})
        assert fake.requests == []  # without a key nothing is sent
    request = await sent("brave", {}, NOTHING, settings={"api_key": None}, variables={"BRAVE_API_KEY_FILE": str(file)})
    assert request.headers["x-subscription-token"] == KEY


@pytest.mark.parametrize(
    "options, detail",
    [
        pytest.param({"page": 11}, "Brave Search has no page 11", id="page"),
        pytest.param({"query": "x " * 51}, "Brave Search takes queries of at most 50 words", id="words"),
    ],
)
async def test_what_it_does_not_take_is_refused_before_anything_is_sent(options: dict[str, Any], detail: str) -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        result = await search("brave", fake.url, options)
    assert (result.outcome, result.attempt.detail, fake.requests) == (Outcome.UNSUPPORTED, detail, [])


@pytest.mark.parametrize(
    "options, sent_value, note",
    [
        pytest.param(
            {"region": "AQ"}, ("country", ["ALL"]), "does not know the region AQ; it searched all regions", id="region"
        ),
        pytest.param(
            {"region": "GR"}, ("country", ["ALL"]), "does not know the region GR; it searched all regions", id="greece"
        ),
        pytest.param(
            {"language": "el"}, ("search_lang", None), "does not know the language el; that was not applied", id="greek"
        ),
        pytest.param(
            {"language": "tlh"},
            ("search_lang", None),
            "does not know the language tlh; that was not applied",
            id="lang",
        ),
    ],
)
async def test_a_value_outside_its_closed_lists_is_said(
    options: dict[str, Any], sent_value: tuple[str, Any], note: str
) -> None:
    async with World() as world:
        fake = Fake(world, results("brave", [{"url": "https://example.org/"}]))
        result = await search("brave", fake.url, options)
    name, value = sent_value
    assert (fake.requests[0].query.get(name), result.notes) == (value, (f"Brave Search {note}",))


def _error(status: int, code: str, **meta: Any) -> tuple[int, dict[str, str], bytes]:
    error = {"id": "0", "status": status, "code": code, "detail": "Told why.", "meta": meta}
    return status, JSON, json.dumps({"type": "ErrorResponse", "error": error}).encode()


async def test_an_option_outside_the_plan_is_left_out_once() -> None:
    async with World() as world:
        answers = iter([_error(400, "OPTION_NOT_IN_PLAN"), results("brave", [{"url": "https://example.org/"}])])
        fake = Fake(world, lambda _: next(answers))
        result = await search("brave", fake.url)
    assert (result.outcome, [hit.url for hit in result.hits]) == (Outcome.OK, ["https://example.org/"])
    assert [request.query.get("extra_snippets") for request in fake.requests] == [["true"], None]


async def test_an_option_outside_the_plan_that_was_not_ours_is_a_matter_of_the_account() -> None:
    async with World() as world:
        fake = Fake(world, _error(400, "OPTION_NOT_IN_PLAN"))
        result = await search("brave", fake.url, settings={"extra_snippets": "off"})
    assert (result.outcome, result.hint, len(fake.requests)) == (Outcome.AUTH, "choose a plan that has it", 1)


@pytest.mark.parametrize(
    "headers, retry_after",
    [
        pytest.param({}, None, id="none"),
        pytest.param(
            {"X-RateLimit-Limit": "1, 2000", "X-RateLimit-Remaining": "0, 0", "X-RateLimit-Reset": "1, 9"},
            9.0,
            id="both",
        ),
        pytest.param(
            {"X-RateLimit-Limit": "1", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "nan"}, None, id="nan"
        ),
        pytest.param(
            {"X-RateLimit-Limit": "1", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "inf"}, None, id="inf"
        ),
        pytest.param(
            {"X-RateLimit-Limit": "1", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "-5"}, None, id="past"
        ),
        pytest.param(
            {"X-RateLimit-Limit": "1, 2", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": ""}, None, id="uneven"
        ),
        pytest.param({"X-RateLimit-Remaining": "0", "Retry-After": "4"}, 4.0, id="retry-after"),
    ],
)
async def test_the_wait_is_the_longest_among_the_buckets_that_are_empty(
    headers: dict[str, str], retry_after: float | None
) -> None:
    status, json_, body = _error(429, "RATE_LIMITED", quota_limit=0, quota_current=0)
    async with World() as world:
        fake = Fake(world, (status, {**json_, **headers}, body))
        result = await search("brave", fake.url)
    assert (result.outcome, result.attempt.retry_after) == (Outcome.RATE_LIMITED, retry_after)


@pytest.mark.parametrize(
    "body, outcome",
    [
        pytest.param({"type": "search", "query": {}}, Outcome.EMPTY, id="no-web"),
        pytest.param({"type": "search", "web": {"results": []}}, Outcome.EMPTY, id="no-results"),
        pytest.param({"type": "search", "web": {}}, Outcome.BAD_RESPONSE, id="web-without-results"),
        pytest.param({}, Outcome.BAD_RESPONSE, id="another-service"),
        pytest.param([], Outcome.BAD_RESPONSE, id="a-list"),
        pytest.param(
            {"type": "ErrorResponse", "error": {"status": 429, "code": "RATE_LIMITED"}},
            Outcome.RATE_LIMITED,
            id="error",
        ),
    ],
)
async def test_an_answer_without_a_web_section_is_empty_only_if_it_is_brave_s(body: Any, outcome: Outcome) -> None:
    async with World() as world:
        fake = Fake(world, (200, JSON, json.dumps(body).encode()))
        result = await search("brave", fake.url)
    assert result.outcome == outcome
