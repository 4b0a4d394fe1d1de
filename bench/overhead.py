"""What a search through webseam costs beside a bare HTTP request and beside the official SDKs, in one run.

Every client sends the same query to the same loopback provider (a process of its own) and reads the same ten hits.
Rounds are interleaved, so that a machine that slows down slows all of them; ratios are the figures to quote.
Usage: python bench/overhead.py [--calls N] [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

CONCURRENCY = 50
KEY = "tvly-0123456789abcdef0123456789abcdef"
Call = Callable[[str], Awaitable[int]]


async def clients(base: str, stack: AsyncExitStack) -> dict[str, Call]:
    """Return one call per client; each returns the number of hits it read."""
    import httpx2
    from anysearch import AnySearch
    from tavily import AsyncTavilyClient

    import webseam

    web = await stack.enter_async_context(webseam.AsyncWeb({"search.provider": "tavily"}))

    async def through_webseam(query: str) -> int:
        return len((await web.search(query)).hits)

    bare = await stack.enter_async_context(
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, limits=httpx2.Limits(max_connections=100))
    )

    async def through_httpx2(query: str) -> int:
        response = await bare.post(f"{base}/search", json={"query": query, "max_results": 10})
        return len(json.loads(response.content)["results"])

    tavily = AsyncTavilyClient(api_key=KEY, api_base_url=base)

    async def through_tavily(query: str) -> int:
        return len((await tavily.search(query, max_results=10))["results"])

    peer = AnySearch(provider="tavily", api_key=KEY, base_url=base)

    async def through_anysearch(query: str) -> int:
        return len((await peer.asearch(query, max_results=10)).results)

    return {
        "webseam": through_webseam,
        "httpx2, bare": through_httpx2,
        "tavily-python": through_tavily,
        "anysearch-sdk": through_anysearch,
    }


async def one_by_one(call: Call, queries: list[str]) -> list[float]:
    times = []
    for query in queries:
        began = time.perf_counter()
        if await call(query) != 10:
            raise SystemExit("a client did not read the ten hits")
        times.append(time.perf_counter() - began)
    return times


async def at_once(call: Call, queries: list[str]) -> float:
    """Return searches a second with `CONCURRENCY` under way."""
    waiting = iter(queries)

    async def worker() -> None:
        for query in waiting:
            await call(query)

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
    return len(queries) / (time.perf_counter() - began)


async def measure(base: str, calls: int, rounds: int) -> None:
    number = itertools.count()

    def queries(count: int) -> list[str]:  # every search is a new one: nothing is answered from a cache
        return [f"a query of some words, number {next(number)}" for _ in range(count)]

    async with AsyncExitStack() as stack:
        found = await clients(base, stack)
        latency: dict[str, list[float]] = {name: [] for name in found}
        throughput: dict[str, list[float]] = {name: [] for name in found}
        for call in found.values():
            await one_by_one(call, queries(20))
        for _ in range(rounds):
            for name, call in found.items():
                latency[name] += await one_by_one(call, queries(calls))
            for name, call in found.items():
                throughput[name].append(await at_once(call, queries(max(calls, 4 * CONCURRENCY))))
    report(latency, throughput)


def report(latency: dict[str, list[float]], throughput: dict[str, list[float]]) -> None:
    def row(name: str) -> tuple[float, float, float]:
        times = sorted(latency[name])
        return (
            statistics.median(times) * 1000,
            times[int(len(times) * 0.95)] * 1000,
            statistics.median(throughput[name]),
        )

    ours = row("webseam")
    print(f"{'client':<16}{'p50 ms':>9}{'p95 ms':>9}{f'per s at {CONCURRENCY}':>13}   webseam is: p50, p95, throughput")
    for name in latency:
        p50, p95, rate = row(name)
        ratios = f"x{ours[0] / p50:.2f}  x{ours[1] / p95:.2f}  x{ours[2] / rate:.2f}"
        print(f"{name:<16}{p50:>9.2f}{p95:>9.2f}{rate:>13.0f}   {ratios}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200, help="searches of each client in a round, one after another")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("CONFIG", "STATE", "CACHE"):
            os.environ[f"WEBSEAM_{kind}_DIR"] = str(Path(folder, kind))
        server = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("provider.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        base = f"http://127.0.0.1:{int(server.stdout.readline())}"
        os.environ |= {"WEBSEAM_TAVILY_BASE_URL": base, "TAVILY_API_KEY": KEY}
        try:
            asyncio.run(measure(base, options.calls, options.rounds))
        finally:
            server.communicate("")


if __name__ == "__main__":
    main()
