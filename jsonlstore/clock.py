"""UTC time. On disk every time is `YYYY-MM-DDTHH:MM:SS.mmmZ`; other writers' times are normalised on read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The current time, in UTC."""
    return datetime.now(UTC)


def format_time(moment: datetime) -> str:
    """`moment` as we write it: UTC, milliseconds (cut, not rounded), `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time; one without a zone is local time, as Python and SQLite writers mean it.

    Raises `ValueError` for anything that is not a time.
    """
    moment = datetime.fromisoformat(text.strip())
    try:
        return moment.astimezone(UTC)
    except OverflowError as problem:
        raise ValueError(f"time out of range: {text!r}") from problem


def normalise_time(text: str) -> str:
    """Any ISO 8601 time in our on-disk form."""
    return format_time(parse_time(text))


def from_millis(millis: float) -> datetime:
    """Epoch milliseconds, as JavaScript runtimes write them."""
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=millis)


def hours_between(earlier: datetime, later: datetime) -> float:
    """Hours from `earlier` to `later`; negative when the clock went back."""
    return (later - earlier).total_seconds() / 3600
