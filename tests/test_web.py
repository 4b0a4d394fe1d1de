"""The facade that every front and every program calls: one operation from settings to response."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import webseam
from tests.search.test_library import Shelf
from tests.search.world import (
    CAPTCHA,
    NOTHING,
    TOO_MANY,
    Fakes,
    Gate,
    fakes,
    found,
    mcp_answer,
    names,
    numbered,
    outcomes,
    row,
    successive,
)
from tests.world import Connection, Recorded, World
from webseam import (
    AllProvidersFailed,
    AsyncWeb,
    Outcome,
    ProviderError,
    RequestError,
    SearchRequest,
    SettingsError,
    Web,
)
from webseam.net.lane import MAX_IDLE
from webseam.resilience.health import Standing
from webseam.search.exchange import place_of
from webseam.search.recall import SPACE, identity_of, key_of
from webseam.secrets import SavedKeys

SOURCE = Path(webseam.__file__).parents[1]


def web(services: Fakes, *providers: str, more: Mapping[str, str] | None = None, **options: Any) -> AsyncWeb:
    return AsyncWeb(environment={**os.environ, **services.environment(*providers), **(more or {})}, **options)


def write_settings(text: str) -> Path:
    path = Path(os.environ["WEBSEAM_CONFIG_DIR"]) / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def standing_of(own: AsyncWeb, name: str) -> Standing:
    """What is held against a provider, with the key and at the address it is set up with."""
    candidate = own.plan(name).candidates[0]
    return own.health.look(name, place_of(candidate.provider, candidate.config))


# one search


@pytest.mark.parametrize("name", ["exa", "tavily", "brave", "searxng", "exa-free", "duckduckgo"])
async def test_every_provider_answers_over_a_real_connection(name: str) -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, name) as own:
            response = await own.search("parse a url", provider=name)
        assert names(response) == [f"from-{name}"]
        assert (response.query, response.outcome, response.cached) == ("parse a url", Outcome.OK, False)
        assert (outcomes(response), response.sent_to) == ([(name, "ok")], (name,))
        assert response.hits[0].providers == (name,)
        assert 0 < response.took < 20


async def test_auto_asks_in_order_until_one_answers_and_lists_the_others() -> None:
    async with World() as world:
        services = fakes(world, exa=CAPTCHA, tavily=TOO_MANY)
        async with web(services, "exa", "tavily", "brave", "duckduckgo") as own:
            response = await own.search("words")
        assert names(response) == ["from-brave"]
        assert services.asked == ["exa", "tavily", "brave"]
        assert [(one.provider, str(one.outcome), one.detail) for one in response.attempts[3:]] == [
            ("searxng", "unavailable", "switched off in the settings"),
            ("exa-free", "unavailable", "switched off in the settings"),
            ("local", "unavailable", "switched off in the settings"),
        ]
        assert response.sent_to == ("exa", "tavily", "brave")


async def test_exa_without_a_key_is_answered_by_its_free_tier_and_the_response_says_so() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**os.environ, **services.environment("exa", "exa-free", keys=False)}
        async with AsyncWeb(environment=environment) as own:
            response = await own.search("words", provider="exa")
        assert (names(response), services.asked) == (["from-exa-free"], ["exa-free"])
        assert response.notes[0] == "exa has no key, so exa-free was asked (Exa (mcp.exa.ai) receives the query)"


async def test_a_pinned_provider_without_a_key_sends_nothing() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**os.environ, **services.environment("tavily", "duckduckgo", keys=False)}
        async with AsyncWeb(environment=environment) as own:
            with pytest.raises(ProviderError) as raised:
                await own.search("words", provider="tavily")
        assert raised.value.outcome is Outcome.UNAVAILABLE
        assert (services.asked, world.connections) == ([], [])


async def test_a_fusion_of_real_providers_merges_their_hits() -> None:
    async with World() as world:
        services = fakes(world, exa=found("both", "exa-alone"), tavily=found("tavily-alone", "both"))
        async with web(services, "exa", "tavily") as own:
            response = await own.search("words", provider="fuse:exa,tavily")
        assert [(hit.url.rpartition("/")[2], hit.providers) for hit in response.hits] == [
            ("both", ("exa", "tavily")),
            ("tavily-alone", ("tavily",)),
            ("exa-alone", ("exa",)),
        ]


async def test_hedging_is_a_setting() -> None:
    async with World() as world:
        gate = Gate(found("late"))
        services = fakes(world, exa=gate)
        async with web(services, "exa", "tavily", settings={"search.hedge": 0.05}) as own:
            response = await own.search("words", provider="exa,tavily")
            assert own.open_connections == 1
        assert (names(response), outcomes(response)) == (["from-tavily"], [("tavily", "ok"), ("exa", "cancelled")])


async def test_a_whole_request_may_be_given_and_settings_fill_in_the_rest() -> None:
    async with World() as world:
        services = fakes(world, searxng=numbered(10))
        settings = {"search.count": 3, "search.language": "de", "search.region": "AT"}
        async with web(services, "searxng", settings=settings) as own:
            await own.search("one", provider="searxng")
            await own.search("two", provider="searxng", language="fr", count=4)
            await own.search(SearchRequest(query="three"), provider="searxng")
        sent = [request.query for request in services.site.requests]
        assert [(query["q"], query.get("language")) for query in sent] == [
            (["one"], ["de-AT"]),
            (["two"], ["fr-AT"]),
            (["three"], None),
        ]


@pytest.mark.parametrize(
    ("query", "options", "field"),
    [
        pytest.param("", {}, "query", id="empty query"),
        pytest.param(" \t\n", {}, "query", id="blank query"),
        pytest.param("x" * 3_000, {}, "query", id="long query"),
        pytest.param("a\x00b", {}, "query", id="NUL"),
        pytest.param("half \ud800", {}, "query", id="half of a surrogate pair"),
        pytest.param(7, {}, "query", id="no text"),
        pytest.param("q", {"count": 0}, "count", id="count 0"),
        pytest.param("q", {"count": 1000}, "count", id="count 1000"),
        pytest.param("q", {"count": True}, "count", id="count True"),
        pytest.param("q", {"page": 0}, "page", id="page 0"),
        pytest.param("q", {"include_domains": ["not a domain"]}, "include_domains", id="malformed domain"),
        pytest.param("q", {"exclude_domains": ["http://"]}, "exclude_domains", id="empty domain"),
        pytest.param("q", {"include_domains": "example.org"}, "include_domains", id="text for a list"),
        pytest.param("q", {"after": "2024-02-02", "before": "2024-02-01"}, "after", id="after later than before"),
        pytest.param("q", {"after": "yesterday"}, "after", id="no day"),
        pytest.param("q", {"before": "2024-02-30"}, "before", id="no such day"),
        pytest.param("q", {"freshness": "hour"}, "freshness", id="freshness"),
        pytest.param("q", {"language": "english"}, "language", id="language"),
        pytest.param("q", {"region": "Germany"}, "region", id="region"),
        pytest.param("q", {"safe": "very"}, "safe", id="safe"),
        pytest.param("q", {"kind": "image"}, "kind", id="kind"),
        pytest.param("q", {"timeout": 0}, "timeout", id="no time"),
        pytest.param("q", {"timeout": float("nan")}, "timeout", id="time that is not a number"),
        pytest.param("q", {"provider": "tavly"}, "provider", id="unknown provider"),
        pytest.param("q", {"provider": ","}, "provider", id="no provider"),
    ],
)
async def test_wrong_input_is_invalid_names_the_field_and_sends_nothing(
    query: Any, options: dict[str, Any], field: str
) -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily") as own:
            with pytest.raises(RequestError) as raised:
                await own.search(query, **options)
        assert (raised.value.outcome, raised.value.field) == (Outcome.INVALID, field)
        assert raised.value.detail.startswith(f"{field}: ")
        assert world.connections == []


@pytest.mark.parametrize(
    ("settings", "field", "hint"),
    [
        pytest.param({"search.hegde": 1}, "search.hegde", "did you mean hedge?", id="key"),
        pytest.param({"serach.hedge": 1}, "section [serach]", "did you mean search?", id="section"),
        pytest.param({"exa.contnets": "text"}, "exa.contnets", "did you mean contents?", id="of a provider"),
        pytest.param({"search.count": 0}, "search.count", None, id="value"),
    ],
)
def test_a_wrong_setting_is_named_with_the_nearest_known_one(
    settings: dict[str, Any], field: str, hint: str | None
) -> None:
    with pytest.raises(SettingsError) as raised:
        AsyncWeb(settings)
    assert (raised.value.field, raised.value.hint) == (field, hint)


# the cache


async def test_the_same_search_is_answered_from_the_cache_and_says_so() -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily", settings={"search.repeat_window": 0}) as own:
            first = await own.search("words")
            second = await own.search("words")
            third = await own.search("other words")
        assert services.asked == ["tavily", "tavily"]
        assert (first.cached, second.cached, third.cached) == (False, True, False)
        assert (second.hits, second.sent_to, second.notes) == (first.hits, (), ("from the cache, 0 s old",))


async def test_the_same_words_in_another_order_are_the_same_search_for_a_while() -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily") as own:
            await own.search("parse a URL")
            again = await own.search("  url  PARSE a ")
        assert services.asked == ["tavily"]
        assert (again.query, again.cached) == ("url  PARSE a", True)
        assert again.notes == (
            "the same words were searched 0 s ago; this is that answer, change the words to search anew",
        )


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        pytest.param({"search.cache_ttl": 0}, {}, id="switched off in the settings"),
        pytest.param({}, {"cache": False}, id="not wanted for this search"),
    ],
)
async def test_without_the_cache_every_search_is_sent(settings: dict[str, Any], options: dict[str, Any]) -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily", settings=settings) as own:
            responses = [await own.search("words", **options) for _ in range(3)]
        assert services.asked == ["tavily"] * 3
        assert [response.cached for response in responses] == [False] * 3


@pytest.mark.parametrize(
    "answer",
    [pytest.param((200, {}, NOTHING), id="empty"), pytest.param(found(row("x", url="javascript:")), id="filtered")],
)
async def test_what_was_not_found_is_not_remembered(answer: Any) -> None:
    async with World() as world:
        services = fakes(world, tavily=successive(answer, found("x")))
        async with web(services, "tavily") as own:
            assert not (await own.search("words")).hits
            assert names(await own.search("words")) == ["x"]


async def test_a_failure_is_not_remembered() -> None:
    async with World() as world:
        services = fakes(world, tavily=successive((500, {}, "broken"), found("x")))
        async with web(services, "tavily") as own:
            with pytest.raises(AllProvidersFailed):
                await own.search("words")
            assert names(await own.search("words")) == ["x"]


async def test_an_answer_of_this_machine_is_not_remembered_since_the_network_may_be_back(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("# Frobnicating\n\nHow to frobnicate a widget of one's own.\n")
    async with World() as world:
        services = fakes(world, tavily=successive((401, {}, {"error": "invalid api key"}), found("x")))
        more = {"WEBSEAM_LOCAL_ENABLED": "true"}
        async with web(services, "tavily", more=more, settings={"search.provider": "tavily,local"}) as own:
            own._answering._asker._library = Shelf(tmp_path)
            fallen_back = await own.search("frobnicate widget")
            own.health.forget("tavily")
            again = await own.search("frobnicate widget")
    assert (fallen_back.hits[0].providers, fallen_back.sent_to) == (("local",), ("tavily",))
    assert (names(again), again.cached) == (["x"], False)


async def test_an_entry_that_cannot_be_read_is_passed_over() -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily", settings={"search.repeat_window": 0}) as own:
            await own.search("words")
            key = key_of(identity_of(own.plan(), SearchRequest(query="words"), strict=False))
            own.store.set(SPACE, key, {"at": 1, "response": "nonsense"}, ttl=60)
            assert not (await own.search("words")).cached
        assert services.asked == ["tavily", "tavily"]


async def test_another_key_or_setting_is_another_search_to_the_cache() -> None:
    async with World() as world:
        services = fakes(world)
        for more in ({}, {"WEBSEAM_TAVILY_API_KEY": "another-key"}, {"WEBSEAM_TAVILY_SEARCH_DEPTH": "advanced"}):
            async with web(services, "tavily", more=more) as own:
                assert not (await own.search("words")).cached
        assert len(services.asked) == 3


async def test_another_instance_finds_what_one_has_found() -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily") as first:
            await first.search("words")
        async with web(services, "tavily") as second:
            response = await second.search("words")
        assert (response.cached, services.asked) == (True, ["tavily"])


# equal searches at once


async def test_a_hundred_equal_searches_at_once_are_one_call() -> None:
    async with World() as world:
        gate = Gate(found("x"))
        services = fakes(world, tavily=gate)
        async with web(services, "tavily") as own:
            searching = [asyncio.create_task(own.search("words")) for _ in range(100)]
            await gate.until(1)
            gate.opened.set()
            responses = await asyncio.gather(*searching)
        assert services.asked == ["tavily"]
        assert {tuple(names(response)) for response in responses} == {("x",)}


async def test_the_first_of_equal_searches_may_leave_without_the_others() -> None:
    async with World() as world:
        gate = Gate(found("x"))
        services = fakes(world, tavily=gate)
        async with web(services, "tavily") as own:
            leader, *others = [asyncio.create_task(own.search("words")) for _ in range(3)]
            await gate.until(1)
            leader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leader
            gate.opened.set()
            assert [names(await other) for other in others] == [["x"], ["x"]]
        assert services.asked == ["tavily"]


async def test_each_of_equal_searches_has_its_own_deadline() -> None:
    async with World() as world:
        gate = Gate(found("x"))
        services = fakes(world, tavily=gate)
        async with web(services, "tavily") as own:
            patient = asyncio.create_task(own.search("words", timeout=15))
            await gate.until(1)
            with pytest.raises(AllProvidersFailed) as raised:
                await own.search("words", timeout=0.1)
            gate.opened.set()
            assert names(await patient) == ["x"]
        assert (raised.value.outcome, services.asked) == (Outcome.TIMEOUT, ["tavily"])


# many at once, and cancelling


async def test_of_two_hundred_searches_one_in_ten_is_cancelled_and_nothing_is_left_or_blamed() -> None:
    async with World() as world:
        gate = Gate(found("x"))
        services = fakes(world, tavily=gate)
        async with web(services, "tavily") as own:
            searching = [asyncio.create_task(own.search(f"words {number}")) for number in range(200)]
            await gate.until(50)
            cancelled = searching[::10]
            for task in cancelled:
                task.cancel()
            ended = await asyncio.gather(*cancelled, return_exceptions=True)
            assert {type(each) for each in ended} == {asyncio.CancelledError}
            gate.opened.set()
            responses = await asyncio.gather(*(task for task in searching if task not in cancelled))
            assert Counter(tuple(names(response)) for response in responses) == {("x",): 180}
            assert asyncio.all_tasks() & set(searching) == set()
            assert own.open_connections <= MAX_IDLE
            standing = standing_of(own, "tavily")
            assert (standing.usable, standing.outcome) == (True, None)
        assert own.open_connections == 0


async def test_cancelling_a_search_closes_its_connection_and_blames_nobody() -> None:
    async with World() as world:
        arrived, gone = asyncio.Event(), asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.request()
            arrived.set()
            await connection.until_gone()
            gone.set()

        environment = {**fakes(world).environment("tavily"), "WEBSEAM_TAVILY_BASE_URL": world.serve(play)}
        async with AsyncWeb(environment={**os.environ, **environment}) as own:
            searching = asyncio.create_task(own.search("words"))
            await arrived.wait()
            searching.cancel()
            with pytest.raises(asyncio.CancelledError):
                await searching
            await gone.wait()
            assert (own.open_connections, standing_of(own, "tavily").outcome) == (0, None)


async def test_the_deadline_of_the_caller_is_the_deadline_of_everything() -> None:
    async with World() as world:
        services = fakes(world, exa=Gate(found("x")), tavily=Gate(found("y")))
        async with web(services, "exa", "tavily") as own:
            with pytest.raises(AllProvidersFailed) as raised:
                await own.search("words", timeout=0.4)
        assert raised.value.outcome is Outcome.TIMEOUT
        assert outcomes(raised.value)[:2] == [("exa", "timeout"), ("tavily", "timeout")]


async def test_a_failed_search_says_who_received_the_query() -> None:
    async with World() as world:
        services = fakes(world, exa=TOO_MANY, tavily=(500, {}, "broken"))
        async with web(services, "exa", "tavily") as own:
            with pytest.raises(AllProvidersFailed) as raised:
                await own.search("words", provider="exa,brave,tavily")
    assert raised.value.sent_to == ("exa", "tavily")


async def test_a_provider_that_was_given_almost_no_time_is_not_to_blame() -> None:
    async with World() as world:
        services = fakes(world, tavily=Gate(found("x")))
        async with web(services, "tavily") as own:
            for number in range(4):
                with pytest.raises(ProviderError, match="timeout"):
                    await own.search(f"words {number}", provider="tavily", timeout=0.2)
            assert standing_of(own, "tavily").usable


# settings that change while it runs


async def test_a_program_installed_meanwhile_is_known_to_the_next_search(tmp_path: Path) -> None:
    program = tmp_path / "my-search"
    settings = {
        "command.template": f"{program} {{{{query}}}}",
        "search.order": ["command", "local"],
        "local.enabled": False,
    }
    async with AsyncWeb(settings) as own:
        with pytest.raises(AllProvidersFailed, match="no program"):
            await own.search("words")
        program.write_text('#!/bin/sh\necho \'[{"url": "https://example.org/x"}]\'\n')
        program.chmod(0o755)
        assert names(await own.search("words")) == ["x"]


async def test_folders_that_a_program_trusts_may_set_anything(tmp_path: Path) -> None:
    (tmp_path / "webseam.toml").write_text('[exa]\nbase_url = "https://gateway.example"\n')
    async with AsyncWeb({"trust.folders": [str(tmp_path)]}, folder=tmp_path) as own:
        assert (own.settings().warnings, own.status().project_trusted) == ((), True)


async def test_a_project_that_is_not_trusted_cannot_break_searches_by_naming_what_it_may_not_set_up(
    tmp_path: Path,
) -> None:
    (tmp_path / "webseam.toml").write_text(
        '[providers.custom.wiki]\nurl = "https://wiki.example"\n'
        '[search]\norder = ["wiki", "tavily"]\nprovider = "wiki"\n'
    )
    warnings: list[str] = []
    async with World() as world:
        services = fakes(world)
        environment = {name: value for name, value in services.environment("tavily").items() if "ORDER" not in name}
        async with AsyncWeb(environment={**os.environ, **environment}, folder=tmp_path, warn=warnings.append) as own:
            assert names(await own.search("words")) == ["from-tavily"]
    assert [warning.split(": ", 1)[1].split(" because")[0] for warning in warnings] == [
        "providers.custom.wiki is ignored",
        "search.provider is ignored",
    ]


async def test_what_a_settings_file_may_not_set_is_said_even_when_the_search_cannot_be_planned(tmp_path: Path) -> None:
    (tmp_path / "webseam.toml").write_text('[exa]\napi_key = "not-from-here"\n')
    warnings: list[str] = []
    async with AsyncWeb(folder=tmp_path, warn=warnings.append) as own:
        with pytest.raises(SettingsError):
            await own.search("words", provider="nobody")
    assert ["exa.api_key is ignored" in warning for warning in warnings] == [True]


def test_the_advice_about_trust_keeps_the_folders_that_are_trusted_already(tmp_path: Path) -> None:
    write_settings('[trust]\nfolders = ["/home/me/work"]\n')
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / "webseam.toml").write_text('[exa]\napi_key = "not-from-here"\n')
    (warning,) = AsyncWeb(folder=folder).settings().warnings
    assert f"(webseam config set trust.folders '/home/me/work,{folder}')" in warning


async def test_a_settings_file_that_changed_is_used_by_the_next_search() -> None:
    async with World() as world:
        services = fakes(world)
        path = write_settings('[search]\nprovider = "tavily"\n')
        async with web(services, "tavily", "brave") as own:
            assert names(await own.search("one")) == ["from-tavily"]
            path.write_text('[search]\nprovider = "brave"\ncount = 3\n')
            assert names(await own.search("two")) == ["from-brave"]
            assert services.site.requests[-1].query["count"] == ["3"]
            path.write_text("[search]\nprovidr = 1\n")
            with pytest.raises(SettingsError, match="did you mean provider"):
                await own.search("three")
            path.unlink()
            assert names(await own.search("four")) == ["from-tavily"]


async def test_a_search_under_way_sees_one_state_of_the_settings_throughout() -> None:
    path = write_settings("")
    async with World() as world:
        gate = Gate(TOO_MANY)
        services = fakes(world, exa=gate)
        async with web(services, "exa", "tavily") as own:
            searching = asyncio.create_task(own.search("words"))
            await gate.until(1)
            elsewhere = f'base_url = "{world.closed_port()}"'
            path.write_text(
                f'[search]\ndeny = ["tavily"]\n[net]\nproxy = "{world.closed_port()}"\n[brave]\n{elsewhere}\n'
            )
            assert own.plan().candidates != ()  # somebody else's look has read the new file meanwhile
            gate.opened.set()
            assert names(await searching) == ["from-tavily"]


async def test_a_key_that_was_saved_or_removed_is_known_to_the_next_search() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**os.environ, **services.environment("tavily", keys=False)}
        saved = SavedKeys(environment)
        async with AsyncWeb(environment=environment) as own:
            with pytest.raises(ProviderError, match="no key"):
                await own.search("one", provider="tavily")
            saved.set("tavily", "first-key-of-mine")
            await own.search("two", provider="tavily")
            saved.set("tavily", "second-key-of-mine")
            await own.search("three", provider="tavily")
            saved.remove("tavily")
            with pytest.raises(ProviderError, match="no key"):
                await own.search("four", provider="tavily")
        assert [request.headers["authorization"] for request in services.site.requests] == [
            "Bearer first-key-of-mine",
            "Bearer second-key-of-mine",
        ]


async def test_a_file_with_a_key_that_changed_is_read_again(tmp_path: Path) -> None:
    async with World() as world:
        services = fakes(world)
        file = tmp_path / "key"
        file.write_text("first-key-of-mine\n")
        environment = {**services.environment("brave", keys=False), "BRAVE_API_KEY_FILE": str(file)}
        async with AsyncWeb(environment={**os.environ, **environment}) as own:
            await own.search("one", provider="brave", timeout=15)
            file.write_text("another-key-of-mine\n")
            await own.search("two", provider="brave", timeout=15)
        assert [request.headers["x-subscription-token"] for request in services.site.requests] == [
            "first-key-of-mine",
            "another-key-of-mine",
        ]


async def test_warnings_of_the_settings_come_once(tmp_path: Path) -> None:
    async with World() as world:
        services = fakes(world)
        (tmp_path / "webseam.toml").write_text('[exa]\nbase_url = "http://evil.example"\n')
        warnings: list[str] = []
        async with web(services, "tavily", folder=tmp_path, warn=warnings.append) as own:
            await own.search("one")
            await own.search("two")
        assert len(warnings) == 1
        assert "exa.base_url is ignored because this folder is not trusted" in warnings[0]


# looking without sending


async def test_plans_states_and_choices_send_nothing() -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily", "duckduckgo") as own:
            assert [one.id for one in own.plan().candidates] == ["tavily", "duckduckgo"]
            assert own.plan() is own.plan()
            states = {one.id: (one.state, one.usable, one.chosen) for one in own.provider_states()}
            own.check_choice("exa")
            with pytest.raises(SettingsError):
                own.check_choice("exxa")
        assert states["tavily"] == ("ready", True, True)
        assert states["exa"] == ("switched off in the settings", False, True)
        assert world.connections == []


async def test_a_diagnosis_says_how_far_it_came() -> None:
    async with World() as world:
        services = fakes(world, tavily=(401, {}, {"detail": {"error": "Unauthorized: missing or invalid API key."}}))
        async with web(services, "tavily", "duckduckgo", "searxng", "exa-free", "local") as own:
            bad, good = await own.diagnose("tavily"), await own.diagnose("duckduckgo")
            here = await AsyncWeb({"local.enabled": True}).diagnose("local")
            with pytest.raises(RequestError, match="is not one provider"):
                await own.diagnose("tavily,duckduckgo")
        assert (bad.outcome, bad.failed_at, bad.hits) == (Outcome.AUTH, "auth", 0)
        assert (good.outcome, good.failed_at, good.hits, sorted(good.timings)) == (
            Outcome.OK, "", 1, ["connect", "dns", "first_byte", "tls", "total"],
        )  # fmt: skip
        assert (here.outcome, here.detail) == (Outcome.OK, "answers on this machine; nothing was sent")


@pytest.mark.parametrize(
    ("address", "outcome", "step"),
    [
        pytest.param("closed", Outcome.NETWORK, "connect", id="refused"),
        pytest.param("http://nowhere.invalid:8080", Outcome.NETWORK, "dns", id="no such name"),
        pytest.param("plain", Outcome.NETWORK, "tls", id="not TLS"),
        pytest.param("silent", Outcome.TIMEOUT, "first_byte", id="silent"),
        pytest.param("page", Outcome.BAD_RESPONSE, "answer", id="a web page"),
    ],
)
async def test_a_diagnosis_names_the_step_that_failed(address: str, outcome: Outcome, step: str) -> None:
    async def silent(connection: Connection) -> None:
        if await connection.request() is not None:
            await connection.until_gone()

    async def plain(connection: Connection) -> None:
        await connection.reader.read(10)
        await connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with World() as world:
        services = fakes(world, tavily=(200, {"Content-Type": "text/html"}, "<html><title>Welcome</title>"))
        places: dict[str, Callable[[], str]] = {
            "closed": world.closed_port,
            "plain": lambda: world.serve(plain).replace("http:", "https:"),
            "silent": lambda: world.serve(silent),
            "page": lambda: f"{services.site.url}/tavily",
        }
        place = places[address]() if address in places else address
        async with web(services, "tavily", more={"WEBSEAM_TAVILY_BASE_URL": place}) as own:
            told = await own.diagnose("tavily", timeout=0.5 if address == "silent" else 10.0)
        assert (told.outcome, told.failed_at) == (outcome, step)


# what goes wrong with our own files


def spoil_state(what: str) -> None:
    folder = Path(os.environ["WEBSEAM_STATE_DIR"])
    folder.parent.mkdir(parents=True, exist_ok=True)
    if what == "a file where the folder should be":
        folder.write_text("")
        return
    folder.mkdir()
    state = folder / "state.sqlite3"
    if what == "corrupt":
        state.write_bytes(b"this is no database" * 1_000)
    else:
        state.mkdir()


def state_exists() -> bool:
    return Path(os.environ["WEBSEAM_STATE_DIR"]).exists()


@pytest.mark.parametrize("what", ["corrupt", "a folder of that name", "a file where the folder should be"])
async def test_a_state_file_that_cannot_be_used_costs_one_warning_and_no_search(what: str) -> None:
    spoil_state(what)
    async with World() as world:
        services = fakes(world)
        warnings: list[str] = []
        async with web(services, "tavily", warn=warnings.append) as own:
            for number in range(3):
                assert names(await own.search(f"words {number}")) == ["from-tavily"]
            assert (await own.search("words 0")).cached
        assert len(warnings) == 1


async def test_without_shared_state_nothing_is_written() -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily", settings={"state.enabled": False}) as own:
            await own.search("words")
            assert (await own.search("words")).cached
        assert not state_exists()


# Web: without an event loop of one's own


async def test_web_works_inside_a_running_event_loop_and_after_several_calls() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**os.environ, **services.environment("tavily")}

        def work() -> tuple[list[str], list[str]]:
            with Web(environment=environment) as own:
                return names(own.search("one")), names(own.search("two", count=3))

        assert await asyncio.to_thread(work) == (["from-tavily"], ["from-tavily"])
        assert not [thread for thread in threading.enumerate() if thread.name == "webseam"]


def test_web_blocks_a_running_loop_but_does_its_work() -> None:
    async def notebook() -> str:
        with Web({"search.provider": "tavily"}) as own:  # as a cell of a notebook would: no await
            with pytest.raises(ProviderError) as raised:
                own.search("words")
            return str(raised.value.outcome)

    assert asyncio.run(notebook()) == "unavailable"


def test_web_may_be_closed_twice_and_its_errors_are_those_of_the_library() -> None:
    own = Web()
    with pytest.raises(RequestError):
        own.search("")
    own.close()
    own.close()
    with pytest.raises(SettingsError):
        Web({"search.nothing": 1})
    assert not [thread for thread in threading.enumerate() if thread.name == "webseam"]


INTERRUPTED = """
import sys, webseam
with webseam.Web() as web:
    print("ready", flush=True)
    try:
        web.search("words", provider="tavily")
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(web.search("other words", provider="brave").hits[0].url, flush=True)
"""


async def test_ctrl_c_stops_the_work_of_web_and_leaves_it_usable() -> None:
    async with World() as world:
        arrived, gone = asyncio.Event(), asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.request()
            arrived.set()
            await connection.until_gone()
            gone.set()

        environment = {**fakes(world).environment("tavily", "brave"), "WEBSEAM_TAVILY_BASE_URL": world.serve(play)}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", INTERRUPTED,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **environment, "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        await arrived.wait()
        process.send_signal(signal.SIGINT)
        out, errors = await process.communicate()
        await gone.wait()
        assert (out.decode().splitlines(), errors.decode(), process.returncode) == (
            ["ready", "interrupted", "https://example.org/from-brave"],
            "",
            0,
        )


ENDED = """
import webseam
web = webseam.Web()
web.search("words", provider="tavily")
"""


async def test_a_program_that_forgets_to_close_still_ends_cleanly() -> None:
    async with World() as world:
        services = fakes(world)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-X", "dev", "-W", "error", "-c", ENDED,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **services.environment("tavily"), "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        out, errors = await process.communicate()
        assert (out, process.returncode) == (b"", 0)
        assert b"Traceback" not in errors


ELSEWHERE = """
import asyncio, json, webseam
async def main():
    async with webseam.AsyncWeb() as web:
        response = await web.search("words", provider="tavily")
        print(json.dumps([response.cached, [hit.url for hit in response.hits], response.notes]))
asyncio.run(main())
"""


async def test_another_process_gets_the_cached_response() -> None:
    async with World() as world:
        services = fakes(world)
        async with web(services, "tavily") as own:
            await own.search("words", provider="tavily")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", ELSEWHERE,
            stdout=subprocess.PIPE,
            env={**os.environ, **services.environment("tavily"), "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        out, _ = await process.communicate()
        cached, addresses, notes = json.loads(out)
        assert (cached, addresses, services.asked) == (True, ["https://example.org/from-tavily"], ["tavily"])
        assert notes[0].startswith("from the cache, ")


async def test_another_process_respects_the_cool_down_this_one_learnt() -> None:
    async with World() as world:
        services = fakes(world, exa_free=(429, {}, "slow down"))
        async with web(services, "exa-free") as own:
            with pytest.raises(ProviderError):
                await own.search("words", provider="exa-free")
        async with web(services, "exa-free") as other:
            with pytest.raises(ProviderError) as raised:
                await other.search("words", provider="exa-free")
        assert (raised.value.outcome, services.asked) == (Outcome.UNAVAILABLE, ["exa-free"])


async def test_keyless_calls_of_two_instances_start_half_a_second_apart() -> None:
    async with World() as world:
        instants: list[float] = []

        def handler(_request: Recorded) -> Any:
            instants.append(asyncio.get_running_loop().time())
            return mcp_answer("Title: T\nURL: https://example.org/x\nText: t\n")

        services = fakes(world, exa_free=handler)
        before = asyncio.get_running_loop().time()
        async with web(services, "exa-free") as first, web(services, "exa-free") as second:
            await asyncio.gather(first.search("some words"), second.search("other words"))
        assert max(instants) - before > 0.49  # from before the first start, so that no slow machine makes it less
