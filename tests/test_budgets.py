"""Budgets as users meet them: set in a file or a variable, shared by all their processes, and said before they hurt."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from tests.cli.world import environment_of, webseam_command
from tests.search.world import Fakes, fakes, names, outcomes
from tests.world import World
from webseam.errors import Outcome, ProviderError
from webseam.web import AsyncWeb

SEARCHER = """
import asyncio, json, sys
from webseam.errors import WebSeamError
from webseam.web import AsyncWeb

async def main():
    told = []
    async with AsyncWeb() as web:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(8):
            try:
                await web.search(f"query {number}", provider="tavily", cache=False)
                told.append("ok")
            except WebSeamError as error:
                told.append(str(error.outcome))
    print(json.dumps(told))

asyncio.run(main())
"""


async def searcher(environment: dict[str, str]) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SEARCHER,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment_of(environment),
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


async def test_two_processes_that_share_a_budget_of_ten_calls_make_ten_together_and_never_eleven() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**services.environment("tavily"), "WEBSEAM_TAVILY_MAX_CALLS_DAY": "10"}
        processes = [await searcher(environment) for _ in range(2)]
        answers = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
        told = [outcome for out, _ in answers for outcome in json.loads(out)]
        assert (len(services.asked), sorted(set(told))) == (10, ["ok", "quota"])
        assert (told.count("ok"), told.count("quota")) == (10, 6)


def budgeted(services: Fakes, **settings: object) -> AsyncWeb:
    environment = {**os.environ, **services.environment("exa", "tavily")}
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return AsyncWeb({"search.cache_ttl": 0, "search.repeat_window": 0, **named}, environment=environment)


async def test_auto_passes_over_a_provider_whose_budget_is_used_up_and_says_when_it_starts_again() -> None:
    async with World() as world:
        services = fakes(world)
        async with budgeted(services, exa__max_calls_day=1) as own:
            first, second = [await own.search("words") for _ in range(2)]
        assert (names(first), names(second)) == (["from-exa"], ["from-tavily"])
        assert outcomes(second)[:2] == [("exa", "quota"), ("tavily", "ok")]
        assert "00:00 UTC" in (second.attempts[0].detail or "")
        assert (second.sent_to, services.asked) == (("tavily",), ["exa", "tavily"])


async def test_a_budget_of_all_ends_the_search_with_quota_and_the_setting_to_change() -> None:
    async with World() as world:
        services = fakes(world)
        async with budgeted(services, budget__max_calls_month=1) as own:
            await own.search("words", provider="exa")
            try:
                await own.search("words", provider="tavily")
            except ProviderError as error:
                told = error
        assert (told.outcome, services.asked) == (Outcome.QUOTA, ["exa"])
        assert told.hint == "max_calls_month in [budget] sets it"


async def test_what_is_answered_from_memory_costs_nothing() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**os.environ, **services.environment("exa"), "WEBSEAM_EXA_MAX_CALLS_DAY": "1"}
        async with AsyncWeb(environment=environment) as own:
            responses = [await own.search("words", provider="exa") for _ in range(3)]
        assert [response.cached for response in responses] == [False, True, True]


async def test_raising_a_budget_in_the_settings_file_counts_at_the_next_search() -> None:
    path = Path(os.environ["WEBSEAM_CONFIG_DIR"]) / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[exa]\nmax_calls_day = 1\n")
    async with World() as world:
        services = fakes(world)
        async with budgeted(services) as own:
            await own.search("words", provider="exa")
            failed = False
            try:
                await own.search("words", provider="exa")
            except ProviderError:
                failed = True
            path.write_text("[exa]\nmax_calls_day = 2\n")
            assert (failed, names(await own.search("words", provider="exa"))) == (True, ["from-exa"])


async def test_the_command_line_stops_at_a_budget_with_the_exit_code_of_quota() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**services.environment("tavily"), "WEBSEAM_BUDGET_MAX_CALLS_DAY": "1"}
        first = await webseam_command("search", "one", "-p", "tavily", env=environment)
        second = await webseam_command("search", "two", "-p", "tavily", "--json", env=environment)
    assert (first.code, second.code, second.json()["outcome"]) == (0, 5, "quota")


async def test_a_project_file_cannot_lift_a_budget(tmp_path: Path) -> None:
    (tmp_path / "webseam.toml").write_text("[budget]\nmax_calls_day = 1000000\n[exa]\nmax_calls_day = 1000000\n")
    async with AsyncWeb(folder=tmp_path) as own:
        limits = (own.limits_of(), own.limits_of("exa"))
        told = own.settings().warnings
    assert [limit.none for limit in limits] == [True, True]
    assert [warning.split(": ", 1)[1].split(" because")[0] for warning in told] == [
        "budget.max_calls_day is ignored",
        "exa.max_calls_day is ignored",
    ]
