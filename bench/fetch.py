"""Pages per second from URL to Markdown, and the memory that takes, beside what people use now, in one run.

    python bench/fetch.py --data DIR [--pages N] [--rounds N]

DIR has `wcxb/html` with pages as `.html.gz` (or any folder of such files). They are served from loopback by a process
of its own and asked for 32 at a time. Every contender runs in a fresh process each round, rounds are interleaved, and
the first pages of each, which pay for imports, do not count. Memory is the peak of the process and of its children.
Quote the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

CONCURRENCY = 32
WARM_UP = 8  # pages
CONTENDERS = ("webseam", "mcp-server-fetch", "ddgs extract")
Fetch = Callable[[str], Awaitable[int]]


def serve(folder: Path) -> None:
    """Serve the pages of a folder by their number, on a free port that is printed first."""
    pages = [gzip.decompress(path.read_bytes()) for path in sorted(folder.rglob("*.html.gz"))]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                name = head.split(b" ", 2)[1].strip(b"/").decode()
                body = pages[int(name)] if name.isdecimal() and int(name) < len(pages) else b""
                status = b"200 OK" if body else b"404 Not Found"
                writer.write(
                    b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body
                )
                await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], len(pages), flush=True)
        async with server:
            await server.serve_forever()

    asyncio.run(run())


async def contend(name: str, urls: list[str]) -> dict[str, float]:
    """Fetch all pages with one contender; return seconds, characters and KiB."""
    async with contextlib.AsyncExitStack() as stack:
        fetch = await _contender(name, stack)
        turns = asyncio.Semaphore(CONCURRENCY)

        async def one(url: str) -> int:
            async with turns:
                return await fetch(url)

        await asyncio.gather(*map(one, urls[:WARM_UP]))
        started = time.perf_counter()
        sizes = await asyncio.gather(*map(one, urls[WARM_UP:]))
        seconds = time.perf_counter() - started
        return {"seconds": seconds, "read": sum(size > 0 for size in sizes), "kib": _peak()}


async def _contender(name: str, stack: contextlib.AsyncExitStack) -> Fetch:
    logging.disable(logging.CRITICAL)
    if name == "webseam":
        import webseam

        settings: dict[str, Any] = {"fetch.allow": ["127.0.0.1"], "fetch.per_host": CONCURRENCY, "fetch.browser": False}
        web = await stack.enter_async_context(webseam.AsyncWeb(settings))

        async def ours(url: str) -> int:
            try:
                return len((await web.fetch(url, cache=False, timeout=120)).markdown)
            except webseam.WebSeamError:
                return 0

        return ours
    if name == "mcp-server-fetch":
        from mcp_server_fetch.server import fetch_url

        async def theirs(url: str) -> int:
            try:
                return len((await fetch_url(url, "bench/1.0", allow_private_ips=True))[0])
            except Exception:  # noqa: BLE001 - whatever fails counts as unread
                return 0

        return theirs
    from ddgs import DDGS

    threads = stack.enter_context(ThreadPoolExecutor(CONCURRENCY))
    loop = asyncio.get_running_loop()

    def extract(url: str) -> int:
        try:
            return len(DDGS(timeout=30).extract(url)["content"])
        except Exception:  # noqa: BLE001 - whatever fails counts as unread
            return 0

    async def other(url: str) -> int:
        return await loop.run_in_executor(threads, extract, url)

    return other


def _peak() -> float:
    """Return the KiB that this process and its children had at most, each at its own time."""
    family = [os.getpid()]
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdecimal() and f"\nPPid:\t{os.getpid()}\n" in (entry / "status").read_text():
                family.append(int(entry.name))
    total = 0
    for process in family:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return float(total)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    parser.add_argument("--base", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.data)
    elif options.contender:
        urls = [f"{options.base}/{number}" for number in range(options.pages)]
        print(json.dumps(asyncio.run(contend(options.contender, urls))))
    else:
        compare(options.data, options.pages, options.rounds)


def compare(data: Path, pages: int, rounds: int) -> None:
    """Run all contenders and print what came out."""
    here = [sys.executable, __file__, "--data", str(data)]
    with tempfile.TemporaryDirectory() as home, subprocess.Popen([*here, "--serve"], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        port, available = map(int, server.stdout.readline().split())
        pages = min(pages, available)
        environment = {
            **os.environ,
            **{f"WEBSEAM_{kind}_DIR": f"{home}/{kind}" for kind in ("CONFIG", "STATE", "CACHE")},
        }
        results: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
        for _ in range(rounds):
            for name in CONTENDERS:
                command = [*here, "--contender", name, "--base", f"http://127.0.0.1:{port}", "--pages", str(pages)]
                run = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True)
                results[name].append(json.loads(run.stdout.splitlines()[-1]))
        server.kill()
    report(results, pages - WARM_UP)


def report(results: dict[str, list[dict[str, float]]], pages: int) -> None:
    """Print pages per second and memory, and webseam's as a ratio to each."""
    rate = {name: pages / statistics.median(one["seconds"] for one in runs) for name, runs in results.items()}
    memory = {name: statistics.median(one["kib"] for one in runs) / 1024 for name, runs in results.items()}
    print(f"{pages} pages, {CONCURRENCY} at a time, median of {len(next(iter(results.values())))} rounds")
    print(f"{'':<18}{'pages/s':>9}{'read':>6}{'MiB':>7}   webseam is: pages/s, MiB")
    for name in results:
        read = int(statistics.median(one["read"] for one in results[name]))
        ratios = f"x{rate['webseam'] / rate[name]:.2f}  x{memory['webseam'] / memory[name]:.2f}"
        print(f"{name:<18}{rate[name]:>9.1f}{read:>6}{memory[name]:>7.0f}   {ratios}")


if __name__ == "__main__":
    main()
