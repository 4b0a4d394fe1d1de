"""One whole run: a throwaway home, `webseam setup` in it, the client, the scripted model and the web on loopback."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.agents.clients import KEY_NAME, ROOT, Client, Ran, run
from tests.agents.model import Model
from tests.agents.web import Web

Transport = Literal["stdio", "HTTP"]
TRANSPORTS: tuple[Transport, ...] = ("stdio", "HTTP")
PROMPT = "How is a widget frobnicated? Search the web and read the best page."
KEY = "a-key-of-this-test-alone-4711"
_STARTING = 60.0  # seconds for our server to start, on a busy machine


@dataclass(frozen=True)
class Played:
    """What happened.

    Attributes:
        ran: how the client ended.
        model: what reached the model.
        asked: what our server asked of the web, paths in order, each once.
    """

    client: Client
    transport: Transport
    ran: Ran
    model: Model
    asked: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """What reached the model of each result of our tools, in order."""
        return [result.text for result in self.model.results]


def play(
    client: Client,
    transport: Transport,
    home: Path,
    *,
    first: str = "widgets.html",
    structured: bool = False,
    **adds: Any,
) -> Played:
    """Let a client, set up by `webseam setup` in an empty home, do the whole task.

    Args:
        first: the page a search finds first, and the model reads.
        structured: the setting `mcp.structured`.
        adds: further arguments of the model's call of web_fetch.
    """
    with Model(**adds) as model, Web(first=first) as web:
        web.settle(home, structured=structured)
        client.prepare(home, model.url)
        with contextlib.ExitStack() as running:
            if transport == "HTTP":
                url = running.enter_context(_served(home))
                set_up(client, home, "--http", url, "--key-env", KEY_NAME)
            else:
                set_up(client, home)
            ran = client.run(client.asking(PROMPT), home=home, model=model.url, key=KEY)
        return Played(client, transport, ran, model, tuple(dict.fromkeys(path for path, _ in web.asked)))


def set_up(client: Client, home: Path, *more: str) -> str:
    """Run `webseam setup CLIENT --yes` in that home; return what it said."""
    ran = run(webseam("setup", client.name, "--yes", *more), environment_of(home), home)
    assert ran.code == 0, str(ran)
    return ran.out


def webseam(*arguments: str) -> list[str]:
    """Return the command line of ours."""
    return [sys.executable, "-m", "webseam", *arguments]


def environment_of(home: Path) -> dict[str, str]:
    """Return the environment of a person whose home this is."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT / "src")}


@contextlib.contextmanager
def _served(home: Path) -> Iterator[str]:
    """Start `webseam mcp --http` with a key and yield its URL."""
    log = home / "served.log"  # no pipe: one that nobody reads stops a server that says much
    with log.open("wb") as said:
        process = subprocess.Popen(
            webseam("mcp", "--http", "--port", "0"),
            env={**environment_of(home), "WEBSEAM_MCP_API_KEY": KEY},
            stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        until = time.monotonic() + _STARTING
        while not (found := re.search(r"http://\S+", log.read_text("utf-8"))):
            assert process.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.02)
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
    assert "Traceback" not in log.read_text("utf-8"), log.read_text("utf-8")
