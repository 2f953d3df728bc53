"""Times as people say them become stretches of the calendar, in the asker's own zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.recall.question import read_question
from jsonlstore.recall.when import Interval, find_when

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)  # 10:30 in Berlin
ZONES = st.sampled_from(
    [UTC, *map(ZoneInfo, ("Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
                          "America/Havana", "Asia/Beirut", "Pacific/Apia"))]
)  # fmt: skip
MOMENTS = st.integers(1_000_000_000, 4_000_000_000).map(lambda second: datetime.fromtimestamp(second, UTC))
_WORDS = """
last this past since until before after between from to and in on ago the a few couple of 3 14 two week weeks days month
year tuesday monday sun may march february 2026 2026-02 2026-02-14 2026-02-30 .. 2026-01..2026-03 morning night
yesterday today tonight weekend radio 31 2nd september hours 9999 day 2026-w07 2026-w99 14.02.2026
"""
VOCABULARY = st.sampled_from(_WORDS.split())


def asked(text: str, now: datetime = MONDAY, zone: ZoneInfo = BERLIN) -> str:
    """What a question's time comes to, on the wall clock."""
    when = read_question([text], now, zone).when
    if when is None:
        return "-"
    start, end = when.start.astimezone(zone), when.end.astimezone(zone)
    if (start.hour, start.minute, end.hour, end.minute) == (0, 0, 0, 0):
        last = (end - timedelta(hours=1)).date()
        return f"{start.date()}" if start.date() == last else f"{start.date()} {last}"
    return f"{start:%Y-%m-%dT%H:%M} {end:%Y-%m-%dT%H:%M}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yesterday", "2026-11-15"),
        ("today", "2026-11-16"),
        ("day before yesterday", "2026-11-14"),
        ("tuesday", "2026-11-10"),
        ("last tuesday", "2026-11-10"),
        ("last Tuesday?", "2026-11-10"),
        ("monday", "2026-11-16"),
        ("last monday", "2026-11-09"),
        ("on monday", "2026-11-16"),
        ("this wednesday", "2026-11-18"),
        ("since monday", "2026-11-16T00:00 2026-11-16T10:30"),
        ("since last monday", "2026-11-09T00:00 2026-11-16T10:30"),
        ("after 2026-11-10", "2026-11-11T00:00 2026-11-16T10:30"),
        ("last week", "2026-11-09 2026-11-15"),
        ("this week", "2026-11-16 2026-11-22"),
        ("a week ago", "2026-11-09 2026-11-15"),
        ("two weeks ago", "2026-11-02 2026-11-08"),
        ("a couple of weeks ago", "2026-11-02 2026-11-08"),
        ("last weekend", "2026-11-14 2026-11-15"),
        ("this month", "2026-11-01 2026-11-30"),
        ("last month", "2026-10-01 2026-10-31"),
        ("2 months ago", "2026-09-01 2026-09-30"),
        ("last year", "2025-01-01 2025-12-31"),
        ("february", "2026-02-01 2026-02-28"),
        ("december", "2025-12-01 2025-12-31"),
        ("in february 2026", "2026-02-01 2026-02-28"),
        ("feb 2024", "2024-02-01 2024-02-29"),
        ("february 14", "2026-02-14"),
        ("14th of february, 2025", "2025-02-14"),
        ("december 24", "2025-12-24"),
        ("29 february", "2024-02-29"),
        ("2026", "2026-01-01 2026-12-31"),
        ("2026-02", "2026-02-01 2026-02-28"),
        ("2026-02-14", "2026-02-14"),
        ("2026/2/14", "2026-02-14"),
        ("14.02.2026", "2026-02-14"),
        ("2026-W07", "2026-02-09 2026-02-15"),
        ("2026-02-14T10:00Z", "2026-02-14T11:00 2026-02-14T11:01"),
        ("3 days ago", "2026-11-13"),
        ("three days ago", "2026-11-13"),
        ("3d ago", "2026-11-13"),
        ("a few days ago", "2026-11-11 2026-11-14"),
        ("2 hours ago", "2026-11-16T08:00 2026-11-16T09:00"),
        ("past 3 days", "2026-11-13T00:00 2026-11-16T10:30"),
        ("last few days", "2026-11-13T00:00 2026-11-16T10:30"),
        ("the last 24 hours", "2026-11-15T10:30 2026-11-16T10:30"),
        ("this morning", "2026-11-16T05:00 2026-11-16T12:00"),
        ("last night", "2026-11-15T18:00 2026-11-16T06:00"),
        ("yesterday evening", "2026-11-15T18:00 2026-11-16T00:00"),
        ("tuesday morning", "2026-11-10T05:00 2026-11-10T12:00"),
        ("2026-02-01..2026-02-14", "2026-02-01 2026-02-14"),
        ("2026-02-14..2026-02-01", "2026-02-01 2026-02-14"),
        ("2026-01..2026-03", "2026-01-01 2026-03-31"),
        ("2026-11-10..", "2026-11-10T00:00 2026-11-16T10:30"),
        ("between 2026-01-01 and 2026-02-01", "2026-01-01 2026-02-01"),
        ("from monday to wednesday", "2026-11-09 2026-11-11"),
        ("from tuesday to friday", "2026-11-10 2026-11-13"),
        ("may", "2026-05-01 2026-05-31"),
        ("in may", "2026-05-01 2026-05-31"),
        ("last march", "2026-03-01 2026-03-31"),
        ("march 2025 plan", "2025-03-01 2025-03-31"),
        ("sat", "2026-11-14"),
        ("yesterday's work", "2026-11-15"),
        ("feb 1 to feb 14", "2026-02-01 2026-02-14"),
        ("2026-02-01 – 2026-02-14", "2026-02-01 2026-02-14"),
        ("until february", "1970-01-01 2026-02-28"),
        ("the week before 9 june 2026", "2026-06-02 2026-06-08"),
        ("the day after 2026-02-14", "2026-02-15"),
        ("an hour ago", "2026-11-16T09:00 2026-11-16T10:00"),
        ("february 30 2026 or yesterday", "2026-02-01 2026-02-28"),
        ("2026-02-30 yesterday", "2026-11-15"),
    ],
)
def test_a_time_means_what_people_mean_by_it(text: str, expected: str) -> None:
    assert asked(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("march plan", ("march", "plan")),
        ("what may break", ("may", "break")),
        ("the sun shines", ("sun", "shines")),
        ("asleep in the sun", ("asleep", "sun")),
        ("signs at the march", ("signs", "march")),
        ("the week before radio", ("radio",)),
        ('"february"', ("february",)),
        ("2026-02-30", ("2026-02-30",)),
        ("2026-13", ("2026-13",)),
        ("1999", ("1999",)),
        ("since radio", ("radio",)),
        ("last antenna", ("antenna",)),
        ("run", ("run",)),
    ],
)
def test_what_is_no_time_is_a_word(text: str, words: tuple[str, ...]) -> None:
    question = read_question([text], MONDAY, BERLIN)
    assert (question.when, question.words) == (None, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("last tuesday radio", ("radio",)),
        ("what was I working on last Tuesday?", ()),
        ("What did we do about the FT-991A yesterday?", ("ft-991a",)),
        ("电台 yesterday", ("电台",)),
        ("радио вчера last week", ("радио", "вчера")),
        ('last week "may" 波', ("may", "波")),
    ],
)
def test_the_rest_are_words_and_filler_is_not(text: str, words: tuple[str, ...]) -> None:
    together = read_question([text], MONDAY, BERLIN)
    assert together.words == words
    assert together.when is not None
    assert read_question(text.split(), MONDAY, BERLIN) == together


def test_literal_words_are_never_a_time_or_filler() -> None:
    question = read_question(["yesterday"], MONDAY, BERLIN, literal=["may", "what"])
    assert question.words == ("may", "what")
    assert question.when is not None
    assert question.when.said == "yesterday"


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_a_day_on_which_the_clocks_change_is_an_hour_shorter_or_longer(day: str, hours: int) -> None:
    when = read_question([day], MONDAY, BERLIN).when
    assert when is not None
    assert when.end - when.start == timedelta(hours=hours)


def test_a_day_belongs_to_the_asker_s_zone() -> None:
    late = datetime(2026, 11, 16, 3, tzinfo=UTC)  # still the 15th in New York
    assert asked("today", late, ZoneInfo("America/New_York")) == "2026-11-15"
    assert asked("today", late, BERLIN) == "2026-11-16"


@given(st.lists(VOCABULARY | st.text(max_size=12), max_size=8), MOMENTS, ZONES, st.booleans())
def test_reading_never_fails_and_an_interval_is_in_order(
    words: list[str], now: datetime, zone: ZoneInfo, alone: bool
) -> None:
    found = find_when(words, now, zone, alone=alone)
    if found is not None:
        assert found.interval.start <= found.interval.end
        assert 0 <= found.first < found.after <= len(words)
    question = read_question(words, now, zone)
    assert all(word == word.casefold() and word.strip() for word in question.words)


@given(st.text(max_size=40), MOMENTS)
def test_any_text_is_a_question(text: str, now: datetime) -> None:
    read_question([text], now, UTC)


@given(st.dates(date(2000, 1, 2), date(2099, 12, 29)), ZONES, MOMENTS)
def test_days_follow_each_other_without_gap_or_overlap(day: date, zone: ZoneInfo, now: datetime) -> None:
    first = find_when([day.isoformat()], now, zone)
    second = find_when([(day + timedelta(days=1)).isoformat()], now, zone)
    assert first is not None
    assert second is not None
    assert first.interval.end == second.interval.start


@given(st.dates(date(2000, 1, 2), date(2099, 12, 29)), st.integers(0, 400), MOMENTS)
def test_iso_forms_mean_exactly_the_days_they_name(day: date, more: int, now: datetime) -> None:
    later = min(day + timedelta(days=more), date(2099, 12, 29))
    found = find_when([f"{day}..{later}"], now, UTC)
    assert found is not None
    assert found.interval.start.date() == day
    assert (found.interval.end - timedelta(seconds=1)).date() == later
    month = find_when([f"{day:%Y-%m}"], now, UTC)
    assert month is not None
    assert month.interval.start <= datetime.combine(day, datetime.min.time(), UTC) < month.interval.end


@given(MOMENTS, ZONES, st.sampled_from(["monday", "last monday", "yesterday", "last month", "february", "last night"]))
def test_what_is_past_has_begun(now: datetime, zone: ZoneInfo, text: str) -> None:
    when = read_question([text], now, zone).when
    assert when is not None
    assert when.start <= now


def test_a_session_counts_if_it_touches_the_interval() -> None:
    hour = timedelta(hours=1)
    day = Interval(MONDAY, MONDAY + 24 * hour)
    assert day.overlaps(MONDAY - hour, MONDAY + hour)
    assert day.overlaps(MONDAY + 23 * hour, MONDAY + 30 * hour)
    assert day.overlaps(MONDAY, MONDAY)
    assert not day.overlaps(MONDAY - hour, MONDAY)
    assert not day.overlaps(MONDAY + 24 * hour, MONDAY + 25 * hour)
