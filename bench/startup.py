"""How long webseam takes from nothing to an answer, beside the bare interpreter, a ten-line script and ddgs.

Whole processes, run in turn so that drift hits all of them; `webseam search` and the httpx2 script ask the same
loopback provider. Quote the ratios and the differences of the medians.
Usage: python bench/startup.py [--runs N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TEN_LINES = """\
import asyncio, json, os, sys
import httpx2

async def main():
    async with httpx2.AsyncClient() as client:
        headers = {"Authorization": "Bearer " + os.environ["TAVILY_API_KEY"]}
        url = os.environ["WEBSEAM_TAVILY_BASE_URL"] + "/search"
        response = await client.post(url, headers=headers, json={"query": sys.argv[1], "max_results": 10})
        print(json.dumps(response.json(), indent=2))

asyncio.run(main())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every run compiles what an installation has compiled
        for kind in ("CONFIG", "STATE", "CACHE"):
            environment[f"WEBSEAM_{kind}_DIR"] = str(Path(folder, kind))
        script = Path(folder, "ten_lines.py")
        script.write_text(TEN_LINES)
        provider = Path(__file__).with_name("provider.py")
        server = subprocess.Popen([sys.executable, provider], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        environment["WEBSEAM_TAVILY_BASE_URL"] = f"http://127.0.0.1:{int(server.stdout.readline())}"
        environment["TAVILY_API_KEY"] = "tvly-0123456789abcdef0123456789abcdef"
        try:
            report(measure(commands(script), environment, runs))
        finally:
            server.communicate("")


def commands(script: Path) -> dict[str, list[str]]:
    python = sys.executable
    folder = Path(python).parent
    return {
        "python -c pass": [python, "-c", "pass"],
        "import webseam": [python, "-c", "import webseam"],
        "import httpx2": [python, "-c", "import httpx2"],
        "import ddgs": [python, "-c", "import ddgs"],
        "webseam --help": [str(folder / "webseam"), "--help"],
        "ddgs --help": [str(folder / "ddgs"), "--help"],
        "ten-line httpx2 script": [python, str(script), "{query}"],
        "webseam search --json": [str(folder / "webseam"), "search", "-p", "tavily", "--json", "{query}"],
    }


def measure(found: dict[str, list[str]], environment: dict[str, str], runs: int) -> dict[str, list[float]]:
    """Return seconds of each run; the first round warms the file cache and is not counted."""
    times: dict[str, list[float]] = {name: [] for name in found}
    for number in range(runs + 1):
        for name, command in found.items():
            words = [part.format(query=f"words of run {number}") for part in command]
            began = time.perf_counter()
            done = subprocess.run(words, env=environment, capture_output=True, check=False)
            took = time.perf_counter() - began
            if done.returncode:
                raise SystemExit(f"{name} failed: {done.stderr.decode()}")
            if number:
                times[name].append(took)
    return times


def report(times: dict[str, list[float]]) -> None:
    middle = {name: statistics.median(values) * 1000 for name, values in times.items()}
    bare = middle["python -c pass"]
    print(f"{'command':<26}{'median ms':>11}{'min ms':>9}{'over the interpreter':>23}")
    for name, values in times.items():
        print(f"{name:<26}{middle[name]:>11.1f}{min(values) * 1000:>9.1f}{middle[name] - bare:>20.1f} ms")
    print()
    search, script = middle["webseam search --json"], middle["ten-line httpx2 script"]
    print(f"webseam search / ten-line httpx2 script: {search / script:.2f}")
    print(f"webseam --help / ddgs --help: {middle['webseam --help'] / middle['ddgs --help']:.2f}")
    print(f"import webseam over the interpreter: {middle['import webseam'] - bare:.1f} ms")


if __name__ == "__main__":
    main()
