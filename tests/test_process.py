"""Running a program: what it is given, what is kept of what it prints, and that nothing of it is left afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from webseam import process
from webseam.process import NotStarted, Printed, Program, environment, find, run

SOON = 15.0  # seconds; a program in these tests that is not killed sleeps for a minute


def python(code: str, *arguments: str, **more: Any) -> Program:
    return Program(argv=(sys.executable, "-S", "-E", "-c", code, *arguments), **more)


def shell(script: str, *arguments: str, **more: Any) -> Program:
    return Program(argv=("sh", "-c", script, "sh", *arguments), **more)


async def ran(program: Program, seconds: float = SOON) -> Printed:
    return await run(program, expires_at=time.monotonic() + seconds)


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def alive(tmp_path: Path) -> Path:
    """A pipe that programs of a test hold open: whoever reads it sees its end when the last of them is gone."""
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    return pipe


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are made."""
    folder = tmp_path.resolve() / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


# What it prints.


async def test_what_it_prints_and_how_it_ends_come_back() -> None:
    printed = await ran(shell("echo out; echo err >&2; exit 3"))
    assert printed == Printed(code=3, stdout="out\n", stderr="err\n", truncated=False)


async def test_a_program_ended_by_a_signal_says_by_which() -> None:
    assert (await ran(shell("echo half; kill -KILL $$"))) == Printed(code=-signal.SIGKILL, stdout="half\n")


@pytest.mark.parametrize(
    "raw, text",
    [
        pytest.param(b"gr\xc3\xbc\xc3\x9fe \xe6\x97\xa5", "grüße 日", id="utf-8"),
        pytest.param(b"a\xff\xfeb", "a��b", id="not utf-8"),
        pytest.param(b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07end", "red end", id="escape sequences"),
        pytest.param(b"one\r\ntwo\x00\x07", "one\ntwo", id="control characters"),
        pytest.param(b"", "", id="nothing"),
    ],
)
async def test_output_is_text_without_escape_sequences(raw: bytes, text: str) -> None:
    code = f"import sys; sys.stdout.buffer.write({raw!r}); sys.stderr.buffer.write({raw!r})"
    printed = await ran(python(code))
    assert (printed.stdout, printed.stderr) == (text, text)


async def test_fifty_megabytes_are_read_to_the_end_and_five_are_kept() -> None:
    printed = await ran(python("import os\nfor _ in range(50): os.write(1, b'x' * 1_000_000)\nos.write(2, b'done')"))
    assert (printed.code, len(printed.stdout), printed.truncated) == (0, 5 * 1024 * 1024, True)
    assert printed.stderr == "done"


async def test_errors_are_kept_up_to_their_own_limit_and_do_not_count_as_cut_output() -> None:
    printed = await ran(python("import os; os.write(1, b'all'); os.write(2, b'e' * 1_000_000)"))
    assert (printed.stdout, printed.stderr, printed.truncated) == ("all", "e" * 64 * 1024, False)


@pytest.mark.parametrize("size, truncated", [(9, False), (10, False), (11, True)])
async def test_output_of_exactly_the_limit_is_not_cut(size: int, truncated: bool) -> None:
    printed = await ran(shell("printf %s $1", "x" * size, max_stdout=10))
    assert (printed.stdout, printed.truncated) == ("x" * min(size, 10), truncated)


async def test_several_programs_run_at_once() -> None:
    printed = await asyncio.gather(*(ran(shell("echo $1", str(number))) for number in range(8)))
    assert [one.stdout for one in printed] == [f"{number}\n" for number in range(8)]


# What it is given.


async def test_arguments_arrive_as_they_are_and_no_shell_reads_them() -> None:
    words = ("a b", "", "$HOME", "`id`", "; rm -rf x", "*", "'\"\\", "-n", "日本\n2", "%PATH%", "{{query}}")
    printed = await ran(python("import json, sys; print(json.dumps(sys.argv[1:]))", *words))
    assert json.loads(printed.stdout) == list(words)


@pytest.mark.parametrize("word", [pytest.param("a\0b", id="NUL"), pytest.param("a\ud800", id="half a surrogate pair")])
async def test_an_argument_that_no_program_can_get_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"null byte|surrogates"):
        await ran(shell("echo $1", word))


async def test_it_has_no_input_and_no_terminal() -> None:
    code = """
import os, sys
print(repr(sys.stdin.read()), os.getsid(0) == os.getpid())
try: os.open("/dev/tty", os.O_RDWR)
except OSError: print("no terminal")
"""
    assert (await ran(python(code))).stdout == "'' True\nno terminal\n"


async def test_it_runs_in_an_empty_folder_that_is_gone_afterwards(scratch: Path) -> None:
    printed = await ran(python("import os; print(os.getcwd(), os.listdir()); open('left', 'w'); os.mkdir('too')"))
    folder, found = printed.stdout.split()
    assert (Path(folder).parent, found) == (scratch, "[]")
    assert names_in(scratch) == []


@pytest.mark.parametrize("seconds", [pytest.param(0.3, id="killed"), pytest.param(-1.0, id="not started")])
async def test_the_folder_is_gone_after_a_deadline(scratch: Path, seconds: float) -> None:
    with pytest.raises(TimeoutError):
        await ran(shell("touch left; sleep 60"), seconds)
    assert names_in(scratch) == []


async def seen(**more: Any) -> dict[str, str]:
    """Return the whole environment that a program sees."""
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    variables: dict[str, str] = json.loads((await ran(python(code, **more))).stdout)
    return variables


async def test_it_sees_a_path_a_language_and_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EXA_API_KEY", "WEBSEAM_TAVILY_API_KEY", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "PYTHONPATH"):
        monkeypatch.setenv(name, "planted")
    monkeypatch.setenv("LANG", "de_AT.ISO-8859-1")
    monkeypatch.setenv("TERM", "xterm-256color")
    utf8 = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    assert await seen() == {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "LANG": utf8,
        "LC_ALL": utf8,
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONIOENCODING": "utf-8",
    }


async def test_named_variables_and_proxies_are_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = await seen()
    ours = {
        "TEAM_SEARCH_TOKEN": "abc",
        "LANG": "fr_FR.UTF-8",
        "HTTPS_PROXY": "http://proxy.example:3128",
        "no_proxy": "localhost",
    }
    for name, value in ours.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OTHER_TOKEN", "planted")
    assert await seen(env=("TEAM_SEARCH_TOKEN", "LANG", "NOT_SET")) == {**before, **ours}


async def test_a_proxy_of_the_settings_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    before = await seen()
    for name in ("HTTPS_PROXY", "http_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "planted")
    proxy = "socks5h://127.0.0.1:1080"
    names = ("http_proxy", "https_proxy", "all_proxy")
    given = dict.fromkeys((*names, *(name.upper() for name in names)), proxy)
    assert await seen(proxy=proxy) == {**before, **given}


def test_a_proxy_and_the_secrets_are_in_no_repr() -> None:
    program = Program(argv=("a",), proxy="http://user:hunter2@proxy.example", secrets=("swordfish",))
    assert "hunter2" not in repr(program)
    assert "swordfish" not in repr(program)


# Its end.


async def test_at_the_deadline_it_is_killed_with_its_children(alive: Path) -> None:
    reading = asyncio.create_task(asyncio.to_thread(alive.read_text))
    script = 'exec 3>"$1"; echo ready >&3; trap "" TERM HUP INT; sleep 60 & sleep 60'
    with pytest.raises(TimeoutError):
        await ran(shell(script, str(alive)), 0.5)
    assert await reading == "ready\n"


async def test_its_own_time_ends_before_a_later_deadline(alive: Path) -> None:
    reading = asyncio.create_task(asyncio.to_thread(alive.read_text))
    with pytest.raises(TimeoutError):
        await ran(shell('exec 3>"$1"; echo ready >&3; sleep 60', str(alive), timeout=0.5), math.inf)
    assert await reading == "ready\n"


async def test_cancelling_kills_it_with_its_children(alive: Path) -> None:
    script = 'exec 3>"$1"; trap "" TERM HUP INT; (trap "" TERM HUP; sleep 60) & echo ready >&3; sleep 60'
    running = asyncio.create_task(ran(shell(script, str(alive))))
    with await asyncio.to_thread(alive.open) as pipe:
        assert await asyncio.to_thread(pipe.readline) == "ready\n"
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await asyncio.to_thread(pipe.read) == ""


@pytest.mark.parametrize("turns", range(8))
async def test_cancelling_while_it_starts_leaves_nothing(turns: int, scratch: Path, alive: Path) -> None:
    running = asyncio.create_task(ran(shell('exec 3<>"$1"; sleep 60', str(alive))))
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert names_in(scratch) == []
    with pytest.raises(OSError, match="No such device"):  # nobody reads it: a program that lived would
        os.open(alive, os.O_WRONLY | os.O_NONBLOCK)


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("turns", range(8))
async def test_cancelling_again_while_it_starts_leaves_nothing_either(
    turns: int, times: int, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    begin, begun = loop.subprocess_exec, []

    async def listened(*arguments: Any, **options: Any) -> Any:
        begun.append(await begin(*arguments, **options))
        return begun[-1]

    monkeypatch.setattr(loop, "subprocess_exec", listened)
    running = asyncio.create_task(ran(shell("sleep 60")))
    for _ in range(turns):
        await asyncio.sleep(0)
    for _ in range(times):
        running.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert names_in(scratch) == []
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:  # a start that was left alone would come to its end only now
        await asyncio.wait(others)
    for _, output in begun:
        async with asyncio.timeout(SOON):
            await output.exited.wait()


async def test_a_child_that_would_outlive_it_ends_with_it(alive: Path) -> None:
    reading = asyncio.create_task(asyncio.to_thread(alive.read_text))
    printed = await ran(shell('exec 3>"$1"; (trap "" HUP TERM; sleep 60) & echo answer', str(alive)))
    assert printed == Printed(code=0, stdout="answer\n")
    assert await reading == ""


async def test_a_child_that_left_the_group_does_not_hold_up_the_answer() -> None:
    code = """
import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    os.write(writer, b"!")
    time.sleep(60)
    os._exit(0)
os.read(reader, 1)
"""
    printed = await ran(python(code))
    try:
        assert (printed.code, printed.stderr) == (0, "")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(printed.stdout), signal.SIGKILL)


async def test_a_deadline_that_has_passed_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        await ran(shell("touch $1", str(tmp_path / "started")), 0)
    assert names_in(tmp_path) == []


async def test_no_file_stays_open() -> None:
    await ran(shell("exit 0"))  # the loop's own
    before = len(names_in(Path("/dev/fd")))
    await ran(shell("echo x"))
    with pytest.raises(TimeoutError):
        await ran(shell("sleep 60 & sleep 60"), 0.2)
    with pytest.raises(NotStarted):
        await ran(Program(argv=("no-such-program",)))
    assert len(names_in(Path("/dev/fd"))) == before


# Finding it.


def program_file(path: Path, text: str = "#!/bin/sh\necho $0\n", mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


async def test_what_is_no_program_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program_file(tmp_path / "plain", mode=0o644)
    program_file(tmp_path / "text", "echo no first line that says what runs it\n")
    program_file(tmp_path / "orphan", "#!/no/such/interpreter\n")
    (tmp_path / "folder").mkdir()
    said = {}
    for name in ("absent", "plain", "folder", "text", "orphan"):
        with pytest.raises(NotStarted) as caught:
            await ran(Program(argv=(name,)))
        said[name] = str(caught.value)
    assert said == {
        "absent": "there is no program absent on the path",
        "plain": "there is no program plain on the path",
        "folder": "there is no program folder on the path",
        "text": "text cannot be started: Exec format error",
        "orphan": "orphan cannot be started: No such file or directory",
    }


def test_a_name_is_looked_for_in_the_whole_folders_of_the_path_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_file(tmp_path / "here" / "tool")
    program_file(tmp_path / "there" / "tool")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", "../here", str(tmp_path / "there")]))
    assert find("tool") == str(tmp_path / "there" / "tool")
    assert find("./tool") == str(tmp_path / "here" / "tool")  # a path says which one is meant
    assert find(str(tmp_path / "here" / "tool")) == str(tmp_path / "here" / "tool")
    assert find("absent") is None


async def test_a_relative_path_means_the_folder_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = program_file(tmp_path / "bin" / "tool")
    monkeypatch.chdir(tmp_path)
    assert (await ran(Program(argv=("bin/tool",)))).stdout == f"{tool}\n"


def test_on_windows_only_real_programs_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tool.exe", "tool.cmd", "script.bat", "other"):
        program_file(tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(process, "_WINDOWS", True)
    found = {name: find(name) for name in ("tool", "tool.exe", "tool.cmd", "script", "script.bat", "other")}
    tool = str(tmp_path / "tool.exe")
    assert found == {
        "tool": tool,
        "tool.exe": tool,
        "tool.cmd": None,
        "script": None,
        "script.bat": None,
        "other": None,
    }


def test_on_windows_a_program_sees_where_windows_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYSTEMROOT", r"C:\Windows")
    monkeypatch.setenv("EXA_API_KEY", "planted")
    monkeypatch.setattr(process, "_WINDOWS", True)
    variables = environment(Program(argv=("tool",), proxy="http://proxy.example"))
    assert variables["SYSTEMROOT"] == r"C:\Windows"
    assert {name for name in variables if "PROXY" in name.upper()} == {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}
    assert "EXA_API_KEY" not in variables
