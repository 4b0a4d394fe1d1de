"""Fit the weights that tell an article from what stands around it, and print them.

    python bench/weights.py --data DIR [--half 0|1]

DIR is that of `bench/extraction.py`. A block is of the article when the known text of its page holds its letters, at
a place that goes with its neighbours. Logistic regression by stochastic gradient descent with Adagrad (Duchi et al.,
2011), one page a step, each page counting the same. `--half` fits on every other page, so that the rest can judge.
The weights are printed as the table in `webseam.fetch.readers.html.likelihood`.
"""

from __future__ import annotations

import argparse
import random
import sys
import zlib
from collections.abc import Iterator
from math import exp, sqrt
from operator import mul
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from extraction import Page, _label, pages

EPOCHS = 120
RATE = 0.25
DECAY = 1e-5  # of the weights, a step
ANCHOR = 25  # letters from which a block is found wherever it stands
WINDOW = 400  # letters around its neighbours in which a short one is looked for
Sample = tuple[list[float], float, float]  # features, 1 for the article, how much it counts


def samples_of(page: Page) -> list[Sample]:
    """Return the blocks of a page that reads like an article; none of any other."""
    import turbohtml

    from webseam.fetch.readers.html.boilerplate import remove_boilerplate
    from webseam.fetch.readers.html.features import features_of
    from webseam.fetch.readers.html.hidden import remove_hidden
    from webseam.fetch.readers.html.measure import names_in
    from webseam.fetch.readers.html.meta import read_meta
    from webseam.fetch.readers.html.platforms import find_platform
    from webseam.fetch.readers.html.select import marked_part
    from webseam.fetch.readers.html.survey import survey
    from webseam.fetch.readers.html.tabs import label_tabs
    from webseam.fetch.readers.html.threads import find_thread

    document = turbohtml.parse(page.body.decode())
    is_article = read_meta(document, page.url).is_article
    label_tabs(document)
    remove_hidden(document)
    body = document.select_one("body")
    names = names_in(document)
    if body is None or not (is_article or page.kind in ("aeb", "article")):
        return []
    if find_platform(document, names) is not None or find_thread(document, names) is not None:
        return []
    remove_boilerplate(body, is_article=is_article)
    surveyed = survey(marked_part(body)[0])
    truth = _label(page.text)
    belongs = _belong([_label(block.text) for block in surveyed.blocks], truth)
    whole = sum(block.words for block in surveyed.blocks) + len(page.text) / 6 + 50
    return [
        (row, float(inside), (block.words + 1) / whole)
        for row, inside, block in zip(features_of(surveyed), belongs, surveyed.blocks, strict=True)
    ]


def _belong(blocks: list[str], truth: str) -> list[bool]:
    """Tell for each block whether the truth holds it; short ones only next to longer ones that it holds."""
    places = [truth.find(letters) if len(letters) >= ANCHOR else -1 for letters in blocks]
    known: list[bool] = []
    end = 0
    for at, letters in enumerate(blocks):
        if len(letters) >= ANCHOR:
            known.append(places[at] >= 0)
            end = places[at] + len(letters) if places[at] >= 0 else end
            continue
        following = next((place for place in places[at:] if place >= end), len(truth))
        low = end if end else max(0, following - WINDOW)
        found = truth.find(letters, max(0, low - 5), min(following, low + WINDOW) + len(letters)) if letters else -1
        known.append(found >= 0)
    return known


def fit(all_samples: list[list[Sample]], size: int) -> list[float]:
    weights, squares = [0.0] * size, [1e-6] * size
    order = random.Random(1)
    for epoch in range(EPOCHS):
        order.shuffle(all_samples)
        for samples in all_samples:
            slope = [0.0] * size
            for row, inside, share in samples:
                total = max(-30.0, min(30.0, sum(map(mul, weights, row))))
                error = (1 / (1 + exp(-total)) - inside) * share
                slope = [old + error * value for old, value in zip(slope, row, strict=True)]
            squares = [old + value * value for old, value in zip(squares, slope, strict=True)]
            weights = [
                old * (1 - DECAY) - RATE * value / sqrt(square)
                for old, value, square in zip(weights, slope, squares, strict=True)
            ]
        print(f"\r{epoch + 1} of {EPOCHS}", end="", file=sys.stderr)
    return weights


def fitted(data: Path, half: int | None) -> Iterator[tuple[str, float]]:
    from webseam.fetch.readers.html.features import NAMES

    chosen = [page for page in pages(data) if half is None or zlib.crc32(page.name.encode()) % 2 == half]
    all_samples = [samples for page in chosen if page.kind != "docgen" and (samples := samples_of(page))]
    yield from zip(NAMES, fit(all_samples, len(NAMES)), strict=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", type=int, choices=(0, 1), help="fit on one half of the pages only")
    options = parser.parse_args()
    for name, weight in fitted(options.data, options.half):
        print(f'    "{name}": {weight:.2f},')


if __name__ == "__main__":
    main()
