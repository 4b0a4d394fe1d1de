"""One MCP server process as a client has it, and what /proc of Linux tells of its process tree.

Lines are written and read by hand: a client library would add a cost of its own to every figure.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from mcp_peers import Call, Server

PATIENCE = 180  # seconds that one process may live; a server that hangs ends the run instead of hanging it
SETTLED = 0.25  # seconds without a tick of CPU time
ENDED = 12  # seconds in which children of an idle server may end
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
numbers = iter(range(1_000_000_000))


class Session:
    """One server process and the lines to and from it."""

    def __init__(self, server: Server, common: dict[str, str], errors: Path) -> None:
        self.server = server
        self._errors = errors
        self.began = time.perf_counter()
        with errors.open("wb") as stream:
            self.process = subprocess.Popen(
                server.command,
                env={**common, **server.environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
            )
        self._watch = threading.Timer(PATIENCE, self.process.kill)
        self._watch.daemon = True
        self._watch.start()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        children = tree(self.process.pid)[1:]
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for child in children:  # none should be left; one that is would burden the next measurement
            with contextlib.suppress(OSError):
                os.kill(child, 9)
        self._watch.cancel()
        self.process.stdout.close()

    def send(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        try:
            self.process.stdin.write(lines.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.fail("ended")

    def until(self, *wanted: int) -> dict[int, dict[str, Any]]:
        """Read lines until all these requests are answered; what else comes, such as notifications, is passed over."""
        assert self.process.stdout is not None
        found: dict[int, dict[str, Any]] = {}
        while len(found) < len(wanted):
            line = self.process.stdout.readline()
            if not line:
                self.fail("ended")
            message = json.loads(line)
            if message.get("id") in wanted and "method" not in message:
                if "result" not in message:
                    self.fail(f"answered {message}")
                found[message["id"]] = message["result"]
        return found

    def list_tools(self, *, at_once: bool) -> tuple[list[dict[str, Any]], float]:
        """Return the tools, and the seconds since the process was started."""
        hello, listing = next(numbers), next(numbers)
        initialize = {"id": hello, "method": "initialize", "params": HELLO}
        rest = [{"method": "notifications/initialized"}, {"id": listing, "method": "tools/list", "params": {}}]
        if at_once:
            self.send(initialize, *rest)
        else:
            self.send(initialize)
            self.until(hello)
            self.send(*rest)
        tools = self.until(listing)[listing]["tools"]
        return tools, time.perf_counter() - self.began

    def call(self, call: Call, times: int = 1) -> float:
        """Return the seconds until the last of so many calls, written at once, is answered."""
        chosen = [next(numbers) for _ in range(times)]
        messages = [{"id": one, "method": "tools/call", "params": call.parameters(one)} for one in chosen]
        began = time.perf_counter()
        self.send(*messages)
        answers = self.until(*chosen)
        took = time.perf_counter() - began
        for answer in answers.values():
            text = " ".join(part.get("text", "") for part in answer["content"])
            if answer.get("isError") or call.shows not in text:
                self.fail(f"answered {call.tool} with {text[:300]!r}")
        return took

    def fail(self, how: str) -> None:
        self.process.kill()
        said = self._errors.read_text(errors="replace")[-2000:]
        raise SystemExit(f"{self.server.name} {how}\n{said}")


def tree(root: int) -> list[int]:
    """Return a process and all below it."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                below.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for process in found:
        found += below.get(process, [])
    return found


def memory(root: int) -> float:
    """Return MiB of a process tree: PSS, in which a page that n processes share counts 1/n in each."""
    total = 0
    for process in tree(root):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def cpu(root: int) -> float:
    """Return seconds of CPU time of a process tree, to a hundredth."""
    ticks = 0
    for process in tree(root):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def settle(root: int) -> None:
    """Wait until a process tree has had nothing to do for a moment, at most 5 s."""
    used = cpu(root)
    for _ in range(int(5 / SETTLED)):
        time.sleep(SETTLED)
        if (now := cpu(root)) == used:
            return
        used = now


def wait_for_children(root: int) -> None:
    """Wait until a process has no children any more, at most `ENDED`."""
    until = time.monotonic() + ENDED
    while len(tree(root)) > 1 and time.monotonic() < until:
        time.sleep(SETTLED)
