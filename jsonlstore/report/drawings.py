"""The geometry of the report's drawings: pure functions from numbers to places; the template only writes them down.

All drawings share one width, so that text in them has one size. Times are those of the wall clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH = 1200
_LABELS = 170  # the column that names lanes and topics
_LANE = 22
_LEAST_MARK = 3.0  # a session of a minute in a year must still be seen
_CELL = 13
_GAP = 3
_LEVELS = 4  # shades of a cell that is not empty
_MOST_WEEKS = 53
_PLOT_HEIGHT = 150
_HALF = 560  # drawings that stand side by side
_BAR = 108
_TICK = 78  # what a label on an axis takes


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on the axis of time."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One session: its number among the rows, where its bar begins, and how long it is."""

    row: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Lane:
    """One project and its sessions; `colour` is its number in the palette."""

    name: str
    colour: int
    y: float
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Sessions by project, along one axis of time."""

    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    height: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One day or week: where it is, how dark, and what it stands for."""

    x: float
    y: float
    level: int
    key: str
    count: int


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A column a week, a row a weekday, Monday first."""

    cells: tuple[Cell, ...]
    months: tuple[Tick, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """The sessions of one week."""

    x: float
    height: float
    week: str
    count: int


@dataclass(frozen=True, slots=True)
class WeekBars:
    """Sessions per week; `most` is what the highest bar stands for."""

    bars: tuple[Bar, ...]
    bar: float
    most: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class TopicLane:
    """One topic and its weeks."""

    name: str
    sessions: int
    y: float
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TopicMap:
    """Topics over time: a row a topic, a column a week."""

    lanes: tuple[TopicLane, ...]
    ticks: tuple[Tick, ...]
    cell: float
    height: float


@dataclass(frozen=True, slots=True)
class Dot:
    """How full a session's context was, and how often it was compacted."""

    row: int
    x: float
    y: float
    compactions: int


@dataclass(frozen=True, slots=True)
class TokenPlot:
    """How full contexts were, in percent of their windows, along one axis of time."""

    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    height: float


@dataclass(frozen=True, slots=True)
class Axis:
    """Time from left to right, between two edges."""

    first: datetime
    last: datetime
    left: int = _LABELS
    right: int = WIDTH

    @classmethod
    def over(cls, moments: Sequence[datetime]) -> Axis:
        """An axis that holds all of them, whole days, at least one."""
        first = min(moments).replace(hour=0, minute=0, second=0, microsecond=0)
        last = max(moments).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return cls(first, last)

    def x(self, moment: datetime) -> float:
        share = (moment - self.first) / (self.last - self.first)
        return round(self.left + min(1.0, max(0.0, share)) * (self.right - self.left), 1)

    def ticks(self) -> tuple[Tick, ...]:
        """Days, weeks or months, whichever are few enough to be read."""
        days = (self.last - self.first).days
        most = (self.right - self.left) // _TICK  # labels that fit
        if days <= 14:
            dates = [self.first + timedelta(days=number) for number in range(0, days, -(-days // most))]
            return tuple(Tick(self.x(day), f"{day:%a} {day.day} {day:%b}") for day in dates)
        if days <= 80:
            monday = self.first + timedelta(days=-self.first.weekday() % 7)
            dates = [monday + timedelta(days=7 * number) for number in range(0, days // 7 + 1, -(-days // (7 * most)))]
            return tuple(Tick(self.x(day), f"{day.day} {day:%b}") for day in dates if day < self.last)
        return self._months(-(-days // (30 * most)))

    def _months(self, step: int) -> tuple[Tick, ...]:
        months: list[Tick] = []
        year, month = self.first.year, self.first.month
        while date(year, month, 1) < self.last.date():
            day = self.first.replace(year=year, month=month, day=1)
            if day >= self.first:
                months.append(Tick(self.x(day), f"{day:%b} {year}" if month == 1 or not months else f"{day:%b}"))
            month += step
            year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
        return tuple(months)


def timeline(lanes: Sequence[tuple[str, Sequence[tuple[int, datetime, datetime]]]], axis: Axis) -> Timeline:
    """Lanes of `(row, start, end)`; a session with an end before its start is a point."""
    drawn = tuple(
        Lane(name, number, 24 + number * _LANE, tuple(_mark(axis, *session) for session in sessions))
        for number, (name, sessions) in enumerate(lanes)
    )
    return Timeline(drawn, axis.ticks(), 24 + len(drawn) * _LANE + 4)


def _mark(axis: Axis, row: int, start: datetime, end: datetime) -> Mark:
    x = min(axis.x(start), WIDTH - _LEAST_MARK)
    return Mark(row, round(x, 1), round(max(_LEAST_MARK, axis.x(max(start, end)) - x), 1))


def heat_map(days: Mapping[date, int], last: date) -> HeatMap:
    """The last year up to `last`, or less if nothing is older; every day has a cell."""
    monday = last - timedelta(days=last.weekday())
    oldest = min([*days, monday])
    weeks = min(_MOST_WEEKS, (monday - oldest + timedelta(days=6)).days // 7 + 1)
    first = monday - timedelta(days=7 * (weeks - 1))
    most = max((count for day, count in days.items() if first <= day <= last), default=0)
    cells, months = [], []
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        week, weekday = divmod(number, 7)
        count = days.get(day, 0)
        place = _GAP + 30 + week * (_CELL + _GAP)
        cells.append(Cell(place, 18 + weekday * (_CELL + _GAP), level(count, most), day.isoformat(), count))
        if weekday == 0 and (day.day <= 7 or number == 0):
            months.append(Tick(place, f"{day:%b}"))
    # a month that begins in the second column would be written over the first one's name
    apart = [one for one, after in pairwise([*months, Tick(1e9, "")]) if after.x - one.x > 2 * (_CELL + _GAP)]
    return HeatMap(tuple(cells), tuple(apart), 36 + weeks * (_CELL + _GAP), 18 + 7 * (_CELL + _GAP))


def level(count: int, most: int) -> int:
    """How dark a cell is: 0 for nothing, 4 for the most there is, and never 0 for something."""
    return 0 if count <= 0 else max(1, -(-_LEVELS * count // max(most, count)))


def topic_map(topics: Sequence[tuple[str, int, Mapping[str, int]]], weeks: Sequence[str]) -> TopicMap:
    """Topics of `(name, sessions, sessions by week)` over the last of the `weeks`."""
    shown = list(weeks)[-_MOST_WEEKS:]
    cell = round((WIDTH - _LABELS - 40) / max(len(shown), 12), 2)
    most = max((counts.get(week, 0) for _, _, counts in topics for week in shown), default=0)
    lanes = []
    for number, (name, sessions, counts) in enumerate(topics):
        y = 24 + number * (_LANE - 3)
        cells = tuple(
            Cell(round(_LABELS + 40 + at * cell, 1), y, level(counts[week], most), week, counts[week])
            for at, week in enumerate(shown)
            if counts.get(week)
        )
        lanes.append(TopicLane(name, sessions, y, cells))
    return TopicMap(tuple(lanes), _week_ticks(shown, cell), cell, 24 + len(lanes) * (_LANE - 3) + 4)


def _week_ticks(weeks: Sequence[str], cell: float) -> tuple[Tick, ...]:
    every = max(1, -(-60 // int(cell)))  # a label needs about sixty units
    days = [(number, date.fromisoformat(week)) for number, week in enumerate(weeks)]
    return tuple(Tick(round(_LABELS + 40 + number * cell, 1), f"{day.day} {day:%b}") for number, day in days[::every])


def week_bars(weeks: Sequence[tuple[str, int]]) -> WeekBars:
    """Sessions of each of the last weeks."""
    shown = weeks[-_MOST_WEEKS:]
    most = max((count for _, count in shown), default=0) or 1
    step = min(26.0, round(_HALF / max(1, len(shown)), 2))
    bars = tuple(
        Bar(round(number * step, 1), round(_BAR * count / most, 1), week, count)
        for number, (week, count) in enumerate(shown)
    )
    return WeekBars(bars, round(max(2.0, step - 2.5), 1), most, round(len(shown) * step + 1, 1), _BAR + 18)


def token_plot(sessions: Sequence[tuple[int, datetime, int, int, int]], over: Axis) -> TokenPlot:
    """Sessions of `(row, start, used, window, compactions)`; more than the window is drawn at its brim."""
    axis = replace(over, left=40, right=40 + _HALF)
    dots = tuple(
        Dot(row, axis.x(start), round(24 + (1 - min(1.0, used / window)) * _PLOT_HEIGHT, 1), compactions)
        for row, start, used, window, compactions in sessions
        if window > 0
    )
    return TokenPlot(dots, axis.ticks(), _PLOT_HEIGHT + 46)
