"""The guard against calls in a loop."""

from __future__ import annotations

import pytest

from webseam.tools.definitions import TOOLS
from webseam.tools.repeats import Repeats, remark


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_equal_calls_are_counted_and_others_are_not() -> None:
    repeats = Repeats(Clock())
    assert [
        repeats.count("web_search", {"query": "a b"}),
        repeats.count("web_search", {"query": "a b", "count": 3}),
        repeats.count("web_fetch", {"url": "a b"}),
        repeats.count("web_search", {"query": "B  a", "timeout": 9.0}),  # the same words, and the time is no matter
        repeats.count("web_search", {"query": "a b"}),
    ] == [1, 1, 1, 2, 3]


def test_what_was_asked_long_ago_may_be_asked_again() -> None:
    clock = Clock()
    repeats = Repeats(clock)
    repeats.count("web_search", {"query": "q"})
    clock.now += 601
    assert repeats.count("web_search", {"query": "q"}) == 1


def test_only_so_many_calls_are_remembered() -> None:
    repeats = Repeats(Clock())
    for number in range(257):
        repeats.count("web_search", {"query": f"q{number}"})
    assert [repeats.count("web_search", {"query": query}) for query in ("q256", "q0")] == [2, 1]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        pytest.param(1, "", id="first"),
        pytest.param(
            2,
            "This same call was made once before in the last minutes and asking again changes nothing. Next: read a hit"
            " with web_fetch, search with other words or filters, or answer with what you have.",
            id="second",
        ),
        pytest.param(
            6,
            "This same call was made 5 times before in the last minutes and asking again changes nothing. Next: read a"
            " hit with web_fetch, search with other words or filters, or answer with what you have.",
            id="sixth",
        ),
    ],
)
def test_a_model_is_told_how_often_and_what_else_it_can_do(count: int, said: str) -> None:
    assert remark("web_search", count) == said


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_another_move(tool: object) -> None:
    assert "Next: " in remark(tool.name, 2)  # type: ignore[attr-defined]
