"""Readers in child processes: what they answer comes back, and whatever they do ends with them."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.errors import Outcome
from webseam.fetch import child, worker
from webseam.fetch.types import Link, Reading, Source, Unreadable
from webseam.fetch.worker import run_in_worker

MEMORY = 256 * 1024 * 1024

# Readers for these tests, as they would be written in a module of `webseam.fetch.readers`.
READERS = {
    "whole": """
def read(source):
    return Reading(
        markdown=f"{source.url} {source.media_type} {source.charset} {source.truncated} {len(source.body)}\\n",
        title="a\\ud800", author="b", published="2026-01-02", language="en",
        links=(Link(text="t", url="https://example.com/"),),
        reader="whole", removed={"hidden": 2}, notes=["n"], truncated=True,
    )
""",
    "pid": """
def read(source):
    return Reading(markdown=str(os.getpid()))
""",
    "options": """
def read(source, *, pages, seconds):
    return Reading(markdown=f"{pages} {0 < seconds <= 60}")
""",
    "refuse": """
def read(source):
    raise Unreadable("no \\x1b[31mtext here", outcome=Outcome.UNSUPPORTED, hint="look elsewhere")
""",
    "fail": """
def read(source):
    raise ZeroDivisionError
""",
    "recurse": """
def read(source):
    return read(source)
""",
    "hungry": """
def read(source):
    return Reading(markdown="x" * (1 << 30))
""",
    "segfault": """
def read(source):
    os.kill(os.getpid(), signal.SIGSEGV)
""",
    "leave": """
def read(source):
    os._exit(3)
""",
    "hang": """
def read(source):
    time.sleep(3600)
""",
    "hang_in_file": """
def read(source):
    with open(source.url, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(3600)
""",
    "talk": """
def read(source):
    os.write(1, b"not a frame"); os.write(2, b"noise"); print("more")
    return Reading(markdown=repr(os.read(0, 1)))
""",
    "dial": """
def read(source):
    import socket
    socket.socket()
""",
    "start": """
def read(source):
    import subprocess
    subprocess.run(["true"])
""",
    "environment": """
def read(source):
    return Reading(markdown=" ".join(sorted(set(os.environ) - {"LC_CTYPE"})))
""",
    "nonsense": """
def read(source):
    return Reading(markdown=b"bytes".hex(), links=(Link(text=1, url=2),))
""",
}
HEAD = """
import os, signal, time
from webseam.errors import Outcome
from webseam.fetch.types import Link, Reading, Unreadable
"""


@pytest.fixture(autouse=True)
def _readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package = tmp_path / "readers_of_tests"
    package.mkdir()
    for name, code in READERS.items():
        (package / f"{name}.py").write_text(HEAD + code, encoding="utf-8")
    monkeypatch.setattr(worker, "READERS", package.name)
    monkeypatch.syspath_prepend(str(tmp_path))
    worker.close()  # a child that is warm from another test would look for readers elsewhere
    yield
    worker.close()


def source(body: bytes = b"body", url: str = "https://example.com/a") -> Source:
    return Source(body=body, url=url)


async def ask(reader: str, **options: object) -> Reading:
    return await run_in_worker(
        reader, source(), expires_at=time.monotonic() + 15, max_memory=MEMORY, options=options or None
    )


async def refusal(reader: str) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        await ask(reader)
    return refused.value


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_reading_comes_back_as_the_reader_made_it() -> None:
    asked = Source(
        body=b"x" * 3_000_000, url="https://example.com/\u00e9", media_type="a/b", charset="c", truncated=True
    )
    reading = await run_in_worker("whole", asked, expires_at=time.monotonic() + 15, max_memory=MEMORY)
    assert reading == Reading(
        markdown="https://example.com/\u00e9 a/b c True 3000000\n",
        title="a\ud800",
        author="b",
        published="2026-01-02",
        language="en",
        links=(Link(text="t", url="https://example.com/"),),
        reader="whole",
        removed={"hidden": 2},
        notes=["n"],
        truncated=True,
    )


async def test_options_and_the_time_that_is_left_reach_a_reader_that_takes_them() -> None:
    assert (await ask("options", pages="1-3")).markdown == "1-3 True"


async def test_one_child_is_kept_for_the_next_document() -> None:
    assert (await ask("pid")).markdown == (await ask("pid")).markdown != str(os.getpid())


def test_a_child_outlives_the_event_loop_it_was_started_from() -> None:
    first = asyncio.run(ask("pid"))
    assert asyncio.run(ask("pid")).markdown == first.markdown


async def test_what_a_reader_says_is_raised_here_cleaned() -> None:
    error = await refusal("refuse")
    assert (error.outcome, error.detail, error.hint) == (Outcome.UNSUPPORTED, "no text here", "look elsewhere")


@pytest.mark.parametrize(
    ("reader", "detail"),
    [
        pytest.param("fail", "the fail reader failed on 4 bytes (ZeroDivisionError)", id="exception"),
        pytest.param("recurse", "the recurse reader failed on 4 bytes (RecursionError)", id="recursion"),
        pytest.param("hungry", "the hungry reader needed more than 256 MiB of memory for 4 bytes", id="memory"),
        pytest.param("segfault", "the segfault reader crashed on 4 bytes (SIGSEGV)", id="crash"),
        pytest.param("leave", "the leave reader crashed on 4 bytes (exit code 3)", id="exit"),
        pytest.param("nonsense", "the nonsense reader gave no usable answer for 4 bytes", id="nonsense"),
        pytest.param("absent", "the absent reader failed on 4 bytes (ModuleNotFoundError)", id="no such reader"),
        pytest.param("dial", "the dial reader failed on 4 bytes (PermissionError)", id="socket"),
        pytest.param("start", "the start reader failed on 4 bytes (PermissionError)", id="process"),
    ],
)
async def test_a_reader_that_breaks_is_a_bad_response_that_names_it(reader: str, detail: str) -> None:
    error = await refusal(reader)
    assert (error.outcome, error.detail) == (Outcome.BAD_RESPONSE, detail)
    assert (await ask("pid")).markdown.isdigit()  # and the next document has a working child


async def test_what_a_reader_prints_disturbs_nothing() -> None:
    assert (await ask("talk")).markdown == "b''"


async def test_a_child_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXA_API_KEY", "secret")
    seen = (await ask("environment")).markdown.split()
    assert set(seen) <= {"MALLOC_ARENA_MAX", *worker._KEPT}


async def test_a_reader_that_hangs_is_killed_at_the_deadline(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    asked = asyncio.create_task(
        run_in_worker("hang_in_file", source(url=str(file)), expires_at=time.monotonic() + 0.5, max_memory=MEMORY)
    )
    with pytest.raises(Unreadable) as refused:
        await asked
    assert refused.value.outcome is Outcome.TIMEOUT
    assert refused.value.detail == "the hang_in_file reader was not done with 4 bytes at the deadline and was stopped"
    worker.close()
    assert not file.exists() or is_gone(int(file.read_text()))  # on a slow machine it had not begun


async def test_cancelling_kills_the_child(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    asked = asyncio.create_task(
        run_in_worker("hang_in_file", source(url=str(file)), expires_at=time.monotonic() + 15, max_memory=MEMORY)
    )
    while not (file.exists() and file.read_text()):  # noqa: ASYNC110 - another process tells, through a file
        await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    worker.close()
    assert is_gone(int(file.read_text()))


async def test_a_deadline_that_has_passed_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_start", lambda: pytest.fail("a child was started"))
    with pytest.raises(Unreadable, match="not done with 4 bytes"):
        await run_in_worker("pid", source(), expires_at=time.monotonic() - 1, max_memory=MEMORY)


async def test_two_read_at_a_time_and_the_others_wait_their_turn() -> None:
    readings = await asyncio.gather(*(ask("pid") for _ in range(12)))
    assert len({reading.markdown for reading in readings}) <= worker.MAX_CHILDREN


async def test_a_child_that_is_being_warmed_reads_the_first_document_and_no_second_one_is_started() -> None:
    worker.warm("pid", max_memory=MEMORY)
    first = await ask("pid")
    assert ((await ask("pid")).markdown, worker._pool._serving) == (first.markdown, 1)


async def test_two_documents_beside_a_child_that_is_being_warmed_have_two_children() -> None:
    worker.warm("pid", max_memory=MEMORY)
    await asyncio.gather(ask("pid"), ask("pid"))
    assert worker._pool._serving == worker.MAX_CHILDREN


async def test_who_waits_behind_others_is_refused_at_his_own_deadline() -> None:
    long = [asyncio.create_task(ask("hang")) for _ in range(worker.MAX_CHILDREN)]
    await asyncio.sleep(0)
    with pytest.raises(Unreadable) as refused:
        await run_in_worker("pid", source(), expires_at=time.monotonic() + 0.2, max_memory=MEMORY)
    assert refused.value.outcome is Outcome.TIMEOUT
    for task in long:
        task.cancel()
    await asyncio.gather(*long, return_exceptions=True)
    assert (await ask("pid")).markdown.isdigit()


async def test_closing_ends_what_runs_and_what_waits_and_can_be_followed_by_more() -> None:
    asked = [asyncio.create_task(ask("hang")) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.to_thread(worker.close)
    outcomes = {error.outcome for error in await asyncio.gather(*asked, return_exceptions=True)}  # type: ignore[union-attr]
    assert outcomes <= {Outcome.BAD_RESPONSE, Outcome.UNAVAILABLE}
    assert (await ask("pid")).markdown.isdigit()


async def test_a_system_without_processes_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    error = await refusal("pid")
    assert error.outcome is Outcome.UNAVAILABLE


async def test_an_idle_child_goes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "WARM", 0.0)
    pid = int((await ask("pid")).markdown)
    while not is_gone(pid):  # noqa: ASYNC110 - a process tells nobody that it went
        await asyncio.sleep(0)


PARENT = """
import asyncio, os, sys, time
from webseam.fetch import worker
from webseam.fetch.types import Source
worker.READERS = "readers_of_tests"
source = Source(body=b"", url=sys.argv[1])
asyncio.run(worker.run_in_worker("hang_in_file", source, expires_at=float("inf"), max_memory=1 << 28))
"""


def test_a_child_ends_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    with subprocess.Popen([sys.executable, "-c", PARENT, str(file)], env={**os.environ, "PYTHONPATH": path}) as parent:
        while not (file.exists() and file.read_text()):
            assert parent.poll() is None
        parent.send_signal(signal.SIGKILL)
    pid = int(file.read_text())
    while not is_gone(pid) and _state(pid) != "Z":  # nobody may be there to bury it
        pass


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_a_child_that_was_taken_over_can_only_send_a_frame_or_be_refused(sent: bytes) -> None:
    pipe = io.BytesIO(len(sent).to_bytes(4, "big") + sent)
    try:
        header, body = child.receive(pipe, max_header=100, max_body=0)
    except (EOFError, ValueError, RecursionError):
        return
    assert isinstance(header, dict)
    assert body == b""


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        pytest.param(b"", EOFError, id="nothing"),
        pytest.param(b"\0\0\0\x09{}", EOFError, id="cut"),
        pytest.param(b"\xff\xff\xff\xff", ValueError, id="huge header"),
        pytest.param(b'\0\0\0\x14{"size":99999999999} ', ValueError, id="huge body"),
        pytest.param(b"\0\0\0\x02[]", ValueError, id="no object"),
    ],
)
def test_frames_that_are_none_are_refused(frame: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        child.receive(io.BytesIO(frame), max_body=0)


def test_a_frame_is_read_as_it_was_sent() -> None:
    pipe = io.BytesIO()
    child.send(pipe, {"a": "\ud800"}, b"bytes")
    pipe.seek(0)
    assert child.receive(pipe) == ({"a": "\ud800", "size": 5}, b"bytes")
