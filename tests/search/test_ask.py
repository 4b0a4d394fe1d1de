"""Asking one provider: retries, health, cool-downs, options it lacks, pages, dates, and code that breaks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.search.world import (
    BAD_KEY,
    CAPTCHA,
    NOTHING,
    TOO_MANY,
    WITHOUT_CREDITS,
    WRONG_JSON,
    Desk,
    Engine,
    Gate,
    chain,
    engine,
    found,
    names,
    numbered,
    outcomes,
    row,
    successive,
)
from tests.world import Connection, Recorded, World, answer_bytes
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import NATIVE, UNSUPPORTED, Hits, Parsed, ProviderConfig, Reply, get, rows
from webseam.resilience.health import AUTH, BLOCKED, OPEN, QUOTA, RATE_LIMITED_KEYED, RATE_LIMITED_KEYLESS
from webseam.secrets import fingerprint

GOOD = answer_bytes(*found("x"))
BROKEN: Any = (502, {}, "bad gateway")

# retries


def breaking(times: int, how: str) -> tuple[Any, list[int]]:
    """Return a server that breaks its first connections off, "reset" or "empty", and how many it has had."""
    seen: list[int] = []

    async def play(connection: Connection) -> None:
        seen.append(1)
        await connection.request()
        if len(seen) > times:
            await connection.send(GOOD)
        elif how == "reset":
            connection.reset()

    return play, seen


@pytest.mark.parametrize("how", ["reset", "empty"])
async def test_a_connection_that_broke_before_an_answer_is_tried_once_more(how: str) -> None:
    async with World() as world:
        play, seen = breaking(1, how)
        response = await Desk(world).search(engine("a", world.serve(play)))
        assert (names(response), outcomes(response), len(seen)) == (["x"], [("a", "ok")], 2)


@pytest.mark.parametrize(
    ("how", "outcome"),
    [pytest.param("reset", Outcome.NETWORK, id="reset"), pytest.param("empty", Outcome.BAD_RESPONSE, id="empty")],
)
async def test_a_connection_that_breaks_again_is_not_tried_a_third_time(how: str, outcome: Outcome) -> None:
    async with World() as world:
        play, seen = breaking(9, how)
        error = await Desk(world).fail(engine("a", world.serve(play)))
        assert (error.outcome, len(error.attempts), len(seen)) == (outcome, 1, 2)


async def test_a_second_try_takes_a_slot_of_its_own_and_without_one_the_first_error_stands() -> None:
    async with World() as world:
        error = await Desk(world).fail(engine("a", world.route("GET", "/", BROKEN), interval=60.0))
        assert (error.outcome, len(world.requests)) == (Outcome.UPSTREAM, 1)


@pytest.mark.parametrize("status", [502, 503])
async def test_a_status_that_passes_is_tried_once_more(status: int) -> None:
    async with World() as world:
        url = world.route("GET", "/", successive((status, {}, ""), found("x")))
        response = await Desk(world).search(engine("a", url))
        assert (names(response), len(world.requests)) == (["x"], 2)


@pytest.mark.parametrize(
    ("answer", "outcome", "requests"),
    [
        pytest.param((502, {}, "down"), Outcome.UPSTREAM, 2, id="502 twice"),
        pytest.param((503, {"Retry-After": "7"}, "down"), Outcome.UPSTREAM, 1, id="503 with Retry-After"),
        pytest.param((500, {}, "broken"), Outcome.UPSTREAM, 1, id="500"),
        pytest.param((504, {}, "late"), Outcome.TIMEOUT, 1, id="504"),
        pytest.param(TOO_MANY, Outcome.RATE_LIMITED, 1, id="429"),
        pytest.param((402, {}, "pay"), Outcome.QUOTA, 1, id="402"),
        pytest.param(BAD_KEY, Outcome.AUTH, 1, id="401"),
        pytest.param((403, {}, {"error": "forbidden"}), Outcome.AUTH, 1, id="403"),
        pytest.param((400, {}, {"error": "what?"}), Outcome.BAD_RESPONSE, 1, id="400"),
        pytest.param((404, {}, "nothing here"), Outcome.BAD_RESPONSE, 1, id="404"),
        pytest.param((999, {}, "denied"), Outcome.BLOCKED, 1, id="999"),
        pytest.param(CAPTCHA, Outcome.BLOCKED, 1, id="captcha at 200"),
        pytest.param(WRONG_JSON, Outcome.BAD_RESPONSE, 1, id="wrong shape"),
        pytest.param((200, {}, '{"results": ['), Outcome.BAD_RESPONSE, 1, id="half of a document"),
    ],
)
async def test_what_is_not_tried_again_gives_its_outcome_at_once(answer: Any, outcome: Outcome, requests: int) -> None:
    async with World() as world:
        error = await Desk(world).fail(engine("a", world.route("GET", "/", answer)))
        assert (error.outcome, len(world.requests)) == (outcome, requests)


async def test_no_second_try_where_the_deadline_comes_before_it() -> None:
    async with World() as world:
        error = await Desk(world).fail(engine("a", world.route("GET", "/", BROKEN)), within=0.4)
        assert (error.outcome, len(world.requests)) == (Outcome.UPSTREAM, 1)


async def test_the_second_try_may_end_otherwise_than_the_first() -> None:
    async with World() as world:
        error = await Desk(world).fail(engine("a", world.route("GET", "/", successive(BROKEN, BAD_KEY))))
        assert (error.outcome, len(world.requests)) == (Outcome.AUTH, 2)


async def test_nothing_is_sent_after_a_cancel_between_the_two_tries() -> None:
    async with World() as world:
        answered = asyncio.Event()

        def handler(_request: Recorded) -> Any:
            answered.set()
            return BROKEN

        candidate = engine("a", world.route("GET", "/", handler))
        desk = Desk(world)
        searching = asyncio.create_task(desk.search(candidate))
        await answered.wait()
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        assert (len(world.requests), desk.is_healthy(candidate)) == (1, True)


# the breaker


async def test_three_failures_in_a_row_open_the_breaker_and_a_chain_skips_it() -> None:
    async with World() as world:
        desk = Desk(world)
        broken = engine("broken", world.route("GET", "/broken", WRONG_JSON))
        good = engine("good", world.route("GET", "/good", found("x")))
        for _ in range(3):
            assert outcomes(await desk.search(chain(broken, good)))[0] == ("broken", "bad_response")
        response = await desk.search(chain(broken, good))
        assert outcomes(response) == [("broken", "unavailable"), ("good", "ok")]
        assert (response.attempts[0].detail or "").startswith(
            "circuit breaker open after 3 failures in a row, the last bad_response: the answer has no results"
        )
        assert " until " in (response.attempts[0].detail or "")
        assert response.sent_to == ("good",)
        assert len([request for request in world.requests if request.path == "/broken"]) == 3


async def test_an_open_breaker_does_not_keep_a_pinned_call_back_and_its_success_closes_it() -> None:
    async with World() as world:
        desk = Desk(world)
        answer = successive(WRONG_JSON, WRONG_JSON, WRONG_JSON, found("x"))
        candidate = engine("a", world.route("GET", "/", answer))
        for _ in range(3):
            await desk.fail(candidate)
        assert not desk.health.look("a", fingerprint(candidate.config.base_url)).usable
        assert names(await desk.search(candidate)) == ["x"]
        assert desk.is_healthy(candidate)


async def test_after_a_while_one_call_probes_and_its_success_closes_the_breaker() -> None:
    async with World() as world:
        desk, gate = Desk(world), Gate(found("x"))
        answers: list[Any] = [WRONG_JSON, WRONG_JSON, WRONG_JSON, gate]

        async def answer(request: Recorded) -> Any:
            now = answers.pop(0) if len(answers) > 1 else answers[0]
            return await now(request) if callable(now) else now

        broken = engine("broken", world.route("GET", "/broken", answer))
        good = engine("good", world.route("GET", "/good", found("y")))
        for _ in range(3):
            await desk.search(chain(broken, good))
        desk.ahead = OPEN + 1
        probing = asyncio.create_task(desk.search(chain(broken, good)))
        await gate.until(1)
        beside = await desk.search(chain(broken, good))
        assert (beside.attempts[0].outcome, names(beside)) == (Outcome.UNAVAILABLE, ["y"])
        assert "another call is the probe" in (beside.attempts[0].detail or "")
        gate.opened.set()
        assert outcomes(await probing) == [("broken", "ok")]
        assert desk.is_healthy(broken)


async def test_a_probe_that_is_cancelled_leaves_its_place_to_the_next_call() -> None:
    async with World() as world:
        desk, gate = Desk(world), Gate(found("x"))
        answers: list[Any] = [WRONG_JSON, WRONG_JSON, WRONG_JSON, gate, found("x")]

        async def answer(request: Recorded) -> Any:
            now = answers.pop(0)
            return await now(request) if callable(now) else now

        broken = engine("broken", world.route("GET", "/broken", answer))
        good = engine("good", world.route("GET", "/good", found("y")))
        for _ in range(3):
            await desk.search(chain(broken, good))
        desk.ahead = OPEN + 1
        probing = asyncio.create_task(desk.search(chain(broken, good)))
        await gate.until(1)
        probing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probing
        assert outcomes(await desk.search(chain(broken, good))) == [("broken", "ok")]


# cool-downs


@pytest.mark.parametrize(
    ("answer", "outcome", "secret", "seconds"),
    [
        pytest.param(CAPTCHA, "blocked", "", BLOCKED, id="blocked"),
        pytest.param(TOO_MANY, "rate_limited", "", RATE_LIMITED_KEYLESS, id="rate limited, without a key"),
        pytest.param(TOO_MANY, "rate_limited", "a-key-of-mine", RATE_LIMITED_KEYED, id="rate limited, with a key"),
        pytest.param((429, {"Retry-After": "11"}, ""), "rate_limited", "", 11.0, id="rate limited, for so long"),
    ],
)
async def test_a_block_or_a_rate_limit_holds_for_a_pinned_call_too(
    answer: Any, outcome: str, secret: str, seconds: float
) -> None:
    async with World() as world:
        desk = Desk(world)
        candidate = engine("a", world.route("GET", "/", successive(answer, found("x"))), secret=secret)
        assert (await desk.fail(candidate)).outcome == outcome
        desk.ahead = seconds - 2
        error = await desk.fail(candidate)
        assert (error.outcome, len(world.requests)) == (Outcome.UNAVAILABLE, 1)
        assert f"cooling down after {outcome}" in error.detail
        assert " until " in error.detail
        desk.ahead = seconds + 2
        assert names(await desk.search(candidate)) == ["x"]


@pytest.mark.parametrize(
    ("answer", "outcome", "seconds"),
    [
        pytest.param(WITHOUT_CREDITS, "quota", QUOTA, id="quota"),
        pytest.param(BAD_KEY, "auth", AUTH, id="auth"),
    ],
)
async def test_quota_and_auth_hold_a_chain_back_but_not_a_pinned_call(
    answer: Any, outcome: str, seconds: float
) -> None:
    async with World() as world:
        desk = Desk(world)
        url = world.route("GET", "/a", successive(answer, answer, found("x")))
        candidate = engine("a", url, secret="a-key-of-mine")
        good = engine("good", world.route("GET", "/good", found("y")))
        assert outcomes(await desk.search(chain(candidate, good))) == [("a", outcome), ("good", "ok")]
        desk.ahead = seconds - 10
        assert outcomes(await desk.search(chain(candidate, good))) == [("a", "unavailable"), ("good", "ok")]
        assert outcomes(await desk.fail(candidate)) == [("a", outcome)]
        assert outcomes(await desk.search(candidate)) == [("a", "ok")]
        assert outcomes(await desk.search(chain(candidate, good))) == [("a", "ok")]


async def test_another_key_is_not_held_back_by_what_the_first_one_did() -> None:
    async with World() as world:
        desk = Desk(world)

        def by_key(request: Recorded) -> Any:
            return TOO_MANY if request.headers["authorization"] == "Bearer first-key" else found("x")

        url = world.route("GET", "/", by_key)
        first, second = engine("a", url, secret="first-key"), engine("a", url, secret="second-key")
        assert (await desk.fail(first)).outcome is Outcome.RATE_LIMITED
        assert names(await desk.search(second)) == ["x"]
        assert (await desk.fail(first)).outcome is Outcome.UNAVAILABLE


async def test_another_address_is_not_held_back_by_what_the_first_one_did() -> None:
    async with World() as world:
        desk = Desk(world)
        assert (await desk.fail(engine("a", world.route("GET", "/one", CAPTCHA)))).outcome is Outcome.BLOCKED
        assert names(await desk.search(engine("a", world.route("GET", "/two", found("x"))))) == ["x"]


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        pytest.param(BAD_KEY, "get a key", id="auth"),
        pytest.param(WITHOUT_CREDITS, "get a key", id="quota"),
        pytest.param(TOO_MANY, "get a key", id="rate limited"),
        pytest.param(CAPTCHA, "get a key", id="blocked"),
        pytest.param((500, {}, "broken"), None, id="a server that is broken"),
        pytest.param(WRONG_JSON, None, id="an answer that is none"),
    ],
)
async def test_how_to_get_a_key_is_said_only_where_a_key_would_help(answer: Any, hint: str | None) -> None:
    async with World() as world:
        error = await Desk(world).fail(engine("a", world.route("GET", "/", answer), hint="get a key"))
        assert error.hint == hint


async def test_what_a_provider_cannot_do_is_not_held_against_it() -> None:
    async with World() as world:
        desk = Desk(world)
        candidate = engine("a", world.route("GET", "/", (400, {}, {"error": "unsupported parameter: page"})))
        for _ in range(4):
            assert (await desk.fail(candidate)).outcome is Outcome.UNSUPPORTED
        assert desk.is_healthy(candidate)


# dates


def only_without_dates(request: Recorded) -> Any:
    return (200, {}, NOTHING) if {"after", "fresh"} & set(request.query) else found("old", "older")


@pytest.mark.parametrize(
    "dates",
    [pytest.param({"after": "2024-01-01"}, id="after"), pytest.param({"freshness": "week"}, id="freshness")],
)
async def test_dates_that_emptied_the_answer_are_lifted_once_with_a_note(dates: dict[str, Any]) -> None:
    async with World() as world:
        response = await Desk(world).search(engine("a", world.route("GET", "/", only_without_dates)), **dates)
        assert (names(response), len(world.requests)) == (["old", "older"], 2)
        assert response.notes == ("A found nothing within the dates; these hits are without the date limit",)


async def test_strict_never_lifts_the_dates() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", only_without_dates))
        response = await Desk(world).search(candidate, strict=True, after="2024-01-01")
        assert (response.outcome, response.notes, len(world.requests)) == (Outcome.EMPTY, (), 1)


async def test_dates_the_provider_does_not_know_are_never_the_reason_to_ask_again() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", (200, {}, NOTHING)), options={})
        response = await Desk(world).search(candidate, after="2024-01-01")
        assert (response.outcome, len(world.requests)) == (Outcome.EMPTY, 1)


async def test_when_there_is_nothing_without_the_dates_either_the_answer_is_empty() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", (200, {}, NOTHING)))
        response = await Desk(world).search(candidate, after="2024-01-01")
        assert (response.outcome, response.notes, len(world.requests)) == (Outcome.EMPTY, (), 2)


async def test_an_honest_nothing_stands_when_asking_without_the_dates_fails() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", successive((200, {}, NOTHING), TOO_MANY)))
        response = await Desk(world).search(candidate, after="2024-01-01")
        assert (response.outcome, response.notes) == (
            Outcome.EMPTY,
            ("A: asking without the dates failed (rate_limited)",),
        )


async def test_only_shown_hits_without_a_date_are_counted() -> None:
    async with World() as world:
        rows = [row("1", published="2024-05-01"), row("2"), row("3"), row("4")]
        candidate = engine("a", world.route("GET", "/", found(*rows)), options={})
        response = await Desk(world).search(candidate, after="2024-01-01", count=2)
        assert names(response) == ["1", "2"]
        assert response.notes == ("1 of the hits carry no date; they were not checked against the dates",)


# options and pages


async def test_an_option_a_provider_lacks_is_a_note() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", found("x")))
        response = await Desk(world).search(candidate, language="de", safe="strict", kind="paper")
        assert response.notes == (
            "A cannot filter by language; that was not applied",
            "A cannot filter by safe; that was not applied",
            "A cannot search paper sources alone; it searched everything",
        )


async def test_an_option_a_provider_lacks_is_an_error_when_strict_and_nothing_is_sent() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", found("x")))
        error = await Desk(world).fail(candidate, strict=True, language="de", kind="paper")
        assert (error.outcome, error.detail, world.requests) == (
            Outcome.UNSUPPORTED,
            "a: A cannot do language, kind=paper (strict)",
            [],
        )


async def test_a_chain_goes_on_to_one_that_can() -> None:
    async with World() as world:
        unable = engine("unable", world.route("GET", "/unable", found("x")))
        able = engine("able", world.route("GET", "/able", found("y")), options={"language": NATIVE})
        response = await Desk(world).search(chain(unable, able), strict=True, language="de")
        assert (outcomes(response), len(world.requests)) == ([("unable", "unsupported"), ("able", "ok")], 1)


async def test_a_provider_without_pages_is_asked_for_all_and_earlier_ones_are_dropped() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", numbered(25)))
        response = await Desk(world).search(candidate, count=10, page=2)
        assert names(response) == [str(number) for number in range(11, 21)]
        assert world.requests[0].query["count"] == ["20"]


async def test_a_page_beyond_the_last_hit_is_empty_and_not_filtered() -> None:
    async with World() as world:
        twice = found("1", "2", "2")
        candidate = engine("a", world.route("GET", "/", twice))
        response = await Desk(world).search(candidate, count=10, page=2)
        assert (response.outcome, response.dropped) == (Outcome.EMPTY, {"duplicate": 1})


async def test_a_page_a_provider_cannot_reach_is_unsupported_and_nothing_is_sent() -> None:
    async with World() as world:
        for candidate in (
            engine("a", world.route("GET", "/", numbered(25)), max_count=10),
            engine("b", world.route("GET", "/", numbered(25)), options={"page": UNSUPPORTED}),
        ):
            error = await Desk(world).fail(candidate, count=10, page=2)
            assert (error.outcome, error.detail) == (
                Outcome.UNSUPPORTED,
                f"{candidate.id}: {candidate.provider.label} has no page 2 of 10 hits",
            )
        assert world.requests == []


async def test_more_is_fetched_where_filters_here_take_some_away() -> None:
    async with World() as world:
        mixed = [row(str(n), url=f"https://{'wanted' if n % 2 else 'other'}.example.org/{n}") for n in range(20)]
        candidate = engine("a", world.route("GET", "/", found(*mixed)))
        response = await Desk(world).search(candidate, count=5, include_domains=("wanted.example.org",))
        assert (names(response), response.dropped) == (["1", "3", "5", "7", "9"], {"other domain": 10})
        assert world.requests[0].query["count"] == ["10"]


async def test_a_query_that_is_too_long_for_a_provider_is_not_sent() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", found("x")), max_query=5)
        error = await Desk(world).fail(candidate, "longer than that")
        assert (error.outcome, error.detail, world.requests) == (
            Outcome.UNSUPPORTED,
            "a: A takes queries of at most 5 characters, this has 16",
            [],
        )


class Paging(Engine):
    """An engine that gives three hits a page and says where the next one is."""

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        document = reply.json()
        hits = Hits(self.id)
        for entry in rows(reply, document, "results"):
            hits.add(url=entry["url"])
        following = document.get("next")
        return hits.parsed(more=get(config, "", {"next": following}) if following else None, cost=0.5)


def page_after_page(request: Recorded) -> Any:
    number = int(request.query.get("next", ["0"])[0])
    hits = [row(f"{number}-{place}") for place in range(3)]
    return 200, {}, {"results": hits, "next": number + 1}


async def test_further_pages_are_asked_for_until_there_are_enough() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", page_after_page), base=Paging)
        response = await Desk(world).search(candidate, count=7)
        assert names(response) == ["0-0", "0-1", "0-2", "1-0", "1-1", "1-2", "2-0"]
        assert (len(world.requests), response.attempts[0].hits, response.attempts[0].cost) == (3, 9, 1.5)


async def test_no_more_than_five_pages_are_asked_for() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", page_after_page), base=Paging)
        response = await Desk(world).search(candidate, count=50)
        assert (len(response.hits), len(world.requests)) == (15, 5)


async def test_a_page_that_repeats_the_one_before_is_the_last() -> None:
    async with World() as world:
        again: Any = (200, {}, {"results": [row("1"), row("2")], "next": 1})
        candidate = engine("a", world.route("GET", "/", again), base=Paging)
        response = await Desk(world).search(candidate, count=10)
        assert (names(response), len(world.requests)) == (["1", "2"], 2)


async def test_a_later_page_that_fails_keeps_what_came_before() -> None:
    async with World() as world:
        first: Any = (200, {}, {"results": [row("1"), row("2")], "next": 1})
        candidate = engine("a", world.route("GET", "/", successive(first, TOO_MANY)), base=Paging)
        response = await Desk(world).search(candidate, count=10)
        assert (names(response), response.notes) == (["1", "2"], ("A: page 2 failed (rate_limited)",))


async def test_a_later_page_that_cannot_be_parsed_keeps_what_came_before() -> None:
    class Breaking(Paging):
        def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
            if reply.request is not None and "next=" in reply.request.url:
                raise KeyError("results")
            return super().parse(reply, search, config)

    async with World() as world:
        candidate = engine("a", world.route("GET", "/", page_after_page), base=Breaking)
        response = await Desk(world).search(candidate, count=10)
        assert (names(response), response.notes) == (["0-0", "0-1", "0-2"], ("A: page 2 failed (bad_response)",))


async def test_a_later_page_takes_a_slot_of_its_own() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", page_after_page), base=Paging, interval=60.0)
        response = await Desk(world).search(candidate, count=10)
        assert (names(response), response.notes) == (["0-0", "0-1", "0-2"], ("A: page 2 failed (timeout)",))
        assert len(world.requests) == 1


async def test_asking_without_the_dates_takes_a_slot_of_its_own() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", only_without_dates), interval=60.0)
        response = await Desk(world).search(candidate, after="2024-01-01")
        assert (response.outcome, response.notes) == (
            Outcome.EMPTY,
            ("A: asking without the dates failed (timeout)",),
        )
        assert len(world.requests) == 1


# providers that replace a request, and providers that break


class Replacing(Engine):
    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        return get(config, "", {"q": search.query, "plain": 1})


async def test_a_provider_may_send_another_request_in_place_of_a_refused_one_once() -> None:
    async with World() as world:
        answers = successive((400, {}, "no such option"), found("x"))
        candidate = engine("a", world.route("GET", "/", answers), base=Replacing)
        assert names(await Desk(world).search(candidate)) == ["x"]
        assert [sorted(request.query) for request in world.requests] == [["count", "page", "q"], ["plain", "q"]]


async def test_a_provider_that_keeps_replacing_is_stopped() -> None:
    async with World() as world:
        candidate = engine("a", world.route("GET", "/", (400, {}, {"error": "unsupported option"})), base=Replacing)
        error = await Desk(world).fail(candidate)
        assert (error.outcome, len(world.requests)) == (Outcome.UNSUPPORTED, 2)


@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(KeyError("results"), id="KeyError"),
        pytest.param(RecursionError("too deep"), id="RecursionError"),
        pytest.param(AttributeError("'NoneType' object has no attribute 'get'"), id="AttributeError"),
        pytest.param(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), id="UnicodeDecodeError"),
        pytest.param(ZeroDivisionError("one / none"), id="ZeroDivisionError"),
        pytest.param(ValueError("holds my-secret-key-123 and \x1b[2J"), id="a secret and an escape sequence"),
    ],
)
async def test_whatever_a_parser_raises_is_a_bad_response(problem: Exception) -> None:
    class Raising(Engine):
        def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
            raise problem

    async with World() as world:
        bad = engine("bad", world.route("GET", "/bad", found("x")), base=Raising, secret="my-secret-key-123")
        good = engine("good", world.route("GET", "/good", found("y")))
        response = await Desk(world).search(chain(bad, good))
        assert outcomes(response) == [("bad", "bad_response"), ("good", "ok")]
        detail = response.attempts[0].detail or ""
        assert detail.startswith(f"its answer could not be read ({type(problem).__name__}: ")
        assert "my-secret" not in detail
        assert "\x1b" not in detail


async def test_a_request_that_cannot_be_made_is_a_bad_response_too() -> None:
    class Raising(Engine):
        def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
            raise TypeError("no such thing")

    async with World() as world:
        error = await Desk(world).fail(engine("a", world.route("GET", "/", found("x")), base=Raising))
        assert (error.outcome, world.requests) == (Outcome.BAD_RESPONSE, [])


class Answering(Engine):
    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        parsed = super().parse(reply, search, config)
        parsed.answer = f"First.\x1b[2J\n\nSecond. {'word ' * 2_000}"
        return parsed


async def test_an_answer_of_a_provider_is_cleaned_and_bounded() -> None:
    async with World() as world:
        response = await Desk(world).search(engine("a", world.route("GET", "/", found("x")), base=Answering))
        answer = response.answer or ""
        assert answer.startswith("First.\n\nSecond. word word")
        assert answer.endswith("word…")
        assert len(answer) <= 4_000


async def test_an_answer_without_any_source_is_none() -> None:
    async with World() as world:
        nothing = world.route("GET", "/", (200, {}, NOTHING))
        response = await Desk(world).search(engine("a", nothing, base=Answering))
        assert (response.outcome, response.answer) == (Outcome.EMPTY, None)


async def test_starts_of_one_key_are_paced_and_those_of_another_are_not() -> None:
    async with World() as world:
        desk = Desk(world)
        url = world.route("GET", "/", found("x"))
        first, second = (engine("a", url, secret=secret, interval=60.0) for secret in ("first-key", "second-key"))
        assert [(await desk.search(each)).outcome for each in (first, second)] == [Outcome.OK, Outcome.OK]
        error = await desk.fail(first)
        assert (error.outcome, len(world.requests)) == (Outcome.TIMEOUT, 2)
