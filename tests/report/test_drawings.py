"""Every drawing shows everything it is given, inside its frame."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.report.drawings import WIDTH, Axis, heat_map, level, timeline, token_plot, topic_map, week_bars

MOMENTS = st.integers(0, 110 * 365 * 1440).map(lambda n: datetime(1980, 1, 1, tzinfo=UTC) + timedelta(minutes=n))
TODAY = date(2026, 11, 18)
WEEKS = [(date(2026, 11, 16) - timedelta(days=7 * n)).isoformat() for n in range(80, -1, -1)]


@given(st.lists(st.tuples(MOMENTS, st.timedeltas(timedelta(0), timedelta(days=9))), min_size=1, max_size=12))
def test_every_session_has_a_mark_inside_the_frame(drawn: list[tuple[datetime, timedelta]]) -> None:
    """Later starts stand further right, and a session of no length can be seen."""
    sessions = [(number, start, start + length) for number, (start, length) in enumerate(drawn)]
    axis = Axis.over([moment for _, start, end in sessions for moment in (start, end)])
    found = timeline([("one", sessions)], axis)
    marks = found.lanes[0].marks
    assert [mark.row for mark in marks] == list(range(len(drawn)))
    for mark in marks:
        assert mark.x >= 170
        assert mark.width >= 3
        assert mark.x + mark.width <= WIDTH + 0.2
    by_time = sorted(marks, key=lambda mark: drawn[mark.row][0])
    assert [mark.x for mark in by_time] == sorted(mark.x for mark in marks)


@given(MOMENTS, st.integers(0, 40_000))
def test_labels_of_an_axis_do_not_run_into_each_other(first: datetime, days: int) -> None:
    """From one day to a hundred years there are labels, in order, with room for each."""
    axis = Axis.over([first, first + timedelta(days=days)])
    places = [tick.x for tick in axis.ticks()]
    assert places
    assert all(later - earlier >= 45 for earlier, later in pairwise(places))
    assert all(170 <= place <= WIDTH for place in places)


@given(st.lists(st.integers(0, 900).map(lambda n: TODAY - timedelta(days=n)), max_size=40))
def test_every_day_of_the_last_year_has_one_cell(starts: list[date]) -> None:
    """Cells count their days, follow each other without a gap, and end today."""
    counts = Counter(starts)
    found = heat_map(counts, TODAY)
    days = [date.fromisoformat(cell.key) for cell in found.cells]
    assert days[-1] == TODAY
    assert all(later - day == timedelta(days=1) for day, later in pairwise(days))
    assert all(cell.count == counts[date.fromisoformat(cell.key)] for cell in found.cells)
    assert all((cell.level == 0) == (cell.count == 0) for cell in found.cells)
    recent = [day for day in starts if day > TODAY - timedelta(days=364)]
    assert set(recent) <= set(days)
    assert all(cell.x + 13 <= found.width and cell.y + 13 <= found.height for cell in found.cells)


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_something_is_never_drawn_as_nothing(count: int, most: int) -> None:
    """A cell is empty only without sessions, and the most there is is darkest."""
    assert (level(count, most) == 0) == (count == 0)
    assert 0 <= level(count, most) <= 4
    assert count == 0 or level(count, count) == 4


@given(st.lists(st.dictionaries(st.sampled_from(WEEKS), st.integers(1, 9)), min_size=1, max_size=5))
def test_a_topic_has_a_cell_for_each_of_its_weeks(counts: list[dict[str, int]]) -> None:
    """Of the last year; the cells lie inside the frame."""
    found = topic_map([(f"t{n}", sum(one.values()), one) for n, one in enumerate(counts)], WEEKS)
    for lane, one in zip(found.lanes, counts, strict=True):
        assert {cell.key: cell.count for cell in lane.cells} == {k: v for k, v in one.items() if k in WEEKS[-53:]}
        assert all(cell.x > 170 and cell.x + found.cell <= WIDTH + 1 for cell in lane.cells)


@given(st.lists(st.integers(0, 500), max_size=80))
def test_week_bars_are_as_high_as_their_weeks(counts: list[int]) -> None:
    """In proportion to the busiest of those shown."""
    found = week_bars([(f"w{n}", count) for n, count in enumerate(counts)])
    shown = counts[-53:]
    assert [bar.count for bar in found.bars] == shown
    most = max(shown, default=0) or 1
    assert all(abs(bar.height - 108 * bar.count / most) < 0.1 for bar in found.bars)


@given(st.lists(st.tuples(MOMENTS, st.integers(0, 10**7), st.integers(0, 10**6)), min_size=1, max_size=10))
def test_dots_stand_between_empty_and_full(drawn: list[tuple[datetime, int, int]]) -> None:
    """A window that is more than full is drawn as full, one of no size not at all."""
    axis = Axis.over([start for start, _, _ in drawn])
    found = token_plot([(n, start, used, window, 0) for n, (start, used, window) in enumerate(drawn)], axis)
    assert [dot.row for dot in found.dots] == [n for n, (_, _, window) in enumerate(drawn) if window]
    assert all(24 <= dot.y <= 174 and 40 <= dot.x <= 600 for dot in found.dots)
