"""`webseam setup` as people and scripts run it: what it shows, asks, writes and how it ends, in a home of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.world import SOURCE, Run, start, webseam_command
from tests.setup.world import SECRET
from webseam.setup.clients import BY_ID
from webseam.setup.skill import skill_text

PROGRAM = str(SOURCE.parent / "scripts" / "webseam")
BEFORE = f'{{\n  "theme": "dark",\n  "mcpServers": {{\n    "git": {{"env": {{"K": "{SECRET}"}}}}\n  }}\n}}\n'
AFTER = BEFORE.replace(
    '"}}\n', f'"}}}},\n    "webseam": {{\n      "command": "{PROGRAM}",\n      "args": ["mcp"]\n    }}\n'
)


def text_of(path: Path) -> str:
    return path.read_text()


def listed(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def home() -> Path:
    return Path(os.environ["HOME"])


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no agent of the person who runs this on the search path."""
    for name in ("claude", "codex", "gemini", "opencode", "copilot", "cursor", "code", "windsurf", "zed", "goose"):
        for folder in os.environ["PATH"].split(os.pathsep):
            if (Path(folder) / name).exists():
                monkeypatch.setenv(
                    "PATH", os.pathsep.join(one for one in os.environ["PATH"].split(os.pathsep) if one != folder)
                )


@pytest.fixture
def gemini() -> Path:
    """Return the settings of Gemini CLI, which is installed then."""
    path = home() / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(BEFORE)
    return path


async def setup(*arguments: str) -> Run:
    return await webseam_command("setup", *arguments)


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """Yield both ends of a terminal."""
    ours, theirs = os.openpty()
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


async def answered(answer: str, *arguments: str) -> Run:
    """Run the command at a terminal where somebody answers."""
    with terminal() as (ours, theirs):
        process = await start("setup", *arguments, stdin=theirs)
        os.write(ours, answer.encode())
        out, err = await process.communicate()
    return Run(process.returncode, out.decode(), err.decode())


def diff(path: Path) -> str:
    return (
        f"Gemini CLI: {path}\n--- {path}\n+++ {path}\n@@ -1,6 +1,10 @@\n {{\n"
        '   "theme": "…",\n   "mcpServers": {\n-    "git": {"env": {"K": "…"}}\n+    "git": {"env": {"K": "…"}},\n'
        f'+    "webseam": {{\n+      "command": "{PROGRAM}",\n+      "args": ["mcp"]\n+    }}\n   }}\n }}\n'
    )


async def test_without_a_terminal_it_only_shows_and_says_that_nothing_was_written(gemini: Path) -> None:
    assert await setup() == Run(4, diff(gemini), "webseam: nothing was written; --yes writes it\n")
    assert text_of(gemini) == BEFORE
    assert [one.name for one in listed(gemini.parent)] == ["settings.json"]


async def test_yes_writes_a_second_time_changes_nothing_and_remove_gives_the_file_back(gemini: Path) -> None:
    first = await setup("--yes")
    kept = f"{gemini}.before-webseam"
    assert first == Run(
        0,
        f"{diff(gemini)}Gemini CLI: webseam is in {gemini}; the file of before is {kept};"
        " start a new session of Gemini CLI\n",
        "",
    )
    assert (text_of(gemini), text_of(Path(kept))) == (AFTER, BEFORE)
    assert await setup("gemini", "--yes") == Run(0, f"Gemini CLI: nothing to change in {gemini}\n", "")
    assert text_of(gemini) == AFTER
    gone = await setup("--remove", "--yes")
    assert (gone.code, gone.out.splitlines()[-1]) == (0, f"Gemini CLI: webseam is taken out of {gemini}")
    assert text_of(gemini) == BEFORE
    assert [one.name for one in listed(gemini.parent)] == ["settings.json"]
    assert SECRET not in first.out + gone.out


@pytest.mark.parametrize(("answer", "code", "written"), [("y\n", 0, True), ("n\n", 4, False), ("\n", 4, False)])
async def test_at_a_terminal_it_asks_for_each(gemini: Path, answer: str, code: int, written: bool) -> None:
    run = await answered(answer)
    assert run.code == code
    assert run.err.startswith("Write this for Gemini CLI? [y/N]: ")
    assert (text_of(gemini) == AFTER) is written
    assert ("nothing was written" in run.err) is not written


async def test_the_end_of_input_at_a_question_writes_nothing(gemini: Path) -> None:
    run = await answered("\x04")
    assert (run.code, text_of(gemini)) == (130, BEFORE)


async def test_a_client_that_was_not_found_can_be_named_all_the_same() -> None:
    run = await setup("codex", "--yes")
    assert (run.code, run.err) == (0, "webseam: Codex was not found here\n")
    path = home() / ".codex" / "config.toml"
    assert text_of(path) == f'[mcp_servers.webseam]\ncommand = "{PROGRAM}"\nargs = ["mcp"]\n'
    assert (await setup("codex", "--remove", "--yes")).out.endswith(f"Codex: webseam is gone, and with it {path}\n")
    assert not path.exists()


async def test_objects_for_scripts_say_what_would_change_and_what_did(gemini: Path) -> None:
    shown = await setup("--json")
    assert (shown.code, shown.err) == (4, "")
    assert shown.json() == [
        {
            "client": "gemini",
            "label": "Gemini CLI",
            "path": str(gemini),
            "change": "add",
            "diff": diff(gemini).partition("\n")[2].removesuffix("\n"),
            "written": False,
            "backup": None,
            "note": None,
            "outcome": "empty",
            "detail": None,
            "hint": None,
        }
    ]
    assert text_of(gemini) == BEFORE
    (done,) = (await setup("--json", "--yes")).json()
    assert (done["written"], done["backup"], done["outcome"]) == (True, f"{gemini}.before-webseam", "ok")


async def test_one_file_that_is_broken_does_not_keep_the_others_from_being_written(gemini: Path) -> None:
    broken = home() / ".codex" / "config.toml"
    broken.parent.mkdir()
    broken.write_text("model = \n")
    run = await setup("--yes")
    assert run.code == 2
    assert run.err == (
        f"webseam: Codex: {broken}:1:9: cannot be read as TOML: invalid value; nothing was changed\n"
        "  mend it, or let Codex do so, and run webseam setup codex again\n"
    )
    assert (text_of(gemini), text_of(broken)) == (AFTER, "model = \n")


async def test_nobody_installed_is_an_empty_answer() -> None:
    run = await setup("--yes")
    says = "webseam: no agent was found here\n  webseam setup --print shows what to write for any\n"
    assert run == Run(4, "", says)
    assert await setup("--json") == Run(4, "[]\n", "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(
            ["codexx"], "client: 'codexx' is not known\n  did you mean codex? webseam setup --print", id="typo"
        ),
        pytest.param(["gemini", "--into", "x"], "into: belongs to the skill", id="into"),
        pytest.param(["gemini", "--key-env", "K"], "key-env: belongs to --http", id="key without URL"),
        pytest.param(["gemini", "--http", "x"], "http: is no URL of a server", id="no URL"),
        pytest.param(["skill"], "skill: no agent that reads skills was found here", id="nobody for the skill"),
    ],
)
async def test_a_wrong_argument_is_refused_before_anything_is_written(arguments: list[str], says: str) -> None:
    run = await setup(*arguments, "--yes")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"webseam: {says}")
    assert list(home().iterdir()) == []


async def test_a_client_that_calls_no_url_is_an_outcome_of_its_own() -> None:
    run = await setup("claude-desktop", "--http", "http://127.0.0.1:8377/mcp", "--yes")
    says = "webseam: Claude Desktop: Claude Desktop calls no URL from its file\n  webseam setup claude-desktop lets it"
    assert (run.code, run.err.startswith(says)) == (9, True)


async def test_a_key_is_named_in_the_file_and_never_in_it(gemini: Path) -> None:
    arguments = ("setup", "gemini", "--http", "https://search.example.org/mcp", "--yes")
    run = await webseam_command(*arguments, env={"WEBSEAM_MCP_API_KEY": SECRET + "x"})
    assert run.code == 0
    entry = json.loads(text_of(gemini))["mcpServers"]["webseam"]
    assert entry["headers"] == {"Authorization": "Bearer ${WEBSEAM_MCP_API_KEY}"}
    assert SECRET + "x" not in text_of(gemini) + run.out + run.err


async def test_printing_shows_what_to_write_by_hand_and_writes_nothing() -> None:
    known, any_one = await asyncio.gather(setup("--print", "codex"), setup("--print"))
    assert known == Run(
        0,
        f'[mcp_servers.webseam]\ncommand = "{PROGRAM}"\nargs = ["mcp"]\n',
        f"webseam: for codex, in {home() / '.codex' / 'config.toml'}\n",
    )
    assert json.loads(any_one.out) == {"mcpServers": {"webseam": {"command": PROGRAM, "args": ["mcp"]}}}
    unknown = await setup("--print", "another-agent", "--http", "http://127.0.0.1:8377/mcp", "--key-env", "MY_KEY")
    assert json.loads(unknown.out) == {
        "mcpServers": {
            "webseam": {
                "type": "http",
                "url": "http://127.0.0.1:8377/mcp",
                "headers": {"Authorization": "Bearer ${MY_KEY}"},
            }
        }
    }
    assert list(home().iterdir()) == []


async def test_the_program_that_is_written_is_the_one_that_was_called_and_starts(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "webseam"
    shutil.copytree(SOURCE / "webseam", package, ignore=shutil.ignore_patterns("__pycache__"))
    program = tmp_path / "bin" / "webseam"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(package.parent)!r})\n"
        "from webseam.fronts.cli import main\nsys.exit(main())\n"
    )
    program.chmod(0o755)
    process = await asyncio.create_subprocess_exec(
        str(program), "setup", "--print", "cursor", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    entry = json.loads(out)["mcpServers"]["webseam"]
    assert entry == {"type": "stdio", "command": str(program), "args": ["mcp"]}
    help_ = await asyncio.create_subprocess_exec(
        entry["command"], *entry["args"], "--help", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert (await help_.communicate())[0].startswith(b"Usage: webseam mcp")


async def test_the_help_and_the_page_about_it_name_every_client() -> None:
    help_ = " ".join((await setup("--help")).out.split())
    assert f"Clients: {', '.join(BY_ID)}." in help_
    page = text_of(SOURCE.parent / "docs" / "setup.md")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(BY_ID)


# the skill


async def test_the_skill_goes_where_the_agents_here_read_it_and_comes_out_again(gemini: Path) -> None:
    (home() / ".claude").mkdir()
    run = await setup("skill", "--yes")
    common, claude = (home() / folder / "skills" / "webseam" / "SKILL.md" for folder in (".agents", ".claude"))
    assert (run.code, run.err) == (0, "")
    assert [line for line in run.out.splitlines() if " webseam is in " in line] == [
        f"the skill for Claude Code: webseam is in {claude}",
        f"the skill for Gemini CLI: webseam is in {common}",
    ]
    assert (text_of(common), text_of(claude)) == (skill_text(), skill_text())
    again = await setup("skill", "--yes")
    assert again.out.count("nothing to change in") == 2
    assert (await setup("skill", "--remove", "--yes")).code == 0
    assert not common.parent.exists()
    assert not claude.parent.exists()
    assert text_of(gemini) == BEFORE


async def test_an_older_skill_is_brought_up_to_date_and_a_page_of_somebody_else_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "webseam" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(skill_text().replace("# webseam", "# older"))
    assert (await setup("skill", "--into", str(tmp_path), "--yes")).code == 0
    assert (text_of(path), len(list(path.parent.iterdir()))) == (skill_text(), 1)
    path.write_text("mine\n")
    refused = await setup("skill", "--into", str(tmp_path), "--remove", "--yes")
    assert (refused.code, text_of(path)) == (2, "mine\n")
    assert (await setup("skill", "--into", str(tmp_path), "--yes")).code == 0
    assert path.with_name("SKILL.md.before-webseam").read_text() == "mine\n"
    assert (await setup("skill", "--into", str(tmp_path), "--remove", "--yes")).code == 0
    assert text_of(path) == "mine\n"
