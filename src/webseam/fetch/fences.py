"""Fenced code blocks: every reader and every site writes code that the code itself must not be able to end."""

from __future__ import annotations

import re

_BACKTICKS = re.compile("`{3,}")


def fenced(code: str, label: str = "") -> str:
    """Return `code` as it is between fences longer than any run of backticks inside; no line end after the last."""
    fence = "`" * max((len(run) + 1 for run in _BACKTICKS.findall(code)), default=3)
    return f"{fence}{label}\n{code}\n{fence}"
