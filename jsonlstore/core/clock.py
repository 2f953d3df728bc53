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
    if _is_ours(text):
        datetime.fromisoformat(text)  # text of the right shape may still name an impossible date, such as February 30
        return text
    return format_time(parse_time(text))


def _is_ours(text: str) -> bool:
    """Whether `text` has the shape we write.

    Most times do, and checking the shape is cheaper than parsing and formatting.
    """
    return len(text) == 24 and text[10] == "T" and text[19] == "." and text[23] == "Z"


def from_millis(millis: float) -> datetime:
    """Epoch milliseconds, as JavaScript runtimes write them."""
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=millis)


def time_before(moment: datetime, span: timedelta) -> str:
    """The time `span` before `moment`, in our on-disk form; the earliest representable time if that underflows."""
    try:
        return format_time(moment - span)
    except OverflowError:
        return format_time(datetime.min.replace(tzinfo=UTC))


def hours_between(earlier: datetime, later: datetime) -> float:
    """Hours from `earlier` to `later`; negative when the clock went back."""
    return (later - earlier).total_seconds() / 3600
