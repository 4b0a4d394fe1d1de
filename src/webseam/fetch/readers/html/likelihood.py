"""How likely a block is to be of the article: a logistic function of its features, with the weights written out here.

The weights were fitted to pages whose text is known, each page counting the same; `bench/weights.py` prints them anew.
A positive one speaks for the article. They are data: change them by fitting, not by hand.
"""

from __future__ import annotations

from math import exp
from operator import mul
from typing import Final

from webseam.fetch.readers.html.features import NAMES

WEIGHTS: Final[dict[str, float]] = {
    "bias": 0.3,
    "long": 0.03,
    "1 to 3 words": -0.68,
    "4 to 8 words": -0.04,
    "20 words and more": 0.33,
    "40 words and more": -0.1,
    "linked": -2.1,
    "linked and short": 1.37,
    "all linked": 0.32,
    "stops": -0.42,
    "ends like a sentence": 1.13,
    "characters a word": -0.3,
    "h1": -3.74,
    "heading": 0.33,
    "paragraph": -0.16,
    "item": 0.25,
    "cell": 2.77,
    "code": 4.77,
    "quote": 3.94,
    "figure": -2.37,
    "form": -3.9,
    "header": -4.62,
    "footer": 0.0,
    "aside": -1.64,
    "details": 0.0,
    "article": 0.07,
    "in a link": 0.0,
    "near title": -0.27,
    "near byline": -2.36,
    "near share": -3.12,
    "near related": -1.94,
    "near card": -0.21,
    "near comment": -1.79,
    "near review": -0.19,
    "near offer": 2.34,
    "near price": 1.21,
    "near control": -0.41,
    "near footer": 0.65,
    "near text": 0.21,
    "near picture": -1.83,
    "near notice": -0.02,
    "near side": 1.04,
    "within title": 0.38,
    "within byline": -0.08,
    "within share": -2.92,
    "within related": 1.0,
    "within card": -0.14,
    "within comment": -0.27,
    "within review": -0.02,
    "within offer": -0.11,
    "within price": 0.56,
    "within control": -0.39,
    "within footer": -0.55,
    "within text": 0.24,
    "within picture": 0.24,
    "within notice": -1.07,
    "within side": -0.31,
    "prose before": -1.73,
    "prose after": -0.64,
    "no prose before": -1.01,
    "no prose after": -1.15,
    "long neighbours": 0.51,
    "linked neighbours": 0.44,
    "before h1": -2.44,
    "far after prose": 0.24,
    "far before prose": 0.33,
    "box linked": 0.16,
    "box short": 0.84,
    "box prose": 0.47,
    "box prose of the most": 2.0,
    "in a teaser": -0.28,
    "outer prose": 0.85,
    "outer linked": -0.48,
    "outermost prose": 0.32,
    "place": -0.65,
    "half share": 1.88,
    "half linked": -2.26,
    "half short": -0.05,
    "figure text": -0.77,
    "section share": 0.89,
    "section linked": -0.37,
    "section short": 1.11,
    "among cards": 0.77,
    "cards linked": -0.11,
    "again": -0.2,
    "page long": -0.24,
    "page prose": -0.86,
    "page linked": -0.48,
}
_VECTOR: Final = [WEIGHTS[name] for name in NAMES]
_STEEP: Final = 30.0  # beyond, the function is 0 or 1


def likelihoods(rows: list[list[float]]) -> list[float]:
    """Return the likelihood of each block, 0 to 1, from its row of `features_of`."""
    sums = (sum(map(mul, _VECTOR, row)) for row in rows)
    return [1.0 / (1.0 + exp(-max(-_STEEP, min(_STEEP, total)))) for total in sums]
