"""Times are UTC with milliseconds on disk, whatever the writer meant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.clock import format_time, from_millis, hours_between, normalise_time, parse_time, time_before

moments = st.datetimes(
    min_value=datetime(1971, 1, 1),  # noqa: DTZ001 - hypothesis wants naive bounds
    max_value=datetime(9000, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8))]),
)


@given(moments)
def test_a_written_time_reads_back_to_the_same_millisecond(moment: datetime) -> None:
    text = format_time(moment)
    assert text.endswith("Z")
    assert len(text) == 24
    assert parse_time(text) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@given(moments)
def test_normalising_twice_changes_nothing(moment: datetime) -> None:
    once = normalise_time(moment.isoformat())
    assert normalise_time(once) == once


def test_a_time_without_a_zone_is_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert normalise_time("2026-02-14T09:23:00") == "2026-02-14T14:23:00.000Z"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-13-01", "12", "2026-01-01T99:00", "2026-13-01T00:00:00.000Z", "2026-01-01T00:00:00.00xZ"],
)
def test_what_is_not_a_time_is_a_value_error(text: str) -> None:
    for read in (parse_time, normalise_time):
        with pytest.raises(ValueError, match=r"."):
            read(text)


def test_javascript_millis_are_exact() -> None:
    assert format_time(from_millis(1794787380797)) == "2026-11-16T00:03:00.797Z"


def test_hours_may_be_negative() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert hours_between(now, now - timedelta(hours=2)) == -2


@given(moments, st.timedeltas(timedelta(0), timedelta(days=10_000_000)))
def test_there_is_a_time_before_any_other(moment: datetime, span: timedelta) -> None:
    found = time_before(moment, span)
    assert parse_time(found) <= moment
    if span < timedelta(days=30):
        assert found == format_time(moment - span)


def test_nothing_is_before_the_first_time_there_is() -> None:
    assert time_before(datetime(1, 1, 2, tzinfo=UTC), timedelta(days=7)) == "0001-01-01T00:00:00.000Z"
