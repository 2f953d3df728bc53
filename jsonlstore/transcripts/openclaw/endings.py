"""Why a session ended, in the words we store: read off what the runtime left on disk, never guessed from silence."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from jsonlstore.core.clock import parse_time

if TYPE_CHECKING:
    from datetime import tzinfo

    from jsonlstore.transcripts.catalogue import Session

# what sources say -> what we store
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
# concluded from what is missing; all others were left in writing by the runtime
INFERRED = frozenset({"idle", "daily", "rollover", "import", "forgotten"})
# nothing but that the transcript was not in its place
MISSED = frozenset({"import", "forgotten", "delete"})
DAILY_RESET_HOUR = 4


def ending_of(session: Session) -> str | None:
    """Why the runtime is done with the session; None while it is somebody's current one."""
    states = {copy.state for _, copy in session.copies}
    if states <= {"imported", "backup"} and session.certain:
        # moved aside by an import that did not take it over, or only a repair's safety copy is left
        return "import" if "imported" in states else "forgotten"
    ending = session.ending
    return reason_of(ending.reason) if ending is not None else None


def reason_of(told: str | None) -> str:
    """Our word for a runtime's reason; one that is new to us is kept as it is."""
    word = (told or "reset").strip().lower()
    return _REASONS.get(word, word[:40] or "reset")


def corrects(reason: str, recorded: str | None) -> bool:
    """Whether `reason` is better founded than the one on record: told, where that was only inferred."""
    return recorded is None or (recorded in INFERRED and reason not in INFERRED)


def rollover_reason(last_activity: str | None, successor_start: str | None, zone: tzinfo | None = None) -> str:
    """`daily` if the reset hour lies between the last entry and the successor's first, else `idle`.

    Without both times nobody can tell: `rollover`. The hour is that of the machine's own zone unless another is given.
    """
    try:
        before = parse_time(last_activity or "").astimezone(zone)
        after = parse_time(successor_start or "").astimezone(zone)
    except ValueError:
        return "rollover"
    if after < before:
        return "rollover"
    reset = _latest_reset(after)
    return "daily" if before < reset <= after else "idle"


def _latest_reset(moment: datetime) -> datetime:
    today = moment.replace(hour=DAILY_RESET_HOUR, minute=0, second=0, microsecond=0)
    return today if today <= moment else today - timedelta(days=1)
