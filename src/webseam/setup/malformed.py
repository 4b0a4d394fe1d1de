"""Why a file of a client cannot be changed. Apart from the editors, which raise it, and the plans, which explain it."""

from __future__ import annotations


class Malformed(Exception):
    """The file is not what its name says.

    Attributes:
        line, column: where, from 1; 0 when that is not known.
        problem: what is wrong, without the place.
    """

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


class Unfit(Exception):
    """The file is right, but written in a way that this editor would not leave as it is. Says which."""


def place(text: str, at: int) -> tuple[int, int]:
    """Return line and column, from 1, of a character."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
