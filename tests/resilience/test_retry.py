"""One retry, seldom, and what Retry-After means (rows 63 and 65 of the fault table)."""

import asyncio
import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resilience.world import NOON
from webseam.errors import Outcome, ProviderError, WebSeamError
from webseam.resilience.deadline import NEVER, Deadline
from webseam.resilience.retry import RETRY_AFTER_MOST, RetryBudget, parse_retry_after, retrying


class Upstream:
    """A service that fails as scripted, and counts its calls."""

    def __init__(self, *failures: BaseException | None) -> None:
        self.failures = list(failures)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.failures and (error := self.failures.pop(0)) is not None:
            raise error
        return f"answer {self.calls}"


def failure(outcome: Outcome = Outcome.UPSTREAM) -> ProviderError:
    return ProviderError("exa said no", outcome=outcome, provider="exa", http_status=503)


def passing(error: WebSeamError) -> bool:
    return error.outcome is Outcome.UPSTREAM


async def attempt(upstream: Upstream, *, deadline: Deadline = NEVER, budget: RetryBudget | None = None) -> str:
    return await retrying(upstream, deadline=deadline, budget=budget or RetryBudget(), delay=0.0, worth=passing)


async def test_a_call_that_succeeds_is_made_once() -> None:
    upstream = Upstream()
    assert await attempt(upstream) == "answer 1"
    assert upstream.calls == 1


async def test_a_passing_failure_is_tried_once_more() -> None:
    upstream = Upstream(failure())
    assert await attempt(upstream) == "answer 2"


async def test_the_second_failure_is_final_and_is_the_one_raised() -> None:
    second = failure()
    upstream = Upstream(failure(), second)
    with pytest.raises(ProviderError) as caught:
        await attempt(upstream)
    assert caught.value is second
    assert upstream.calls == 2


@pytest.mark.parametrize("outcome", [Outcome.RATE_LIMITED, Outcome.QUOTA, Outcome.AUTH, Outcome.TIMEOUT])
async def test_a_failure_that_is_not_worth_it_is_not_retried(outcome: Outcome) -> None:
    upstream = Upstream(failure(outcome))
    with pytest.raises(ProviderError):
        await attempt(upstream)
    assert upstream.calls == 1


async def test_an_error_that_is_not_ours_is_not_retried() -> None:
    upstream = Upstream(ValueError("a bug"))
    with pytest.raises(ValueError, match="a bug"):
        await attempt(upstream)
    assert upstream.calls == 1


async def test_there_is_no_retry_when_the_deadline_comes_before_it() -> None:
    upstream = Upstream(failure())
    with pytest.raises(ProviderError):
        await retrying(upstream, deadline=Deadline.after(100), budget=RetryBudget(), delay=101, worth=passing)
    assert upstream.calls == 1


async def test_cancelling_during_the_pause_makes_no_further_call() -> None:
    upstream = Upstream(failure())
    budget = RetryBudget()
    task = asyncio.create_task(retrying(upstream, deadline=NEVER, budget=budget, delay=1_000, worth=passing))
    for _ in range(5):
        await asyncio.sleep(0)
    assert upstream.calls == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert upstream.calls == 1


async def test_cancelling_the_call_itself_is_not_a_failure_to_retry() -> None:
    upstream = Upstream(asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await attempt(upstream)
    assert upstream.calls == 1


async def test_an_upstream_that_fails_half_of_the_time_sees_at_most_a_tenth_more_load() -> None:
    chance, budget, calls, answered = random.Random(65), RetryBudget(), 0, 0
    for number in range(1, 1_001):
        upstream = Upstream(*(failure() if chance.random() < 0.5 else None for _ in range(2)))
        try:
            await attempt(upstream, budget=budget)
            answered += 1
        except ProviderError:
            pass
        calls += upstream.calls
        assert calls <= max(number + 1, 1.1 * number)
    assert 1_050 < calls <= 1_100
    assert answered > 500


def test_a_fresh_budget_allows_one_retry_and_ten_calls_pay_it_back() -> None:
    budget = RetryBudget()
    assert [budget.spend(), budget.spend()] == [True, False]
    for _ in range(19):
        budget.call()
    assert not budget.spend()
    budget.call()
    assert [budget.spend(), budget.spend()] == [True, False]


def test_a_long_good_time_saves_up_ten_retries_and_no_more() -> None:
    budget = RetryBudget()
    for _ in range(10_000):
        budget.call()
    assert [budget.spend() for _ in range(12)] == [True] * 10 + [False] * 2


@given(st.lists(st.booleans(), max_size=400))
def test_retries_never_exceed_a_tenth_of_the_calls(wishes: list[bool]) -> None:
    budget, retries = RetryBudget(), 0
    for calls, wish in enumerate(wishes, 1):
        budget.call()
        retries += wish and budget.spend()
        assert retries <= max(1, calls / 10)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        pytest.param("0", 0.0, id="zero"),
        pytest.param("120", 120.0, id="two minutes"),
        pytest.param(" 7 ", 7.0, id="space around"),
        pytest.param("0000000007", 7.0, id="leading zeros"),
        pytest.param("999999", 3600.0, id="eleven days"),
        pytest.param("9" * 5_000, 3600.0, id="five thousand digits"),
        pytest.param("Fri, 15 Jan 2027 08:01:00 GMT", 60.0, id="a date"),
        pytest.param("Friday, 15-Jan-27 08:01:00 GMT", 60.0, id="a date as in RFC 850"),
        pytest.param("Fri Jan 15 08:01:00 2027", 60.0, id="a date as of asctime"),
        pytest.param("Sat Jan  2 08:00:00 2027", None, id="an asctime date in the past, one-digit day"),
        pytest.param("Thu, 31 Dec 2099 23:59:60 GMT", 3600.0, id="a leap second in 2099"),
        pytest.param("Thu, 01 Jan 2099 00:00:00 GMT", 3600.0, id="a date in 2099"),
        pytest.param("Sunday, 06-Nov-94 08:49:37 GMT", None, id="two digits that mean 1994"),
        pytest.param("Friday, 06-Nov-76 08:49:37 GMT", 3600.0, id="two digits that mean 2076"),
        pytest.param("Thu, 01 Jan 1970 00:00:00 GMT", None, id="a date in the past"),
        pytest.param("Fri, 15 Jan 2027 08:00:00 GMT", None, id="this very moment"),
        pytest.param("Tue, 30 Feb 2027 08:00:00 GMT", None, id="a day that is not"),
        pytest.param("Fri, 15 Jan 2027 25:00:00 GMT", None, id="an hour that is not"),
        pytest.param("Fri, 15 Jan 2027 09:00:61 GMT", None, id="a second that is not"),
        pytest.param("Fri, 01 Jan 0000 08:01:00 GMT", None, id="the year 0"),
        pytest.param("Fri, 15 Jan 2027 08:01:00 CET", None, id="another zone"),
        pytest.param("-5", None, id="negative"),
        pytest.param("+5", None, id="a sign"),
        pytest.param("1.5", None, id="a fraction"),
        pytest.param("1e9", None, id="an exponent"),
        pytest.param("٣", None, id="a digit of another script"),
        pytest.param("soon", None, id="a word"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="absent"),
    ],
)
def test_retry_after_is_read_as_the_standard_says_and_nonsense_is_nothing(
    value: str | None, seconds: float | None
) -> None:
    assert datetime.fromtimestamp(NOON, UTC) == datetime(2027, 1, 15, 8, tzinfo=UTC)
    assert parse_retry_after(value, now=NOON) == seconds


@given(st.text() | st.integers().map(str) | st.datetimes().map(lambda at: at.strftime("%a, %d %b %Y %H:%M:%S GMT")))
def test_whatever_stands_in_retry_after_the_result_is_within_the_hour(value: str) -> None:
    seconds = parse_retry_after(value, now=NOON)
    assert seconds is None or 0 <= seconds <= RETRY_AFTER_MOST
