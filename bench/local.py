"""How long the local index takes to build and to answer, and how often the answer is among the first three hits.

    python bench/local.py [--index PATH]

Builds an index of everything installed here (a temporary one unless PATH is given), then asks the questions of
`local_questions.json`, each with the dotted names that answer it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from webseam.local.index import LocalIndex

QUESTIONS = Path(__file__).with_name("local_questions.json")
FIRST = 3  # hits in which the truth must be
ROUNDS = 5  # times each question is asked for the times; the first round is cold


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, help="use and keep this index")
    path = parser.parse_args().index
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        run(path or Path(folder, "index.sqlite3"))


def run(path: Path) -> None:
    index = LocalIndex(path)
    refresh = index.refresh()
    for warning in refresh.warnings:
        print("warning:", warning)
    sources = index.list_sources()
    size = sum(file.stat().st_size for file in path.parent.glob(path.name + "*")) / 1e6
    print(f"index time   {refresh.took:.1f} s ({refresh.read} sources read, {refresh.skipped} files skipped)")
    print(
        f"content      {len(sources)} sources, {refresh.entries:,} entries, {size:.1f} MB, complete: {refresh.complete}"
    )
    started = time.perf_counter()
    fresh = LocalIndex(path).fresh()
    print(f"fresh()      {1000 * (time.perf_counter() - started):.1f} ms: {fresh}")
    started = time.perf_counter()
    LocalIndex(path).search("how do I read a JSON file")
    print(f"first query  {1000 * (time.perf_counter() - started):.1f} ms, with opening the file")
    ask(index, json.loads(QUESTIONS.read_text("utf-8")))


def ask(index: LocalIndex, questions: list[dict[str, Any]]) -> None:
    times: list[float] = []
    misses: list[str] = []
    for turn in range(ROUNDS):
        for question in questions:
            started = time.perf_counter()
            hits = index.search(question["query"])
            times.append(1000 * (time.perf_counter() - started))
            names = [hit.title for hit in hits]
            if turn == 0 and not set(names[:FIRST]) & set(question["truth"]):
                place = next(
                    (number for number, name in enumerate(names, 1) if name in question["truth"]), "none of 10"
                )
                misses.append(f"  {question['query']!r}: {', '.join(names[:FIRST])} (truth at {place})")
    times.sort()
    p50, p95 = statistics.median(times), times[int(0.95 * len(times))]
    print(f"query        p50 {p50:.2f} ms, p95 {p95:.2f} ms, max {times[-1]:.2f} ms")
    right = len(questions) - len(misses)
    print(f"share@{FIRST}      {right / len(questions):.3f} ({right} of {len(questions)})")
    print("\n".join(["misses:", *misses] if misses else ["no misses"]))


if __name__ == "__main__":
    main()
