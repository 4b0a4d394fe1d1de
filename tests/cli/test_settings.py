"""Settings, choice and checks from the command line."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.world import Run, webseam_command
from tests.search.world import BAD_KEY, TOO_MANY, fakes
from tests.world import Connection, World
from webseam import providers

SECRET = "a-secret-key-0123456789-abcdef"


def config_folder() -> Path:
    return Path(os.environ["WEBSEAM_CONFIG_DIR"])


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# settings


async def test_settings_are_written_read_and_shown_with_their_source() -> None:
    path = config_folder() / "config.toml"
    assert await webseam_command("config", "get") == Run(0, "every setting is at its default\n", "")
    written = await webseam_command("config", "set", "search.count", "7")
    await webseam_command("config", "set", "search.deny", "exa-free, duckduckgo")
    await webseam_command("config", "set", "exa-free.advanced", "on")
    assert written == Run(0, f"search.count is set (in {path})\n", "")
    assert path.read_text() == (
        '[search]\ncount = 7\ndeny = ["exa-free", "duckduckgo"]\n\n[exa_free]\nadvanced = true\n'
    )
    for name, value in (("search.count", "7"), ("search.deny", "exa-free, duckduckgo"), ("exa_free.advanced", "true")):
        assert await webseam_command("config", "get", name) == Run(0, f"{value}\n", "")
    shown = await webseam_command("config", "get", env={"WEBSEAM_SEARCH_COUNT": "5"})
    assert shown.out.split("\n")[1:4] == [
        f"search.deny        exa-free, duckduckgo  {path}",
        "search.count       5                     WEBSEAM_SEARCH_COUNT",
        f"exa_free.advanced  true                  {path}",
    ]


async def test_comments_of_the_settings_file_survive_a_change() -> None:
    config_folder().mkdir(parents=True)
    path = config_folder() / "config.toml"
    path.write_text("# mine\n[search]\ncount = 3  # few\n")
    await webseam_command("config", "set", "search.count", "4")
    assert path.read_text() == "# mine\n[search]\ncount = 4  # few\n"


async def test_a_change_keeps_who_may_read_the_settings_file_and_where_it_really_is(tmp_path: Path) -> None:
    real, path = tmp_path / "dotfiles.toml", config_folder() / "config.toml"
    lay_out(real, path)
    await webseam_command("config", "set", "search.count", "4")
    assert (path.is_symlink(), real.read_text(), mode_of(real)) == (True, "[search]\ncount = 4\n", 0o600)
    path.unlink()
    await webseam_command("config", "set", "search.count", "5")
    assert mode_of(path) == 0o600


def lay_out(real: Path, path: Path) -> None:
    path.parent.mkdir(parents=True)
    real.write_text("[search]\ncount = 3\n")
    real.chmod(0o600)
    path.symlink_to(real)


async def test_the_places_of_the_settings_files_are_printed() -> None:
    run = await webseam_command("config", "path")
    assert run == Run(0, f"{config_folder() / 'config.toml'}\n", "")


async def test_a_key_is_no_setting_to_write_or_to_show() -> None:
    refused = await webseam_command("config", "set", "exa.api_key", SECRET)
    assert (refused.code, refused.out) == (2, "")
    assert "webseam key set exa" in refused.err
    shown = await webseam_command("config", "get", "exa.api_key", env={"WEBSEAM_EXA_API_KEY": SECRET})
    listed = await webseam_command("config", "get", env={"WEBSEAM_EXA_API_KEY": SECRET})
    assert shown.out == "(set, not shown)\n"
    assert SECRET not in refused.err + listed.out


async def test_use_writes_the_choice_and_searches_follow_it() -> None:
    async with World() as world:
        services = fakes(world)
        environment = services.environment("tavily", "brave")
        used = await webseam_command("use", "brave", env=environment)
        run = await webseam_command("search", "q", "--urls", env=environment)
        assert (used.code, used.out) == (0, f"searches now use brave (in {config_folder() / 'config.toml'})\n")
        assert run.out == "https://example.org/from-brave\n"
        assert (await webseam_command("use", "fuse:tavily,brave", env=environment)).code == 0
        assert services.asked == ["brave"]


async def test_a_choice_that_the_environment_overrides_is_pointed_out() -> None:
    used = await webseam_command("use", "brave", env={"WEB_SEARCH_PROVIDER": "tavily"})
    assert (used.code, used.err) == (
        0,
        "webseam: WEB_SEARCH_PROVIDER sets search.provider too, and wins over the file\n",
    )


async def test_use_of_a_provider_without_a_key_is_a_choice_to_come() -> None:
    assert (await webseam_command("use", "tavily")).code == 0
    run = await webseam_command("search", "q", "--json")
    assert (run.code, run.json()["detail"]) == (6, "tavily cannot be used: no key (TAVILY_API_KEY)")


async def test_use_without_a_name_shows_the_states_and_wants_a_terminal() -> None:
    run = await webseam_command("use", env={"TAVILY_API_KEY": SECRET})
    assert (run.code, run.out) == (2, "")
    lines = run.err.split("\n")
    assert lines[0].split() == ["provider", "state"]
    assert lines[1].split()[:2] == ["0", "auto"]
    assert [line.split(None, 2) for line in lines[2:4]] == [
        ["1", "exa", "no key (EXA_API_KEY)"], ["2", "searxng", "no address (SEARXNG_URL)"],
    ]  # fmt: skip
    assert ["tavily", "ready"] in [line.split()[1:] for line in lines]
    assert "webseam use NAME" in run.err


async def test_providers_lists_what_each_can_do_and_who_gets_the_query() -> None:
    run = await webseam_command("providers", "--json")
    listed = {one["id"]: one for one in run.json()}
    assert list(listed) == list(providers.ids())
    for name, one in listed.items():
        provider = providers.get(name)
        assert (one["label"], one["max_count"], one["price"]) == (provider.label, provider.max_count, provider.price)
        assert set(one["options"].values()) <= {"native", "emulated", "unsupported"}
        assert len(one["options"]) == 8
        assert bool(one["receives"]) != provider.local
    plain = await webseam_command("providers")
    assert [line.split()[0] for line in plain.out.splitlines()] == ["provider", *providers.ids()]


# checks


async def test_test_shows_what_every_provider_did() -> None:
    async with World() as world:
        services = fakes(world, exa=TOO_MANY)
        run = await webseam_command("test", env=services.environment("exa", "tavily"))
        lines = run.out.splitlines()
    assert run.code == 0
    assert lines[0].split() == ["provider", "outcome", "seconds", "hits", "detail"]
    assert lines[1].split(None, 4)[0:2] == ["exa", "rate_limited"]
    assert lines[1].endswith("HTTP 429: slow down")
    assert lines[2].split()[:2] == ["tavily", "ok"]
    assert lines[-1].startswith("ok in ")
    assert lines[-1].endswith(": https://example.org/from-tavily")


async def test_test_never_answers_from_the_cache() -> None:
    async with World() as world:
        services = fakes(world)
        for _ in range(2):
            assert (await webseam_command("test", "same words", env=services.environment("tavily"))).code == 0
    assert services.asked == ["tavily", "tavily"]


async def test_doctor_checks_every_provider_over_the_real_lane() -> None:
    async with World() as world:
        services = fakes(world, tavily=BAD_KEY)
        environment = services.environment("tavily", "brave", "duckduckgo")
        environment["WEBSEAM_BRAVE_BASE_URL"] = world.closed_port()
        run = await webseam_command("doctor", env=environment)
        as_json = await webseam_command("doctor", "--json", env=environment)
    assert run.code == as_json.code == 6
    rows = {line.split()[0]: line for line in run.out.splitlines()}
    assert rows["duckduckgo"].split()[1] == "ok"
    assert rows["duckduckgo"].endswith("1 hits")
    assert rows["tavily"].endswith("auth       HTTP 401: invalid api key")
    assert "connect" in rows["brave"]
    assert "tavily: get a key at tavily.com, then: webseam key set tavily" in run.out
    told = {one["provider"]: (one["outcome"], one["failed_at"], one["hits"]) for one in as_json.json()}
    assert told == {
        "tavily": ("auth", "auth", 0),
        "brave": ("network", "connect", 0),
        "duckduckgo": ("ok", "", 1),
    }


async def test_doctor_of_one_that_is_not_set_up_says_so_beside_the_others() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**services.environment("tavily"), "WEBSEAM_BRAVE_ENABLED": "true"}
        run = await webseam_command("doctor", "tavily", "brave", "--json", env=environment)
    told = {one["provider"]: (one["outcome"], one["failed_at"]) for one in run.json()}
    assert (run.code, told) == (6, {"tavily": ("ok", ""), "brave": ("unavailable", "setup")})


async def test_doctor_of_nobody_and_of_this_machine_sends_nothing() -> None:
    async with World() as world:
        nobody = await webseam_command("doctor", env=fakes(world).environment())
        here = await webseam_command("doctor", "local")
        assert world.connections == []
    assert nobody == Run(0, "no provider that sends anything is set up\n", "")
    assert here.code == 0
    assert here.out.splitlines()[1].endswith("answers on this machine; nothing was sent")


async def test_doctor_times_out_with_the_step() -> None:
    async def hanging(connection: Connection) -> None:
        if await connection.request() is not None:
            await connection.until_gone()

    async with World() as world:
        environment = {**fakes(world).environment("tavily"), "WEBSEAM_TAVILY_BASE_URL": world.serve(hanging)}
        environment["WEBSEAM_TAVILY_TIMEOUT"] = "0.3"
        run = await webseam_command("doctor", "--json", env=environment)
    assert (run.code, [(one["outcome"], one["failed_at"]) for one in run.json()]) == (7, [("timeout", "first_byte")])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_the_completion_script_of_a_shell_is_printed(shell: str) -> None:
    run = await webseam_command("completion", shell)
    assert (run.code, run.err) == (0, "")
    assert "_WEBSEAM_COMPLETE" in run.out


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        pytest.param("webseam se", ["search"], id="command"),
        pytest.param("webseam search -p du", ["duckduckgo"], id="provider"),
        pytest.param("webseam use fu", ["fuse"], id="mode"),
        pytest.param("webseam search --fresh w", ["week"], id="choice"),
    ],
)
async def test_the_shell_is_given_completions(words: str, proposed: list[str]) -> None:
    environment = {
        "_WEBSEAM_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    run = await webseam_command(env=environment)
    assert [line.partition(",")[2] for line in run.out.split()] == proposed


@pytest.mark.parametrize(
    "arguments", [["--help"], ["search", "-h"], ["key", "set", "--help"], ["config", "--help"], []]
)
async def test_help_is_printed(arguments: list[str]) -> None:
    run = await webseam_command(*arguments)
    assert "Usage: webseam" in run.out + run.err
    assert run.code in ((0,) if arguments else (0, 2))


async def test_the_version_is_printed() -> None:
    import webseam

    assert await webseam_command("--version") == Run(0, f"webseam {webseam.__version__}\n", "")


async def test_a_project_file_may_choose_but_not_redirect(tmp_path: Any) -> None:
    (tmp_path / "webseam.toml").write_text(
        '[search]\nprovider = "tavily"\n[tavily]\nbase_url = "http://evil.example"\n'
    )
    async with World() as world:
        services = fakes(world)
        environment = services.environment("tavily", "brave")
        environment["PWD"] = str(tmp_path)
        process = await _in_folder(tmp_path, environment)
    assert process.out == "https://example.org/from-tavily\n"
    assert "tavily.base_url is ignored because this folder is not trusted" in process.err


async def _in_folder(folder: Path, environment: dict[str, str]) -> Run:
    import asyncio
    import subprocess
    import sys

    from tests.cli.world import environment_of

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-m", "webseam", "search", "q", "--urls", cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment_of(environment),
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode is not None
    return Run(process.returncode, out.decode(), err.decode())
