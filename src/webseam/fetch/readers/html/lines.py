"""Blocks of Markdown written line by line under the prefixes of the containers they are in: list items, quotes, notes.

A nesting of containers costs a prefix on every line, so hostile depth would cost the square of the page; below
`MAX_CONTAINERS` the blocks are written flat. Knows nothing of HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_CONTAINERS: Final = 16  # nobody reads a list that deep; the prefix of every line stays short


@dataclass(slots=True)
class _Container:
    first: str
    rest: str
    is_item: bool
    tight: bool  # no blank line before its first block
    is_pending: bool = True  # nothing written inside yet, so `first` is still to come
    blocks: int = 0  # blocks directly inside; nested lists do not count


class Lines:
    """The Markdown so far, and the containers that are open."""

    def __init__(self) -> None:
        self.anchors: dict[str, int] = {}
        self._written: list[str] = []
        self._length = 0
        self._containers: list[_Container] = []
        self._too_deep = 0
        self._waiting: list[str] = []

    def markdown(self) -> str:
        """Return what was written; it ends with one newline unless it is empty."""
        return "".join(self._written)

    @property
    def is_empty(self) -> bool:
        return not self._written

    def anchor(self, name: str) -> None:
        """Remember that a fragment leads to the next block."""
        self._waiting.append(name)

    def open(self, first: str, rest: str, *, is_item: bool = False, tight: bool = False) -> None:
        """Open a container: `first` goes before its first line, `rest` before all others."""
        if len(self._containers) >= MAX_CONTAINERS:
            self._too_deep += 1
        else:
            self._containers.append(_Container(first, rest, is_item, tight))

    def close(self) -> bool:
        """Close the innermost container; True when it is an item of more than one block, which wants room."""
        if self._too_deep:
            self._too_deep -= 1
            return False
        closed = self._containers.pop()
        if self._containers and not closed.is_item and not closed.is_pending:
            self._containers[-1].blocks += 1
        return closed.blocks > 1

    def is_under_item_text(self) -> bool:
        """True right inside a list item that has one block so far: a nested list follows it without a blank line."""
        inner = self._containers[-1] if self._containers else None
        return inner is not None and inner.is_item and inner.blocks == 1

    def block(self, text: str) -> None:
        """Write one block. Lines of `text` are kept as they are, so code may end in spaces."""
        if not self._containers:  # most blocks
            if self._written:
                self._put("")
            self._anchor_here()
            self._put(text)
            return
        tight = False
        for container in self._containers:
            if container.is_pending:
                tight = container.tight
                break
        if self._written and not tight:
            self._put("".join(item.rest for item in self._containers if not item.is_pending).rstrip())
        self._anchor_here()
        head = "".join(item.first if item.is_pending else item.rest for item in self._containers)
        rest = "".join(item.rest for item in self._containers)
        # In code every line has the same marks before it, so that who cuts them off gets the code.
        is_code = text.startswith("```") and ">" in rest
        empty = rest if is_code else rest.rstrip()
        for number, line in enumerate(text.split("\n")):
            self._put((rest if number else head) + line if line else (empty if number else head.rstrip()))
        for container in self._containers:
            container.is_pending = False
        if self._containers:
            self._containers[-1].blocks += 1

    def _anchor_here(self) -> None:
        for name in self._waiting:
            self.anchors.setdefault(name, self._length)
        self._waiting.clear()

    def _put(self, line: str) -> None:
        self._written.append(line + "\n")
        self._length += len(line) + 1
