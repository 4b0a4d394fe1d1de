"""Settings, choice and checks from the command line."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.world import Run, webseam_command
from tests.search.world import BAD_KEY, TOO_MANY, fakes, found
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


async def test_a_site_has_a_table_of_its_own_and_an_empty_one_is_no_mistake() -> None:
    path = config_folder() / "config.toml"
    name = "sites.hugging-face.base_url"
    await webseam_command("config", "set", name, "https://hub.example.org")
    assert path.read_text() == '[sites.hugging_face]\nbase_url = "https://hub.example.org"\n'
    assert (await webseam_command("config", "get", name)).out == "https://hub.example.org\n"
    await webseam_command("config", "unset", name)
    assert path.read_text() == "[sites.hugging_face]\n"
    assert await webseam_command("config", "get") == Run(0, "every setting is at its default\n", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("[sites.githu]\nenabled = false\n", "did you mean sites.github?", id="unknown site"),
        pytest.param("[sites.github]\ntokn = 'x'\n", "did you mean token?", id="unknown key"),
        pytest.param("[sites]\ngithub = 1\n", "section [sites]", id="no table"),
        pytest.param("[sites.pypi]\nenabled = 7\n", "sites.pypi.enabled", id="wrong kind"),
    ],
)
async def test_a_mistake_about_a_site_is_named_with_its_line(text: str, says: str) -> None:
    config_folder().mkdir(parents=True)
    path = config_folder() / "config.toml"
    path.write_text(text)
    run = await webseam_command("config", "get")
    assert (run.code, run.out) == (2, "")
    assert f"{path}:" in run.err or says.startswith("section")
    assert says in run.err


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("[exa-free]\ntimeout = 5 # s\n", "[exa-free]\ntimeout = 7.0 # s\n", id="dash"),
        pytest.param("[exa_free]\ntimeout = 5\n", "[exa_free]\ntimeout = 7.0\n", id="underscore"),
        pytest.param(
            "[exa_free]\ntimeout = 5\n[exa-free]\ntimeout = 6\n",
            "[exa_free]\ntimeout = 5\n[exa-free]\ntimeout = 7.0\n",
            id="both: the last one counts",
        ),
        pytest.param(
            "[exa_free]\ntimeout = 5\n[exa-free]\nadvanced = true\n",
            "[exa_free]\ntimeout = 7.0\n[exa-free]\nadvanced = true\n",
            id="both: where it stands",
        ),
        pytest.param("exa-free.timeout = 5\n", "exa-free.timeout = 7.0\n", id="dotted"),
        pytest.param("exa-free = {timeout = 5}\n", "exa-free = {timeout = 7.0}\n", id="inline"),
        pytest.param("\ufeff[exa-free]\ntimeout = 5\n", "\ufeff[exa-free]\ntimeout = 7.0\n", id="byte order mark"),
        pytest.param(
            "# é\r\n[exa-free]\r\n# it\r\nadvanced = true\r\n",
            "# é\r\n[exa-free]\r\n# it\r\nadvanced = true\r\ntimeout = 7.0\r\n",
            id="line ends of Windows",
        ),
        pytest.param(
            "\ufeff[search]\r\ncount = 3\r\n",
            "\ufeff[search]\r\ncount = 3\r\n\r\n[exa_free]\r\ntimeout = 7.0\r\n",
            id="a new table on Windows",
        ),
    ],
)
async def test_a_file_stays_as_its_writer_had_it(before: str, after: str) -> None:
    path = user_file(before)
    changed = await webseam_command("config", "set", "exa-free.timeout", "7")
    assert (changed, path.read_bytes().decode()) == (Run(0, f"exa-free.timeout is set (in {path})\n", ""), after)
    assert (await webseam_command("config", "get", "exa_free.timeout")).out == "7.0\n"
    assert (await webseam_command("config", "unset", "exa_free.timeout")).code == 0
    assert "timeout" not in path.read_text("utf-8-sig")
    assert (await webseam_command("config", "get", "exa_free.timeout")).out == "\n"


def user_file(contents: str) -> Path:
    config_folder().mkdir(parents=True)
    path = config_folder() / "config.toml"
    path.write_bytes(contents.encode())
    return path


@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        pytest.param("exa = 5\n", "cannot be changed: exa is no table in it", id="a number"),
        pytest.param("[[exa]]\ntimeout = 5\n", "cannot be changed: exa is no table in it", id="a list of tables"),
        pytest.param("exa = ['timeout']\n", "cannot be changed: exa is no table in it", id="a list"),
        pytest.param("[exa\n", "cannot be changed: it is not TOML: ", id="not TOML"),
        pytest.param("[exa]\ntimeout = 1\ntimeout = 2\n", "cannot be changed: it is not TOML: ", id="a key twice"),
        pytest.param("x = " + "[" * 10_000, "cannot be changed: it is not TOML: ", id="nested too deeply"),
        pytest.param("x = " + "9" * 5_000, "cannot be changed: it is not TOML: ", id="nines"),
    ],
)
@pytest.mark.parametrize("words", [("set", "exa.timeout", "7"), ("unset", "exa.timeout")], ids=["set", "unset"])
async def test_a_file_that_a_program_cannot_change_is_named_and_left_alone(
    words: tuple[str, ...], contents: str, problem: str
) -> None:
    path = user_file(contents)
    run = await webseam_command("config", *words)
    assert (run.code, run.out, path.read_text()) == (2, "", contents)
    assert run.err.startswith(f"webseam: {path}: {problem}")
    assert run.err.endswith("\n  webseam config edit\n")


def a_link_to_nowhere() -> Path:
    config_folder().mkdir(parents=True)
    (config_folder() / "config.toml").symlink_to(config_folder() / "absent" / "dotfiles.toml")
    return config_folder() / "config.toml"


def a_link_to_itself() -> Path:
    config_folder().mkdir(parents=True)
    (config_folder() / "config.toml").symlink_to(config_folder() / "config.toml")
    return config_folder() / "config.toml"


def a_file_for_a_folder() -> Path:
    config_folder().parent.mkdir(parents=True, exist_ok=True)
    config_folder().write_text("")
    return config_folder()


def a_folder_for_a_file() -> Path:
    (config_folder() / "config.toml").mkdir(parents=True)
    return config_folder() / "config.toml"


def a_write_protected_file() -> Path:
    path = user_file("[search]\ncount = 3\n")
    path.chmod(0o444)
    return path


@pytest.mark.parametrize(
    ("lay", "problem"),
    [
        (a_link_to_nowhere, "cannot be written: No such file or directory (it leads to "),
        (a_link_to_itself, "cannot be read: Too many levels of symbolic links"),
        (a_file_for_a_folder, "cannot be written to: File exists"),
        (a_folder_for_a_file, "cannot be read: Is a directory"),
        (a_write_protected_file, "is write-protected; nothing was changed\n  chmod u+w "),
    ],
)
async def test_a_file_that_cannot_be_written_is_named(lay: Callable[[], Path], problem: str) -> None:
    path = lay()
    run = await webseam_command("config", "set", "search.count", "7")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"webseam: {path}: {problem}")
    if lay is a_write_protected_file:
        assert (path.read_text(), mode_of(path)) == ("[search]\ncount = 3\n", 0o444)


async def test_a_settings_folder_that_cannot_be_made_is_named() -> None:
    folder = "/proc/webseam"  # where nobody may make one: root neither
    run = await webseam_command("config", "set", "search.count", "7", env={"WEBSEAM_CONFIG_DIR": folder})
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"webseam: {folder}: cannot be written to: ")


@pytest.mark.parametrize("lay", [a_link_to_nowhere, a_link_to_itself, a_file_for_a_folder, a_folder_for_a_file])
async def test_an_editor_is_not_started_on_what_is_no_file(lay: Callable[[], Path]) -> None:
    lay()
    run = await webseam_command("config", "edit", env={"VISUAL": "true", "EDITOR": "true"})
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"webseam: {config_folder() / 'config.toml'}: cannot be ")


async def test_changes_at_once_lose_nothing() -> None:
    keys = {"count": "3", "timeout": "4.0", "hedge": "5.0", "cache_ttl": "6.0"}
    async with asyncio.TaskGroup() as group:
        runs = [group.create_task(webseam_command("config", "set", f"search.{key}", keys[key])) for key in keys]
    assert [run.result().code for run in runs] == [0] * len(keys)
    written = (config_folder() / "config.toml").read_text().splitlines()
    assert sorted(written) == sorted(["[search]", *(f"{key} = {value}" for key, value in keys.items())])


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        pytest.param("exa.api_key", "webseam key set exa", id="key"),
        pytest.param("exa_free.api_key", "webseam key set exa-free", id="name with a dash"),
        pytest.param("searxng.password", "webseam config edit", id="another secret"),
    ],
)
async def test_a_secret_on_the_command_line_is_refused_with_the_way_to_set_it(name: str, advice: str) -> None:
    run = await webseam_command("config", "set", name, SECRET)
    assert (run.code, run.out) == (2, "")
    assert run.err == f"webseam: {name}: is a secret and must not stand on a command line\n  {advice}\n"


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


async def test_doctor_checks_who_cools_down_too() -> None:
    async with World() as world:
        services = fakes(world, tavily=BAD_KEY)
        environment = services.environment("tavily")
        assert (await webseam_command("search", "q", env=environment)).code == 6
        listed = (await webseam_command("providers", "--json", env=environment)).json()
        refused = await webseam_command("doctor", "--json", env=environment)
        services.answers["tavily"] = found("x")
        mended = await webseam_command("doctor", "--json", env=environment)
    state = next(one for one in listed if one["id"] == "tavily")
    assert (state["usable"], state["set_up"]) == (False, True)
    assert [one["id"] for one in listed if one["set_up"]] == ["tavily"]
    told = [(run.code, [(one["provider"], one["outcome"]) for one in run.json()]) for run in (refused, mended)]
    assert told == [(6, [("tavily", "auth")]), (0, [("tavily", "ok")])]


async def test_doctor_lays_a_budget_of_the_users_own_to_the_setup() -> None:
    async with World() as world:
        services = fakes(world)
        environment = {**services.environment("tavily"), "WEBSEAM_TAVILY_MAX_CALLS_DAY": "0"}
        run = await webseam_command("doctor", "--json", env=environment)
    told = [(one["outcome"], one["failed_at"], one["detail"].split(";")[0]) for one in run.json()]
    assert told == [("quota", "setup", "the budget of 0 calls a day for tavily is used up")]
    assert (run.code, services.asked) == (5, [])


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
        environment["WEBSEAM_TAVILY_TIMEOUT"] = "2"
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
        pytest.param("webseam se", ["search", "setup"], id="command"),
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
