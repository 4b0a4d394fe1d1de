"""Keys from the command line: tried with one search, saved for their owner alone, listed and never shown."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.world import Run, webseam_command
from tests.search.world import BAD_KEY, CAPTCHA, TOO_MANY, WITHOUT_CREDITS, fakes, found, successive
from tests.world import World

SECRET = "a-secret-key-0123456789-abcdef"


async def save(provider: str, *options: str, env: Mapping[str, str] | None = None, key: str = SECRET) -> Run:
    """Run `webseam key set` with a key from a pipe."""
    return await webseam_command("key", "set", provider, *options, env=env, stdin=f"{key}\n".encode())


def keys_file() -> Path:
    return Path(os.environ["WEBSEAM_CONFIG_DIR"]) / "keys.json"


def kept() -> dict[str, Any]:
    """Return what is saved."""
    return dict(json.loads(keys_file().read_text())) if keys_file().exists() else {}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# saving


async def test_a_key_from_a_pipe_is_tried_saved_for_its_owner_alone_and_used() -> None:
    async with World() as world:
        services = fakes(world)
        environment = services.environment("tavily", keys=False)
        saved = await save("tavily", env=environment)
        run = await webseam_command("search", "q", "-p", "tavily", "--urls", env=environment)
    path = keys_file()
    assert saved == Run(0, f"saved the key of tavily in {path}; one real search with it was answered (1 hit)\n", "")
    assert (mode_of(path), kept()) == (0o600, {"tavily": SECRET})
    assert (run.code, run.out) == (0, "https://example.org/from-tavily\n")
    assert [one.headers["authorization"] for one in services.site.requests] == [f"Bearer {SECRET}"] * 2


async def test_a_key_is_saved_untried_when_that_is_wanted() -> None:
    async with World() as world:
        services = fakes(world)
        saved = await save("tavily", "--no-verify", env=services.environment("tavily", keys=False))
    assert saved == Run(0, f"saved the key of tavily in {keys_file()}; it was not tried\n", "")
    assert services.asked == []
    assert kept() == {"tavily": SECRET}


@pytest.mark.parametrize("before", [None, "the-key-of-before-1234"])
async def test_a_key_that_the_service_refuses_is_not_saved_and_the_old_one_stays(before: str | None) -> None:
    async with World() as world:
        services = fakes(world, tavily=BAD_KEY)
        environment = services.environment("tavily", keys=False)
        if before:
            await save("tavily", "--no-verify", env=environment, key=before)
        run = await save("tavily", env=environment)
    stays = "the key that was saved before stays" if before else "it was not saved"
    assert (run.code, run.out) == (6, "")
    assert run.err.startswith(f"webseam: Tavily refused the key: HTTP 401: invalid api key; {stays}\n")
    assert kept() == ({"tavily": before} if before else {})
    assert SECRET not in run.err


@pytest.mark.parametrize(
    ("answer", "remark"),
    [
        pytest.param(
            found(), "one real search with it was answered (0 hits)", id="nothing found",
        ),
        pytest.param(
            WITHOUT_CREDITS,
            "one real search with it was refused: the service knows the key, but it is spent for now"
            " (HTTP 403: You have run out of credits, top up your account)",
            id="no credits",
        ),
        pytest.param(
            TOO_MANY,
            "one real search with it was refused: the service knows the key, but it is limited for now"
            " (HTTP 429: slow down)",
            id="too many",
        ),
        pytest.param(
            (500, {}, {"error": "a fuse blew"}),
            "it could not be checked: HTTP 500: a fuse blew (webseam doctor tavily tries again)", id="broken",
        ),
        pytest.param(
            CAPTCHA,
            "it could not be checked: it answered with a challenge page instead of results"
            " (webseam doctor tavily tries again)",
            id="blocked",
        ),
    ],
)  # fmt: skip
async def test_a_key_that_is_not_refused_is_saved_with_what_the_service_said(answer: Any, remark: str) -> None:
    async with World() as world:
        services = fakes(world, tavily=answer)
        run = await save("tavily", env=services.environment("tavily", keys=False))
    assert run == Run(0, f"saved the key of tavily in {keys_file()}; {remark}\n", "")
    assert kept() == {"tavily": SECRET}


async def test_a_key_is_saved_when_nobody_answers() -> None:
    async with World() as world:
        environment = fakes(world).environment("tavily", keys=False)
        environment["WEBSEAM_TAVILY_BASE_URL"] = world.closed_port()
        run = await save("tavily", env=environment)
    assert run.code == 0
    assert "; it could not be checked: " in run.out
    assert run.out.endswith("(webseam doctor tavily tries again)\n")
    assert kept() == {"tavily": SECRET}


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        pytest.param({"WEBSEAM_SEARCH_DENY": "tavily"}, "in search.deny", id="denied"),
        pytest.param({"WEBSEAM_SEARCH_ALLOW": "exa"}, "not in search.allow", id="not allowed"),
        pytest.param({"WEBSEAM_TAVILY_ENABLED": "off"}, "switched off in the settings", id="switched off"),
        pytest.param(
            {"WEBSEAM_SEARCH_LOCAL_ONLY": "on"}, "sends the query off this network (local-only is on)", id="local only",
        ),
    ],
)  # fmt: skip
async def test_a_service_that_must_not_be_asked_is_not_asked_for_the_sake_of_its_key(
    rule: dict[str, str], reason: str
) -> None:
    async with World() as world:
        services = fakes(world)
        run = await save("tavily", env={**services.environment("tavily", keys=False), **rule})
    assert run.out == (
        f"saved the key of tavily in {keys_file()}; it was not tried: tavily cannot be used: {reason}"
        " (webseam doctor tavily tries again)\n"
    )
    assert (run.code, services.asked, kept()) == (0, [], {"tavily": SECRET})


async def test_a_budget_that_is_used_up_says_nothing_about_the_key() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**services.environment("tavily", keys=False), "WEBSEAM_TAVILY_MAX_CALLS_DAY": "0"}
        run = await save("tavily", env=environment)
    assert "; it could not be checked: the budget of 0 calls a day for tavily is used up; it starts again" in run.out
    assert (run.code, services.asked, kept()) == (0, [], {"tavily": SECRET})


async def test_a_new_key_is_tried_although_the_old_one_cools_down_and_counts_as_a_call() -> None:
    async with World() as world:
        services = fakes(world, tavily=successive(BAD_KEY, found("x")))
        environment = services.environment("tavily", keys=False)
        await save("tavily", "--no-verify", env=environment, key="a-wrong-key-of-mine")
        assert (await webseam_command("search", "q", env=environment)).code == 6
        saved = await save("tavily", env=environment)
        usage = (await webseam_command("usage", "--json", env=environment)).json()
    assert saved.code == 0
    assert usage["this_month"]["tavily"]["calls"] == 2


async def test_a_key_elsewhere_that_wins_over_the_saved_one_is_pointed_out() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**services.environment("tavily", keys=False), "TAVILY_API_KEY": "a-key-of-the-shell-1234"}
        run = await save("tavily", env=environment)
        again = await save("tavily", env={**environment, "TAVILY_API_KEY": SECRET})
    assert run.err == "webseam: TAVILY_API_KEY holds another key of tavily, and wins over the saved one\n"
    assert again.err == ""
    assert services.site.requests[0].headers["authorization"] == f"Bearer {SECRET}"


# listing, removing, refusing


async def test_keys_are_listed_with_their_place_and_never_shown() -> None:
    await save("tavily", "--no-verify")
    run = await webseam_command("key", "list", env={"BRAVE_API_KEY": SECRET})
    path = keys_file()
    assert run == Run(0, f"provider  key from\ntavily    saved in {path}\nbrave     BRAVE_API_KEY\n", "")
    removed = await webseam_command("key", "remove", "tavily")
    again = await webseam_command("key", "remove", "tavily")
    assert (removed.out, again.out) == ("removed the key of tavily\n", "no key of tavily was saved\n")
    assert (await webseam_command("key", "list")).out == "no keys are set\n"


async def test_a_key_of_a_provider_that_is_set_up_no_more_is_listed_and_can_be_removed() -> None:
    settings = keys_file().with_name("config.toml")
    settings.parent.mkdir(parents=True)
    settings.write_text('[providers.custom.wiki]\nurl = "https://example.org/search"\n')
    assert (await save("wiki", "--no-verify")).code == 0
    await save("tavily", "--no-verify")
    settings.write_text("")
    listed = await webseam_command("key", "list")
    removed = await webseam_command("key", "remove", "wiki")
    again = await webseam_command("key", "remove", "wiki")
    assert listed == Run(
        0,
        f"provider  key from\ntavily    saved in {keys_file()}\n"
        f"wiki      saved in {keys_file()}; no provider of that name is set up\n",
        "",
    )
    assert removed == Run(0, "removed the key of wiki\n", "")
    assert (again.code, again.out) == (2, "")
    assert "'wiki' is not known" in again.err
    assert kept() == {"tavily": SECRET}


async def test_a_key_can_be_removed_whatever_is_wrong_with_the_settings() -> None:
    await save("tavily", "--no-verify")
    keys_file().with_name("config.toml").write_text("[search\n")
    assert await webseam_command("key", "remove", "tavily") == Run(0, "removed the key of tavily\n", "")
    assert kept() == {}


async def test_a_key_that_others_can_read_is_a_warning_with_the_command_that_mends_it() -> None:
    async with World() as world:
        services = fakes(world)
        environment = services.environment("tavily", keys=False)
        await save("tavily", "--no-verify")
        path = keys_file()
        path.chmod(0o644)
        run = await webseam_command("search", "q", "-p", "tavily", "--urls", env=environment)
        await save("tavily", "--no-verify", key="another-key-of-mine")
    assert (run.code, run.err) == (0, f"webseam: {path} can be read by others: chmod 600 {path}\n")
    assert mode_of(path) == 0o600


@pytest.mark.parametrize("misplaced", [[SECRET], ["--", SECRET], ["-" + SECRET], [SECRET, "more"]])
async def test_a_key_on_the_command_line_is_refused_and_not_repeated(misplaced: list[str]) -> None:
    run = await webseam_command("key", "set", "tavily", *misplaced, stdin=b"")
    assert (run.code, run.out) == (2, "")
    assert "must not stand on the command line" in run.err
    assert SECRET not in run.err
    assert not keys_file().exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param(b"", "key: is empty", id="nothing"),
        pytest.param(b"\n", "key: is empty", id="a blank line"),
        pytest.param(f"export KEY={SECRET} ".encode() * 2, "has spaces or characters that no key has", id="a command"),
        pytest.param("schlüssel-0123456789".encode(), "has spaces or characters that no key has", id="not ASCII"),
        pytest.param(b"x" * 10_000, "has spaces or characters that no key has", id="a file"),
    ],
)
async def test_what_is_no_key_is_refused_and_not_repeated(given: bytes, words: str) -> None:
    run = await webseam_command("key", "set", "tavily", stdin=given)
    assert (run.code, run.out) == (2, "")
    assert words in run.err
    assert SECRET not in run.err


async def test_a_new_key_ends_what_was_held_against_the_old_one() -> None:
    async with World() as world:
        services = fakes(world, tavily=BAD_KEY)
        environment = services.environment("tavily", keys=False)
        await save("tavily", "--no-verify", env=environment, key="a-wrong-key-of-mine")
        assert (await webseam_command("search", "q", env=environment)).code == 6
        assert (await webseam_command("search", "q", env=environment)).code == 6
        assert services.asked == ["tavily"]  # the second one was skipped
        services.answers["tavily"] = found("x")
        await save("tavily", "--no-verify", env=environment, key="a-right-key-of-mine")
        run = await webseam_command("search", "q", "--urls", env=environment)
    assert (run.code, run.out) == (0, "https://example.org/x\n")
