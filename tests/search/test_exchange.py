"""Conversations of several steps: handshakes, what is remembered between them, several places, programs, budgets."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.search.world import Desk, Engine, Gate, chain, engine, found, fused, names, numbered, outcomes, successive
from tests.world import Recorded, World
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.process import Printed, Program
from webseam.providers.base import Aside, Conversation, Hits, Memory, Provider, ProviderConfig, Reply
from webseam.providers.verdicts import failure as verdict
from webseam.resilience.ledger import Limits
from webseam.search.route import Candidate, Plan


class Greeting(Engine):
    """Says hello first and remembers the answer, as services with sessions want it."""

    def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        kept = memory.get("session")
        if kept is None:
            reply: Reply = yield Aside(Request("GET", config.url("/hello")))
            if reply.status != 200:
                raise verdict(reply)
            kept = reply.json()
            memory.set("session", kept, ttl=60)
        request = self.request(search, config)
        reply = yield replace(request, headers=(*request.headers, ("X-Session", kept["session"])))
        if reply.status == 404:
            memory.delete("session")
            return (yield from self.converse(search, config, memory))
        return self.parse(reply, search, config)


def greeted(*answers: Any) -> Any:
    numbers = iter(range(1, 10))
    rest = successive(*answers)

    def answer(request: Recorded) -> Any:
        return (200, {}, {"session": f"s{next(numbers)}"}) if request.path == "/hello" else rest(request)

    return answer


def paths(world_requests: list[Recorded]) -> list[str]:
    return [request.path for request in world_requests]


async def test_a_handshake_is_made_once_and_its_session_is_remembered() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/hello", greeted())
        site.route("GET", "/", found("x"))
        desk, candidate = Desk(world), engine("greeter", site.url, base=Greeting)
        assert names(await desk.search(candidate, "one")) == ["x"]
        assert names(await desk.search(candidate, "two")) == ["x"]
    assert paths(site.requests) == ["/hello", "/", "/"]
    assert [request.headers.get("x-session") for request in site.requests] == [None, "s1", "s1"]


async def test_what_is_remembered_belongs_to_one_key_at_one_address() -> None:
    async with World() as world:
        first, second = world.site(), world.site()
        for site in (first, second):
            site.route("GET", "/hello", greeted())
            site.route("GET", "/", found("x"))
        desk = Desk(world)
        for url, secret in ((first.url, "key-one"), (first.url, "key-two"), (second.url, "")):
            await desk.search(engine("greeter", url, base=Greeting, secret=secret))
    assert (paths(first.requests), paths(second.requests)) == (["/hello", "/"] * 2, ["/hello", "/"])


async def test_a_session_the_server_forgot_is_made_anew() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/hello", greeted())
        site.route("GET", "/", successive(found("x"), (404, {}, {"error": "no such session"}), found("y")))
        desk, candidate = Desk(world), engine("greeter", site.url, base=Greeting)
        await desk.search(candidate, "one")
        assert names(await desk.search(candidate, "two")) == ["y"]
    assert [request.headers.get("x-session") for request in site.requests] == [None, "s1", "s1", None, "s2"]


async def test_a_handshake_takes_no_turn_and_no_call_of_a_budget_and_received_no_query() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/hello", (500, {}, {"error": "down"}))
        site.route("GET", "/", found("x"))
        desk = Desk(world)
        candidate = limited(engine("greeter", site.url, base=Greeting, interval=3600.0), Limits(calls_day=1))
        failure = await desk.fail(candidate)
        assert (failure.outcome, failure.sent_to) == (Outcome.UPSTREAM, ())
        site.route("GET", "/hello", greeted())
        assert names(await desk.search(candidate)) == ["x"]


class Endless(Engine):
    def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        while True:
            yield Aside(self.request(search, config))


async def test_a_conversation_that_comes_to_no_end_is_ended() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", found("x"))
        failure = await Desk(world).fail(engine("endless", site.url, base=Endless))
        assert len(site.requests) == 12
    assert failure.outcome is Outcome.BAD_RESPONSE
    assert "again and again without coming to an answer" in failure.detail


# Programs.


class Script(Engine):
    means = "program"
    code = ""

    def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        printed: Printed = yield Program(argv=(sys.executable, "-I", "-c", self.code, search.query))
        hits = Hits(self.id)
        for name in printed.stdout.split():
            hits.add(url=f"https://example.org/{name}", title=name)
        return hits.parsed()


async def test_a_program_is_run_in_place_of_a_request_and_received_the_query() -> None:
    async with World() as world:
        candidate = engine("script", "", base=Script, code="import sys; print(sys.argv[1], 'b')")
        response = await Desk(world).search(candidate, "words")
    assert (names(response), response.sent_to) == (["words", "b"], ("script",))


async def test_a_program_that_is_not_there_is_unavailable_and_received_nothing() -> None:
    class Missing(Script):
        def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
            yield Program(argv=("no-such-program-anywhere", search.query))
            raise AssertionError("there was nothing to read")

    async with World() as world:
        desk = Desk(world)
        candidate = limited(engine("script", "", base=Missing), Limits(calls_day=1))
        for _ in range(2):  # nothing was counted, so the second time says the same
            failure = await desk.fail(candidate)
            assert (failure.outcome, failure.sent_to) == (Outcome.UNAVAILABLE, ())
            assert "no-such-program-anywhere" in failure.detail


async def test_a_program_that_takes_too_long_is_a_timeout() -> None:
    async with World() as world:
        candidate = engine("script", "", base=Script, code="import time; time.sleep(60)")
        failure = await Desk(world).fail(candidate, within=1.0)
    assert failure.outcome is Outcome.TIMEOUT


# Several places of one provider.


def places(*candidates: Candidate, kind: Any = "one") -> Plan:
    return Plan(kind, candidates)


async def test_the_places_of_a_provider_are_tried_in_order_and_each_is_recorded() -> None:
    async with World() as world:
        near, far = world.site(), world.site()
        near.route("GET", "/", (500, {}, {"error": "not today"}))
        far.route("GET", "/", found("x"))
        own = engine("twofold", near.url)
        plan = places(Candidate(own.provider, replace(own.config, route="local")), engine("twofold", far.url))
        response = await Desk(world).search(plan)
    assert (names(response), outcomes(response)) == (["x"], [("twofold", "upstream"), ("twofold", "ok")])
    assert (response.attempts[0].detail or "").startswith("local route: HTTP 500")


async def test_an_empty_answer_at_one_place_is_not_the_last_word() -> None:
    async with World() as world:
        near, far = world.site(), world.site()
        near.route("GET", "/", found())
        far.route("GET", "/", found("x"))
        plan = places(engine("twofold", near.url), engine("twofold", far.url))
        assert names(await Desk(world).search(plan)) == ["x"]


async def test_a_fusion_asks_the_further_places_of_a_provider_only_when_the_first_has_nothing() -> None:
    async with World() as world:
        sites = [world.site() for _ in range(3)]
        for site, name in zip(sites, "xyz", strict=True):
            site.route("GET", "/", found(name))
        first, second = engine("twofold", sites[0].url), engine("twofold", sites[1].url)
        response = await Desk(world).search(fused(first, second, engine("other", sites[2].url)))
    assert (sorted(names(response)), [len(site.requests) for site in sites]) == (["x", "z"], [1, 0, 1])


# Budgets.


def limited(candidate: Candidate, limits: Limits, *, price: float | None = None, in_all: Limits | None = None) -> Any:
    """Return the candidate with a budget of its own and one of all together."""
    config = replace(candidate.config, limits=limits, limits_in_all=in_all or Limits(), price=price)
    return Candidate(candidate.provider, config)


async def test_over_its_budget_a_provider_is_quota_with_the_reset_and_nothing_is_sent() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", found("x"))
        desk, candidate = Desk(world), limited(engine("dear", site.url), Limits(calls_day=2))
        for _ in range(2):
            await desk.search(candidate)
        failure = await desk.fail(candidate)
        assert len(site.requests) == 2
        attempt = failure.attempts[0]
        assert (failure.outcome, failure.sent_to) == (Outcome.QUOTA, ())
        assert 0 < (attempt.retry_after or 0) <= 86_400
        assert "2 calls a day" in (attempt.detail or "")
        assert "00:00 UTC" in (attempt.detail or "")
        assert "max_calls_day" in (failure.hint or "")


async def test_the_users_own_limit_is_not_held_against_the_provider() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", found("x"))
        desk, candidate = Desk(world), engine("dear", site.url)
        await desk.search(limited(candidate, Limits(calls_day=1)))
        await desk.fail(limited(candidate, Limits(calls_day=1)))
        assert desk.is_healthy(candidate)
        assert names(await desk.search(limited(candidate, Limits(calls_day=5)))) == ["x"]


async def test_a_chain_goes_on_where_a_budget_is_used_up() -> None:
    async with World() as world:
        dear, free = world.site(), world.site()
        dear.route("GET", "/", found("x"))
        free.route("GET", "/", found("y"))
        plan = chain(limited(engine("dear", dear.url), Limits(calls_day=0)), engine("free", free.url))
        response = await Desk(world).search(plan)
    assert (names(response), outcomes(response)) == (["y"], [("dear", "quota"), ("free", "ok")])


async def test_the_budget_of_all_counts_every_provider() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", found("x"))
        desk, in_all = Desk(world), Limits(calls_month=3)
        for name in ("a", "b", "c"):
            await desk.search(limited(engine(name, site.url), Limits(), in_all=in_all))
        failure = await desk.fail(limited(engine("d", site.url), Limits(), in_all=in_all))
    assert (failure.outcome, len(site.requests)) == (Outcome.QUOTA, 3)


@pytest.mark.parametrize(
    "used, words",
    [pytest.param(7, None, id="70 %"), pytest.param(8, "80 %", id="80 %"), pytest.param(9, "90 %", id="90 %")],
)
async def test_a_note_tells_when_three_quarters_of_a_budget_are_used(used: int, words: str | None) -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", found("x"))
        desk, candidate = Desk(world), limited(engine("dear", site.url), Limits(calls_day=10))
        for _ in range(used):
            response = await desk.search(candidate)
    assert [words in note for note in response.notes] == ([True] if words else [])


async def test_every_request_counts_further_pages_and_second_tries_too() -> None:
    class Paged(Engine):
        def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Any:
            parsed = super().parse(reply, search, config)
            parsed.more = reply.request
            return parsed

    async with World() as world:
        site = world.site()
        site.route("GET", "/", successive(found("a"), found("b"), found("c")))
        desk = Desk(world)
        candidate = limited(engine("dear", site.url, base=Paged), Limits(calls_day=2))
        response = await desk.search(candidate, count=3)
        assert (names(response), len(site.requests)) == (["a", "b"], 2)
        assert "Dear: page 3 failed (quota)" in response.notes


async def test_a_second_try_beyond_the_budget_is_not_made_and_the_first_error_stands() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", successive((503, {}, {"error": "down"}), found("x")))
        failure = await Desk(world).fail(limited(engine("dear", site.url), Limits(calls_day=1)))
    assert (failure.outcome, len(site.requests)) == (Outcome.UPSTREAM, 1)


async def test_what_a_service_reports_is_the_cost_else_its_declared_price_and_refusals_are_free() -> None:
    class Reporting(Engine):
        def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Any:
            parsed = super().parse(reply, search, config)
            parsed.cost = reply.json().get("cost")
            return parsed

    async with World() as world:
        site = world.site()
        answers = [(200, {}, {"results": [], "cost": 0.5}), found("x"), (400, {}, {"error": "no"})]
        site.route("GET", "/", successive(*answers))
        desk = Desk(world)
        candidate = limited(engine("dear", site.url, base=Reporting), Limits(dollars_day=5.0), price=0.25)
        costs = [(await desk.search(candidate)).attempts[0].cost for _ in range(2)]
        await desk.fail(candidate)
        spent = desk.ledger.usage().today["dear"]
    assert (costs, spent.calls, spent.dollars) == ([0.5, 0.25], 3, 0.75)


@pytest.mark.parametrize("reported", [float("inf"), float("nan"), -1.0, True, "a lot", [1]])
async def test_a_cost_that_cannot_be_one_is_not_believed(reported: Any) -> None:
    class Boasting(Engine):
        def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Any:
            parsed = super().parse(reply, search, config)
            parsed.cost = reported
            return parsed

    async with World() as world:
        site = world.site()
        site.route("GET", "/", found("x"))
        desk = Desk(world)
        candidate = limited(engine("dear", site.url, base=Boasting), Limits(dollars_day=5.0), price=0.25)
        response = await desk.search(candidate)
    assert (response.attempts[0].cost, desk.ledger.usage().today["dear"].dollars) == (0.25, 0.25)


@pytest.mark.parametrize("asked_for", [float("inf"), float("nan"), -5.0, True])
async def test_a_wait_that_cannot_be_one_is_not_believed(asked_for: Any) -> None:
    class Waiting(Engine):
        def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Any:
            return ProviderError("slow down", outcome=Outcome.RATE_LIMITED, retry_after=asked_for)

    async with World() as world:
        site = world.site()
        site.route("GET", "/", (429, {}, {"error": "slow down"}))
        failure = await Desk(world).fail(engine("waiting", site.url, base=Waiting))
    assert (failure.outcome, failure.attempts[0].retry_after) == (Outcome.RATE_LIMITED, None)


async def test_money_that_is_not_left_is_not_spent() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", found("x"))
        desk, candidate = Desk(world), limited(engine("dear", site.url), Limits(dollars_month=0.5), price=0.2)
        for _ in range(2):
            await desk.search(candidate)
        failure = await desk.fail(candidate)
    assert (failure.outcome, len(site.requests)) == (Outcome.QUOTA, 2)


async def test_a_call_that_never_left_is_not_counted() -> None:
    async with World() as world:
        desk = Desk(world)
        candidate = limited(engine("gone", world.closed_port()), Limits(calls_day=1))
        for _ in range(2):
            assert (await desk.fail(candidate)).outcome is Outcome.NETWORK


def test_a_provider_has_one_place_and_is_as_declared_unless_it_says_otherwise() -> None:
    candidate = engine("plain", "http://127.0.0.1:1")
    assert candidate.provider.routes(candidate.config, None) == (candidate.config,)  # type: ignore[arg-type]
    assert candidate.provider.fitted(candidate.config) is candidate.provider
    other: Provider = candidate.provider.copied(max_count=3)
    assert (other.max_count, candidate.provider.max_count, other.id) == (3, 50, "plain")


@pytest.mark.parametrize(
    "base, path, url",
    [
        pytest.param("https://api.example", "/v1/search", "https://api.example/v1/search", id="bare"),
        pytest.param("https://api.example/", "/v1/search", "https://api.example/v1/search", id="slash"),
        pytest.param("https://api.example/gateway", "/v1/search", "https://api.example/gateway/v1/search", id="path"),
        pytest.param("https://api.example/v1", "/v1/search", "https://api.example/v1/search", id="its beginning"),
        pytest.param("https://api.example/x/v1/", "/v1/search", "https://api.example/x/v1/search", id="below a path"),
        pytest.param("https://api.example/v1/search", "/v1/search", "https://api.example/v1/search", id="whole"),
        pytest.param("https://api.example/av1", "/v1/search", "https://api.example/av1/v1/search", id="not a part"),
        pytest.param("https://api.example/search", "/v1/search", "https://api.example/search/v1/search", id="its end"),
        pytest.param("http://search", "/search", "http://search/search", id="a host of that name"),
        pytest.param("https://api.example/v1", "/", "https://api.example/v1/", id="root"),
        pytest.param("https://api.example/v1", "", "https://api.example/v1", id="nothing"),
    ],
)
def test_a_base_url_is_not_doubled(base: str, path: str, url: str) -> None:
    assert ProviderConfig(provider="some", base_url=base).url(path) == url


async def test_a_further_page_is_not_paid_for_when_enough_is_left_after_the_filters() -> None:
    class Paged(Engine):
        def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Any:
            parsed = super().parse(reply, search, config)
            parsed.more = reply.request
            return parsed

    async with World() as world:
        site = world.site()
        site.route("GET", "/", successive(numbered(10), found("other")))
        candidate = engine("paged", site.url, base=Paged)
        response = await Desk(world).search(candidate, count=8, include_domains=("example.org",))
        assert (len(response.hits), site.requests[0].query["count"], len(site.requests)) == (8, ["16"], 1)
        site.route("GET", "/", successive(numbered(10), numbered(20)))
        response = await Desk(world).search(candidate, count=12, include_domains=("example.org",))
        assert (len(response.hits), len(site.requests)) == (12, 3)


async def test_pages_that_do_not_end_are_asked_for_up_to_a_bound_and_the_response_says_so() -> None:
    class Paged(Engine):
        def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Any:
            parsed = super().parse(reply, search, config)
            parsed.more = reply.request
            return parsed

    async with World() as world:
        site = world.site()
        site.route("GET", "/", successive(*(found(f"x{number}") for number in range(9))))
        response = await Desk(world).search(engine("paged", site.url, base=Paged), count=9)
    assert (len(response.hits), len(site.requests)) == (5, 5)
    assert response.notes == ("Paged: no more than 5 of its pages are asked for",)


async def test_nothing_found_that_is_stated_as_an_error_is_asked_for_again_without_the_dates() -> None:
    nothing = (404, {}, {"error": "no results found"})
    async with World() as world:
        site = world.site()
        site.route("GET", "/", successive(nothing, found("x")))
        response = await Desk(world).search(engine("some", site.url), after="2026-01-01")
        assert (names(response), "without the date limit" in response.notes[0]) == (["x"], True)
        site.route("GET", "/", nothing)
        response = await Desk(world).search(chain(engine("some", site.url)), after="2026-01-01")
        assert (response.outcome, len(site.requests)) == (Outcome.EMPTY, 4)


async def test_days_that_were_sent_as_an_age_are_lifted_too_when_they_emptied_the_answer() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", successive(found(), found("x")))
        options = {"freshness": Engine.options["freshness"]}
        recent = (datetime.now(UTC).date() - timedelta(days=3)).isoformat()
        response = await Desk(world).search(engine("some", site.url, options=options), after=recent)
    assert (names(response), len(site.requests)) == (["x"], 2)


async def test_a_provider_is_told_how_much_time_is_left_at_most() -> None:
    class Timed(Engine):
        def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
            return Request("GET", f"{config.url('/')}?seconds={config.timeout:g}")

    async with World() as world:
        site = world.site()
        site.route("GET", "/", found("x"))
        for within in (3.0, 100.0):
            await Desk(world).search(engine("timed", site.url, base=Timed), within=within)
        assert [request.query["seconds"] for request in site.requests] == [["3"], ["15"]]


async def test_a_second_try_that_no_budget_is_left_for_leaves_the_first_failure_standing() -> None:
    class Patient(Engine):
        retries_broken = True

    async with World() as world:
        site = world.site()
        site.route("GET", "/", (200, {}, "no json"))
        desk = Desk(world)
        candidate = limited(engine("custom-like", site.url, base=Patient), Limits(calls_day=1))
        failure = await desk.fail(candidate)
        assert (failure.outcome, len(site.requests)) == (Outcome.BAD_RESPONSE, 1)
        failure = await desk.fail(limited(engine("custom-like", site.url, base=Patient), Limits(calls_day=9)))
        assert (failure.outcome, len(site.requests)) == (Outcome.BAD_RESPONSE, 3)
        spent = desk.ledger.usage().today["custom-like"]
    assert spent.calls == 3


class Silent(Engine):
    def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        return Hits(self.id).parsed()
        yield


async def test_a_conversation_may_end_without_anything_sent() -> None:
    async with World() as world:
        response = await Desk(world).search(chain(engine("silent", world.site().url, base=Silent)))
    assert (response.outcome, response.sent_to) == (Outcome.EMPTY, ())


async def test_the_same_key_at_another_address_is_not_held_back_by_what_happened_at_the_first() -> None:
    async with World() as world:
        wrong, right = world.site(), world.site()
        wrong.route("GET", "/", (401, {}, {"error": "who are you"}))
        right.route("GET", "/", found("x"))
        desk = Desk(world)
        await desk.fail(chain(engine("moved", wrong.url, secret="a-key-of-mine")))
        assert names(await desk.search(chain(engine("moved", right.url, secret="a-key-of-mine")))) == ["x"]


async def test_who_was_given_up_before_its_turn_came_received_nothing() -> None:
    begun = asyncio.Event()

    class Marked(Engine):
        def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
            begun.set()
            return super().converse(search, config, memory)

    async with World() as world:
        first, second = world.site(), world.site()
        gate = Gate(found("x"))
        first.route("GET", "/", gate)
        second.route("GET", "/", found("y"))
        desk = Desk(world)
        paced = engine("paced", second.url, base=Marked, interval=3600.0)
        await desk.search(paced)
        begun.clear()
        searching = asyncio.create_task(desk.search(chain(engine("slow", first.url), paced), hedge=0.05))
        await begun.wait()  # from here it waits for its turn, in vain
        gate.opened.set()
        response = await searching
    assert (names(response), response.sent_to) == (["x"], ("slow",))
