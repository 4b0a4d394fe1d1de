"""How often what `focus` leaves of a page holds the answer to a question, within 800 tokens, from bytes to passages.

    python bench/focus.py --docs DIR [--verbose]

DIR is where the Debian packages python3-doc and postgresql-doc put their pages: `/usr/share/doc` once installed.
The questions of `focus_questions.json` are people's own words; an answer counts when its sentence is in the passages.
Goal: 36 of 40.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import webseam

QUESTIONS = Path(__file__).with_name("focus_questions.json")
BUDGET = 800  # tokens
GOAL = 36
FOLDERS = {"python": "python3*/html", "postgresql": "postgresql-doc*/html"}  # in DIR; versions differ
ADDRESSES = {"python": "https://docs.python.org/3", "postgresql": "https://www.postgresql.org/docs/current"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, required=True, help="the folder of both packages' documentation")
    parser.add_argument("--verbose", action="store_true", help="show the passages of the misses")
    arguments = parser.parse_args()
    raise SystemExit(run(arguments.docs, verbose=arguments.verbose))


def run(docs: Path, *, verbose: bool) -> int:
    questions: list[dict[str, Any]] = json.loads(QUESTIONS.read_text("utf-8"))
    found = 0
    times: list[float] = []
    sizes: list[int] = []
    for question in questions:
        body, url = source(docs, question["page"])
        started = time.perf_counter()
        page = webseam.read(body, url=url, media_type="text/html", focus=question["question"], max_tokens=BUDGET)
        times.append(1000 * (time.perf_counter() - started))
        sizes.append(-(-len(page.markdown) // 4))
        answer = plain(question["answer"])
        if answer in plain(page.markdown):
            found += 1
            continue
        whole = webseam.read(body, url=url, media_type="text/html").markdown
        where = "" if answer in plain(whole) else " (NOT ON THE PAGE: the reader lost it, or another version)"
        print(f"miss: {question['page']}: {question['question']}{where}")
        if verbose:
            print("\n\n".join(f"    [{p.score:.1f}] {' > '.join(p.heading_path)}\n{p.text}" for p in page.passages))
    times.sort()
    print(f"answers   {found} of {len(questions)} within {BUDGET} tokens (goal {GOAL})")
    print(f"passages  median {statistics.median(sizes):.0f} tokens, at most {max(sizes)}")
    print(f"time      p50 {statistics.median(times):.1f} ms, p95 {times[int(0.95 * len(times))]:.1f} ms")
    return 0 if found >= GOAL else 1


def source(docs: Path, page: str) -> tuple[bytes, str]:
    """Return one page, named `python/library/json`, and the address it has in the world."""
    package, _, name = page.partition("/")
    for folder in sorted(docs.glob(FOLDERS[package]), reverse=True):
        if (path := folder / f"{name}.html").is_file():
            return path.read_bytes(), f"{ADDRESSES[package]}/{name}.html"
    raise SystemExit(f"{page} is not below {docs}: install python3-doc and postgresql-doc")


def plain(text: str) -> str:
    """Return the words of Markdown, so that an answer is found whatever is bold or a link in it."""
    text = re.sub(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)", "", text)
    return " ".join(re.sub(r"[*`\\\[\]]", "", text).split())


if __name__ == "__main__":
    main()
