"""How well and how fast pages become Markdown, beside four other ways to do it, in one run.

    python bench/extraction.py --data DIR [--every N] [--without TOOL]…

DIR has `aeb` (articles with their text), `wcxb` (pages of seven kinds with their text) and `docgen` (one known page as
several generators of documentation print it). Text is compared without Markdown's own signs, pictures and the first
heading, for everyone alike: F1 of four-word shingles over the set for `aeb`, mean F1 of words for `wcxb`. Code counts
when every line of a block came through; a language, a heading or a table row when it is the source's. Of the pages of
`wcxb` with code or tables, what counts is the part of the source that the page's known text holds. Code is compared
as a reader sees it: without the numbers of lines that stand in it, each line that is a box of its own on its own line,
any space a space, and without white space at the end of a line. Of a heading or a row the letters are compared, after
the Markdown of links, pictures, escapes and line breaks is taken off: whoever keeps a link loses no row by it.
Times are of the processor, per page, with pages in turn so that all suffer the same neighbours. Quote the ratios.
mcp-server-fetch converts through Node where there is one (readabilipy fetches its packages from npm the first time),
and in Python otherwise; the time of its processes counts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import re
import resource
import statistics
import sys
import textwrap
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbohtml import Element

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

SHINGLE = 4  # words
Tool = Callable[[bytes, str], str]

_WORD = re.compile(r"\w+")
_PICTURE = re.compile(r"\[image: [^\[\]]*\]\([^()\s]*\)|!\[[^\[\]]*\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_BREAK = re.compile(r"<br ?/?>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FIRST_HEADING = re.compile(r"\A\s*# .*\n")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-)?|brush:\s*)(?!none|default|text|plain)([\w+#-]+)"
)
_FENCE = re.compile(r"^(?P<indent>[ >]*)(?P<mark>```+|~~~+)[ ]*(?P<language>[^\s`{]*)")
_HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)?$")


@dataclass(frozen=True)
class Page:
    """One page with its truth: `kind` is `aeb`, a type of `wcxb`, or `docgen`."""

    kind: str
    name: str
    url: str
    body: bytes
    text: str


@dataclass
class Score:
    """What one tool made of all pages."""

    shingles: list[tuple[float, float]] = field(default_factory=list)  # precision and recall
    words: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # type of page -> F1
    counts: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)  # seconds


def tools() -> dict[str, Tool]:
    """Return what is compared, ours first."""
    import html_to_markdown
    import markdownify
    import readability
    import trafilatura
    from mcp_server_fetch.server import extract_content_from_html

    from webseam.fetch.readers import html
    from webseam.fetch.types import Source, Unreadable

    warnings.filterwarnings("ignore", module="readabilipy")  # that it does without Node
    for name in ("trafilatura", "readability"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    def ours(body: bytes, url: str) -> str:
        try:
            return html.read(Source(body=body, url=url, media_type="text/html", charset="utf-8")).markdown
        except Unreadable:
            return ""

    def by_trafilatura(body: bytes, url: str) -> str:
        return trafilatura.extract(body.decode(), url=url, output_format="markdown") or ""

    # Its best for text: no front matter, and the strongest of its ways to leave out what is around.
    strongest = html_to_markdown.ConversionOptions(
        extract_metadata=False, preprocessing=html_to_markdown.PreprocessingOptions(preset="aggressive")
    )

    def by_html_to_markdown(body: bytes, url: str) -> str:
        return html_to_markdown.convert(body.decode(), strongest).content or ""

    def by_readability(body: bytes, url: str) -> str:
        summary = readability.Document(body.decode(), url=url).summary()
        return markdownify.markdownify(summary, heading_style="ATX")

    def by_mcp_server_fetch(body: bytes, url: str) -> str:
        found = extract_content_from_html(body.decode())
        return "" if found.startswith("<error>") else found

    return {
        "webseam": ours,
        "trafilatura": by_trafilatura,
        "html-to-markdown": by_html_to_markdown,
        "readability+markdownify": by_readability,
        "mcp-server-fetch": by_mcp_server_fetch,
    }


def pages(data: Path) -> Iterator[Page]:
    truth = json.loads((data / "aeb/ground-truth.json").read_text("utf-8"))
    for name, item in sorted(truth.items()):
        yield Page("aeb", name, item.get("url", ""), _html(data / f"aeb/html/{name}.html.gz"), item["articleBody"])
    for path in sorted((data / "wcxb/ground-truth").glob("*.json")):
        item = json.loads(path.read_text("utf-8"))
        kind = item["_internal"]["page_type"]["primary"]
        text = item["ground_truth"].get("main_content") or ""
        yield Page(kind, path.stem, item.get("url", ""), _html(data / f"wcxb/html/{path.stem}.html.gz"), text)
    source = (data / "docgen/src/index.md").read_text("utf-8")
    for path in sorted((data / "docgen").glob("out_*/index.html")):
        name = path.parent.name.removeprefix("out_")
        yield Page("docgen", name, "https://docs.example.org/widget/", path.read_bytes(), source)


def _html(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace").encode()


def plain(markdown: str) -> str:
    """Return the words of `markdown`, without its signs, pictures, addresses and first heading."""
    return _bare(_FIRST_HEADING.sub("", markdown))


def _bare(markdown: str) -> str:
    text = _LINK.sub(r"\1", _PICTURE.sub("", _ESCAPE.sub(_hide, markdown)))
    return _BREAK.sub(" ", text).translate(_HIDDEN)


def _hide(escaped: re.Match[str]) -> str:
    """Return a sign that is none of Markdown's, so that an escaped bracket is not taken for one of a link."""
    return chr(_PRIVATE + ord(escaped[1]))


_PRIVATE = 0xE000
_HIDDEN = {_PRIVATE + code: code for code in range(128)}


def shingle_score(found: str, truth: str) -> tuple[float, float]:
    """Return precision and recall of the shingles of words."""
    ours, theirs = _shingles(found), _shingles(truth)
    both = sum((ours & theirs).values())
    return both / (sum(ours.values()) or 1), both / (sum(theirs.values()) or 1)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1)) if words)


def word_score(found: str, truth: str) -> float:
    """Return F1 of the words, in lower case, as often as they stand there."""
    ours, theirs = Counter(_WORD.findall(found.lower())), Counter(_WORD.findall(truth.lower()))
    both = (ours & theirs).total()
    if not both:
        return float(not ours and not theirs)
    return 2 * both / (ours.total() + theirs.total())


def code_blocks(markdown: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of `markdown`: language and lines, without the indentation of what they stand in."""
    blocks: list[tuple[str, str]] = []
    lines: list[str] = []
    fence: re.Match[str] | None = None
    for line in markdown.splitlines():
        if fence is None:
            fence = _FENCE.match(line)
            lines = []
        elif line.strip(" >").startswith(fence["mark"]) and not line.strip(" >").strip(fence["mark"][0]):
            blocks.append((fence["language"].lower(), _lines(lines)))
            fence = None
        else:
            lines.append(line.removeprefix(fence["indent"]))
    return blocks


def _lines(lines: Iterable[str]) -> str:
    return textwrap.dedent("\n".join(line.replace("\xa0", " ").rstrip() for line in lines)).strip("\n")


def count_structure(page: Page, markdown: str, counts: Counter[str]) -> None:
    """Count code, languages, headings and table rows of a page whose Markdown source is known."""
    found = code_blocks(markdown)
    for language, lines in code_blocks(page.text):
        counts["code of"] += 1
        counts["languages of"] += 1
        counts["code"] += any(lines == other for _, other in found)
        counts["languages"] += any(lines == other and language == tag for tag, other in found)
    mine = markdown.splitlines()
    headings = {_label(match[1]) for line in mine if (match := _HEADING.match(line.strip()))}
    rows = {_label(line) for line in mine if line.strip().startswith("|")}
    for line in page.text.splitlines():
        if match := _HEADING.match(line):
            counts["headings of"] += 1
            counts["headings"] += _label(match[1]) in headings
        elif line.startswith("|") and "---" not in line:
            counts["table rows of"] += 1
            counts["table rows"] += _label(line) in rows


def _label(text: str) -> str:
    """Return the letters of a line of Markdown or of a text, in lower case."""
    return "".join(_WORD.findall(_bare(text))).replace("_", "").lower()


def count_source(page: Page, markdown: str, counts: Counter[str]) -> None:
    """Count code, languages, headings and table rows of a real page, as far as its truth has them."""
    import turbohtml

    document = turbohtml.parse(page.body.decode())
    truth = _label(page.text)
    codes = [
        (block, lines)
        for block, before in [(block, _label(block.text)) for block in document.select("pre")]
        if "\n" in (lines := _seen(block)) and (before in truth or _label(lines) in truth)
    ]
    rows = [label for label in map(_row, document.select("table:not(:has(table, pre)) tr")) if label and label in truth]
    if not codes and not rows:
        return
    found = code_blocks(markdown)
    for block, lines in codes:
        counts["real code of"] += 1
        counts["real code"] += any(lines == other for _, other in found)
        language = _stated_language(block)
        if language:
            counts["real languages of"] += 1
            counts["real languages"] += any(lines == other and tag for tag, other in found)
    mine = markdown.splitlines()
    my_rows = {_label(line) for line in mine if line.strip().startswith("|")}
    counts["real table rows of"] += len(rows)
    counts["real table rows"] += sum(row in my_rows for row in rows)
    my_headings = {_label(match[1]) for line in mine if (match := _HEADING.match(line.strip()))}
    lines_of_truth = {_label(line) for line in page.text.splitlines()}
    for heading in document.select("h2, h3, h4, h5, h6"):
        label = _label(heading.text)
        if label and label in lines_of_truth:
            counts["real headings of"] += 1
            counts["real headings"] += label in my_headings


def _seen(block: Element) -> str:
    """Return the code of a block as it is seen: without numbers of lines, and each line that is a box on its own."""
    from turbohtml import Text

    for line in block.select(".gatsby-highlight-code-line"):
        follower = line.next_sibling
        if follower is not None and not follower.text.startswith("\n"):
            line.insert_after(Text("\n"))
    lines = block.text.splitlines()
    numbers = [str(number) for number in range(1, len(lines) + 1)]
    if len(lines) > 1 and all(map(str.startswith, lines, numbers)):
        lines = list(map(str.removeprefix, lines, numbers))
    return _lines(lines)


def _row(row: Element) -> str:
    """Return the letters of a row of two cells and more; "" for one that holds a layout together."""
    cells = row.select("td, th")
    return _label(" ".join(cell.text for cell in cells)) if len(cells) > 1 else ""


def _stated_language(block: Element) -> str:
    """Return the language that a block's classes state, on itself, its code or right around it."""
    around = [block, *block.select("code")[:1], *list(block.ancestors)[:3]]
    for element in around:
        if match := _LANGUAGE.search(element.attr("class") or "" if hasattr(element, "attr") else ""):
            return match[1].lower()
    return ""


def measure(data: Path, *, every: int = 1, without: Iterable[str] = ()) -> dict[str, Score]:
    everyone = {name: tool for name, tool in tools().items() if name not in without}
    scores = {name: Score() for name in everyone}
    for page in list(pages(data))[::every]:
        for name, tool in everyone.items():
            score = scores[name]
            started = _clock()
            try:
                markdown = tool(page.body, page.url)
            except Exception as problem:  # noqa: BLE001  # a peer that fails on a page has read nothing of it
                print(f"{name} failed on {page.name[:12]}: {problem!r:.100}", file=sys.stderr)
                markdown = ""
            took = _clock() - started
            score.took.append(took)
            if page.kind == "aeb":
                score.shingles.append(shingle_score(plain(markdown), page.text))
            elif page.kind == "docgen":
                count_structure(page, markdown, score.counts)
            else:
                score.words[page.kind].append(word_score(plain(markdown), page.text))
                count_source(page, markdown, score.counts)
    return scores


_COUNTED = ("code", "languages", "headings", "table rows")
_GOALS: dict[str, tuple[float, Callable[[Score], float]]] = {  # what this is measured for
    "aeb F1": (0.96, lambda score: _shingle_f1(score)),
    "wcxb F1": (0.86, lambda score: _word_f1(score)),
    "wcxb documentation F1": (0.94, lambda score: statistics.fmean(score.words["documentation"])),
    "wcxb forum F1": (0.80, lambda score: statistics.fmean(score.words["forum"])),
    "code verbatim": (0.97, lambda score: _share(score, "code")),
    "languages": (0.95, lambda score: _share(score, "languages")),
    "table rows": (0.95, lambda score: _share(score, "table rows")),
    "8 ms / p50": (1.0, lambda score: 8e-3 / statistics.median(score.took)),
}


def _clock() -> float:
    """Return the seconds of processor that this process and the ones it waited for have used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def report(scores: dict[str, Score]) -> None:
    names = list(scores)
    print(f"{'':<22}" + "".join(f"{name:>26}" for name in names))
    first = scores[names[0]]

    def row(title: str, value: Callable[[Score], float], form: str = ".3f") -> None:
        ours = value(first)
        cells = (
            f"{value(score):{form}}" + (f" ({value(score) / ours:.2f}x)" if ours else "") for score in scores.values()
        )
        print(f"{title:<22}" + "".join(f"{cell:>26}" for cell in cells))

    if first.shingles:
        row("aeb F1", _shingle_f1)
    if first.words:
        row("wcxb F1", _word_f1)
    for kind in sorted(first.words):
        row(f"  {kind}", lambda score, kind=kind: statistics.fmean(score.words[kind]))  # type: ignore[misc]
    for name in (*_COUNTED, *(f"real {name}" for name in _COUNTED)):
        of = first.counts[f"{name} of"]
        if of:
            row(f"{name} /{of}", lambda score, name=name: score.counts[name], "d")  # type: ignore[misc]
    row("ms p50", lambda score: statistics.median(score.took) * 1e3, ".1f")
    row("ms p95", lambda score: statistics.quantiles(score.took, n=20)[-1] * 1e3, ".1f")
    row("ms mean", lambda score: statistics.fmean(score.took) * 1e3, ".1f")
    print("\ngoals of webseam (code, languages and rows of docgen and wcxb together)")
    for title, (goal, value) in _GOALS.items():
        try:
            reached = value(first)
        except (ZeroDivisionError, statistics.StatisticsError):
            continue  # not among the pages of this run
        print(f"{title:<26}{reached:>8.3f} of {goal:.2f}  {'met' if reached >= goal else 'missed'}")


def _share(score: Score, name: str) -> float:
    """Return how much of what `name` counts came through, on made and real pages together."""
    of = score.counts[f"{name} of"] + score.counts[f"real {name} of"]
    return (score.counts[name] + score.counts[f"real {name}"]) / of


def _word_f1(score: Score) -> float:
    return statistics.fmean(x for found in score.words.values() for x in found)


def _shingle_f1(score: Score) -> float:
    precision = statistics.fmean(precision for precision, _ in score.shingles)
    recall = statistics.fmean(recall for _, recall in score.shingles)
    return 2 * precision * recall / (precision + recall or 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth page, for a quick look")
    parser.add_argument(
        "--without", action="append", default=[], metavar="TOOL", help="leave one out: Node takes its time"
    )
    options = parser.parse_args()
    report(measure(options.data, every=options.every, without=options.without))


if __name__ == "__main__":
    main()
