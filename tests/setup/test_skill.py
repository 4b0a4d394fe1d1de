"""The skill says what is true: every command in it is run, against services and pages on loopback."""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.world import Run, environment_of, webseam_command
from tests.fetch.world import PARAGRAPH, html
from tests.search.world import fakes, found
from tests.world import Recorded, World
from tests.world.proxies import HttpProxy
from webseam.errors import Outcome
from webseam.fronts.cli.app import COMMANDS
from webseam.setup.skill import skill_text

ROOT = Path(__file__).resolve().parents[2]
PAGE = html(
    "<h1>Guide</h1>",
    *[f"Number {number}. {PARAGRAPH}" for number in range(12)],
    "<h2>Errors</h2>",
    "How errors are retried: an answer of 503 is retried after a pause, twice at most.",
    *[f"Number {number}. {PARAGRAPH}" for number in range(12, 24)],
)
DOCS = "# json.dumps\n\nHow json.dumps writes text.\n\n# pathlib\n\nTo rename a file use pathlib: Path.rename.\n"
URL = "http://example.org/guide"  # of the skill, without what a proxy could not carry unopened
# The command as it is, but for the size of the index: one of all that is installed here would take minutes to make.
COMMAND = (
    "import sys; from webseam.local import index; every = index.discover;"
    " index.discover = lambda folders, _environments: every(folders, []);"
    " from webseam.fronts.cli import main; sys.exit(main())"
)


def commands() -> list[str]:
    """Return every command in the blocks of the skill."""
    blocks = re.findall(r"```sh\n(.*?)```", skill_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


async def with_small_index(arguments: list[str], folder: Path) -> Run:
    """Run a command that asks the index, which then has the pages of one folder."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", COMMAND, *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=environment_of({"WEBSEAM_INDEX_FOLDERS": str(folder)}),
    )  # fmt: skip
    out, err = await process.communicate()
    return Run(process.returncode or 0, out.decode(), err.decode())


def search_service(request: Recorded) -> Any:
    """Answer with the page, or with one of the site that was asked for."""
    sites = request.json().get("include_domains") or []
    return found({"url": f"https://{sites[0]}/errors" if sites else URL, "title": "Guide", "content": PARAGRAPH})


@pytest.mark.parametrize("command", commands())
async def test_every_command_of_the_skill_does_what_it_says(command: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(DOCS)
    program, *arguments = shlex.split(command.replace("https://example.org/guide", URL))
    assert program == "webseam"
    if arguments[0] == "index" or "--local-only" in arguments:
        done = await with_small_index(arguments, tmp_path)
    else:
        done = await on_loopback(arguments)
    assert (done.code, "Traceback" in done.err) == (0, False), done
    expected = {
        ("search", "--read"): "UNTRUSTED WEB CONTENT",
        ("search", "--site"): "https://docs.sqlalchemy.org/errors",
        ("search", "--local-only"): "Path.rename",
        ("search", "--urls"): f"{URL}\n",
        ("search", "--markdown"): f"[1] Guide\n    {URL}\n",
        ("fetch", "--focus"): "an answer of 503 is retried",
        ("fetch", "--outline"): "Errors",
        ("fetch", "--cursor"): f"URL: {URL}\n",
        ("fetch", "--markdown"): "Number 11.",
        ("index", "--markdown"): "How json.dumps writes text.",
    }
    words = next(said for (name, flag), said in expected.items() if arguments[0] == name and flag in arguments)
    assert words in done.out


async def on_loopback(arguments: list[str]) -> Run:
    """Run a command to which the web is one site on loopback, behind a proxy."""
    async with World() as world:
        services = fakes(world, tavily=search_service)
        services.site.route("GET", "/guide", (200, {"Content-Type": "text/html"}, PAGE))
        proxy = world.serve(HttpProxy(int(services.site.url.rpartition(":")[2])))
        env = {**services.environment("tavily"), "WEBSEAM_NET_PROXY": proxy, "WEBSEAM_FETCH_BROWSER": "off"}
        if "CURSOR" in arguments:
            first = await webseam_command("fetch", URL, "--max-tokens", "300", "--json", env=env)
            arguments = [first.json()["next_cursor"] if one == "CURSOR" else one for one in arguments]
        return await webseam_command(*arguments, env=env)


def test_there_are_commands_of_every_kind_in_the_skill() -> None:
    assert sorted({command.split()[1] for command in commands()}) == ["fetch", "index", "search"]
    named = set(re.findall(r"`webseam ([a-z]+)", skill_text()))
    assert named - set(COMMANDS) == set()


def test_the_exit_codes_of_the_skill_are_those_of_the_outcomes() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", skill_text(), re.MULTILINE)}
    assert codes == {outcome.exit_code for outcome in Outcome} - {Outcome.CANCELLED.exit_code}


def test_the_head_of_the_skill_is_what_agents_read() -> None:
    import yaml

    head = yaml.safe_load(skill_text().split("---\n")[1])
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert head["name"] == "webseam"
    assert 0 < len(head["description"]) <= 1_024
    assert head["metadata"] == {"written-by": "webseam setup skill"}


def test_the_copy_in_the_repository_is_the_skill_of_the_package() -> None:
    assert (ROOT / "skills" / "webseam" / "SKILL.md").read_text("utf-8") == skill_text()
