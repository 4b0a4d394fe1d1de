"""`mcp-ssrf-check`, which attacks MCP servers, against `webseam mcp --http` with `web_fetch` as the tool to abuse.

The checker cannot tell a server that refuses an address from one that merely could not reach it. So its listener stands
on a port that web servers use, where nothing but the address speaks against it; a page that may be read proves that the
tool works; and a listener of ours counts connections, of which the checker only sees those that sent a whole request.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp_ssrf_check.checks import LOOPBACK_SPELLINGS

from tests.cli.world import start
from tests.fetch.world import PAGE, PARAGRAPH
from tests.world import World
from webseam.net.policy import WEB_PORTS

ALLOWED = "127.0.0.2"  # the one address of loopback that the server may read from, so that its tool is seen to work
PROGRAM = Path(sys.executable).with_name("mcp-ssrf-check")


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """Run `webseam mcp --http` as a user would; yield its URL."""
    process = await start("mcp", "--http", "--port", "0", env={"WEBSEAM_FETCH_ALLOW": ALLOWED})
    try:
        said = (await process.stderr.readline()).decode()
        assert "MCP at http://127.0.0.1:" in said, said + (await process.stderr.read()).decode()
        yield said.split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = await process.communicate()
    assert (process.returncode, out, err) == (0, b"", b"")


def web_port() -> int:
    """Return a port that web servers use and nobody has at the moment."""
    for port in sorted(WEB_PORTS, reverse=True):
        try:
            with socket.create_server(("", port)):
                return port
        except OSError:
            continue
    raise AssertionError(f"all of {sorted(WEB_PORTS)} are taken; free one")


async def attack(url: str, folder: Path, *arguments: str) -> dict[str, Any]:
    """Run the checker; return its report."""
    report = folder / "report.json"
    process = await asyncio.create_subprocess_exec(
        str(PROGRAM), "--url", url, "--fetch-tool", "web_fetch", "--settle", "0.2", "--json-out", str(report),
        *arguments,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "NO_PROXY": "*"},
    )  # fmt: skip
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    told: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return told


def verdicts(report: Mapping[str, Any]) -> dict[str, str]:
    return {check["id"]: check["status"] for check in report["checks"]}


def probes(report: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return of every probe its outcome and what the server answered: a result is the tool's word, an error is not."""
    (check,) = (check for check in report["checks"] if check["id"] == "tool-url-ssrf")
    return {
        name: (probe["outcome"], probe.get("response", {}).get("jsonrpc", ""))
        for name, probe in check["evidence"]["spellings"].items()
    }


REFUSED = {name: ("refused", "result") for name, _ in LOOPBACK_SPELLINGS}


@pytest.mark.parametrize(("lifecycle", "sessions"), [("stateful", "pass"), ("stateless", "skip")])
async def test_every_check_passes_and_the_tool_was_really_asked(lifecycle: str, sessions: str, tmp_path: Path) -> None:
    async with World() as world, serving() as url:
        site = world.site(host=ALLOWED)
        control = site.route("GET", "/page", PAGE)
        report = await attack(
            url, tmp_path, "--lifecycle", lifecycle, "--control-url", control, "--listen-port", str(web_port())
        )
        read = [request.path for request in site.requests if request.path == "/page"]
    assert verdicts(report) == {
        "baseline": "pass",
        "host-header": "pass",
        "origin-header": "pass",
        "origin-null": "info",
        "session-binding": sessions,
        "tool-wiring": "pass",
        "tool-url-ssrf": "pass",
    }
    assert report["lifecycle"] == lifecycle
    assert probes(report) == {**REFUSED, "redirect": ("not-requested", "")}
    assert read == ["/page"]
    assert len(LOOPBACK_SPELLINGS) == 9


async def test_a_redirect_from_a_page_that_may_be_read_is_not_followed_to_one_that_may_not(tmp_path: Path) -> None:
    async with serving() as url:
        report = await attack(
            url, tmp_path, "--listen-host", "0.0.0.0", "--listen-port", str(web_port()),
            "--callback-host", ALLOWED, "--redirect-target", "127.0.0.1",
        )  # fmt: skip
    assert probes(report) == {**REFUSED, "redirect": ("refused", "result")}


class Canary:
    """A listener on 127.0.0.1 and ::1 that counts connections, whatever is sent over them."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connections = 0
        self.called = asyncio.Event()

    async def __aenter__(self) -> Canary:
        self._servers = [
            await asyncio.start_server(self._accept, host, self.port)
            for host in ("127.0.0.1", "::1")
            if host != "::1" or socket.has_ipv6
        ]
        return self

    async def __aexit__(self, *failure: object) -> None:
        for server in self._servers:
            server.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.called.set()
        writer.close()


# Other ways of writing this machine than those the checker knows.
MORE = (
    ("dotted hex", "0x7f.0.0.1"),
    ("dotted octal", "0177.0000.0000.0001"),
    ("three parts", "127.0.1"),
    ("long form", "[0:0:0:0:0:0:0:1]"),
    ("mapped hex", "[::ffff:7f00:1]"),
    ("compatible", "[::127.0.0.1]"),
    ("translated", "[64:ff9b::7f00:1]"),
    ("full-width digits", "１２７.0.0.1"),
    ("ideographic stop", "127。0。0。1"),
    ("percent-encoded", "127%2e0%2e0%2e1"),
    ("trailing dot", "127.0.0.1."),
    ("name below localhost", "a.localhost"),
    ("capitals", "LOCALHOST"),
    ("credentials", "example.org@127.0.0.1"),
    ("another of loopback", "127.9.9.9"),
)
# Refused before anything is judged: such a URL is the caller's mistake.
CREDENTIALS = {"credentials": (True, "invalid", True)}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_no_spelling_of_this_machine_makes_the_tool_connect(mode: str) -> None:
    told = {}
    async with World() as world, Canary(web_port()) as canary, serving() as url:
        site = world.site(host=ALLOWED)
        page = site.route("GET", "/page", PAGE)
        astray = site.route("GET", "/astray", (302, {"Location": f"http://127.0.0.1:{canary.port}/"}, ""))
        async with Client(url, mode=mode) as client:
            for name, host in (*LOOPBACK_SPELLINGS, *MORE):
                result = await client.call_tool("web_fetch", {"url": f"http://{host}:{canary.port}/"})
                text = result.content[0].text
                told[name] = (result.is_error, text.partition(": ")[0], "port.denied" not in text)
            redirected = await client.call_tool("web_fetch", {"url": astray})
            read = await client.call_tool("web_fetch", {"url": page})
        connections = canary.connections
        _, writer = await asyncio.open_connection("127.0.0.1", canary.port)  # and the canary does sing
        writer.close()
        await canary.called.wait()
    assert told == {**{name: (True, "unsafe", True) for name, _ in (*LOOPBACK_SPELLINGS, *MORE)}, **CREDENTIALS}
    assert (redirected.is_error, redirected.content[0].text.partition(": ")[0]) == (True, "unsafe")
    assert not read.is_error
    assert PARAGRAPH in read.content[0].text
    assert connections == 0
