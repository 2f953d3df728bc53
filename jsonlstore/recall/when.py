"""Times as people say them: `last tuesday`, `in february`, `3 days ago`, `2026-02-01..2026-02-14`.

Pure: what "yesterday" means depends on `now` and the zone alone. Days are the calendar's, so one on which the clocks
change has 23 or 25 hours. Whatever is not understood is no time, never an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from jsonlstore.recall.calendar import AMBIGUOUS, ANCHORS, MONTHS, NUMBERS, PARTS, SHORT, TO, UNITS, WEEKDAYS

_EPOCH = datetime.combine(date(1970, 1, 1), time())

_YEAR = re.compile(r"20\d\d")
_MONTH = re.compile(r"(20\d\d)-(\d\d)")
_DAY = re.compile(r"(20\d\d)[-/](\d\d?)[-/](\d\d?)")
_DOTTED = re.compile(r"(\d\d?)\.(\d\d?)\.(20\d\d)")
_ISO_WEEK = re.compile(r"(20\d\d)-?w(\d\d)")
_MOMENT = re.compile(r"20\d\d-\d\d-\d\dt\d\d:\d\d(:\d\d(\.\d+)?)?(z|[+-]\d\d:?\d\d)?")
_ORDINAL = re.compile(r"(\d\d?)(?:st|nd|rd|th)?")
_COUNTED = re.compile(r"(\d{1,3})(d|h|w)")


class Interval(NamedTuple):
    """A stretch of time in UTC, `start` included and `end` not, and the words it was asked for with."""

    start: datetime
    end: datetime
    said: str = ""

    def overlaps(self, start: datetime, end: datetime) -> bool:
        """Whether something that lasted from `start` to `end` (a moment, perhaps) touches it."""
        return start < self.end and (end > self.start or start >= self.start)


class Found(NamedTuple):
    """A time, and which of the words it took: from `first` up to, not including, `after`."""

    interval: Interval
    first: int
    after: int


class _Span(NamedTuple):
    """A stretch of local time, and how it was said where that matters for a range."""

    start: datetime
    end: datetime
    after: int
    weekday: bool = False


def find_when(words: Sequence[str], now: datetime, zone: tzinfo | None = None, *, alone: bool = False) -> Found | None:
    """The first time among lower-cased words; `zone` None is the system's. `alone` lets an ambiguous word be one."""
    for first in range(len(words)):
        try:
            reader = _Reader(words, now, zone, alone=alone)
            span = reader.clause(first)
            if span is None:
                continue
            said = list(words[first : span.after])
            while said[0] in ANCHORS:
                del said[0]
            return Found(reader.interval(span, " ".join(said)), first, span.after)
        except (OverflowError, ValueError):
            continue  # a date no calendar has, or one beyond what can be counted
    return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


class _Reader:
    """One question being read. Methods take a position and return the span there, or None."""

    def __init__(self, words: Sequence[str], now: datetime, zone: tzinfo | None, *, alone: bool) -> None:
        self._words = words
        self._utc = now.astimezone(UTC)
        self._zone = zone
        self._alone = alone
        self._now = self._local(self._utc)
        self._today = self._now.date()

    def interval(self, span: _Span, said: str) -> Interval:
        """The span in UTC, its ends in order."""
        start, end = sorted((self._universal(span.start), self._universal(span.end)))
        return Interval(start, end, said)

    def _local(self, moment: datetime) -> datetime:
        return moment.astimezone(self._zone).replace(tzinfo=None)

    def _universal(self, moment: datetime) -> datetime:
        return (moment.replace(tzinfo=self._zone) if self._zone else moment).astimezone(UTC)

    def _word(self, at: int) -> str:
        return self._words[at] if at < len(self._words) else ""

    # -- clauses: since, between, from … to, and a time on its own

    def clause(self, at: int) -> _Span | None:
        """The longest time that begins at a word."""
        word = self._word(at)
        if word in ("since", "after", "before", "until", "till"):
            return self._open_ended(at, word)
        if word in ("between", "from"):
            ranged = self._range(at + 1)
            if ranged is not None:
                return ranged
        if ".." in word and word != "..":
            return self._dotted_range(at, word)
        return self._adjacent_span(at, word) or self._range(at) or self.placed(at)

    def _adjacent_span(self, at: int, word: str) -> _Span | None:
        """`the week before 9 june 2023`, `the day after 2026-02-14`: the days next to a time."""
        days = {"day": 1, "night": 1, "weekend": 7, "week": 7, "month": 30}.get(word)
        side = self._word(at + 1)
        if days is None or side not in ("before", "after"):
            return None
        span = self.placed(at + 2)
        if span is None or span.end - span.start > timedelta(days=31):
            return None
        length = timedelta(days=days)
        if side == "before":
            return _Span(span.start - length, span.start, span.after)
        return _Span(span.end, span.end + length, span.after)

    def _open_ended(self, at: int, word: str) -> _Span | None:
        span = self.placed(at + 1, anchored=True)
        if span is None:
            return None
        if word == "since":
            return _Span(span.start, max(self._now, span.start), span.after)
        if word == "after":
            return _Span(span.end, max(self._now, span.end), span.after)
        return _Span(_EPOCH, span.start if word == "before" else span.end, span.after)

    def _range(self, at: int) -> _Span | None:
        first = self.placed(at, anchored=True)
        if first is None or self._word(first.after) not in TO:
            return None
        last = self.placed(first.after + 1, anchored=True)
        return None if last is None else self._join(first, last)

    def _dotted_range(self, at: int, word: str) -> _Span | None:
        left, _, right = word.partition("..")
        ends = [_Reader([half], self._utc, self._zone, alone=True).placed(0) for half in (left, right) if half]
        first, last = (ends[0] if left and ends else None), (ends[-1] if right and ends else None)
        if (left and first is None) or (right and last is None):
            return None
        if first is not None and last is not None:
            return self._join(first, last)._replace(after=at + 1)
        if first is not None:
            return _Span(first.start, max(self._now, first.end), at + 1)
        assert last is not None
        return _Span(_EPOCH, last.end, at + 1)

    @staticmethod
    def _join(first: _Span, last: _Span) -> _Span:
        """From one to the other; `monday to wednesday` said on a tuesday means last week's."""
        start = first.start
        if last.start < start and first.weekday and last.weekday:
            start -= timedelta(days=7)
        return _Span(min(start, last.start), max(last.end, first.end if start == first.start else start), last.after)

    # -- a time on its own, perhaps with a preposition before and a part of the day behind

    def placed(self, at: int, *, anchored: bool = False) -> _Span | None:
        article = False
        while self._word(at) in ANCHORS or (self._word(at) == "the" and anchored):
            article = self._word(at) == "the"
            anchored, at = True, at + 1
        # nobody says "on the sat" or "in the march" of a time
        span = self._single(at, anchored=anchored and not (article and self._word(at) in AMBIGUOUS))
        part = PARTS.get(self._word(span.after)) if span is not None else None
        if span is None or part is None or span.end - span.start != timedelta(days=1):
            return span
        return self._part_of_day(span.start.date(), part, span.after + 1)

    def _part_of_day(self, day: date, part: tuple[int, int], after: int) -> _Span:
        midnight = datetime.combine(day, time())
        return _Span(midnight + timedelta(hours=part[0]), midnight + timedelta(hours=part[1]), after)

    def _single(self, at: int, *, anchored: bool) -> _Span | None:
        return (
            self._relative_day(at)
            or self._ago(at)
            or self._last_or_this(at)
            or self._calendar_name(at, anchored=anchored or self._alone)
            or self._numeric(at)
        )

    def _day(self, day: date, after: int) -> _Span:
        return self._days(day, 1, after)

    @staticmethod
    def _days(first: date, count: int, after: int) -> _Span:
        start = datetime.combine(first, time())
        return _Span(start, start + timedelta(days=count), after)

    def _relative_day(self, at: int) -> _Span | None:
        word = self._word(at)
        if word == "today":
            return self._day(self._today, at + 1)
        if word == "yesterday":
            return self._day(self._today - timedelta(days=1), at + 1)
        if [self._word(at + n) for n in range(3)] == ["day", "before", "yesterday"]:
            return self._day(self._today - timedelta(days=2), at + 3)
        if word == "tonight":
            return self._part_of_day(self._today, PARTS["night"], at + 1)
        if word in ("recently", "lately"):
            return _Span(self._day(self._today - timedelta(days=14), at).start, self._now, at + 1)
        return None

    # -- N units ago, the last N units

    def _quantity(self, at: int) -> tuple[int, str, int] | None:
        """A number and a unit: `3 days`, `a couple of weeks`, `2d`."""
        short = _COUNTED.fullmatch(self._word(at))
        if short:
            return int(short[1]), UNITS[short[2]], at + 1
        number = int(self._word(at)) if re.fullmatch(r"[0-9]{1,4}", self._word(at)) else NUMBERS.get(self._word(at))
        if number is None:
            return None
        at += 1
        if self._word(at) in ("couple", "few"):
            number, at = NUMBERS[self._word(at)], at + 1
        at += self._word(at) == "of"
        unit = UNITS.get(self._word(at))
        return (number, unit, at + 1) if unit else None

    def _ago(self, at: int) -> _Span | None:
        found = self._quantity(at)
        if found is None or self._word(found[2]) != "ago":
            return None
        number, unit, after = found[0], found[1], found[2] + 1
        if unit in ("minute", "hour"):
            step, slack = timedelta(**{f"{unit}s": number}), timedelta(minutes=5 if unit == "minute" else 30)
            return _Span(self._local(self._utc - step - slack), self._local(self._utc - step + slack), after)
        if unit != "day":
            return self._period(unit, number, after)
        day = self._day(self._today - timedelta(days=number), after)
        if "few" in self._words[at:after]:
            return _Span(day.start - timedelta(days=2), day.end + timedelta(days=1), after)
        return day

    def _period(self, unit: str, back: int, after: int) -> _Span:
        """The calendar's week, month or year that many before the present one."""
        if unit == "week":
            monday = self._today - timedelta(days=self._today.weekday() + 7 * back)
            return self._days(monday, 7, after)
        if unit == "month":
            return self._months(self._today.year * 12 + self._today.month - 1 - back, 1, after)
        return self._months((self._today.year - back) * 12, 12, after)

    @staticmethod
    def _months(index: int, count: int, after: int) -> _Span:
        first, last = (datetime.combine(date(n // 12, n % 12 + 1, 1), time()) for n in (index, index + count))
        return _Span(first, last, after)

    def _rolling(self, number: int, unit: str, after: int) -> _Span:
        """The time up to now: whole days, unless hours or minutes were asked for."""
        if unit in ("minute", "hour"):
            return _Span(self._local(self._utc - timedelta(**{f"{unit}s": number})), self._now, after)
        days = number * {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
        return _Span(self._day(self._today - timedelta(days=days), after).start, self._now, after)

    # -- last …, this …

    def _last_or_this(self, at: int) -> _Span | None:
        which = self._word(at)
        if which not in ("last", "previous", "past", "this", "current"):
            return None
        back = which not in ("this", "current")
        word, after = self._word(at + 1), at + 2
        quantity = self._quantity(at + 1) if back else None
        if quantity is None and which == "past" and word in UNITS:
            quantity = (1, UNITS[word], after)
        return self._rolling(*quantity) if quantity is not None else self._named(word, after, which, back=back)

    def _named(self, word: str, after: int, which: str, *, back: bool) -> _Span | None:
        name = SHORT.get(word, word)
        if word in PARTS:
            return self._part_of_day(self._today - timedelta(days=back), PARTS[word], after)
        if word == "weekend":
            return self._weekend(after, back=back)
        if word in ("week", "month", "year"):
            return self._period(word, int(back), after)
        if name in WEEKDAYS:
            return self._weekday(name, after, which)
        return self._month(name, after, before=self._today.month if back else 13) if name in MONTHS else None

    def _weekend(self, after: int, *, back: bool) -> _Span:
        saturday = self._today - timedelta(days=(self._today.weekday() - 5) % 7)
        inside = self._today.weekday() >= 5
        if back and inside:
            saturday -= timedelta(days=7)
        elif not back and not inside:
            saturday += timedelta(days=7)
        return self._days(saturday, 2, after)

    def _weekday(self, name: str, after: int, which: str = "") -> _Span:
        """The latest one that has begun; `last` leaves out today, `this` is the one of the present week."""
        wanted = WEEKDAYS.index(name)
        days = (self._today.weekday() - wanted) % 7
        if which in ("this", "current"):
            days = self._today.weekday() - wanted
        elif which and days == 0:
            days = 7
        return self._day(self._today - timedelta(days=days), after)._replace(weekday=True)

    # -- names and numbers of the calendar

    def _calendar_name(self, at: int, *, anchored: bool) -> _Span | None:
        word = self._word(at)
        if word == "weekend":
            return self._weekend(at + 1, back=self._today.weekday() < 5)
        dated = self._day_and_month(at)
        if dated is not None:
            return dated
        name = SHORT.get(word, word)
        sure = anchored or word not in AMBIGUOUS
        if name in WEEKDAYS:
            return self._weekday(name, at + 1) if sure else None
        if name not in MONTHS:
            return None
        if _YEAR.fullmatch(self._word(at + 1)):
            return self._months(int(self._word(at + 1)) * 12 + MONTHS.index(name), 1, at + 2)
        return self._month(name, at + 1, before=self._today.month + 1) if sure else None

    def _month(self, name: str, after: int, *, before: int) -> _Span:
        """That month of this year if its number lies below `before`, else of the last."""
        month = MONTHS.index(name)
        year = self._today.year - (month + 1 >= before)
        return self._months(year * 12 + month, 1, after)

    def _day_and_month(self, at: int) -> _Span | None:
        """`february 14`, `14th of february 2026`."""
        first, second, after = self._word(at), self._word(at + 1), at + 2
        if _ORDINAL.fullmatch(first):
            first, second = second, first
            if first == "of":
                first, after = self._word(at + 2), at + 3
        month, day = SHORT.get(first, first), _ORDINAL.fullmatch(second)
        if month not in MONTHS or not day or not 1 <= int(day[1]) <= 31:
            return None
        number = MONTHS.index(month) + 1
        if _YEAR.fullmatch(self._word(after)):
            named = _date(int(self._word(after)), number, int(day[1]))
            return self._day(named, after + 1) if named else None
        # the latest there was: the 29th of february may lie eight years back
        past = (_date(self._today.year - back, number, int(day[1])) for back in range(9))
        found = next((one for one in past if one is not None and one <= self._today), None)
        return self._day(found, after) if found else None

    def _numeric(self, at: int) -> _Span | None:
        word, after = self._word(at), at + 1
        if _YEAR.fullmatch(word):
            return self._months(int(word) * 12, 12, after)
        if (found := _MONTH.fullmatch(word)) and 1 <= int(found[2]) <= 12:
            return self._months(int(found[1]) * 12 + int(found[2]) - 1, 1, after)
        try:
            return self._dated(word, after)
        except ValueError:  # shaped like a date, but no calendar has it
            return None

    def _dated(self, word: str, after: int) -> _Span | None:
        if found := _DAY.fullmatch(word):
            return self._day(date(int(found[1]), int(found[2]), int(found[3])), after)
        if found := _DOTTED.fullmatch(word):
            return self._day(date(int(found[3]), int(found[2]), int(found[1])), after)
        if found := _ISO_WEEK.fullmatch(word):
            return self._days(date.fromisocalendar(int(found[1]), int(found[2]), 1), 7, after)
        if found := _MOMENT.fullmatch(word):
            return self._moment(word, timedelta(seconds=1) if found[1] else timedelta(minutes=1), after)
        return None

    def _moment(self, word: str, length: timedelta, after: int) -> _Span:
        moment = datetime.fromisoformat(word.upper())
        start = moment.astimezone(UTC) if moment.tzinfo else self._universal(moment)
        return _Span(self._local(start), self._local(start + length), after)
