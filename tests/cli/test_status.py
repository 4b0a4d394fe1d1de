"""`webseam status`: the mode, who answers next and why, who is passed over, whose keys and who gets the query."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.world import Run, environment_of, webseam_command
from tests.search.world import BAD_KEY, CAPTCHA, KEY, fakes
from tests.world import World


def lines_of(run: Run) -> list[str]:
    assert (run.code, run.err) == (0, "")
    return run.out.splitlines()


def row_of(run: Run, provider: str) -> str:
    (row,) = [line for line in run.out.splitlines() if line.startswith(f"{provider} ")]
    return row


async def test_the_first_in_the_order_answers_next_and_each_has_its_key_its_receiver_and_its_state() -> None:
    async with World() as world:
        services = fakes(world)
        run = await webseam_command("status", env=services.environment("exa", "tavily", "duckduckgo"))
        assert services.asked == []
    assert lines_of(run) == [
        "mode: auto",
        "next: exa; of those that are set up it comes first in search.order",
        "",
        "provider    key from                query goes to                     state",
        "exa         WEBSEAM_EXA_API_KEY     Exa (exa.ai)                      ready",
        "tavily      WEBSEAM_TAVILY_API_KEY  Tavily (tavily.com)               ready",
        "duckduckgo  -                       DuckDuckGo (html.duckduckgo.com)  ready",
        "",
        "switched off in the settings: searxng, brave, exa-free, local",
        "the query goes to: Exa (exa.ai)",
        "and without an answer to: Tavily (tavily.com); DuckDuckGo (html.duckduckgo.com)",
    ]
    assert KEY not in run.out


async def test_one_that_cools_down_is_passed_over_and_until_when_is_told() -> None:
    async with World() as world:
        services = fakes(world, exa=CAPTCHA)
        environment = services.environment("exa", "tavily")
        await webseam_command("search", "q", env=environment)
        run = await webseam_command("status", env=environment)
        told = (await webseam_command("status", "--json", env=environment)).json()
    assert lines_of(run)[1] == "next: tavily; it comes next in search.order, as exa is passed over"
    assert "cooling down after blocked: it answered with a challenge page" in row_of(run, "exa")
    assert time.strftime(", until %Y-%m-%d %H:", time.localtime(told["providers"][0]["until"])) in row_of(run, "exa")
    assert (told["next"], told["receives"], told["then_receives"]) == (["tavily"], ["Tavily (tavily.com)"], [])
    exa, tavily = told["providers"]
    assert (exa["id"], exa["usable"], exa["until"] > time.time()) == ("exa", False, True)
    assert tavily == {
        "id": "tavily", "usable": True, "state": "ready", "until": None, "receives": "Tavily (tavily.com)",
        "key_from": "WEBSEAM_TAVILY_API_KEY",
    }  # fmt: skip


async def test_with_nothing_set_up_those_without_a_key_are_summed_up_in_one_place() -> None:
    run = await webseam_command("status", env={"WEBSEAM_SEARCH_DENY": "duckduckgo, kagi"})
    text = " ".join(run.out.split())
    assert [line.split()[0] for line in lines_of(run)[4:6]] == ["exa-free", "parallel-free"]
    assert "next: exa-free; of those that are set up it comes first in the usual order" in text
    assert "not set up: exa, searxng, ollama, firecrawl, tavily," in text
    assert "(webseam key set NAME; what each lacks: webseam providers)" in text
    assert "in search.deny: kagi, duckduckgo" in text
    assert "\ntavily " not in run.out


async def test_local_only_says_who_is_ruled_out_and_that_nobody_gets_the_query() -> None:
    run = await webseam_command("status", env={"WEBSEAM_SEARCH_LOCAL_ONLY": "on"})
    text = " ".join(run.out.split())
    assert "next: local; of those that are set up it comes first in the usual order" in text
    assert "sends the query off this network (local-only is on): exa, " in text
    assert "the query goes to: nobody" in text
    assert "and without an answer" not in text


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        pytest.param(
            "tavily",
            ["mode: tavily (from WEB_SEARCH_PROVIDER)", "next: tavily; it alone is asked, because it was named"],
            id="one",
        ),
        pytest.param(
            "brave",
            ["mode: brave (from WEB_SEARCH_PROVIDER)",
             "next: nobody; brave cannot be used: no key (BRAVE_API_KEY)"],
            id="one that is not set up",
        ),
        pytest.param(
            "brave,tavily",
            ["mode: brave,tavily (from WEB_SEARCH_PROVIDER)",
             "next: tavily; of those that are set up it comes first in the list that was named"],
            id="a list",
        ),
        pytest.param(
            "fuse:exa,tavily",
            ["mode: fuse:exa,tavily (from WEB_SEARCH_PROVIDER)",
             "next: exa and tavily; they are asked together and their hits are merged"],
            id="together",
        ),
        pytest.param(
            "perplexity,exa",
            ["mode: perplexity,exa (from WEB_SEARCH_PROVIDER)",
             "next: exa; of those that are set up it comes first in the list that was named"],
            id="a list with one that lacks a key",
        ),
    ],
)  # fmt: skip
async def test_a_choice_of_ones_own_is_told_with_its_source_and_its_reason(choice: str, told: list[str]) -> None:
    environment = {"WEB_SEARCH_PROVIDER": choice, "EXA_API_KEY": KEY, "TAVILY_API_KEY": KEY}
    run = await webseam_command("status", env=environment)
    assert lines_of(run)[:2] == told


async def test_one_that_was_named_and_is_not_set_up_has_a_row_with_what_it_lacks() -> None:
    run = await webseam_command("status", env={"WEB_SEARCH_PROVIDER": "tavily,duckduckgo"})
    assert row_of(run, "tavily").split(None, 3) == ["tavily", "-", "-", "no key (TAVILY_API_KEY)"]
    assert "not set up" not in run.out


async def test_one_that_stands_in_for_another_is_pointed_out() -> None:
    run = await webseam_command("status", env={"WEB_SEARCH_PROVIDER": "exa"})
    assert lines_of(run)[1:3] == [
        "next: exa-free; it alone is asked, because it was named",
        "note: exa has no key, so exa-free was asked (Exa (mcp.exa.ai) receives the query)",
    ]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        pytest.param(BAD_KEY, ("tavily", "it alone is asked, because it was named", True, "auth"), id="its key"),
        pytest.param(
            CAPTCHA, (None, "everybody who could be asked is passed over for now", False, "blocked"), id="a block",
        ),
    ],
)  # fmt: skip
async def test_one_that_was_named_is_asked_despite_what_its_user_can_mend(
    answer: Any, told: tuple[str | None, str, bool, str]
) -> None:
    async with World() as world:
        services = fakes(world, tavily=answer)
        environment = {**services.environment("tavily"), "WEB_SEARCH_PROVIDER": "tavily"}
        await webseam_command("search", "q", env=environment)
        found = (await webseam_command("status", "--json", env=environment)).json()
        again = await webseam_command("search", "another", env=environment)
    (place,) = found["providers"]
    next_, why, usable, outcome = told
    assert (found["next"], found["why"], place["usable"]) == ([next_] if next_ else [], why, usable)
    assert f"cooling down after {outcome}" in place["state"]
    assert (again.code, services.asked) == ((6, ["tavily"] * 2) if usable else (6, ["tavily"]))


async def test_budgets_are_told_and_one_that_is_used_up_passes_its_provider_over() -> None:
    async with World() as world:
        services = fakes(world)
        environment = services.environment("exa", "tavily")
        environment |= {"WEBSEAM_EXA_MAX_CALLS_MONTH": "1", "WEBSEAM_BUDGET_MAX_DOLLARS_MONTH": "2"}
        environment |= {"WEBSEAM_EXA_PRICE": "0.5", "WEBSEAM_TAVILY_PRICE": "0.25"}
        before = await webseam_command("status", env=environment)
        for words in ("one", "two"):
            assert (await webseam_command("search", words, env=environment)).code == 0
        run = await webseam_command("status", env=environment)
        budgets = (await webseam_command("status", "--json", env=environment)).json()["budgets"]
    assert lines_of(before)[-2:] == [
        "budget of exa: 0 of 1 call a month used (0 %)", "budget of all providers: $0.00 of $2.00 a month used (0 %)",
    ]  # fmt: skip
    assert services.asked == ["exa", "tavily"]
    assert lines_of(run)[1] == "next: tavily; it comes next in search.order, as exa is passed over"
    assert "the budget of 1 call a month for exa is used up, until " in row_of(run, "exa")
    assert lines_of(run)[-2:] == [
        "budget of exa: 1 of 1 call a month used (100 %)",
        "budget of all providers: $0.75 of $2.00 a month used (37 %)",
    ]
    assert [(one["provider"], one["setting"], one["used"], one["percent"]) for one in budgets] == [
        ("exa", "max_calls_month", 1, 100), (None, "max_dollars_month", 0.75, 37),
    ]  # fmt: skip


@pytest.mark.parametrize("trusted", [True, False])
async def test_the_project_file_is_named_with_whether_it_is_trusted(tmp_path: Path, trusted: bool) -> None:
    file = tmp_path / "project" / "webseam.toml"
    write(file, f'[search]\nprovider = "local"\n[trust]\nfolders = ["{file.parent}"]\n')
    if trusted:
        write(Path(os.environ["WEBSEAM_CONFIG_DIR"]) / "config.toml", f'[trust]\nfolders = ["{tmp_path}"]\n')
    lines = lines_of(await in_folder(file.parent / "below"))
    assert lines[0] == f"mode: local (from {file})"
    words = "trusted" if trusted else "not trusted: it may choose, but set no keys and addresses"
    assert lines[-1] == f"project file: {file} ({words})"
    ignored = f"note: {file}: trust.folders is ignored because this folder is not trusted"
    assert any(line.startswith(ignored) for line in lines) is not trusted


async def in_folder(folder: Path) -> Run:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-m", "webseam", "status", cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment_of(),
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode is not None
    return Run(process.returncode, out.decode(), err.decode())


def write(file: Path, text: str) -> None:
    (file.parent / "below").mkdir(parents=True)
    file.write_text(text)


async def test_a_setting_that_is_wrong_is_told_instead() -> None:
    run = await webseam_command("status", env={"WEB_SEARCH_PROVIDER": "tavly"})
    assert (run.code, run.out) == (2, "")
    assert "did you mean tavily?" in run.err
