"""Nothing but the protocol goes over standard output, whatever providers, their programs and their faults print."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.world import SOURCE
from tests.mcp.peer import LISTED, call, request, searching, served, text_of
from tests.world import World

# A provider of another package. What it does depends on the query.
PACKAGE = """
import logging, os, subprocess, sys, time, warnings
from webseam.net.message import Request
from webseam.providers.base import Hits, Provider

print("GARBAGE printed while the module is loaded")

class Noisy(Provider):
    id = "noisy"
    label = "Noisy"
    receives = "the noisy service"
    base_env = ("NOISY_URL",)
    key = "none"

    def request(self, search, config):
        self.act("in request", search.query)
        return Request("GET", config.url("/noisy"))

    def parse(self, reply, search, config):
        self.act("in parse", search.query)
        hits = Hits(self.id)
        hits.add(url="https://example.org/noisy", title="Found all the same")
        return hits.parsed()

    def act(self, where, query):
        if "print" in query:
            print("GARBAGE printed", where)
            print("GARBAGE unflushed", end="")
            sys.__stdout__.write("GARBAGE on the first stream\\n")
            sys.__stdout__.flush()
            os.write(1, b"GARBAGE on the descriptor\\n")
            subprocess.run([sys.executable, "-c", "print('GARBAGE of a child')"], check=True)
            subprocess.run("echo GARBAGE of a shell; cat", shell=True, check=True)
        if "read" in query:
            assert sys.stdin.read() == "" and os.read(0, 1) == b"", "what a client sends was there to be read"
        if "warn" in query:
            warnings.warn("GARBAGE of a warning")
            logging.getLogger("noisy").error("GARBAGE of a log")
        if "raise" in query and where == "in parse":
            raise RuntimeError("GARBAGE of a fault")
        if "hang" in query:
            print("hanging", file=sys.stderr, flush=True)
            time.sleep(600)
"""

# A program that searches and prints to both of its streams what is no result.
PROGRAM = """
import json, os, sys
print("GARBAGE before", flush=True)
print("GARBAGE on the error stream", file=sys.stderr, flush=True)
if "fail" in sys.argv[1]:
    sys.exit("GARBAGE at the end")
print(json.dumps([{"url": "https://example.org/program", "title": "Found"}]))
"""


def install(folder: Path) -> None:
    """Put a small distribution with a provider into `folder`."""
    info = folder / "webseam_noisy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: webseam-noisy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[webseam.providers]\nnoisy = webseam_noisy:Noisy\n")
    (folder / "webseam_noisy.py").write_text(PACKAGE)


LENIENT = [sys.executable, "-m", "webseam", "mcp"]  # warnings are warnings, as they are for users


def noisy(folder: Path, world: World) -> dict[str, str]:
    """Return the environment of a server that searches with a provider of another package."""
    install(folder)
    world.route("GET", "/noisy", (200, {}, {}))
    return {
        "NOISY_URL": world.url,
        "WEBSEAM_SEARCH_PROVIDER": "noisy",
        "PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE)]),
    }


async def test_a_provider_may_print_read_warn_and_raise(tmp_path: Path) -> None:
    async with World() as world, served(env=noisy(tmp_path, world), command=LENIENT) as peer:
        await peer.send(*LISTED)
        loud = text_of(await peer.ask(call(2, "web_search", query="print read warn", count=1)))
        raised = await peer.ask(call(3, "web_search", query="print raise", count=1))
        after = text_of(await peer.ask(call(4, "web_search", query="quiet", count=1)))
        code = await peer.leave()  # checks that every line is JSON-RPC
    assert "https://example.org/noisy" in loud
    assert raised["result"]["isError"] is True
    assert "https://example.org/noisy" in after
    assert code == 0
    assert sorted(one["id"] for one in peer.messages) == [0, 1, 2, 3, 4]
    kinds = ("printed in parse", "on the first stream", "on the descriptor", "of a child", "of a shell", "of a warning")
    assert [kind for kind in kinds if f"GARBAGE {kind}" not in peer.err] == []  # it went where people look for it
    assert b"GARBAGE" not in b"".join(peer.lines).replace(b"GARBAGE of a fault", b"")


@pytest.mark.parametrize("ended_by", ["the client", "a signal"])
async def test_a_provider_that_hangs_does_not_keep_the_process(tmp_path: Path, ended_by: str) -> None:
    async with World() as world, served(env=noisy(tmp_path, world), command=LENIENT) as peer:
        await peer.send(*LISTED, call(2, "web_search", query="hang", count=1))
        while await peer.said() != "hanging\n":
            pass
        if ended_by == "a signal":
            peer.process.terminate()
            code = await peer.ended()
        else:
            code = await peer.leave()
    assert code == (143 if ended_by == "a signal" else 0)


async def test_a_program_may_print_what_it_likes(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    template = f"{sys.executable} {tmp_path / 'program.py'} {{{{query}}}}"
    (tmp_path / "config.toml").write_text(
        f'[search]\nprovider = "loud"\n[providers.command.loud]\ntemplate = {json.dumps(template)}\n'
    )
    async with served(env={"WEBSEAM_CONFIG_DIR": str(tmp_path)}) as peer:
        await peer.send(*LISTED)
        await peer.ask(call(2, "web_search", query="words", count=1))
        failed = await peer.ask(call(3, "web_search", query="fail", count=1))
        code = await peer.leave()
    assert failed["result"]["isError"] is True
    assert (code, peer.err) == (0, "")
    assert sorted(one["id"] for one in peer.messages) == [0, 1, 2, 3]


@pytest.mark.parametrize("answer", [(500, {}, "GARBAGE"), (200, {}, "<html>GARBAGE")], ids=["failing", "not JSON"])
async def test_a_call_that_fails_is_a_result_and_nothing_else(answer: tuple[int, dict[str, str], str]) -> None:
    async with World() as world, served(env=searching(world, answer)) as peer:
        await peer.send(*LISTED)
        failed = await peer.ask(call(2, "web_search", query="words", count=1))
        unknown = await peer.ask(call(3, "no_such_tool"))
        wrong = await peer.ask(call(4, "web_search", count="many"))
        broken = await peer.ask(request(5, "tools/call", name=7))
        code = await peer.leave()
    assert [one["result"]["isError"] for one in (failed, unknown, wrong)] == [True, True, True]
    assert broken["error"]["code"] == -32602
    assert (code, peer.err) == (0, "")
