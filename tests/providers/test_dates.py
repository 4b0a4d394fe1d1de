from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.providers.dates import published_day


@pytest.mark.parametrize(
    "value, day",
    [
        pytest.param("2026-02-03", "2026-02-03", id="day"),
        pytest.param(" 2026-02-03 ", "2026-02-03", id="white space"),
        pytest.param("2026-02-03T00:00:00.000Z", "2026-02-03T00:00:00.000Z", id="instant"),
        pytest.param("2026-02-03T10:20:30+02:00", "2026-02-03T10:20:30+02:00", id="instant with an offset"),
        pytest.param("2026-02-03T10:20:30.123456789", "2026-02-03T10:20:30.123456789", id="nanoseconds, no zone"),
        pytest.param("2026-02-03 10:20", "2026-02-03T10:20", id="space for T"),
        pytest.param("1905-06-30", "1905-06-30", id="an old paper"),
        pytest.param("Feb 3, 2026", "2026-02-03", id="Feb 3, 2026"),
        pytest.param("Feb. 3, 2026", "2026-02-03", id="Feb. 3, 2026"),
        pytest.param("February 3, 2026", "2026-02-03", id="February 3, 2026"),
        pytest.param("3 Feb 2026", "2026-02-03", id="3 Feb 2026"),
        pytest.param("03 february 2026", "2026-02-03", id="03 february 2026"),
        pytest.param("02/13/2026", "2026-02-13", id="day that can be no month"),
        pytest.param(1_770_076_800, "2026-02-03", id="epoch seconds"),
        pytest.param(1_770_076_800.5, "2026-02-03", id="epoch with a fraction"),
    ],
)
def test_a_date_becomes_iso_8601(value: object, day: str) -> None:
    assert published_day(value) == day


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="nothing"),
        pytest.param("", id="empty"),
        pytest.param("N/A", id="N/A"),
        pytest.param(True, id="switch"),
        pytest.param(["2026-02-03"], id="list"),
        pytest.param(b"2026-02-03", id="bytes"),
        pytest.param("2026-02-30", id="no such day"),
        pytest.param("2026-13-01", id="no such month"),
        pytest.param("2026-02-03T25:00:00Z", id="no such hour"),
        pytest.param("2026-02", id="month alone"),
        pytest.param("2026", id="year alone"),
        pytest.param("2026-02-03 or so", id="more words"),
        pytest.param("٢٠٢٦-٠٢-٠٣", id="other digits"),
        pytest.param("0001-01-01T00:00:00Z", id="a field nobody filled"),
        pytest.param("9999-12-31", id="the end of time"),
        pytest.param("03/04/2026", id="March or April, by country"),
        pytest.param("3/4/2026", id="March or April, short"),
        pytest.param("last month", id="last month"),
        pytest.param("2 weeks ago", id="weeks"),
        pytest.param("1 month ago", id="month"),
        pytest.param("5 years ago", id="years"),
        pytest.param("99999 days ago", id="too many days"),
        pytest.param("in 3 days", id="future"),
        pytest.param("Feb 3, 1066", id="long before the web"),
        pytest.param(0, id="epoch 0"),
        pytest.param(-1, id="before the epoch"),
        pytest.param(1_770_076_800_000, id="milliseconds"),
        pytest.param(10**30, id="huge number"),
        pytest.param(float("inf"), id="infinite"),
        pytest.param(float("nan"), id="not a number"),
    ],
)
def test_what_cannot_be_pinned_to_a_day_is_unknown(value: object) -> None:
    assert published_day(value) is None


@pytest.mark.parametrize(
    "words, age",
    [
        pytest.param("3 days ago", timedelta(days=3), id="days"),
        pytest.param("1 Day ago", timedelta(days=1), id="one day"),
        pytest.param("5 hours ago", timedelta(hours=5), id="hours"),
        pytest.param("30 minutes ago", timedelta(), id="minutes"),
        pytest.param("1 min ago", timedelta(), id="one minute"),
    ],
)
def test_a_short_age_becomes_its_day(words: str, age: timedelta) -> None:
    before = datetime.now(UTC)
    found = published_day(words)
    after = datetime.now(UTC)
    assert found in {(before - age).date().isoformat(), (after - age).date().isoformat()}  # midnight may pass


@given(st.one_of(st.text(max_size=40), st.integers(), st.floats(), st.none(), st.lists(st.text(), max_size=2)))
def test_anything_is_a_date_or_unknown(value: object) -> None:
    found = published_day(value)
    assert found is None or datetime.fromisoformat(found).year >= 1450


@given(st.dates(date(1970, 1, 1), date(2100, 12, 31)))
def test_every_way_to_write_a_day_gives_that_day(day: date) -> None:
    ways = [day.isoformat(), day.strftime("%b %d, %Y"), day.strftime("%d %B %Y")]
    assert [published_day(way) for way in ways] == [day.isoformat()] * 3


@pytest.mark.parametrize("piece", ["1", "2026-", " ", "Feb ", "1 day ago ", "/"])
def test_a_megabyte_of_one_piece_is_unknown_in_linear_time(piece: str) -> None:
    assert published_day(piece * (1_000_000 // len(piece))) is None
