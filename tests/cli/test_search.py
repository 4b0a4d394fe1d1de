"""`webseam search`: what it prints where, and how it ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.world import Run, environment_of, interrupted, start, webseam_command
from tests.search.world import (
    BAD_KEY,
    CAPTCHA,
    NOTHING,
    TOO_MANY,
    WITHOUT_CREDITS,
    Gate,
    fakes,
    found,
    row,
)
from tests.world import Connection, World
from webseam.errors import Outcome

FIELDS = [
    "query", "hits", "outcome", "attempts", "answer", "notes", "dropped", "cached", "sent_to", "pages", "took",
    "detail", "hint",
]  # fmt: skip


async def test_hits_go_to_standard_output_with_a_line_about_them() -> None:
    async with World() as world:
        services = fakes(world, tavily=found("one", row("two", content="About <b>two</b> &amp; more")))
        run = await webseam_command("search", "parse", "a", "url", "-n", "3", env=services.environment("tavily"))
    assert run == Run(
        0,
        " 1. Title one\n"
        "    https://example.org/one\n"
        "    About one\n"
        "\n"
        " 2. Title two\n"
        "    https://example.org/two\n"
        "    About two & more\n"
        "\n"
        "2 results from tavily.\n",
        "",
    )
    assert services.site.requests[0].json()["query"] == "parse a url"


@pytest.mark.parametrize(
    ("flag", "printed"),
    [
        pytest.param("--urls", "https://example.org/one\n", id="urls"),
        pytest.param(
            "--markdown",
            "[1] Title one\n    https://example.org/one\n    About one\n\n1 result from tavily.\n",
            id="markdown",
        ),
    ],
)
async def test_other_forms_of_output(flag: str, printed: str) -> None:
    async with World() as world:
        services = fakes(world, tavily=found("one"))
        assert await webseam_command("search", "q", flag, env=services.environment("tavily")) == Run(0, printed, "")


async def test_json_is_the_response_of_the_library() -> None:
    async with World() as world:
        services = fakes(world, tavily=found(row("één", title="Ünïcödé 日本語 🙂")))
        run = await webseam_command("search", "q", "--json", env=services.environment("tavily"))
        response = run.json()
    assert (run.code, run.err, list(response)) == (0, "", FIELDS)
    assert response["hits"] == [
        {
            "url": "https://example.org/één",
            "title": "Ünïcödé 日本語 🙂",
            "snippet": "About één",
            "published": None,
            "author": None,
            "site": None,
            "score": None,
            "providers": ["tavily"],
            "passages": [],
        }
    ]
    assert (response["outcome"], response["sent_to"], response["hint"]) == ("ok", ["tavily"], None)
    assert "Ünïcödé 日本語 🙂" in run.out


async def test_every_option_reaches_the_request() -> None:
    async with World() as world:
        services = fakes(world, exa=found("one"))
        await webseam_command(
            "search", "q", "-p", "exa", "-n", "7", "--site", "example.org", "--site", "docs.example.com",
            "--not-site", "bad.example.org", "--after", "2024-01-02", "--before", "2024-03-04", "--region", "de",
            "--safe", "strict", "--kind", "news", "--timeout", "9",
            env=services.environment("exa"),
        )  # fmt: skip
    body = services.site.requests[0].json()
    assert body["numResults"] == 14
    assert body["includeDomains"] == ["example.org", "docs.example.com"]
    assert (body["startPublishedDate"], body["endPublishedDate"]) == (
        "2024-01-02T00:00:00.000Z", "2024-03-04T23:59:59.999Z",
    )  # fmt: skip
    assert (body["userLocation"], body["moderation"], body["category"]) == ("DE", True, "news")


async def test_a_chain_answers_and_lists_who_did_not() -> None:
    async with World() as world:
        services = fakes(world, exa=TOO_MANY, searxng=WITHOUT_CREDITS, tavily=found("one"))
        environment = services.environment("exa", "searxng", "tavily")
        run = await webseam_command("search", "q", "--json", "-p", "exa,tavily", env=environment)
        again = await webseam_command("search", "other", "-p", "exa,tavily", env=environment)
    assert [(one["provider"], one["outcome"]) for one in run.json()["attempts"]] == [
        ("exa", "rate_limited"), ("tavily", "ok"),
    ]  # fmt: skip
    assert (run.code, again.code) == (0, 0)
    assert services.asked == ["exa", "tavily", "tavily"]  # the second process knows of the cool-down


# how it ends


async def hanging(connection: Connection) -> None:
    if await connection.request() is not None:
        await connection.until_gone()


@pytest.mark.parametrize(
    ("answer", "outcome", "code"),
    [
        pytest.param((200, {}, NOTHING), "empty", 4, id="empty"),
        pytest.param(found(row("x", url="javascript:alert(1)")), "filtered", 4, id="filtered"),
        pytest.param(CAPTCHA, "blocked", 5, id="blocked"),
        pytest.param(TOO_MANY, "rate_limited", 5, id="rate_limited"),
        pytest.param(WITHOUT_CREDITS, "quota", 5, id="quota"),
        pytest.param(BAD_KEY, "auth", 6, id="auth"),
        pytest.param("hang", "timeout", 7, id="timeout"),
        pytest.param("closed", "network", 7, id="network"),
        pytest.param((500, {}, "broken"), "upstream", 7, id="upstream"),
        pytest.param((200, {}, "[1, 2"), "bad_response", 5, id="bad_response"),
        pytest.param("metadata", "unsafe", 8, id="unsafe"),
        pytest.param((400, {}, {"detail": {"error": "Unsupported parameter"}}), "unsupported", 9, id="unsupported"),
        pytest.param("no key", "unavailable", 6, id="unavailable"),
        pytest.param("bad count", "invalid", 2, id="invalid"),
    ],
)
async def test_every_outcome_has_its_exit_code_and_its_words_on_standard_error(
    answer: Any, outcome: str, code: int
) -> None:
    async with World() as world:
        services = fakes(world, tavily=answer)
        environment = services.environment("tavily", keys=answer != "no key")
        places = {"hang": lambda: world.serve(hanging), "closed": world.closed_port}
        if answer in ("hang", "closed"):
            environment["WEBSEAM_TAVILY_BASE_URL"] = places[answer]()
        elif answer == "metadata":
            environment["WEBSEAM_TAVILY_BASE_URL"] = "http://169.254.169.254"
        arguments = ["search", "q", "-p", "tavily", "--timeout", "1.5", *(["-n", "0"] if answer == "bad count" else [])]
        plain, as_json = await asyncio.gather(
            webseam_command(*arguments, env=environment),
            # A user of its own: the second call must not see what the first one learnt.
            webseam_command(*arguments, "--json", env={**environment, "WEBSEAM_STATE_ENABLED": "false"}),
        )
    response = as_json.json()
    assert (plain.code, as_json.code, Outcome(outcome).exit_code) == (code, code, code)
    assert (list(response), response["outcome"], response["hits"]) == (FIELDS, outcome, [])
    assert "Traceback" not in plain.err + as_json.err
    if Outcome(outcome).answered:
        assert plain.out.startswith("No results: ")
        assert plain.err == ""
        return
    assert plain.out == ""
    assert plain.err.startswith(f"webseam: {outcome}: ")
    assert response["detail"]
    assert response["detail"] in plain.err
    if outcome not in ("invalid",):
        assert [(one["provider"], one["outcome"]) for one in response["attempts"]] == [("tavily", outcome)]
    if response["hint"]:
        assert f"\n  {response['hint']}\n" in plain.err


async def test_when_all_fail_each_is_listed_with_its_outcome() -> None:
    async with World() as world:
        services = fakes(world, exa=TOO_MANY, tavily=BAD_KEY)
        run = await webseam_command("search", "q", "--json", env=services.environment("exa", "tavily"))
    response = run.json()
    assert (run.code, response["outcome"]) == (5, "rate_limited")
    assert [(one["provider"], one["outcome"]) for one in response["attempts"][:2]] == [
        ("exa", "rate_limited"), ("tavily", "auth"),
    ]  # fmt: skip
    assert "exa: rate_limited" in response["detail"]
    assert "tavily: auth" in response["detail"]


@pytest.mark.parametrize("form", ["--markdown", "--urls", None])
async def test_a_failure_prints_no_results_in_any_form(form: str | None) -> None:
    async with World() as world:
        services = fakes(world, tavily=BAD_KEY)
        arguments = ["search", "q", "-p", "tavily", *([form] if form else [])]
        run = await webseam_command(*arguments, env=services.environment("tavily"))
    assert run.code == 6
    if form == "--markdown":  # what a model is given says what happened, or it would take nothing for an answer
        assert run.out.startswith("The search failed (auth): tavily: HTTP 401: invalid api key.")
    else:
        assert run.out == ""


# wrong input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["search", ""], "query: is empty", id="empty query"),
        pytest.param(["search", "  "], "query: is empty", id="blank query"),
        pytest.param(["search", "x" * 3_000], "query: has 3,000 characters", id="long query"),
        pytest.param(["search", "q", "-n", "0"], "count: must be a whole number from 1 to 100", id="count 0"),
        pytest.param(["search", "q", "-n", "1000"], "count: must be a whole number from 1 to 100", id="count 1000"),
        pytest.param(["search", "q", "-n", "ten"], "'-n' / '--count': 'ten'", id="count that is no number"),
        pytest.param(["search", "q", "--site", "not a domain"], "include_domains: 'not a domain'", id="domain"),
        pytest.param(["search", "q", "--not-site", "a b"], "exclude_domains: 'a b'", id="excluded domain"),
        pytest.param(
            ["search", "q", "--after", "2024-02-02", "--before", "2024-02-01"], "after: 2024-02-02 is later", id="days"
        ),
        pytest.param(["search", "q", "--after", "soon"], "after: 'soon' is not a day", id="no day"),
        pytest.param(["search", "q", "--page", "0"], "page: must be", id="page"),
        pytest.param(["search", "q", "--timeout", "-1"], "timeout: -1.0 is not", id="timeout"),
        pytest.param(["search", "q", "--hedge", "1000"], "search.hedge: 1000.0", id="hedge"),
        pytest.param(["search", "q", "-p", "tavly"], "did you mean tavily?", id="unknown provider"),
        pytest.param(["search", "q", "-p", ""], "provider: names no provider", id="no provider"),
        pytest.param(["search", "q", "--jsno"], "--json", id="unknown flag"),
        pytest.param(["search", "q", "--fresh", "hour"], "'day', 'week', 'month', 'year'", id="unknown freshness"),
        pytest.param(["search", "q", "--kind", "image"], "'web', 'news', 'code', 'paper'", id="unknown kind"),
        pytest.param(["search"], "Missing argument 'QUERY...'", id="no query"),
        pytest.param(["serach", "q"], "Did you mean 'search'?", id="unknown command"),
        pytest.param(["use", "brvae"], "did you mean brave?", id="use of an unknown provider"),
        pytest.param(["config", "set", "search.hegde", "1"], "did you mean hedge?", id="unknown setting"),
        pytest.param(["config", "set", "serach.hedge", "1"], "did you mean search?", id="unknown section"),
        pytest.param(["config", "get", "exa.contnets"], "did you mean contents?", id="unknown setting of a provider"),
        pytest.param(["config", "set", "search.count", "many"], "is not a whole number", id="malformed setting"),
        pytest.param(["config", "get", "timeout"], "write it as section.key", id="setting without a section"),
        pytest.param(["key", "set", "exxa"], "did you mean exa?", id="key of an unknown provider"),
        pytest.param(["key", "set", "duckduckgo"], "duckduckgo takes no key", id="key of a provider without"),
        pytest.param(["doctor", "duckduck"], "did you mean duckduckgo?", id="doctor of an unknown provider"),
        pytest.param(["doctor", "exa,tavily"], "is not one provider", id="doctor of a list"),
        pytest.param(["test", "-p", "tavly"], "did you mean tavily?", id="test of an unknown provider"),
        pytest.param(["test", ""], "query: is empty", id="test of nothing"),
        pytest.param(["completion", "tcsh"], "'bash', 'zsh', 'fish'", id="unknown shell"),
    ],
)
async def test_wrong_input_ends_with_2_names_what_is_wrong_and_sends_nothing(arguments: list[str], words: str) -> None:
    async with World() as world:
        services = fakes(world)
        run = await webseam_command(*arguments, env=services.environment("tavily"))
        assert world.connections == []
    assert run.code == 2
    assert words in run.err
    assert "Traceback" not in run.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[search]\nprovidr = 'exa'\n", "did you mean provider?", id="unknown key"),
        pytest.param("[serach]\nprovider = 'exa'\n", "did you mean search?", id="unknown section"),
        pytest.param("provider = 'exa'\n", "must stand in a section", id="no section"),
        pytest.param("[search\n", "is not TOML", id="no TOML"),
        pytest.param("[search]\ncount = 'many'\n", "is not a whole number", id="malformed"),
    ],
)
async def test_a_wrong_settings_file_is_named(text: str, words: str, tmp_path: Any) -> None:
    (tmp_path / "config.toml").write_text(text)
    run = await webseam_command("search", "q", "--json", env={"WEBSEAM_CONFIG_DIR": str(tmp_path)})
    response = run.json()
    assert (run.code, response["outcome"]) == (2, "invalid")
    assert str(tmp_path / "config.toml") in response["detail"]
    assert words in f"{response['detail']} {response['hint']}"


# the terminal


async def test_output_is_utf_8_whatever_the_locale_says() -> None:
    async with World() as world:
        services = fakes(world, tavily=found(row("x", title="Zürich — 日本語 🙂")))
        environment = {**services.environment("tavily"), "LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0",
                       "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}  # fmt: skip
        run = await webseam_command("search", "naïve 検索", env=environment)
    assert run.code == 0
    assert "Zürich — 日本語 🙂" in run.out
    assert services.site.requests[0].json()["query"] == "naïve 検索"


async def test_there_is_no_colour_and_no_progress_in_a_pipe() -> None:
    async with World() as world:
        run = await webseam_command("search", "q", env=fakes(world).environment("tavily"))
    assert "\x1b" not in run.out + run.err


async def test_escape_sequences_of_a_page_do_not_reach_the_terminal() -> None:
    hostile = row(
        "x", title="a\x1b]8;;https://evil.example\x07b\x1b]8;;\x07\x9b2J", content="c\u202ed\U000e0041e\x1b[31m"
    )
    async with World() as world:
        services = fakes(world, tavily=found(hostile))
        run = await webseam_command("search", "q", env=services.environment("tavily"))
    assert run.out.split("\n")[:3] == [" 1. ab", "    https://example.org/x", "    cde"]


async def test_a_reader_that_leaves_early_is_no_failure() -> None:
    async with World() as world:
        services = fakes(world, tavily=found(*(str(number) for number in range(100))))
        command = f"{sys.executable} -W error -m webseam search q -n 100 --json | head -n 1; echo ${{PIPESTATUS[0]}}"
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment_of(services.environment("tavily")),
        )  # fmt: skip
        out, err = await process.communicate()
    assert (out.decode(), err.decode()) == ("{\n0\n", "")


async def test_a_closed_standard_output_is_no_failure_either() -> None:
    async with World() as world:
        services = fakes(world, tavily=found("x"))
        process = await start("search", "q", env=services.environment("tavily"))
        process._transport.get_pipe_transport(1).close()
        err = await process.stderr.read()
        assert (await process.wait(), err.decode()) == (0, "")


async def test_ctrl_c_ends_with_130_hangs_up_and_prints_no_traceback() -> None:
    async with World() as world:
        gate = Gate(found("x"))
        services = fakes(world, tavily=gate)
        run = await interrupted("search", "q", env=services.environment("tavily"), once=lambda: gate.until(1))
        gate.opened.set()
    assert (run.code, run.out, run.err.strip()) == (130, "", "")


async def test_ctrl_c_with_json_prints_nothing_half() -> None:
    async with World() as world:
        gate = Gate(found("x"))
        services = fakes(world, tavily=gate)
        environment = services.environment("tavily")
        run = await interrupted("search", "q", "--json", env=environment, once=lambda: gate.until(1))
        gate.opened.set()
        after = await webseam_command("status", "--json", env=environment)
    assert (run.code, run.out) == (130, "")
    assert after.json()["next"] == ["tavily"]  # nothing is held against it
