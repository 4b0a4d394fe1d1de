"""Cool-downs, the breaker and its one probe (rows 19, 63 and 64 of the fault table)."""

from pathlib import Path
from typing import Any

import pytest

from tests.resilience.world import NOON, Clock, CountingStore, finish, start, together
from webseam.errors import Outcome
from webseam.resilience.health import HEALTHY, Health, Standing
from webseam.resilience.sqlite import SqliteStore

HOUR = 3600.0
COUNTED = [Outcome.NETWORK, Outcome.TIMEOUT, Outcome.UPSTREAM, Outcome.BAD_RESPONSE]
ANSWERED = [Outcome.OK, Outcome.EMPTY, Outcome.FILTERED]
COOLING = [Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.QUOTA, Outcome.AUTH]
SILENT = [outcome for outcome in Outcome if outcome not in (*COUNTED, *ANSWERED, *COOLING)]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> CountingStore:
    return CountingStore(clock)


@pytest.fixture
def health(store: CountingStore, clock: Clock) -> Health:
    return Health(store, clock=clock)


def fail(health: Health, times: int = 3, identity: str = "") -> None:
    for _ in range(times):
        health.record("exa", identity, Outcome.TIMEOUT, keyless=True, detail="no answer within 15 s")


def test_a_provider_nothing_is_known_of_is_healthy(health: Health) -> None:
    assert health.check("exa", "") == HEALTHY == Standing(True, False, None, None, "")


@pytest.mark.parametrize(
    ("outcome", "keyless", "retry_after", "length"),
    [
        pytest.param(Outcome.BLOCKED, True, None, HOUR, id="blocked"),
        pytest.param(Outcome.BLOCKED, False, 5.0, HOUR, id="blocked follows its own schedule"),
        pytest.param(Outcome.RATE_LIMITED, True, None, 300.0, id="rate limited without a key"),
        pytest.param(Outcome.RATE_LIMITED, False, None, 180.0, id="rate limited with a key"),
        pytest.param(Outcome.RATE_LIMITED, True, 7.5, 7.5, id="Retry-After"),
        pytest.param(Outcome.RATE_LIMITED, False, 900.0, 900.0, id="a long Retry-After"),
        pytest.param(Outcome.RATE_LIMITED, False, 999999.0, HOUR, id="Retry-After of eleven days"),
        pytest.param(Outcome.RATE_LIMITED, False, -5.0, 180.0, id="a negative Retry-After"),
        pytest.param(Outcome.QUOTA, False, None, 6 * HOUR, id="quota"),
        pytest.param(Outcome.QUOTA, False, 10.0, 6 * HOUR, id="quota follows its own schedule"),
        pytest.param(Outcome.AUTH, False, None, 30 * 24 * HOUR, id="auth"),
        pytest.param(Outcome.AUTH, True, None, 300, id="auth where there is no key to change"),
    ],
)
def test_a_cool_down_lasts_as_long_as_its_outcome_asks(
    health: Health, clock: Clock, outcome: Outcome, keyless: bool, retry_after: float | None, length: float
) -> None:
    health.record("exa", "key", outcome, keyless=keyless, retry_after=retry_after, detail="go away")
    clock.now += length - 0.001
    cooling = Standing(False, False, outcome, NOON + length, f"cooling down after {outcome}: go away")
    assert health.check("exa", "key") == cooling
    clock.now += 0.001
    assert health.check("exa", "key") == HEALTHY


def test_retry_after_zero_means_no_cool_down(health: Health) -> None:
    health.record("exa", "", Outcome.RATE_LIMITED, keyless=True, retry_after=0.0)
    assert health.check("exa", "") == HEALTHY


def test_another_key_or_provider_is_not_affected(health: Health) -> None:
    health.record("exa", "old key", Outcome.AUTH, keyless=False)
    assert not health.check("exa", "old key").usable
    assert health.check("exa", "new key") == HEALTHY
    assert health.check("brave", "old key") == HEALTHY


def test_a_shorter_cool_down_does_not_end_a_longer_one(health: Health, clock: Clock) -> None:
    health.record("exa", "", Outcome.BLOCKED, keyless=True)
    clock.now += 10
    health.record("exa", "", Outcome.RATE_LIMITED, keyless=True)
    assert health.check("exa", "") == Standing(False, False, Outcome.BLOCKED, NOON + HOUR, "cooling down after blocked")


@pytest.mark.parametrize("outcome", ANSWERED)
def test_an_answer_clears_cool_downs_and_failures(health: Health, store: CountingStore, outcome: Outcome) -> None:
    health.record("exa", "", Outcome.BLOCKED, keyless=True)
    fail(health)
    health.record("exa", "", outcome, keyless=True)
    assert health.check("exa", "") == HEALTHY
    assert store.find(("health:exa", "")) is None


def test_an_answer_that_was_on_its_way_when_the_cool_down_began_does_not_end_it(health: Health, clock: Clock) -> None:
    began = clock.now
    clock.now += 1
    health.record("exa", "", Outcome.RATE_LIMITED, keyless=True)
    health.record("exa", "", Outcome.OK, keyless=True, began=began)
    assert not health.check("exa", "").usable
    health.record("exa", "", Outcome.OK, keyless=True, began=clock.now)
    assert health.check("exa", "") == HEALTHY


def test_a_healthy_provider_costs_one_read_and_no_write(health: Health, store: CountingStore) -> None:
    health.check("exa", "")
    assert (store.reads, store.writes) == (1, 0)
    for outcome in ANSWERED:
        health.record("exa", "", outcome, keyless=True)
    assert (store.reads, store.writes) == (4, 0)


@pytest.mark.parametrize("outcome", SILENT)
def test_an_outcome_that_says_nothing_about_the_provider_is_not_even_looked_up(
    health: Health, store: CountingStore, outcome: Outcome
) -> None:
    health.record("exa", "", outcome, keyless=True)
    assert (store.reads, store.writes) == (0, 0)


# The breaker


@pytest.mark.parametrize("outcome", COUNTED)
def test_three_failures_in_a_row_open_the_breaker_for_five_minutes(
    health: Health, clock: Clock, outcome: Outcome
) -> None:
    for _ in range(2):
        health.record("exa", "", outcome, keyless=True)
        assert health.check("exa", "") == HEALTHY
    health.record("exa", "", outcome, keyless=True, detail="it said\x1b[2J no")
    reason = f"circuit breaker open after 3 failures in a row, the last {outcome}: it said no"
    clock.now += 299.9
    assert health.check("exa", "") == Standing(False, False, outcome, NOON + 300, reason)
    clock.now += 0.1
    reason = "circuit breaker half-open, this call is the probe"
    assert health.check("exa", "") == Standing(True, True, outcome, None, reason)


@pytest.mark.parametrize("between", [Outcome.OK, Outcome.EMPTY, Outcome.RATE_LIMITED])
def test_failures_with_an_answer_in_between_are_not_in_a_row(health: Health, between: Outcome) -> None:
    fail(health, 2)
    health.record("exa", "", between, keyless=True, retry_after=0.0)
    fail(health, 2)
    assert health.check("exa", "") == HEALTHY


def test_outcomes_that_say_nothing_leave_the_row_of_failures_as_it_is(health: Health) -> None:
    fail(health, 2)
    for outcome in SILENT:
        health.record("exa", "", outcome, keyless=True)
    assert health.check("exa", "") == HEALTHY
    fail(health, 1)
    assert not health.check("exa", "").usable


def test_failures_of_long_ago_are_forgotten(health: Health, clock: Clock) -> None:
    fail(health, 2)
    clock.now += HOUR
    fail(health, 2)
    assert health.check("exa", "") == HEALTHY
    fail(health, 1)
    clock.now += HOUR
    assert health.check("exa", "") == HEALTHY


def test_calls_under_way_when_the_breaker_opened_do_not_hold_it_open(health: Health, clock: Clock) -> None:
    fail(health)
    clock.now += 200
    fail(health)
    assert health.check("exa", "").until == NOON + 300


def test_there_is_one_probe_and_its_success_closes_the_breaker(health: Health, clock: Clock) -> None:
    fail(health)
    clock.now += 300
    assert health.check("exa", "").probe
    second = Standing(False, False, Outcome.TIMEOUT, NOON + 360, "circuit breaker half-open, another call is the probe")
    assert health.check("exa", "") == second
    health.record("exa", "", Outcome.EMPTY, keyless=True)
    assert health.check("exa", "") == HEALTHY


def test_a_probe_that_fails_opens_the_breaker_again(health: Health, clock: Clock) -> None:
    fail(health)
    clock.now += 300
    assert health.check("exa", "").probe
    fail(health, 1)
    assert health.check("exa", "").until == NOON + 600
    clock.now += 300
    assert health.check("exa", "").probe


def test_a_probe_that_is_rate_limited_closes_the_breaker_and_cools_down(health: Health, clock: Clock) -> None:
    fail(health)
    clock.now += 300
    assert health.check("exa", "").probe
    health.record("exa", "", Outcome.RATE_LIMITED, keyless=True)
    assert health.check("exa", "").outcome is Outcome.RATE_LIMITED
    clock.now += 300
    assert health.check("exa", "") == HEALTHY


@pytest.mark.parametrize("how", ["release", "record cancelled"])
def test_a_probe_that_was_cancelled_gives_its_place_back(health: Health, clock: Clock, how: str) -> None:
    fail(health)
    clock.now += 300
    assert health.check("exa", "").probe
    if how == "release":
        health.release("exa", "")
    else:
        health.record("exa", "", Outcome.CANCELLED, keyless=True)
    assert health.check("exa", "").probe


def test_looking_takes_no_probe(health: Health, clock: Clock, store: CountingStore) -> None:
    fail(health)
    clock.now += 300
    before = store.writes
    assert health.look("exa", "").probe
    assert health.look("exa", "").probe
    assert store.writes == before


def test_a_prober_that_dies_blocks_the_others_for_a_minute(health: Health, clock: Clock, store: CountingStore) -> None:
    other = Health(store, clock=clock)
    fail(health)
    clock.now += 300
    assert health.check("exa", "").probe
    clock.now += 59.9
    assert not other.check("exa", "").usable
    clock.now += 0.1
    assert other.check("exa", "").probe
    health.release("exa", "")  # too late: the place is the other's by now
    assert not health.check("exa", "").usable


def test_releasing_what_one_does_not_hold_does_nothing(health: Health, store: CountingStore) -> None:
    health.release("exa", "")
    assert (store.reads, store.writes) == (0, 0)


def test_of_two_who_see_that_a_probe_is_due_one_gets_it(health: Health, clock: Clock, store: CountingStore) -> None:
    other = Health(store, clock=clock)
    fail(health)
    clock.now += 300
    assert health.look("exa", "").probe
    assert other.look("exa", "").probe
    assert [health._claim("exa", "").probe, other._claim("exa", "").probe] == [True, False]


def test_forgetting_a_provider_takes_all_its_keys_and_no_other_provider(health: Health, clock: Clock) -> None:
    for name, key in (("exa", ""), ("exa", "a"), ("exa-free", "")):
        health.record(name, key, Outcome.BLOCKED, keyless=not key)
    fail(health, identity="b")
    clock.now += 300
    assert health.check("exa", "b").probe
    health.forget("exa")
    assert [health.check("exa", key) for key in ("", "a", "b")] == [HEALTHY] * 3
    assert not health.check("exa-free", "").usable


# Clocks and rows that are not to be believed (row 83)


@pytest.mark.parametrize("outcome", [Outcome.BLOCKED, Outcome.RATE_LIMITED, Outcome.AUTH, Outcome.TIMEOUT])
def test_a_clock_set_back_an_hour_does_not_prolong_anything(health: Health, clock: Clock, outcome: Outcome) -> None:
    for _ in range(3):
        health.record("exa", "", outcome, keyless=True)
    clock.now -= HOUR
    assert health.check("exa", "") == HEALTHY


def test_a_part_of_a_row_from_the_future_is_dropped_and_the_rest_is_kept(
    health: Health, clock: Clock, store: CountingStore
) -> None:
    fail(health)
    row = store.get("health:exa", "")
    assert row is not None
    row |= {"cooling": "blocked", "since": NOON + 1000, "until": NOON + 4600, "said": ""}
    row |= {"probe": "other", "probed_at": NOON + 1000}
    store.set("health:exa", "", row, ttl=1000)
    clock.now += 300
    assert health.check("exa", "").probe


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"cooling": 7}, id="a number for a word"),
        pytest.param({"cooling": "sulking", "since": NOON, "until": NOON + 9}, id="an unknown outcome"),
        pytest.param({"cooling": "blocked", "since": NOON, "until": None}, id="null for a time"),
        pytest.param({"cooling": "blocked", "since": NOON, "until": "soon"}, id="a word for a time"),
        pytest.param({"failures": 3, "failed_at": NOON}, id="failures of no kind"),
        pytest.param({"failures": 3.0, "failed_at": NOON, "failure": "timeout"}, id="a fraction of failures"),
        pytest.param({"mood": None}, id="an unknown field"),
        pytest.param({}, id="empty"),
    ],
)
def test_a_row_that_is_not_ours_says_nothing_and_is_replaced(
    health: Health, store: CountingStore, row: dict[str, Any]
) -> None:
    store.set("health:exa", "", row, ttl=1000)
    assert health.check("exa", "") == HEALTHY
    fail(health)
    assert not health.check("exa", "").usable
    health.record("exa", "", Outcome.OK, keyless=True)
    assert store.find(("health:exa", "")) is None


# Processes

PROBE = """
import pathlib, sys
from webseam.errors import Outcome
from webseam.resilience.health import Health
from webseam.resilience.store import open_store
def warn(message): raise SystemExit(message)
store = open_store(pathlib.Path(sys.argv[1]), warn=warn)
health = Health(store, clock=lambda: float(sys.argv[2]))
health.check("brave", "")
print("ready", flush=True)
sys.stdin.readline()
print(health.check("exa", "").probe)
store.close()
"""


def test_of_several_processes_one_gets_the_probe(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "store.sqlite"
    store = SqliteStore(path)
    health = Health(store, clock=clock)
    fail(health)
    clock.now += 300
    said = together(PROBE, path, clock.now, processes=3)
    assert sorted(said) == ["False\n", "False\n", "True\n"]
    assert not health.check("exa", "").usable
    clock.now += 60  # it ended without a word
    assert health.check("exa", "").probe
    health.record("exa", "", Outcome.OK, keyless=True)
    assert finish(start(PROBE, path, clock.now), "go\n") == "ready\nFalse\n"
    store.close()
