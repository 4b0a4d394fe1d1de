"""The provider that runs a program: its template, what the program is handed, and what each way of ending means."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.world import webseam_command
from tests.providers.test_command_output import ddgs_prints
from tests.wire import QUERY
from tests.wire.fake import FORGETFUL, Told, told
from webseam.errors import Outcome, SettingsError
from webseam.model import SearchRequest
from webseam.providers.base import EMULATED, NATIVE, OPTIONS, UNSUPPORTED, ProviderConfig
from webseam.providers.command import DEFAULT, Command, parse_template
from webseam.search.prepare import prepare
from webseam.web import AsyncWeb

ROW = {"title": "Guide", "href": "https://example.org/guide", "body": "About it", "date": "2026-02-03"}
Tool = Callable[..., str]


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """Make a program out of lines of Python; return the template that runs it."""

    def make(code: str, arguments: str = "{{query}}") -> str:
        path = tmp_path / "tool.py"
        path.write_text(f"import json, os, sys, time\n{code}\n")
        return f'"{sys.executable}" -S "{path}" {arguments}'

    return make


def variables(template: str, **settings: str) -> dict[str, str]:
    own = {f"WEBSEAM_COMMAND_{name.upper()}": value for name, value in {"template": template, **settings}.items()}
    return {**os.environ, **FORGETFUL, **own}


async def search(template: str, settings: dict[str, str] | None = None, **options: Any) -> Told:
    async with AsyncWeb(environment=variables(template, **(settings or {}))) as web:
        return await told(web, "command", options)


def printing(text: str, code: int = 0, stderr: str = "") -> str:
    """Return the Python of a program that prints this and ends so."""
    return f"sys.stdout.write({text!r}); sys.stderr.write({stderr!r}); sys.exit({code})"


def set_up(template: str, **values: Any) -> ProviderConfig:
    given = {"template": template, "env": (), "private": False, **values}
    return ProviderConfig(provider="command", values=given)


# The template.


@pytest.mark.parametrize(
    "words, arguments",
    [
        pytest.param("a {{query}}", ("a", "{{query}}"), id="plain"),
        pytest.param(" \t a\t \t{{query}}  -n \n", ("a", "{{query}}", "-n"), id="spaces and tabs"),
        pytest.param("a '{{query}} b' \"c  d\"", ("a", "{{query}} b", "c  d"), id="quotes group"),
        pytest.param("a --q=\"{{query}} x\"'y z'", ("a", "--q={{query}} xy z"), id="quotes inside a word"),
        pytest.param("a '' \"\" {{query}}", ("a", "", "", "{{query}}"), id="empty arguments stay"),
        pytest.param("a '\"' \"'\" {{query}}", ("a", '"', "'", "{{query}}"), id="each quote inside the other"),
        pytest.param(
            r"C:\tools\a.exe {{query}} \n '\'", ("C:\\tools\\a.exe", "{{query}}", "\\n", "\\"), id="no escapes"
        ),
        pytest.param(
            "a {{query}} $HOME ~ * | > x ; &", ("a", "{{query}}", *"$HOME ~ * | > x ; &".split()), id="no shell"
        ),
        pytest.param(
            "a {{ query }} {{other}} {query} {{query}}",
            ("a", "{{", "query", "}}", "{{other}}", "{query}", "{{query}}"),
            id="other braces",
        ),
        pytest.param("", tuple(DEFAULT.split()), id="nothing"),
        pytest.param(" \t", tuple(DEFAULT.split()), id="blank"),
    ],
)
def test_a_template_is_split_at_spaces_outside_quotes(words: str, arguments: tuple[str, ...]) -> None:
    assert parse_template(words).arguments == arguments


@pytest.mark.parametrize(
    "template, problem",
    [
        pytest.param("a b", "has no {{query}}", id="no query"),
        pytest.param("a 'b {{query}}", "has a ' without its partner", id="open quote"),
        pytest.param("a \"{{query}}' b", 'has a " without its partner', id="crossed quotes"),
        pytest.param("{{query}} a", "must begin with the name of a program", id="the query as a program"),
        pytest.param("bin/{{site}} {{query}}", "must begin with the name of a program", id="a program from a value"),
        pytest.param("'' {{query}}", "must begin with the name of a program", id="no program"),
        pytest.param("a \x00 {{query}}", "has a NUL or half of a surrogate pair", id="NUL"),
    ],
)
async def test_a_template_that_cannot_work_is_an_error_of_the_settings(template: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Command().routes(set_up(template), None)  # type: ignore[arg-type]
    assert (caught.value.field, caught.value.detail) == ("command.template", f"command.template: {problem}")


async def test_the_default_is_ddgs_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = await search("")
    assert result.attempt.outcome is Outcome.UNAVAILABLE
    assert result.attempt.detail == "there is no program ddgs on the path"
    assert "pipx install ddgs" in str(result.hint)


@pytest.mark.parametrize(
    "program, label",
    [
        ("ddgs", "ddgs"),
        ("/usr/local/bin/ddgs", "ddgs"),
        (r"C:\Tools\Search.EXE", "Search"),
        ("./my-search.sh", "my-search.sh"),
        (".exe", ".exe"),
    ],
)
def test_a_program_goes_by_its_name_without_folders(program: str, label: str) -> None:
    assert parse_template(f"{program} {{{{query}}}}").label == label


# What the program is handed.

ARGUMENTS = 'print(json.dumps([{"url": "https://example.org/", "body": json.dumps(sys.argv[1:])}]))'


async def handed(tool: Tool, arguments: str, **options: Any) -> list[str]:
    result = await search(tool(ARGUMENTS, arguments), **options)
    words: list[str] = json.loads(str(result.hits[0].snippet))
    return words


@pytest.mark.parametrize(
    "query",
    [
        "two words",
        "a; rm -rf ~ | cat $(id) `id` && x > y",
        "'one\" \\ two",
        "{{count}} and {{query}} and {{site}}",
        "%s %(query)s {query} \\1 \\g<0>",
        "日本語 *",
        "-rf",
        "--output=/etc/passwd",
        "-",
    ],
)
async def test_a_query_stays_one_argument_and_is_never_an_option(tool: Tool, query: str) -> None:
    argument, whole, inside, count = await handed(tool, "{{query}} '{{query}} x' --q={{query}} {{count}}", query=query)
    space = " " if query.startswith("-") else ""
    assert (argument, whole, inside, count) == (space + query, f"{space}{query} x", f"--q={query}", "10")


async def test_every_placeholder_has_its_value(tool: Tool) -> None:
    arguments = "{{query}} {{count}} {{page}} {{language}} {{region}} '{{site}}'"
    options = {"include_domains": ["https://www.example.org", "example.net"], "language": "pt-BR", "region": "br"}
    given = await handed(tool, arguments, query="q", count=7, **options)
    assert given == ["q", "14", "1", "pt-BR", "BR", "example.org example.net"]  # twice as many: some are filtered here


async def test_what_was_not_asked_for_is_empty(tool: Tool) -> None:
    assert await handed(tool, "{{query}} {{language}} {{region}} {{site}}", query="q") == ["q", "", "", ""]


async def test_a_bare_suffix_is_not_handed_on_as_a_host(tool: Tool) -> None:
    result = await search(tool(ARGUMENTS, "{{query}} {{site}}"), query="q", include_domains=["org", "example.net"])
    assert json.loads(str(result.hits[0].snippet)) == ["q", ""]


# What it can do, by its template.


@pytest.mark.parametrize(
    "placeholders, page, language, region",
    [
        pytest.param("", UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, id="query alone"),
        pytest.param("{{count}}", EMULATED, UNSUPPORTED, UNSUPPORTED, id="count"),
        pytest.param("{{page}}", NATIVE, UNSUPPORTED, UNSUPPORTED, id="page"),
        pytest.param("{{count}} {{language}}", EMULATED, NATIVE, UNSUPPORTED, id="language"),
        pytest.param("--place={{region}}", UNSUPPORTED, UNSUPPORTED, NATIVE, id="region"),
    ],
)
def test_the_template_decides_what_it_can_do(placeholders: str, page: Any, language: Any, region: Any) -> None:
    fitted = Command().fitted(set_up(f"tools/find {{{{query}}}} {placeholders}"))
    assert {option: fitted.support(option) for option in OPTIONS} == {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": EMULATED,
        "date_range": EMULATED,
        "safe": UNSUPPORTED,
        "page": page,
        "language": language,
        "region": region,
    }
    assert (fitted.label, fitted.id) == ("find", "command")


def test_a_template_without_a_place_for_an_option_says_that_it_was_not_applied() -> None:
    wanted = SearchRequest(query="q", language="de", region="DE")
    some = Command().fitted(set_up("find {{query}} {{language}}"))
    assert prepare(some, wanted).notes == ("find cannot filter by region; that was not applied",)


@pytest.mark.parametrize(
    "arguments, options, given",
    [
        pytest.param("{{page}} {{count}}", {"page": 3, "count": 5}, ["3", "5"], id="its own pages"),
        pytest.param("{{count}}", {"page": 1, "count": 5}, ["5"], id="first page"),
        pytest.param("{{language}}", {"language": "de"}, ["de"], id="language"),
        pytest.param("--region={{region}}", {"region": "de"}, ["--region=DE"], id="region"),
    ],
)
async def test_an_option_the_template_has_reaches_the_program(
    tool: Tool, arguments: str, options: dict[str, Any], given: list[str]
) -> None:
    result = await search(tool(ARGUMENTS, f"{{{{query}}}} {arguments}"), strict=True, **options)
    assert (result.outcome, result.notes) == (Outcome.OK, ())
    assert json.loads(str(result.hits[0].snippet))[1:] == given


async def test_later_pages_are_reached_by_asking_for_the_hits_before_them_too(tool: Tool) -> None:
    code = 'print(json.dumps([{"url": f"https://example.org/{number}"} for number in range(int(sys.argv[2]))]))'
    result = await search(tool(code, "{{query}} {{count}}"), page=3, count=4)
    assert [hit.url for hit in result.hits] == [f"https://example.org/{number}" for number in range(8, 12)]


@pytest.mark.parametrize(
    "options, detail",
    [
        pytest.param({"language": "de"}, "tool cannot do language (strict)", id="language"),
        pytest.param({"page": 2}, "tool has no page 2 of 10 hits", id="page"),
    ],
)
async def test_an_option_it_lacks_is_refused_where_that_is_wanted(
    tool: Tool, options: dict[str, Any], detail: str
) -> None:
    result = await search(tool(ARGUMENTS), strict=True, **options)
    said = str(result.attempt.detail).replace(Path(sys.executable).name, "tool")
    assert (result.outcome, said) == (Outcome.UNSUPPORTED, detail)


def test_fitting_one_changes_no_other() -> None:
    Command().fitted(set_up("find {{query}} {{page}} {{language}}"))
    plain = Command()
    assert (plain.support("page"), plain.support("language"), plain.label) == (EMULATED, UNSUPPORTED, "Command")


async def test_domains_and_dates_hold_whatever_it_prints(tool: Tool) -> None:
    rows = [
        ROW,
        {"href": "https://sub.example.org/new", "date": "2026-03-01"},
        {"href": "https://example.net/", "date": "2026-03-01"},
        {"href": "https://example.org/undated"},
    ]
    result = await search(
        tool(printing(json.dumps(rows))), include_domains=["example.org"], after="2026-02-15", before="2026-03-31"
    )
    assert [hit.url for hit in result.hits] == ["https://sub.example.org/new", "https://example.org/undated"]
    assert result.dropped == {"other domain": 1, "outside the dates": 1}


async def test_more_than_was_asked_for_is_cut(tool: Tool) -> None:
    rows = [{"url": f"https://example.org/{number}"} for number in range(60)]
    result = await search(tool(printing(json.dumps(rows))), count=3)
    assert [hit.url for hit in result.hits] == [f"https://example.org/{number}" for number in range(3)]


# How it ends.


async def test_hits_carry_what_the_program_printed_and_nothing_else(tool: Tool) -> None:
    rows = [ROW, {"url": "https://example.org/bare"}, {"title": "No address"}, {"url": "ftp://example.org/"}]
    result = await search(tool(printing(json.dumps(rows))))
    assert result.as_expected() == {
        "outcome": "ok",
        "hits": [
            {
                "url": "https://example.org/guide",
                "title": "Guide",
                "snippet": "About it",
                "published": "2026-02-03",
                "providers": ["command"],
            },
            {"url": "https://example.org/bare", "providers": ["command"]},
        ],
        "attempt": {"provider": "command", "outcome": "ok", "hits": 2},
        "dropped": {"no url": 1, "not http": 1},
    }


async def test_the_text_of_ddgs_becomes_hits(tool: Tool) -> None:
    result = await search(tool(printing(ddgs_prints([ROW, {"title": None, "href": "https://example.org/2"}]))))
    assert [(hit.url, hit.title, hit.snippet, hit.published) for hit in result.hits] == [
        ("https://example.org/guide", "Guide", "About it", "2026-02-03"),
        ("https://example.org/2", None, None, None),
    ]


@pytest.mark.parametrize(
    "code, outcome, detail",
    [
        pytest.param(printing("[]"), Outcome.EMPTY, None, id="empty array"),
        pytest.param(printing('{"results": []}'), Outcome.EMPTY, None, id="empty results"),
        pytest.param(printing(""), Outcome.BAD_RESPONSE, "tool: no output", id="nothing"),
        pytest.param(
            printing("", stderr="no network"), Outcome.BAD_RESPONSE, "tool: no output: no network", id="only errors"
        ),
        pytest.param(
            printing("Usage:  find\n\twords", stderr="oops"),
            Outcome.BAD_RESPONSE,
            "tool: no results in its output: Usage: find words",
            id="words",
        ),
        pytest.param(
            printing("x" * 300), Outcome.BAD_RESPONSE, "tool: no results in its output: " + "x" * 199 + "…", id="cut"
        ),
        pytest.param(
            printing("DDGSException: DDGSException('No results found.')"),
            Outcome.EMPTY,
            None,
            id="ddgs without results",
        ),
        pytest.param(
            printing("RatelimitException: 202 Ratelimit"),
            Outcome.RATE_LIMITED,
            "tool: no results in its output: RatelimitException: 202 Ratelimit",
            id="ddgs limited",
        ),
        pytest.param(
            printing('{"error": "insufficient credits"}'),
            Outcome.QUOTA,
            'tool: no results, data, items, hits in its object (it has: error): {"error": "insufficient credits"}',
            id="an error object",
        ),
        pytest.param(
            printing("[]", 1), Outcome.BAD_RESPONSE, "tool failed with exit code 1: []", id="failed despite output"
        ),
        pytest.param(
            printing(json.dumps([ROW]), 2, "died\n late"),
            Outcome.BAD_RESPONSE,
            "tool failed with exit code 2: died late",
            id="failed with hits",
        ),
        pytest.param(
            printing("", 1, "HTTP 429 Too Many Requests"),
            Outcome.RATE_LIMITED,
            "tool failed with exit code 1: HTTP 429 Too Many Requests",
            id="rate words",
        ),
        pytest.param(
            printing("", 1, "blocked: solve the CAPTCHA"),
            Outcome.BLOCKED,
            "tool failed with exit code 1: blocked: solve the CAPTCHA",
            id="block words",
        ),
        pytest.param(
            printing("too many requests", 1, "died"),
            Outcome.BAD_RESPONSE,
            "tool failed with exit code 1: died",
            id="only stderr tells why it failed",
        ),
        pytest.param(
            printing("", 1, "no results"),
            Outcome.BAD_RESPONSE,
            "tool failed with exit code 1: no results",
            id="a failure is not empty",
        ),
        pytest.param(
            printing("", 1, "invalid api key"),
            Outcome.BAD_RESPONSE,
            "tool failed with exit code 1: invalid api key",
            id="its key is not ours",
        ),
        pytest.param(
            printing("", 1, f"nothing about {QUERY}"),
            Outcome.BAD_RESPONSE,
            f"tool failed with exit code 1: nothing about {QUERY}",
            id="the query",
        ),
        pytest.param(printing("", 3), Outcome.BAD_RESPONSE, "tool failed with exit code 3", id="no words at all"),
        pytest.param(
            printing("", 127, "env: ddgs: not found"),
            Outcome.UNAVAILABLE,
            "tool ended with 127, there is no such program: env: ddgs: not found",
            id="exit 127",
        ),
        pytest.param("os.kill(os.getpid(), 9)", Outcome.BAD_RESPONSE, "tool was ended by signal 9", id="signal"),
        pytest.param(
            "for _ in range(50): os.write(1, b'[' * 1_000_000)",
            Outcome.BAD_RESPONSE,
            "tool printed too much (5,242,880 characters and more)",
            id="50 MB",
        ),
    ],
)
async def test_each_way_of_ending_has_its_outcome(tool: Tool, code: str, outcome: Outcome, detail: str | None) -> None:
    result = await search(tool(code))
    said = (result.attempt.detail or "").replace(Path(sys.executable).name, "tool")
    assert (result.outcome, said or None) == (outcome, detail)


async def test_block_words_of_the_query_itself_do_not_count(tool: Tool) -> None:
    code = 'sys.stderr.write("nothing for " + sys.argv[1]); sys.exit(1)'
    result = await search(tool(code), query="captcha blocked")
    assert result.outcome is Outcome.BAD_RESPONSE


async def test_a_program_that_is_not_there_is_unavailable_and_nothing_runs(tmp_path: Path) -> None:
    result = await search("no-such-program {{query}}")
    assert result.attempt.outcome is Outcome.UNAVAILABLE
    assert result.attempt.detail == "there is no program no-such-program on the path"


async def test_batch_files_are_refused_by_name() -> None:
    provider = Command()
    assert provider.unavailable(set_up("search.cmd {{query}}")) == (
        "there is no program search.cmd on the path (batch files are not run)"
    )


async def test_at_its_timeout_it_is_killed_with_its_children(tool: Tool, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    reading = asyncio.create_task(asyncio.to_thread(alive.read_text))
    code = f"""
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pipe = open({str(alive)!r}, "w")
if os.fork():
    pipe.write("ready")
    pipe.flush()
time.sleep(60)
"""
    result = await search(tool(code), {"timeout": "1.5"})
    assert (result.outcome, await reading) == (Outcome.TIMEOUT, "ready")


@pytest.mark.parametrize(
    "settings, seconds", [pytest.param({}, 30.0, id="usual"), pytest.param({"timeout": "4"}, 4.0, id="set")]
)
async def test_a_program_has_thirty_seconds_unless_set(tool: Tool, settings: dict[str, str], seconds: float) -> None:
    async with AsyncWeb(environment=variables(tool(""), **settings)) as web:
        (one,) = web.plan("command").candidates
    assert one.config.timeout == seconds


async def test_a_cancelled_search_kills_the_program(tool: Tool, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    template = tool(
        f'pipe = open({str(alive)!r}, "w"); pipe.write("ready\\n"); pipe.flush(); os.fork(); time.sleep(60)'
    )
    searching = asyncio.create_task(search(template))
    with await asyncio.to_thread(alive.open) as pipe:
        assert await asyncio.to_thread(pipe.readline) == "ready\n"
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        assert await asyncio.to_thread(pipe.read) == ""


# Secrets, and who may set it.


async def test_a_variable_is_passed_when_named_and_what_it_holds_is_never_shown(
    tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "q7Rm2Vx9Lp4Ks8Tz1Wd6Yb3Nf5Hc0Jg7Ae2Uo4X"
    monkeypatch.setenv("TEAM_TOKEN", secret)
    monkeypatch.setenv("OTHER_TOKEN", secret)
    code = 'print(os.environ.get("TEAM_TOKEN"), os.environ.get("OTHER_TOKEN"), "x" * 150, os.environ.get("TEAM_TOKEN"))'
    result = await search(tool(code), {"env": "TEAM_TOKEN"})
    words = str(result.attempt.detail)
    assert "no results in its output: *** None xxx" in words
    assert not any(secret[at : at + 6] in words for at in range(len(secret) - 6))


async def test_without_being_named_no_variable_of_ours_is_seen(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXA_API_KEY", "planted")
    monkeypatch.setenv("WEBSEAM_BRAVE_API_KEY", "planted")
    code = 'print(json.dumps([{"url": "https://example.org/", "body": " ".join(sorted(os.environ))}]))'
    (hit,) = (await search(tool(code))).hits
    assert hit.snippet == "HOME LANG LC_ALL NO_COLOR PATH PYTHONIOENCODING TERM"


@pytest.mark.parametrize(
    "setting",
    ['template = "sh -c id {{query}}"', 'env = ["EXA_API_KEY"]', "private = true"],
    ids=["template", "env", "private"],
)
async def test_the_file_of_a_folder_nobody_trusts_sets_none_of_it(setting: str, tmp_path: Path) -> None:
    (tmp_path / "webseam.toml").write_text(f"[command]\n{setting}\n")
    async with AsyncWeb(environment=dict(os.environ), folder=tmp_path) as web:
        (warning,) = web.settings().warnings
    name = setting.split(" ")[0]
    assert f"command.{name} is ignored because this folder is not trusted" in warning


@pytest.mark.parametrize("private, outcome", [("true", Outcome.OK), ("false", Outcome.UNAVAILABLE)])
async def test_local_only_runs_a_program_that_is_marked_private(tool: Tool, private: str, outcome: Outcome) -> None:
    result = await search(tool(printing(json.dumps([ROW]))), {"private": private}, local_only=True)
    assert result.outcome is outcome


async def test_the_command_line_runs_it_when_it_is_named(tool: Tool) -> None:
    env = variables(tool(ARGUMENTS, "{{query}} {{count}}"))
    run = await webseam_command("search", "-p", "command", "-n", "4", "--json", "some", "words", env=env)
    (hit,) = run.json()["hits"]
    assert (run.code, json.loads(hit["snippet"]), run.json()["sent_to"]) == (0, ["some words", "4"], ["command"])


async def test_the_command_line_ends_as_the_outcome_says(tool: Tool) -> None:
    env = variables(tool(printing("", 1, "Ratelimit")))
    run = await webseam_command("search", "-p", "command", "words", env=env)
    assert (run.code, run.out) == (5, "")
    assert "failed with exit code 1: Ratelimit" in run.err


async def test_automatic_choice_never_runs_a_program(tool: Tool) -> None:
    async with AsyncWeb(environment=variables(tool(""))) as web:
        plan = web.plan("auto")
    assert "command" not in [one.id for one in plan.candidates]


async def test_several_programs_go_by_names_of_their_own(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    names = ("wiki", "tickets")
    tables = [
        f"""[providers.command.{name}]\ntemplate = 'sh -c "printf {name}; exit 1" {{{{query}}}}'\n""" for name in names
    ]
    (config / "config.toml").write_text("\n".join(tables))
    async with AsyncWeb(environment={**os.environ, **FORGETFUL, "WEBSEAM_CONFIG_DIR": str(config)}) as web:
        result = await told(web, "wiki,tickets", {})
    assert [(one.provider, one.detail) for one in result.attempts] == [
        (name, f"sh failed with exit code 1: {name}") for name in names
    ]
