"""What an MCP server costs an agent before and while it is used: webseam beside four others and a bare SDK server.

    scripts/bench mcp_servers [--rounds N] [--without NAME]...

Over stdio, each figure from several fresh processes, servers in turn so that drift hits all of them; ratios are taken
within a round. Cold start: from the spawn to the line that answers `tools/list`, once for a client that waits for the
answer to `initialize` first, as clients do, and once for one that writes all at once. Memory: PSS of the whole process
tree: right after that line; loaded, after a first search and a first fetch; and idle after all calls, once child
processes that end by themselves have ended. Tokens: the JSON of the tools at 4 characters a token. Calls: against
`mcp_world.py` on loopback; whoever lists tools early pays for it in the first call, so there is also the time from the
spawn to its answer. Needs Linux (/proc). Quote the ratios.
Not called mcp.py: a script's folder comes first in its search path, and here the SDK's `mcp` must be found.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mcp_peers import SERVERS, Server
from mcp_session import Session, cpu, memory, settle, wait_for_children

SESSIONS = 2  # processes of each server that are called
CALLS = 20
START_GOAL = 1.1  # times the bare server
TOKENS_GOAL = 1500


@dataclass
class Figures:
    """What was measured of one server: seconds and MiB, one of each round or session; calls by kind."""

    waiting: list[float] = field(default_factory=list)
    at_once: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    listed: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    first: dict[str, list[float]] = field(default_factory=dict)
    later: dict[str, list[float]] = field(default_factory=dict)
    together: dict[str, list[float]] = field(default_factory=dict)
    tools: int = 0
    tokens: float = 0


def measure_starts(session: Session, figures: Figures, *, at_once: bool) -> None:
    with session:
        tools, seconds = session.list_tools(at_once=at_once)
        used, mib = cpu(session.process.pid), memory(session.process.pid)
    (figures.at_once if at_once else figures.waiting).append(seconds)
    figures.cpu.append(used)
    figures.listed.append(mib)
    figures.tools = len(tools)
    figures.tokens = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) / 4


def measure_calls(session: Session, figures: Figures) -> None:
    kinds = {"search": session.server.search, "fetch": session.server.fetch}
    answered: list[float] = []
    with session:
        session.list_tools(at_once=False)
        for kind, call in kinds.items():
            if call is not None:
                figures.first.setdefault(kind, []).append(session.call(call))
                answered.append(time.perf_counter() - session.began)
        figures.answered.append(answered[0])
        settle(session.process.pid)
        figures.loaded.append(memory(session.process.pid))
        for kind, call in kinds.items():
            if call is not None:
                figures.later.setdefault(kind, []).extend(session.call(call) for _ in range(CALLS))
                figures.together.setdefault(kind, []).append(session.call(call, CALLS))
        wait_for_children(session.process.pid)
        settle(session.process.pid)
        figures.idle.append(memory(session.process.pid))


def in_turn(servers: list[Server], rounds: int) -> Iterator[Server]:
    """Yield every server once a round, each round beginning with another, so that none is always after the same."""
    for number in range(rounds):
        shift = number % len(servers)
        yield from servers[shift:] + servers[:shift]


def measure(servers: list[Server], common: dict[str, str], folder: Path, rounds: int) -> dict[str, Figures]:
    errors = folder / "stderr"
    results = {server.name: Figures() for server in servers}
    for server in servers:  # warms the file cache and writes the byte code that an installation has; not counted
        measure_starts(Session(server, common, errors), Figures(), at_once=False)
    for server in in_turn(servers, rounds):
        for at_once in (False, True):
            measure_starts(Session(server, common, errors), results[server.name], at_once=at_once)
    for server in in_turn(servers, SESSIONS):
        measure_calls(Session(server, common, errors), results[server.name])
    return results


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Return the median over rounds of one server's figure by another's of the same round."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def report(servers: list[Server], results: dict[str, Figures], rounds: int) -> None:
    report_starts(servers, results, rounds)
    print()
    report_calls(servers, results)
    print()
    for server in servers:
        print(f"{server.name} {server.release}" + (f": {server.note}" if server.note else ""))


def report_starts(servers: list[Server], results: dict[str, Figures], rounds: int) -> None:
    bare = results[servers[0].name]
    middle = statistics.median
    print(f"{rounds} rounds; cold start to the answer of tools/list, by a client that waits and by one that does not")
    heads = ("ms", "/bare", "at once", "/bare", "CPU ms", "tools", "tokens", "MiB", "loaded", "idle")
    row("", heads)
    for server in servers:
        one = results[server.name]
        cells = (
            f"{middle(one.waiting) * 1000:.0f}",
            f"{ratio(one.waiting, bare.waiting):.2f}",
            f"{middle(one.at_once) * 1000:.0f}",
            f"{ratio(one.at_once, bare.at_once):.2f}",
            f"{middle(one.cpu) * 1000:.0f}",
            f"{one.tools}",
            f"{one.tokens:.0f}",
            *(f"{middle(mib):.0f}" for mib in (one.listed, one.loaded, one.idle)),
        )
        row(server.name, cells)


def report_calls(servers: list[Server], results: dict[str, Figures]) -> None:
    middle = statistics.median
    print(f"{SESSIONS} sessions; ms from the spawn to the answer of the first call, which follows the list at once;")
    print(f"then of a first search and fetch, of a later one (median of {CALLS} in turn), and of {CALLS} at once")
    row("", ("to answer", "search", "later", str(CALLS), "fetch", "later", str(CALLS)))
    for server in servers:
        one = results[server.name]
        calls = (
            f"{middle(found[kind]) * 1000:.1f}" if kind in found else "-"
            for kind in ("search", "fetch")
            for found in (one.first, one.later, one.together)
        )
        row(server.name, (f"{middle(one.answered) * 1000:.0f}", *calls))


def row(name: str, cells: Iterable[str]) -> None:
    print(f"{name:<21}" + "".join(f"{cell:>10}" for cell in cells))


def judge(servers: list[Server], results: dict[str, Figures]) -> None:
    """Print how webseam stands to the goals."""
    ours, bare = results["webseam"], results[servers[0].name]
    peers = {server.name: results[server.name] for server in servers[1:] if server.name != "webseam"}

    def goal(text: str, behind: list[str]) -> None:
        print(f"goal {'missed' if behind else 'met'}: {text}" + (f" ({', '.join(behind)})" if behind else ""))

    print()
    waiting, at_once = ratio(ours.waiting, bare.waiting), ratio(ours.at_once, bare.at_once)
    over = [f"{value:.2f}" for value in (waiting, at_once) if value >= START_GOAL]
    used = f"{ratio(ours.cpu, bare.cpu):.2f} of its CPU time"
    goal(f"cold start under {START_GOAL} times the bare server: {waiting:.2f}, at once {at_once:.2f}; {used}", over)
    over = [f"{ours.tokens:.0f}"] if ours.tokens >= TOKENS_GOAL else []
    goal(f"list under {TOKENS_GOAL} tokens: {ours.tokens:.0f}", over)
    for text, kind in (
        ("cold start ahead of each", "waiting"),
        ("cold start, all written at once, ahead of each", "at_once"),
        ("memory when the list is answered ahead of each", "listed"),
        ("memory when loaded ahead of each", "loaded"),
        ("memory when idle again ahead of each", "idle"),
    ):
        found = {name: ratio(getattr(ours, kind), getattr(one, kind)) for name, one in peers.items()}
        said = ", ".join(f"{name} {value:.2f}" for name, value in found.items())
        goal(f"{text}: {said}", [name for name, value in found.items() if value >= 1])


def spread(results: dict[str, Figures]) -> str:
    """Return by how much equal measurements differed: the middle half of all cold starts, each by its own median."""
    if len(next(iter(results.values())).waiting) < 3:
        return "not known from fewer than 3 rounds"
    values = [
        seconds / statistics.median(found) - 1
        for one in results.values()
        for found in (one.waiting, one.at_once)
        for seconds in found
    ]
    low, _, high = statistics.quantiles(values, n=4)
    return f"the middle half of all cold starts lay from {low:+.0%} to {high:+.0%} around their medians"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", action="append", default=[], choices=list(SERVERS)[1:], metavar="NAME")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    if not Path("/proc/self/smaps_rollup").exists():
        raise SystemExit("memory and CPU time are read from /proc of Linux, which is not here")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("mcp_world.py"), folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert world.stdout is not None
        base = f"http://127.0.0.1:{int(world.stdout.readline())}"
        servers = [make(folder, base) for chosen, make in SERVERS.items() if chosen not in options.without]
        try:
            results = measure(servers, surroundings(folder, base), folder, options.rounds)
        finally:
            refused = json.loads(world.communicate("")[0])
    report(servers, results, options.rounds)
    if "webseam" in results:
        judge(servers, results)
    print(f"\nnoise: {spread(results)}; load average {load:.1f} at the start, {os.cpu_count()} cores")
    if refused:
        print("asked for other hosts and refused: " + ", ".join(f"{host} x{n}" for host, n in refused.items()))


def surroundings(folder: Path, base: str) -> dict[str, str]:
    """Return an environment in which nothing is set up and every stray request ends at the world."""
    here = "127.0.0.1,localhost"
    return {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PATH": str(Path(sys.executable).parent),
        **{name: base for kind in ("HTTP_PROXY", "HTTPS_PROXY") for name in (kind, kind.lower())},
        "NO_PROXY": here,
        "no_proxy": here,
    }


if __name__ == "__main__":
    main()
