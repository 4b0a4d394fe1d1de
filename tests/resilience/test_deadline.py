import time

from webseam.resilience.deadline import NEVER, Deadline


def test_a_deadline_counts_down_on_the_monotonic_clock() -> None:
    before = time.monotonic()
    deadline = Deadline.after(100)
    after = time.monotonic()
    assert before + 100 <= deadline.at <= after + 100
    assert 99 < deadline.remaining() <= 100
    assert not deadline.expired


def test_a_passed_deadline_has_nothing_left_rather_than_less_than_nothing() -> None:
    deadline = Deadline(time.monotonic() - 5)
    assert deadline.expired
    assert deadline.remaining() == 0.0


def test_a_step_gets_its_share_of_the_time_but_never_more_than_is_left() -> None:
    whole = Deadline.after(100)
    assert whole.sooner(1_000) == whole
    assert whole.sooner(10) < whole
    assert 9 < whole.sooner(10).remaining() <= 10


def test_never_is_later_than_any_deadline() -> None:
    assert Deadline.after(10**9) < NEVER
    assert not NEVER.expired
