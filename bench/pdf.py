"""How much of a PDF arrives: words, headings, lines of code with their indentation, rows of tables; and what does not.

    python bench/pdf.py --data DIR

DIR has `gen.pdf` and, in `gen.json`, what it was made from. Words are compared as multisets (F1); a heading counts as
a Markdown heading with its words, a line of code as a line inside a fence with its indentation, a row as a row of a
table with its cells. Read through `webseam.read`, whole, cut short by 4 KB, and encrypted: the last two must end in a
reading that says it is not whole, or in a typed refusal.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import webseam

URL = "https://example.org/gen.pdf"
CUT = 4_096  # bytes
_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"\\([!-/:-@\[-`{-~])")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    body = (folder / "gen.pdf").read_bytes()
    truth = json.loads((folder / "gen.json").read_text("utf-8"))
    started = time.perf_counter()
    page = webseam.read(body, url=URL, media_type="application/pdf", timeout=120)
    took = time.perf_counter() - started
    report(page.markdown, truth)
    print(f"{'ms a page':<14}{took / truth['pages'] * 1000:.1f} (starting the reading process included)")
    print(f"{'cut short':<14}{fate(body[:-CUT])}")
    print(f"{'encrypted':<14}{fate(encrypted(body))}")


def report(markdown: str, truth: dict[str, Any]) -> None:
    """Print the counts."""
    words, wanted = Counter(_WORD.findall(markdown.lower())), Counter(_WORD.findall(truth["text"].lower()))
    marks = Counter({"page": truth["pages"], **{str(number): 1 for number in range(1, truth["pages"] + 1)}})
    words -= marks  # our own "[page N]"
    common = sum((words & wanted).values())
    precision, recall = common / max(1, sum(words.values())), common / max(1, sum(wanted.values()))
    print(f"{'words F1':<14}{2 * precision * recall / (precision + recall):.4f} (recall {recall:.4f})")
    print(f"{'headings':<14}{found(truth['heads'], headings(markdown))}")
    print(f"{'code lines':<14}{found(truth['code'], code_lines(markdown))}")
    print(f"{'table rows':<14}{found([tuple(row) for row in truth['rows']], rows(markdown))}")


def found(wanted: list[Any], there: Iterator[Any]) -> str:
    """Return how many of `wanted` are there, each as often as it is wanted."""
    common = Counter(wanted) & Counter(there)
    return f"{common.total()}/{len(wanted)}"


def headings(markdown: str) -> Iterator[str]:
    """Yield the words of each heading."""
    for line in markdown.splitlines():
        if re.match(r"#{1,6} ", line):
            yield _PLAIN.sub(r"\1", line.lstrip("# ")).strip()


def code_lines(markdown: str) -> Iterator[str]:
    """Yield each line inside a fence."""
    inside = False
    for line in markdown.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside:
            yield line


def rows(markdown: str) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row of a table."""
    for line in markdown.splitlines():
        if line.startswith("|"):
            yield tuple(_PLAIN.sub(r"\1", cell).strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])


def encrypted(body: bytes) -> bytes:
    """Return the document with a trailer that says it is encrypted by a handler that nobody has."""
    at = body.rindex(b"trailer")
    at = body.index(b"<<", at) + 2
    return body[:at] + b" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (x) /U (y) >> " + body[at:]


def fate(body: bytes) -> str:
    """Return how reading a damaged document ends."""
    try:
        page = webseam.read(body, url=URL, media_type="application/pdf", timeout=120)
    except webseam.WebSeamError as error:
        return f"{error.outcome}: {error.detail}"
    said = "; ".join(page.notes)
    return f"{page.outcome}, {page.tokens:,} tokens, truncated {page.truncated}: {said}"


if __name__ == "__main__":
    main()
