"""Our searxng provider against a real SearXNG, whose engines are ours."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.searxng import ILL, Engines, address, instance
from tests.wire import QUERY
from tests.wire.fake import FORGETFUL, Told, environment, search
from webseam.errors import Outcome

NO_KEY = {"api_key": None}


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    running = Engines()
    yield running
    running.close()


@pytest.fixture(scope="module")
def searxng(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with instance(tmp_path_factory.mktemp("searxng"), engines, formats=["html", "json"]) as url:
        yield url


@pytest.fixture
def asked(engines: Engines) -> list[tuple[str, dict[str, str]]]:
    """What the engines are asked in this test."""
    engines.asked.clear()
    return engines.asked


async def _search(url: str, options: dict[str, Any] | None = None, **settings: Any) -> Told:
    return await search("searxng", url, options, settings={**NO_KEY, **settings})


async def test_it_answers(searxng: str, asked: list[tuple[str, dict[str, str]]]) -> None:
    result = await _search(searxng)
    assert result.as_expected() == {
        "outcome": "ok",
        "hits": [
            {
                "url": address("web", number),
                "title": f"web {number}",
                "snippet": f"What {number} says.",
                "score": 1 / (number + 1),
                "providers": ["searxng"],
            }
            for number in range(10)
        ],
        "attempt": {"provider": "searxng", "outcome": "ok", "cost": 0.0, "hits": 10},
    }
    assert asked == [("web", {"q": QUERY, "page": "1", "lang": "en"})]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_pages_add_up(searxng: str, asked: list[tuple[str, dict[str, str]]], method: str) -> None:
    result = await _search(searxng, {"count": 25}, method=method)
    assert {hit.url for hit in result.hits} == {address("web", number) for number in range(25)}
    assert [parameters["page"] for _, parameters in asked] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "options, parameters",
    [
        pytest.param({"page": 3}, {"page": "3"}, id="page"),
        pytest.param({"language": "de"}, {"lang": "de"}, id="language"),
        pytest.param({"language": "de", "region": "AT"}, {"lang": "de"}, id="language-and-region"),
        pytest.param({"region": "DE"}, {}, id="region"),
        pytest.param({"language": "tlh"}, {}, id="unknown-language"),
        pytest.param({"freshness": "week"}, {"hours": "168"}, id="freshness"),
        pytest.param({"safe": "strict"}, {"filter": "strict"}, id="safe"),
        pytest.param({"include_domains": ["example.org"]}, {"q": f"{QUERY} site:example.org"}, id="site"),
    ],
)
async def test_each_option_reaches_the_engine(
    searxng: str, asked: list[tuple[str, dict[str, str]]], options: dict[str, Any], parameters: dict[str, str]
) -> None:
    result = await _search(searxng, {"count": 5, **options})
    assert (result.outcome, len(result.hits)) == (Outcome.OK, 5)
    assert [name for name, _ in asked] == ["web"]
    assert parameters.items() <= asked[0][1].items()


async def test_a_kind_of_source_is_a_category(searxng: str, asked: list[tuple[str, dict[str, str]]]) -> None:
    result = await _search(searxng, {"kind": "news"})
    assert ([name for name, _ in asked], result.hits[0].title) == (["press"], "press 0")


async def test_chosen_engines_alone_are_asked(searxng: str, asked: list[tuple[str, dict[str, str]]]) -> None:
    result = await _search(searxng, engines="press,timeless")
    assert {name for name, _ in asked} == {"press", "timeless"}
    assert result.outcome == Outcome.OK


async def test_an_engine_without_time_ranges_is_asked_again_without_one(
    searxng: str, asked: list[tuple[str, dict[str, str]]]
) -> None:
    result = await _search(searxng, {"freshness": "week"}, engines="timeless")
    assert (result.outcome, len(result.hits), len(asked)) == (Outcome.OK, 10, 1)
    assert result.notes == ("SearXNG found nothing within the dates; these hits are without the date limit",)


async def test_nothing_found_is_empty(searxng: str) -> None:
    result = await _search(searxng, engines="nothing")
    assert (result.outcome, result.hits) == (Outcome.EMPTY, ())


@pytest.mark.parametrize(
    "engine, outcome, reason",
    [
        pytest.param("limited", Outcome.RATE_LIMITED, "too many requests", id="limited"),
        pytest.param("forbidden", Outcome.BLOCKED, "access denied", id="forbidden"),
        pytest.param("slow", Outcome.TIMEOUT, "timeout", id="slow"),
        pytest.param("broken", Outcome.BAD_RESPONSE, "parsing error", id="broken"),
        pytest.param("down", Outcome.BAD_RESPONSE, "HTTP connection error", id="down"),
    ],
)
async def test_an_engine_that_is_dead_is_never_an_empty_answer(
    searxng: str, engine: str, outcome: Outcome, reason: str
) -> None:
    result = await _search(searxng, engines=engine)
    assert (result.outcome, result.hits) == (outcome, ())
    detail = str(result.attempt.detail).replace("Suspended: ", "")  # an earlier test may have seen to that
    assert detail == f"none of its engines answered ({engine}: {reason})"


async def test_an_engine_that_searxng_leaves_alone_for_a_while_is_no_empty_answer_either(searxng: str) -> None:
    settings = {**NO_KEY, "engines": "limited"}
    results = [await search("searxng", searxng, settings=settings, variables=FORGETFUL) for _ in range(2)]
    assert [result.outcome for result in results] == [Outcome.RATE_LIMITED] * 2
    assert results[1].attempt.detail == "none of its engines answered (limited: Suspended: too many requests)"


async def test_dead_engines_beside_a_good_one_are_named(searxng: str) -> None:
    result = await _search(searxng, engines=",".join(("web", *ILL)))
    assert (result.outcome, len(result.hits)) == (Outcome.OK, 10)
    assert result.notes == (f"SearXNG engines that did not answer: {', '.join(sorted(ILL))}",)


async def test_a_bang_that_leads_away_is_refused(searxng: str) -> None:
    result = await _search(searxng, {"query": "!!w example"})
    assert result.outcome == Outcome.BAD_RESPONSE
    assert "redirect refused" in str(result.attempt.detail)


async def test_an_instance_without_json_is_unavailable_and_says_what_to_do(
    engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with instance(tmp_path_factory.mktemp("searxng"), engines, formats=["html"]) as url:
        result = await _search(url)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "webseam", "search", QUERY, "-p", "searxng", "--json"),
            env=environment("searxng", url, NO_KEY),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        printed, _ = await process.communicate()
    assert (result.outcome, result.attempt.detail, result.attempt.http_status) == (
        Outcome.UNAVAILABLE,
        "HTTP 403: the instance does not offer JSON answers",
        403,
    )
    assert result.hint == "add json to search.formats in the instance's settings.yml"
    shown = json.loads(printed)
    assert (process.returncode, shown["outcome"], shown["hint"]) == (6, "unavailable", result.hint)
