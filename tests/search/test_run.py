"""Chains, fusions and pinned calls over real connections: what is tried, what wins, what is kept of the failures."""

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
    Gate,
    chain,
    engine,
    found,
    fused,
    hang,
    names,
    outcomes,
    row,
)
from tests.world import Connection, World, reply
from webseam.errors import AllProvidersFailed, Outcome, ProviderError
from webseam.model import Attempt
from webseam.search.route import Candidate, Plan
from webseam.search.run import verdict

FAILING: dict[str, tuple[Any, Outcome]] = {
    "first": (TOO_MANY, Outcome.RATE_LIMITED),
    "second": (WITHOUT_CREDITS, Outcome.QUOTA),
    "third": (CAPTCHA, Outcome.BLOCKED),
    "fourth": (hang, Outcome.TIMEOUT),
    "fifth": (WRONG_JSON, Outcome.BAD_RESPONSE),
}


def failing(world: World, name: str) -> Candidate:
    answer, _ = FAILING[name]
    url = world.serve(answer) if callable(answer) else world.route("GET", f"/{name}", answer)
    return engine(name, url)


async def test_five_providers_fail_each_in_its_way_and_the_sixth_answers_in_time() -> None:
    async with World() as world:
        good = engine("good", world.route("GET", "/good", found("answer")))
        response = await Desk(world).search(chain(*(failing(world, name) for name in FAILING), good), within=3.0)
        assert response.outcome is Outcome.OK
        assert names(response) == ["answer"]
        assert outcomes(response) == [
            ("first", "rate_limited"),
            ("second", "quota"),
            ("third", "blocked"),
            ("fourth", "timeout"),
            ("fifth", "bad_response"),
            ("good", "ok"),
        ]
        assert [attempt.http_status for attempt in response.attempts] == [429, 403, 200, None, 200, None]
        assert response.sent_to == (*FAILING, "good")
        assert response.took < 3.0


@pytest.mark.parametrize("name", [pytest.param(name, id=f"{name}-{outcome}") for name, (_, outcome) in FAILING.items()])
async def test_each_of_the_five_alone_fails_with_its_own_outcome(name: str) -> None:
    async with World() as world:
        error = await Desk(world).fail(failing(world, name), within=0.3)
        assert isinstance(error, ProviderError)
        assert (error.outcome, error.provider) == (FAILING[name][1], name)
        assert outcomes(error) == [(name, FAILING[name][1])]
        assert error.detail == f"{name}: {error.attempts[0].detail}"


async def test_a_chain_stops_at_the_first_answer() -> None:
    async with World() as world:
        first, second = (engine(name, world.route("GET", f"/{name}", found(name))) for name in ("a", "b"))
        response = await Desk(world).search(chain(first, second))
        assert (names(response), outcomes(response), len(world.requests)) == (["a"], [("a", "ok")], 1)


async def test_a_chain_goes_on_after_an_honest_nothing() -> None:
    async with World() as world:
        first = engine("a", world.route("GET", "/a", (200, {}, NOTHING)))
        second = engine("b", world.route("GET", "/b", found("b")))
        response = await Desk(world).search(chain(first, second))
        assert (names(response), outcomes(response)) == (["b"], [("a", "empty"), ("b", "ok")])


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        pytest.param(["empty", "empty"], Outcome.EMPTY, id="all empty"),
        pytest.param(["filtered", "empty"], Outcome.FILTERED, id="one was filtered"),
        pytest.param(["empty"], Outcome.EMPTY, id="one alone"),
        pytest.param(["empty", "unable"], Outcome.EMPTY, id="one cannot do it at all"),
    ],
)
async def test_a_search_is_empty_when_everybody_who_was_asked_honestly_had_nothing(
    answers: list[str], outcome: Outcome
) -> None:
    async with World() as world:
        plan = chain(*(one_that(world, what, str(number)) for number, what in enumerate(answers)))
        response = await Desk(world).search(plan, include_domains=("wanted.example",))
        assert (response.outcome, response.hits) == (outcome, ())
        assert len(response.attempts) == len(answers)


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        pytest.param(["empty", "limited"], Outcome.RATE_LIMITED, id="a failure is not masked by an earlier nothing"),
        pytest.param(["limited", "empty"], Outcome.RATE_LIMITED, id="a failure is not masked by a later nothing"),
        pytest.param(["filtered", "refused", "empty"], Outcome.AUTH, id="a failure in the middle"),
        pytest.param(["limited", "refused"], Outcome.RATE_LIMITED, id="of two failures the first gives the outcome"),
        pytest.param(["unable", "unable"], Outcome.UNSUPPORTED, id="nobody can do it"),
        pytest.param(["unable", "limited"], Outcome.RATE_LIMITED, id="a failure counts more than an inability"),
    ],
)
async def test_a_search_without_hits_fails_when_somebody_failed(answers: list[str], outcome: Outcome) -> None:
    async with World() as world:
        plan = chain(*(one_that(world, what, str(number)) for number, what in enumerate(answers)))
        error = await Desk(world).fail(plan, include_domains=("wanted.example",))
        assert isinstance(error, AllProvidersFailed)
        assert error.outcome is outcome
        assert [attempt.provider for attempt in error.attempts] == [str(number) for number in range(len(answers))]
        for attempt in error.attempts:
            assert f"{attempt.provider}: {attempt.outcome}" in error.detail


def one_that(world: World, what: str, name: str) -> Candidate:
    answer: Any = {
        "empty": (200, {}, NOTHING),
        "filtered": found("elsewhere"),
        "limited": TOO_MANY,
        "refused": BAD_KEY,
        "unable": found("never asked"),
    }[what]
    facts: dict[str, Any] = {"max_query": 2} if what == "unable" else {}
    return engine(name, world.route("GET", f"/{name}", answer), **facts)


async def test_what_was_passed_over_is_listed_after_what_was_asked() -> None:
    async with World() as world:
        good = engine("good", world.route("GET", "/", found("x")))
        skipped = (Attempt(provider="other", outcome=Outcome.UNAVAILABLE, detail="no key (OTHER_KEY)"),)
        response = await Desk(world).search(Plan("chain", (good,), skipped, ("a note of the plan",)))
        assert outcomes(response) == [("good", "ok"), ("other", "unavailable")]
        assert response.notes == ("a note of the plan",)
        assert response.sent_to == ("good",)


async def test_a_plan_with_nobody_to_ask_lists_why() -> None:
    async with World() as world:
        skipped = (Attempt(provider="other", outcome=Outcome.UNAVAILABLE, detail="no key (OTHER_KEY)"),)
        error = await Desk(world).fail(Plan("chain", (), skipped))
        assert (error.outcome, error.detail, error.attempts) == (
            Outcome.UNAVAILABLE,
            "no provider answered. other: unavailable (no key (OTHER_KEY))",
            skipped,
        )
        assert (await Desk(world).fail(Plan("chain", ()))).detail == "no provider is set up"


async def test_hints_of_those_that_failed_are_in_the_error() -> None:
    async with World() as world:
        plan = chain(
            engine("a", world.route("GET", "/a", TOO_MANY), hint="get a key for a"),
            engine("b", world.route("GET", "/b", (200, {}, NOTHING)), hint="never shown"),
            engine("c", world.route("GET", "/c", BAD_KEY), hint="get a key for c"),
        )
        assert (await Desk(world).fail(plan)).hint == "get a key for a; get a key for c"


# the deadline


async def test_one_that_hangs_leaves_time_for_those_after_it() -> None:
    async with World() as world:
        hanging = [engine(name, world.serve(hang)) for name in ("a", "b", "c")]
        good = engine("good", world.route("GET", "/", found("x")))
        response = await Desk(world).search(chain(*hanging, good), within=1.2)
        assert outcomes(response) == [("a", "timeout"), ("b", "timeout"), ("c", "timeout"), ("good", "ok")]
        first, second, third = (attempt.took for attempt in response.attempts[:3])
        assert first > second > third


async def test_when_the_deadline_passes_those_without_a_turn_say_so_and_are_not_blamed() -> None:
    async with World() as world:
        desk = Desk(world)
        silent, late = engine("silent", world.serve(hang)), engine("late", world.route("GET", "/", found("x")))
        error = await desk.fail(fused(silent), within=0.2)
        assert outcomes(error) == [("silent", "timeout")]
        response = await desk.fail(chain(late, silent), within=-1.0)
        assert [(one.provider, one.outcome, one.detail) for one in response.attempts] == [
            ("late", Outcome.TIMEOUT, "no time was left for it, or to wait for its next free slot"),
            ("silent", Outcome.TIMEOUT, "the deadline had passed before its turn"),
        ]
        assert (len(world.requests), desk.is_healthy(late)) == (0, True)


async def test_a_provider_has_no_more_time_than_its_own_setting() -> None:
    async with World() as world:
        slow = engine("slow", world.serve(hang), timeout=0.1)
        good = engine("good", world.route("GET", "/", found("x")))
        response = await Desk(world).search(chain(slow, good), within=15.0)
        assert outcomes(response) == [("slow", "timeout"), ("good", "ok")]
        assert response.took < 7.0  # half of the caller's time would have been more


async def test_waiting_for_a_free_slot_counts_as_time() -> None:
    async with World() as world:
        paced = engine("paced", world.route("GET", "/", found("x")), interval=60.0)
        other = engine("other", world.route("GET", "/other", found("y")))
        desk = Desk(world)
        await desk.search(paced)
        response = await desk.search(chain(paced, other))
        assert outcomes(response) == [("paced", "timeout"), ("other", "ok")]
        assert response.attempts[0].detail == "no time was left for it, or to wait for its next free slot"
        assert (response.sent_to, desk.is_healthy(paced)) == (("other",), True)


# hedging


async def test_the_second_starts_when_the_first_is_silent_and_the_loser_is_hung_up_on() -> None:
    async with World() as world:
        closed = asyncio.Event()

        async def silent(connection: Connection) -> None:
            await connection.request()
            await connection.until_gone()
            closed.set()

        desk = Desk(world)
        first, second = engine("first", world.serve(silent)), engine("second", world.route("GET", "/", found("x")))
        response = await desk.search(chain(first, second), hedge=0.05)
        await closed.wait()
        assert names(response) == ["x"]
        assert [(one.provider, one.outcome, one.detail) for one in response.attempts] == [
            ("second", Outcome.OK, None),
            ("first", Outcome.CANCELLED, "another provider answered first"),
        ]
        assert response.sent_to == ("second", "first")
        assert desk.is_healthy(first)
        assert desk.open_connections == 1  # the kept one of the winner


async def test_a_first_answer_within_the_hedge_is_the_only_call() -> None:
    async with World() as world:
        first, second = (engine(name, world.route("GET", f"/{name}", found(name))) for name in ("a", "b"))
        response = await Desk(world).search(chain(first, second), hedge=5.0)
        assert (outcomes(response), len(world.requests)) == ([("a", "ok")], 1)


async def test_the_first_may_still_win_after_the_second_has_started() -> None:
    async with World() as world:
        slow, silent = Gate(found("slow")), Gate(found("silent"))
        first = engine("first", world.route("GET", "/first", slow))
        second = engine("second", world.route("GET", "/second", silent))
        searching = asyncio.create_task(Desk(world).search(chain(first, second), hedge=0.05))
        await silent.until(1)
        slow.opened.set()
        response = await searching
        assert (names(response), outcomes(response)) == (["slow"], [("first", "ok"), ("second", "cancelled")])


async def test_a_failing_first_one_starts_the_next_at_once() -> None:
    async with World() as world:
        first = engine("first", world.route("GET", "/first", TOO_MANY))
        second = engine("second", world.route("GET", "/second", (200, {}, NOTHING)))
        third = engine("third", world.route("GET", "/third", found("x")))
        response = await Desk(world).search(chain(first, second, third), hedge=60.0)
        assert outcomes(response) == [("first", "rate_limited"), ("second", "empty"), ("third", "ok")]


async def test_a_hedged_search_in_which_all_fail_keeps_every_attempt() -> None:
    async with World() as world:
        plan = chain(
            engine("a", world.serve(hang)),
            engine("b", world.route("GET", "/b", TOO_MANY)),
            engine("c", world.route("GET", "/c", WRONG_JSON)),
        )
        error = await Desk(world).fail(plan, within=0.6, hedge=0.05)
        assert sorted(outcomes(error)) == [("a", "timeout"), ("b", "rate_limited"), ("c", "bad_response")]


async def test_cancelling_a_hedged_search_hangs_up_on_all() -> None:
    async with World() as world:
        gates = [Gate(found("x")), Gate(found("y"))]
        plan = chain(*(engine(str(n), world.route("GET", f"/{n}", gate)) for n, gate in enumerate(gates)))
        desk = Desk(world)
        searching = asyncio.create_task(desk.search(plan, hedge=0.02))
        await gates[1].until(1)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        assert desk.open_connections == 0
        assert all(desk.is_healthy(candidate) for candidate in plan.candidates)


# fusing


async def test_fused_hits_are_ranked_by_reciprocal_rank_and_list_all_their_providers() -> None:
    async with World() as world:
        a = engine("a", world.route("GET", "/a", found("one", "two", "three")))
        b = engine("b", world.route("GET", "/b", found("two", row("four"), row("one", title="Of b"))))
        response = await Desk(world).search(fused(a, b))
        assert [(hit.url.rpartition("/")[2], hit.score, hit.providers) for hit in response.hits] == [
            ("two", round(1 / 62 + 1 / 61, 6), ("a", "b")),
            ("one", round(1 / 61 + 1 / 63, 6), ("a", "b")),
            ("four", round(1 / 62, 6), ("b",)),
            ("three", round(1 / 63, 6), ("a",)),
        ]
        assert response.hits[1].title == "Title one"
        assert outcomes(response) == [("a", "ok"), ("b", "ok")]


async def test_a_fusion_asks_all_at_once() -> None:
    async with World() as world:
        gates = [Gate(found(name)) for name in "abc"]
        plan = fused(*(engine(str(n), world.route("GET", f"/{n}", gate)) for n, gate in enumerate(gates)))
        searching = asyncio.create_task(Desk(world).search(plan))
        for gate in gates:
            await gate.until(1)
        for gate in gates:
            gate.opened.set()
        assert names(await searching) == ["a", "b", "c"]


async def test_what_failed_in_a_fusion_is_kept_beside_what_answered() -> None:
    async with World() as world:
        plan = fused(
            engine("a", world.route("GET", "/a", TOO_MANY)),
            engine("b", world.route("GET", "/b", found("x"))),
            engine("c", world.route("GET", "/c", (200, {}, NOTHING))),
        )
        response = await Desk(world).search(plan)
        assert (names(response), outcomes(response)) == (["x"], [("a", "rate_limited"), ("b", "ok"), ("c", "empty")])
        assert response.sent_to == ("a", "b", "c")


async def test_a_fusion_gives_no_more_hits_than_were_wanted() -> None:
    async with World() as world:
        plan = fused(*(engine(n, world.route("GET", f"/{n}", found(f"{n}1", f"{n}2", f"{n}3"))) for n in "ab"))
        assert names(await Desk(world).search(plan, count=3)) == ["a1", "b1", "a2"]


async def test_a_fusion_in_which_all_fail_keeps_every_attempt() -> None:
    async with World() as world:
        plan = fused(
            engine("a", world.route("GET", "/a", TOO_MANY)), engine("b", world.route("GET", "/b", (200, {}, NOTHING)))
        )
        error = await Desk(world).fail(plan)
        assert (error.outcome, outcomes(error)) == (Outcome.RATE_LIMITED, [("a", "rate_limited"), ("b", "empty")])


# cancelling


@pytest.mark.parametrize("kind", ["one", "chain", "fuse"])
async def test_cancelling_a_search_hangs_up_and_blames_nobody(kind: Any) -> None:
    async with World() as world:
        desk, gate = Desk(world), Gate(found("x"))
        candidate = engine("slow", world.route("GET", "/", gate))
        other = engine("other", world.route("GET", "/other", found("y")))
        plan = Plan(kind, (candidate,) if kind == "one" else (candidate, other))
        searching = asyncio.create_task(desk.search(plan))
        await gate.until(1)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        assert desk.is_healthy(candidate)
        assert desk.open_connections <= 1  # a fusion's other one may have been answered, and is kept
        response = await desk.search(other)
        assert outcomes(response) == [("other", "ok")]


async def test_a_provider_that_is_not_reachable_did_not_receive_the_query() -> None:
    async with World() as world:
        closed = engine("closed", world.closed_port())
        nameless = engine("nameless", "http://nowhere.example:8080")
        good = engine("good", world.route("GET", "/", found("x")))
        response = await Desk(world).search(chain(closed, nameless, good))
        assert outcomes(response) == [("closed", "network"), ("nameless", "network"), ("good", "ok")]
        assert response.sent_to == ("good",)
        assert response.notes == ("the network was not reachable (closed, nameless)",)


async def test_a_provider_that_broke_off_after_the_request_did_receive_it() -> None:
    async with World() as world:
        broken = engine("broken", world.serve(reply(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")))
        good = engine("good", world.route("GET", "/", found("x")))
        response = await Desk(world).search(chain(broken, good))
        assert (outcomes(response)[0], response.sent_to) == (("broken", "bad_response"), ("broken", "good"))
        assert response.notes == ()


def test_the_verdict_on_attempts_without_hits() -> None:
    def attempts(*became: Outcome) -> list[Attempt]:
        return [Attempt(provider="p", outcome=outcome) for outcome in became]

    assert verdict(attempts()) is Outcome.UNAVAILABLE
    assert verdict(attempts(Outcome.UNAVAILABLE, Outcome.EMPTY)) is Outcome.EMPTY
    assert verdict(attempts(Outcome.EMPTY, Outcome.FILTERED)) is Outcome.FILTERED
    assert verdict(attempts(Outcome.UNAVAILABLE, Outcome.UNSUPPORTED)) is Outcome.UNSUPPORTED
