"""OpenClaw's reasons for the end of a session, and the distinction it does not record: daily reset or idle timeout."""

from __future__ import annotations

from datetime import timedelta, tzinfo

from jsonlstore.core.clock import parse_time
from jsonlstore.transcripts.source import TranscriptSource

# OpenClaw's word -> the reason we store
_REASONS = {
    "new": "new",
    "reset": "reset",
    "idle": "idle",
    "daily": "daily",
    "deleted": "delete",
    "rollover": "rollover",
    "replaced": "rollover",
    "unreferenced": "rollover",
    "fork": "rollover",
    "rewind": "rollover",
    "switch": "rollover",
    "compaction": "rollover",
    "initial": "rollover",
    "recovery": "crash",
    "archived": "archived",
}
DAILY_RESET_HOUR = 4


def reason_of(word: str) -> str:
    """The reason we store for OpenClaw's word; an unknown word is kept as it is."""
    plain = TranscriptSource.end_reason(word)
    return _REASONS.get(plain, plain)


def rollover_reason(last_activity: str | None, successor_start: str | None, zone: tzinfo | None = None) -> str:
    """`daily` if the reset hour lies between the last entry and the successor's first, else `idle`.

    `rollover` if either time is missing. The hour is in the machine's time zone unless another is given.
    """
    try:
        before = parse_time(last_activity or "").astimezone(zone)
        after = parse_time(successor_start or "").astimezone(zone)
    except ValueError:
        return "rollover"
    if after < before:
        return "rollover"
    reset = after.replace(hour=DAILY_RESET_HOUR, minute=0, second=0, microsecond=0)
    if reset > after:
        reset -= timedelta(days=1)
    return "daily" if before < reset else "idle"
