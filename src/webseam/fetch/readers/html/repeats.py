"""What the cards of a list say one like the other: "Quick view", "Add to cart", "Error. Try again." Once is enough.

Only for pages that are no article and no documentation: there the same words again may mean something every time.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from webseam.fetch.readers.html.measure import is_in_code
from webseam.fetch.readers.html.survey import TAG_BITS, Survey

_TIMES: Final = 6  # from which the same words are furniture
_LONG: Final = 8  # words; a longer text that is there again was written to be
_MEANT: Final = (
    TAG_BITS["pre"] | TAG_BITS["td"] | TAG_BITS["th"] | TAG_BITS["dt"] | TAG_BITS["dd"] | TAG_BITS["h1"]
)  # the cells of a table are alike because what they tell is


def remove_repeated(surveyed: Survey, removed: Counter[str]) -> None:
    """Take out the blocks whose words stand there again and again, all but the first."""
    told = [
        " ".join(block.text.split()).lower() if block.words <= _LONG and not block.box.tags & _MEANT else ""
        for block in surveyed.blocks
    ]
    times = Counter(told)
    seen: set[str] = set()
    for text, block in zip(told, surveyed.blocks, strict=True):
        if not text or times[text] < _TIMES or any(map(is_in_code, block.nodes)):
            continue
        if text in seen:
            removed["repeated"] += 1
            for node in block.nodes:
                node.extract()
        seen.add(text)
