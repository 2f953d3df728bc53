"""What a named time says about documents: it lifts those of that time, or told soon after it, and hides none."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from jsonlstore.core.clock import format_time, parse_time
from jsonlstore.recall.calendar import MONTHS, SHORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jsonlstore.recall.documents import StoredDocument
    from jsonlstore.recall.fulltext import SearchIndex
    from jsonlstore.recall.when import Interval

AFTER, BEFORE = timedelta(days=10), timedelta(days=1)  # people tell of the past, and seldom of what is to come
_YEAR = re.compile(r"20\d\d")
_MONTH_NAMES = "|".join((*MONTHS, *(short for short, name in SHORT.items() if name in MONTHS)))
_EXPLICIT = re.compile(rf"20\d\d|\d\d?[./-]\d|\b(?:{_MONTH_NAMES})\b")


def is_explicit(when: Interval) -> bool:
    """Whether a time names the calendar (`7 May 2023`), and not its distance from today (`last week`)."""
    return _EXPLICIT.search(when.said) is not None


def times_to_be_near(index: SearchIndex, asked: Iterable[Interval]) -> tuple[Interval, ...]:
    """The times a question means, given what there is: `in june` is the latest June anything was said in."""
    earliest = index.earliest()
    return tuple(_with_documents(index, _narrowed(when), earliest) for when in asked)


def _narrowed(when: Interval) -> Interval:
    """Of "before 9 june" the week that ends then, of "after 9 june" the two that follow."""
    first = when.said.split(" ", 1)[0]
    if first in ("before", "until", "till"):
        return when._replace(start=max(when.start, when.end - timedelta(days=7)))
    return when._replace(end=min(when.end, when.start + timedelta(days=14))) if first == "after" else when


def _with_documents(index: SearchIndex, when: Interval, earliest: str | None) -> Interval:
    if not is_explicit(when) or _YEAR.search(when.said) or when.end - when.start > timedelta(days=32):
        return when
    tried = when
    while earliest is not None and format_time(tried.end + AFTER) >= earliest:
        if next(_around(index, tried), None) is not None:
            return tried
        tried = when._replace(start=_a_year_before(tried.start), end=_a_year_before(tried.end))
    return when


def _a_year_before(moment: datetime) -> datetime:
    try:
        return moment.replace(year=moment.year - 1)
    except ValueError:  # the 29th of february
        return moment - timedelta(days=366)


def _around(index: SearchIndex, when: Interval) -> Iterator[StoredDocument]:
    first, last = format_time(when.start - BEFORE), format_time(when.end + AFTER)
    return index.documents("started_at < ? AND last_at >= ?", (last, first))


def near_dates(index: SearchIndex, times: Iterable[Interval], among: Sequence[int] | None) -> list[int]:
    """The documents of these times, the closest first, whatever FTS5 thinks of their words."""
    allowed = None if among is None else set(among)
    close: dict[int, float] = {}
    for when in times:
        for one in _around(index, when):
            if allowed is None or one.no in allowed:
                close[one.no] = max(close.get(one.no, 0.0), closeness(one.started_at, one.last_at, when))
    return sorted(close, key=lambda no: -close[no])


def lifts(
    documents: Sequence[StoredDocument], times: Iterable[Interval], *, explicit: float, relative: float
) -> dict[int, float]:
    """What named times add to each document: more where few documents are of that time."""
    found: dict[int, float] = {}
    for when in times:
        weight = explicit if is_explicit(when) else relative
        near = {one.no: closeness(one.started_at, one.last_at, when) for one in documents}
        count = sum(near.values())
        if not weight or not count:
            continue
        worth = weight * math.log1p(len(near) / count)
        for no, close in near.items():
            found[no] = max(found.get(no, 0.0), worth * close)
    return found


def closeness(started_at: str | None, last_at: str | None, when: Interval) -> float:
    """1 for what was said in a time, less for what was said after it (people tell of the past), least before it."""
    try:
        start, end = parse_time(started_at or ""), parse_time(last_at or started_at or "")
    except ValueError:
        return 0.0
    if when.overlaps(start, end):
        return 1.0
    if start >= when.end:
        return math.exp(-_days(start, when.end) / (AFTER / timedelta(days=1)))
    return math.exp(-_days(when.start, end) / (BEFORE / timedelta(days=1)))


def _days(later: datetime, earlier: datetime) -> float:
    return (later - earlier) / timedelta(days=1)
